//! Names for the lines of a graph that stand for the tokens of the vocabulary.

use crate::attention::WeightLayout;
use crate::graph::{Graph, NodeId, Op};
use crate::matrix::Labels;

/// Names the rows of the embedding, the lines of the unembedding and the columns of the logits after the tokens of the vocabulary, so
/// that nobody reads a position for an id: `logits[is,animal]`. All of them share the names.
pub fn name_vocabulary(graph: &mut Graph, names: &Labels) {
    let mut lines: Vec<(NodeId, Lines)> = Vec::new();
    for (id, node) in graph.nodes() {
        if node.name == "W_E" {
            lines.push((id, Lines::Rows));
        }
        if !node.name.starts_with("logits") {
            continue;
        }
        lines.push((id, Lines::Columns));
        if let Op::Linear(layout) = node.op {
            let of_weights = match layout {
                WeightLayout::InOut => Lines::Columns,
                WeightLayout::OutIn => Lines::Rows,
            };
            let weights = [of_weights, Lines::Columns];
            lines.extend(node.inputs.iter().skip(1).copied().zip(weights));
        }
    }
    for (id, lines) in lines {
        let (rows, cols) = graph[id].labels();
        let (rows, cols) = match lines {
            Lines::Rows => (Some(names.clone()), cols.cloned()),
            Lines::Columns => (rows.cloned(), Some(names.clone())),
        };
        graph.name_lines(id, rows, cols);
    }
    graph.set_vocabulary(names.clone());
}

#[derive(Clone, Copy)]
enum Lines {
    Rows,
    Columns,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{CellId, Cells, Origin, address_of, resolve};
    use crate::matrix::Matrix;

    /// The logits of two tokens over a vocabulary of these pieces.
    fn graph(pieces: &[&str]) -> Graph {
        let mut graph = Graph::new();
        let x = graph.given("X", Matrix::filled(2, 3, 1.0).rows_named(&["the", "␣bat"]), Origin::Stated);
        let w = graph.given("W_U", Matrix::filled(pieces.len(), 3, 1.0), Origin::Stated).unwrap();
        graph.add("logits", Op::Linear(WeightLayout::OutIn), &[x.unwrap(), w]).unwrap();
        name_vocabulary(&mut graph, &pieces.iter().map(|piece| piece.to_string()).collect());
        graph
    }

    fn id(graph: &Graph, address: &str) -> Option<usize> {
        match resolve(graph, address).ok()? {
            Cells::Cell(cell) => Some(cell.col),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_column_of_the_logits_is_addressed_by_its_token() {
        let graph = graph(&["the", "␣cave", "7", "�", "�"]);
        assert_eq!(id(&graph, "logits[2,cave]"), Some(1));
        assert_eq!(id(&graph, "logits[bat,token 3]"), Some(3));
        assert_eq!(id(&graph, "logits[2,token 0]"), Some(0));
        assert_eq!(id(&graph, "logits[2,2]"), Some(1), "a number is a position");
        let error = resolve(&graph, "logits[2,token 5]").unwrap_err().to_string();
        assert!(error.contains("ids 0 to 4"), "{error}");
    }

    #[test]
    fn the_shown_address_of_a_token_is_never_a_position() {
        let graph = graph(&["the", "␣cave", "7", "�", "�"]);
        let (logits, weights) = (graph.find("logits").unwrap(), graph.find("W_U").unwrap());
        let shown: Vec<String> =
            (0..5).map(|col| address_of(&graph, CellId { node: logits, row: 1, col })).collect();
        let names = ["the", "␣cave", "token 2", "token 3", "token 4"];
        assert_eq!(shown, names.map(|name| format!("logits[␣bat,{name}]")));
        for (col, address) in shown.iter().enumerate() {
            assert_eq!(id(&graph, address), Some(col), "{address}");
        }
        assert_eq!(address_of(&graph, CellId { node: weights, row: 3, col: 0 }), "W_U[token 3,1]");
    }
}
