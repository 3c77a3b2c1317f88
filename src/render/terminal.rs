//! Stories on a terminal.

use colored::{ColoredString, Colorize};

use crate::graph::Equation;
use crate::story::{Step, StepItem};
use crate::text::ScreenWidth;

use super::document::{ComputedNode, Markup, Part};
use super::plane::Drawing;
use super::tree::wrapped_prose;
use super::view::{INDENT, View, Viewer};
use super::{Page, Style, document, table, tree};
use table::{Block, Level};

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

    /// Words, wrapped, with something before the first line and before the others.
    fn prose(&mut self, first: &str, rest: &str, text: &str, paint: impl Fn(&str) -> ColoredString) {
        let width = self.style.width.clamp(20, WIDEST_PROSE);
        for line in wrapped_prose(self.style, width, (first, rest), text) {
            self.line(&painted(self.style, &line, &paint));
        }
    }

    /// Begins a part of a step: after a blank line, unless it follows the sentence of the step.
    fn part(&mut self) {
        if !std::mem::take(&mut self.begun) {
            self.gap();
        }
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
        let lines = StepLayout { style: self.style, room: self.room() }.lines(&parts, drawing);
        if lines.is_empty() {
            return;
        }
        self.part();
        self.set_in(&lines);
        self.begun = drawing.is_none() && parts.last().is_some_and(|part| part.is_folded);
    }
}

fn painted(style: &Style, text: &str, paint: impl Fn(&str) -> ColoredString) -> String {
    if style.colour { paint(text).to_string() } else { text.to_string() }
}

impl Markup for Terminal<'_> {
    fn write(&mut self, part: Part<'_>) {
        // Matrices wait for those after them, and for a picture of the plane.
        let waits =
            matches!(part, Part::Computed(_) | Part::Together(..) | Part::Folded(..) | Part::Columns(..));
        if !(waits || matches!(part, Part::Story | Part::Picture(_) | Part::Drawing(_))) {
            self.settle(None);
        }
        match part {
            Part::Story | Part::Picture(_) => {}
            Part::Title(title, source) => {
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
            Part::Step(number, text) => {
                self.in_steps = true;
                self.gap();
                self.prose(&format!("{number:<INDENT$}"), &" ".repeat(INDENT), text, |line| line.normal());
                self.begun = true;
            }
            Part::Computed(nodes) => {
                let one = |node: &ComputedNode| StepPart {
                    picture: picture(node, self.room(), self.style),
                    ..StepPart::new(std::slice::from_ref(&node.equation), node.value.as_slice())
                };
                self.parts.extend(StepPart::together(nodes.iter().map(one).collect()));
            }
            Part::Together(equations, matrices) => self.parts.push(StepPart::new(equations, matrices)),
            Part::Folded(equations, count) => {
                let mut part = StepPart { is_folded: true, ..StepPart::new(equations, &[]) };
                if !std::mem::replace(&mut self.pointed, true)
                    && let Some(last) = part.equations.last_mut()
                {
                    let pointer = format!("--full shows {}", if count == 1 { "it" } else { "them" });
                    last.right.push_str(&format!("; {}", pointer.replace(' ', "\u{a0}")));
                }
                self.parts.push(part);
            }
            Part::Columns(equations, view) => {
                let part = StepPart::new(equations, std::slice::from_ref(view));
                self.parts.push(StepPart { are_columns: true, ..part });
            }
            Part::Drawing(drawing) => self.settle(Some(drawing)),
            Part::Table(table) => {
                self.part();
                let blocks = if table.shares.is_empty() {
                    table::words(table, self.room(), self.style)
                } else {
                    table::matrices(&[&View::of_shares(table, self.style)], self.room(), self.style)
                };
                blocks.iter().for_each(|block| self.set_in(&block.lines));
            }
            Part::Explained(writer) => {
                for block in tree::blocks(writer, self.room(), self.style.charset, self.style.colour) {
                    self.gap();
                    self.set_in(&block.lines);
                }
            }
            Part::Symbolic(symbolic) => {
                self.gap();
                symbolic.lines().iter().for_each(|line| self.line(&self.style.charset.spelled(line)));
            }
            Part::Notice(text) => {
                self.begun = false;
                let indent = " ".repeat(self.indent());
                self.prose(&format!("{indent}→ "), &format!("{indent}  "), text, |line| line.magenta());
            }
            Part::Note(text) => {
                self.gap();
                self.prose("Note: ", "      ", text, |line| line.dimmed());
            }
            Part::Pointer(remarks, command) => {
                self.prose("", "", &format!("{remarks}: {command}"), |line| line.dimmed());
            }
        }
    }

    fn finish(&mut self) -> String {
        self.settle(None);
        std::mem::take(&mut self.text)
    }
}

// A computation as a picture: its operands, the signs between them, and the result in one row.

