//! `--model`: a whole model, from its folder.

use serde_json::{Value, json};

use super::{BenchArgs, BenchFormat};
use crate::bench::{ModelMeasurement, Timing};
use crate::cli::model::OpenedModel;
use crate::cli::{Env, Streams};
use crate::error::{Error, Result};
use crate::params::Positions;
use crate::render;
use crate::story::Table;
use crate::text::{counted, giga, seconds, size};

/// The default number of tokens, where the model has positions for twice as many.
const USUAL_TOKENS: usize = 64;

/// The default time for each part.
const USUAL_SECONDS: f64 = 3.0;

impl BenchArgs {
    /// Measures the model of a folder.
    pub(super) fn model(&self, folder: &str, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let (machine, budget) = (self.machine(env)?, self.budget(USUAL_SECONDS)?);
        if self.n == Some(0) {
            return Err(Error::new("--n 0 leaves nothing to compute").help("give 1 token or more"));
        }
        let model = OpenedModel::open(folder, env)?;
        let tokens = self.n.unwrap_or_else(|| usual_tokens(model.architecture.model.positions));
        let measured = model.with_tensors(|tensors| {
            ModelMeasurement::measure(&model.architecture, tensors, tokens, (machine, budget))
        })?;
        match self.format {
            BenchFormat::Json => writeln!(streams.out, "{}", line(&measured))?,
            BenchFormat::Table => {
                let threads = counted(machine.threads, "thread");
                let title = format!("{}; f32, {}, {threads}", model.folder.name, machine.simd);
                render::tables(&[(title, table(&measured))], "bench", &self.style(env), streams.out)?;
            }
        }
        Ok(())
    }
}

/// A text that leaves room for more tokens.
fn usual_tokens(positions: Positions) -> usize {
    match positions {
        Positions::Learned(count) => USUAL_TOKENS.min(count as usize / 2).max(1),
        _ => USUAL_TOKENS,
    }
}

fn table(measured: &ModelMeasurement) -> Table {
    let ModelMeasurement { tokens, forward, flop, decode, weight_bytes, reading, .. } = measured;
    let median = |timing: &Timing| {
        format!("{}, the median of {}", seconds(timing.median), counted(timing.runs, "run"))
    };
    let row = |what: String, text: String| vec![what, text];
    let mut rows = vec![
        row(format!("{}, all logits", counted(*tokens, "token")), median(forward)),
        row(
            "speed".to_string(),
            format!("{} GFLOP/s in products with weights", giga(*flop as f64 / forward.median)),
        ),
    ];
    rows.extend(decode.map(|decode| row("one more token".to_string(), median(&decode))));
    rows.push(row("only reading the weights".to_string(), median(reading)));
    let rate = format!("{} at {} GB/s", size(*weight_bytes), giga(measured.read_rate()));
    rows.push(row("read rate".to_string(), rate));
    rows.extend(measured.share_of_reading().map(|share| {
        row("share of that rate".to_string(), format!("{:.0} %, for one more token", 100.0 * share))
    }));
    Table::new(&["what", "measured"], rows)
}

/// The line for a script.
fn line(measured: &ModelMeasurement) -> Value {
    let ModelMeasurement { machine, tokens, forward, flop, decode, weight_bytes, reading } = measured;
    json!({
        "peer": "attn",
        "version": env!("CARGO_PKG_VERSION"),
        "tokens": tokens,
        "threads": machine.threads,
        "simd": machine.simd.name(),
        "forward_s": forward.median,
        "forward_min_s": forward.least,
        "forward_runs": forward.runs,
        "forward_gflops": *flop as f64 / forward.median / 1e9,
        "decode_s": decode.map(|timing| timing.median),
        "decode_min_s": decode.map(|timing| timing.least),
        "decode_runs": decode.map(|timing| timing.runs),
        "weight_bytes": weight_bytes,
        "read_s": reading.median,
        "read_gb_s": measured.read_rate() / 1e9,
        "decode_share_of_reading": measured.share_of_reading(),
        "other_busy": forward.other_busy,
    })
}
