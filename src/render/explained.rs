//! What every format needs to write explanations: symbols, numbers, equations in one style.

use std::cell::Cell;

use super::digits;
use super::rounding::{self, Line};
use super::view::Viewer;
use crate::explain::{Branch, Explanation, steps};
use crate::graph::{
    CellId, Convention, Notation, Op, Origin, PlainSymbols, Symbols, Term, address_of, formula, number_text,
    written,
};
use crate::story::{Digits, Explained};
use crate::text::clipped;

/// The longest origin, in characters: a matrix typed on the command line need not be repeated beside each of its cells.
const LONGEST_ORIGIN: usize = 44;

/// What is said once where a derivation has a ≈.
const ROUNDED: &str = "≈: rounded; the result was calculated with all digits, and not with those shown";

/// Explanations in the style of a story.
pub(super) struct Telling<'a> {
    viewer: &'a Viewer<'a>,
    /// The symbols of the graph, in the style's convention.
    pub symbols: Symbols,
    /// What is told.
    pub of: &'a [Explained],
    /// Whether two may stand next to each other.
    pub side_by_side: bool,
    /// Whether it has been said what ≈ means.
    said_rounded: Cell<bool>,
}

/// An operand as it is listed: symbol, address, value, and how it is made.
pub(super) struct Operand {
    /// `a11`.
    pub cell: CellId,
    /// `A[bat,bat]`.
    pub address: String,
    /// `0.88`.
    pub value: String,
    /// `softmax(S)`, or where it was given.
    pub origin: String,
}

/// A formula worked out, written in the marks of a format.
pub(super) struct Worked {
    /// What the cell equals: its formula in symbols, the same in numbers step by step, the value itself; before each the sign
    /// that it is read with.
    pub lines: Vec<(Sign, String)>,
    /// A name for a part of the formula, what it stands for, and its value.
    pub with: Option<(&'static str, String, String)>,
    /// What is to be said.
    pub notes: Vec<String>,
}

/// The sign before a line of a derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// What stands in the line before gives what stands in this one, to its last digit.
    Equal,
    /// It does so only with the digits that are not shown.
    Rounded,
}

impl Sign {
    /// `=` or `≈`.
    pub(super) fn text(self) -> &'static str {
        match self {
            Sign::Equal => "=",
            Sign::Rounded => "≈",
        }
    }
}

impl<'a> Telling<'a> {
    pub(super) fn new(viewer: &'a Viewer<'a>, of: &'a [Explained], side_by_side: bool) -> Telling<'a> {
        let symbols = Symbols::of(&viewer.story.graph, viewer.style.convention);
        Telling { of, side_by_side, ..Telling::of_nothing(viewer, symbols) }
    }

    /// What tells no cell of its own, with the symbols of the story's graph, which cost a look at every node.
    pub(super) fn of_nothing(viewer: &'a Viewer<'a>, symbols: Symbols) -> Telling<'a> {
        Telling { viewer, symbols, of: &[], side_by_side: false, said_rounded: Cell::new(false) }
    }

    /// How numbers are written.
    pub(super) fn digits(&self) -> Digits {
        self.viewer.style.digits(self.viewer.story)
    }

    /// A number as it is written inside a formula.
    pub(super) fn number(&self, x: f64) -> String {
        digits::one(x, self.digits())
    }

    /// The equation of a cell's node.
    pub(super) fn equation(&self, cell: CellId) -> String {
        let graph = &self.viewer.story.graph;
        match &graph[cell.node].op {
            Op::Given(origin @ Origin::Rows(_)) => {
                format!("{} = {}", graph[cell.node].name, origin.of_row(cell.row))
            }
            _ => formula(graph, cell.node, self.viewer.style.convention, false),
        }
    }

    /// How an operand is listed.
    pub(super) fn operand(&self, branch: &Branch) -> Operand {
        let graph = &self.viewer.story.graph;
        let cell = branch.cell();
        let equation = self.equation(cell);
        let origin = equation.split_once(" = ").map_or("", |(_, right)| right);
        Operand {
            cell,
            address: address_of(graph, cell),
            value: self.number(Term::Cell(cell).evaluate(graph)),
            origin: clipped(origin, LONGEST_ORIGIN).into_owned(),
        }
    }

