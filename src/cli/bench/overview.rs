//! All lengths: the machine's peak, three ways of computing attention, and how they grow.

use serde_json::Value;

use super::figures::{
    Peaks, left_out, line, machine_title, name, round_bytes, round_seconds, summary, table, title,
    worst_error,
};
use super::{BenchArgs, BenchFormat};
use crate::bench::{Growth, Measurement, Method, Point, SIZES, Timing, memory_limit};
use crate::cli::{Env, Streams};
use crate::error::{Error, Result};
use crate::kernel::Kernels;
use crate::render::{self, Curve, Plot, Scale, Style};
use crate::story::Table;

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
        if as_lines {
            overview.lines(peaks.lines(machine))?;
        } else {
            overview.tables(machine_title(machine), peaks.table(machine))?;
        }
        let mut all = Vec::new();
        for way in WAYS {
            let points = overview.points::<T>(way)?;
            let growth = overview.growth;
            if as_lines {
                overview
                    .lines(points.iter().map(|point| line::<T>(&growth, &peaks, way, point)).collect())?;
            } else {
                overview.tables(title::<T>(way, &growth), table::<T>(way, &points, &peaks))?;
                for text in [worst_error(&points), left_out(&points, &growth)].into_iter().flatten() {
                    overview.tables(text, Table::default())?;
                }
            }
            all.push((way, points));
        }
        if !as_lines {
            overview.curves(&all)?;
            let text = summary::<T>(&all, &overview.growth);
            text.map_or(Ok(()), |text| overview.tables(text, Table::default()))?;
        }
        Ok(())
    }
}

impl Overview<'_, '_> {
    fn points<T: Kernels>(&mut self, way: Method) -> Result<Vec<Point>> {
        let mut points = Vec::new();
        for n in SIZES {
            self.working(&format!("{}, n = {n}", name(way)))?;
            let point = self.growth.point::<T>(way, n, &points)?;
            points.push(point);
        }
        Ok(points)
    }

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

    fn curves(&mut self, all: &[(Method, Vec<Point>)]) -> Result<()> {
        self.part()?;
        let plot = |title: &str, up: fn(f64) -> String, y: fn(&Timing, usize) -> f64| {
            let point = |point: &Point| match &point.measured {
                Measurement::Done { timing, extra_bytes, .. } => {
                    Some((point.n as f64, y(timing, *extra_bytes)))
                }
                _ => None,
            };
            let curve = |(way, points): &(Method, Vec<Point>)| {
                let points = points.iter().filter_map(point).filter(|(_, y)| *y > 0.0).collect();
                Curve { name: name(*way).to_string(), points, marked: true }
            };
            let across = SIZES.map(|n| (n as f64, n.to_string())).to_vec();
            Plot {
                title: title.to_string(),
                scale: Scale::Logarithmic,
                ticks: Vec::new(),
                across,
                up,
                curves: all.iter().map(curve).collect(),
            }
        };
        let head = format!("one head of {}, both axes logarithmic", self.growth.width);
        let time = plot(&format!("time over n: {head}"), round_seconds, |timing, _| timing.median);
        let memory = plot(&format!("extra memory over n: {head}"), round_bytes, |_, bytes| bytes as f64);
        render::plots(&[time, memory], &self.style, self.streams.out)
    }
}
