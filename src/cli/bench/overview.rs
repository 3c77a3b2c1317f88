//! All lengths: the machine's peak, three ways of computing attention, and how they grow.

use std::time::Duration;

use serde_json::{Value, json};

use super::words::{giga, percent, seconds, times};
use super::{BenchArgs, BenchFormat};
use crate::bench::{Growth, Measured, Point, SIZES, Timing, Way, memory_limit};
use crate::cli::params::size;
use crate::cli::{Env, Streams};
use crate::demo::Table;
use crate::error::{Error, Result, counted};
use crate::input::system::processor;
use crate::kernel::{Machine, Real, multiply_add_rate};
use crate::render::{self, Curve, Plot, Style};

/// How long all lengths are measured where nobody says.
const USUAL_SECONDS: f64 = 20.0;

/// The whole time is this many times that of one measurement: about half goes to those that are repeated, the rest to the
/// longest ones, which run once or twice.
const PARTS: u32 = 60;

/// No single run takes longer than this part of the whole time.
const LONGEST_PART: u32 = 8;

const WAYS: [Way; 3] = [Way::Loop, Way::Steps, Way::Fused];

fn name(way: Way) -> &'static str {
    match way {
        Way::Loop => "loop",
        Way::Steps => "steps",
        Way::Fused => "fused",
    }
}

/// What people are told of a way.
fn title<T: Real>(way: Way, machine: Machine, causal: bool) -> String {
    let mask = if causal { "causal" } else { "no mask" };
    match way {
        Way::Loop => "Loop over queries: attention::product_transposed and attention::product of one row at a time; exact \
                      path, f64, 1 thread, no mask"
            .to_string(),
        Way::Steps => format!(
            "Step by step, as `attn attend`: the same functions of whole matrices; exact path, f64, 1 thread, {mask}"
        ),
        Way::Fused => format!(
            "Fused, as `attn attend --fast`: kernel::attend, block by block; {}, {}, up to {}, {mask}",
            T::NAME,
            machine.simd,
            counted(machine.threads, "thread")
        ),
    }
}

/// The peaks that speeds are compared with, in flop/s.
struct Peaks {
    /// Of `f32` and `f64`, on one thread and on all.
    rates: [[f64; 2]; 2],
}

impl Peaks {
    fn measure(machine: Machine, each: Duration) -> Result<Peaks> {
        let one = Machine { threads: 1, ..machine };
        let single = [multiply_add_rate::<f32>(one, each)?, multiply_add_rate::<f32>(machine, each)?];
        let double = [multiply_add_rate::<f64>(one, each)?, multiply_add_rate::<f64>(machine, each)?];
        Ok(Peaks { rates: [single, double] })
    }

