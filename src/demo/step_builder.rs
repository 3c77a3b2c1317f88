//! Building one step of a demo's story.

use crate::graph::NodeId;
use crate::story::condition::{Claim, Condition};
use crate::story::{Plane, Step, StepItem, Table};

/// Adds to one step.
pub struct StepBuilder<'a> {
    pub(super) step: &'a mut Step,
    pub(super) at: usize,
    pub(super) claims: &'a mut Vec<Claim>,
}

impl StepBuilder<'_> {
    /// A notice: a sentence that is shown if the condition is true and every cell that the sentence names exists; cells are
    /// written `{A[1,2]:2}`.
    pub fn claim(self, condition: Condition, text: &str) -> Self {
        self.claimed(condition, text, false)
    }

    /// A sentence that replaces the step's heading if the condition is true. The heading itself has to be true for any numbers.
    pub fn heading_if(self, condition: Condition, text: &str) -> Self {
        self.claimed(condition, text, true)
    }

    fn claimed(self, condition: Condition, text: &str, is_heading: bool) -> Self {
        let text = text.to_string();
        self.claims.push(Claim { step: self.at, condition, text, is_heading, shown: false });
        self
    }

    /// Shows nodes one after the other, each with its equation.
    pub fn show(self, nodes: &[NodeId]) -> Self {
        self.step.shown.extend(nodes.iter().map(|&id| StepItem::Node(id)));
        self
    }

    /// Shows matrices next to each other.
    pub fn together(self, nodes: &[NodeId]) -> Self {
        self.step.shown.push(StepItem::Together(nodes.to_vec()));
        self
    }

    /// Shows a matrix in brief, for a step that only says something of one that is shown before it.
    pub fn in_brief(self, node: NodeId) -> Self {
        self.step.in_brief = Some(StepItem::Together(vec![node]));
        self
    }

    /// Names matrices by their equations; `--full` shows their numbers.
    pub fn folded(self, nodes: &[NodeId]) -> Self {
        self.step.shown.push(StepItem::Folded(nodes.to_vec()));
        self
    }

    /// Shows nodes of one row as the columns of one table, under each the number in the node of its sum.
    pub fn columns(self, columns: &[(NodeId, Option<NodeId>)]) -> Self {
        self.step.shown.push(StepItem::Columns(columns.to_vec()));
        self
    }

    /// Shows the cells of a node written in symbols.
    pub fn symbols(self, node: NodeId) -> Self {
        self.step.shown.push(StepItem::Symbols(node));
        self
    }

    /// Draws points of the plane, and movements from rows of one node to the same rows of another.
    pub fn plane(self, points: &[NodeId], arrows: &[(NodeId, NodeId)]) -> Self {
        self.step.shown.push(StepItem::Plane(Plane::new(points, arrows)));
        self
    }

    /// Shows a table of words.
    pub fn table(self, table: Table) -> Self {
        self.step.shown.push(StepItem::Table(table));
        self
    }
}
