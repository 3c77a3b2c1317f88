//! The machine that a call runs on: an instruction set and a number of threads.

use crate::error::{Error, Result};
use crate::pool::MAX_THREADS;
use crate::simd::SimdLevel;

/// The instruction set and the threads to use. The result does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The instruction set.
    pub simd: SimdLevel,
    /// The maximum number of threads.
    pub threads: usize,
}

impl Machine {
    /// All of this machine: its widest instruction set and as many threads as it runs in parallel.
    pub fn here() -> Machine {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Machine { simd: SimdLevel::detect(), threads: threads.min(MAX_THREADS) }
    }

    /// # Errors
    /// [`Error::MissingSimd`] if this processor lacks the instruction set.
    pub(crate) fn check(self) -> Result<()> {
        if self.simd.is_available() { Ok(()) } else { Err(Error::MissingSimd(self.simd)) }
    }
}

impl SimdLevel {
    /// The level of this name, if this processor has it.
    ///
    /// # Errors
    /// [`Error::UnknownSimd`] if there is no such name, [`Error::MissingSimd`] if the processor lacks the instructions: they
    /// would end the program.
    pub fn named(name: &str) -> Result<SimdLevel> {
        let known = SimdLevel::ALL.into_iter().find(|level| level.name() == name);
        let level = known.ok_or_else(|| Error::UnknownSimd(name.to_string()))?;
        Machine { simd: level, threads: 1 }.check()?;
        Ok(level)
    }
}

/// The resources that a call used, apart from inputs and outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Bytes of memory, of all threads together.
    pub extra_bytes: usize,
    /// Threads.
    pub threads: usize,
}
