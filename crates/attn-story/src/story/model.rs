//! The model of a story: a graph, and the sentences that go with its steps.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::condition::Claim;
use crate::error::{Error, Result};
use crate::explain::Explanation;
use crate::graph::recipes::Recipe;
use crate::graph::{Graph, LabelMatch, NodeId, Origin, find_label};
use crate::matrix::{Labels, Matrix};
use crate::tensor::edges;
use crate::text::nearest;

/// A computation described step by step. A page holds its words as data, without its graph.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Story {
    /// The headline.
    pub title: String,
    /// The text and the section it follows, where it follows one.
    pub source: Option<String>,
    /// The computation.
    #[serde(skip)]
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
    #[serde(skip)]
    pub window: Window,
    /// The demo's claims about its numbers, and if they are true; the sentences themselves stand in the steps.
    #[serde(skip)]
    pub claims: Vec<Claim>,
    /// The recipe that built the graph of its given matrices, where one did.
    #[serde(skip)]
    pub recipe: Option<Recipe>,
    /// The address of the cell to look at first, where the author marked one.
    #[serde(skip)]
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
        let step = |(id, _): (NodeId, &_)| Step::new("", vec![StepItem::Node(id)]);
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
            let notices: Vec<String> = remarks.iter().cloned().chain(step.notice.take()).collect();
            step.notice = Some(notices.join(" "));
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
        let planes: Vec<&str> = self.planes().map(|plane| plane.name.as_str()).collect();
        if self.graph.find(name).is_none() {
            if let Some(plane) = self.planes().find(|plane| plane.name == name) {
                return Ok(StepItem::Plane(plane.clone()));
            }
            let near = nearest(name, planes.iter().copied());
            if let Some(near) = near.filter(|near| near.chars().next() == name.chars().next()) {
                return Err(Error::new(format!("there is no node and no picture `{name}`"))
                    .help(format!("did you mean `{near}`? The pictures are {}", planes.join(" "))));
            }
        }
        self.graph.require(name).map(StepItem::Node).map_err(|error| match &planes[..] {
            [] if name.starts_with("plane") => Error::new(format!(
                "there is no `{name}` here: no picture of a plane is drawn"
            ))
            .help("words with two numbers each have one: attn similarity bat cave racket --only plane"),
            [] => error,
            planes => error.and_help(&format!("pictures: {}", planes.join(" "))),
        })
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

impl Step {
    /// A step of this sentence, and the items below it.
    pub fn new(text: impl Into<String>, shown: Vec<StepItem>) -> Step {
        Step { text: text.into(), shown, ..Step::default() }
    }

    /// A step that only remarks something.
    pub fn remark(notice: String) -> Step {
        Step { notice: Some(notice), ..Step::default() }
    }
}

impl StepItem {
    /// The part that comes before a node, if this shows several nodes.
    fn before(&self, node: NodeId) -> Option<StepItem> {
        let shows_several =
            matches!(self, StepItem::Together(_) | StepItem::Folded(_) | StepItem::Columns(_));
        let part = self.with_nodes(&|id| (id < node).then_some(id)).filter(|_| shows_several)?;
        (!part.nodes().is_empty()).then_some(part)
    }

