//! The expression that a cell came from, as data in the order of computing; how it is written, and how far rounding may move it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::attention::Base;
use crate::attention::number::{Function, Number};
use crate::elementary;

use super::formula::number_text;
use super::{Convention, Graph, NodeId, Precision};

/// A cell of a node; row and column from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CellId {
    /// The node.
    pub node: NodeId,
    /// The row, from 0.
    pub row: usize,
    /// The column, from 0.
    pub col: usize,
}

/// An expression over cells of earlier nodes. Evaluating it gives the recorded bits of the cell it explains.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// The value of another node's cell.
    Cell(CellId),
    /// A number that is part of the formula.
    Number(f64),
    /// The sum from left to right, starting at +0.0.
    Sum(Vec<Term>),
    /// The product from left to right.
    Product(Vec<Term>),
    /// The first minus the second.
    Difference(Box<Term>, Box<Term>),
    /// The first divided by the second.
    Quotient(Box<Term>, Box<Term>),
    /// A function of a term.
    Function(Function, Box<Term>),
    /// The max of some terms, the first of equals; NaN where one is.
    Max(Vec<Term>),
    /// One of several cases of a formula: the one that holds, and why.
    Choice {
        /// The case that holds.
        taken: Box<Term>,
        /// Why it does, as a clause: “the key comes after the query”.
        because: &'static str,
    },
    /// A number that is not derived but given or checked, with a phrase that describes it.
    Leaf(f64, String),
    /// A term with a name for a part that it needs several times: “…, with m = max(…)”.
    With {
        /// The name.
        name: &'static str,
        /// The value of the name.
        is: Box<Term>,
        /// The term that uses it.
        within: Box<Term>,
    },
    /// The name of the [`Term::With`] around it.
    Named(&'static str),
    /// The omitted terms of a sum or a maximum that is shortened for the screen; [`Graph::terms`] makes none.
    Rest {
        /// The number of terms.
        count: usize,
        /// Their sum, or their maximum if a maximum was shortened.
        value: f64,
    },
}

/// The values of names, the innermost first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bindings<'a>(Option<(&'static str, f64, &'a Bindings<'a>)>);

impl Bindings<'_> {
    /// These, and one more around everything inside.
    pub fn and(&self, name: &'static str, value: f64) -> Bindings<'_> {
        Bindings(Some((name, value, self)))
    }

    /// The value of a name; NaN for one that nothing binds.
    pub fn value(&self, name: &str) -> f64 {
        match self.0 {
            Some((bound, value, _)) if bound == name => value,
            Some((_, _, outer)) => outer.value(name),
            None => f64::NAN,
        }
    }
}

impl Term {
    /// The value of the expression over the recorded values of the graph; NaN where it reads a node never formed.
    pub fn evaluate(&self, graph: &Graph) -> f64 {
        self.value(graph, &Bindings::default())
    }

    /// The value of a part of an expression, where names have these values.
    pub fn value(&self, graph: &Graph, names: &Bindings<'_>) -> f64 {
        let of = |term: &Term| term.value(graph, names);
        match self {
            Term::Cell(CellId { node, row, col }) => {
                graph[*node].tensor().and_then(|tensor| tensor.number(*row, *col)).unwrap_or(f64::NAN)
            }
            Term::Number(number) | Term::Leaf(number, _) => *number,
            Term::Sum(terms) => Number::sum(terms.iter().map(of)),
            Term::Product(terms) => Number::product(terms.iter().map(of)),
            Term::Max(terms) => Number::max(terms.iter().map(of)),
            Term::Difference(a, b) => of(a) - of(b),
            Term::Quotient(a, b) => of(a) / of(b),
            Term::Function(function, term) => function.of(of(term)),
            Term::Choice { taken, .. } => of(taken),
            Term::With { name, is, within } => within.value(graph, &names.and(name, of(is))),
            Term::Named(name) => names.value(name),
            Term::Rest { value, .. } => *value,
        }
    }

