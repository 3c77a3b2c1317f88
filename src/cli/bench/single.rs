//! One shape: a few lines, or one line for a script.

use serde_json::{Value, json};

use super::words::{digits, giga, percent, seconds};
use super::{BenchArgs, BenchFormat};
use crate::bench::{Reading, Shape, Single};
use crate::cli::params::grouped;
use crate::cli::{Env, Streams};
use crate::demo::Table;
use crate::error::{Result, counted};
use crate::kernel::Real;
use crate::render;

/// How long one shape is measured where nobody says.
const USUAL_SECONDS: f64 = 1.0;

impl BenchArgs {
    /// Measures one shape.
    pub(super) fn single<T: Real>(&self, shape: Shape, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let single = Single::measure::<T>(shape, self.machine(env)?, self.budget(USUAL_SECONDS)?)?;
        match self.format {
            BenchFormat::Json => writeln!(streams.out, "{}", line(&single))?,
            BenchFormat::Table => {
                render::tables(&[(title(&single), table(&single))], "bench", &self.style(env), streams.out)?;
            }
        }
        Ok(())
    }
}

fn title(single: &Single) -> String {
    let threads = counted(single.machine.threads, "thread");
    format!("{}   {}, {}, {threads}", single.shape, single.dtype, single.machine.simd)
}

fn table(single: &Single) -> Table {
    let (timing, rates, threads) = (&single.timing, single.rates(), single.machine.threads);
    let row = |name: &str, text: String| vec![name.to_string(), text];
    let runs = counted(timing.runs, "run");
    let mut rows = vec![
        row(
            "time",
            format!("{}, the median of {runs}; least {}", seconds(timing.median), seconds(timing.least)),
        ),
        row("speed", format!("{} GFLOP/s by the median, {} at best", giga(rates.median), giga(rates.best))),
        row(
            "peak",
            format!(
                "{} GFLOP/s of multiply-adds on {}: {} of it reached",
                giga(single.peak),
                counted(threads, "thread"),
                percent(rates.median, single.peak)
            ),
        ),
    ];
    if single.used.threads < threads {
        let text =
            format!("{} used: there is too little work for more", counted(single.used.threads, "thread"));
        rows.push(row("threads", text));
    }
    rows.extend(single.reading.iter().map(|reading| row("reading", read(reading))));
    rows.push(row(
        "memory",
        format!("{} bytes beside inputs and output", grouped(single.used.extra_bytes as u64)),
    ));
    rows.push(row(
        "error",
        format!("{:.1e} at most, against the exact path on some rows", single.largest_error),
    ));
    if let Some(busy) = timing.other_busy {
        rows.push(row("others", format!("{} processors kept busy by other processes", digits(busy))));
    }
    Table::new(&["what", "measured"], rows)
}

fn read(reading: &Reading) -> String {
    let share = |rate: f64| format!("{} of {} GB/s", percent(reading.fused, rate), giga(rate));
    let memory = reading.memory.map(|rate| format!("; {}, as from memory", share(rate)));
    format!(
        "{} GB/s of keys and values: {}, as they are read alone{}",
        giga(reading.fused),
        share(reading.alone),
        memory.unwrap_or_default()
    )
}

/// The fields that `benches/peers.py` has for every peer, and what only the program itself knows.
fn line(single: &Single) -> Value {
    let (timing, rates) = (&single.timing, single.rates());
    let mut line = json!({
        "peer": "attn",
        "version": env!("CARGO_PKG_VERSION"),
        "shape": single.shape.to_string(),
        "threads": single.machine.threads,
        "median_s": timing.median,
        "min_s": timing.least,
        "runs": timing.runs,
        "gflops": rates.median / 1e9,
        "gflops_best": rates.best / 1e9,
        "max_err": single.largest_error,
        "other_busy": timing.other_busy,
        "peak_gflops": single.peak / 1e9,
        "extra_bytes": single.used.extra_bytes,
        "threads_used": single.used.threads,
        "dtype": single.dtype,
        "simd": single.machine.simd.name(),
    });
    if let Some(reading) = &single.reading {
        line["read_gb_s"] = json!(reading.fused / 1e9);
        line["read_alone_gb_s"] = json!(reading.alone / 1e9);
        line["read_memory_gb_s"] = json!(reading.memory.map(|rate| rate / 1e9));
    }
    line
}
