//! The parts of a step on a terminal: equations, and the matrices below them. Neighbours come together where that makes the
//! step shorter, and stand next to the picture of a plane.

use super::Style;
use super::block::{self, Block, Level};
use super::plane::Drawing;
use super::table;
use super::view::View;
use crate::graph::Equation;

/// A picture of operands that fits a screen of this many columns is drawn even if it costs lines; a wider one only if it
/// costs none. So a wider screen never needs more lines.
const NARROW: usize = 75;

/// At most this many parts come together under all their equations: with more it is hard to find the matrix of an equation. It
/// also bounds the number of layouts that are tried, so that the layout of many parts takes no longer than writing them.
const MOST_TOGETHER: usize = 12;

/// Equations, and the matrices below them.
#[derive(Default)]
pub(super) struct StepPart {
    /// The equations.
    pub equations: Vec<Equation>,
    /// The matrices.
    pub views: Vec<View>,
    /// Operands, signs and result of its only equation in one row.
    pub picture: Option<Block>,
    /// Each of its nodes by itself, with its picture, if they may also stand apart.
    pub each: Vec<StepPart>,
    /// True if the part consists of the equations alone, for matrices that are not shown.
    pub is_folded: bool,
    /// True if each column of the matrix is a node.
    pub are_columns: bool,
}

/// The layout of the parts of a step.
pub(super) struct StepLayout<'a> {
    /// The style.
    pub style: &'a Style,
    /// The number of columns of the screen.
    pub room: usize,
    /// The lines of equations, several in a line where there is room.
    pub equations: &'a dyn Fn(&[Equation]) -> Vec<String>,
}

impl StepPart {
    /// Equations and matrices.
    pub(super) fn new(equations: &[Equation], views: Vec<View>) -> StepPart {
        StepPart { equations: equations.to_vec(), views, ..StepPart::default() }
    }

