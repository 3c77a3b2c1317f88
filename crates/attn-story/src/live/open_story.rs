//! A story that is open on a page.

use super::opening::{Look, Opening};
use super::story::Told;
use super::what_if::ChangedField;
use crate::error::Result;
use crate::explore::State;
use crate::graph::Graph;

/// A story that is open.
pub(super) struct OpenStory {
    pub(super) state: State,
    pub(super) told: Told,
    pub(super) look: Look,
    /// The graph that the steps are about.
    pub(super) start: Graph,
}

impl OpenStory {
    pub(super) fn new(opening: Opening, changed: &[ChangedField]) -> Result<OpenStory> {
        let state = opening.state(changed)?;
        let start = opening.state(&[])?.graph().clone();
        let (told, look) = opening.told();
        Ok(OpenStory { state, told, look, start })
    }
}
