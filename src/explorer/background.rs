//! A change that is computed on another thread, while the screen stays alive.

use std::collections::HashMap;
use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::steps_of_story::StepsOfStory;
use crate::explore::{Computation, Progress, State};
use crate::graph::Watch;
use crate::memory;
use crate::render::Screen;

/// A computation that is complete by then is not told about: the screen would flicker.
const AT_ONCE: Duration = Duration::from_millis(30);
/// The time between two signs of life.
const TURN: Duration = Duration::from_millis(120);
/// The signs of life, which need no colour.
const SIGNS: [char; 4] = ['|', '/', '-', '\\'];

/// A state that has been computed, with its sentences.
pub(super) struct Computed {
    pub state: State,
    pub story: StepsOfStory,
}

/// What computes for a session, one change at a time.
pub(super) struct Worker {
    /// The sentences of a demo, by the names of nodes.
    told: Arc<HashMap<String, String>>,
    screen: Screen,
    running: Option<Running>,
    /// The thread of a change that was stopped. It ends after its step; until then the next one waits, so that there is only one.
    stopping: Option<JoinHandle<()>>,
}

/// A change that is being computed.
struct Running {
    computation: Computation,
    watch: StopsWhenDropped,
    begun: Instant,
    /// The signs of life that have been shown.
    turns: u32,
    results: Receiver<(Option<Computed>, memory::Lent)>,
    thread: JoinHandle<()>,
}

/// Nobody waits for the result any more once this is dropped.
struct StopsWhenDropped(Watch);

impl Drop for StopsWhenDropped {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Worker {
    pub fn new(told: HashMap<String, String>, screen: Screen) -> Worker {
        Worker { told: Arc::new(told), screen, running: None, stopping: None }
    }

    /// The sentences of a state.
    pub fn story(&self, state: &State) -> StepsOfStory {
        StepsOfStory::of(state, &self.told, self.screen)
    }

    /// Begins to compute; returns the result if it is there at once.
    ///
    /// # Errors
    /// If the system has no thread for it.
    pub fn begin(&mut self, computation: Computation) -> io::Result<Option<Computed>> {
        let (send, results) = sync_channel(1);
        let (told, screen) = (Arc::clone(&self.told), self.screen);
        let watch = Watch::default();
        let (own, seen, before) = (computation.clone(), watch.clone(), self.stopping.take());
        // The memory of the command belongs to its thread.
        let lent = memory::lent();
        let work = move || {
            if let Some(before) = before {
                // It was stopped: how it ended does not matter.
                let _ = before.join();
            }
            let _account = lent.enter();
            let computed = own.run(&seen).map(|state| {
                let story = StepsOfStory::of(&state, &told, screen);
                Computed { state, story }
            });
            // Nobody may wait any more.
            let _ = send.send((computed, memory::lent()));
        };
        let thread = Builder::new().name("computation".into()).spawn(work)?;
        let (watch, begun) = (StopsWhenDropped(watch), Instant::now());
        self.running = Some(Running { computation, watch, begun, turns: 0, results, thread });
        Ok(self.result_within(AT_ONCE))
    }

    /// Whether something is being computed.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// The result, once it is there.
    pub fn result(&mut self) -> Option<Computed> {
        self.result_within(Duration::ZERO)
    }

    fn result_within(&mut self, longest: Duration) -> Option<Computed> {
        let received = self.running.as_ref()?.results.recv_timeout(longest);
        match received {
            Err(RecvTimeoutError::Timeout) => None,
            Ok((computed, lent)) => {
                self.running = None;
                lent.take_back();
                computed
            }
            Err(RecvTimeoutError::Disconnected) => {
                // It has panicked: so does the session, as if it had computed itself.
                if let Some(Err(panic)) = self.running.take().map(|running| running.thread.join()) {
                    resume_unwind(panic);
                }
                None
            }
        }
    }

    /// Stops what is being computed, and returns it.
    pub fn stop(&mut self) -> Option<Computation> {
        let Running { computation, thread, .. } = self.running.take()?;
        self.stopping = Some(thread);
        Some(computation)
    }

    /// Whether it is time for the next sign of life.
    pub fn is_due(&self) -> bool {
        self.running.as_ref().is_some_and(|running| running.begun.elapsed() >= TURN * running.turns)
    }

    /// How far it is, in one line, with a sign of life.
    pub fn said(&mut self) -> Option<String> {
        let running = self.running.as_mut()?;
        let turn = (running.begun.elapsed().as_millis() / TURN.as_millis()) as u32;
        running.turns = turn + 1;
        let sign = SIGNS[turn as usize % SIGNS.len()];
        let Progress { steps: [done, all], layer } = running.computation.progress(&running.watch.0);
        let place = match layer {
            Some([layer, last]) => format!("layer {layer} of {last}"),
            None => format!("step {} of {all}", (done + 1).min(all)),
        };
        Some(format!("{sign} Recomputing: {place}. Any key stops it."))
    }
}
