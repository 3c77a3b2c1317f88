//! `attn bench`.

mod figures;
mod line;
mod overview;
mod single;
mod words;

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::machine::{DtypeArg, THREADS, machine};
use super::output::{FormatArg, LookArgs, ScreenArgs};
use super::softmax::positive;
use super::{Env, Streams};
use crate::bench::Shape;
use crate::error::{Error, Result};
use crate::kernel::Machine;
use crate::render::Style;

/// How fast attention is on this machine, and how much memory it takes
///
/// Examples:
///   attn bench                            three ways from n = 64 to 8192, beside the machine's peak
///   attn bench --causal --dtype f64       the same under a mask, in double precision
///   attn bench --n 1024 --heads 12        one shape, thoroughly
///   attn bench --n 8192 --n-q 1 --heads 32 --kv-heads 8 --dim 128    decoding with a cache
///   attn bench --n 1024 --format json     one line for a script
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct BenchArgs {
    /// Keys and values; without it, one head at a row of lengths.
    #[arg(long, value_name = "N")]
    n: Option<usize>,
    /// Queries, the last of the N tokens [default: N].
    #[arg(long, value_name = "T")]
    n_q: Option<usize>,
    /// Query heads [default: 8].
    #[arg(long, value_name = "H")]
    heads: Option<usize>,
    /// Key/value heads that the query heads share [default: as many as query heads].
    #[arg(long, value_name = "G")]
    kv_heads: Option<usize>,
    /// The width of a head.
    #[arg(long, value_name = "D", default_value_t = 64)]
    dim: usize,
    /// Hide from each query the keys after it.
    #[arg(long)]
    causal: bool,
    /// The numbers of the fused path.
    #[arg(long, value_enum, default_value = "f32", value_name = "TYPE")]
    dtype: DtypeArg,
    /// Threads of the fused path [default: all of this machine].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(THREADS))]
    threads: Option<u16>,
    /// Instructions of the fused path: portable, neon, avx2, avx512 [default: ATTN_SIMD, or the widest].
    #[arg(long, value_name = "LEVEL")]
    simd: Option<String>,
    /// How long to measure, about [default: 1 for one shape, 20 for all lengths].
    #[arg(long, value_name = "S")]
    seconds: Option<String>,
    /// What to write.
    #[arg(long, value_enum, default_value = "table")]
    format: BenchFormat,
    #[command(flatten)]
    screen: ScreenArgs,
}

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BenchFormat {
    /// Tables and curves for a terminal.
    Table,
    /// A line for each measurement, every digit.
    Json,
}

/// Nobody wants to wait longer.
const MOST_SECONDS: f64 = 3600.0;

impl BenchArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        match (self.shape()?, self.dtype) {
            (Some(shape), DtypeArg::F32) => self.single::<f32>(shape, env, streams),
            (Some(shape), DtypeArg::F64) => self.single::<f64>(shape, env, streams),
            (None, DtypeArg::F32) => self.overview::<f32>(env, streams),
            (None, DtypeArg::F64) => self.overview::<f64>(env, streams),
        }
    }

    fn shape(&self) -> Result<Option<Shape>> {
        let of_one_shape =
            [("--heads", self.heads), ("--kv-heads", self.kv_heads), ("--n-q", self.n_q)].into_iter();
        let Some(n) = self.n else {
            return match of_one_shape.into_iter().find(|(_, size)| size.is_some()) {
                None => Ok(None),
                Some((option, _)) => Err(Error::new(format!("{option} without a length, --n"))
                    .help("add --n 1024 for one shape; all lengths are measured on one head")),
            };
        };
        if let Some(queries) = self.n_q.filter(|&queries| queries > n) {
            return Err(Error::new(format!("--n-q {queries} is more than --n {n}"))
                .help("queries are the last of the N tokens: take at most as many"));
        }
        let heads = self.heads.unwrap_or(8);
        let shape = Shape {
            heads,
            key_value_heads: self.kv_heads.unwrap_or(heads),
            queries: self.n_q.unwrap_or(n),
            keys: n,
            width: self.dim,
            causal: self.causal,
        };
        shape.checked().map(Some)
    }

    fn machine(&self, env: &Env) -> Result<Machine> {
        machine(self.threads, self.simd.as_deref(), env)
    }

    fn budget(&self, usual: f64) -> Result<Duration> {
        let seconds = self.seconds.as_deref().map_or(Ok(usual), |text| positive("--seconds", text))?;
        if seconds > MOST_SECONDS {
            return Err(Error::new(format!("--seconds {seconds} is longer than an hour")).help("take less"));
        }
        Ok(Duration::from_secs_f64(seconds))
    }

    fn style(&self, env: &Env) -> Style {
        LookArgs { format: FormatArg::Table, screen: self.screen.clone() }.style(env)
    }
}
