//! One shape: a few lines, or one line for a script.

use std::time::Duration;

use serde_json::{Value, json};

use super::line::Line;
use super::words::{digits, giga, percent, seconds, waiting};
use super::{BenchArgs, BenchFormat, MOST_SECONDS};
use crate::bench::{Problem, Reading, Shape, Single, estimate};
use crate::cli::params::grouped;
use crate::cli::{Env, Streams};
use crate::demo::Table;
use crate::error::{Error, Result, counted};
use crate::kernel::{Machine, Real};
use crate::render;

/// How long one shape is measured where nobody says.
const USUAL_SECONDS: f64 = 1.0;

/// What would take so many times as long as it is to be measured is refused,
const LONGEST_IN_BUDGETS: u32 = 60;

/// but nothing that takes no longer than this.
const NEVER_TOO_LONG: Duration = Duration::from_secs(20);

impl BenchArgs {
    /// Measures one shape.
    pub(super) fn single<T: Real>(&self, shape: Shape, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let (machine, budget) = (self.machine(env)?, self.budget(USUAL_SECONDS)?);
        check_time::<T>(shape, machine, budget)?;
        let single = Single::measure::<T>(shape, machine, budget)?;
        match self.format {
            BenchFormat::Json => writeln!(streams.out, "{}", line(&single))?,
            BenchFormat::Table => {
                render::tables(&[(title(&single), table(&single))], "bench", &self.style(env), streams.out)?;
            }
        }
        Ok(())
    }
}

/// # Errors
/// If the shape would take far longer than the time that there is.
fn check_time<T: Real>(shape: Shape, machine: Machine, budget: Duration) -> Result<()> {
    Problem::<T>::check_memory(shape)?;
    let most = (budget * LONGEST_IN_BUDGETS).max(NEVER_TOO_LONG);
    let Some(needed) = estimate::<T>(shape, machine)?.filter(|needed| *needed > most) else { return Ok(()) };
    let budget = (needed.as_secs_f64() / f64::from(LONGEST_IN_BUDGETS)).ceil();
    let error = Error::new(format!(
        "{}: measuring it would take about {}, and at most {} are to be waited for",
        shape.in_words(),
        waiting(needed.as_secs_f64()),
        waiting(most.as_secs_f64()),
    ));
    Err(match budget > MOST_SECONDS {
        true => error.help("take a shorter sequence, or fewer or narrower heads"),
        false => error.help(format!(
            "take a shorter sequence, or fewer or narrower heads; --seconds {budget} allows it all the same"
        )),
    })
}

fn title(single: &Single) -> String {
    let threads = counted(single.machine.threads, "thread");
    format!("{}; {}, {}, {threads}", single.shape.in_words(), single.dtype, single.machine.simd)
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
                counted(single.used.threads, "thread"),
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

/// The line for a script.
fn line(single: &Single) -> Value {
    let Single { shape, machine, dtype, ref timing, used, largest_error, peak, .. } = *single;
    let line = Line {
        peer: "attn",
        shape,
        dtype,
        simd: Some(machine.simd.name()),
        threads: [machine.threads, used.threads],
        timing,
        extra_bytes: used.extra_bytes,
        largest_error: Some(largest_error),
        peak,
    };
    let mut line = line.value();
    if let Some(reading) = &single.reading {
        line["read_gb_s"] = json!(reading.fused / 1e9);
        line["read_alone_gb_s"] = json!(reading.alone / 1e9);
        line["read_memory_gb_s"] = json!(reading.memory.map(|rate| rate / 1e9));
    }
    line
}
