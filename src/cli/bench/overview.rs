//! All lengths: the machine's peak, three ways of computing attention, and how they grow.

use std::time::Duration;

use serde_json::{Value, json};

use crate::bench::{Growth, Measurement, Method, Run, SIZES, memory_limit};
use crate::cli::program::{Env, Streams};
use crate::error::{Error, Result};
use crate::input::system::processor;
use crate::kernel::{Kernels, Machine, Real, multiply_add_rate};
use crate::render::{self, Curve, Format, Plot, Scale, Style};
use crate::story::Table;
use crate::text::{counted, giga, percent, seconds, size, times};

use super::{BenchArgs, run_line};

/// The default time for all lengths.
const USUAL_SECONDS: f64 = 20.0;

/// The whole time is this many times that of one measurement: about half goes to those that are repeated, the rest to the
/// longest ones, which run once or twice.
const PARTS: u32 = 60;

/// No single run takes longer than this part of the whole time.
const LONGEST_PART: u32 = 8;

const WAYS: [Method; 3] = [Method::Loop, Method::Steps, Method::Fused];

/// The measurements so far, and the output they are written to.
struct Overview<'a, 's> {
    growth: Growth,
    style: Style,
    streams: &'a mut Streams<'s>,
    has_screen: bool,
    begun: bool,
}

impl BenchArgs {
    /// Measures all lengths on all ways, and shows each part as soon as it is there.
    pub(super) fn overview<T: Kernels>(&self, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        if self.dim == 0 {
            return Err(Error::new("--dim 0 leaves nothing to compute").help("give 1 or more"));
        }
        let (machine, whole) = (self.machine(env)?, self.budget(USUAL_SECONDS)?);
        let growth = Growth {
            width: self.dim,
            causal: self.causal,
            machine,
            each: whole / PARTS,
            longest: whole / LONGEST_PART,
            most_bytes: memory_limit(),
        };
        let as_lines = self.format == Format::Json;
        let has_screen = env.has_screen && !as_lines;
        let mut overview = Overview { growth, style: self.style(env), streams, has_screen, begun: false };
        overview.working("the peak")?;
        let peaks = Peaks::measure(machine, growth.each)?;
        if as_lines {
            overview.lines(peaks.lines(machine))?;
        } else {
            overview.tables(machine_title(machine), peaks.table(machine))?;
        }
        let mut all = [const { Vec::new() }; WAYS.len()];
        for (way, points) in WAYS.into_iter().zip(&mut all) {
            for n in SIZES {
                overview.working(&format!("{}, n = {n}", name(way)))?;
                points.push(growth.measured::<T>(way, n, points)?);
            }
            if as_lines {
                let line = |(n, point)| line::<T>(&growth, &peaks, way, n, point);
                overview.lines(SIZES.into_iter().zip(&*points).map(line).collect())?;
            } else {
                overview.tables(title::<T>(way, &growth), table::<T>(way, points, &peaks))?;
                for text in [worst_error(points), left_out(points, &growth)].into_iter().flatten() {
                    overview.tables(text, Table::default())?;
                }
            }
        }
        if !as_lines {
            overview.curves(&all)?;
            let text = summary::<T>(&all, &growth);
            text.map_or(Ok(()), |text| overview.tables(text, Table::default()))?;
        }
        Ok(())
    }
}

impl Overview<'_, '_> {
    /// Shows what is being measured, on a terminal on which the line can be erased.
    fn working(&mut self, what: &str) -> Result<()> {
        if self.has_screen {
            let text = format!("{what} …");
            write!(self.streams.out, "\r\x1b[K{}", self.style.charset.spelled(&text))?;
            self.streams.out.flush()?;
        }
        Ok(())
    }

    /// A part begins: on a screen without what was said meanwhile, under a blank line.
    fn part(&mut self) -> Result<()> {
        if self.has_screen {
            write!(self.streams.out, "\r\x1b[K")?;
        }
        if self.begun {
            writeln!(self.streams.out)?;
        }
        self.begun = true;
        Ok(())
    }

    fn tables(&mut self, title: String, table: Table) -> Result<()> {
        self.part()?;
        render::tables(&[(title, table)], "bench", &self.style, self.streams.out)?;
        Ok(self.streams.out.flush()?)
    }

    fn lines(&mut self, lines: Vec<Value>) -> Result<()> {
        for line in lines {
            writeln!(self.streams.out, "{line}")?;
        }
        Ok(self.streams.out.flush()?)
    }

