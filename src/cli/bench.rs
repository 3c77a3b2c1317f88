//! `attn bench`.

mod overview;

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::bench::{ModelMeasurement, Problem, ReadRates, Run, Shape, ShapeMeasurement, Timing, estimate};
use crate::error::{Error, Result};
use crate::kernel::{Kernels, Machine};
use crate::params::Positions;
use crate::render::{self, Format, Style};
use crate::story::Table;
use crate::tensor::Dtype;
use crate::text::{counted, giga, grouped, percent, seconds, size, three_digits, waiting};

use super::model::OpenedModel;
use super::options::{machine, positive};
use super::output::{LookArgs, ScreenArgs};
use super::program::{Env, Streams};

/// The options of `attn bench`.
#[derive(Deserialize, Debug)]
pub(super) struct BenchArgs {
    n: Option<usize>,
    model: Option<String>,
    n_q: Option<usize>,
    heads: Option<usize>,
    kv_heads: Option<usize>,
    dim: usize,
    causal: bool,
    dtype: Dtype,
    threads: Option<u16>,
    simd: Option<String>,
    seconds: Option<String>,
    format: Format,
    #[serde(flatten)]
    screen: ScreenArgs,
}

/// The longest measurement.
const MOST_SECONDS: f64 = 3600.0;

impl BenchArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        if let Some(folder) = &self.model {
            return self.model(folder, env, streams);
        }
        match (self.shape()?, self.dtype) {
            (Some(shape), Dtype::F64) => self.single::<f64>(shape, env, streams),
            (Some(shape), _) => self.single::<f32>(shape, env, streams),
            (None, Dtype::F64) => self.overview::<f64>(env, streams),
            (None, _) => self.overview::<f32>(env, streams),
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
        LookArgs { format: Format::Table, screen: self.screen.clone() }.style(env)
    }
}

// A measurement as one line of JSON for a script: the fields that `benches/peers.py` writes for every peer, and those
// that only the program itself can fill in.

/// The line of a run of any kind. `peer` is who ran: `attn`, or one of the ways, `attn.loop`; `simd` are the instructions that were asked
/// for, where there is a choice, and `threads` those that were asked for; `peak` is that of multiply-adds on the threads that were
/// used, in flop/s.
fn run_line(peer: &str, run: &Run, simd: Option<&str>, threads: usize, peak: f64) -> Value {
    let Timing { median, least, runs, other_busy } = run.timing;
    json!({
        "peer": peer,
        "version": env!("CARGO_PKG_VERSION"),
        "shape": run.shape.to_string(),
        "threads": threads,
        "median_s": median,
        "min_s": least,
        "runs": runs,
        "gflops": run.rate(median) / 1e9,
        "gflops_best": run.rate(least) / 1e9,
        "max_err": run.max_error,
        "other_busy": other_busy,
        "peak_gflops": peak / 1e9,
        "extra_bytes": run.used.extra_bytes,
        "threads_used": run.used.threads,
        "dtype": run.dtype,
        "simd": simd,
    })
}

// One shape: a few lines, or one line for a script.

/// The default time for one shape.
const SECONDS_OF_SHAPE: f64 = 1.0;

/// A shape is refused if it takes this many times as long as the measurement may,
const LONGEST_IN_BUDGETS: u32 = 60;

/// but never if it takes at most this long.
const NEVER_TOO_LONG: Duration = Duration::from_secs(20);

impl BenchArgs {
    /// Measures one shape.
    fn single<T: Kernels>(&self, shape: Shape, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let (machine, budget) = (self.machine(env)?, self.budget(SECONDS_OF_SHAPE)?);
        check_time::<T>(shape, machine, budget)?;
        let single = ShapeMeasurement::measure::<T>(shape, machine, budget)?;
        let table = (shape_title(&single), shape_table(&single));
        self.write(&shape_line(&single), table, env, streams)
    }

