//! The cells that are explained for the address of a node, a row or a cell.

use crate::error::{Error, Result};
use crate::graph::{CellId, Cells, Graph, resolve_each};

/// The most cells of a node that is explained as a whole.
pub const MOST_OF_A_NODE: usize = 64;

/// The cells that an address names: `A[bat,cave]`, `A[bat]` for a row, `A` for a node.
///
/// # Errors
/// If there are none, or a whole node has more than [`MOST_OF_A_NODE`] cells.
pub fn cells_named(graph: &Graph, address: &str) -> Result<Vec<CellId>> {
    let cells = resolve_each(graph, address)?.into_iter().map(|named| cells_at(graph, named));
    Ok(cells.collect::<Result<Vec<_>>>()?.concat())
}

/// The cells of a node, a row or a cell.
///
/// # Errors
/// If a whole node has more than [`MOST_OF_A_NODE`] cells.
pub fn cells_at(graph: &Graph, named: Cells) -> Result<Vec<CellId>> {
    match named {
        Cells::Cell(cell) => Ok(vec![cell]),
        Cells::Row(node, row) => {
            Ok((0..graph[node].shape().cols).map(|col| CellId { node, row, col }).collect())
        }
        Cells::Node(node) => {
            let shape = graph[node].shape();
            let count = shape.rows * shape.cols;
            if count > MOST_OF_A_NODE {
                let name = &graph[node].name;
                return Err(Error::new(format!(
                    "{name} ({shape}) has {count} cells, and a whole node is explained up to {MOST_OF_A_NODE}"
                ))
                .help(format!("name a row of it, {name}[1], or a cell, {name}[1,1]")));
            }
            Ok((0..shape.rows)
                .flat_map(|row| (0..shape.cols).map(move |col| CellId { node, row, col }))
                .collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Origin;
    use crate::matrix::Matrix;

    #[test]
    fn a_row_has_a_cell_for_each_column_and_a_large_node_is_refused() {
        let mut graph = Graph::new();
        graph.given("A", Matrix::identity(3), Origin::Stated).unwrap();
        graph.given("B", Matrix::identity(9), Origin::Stated).unwrap();
        let count = |address: &str| cells_named(&graph, address).map(|cells| cells.len());
        assert_eq!((count("A[2]").unwrap(), count("A").unwrap(), count("B[1]").unwrap()), (3, 9, 9));
        assert!(count("B").unwrap_err().to_string().contains("81 cells"));
    }
}
