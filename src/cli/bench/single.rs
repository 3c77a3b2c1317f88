//! One shape: a few lines, or one line for a script.

use std::time::Duration;

use serde_json::{Value, json};

use super::line::MeasurementLine;
use super::{BenchArgs, BenchFormat, MOST_SECONDS};
use crate::bench::{Problem, ReadRates, Shape, ShapeMeasurement, estimate};
use crate::cli::{Env, Streams};
use crate::error::{Error, Result};
use crate::kernel::{Kernels, Machine};
use crate::render;
use crate::story::Table;
use crate::text::{counted, giga, grouped, percent, seconds, three_digits, waiting};

/// The default time for one shape.
const USUAL_SECONDS: f64 = 1.0;

/// A shape is refused if it takes this many times as long as the measurement may,
const LONGEST_IN_BUDGETS: u32 = 60;

/// but never if it takes at most this long.
const NEVER_TOO_LONG: Duration = Duration::from_secs(20);

impl BenchArgs {
    /// Measures one shape.
    pub(super) fn single<T: Kernels>(
        &self,
        shape: Shape,
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<()> {
        let (machine, budget) = (self.machine(env)?, self.budget(USUAL_SECONDS)?);
        check_time::<T>(shape, machine, budget)?;
        let single = ShapeMeasurement::measure::<T>(shape, machine, budget)?;
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
fn check_time<T: Kernels>(shape: Shape, machine: Machine, budget: Duration) -> Result<()> {
    Problem::<T>::check_memory(shape)?;
    let most = (budget * LONGEST_IN_BUDGETS).max(NEVER_TOO_LONG);
    let Some(needed) = estimate::<T>(shape, machine)?.filter(|needed| *needed > most) else { return Ok(()) };
    let budget = (needed.as_secs_f64() / f64::from(LONGEST_IN_BUDGETS)).ceil();
    let error = Error::new(format!(
        "{}: the measurement would take about {}, and the limit is {}",
        shape.in_words(),
        waiting(needed.as_secs_f64()),
        waiting(most.as_secs_f64()),
    ));
    let smaller = "give a shorter sequence, or fewer or narrower heads";
    Err(if budget > MOST_SECONDS {
        error.help(smaller)
    } else {
        error.help(format!("{smaller}; --seconds {budget} allows it"))
    })
}

fn title(single: &ShapeMeasurement) -> String {
    let threads = counted(single.machine.threads, "thread");
    format!("{}; {}, {}, {threads}", single.shape.in_words(), single.dtype, single.machine.simd)
}

fn table(single: &ShapeMeasurement) -> Table {
    let (timing, rates, threads) = (&single.timing, single.rates(), single.machine.threads);
    let row = |name: &str, text: String| vec![name.to_string(), text];
    let runs = counted(timing.runs, "run");
    let mut rows = vec![
        row(
            "time",
            format!(
                "{}, the median of {runs}; the fastest took {}",
                seconds(timing.median),
                seconds(timing.least)
            ),
        ),
        row(
            "speed",
            format!("{} GFLOP/s in the median run, {} in the best", giga(rates.median), giga(rates.best)),
        ),
        row(
            "peak",
            format!(
                "{} GFLOP/s of multiply-adds on {}; attention reaches {} of it",
                giga(single.peak),
                counted(single.used.threads, "thread"),
                percent(rates.median.min(single.peak), single.peak)
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
        format!("{} bytes in addition to inputs and output", grouped(single.used.extra_bytes as u64)),
    ));
    rows.push(row(
        "error",
        format!("at most {:.1e}, compared with the exact path on some rows", single.max_error),
    ));
    if let Some(busy) = timing.other_busy {
        rows.push(row("others", format!("other processes kept {} processors busy", three_digits(busy))));
    }
    Table::new(&["what", "measured"], rows)
}

/// The rate at which keys and values were read, compared with only reading them, and with reading from memory.
fn read(reading: &ReadRates) -> String {
    let alone = if reading.fused <= reading.alone {
        let share = percent(reading.fused, reading.alone);
        format!("{share} of the {} GB/s of only reading them", giga(reading.alone))
    } else {
        "as fast as only reading them".to_string()
    };
    let memory = reading.memory.map(|rate| {
        if reading.fused.max(reading.alone) <= rate {
            format!("; {} of the {} GB/s of memory", percent(reading.fused, rate), giga(rate))
        } else {
            format!("; a cache holds them, so memory ({} GB/s) is not the limit", giga(rate))
        }
    });
    format!("{} GB/s of keys and values: {alone}{}", giga(reading.fused), memory.unwrap_or_default())
}

/// The line for a script.
fn line(single: &ShapeMeasurement) -> Value {
    let ShapeMeasurement { shape, machine, dtype, ref timing, used, max_error, peak, .. } = *single;
    let line = MeasurementLine {
        peer: "attn",
        shape,
        dtype,
        simd: Some(machine.simd.name()),
        threads: [machine.threads, used.threads],
        timing,
        extra_bytes: used.extra_bytes,
        max_error: Some(max_error),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The shares in a sentence.
    fn shares(text: &str) -> Vec<f64> {
        let words: Vec<&str> = text.split_whitespace().collect();
        words.windows(2).filter(|pair| pair[1] == "%").map(|pair| pair[0].parse().unwrap()).collect()
    }

    #[test]
    fn no_share_is_more_than_the_whole() {
        let reading = |fused, alone, memory: f64| {
            read(&ReadRates { fused: fused * 1e9, alone: alone * 1e9, memory: Some(memory * 1e9) })
        };
        assert_eq!(
            reading(15.0, 18.0, 20.0),
            "15.0 GB/s of keys and values: 83 % of the 18.0 GB/s of only reading them; 75 % of the 20.0 GB/s of memory"
        );
        let cached = reading(35.0, 48.0, 20.0);
        assert_eq!(shares(&cached), [73.0]);
        assert!(cached.ends_with("; a cache holds them, so memory (20.0 GB/s) is not the limit"), "{cached}");
        for fused in [1.0, 17.9, 18.1, 19.9, 20.1, 400.0] {
            let text = reading(fused, 18.0, 20.0);
            assert!(shares(&text).iter().all(|share| *share <= 100.0), "{text}");
        }
    }
}
