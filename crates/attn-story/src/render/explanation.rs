//! Shared parts of explanations in every format: symbols, numbers, equations in one style.

use std::cell::Cell;

use serde::Serialize;

use super::view::Viewer;
use super::{Style, digits};
use crate::elementary;
use crate::explain::{Branch, Explanation, notes, shortened_to, steps, stored_weight, worked_out};
use crate::graph::{
    self, CellId, Convention, Equation, Graph, Notation, Op, Origin, PlainSymbols, Symbols, Term, address_of,
    number_text, written,
};
use crate::story::{Digits, ExplainedCell, Story};
use crate::text::clipped;

/// The longest origin, in characters: a matrix typed on the command line need not be repeated beside each of its cells.
const LONGEST_ORIGIN: usize = 44;

/// The note that is shown once if a derivation has a ≈.
const ROUNDED: &str = "≈: rounded; the result was calculated with all digits, and not with those shown";

/// The note that is shown once if an operand is a weight, with its place beside it.
const PLACES: &str = "places in the file count from 0";

/// Explanations in the style of a story.
pub struct ExplanationWriter<'a> {
    viewer: &'a Viewer<'a>,
    /// The symbols of the graph, in the style's convention.
    pub symbols: Symbols,
    /// The explanations.
    pub of: &'a [ExplainedCell],
    /// True if two may stand next to each other.
    pub side_by_side: bool,
    /// True if the meaning of ≈ has been explained.
    said_rounded: Cell<bool>,
    /// True if it has been said how places in a file are counted.
    said_places: Cell<bool>,
}

/// An operand in a list: symbol, address, value, and its origin.
pub struct Operand {
    /// `a11`.
    pub cell: CellId,
    /// `A[bat,bat]`.
    pub address: String,
    /// `0.88`.
    pub value: String,
    /// `softmax(S)`, or where it was given; of a weight its name and place in the file.
    pub origin: String,
}

/// A formula worked out, written in the marks of a format.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Derivation {
    /// The lines of the derivation: the formula in symbols, then in numbers step by step, then the value; each with the sign
    /// before it.
    pub lines: Vec<(Sign, String)>,
    /// A name for a part of the formula, its definition, and its value.
    pub with: Option<(&'static str, String, String)>,
    /// The notes.
    pub notes: Vec<String>,
}

/// The sign before a line of a derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Sign {
    /// The line before gives exactly this line, to its last digit.
    #[serde(rename = "=")]
    Equal,
    /// It does so only with the digits that are not shown.
    #[serde(rename = "≈")]
    Rounded,
}

impl Sign {
    /// `=` or `≈`.
    pub fn text(self) -> &'static str {
        match self {
            Sign::Equal => "=",
            Sign::Rounded => "≈",
        }
    }
}

impl<'a> ExplanationWriter<'a> {
    /// A writer of the explanations of these cells.
    pub fn new(viewer: &'a Viewer<'a>, of: &'a [ExplainedCell], side_by_side: bool) -> ExplanationWriter<'a> {
        let symbols = Symbols::of(&viewer.story.graph, viewer.style.convention);
        ExplanationWriter { of, side_by_side, ..ExplanationWriter::of_nothing(viewer, symbols) }
    }

    /// A writer without cells of its own, with the symbols of the story's graph, which cost a look at every node.
    pub fn of_nothing(viewer: &'a Viewer<'a>, symbols: Symbols) -> ExplanationWriter<'a> {
        let (said_rounded, said_places) = (Cell::new(false), Cell::new(false));
        ExplanationWriter { viewer, symbols, of: &[], side_by_side: false, said_rounded, said_places }
    }

    /// The graph of the story.
    pub fn graph(&self) -> &Graph {
        &self.viewer.story.graph
    }

    /// The digits of numbers.
    pub fn digits(&self) -> Digits {
        self.viewer.style.digits(self.viewer.story)
    }

    /// A number as it is written inside a formula.
    pub fn number(&self, x: f64) -> String {
        digits::one(x, self.digits())
    }

