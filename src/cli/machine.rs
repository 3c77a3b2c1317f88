//! The threads and the instruction set of the fast path; neither changes the result.

use std::ops::RangeInclusive;

use clap::ValueEnum;

use super::Env;
use crate::error::{Error, Result};
use crate::kernel::{MAX_THREADS, Machine, SimdLevel};
use crate::tensor::Dtype;
use crate::text::one_of;

/// The numbers of threads that `--threads` takes.
pub(super) const THREADS: RangeInclusive<i64> = 1..=MAX_THREADS as i64;

/// The names that `--simd` takes: “portable, neon, avx2 or avx512”.
pub(super) fn simd_names() -> String {
    one_of(&SimdLevel::ALL.map(SimdLevel::name))
}

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

/// The machine that `--threads` and `--simd` ask for, else the variable ATTN_SIMD; by default all of this machine.
///
/// # Errors
/// If there is no such instruction set, or this processor lacks it.
pub(super) fn machine(threads: Option<u16>, simd: Option<&str>, env: &Env) -> Result<Machine> {
    let here = Machine::here();
    let named = |name: &str, asked: &str| {
        SimdLevel::named(&name.to_ascii_lowercase()).map_err(|error| Error::from(error).in_source(asked))
    };
    let simd = match (simd, env.simd.as_deref()) {
        (Some(name), _) => named(name, "--simd")?,
        (None, Some(name)) => named(name, "ATTN_SIMD")?,
        (None, None) => here.simd,
    };
    Ok(Machine { simd, threads: threads.map_or(here.threads, usize::from) })
}
