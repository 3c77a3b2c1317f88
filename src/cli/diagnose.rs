//! `attn diagnose`: a student's result against the right one.

mod answers;
mod batch;
mod list;
mod ported;
mod suggestion;

use clap::Args;

use crate::diagnose::{Answer, Examiner, Task, Tolerance};
use crate::error::{EXIT_CHECK_FAILED, EXIT_DONE, Error, Result};
use crate::input::Files;
use crate::render::Page;
use crate::story::diagnosis::{detailed_report, report};
use crate::{input, render};

use super::attend::{Computation, ComputationArgs, GradientArgs};
use super::output::{DigitsArgs, FormatArg, TablesArgs};
use super::{Env, Streams, output};

/// Compare your result with the right one, and name the mistake in it
///
/// The inputs and options are those of `attn attend`: they describe the exercise. Your result may contain NaN and
/// infinities. A number that you rounded by hand is right if it is right to its last decimal.
///
/// Exit code 0: right. 1: wrong, or only close. 2: it cannot be used.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct DiagnoseArgs {
    /// Your result: O as FILE, another step as A=FILE
    ///
    /// A .npz, .safetensors or .json file may hold several steps under their names. With --gradient a step may be a gradient: dQ=FILE.
    #[arg(long, value_name = "[NODE=]FILE", help_heading = "Your result", conflicts_with_all = ["batch", "list"])]
    yours: Vec<String>,
    /// Check every file of a folder, one per student
    #[arg(long, value_name = "DIR", help_heading = "Your result", conflicts_with = "list")]
    batch: Option<String>,
    /// Only a summary: who made which mistake
    #[arg(long, requires = "batch", conflicts_with_all = ["yours", "list", "suggest_input"], help_heading = "Your result")]
    by_mistake: bool,
    /// Relative tolerance [default: 1e-5]
    #[arg(long, value_name = "R", help_heading = "Your result", conflicts_with_all = ["list", "suggest_input"])]
    rtol: Option<String>,
    /// Absolute tolerance [default: 1e-6 of the largest]
    #[arg(long, value_name = "A", help_heading = "Your result", conflicts_with_all = ["list", "suggest_input"])]
    atol: Option<String>,
    /// List the known mistakes, or explain one
    #[arg(long, value_name = "ID", num_args = 0..=1, help_heading = "Your result")]
    list: Option<Option<String>>,
    /// Write a test input that tells mistakes apart
    ///
    /// The file is .npz or .json. On this input the known mistakes give different results. It has your shapes if mistakes can differ in these.
    #[arg(long, value_name = "FILE", help_heading = "Your result", conflicts_with_all = ["yours", "batch", "list", "gradient"])]
    suggest_input: Option<String>,
    /// Show everything; the first wrong cell both ways
    #[arg(long, help_heading = "Your result", conflicts_with_all = ["batch", "list", "suggest_input"])]
    details: bool,
    #[command(flatten)]
    ported: ported::PortedArgs,
    #[command(flatten)]
    computation: ComputationArgs,
    #[command(flatten)]
    gradient: GradientArgs,
    #[command(flatten)]
    look: TablesArgs,
    #[command(flatten)]
    digits: DigitsArgs,
}

const EXAMPLES: &str = "\
Examples:
  attn diagnose --list                     the mistakes that it knows
  attn diagnose --words \"bat cave racket\" --yours \"2.86 3.09; 3.98 0.05; 0 5\"
  attn diagnose --q q.csv --k k.csv --v v.csv --gradient ones --yours dQ=dq.csv
  attn diagnose layer.npz --x x.npy --heads 4 --yours S=s.npy --yours O=o.npy
  attn diagnose --x x.npy --batch submissions --by-mistake
  attn diagnose --x x.npy --suggest-input better.npz
  attn diagnose --model words --text \"the bat sleeps\" --yours L1.A_3=a.npy";

