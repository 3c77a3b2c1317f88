//! On how many threads, and with which instructions, the fast path computes; neither changes what comes out.

use std::ops::RangeInclusive;

use clap::ValueEnum;

use super::Env;
use crate::error::{Error, Result};
use crate::kernel::{Machine, SimdLevel};
use crate::tensor::Dtype;

/// So many threads `--threads` may ask for.
pub(super) const THREADS: RangeInclusive<i64> = 1..=256;

/// `--dtype`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DtypeArg {
    /// Single precision.
    F32,
    /// Double precision.
    F64,
}

impl From<DtypeArg> for Dtype {
    fn from(dtype: DtypeArg) -> Dtype {
        match dtype {
            DtypeArg::F32 => Dtype::F32,
            DtypeArg::F64 => Dtype::F64,
        }
    }
}

/// The machine that `--threads` and `--simd` ask for, then the surroundings, and else all of this one.
///
/// # Errors
/// If there are no such instructions, or this processor lacks them.
pub(super) fn machine(threads: Option<u16>, simd: Option<&str>, env: &Env) -> Result<Machine> {
    let here = Machine::here();
    let named = |name: &str, asked: &str| {
        SimdLevel::named(&name.to_ascii_lowercase()).map_err(|error| Error::from(error).in_source(asked))
    };
    let simd = match (simd, env.simd) {
        (Some(name), _) => named(name, "--simd")?,
        (None, Some(name)) => named(name, "ATTN_SIMD")?,
        (None, None) => here.simd,
    };
    Ok(Machine { simd, threads: threads.map_or(here.threads, usize::from) })
}