    /// The terms that this one is made of, in the order of writing.
    pub fn parts(&self) -> Vec<&Term> {
        match self {
            Term::Cell(_) | Term::Number(_) | Term::Leaf(..) | Term::Named(_) | Term::Rest { .. } => {
                Vec::new()
            }
            Term::Sum(terms) | Term::Product(terms) | Term::Max(terms) => terms.iter().collect(),
            Term::Difference(a, b) | Term::Quotient(a, b) => vec![a, b],
            Term::With { is, within, .. } => vec![within, is],
            Term::Function(_, term) | Term::Choice { taken: term, .. } => vec![term],
        }
    }

    /// This term with each of its parts replaced by `part` of it.
    pub fn map_parts(&self, mut part: impl FnMut(&Term) -> Term) -> Term {
        let mut boxed = |term: &Term| Box::new(part(term));
        match self {
            Term::Cell(_) | Term::Number(_) | Term::Leaf(..) | Term::Named(_) | Term::Rest { .. } => {
                self.clone()
            }
            Term::Sum(terms) => Term::Sum(terms.iter().map(part).collect()),
            Term::Product(terms) => Term::Product(terms.iter().map(part).collect()),
            Term::Max(terms) => Term::Max(terms.iter().map(part).collect()),
            Term::Difference(a, b) => Term::Difference(boxed(a), boxed(b)),
            Term::Quotient(a, b) => Term::Quotient(boxed(a), boxed(b)),
            Term::Function(function, term) => Term::Function(*function, boxed(term)),
            Term::Choice { taken, because } => Term::Choice { taken: boxed(taken), because },
            Term::With { name, is, within } => Term::With { name, is: boxed(is), within: boxed(within) },
        }
    }
}

// Terms written out, in symbols or in numbers: `l11·x11 + l12·x21`.

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
    /// A function, by its name in plain text, of arguments with commas between them.
    fn function(&self, name: &str, arguments: &str) -> String {
        format!("{name}({arguments})")
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
        Term::Function(function, term) => atom(applied(*function, &text(term), notation)),
        Term::Max(terms) => {
            let argument = |term: &Term| match term {
                Term::Rest { count, .. } => notation.rest(*count, None),
                term => text(term),
            };
            let arguments: Vec<String> = terms.iter().map(argument).collect();
            atom(notation.function("max", &arguments.join(", ")))
        }
        Term::Choice { taken, .. } => write(taken, notation),
        Term::With { name, is, within } => {
            BoundText { text: notation.with(&text(within), name, &text(is)), binding: Binding::Sign }
        }
    }
}

/// A function of an argument that is written already.
fn applied(function: Function, argument: &str, notation: &dyn Notation) -> String {
    match function {
        Function::Power(Base::E) => notation.function("exp", argument),
        Function::Power(Base::Number(base)) => notation.power(&notation.number(base), argument),
        Function::Logarithm => notation.function("ln", argument),
        Function::Tanh => notation.function("tanh", argument),
        Function::Erf => notation.function("erf", argument),
        Function::Root => notation.root(argument),
        Function::Size => notation.size(argument),
        Function::Sine => notation.function("sin", argument),
        Function::Cosine => notation.function("cos", argument),
        Function::Rounded(decimals) => notation.function("round", &format!("{argument}, {decimals}")),
        Function::Truncated(decimals) => notation.function("cut", &format!("{argument}, {decimals}")),
    }
}

// Symbols for cells: `x12`, or `q1[2,11]` where an index passes 9 or the name is more than a letter.

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

// How far a number in single precision may be from the value of its terms.

/// Half of the distance between 1 and the next number of single precision: 2⁻²⁴.
const UNIT: f64 = 1.0 / 16_777_216.0;
/// The functions of the fast path are right to a few units.
const FUNCTION: f64 = 8.0 * UNIT;

