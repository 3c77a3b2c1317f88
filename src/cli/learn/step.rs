//! `--at`: what every example of a step did to the weights.

use std::cmp::Ordering;

use crate::cli::selection::NodeArgs;
use crate::cli::{Env, Outcome, Streams, output};
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::visible;
use crate::graph::{CellId, Cells, Convention, Graph, NodeId, resolve};
use crate::learn::{AdamChange, Batch, Example, Learner, Symbols, Trainer};
use crate::story::{Digits, Step, StepItem, Story, Table, in_sentence};
use crate::terminal::Signals;
use crate::text::one_of;

use super::LearnArgs;
use super::training::{Learned, Progress};

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
            return Err(Error::new(format!(
                "there is no step {at}: the training has {}",
                settings.adam.steps
            ))
            .help("give a step that it has, or more --steps"));
        }
        let (seed, name) = (settings.seed, task.name());
        let layers = settings.size.layers;
        let mut trainer = Trainer::<T>::new(settings, task.examples(seed))?;
        if let Some(code) = self.trained_up_to(&mut trainer, at, env, streams)? {
            return Ok(Outcome::from(code));
        }
        let before = trainer.next_step()?;
        let batch = trainer.next_batch();
        let weights = trainer.weights().to_vec();
        let story =
            Story::of_graph(&format!("{name}, seed {seed}, step {at}"), before.graph, Digits::Places(PLACES));
        let graph = &story.graph;
        let only = self.nodes.only.iter().map(|name| in_layer(name, layers, (graph, &before.gradients)));
        let nodes = NodeArgs {
            only: only.collect::<Result<_>>()?,
            explain: self
                .nodes
                .explain
                .renamed(|address| in_layer(address, layers, (graph, &before.gradients)))?,
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
        let pages = vec![page];
        let code = output::paged(&pages, "learn", &self.output.style(env, Convention::Rows), env, streams)?;
        Ok(Outcome::of_pages(code, pages))
    }

    /// Trains up to the step before this one; the exit code of a signal that has come meanwhile.
    fn trained_up_to<T: Learner>(
        &self,
        trainer: &mut Trainer<T>,
        at: usize,
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<Option<u8>> {
        let signals =
            Signals::new().map_err(|error| Error::new(format!("signals cannot be heard: {error}")))?;
        let mut progress = Progress::new(trainer.settings(), env);
        for _ in 1..at {
            if let Some(code) = signals.ending() {
                progress.erase(streams.err);
                let done = trainer.steps();
                let _ = writeln!(streams.err, "stopped after step {done}, before step {at}");
                return Ok(Some(code));
            }
            match trainer.step() {
                Ok(step) => progress.show(&step, streams.err),
                Err(error) => {
                    progress.erase(streams.err);
                    return Err(error);
                }
            }
        }
        progress.erase(streams.err);
        Ok(None)
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
    ) -> Result<Option<Step>> {
        let Cells::Cell(CellId { node, row, col }) = resolve(graph, address)? else { return Ok(None) };
        let Some(weight) = self.gradients.iter().position(|id| *id == node) else { return Ok(None) };
        let at = |id: NodeId| graph.matrix(id).map(|matrix| matrix[(row, col)]);
        let mut parts: Vec<(usize, f64)> = Vec::new();
        for (example, id) in graph[node].inputs.iter().enumerate() {
            parts.push((example, at(*id)?));
        }
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
        Ok(Some(Step { text, shown: vec![StepItem::Table(table)], ..Step::default() }))
    }
}

impl<T: Learner> WeightChange<'_, T> {
    /// How Adam made the change of a weight from this gradient and those before; nothing where the step failed.
    fn adam(&self, (weight, place): (usize, usize), gradient: f64) -> String {
        let change = self.after.as_ref().and_then(|_| self.trainer.change_of(weight, place));
        let Some(AdamChange { rate, mean, root }) = change else { return String::new() };
        let epsilon = self.trainer.settings().adam.epsilon;
        let change = AdamChange { rate, mean, root }.change(epsilon);
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
            Err(Error::new(format!("there is no node `{}`", visible(node))).of_kind(ErrorKind::Unknown).help(
                format!(
                    "the gradients of the weights are {}; a step of one example ends in its number: L1.A_e3",
                    names.join(" ")
                ),
            ))
        }
        several => {
            let names: Vec<&str> = several.iter().map(String::as_str).collect();
            Err(Error::new(format!("`{}` is in {} layers", visible(node), names.len()))
                .help(format!("write {}", one_of(&names))))
        }
    }
}
