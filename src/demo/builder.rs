//! What demos are built with: given matrices, which the user may replace, computed ones, and sentences.

use std::collections::BTreeMap;

// What nearly every demo needs besides.
pub(super) use crate::attention::{Base, Mask, MatrixRule, Pairing, Rotation};
pub(super) use crate::error::{Error, Result};
pub(super) use crate::graph::recipes::{Recipe, Weights};
pub(super) use crate::graph::{Factor, NodeId, Op, Start, Statistic};
pub(super) use crate::matrix::{Labels, Matrix};
pub(super) use crate::random::LegacyStream;
pub(super) use crate::story::Table;

use crate::explore::{Source, State};
use crate::graph::recipes::{self, Split};
use crate::graph::{Gradients, Graph, Node, Origin};
use crate::language::Expression;
use crate::story::condition::{GraphNumbers, Numbers, holds, missing, truth};
use crate::story::{Claim, Digits, Plane, Step, StepItem, Story, Window, fill};
use crate::text::{clip, nearest};

/// The size of the largest number.
pub(super) const LARGEST: Op = Op::Summary(Statistic::MaxSize);

/// The settings that a user changes in a demo.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Numbers in place of the demo's own: node name to matrix and where it came from.
    pub set: BTreeMap<String, (Matrix, String)>,
    /// The seed of random matrices, in place of the demo's own.
    pub seed: Option<u32>,
    /// Changes of the finished computation, such as `X[1,2]=6` or `mask=none`.
    pub assignments: Vec<String>,
    /// Heads that are taken out of it: `A_2`.
    pub removed: Vec<String>,
}

/// The max number of rows or columns of a matrix of a demo, given or built in: a larger one would be too large to show.
const MOST_ROWS: usize = 2048;

impl Settings {
    /// Checks that the user's matrices are of a size that a demo can describe.
    ///
    /// # Errors
    /// If one has more than 2048 rows or columns, or holds +∞.
    pub fn check(&self) -> Result<()> {
        for (name, (matrix, source)) in &self.set {
            if matrix.rows().max(matrix.cols()) > MOST_ROWS {
                return Err(Error::new(format!(
                    "{name} is {}, but a demo takes at most {MOST_ROWS} rows and columns",
                    matrix.shape()
                ))
                .in_source(source.clone())
                .help("give a smaller matrix; attn attend takes larger ones"));
            }
            if matrix.cells().any(|x| x == f64::INFINITY) {
                return Err(Error::new(format!("{name} holds inf"))
                    .in_source(source.clone())
                    .help("write finite numbers, or -inf for a hidden score"));
            }
        }
        Ok(())
    }
}

/// Builds a story from the given matrices on. Nothing here computes: every value comes from an op of the graph.
pub struct Builder {
    graph: Graph,
    steps: Vec<Step>,
    claims: Vec<Claim>,
    set: BTreeMap<String, (Matrix, String)>,
    seed: u32,
    assignments: Vec<String>,
    removed: Vec<String>,
    begin: Option<String>,
}

/// The seed of document 000, and of every demo that draws.
pub const SEED: u32 = 0;

impl Builder {
    /// A builder under the user's settings.
    pub fn new(settings: &Settings) -> Builder {
        let seed = settings.seed.unwrap_or(SEED);
        Builder {
            graph: Graph::new(),
            steps: Vec::new(),
            claims: Vec::new(),
            set: settings.set.clone(),
            seed,
            assignments: settings.assignments.clone(),
            removed: settings.removed.clone(),
            begin: None,
        }
    }

