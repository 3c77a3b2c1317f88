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
}

/// The elements that a format for people must be able to write.
pub trait Markup {
    /// A story begins: until the next one, cells are those of its graph.
    fn begin(&mut self) {}
    /// The headline of a story.
    fn title(&mut self, title: &str, source: Option<&str>);
    /// The sentence that begins a step.
    fn step(&mut self, number: usize, text: &str);
    /// Computed nodes, one after the other.
    fn computed(&mut self, nodes: &[ComputedNode]) {
        for node in nodes {
            self.together(std::slice::from_ref(&node.equation), node.value.as_slice());
        }
    }
    /// Matrices next to each other, under their equations.
    fn together(&mut self, equations: &[Equation], matrices: &[View]);
    /// Equations of this many matrices, which are not shown.
    fn folded(&mut self, equations: &[Equation], _count: usize) {
        self.together(equations, &[]);
    }
    /// Several nodes as the columns of one table, under all their equations.
    fn columns(&mut self, equations: &[Equation], view: &View) {
        self.together(equations, std::slice::from_ref(view));
    }
    /// Points and movements in the plane.
    fn drawing(&mut self, drawing: &Drawing);
    /// A table of words.
    fn table(&mut self, table: &Table);
    /// A picture, where a format has pictures.
    fn picture(&mut self, _svg: &str) {}
    /// The explanations of cells.
    fn explained(&mut self, writer: &ExplanationWriter<'_>);
    /// Cells in symbols alone.
    fn symbolic(&mut self, symbolic: &SymbolicCells<'_>);
    /// A notice in a step.
    fn notice(&mut self, text: &str);
    /// A remark at the end.
    fn note(&mut self, text: &str);
    /// A line below the headline that names the command which shows such remarks.
    fn pointer(&mut self, remarks: &str, command: &str);
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
            markup.title(title, None);
        }
        if !table.header.is_empty() {
            markup.table(table);
        }
        table.notices.iter().for_each(|notice| markup.notice(notice));
    }
    markup.finish()
}

/// A step, and the number that it has if it begins with a sentence.
pub struct NumberedStep<'a> {
    /// Its number, from 1.
    pub number: Option<usize>,
    /// The step.
    pub step: &'a Step,
}

/// The steps of a story with their numbers.
pub fn numbered(page: &Page) -> Vec<NumberedStep<'_>> {
    let mut number = page.skipped;
    let steps = page.story.steps.iter().map(|step| {
        let is_told = !step.text.is_empty();
        number += usize::from(is_told);
        NumberedStep { number: is_told.then_some(number), step }
    });
    steps.collect()
}

fn write_story(page: &Page, style: &Style, markup: &mut dyn Markup) {
    write_head(page, markup);
    let viewer = Viewer { story: &page.story, style };
    for step in numbered(page) {
        write_numbered(&step, &viewer, markup);
    }
    write_end(page, markup);
}

/// The headline and the lines below it.
pub fn write_head(page: &Page, markup: &mut dyn Markup) {
    markup.begin();
    if page.headed {
        markup.title(&page.story.title, page.story.source.as_deref());
        if let Some((remarks, command)) = notes_elsewhere(&page.story) {
            markup.pointer(&remarks, command);
        }
    }
}

/// The number of notes, and the command that shows them; `None` if they stand at the end.
fn notes_elsewhere(story: &Story) -> Option<(String, &str)> {
    let command = story.notes_told_by.as_deref().filter(|_| story.points_to_notes())?;
    Some((format!("{} on the source text", counted(story.notes.len(), "remark")), command))
}

/// One step.
pub fn write_numbered(
    NumberedStep { number, step }: &NumberedStep<'_>,
    viewer: &Viewer<'_>,
    markup: &mut dyn Markup,
) {
    if let Some(number) = number {
        markup.step(*number, &step.text);
    }
    write_step(step, viewer, markup);
    if let Some(notice) = &step.notice {
        markup.notice(notice);
    }
}

/// The notes and remarks below the steps.
pub fn write_end(page: &Page, markup: &mut dyn Markup) {
    if notes_elsewhere(&page.story).is_none() {
        page.story.notes.iter().for_each(|note| markup.note(note));
    }
    for remark in page.story.remarks_left().filter(|_| page.headed) {
        markup.note(remark);
    }
}

fn write_step(step: &Step, viewer: &Viewer<'_>, markup: &mut dyn Markup) {
    let mut nodes: Vec<ComputedNode> = Vec::new();
    for shown in &step.shown {
        let by_itself = |id, value| ComputedNode::alone(equation(id, viewer), Some(value));
        let node = match shown {
            StepItem::Node(id) => Some(computed(*id, viewer)),
            StepItem::Open(id) => Some(by_itself(*id, viewer.open(*id))),
            StepItem::Symbols(id) => Some(by_itself(*id, viewer.symbols(*id))),
            _ => None,
        };
        match node {
            Some(node) => nodes.push(node),
            None => flush(&mut nodes, markup),
        }
        match shown {
            StepItem::Together(ids) => {
                let is_number = |id: &NodeId| viewer.story.graph[*id].shape() == Shape { rows: 1, cols: 1 };
                let is_seen = |id: &&NodeId| !is_number(id) && !viewer.story.graph[**id].is_never_formed();
                let views: Vec<_> = ids.iter().filter(is_seen).map(|&id| viewer.given(id)).collect();
                markup.together(&shared_equations(ids, viewer), &views);
            }
            StepItem::Folded(ids) => markup.folded(&shared_equations(ids, viewer), ids.len()),
            StepItem::Columns(columns) => {
                let is_stated = |id: NodeId| matches!(viewer.story.graph[id].op, Op::Given(Origin::Stated));
                let computed = columns.iter().filter(|(id, _)| !is_stated(*id));
                let equations = computed
                    .map(|(id, _)| graph::equation(&viewer.story.graph, *id, viewer.style.convention, false));
                markup.columns(&equations.collect::<Vec<_>>(), &viewer.columns(columns));
            }
            StepItem::Plane(plane) => markup.drawing(&Drawing::new(plane, viewer)),
            StepItem::Table(table) => markup.table(table),
            StepItem::Picture(svg) => markup.picture(svg),
            StepItem::Explained { of, side_by_side } => {
                let writer = ExplanationWriter::new(viewer, of, *side_by_side);
                markup.explained(&writer);
                if let Some(note) = writer.convention_note() {
                    markup.note(&note);
                }
            }
            StepItem::Symbolic(of) => markup.symbolic(&SymbolicCells::new(viewer, of)),
            StepItem::Node(_) | StepItem::Open(_) | StepItem::Symbols(_) => {}
        }
    }
    flush(&mut nodes, markup);
}

fn flush(nodes: &mut Vec<ComputedNode>, markup: &mut dyn Markup) {
    if !nodes.is_empty() {
        markup.computed(nodes);
        nodes.clear();
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
