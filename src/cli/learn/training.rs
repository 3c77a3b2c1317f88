//! The training itself: step by step, until it is done, stopped or fails.

use crate::cli::options::machine;
use crate::cli::{Env, Outcome, Streams, output, report};
use crate::error::{EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNUSABLE, Error, ErrorKind, Result};
use crate::foreign::{from_path, visible};
use crate::graph::Convention;
use crate::learn::{Learner, Settings, Task, Trainer};
use crate::terminal::Signals;
use crate::text::grouped;
use crate::{input, memory};

use super::history::{End, History};
use super::progress::Progress;
use super::saved::SavedModel;
use super::{LearnArgs, numbers};

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
        Ok(Outcome { graphs: vec![numbers::graph(&history)?], ..outcome })
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
