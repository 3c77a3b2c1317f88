//! Shared parts of explanations in every format: symbols, numbers, equations in one style.

use std::cell::Cell;

use super::digits;
use super::rounding::{self, DerivationLine};
use super::viewer::Viewer;
use crate::explain::{Branch, Explanation, steps, stored_weight};
use crate::graph::{
    self, CellId, Convention, Equation, Graph, Notation, Op, Origin, PlainSymbols, Symbols, Term, address_of,
    number_text, written,
};
use crate::story::{Digits, ExplainedCell};
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The line before gives exactly this line, to its last digit.
    Equal,
    /// It does so only with the digits that are not shown.
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
        let derived =
            rounding::lines(graph, &steps(graph, &explanation.term), explanation.kept, self.digits());
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
