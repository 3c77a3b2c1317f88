//! The model of a story: a graph, and the sentences that go with its steps.

use serde::{Deserialize, Serialize};

use super::condition::Claim;
use super::plane::Plane;
use super::table::Table;
use super::window::Window;
use crate::error::{Error, Result};
use crate::explain::Explanation;
use crate::graph::recipes::Recipe;
use crate::graph::{Graph, NodeId};
use crate::text::nearest;

/// A computation described step by step.
#[derive(Clone, Debug)]
pub struct Story {
    /// The headline.
    pub title: String,
    /// The text and the section it follows, where it follows one.
    pub source: Option<String>,
    /// The computation.
    pub graph: Graph,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The errors of the text itself, for the end.
    pub notes: Vec<String>,
    /// The command that tells these notes, for where one line points to them.
    pub notes_told_by: Option<String>,
    /// True if the notes stand at the end themselves; folded matrices are shown, too.
    pub full: bool,
    /// Remarks on changes that were made to the user's input.
    pub remarks: Vec<String>,
    /// The digits of numbers if the user does not choose them.
    pub digits: Digits,
    /// The part of large matrices that is shown.
    pub window: Window,
    /// The demo's claims about its numbers, and if they are true; the sentences themselves stand in the steps.
    pub claims: Vec<Claim>,
    /// The recipe that built the graph of its given matrices, where one did.
    pub recipe: Option<Recipe>,
    /// The address of the cell to look at first, where the author marked one.
    pub begin: Option<String>,
}

/// The format of numbers in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Digits {
    /// At most this many decimals.
    Places(usize),
    /// NumPy's format for arrays: up to eight decimals, scientific where the sizes differ much.
    AsNumPy,
}

/// One step: a sentence, and the items below it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Step {
    /// The sentence that describes the step; true for any numbers.
    pub text: String,
    /// The notice: the claims that are true of the numbers.
    pub notice: Option<String>,
    /// The items shown.
    pub shown: Vec<StepItem>,
    /// The item shown in brief in place of its result, for a step without a result whose sentence says little alone.
    pub in_brief: Option<StepItem>,
}

/// Something to look at. Explanations are not written in data: they are made again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepItem {
    /// A computed node: its equation, its operands where there is room, its values.
    Node(NodeId),
    /// Matrices next to each other, under their equations.
    Together(Vec<NodeId>),
    /// Nodes that are named but not shown: the equation of each, and the option that shows their values.
    Folded(Vec<NodeId>),
    /// Nodes of one row, each a column of one table, with the node that holds its sum below it.
    Columns(Vec<(NodeId, Option<NodeId>)>),
    /// A node with each cell written in symbols.
    Symbols(NodeId),
    /// A node's equation with its values left open, as a question.
    Open(NodeId),
    /// Rows of two numbers as points of the plane.
    Plane(Plane),
    /// A table of words.
    Table(Table),
    /// A picture as SVG in the colours of a page; other formats leave it out.
    Picture(String),
    /// Explanations of cells.
    #[serde(skip)]
    Explained {
        /// The cells, in order.
        of: Vec<ExplainedCell>,
        /// True if they stand next to each other where there is room.
        side_by_side: bool,
    },
    /// Cells in symbols alone: `o21 = a21·v11 + a22·v21`.
    #[serde(skip)]
    Symbolic(Vec<Explanation>),
}

/// An explanation, and its caption.
#[derive(Clone, Debug)]
pub struct ExplainedCell {
    /// A caption such as “your way”; empty for none.
    pub caption: String,
    /// The explanation of the cell.
    pub explanation: Explanation,
}

impl Story {
    /// A story of these steps over a graph, with four decimals and without notes, remarks or claims.
    pub fn of_steps(title: &str, graph: Graph, steps: Vec<Step>) -> Story {
        Story {
            title: title.to_string(),
            source: None,
            graph,
            steps,
            notes: Vec::new(),
            notes_told_by: None,
            full: false,
            remarks: Vec::new(),
            digits: Digits::Places(4),
            window: Window::default(),
            claims: Vec::new(),
            recipe: None,
            begin: None,
        }
    }

    /// A graph, every node a step of its own without words.
    pub fn of_graph(title: &str, graph: Graph, digits: Digits) -> Story {
        let step = |(id, _): (NodeId, &_)| Step { shown: vec![StepItem::Node(id)], ..Step::default() };
        let steps = graph.nodes().map(step).collect();
        Story { digits, ..Story::of_steps(title, graph, steps) }
    }

    /// The story of a graph that this recipe built.
    pub fn built_by(self, recipe: Recipe) -> Story {
        Story { recipe: Some(recipe), ..self }
    }

    /// The story with some of its remarks in its first step, which shows the matrices they are about.
    pub fn saying_first(mut self, remarks: &[String]) -> Story {
        if let Some(step) = self.steps.first_mut().filter(|_| !remarks.is_empty()) {
            step.notice =
                Some(remarks.iter().cloned().chain(step.notice.take()).collect::<Vec<_>>().join(" "));
        }
        self
    }

    /// The remarks that no step says.
    pub fn remarks_left(&self) -> impl Iterator<Item = &String> {
        let is_said = |remark: &str| {
            self.steps.iter().filter_map(|step| step.notice.as_deref()).any(|notice| notice.contains(remark))
        };
        self.remarks.iter().filter(move |remark| !is_said(remark))
    }

