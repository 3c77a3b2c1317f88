//! The walk through a story, shared by every format for people; a format supplies the marks.

use super::explanation::{ExplanationWriter, SymbolicCells};
use super::plane::Drawing;
use super::view::{View, Viewer};
use super::{Page, Style};
use crate::graph::{self, Convention, Equation, NodeId, Op, Origin};
use crate::matrix::Shape;
use crate::story::{Step, StepItem, Story, Table};
use crate::text::counted;

/// A computed node: its equation, its operands and its values.
pub struct ComputedNode {
    /// `S (4×4) = Q (4×5) · Kᵀ (5×4)`, and the value itself where it is a single number.
    pub equation: Equation,
    /// The operands with the sign before each; empty if the op has no such picture.
    pub operands: Vec<(&'static str, View)>,
    /// The values; `None` for a single number, which is part of the equation.
    pub value: Option<View>,
}

impl ComputedNode {
    fn alone(equation: Equation, value: Option<View>) -> ComputedNode {
        ComputedNode { equation, operands: Vec::new(), value }
    }

    /// The sign between the operands and the value.
    pub fn equals(&self) -> &'static str {
        match self.operands.len() {
            0 => "",
            1 => "→",
            _ => "=",
        }
    }
}

/// A part of a document for people.
pub enum Part<'a> {
    /// A story begins: until the next one, cells are those of its graph.
    Story,
    /// The headline of a story, and the text and section that it follows.
    Title(&'a str, Option<&'a str>),
    /// The number and the sentence that begin a step.
    Step(usize, &'a str),
    /// Computed nodes, one after the other.
    Computed(&'a [ComputedNode]),
    /// Matrices next to each other, under their equations.
    Together(&'a [Equation], &'a [View]),
    /// Equations of this many matrices, which are not shown.
    Folded(&'a [Equation], usize),
    /// Several nodes as the columns of one table, under all their equations.
    Columns(&'a [Equation], &'a View),
    /// Points and movements in the plane.
    Drawing(&'a Drawing),
    /// A table of words.
    Table(&'a Table),
    /// A picture as SVG, where a format has pictures.
    Picture(&'a str),
    /// The explanations of cells.
    Explained(&'a ExplanationWriter<'a>),
    /// Cells in symbols alone.
    Symbolic(&'a SymbolicCells<'a>),
    /// A notice in a step.
    Notice(&'a str),
    /// A remark at the end.
    Note(&'a str),
    /// A line below the headline: what there is, and the command that shows it.
    Pointer(&'a str, &'a str),
}

/// A format for people: it writes a document part by part.
pub trait Markup {
    /// Writes the next part.
    fn write(&mut self, part: Part<'_>);
    /// Everything written so far.
    fn finish(&mut self) -> String;
}

/// All stories, one after the other.
pub fn write_all(pages: &[Page], style: &Style, markup: &mut dyn Markup) -> String {
    for page in pages {
        write_story(page, style, markup);
    }
    markup.finish()
}

/// Tables under their titles.
pub fn tables(parts: &[(String, Table)], markup: &mut dyn Markup) -> String {
    for (title, table) in parts {
        if !title.is_empty() {
            markup.write(Part::Title(title, None));
        }
        if !table.header.is_empty() {
            markup.write(Part::Table(table));
        }
        table.notices.iter().for_each(|notice| markup.write(Part::Notice(notice)));
    }
    markup.finish()
}

/// The steps of a story, each with the number that it has if it begins with a sentence, from 1.
pub fn numbered(page: &Page) -> Vec<(Option<usize>, &Step)> {
    let mut number = page.skipped;
    let steps = page.story.steps.iter().map(|step| {
        let is_told = !step.text.is_empty();
        number += usize::from(is_told);
        (is_told.then_some(number), step)
    });
    steps.collect()
}

fn write_story(page: &Page, style: &Style, markup: &mut dyn Markup) {
    write_head(page, markup);
    let viewer = Viewer { story: &page.story, style };
    for step in numbered(page) {
        write_numbered(step, &viewer, markup);
    }
    write_end(page, markup);
}

/// The headline and the lines below it.
pub fn write_head(page: &Page, markup: &mut dyn Markup) {
    markup.write(Part::Story);
    if page.headed {
        markup.write(Part::Title(&page.story.title, page.story.source.as_deref()));
        if let Some((remarks, command)) = notes_elsewhere(&page.story) {
            markup.write(Part::Pointer(&remarks, command));
        }
    }
}

/// The number of notes, and the command that shows them; `None` if they stand at the end.
fn notes_elsewhere(story: &Story) -> Option<(String, &str)> {
    let command = story.notes_told_by.as_deref().filter(|_| story.points_to_notes())?;
    Some((format!("{} on the source text", counted(story.notes.len(), "remark")), command))
}

/// One step.
pub fn write_numbered((number, step): (Option<usize>, &Step), viewer: &Viewer<'_>, markup: &mut dyn Markup) {
    if let Some(number) = number {
        markup.write(Part::Step(number, &step.text));
    }
    write_step(step, viewer, markup);
    if let Some(notice) = &step.notice {
        markup.write(Part::Notice(notice));
    }
}

/// The notes and remarks below the steps.
pub fn write_end(page: &Page, markup: &mut dyn Markup) {
    if notes_elsewhere(&page.story).is_none() {
        page.story.notes.iter().for_each(|note| markup.write(Part::Note(note)));
    }
    for remark in page.story.remarks_left().filter(|_| page.headed) {
        markup.write(Part::Note(remark));
    }
}

fn write_step(step: &Step, viewer: &Viewer<'_>, markup: &mut dyn Markup) {
    let (graph, convention) = (&viewer.story.graph, viewer.style.convention);
    let is_node =
        |item: &StepItem| matches!(item, StepItem::Node(_) | StepItem::Open(_) | StepItem::Symbols(_));
    for items in step.shown.chunk_by(|a, b| is_node(a) && is_node(b)) {
        match &items[0] {
            StepItem::Node(_) | StepItem::Open(_) | StepItem::Symbols(_) => {
                let nodes: Vec<ComputedNode> =
                    items.iter().filter_map(|item| node_of(item, viewer)).collect();
                markup.write(Part::Computed(&nodes));
            }
            StepItem::Together(ids) => {
                let is_number = |id: &NodeId| graph[*id].shape() == Shape { rows: 1, cols: 1 };
                let is_seen = |id: &&NodeId| !is_number(id) && !graph[**id].is_never_formed();
                let views: Vec<_> = ids.iter().filter(is_seen).map(|&id| viewer.given(id)).collect();
                markup.write(Part::Together(&shared_equations(ids, viewer), &views));
            }
            StepItem::Folded(ids) => markup.write(Part::Folded(&shared_equations(ids, viewer), ids.len())),
            StepItem::Columns(columns) => {
                let is_stated = |id: NodeId| matches!(graph[id].op, Op::Given(Origin::Stated));
                let computed = columns.iter().filter(|(id, _)| !is_stated(*id));
                let equations = computed.map(|(id, _)| graph::equation(graph, *id, convention, false));
                markup.write(Part::Columns(&equations.collect::<Vec<_>>(), &viewer.columns(columns)));
            }
            StepItem::Plane(plane) => markup.write(Part::Drawing(&Drawing::new(plane, viewer))),
            StepItem::Table(table) => markup.write(Part::Table(table)),
            StepItem::Picture(svg) => markup.write(Part::Picture(svg)),
            StepItem::Explained { of, side_by_side } => {
                let writer = ExplanationWriter::new(viewer, of, *side_by_side);
                markup.write(Part::Explained(&writer));
                if let Some(note) = writer.convention_note() {
                    markup.write(Part::Note(&note));
                }
            }
            StepItem::Symbolic(of) => markup.write(Part::Symbolic(&SymbolicCells::new(viewer, of))),
        }
    }
}

/// The node of an item that shows one.
fn node_of(item: &StepItem, viewer: &Viewer<'_>) -> Option<ComputedNode> {
    let alone = |id, value| ComputedNode::alone(equation(id, viewer), Some(value));
    match item {
        StepItem::Node(id) => Some(computed(*id, viewer)),
        StepItem::Open(id) => Some(alone(*id, viewer.open(*id))),
        StepItem::Symbols(id) => Some(alone(*id, viewer.symbols(*id))),
        _ => None,
    }
}

fn equation(id: NodeId, viewer: &Viewer<'_>) -> Equation {
    graph::equation(&viewer.story.graph, id, viewer.style.convention, true)
}

/// The equations of several nodes; neighbours with one right-hand side share a line: `W_Q (5×5), W_K (5×5) = given`.
fn shared_equations(ids: &[NodeId], viewer: &Viewer<'_>) -> Vec<Equation> {
    let mut lines: Vec<Equation> = Vec::new();
    for &id in ids {
        let equation = match viewer.story.graph[id].shape() {
            Shape { rows: 1, cols: 1 } => computed(id, viewer).equation,
            _ => equation(id, viewer),
        };
        match lines.last_mut() {
            Some(line) if line.right == equation.right => line.add_name(&equation.left),
            _ => lines.push(equation),
        }
    }
    lines
}

fn computed(id: NodeId, viewer: &Viewer<'_>) -> ComputedNode {
    let mut equation = equation(id, viewer);
    if viewer.story.graph[id].is_never_formed() {
        equation.right.push_str(": never formed");
        return ComputedNode::alone(equation, None);
    }
    let value = viewer.given(id);
    if let [row] = &value.cells[..]
        && let [cell] = &row[..]
    {
        equation.right.push_str(&format!(" = {}", cell.text.trim()));
        return ComputedNode::alone(equation, None);
    }
    ComputedNode { equation, operands: operands(id, viewer), value: Some(value) }
}

/// The operands as the equation has them, where it is a picture of matrices with signs between them.
fn operands(id: NodeId, viewer: &Viewer<'_>) -> Vec<(&'static str, View)> {
    let graph = &viewer.story.graph;
    let node = &graph[id];
    if node.inputs.iter().any(|&input| graph[input].is_never_formed()) {
        return Vec::new();
    }
    let (sign, turned) = match &node.op {
        Op::Product => ("·", None),
        Op::ProductTransposed => ("·", Some(1)),
        Op::TransposedProduct => ("·", Some(0)),
        Op::Add => ("+", None),
        Op::Subtract => ("−", None),
        Op::Multiply => ("∘", None),
        _ if node.inputs.len() == 1 => ("", None),
        _ => return Vec::new(),
    };
    let views = node.inputs.iter().enumerate().map(|(i, &input)| viewer.node(input, turned == Some(i)));
    let mut views: Vec<View> = views.collect();
    let is_product = matches!(node.op, Op::Product | Op::ProductTransposed | Op::TransposedProduct);
    if is_product && viewer.style.convention == Convention::Columns {
        views.reverse();
    }
    views.into_iter().enumerate().map(|(i, view)| (if i == 0 { "" } else { sign }, view)).collect()
}
