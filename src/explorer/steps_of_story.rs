//! The graph of a state as a story: the sentence of each step, and the lines about each number.

use std::collections::HashMap;

use crate::explore::{Source, State};
use crate::graph::{CellId, Convention, Graph, NodeId, Op, Origin};
use crate::render::{CellLines, Format, Screen, Style, cell_lines_to};
use crate::story::{self, Digits, Story};

/// What is said of the output of a head that is taken out.
const TAKEN_OUT: &str = "This head is taken out: its output is 0.";

/// The sentences of a graph.
pub(super) struct StepsOfStory {
    story: Story,
    style: Style,
    /// The sentence of each step, by the name of its node.
    sentences: HashMap<String, String>,
}

impl StepsOfStory {
    /// The sentences of the graph of a state; `told` has those of a demo.
    pub fn of(state: &State, told: &HashMap<String, String>, screen: Screen) -> StepsOfStory {
        let graph = state.graph().clone();
        let story = match state.source() {
            Source::Attend(_) => story::attend("Attention", graph, Convention::Rows, Vec::new()),
            Source::Steps(_) | Source::ReadOnly(..) => Story::of_graph("", graph, Digits::Places(4)),
        };
        let mut sentences = story::sentences(&story);
        sentences.extend(told.iter().map(|(name, text)| (name.clone(), text.clone())));
        StepsOfStory { style: Style::on(screen, Format::Table), sentences, story }
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.story.graph
    }

    /// The sentence of a step; empty where there is none.
    pub fn sentence(&self, node: NodeId) -> &str {
        if self.graph()[node].op == Op::Given(Origin::Removed) {
            return TAKEN_OUT;
        }
        self.sentences.get(&self.graph()[node].name).map_or("", String::as_str)
    }

    /// The lines about a number; long sums keep this many terms.
    pub fn lines_of(&self, cell: CellId, decimals: usize, kept: usize) -> CellLines {
        cell_lines_to(&self.story, &Style { places: Some(decimals), ..self.style }, cell, kept)
    }
}