    fn of<T: Real>(&self, threads: usize) -> f64 {
        let [single, double] = self.rates;
        let rates = if T::NAME == f64::NAME { double } else { single };
        rates[usize::from(threads > 1)]
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

/// What has been measured so far, and where it goes.
struct Overview<'a, 's> {
    growth: Growth,
    style: Style,
    streams: &'a mut Streams<'s>,
    has_screen: bool,
    begun: bool,
}

impl BenchArgs {
    /// Measures all lengths on all ways, and shows each part as soon as it is there.
    pub(super) fn overview<T: Real>(&self, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        if self.dim == 0 {
            return Err(Error::new("--dim 0 leaves nothing to compute").help("take 1 or more"));
        }
        let (machine, whole) = (self.machine(env)?, self.budget(USUAL_SECONDS)?);
        let (each, longest) = (whole / PARTS, whole / LONGEST_PART);
        let growth = Growth {
            width: self.dim,
            causal: self.causal,
            machine,
            each,
            longest,
            most_bytes: memory_limit(),
        };
        let as_lines = self.format == BenchFormat::Json;
        let has_screen = env.has_screen && !as_lines;
        let mut overview = Overview { growth, style: self.style(env), streams, has_screen, begun: false };
        overview.working("the peak")?;
        let peaks = Peaks::measure(machine, each)?;
        match as_lines {
            true => overview.lines(peaks.lines(machine))?,
            false => overview.tables(machine_title(machine), peaks.table(machine))?,
        }
        let mut all = Vec::new();
        for way in WAYS {
            let points = overview.points::<T>(way)?;
            let growth = overview.growth;
            if as_lines {
                overview.lines(points.iter().map(|point| growth.line::<T>(way, point)).collect())?;
            } else {
                overview.tables(title::<T>(way, machine, self.causal), table::<T>(way, &points, &peaks))?;
                left_out(&points, &growth).map_or(Ok(()), |why| overview.tables(why, Table::default()))?;
            }
            all.push((way, points));
        }
        if !as_lines {
            overview.curves(&all)?;
            summary(&all).map_or(Ok(()), |text| overview.tables(text, Table::default()))?;
        }
        Ok(())
    }
}

impl Overview<'_, '_> {
    fn points<T: Real>(&mut self, way: Way) -> Result<Vec<Point>> {
        let mut points = Vec::new();
        for n in SIZES {
            self.working(&format!("{}, n = {n}", name(way)))?;
            let point = self.growth.point::<T>(way, n, &points)?;
            points.push(point);
        }
        Ok(points)
    }

    /// Says what is going on, where it can be wiped out again.
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

    fn curves(&mut self, all: &[(Way, Vec<Point>)]) -> Result<()> {
        self.part()?;
        let plot = |title: &str, up: fn(f64) -> String, y: fn(&Timing, usize) -> f64| {
            let point = |point: &Point| match &point.measured {
                Measured::Taken { timing, extra_bytes, .. } => {
                    Some((point.n as f64, y(timing, *extra_bytes)))
                }
                _ => None,
            };
            let curve = |(way, points): &(Way, Vec<Point>)| {
                let points = points.iter().filter_map(point).filter(|(_, y)| *y > 0.0).collect();
                Curve { name: name(*way).to_string(), points }
            };
            let across = SIZES.map(|n| (n as f64, n.to_string())).to_vec();
            Plot { title: title.to_string(), across, up, curves: all.iter().map(curve).collect() }
        };
        let time = plot("time over n, both logarithmic", round_seconds, |timing, _| timing.median);
        let memory = plot("extra memory over n, both logarithmic", round_bytes, |_, bytes| bytes as f64);
        render::plots(&[time, memory], &self.style, self.streams.out)
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

fn machine_title(machine: Machine) -> String {
    let name = processor().unwrap_or_else(|| "this processor".to_string());
    format!("{name}, {}: the peak, two operations for each fused multiply-add", machine.simd)
}

fn table<T: Real>(way: Way, points: &[Point], peaks: &Peaks) -> Table {
    let heads = ["n", "time", "growth", "GFLOP/s", "of peak", "memory", "growth", "error"];
    let heads = if way == Way::Fused { &heads[..] } else { &heads[..7] };
    let mut before = None;
    let row = |point: &Point| {
        let mut row = vec![point.n.to_string()];
        match &point.measured {
            Measured::Taken { timing, rate, extra_bytes, threads, largest_error } => {
                let peak = if way == Way::Fused { peaks.of::<T>(*threads) } else { peaks.of::<f64>(1) };
                let now = (timing.median, *extra_bytes as f64);
                let growth = before.map_or((String::new(), String::new()), |(time, bytes)| {
                    (times(now.0, time), times(now.1, bytes))
                });
                before = Some(now);
                row.extend([seconds(timing.median), growth.0, giga(*rate), percent(*rate, peak)]);
                row.extend([size(*extra_bytes as u64), growth.1]);
                row.extend(largest_error.map(|error| format!("{error:.1e}")));
            }
            Measured::TooLong(time) => row.push(format!("≈ {}", seconds(*time))),
            Measured::TooLarge(bytes) => {
                row.extend([const { String::new() }; 4]);
                row.push(format!("≈ {}", size(*bytes)));
            }
        }
        row.resize(heads.len(), String::new());
        row
    };
    Table::new(heads, points.iter().map(row).collect::<Vec<_>>()).with_numbers(heads)
}

/// Why there are sizes without figures, where there are.
fn left_out(points: &[Point], growth: &Growth) -> Option<String> {
    let any = |is: fn(&Measured) -> bool| points.iter().any(|point| is(&point.measured));
    let longest = growth.longest.as_secs_f64();
    let time = any(|measured| matches!(measured, Measured::TooLong(_))).then(|| {
        format!("would take longer than the {} that there are for one run (--seconds)", seconds(longest))
    });
    let memory = any(|measured| matches!(measured, Measured::TooLarge(_)))
        .then(|| format!("would take more than the {} that may be taken here", size(growth.most_bytes)));
    let reasons: Vec<String> = [time, memory].into_iter().flatten().collect();
    (!reasons.is_empty()).then(|| format!("≈ not measured, but worked out: it {}", reasons.join(", or ")))
}

/// What the three ways come to beside each other, each pair at the largest size that both were measured at.
fn summary(all: &[(Way, Vec<Point>)]) -> Option<String> {
    let taken = |way: Way, n: usize| {
        let (_, points) = all.iter().find(|(of, _)| *of == way)?;
        match points.iter().find(|point| point.n == n)?.measured {
            Measured::Taken { timing, extra_bytes, .. } => Some((timing.median, extra_bytes as f64)),
            _ => None,
        }
    };
    let both = |a, b| SIZES.into_iter().rev().find_map(|n| Some((n, taken(a, n)?, taken(b, n)?)));
    let (n, slow, steps) = both(Way::Loop, Way::Steps)?;
    let looped = format!("n = {n}: the loop takes {} the time of whole matrices", times(slow.0, steps.0));
    let (n, steps, fused) = both(Way::Steps, Way::Fused)?;
    let memory = times(steps.1, fused.1);
    Some(format!(
        "{looped}. n = {n}: whole matrices take {} the time of the fused path, and {memory} its memory",
        times(steps.0, fused.0)
    ))
}

impl Growth {
    /// One point as a line for a script.
    fn line<T: Real>(&self, way: Way, point: &Point) -> Value {
        let dtype = if way == Way::Fused { T::NAME } else { f64::NAME };
        let mut line = json!({
            "peer": format!("attn.{}", name(way)),
            "version": env!("CARGO_PKG_VERSION"),
            "shape": self.shape(point.n, way).to_string(),
            "dtype": dtype,
        });
        match &point.measured {
            Measured::Taken { timing, rate, extra_bytes, threads, largest_error } => {
                line["threads"] = json!(threads);
                line["median_s"] = json!(timing.median);
                line["min_s"] = json!(timing.least);
                line["runs"] = json!(timing.runs);
                line["gflops"] = json!(rate / 1e9);
                line["max_err"] = json!(largest_error);
                line["other_busy"] = json!(timing.other_busy);
                line["extra_bytes"] = json!(extra_bytes);
            }
            Measured::TooLong(seconds) => line["not_measured"] = json!({ "seconds": seconds }),
            Measured::TooLarge(bytes) => line["not_measured"] = json!({ "bytes": bytes }),
        }
        line
    }
}