    fn curves(&mut self, all: &[Vec<Measurement>; 3]) -> Result<()> {
        self.part()?;
        let plot = |title: &str, up: fn(f64) -> String, y: fn(&Run) -> f64| {
            let curve = |(way, points): (Method, &Vec<Measurement>)| {
                let points = points.iter().filter_map(Measurement::run);
                let points = points.map(|run| (run.shape.keys as f64, y(run))).filter(|(_, y)| *y > 0.0);
                Curve { name: name(way).to_string(), points: points.collect(), marked: true }
            };
            Plot {
                title: format!("{title} over n: one head of {}, both axes logarithmic", self.growth.width),
                scale: Scale::Logarithmic,
                ticks: Vec::new(),
                across: SIZES.map(|n| (n as f64, n.to_string())).to_vec(),
                up,
                curves: WAYS.into_iter().zip(all).map(curve).collect(),
            }
        };
        let time = plot("time", round_seconds, |run| run.timing.median);
        let memory = plot("extra memory", round_bytes, |run| run.used.extra_bytes as f64);
        render::plots(&[time, memory], &self.style, self.streams.out)
    }
}

// The titles, tables, lines and sentences of `attn bench` over all lengths.

/// The name of a path in titles and lines.
fn name(way: Method) -> &'static str {
    match way {
        Method::Loop => "loop",
        Method::Steps => "steps",
        Method::Fused => "fused",
    }
}

/// The sentence about a path.
fn title<T: Real>(way: Method, growth: &Growth) -> String {
    let mask = if growth.causal { "causal" } else { "no mask" };
    let head = format!("1 head of {}, {mask}", growth.width);
    match way {
        Method::Loop => format!(
            "Loop over queries, {head}: attention::product_transposed and attention::product of one row at a time; exact \
             path, f64, 1 thread"
        ),
        Method::Steps => format!(
            "Step by step as `attn attend`, {head}: the same functions of whole matrices; exact path, f64, 1 thread"
        ),
        Method::Fused => format!(
            "Fused as `attn attend --fast`, {head}: kernel::attend, block by block; {}, {}, up to {}",
            T::NAME,
            growth.machine.simd,
            counted(growth.machine.threads, "thread")
        ),
    }
}

/// The peaks that speeds are compared with, in flop/s.
struct Peaks {
    /// The values for `f32` and `f64`, on one thread and on all.
    rates: [[f64; 2]; 2],
    /// All.
    threads: usize,
}

impl Peaks {
    fn measure(machine: Machine, each: Duration) -> Result<Peaks> {
        let one = Machine { threads: 1, ..machine };
        let single = [multiply_add_rate::<f32>(one, each)?, multiply_add_rate::<f32>(machine, each)?];
        let double = [multiply_add_rate::<f64>(one, each)?, multiply_add_rate::<f64>(machine, each)?];
        Ok(Peaks { rates: [single, double], threads: machine.threads })
    }

    /// The peak on as many threads as a way used: only the fused one has other numbers, and more threads, than one of `f64`.
    fn beside<T: Real>(&self, way: Method, threads: usize) -> f64 {
        let [single, double] = self.rates;
        let [one, all] = if way == Method::Fused && T::NAME == f32::NAME { single } else { double };
        match threads {
            1 => one,
            some if some < self.threads => all.min(one * some as f64),
            _ => all,
        }
    }

    fn table(&self, machine: Machine) -> Table {
        let all = counted(machine.threads, "thread");
        let heads = ["GFLOP/s", "1 thread", all.as_str()];
        let heads = if machine.threads > 1 { &heads[..] } else { &heads[..2] };
        let rows = [f32::NAME, f64::NAME].into_iter().zip(self.rates).map(|(name, rates)| {
            [name.to_string(), giga(rates[0]), giga(rates[1])].into_iter().take(heads.len()).collect()
        });
        Table::new(heads, rows).with_numbers(&heads[1..])
    }

    fn lines(&self, machine: Machine) -> Vec<Value> {
        let line = |dtype: &str, threads: usize, rate: f64| json!({ "peer": "peak", "dtype": dtype, "simd": machine.simd.name(), "threads": threads, "gflops": rate / 1e9 });
        let both = [f32::NAME, f64::NAME].into_iter().zip(self.rates);
        both.flat_map(|(name, rates)| [line(name, 1, rates[0]), line(name, machine.threads, rates[1])])
            .collect()
    }
}

/// A power of ten of seconds.
fn round_seconds(power: f64) -> String {
    seconds(power).replace(".00", "").replace(".0", "")
}

/// A power of ten of bytes.
fn round_bytes(power: f64) -> String {
    match power {
        p if p >= 1e9 => format!("{} GB", p / 1e9),
        p if p >= 1e6 => format!("{} MB", p / 1e6),
        p if p >= 1e3 => format!("{} kB", p / 1e3),
        p => format!("{p} B"),
    }
}

/// The title of the table of peaks.
fn machine_title(machine: Machine) -> String {
    let name = processor().unwrap_or_else(|| "this processor".to_string());
    format!("{name}, {}: the peak, two operations for each fused multiply-add", machine.simd)
}