/// A recorded number in single precision beside the value of its terms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounding {
    /// The number as recorded.
    pub recorded: f64,
    /// The value of its terms, in double precision.
    pub terms: f64,
    /// The most by which they may differ, by rounding alone.
    pub bound: f64,
}

/// A value with a bound of its error.
#[derive(Clone, Copy)]
struct Bounded {
    value: f64,
    error: f64,
}

impl Graph {
    /// A cell of the fast path beside the value of its terms; none on the exact path, and for given numbers.
    pub fn rounding(&self, cell: CellId, term: &Term) -> Option<Rounding> {
        let node = &self[cell.node];
        let is_single = matches!(self.precision(), Precision::Single(_)) && !node.op.is_given();
        let tensor = node.tensor().filter(|tensor| is_single && !tensor.is_exact())?;
        let recorded = tensor.number(cell.row, cell.col)?;
        let Bounded { value, error } = bounded(term, self, &Bindings::default());
        Some(Rounding { recorded, terms: value, bound: error + UNIT * value.abs() })
    }
}

/// The value of a term in double precision, and a bound of the error of the same term in single precision: every operation adds one
/// rounding to the errors of its parts (Higham 2002, “Accuracy and Stability of Numerical Algorithms”, section 3.3).
fn bounded(term: &Term, graph: &Graph, names: &Bindings<'_>) -> Bounded {
    let of = |term: &Term| bounded(term, graph, names);
    let value = term.value(graph, names);
    let error = match term {
        Term::Cell(_) | Term::Number(_) | Term::Leaf(..) | Term::Rest { .. } | Term::Named(_) => 0.0,
        Term::Sum(terms) => sum_error(terms.iter().map(of)),
        Term::Product(terms) => product_error(terms.iter().map(of)),
        Term::Difference(a, b) => of(a).error + of(b).error + UNIT * value.abs(),
        Term::Quotient(a, b) => {
            let (a, b) = (of(a), of(b));
            (a.error + value.abs() * b.error) / b.value.abs() + UNIT * value.abs()
        }
        Term::Function(function, x) => {
            let x = of(x);
            match function {
                Function::Power(_) => value.abs() * (elementary::exp(x.error) - 1.0 + FUNCTION),
                Function::Logarithm => x.error / x.value.abs() + FUNCTION * value.abs(),
                Function::Tanh | Function::Erf | Function::Sine | Function::Cosine => {
                    1.2 * x.error + FUNCTION
                }
                Function::Root => x.error / (2.0 * value) + UNIT * value,
                Function::Size | Function::Rounded(_) | Function::Truncated(_) => x.error,
            }
        }
        Term::Max(terms) => terms.iter().map(|term| of(term).error).fold(0.0, f64::max),
        Term::Choice { taken, .. } => of(taken).error,
        Term::With { name, is, within } => {
            let is = of(is);
            let inner = bounded(within, graph, &names.and(name, is.value));
            // The name stands in a difference with its own sign in numerator and denominator.
            inner.error + 2.0 * is.error * inner.value.abs()
        }
    };
    Bounded { value, error: if error.is_finite() { error } else { 0.0 } }
}

fn sum_error(terms: impl Iterator<Item = Bounded>) -> f64 {
    let (mut sum, mut error) = (0.0, 0.0);
    for term in terms {
        sum += term.value;
        error += term.error + UNIT * f64::abs(sum);
    }
    error
}

fn product_error(terms: impl Iterator<Item = Bounded>) -> f64 {
    let (mut product, mut error) = (1.0, 0.0);
    for term in terms {
        error = error * term.value.abs() + f64::abs(product) * term.error;
        product *= term.value;
        error += UNIT * f64::abs(product);
    }
    error
}

#[cfg(test)]
mod tests {
    use crate::graph::{Factor, GeluForm, Op, Origin};
    use crate::matrix::Matrix;

    use super::*;

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
        assert_eq!(text(&Term::Function(Function::Power(Base::E), Box::new(Term::Number(-1.0)))), "exp(−1)");
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
