//! What can only be tested from inside the crate, or needs `unsafe` itself.

mod dispatch;
mod exp2;
#[cfg(unix)]
mod guarded;
#[cfg(unix)]
mod hidden;
mod pool;
mod ragged;

use std::io::{Write, stderr};

use crate::simd::SimdLevel;

/// The levels that are tested here; which those are, and which not, is said past the capture of the test harness.
fn levels(test: &str) -> impl Iterator<Item = SimdLevel> {
    for level in SimdLevel::ALL {
        let is = if level.is_available() { "tested" } else { "NOT AVAILABLE on this processor, not tested" };
        writeln!(stderr(), "{test}: {level}: {is}").expect("standard error can be written to");
    }
    SimdLevel::available()
}
