//! On how many threads, and with which instructions, the fast path computes; neither changes what comes out.

use super::Env;
use crate::error::Result;
use crate::kernel::{Machine, SimdLevel};

/// The machine that `--threads` and `--simd` ask for, then the surroundings, and else all of this one.
///
/// # Errors
/// If there are no such instructions, or this processor lacks them.
pub(super) fn machine(threads: Option<u16>, simd: Option<&str>, env: &Env) -> Result<Machine> {
    let here = Machine::here();
    let named = |name, asked: &str| SimdLevel::named(name).map_err(|error| error.in_source(asked));
    let simd = match (simd, env.simd) {
        (Some(name), _) => named(name, "--simd")?,
        (None, Some(name)) => named(name, "ATTN_SIMD")?,
        (None, None) => here.simd,
    };
    Ok(Machine { simd, threads: threads.map_or(here.threads, usize::from) })
}
