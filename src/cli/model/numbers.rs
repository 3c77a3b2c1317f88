//! `--dtype` and `--limit`: the numbers that a model is computed in, and how many are recorded.

use clap::{Args, ValueEnum};

use super::opened::OpenedModel;
use super::used::first;
use crate::graph::{MAX_CELLS, Precision};
use crate::kernel::Machine;
use crate::memory;
use crate::model::{Edits, PassOptions};
use crate::text::grouped;

/// Up to this many multiplications the exact path is taken, unless the user chooses.
const MOST_EXACT: u64 = 1_000_000_000;

/// The numbers that a model is computed in.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "What is computed")]
pub(super) struct NumbersArgs {
    /// Compute in f64, exactly, or in f32, fast
    ///
    /// In f64 every number can be explained to its last bit. f32 is the fast path. By default f64 is taken while tokens times weights
    /// used per token are at most 10⁹.
    #[arg(long, value_enum, value_name = "TYPE")]
    dtype: Option<DtypeArg>,
    /// Keep at most N numbers
    #[arg(long, value_name = "N", hide_short_help = true, help = format!("Keep at most N numbers [default: {MAX_CELLS}]"))]
    limit: Option<usize>,
}

/// `--dtype`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DtypeArg {
    /// Single precision
    F32,
    /// Double precision
    F64,
}

/// How a pass is computed, and why.
pub(super) struct ChosenNumbers {
    pub options: PassOptions,
    /// “f64 (the model is small)”.
    pub why: String,
    /// The multiplications with weights of one pass.
    pub products: u64,
}

impl ChosenNumbers {
    /// The model, and the numbers that it is computed in: a screen says it below its first line.
    pub fn described(&self, model: &OpenedModel, tokens: usize) -> String {
        format!("{}; {}; computed in {}.", model.described(), crate::text::counted(tokens, "token"), self.why)
    }
}

impl NumbersArgs {
    /// The option that is used, if one is.
    pub fn used(&self) -> Option<&'static str> {
        first(&[("--dtype", self.dtype.is_some()), ("--limit", self.limit.is_some())])
    }

    /// The value of --memory that is enough for this many tokens, where there is a limit.
    pub fn enough_memory(&self, model: &OpenedModel, tokens: usize) -> Option<String> {
        let is_exact = self.chosen(model, tokens, Edits::default()).options.precision == Precision::Exact;
        memory::limit_for(model.bytes_of_pass(tokens, is_exact))
    }

    /// The numbers for a text of this many tokens.
    pub fn chosen(&self, model: &OpenedModel, tokens: usize, edits: Edits) -> ChosenNumbers {
        let weights = model.weights_per_token;
        let products = weights.saturating_mul(tokens as u64);
        let (dtype, why) = match self.dtype {
            Some(dtype) => (dtype, "as asked".to_string()),
            None => {
                let is_small = products <= MOST_EXACT;
                let dtype = if is_small { DtypeArg::F64 } else { DtypeArg::F32 };
                let why = if is_small {
                    "the model is small".to_string()
                } else {
                    let count = crate::text::counted(tokens, "token");
                    format!(
                        "{count} × {} weights are more than 10⁹ products; --dtype f64 is exact",
                        grouped(weights)
                    )
                };
                (dtype, why)
            }
        };
        let (precision, name) = match dtype {
            DtypeArg::F64 => (Precision::Exact, "f64"),
            DtypeArg::F32 => (Precision::Single(Machine::here()), "f32"),
        };
        let options =
            PassOptions { precision, limit: self.limit.unwrap_or(MAX_CELLS), edits, measured: true };
        ChosenNumbers { options, why: format!("{name} ({why})"), products }
    }
}