    /// The equation of a cell's node.
    pub fn equation(&self, cell: CellId) -> Equation {
        let graph = &self.viewer.story.graph;
        match &graph[cell.node].op {
            Op::Given(origin @ Origin::Rows(_)) => {
                let (left, right) = (graph[cell.node].name.clone(), origin.of_row(cell.row).to_string());
                Equation { left, right }
            }
            _ => graph::equation(graph, cell.node, self.viewer.style.convention, false),
        }
    }

    /// The line of an operand in the list.
    pub fn operand(&self, branch: &Branch) -> Operand {
        let graph = &self.viewer.story.graph;
        let cell = branch.cell();
        let origin = match stored_weight(graph, cell) {
            // A reader who looks it up in the file needs all of it.
            Some(weight) => format!("{}{}", weight.tensor, weight.place.replace(' ', "\u{a0}")),
            None => clipped(&self.equation(cell).right, LONGEST_ORIGIN).into_owned(),
        };
        let value = self.number(Term::Cell(cell).evaluate(graph));
        Operand { cell, address: address_of(graph, cell), value, origin }
    }

    /// Returns true if an operand is a number that is not derived, so that it has no derivation.
    pub fn is_leaf(&self, cell: CellId) -> bool {
        matches!(self.viewer.story.graph.terms(cell), Term::Leaf(..))
    }

    /// The formula of a cell, worked out; `symbols` and `numbers` are the notations of terms with and without symbols.
    pub fn worked<N: Notation>(
        &self,
        explanation: &Explanation,
        symbols: &dyn Notation,
        numbers: impl Fn(Digits) -> N,
    ) -> Derivation {
        let graph = &self.viewer.story.graph;
        let derived = lines(graph, &steps(graph, &explanation.term), explanation.kept, self.digits());
        let first = derived.first().map_or(self.digits(), |line| line.digits);
        let (mut formula, mut with) = (&explanation.shown, None);
        if let (Term::With { name, is, within }, Term::With { is: whole, .. }) =
            (&explanation.shown, &explanation.term)
        {
            with = Some((*name, written(is, symbols), numbers(first).number(whole.evaluate(graph))));
            formula = within;
        }
        let mut lines = vec![(Sign::Equal, written(formula, symbols))];
        for DerivationLine { term, digits, follows } in &derived {
            let text = written(term, &numbers(*digits));
            let sign = if *follows { Sign::Equal } else { Sign::Rounded };
            if lines.last().is_none_or(|(_, last)| *last != text) {
                lines.push((sign, text));
            }
        }
        let mut notes: Vec<String> =
            explanation.notes.iter().map(|note| note.text(graph, |x| self.number(x))).collect();
        if lines.iter().any(|(sign, _)| *sign == Sign::Rounded) && !self.said_rounded.replace(true) {
            notes.push(ROUNDED.to_string());
        }
        let has_weight = explanation.operands.iter().any(|one| stored_weight(graph, one.cell()).is_some());
        if has_weight && !self.said_places.replace(true) {
            notes.push(PLACES.to_string());
        }
        Derivation { lines, with, notes }
    }

    /// The formula of a cell, worked out in plain text.
    pub fn worked_in_plain(&self, explanation: &Explanation) -> Derivation {
        self.worked(explanation, &PlainTerms::symbols(self), |digits| PlainTerms::numbers(self, digits))
    }

    /// The note for readers of transposed matrices.
    pub fn convention_note(&self) -> Option<String> {
        (self.viewer.style.convention == Convention::Columns).then(|| {
            "Tokens are columns here: symbols count rows and columns of the transposed matrices, as they are shown. \
             Addresses stay in rows, as everywhere."
                .to_string()
        })
    }
}

/// Terms as plain text.
pub struct PlainTerms<'a> {
    writer: &'a ExplanationWriter<'a>,
    digits: Digits,
    in_numbers: bool,
    /// True for the numbers of one sum, which all get the same number of decimals.
    of_sum: bool,
}