    /// Nodes that follow each other: one part, or one for each where a picture stays.
    pub(super) fn together(mut each: Vec<StepPart>) -> Vec<StepPart> {
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
    /// The parts one below the other, with as few lines as possible.
    pub(super) fn lines(&self, parts: &[StepPart]) -> Vec<String> {
        self.spread(parts).lines(parts.len()).0
    }

    /// The parts, and a picture of the plane below them or next to the last of them.
    pub(super) fn with_drawing(&self, parts: &[StepPart], drawing: &Drawing) -> Vec<String> {
        let spread = self.spread(parts);
        // The first of these parts, and the lines below them.
        let below = |count: usize, rest: Vec<String>| {
            let (mut lines, ends_open) = spread.lines(count);
            if !lines.is_empty() && !ends_open {
                lines.push(String::new());
            }
            lines.extend(rest);
            lines
        };
        let drawn: Vec<String> = drawing.lines().into_iter().map(|line| format!(" {line}")).collect();
        if drawn.is_empty() {
            return spread.lines(parts.len()).0;
        }
        let mut best = below(parts.len(), drawn);
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
        let mut spread = Spread { best: Vec::new() };
        for end in 1..=parts.len() {
            let mut shortest: Option<LastGroup> = None;
            for start in (end.saturating_sub(MOST_TOGETHER)..end).rev() {
                let Some(own) = self.group(&parts[start..end]) else { break };
                let count = spread.count(start) + usize::from(spread.needs_gap(start)) + own.len();
                if shortest.as_ref().is_none_or(|least| count < least.count) {
                    shortest = Some(LastGroup { start, count, own, ends_open: parts[end - 1].is_folded });
                }
            }
            spread.best.extend(shortest);
        }
        spread
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
        if part.are_columns {
            let mut lines = (self.equations)(&part.equations);
            let whole = part.views.first().and_then(|view| table::rows_and_sum(view, self.room, self.style));
            let boxes = match whole {
                Some(rows) => vec![rows],
                None => {
                    part.views.iter().flat_map(|view| table::matrix(view, self.room, self.style)).collect()
                }
            };
            lines.extend(in_rows(&boxes, self.room).into_iter().flat_map(|row| row.lines));
            return lines;
        }
        let flowed = self.flowed(&part.equations, &part.views.iter().collect::<Vec<_>>());
        let other = match &part.picture {
            Some(picture) => {
                let mut lines = (self.equations)(&part.equations);
                lines.extend(picture.lines.iter().cloned());
                lines
            }
            None => part.each.iter().map(|part| self.alone(part)).collect::<Vec<_>>().join(&String::new()),
        };
        let is_better = part.keeps_its_picture() || other.len() <= flowed.len();
        if is_better && !other.is_empty() { other } else { flowed }
    }

    fn flowed(&self, equations: &[Equation], views: &[&View]) -> Vec<String> {
        let mut lines = (self.equations)(equations);
        lines.extend(self.flow(views, self.room).into_iter().flat_map(|row| row.lines));
        lines
    }

    /// Matrices from left to right, as many in a row as there is room for.
    fn flow(&self, views: &[&View], room: usize) -> Vec<Block> {
        in_rows(&table::matrices(views, room, self.style), room)
    }

    /// All equations, and below them the matrices to the left of the plane.
    fn beside(&self, parts: &[StepPart], drawing: &Drawing) -> Option<Vec<String>> {
        let views = all_views(parts);
        let widest = self.room.checked_sub(drawing.least_width() + block::GAP)?;
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
            let boxes = Block::coloured(rows.into_iter().flat_map(|row| row.lines).collect(), left);
            let plane = drawing.lines_next_to(boxes.lines.len(), self.room - left - block::GAP);
            if plane.is_empty() {
                continue;
            }
            let plane = Block::plain(plane);
            let lines = Block::beside(&[boxes, plane], block::GAP, Level::Tops).lines;
            if best.as_ref().is_none_or(|best| lines.len() < best.len()) {
                best = Some(lines);
            }
        }
        let mut lines = (self.equations)(&all_equations(parts));
        lines.extend(best?);
        Some(lines)
    }
}

/// The best layouts of the first parts, of one to all of them, each as the group that ends it.
struct Spread {
    best: Vec<LastGroup>,
}

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
    /// The group that ends the layout of this many parts.
    fn last(&self, parts: usize) -> Option<&LastGroup> {
        self.best.get(parts.checked_sub(1)?)
    }

    /// The number of lines of this many parts.
    fn count(&self, parts: usize) -> usize {
        self.last(parts).map_or(0, |last| last.count)
    }

    /// Returns true if a blank line stands between this many parts and the following one.
    fn needs_gap(&self, parts: usize) -> bool {
        self.last(parts).is_some_and(|last| last.count > 0 && !last.ends_open)
    }

    /// The lines of the first parts, and true if the following part needs no blank line before it.
    fn lines(&self, parts: usize) -> (Vec<String>, bool) {
        let groups = std::iter::successors(self.last(parts), |last| self.last(last.start));
        let groups: Vec<&LastGroup> = groups.collect();
        let mut lines = Vec::with_capacity(self.count(parts));
        for last in groups.into_iter().rev() {
            if self.needs_gap(last.start) {
                lines.push(String::new());
            }
            lines.extend_from_slice(&last.own);
        }
        (lines, self.last(parts).is_none_or(|last| last.ends_open))
    }
}

/// The room to the left of a plane is tried in these steps.
const STEP_LEFT: usize = 6;

/// Boxes from left to right, as many in a row as there is room for.
fn in_rows(boxes: &[Block], room: usize) -> Vec<Block> {
    let widths: Vec<usize> = boxes.iter().map(|block| block.width).collect();
    let row = |row| Block::beside(&boxes[row], block::GAP, Level::Tops);
    block::rows(&widths, room).into_iter().map(row).collect()
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
