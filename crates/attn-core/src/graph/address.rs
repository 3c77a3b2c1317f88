//! Addresses of cells, as the documents write them: `A[3,2]`, `A[cave,bat]`, a row `A[bat]`, a node `A`.

use crate::error::{Error, Result};
use crate::foreign::hidden;
use crate::matrix::Labels;
use crate::text::clip;

use super::label::{LabelMatch, find_label};
use super::named_lines::{NamedLines, of_id};
use super::{CellId, Graph, NodeId, Step};

/// The node, row or cell that an address names; positions count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// A whole node.
    Node(NodeId),
    /// A row of a node.
    Row(NodeId, usize),
    /// One cell.
    Cell(CellId),
}

/// Finds the cells that an address names. A number is always a position, from 1; a label names the row or column that carries
/// it, `the#2` the second of a repeated one. The mark of a space before a word may be another one, or left out: see
/// [`find_label`].
///
/// # Errors
/// If the address is not well formed, the node does not exist, a position lies outside its shape, or a label is
/// unknown or repeated.
pub fn resolve(graph: &Graph, address: &str) -> Result<Cells> {
    let address = address.trim();
    let Some((name, rest)) = address.split_once('[') else {
        return Ok(Cells::Node(graph.require(address)?));
    };
    let node = graph.require(name.trim())?;
    let inside = rest.strip_suffix(']').ok_or_else(|| {
        Error::new(format!("`{}` has no closing bracket", clip(address)))
            .help("write a cell as A[3,2] or A[cave,bat]")
    })?;
    // A cell of a node that is never formed has no value, however it is addressed.
    if graph[node].is_never_formed() {
        graph.matrix(node)?;
    }
    let shape = graph[node].shape();
    let (rows, cols) = graph[node].labels();
    let named = format!("{} ({shape})", graph[node].name);
    let lines = |what, count, labels: Option<&_>| NamedLines {
        what,
        count,
        labels: labels.cloned(),
        are_ids: labels.is_some_and(|labels| graph.is_vocabulary(labels)),
    };
    let (rows, cols) = (lines("row", shape.rows, rows), lines("column", shape.cols, cols));
    let row_of = |text: &str| rows.position(text, address, &named);
    let col_of = |text: &str| cols.position(text, address, &named);
    match inside.split(',').map(str::trim).collect::<Vec<_>>()[..] {
        [row] => Ok(Cells::Row(node, row_of(row)?)),
        [row, col] => Ok(Cells::Cell(CellId { node, row: row_of(row)?, col: col_of(col)? })),
        _ => Err(Error::new(format!("`{}` has more than one row and one column", clip(address)))
            .help("write a cell as A[3,2] or A[cave,bat]")),
    }
}

/// Finds the cells that an address names, also where the graph has its node once for every head (`A_1`, `A_2`), or once for
/// every case of a demo (`A_cave`, `A_racket`): then the address is that of each of them in which it can be found.
///
/// # Errors
/// Those of [`resolve`].
pub fn resolve_each(graph: &Graph, address: &str) -> Result<Vec<Cells>> {
    let exact = resolve(graph, address);
    let (name, inside) = address.trim().split_at(address.trim().find('[').unwrap_or(address.trim().len()));
    let name = name.trim();
    if exact.is_ok() || graph.find(name).is_some() {
        return exact.map(|cells| vec![cells]);
    }
    let of_name = graph.nodes().filter(|(_, node)| match node.step {
        Some(Step { stage, head: Some(_), .. }) => stage.name() == name,
        // A matrix that all heads share is one alone: `W` is not short for W_Q.
        Some(Step { stage, head: None, .. }) if stage.name() == node.name => false,
        _ => case_of(graph, &node.name, name).is_some(),
    });
    let of_name = of_name.map(|(_, node)| &node.name);
    let found: Vec<Result<Cells>> = of_name.map(|node| resolve(graph, &format!("{node}{inside}"))).collect();
    let first_error = || found.iter().position(Result::is_err);
    match (found.iter().any(Result::is_ok), first_error()) {
        (true, _) => Ok(found.into_iter().flatten().collect()),
        (false, Some(at)) => found.into_iter().nth(at).unwrap_or(exact).map(|cells| vec![cells]),
        (false, None) => exact.map(|cells| vec![cells]),
    }
}

