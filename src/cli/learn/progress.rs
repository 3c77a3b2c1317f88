//! The line that says how far a training is, on standard error.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::cli::Env;
use crate::learn::{Settings, Step};

/// The line is written again after this time.
const PAUSE: Duration = Duration::from_millis(100);

/// A line that is written again and again, where standard error is a terminal.
pub(super) struct Progress {
    /// The columns of the terminal; none where nothing is written.
    columns: Option<usize>,
    begun: Instant,
    written: Option<Instant>,
    steps: usize,
    patterns: Vec<&'static str>,
}

impl Progress {
    pub(super) fn new(settings: &Settings, env: &Env) -> Progress {
        Progress {
            columns: env.progress,
            begun: Instant::now(),
            written: None,
            steps: settings.adam.steps,
            patterns: settings.patterns.iter().map(|pattern| pattern.name()).collect(),
        }
    }

    /// Writes the line, unless it has just been written. That it cannot be written is no reason to stop.
    pub(super) fn show(&mut self, step: &Step, err: &mut dyn Write) {
        let is_early = self.written.is_some_and(|last| last.elapsed() < PAUSE);
        let Some(columns) = self.columns.filter(|_| !is_early) else { return };
        self.written = Some(Instant::now());
        let left =
            self.begun.elapsed().div_f64(step.number as f64).mul_f64((self.steps - step.number) as f64);
        let _ = write!(err, "\r\x1b[K{}", self.line(step, left, columns));
        let _ = err.flush();
    }

    /// As many parts as fit into less than this many columns: in the last one, some terminals begin another line.
    fn line(&self, step: &Step, left: Duration, columns: usize) -> String {
        let mut parts = vec![
            format!("step {} of {}", step.number, self.steps),
            format!("loss {:.3}", step.loss),
            format!("{:.0} s left", left.as_secs_f64().ceil()),
            format!("{:.0} % right", 100.0 * step.accuracy),
        ];
        parts.extend(self.scores(step));
        let mut line = String::new();
        for part in parts {
            let gap = if line.is_empty() { "" } else { "  " };
            if line.len() + gap.len() + part.len() >= columns {
                break;
            }
            line = line + gap + &part;
        }
        line
    }

    /// Each head by the pattern that it has most of.
    fn scores(&self, step: &Step) -> Vec<String> {
        let heads = step.heads.iter().enumerate().flat_map(|(layer, heads)| {
            heads.iter().enumerate().map(move |(head, scores)| (layer + 1, head + 1, scores, heads.len()))
        });
        let best = |(layer, head, scores, heads): (usize, usize, &Vec<Option<f64>>, usize)| {
            let named =
                scores.iter().zip(&self.patterns).filter_map(|(score, name)| Some(((*score)?, *name)));
            let (score, name) = named.max_by(|a, b| a.0.total_cmp(&b.0))?;
            let number = if heads > 1 { format!("_{head}") } else { String::new() };
            Some(format!("L{layer}.A{number} {name} {score:.2}"))
        };
        heads.filter_map(best).collect()
    }

    /// Takes the line away.
    pub(super) fn erase(&self, err: &mut dyn Write) {
        if self.written.is_some() {
            let _ = write!(err, "\r\x1b[K");
            let _ = err.flush();
        }
    }
}
