//! `--layer`, `--only`, `--explain`, `--save`: the graph of some layers.

use std::ops::RangeInclusive;

use crate::cli::presentation::Presentation;
use crate::cli::program::Program;
use crate::cli::selection::NodeArgs;
use crate::cli::{Env, Outcome, Streams, output, presentation, versus};
use crate::error::{Error, Result};
use crate::explain::{Depth, onward};
use crate::foreign::to_path;
use crate::graph::{Convention, Graph, Node, NodeId, address_of};
use crate::input;
use crate::model::{Forward, PassOptions};
use crate::render::{Format, Style};
use crate::story::{ShownLayer, StepItem, Story, model_layer};
use crate::text::{ScreenWidth, clipped, quoted};

use super::ModelArgs;
use super::address::{Within, layers_of, name_in, node_name, usual_name};
use super::folder::{ChosenNumbers, OpenedModel, ReadText};
use super::logits::{LogitsTable, with_logits};

/// The most characters of a text in the first line.
const LONGEST_TEXT: usize = 60;

/// The name of the scores of the next token.
const LOGITS: &str = "logits";

impl ModelArgs {
    /// The text or the ids, as the model reads them.
    pub(super) fn read(&self, model: &OpenedModel) -> Result<Option<ReadText>> {
        model.read_either(self.text.as_deref(), self.ids.as_deref())
    }