/// The figures of one way; only the fused one has a choice of threads.
fn table<T: Real>(way: Method, points: &[Measurement], peaks: &Peaks) -> Table {
    let is_fused = way == Method::Fused;
    let all = ["n", "threads", "time", "growth", "GFLOP/s", "of peak", "memory", "growth"];
    let heads: Vec<&str> = all.into_iter().filter(|head| is_fused || *head != "threads").collect();
    let mut before: Option<Run> = None;
    let row = |(n, point): (usize, &'_ Measurement)| {
        let mut row = vec![n.to_string()];
        let place = |head| heads.iter().position(|other| *other == head).unwrap_or_default();
        match point {
            Measurement::Done(run) => {
                let (rate, peak) = (run.rate(run.timing.median), peaks.beside::<T>(way, run.used.threads));
                let growth =
                    |of: fn(&Run) -> f64| before.map_or(String::new(), |before| times(of(run), of(&before)));
                let growths = [growth(|run| run.timing.median), growth(|run| run.used.extra_bytes as f64)];
                let [in_time, in_memory] = growths;
                row.extend(is_fused.then(|| run.used.threads.to_string()));
                row.extend([seconds(run.timing.median), in_time, giga(rate), percent(rate.min(peak), peak)]);
                row.extend([size(run.used.extra_bytes as u64), in_memory]);
                before = Some(*run);
            }
            Measurement::TooLong(time) => {
                row.resize(place("time"), String::new());
                row.push(format!("≈ {}", seconds(*time)));
            }
            Measurement::TooLarge(bytes) => {
                row.resize(place("memory"), String::new());
                row.push(format!("≈ {}", size(*bytes)));
            }
        }
        row.resize(heads.len(), String::new());
        row
    };
    let rows: Vec<Vec<String>> = SIZES.into_iter().zip(points).map(row).collect();
    Table::new(&heads, rows).with_numbers(&heads)
}

/// The largest difference from the exact path over all lengths, for the other paths.
fn worst_error(points: &[Measurement]) -> Option<String> {
    let worse = |a: f64, b: f64| if b > a || b.is_nan() { b } else { a };
    let worst = points.iter().filter_map(|point| point.run()?.max_error).reduce(worse)?;
    Some(format!("at most {worst:.1e} from the exact path, on some rows of every length"))
}

/// Why there are sizes without figures, where there are.
fn left_out(points: &[Measurement], growth: &Growth) -> Option<String> {
    let longest = growth.longest.as_secs_f64();
    let time = points
        .iter()
        .any(|point| matches!(point, Measurement::TooLong(_)))
        .then(|| format!("would take longer than the {} allowed for one run (--seconds)", seconds(longest)));
    let memory = points
        .iter()
        .any(|point| matches!(point, Measurement::TooLarge(_)))
        .then(|| format!("would take more than the {} of memory allowed here", size(growth.most_bytes)));
    let reasons: Vec<String> = [time, memory].into_iter().flatten().collect();
    (!reasons.is_empty()).then(|| format!("≈: estimated, not measured: it {}", reasons.join(", or ")))
}

/// Comparisons of the three paths, each pair at the largest size at which both were measured.
fn summary<T: Real>([looped, steps, fused]: &[Vec<Measurement>; 3], growth: &Growth) -> Option<String> {
    let both = |a: &[Measurement], b: &[Measurement]| {
        a.iter().zip(b).rev().find_map(|(a, b)| Some((*a.run()?, *b.run()?)))
    };
    let (slow, whole) = both(looped, steps)?;
    let more = times(slow.timing.median, whole.timing.median);
    let n = slow.shape.keys;
    let looped =
        format!("n = {n}: the loop takes {more} the time of whole matrices, both in f64 on 1 thread");
    let (whole, fused) = both(steps, fused)?;
    let time = times(whole.timing.median, fused.timing.median);
    let memory = times(whole.used.extra_bytes as f64, fused.used.extra_bytes as f64);
    Some(format!(
        "{looped}. n = {}: whole matrices, in f64 on 1 thread, take {time} the time of the fused path, in {} on {} with {}, \
         and {memory} its memory. The memory of the fused path grows with the number of threads, with the tile of each \
         thread, and with d, but not with n",
        whole.shape.keys,
        T::NAME,
        counted(fused.used.threads, "thread"),
        growth.machine.simd,
    ))
}

/// One point as a line for a script.
fn line<T: Real>(growth: &Growth, peaks: &Peaks, way: Method, n: usize, point: &Measurement) -> Value {
    let is_fused = way == Method::Fused;
    let peer = format!("attn.{}", name(way));
    let reason = match point {
        Measurement::Done(run) => {
            let Machine { simd, threads } = growth.machine;
            let (simd, threads) = if is_fused { (Some(simd.name()), threads) } else { (None, 1) };
            return run_line(&peer, run, simd, threads, peaks.beside::<T>(way, run.used.threads));
        }
        Measurement::TooLong(seconds) => json!({ "seconds": seconds }),
        Measurement::TooLarge(bytes) => json!({ "bytes": bytes }),
    };
    let dtype = if is_fused { T::NAME } else { f64::NAME };
    let (version, shape) = (env!("CARGO_PKG_VERSION"), growth.shape(n).to_string());
    json!({ "peer": peer, "version": version, "shape": shape, "dtype": dtype, "not_measured": reason })
}
