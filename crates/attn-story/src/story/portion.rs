//! A part of a story: some of its steps, or each of them in brief.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::model::{Step, StepItem, Story, Table};
use crate::explore::{is_shown_as, most_telling};
use crate::foreign::visible_lines;
use crate::graph::{CellId, Cells, Graph, NodeId, Op, resolve};

impl Story {
    /// The number of numbered steps: a step without a sentence belongs to the one before it.
    pub fn step_count(&self) -> usize {
        self.steps.iter().filter(|step| !step.text.is_empty()).count()
    }

    /// The story with only the steps of these numbers, from 1. The notes at the end of the story go with its last step.
    pub fn only_steps(mut self, numbers: &RangeInclusive<usize>) -> Story {
        let last = self.step_count();
        let mut number = 0;
        self.steps.retain(|step| {
            number += usize::from(!step.text.is_empty());
            numbers.contains(&number.max(1))
        });
        // The line that points to the notes stands under the headline, the notes themselves at the end.
        let place = if self.points_to_notes() { 1 } else { last };
        if !numbers.contains(&place) {
            self.notes.clear();
        }
        self
    }

    /// Returns true if another command shows its notes; then one line names that command.
    pub fn points_to_notes(&self) -> bool {
        self.notes_told_by.is_some() && !self.full && !self.notes.is_empty()
    }

    /// The story in brief: of each step its first sentence and one result. Operands and remarks are left out.
    pub fn in_brief(mut self) -> Story {
        // A part without a sentence of its own continues the step above it.
        if self.steps.iter().any(|step| !step.text.is_empty()) {
            self.steps.retain(|step| !step.text.is_empty());
        }
        for step in &mut self.steps {
            step.shorten(&self.graph);
        }
        self.notes.clear();
        self
    }

    /// The first sentences of its numbered steps, without their full stops.
    pub fn step_titles(&self) -> Vec<String> {
        let texts = self.steps.iter().map(|step| first_sentence(&step.text));
        texts.filter(|text| !text.is_empty()).map(|text| text.trim_end_matches('.').to_string()).collect()
    }

    /// The nodes whose values its steps show, in the order of the graph.
    pub fn shown_nodes(&self) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> =
            self.steps.iter().flat_map(|step| &step.shown).flat_map(StepItem::nodes).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// The cell to look at first: the one that the author marked, or else the most telling one of what is shown.
    pub fn first_cell(&self) -> Option<CellId> {
        let marked = self.begin.as_deref().and_then(|address| match resolve(&self.graph, address) {
            Ok(Cells::Cell(cell)) => Some(cell),
            _ => None,
        });
        marked.or_else(|| most_telling(&self.graph, &self.shown_nodes()))
    }
}

impl Step {
    /// Leaves the first sentence and one result: what the author marked, or else the last matrix that is computed and not a mere
    /// check, or what is checked, or a table of words, or the first matrix that is given.
    fn shorten(&mut self, graph: &Graph) {
        self.text.truncate(first_sentence(&self.text).len());
        self.notice = None;
        let shown = std::mem::take(&mut self.shown);
        let is_computed = |id: NodeId| !graph[id].op.is_given();
        let last = |is_meant: &dyn Fn(NodeId) -> bool| {
            shown.iter().rev().find_map(|shown| shown.one_of(is_meant, true))
        };
        let checked = || {
            let check = shown.iter().rev().flat_map(StepItem::nodes).find(|&id| is_computed(id))?;
            Some(StepItem::Together(vec![what_is_checked(graph, check)?]))
        };
        let computed = || last(&|id| is_computed(id) && !is_check(graph, id)).or_else(checked);
        let table = || shown.iter().find(|shown| shown.nodes().is_empty()).cloned();
        let given = || shown.iter().find_map(|shown| shown.one_of(|_| true, false));
        let result = self.in_brief.take().or_else(computed).or_else(table).or_else(given);
        let result = result.or_else(|| shown.first().cloned());
        self.shown = result.into_iter().collect();
    }
}

/// Whether a node only says that others are right: one number that is shown as 0 or 1, as a sum or the largest difference is, or
/// NaN; differences that are all shown as 0.
fn is_check(graph: &Graph, id: NodeId) -> bool {
    let Some(matrix) = graph[id].matrix() else { return false };
    match (matrix.rows(), matrix.cols()) {
        (1, 1) => matrix.cells().all(|x| is_shown_as(x, 0.0) || is_shown_as(x, 1.0) || x.is_nan()),
        _ => graph[id].op == Op::Subtract && matrix.cells().all(|x| is_shown_as(x, 0.0)),
    }
}

/// The node that a check is about: the first operand of the first operand, and so on, that is no check.
fn what_is_checked(graph: &Graph, check: NodeId) -> Option<NodeId> {
    std::iter::successors(Some(check), |&id| graph[id].inputs.first().copied())
        .find(|&id| !is_check(graph, id))
}

