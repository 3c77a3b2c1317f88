//! The training itself: step by step, until it is done, stopped or fails.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::cli::options::machine;
use crate::cli::program::columns_of_errors;
use crate::cli::{Env, Outcome, Streams, output, report};
use crate::error::{EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNUSABLE, Error, ErrorKind, Result};
use crate::foreign::{from_path, visible};
use crate::graph::Convention;
use crate::input::{
    ModelDraft, ModelFiles, NamedTensors, WritePermission, check_model_folder, holds_small_model,
};
use crate::kernel::Layout;
use crate::learn::{Learner, ModelSize, Settings, Step, Task, Trainer};
use crate::tensor::Tensor;
use crate::terminal::Signals;
use crate::text::grouped;
use crate::{input, memory};

use super::LearnArgs;
use super::history::{End, History};

/// The most numbers of all checkpoints together.
const MOST_KEPT: usize = 100_000_000;

/// What is remembered of a step, in bytes, beside the scores of its heads.
const A_STEP: u64 = 200;

/// What a task is learned with.
pub(super) type Learned = (Task, Settings);

impl LearnArgs {
    /// Trains a model, and shows and saves what came of it.
    pub(super) fn train<T: Learner>(
        &self,
        (task, settings): Learned,
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<Outcome> {
        // Before minutes are spent on what cannot be kept.
        let mut saved = self.save.as_deref().map(|folder| SavedModel::new(folder, env)).transpose()?;
        if let Some(file) = &self.plot {
            input::check_place(file, env.writing)?;
            if file.extension().is_none_or(|ending| ending != "svg") {
                return Err(Error::new("the picture of the curves is an SVG")
                    .in_source(visible(&from_path(file)))
                    .help("end its name in .svg: --plot curves.svg"));
            }
        }
        self.keeps_no_more_than_fits(&settings)?;
        let seed = settings.seed;
        let simd = machine(None, None, env)?.simd;
        let mut trainer = Trainer::<T>::new(settings, task.examples(seed))?.on(simd);
        let (steps, end) = self.steps(&mut trainer, saved.as_mut(), env, streams)?;
        if steps.is_empty() {
            // Nothing was learned, so there is nothing to show or to keep.
            return match end {
                // The model is larger than there is room for.
                End::Failed(error) if error.kind() == ErrorKind::TooLarge => Err(error),
                end => ended(&end, env, streams),
            };
        }
        let replaces = saved.map(|saved| saved.finish(&trainer)).transpose()?.unwrap_or(false);
        let history = History { replaces, ..History::of(&mut trainer, steps, end)? };
        if let Some(file) = &self.plot {
            self.write_picture(file, &history, env)?;
        }
        let format = self.output.style(env, Convention::Rows).format;
        let show = |streams: &mut Streams<'_>| self.show(&history, env, streams);
        // Who stops a training wants to be at the prompt.
        let code = match history.end {
            End::Stopped(_) => show(streams).map(|()| EXIT_DONE)?,
            _ => output::paged_text(format, env, streams, show)?,
        };
        let outcome = ended(&history.end, env, streams)?;
        if code != EXIT_DONE {
            return Ok(Outcome::of_code(code));
        }
        Ok(Outcome { graphs: vec![super::history::graph(&history)?], ..outcome })
    }

    /// # Errors
    /// If the weights of all steps that are kept would fill the disk.
    fn keeps_no_more_than_fits(&self, settings: &Settings) -> Result<()> {
        let Some(every) = self.every.map(|every| every as usize) else { return Ok(()) };
        let (steps, parameters) = (settings.adam.steps, settings.size.parameters());
        if (steps / every).saturating_mul(parameters) <= MOST_KEPT {
            return Ok(());
        }
        let fewer = (steps.saturating_mul(parameters)).div_ceil(MOST_KEPT);
        Err(Error::new(format!(
            "--every {every} keeps {} times {} weights, more than {} numbers",
            grouped((steps / every) as u64),
            grouped(parameters as u64),
            grouped(MOST_KEPT as u64)
        ))
        .help(format!("keep fewer steps, such as --every {fewer}")))
    }

    /// All steps, and how they ended.
    fn steps<T: Learner>(
        &self,
        trainer: &mut Trainer<T>,
        mut saved: Option<&mut SavedModel<'_>>,
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<(Vec<crate::learn::Step>, End)> {
        let signals =
            Signals::new().map_err(|error| Error::new(format!("signals cannot be heard: {error}")))?;
        let mut progress = Progress::new(trainer.settings(), env);
        let (mut steps, mut end) = (Vec::new(), End::Done);
        for _ in 0..trainer.settings().adam.steps {
            if let Some(code) = signals.ending() {
                end = End::Stopped(code);
                break;
            }
            let kept = trainer.step().and_then(|step| {
                progress.show(&step, streams.err);
                let is_kept = self.every.is_some_and(|every| step.number.is_multiple_of(every as usize));
                let heads: usize = step.heads.iter().flatten().map(Vec::len).sum();
                memory::hold(A_STEP + memory::bytes_of::<(f64, [u64; 4])>(heads))?.keep();
                steps.push(step);
                match &mut saved {
                    Some(saved) if is_kept => saved.keep(trainer),
                    _ => Ok(()),
                }
            });
            if let Err(error) = kept {
                end = End::Failed(error);
                break;
            }
        }
        progress.erase(streams.err);
        Ok((steps, end))
    }
}

/// Says why a training failed, if it did; and its exit code.
fn ended(end: &End, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
    let code = match end {
        End::Done => EXIT_DONE,
        End::Stopped(code) => *code,
        End::Failed(error) => {
            streams.out.flush()?;
            report(error, env, streams);
            // It is not the training that failed.
            if error.kind() == ErrorKind::File { EXIT_UNUSABLE } else { EXIT_CHECK_FAILED }
        }
    };
    Ok(Outcome::from(code))
}

// `--save`: the model as a folder.

/// The folder of the model, which is begun with its first checkpoint.
pub(super) struct SavedModel<'a> {
    folder: &'a Path,
    writing: WritePermission,
    draft: Option<ModelDraft>,
}

impl<'a> SavedModel<'a> {
    /// # Errors
    /// If no model may be written into the folder.
    pub fn new(folder: &'a Path, env: &Env) -> Result<SavedModel<'a>> {
        check_model_folder(folder, env.writing)?;
        Ok(SavedModel { folder, writing: env.writing, draft: None })
    }

    fn draft(&mut self) -> Result<ModelDraft> {
        self.draft.take().map_or_else(|| ModelDraft::beside(self.folder, self.writing), Ok)
    }

    /// Keeps the weights of this step. If they cannot be written, none are kept: there is room for the model then.
    pub fn keep<T: Learner>(&mut self, trainer: &Trainer<T>) -> Result<()> {
        let draft = self.draft()?;
        draft.keep(trainer.steps(), &tensors(&trainer.settings().size, trainer.weights())?)?;
        self.draft = Some(draft);
        Ok(())
    }

    /// Writes the model. Returns whether it has taken the place of another.
    pub fn finish<T: Learner>(mut self, trainer: &Trainer<T>) -> Result<bool> {
        let size = trainer.settings().size;
        let symbols = trainer.examples().task().symbols();
        let files = ModelFiles {
            config: size.config(T::DTYPE),
            symbols: symbols.all().iter().map(char::to_string).collect(),
            tensors: tensors(&size, trainer.weights())?,
        };
        let replaces = holds_small_model(self.folder);
        self.draft()?.finish(&files)?;
        Ok(replaces)
    }
}

/// The weights under their names in the file.
fn tensors<T: Learner>(size: &ModelSize, weights: &[Vec<T>]) -> Result<NamedTensors> {
    let named = size.weights().into_iter().zip(weights);
    named
        .map(|(weight, numbers)| {
            let layout = Layout::stacked(1, weight.shape.rows, weight.shape.cols);
            Ok((weight.name, Tensor::new(numbers.clone(), layout)?))
        })
        .collect()
}

// The line that says how far a training is, on standard error.

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