/// Operands, signs and result in one row, if it fits.
pub(super) fn picture(node: &ComputedNode, room: usize, style: &Style) -> Option<Block> {
    let value = node.value.as_ref()?;
    if node.operands.is_empty() {
        return None;
    }
    let mut blocks = Vec::new();
    for (sign, operand) in &node.operands {
        if !sign.is_empty() {
            blocks.push(self::sign(sign, style));
        }
        blocks.push(table::only_box(operand, room, style)?);
    }
    blocks.push(self::sign(node.equals(), style));
    blocks.push(table::only_box(value, room, style)?);
    let picture = Block::beside(&blocks, 1, Level::Middles);
    (picture.width <= room).then_some(picture)
}

fn sign(sign: &str, style: &Style) -> Block {
    Block::plain(vec![style.charset.spelled(sign).into_owned()])
}

// The parts of a step on a terminal: equations, and the matrices below them. Neighbours come together where that makes the
// step shorter, and stand next to the picture of a plane.

/// A picture of operands that fits a screen of this many columns is drawn even if it costs lines; a wider one only if it
/// costs none. So a wider screen never needs more lines.
const NARROW: usize = 75;

/// At most this many parts come together under all their equations: with more it is hard to find the matrix of an equation. It
/// also bounds the number of layouts that are tried, so that the layout of many parts takes no longer than writing them.
const MOST_TOGETHER: usize = 12;

/// Equations, and the matrices below them.
#[derive(Default)]
struct StepPart {
    equations: Vec<Equation>,
    views: Vec<View>,
    /// Operands, signs and result of its only equation in one row.
    picture: Option<Block>,
    /// Each of its nodes by itself, with its picture, if they may also stand apart.
    each: Vec<StepPart>,
    /// True if the part consists of the equations alone, for matrices that are not shown.
    is_folded: bool,
    /// True if each column of the matrix is a node.
    are_columns: bool,
}

/// The layout of the parts of a step.
struct StepLayout<'a> {
    style: &'a Style,
    /// The number of columns of the screen.
    room: usize,
}

impl StepPart {
    fn new(equations: &[Equation], views: &[View]) -> StepPart {
        StepPart { equations: equations.to_vec(), views: views.to_vec(), ..StepPart::default() }
    }

    /// Nodes that follow each other: one part, or one for each where a picture stays.
    fn together(mut each: Vec<StepPart>) -> Vec<StepPart> {
        if each.len() < 2 || each.iter().any(StepPart::keeps_its_picture) {
            return each;
        }
        let equations = each.iter().flat_map(|part| part.equations.clone()).collect();
        let views = each.iter().flat_map(|part| part.views.clone()).collect();
        if each.iter().all(|part| part.picture.is_none()) {
            each.clear();
        }
        vec![StepPart { equations, views, each, ..StepPart::default() }]
    }

    /// Returns true if its picture is kept even where it takes more lines.
    fn keeps_its_picture(&self) -> bool {
        self.picture.as_ref().is_some_and(|picture| picture.width <= NARROW)
    }

    /// Returns true if it may stand next to its neighbours.
    fn may_join(&self) -> bool {
        !(self.is_folded || self.are_columns || self.keeps_its_picture())
    }
}