    /// Its pictures of the plane, in order.
    pub fn planes(&self) -> impl Iterator<Item = &Plane> {
        self.steps.iter().flat_map(|step| &step.shown).filter_map(|shown| match shown {
            StepItem::Plane(plane) => Some(plane),
            _ => None,
        })
    }

    /// The node or the picture of the plane that a name stands for.
    ///
    /// # Errors
    /// If it is neither; the error lists what there is.
    pub fn named(&self, name: &str) -> Result<StepItem> {
        if self.graph.find(name).is_none()
            && let Some(plane) = self.planes().find(|plane| plane.name == name)
        {
            return Ok(StepItem::Plane(plane.clone()));
        }
        let planes: Vec<&str> = self.planes().map(|plane| plane.name.as_str()).collect();
        if self.graph.find(name).is_none()
            && let Some(near) = nearest(name, planes.iter().copied())
                .filter(|near| near.chars().next() == name.chars().next())
        {
            return Err(Error::new(format!("there is no node and no picture `{name}`"))
                .help(format!("did you mean `{near}`? The pictures are {}", planes.join(" "))));
        }
        match self.graph.require(name) {
            Err(_) if name.starts_with("plane") && planes.is_empty() => Err(Error::new(format!(
                "there is no `{name}` here: no picture of a plane is drawn"
            ))
            .help("words with two numbers each have one: attn similarity bat cave racket --only plane")),
            Err(error) if !planes.is_empty() => {
                Err(error.and_help(&format!("pictures: {}", planes.join(" "))))
            }
            found => found.map(StepItem::Node),
        }
    }

    /// The story with every folded matrix shown, and every note.
    pub fn unfolded(mut self) -> Story {
        self.full = true;
        let graph = &self.graph;
        let unfold = |shown: StepItem| match shown {
            StepItem::Folded(ids) if ids.iter().all(|&id| graph[id].op.is_given()) => {
                vec![StepItem::Together(ids)]
            }
            StepItem::Folded(ids) => ids.into_iter().map(StepItem::Node).collect(),
            other => vec![other],
        };
        for step in &mut self.steps {
            step.shown = std::mem::take(&mut step.shown).into_iter().flat_map(unfold).collect();
        }
        self
    }

    /// The story up to the node, whose values are left open, as a question for a class. Nothing that is computed after the
    /// node, or together with it, is shown.
    pub fn until(mut self, node: NodeId) -> Story {
        let is_later = |shown: &StepItem| shown.nodes().iter().any(|&id| id >= node);
        let end = self.steps.iter().position(|step| step.shown.iter().any(is_later));
        self.notes.clear();
        self.claims.clear();
        let Some(end) = end else { return self };
        self.steps.truncate(end + 1);
        if let Some(step) = self.steps.last_mut() {
            let at = step.shown.iter().position(is_later).unwrap_or(0);
            let before = step.shown[at].before(node);
            step.shown.truncate(at);
            step.shown.extend(before);
            step.shown.push(StepItem::Open(node));
            step.notice = None;
        }
        self
    }
}

impl StepItem {
    /// The part that comes before a node, if this shows several nodes.
    fn before(&self, node: NodeId) -> Option<StepItem> {
        match self {
            StepItem::Together(ids) | StepItem::Folded(ids) => {
                let ids: Vec<NodeId> = ids.iter().copied().filter(|&id| id < node).collect();
                let is_folded = matches!(self, StepItem::Folded(_));
                (!ids.is_empty()).then_some(if is_folded {
                    StepItem::Folded(ids)
                } else {
                    StepItem::Together(ids)
                })
            }
            StepItem::Columns(columns) => {
                let early = |&(id, sum): &(NodeId, Option<NodeId>)| {
                    (id < node).then(|| (id, sum.filter(|&sum| sum < node)))
                };
                let columns: Vec<_> = columns.iter().filter_map(early).collect();
                (!columns.is_empty()).then_some(StepItem::Columns(columns))
            }
            _ => None,
        }
    }

    /// The nodes whose values this shows.
    pub fn nodes(&self) -> Vec<NodeId> {
        match self {
            StepItem::Node(id) | StepItem::Symbols(id) => vec![*id],
            StepItem::Together(ids) | StepItem::Folded(ids) => ids.clone(),
            StepItem::Columns(columns) => {
                columns.iter().flat_map(|(id, sum)| [Some(*id), *sum]).flatten().collect()
            }
            StepItem::Plane(plane) => plane.nodes(),
            StepItem::Explained { of, .. } => of.iter().map(|one| one.explanation.cell.node).collect(),
            StepItem::Symbolic(of) => of.iter().map(|one| one.cell.node).collect(),
            StepItem::Open(_) | StepItem::Table(_) | StepItem::Picture(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Origin;
    use crate::matrix::Matrix;

    fn graph() -> Graph {
        let mut graph = Graph::new();
        let a = Matrix::of([[0.569_54, -0.5], [f64::NEG_INFINITY, 2.0]]).rows_named(&["bat", "cave"]);
        graph.given("A", a, Origin::Stated).unwrap();
        graph
    }

    #[test]
    fn until_leaves_the_answer_open() {
        let graph = graph();
        let node = graph.last().unwrap();
        let story = Story::of_graph("a", graph, Digits::Places(4)).until(node);
        assert!(matches!(story.steps[0].shown[..], [StepItem::Open(open)] if open == node));
    }
}
