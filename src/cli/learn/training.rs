//! The training itself: step by step, until it is done, stopped or fails.

use super::LearnArgs;
use super::history::{End, History};
use super::numbers;
use super::progress::Progress;
use crate::cli::{Env, Outcome, Streams};
use crate::error::{EXIT_CHECK_FAILED, EXIT_DONE, Error, Result};
use crate::input;
use crate::learn::{Number, Settings, Task, Trainer};
use crate::terminal::Signals;

/// What a task is learned with.
pub(super) type Learned = (Task, Settings);

impl LearnArgs {
    /// Trains a model, and shows and saves what came of it.
    pub(super) fn train<T: Number>(
        &self,
        (task, settings): Learned,
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<Outcome> {
        if let Some(folder) = &self.save {
            input::check_model_folder(folder, env.writing)?;
        }
        let seed = settings.seed;
        let mut trainer = Trainer::<T>::new(settings, task.examples(seed))?;
        let mut kept = Vec::new();
        let (steps, end) = self.steps(&mut trainer, &mut kept, env, streams)?;
        if steps.is_empty() {
            // Nothing was learned, so there is nothing to show or to keep.
            return match end {
                End::Failed(said) => Err(Error::new(said)),
                End::Stopped(code) => Ok(Outcome::from(code)),
                End::Done => Ok(Outcome::from(EXIT_DONE)),
            };
        }
        if let Some(folder) = &self.save {
            self.write_folder(folder, &trainer, kept, env)?;
        }
        let history = History::of(&mut trainer, steps, end)?;
        if let Some(file) = &self.plot {
            self.write_picture(file, &history, env)?;
        }
        self.show(&history, env, streams)?;
        let code = match &history.end {
            End::Done => EXIT_DONE,
            End::Stopped(code) => *code,
            End::Failed(said) => {
                streams.out.flush()?;
                crate::cli::report(&Error::new(said.clone()), env, streams);
                EXIT_CHECK_FAILED
            }
        };
        Ok(Outcome { code, graphs: vec![numbers::graph(&history)?] })
    }

    /// All steps, and how they ended.
    fn steps<T: Number>(
        &self,
        trainer: &mut Trainer<T>,
        kept: &mut Vec<(usize, Vec<Vec<T>>)>,
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
            match trainer.step() {
                Ok(step) => {
                    progress.show(&step, streams.err);
                    if self.every.is_some_and(|every| step.number.is_multiple_of(every as usize)) {
                        kept.push((step.number, trainer.weights().to_vec()));
                    }
                    steps.push(step);
                }
                Err(error) => {
                    end = End::Failed(error.to_string());
                    break;
                }
            }
        }
        progress.erase(streams.err);
        Ok((steps, end))
    }
}
