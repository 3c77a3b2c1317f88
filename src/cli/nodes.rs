//! `--only`, and the options of an explanation: which nodes and cells of a story are shown.

use std::collections::HashSet;

use clap::Args;

use super::explain::ExplainArgs;
use super::output::OutputArgs;
use crate::error::Result;
use crate::render::Page;
use crate::story::{Step, StepItem, Story};

/// Which nodes of a graph are written, or which of its cells explained.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub(super) struct NodeArgs {
    /// Show only these nodes or pictures: S,A,O or plane
    ///
    /// A star stands for any text: 'A_*' takes every head.
    #[arg(long, value_name = "NODE,…", value_delimiter = ',')]
    pub only: Vec<String>,
    #[command(flatten)]
    pub explain: ExplainArgs,
}

impl NodeArgs {
    /// The page of a story: all of it, only the nodes asked for, or the explanation of some cells.
    pub(super) fn page(&self, story: Story, output: &OutputArgs) -> Result<Page> {
        let page = self.of_nodes(story)?;
        match self.explain.used() {
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
