//! Tests of the fast path: the same bits from every instruction set and any number of threads, errors below the promised bound,
//! no influence of hidden keys. `tests/README.md` says how the heavy parts are run.
//!
//! Instruction sets that this processor lacks are named on standard error, past the capture of the test harness.

#[path = "../../../../tests/common/double_double.rs"]
mod double_double;
#[path = "../../../../tests/golden/figures.rs"]
mod golden;
#[path = "../../../../tests/common/promise.rs"]
mod promise;
#[path = "../../../../tests/common/random.rs"]
mod random;
#[path = "../../../../tests/common/sweep.rs"]
mod sweep;

mod adversarial;
mod bits;
mod everywhere;
mod exp2;
mod families;
mod grid;
mod hidden;
mod internals;
mod judges;
mod linear;
mod long;
mod masking;
mod oracle;
mod problem;
mod products;
mod properties;
mod rowwise;
mod sinks;
mod soft_cap;
mod threads;
mod values;
mod variants;
mod windows;

use std::io::{Write, stderr};

use crate::{Kernels, SimdLevel};

/// A line that the test harness does not capture.
fn say(line: &str) {
    writeln!(stderr(), "{line}").expect("standard error can be written to");
}

/// A line that `--nocapture` shows.
#[allow(clippy::print_stdout, reason = "the harness captures it")]
fn note(line: &str) {
    println!("{line}");
}

/// The machine with the plain version: what all others are compared with.
fn plain() -> crate::Machine {
    crate::Machine { simd: SimdLevel::Portable, threads: 1 }
}

/// Whether two numbers are the same to the bit; no NaN differs from another.
fn same<T: Kernels>(a: T, b: T) -> bool {
    a.bits() == b.bits() || (a.to_f64().is_nan() && b.to_f64().is_nan())
}

#[test]
fn every_implementation_is_named() {
    for level in SimdLevel::ALL {
        let is = if level.is_available() { "tested" } else { "NOT AVAILABLE on this processor, not tested" };
        say(&format!("kernel: {level}: {is}"));
    }
    assert!(SimdLevel::Portable.is_available(), "there is always something to run");
}