    /// This with other nodes; those that `other` leaves out are left out of it. `None` where nothing of it is left.
    pub fn with_nodes(&self, other: &dyn Fn(NodeId) -> Option<NodeId>) -> Option<StepItem> {
        let all = |ids: &[NodeId]| ids.iter().filter_map(|&id| other(id)).collect::<Vec<_>>();
        Some(match self {
            StepItem::Node(id) => StepItem::Node(other(*id)?),
            StepItem::Symbols(id) => StepItem::Symbols(other(*id)?),
            StepItem::Open(id) => StepItem::Open(other(*id)?),
            StepItem::Together(ids) => StepItem::Together(all(ids)),
            StepItem::Folded(ids) => StepItem::Folded(all(ids)),
            StepItem::Columns(columns) => {
                let column = |(id, sum): &(NodeId, Option<NodeId>)| Some((other(*id)?, sum.and_then(other)));
                StepItem::Columns(columns.iter().filter_map(column).collect())
            }
            StepItem::Plane(plane) => {
                let arrow = |(from, to): &(NodeId, NodeId)| Some((other(*from)?, other(*to)?));
                let arrows = plane.arrows.iter().filter_map(arrow).collect();
                StepItem::Plane(Plane { points: all(&plane.points), arrows, name: plane.name.clone() })
            }
            // They name no nodes of a saved story.
            StepItem::Table(_)
            | StepItem::Picture(_)
            | StepItem::Explained { .. }
            | StepItem::Symbolic(_) => self.clone(),
        })
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

// Tables of words.

/// A table of text; every row has as many cells as the header.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The column heads.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// The indices of the columns that hold numbers: they are aligned to the right, and JSON writes them as numbers.
    pub numbers: Vec<usize>,
    /// For each row and column a share from 0 to 1 that a terminal shades the cell by; empty for a table without shades.
    pub shares: Vec<Vec<Option<f64>>>,
    /// What there is to notice in it, below the table, or alone where there are no columns; only people are told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

impl Table {
    /// A table from texts.
    pub fn new(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Table {
        let header = header.iter().map(|text| text.to_string()).collect();
        Table { header, rows: rows.into_iter().collect(), ..Table::default() }
    }

    /// This table with the columns under these heads marked as numbers.
    pub fn with_numbers(mut self, heads: &[&str]) -> Table {
        self.numbers = (0..self.header.len()).filter(|&j| heads.contains(&self.header[j].as_str())).collect();
        self
    }

    /// This table with sentences below it.
    pub fn noticing(mut self, notices: impl IntoIterator<Item = String>) -> Table {
        self.notices.extend(notices);
        self
    }

    /// This table with its cells shaded by shares from 0 to 1.
    pub fn shaded_by(mut self, shares: Vec<Vec<Option<f64>>>) -> Table {
        self.shares = shares;
        self
    }
}

// A picture of the plane.

/// Points and movements in the plane.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Plane {
    /// Its name in its story: `plane`, the next ones `plane_2`, `plane_3` …
    pub name: String,
    /// Nodes of two columns; each row is a point, its label the word.
    pub points: Vec<NodeId>,
    /// From each row of the first node to the same row of the second.
    pub arrows: Vec<(NodeId, NodeId)>,
}

impl Plane {
    /// The first plane of a story.
    pub fn new(points: &[NodeId], arrows: &[(NodeId, NodeId)]) -> Plane {
        Plane { name: "plane".into(), points: points.to_vec(), arrows: arrows.to_vec() }
    }

    /// The nodes whose rows are points or ends of arrows, each once, in the order of the picture.
    pub fn nodes(&self) -> Vec<NodeId> {
        let ends = self.arrows.iter().flat_map(|(from, to)| [*from, *to]);
        let mut seen = HashSet::new();
        self.points.iter().copied().chain(ends).filter(|id| seen.insert(*id)).collect()
    }
}

// The part of large matrices that is looked at.

/// The neighbours of a token that are shown with it, on each side.
const NEIGHBOURS: usize = 3;

/// The rows and columns of large matrices that are shown; their edges where nothing is chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// Rows, counted from 1.
    pub rows: Option<RangeInclusive<usize>>,
    /// Columns, counted from 1.
    pub cols: Option<RangeInclusive<usize>>,
    /// A token: the rows and columns that carry it, and their neighbours.
    pub around: Option<String>,
}

impl Window {
    /// The places that are shown of this many rows or columns, counted from 0, with `None` for what is left out between them; `chosen`
    /// are its own rows or columns.
    pub fn places(
        &self,
        chosen: Option<&RangeInclusive<usize>>,
        count: usize,
        labels: Option<&Labels>,
    ) -> Vec<Option<usize>> {
        if let Some(range) = chosen
            && *range.start() <= count
        {
            return between(range.start() - 1..(*range.end()).min(count), count);
        }
        let place = |token: &String| place_of(labels?, token);
        match self.around.as_ref().and_then(place) {
            Some(at) => between(at.saturating_sub(NEIGHBOURS)..(at + NEIGHBOURS + 1).min(count), count),
            None => edges(count),
        }
    }

