//! The training itself: step by step, until it is done, stopped or fails; and what a step (`--at`) did to the weights.

use std::cmp::Ordering;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::cli::options::machine;
use crate::cli::program::columns_of_errors;
use crate::cli::selection::NodeArgs;
use crate::cli::{Env, Outcome, Streams, output, report};
use crate::error::{EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNUSABLE, Error, ErrorKind, Result};
use crate::foreign::{from_path, visible};
use crate::graph::{CellId, Cells, Convention, Graph, NodeId, resolve};
use crate::input::{ModelDraft, ModelFiles, WritePermission, check_model_folder, holds_small_model};
use crate::learn::{AdamChange, Batch, Example, Learner, Settings, Step, Symbols, Task, Trainer};
use crate::story::{self, Digits, StepItem, Story, Table, in_sentence};
use crate::terminal::Signals;
use crate::text::{grouped, one_of};
use crate::{input, memory};

use super::LearnArgs;
use super::history::{End, History, graph};
use super::report::{ON_WHITE, svg};

/// The most numbers of all checkpoints together.
const MOST_KEPT: usize = 100_000_000;

/// What is remembered of a step, in bytes, beside the scores of its heads.
const A_STEP: u64 = 200;

/// What a task is learned with.
type Learned = (Task, Settings);

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
            input::save_text(file, &svg(&history, &ON_WHITE), env.writing)?;
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
            return Ok(Outcome::from(code));
        }
        Ok(Outcome { graphs: vec![graph(&history)?], ..outcome })
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
        let [times, weights, most] =
            [steps / every, parameters, MOST_KEPT].map(|count| grouped(count as u64));
        let what = format!("--every {every} keeps {times} times {weights} weights, more than {most} numbers");
        Err(Error::new(what).help(format!("keep fewer steps, such as --every {fewer}")))
    }

    /// All steps, and how they ended.
    fn steps<T: Learner>(
        &self,
        trainer: &mut Trainer<T>,
        mut saved: Option<&mut SavedModel<'_>>,
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<(Vec<Step>, End)> {
        let mut steps = Vec::new();
        let end = train(trainer, trainer.settings().adam.steps, env, streams, |trainer, step| {
            let is_kept = self.every.is_some_and(|every| step.number.is_multiple_of(every as usize));
            let heads: usize = step.heads.iter().flatten().map(Vec::len).sum();
            memory::hold(A_STEP + memory::bytes_of::<(f64, [u64; 4])>(heads))?.keep();
            steps.push(step);
            match &mut saved {
                Some(saved) if is_kept => saved.keep(trainer),
                _ => Ok(()),
            }
        })?;
        Ok((steps, end))
    }
}

/// Takes this many steps, and says how they ended. Each is `done` with before the next.
fn train<T: Learner>(
    trainer: &mut Trainer<T>,
    count: usize,
    env: &Env,
    streams: &mut Streams<'_>,
    mut done: impl FnMut(&Trainer<T>, Step) -> Result<()>,
) -> Result<End> {
    let signals = Signals::new().map_err(|error| Error::new(format!("signals cannot be heard: {error}")))?;
    let mut progress = Progress::new(trainer.settings(), env);
    let mut end = End::Done;
    for _ in 0..count {
        if let Some(code) = signals.ending() {
            end = End::Stopped(code);
            break;
        }
        let step = trainer.step().and_then(|step| {
            progress.show(&step, streams.err);
            done(trainer, step)
        });
        if let Err(error) = step {
            end = End::Failed(error);
            break;
        }
    }
    progress.erase(streams.err);
    Ok(end)
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
struct SavedModel<'a> {
    folder: &'a Path,
    writing: WritePermission,
    draft: Option<ModelDraft>,
}

impl<'a> SavedModel<'a> {
    /// # Errors
    /// If no model may be written into the folder.
    fn new(folder: &'a Path, env: &Env) -> Result<SavedModel<'a>> {
        check_model_folder(folder, env.writing)?;
        Ok(SavedModel { folder, writing: env.writing, draft: None })
    }

    fn draft(&mut self) -> Result<ModelDraft> {
        self.draft.take().map_or_else(|| ModelDraft::beside(self.folder, self.writing), Ok)
    }

    /// Keeps the weights of this step. If they cannot be written, none are kept: there is room for the model then.
    fn keep<T: Learner>(&mut self, trainer: &Trainer<T>) -> Result<()> {
        let draft = self.draft()?;
        draft.keep(trainer.steps(), &trainer.tensors()?)?;
        self.draft = Some(draft);
        Ok(())
    }

    /// Writes the model. Returns whether it has taken the place of another.
    fn finish<T: Learner>(mut self, trainer: &Trainer<T>) -> Result<bool> {
        let symbols = trainer.examples().task().symbols();
        let files = ModelFiles {
            config: trainer.settings().size.config(T::DTYPE),
            symbols: symbols.all().iter().map(char::to_string).collect(),
            tensors: trainer.tensors()?,
        };
        let replaces = holds_small_model(self.folder);
        self.draft()?.finish(&files)?;
        Ok(replaces)
    }
}

// The line that says how far a training is, on standard error.

/// The line is written again after this time.
const PAUSE: Duration = Duration::from_millis(100);

/// What stands between two parts.
const GAP: &str = "  ";
/// `^C` and the last column, in which some terminals begin another line.
const ROOM_FOR_AN_INTERRUPTION: usize = 3;

/// A line that is written again and again, where standard error is a terminal.
struct Progress {
    shown: bool,
    begun: Instant,
    written: Option<Instant>,
    settings: Settings,
}

impl Progress {
    fn new(settings: &Settings, env: &Env) -> Progress {
        let settings = settings.clone();
        Progress { shown: env.shows_progress, begun: Instant::now(), written: None, settings }
    }