impl DiagnoseArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        if let Some(id) = &self.list {
            let write =
                |streams: &mut Streams<'_>| list::write(id.as_deref(), &self.look.look(), env, streams);
            return output::shown(&self.look, env, streams, write);
        }
        if self.yours.is_empty() && self.batch.is_none() && self.suggest_input.is_none() {
            return Err(Error::new("there is no result to judge")
                .help("give --yours FILE or --batch DIR; attn diagnose --list shows the known mistakes"));
        }
        if let Some(folder) = &self.ported.model {
            return self.ported(folder, env, streams);
        }
        let tolerance = self.tolerance()?;
        let mut files = Files::new(streams.input).within(env.reading.clone());
        // The inputs are those of another command, and so are their errors.
        let here = |error: Error| error.map_help(|help| help.replace("attn attend", "attn diagnose"));
        let Computation { recipe, inputs, notes, .. } =
            self.computation.computation(None, &mut files).map_err(here)?;
        let task = self.with_backward(Task::new(recipe, inputs).map_err(here)?, &mut files)?;
        if let Some(file) = &self.suggest_input {
            return suggestion::write(file, &task, &self.look.look(), env, streams).map(|()| EXIT_DONE);
        }
        match &self.batch {
            Some(folder) => {
                let folder = crate::input::folder(folder, &env.reading)?;
                let style = self.digits.style(&self.look.look(), env);
                output::warnings(task.right(), &notes, &style, streams);
                let batch =
                    batch::Batch { examiner: Examiner::new(task, tolerance), by_mistake: self.by_mistake };
                batch.run(&folder, &self.look.look(), env, streams)
            }
            None => {
                let submission = answers::submissions(&self.yours, &mut files, task.right())?;
                let of_files = files.take_notes();
                let remarks = notes.into_iter().chain(of_files).chain(submission.remarks).collect();
                self.judge(&Examiner::new(task, tolerance), &submission.answers, remarks, env, streams)
            }
        }
    }

    /// The exercise with its backward pass, if it has one.
    fn with_backward(&self, task: Task, files: &mut Files<'_>) -> Result<Task> {
        let Some(backward) = self.gradient.pass(task.right(), files)? else { return Ok(task) };
        task.with_backward(backward).map_err(|error| self.gradient.refused(error))
    }

    /// One submission.
    fn judge(
        &self,
        examiner: &Examiner,
        answers: &[Answer],
        remarks: Vec<String>,
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<u8> {
        if self.look.format() == FormatArg::Csv {
            return Err(
                Error::new("a diagnosis is not a matrix").help("give --format json to get it as data")
            );
        }
        let diagnosis =
            examiner.examine(answers).map_err(|error| answers::with_renaming_remarks(error, &remarks))?;
        let code = if diagnosis.is_right() { EXIT_DONE } else { EXIT_CHECK_FAILED };
        let style = self.digits.style(&self.look.look(), env);
        if self.look.format() == FormatArg::Json {
            let right = examiner.task().right();
            render::diagnosis(None, &diagnosis, right, streams.out)?;
            output::warnings(right, &remarks, &style, streams);
            return Ok(code);
        }
        let report = if self.details { detailed_report } else { report };
        let mut story = report(&diagnosis, examiner.task(), answers);
        story.remarks = remarks;
        match output::paged(&[Page::whole(story)], "diagnose", &style, env, streams)? {
            EXIT_DONE => Ok(code),
            interrupted => Ok(interrupted),
        }
    }

    fn tolerance(&self) -> Result<Tolerance> {
        let read = |option: &str, text: &Option<String>| -> Result<Option<f64>> {
            let Some(text) = text else { return Ok(None) };
            match input::number(text) {
                Ok(number) if number.value >= 0.0 && number.value.is_finite() => Ok(Some(number.value)),
                _ => Err(Error::new(format!("{option} is `{text}`"))
                    .help("give a number that is not negative, such as 1e-3")),
            }
        };
        Ok(Tolerance { relative: read("--rtol", &self.rtol)?, absolute: read("--atol", &self.atol)? })
    }
}