/// The case of a demo in a node's name, after the typed name: `cave` after `A`, or the number of a head. A case has several
/// nodes of its own.
fn case_of<'n>(graph: &Graph, node: &'n str, typed: &str) -> Option<&'n str> {
    let case = node.strip_prefix(typed)?.strip_prefix('_').filter(|case| !case.contains('_'))?;
    let of_case = || graph.nodes().filter(|(_, node)| node.name.ends_with(&format!("_{case}"))).count();
    (case.bytes().all(|b| b.is_ascii_digit()) || of_case() > 1).then_some(case)
}

/// The address of a cell, as [`resolve`] reads it: labels where the matrix has them and they can be read back, else positions
/// from 1. A token of the vocabulary that cannot be read back goes by its id: `token 464`.
pub fn address_of(graph: &Graph, cell: CellId) -> String {
    let node = &graph[cell.node];
    let (rows, cols) = node.labels();
    format!("{}[{},{}]", node.name, name_of(graph, rows, cell.row), name_of(graph, cols, cell.col))
}

/// The label of a row or column as it is addressed, or its number where that cannot be read back.
fn name_of(graph: &Graph, labels: Option<&Labels>, at: usize) -> String {
    let number = (at + 1).to_string();
    let Some(labels) = labels else { return number };
    let label = &labels[at];
    let before = labels[..at].iter().filter(|other| *other == label).count();
    let repeated = before > 0 || labels[at + 1..].contains(label);
    let are_ids = graph.is_vocabulary(labels);
    if are_ids && repeated {
        return of_id(at);
    }
    let name = if repeated { format!("{label}#{}", before + 1) } else { label.clone() };
    let is_seen = hidden(label).next().is_none();
    let is_plain = is_seen && label.trim() == label && !label.contains([',', '[', ']']);
    let is_number = name.bytes().all(|b| b.is_ascii_digit());
    if is_plain && !is_number && find_label(labels, &name) == LabelMatch::One(at) {
        name
    } else if are_ids {
        of_id(at)
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Origin;
    use crate::matrix::Matrix;

    fn graph() -> Graph {
        let mut graph = Graph::new();
        let a = Matrix::filled(3, 3, 0.0).rows_named(&["the", "cat", "the"]).cols_named(&["x", "y", "z"]);
        graph.given("A", a, Origin::Stated).unwrap();
        graph
    }

    fn cell(address: &str) -> (usize, usize) {
        match resolve(&graph(), address).unwrap() {
            Cells::Cell(cell) => (cell.row, cell.col),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_count_from_one_and_labels_name_rows_and_columns() {
        assert_eq!(cell("A[3,2]"), (2, 1));
        assert_eq!(cell("A[cat,z]"), (1, 2));
        assert_eq!(cell("A[the#2, 1]"), (2, 0));
    }

    #[test]
    fn the_address_of_a_cell_names_it_again() {
        let mut graph = Graph::new();
        let odd = ["the", "cat", "the", "7", " padded", "a,b", "x]", "#", "the#1", ""];
        let a = Matrix::filled(10, 2, 0.0).rows_named(&odd).cols_named(&["sport", "animals"]);
        let node = graph.given("A", a, Origin::Stated).unwrap();
        for row in 0..10 {
            let cell = CellId { node, row, col: 1 };
            assert_eq!(resolve(&graph, &address_of(&graph, cell)).unwrap(), Cells::Cell(cell));
        }
        assert_eq!(address_of(&graph, CellId { node, row: 1, col: 0 }), "A[cat,sport]");
        assert_eq!(address_of(&graph, CellId { node, row: 2, col: 0 }), "A[the#2,sport]");
        assert_eq!(address_of(&graph, CellId { node, row: 3, col: 0 }), "A[4,sport]");
    }

    #[test]
    fn a_node_of_every_head_or_case_is_found_under_its_bare_name() {
        let mut graph = Graph::new();
        let square = |names: &[&str]| Matrix::filled(2, 2, 0.0).rows_named(names);
        for (name, rows) in [("A_1", ["the", "cat"]), ("A_2", ["the", "cat"]), ("W_Q", ["x", "y"])] {
            graph.given(name, square(&rows), Origin::Stated).unwrap();
        }
        for (name, rows) in
            [("X_cave", ["bat", "cave"]), ("O_cave", ["bat", "cave"]), ("O_racket", ["bat", "racket"])]
        {
            graph.given(name, square(&rows), Origin::Stated).unwrap();
        }
        graph.given("X_racket", square(&["bat", "racket"]), Origin::Stated).unwrap();
        let count = |address: &str| resolve_each(&graph, address).map(|cells| cells.len()).ok();
        assert_eq!(count("A[cat,2]"), Some(2));
        assert_eq!(count("A_2[cat,2]"), Some(1));
        assert_eq!(count("O[bat,1]"), Some(2));
        assert_eq!(count("O[cave,1]"), Some(1));
        assert_eq!(count("W[1,1]"), None, "W_Q is neither a head nor a case of W");
        assert!(resolve_each(&graph, "A[dog,1]").unwrap_err().to_string().contains("A_1"));
    }

    #[test]
    fn a_repeated_label_must_say_which() {
        let error = resolve(&graph(), "A[the,x]").unwrap_err().to_string();
        assert!(error.contains("names 2 rows") && error.contains("the#1"), "{error}");
    }

    #[test]
    fn a_word_is_found_without_its_space_and_several_labels_of_it_are_told_apart() {
        let mut graph = Graph::new();
        let names = ["the", "␣cave", "␣the", "▁the"];
        let a = Matrix::filled(4, 4, 0.0).rows_named(&names).cols_named(&names);
        graph.given("A", a, Origin::Stated).unwrap();
        let at = |address: &str| match resolve(&graph, address).unwrap() {
            Cells::Cell(cell) => (cell.row, cell.col),
            other => panic!("{other:?}"),
        };
        assert_eq!(at("A[cave,the]"), (1, 0));
        assert_eq!(at("A[_cave, ␣the]"), (1, 2));
        let error = resolve(&graph, "A[_the,1]").unwrap_err().to_string();
        assert!(
            error.contains("names 2 rows") && error.contains("`␣the` (row 3), `▁the` (row 4)"),
            "{error}"
        );
    }

    #[test]
    fn an_address_that_is_written_is_read_back_as_the_same_cell() {
        let odd = ["the", "the", "7", "a,b", "[", "x#1", " y", "", "cat"];
        let mut graph = Graph::new();
        let names = Matrix::filled(9, 9, 0.0).rows_named(&odd).cols_named(&odd);
        let named = graph.given("A", names, Origin::Stated).unwrap();
        let bare = graph.given("S_1", Matrix::filled(2, 11, 0.0), Origin::Stated).unwrap();
        for (node, rows, cols) in [(named, 9, 9), (bare, 2, 11)] {
            for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
                let cell = CellId { node, row, col };
                let address = address_of(&graph, cell);
                assert_eq!(resolve(&graph, &address).unwrap(), Cells::Cell(cell), "{address}");
            }
        }
        assert_eq!(address_of(&graph, CellId { node: named, row: 1, col: 8 }), "A[the#2,cat]");
        assert_eq!(address_of(&graph, CellId { node: bare, row: 1, col: 10 }), "S_1[2,11]");
    }

    #[test]
    fn a_wrong_address_says_what_there_is() {
        for (address, said) in [
            ("B[1,1]", "no node `B`"),
            ("A[4,1]", "rows are numbered 1 to 3"),
            ("A[4,1]", "A (3×3) has no row 4"),
            ("A[cta,1]", "did you mean `cat`"),
            ("A[1,1", "closing bracket"),
            ("A[1,2,3]", "more than one row and one column"),
            ("A[99999999999999999999999,1]", "rows are numbered 1 to 3"),
        ] {
            let error = resolve(&graph(), address).unwrap_err().to_string();
            assert!(error.contains(said), "{address}: {error}");
        }
    }
}