    /// A matrix that the demo comes with, unless the user puts in another; row and column names of the demo's matrix are
    /// kept for it where they fit and it has none.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn given(&mut self, name: &str, matrix: Matrix) -> Result<NodeId> {
        self.leaf(name, matrix, Origin::Stated)
    }

    /// A matrix of the demo's own, in the shape that the user's matrices need; `own` is its shape without any.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn fitted(&mut self, name: &str, matrix: Matrix, own: (usize, usize)) -> Result<NodeId> {
        let changed = (matrix.rows(), matrix.cols()) != own;
        self.leaf(name, matrix, if changed { Origin::Fitted } else { Origin::Stated })
    }

    /// A matrix that was drawn from the stream of [`Builder::seed`], unless the user puts in another.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn drawn(&mut self, name: &str, matrix: Matrix) -> Result<NodeId> {
        let seed = self.seed;
        self.leaf(name, matrix, Origin::Drawn(seed))
    }

    /// A matrix from somewhere, unless the user puts in another.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn leaf(&mut self, name: &str, matrix: Matrix, origin: Origin) -> Result<NodeId> {
        let Some((user, source)) = self.set.remove(name) else {
            return self.graph.given(name, matrix, origin);
        };
        let rows = user.row_labels().or(matrix.row_labels()).cloned();
        let cols = user.col_labels().or(matrix.col_labels()).cloned();
        self.graph.given(name, user.with_row_labels(rows).with_col_labels(cols), Origin::User(source))
    }

    /// A whole number that the demo comes with, such as the length of a block, unless the user puts in another.
    ///
    /// # Errors
    /// If the name is taken, or the user's is not one whole number from 1 to `most`.
    pub fn count(&mut self, name: &str, own: usize, most: usize) -> Result<(NodeId, usize)> {
        let id = self.given(name, Matrix::filled(1, 1, own as f64))?;
        let cells: Vec<f64> = self.matrix(id)?.cells().collect();
        match cells[..] {
            [number] if (1.0..=most as f64).contains(&number) && number.fract() == 0.0 => {
                Ok((id, number as usize))
            }
            _ => Err(Error::new(format!("{name} must be one whole number from 1 to {most}"))
                .help(format!("for example --set {name}={own}, as in the demo"))),
        }
    }

    /// A matrix computed from others.
    ///
    /// # Errors
    /// If the name is taken, or the inputs do not fit.
    pub fn compute(&mut self, name: &str, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        self.graph.add(name, op, inputs)
    }

    /// Inputs next to each other: `what` (“heads”) goes into the equation, “the four heads side by side”.
    ///
    /// # Errors
    /// If the name is taken, or the inputs differ in height.
    pub fn side_by_side(&mut self, name: &str, what: &str, inputs: &[NodeId]) -> Result<NodeId> {
        let id = self.compute(name, Op::Concatenate, inputs)?;
        self.graph.collects(id, what);
        Ok(id)
    }

    /// Nodes of another graph, with all that they were computed from; see [`Graph::adopt`].
    ///
    /// # Errors
    /// If a name is taken.
    pub fn adopt(&mut self, other: &Graph, wanted: &[NodeId], suffix: &str) -> Result<Vec<NodeId>> {
        self.graph.adopt(other, wanted, suffix)
    }

    /// The nodes so far.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The nodes so far, to record more.
    pub fn graph_mut(&mut self) -> &mut Graph {
        &mut self.graph
    }

    /// Names the rows and columns of a node.
    pub fn name_lines(&mut self, id: NodeId, rows: Option<Labels>, cols: Option<Labels>) {
        self.graph.name_lines(id, rows, cols);
    }

    /// What the inputs of a node are: “heads”.
    pub fn collects(&mut self, id: NodeId, what: &str) {
        self.graph.collects(id, what);
    }

    /// Says which step of attention a node is.
    pub fn mark(&mut self, id: NodeId, step: crate::graph::Step) {
        self.graph.mark(id, step);
    }

    /// Sets the label of a node: equations and tables have it in place of the name.
    pub fn label(&mut self, id: NodeId, label: &str) {
        self.graph.label(id, label);
    }

    /// The weights of one head under a recipe, each node's name with the suffix.
    ///
    /// # Errors
    /// If a name is taken, or queries and keys do not fit.
    pub fn weights(&mut self, suffix: &str, q: NodeId, k: NodeId, recipe: &Recipe) -> Result<Weights> {
        recipes::weights(&mut self.graph, recipe, suffix, [q, k])
    }

    /// The weights of one head, and the values mixed by them as `O`.
    ///
    /// # Errors
    /// If a name is taken, or queries, keys and values do not fit.
    pub fn head(
        &mut self,
        suffix: &str,
        [q, k, v]: [NodeId; 3],
        recipe: &Recipe,
    ) -> Result<(Weights, NodeId)> {
        let weights = self.weights(suffix, q, k, recipe)?;
        let mix = self.compute(&format!("O{suffix}"), Op::Product, &[weights.weights, v])?;
        Ok((weights, mix))
    }

    /// The gradients of a loss with respect to some nodes, and of every node between: `dA` for `A`.
    ///
    /// # Errors
    /// If the start does not fit the loss, or a step between has no gradient.
    pub fn gradients(&mut self, loss: NodeId, start: Start, of: &[NodeId]) -> Result<Gradients> {
        self.graph.gradients(loss, start, of)
    }

    /// A matrix cut into heads: neighbouring columns, the same number for each.
    ///
    /// # Errors
    /// If the columns cannot be shared out evenly, or a name is taken.
    pub fn split(&mut self, name: &str, whole: NodeId, heads: usize) -> Result<Vec<NodeId>> {
        recipes::split(&mut self.graph, name, whole, heads, Split::Blocks)
    }

    /// The difference of two nodes, and the size of its largest number.
    ///
    /// # Errors
    /// If a name is taken, or the inputs do not fit.
    pub fn difference(&mut self, names: [&str; 2], nodes: [NodeId; 2]) -> Result<[NodeId; 2]> {
        let difference = self.compute(names[0], Op::Subtract, &nodes)?;
        Ok([difference, self.compute(names[1], LARGEST, &[difference])?])
    }

    /// The node of this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn node(&self, name: &str) -> Result<NodeId> {
        self.graph.require(name)
    }

    /// Whether a user may put other numbers in the place of a node.
    pub fn is_changeable(&self, id: NodeId) -> bool {
        is_changeable(&self.graph[id])
    }

    /// The seed of the demo's random matrices.
    pub fn seed(&self) -> u32 {
        self.seed
    }

    /// The recorded value of a node, for the shapes and labels of later nodes.
    ///
    /// # Errors
    /// If the node is never formed.
    pub fn matrix(&self, id: NodeId) -> Result<&Matrix> {
        self.graph.matrix(id)
    }

    /// Whether a condition holds for the numbers so far.
    ///
    /// # Errors
    /// If it has no truth; see [`truth`].
    pub fn truth(&self, condition: &Expression) -> Result<bool> {
        truth(condition, &GraphNumbers(&self.graph, SEED), 0)
    }

    /// Begins a step with a sentence that is true for any numbers.
    pub fn step(&mut self, text: &str) -> StepBuilder<'_> {
        self.steps.push(Step { text: text.to_string(), ..Step::default() });
        let last = self.steps.len() - 1;
        StepBuilder { step: &mut self.steps[last], at: last, claims: &mut self.claims }
    }

    /// Gives a notice, counted from 0 over all steps, its condition.
    pub fn claim_if(&mut self, claim: usize, condition: Expression) {
        self.claims[claim].condition = condition;
    }

    /// Marks the cell to look at first: the explorer and a live page begin there.
    pub fn begin_at(&mut self, address: &str) {
        self.begin = Some(address.to_string());
    }

    /// The finished story.
    ///
    /// # Errors
    /// If the user set a node that the demo does not have, or has but computes, or changes what cannot be changed; or if a
    /// sentence names a cell that does not exist.
    pub fn finish(self, title: &str, source: String, notes: Vec<String>, digits: Digits) -> Result<Story> {
        if let Some(name) = self.set.keys().next() {
            return Err(not_given(&self.graph, name));
        }
        let (mut graph, mut steps, mut claims) = (self.graph, self.steps, self.claims);
        if !self.assignments.is_empty() || !self.removed.is_empty() {
            let state =
                State::new(Source::steps(graph))?.with_assignments(&self.assignments, &self.removed)?;
            graph = state.graph().clone();
            // A table of words may tell of the numbers before.
            steps.iter_mut().for_each(|step| step.shown.retain(|shown| !matches!(shown, StepItem::Table(_))));
        }
        for claim in &mut claims {
            say(&graph, claim, &mut steps[claim.step])?;
        }
        number_planes(&mut steps);
        Ok(Story {
            window: Window::default(),
            title: title.to_string(),
            source: Some(source),
            graph,
            steps,
            notes,
            notes_told_by: None,
            full: false,
            remarks: Vec::new(),
            digits,
            claims,
            recipe: None,
            begin: self.begin,
        })
    }
}