impl<'a> PlainTerms<'a> {
    /// Terms with symbols in them.
    pub fn symbols(writer: &'a ExplanationWriter<'a>) -> PlainTerms<'a> {
        PlainTerms { writer, digits: writer.digits(), in_numbers: false, of_sum: false }
    }

    /// Terms with numbers in them, written in these digits.
    pub fn numbers(writer: &'a ExplanationWriter<'a>, digits: Digits) -> PlainTerms<'a> {
        PlainTerms { writer, digits, in_numbers: true, of_sum: false }
    }
}

impl Notation for PlainTerms<'_> {
    fn cell(&self, cell: CellId) -> String {
        self.writer.symbols.cell(cell)
    }

    fn number(&self, number: f64) -> String {
        if self.of_sum { digits::of_sum(number, self.digits) } else { digits::one(number, self.digits) }
    }

    fn of_sum(&self, numbers: &[f64]) -> Option<Box<dyn Notation + '_>> {
        let mixed = self.in_numbers && digits::are_mixed(numbers, self.digits);
        mixed.then(|| Box::new(PlainTerms { of_sum: true, ..*self }) as Box<dyn Notation + '_>)
    }

    fn constant(&self, number: f64) -> String {
        // In symbols an ε is written with every digit; rounded it might read 0.
        if self.in_numbers { self.number(number) } else { number_text(number) }
    }

    fn rest(&self, count: usize, sum: Option<f64>) -> String {
        match sum.filter(|_| self.in_numbers) {
            Some(sum) => format!("({count}\u{a0}more:\u{a0}{})", self.number(sum)),
            None => format!("({count}\u{a0}more)"),
        }
    }
}

/// Cells written in symbols alone, ready to be pasted.
pub struct SymbolicCells<'a> {
    /// The symbols of the graph.
    pub symbols: Symbols,
    /// The cells with their terms.
    pub of: &'a [Explanation],
}

impl<'a> SymbolicCells<'a> {
    /// These cells in symbols.
    pub fn new(viewer: &Viewer<'_>, of: &'a [Explanation]) -> SymbolicCells<'a> {
        SymbolicCells { symbols: Symbols::of(&viewer.story.graph, viewer.style.convention), of }
    }

    /// Each cell on a line: `o21 = a21·v11 + a22·v21`.
    pub fn lines(&self) -> Vec<String> {
        let notation = PlainSymbols { symbols: &self.symbols };
        let line = |one: &Explanation| {
            format!("{} = {}", self.symbols.cell(one.cell), written(&one.term, &notation))
        };
        self.of.iter().map(line).collect()
    }
}

// The digits that each line of a derivation needs, so that a reader who calculates with the shown numbers gets the next line.

/// No line gets more decimals than these, unless all have.
const MOST: usize = 6;
/// The decimals that NumPy prints.
const NUMPY: usize = 8;

/// A line of a derivation: its numbers with their digits, and if the line before gives them.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivationLine {
    /// The numbers with the operations between them.
    pub term: Term,
    /// The digits of its numbers.
    pub digits: Digits,
    /// True if the line before, calculated, gives this line, to its last digit.
    pub follows: bool,
}

/// The lines of a derivation. The last line is written in the usual digits; a line before it has as few decimals as it takes
/// for its numbers to give those of the next line, from the usual to six, and not fewer than the next. If no choice makes
/// every line follow, the fewest lines do not.
///
/// Of long sums this many terms are kept.
pub fn lines(graph: &Graph, steps: &[Term], kept: usize, usual: Digits) -> Vec<DerivationLine> {
    let terms: Vec<Term> = steps.iter().map(|step| shortened_to(graph, step, kept)).collect();
    let choices = choices(usual);
    // For each line and each choice of its digits: the best that the lines from it on can do, and the choice for the next line.
    let mut best: Vec<Vec<BestDigits>> = vec![Vec::new(); terms.len()];
    for at in (0..terms.len()).rev() {
        let best_of = |choice: usize| {
            let Some(below) = best.get(at + 1) else {
                return BestDigits { faults: choice * terms.len(), extra: choice, next: 0, follows: true };
            };
            let given = worked_out(graph, &as_shown(&terms[at], choices[choice]));
            // The line below never has more decimals than this one.
            let options = (0..=choice).map(|next| {
                let follows = gives(&given, &terms[at + 1], choices[next]);
                let faults = below[next].faults + usize::from(!follows);
                BestDigits { faults, extra: below[next].extra + choice, next, follows }
            });
            options.min_by_key(BestDigits::cost).expect("at least the usual digits")
        };
        best[at] = (0..choices.len()).map(best_of).collect();
    }
    let first = best.first().map_or(&[][..], Vec::as_slice);
    let mut choice = (0..first.len()).min_by_key(|&choice| first[choice].cost()).unwrap_or(0);
    let mut follows = true;
    let mut lines = Vec::new();
    for (term, options) in terms.into_iter().zip(best) {
        lines.push(DerivationLine { term, digits: choices[choice], follows });
        (choice, follows) = (options[choice].next, options[choice].follows);
    }
    lines
}

