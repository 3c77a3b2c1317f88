//! `attn bench`.

mod figures;
mod line;
mod model;
mod overview;
mod single;

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::machine::{DtypeArg, THREADS, machine, simd_names};
use super::output::{FormatArg, LookArgs};
use super::screen::ScreenArgs;
use super::values::positive;
use super::{Env, Streams};
use crate::bench::Shape;
use crate::error::{Error, Result};
use crate::kernel::Machine;
use crate::render::Style;

/// Measure how fast attention runs on your machine, and how much memory it needs
///
/// Without --n it measures three ways to compute one head, from 64 to 8192 tokens, and the limit that the machine sets.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct BenchArgs {
    /// Number of keys [default: lengths from 64 to 8192]
    ///
    /// With --model, the number of tokens [default: 64, but at most half of what the model has positions for].
    #[arg(long, value_name = "N")]
    n: Option<usize>,
    /// Measure a whole model, from its folder
    ///
    /// In f32: a text of N tokens with all logits, one more token from a cache, and the rate at which the weights can be read.
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["n_q", "heads", "kv_heads", "dim", "causal", "dtype"])]
    model: Option<String>,
    /// Number of queries, the last of N [default: N]
    #[arg(long, value_name = "T")]
    n_q: Option<usize>,
    /// Number of heads [default: 8]
    #[arg(long, value_name = "H")]
    heads: Option<usize>,
    /// Number of key/value heads [default: as --heads]
    #[arg(long, value_name = "G")]
    kv_heads: Option<usize>,
    /// Width of a head
    #[arg(long, value_name = "D", default_value_t = 64)]
    dim: usize,
    /// Hide later tokens from each token
    #[arg(long)]
    causal: bool,
    /// Type of the numbers in the fused path: f32 or f64
    #[arg(long, value_enum, default_value = "f32", value_name = "TYPE")]
    dtype: DtypeArg,
    /// Threads of the fused path [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(THREADS))]
    threads: Option<u16>,
    // Its help has the names from the kernel's list.
    #[arg(long, value_name = "LEVEL", help = simd_help(), long_help = long_simd_help())]
    simd: Option<String>,
    /// Seconds to measure [default: 1 for one shape, else 20]
    #[arg(long, value_name = "S")]
    seconds: Option<String>,
    /// Output format: table or json
    #[arg(long, value_enum, default_value = "table")]
    format: BenchFormat,
    #[command(flatten)]
    screen: ScreenArgs,
}

const EXAMPLES: &str = "\
Examples:
  attn bench                           all lengths, about 20 seconds
  attn bench --causal --dtype f64      with a mask, in double precision
  attn bench --n 1024 --heads 12       one shape, measured for longer
  attn bench --n 1024 --format json    one line for a script
  attn bench --model words             a whole model, from its folder
  attn bench --n 8192 --n-q 1 --heads 32 --kv-heads 8 --dim 128
                                       decoding with a cache";

fn simd_help() -> String {
    format!("Instruction set: {}", simd_names())
}

fn long_simd_help() -> String {
    format!(
        "{}\n\nWithout this option the variable ATTN_SIMD decides; without both, it is the widest that the processor has.",
        simd_help()
    )
}

/// `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum BenchFormat {
    /// Tables and curves for a terminal
    Table,
    /// One line for each measurement, with every digit
    Json,
}

/// The longest measurement.
const MOST_SECONDS: f64 = 3600.0;

impl BenchArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        if let Some(folder) = &self.model {
            return self.model(folder, env, streams);
        }
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
                Some((option, _)) => Err(Error::new(format!("{option} needs a length, --n"))
                    .help("add --n 1024 for one shape; without --n all lengths are measured with one head")),
            };
        };
        if let Some(queries) = self.n_q.filter(|&queries| queries > n) {
            return Err(Error::new(format!("--n-q {queries} is more than --n {n}"))
                .help(format!("the queries are the last of the {n} tokens: give --n-q {n} or less")));
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
            return Err(
                Error::new(format!("--seconds {seconds} is longer than an hour")).help("take at most 3600")
            );
        }
        Ok(Duration::from_secs_f64(seconds))
    }

    fn style(&self, env: &Env) -> Style {
        LookArgs { format: FormatArg::Table, screen: self.screen.clone() }.style(env)
    }
}
