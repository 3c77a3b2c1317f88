//! The line that says how far a training is, on standard error.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::cli::Env;
use crate::cli::program::columns_of_errors;
use crate::learn::{Settings, Step};

/// The line is written again after this time.
const PAUSE: Duration = Duration::from_millis(100);

/// What stands between two parts.
const GAP: &str = "  ";
/// `^C` and the last column, in which some terminals begin another line.
const ROOM_FOR_AN_INTERRUPTION: usize = 3;

/// A line that is written again and again, where standard error is a terminal.
pub(super) struct Progress {
    shown: bool,
    begun: Instant,
    written: Option<Instant>,
    steps: usize,
    patterns: Vec<&'static str>,
}

impl Progress {
    pub(super) fn new(settings: &Settings, env: &Env) -> Progress {
        Progress {
            shown: env.shows_progress,
            begun: Instant::now(),
            written: None,
            steps: settings.adam.steps,
            patterns: settings.patterns.iter().map(|pattern| pattern.name()).collect(),
        }
    }

    /// Writes the line, unless it has just been written. That it cannot be written is no reason to stop.
    pub(super) fn show(&mut self, step: &Step, err: &mut dyn Write) {
        let is_early = self.written.is_some_and(|last| last.elapsed() < PAUSE);
        if !self.shown || is_early {
            return;
        }
        self.written = Some(Instant::now());
        let left =
            self.begun.elapsed().div_f64(step.number as f64).mul_f64((self.steps - step.number) as f64);
        let _ = write!(err, "\r\x1b[K{}", self.line(step, left, columns_of_errors()));
        let _ = err.flush();
    }

    /// The line, with room for the `^C` that a terminal writes behind it: what went on in another line could not be erased.
    fn line(&self, step: &Step, left: Duration, columns: usize) -> String {
        let begin = [
            format!("{}/{}", step.number, self.steps),
            format!("loss {:.3}", step.loss),
            format!("{:.0} s left", left.as_secs_f64().ceil()),
        ];
        let right = [format!("{:.0} % right", 100.0 * step.accuracy)];
        let (named, short) = (self.named(step), self.by_layer(step));
        let all = [[&begin[..], &named, &right], [&begin, &named, &[]], [&begin, &short, &right]];
        let room = columns.saturating_sub(ROOM_FOR_AN_INTERRUPTION);
        let lines = all.map(|parts| parts.concat().join(GAP));
        match lines.into_iter().find(|line| line.chars().count() <= room) {
            Some(line) => line,
            None => as_many_as_fit(&[&begin[..], &short].concat(), room),
        }
    }

    /// The largest score of a head, and its pattern.
    fn best(&self, scores: &[Option<f64>]) -> Option<(f64, &'static str)> {
        let named = scores.iter().zip(&self.patterns).filter_map(|(score, name)| Some(((*score)?, *name)));
        named.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Each head by the pattern that it has most of.
    fn named(&self, step: &Step) -> Vec<String> {
        let heads = step.heads.iter().enumerate().flat_map(|(layer, heads)| {
            heads.iter().enumerate().map(move |(head, scores)| (layer + 1, head + 1, scores, heads.len()))
        });
        let named = |(layer, head, scores, heads): (usize, usize, &Vec<Option<f64>>, usize)| {
            let (score, name) = self.best(scores)?;
            let number = if heads > 1 { format!("_{head}") } else { String::new() };
            Some(format!("L{layer}.A{number} {name} {score:.2}"))
        };
        heads.filter_map(named).collect()
    }

    /// The scores of each layer's heads alone: “L1.A 0.40 0.12”.
    fn by_layer(&self, step: &Step) -> Vec<String> {
        let of_layer = |(layer, heads): (usize, &Vec<Vec<Option<f64>>>)| {
            let scores = heads.iter().map(|scores| {
                self.best(scores).map_or(" -".to_string(), |(score, _)| format!(" {score:.2}"))
            });
            format!("L{}.A{}", layer + 1, scores.collect::<String>())
        };
        step.heads.iter().enumerate().map(of_layer).collect()
    }

    /// Takes the line away.
    pub(super) fn erase(&self, err: &mut dyn Write) {
        if self.written.is_some() {
            let _ = write!(err, "\r\x1b[K");
            let _ = err.flush();
        }
    }
}

/// The first parts that have room in this many columns.
fn as_many_as_fit(parts: &[String], room: usize) -> String {
    let mut line = String::new();
    for part in parts {
        let gap = if line.is_empty() { "" } else { GAP };
        if line.chars().count() + gap.len() + part.chars().count() > room {
            break;
        }
        line = line + gap + part;
    }
    line
}