/// Adds to one step.
pub struct StepBuilder<'a> {
    step: &'a mut Step,
    at: usize,
    claims: &'a mut Vec<Claim>,
}

impl StepBuilder<'_> {
    /// A notice: a sentence that is shown if the condition is true and every cell that the sentence names exists; cells are
    /// written `{A[1,2]:2}`.
    pub fn claim(self, condition: Expression, text: &str) -> Self {
        self.claimed(condition, text, false)
    }

    /// A sentence that replaces the step's heading if the condition is true. The heading itself has to be true for any numbers.
    pub fn heading_if(self, condition: Expression, text: &str) -> Self {
        self.claimed(condition, text, true)
    }

    fn claimed(self, condition: Expression, text: &str, is_heading: bool) -> Self {
        let text = text.to_string();
        self.claims.push(Claim { step: self.at, condition, text, is_heading, shown: false });
        self
    }

    /// The number of notices so far, of all steps.
    pub fn claims(&self) -> usize {
        self.claims.len()
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

/// Braces that stand for themselves, until all numbers are written out.
const HIDDEN: [(char, char); 2] = [('{', '\u{e000}'), ('}', '\u{e001}')];

/// A text in which braces stand for themselves.
pub(super) fn hidden(text: &str) -> String {
    HIDDEN.iter().fold(text.to_string(), |text, (brace, hidden)| text.replace(*brace, &hidden.to_string()))
}

/// The text itself again.
pub(super) fn plain(text: &str) -> String {
    HIDDEN.iter().fold(text.to_string(), |text, (brace, hidden)| text.replace(*hidden, &brace.to_string()))
}

/// Says a claim in its step, if it is true.
///
/// # Errors
/// If the sentence names a cell that does not exist among the demo's own numbers.
fn say(graph: &Graph, claim: &mut Claim, step: &mut Step) -> Result<()> {
    // With the user's numbers a row or a name may be missing; the claim is then left out.
    let is_own = GraphNumbers(graph, SEED).is_own(&[])?;
    if is_own && let Some(address) = missing(&claim.condition, graph) {
        let error = Error::new(format!(
            "the condition of “{}” names {address}, which does not exist",
            clip(&claim.text)
        ));
        return Err(error.help("look at the names of rows and columns, and at their case"));
    }
    if !holds(&claim.condition, graph, SEED) {
        return Ok(());
    }
    let filled = fill(graph, &claim.text).map(|text| plain(&text));
    claim.text = plain(&claim.text);
    match (filled, &mut step.notice) {
        (Ok(text), _) if claim.is_heading => step.text = text,
        (Ok(text), Some(before)) => *before = format!("{before} {text}"),
        (Ok(text), none) => *none = Some(text),
        (Err(address), _) if is_own => {
            return Err(Error::new(format!("a sentence of this demo names {address}, which does not exist")));
        }
        (Err(_), _) => return Ok(()),
    }
    claim.shown = true;
    Ok(())
}

/// Names the pictures: `plane`, `plane_2`, `plane_3` …
fn number_planes(steps: &mut [Step]) {
    let planes = steps.iter_mut().flat_map(|step| &mut step.shown).filter_map(|shown| match shown {
        StepItem::Plane(plane) => Some(plane),
        _ => None,
    });
    for (number, plane) in (2..).zip(planes.skip(1)) {
        plane.name = format!("plane_{number}");
    }
}

fn is_changeable(node: &Node) -> bool {
    matches!(&node.op, Op::Given(origin) if !origin.is_of_model())
}

fn not_given(graph: &Graph, name: &str) -> Error {
    let given: Vec<&str> = graph
        .nodes()
        .map(|(_, node)| node)
        .filter(|node| is_changeable(node))
        .map(|node| node.name.as_str())
        .collect();
    let what = match graph.find(name) {
        Some(id) if graph[id].op.is_given() => format!("`{name}` comes from the model"),
        Some(_) => format!("`{name}` is computed, not given"),
        None => format!("there is no node `{name}`"),
    };
    if given.is_empty() {
        return Error::new(what)
            .help("the numbers of this demo are those of a model; other texts: attn model words TEXT");
    }
    let near =
        nearest(name, given.iter().copied()).map_or(String::new(), |near| format!("did you mean `{near}`? "));
    Error::new(what).help(format!("{near}you can set: {}", given.join(" ")))
}