    /// The steps of a layer, or the nodes and cells that are asked for.
    pub(super) fn of_layers(
        &self,
        model: &OpenedModel,
        text: ReadText,
        program: &Program<'_>,
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<Outcome> {
        let nodes = self.named_nodes()?;
        let layers = self.layers(model, &nodes)?;
        if let Some(options) = self.versus.options() {
            return self.beside(model, &text, (options, program), (layers, &nodes), (env, streams));
        }
        let chosen = self.varied.chosen(model, text.text.ids.len())?;
        let names = self.all_names(&nodes)?;
        let (mut story, forward) = self.story(model, &text, (layers, &names), &chosen)?;
        if nodes.only.is_empty() && nodes.explain.given_option().is_none() {
            story = story.saying_first(&[chosen.described(model, text.text.ids.len())]);
        }
        model.name_words(&mut story.graph);
        let nodes = nodes_in(&story.graph, &nodes, self.within())?;
        let story = Story { window: self.window.window(), ..story };
        let steps = self.steps.renamed(|name| Ok(name_in(&story.graph, &node_name(name)?, self.within())))?;
        let mut page = steps.page(story, &nodes, &self.output, &presentation::whole(program.typed))?;
        if self.head.is_some() && nodes.only.is_empty() {
            let of_head = page.story.shown_nodes();
            page.nodes.retain(|id| of_head.contains(id));
        }
        let all = page.nodes.clone();
        if nodes.only.is_empty() {
            // The weights of a layer are in the model's file already.
            page.nodes.retain(|&id| !page.story.graph[id].op.is_given());
        }
        name_as_elsewhere(&mut page.story);
        let style = self.live.style(&self.output, env, Convention::Rows);
        say_the_way_on(&mut page.story, program, &style);
        let saved = self.saved(&page.story.graph)?;
        for saved in saved.into_iter().filter_map(|(node, _)| node).chain(page.nodes.clone()) {
            page.story.graph.load(saved)?;
        }
        // Below an explanation the nodes of --only are shown, and none is data.
        let looked_at = if page.nodes.is_empty() { page.story.shown_nodes() } else { page.nodes.clone() };
        let looked_at: Vec<&Node> = looked_at.iter().map(|&id| &page.story.graph[id]).collect();
        self.window.check(&looked_at, &text.text.tokens)?;
        self.write_files(model, (&page.story.graph, &forward), env)?;
        if style.format == Format::Json && self.head.is_none() {
            // With its weights, as far as they are in memory, a saved layer can be run again.
            page.nodes = all;
        }
        let presentation = Presentation::of("model", program, (&self.steps, &self.output), style);
        let pages = vec![page];
        let code = if self.is_saved_alone() { 0 } else { presentation.show(&pages, env, streams)? };
        Ok(Outcome::of_pages(code, pages))
    }

    /// The same layers with further options, and what differs.
    fn beside(
        &self,
        model: &OpenedModel,
        text: &ReadText,
        (options, program): (&str, &Program<'_>),
        (layers, nodes): (RangeInclusive<usize>, &NodeArgs),
        (env, streams): (&Env, &mut Streams<'_>),
    ) -> Result<Outcome> {
        let other = versus::typed_with::<ModelArgs>("model", program, options)?;
        let names = self.all_names(nodes)?;
        let opened = other.other_model(self, env)?;
        let story = |args: &ModelArgs, model: &OpenedModel| -> Result<Story> {
            let chosen = args.varied.chosen(model, text.text.ids.len())?;
            let layers = (layers.clone(), &names[..]);
            let (mut story, _) = args.story(model, text, layers, &chosen)?;
            model.name_words(&mut story.graph);
            Ok(story)
        };
        let base = story(self, model)?;
        let names = nodes_in(&base.graph, nodes, self.within())?.names();
        let page = versus::page(
            base,
            story(&other, opened.as_ref().unwrap_or(model)).map_err(versus::in_versus)?,
            options,
            &names,
            self.output.digits.precision,
        )?;
        let style = self.live.style(&self.output, env, Convention::Rows);
        output::one_page(page, "model", &style, env, streams)
    }

    /// The model of this command where the other command opens other weights.
    pub(super) fn other_model(&self, other: &ModelArgs, env: &Env) -> Result<Option<OpenedModel>> {
        let step = self.varied.at;
        let differs = step != other.varied.at;
        let opened = differs.then(|| OpenedModel::open_at(self.folder(), step, env)).transpose();
        opened.map_err(versus::in_versus)
    }

    /// Whether nothing is shown, because nodes are only saved.
    fn is_saved_alone(&self) -> bool {
        !self.save.is_empty()
            && self.layer.is_none()
            && self.nodes.only.is_empty()
            && self.nodes.explain.given_option().is_none()
    }

    /// The nodes and cells that were typed, by their names in the graph.
    fn named_nodes(&self) -> Result<NodeArgs> {
        let only = self.nodes.only.iter().map(|name| node_name(name)).collect::<Result<_>>()?;
        let explain = self.nodes.explain.renamed(node_name)?;
        Ok(NodeArgs { only, explain })
    }

    /// The names of all nodes and cells that are shown or saved.
    fn all_names(&self, nodes: &NodeArgs) -> Result<Vec<String>> {
        let saved = self.save.iter().filter_map(|saving| saving.split_once('='));
        let saved: Vec<String> = saved
            .filter(|(name, _)| *name != LOGITS)
            .map(|(name, _)| node_name(name))
            .collect::<Result<_>>()?;
        let shown = nodes.only.iter().cloned().chain(nodes.explain.addresses().into_iter().cloned());
        Ok(shown.chain(saved).collect())
    }

    /// The layers that are computed with all their steps: the one that is shown, those that are named, and below them as many as an
    /// explanation reaches.
    fn layers(&self, model: &OpenedModel, nodes: &NodeArgs) -> Result<RangeInclusive<usize>> {
        let count = model.architecture.blocks.len();
        let names = self.all_names(nodes)?;
        let is_of_all = |name: &String| name.split('.').next().is_some_and(|layer| layer.contains('*'));
        let named = match names.iter().any(is_of_all) {
            true => Some(1..=count),
            false => layers_of(names.iter().map(String::as_str)),
        };
        let (first, last) = match (self.layer, named) {
            (Some(layer), named) => {
                let named = named.unwrap_or(layer..=layer);
                (layer.min(*named.start()), layer.max(*named.end()))
            }
            (None, Some(named)) => (*named.start(), *named.end()),
            (None, None) => (count, count),
        };
        for layer in [first, last] {
            model.run().recipe(layer)?;
        }
        // From one residual stream to the one before it are two levels.
        let below = match self.nodes.explain.depth {
            Some(Depth::All) => first,
            Some(Depth::Levels(levels)) => levels / 2,
            None => 0,
        };
        let wants_embedding = names.iter().any(|name| name.starts_with('E') || name.starts_with("W_"));
        let first = if wants_embedding { 1 } else { first.saturating_sub(below).max(1) };
        // `L6.X` is computed in layer 5.
        let first = if first > 1 && names.iter().any(|name| name.starts_with(&format!("L{first}.X"))) {
            first - 1
        } else {
            first
        };
        Ok(first..=last)
    }

    fn within(&self) -> Within {
        Within { layer: self.layer, head: self.head }
    }

    /// What is shown, in the first line: the layer, the model, the text.
    pub(super) fn title(&self, model: &OpenedModel) -> String {
        let part = match (self.layer, self.head) {
            (Some(layer), Some(head)) => {
                format!("Layer {layer}, head {head} (L{}H{}) of ", layer - 1, head - 1)
            }
            (Some(layer), None) => format!("Layer {layer} of "),
            _ => String::new(),
        };
        let text = match (&self.text, &self.ids) {
            (Some(text), _) => format!(": “{}”", clipped(text, LONGEST_TEXT)),
            (None, Some(ids)) => format!(": ids {}", clipped(ids, LONGEST_TEXT)),
            (None, None) => String::new(),
        };
        format!("{part}{}{text}", model.folder.name)
    }

    fn story(
        &self,
        model: &OpenedModel,
        text: &ReadText,
        (layers, names): (RangeInclusive<usize>, &[String]),
        chosen: &ChosenNumbers,
    ) -> Result<(Story, Forward)> {
        let run = model.run();
        let options = PassOptions { measured: false, ..chosen.options.clone() };
        let forward = run.forward(text.text.clone(), options)?;
        let last = *layers.end();
        let mut graph = run.layers_again(&forward, layers)?;
        let wants_logits = names
            .iter()
            .any(|name| name.starts_with("logits") || name.starts_with("X_final") || name.starts_with("W_U"));
        if wants_logits {
            graph = with_logits(&run, &forward, graph)?;
        }
        let recipe = run.recipe(self.layer.unwrap_or(last))?;
        let heads = [recipe.heads, recipe.kv_heads];
        if let Some(head) = self.head.filter(|head| !(1..=heads[0]).contains(head)) {
            return Err(Error::new(format!("there is no head {head}"))
                .help(format!("the layer has {} heads, counted from 1", heads[0])));
        }
        let shown = ShownLayer { layer: self.layer.unwrap_or(last), head: self.head, heads };
        Ok((model_layer(&self.title(model), graph, shown), forward))
    }

    /// The nodes and files of `--save`, checked; the logits are only computed while they are written, unless they are shown too.
    fn saved(&self, graph: &Graph) -> Result<Vec<(Option<NodeId>, &str)>> {
        self.save.iter().map(|saving| self.saving(graph, saving)).collect()
    }

    fn saving<'s>(&self, graph: &Graph, saving: &'s str) -> Result<(Option<NodeId>, &'s str)> {
        let (name, file) = saving.split_once('=').filter(|(_, file)| !file.is_empty()).ok_or_else(|| {
            Error::new(format!("`--save {saving}` has no file name")).help("write --save L3.A_2=a.npy")
        })?;
        input::check_ending(&to_path(file))?;
        if name == LOGITS && graph.find(LOGITS).is_none() {
            return Ok((None, file));
        }
        Ok((Some(graph.require(&name_in(graph, &node_name(name)?, self.within()))?), file))
    }

    /// Writes the files of `--save`.
    fn write_files(
        &self,
        model: &OpenedModel,
        (graph, forward): (&Graph, &Forward),
        env: &Env,
    ) -> Result<()> {
        for (node, file) in self.saved(graph)? {
            let path = to_path(file);
            match node {
                Some(node) => input::save(&path, &graph[node].name, input::table(graph, node)?, env.writing)?,
                None => input::save(&path, LOGITS, &LogitsTable::new(model, forward)?, env.writing)?,
            }
        }
        Ok(())
    }
}

/// The nodes and cells by their names in the graph, where they were typed by their names in the file.
pub(in crate::cli) fn nodes_in(graph: &Graph, nodes: &NodeArgs, within: Within) -> Result<NodeArgs> {
    let only = nodes.only.iter().map(|name| graph.all_named(&name_in(graph, name, within)));
    let only = only.collect::<Result<Vec<_>>>()?.concat();
    let explain = nodes.explain.renamed(|name| Ok(name_in(graph, name, within)))?;
    Ok(NodeArgs { only, explain })
}

// What is said beside matrices and explanations of a model: the usual name of a head, the command that goes further down.

/// The widest lines of sentences, and their indent.
const WIDEST: usize = 100;
const INDENT: usize = 2;

/// Says beside a matrix of a head that is shown alone, or whose number is explained, how the head is called elsewhere.
pub(super) fn name_as_elsewhere(story: &mut Story) {
    let graph = &story.graph;
    let usual = |id: NodeId| {
        let node = &graph[id];
        usual_name(node).map(|usual| format!("{}, {usual} elsewhere", node.name))
    };
    for step in story.steps.iter_mut().filter(|step| step.text.is_empty()) {
        match &mut step.shown[..] {
            [StepItem::Node(id)] => step.notice = usual(*id),
            [StepItem::Explained { of, .. }] => {
                let mut last = None;
                for one in of {
                    let node = one.explanation.cell.node;
                    if last.replace(node) != Some(node) {
                        one.caption = usual(node).unwrap_or_default();
                    }
                }
            }
            _ => {}
        }
    }
}

/// Says the command that goes on from an explained number down to the weights.
pub(super) fn say_the_way_on(story: &mut Story, program: &Program<'_>, style: &Style) {
    let graph = &story.graph;
    for step in &mut story.steps {
        let [StepItem::Explained { of, .. }] = &step.shown[..] else { continue };
        let [one] = &of[..] else { continue };
        let Some(next) = onward(graph, &one.explanation) else { continue };
        // The full name of a cell needs no layer and no head.
        let command =
            presentation::typed_without(program.typed, &["--explain", "--layer", "--head", "--only"]);
        let cell = quoted(&address_of(graph, next)).into_owned();
        step.notice = Some(format!("Further down: {}", copied_whole(&command, &cell, style)));
    }
}

/// A command that can be copied from the screen: on one line, or where that has no room on two that a shell joins.
fn copied_whole(command: &str, cell: &str, style: &Style) -> String {
    let whole = format!("{command} --explain {cell}");
    let room = style.width.min(WIDEST).saturating_sub(INDENT);
    let joined = |text: &str| text.replace(' ', "\u{a0}");
    if style.format != Format::Table || whole.width() <= room {
        return joined(&whole);
    }
    format!("{} {}", joined(&format!("{command} \\")), joined(&format!("--explain {cell}")))
}