    /// Writes what was measured: a line for a script, or a table.
    fn write(
        &self,
        line: &Value,
        table: (String, Table),
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<()> {
        if self.format == Format::Json {
            return Ok(writeln!(streams.out, "{line}")?);
        }
        render::tables(&[table], "bench", &self.style(env), streams.out)
    }
}

/// # Errors
/// If the shape would take far longer than the time that there is.
fn check_time<T: Kernels>(shape: Shape, machine: Machine, budget: Duration) -> Result<()> {
    Problem::<T>::check_memory(shape)?;
    let most = (budget * LONGEST_IN_BUDGETS).max(NEVER_TOO_LONG);
    let Some(needed) = estimate::<T>(shape, machine)?.filter(|needed| *needed > most) else { return Ok(()) };
    let budget = (needed.as_secs_f64() / f64::from(LONGEST_IN_BUDGETS)).ceil();
    let [time, limit] = [needed, most].map(|time| waiting(time.as_secs_f64()));
    let shape = shape.in_words();
    let error =
        Error::new(format!("{shape}: the measurement would take about {time}, and the limit is {limit}"));
    let smaller = "give a shorter sequence, or fewer or narrower heads";
    Err(if budget > MOST_SECONDS {
        error.help(smaller)
    } else {
        error.help(format!("{smaller}; --seconds {budget} allows it"))
    })
}

fn shape_title(single: &ShapeMeasurement) -> String {
    let threads = counted(single.machine.threads, "thread");
    format!("{}; {}, {}, {threads}", single.run.shape.in_words(), single.run.dtype, single.machine.simd)
}

fn shape_table(single: &ShapeMeasurement) -> Table {
    let Run { timing, used, .. } = single.run;
    let (runs, threads) = (counted(timing.runs, "run"), counted(used.threads, "thread"));
    let [median, least] = [timing.median, timing.least].map(seconds);
    let [rate, best] = [timing.median, timing.least].map(|time| single.run.rate(time));
    let share = percent(rate.min(single.peak), single.peak);
    let (rate, best) = (giga(rate), giga(best));
    let peak = giga(single.peak);
    let mut rows = vec![
        ("time", format!("{median}, the median of {runs}; the fastest took {least}")),
        ("speed", format!("{rate} GFLOP/s in the median run, {best} in the best")),
        ("peak", format!("{peak} GFLOP/s of multiply-adds on {threads}; attention reaches {share} of it")),
    ];
    if used.threads < single.machine.threads {
        rows.push(("threads", format!("{threads} used: there is too little work for more")));
    }
    rows.extend(single.reading.iter().map(|reading| ("reading", told_reading(reading))));
    let extra = grouped(used.extra_bytes as u64);
    rows.push(("memory", format!("{extra} bytes in addition to inputs and output")));
    if let Some(error) = single.run.max_error {
        rows.push(("error", format!("at most {error:.1e}, compared with the exact path on some rows")));
    }
    if let Some(busy) = timing.other_busy {
        rows.push(("others", format!("other processes kept {} processors busy", three_digits(busy))));
    }
    Table::new(&["what", "measured"], rows.into_iter().map(|(what, text)| vec![what.to_string(), text]))
}

/// The rate at which keys and values were read, compared with only reading them, and with reading from memory.
fn told_reading(reading: &ReadRates) -> String {
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
fn shape_line(single: &ShapeMeasurement) -> Value {
    let Machine { simd, threads } = single.machine;
    let mut line = run_line("attn", &single.run, Some(simd.name()), threads, single.peak);
    if let Some(reading) = &single.reading {
        line["read_gb_s"] = json!(reading.fused / 1e9);
        line["read_alone_gb_s"] = json!(reading.alone / 1e9);
        line["read_memory_gb_s"] = json!(reading.memory.map(|rate| rate / 1e9));
    }
    line
}

// `--model`: a whole model, from its folder.

/// The default number of tokens, where the model has positions for twice as many.
const USUAL_TOKENS: usize = 64;

/// The default time for each part.
const SECONDS_OF_MODEL: f64 = 3.0;

impl BenchArgs {
    /// Measures the model of a folder.
    fn model(&self, folder: &str, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let (machine, budget) = (self.machine(env)?, self.budget(SECONDS_OF_MODEL)?);
        if self.n == Some(0) {
            return Err(Error::new("--n 0 leaves nothing to compute").help("give 1 token or more"));
        }
        let model = OpenedModel::open_at(folder, None, env)?;
        let tokens = self.n.unwrap_or_else(|| usual_tokens(model.architecture.model.positions));
        let measured =
            ModelMeasurement::measure(&model.architecture, &model.tensors, tokens, (machine, budget))?;
        let threads = counted(machine.threads, "thread");
        let title = format!("{}; f32, {}, {threads}", model.folder.name, machine.simd);
        self.write(&model_line(&measured), (title, model_table(&measured)), env, streams)
    }
}

/// A text that leaves room for more tokens.
fn usual_tokens(positions: Positions) -> usize {
    match positions {
        Positions::Learned(count) => USUAL_TOKENS.min(count as usize / 2).max(1),
        _ => USUAL_TOKENS,
    }
}

fn model_table(measured: &ModelMeasurement) -> Table {
    let ModelMeasurement { tokens, forward, flop, decode, weight_bytes, reading, .. } = measured;
    let median = |timing: &Timing| {
        format!("{}, the median of {}", seconds(timing.median), counted(timing.runs, "run"))
    };
    let (speed, rate) = (giga(*flop as f64 / forward.median), giga(measured.read_rate()));
    let all_logits = format!("{}, all logits", counted(*tokens, "token"));
    let mut rows = vec![
        (all_logits.as_str(), median(forward)),
        ("speed", format!("{speed} GFLOP/s in products with weights")),
    ];
    rows.extend(decode.map(|decode| ("one more token", median(&decode))));
    rows.push(("only reading the weights", median(reading)));
    rows.push(("read rate", format!("{} at {rate} GB/s", size(*weight_bytes))));
    let share = measured.share_of_reading().map(|share| 100.0 * share);
    rows.extend(share.map(|share| ("share of that rate", format!("{share:.0} %, for one more token"))));
    Table::new(&["what", "measured"], rows.into_iter().map(|(what, text)| vec![what.to_string(), text]))
}

/// The line for a script.
fn model_line(measured: &ModelMeasurement) -> Value {
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
            told_reading(&ReadRates { fused: fused * 1e9, alone: alone * 1e9, memory: Some(memory * 1e9) })
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