/// The best choice of digits for the lines from one on.
#[derive(Clone, Copy)]
struct BestDigits {
    /// The number of lines that do not follow from the line before.
    faults: usize,
    /// The number of decimals that they have beyond the usual ones.
    extra: usize,
    /// The choice for the next line.
    next: usize,
    /// True if the next line follows.
    follows: bool,
}

impl BestDigits {
    fn cost(&self) -> (usize, usize) {
        (self.faults, self.extra)
    }
}

/// The digits that a line may have, the usual ones first.
fn choices(usual: Digits) -> Vec<Digits> {
    match usual {
        Digits::AsNumPy => vec![usual],
        Digits::Places(places) => (places..=places.max(MOST)).map(Digits::Places).collect(),
    }
}

/// The number that a reader sees.
fn as_printed(x: f64, digits: Digits) -> f64 {
    read(&digits::one(x, digits))
}

/// The number that a text stands for.
fn read(text: &str) -> f64 {
    text.replace('−', "-").replace('∞', "inf").parse().unwrap_or(f64::NAN)
}

/// The term with every number as it is shown.
fn as_shown(term: &Term, digits: Digits) -> Term {
    match term {
        Term::Number(x) => Term::Number(as_printed(*x, digits)),
        Term::Rest { count, value } => Term::Rest { count: *count, value: as_printed(*value, digits) },
        other => other.map_parts(|part| as_shown(part, digits)),
    }
}

/// Returns true if the calculated numbers equal those of a line in these digits.
fn gives(calculated: &Term, line: &Term, digits: Digits) -> bool {
    match (calculated, line) {
        (Term::Number(x), Term::Number(y)) => rounds_to(*x, *y, digits),
        (Term::Rest { value: x, .. }, Term::Rest { value: y, .. }) => rounds_to(*x, *y, digits),
        (a, b) => {
            let (a_parts, b_parts) = (a.parts(), b.parts());
            std::mem::discriminant(a) == std::mem::discriminant(b)
                && !a_parts.is_empty()
                && a_parts.len() == b_parts.len()
                && a_parts.iter().zip(b_parts).all(|(a, b)| gives(a, b, digits))
        }
    }
}

/// Returns true if a number, rounded, equals another as it is shown; halfway it may go up or down.
fn rounds_to(x: f64, y: f64, digits: Digits) -> bool {
    let text = digits::one(y, digits);
    let y = read(&text);
    if !x.is_finite() || !y.is_finite() {
        return x == y || (x.is_nan() && y.is_nan());
    }
    let places = match digits {
        Digits::AsNumPy => NUMPY,
        Digits::Places(places) => places,
    };
    let exponent: i32 =
        text.split_once('e').and_then(|(_, exponent)| exponent.replace('−', "-").parse().ok()).unwrap_or(0);
    let half = 0.5 * elementary::pow(10.0, f64::from(exponent - places as i32));
    // The errors that x and y have in binary are allowed for.
    (x - y).abs() <= half + 4.0 * f64::EPSILON * x.abs().max(y.abs())
}

// Where one number came from, in a few lines: in symbols, with the numbers put in, and the value.

