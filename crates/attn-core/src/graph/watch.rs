//! How far a computation is, and whether it is to stop: for another thread that waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::{Error, Result};

/// Watches a computation from another thread. Clones watch the same one.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<Watched>);

#[derive(Debug, Default)]
struct Watched {
    is_stopped: AtomicBool,
    steps: AtomicUsize,
}

/// Who watches is no part of what is computed.
impl PartialEq for Watch {
    fn eq(&self, _: &Watch) -> bool {
        true
    }
}

impl Watch {
    /// Asks the computation to stop. It does so before its next step.
    pub fn stop(&self) {
        self.0.is_stopped.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.0.is_stopped.load(Ordering::Relaxed)
    }

    /// The number of steps that are complete.
    pub fn steps(&self) -> usize {
        self.0.steps.load(Ordering::Relaxed)
    }

    /// Notes that this many steps are complete.
    ///
    /// # Errors
    /// If the computation is to stop.
    pub(super) fn reached(&self, steps: usize) -> Result<()> {
        self.0.steps.store(steps, Ordering::Relaxed);
        if self.is_stopped() { Err(Error::new("the computation was stopped")) } else { Ok(()) }
    }
}