    /// Returns true if a part is chosen.
    pub fn is_chosen(&self) -> bool {
        *self != Window::default()
    }
}

/// The first place that a token names among labels, counted from 0: see [`find_label`].
pub fn place_of(labels: &Labels, token: &str) -> Option<usize> {
    match find_label(labels, token.trim()) {
        LabelMatch::One(at) => Some(at),
        LabelMatch::Repeated(places) | LabelMatch::Different(places) => places.first().copied(),
        // A token may be all space.
        LabelMatch::None => labels.iter().position(|label| label.trim() == token.trim()),
    }
}

/// Some neighbouring places, with dots for those before and after.
fn between(range: std::ops::Range<usize>, count: usize) -> Vec<Option<usize>> {
    let before = (range.start > 0).then_some(None);
    let after = (range.end < count).then_some(None);
    before.into_iter().chain(range.map(Some)).chain(after).collect()
}

// The numbers of tables of words.

/// The columns of numbers of each table as a matrix: a node with the name of the table's first column, whose cells label the
/// rows, as in `part[all,count]`. The second table of that name is `part_2`. `None` if no table has numbers.
///
/// # Errors
/// If there is no room for the numbers.
pub fn numbers_of_tables<'t>(tables: impl IntoIterator<Item = &'t Table>) -> Result<Option<Graph>> {
    let mut graph = Graph::new();
    for table in tables {
        let (Some(matrix), Some(name)) = (numbers(table)?, table.header.first()) else { continue };
        let further = (2..).map(|number| format!("{name}_{number}"));
        let mut names = std::iter::once(name.clone()).chain(further);
        let free = names.find(|name| graph.find(name).is_none()).unwrap_or_default();
        graph.given(&free, matrix, Origin::Stated)?;
    }
    Ok(graph.last().is_some().then_some(graph))
}

/// The columns that have a number in the first row.
fn numbers(table: &Table) -> Result<Option<Matrix>> {
    let number = |cell: &String| cell.parse::<f64>().ok();
    let Some(first) = table.rows.first() else { return Ok(None) };
    let columns: Vec<usize> =
        table.numbers.iter().copied().filter(|&j| first.get(j).and_then(number).is_some()).collect();
    if columns.is_empty() {
        return Ok(None);
    }
    let cells = |row: &Vec<String>| -> Vec<f64> {
        columns.iter().map(|&j| row.get(j).and_then(number).unwrap_or(f64::NAN)).collect()
    };
    let rows: Vec<Vec<f64>> = table.rows.iter().map(cells).collect();
    let labels: Vec<&str> = table.rows.iter().map(|row| row.first().map_or("", String::as_str)).collect();
    let heads: Vec<&str> = columns.iter().map(|&j| table.header[j].as_str()).collect();
    Ok(Some(Matrix::from_rows(&rows)?.rows_named(&labels).cols_named(&heads)))
}

#[cfg(test)]
mod tests {
    use crate::graph::{Origin, resolve};
    use crate::matrix::Matrix;

    use super::*;

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

    #[test]
    fn a_window_shows_its_places_and_dots_for_the_others() {
        let window = Window { rows: Some(3..=4), ..Window::default() };
        assert_eq!(window.places(window.rows.as_ref(), 9, None), [None, Some(2), Some(3), None]);
        assert_eq!(window.places(window.rows.as_ref(), 3, None), [None, Some(2)]);
        assert_eq!(window.places(window.cols.as_ref(), 2, None), [Some(0), Some(1)]);
        let labels: Labels = ["the", "·bat", "·in"].map(String::from).into();
        let around = Window { around: Some("·bat".into()), ..Window::default() };
        assert_eq!(around.places(None, 3, Some(&labels)), [Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn a_token_is_found_without_the_mark_of_its_space() {
        let labels: Labels = ["the", "␣bat", "␣in", "␣bat"].map(String::from).into();
        for token in ["bat", "_bat", " bat", "Ġbat", "bat#1"] {
            assert_eq!(place_of(&labels, token), Some(1), "{token}");
        }
        assert_eq!(place_of(&labels, "bat#2"), Some(3));
        assert_eq!(place_of(&labels, "cave"), None);
    }

    #[test]
    fn columns_of_numbers_are_a_node_named_by_the_first_column() {
        let row = |cells: [&str; 3]| cells.map(str::to_string).to_vec();
        let table = || {
            Table::new(&["part", "said", "count"], [row(["attention", "1", "12"]), row(["all", "2", "30"])])
                .with_numbers(&["count"])
        };
        let graph = numbers_of_tables(&[table(), table()]).unwrap().unwrap();
        let names: Vec<&str> = graph.nodes().map(|(_, node)| node.name.as_str()).collect();
        assert_eq!(names, ["part", "part_2"]);
        let matrix = graph.matrix(graph.find("part").unwrap()).unwrap();
        assert_eq!((matrix[(1, 0)], matrix.cols()), (30.0, 1));
        assert!(resolve(&graph, "part[all,count]").is_ok());
        assert!(numbers_of_tables(&[Table::new(&["part"], [vec!["3".to_string()]])]).unwrap().is_none());
    }
}