impl StepLayout<'_> {
    /// The parts with as few lines as possible, and a picture of the plane below them or next to the last of them.
    fn lines(&self, parts: &[StepPart], drawing: Option<&Drawing>) -> Vec<String> {
        let spread = self.spread(parts);
        let plane = drawing.map_or(Vec::new(), Drawing::lines);
        let Some(drawing) = drawing.filter(|_| !plane.is_empty()) else { return spread.lines(parts.len()).0 };
        // The first of these parts, and the lines below them.
        let below = |count: usize, rest: Vec<String>| {
            let (mut lines, ends_open) = spread.lines(count);
            if !lines.is_empty() && !ends_open {
                lines.push(String::new());
            }
            lines.extend(rest);
            lines
        };
        let mut best = below(parts.len(), plane.iter().map(|line| format!(" {line}")).collect());
        for first in parts.len().saturating_sub(MOST_TOGETHER)..parts.len() {
            let Some(beside) = self.beside(&parts[first..], drawing) else { continue };
            let lines = below(first, beside);
            if lines.len() < best.len() {
                best = lines;
            }
        }
        best
    }

    /// The layout with the fewest lines of the first parts, for each number of them.
    fn spread(&self, parts: &[StepPart]) -> Spread {
        let mut best = vec![LastGroup { start: 0, count: 0, own: Vec::new(), ends_open: true }];
        for end in 1..=parts.len() {
            let mut shortest: Option<LastGroup> = None;
            for start in (end.saturating_sub(MOST_TOGETHER)..end).rev() {
                let Some(own) = self.group(&parts[start..end]) else { break };
                let count = best[start].count + usize::from(!best[start].ends_open) + own.len();
                if shortest.as_ref().is_none_or(|least| count < least.count) {
                    let ends_open = parts[end - 1].is_folded || count == 0;
                    shortest = Some(LastGroup { start, count, own, ends_open });
                }
            }
            best.extend(shortest);
        }
        Spread(best)
    }

    /// Equations, several in a line where there is room.
    fn equations(&self, equations: &[Equation]) -> Vec<String> {
        const BETWEEN: &str = "    ";
        let equations: Vec<String> = equations.iter().map(Equation::to_string).collect();
        let widths: Vec<usize> =
            equations.iter().map(|one| self.style.charset.spelled(one).width()).collect();
        let rows = table::rows(&widths, self.room, BETWEEN.len());
        rows.into_iter().flat_map(|row| self.equation(&equations[row].join(BETWEEN))).collect()
    }

    /// Sentences stay narrow on a wide screen; an equation is not broken where it fits.
    fn equation(&self, equation: &str) -> Vec<String> {
        let lines = wrapped_prose(self.style, self.room, ("", "    "), equation);
        lines.iter().map(|line| painted(self.style, line, |line| line.bold())).collect()
    }

    /// One part by itself, or several under all their equations; nothing where they are not to be put together.
    fn group(&self, parts: &[StepPart]) -> Option<Vec<String>> {
        match parts {
            [part] => Some(self.alone(part)),
            _ if !parts.iter().all(StepPart::may_join) => None,
            _ => Some(self.flowed(&all_equations(parts), &all_views(parts))),
        }
    }

    fn alone(&self, part: &StepPart) -> Vec<String> {
        if let (true, [view]) = (part.are_columns, &part.views[..]) {
            let whole = table::rows_and_sum(view, self.room, self.style).map(|rows| vec![rows]);
            let boxes = whole.unwrap_or_else(|| table::matrices(&[view], self.room, self.style));
            return [self.equations(&part.equations), stacked(in_rows(&boxes, self.room))].concat();
        }
        let flowed = self.flowed(&part.equations, &part.views.iter().collect::<Vec<_>>());
        let other = match &part.picture {
            Some(picture) => [self.equations(&part.equations), picture.lines.clone()].concat(),
            None => part.each.iter().map(|part| self.alone(part)).collect::<Vec<_>>().join(&String::new()),
        };
        let is_better = part.keeps_its_picture() || other.len() <= flowed.len();
        if is_better && !other.is_empty() { other } else { flowed }
    }

    fn flowed(&self, equations: &[Equation], views: &[&View]) -> Vec<String> {
        [self.equations(equations), stacked(self.flow(views, self.room))].concat()
    }

    /// Matrices from left to right, as many in a row as there is room for.
    fn flow(&self, views: &[&View], room: usize) -> Vec<Block> {
        in_rows(&table::matrices(views, room, self.style), room)
    }

    /// All equations, and below them the matrices to the left of the plane.
    fn beside(&self, parts: &[StepPart], drawing: &Drawing) -> Option<Vec<String>> {
        let views = all_views(parts);
        let widest = self.room.checked_sub(drawing.least_width() + table::GAP)?;
        if views.is_empty() || parts.iter().any(|part| part.is_folded || part.are_columns) {
            return None;
        }
        let least = views.iter().map(|view| table::least_width(view)).max()?;
        let mut best: Option<Vec<String>> = None;
        for room in (least..=widest).step_by(STEP_LEFT).chain([widest]) {
            let rows = self.flow(&views, room);
            let left = rows.iter().map(|row| row.width).max().unwrap_or(0);
            if left > widest {
                continue;
            }
            let boxes = Block::coloured(stacked(rows), left);
            let plane = drawing.lines_next_to(boxes.lines.len(), self.room - left - table::GAP);
            if plane.is_empty() {
                continue;
            }
            let plane = Block::plain(plane);
            let lines = Block::beside(&[boxes, plane], table::GAP, Level::Tops).lines;
            if best.as_ref().is_none_or(|best| lines.len() < best.len()) {
                best = Some(lines);
            }
        }
        Some([self.equations(&all_equations(parts)), best?].concat())
    }
}

/// The best layouts of the first parts, of none to all of them, each as the group that ends it.
struct Spread(Vec<LastGroup>);

/// The last group of a layout.
struct LastGroup {
    /// The parts before it.
    start: usize,
    /// The number of lines of the layout.
    count: usize,
    /// The lines of the group.
    own: Vec<String>,
    /// True if the following part needs no blank line before it.
    ends_open: bool,
}

