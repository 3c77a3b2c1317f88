//! `--only`, and the options of an explanation: which nodes and cells of a story are shown.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use serde::{Deserialize, Deserializer};

use crate::error::{Error, Result};
use crate::explain::{Depth, Explanation, LongSums, MOST_OF_A_NODE, cells_at, cells_named, explain};
use crate::graph::{CellId, Cells, NodeId};
use crate::render::{Format, Page};
use crate::story::{ExplainedCell, Step, StepItem, Story};

use super::options::{first_given, read_with};
use super::output::OutputArgs;
use super::program::unshielded;
use super::registry::maybe_bare;

/// Which nodes of a graph are written, or which of its cells explained.
#[derive(Deserialize, Clone, Debug, Default)]
pub(super) struct NodeArgs {
    pub only: Vec<String>,
    #[serde(flatten)]
    pub explain: ExplainArgs,
}

impl NodeArgs {
    /// The page of a story: all of it, only the nodes asked for, or the explanation of some cells.
    pub(super) fn page(&self, story: Story, output: &OutputArgs) -> Result<Page> {
        let page = self.of_nodes(story)?;
        match self.explain.given_option() {
            Some(_) => self.explain.page(page, output),
            None => Ok(page),
        }
    }

    /// The nodes and pictures asked for, each once, in the order in which they are first named.
    pub(super) fn names(&self) -> Vec<String> {
        let mut seen = HashSet::new();
        let names = self.only.iter().map(|name| name.trim());
        names.filter(|name| seen.insert(*name)).map(str::to_string).collect()
    }

