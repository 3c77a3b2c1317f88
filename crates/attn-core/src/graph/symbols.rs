//! Symbols for cells: `x12`, or `q1[2,11]` where an index passes 9 or the name is more than a letter.

use std::collections::HashMap;
use std::sync::Arc;

use super::{CellId, Convention, Graph, NodeId};

/// The symbols of a graph's cells. No two nodes share one: if lower case would make two names equal, they keep the difference
/// (`x11` and `X11`, `a1[1,2]` and `a_1[1,2]`).
#[derive(Clone, Debug)]
pub struct Symbols {
    letters: Arc<[String]>,
    convention: Convention,
}

impl Symbols {
    /// The symbols of a graph; under the column convention the indices are those of the transposed matrices on show.
    pub fn of(graph: &Graph, convention: Convention) -> Symbols {
        let all: Vec<[String; 3]> = graph.nodes().map(|(_, node)| candidates(&node.name)).collect();
        // The only node with this candidate; `None` if there are several.
        let mut owners: HashMap<&str, Option<usize>> = HashMap::new();
        for (own, mine) in all.iter().enumerate() {
            for candidate in mine {
                let owner = owners.entry(candidate).or_insert(Some(own));
                *owner = owner.filter(|&other| other == own);
            }
        }
        let letter = |(own, mine): (usize, &[String; 3])| {
            let is_own = |candidate: &&String| owners[candidate.as_str()] == Some(own);
            mine.iter().find(is_own).unwrap_or(&mine[2]).clone()
        };
        Symbols { letters: all.iter().enumerate().map(letter).collect(), convention }
    }

    /// The letter of a node in the symbols of its cells: `x`, `q1`, `s_scaled`.
    pub fn letter(&self, node: NodeId) -> &str {
        &self.letters[node.position()]
    }

    /// The row and the column in a symbol, from 1.
    pub fn indices(&self, cell: CellId) -> (usize, usize) {
        match self.convention {
            Convention::Rows => (cell.row + 1, cell.col + 1),
            Convention::Columns => (cell.col + 1, cell.row + 1),
        }
    }

    /// A cell as a symbol.
    pub fn cell(&self, cell: CellId) -> String {
        let (letter, (row, col)) = (self.letter(cell.node), self.indices(cell));
        if letter.chars().count() == 1 && row < 10 && col < 10 {
            format!("{letter}{row}{col}")
        } else {
            format!("{letter}[{row},{col}]")
        }
    }
}

/// The possible letters for a name, the shortest first: `q1`, `q_1`, `Q_1`.
fn candidates(name: &str) -> [String; 3] {
    let short = match name.split_once('_') {
        Some((letter, head)) if !head.is_empty() && head.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{letter}{head}")
        }
        _ => name.to_string(),
    };
    [short.to_lowercase(), name.to_lowercase(), name.to_string()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Origin;
    use crate::matrix::Matrix;

    fn symbols(names: &[&str], convention: Convention) -> Vec<String> {
        let mut graph = Graph::new();
        for name in names {
            graph.given(name, Matrix::filled(2, 11, 1.0), Origin::Stated).unwrap();
        }
        let symbols = Symbols::of(&graph, convention);
        graph.nodes().map(|(node, _)| symbols.cell(CellId { node, row: 0, col: 1 })).collect()
    }

    #[test]
    fn an_index_past_nine_or_a_suffix_takes_brackets() {
        let names = ["Q", "Q_1", "S_scaled"];
        assert_eq!(symbols(&names, Convention::Rows), ["q12", "q1[1,2]", "s_scaled[1,2]"]);
        let mut graph = Graph::new();
        let node = graph.given("Q", Matrix::filled(2, 11, 1.0), Origin::Stated).unwrap();
        let symbols = Symbols::of(&graph, Convention::Rows);
        assert_eq!(symbols.cell(CellId { node, row: 1, col: 10 }), "q[2,11]");
    }

    #[test]
    fn two_nodes_never_share_a_symbol() {
        assert_eq!(symbols(&["x", "X"], Convention::Rows), ["x12", "X12"]);
        assert_eq!(symbols(&["A_1", "A1", "a1"], Convention::Rows), ["a_1[1,2]", "A1[1,2]", "a1[1,2]"]);
        assert_eq!(symbols(&["W_Q", "w_q", "W_q"], Convention::Rows), ["W_Q[1,2]", "w_q[1,2]", "W_q[1,2]"]);
    }

    #[test]
    fn under_the_column_convention_the_indices_are_turned() {
        assert_eq!(symbols(&["Q"], Convention::Columns), ["q21"]);
    }
}
