//! The sentence of each node.

use std::collections::HashMap;

use super::{StepItem, Story};

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
