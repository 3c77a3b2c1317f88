//! `--at`: what every example of a step did to the weights.

use super::LearnArgs;
use super::training::Learned;
use crate::cli::nodes::NodeArgs;
use crate::cli::write;
use crate::cli::{Env, Outcome, Streams};
use crate::error::{EXIT_DONE, Error, Result};
use crate::foreign::visible;
use crate::graph::{Convention, Graph};
use crate::learn::{Number, Trainer};
use crate::story::{Digits, Story};
use crate::text::one_of;

impl LearnArgs {
    /// Trains up to a step, and shows numbers of it.
    pub(super) fn look_into<T: Number>(
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
        for _ in 1..at {
            trainer.step()?;
        }
        let step = trainer.next_step()?;
        let batch = trainer.next_batch();
        let symbols = trainer.examples().task().symbols();
        let mut story =
            Story::of_graph(&format!("{name}, seed {seed}, step {at}"), step.graph, Digits::Places(6));
        story.remarks.push(format!(
            "the step learns from {} examples; e1 is {}",
            batch.examples(),
            symbols.text(&batch.example(0).tokens)
        ));
        let nodes = NodeArgs {
            only: self
                .nodes
                .only
                .iter()
                .map(|name| in_layer(name, layers, &story.graph))
                .collect::<Result<_>>()?,
            explain: self.nodes.explain.renamed(|address| in_layer(address, layers, &story.graph))?,
        };
        let page = nodes.page(story, &self.output)?;
        let pages = vec![page];
        write::pages(&pages, "learn", &self.output.style(env, Convention::Rows), streams)?;
        Ok(Outcome::of_pages(EXIT_DONE, pages))
    }
}

/// An address without a layer, in the only layer that has such a node.
fn in_layer(address: &str, layers: usize, graph: &Graph) -> Result<String> {
    let node = address.split('[').next().unwrap_or_default().trim();
    if graph.find(node).is_some() {
        return Ok(address.to_string());
    }
    let with = |layer: usize| format!("L{layer}.{node}");
    let there: Vec<String> = (1..=layers).map(with).filter(|name| graph.find(name).is_some()).collect();
    match there.as_slice() {
        [one] => Ok(format!("{one}{}", &address.trim_start()[node.len()..])),
        [] => Ok(address.to_string()),
        several => {
            let names: Vec<&str> = several.iter().map(String::as_str).collect();
            Err(Error::new(format!("`{}` is in {} layers", visible(node), names.len()))
                .help(format!("write {}", one_of(&names))))
        }
    }
}
