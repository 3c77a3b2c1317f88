//! Terms written out, in symbols or in numbers: `l11·x11 + l12·x21`.

use super::formula::number_text;
use super::{CellId, Convention, Graph, Symbols, Term};
use crate::attention::Base;

/// The functions that terms are written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// A power of e.
    Exp,
    /// The natural logarithm.
    Ln,
    /// The hyperbolic tangent.
    Tanh,
    /// The error function.
    Erf,
    /// The max of its arguments.
    Max,
    /// The sine.
    Sin,
    /// The cosine.
    Cos,
    /// The first argument, rounded to as many decimals as the second says.
    Round,
    /// The first argument, cut off after as many decimals as the second says.
    Cut,
}

impl Function {
    /// The name in plain text.
    pub fn name(self) -> &'static str {
        match self {
            Function::Exp => "exp",
            Function::Ln => "ln",
            Function::Tanh => "tanh",
            Function::Erf => "erf",
            Function::Max => "max",
            Function::Sin => "sin",
            Function::Cos => "cos",
            Function::Round => "round",
            Function::Cut => "cut",
        }
    }
}

/// A notation for terms: plain text by default. Arguments are already written in the notation.
pub trait Notation {
    /// A cell.
    fn cell(&self, cell: CellId) -> String;
    /// A number.
    fn number(&self, number: f64) -> String;
    /// A number that is part of the formula, such as ε.
    fn constant(&self, number: f64) -> String {
        self.number(number)
    }
    /// The omitted terms of a shortened sum, with their sum, or of a shortened maximum, without one.
    fn rest(&self, count: usize, sum: Option<f64>) -> String;
    /// The notation for the numbers of one sum, if it differs from that of single numbers.
    fn of_sum(&self, _numbers: &[f64]) -> Option<Box<dyn Notation + '_>> {
        None
    }
    /// A product of factors.
    fn product(&self, factors: &[String]) -> String {
        factors.join("·")
    }
    /// The sign of a difference.
    fn minus(&self) -> &'static str {
        " − "
    }
    /// A quotient that needs no parentheses around its parts; `None` where a slash stands between them.
    fn fraction(&self, _above: &str, _below: &str) -> Option<String> {
        None
    }
    /// A function of arguments with commas between them.
    fn function(&self, function: Function, arguments: &str) -> String {
        format!("{}({arguments})", function.name())
    }
    /// A power of another base than e.
    fn power(&self, base: &str, exponent: &str) -> String {
        if is_bare(exponent) { format!("{base}^{exponent}") } else { format!("{base}^({exponent})") }
    }
    /// A square root.
    fn root(&self, radicand: &str) -> String {
        if is_bare(radicand) { format!("√{radicand}") } else { format!("√({radicand})") }
    }
    /// A number without its sign.
    fn size(&self, term: &str) -> String {
        format!("|{term}|")
    }
    /// The definition of a name, placed after the term that uses it.
    fn with(&self, within: &str, name: &str, is: &str) -> String {
        format!("{within}, with {name} = {is}")
    }
}

/// Returns true if a text is one number or symbol, so that it needs no parentheses.
fn is_bare(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '.')
}

/// The term in a notation.
pub fn written(term: &Term, notation: &dyn Notation) -> String {
    write(term, notation).text
}

/// The term in plain symbols, every digit of its numbers.
pub fn symbolic(graph: &Graph, term: &Term) -> String {
    written(term, &PlainSymbols { symbols: &Symbols::of(graph, Convention::Rows) })
}

/// Plain symbols, every digit of the numbers between them.
#[derive(Clone, Copy, Debug)]
pub struct PlainSymbols<'a> {
    /// The symbols of the cells.
    pub symbols: &'a Symbols,
}

impl Notation for PlainSymbols<'_> {
    fn cell(&self, cell: CellId) -> String {
        self.symbols.cell(cell)
    }

    fn number(&self, number: f64) -> String {
        number_text(number)
    }

    fn rest(&self, count: usize, _sum: Option<f64>) -> String {
        format!("({count} more)")
    }
}

/// A text, and the binding strength of its outermost operation.
struct BoundText {
    text: String,
    binding: Binding,
}

#[derive(PartialEq, PartialOrd, Clone, Copy)]
enum Binding {
    Sign,
    Sum,
    Quotient,
    Product,
    Atom,
}

fn atom(text: String) -> BoundText {
    BoundText { text, binding: Binding::Atom }
}

/// The term, in parentheses if it binds more loosely than asked.
fn inside(term: &Term, notation: &dyn Notation, at_least: Binding) -> String {
    let BoundText { text, binding } = write(term, notation);
    if binding < at_least { format!("({text})") } else { text }
}

/// The number that a term is, if it is one.
fn number_of(term: &Term) -> Option<f64> {
    match term {
        Term::Number(x) | Term::Leaf(x, _) | Term::Rest { value: x, .. } => Some(*x),
        _ => None,
    }
}