    /// Writes the line, unless it has just been written. That it cannot be written is no reason to stop.
    fn show(&mut self, step: &Step, err: &mut dyn Write) {
        let is_early = self.written.is_some_and(|last| last.elapsed() < PAUSE);
        if !self.shown || is_early {
            return;
        }
        self.written = Some(Instant::now());
        let missing = (self.settings.adam.steps - step.number) as f64;
        let left = self.begun.elapsed().div_f64(step.number as f64).mul_f64(missing);
        let _ = write!(err, "\r\x1b[K{}", self.line(step, left, columns_of_errors()));
        let _ = err.flush();
    }

    /// The line, with room for the `^C` that a terminal writes behind it: what went on in another line could not be erased.
    fn line(&self, step: &Step, left: Duration, columns: usize) -> String {
        let begin = [
            format!("{}/{}", step.number, self.settings.adam.steps),
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
        let named = scores.iter().zip(&self.settings.patterns);
        let named = named.filter_map(|(score, pattern)| Some(((*score)?, pattern.name())));
        named.max_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// Each head by the pattern that it has most of.
    fn named(&self, step: &Step) -> Vec<String> {
        let named = |(layer, head, scores)| {
            let (score, name) = self.best(scores)?;
            Some(format!("{} {name} {score:.2}", self.settings.size.head_name(layer, head)))
        };
        step.of_heads().filter_map(named).collect()
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
    fn erase(&self, err: &mut dyn Write) {
        if self.written.is_some() {
            let _ = write!(err, "\r\x1b[K");
            let _ = err.flush();
        }
    }
}

/// The first parts that have room in this many columns.
fn as_many_as_fit(parts: &[String], room: usize) -> String {
    let lines = (0..=parts.len()).rev().map(|count| parts[..count].join(GAP));
    lines.into_iter().find(|line| line.chars().count() <= room).unwrap_or_default()
}

// `--at`: what every example of a step did to the weights.

impl LearnArgs {
    /// Trains up to a step, and shows numbers of it.
    pub(super) fn look_into<T: Learner>(
        &self,
        (task, settings): Learned,
        at: usize,
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<Outcome> {
        if at > settings.adam.steps {
            let steps = settings.adam.steps;
            return Err(Error::new(format!("there is no step {at}: the training has {steps}"))
                .help("give a step that it has, or more --steps"));
        }
        let (seed, name) = (settings.seed, task.name());
        let layers = settings.size.layers;
        let mut trainer = Trainer::<T>::new(settings, task.examples(seed))?;
        match train(&mut trainer, at - 1, env, streams, |_, _| Ok(()))? {
            End::Done => {}
            End::Failed(error) => return Err(error),
            End::Stopped(code) => {
                let done = trainer.steps();
                let _ = writeln!(streams.err, "stopped after step {done}, before step {at}");
                return Ok(Outcome::from(code));
            }
        }
        let before = trainer.next_step()?;
        let batch = trainer.next_batch();
        let weights = trainer.weights().to_vec();
        let story =
            Story::of_graph(&format!("{name}, seed {seed}, step {at}"), before.graph, Digits::Places(PLACES));
        let graph = &story.graph;
        let full = |address: &str| in_layer(address, layers, (graph, &before.gradients));
        let nodes = NodeArgs {
            only: self.nodes.only.iter().map(|name| full(name)).collect::<Result<_>>()?,
            explain: self.nodes.explain.renamed(full)?,
        };
        let mut told = Vec::new();
        if self.output.look.is_for_people() {
            let after = trainer.step().map(|_| trainer.weights().to_vec());
            let change = WeightChange {
                gradients: &before.gradients,
                before: &weights,
                after: after.ok(),
                trainer: &trainer,
            };
            let symbols = trainer.examples().task().symbols();
            for address in nodes.explain.addresses() {
                told.extend(change.told((graph, at), address, (&batch, symbols))?);
            }
        }
        let mut page = nodes.page(story, &self.output)?;
        page.story.steps.splice(0..0, told);
        output::one_page(page, "learn", &self.output.style(env, Convention::Rows), env, streams)
    }
}

/// What a step did to weights.
struct WeightChange<'a, T> {
    /// The gradient of each weight.
    gradients: &'a [NodeId],
    /// The numbers of each weight before the step, row by row.
    before: &'a [Vec<T>],
    /// Those after it; none where the step fails.
    after: Option<Vec<Vec<T>>>,
    /// The trainer after the step.
    trainer: &'a Trainer<T>,
}

/// The decimals of gradients, which are small.
const PLACES: usize = 6;
/// The examples that are listed.
const MOST_EXAMPLES: usize = 6;

impl<T: Learner> WeightChange<'_, T> {
    /// The weight of an explained gradient before and after the step, and the examples that changed it most; nothing for another cell.
    fn told(
        &self,
        (graph, step): (&Graph, usize),
        address: &str,
        (batch, symbols): (&Batch, &Symbols),
    ) -> Result<Option<story::Step>> {
        let Cells::Cell(CellId { node, row, col }) = resolve(graph, address)? else { return Ok(None) };
        let Some(weight) = self.gradients.iter().position(|id| *id == node) else { return Ok(None) };
        let at = |id: NodeId| graph.matrix(id).map(|matrix| matrix[(row, col)]);
        let inputs = graph[node].inputs.iter().enumerate();
        let mut parts: Vec<(usize, f64)> =
            inputs.map(|(example, id)| Ok((example, at(*id)?))).collect::<Result<_>>()?;
        parts.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        parts.truncate(MOST_EXAMPLES);
        let place = row * graph[node].shape().cols + col;
        let number = |weights: &[Vec<T>]| in_sentence(weights[weight][place].to_f64(), PLACES);
        let after =
            self.after.as_deref().map_or(String::new(), |after| format!(", and {} after it", number(after)));
        let name = graph[node].name.replacen('d', "", 1);
        let gradient = at(node)?;
        let down = match gradient.partial_cmp(&0.0) {
            Some(Ordering::Greater) => "a step against the gradient lowers it",
            Some(Ordering::Less) => "a step against the gradient raises it",
            _ => "no step follows from it",
        };
        let text = format!(
            "{name}[{},{}] is {} before step {step}{after}. Its gradient is {}: {down}. {}The examples with the largest parts of \
             the gradient:",
            row + 1,
            col + 1,
            number(self.before),
            in_sentence(gradient, PLACES),
            self.adam((weight, place), gradient)
        );
        let rows = parts.into_iter().map(|(example, part)| {
            let Example { tokens, targets } = batch.example(example);
            // What fills an example up to the length of the others has nothing to predict.
            let length = targets.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
            let tokens = symbols.labels(&tokens[..length]).join("");
            vec![format!("e{}", example + 1), tokens, format!("{part:.PLACES$}")]
        });
        let table = Table::new(&["example", "tokens", "its part"], rows).with_numbers(&["its part"]);
        Ok(Some(story::Step { text, shown: vec![StepItem::Table(table)], ..story::Step::default() }))
    }

    /// How Adam made the change of a weight from this gradient and those before; nothing where the step failed.
    fn adam(&self, (weight, place): (usize, usize), gradient: f64) -> String {
        let found = self.after.as_ref().and_then(|_| self.trainer.change_of(weight, place));
        let Some(found) = found else { return String::new() };
        let change = found.change(self.trainer.settings().adam.epsilon);
        let AdamChange { rate, mean, root } = found;
        let other = if mean * gradient < 0.0 {
            " It has the other sign than the gradient of this step, and decides."
        } else {
            ""
        };
        format!(
            "Adam takes the mean of all (clipped) gradients so far, m = {mean:.2e}, and the root of their mean square, √v = {root:.2e}; the \
             latest count most. With the learning rate η = {rate:.2e} the change is −η·m/√v = {change:.2e}.{other} "
        )
        .replace("-", "−")
    }
}

/// An address without a layer, in the only layer that has such a node.
///
/// # Errors
/// If several layers have one, or nothing has this name.
fn in_layer(address: &str, layers: usize, (graph, gradients): (&Graph, &[NodeId])) -> Result<String> {
    let node = address.split('[').next().unwrap_or_default().trim();
    if graph.find(node).is_some() {
        return Ok(address.to_string());
    }
    let with = |layer: usize| format!("L{layer}.{node}");
    let there: Vec<String> = (1..=layers).map(with).filter(|name| graph.find(name).is_some()).collect();
    match there.as_slice() {
        [one] => Ok(format!("{one}{}", &address.trim_start()[node.len()..])),
        // Another way to write a name that is there.
        [] if resolve(graph, node).is_ok() => Ok(address.to_string()),
        [] => {
            // The names of all steps of all examples would fill pages.
            let names: Vec<&str> = gradients.iter().map(|id| graph[*id].name.as_str()).collect();
            let names = names.join(" ");
            let help = format!(
                "the gradients of the weights are {names}; a step of one example ends in its number: L1.A_e3"
            );
            let error = Error::new(format!("there is no node `{}`", visible(node)));
            Err(error.of_kind(ErrorKind::Unknown).help(help))
        }
        several => Err(Error::new(format!("`{}` is in {} layers", visible(node), several.len()))
            .help(format!("write {}", one_of(several)))),
    }
}
