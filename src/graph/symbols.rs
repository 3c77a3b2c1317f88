//! Terms written in symbols: `l11·x11 + l12·x21`.

use super::formula::number_text;
use super::{CellId, Graph, Term};
use crate::attention::Base;

/// A cell as a symbol: `x12`, or `q1[2,11]` where an index passes 9 or the name is more than a letter.
pub fn cell_symbol(graph: &Graph, cell: CellId) -> String {
    let name = &graph[cell.node].name;
    let (row, col) = (cell.row + 1, cell.col + 1);
    if name.chars().count() == 1 && row < 10 && col < 10 {
        return format!("{}{row}{col}", name.to_lowercase());
    }
    let letter = match name.split_once('_') {
        Some((letter, head)) if head.bytes().all(|b| b.is_ascii_digit()) => format!("{letter}{head}"),
        _ => name.clone(),
    };
    format!("{}[{row},{col}]", letter.to_lowercase())
}

/// The term in symbols.
pub fn symbolic(graph: &Graph, term: &Term) -> String {
    write(graph, term).text
}

/// A text with how tightly its outermost operation binds.
struct Written {
    text: String,
    binding: Binding,
}

#[derive(PartialEq, PartialOrd, Clone, Copy)]
enum Binding {
    Sum,
    Quotient,
    Product,
    Atom,
}

fn atom(text: String) -> Written {
    Written { text, binding: Binding::Atom }
}

/// The term, in parentheses if it binds more loosely than asked.
fn inside(graph: &Graph, term: &Term, at_least: Binding) -> String {
    let Written { text, binding } = write(graph, term);
    if binding < at_least { format!("({text})") } else { text }
}

fn joined(graph: &Graph, terms: &[Term], between: &str, at_least: Binding) -> String {
    terms.iter().map(|term| inside(graph, term, at_least)).collect::<Vec<_>>().join(between)
}

fn write(graph: &Graph, term: &Term) -> Written {
    match term {
        Term::Cell(cell) => atom(cell_symbol(graph, *cell)),
        Term::Number(number) | Term::Leaf(number, _) if *number < 0.0 => {
            atom(format!("({})", number_text(*number)))
        }
        Term::Number(number) | Term::Leaf(number, _) => atom(number_text(*number)),
        Term::Sum(terms) if terms.len() == 1 => write(graph, &terms[0]),
        Term::Sum(terms) if terms.is_empty() => atom("0".into()),
        Term::Sum(terms) => {
            Written { text: joined(graph, terms, " + ", Binding::Sum), binding: Binding::Sum }
        }
        Term::Product(terms) => {
            Written { text: joined(graph, terms, "·", Binding::Product), binding: Binding::Product }
        }
        Term::Difference(a, b) => {
            let text =
                format!("{} − {}", inside(graph, a, Binding::Sum), inside(graph, b, Binding::Quotient));
            Written { text, binding: Binding::Sum }
        }
        Term::Quotient(a, b) => {
            let text =
                format!("{} / {}", inside(graph, a, Binding::Quotient), inside(graph, b, Binding::Atom));
            Written { text, binding: Binding::Quotient }
        }
        Term::Power(Base::E, exponent) => atom(format!("exp({})", symbolic(graph, exponent))),
        Term::Power(Base::Number(base), exponent) => {
            atom(format!("{}^({})", number_text(*base), symbolic(graph, exponent)))
        }
        Term::Root(term) => atom(format!("√({})", symbolic(graph, term))),
        Term::Max(terms) => atom(format!("max({})", joined(graph, terms, ", ", Binding::Sum))),
        Term::Size(term) => atom(format!("|{}|", symbolic(graph, term))),
        Term::Sine(angle) => atom(format!("sin({})", symbolic(graph, angle))),
        Term::Cosine(angle) => atom(format!("cos({})", symbolic(graph, angle))),
        Term::Rounded(term, decimals) => atom(format!("round({}, {decimals})", symbolic(graph, term))),
        Term::Choice { taken, .. } => write(graph, taken),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Factor, Op, Origin};
    use crate::matrix::Matrix;

    fn symbols_of_last(graph: &Graph, row: usize, col: usize) -> String {
        let node = graph.last().unwrap();
        symbolic(graph, &graph.terms(CellId { node, row, col }))
    }

    #[test]
    fn a_product_is_written_as_the_documents_write_it() {
        let mut graph = Graph::new();
        let l = graph.given("L", Matrix::identity(2), Origin::Stated).unwrap();
        let x = graph.given("X", Matrix::filled(2, 3, 1.0), Origin::Stated).unwrap();
        graph.add("Y", Op::Product, &[l, x]).unwrap();
        assert_eq!(symbols_of_last(&graph, 1, 2), "l21·x13 + l22·x23");
    }

    #[test]
    fn a_scale_is_written_as_it_is_computed_a_product_with_a_quotient() {
        let mut graph = Graph::new();
        let s = graph.given("S", Matrix::identity(2), Origin::Stated).unwrap();
        graph.add("scaled", Op::Scale(Factor::InverseRoot(3)), &[s]).unwrap();
        assert_eq!(symbols_of_last(&graph, 0, 0), "s11·(1 / √(3))");
    }

    #[test]
    fn an_index_past_nine_or_a_suffix_takes_brackets() {
        let mut graph = Graph::new();
        let q = graph.given("Q_1", Matrix::filled(1, 2, 1.0), Origin::Stated).unwrap();
        let x = graph.given("X", Matrix::filled(2, 11, 1.0), Origin::Stated).unwrap();
        graph.add("S_scaled", Op::Product, &[q, x]).unwrap();
        assert_eq!(symbols_of_last(&graph, 0, 10), "q1[1,1]·x[1,11] + q1[1,2]·x[2,11]");
        let node = graph.last().unwrap();
        assert_eq!(cell_symbol(&graph, CellId { node, row: 0, col: 1 }), "s_scaled[1,2]");
    }
}
