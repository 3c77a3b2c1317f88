//! Stories on a terminal.

use crate::text::ScreenWidth;
use colored::{ColoredString, Colorize};

use super::Style;
use super::block::{self, Block};
use super::document::{ComputedNode, Markup};
use super::explained::{ExplanationWriter, SymbolicCells};
use super::picture::picture;
use super::plane::Drawing;
use super::step_layout::{StepLayout, StepPart};
use super::table;
use super::tree;
use super::view::{INDENT, View};
use super::wrap::wrapped;
use crate::graph::Equation;
use crate::story::Table;

/// Sentences are wrapped at this width at most, so that a wide screen does not make long lines.
const WIDEST_PROSE: usize = 100;

/// The text written so far, and its style.
pub(super) struct Terminal<'a> {
    style: &'a Style,
    text: String,
    in_steps: bool,
    /// True if the sentence of a step was written last.
    begun: bool,
    /// True if the option that shows folded matrices has been named.
    pointed: bool,
    /// The parts of the step that are not written yet: their layout depends on the parts after them.
    parts: Vec<StepPart>,
}

impl<'a> Terminal<'a> {
    pub(super) fn new(style: &'a Style) -> Terminal<'a> {
        Terminal {
            style,
            text: String::new(),
            in_steps: false,
            begun: false,
            pointed: false,
            parts: Vec::new(),
        }
    }

    /// Returns true if the option that shows folded matrices has been named.
    pub(super) fn has_pointed(&self) -> bool {
        self.pointed
    }

    /// This terminal for a screen on which that option has, or has not, been named elsewhere.
    pub(super) fn having_pointed(mut self, pointed: bool) -> Terminal<'a> {
        self.point(pointed);
        self
    }

