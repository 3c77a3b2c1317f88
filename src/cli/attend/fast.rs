//! `--fast` and what goes with it.

use clap::Args;

use crate::cli::Env;
use crate::cli::machine::{DtypeArg, THREADS, machine, simd_names};
use crate::error::Result;
use crate::graph::recipes::attend_fused;
use crate::graph::{Fusion, Graph, Node, Op};
use crate::tensor::Dtype;
use crate::text::counted;

use super::computation::Computation;

/// The fused kernel in place of the steps.
#[derive(Args, Debug)]
#[command(next_help_heading = "Fast path")]
pub(super) struct FastArgs {
    /// Compute O in one fused pass, for many tokens
    ///
    /// It never stores the scores and the weights; it also returns LSE, the logarithm of each row's sum of exponentials.
    #[arg(long)]
    fast: bool,
    /// Type of the numbers: f32 or f64 [default: f32]
    #[arg(long, value_enum, value_name = "TYPE", requires = "fast")]
    dtype: Option<DtypeArg>,
    /// Number of threads [default: all]
    ///
    /// The result does not depend on it.
    #[arg(long, hide_short_help = true, value_name = "N", requires = "fast", value_parser = clap::value_parser!(u16).range(THREADS))]
    threads: Option<u16>,
    // Its help has the names from the kernel's list.
    #[arg(long, hide_short_help = true, value_name = "LEVEL", requires = "fast", help = simd_help(), long_help = long_simd_help())]
    simd: Option<String>,
}

fn simd_help() -> String {
    format!("Instruction set: {} [default: the widest]", simd_names())
}

fn long_simd_help() -> String {
    format!("{}\n\nThe variable ATTN_SIMD sets it too.", simd_help())
}

/// The result of the fast path.
pub(super) struct FusedRun {
    pub graph: Graph,
    /// Notes on the numbers.
    pub notes: Vec<String>,
    /// The instructions and the number of threads; no number depends on them.
    pub how: String,
}

impl FastArgs {
    /// The type in which the fast path is to compute, if it is to.
    pub(super) fn dtype(&self) -> Option<Dtype> {
        self.fast.then(|| self.dtype.map_or(Dtype::F32, Dtype::from))
    }

    /// Runs a computation on the fast path, and adds notes on its numbers.
    pub(super) fn run(&self, computation: Computation, dtype: Dtype, env: &Env) -> Result<FusedRun> {
        let machine = machine(self.threads, self.simd.as_deref(), env)?;
        let Computation { recipe, inputs, mut notes, .. } = computation;
        let (graph, used) = attend_fused(&recipe, inputs, dtype, machine)?;
        if dtype == Dtype::F32 {
            let is_rounded = |node: &Node| match node.typed() {
                Some(numbers) => numbers.is_inexact(),
                None => node.matrix().is_some_and(|matrix| matrix.cells().any(|x| x != f64::from(x as f32))),
            };
            let is_fused = |node: &Node| matches!(node.op, Op::Fused(Fusion::Output(_)));
            let read = graph.nodes().filter(|(_, node)| is_fused(node)).flat_map(|(_, node)| &node.inputs);
            let rounded = read.map(|&id| &graph[id]).filter(|node| is_rounded(node));
            let names: Vec<&str> = rounded.map(|node| node.name.as_str()).collect();
            if !names.is_empty() {
                notes.push(format!("The fused kernel reads {} rounded to f32.", names.join(", ")));
            }
        }
        let how = format!("computed with {}, on {}", machine.simd, counted(used.threads, "thread"));
        Ok(FusedRun { graph, notes, how })
    }
}