    /// Whether an operand is a number that is not derived, so that there is nothing to work out.
    pub(super) fn is_leaf(&self, cell: CellId) -> bool {
        matches!(self.viewer.story.graph.terms(cell), Term::Leaf(..))
    }

    /// The formula of a cell, worked out; `symbols` and `numbers` say how terms are written with and without symbols.
    pub(super) fn worked<N: Notation>(
        &self,
        explanation: &Explanation,
        symbols: &dyn Notation,
        numbers: impl Fn(Digits) -> N,
    ) -> Worked {
        let graph = &self.viewer.story.graph;
        let derived = rounding::lines(graph, &steps(graph, &explanation.term), self.digits());
        let first = derived.first().map_or(self.digits(), |line| line.digits);
        let (mut formula, mut with) = (&explanation.shown, None);
        if let (Term::With { name, is, within }, Term::With { is: whole, .. }) =
            (&explanation.shown, &explanation.term)
        {
            with = Some((*name, written(is, symbols), numbers(first).number(whole.evaluate(graph))));
            formula = within;
        }
        let mut lines = vec![(Sign::Equal, written(formula, symbols))];
        for Line { term, digits, follows } in &derived {
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
        Worked { lines, with, notes }
    }

    /// What readers of turned matrices have to know.
    pub(super) fn convention_note(&self) -> Option<String> {
        (self.viewer.style.convention == Convention::Columns).then(|| {
            "Tokens are columns here: symbols count rows and columns of the transposed matrices, as they are shown. \
             Addresses stay in rows, as everywhere."
                .to_string()
        })
    }
}

/// Terms as plain text.
pub(super) struct Plain<'a> {
    telling: &'a Telling<'a>,
    digits: Digits,
    in_numbers: bool,
    /// Whether these are the numbers of one sum, which all get the same decimals.
    of_sum: bool,
}

impl<'a> Plain<'a> {
    /// Terms with symbols in them.
    pub(super) fn symbols(telling: &'a Telling<'a>) -> Plain<'a> {
        Plain { telling, digits: telling.digits(), in_numbers: false, of_sum: false }
    }

    /// Terms with numbers in them, written in these digits.
    pub(super) fn numbers(telling: &'a Telling<'a>, digits: Digits) -> Plain<'a> {
        Plain { telling, digits, in_numbers: true, of_sum: false }
    }
}

impl Notation for Plain<'_> {
    fn cell(&self, cell: CellId) -> String {
        self.telling.symbols.cell(cell)
    }

    fn number(&self, number: f64) -> String {
        match self.of_sum {
            true => digits::of_sum(number, self.digits),
            false => digits::one(number, self.digits),
        }
    }

    fn of_sum(&self, numbers: &[f64]) -> Option<Box<dyn Notation + '_>> {
        let mixed = self.in_numbers && digits::are_mixed(numbers, self.digits);
        mixed.then(|| Box::new(Plain { of_sum: true, ..*self }) as Box<dyn Notation + '_>)
    }

    fn constant(&self, number: f64) -> String {
        // In symbols an ε is what it is; rounded it might read 0.
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
pub(super) struct Symbolic<'a> {
    /// The symbols of the graph.
    pub symbols: Symbols,
    /// The cells with their terms.
    pub of: &'a [Explanation],
}

impl<'a> Symbolic<'a> {
    pub(super) fn new(viewer: &Viewer<'_>, of: &'a [Explanation]) -> Symbolic<'a> {
        Symbolic { symbols: Symbols::of(&viewer.story.graph, viewer.style.convention), of }
    }

    /// Each cell on a line: `o21 = a21·v11 + a22·v21`.
    pub(super) fn lines(&self) -> Vec<String> {
        let notation = PlainSymbols { symbols: &self.symbols };
        let line = |one: &Explanation| {
            format!("{} = {}", self.symbols.cell(one.cell), written(&one.term, &notation))
        };
        self.of.iter().map(line).collect()
    }
}
