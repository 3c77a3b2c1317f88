//! `--explain`, `--depth` and `--symbolic`: where a number comes from.

use clap::Args;

use super::output::{FormatArg, OutputArgs};
use crate::error::{Error, Result};
use crate::explain::{Depth, Explanation, LongSums, MOST_OF_A_NODE, cells_at, cells_named, explain};
use crate::graph::{CellId, Cells, NodeId};
use crate::render::Page;
use crate::story::{ExplainedCell, Step, StepItem, Story};

/// From this many explained cells on, a note says how to see fewer.
const MANY: usize = 20;

/// Which cells are explained, and how.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Where a number comes from")]
pub(super) struct ExplainArgs {
    /// Show where a number comes from: 'A[cave,bat]'
    ///
    /// The formula, its operands and its value. A cell is named by its labels, or by row and column: 'A[3,2]'. 'A[bat]' explains
    /// each number of a row. May be repeated.
    #[arg(long, value_name = "CELL")]
    explain: Vec<String>,
    /// Levels of operands to explain, or all [default: 1]
    #[arg(long, value_name = "N", requires = "explain", conflicts_with = "symbolic", value_parser = depth)]
    depth: Option<Depth>,
    /// Show a node, row or cell in symbols, ready to paste
    ///
    /// Without an address it shows the cells of --explain, the nodes of --only, or everything that is shown.
    #[arg(long, value_name = "CELL", num_args = 0..=1)]
    symbolic: Option<Option<String>>,
}

fn depth(text: &str) -> std::result::Result<Depth, String> {
    match (text, text.parse::<usize>()) {
        ("all", _) => Ok(Depth::All),
        (_, Ok(levels @ 1..)) => Ok(Depth::Levels(levels)),
        _ => Err("take a number from 1, or all".into()),
    }
}

impl ExplainArgs {
    /// The option that is used, if one is.
    pub(super) fn used(&self) -> Option<&'static str> {
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
        let is_data = output.look.format == FormatArg::Json;
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

    /// The cells that are named.
    pub(super) fn cells(&self) -> impl Iterator<Item = &str> {
        self.addresses().into_iter().map(String::as_str)
    }

    /// The levels that are explained, if they are chosen.
    pub(super) fn depth(&self) -> Option<Depth> {
        self.depth
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
