//! The story of a page, told again of other numbers.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::explore::State;
use crate::graph::{CellId, Convention, Graph, NodeId};
use crate::render::Page;
use crate::story::{self, Digits, Plane, Step, StepItem, Story};

/// A story without its graph.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Told {
    title: String,
    source: Option<String>,
    /// The steps; they name nodes by their position in the graph at the start.
    steps: Vec<Step>,
    notes: Vec<String>,
    notes_told_by: Option<String>,
    remarks: Vec<String>,
    /// What the first step says of the given matrices.
    first_notice: Option<String>,
    full: bool,
    digits: Digits,
    headed: bool,
    skipped: usize,
    /// The node, row and column to look at first, from 0.
    #[serde(default)]
    begin: Option<(String, usize, usize)>,
    /// Whether it is the story of a pipeline, which is told again where the steps change.
    is_of_pipeline: bool,
}

impl Told {
    /// The story of a page. It is told again after a change if a recipe built its graph, and it is not a part of that story.
    pub(super) fn of(page: &Page, convention: Convention) -> Told {
        let story = page.story.clone();
        let as_told = |told: Story| {
            let shown = |story: &Story| -> Vec<(String, Vec<NodeId>)> {
                let nodes = |step: &Step| step.shown.iter().flat_map(StepItem::nodes).collect();
                story.steps.iter().map(|step| (step.text.clone(), nodes(step))).collect()
            };
            shown(&told) == shown(&story)
        };
        let begin = story.first_cell().map(|cell| (story.graph[cell.node].name.clone(), cell.row, cell.col));
        let told = |graph: Graph| story::attend(&story.title, graph, convention, Vec::new()).unfolded();
        Told {
            is_of_pipeline: story.recipe.is_some() && page.headed && as_told(told(story.graph.clone())),
            first_notice: story.steps.first().and_then(|step| step.notice.clone()),
            title: story.title,
            source: story.source,
            steps: story.steps,
            notes: story.notes,
            notes_told_by: story.notes_told_by,
            remarks: story.remarks,
            full: story.full,
            digits: story.digits,
            headed: page.headed,
            skipped: page.skipped,
            begin,
        }
    }

    /// The cell to look at first in this graph.
    pub(super) fn first_cell(&self, graph: &Graph) -> Option<CellId> {
        let (name, row, col) = self.begin.as_ref()?;
        Some(CellId { node: graph.find(name)?, row: *row, col: *col })
    }

    /// This story with the same steps whatever happens to the graph.
    pub(super) fn with_fixed_steps(self) -> Told {
        Told { is_of_pipeline: false, ..self }
    }

    /// The nodes that the steps show.
    pub(super) fn shown(&self) -> Vec<NodeId> {
        self.steps.iter().flat_map(|step| &step.shown).flat_map(StepItem::nodes).collect()
    }

    /// # Errors
    /// If the steps are about nodes that a graph does not have.
    pub(super) fn fits(&self, graph: &Graph) -> Result<()> {
        let count = graph.nodes().count();
        if self.shown().into_iter().all(|id| id.position() < count) {
            Ok(())
        } else {
            Err(Error::new("the steps of this page are about nodes that its graph does not have"))
        }
    }

    /// The page of the graph as it is now; `start` is the graph that the steps are about.
    pub(super) fn page(&self, state: &State, start: &Graph, convention: Convention) -> Page {
        let graph = state.graph().clone();
        let story = if self.is_of_pipeline {
            let told = story::attend(&self.title, graph, convention, self.remarks.clone());
            let mut told = Story { digits: self.digits, ..told.unfolded() };
            if let Some(step) = told.steps.first_mut().filter(|_| state.changes().is_nothing()) {
                step.notice = self.first_notice.clone();
            }
            told
        } else {
            let same = |id: NodeId| graph.find(&start[id].name);
            let steps = self.steps.iter().map(|step| with_nodes(step, &same)).collect();
            Story {
                source: self.source.clone(),
                notes: self.notes.clone(),
                notes_told_by: self.notes_told_by.clone(),
                remarks: self.remarks.clone(),
                full: self.full,
                digits: self.digits,
                ..Story::of_steps(&self.title, graph, steps)
            }
        };
        Page { headed: self.headed, skipped: self.skipped, ..Page::whole(story) }
    }

    /// Whether there are sentences, and they are about the numbers at the start, whatever has been changed since.
    pub(super) fn is_fixed(&self) -> bool {
        self.headed && !self.is_of_pipeline
    }
}

/// A step about the same nodes of another graph; what it no longer has is left out.
fn with_nodes(step: &Step, same: &dyn Fn(NodeId) -> Option<NodeId>) -> Step {
    let all = |ids: &[NodeId]| ids.iter().filter_map(|&id| same(id)).collect::<Vec<_>>();
    let item = |item: &StepItem| {
        Some(match item {
            StepItem::Node(id) => StepItem::Node(same(*id)?),
            StepItem::Symbols(id) => StepItem::Symbols(same(*id)?),
            StepItem::Open(id) => StepItem::Open(same(*id)?),
            StepItem::Together(ids) => StepItem::Together(all(ids)),
            StepItem::Folded(ids) => StepItem::Folded(all(ids)),
            StepItem::Columns(columns) => {
                let column = |(id, sum): &(NodeId, Option<NodeId>)| Some((same(*id)?, sum.and_then(same)));
                StepItem::Columns(columns.iter().filter_map(column).collect())
            }
            StepItem::Plane(plane) => {
                let arrow = |(from, to): &(NodeId, NodeId)| Some((same(*from)?, same(*to)?));
                let arrows = plane.arrows.iter().filter_map(arrow).collect();
                StepItem::Plane(Plane { points: all(&plane.points), arrows, name: plane.name.clone() })
            }
            StepItem::Table(_)
            | StepItem::Picture(_)
            | StepItem::Explained { .. }
            | StepItem::Symbolic(_) => item.clone(),
        })
    };
    Step { shown: step.shown.iter().filter_map(item).collect(), ..step.clone() }
}
