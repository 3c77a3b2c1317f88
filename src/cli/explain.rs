//! `--explain`, `--depth` and `--symbolic`: where a number comes from.

use clap::Args;

use super::output::{FormatArg, OutputArgs};
use crate::demo::{Explained, Shown, Step, Story};
use crate::error::{Error, Result};
use crate::explain::{Depth, Sums, explain};
use crate::graph::{CellId, Cells, Graph, resolve_each};
use crate::render::Page;

/// A whole node is explained where it has at most so many cells.
const MOST_OF_A_NODE: usize = 64;

/// Which cells are explained, and how.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Where a number comes from")]
pub(super) struct ExplainArgs {
    /// The formula behind a cell, its operands, its value: 'A[3,2]', 'A[cave,bat]'; 'A[bat]' for each cell of a row. May be
    /// repeated.
    #[arg(long, value_name = "CELL", conflicts_with = "only")]
    explain: Vec<String>,
    /// How many levels of operands: 1, 2, …, or all, down to the numbers given [default: 1].
    #[arg(long, value_name = "N", requires = "explain", conflicts_with = "symbolic", value_parser = depth)]
    depth: Option<Depth>,
    /// A node, row or cell in symbols alone, ready to paste; without an address, the cells of --explain.
    #[arg(long, value_name = "CELL", num_args = 0..=1, conflicts_with = "only")]
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

    /// The story with nothing but the cells that are asked for.
    pub(super) fn page(&self, story: Story, output: &OutputArgs) -> Result<Page> {
        let graph = &story.graph;
        let of_symbolic = self.symbolic.iter().flatten();
        let addresses: Vec<&String> = self.explain.iter().chain(of_symbolic).collect();
        if addresses.is_empty() {
            return Err(Error::new("--symbolic names no cell")
                .help("write --symbolic 'O[1,2]', or add --explain 'O[1,2]'"));
        }
        let mut cells = Vec::new();
        for address in addresses {
            for named in resolve_each(graph, address)? {
                cells.extend(cells_at(graph, named)?);
            }
        }
        let is_data = output.look.format == FormatArg::Json;
        let sums = if is_data || self.symbolic.is_some() { Sums::Whole } else { Sums::Shortened };
        let explanations = explain(graph, &cells, self.depth.unwrap_or(Depth::Levels(1)), sums)?;
        let shown = match self.symbolic.is_some() && !is_data {
            true => Shown::Symbolic(explanations),
            false => {
                let plain = |explanation| Explained { caption: String::new(), explanation };
                Shown::Explained { of: explanations.into_iter().map(plain).collect(), side_by_side: false }
            }
        };
        let steps = vec![Step { shown: vec![shown], ..Step::default() }];
        let story = Story { steps, notes: Vec::new(), ..story };
        Ok(Page { story, nodes: Vec::new(), headed: false })
    }
}

/// The cells that an address names.
fn cells_at(graph: &Graph, named: Cells) -> Result<Vec<CellId>> {
    match named {
        Cells::Cell(cell) => Ok(vec![cell]),
        Cells::Row(node, row) => {
            Ok((0..graph[node].shape().cols).map(|col| CellId { node, row, col }).collect())
        }
        Cells::Node(node) => {
            let shape = graph[node].shape();
            let count = shape.rows * shape.cols;
            if count > MOST_OF_A_NODE {
                let name = &graph[node].name;
                return Err(Error::new(format!(
                    "{name} ({shape}) has {count} cells, and a whole node is explained up to {MOST_OF_A_NODE}"
                ))
                .help(format!("name a row of it, {name}[1], or a cell, {name}[1,1]")));
            }
            Ok((0..shape.rows)
                .flat_map(|row| (0..shape.cols).map(move |col| CellId { node, row, col }))
                .collect())
        }
    }
}