fn write(term: &Term, notation: &dyn Notation) -> BoundText {
    let text = |term: &Term| written(term, notation);
    match term {
        Term::Cell(cell) => atom(notation.cell(*cell)),
        Term::Number(number) | Term::Leaf(number, _) => {
            let binding = if *number < 0.0 { Binding::Sign } else { Binding::Atom };
            let text = match term {
                Term::Number(_) => notation.constant(*number),
                _ => notation.number(*number),
            };
            BoundText { text, binding }
        }
        Term::Rest { count, value } => atom(notation.rest(*count, Some(*value))),
        Term::Named(name) => atom(name.to_string()),
        Term::Sum(terms) if terms.len() == 1 => write(&terms[0], notation),
        Term::Sum(terms) if terms.is_empty() => atom("0".into()),
        Term::Sum(terms) => {
            let numbers: Option<Vec<f64>> = terms.iter().map(number_of).collect();
            let together = numbers.and_then(|numbers| notation.of_sum(&numbers));
            let notation = together.as_deref().unwrap_or(notation);
            let first = inside(&terms[0], notation, Binding::Sign);
            let others = terms[1..].iter().map(|term| inside(term, notation, Binding::Sum));
            let terms: Vec<String> = std::iter::once(first).chain(others).collect();
            BoundText { text: terms.join(" + "), binding: Binding::Sum }
        }
        Term::Product(terms) => {
            let factors: Vec<String> =
                terms.iter().map(|term| inside(term, notation, Binding::Product)).collect();
            BoundText { text: notation.product(&factors), binding: Binding::Product }
        }
        Term::Difference(a, b) => {
            let (a, b) = (inside(a, notation, Binding::Sign), inside(b, notation, Binding::Quotient));
            BoundText { text: format!("{a}{}{b}", notation.minus()), binding: Binding::Sum }
        }
        Term::Quotient(a, b) => match notation.fraction(&text(a), &text(b)) {
            Some(fraction) => atom(fraction),
            None => {
                let (a, b) = (inside(a, notation, Binding::Quotient), inside(b, notation, Binding::Atom));
                BoundText { text: format!("{a} / {b}"), binding: Binding::Quotient }
            }
        },
        Term::Power(Base::E, exponent) => atom(notation.function(Function::Exp, &text(exponent))),
        Term::Power(Base::Number(base), exponent) => {
            atom(notation.power(&notation.number(*base), &text(exponent)))
        }
        Term::Logarithm(term) => atom(notation.function(Function::Ln, &text(term))),
        Term::Tanh(term) => atom(notation.function(Function::Tanh, &text(term))),
        Term::Erf(term) => atom(notation.function(Function::Erf, &text(term))),
        Term::Root(term) => atom(notation.root(&text(term))),
        Term::Max(terms) => {
            let argument = |term: &Term| match term {
                Term::Rest { count, .. } => notation.rest(*count, None),
                term => text(term),
            };
            let arguments: Vec<String> = terms.iter().map(argument).collect();
            atom(notation.function(Function::Max, &arguments.join(", ")))
        }
        Term::Size(term) => atom(notation.size(&text(term))),
        Term::Sine(angle) => atom(notation.function(Function::Sin, &text(angle))),
        Term::Cosine(angle) => atom(notation.function(Function::Cos, &text(angle))),
        Term::Rounded(term, decimals) => {
            atom(notation.function(Function::Round, &format!("{}, {decimals}", text(term))))
        }
        Term::Truncated(term, decimals) => {
            atom(notation.function(Function::Cut, &format!("{}, {decimals}", text(term))))
        }
        Term::Choice { taken, .. } => write(taken, notation),
        Term::With { name, is, within } => {
            BoundText { text: notation.with(&text(within), name, &text(is)), binding: Binding::Sign }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Factor, GeluForm, Op, Origin};
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
        assert_eq!(symbols_of_last(&graph, 0, 0), "s11·(1 / √3)");
    }

    #[test]
    fn negative_numbers_stand_in_parentheses_only_between_signs() {
        let numbers = |a: f64, b: f64| vec![Term::Number(a), Term::Number(b)];
        let text = |term: &Term| symbolic(&Graph::new(), term);
        assert_eq!(text(&Term::Sum(numbers(2.0, -0.5))), "2 + (−0.5)");
        assert_eq!(text(&Term::Sum(numbers(-2.0, 0.5))), "−2 + 0.5");
        assert_eq!(text(&Term::Product(numbers(-2.0, 3.0))), "(−2)·3");
        assert_eq!(text(&Term::Max(numbers(-2.0, 3.0))), "max(−2, 3)");
        assert_eq!(text(&Term::Power(Base::E, Box::new(Term::Number(-1.0)))), "exp(−1)");
    }

    #[test]
    fn functions_are_written_as_they_are_computed() {
        let mut graph = Graph::new();
        let z = graph.given("Z", Matrix::of([[1.0, 2.0]]), Origin::Stated).unwrap();
        let mut written = |op: Op| {
            graph.add(op.name(), op, &[z]).unwrap();
            symbols_of_last(&graph, 0, 1)
        };
        assert_eq!(written(Op::SoftCap(5.0)), "5·tanh(z12 / 5)");
        assert_eq!(written(Op::Gelu(GeluForm::Erf)), "0.5·z12·(1 + erf(z12 / √2))");
        assert_eq!(
            written(Op::Gelu(GeluForm::Tanh)),
            "0.5·z12·(1 + tanh(√(2 / 3.141592653589793)·(z12 + 0.044715·z12·z12·z12)))"
        );
        assert_eq!(
            written(Op::LayerNorm(0.5)),
            "(z12 − m) / √(((z11 − m)·(z11 − m) + (z12 − m)·(z12 − m)) / 2 + 0.5), with m = (z11 + z12) / 2"
        );
    }

    #[test]
    fn a_part_that_is_needed_several_times_has_a_name() {
        let mut graph = Graph::new();
        let s = graph.given("S", Matrix::of([[1.0, 2.0]]), Origin::Stated).unwrap();
        let softmax = Op::Softmax(crate::attention::Axis::Rows, Base::E);
        graph.add("A", softmax, &[s]).unwrap();
        assert_eq!(
            symbols_of_last(&graph, 0, 1),
            "exp(s12 − m) / (exp(s11 − m) + exp(s12 − m)), with m = max(s11, s12)"
        );
    }
}