    /// This terminal within the steps of a story, for parts that have no number of their own.
    pub(super) fn having_begun(mut self, in_steps: bool) -> Terminal<'a> {
        self.in_steps = in_steps;
        self
    }

    /// Sets if the option that shows folded matrices has been named.
    pub(super) fn point(&mut self, pointed: bool) {
        self.pointed = pointed;
    }

    /// Lines that are laid out already, after a blank line.
    pub(super) fn lines(&mut self, lines: &[String]) {
        self.settle(None);
        self.gap();
        for line in lines {
            self.line(line);
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn gap(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn indent(&self) -> usize {
        if self.in_steps { INDENT } else { 0 }
    }

    fn room(&self) -> usize {
        self.style.width.saturating_sub(self.indent()).max(20)
    }

    fn painted(&self, text: &str, paint: impl Fn(&str) -> ColoredString) -> String {
        if self.style.colour { paint(text).to_string() } else { text.to_string() }
    }

    /// Words, wrapped, with something before the first line.
    fn prose(&mut self, first: &str, rest: &str, text: &str, paint: impl Fn(&str) -> ColoredString) {
        self.wrapped(self.style.width.clamp(20, WIDEST_PROSE), (first, rest), text, paint);
    }

    /// Words in lines of this width, with something before the first line and before the others.
    fn wrapped(
        &mut self,
        width: usize,
        before: (&str, &str),
        text: &str,
        paint: impl Fn(&str) -> ColoredString,
    ) {
        for line in wrapped(self.style, width, before, text) {
            let line = self.painted(&line, &paint);
            self.line(&line);
        }
    }

    /// Begins a part of a step: after a blank line, unless it follows the sentence of the step.
    fn part(&mut self) {
        if !std::mem::take(&mut self.begun) {
            self.gap();
        }
    }

    /// Equations, several in a line where there is room.
    fn equations(&self, equations: &[Equation]) -> Vec<String> {
        const BETWEEN: &str = "    ";
        let equations: Vec<String> = equations.iter().map(Equation::to_string).collect();
        let widths: Vec<usize> =
            equations.iter().map(|one| self.style.charset.spelled(one).width()).collect();
        let rows = block::rows_apart(&widths, self.room(), BETWEEN.len());
        rows.into_iter().flat_map(|row| self.equation(&equations[row].join(BETWEEN))).collect()
    }

    /// Sentences stay narrow on a wide screen; an equation is not broken where it fits.
    fn equation(&self, equation: &str) -> Vec<String> {
        let lines = wrapped(self.style, self.room(), ("", "    "), equation);
        lines.iter().map(|line| self.painted(line, |line| line.bold())).collect()
    }

    fn block(&mut self, block: &Block) {
        self.set_in(&block.lines);
    }

    fn set_in(&mut self, lines: &[String]) {
        let indent = " ".repeat(self.indent());
        for line in lines {
            self.line(&format!("{indent}{line}"));
        }
    }

    /// Writes the parts of the step that have come up, with a picture of the plane where there is one.
    fn settle(&mut self, drawing: Option<&Drawing>) {
        let parts = std::mem::take(&mut self.parts);
        let lines = {
            let equations = |equations: &[Equation]| self.equations(equations);
            let layout = StepLayout { style: self.style, room: self.room(), equations: &equations };
            match drawing {
                Some(drawing) => layout.with_drawing(&parts, drawing),
                None => layout.lines(&parts),
            }
        };
        if lines.is_empty() {
            return;
        }
        self.part();
        self.set_in(&lines);
        self.begun = drawing.is_none() && parts.last().is_some_and(|part| part.is_folded);
    }
}

impl Markup for Terminal<'_> {
    fn title(&mut self, title: &str, source: Option<&str>) {
        self.settle(None);
        self.in_steps = false;
        if !self.text.is_empty() {
            self.gap();
            self.text.push('\n');
        }
        self.prose("", "", title, |line| line.bold());
        if let Some(source) = source {
            self.prose("", "", source, |line| line.dimmed());
        }
    }

    fn step(&mut self, number: usize, text: &str) {
        self.settle(None);
        self.in_steps = true;
        self.gap();
        let mark = format!("{number:<INDENT$}");
        self.prose(&mark, &" ".repeat(INDENT), text, |line| line.normal());
        self.begun = true;
    }

    fn computed(&mut self, nodes: &[ComputedNode]) {
        let one = |node: &ComputedNode| StepPart {
            picture: picture(node, self.room(), self.style),
            ..StepPart::new(std::slice::from_ref(&node.equation), node.value.iter().cloned().collect())
        };
        self.parts.extend(StepPart::together(nodes.iter().map(one).collect()));
    }

    fn together(&mut self, equations: &[Equation], matrices: &[View]) {
        self.parts.push(StepPart::new(equations, matrices.to_vec()));
    }

    fn folded(&mut self, equations: &[Equation], count: usize) {
        let mut equations = equations.to_vec();
        if !std::mem::replace(&mut self.pointed, true)
            && let Some(last) = equations.last_mut()
        {
            let pointer = format!("--full shows {}", if count == 1 { "it" } else { "them" });
            last.right.push_str(&format!("; {}", pointer.replace(' ', "\u{a0}")));
        }
        self.parts.push(StepPart { is_folded: true, ..StepPart::new(&equations, Vec::new()) });
    }

    fn columns(&mut self, equations: &[Equation], view: &View) {
        self.parts.push(StepPart { are_columns: true, ..StepPart::new(equations, vec![view.clone()]) });
    }

    fn drawing(&mut self, drawing: &Drawing) {
        self.settle(Some(drawing));
    }

    fn table(&mut self, table: &Table) {
        self.settle(None);
        self.part();
        let blocks = if table.shares.is_empty() {
            table::words(table, self.room(), self.style)
        } else {
            table::matrix(&View::of_shares(table, self.style), self.room(), self.style)
        };
        for block in blocks {
            self.block(&block);
        }
    }

    fn explained(&mut self, writer: &ExplanationWriter<'_>) {
        self.settle(None);
        for block in tree::blocks(writer, self.room(), self.style.charset, self.style.colour) {
            if !self.text.is_empty() {
                self.gap();
            }
            self.block(&block);
        }
    }

    fn symbolic(&mut self, symbolic: &SymbolicCells<'_>) {
        self.settle(None);
        self.gap();
        for line in symbolic.lines() {
            let line = self.style.charset.spelled(&line).into_owned();
            self.line(&line);
        }
    }

    fn notice(&mut self, text: &str) {
        self.settle(None);
        self.begun = false;
        let indent = " ".repeat(self.indent());
        self.prose(&format!("{indent}→ "), &format!("{indent}  "), text, |line| line.magenta());
    }

    fn note(&mut self, text: &str) {
        self.settle(None);
        self.gap();
        self.prose("Note: ", "      ", text, |line| line.dimmed());
    }

    fn pointer(&mut self, remarks: &str, command: &str) {
        self.prose("", "", &format!("{remarks}: {command}"), |line| line.dimmed());
    }

    fn finish(&mut self) -> String {
        self.settle(None);
        std::mem::take(&mut self.text)
    }
}