    /// All of a story, or only the nodes asked for.
    fn of_nodes(&self, story: Story) -> Result<Page> {
        if self.only.is_empty() {
            return Ok(Page::whole(story));
        }
        let mut names: Vec<String> = Vec::new();
        for name in self.names() {
            for name in story.graph.all_named(&name)? {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        let shown = names.iter().map(|name| story.named(name)).collect::<Result<Vec<StepItem>>>()?;
        let nodes = shown.iter().flat_map(StepItem::nodes).collect();
        let steps = shown.into_iter().map(|shown| Step { shown: vec![shown], ..Step::default() }).collect();
        let story = Story { steps, notes: Vec::new(), ..story };
        Ok(Page::headless(story, nodes))
    }
}

// `--explain`, `--depth` and `--symbolic`: where a number comes from.

/// From this many explained cells on, a note says how to see fewer.
const MANY: usize = 20;

/// Which cells are explained, and how.
#[derive(Deserialize, Clone, Debug, Default)]
pub(super) struct ExplainArgs {
    explain: Vec<String>,
    #[serde(deserialize_with = "read_depth")]
    pub depth: Option<Depth>,
    #[serde(deserialize_with = "maybe_bare")]
    symbolic: Option<Option<String>>,
}

/// A number of levels, or all.
pub(super) fn depth(text: &str) -> std::result::Result<Depth, String> {
    match (text, text.parse::<usize>()) {
        ("all", _) => Ok(Depth::All),
        (_, Ok(levels @ 1..)) => Ok(Depth::Levels(levels)),
        _ => Err("take a number from 1, or all".into()),
    }
}

fn read_depth<'de, D: Deserializer<'de>>(text: D) -> std::result::Result<Option<Depth>, D::Error> {
    read_with(text, depth)
}

impl ExplainArgs {
    /// The option that is used, if one is.
    pub(super) fn given_option(&self) -> Option<&'static str> {
        match (self.explain.is_empty(), &self.symbolic) {
            (false, _) => Some("--explain"),
            (true, Some(_)) => Some("--symbolic"),
            (true, None) => None,
        }
    }

    /// The page with the cells that are asked for, below the nodes of `--only`.
    pub(super) fn page(&self, page: Page, output: &OutputArgs) -> Result<Page> {
        let is_table = !page.headed;
        let Page { mut story, nodes, .. } = page;
        let graph = &story.graph;
        let cells = match self.addresses() {
            none if none.is_empty() => in_symbols(&story, &nodes, is_table)?,
            addresses => {
                let cells = addresses.into_iter().map(|address| cells_named(graph, address));
                cells.collect::<Result<Vec<_>>>()?.concat()
            }
        };
        let is_data = output.look.format == Format::Json;
        if is_data && is_table && self.symbolic.is_none() {
            return Err(Error::new("JSON has either the nodes of --only or the explanation of --explain")
                .help("run the command twice: once with --only, once with --explain"));
        }
        let sums = if is_data || self.symbolic.is_some() { LongSums::Whole } else { LongSums::Shortened };
        let explanations = explain(graph, &cells, self.depth.unwrap_or(Depth::Levels(1)), sums)?;
        if !is_data && let Some(hint) = self.hint(&explanations) {
            story.remarks.push(hint);
        }
        let shown = if self.symbolic.is_some() && !is_data {
            StepItem::Symbolic(explanations)
        } else {
            let plain = |explanation| ExplainedCell { caption: String::new(), explanation };
            StepItem::Explained { of: explanations.into_iter().map(plain).collect(), side_by_side: false }
        };
        let explained = Step { shown: vec![shown], ..Step::default() };
        // In symbols, the nodes of --only replace their tables.
        let tables = if is_table && self.symbolic.is_none() { story.steps } else { Vec::new() };
        story.steps = tables.into_iter().chain([explained]).collect();
        story.notes = Vec::new();
        Ok(Page::headless(story, Vec::new()))
    }

    /// A hint to explain fewer levels, if many cells are explained.
    fn hint(&self, explanations: &[Explanation]) -> Option<String> {
        let count: usize = explanations.iter().map(Explanation::count).sum();
        let is_deep = self.depth.is_some_and(|depth| depth != Depth::Levels(1));
        (is_deep && count > MANY).then(|| {
            let fewer = match self.depth {
                Some(Depth::Levels(levels)) if levels > 2 => levels - 1,
                Some(Depth::Levels(_)) => 1,
                _ => 2,
            };
            format!("{count} cells are explained here; --depth {fewer} shows fewer")
        })
    }

    /// These options, with every address renamed.
    pub(super) fn renamed(&self, rename: impl Fn(&str) -> Result<String>) -> Result<ExplainArgs> {
        let symbolic = match &self.symbolic {
            Some(Some(address)) => Some(Some(rename(address)?)),
            other => other.clone(),
        };
        let explain = self.explain.iter().map(|address| rename(address)).collect::<Result<_>>()?;
        Ok(ExplainArgs { explain, depth: self.depth, symbolic })
    }

    /// The addresses after `--explain` and `--symbolic`.
    pub(super) fn addresses(&self) -> Vec<&String> {
        self.explain.iter().chain(self.symbolic.iter().flatten()).collect()
    }
}

/// The cells of everything that a story shows and computes; of a node with too many cells the first. If nodes are named, theirs.
fn in_symbols(story: &Story, named: &[NodeId], is_named: bool) -> Result<Vec<CellId>> {
    let graph = &story.graph;
    if is_named {
        let cells = named.iter().map(|&node| cells_at(graph, Cells::Node(node)));
        return Ok(cells.collect::<Result<Vec<_>>>()?.concat());
    }
    let shown = story.steps.iter().flat_map(|step| step.shown.iter().flat_map(StepItem::nodes));
    let mut nodes: Vec<NodeId> = Vec::new();
    for node in shown.filter(|&node| !graph[node].op.is_given() && graph[node].matrix().is_some()) {
        if !nodes.contains(&node) {
            nodes.push(node);
        }
    }
    let cells = |node| {
        let shape = graph[node].shape();
        match shape.rows * shape.cols {
            0 => Vec::new(),
            1..=MOST_OF_A_NODE => cells_at(graph, Cells::Node(node)).unwrap_or_default(),
            _ => vec![CellId { node, row: 0, col: 0 }],
        }
    };
    Ok(nodes.into_iter().flat_map(cells).collect())
}

// `--step`, `--steps`, `--brief` and `--until`: the part of a story that is shown.

/// Which steps are shown, and how much of each.
#[derive(Deserialize, Clone, Debug, Default)]
pub(super) struct StepArgs {
    step: Option<String>,
    steps: Option<String>,
    brief: bool,
    until: Option<String>,
    pub no_pause: bool,
}

impl StepArgs {
    /// The option for a part of a story that is used, if one is.
    pub(super) fn given_option(&self) -> Option<&'static str> {
        first_given(&[
            ("--step", self.step.is_some()),
            ("--steps", self.steps.is_some()),
            ("--until", self.until.is_some()),
            ("--brief", self.brief),
        ])
    }

