//! A formula worked out as on a blackboard: numbers for symbols, then one layer of operations after the other.

use crate::error::{Error, Result};
use crate::graph::{Bindings, CellId, Cells, Graph, Term, resolve_each};

/// The term with numbers in it, then with every operation carried out whose operands are numbers, and so on; the last is the
/// number itself. A name is replaced by its value, a case by its result.
pub fn steps(graph: &Graph, term: &Term) -> Vec<Term> {
    let mut steps = vec![in_numbers(graph, term, &Bindings::default())];
    while let Some(last) = steps.last()
        && !matches!(last, Term::Number(_))
    {
        let next = worked_out(graph, last);
        steps.push(next);
    }
    steps
}

fn in_numbers(graph: &Graph, term: &Term, names: &Bindings<'_>) -> Term {
    match term {
        Term::Cell(_) | Term::Leaf(..) | Term::Named(_) => Term::Number(term.value(graph, names)),
        Term::Choice { taken, .. } => in_numbers(graph, taken, names),
        Term::With { name, is, within } => {
            in_numbers(graph, within, &names.and(name, is.value(graph, names)))
        }
        Term::Sum(terms) if terms.len() == 1 => in_numbers(graph, &terms[0], names),
        other => other.map_parts(|part| in_numbers(graph, part, names)),
    }
}

/// The term with every operation carried out whose operands are numbers.
pub fn worked_out(graph: &Graph, term: &Term) -> Term {
    let is_number = |part: &&Term| matches!(part, Term::Number(_) | Term::Rest { .. });
    if let Term::Rest { .. } = term {
        return term.clone();
    }
    if term.parts().iter().all(is_number) {
        Term::Number(term.evaluate(graph))
    } else {
        term.map_parts(|part| worked_out(graph, part))
    }
}

// The cells that are explained for the address of a node, a row or a cell.

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
            Ok(shape.places().map(|(row, col)| CellId { node, row, col }).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::graph::{Function, Origin, symbolic};
    use crate::matrix::Matrix;

    use super::*;

    #[test]
    fn one_layer_after_the_other() {
        let product = |a, b| Term::Product(vec![Term::Number(a), Term::Number(b)]);
        let root = Term::Function(Function::Root, Box::new(Term::Number(16.0)));
        let sum = Term::Sum(vec![product(3.0, 4.0), product(2.0, 2.0)]);
        let term = Term::Quotient(Box::new(sum), Box::new(root));
        let graph = Graph::new();
        let texts: Vec<String> = steps(&graph, &term).iter().map(|step| symbolic(&graph, step)).collect();
        assert_eq!(texts, ["(3·4 + 2·2) / √16", "(12 + 4) / 4", "16 / 4", "4"]);
    }

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