impl StepItem {
    /// The first or the last of its matrices of this kind, by itself.
    fn one_of(&self, is_meant: impl Fn(NodeId) -> bool, last: bool) -> Option<StepItem> {
        let mut nodes = self.nodes().into_iter().filter(|&id| is_meant(id));
        let mut one = || if last { nodes.next_back() } else { nodes.next() };
        match self {
            StepItem::Open(_) | StepItem::Symbols(_) => Some(self.clone()),
            StepItem::Plane(_)
            | StepItem::Table(_)
            | StepItem::Picture(_)
            | StepItem::Explained { .. }
            | StepItem::Symbolic(_) => None,
            StepItem::Folded(_) => Some(StepItem::Folded(vec![one()?])),
            StepItem::Node(_) | StepItem::Together(_) | StepItem::Columns(_) => {
                Some(StepItem::Together(vec![one()?]))
            }
        }
    }
}

/// A text up to the end of its first sentence: a full stop, a question mark or an exclamation mark before a blank and a
/// capital, a quotation mark or a bracket.
fn first_sentence(text: &str) -> &str {
    let ends = text.match_indices(['.', '?', '!']).map(|(at, mark)| at + mark.len());
    let is_end = |&end: &usize| {
        let mut rest = text[end..].chars();
        let (space, next) = (rest.next(), rest.next());
        space.is_none()
            || space == Some(' ') && next.is_some_and(|next| next.is_uppercase() || "“(".contains(next))
    };
    { ends }.find(is_end).map_or(text, |end| &text[..end])
}

// A story as it is shown: all its texts have escapes for invisible characters. Formats for people show no other.

impl Story {
    /// This story with invisible characters escaped.
    pub fn made_visible(mut self) -> Story {
        self.graph = self.graph.made_visible();
        let head = [&mut self.title]
            .into_iter()
            .chain(&mut self.source)
            .chain(&mut self.notes)
            .chain(&mut self.remarks);
        head.for_each(show);
        for Step { text, notice, shown, .. } in &mut self.steps {
            [text].into_iter().chain(notice).for_each(show);
            for shown in shown {
                match shown {
                    StepItem::Table(table) => *table = table.made_visible(),
                    StepItem::Explained { of, .. } => of.iter_mut().for_each(|one| show(&mut one.caption)),
                    _ => {}
                }
            }
        }
        self
    }
}

impl Table {
    /// This table with invisible characters escaped. Cells may have several lines.
    pub fn made_visible(&self) -> Table {
        let mut table = self.clone();
        let cells = table.header.iter_mut().chain(table.rows.iter_mut().flatten());
        cells.chain(&mut table.notices).for_each(show);
        table
    }
}

fn show(text: &mut String) {
    *text = visible_lines(text).into_owned();
}

// The sentence of each node.

/// The sentences of a story, by the names of the nodes that its steps show.
pub fn sentences(story: &Story) -> HashMap<String, String> {
    let mut sentences = HashMap::new();
    for step in story.steps.iter().filter(|step| !step.text.is_empty()) {
        for id in step.shown.iter().flat_map(StepItem::nodes) {
            let name = story.graph[id].name.clone();
            sentences.entry(name).or_insert_with(|| step.text.clone());
        }
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Origin;
    use crate::matrix::Matrix;
    use crate::story::Digits;

    fn story() -> Story {
        let mut graph = Graph::new();
        let ids =
            ["X", "W", "V"].map(|name| graph.given(name, Matrix::of([[1.0, 2.0]]), Origin::Stated).unwrap());
        let step =
            |text: &str, id| Step { text: text.into(), shown: vec![StepItem::Node(id)], ..Step::default() };
        let steps = vec![
            step("One.", ids[0]),
            step("Two. And more.", ids[1]),
            step("", ids[2]),
            step("Three.", ids[0]),
        ];
        let notes = vec!["A slip.".to_string()];
        Story { notes, digits: Digits::Places(4), ..Story::of_steps("t", graph, steps) }
    }

    fn texts(story: &Story) -> Vec<&str> {
        story.steps.iter().map(|step| step.text.as_str()).collect()
    }

    #[test]
    fn a_step_without_a_sentence_goes_with_the_one_before_it_and_notes_with_the_last() {
        assert_eq!(story().step_count(), 3);
        let middle = story().only_steps(&(2..=2));
        assert_eq!((texts(&middle), middle.notes.len()), (vec!["Two. And more.", ""], 0));
        let end = story().only_steps(&(2..=3));
        assert_eq!((texts(&end), end.notes.len()), (vec!["Two. And more.", "", "Three."], 1));
    }

    #[test]
    fn a_brief_step_has_one_sentence_and_shows_inputs_only_without_results() {
        let brief = story().in_brief();
        assert_eq!(texts(&brief), ["One.", "Two.", "Three."]);
        assert!(brief.notes.is_empty());
    }

    #[test]
    fn a_sentence_does_not_end_within_a_number_or_an_abbreviation() {
        assert_eq!(first_sentence("At 0.5 it stops, e.g. here. Then on."), "At 0.5 it stops, e.g. here.");
        assert_eq!(first_sentence("Why? Because."), "Why?");
        assert_eq!(first_sentence("no end"), "no end");
    }
}
