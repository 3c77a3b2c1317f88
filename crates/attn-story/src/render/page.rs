//! A story, and what is written of it.

use crate::graph::NodeId;
use crate::story::{StepItem, Story};

/// A story, and which of its nodes the data formats write.
#[derive(Clone, Debug)]
pub struct Page {
    /// The story.
    pub story: Story,
    /// The nodes that JSON, NumPy and CSV write, in this order.
    pub nodes: Vec<NodeId>,
    /// True if people are shown the headline.
    pub headed: bool,
    /// The number of numbered steps that are left out before the first one that is shown: each keeps its own number.
    pub skipped: usize,
    /// This many are left out after the last one.
    pub left: usize,
    /// The story that a page which computes has in its place: with a step for each setting, also where it changes nothing yet.
    pub computing: Option<Box<Story>>,
}

impl Page {
    /// The whole story.
    pub fn whole(story: Story) -> Page {
        let nodes = story.graph.nodes().map(|(id, _)| id).collect();
        Page { story, nodes, headed: true, skipped: 0, left: 0, computing: None }
    }

    /// A story of which people are shown no headline, and programs these nodes.
    pub fn headless(story: Story, nodes: Vec<NodeId>) -> Page {
        Page { story, nodes, headed: false, skipped: 0, left: 0, computing: None }
    }

    /// Returns true if it explains cells.
    pub fn explains(&self) -> bool {
        let explains = |shown: &StepItem| matches!(shown, StepItem::Explained { .. } | StepItem::Symbolic(_));
        self.story.steps.iter().flat_map(|step| &step.shown).any(explains)
    }
}