/// The lines about one number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellLines {
    /// Its address: `A[cave,bat]`.
    pub address: String,
    /// The right side of its step's equation: `softmax(S)`; for a given number, where it was given.
    pub step: String,
    /// Its symbol: `a21`.
    pub symbol: String,
    /// Its derivation; without lines for a number that is not derived.
    pub derivation: Derivation,
}

/// The lines about a cell of the story's graph, in which long sums keep this many terms.
pub fn cell_lines_to(story: &Story, style: &Style, cell: CellId, kept: usize) -> CellLines {
    let viewer = Viewer { story, style };
    let graph = &story.graph;
    let writer = ExplanationWriter::of_nothing(&viewer, Symbols::of(graph, style.convention));
    let derivation = derivation_to(&writer, cell, kept).map(|(_, derivation)| derivation);
    CellLines {
        address: address_of(graph, cell),
        step: writer.equation(cell).right,
        symbol: writer.symbols.cell(cell),
        derivation: derivation.unwrap_or_default(),
    }
}

/// The derivation of a cell in symbols, with the numbers put in, and the value: the steps between are for `--explain`. `None` for a
/// number that is not derived. Long sums keep this many terms.
pub fn derivation_to(
    writer: &ExplanationWriter<'_>,
    cell: CellId,
    kept: usize,
) -> Option<(Explanation, Derivation)> {
    let graph = writer.graph();
    let term = graph.terms(cell);
    if let Term::Leaf(..) = term {
        return None;
    }
    let shown = shortened_to(graph, &term, kept);
    let notes = notes(graph, cell, &shown);
    let value = Term::Cell(cell).evaluate(graph);
    let (address, operands) = (String::new(), Vec::new());
    let explanation = Explanation { cell, address, value, term, shown, kept, notes, operands };
    let mut derivation = writer.worked_in_plain(&explanation);
    let lines = &mut derivation.lines;
    if lines.len() > 3 {
        let end = lines.len() - 1;
        let rounded = lines.drain(2..end).any(|(sign, _)| sign == Sign::Rounded);
        if let Some((sign, _)) = lines.last_mut().filter(|_| rounded) {
            *sign = Sign::Rounded;
        }
    }
    Some((explanation, derivation))
}

#[cfg(test)]
mod tests {
    use crate::explain::{SHOWN, steps};

    use super::*;

    fn worked(term: &Term, places: usize) -> Vec<(Vec<f64>, bool)> {
        let graph = Graph::new();
        let numbers = |line: &DerivationLine| {
            let parts = line.term.parts().into_iter();
            parts.map(|part| as_printed(part.evaluate(&graph), line.digits)).collect()
        };
        lines(&graph, &steps(&graph, term), SHOWN, Digits::Places(places))
            .iter()
            .map(|line| (numbers(line), line.follows))
            .collect()
    }

    #[test]
    fn a_product_gets_the_digits_that_give_its_result() {
        // 0.8816·3 would be 2.6448, but 0.88163·3 = 2.64489 is 2.6449.
        let term = Term::Product(vec![Term::Number(0.881_631), Term::Number(3.0)]);
        assert_eq!(worked(&term, 4), [(vec![0.881_63, 3.0], true), (vec![], true)]);
        let exact = Term::Product(vec![Term::Number(0.5), Term::Number(3.0)]);
        assert_eq!(worked(&exact, 4)[0], (vec![0.5, 3.0], true));
    }

    #[test]
    fn where_six_decimals_do_not_suffice_the_line_does_not_follow() {
        let term = Term::Product(vec![Term::Number(0.123_456_789), Term::Number(1e6)]);
        assert_eq!(worked(&term, 4), [(vec![0.1235, 1e6], true), (vec![], false)]);
        assert_eq!(worked(&term, 9), [(vec![0.123_456_789, 1e6], true), (vec![], true)]);
    }

    #[test]
    fn numbers_that_a_sum_leaves_out_are_calculated_with_too() {
        let term = Term::Sum(vec![Term::Number(0.1); 9]);
        assert_eq!(worked(&term, 4).iter().map(|line| line.1).collect::<Vec<bool>>(), [true, true]);
    }
}