    /// The option that is about the steps of one story, if one is used: `--brief` is about any number of them.
    pub(super) fn wants_one(&self) -> Option<&'static str> {
        self.given_option().filter(|option| *option != "--brief")
    }

    /// These options, with the node of `--until` renamed.
    pub(super) fn renamed(&self, rename: impl Fn(&str) -> Result<String>) -> Result<StepArgs> {
        let until = self.until.as_deref().map(rename).transpose()?;
        Ok(StepArgs { until, ..self.clone() })
    }

    /// # Errors
    /// If a part of the story is asked for together with something that has no steps.
    pub(super) fn check_options(&self, nodes: &NodeArgs, versus: bool) -> Result<()> {
        let Some(own) = self.given_option() else { return Ok(()) };
        let (other, shows) = match nodes.explain.given_option() {
            Some("--symbolic") => ("--symbolic", "one formula"),
            Some(option) => (option, "where one number comes from"),
            None if !nodes.only.is_empty() => ("--only", "matrices without their steps"),
            None if versus => ("--versus", "what differs, not the steps"),
            None => return Ok(()),
        };
        Err(Error::new(format!("{own} chooses among the steps, but {other} shows {shows}"))
            .help(format!("leave out {own} or {other}")))
    }

    /// The page of a story: the part that is asked for; or, where no part is, what the other options ask for.
    ///
    /// # Errors
    /// If there is no such step, node or cell. `whole` is the command without the options that choose steps, for an example that works.
    pub(super) fn page(
        &self,
        mut story: Story,
        nodes: &NodeArgs,
        output: &OutputArgs,
        whole: &str,
    ) -> Result<Page> {
        if self.given_option().is_none() {
            return nodes.page(story, output);
        }
        let steps = self.numbers(&story, whole)?;
        let mut shown: Vec<_> = story.graph.nodes().map(|(id, _)| id).collect();
        if let Some(until) = &self.until {
            let node = story.graph.require(until)?;
            shown.retain(|id| *id < node);
            story = story.until(node);
        }
        let (mut skipped, mut left) = (0, 0);
        if let Some(steps) = &steps {
            if *steps.start() > story.step_count() {
                let until = self.until.as_deref().unwrap_or_default();
                let last = story.step_count();
                return Err(Error::new(format!("step {} comes after {until}", steps.start()))
                    .help(format!("--until {until} ends in step {last}: {whole} --step {last}")));
            }
            skipped = steps.start() - 1;
            left = story.step_count().saturating_sub(*steps.end());
            story = story.only_steps(steps);
        }
        if self.brief {
            story = story.in_brief();
        }
        if steps.is_some() || self.brief {
            let told = story.shown_nodes();
            shown.retain(|id| told.contains(id));
        }
        Ok(Page { story, nodes: shown, headed: steps.is_none(), skipped, left, computing: None })
    }

    /// The numbers of the steps that are asked for.
    fn numbers(&self, story: &Story, whole: &str) -> Result<Option<RangeInclusive<usize>>> {
        let last = story.step_count();
        let steps = self.steps.as_deref().map(unshielded);
        let range = match (&self.step, &steps) {
            (Some(step), _) => number(step).map(|number| (number, number)),
            (None, Some(steps)) => span(steps, last),
            (None, None) => return Ok(None),
        };
        let typed = self.step.as_ref().map(|step| format!("--step {step}"));
        let typed = typed.unwrap_or_else(|| format!("--steps {}", steps.unwrap_or_default()));
        let (what, help) = match range {
            Some((from, to)) if 1 <= from && from <= to && to <= last => return Ok(Some(from..=to)),
            Some((from, to)) if from > to && from <= last && to > 0 => {
                (format!("{typed} ends before it begins"), format!("--steps {to}-{from}"))
            }
            Some((from, to)) if from == to => (format!("there is no step {from}"), format!("--step {last}")),
            Some(_) => (format!("{typed}: there are no such steps"), format!("--steps 1-{last}")),
            None if self.step.is_some() => {
                (format!("{typed} is not the number of a step"), format!("--step {last}"))
            }
            None => (format!("{typed} is not a range of steps"), format!("--steps 1-{last}")),
        };
        let has = match last {
            1 => "there is one step".to_string(),
            _ => format!("the steps are 1 to {last}"),
        };
        Err(Error::new(what).help(format!("{has}: {whole} {help}")))
    }
}

/// `3`.
fn number(text: &str) -> Option<usize> {
    text.trim().parse().ok()
}

/// `3-5`, `3-`, `-5` or `3`, of steps up to the last.
fn span(text: &str, last: usize) -> Option<(usize, usize)> {
    let text = text.trim();
    let Some((from, to)) = text.split_once(['-', '–']).or_else(|| text.split_once("..")) else {
        return number(text).map(|number| (number, number));
    };
    let end = |text: &str, open: usize| if text.is_empty() { Some(open) } else { number(text) };
    (!(from.is_empty() && to.is_empty())).then_some(())?;
    Some((end(from, 1)?, end(to, last)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_may_be_open_at_one_end() {
        assert_eq!(span("3-5", 9), Some((3, 5)));
        assert_eq!(span("3-", 9), Some((3, 9)));
        assert_eq!(span("-3", 9), Some((1, 3)));
        assert_eq!(span("4", 9), Some((4, 4)));
        assert_eq!(span("5-3", 9), Some((5, 3)));
        for wrong in ["-", "", "x", "1-x", "1-2-3", "1.5"] {
            assert_eq!(span(wrong, 9), None, "{wrong}");
        }
    }
}
