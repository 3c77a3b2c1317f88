//! Tests that need private items of the crate, or `unsafe` code.

mod dispatch;
mod exp2;
#[cfg(unix)]
mod guarded;
#[cfg(unix)]
mod hidden;
#[cfg(unix)]
mod linear;
mod pool;
mod ragged;
mod soft_cap;

use std::io::{Write, stderr};

use crate::simd::SimdLevel;

/// The levels that are tested here; the tested and the skipped ones are printed past the capture of the test harness.
fn levels(test: &str) -> impl Iterator<Item = SimdLevel> {
    for level in SimdLevel::ALL {
        let is = if level.is_available() { "tested" } else { "NOT AVAILABLE on this processor, not tested" };
        writeln!(stderr(), "{test}: {level}: {is}").expect("standard error can be written to");
    }
    SimdLevel::available()
}