impl Spread {
    /// The lines of the first parts, and true if the following part needs no blank line before it.
    fn lines(&self, parts: usize) -> (Vec<String>, bool) {
        let Spread(best) = self;
        let mut groups = Vec::new();
        let mut end = parts;
        while end > 0 {
            groups.push(&best[end]);
            end = best[end].start;
        }
        let mut lines = Vec::with_capacity(best[parts].count);
        for last in groups.into_iter().rev() {
            lines.extend((!best[last.start].ends_open).then(String::new));
            lines.extend_from_slice(&last.own);
        }
        (lines, best[parts].ends_open)
    }
}

/// The room to the left of a plane is tried in these steps.
const STEP_LEFT: usize = 6;

/// Boxes from left to right, as many in a row as there is room for.
fn in_rows(boxes: &[Block], room: usize) -> Vec<Block> {
    let widths: Vec<usize> = boxes.iter().map(|block| block.width).collect();
    let row = |row| Block::beside(&boxes[row], table::GAP, Level::Tops);
    table::rows(&widths, room, table::GAP).into_iter().map(row).collect()
}

fn stacked(rows: Vec<Block>) -> Vec<String> {
    rows.into_iter().flat_map(|row| row.lines).collect()
}

/// The equations of several parts; matrices that are all given share one.
fn all_equations(parts: &[StepPart]) -> Vec<Equation> {
    const GIVEN: &str = "given";
    let mut all: Vec<Equation> = Vec::new();
    for equation in parts.iter().flat_map(|part| &part.equations) {
        match all.last_mut() {
            Some(before) if before.right == GIVEN && equation.right == GIVEN => {
                before.add_name(&equation.left)
            }
            _ => all.push(equation.clone()),
        }
    }
    all
}

fn all_views(parts: &[StepPart]) -> Vec<&View> {
    parts.iter().flat_map(|part| &part.views).collect()
}

// Stories on a wide terminal: two steps stand side by side where that makes the whole shorter.

/// From this width on two steps may stand side by side.
const WIDE: usize = 160;
/// The distance between them.
const BETWEEN: usize = 4;

/// All stories, one after the other.
pub(super) fn write_all(pages: &[Page], style: &Style) -> String {
    let mut terminal = Terminal::new(style);
    if style.width < WIDE {
        return document::write_all(pages, style, &mut terminal);
    }
    for page in pages {
        document::write_head(page, &mut terminal);
        write_steps(page, style, &mut terminal);
        document::write_end(page, &mut terminal);
    }
    terminal.finish()
}

/// The steps, one or two in a row, so that there are as few lines as possible.
fn write_steps(page: &Page, style: &Style, terminal: &mut Terminal<'_>) {
    let half = Style { width: (style.width - BETWEEN) / 2, ..*style };
    let steps = document::numbered(page);
    let pointed = pointed_before(&steps, terminal.pointed);
    let first = steps.iter().position(|(number, _)| number.is_some()).unwrap_or(steps.len());
    let lines_of = |at: usize, style: &Style| -> Vec<String> {
        let mut own = Terminal { in_steps: first < at, pointed: pointed[at], ..Terminal::new(style) };
        document::write_numbered(steps[at], &Viewer { story: &page.story, style }, &mut own);
        own.finish().lines().map(str::to_string).collect()
    };
    let pair = |at: usize| -> Option<Vec<String>> {
        // A step without a number belongs to the step above it.
        let numbered = steps.get(at..at + 2)?.iter().all(|(number, _)| number.is_some());
        let blocks = |at| Block::coloured(lines_of(at, &half), half.width);
        numbered.then(|| Block::beside(&[blocks(at), blocks(at + 1)], BETWEEN, Level::Tops).lines)
    };
    // The fewest lines for the steps from each one on, with a blank line after each row, and the number of steps in its first
    // row.
    let mut best: Vec<(usize, Vec<String>, usize)> = vec![(0, Vec::new(), 0); steps.len() + 1];
    for at in (0..steps.len()).rev() {
        let alone = lines_of(at, style);
        best[at] = (alone.len() + 1 + best[at + 1].0, alone, at + 1);
        if let Some(both) = pair(at)
            && both.len() + 1 + best[at + 2].0 < best[at].0
        {
            best[at] = (both.len() + 1 + best[at + 2].0, both, at + 2);
        }
    }
    let mut at = 0;
    while at < steps.len() {
        let (_, lines, next) = &best[at];
        terminal.lines(lines);
        at = *next;
    }
    terminal.pointed = pointed.last().copied().unwrap_or_default();
}

/// For each step, and for the end: true if the option that shows folded matrices has been named before it.
fn pointed_before(steps: &[(Option<usize>, &Step)], mut pointed: bool) -> Vec<bool> {
    let mut before = vec![pointed];
    for (_, step) in steps {
        pointed |= step.shown.iter().any(|shown| matches!(shown, StepItem::Folded(_)));
        before.push(pointed);
    }
    before
}
