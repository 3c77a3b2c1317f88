//! The computation that an event asks for: it may take long, so that a front end can let another thread do it.

use std::sync::Arc;

use super::changes::Changes;
use super::event::{Event, Way};
use super::knobs::{self, Knob, Settings};
use super::message::Message;
use super::state::{Mode, State, Version};
use crate::graph::{Graph, NodeId, Watch};

/// What an event leads to.
#[derive(Clone, Debug)]
pub enum Planned {
    /// To a state.
    Done(Box<State>),
    /// To a state that has to be computed first.
    Computing(Box<Computation>),
}

/// A change that has still to be computed.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub changes: Changes,
    /// Whether it takes the place of the last change, as further steps of a setting do.
    pub replaces: bool,
    /// The setting that is adjusted, and the direction.
    pub adjusts: Option<(Knob, isize)>,
    /// The settings before.
    pub settings: Settings,
}

/// A change that has still to be computed, and the state before it.
#[derive(Clone, Debug)]
pub struct Computation {
    pub(super) state: State,
    pub(super) wanted: Wanted,
}

/// How far a computation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The steps that are complete, of about how many.
    pub steps: [usize; 2],
    /// The layer of the model that it is in, from 1, and the last layer.
    pub layer: Option<[usize; 2]>,
}

impl Computation {
    /// The state with the change; `None` if it was stopped before. A change that is refused leaves a [`Message`].
    pub fn run(self, watch: &Watch) -> Option<State> {
        let Computation { mut state, mut wanted } = self;
        loop {
            match state.graph_with(&wanted.changes, watch) {
                Ok(graph) => {
                    state.take_graph(wanted, graph);
                    return Some(state);
                }
                Err(_) if watch.is_stopped() => return None,
                Err(error) => {
                    state.message = Some(Message::Refused(error.to_string()));
                    match wanted.passed_over() {
                        Some(next) => wanted = next,
                        None => return Some(state),
                    }
                }
            }
        }
    }

    /// The state if the computation is stopped: as before the change.
    pub fn stopped(&self) -> State {
        State { message: Some(Message::Stopped), ..self.state.clone() }
    }

    /// What is to be computed instead, if an event that comes while it is computed is a further step of the setting that is adjusted:
    /// it goes on from the value that has not been computed. `None` for every other event.
    pub fn further(&self, event: &Event) -> Option<Computation> {
        let by = match event {
            Event::Move(Way::Left) => -1,
            Event::Move(Way::Right) => 1,
            _ => return None,
        };
        let (knob, _) = self.wanted.adjusts.filter(|(knob, _)| self.state.mode == Mode::Adjust(*knob))?;
        let settings = self.state.settings_with(&self.wanted.changes);
        // At the end of the range it stays.
        let changes = knobs::adjusted(self.wanted.changes.clone(), settings, knob, by)
            .unwrap_or_else(|| self.wanted.changes.clone());
        let wanted = Wanted { changes, settings, adjusts: Some((knob, by)), ..self.wanted };
        Some(Computation { wanted, ..self.clone() })
    }

    /// The state before the change.
    pub fn before(&self) -> &State {
        &self.state
    }

    /// How far it is.
    pub fn progress(&self, watch: &Watch) -> Progress {
        // The steps are those of the graph before, but for a few that a setting adds or leaves out.
        let graph = self.state.graph();
        let layer = |id: NodeId| graph[id].step.and_then(|step| step.layer);
        let ids: Vec<NodeId> = graph.nodes().map(|(id, _)| id).collect();
        let done = watch.steps().min(ids.len());
        let here = ids[..done].iter().rev().find_map(|&id| layer(id));
        let last = ids.iter().filter_map(|&id| layer(id)).max();
        Progress { steps: [done, ids.len()], layer: last.map(|last| [here.unwrap_or(1), last]) }
    }
}

impl Wanted {
    /// The next kind of positions, in place of one that these matrices do not allow.
    fn passed_over(self) -> Option<Wanted> {
        let (knob, by) = self.adjusts.filter(|(knob, _)| *knob == Knob::Positions)?;
        let positions = self.changes.positions.unwrap_or(self.settings.positions);
        let settings = Settings { positions, ..self.settings };
        let changes = knobs::adjusted(self.changes, settings, knob, by)?;
        Some(Wanted { changes, settings, ..self })
    }
}

impl State {
    /// The graph with these changes.
    fn graph_with(&self, changes: &Changes, watch: &Watch) -> crate::error::Result<Graph> {
        let before = Arc::clone(&self.history[self.at].graph);
        let graph = Graph::new().after(before).watched(watch.clone());
        self.source.graph_from(graph, changes, Some(&self.start.graph))
    }

    /// Takes a computed graph as the next state of the history, or in place of this one.
    fn take_graph(&mut self, wanted: Wanted, graph: Graph) {
        let before = Arc::clone(&self.history[self.at].graph);
        let keep = if wanted.replaces { self.at } else { self.at + 1 };
        self.message = None;
        self.has_adjusted |= wanted.adjusts.is_some();
        self.put_version(keep, Version { changes: wanted.changes, graph: Arc::new(graph) });
        self.beside = None;
        self.follow(&before);
    }
}
