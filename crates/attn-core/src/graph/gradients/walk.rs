//! The walk from the loss to what it was computed from.

use super::backward::Backward;
use super::detours::{self, Detour, Part};
use super::gradient::Gradient;
use super::naming;
use super::way_back::WayBack;
use crate::error::{Error, Result};
use crate::graph::{Factor, Graph, NodeId, Op};

/// The nodes between the loss and what is asked for, each with the steps that hand a part of their gradient on to it.
pub(super) struct Walk {
    loss: NodeId,
    /// By the position of the node.
    readers: Vec<Vec<Part>>,
}

impl Walk {
    /// # Errors
    /// If a step between has no gradient, or nothing lies between.
    pub fn new(graph: &Graph, loss: NodeId, of: &[NodeId]) -> Result<Walk> {
        let nodes = loss.position() + 1;
        let mut leads = vec![false; nodes];
        for (id, node) in graph.nodes().take(nodes) {
            let on = |(input, read): (usize, &NodeId)| {
                leads[read.position()] && !matches!(node.op.way_back(input), WayBack::Ends(_))
            };
            leads[id.position()] = of.contains(&id) || node.inputs.iter().enumerate().any(on);
        }
        let mut readers: Vec<Vec<Part>> = vec![Vec::new(); nodes];
        for (id, node) in graph.nodes().take(nodes).collect::<Vec<_>>().into_iter().rev() {
            if id != loss && readers[id.position()].is_empty() {
                continue;
            }
            for (input, read) in node.inputs.iter().enumerate().filter(|(_, read)| leads[read.position()]) {
                match node.op.way_back(input) {
                    WayBack::Through(_) => readers[read.position()].push(Part { reader: id, input }),
                    WayBack::Ends(_) => {}
                    WayBack::Refused(why) => {
                        let name = &graph[*read].name;
                        let gradient = naming::gradient(name);
                        return Err(Error::new(format!(
                            "there is no {gradient}: {} is computed from {name}, and {why}",
                            node.name
                        ))
                        .help(format!("take the gradient of a computation without {}", node.name)));
                    }
                }
            }
        }
        for of_node in &mut readers {
            of_node.reverse();
        }
        if readers.iter().all(Vec::is_empty) {
            let name = &graph[loss].name;
            return Err(Error::new(format!(
                "{name} depends on none of the numbers whose gradients are asked for"
            ))
            .help("start at a step that is computed from them, such as O"));
        }
        Ok(Walk { loss, readers })
    }

    /// Adds the gradients, from the loss back, with some steps done otherwise.
    pub fn run(self, graph: &mut Graph, start: NodeId, detours: &[Detour]) -> Result<Vec<Gradient>> {
        let mut known: Vec<Option<NodeId>> = vec![None; self.readers.len()];
        known[self.loss.position()] = Some(start);
        let mut all = Vec::new();
        let between: Vec<NodeId> = graph.nodes().map(|(id, _)| id).take(self.loss.position()).collect();
        for of in between.into_iter().rev().filter(|of| !self.readers[of.position()].is_empty()) {
            let begun = graph.recorded_nodes();
            let id = self.gradient(graph, of, &known, detours)?;
            naming::as_of(graph, id, of);
            known[of.position()] = Some(id);
            let steps = graph.nodes().map(|(id, _)| id).skip(begun).collect();
            all.push(Gradient { of, id, steps });
        }
        Ok(all)
    }

    /// The gradient of a node whose readers have theirs.
    fn gradient(
        &self,
        graph: &mut Graph,
        of: NodeId,
        known: &[Option<NodeId>],
        detours: &[Detour],
    ) -> Result<NodeId> {
        let readers = &self.readers[of.position()];
        let name = naming::gradient(&graph[of].name);
        let of_reader = |part: &Part| {
            known[part.reader.position()]
                .ok_or_else(|| Error::new(format!("a gradient that {name} needs is missing")))
        };
        if let Some((op, order)) = put_together(graph, of, readers) {
            let parts: Vec<NodeId> =
                order.iter().map(|at| of_reader(&readers[*at])).collect::<Result<_>>()?;
            return graph.add(&name, op, &parts);
        }
        let (readers, count) = detours::kept(detours, graph, readers.clone());
        if let [reader] = readers[..] {
            return handed_on(graph, reader, of_reader(&reader)?, name.clone(), detours);
        }
        let mut parts = Vec::new();
        for part in &readers {
            let reads_again = readers.iter().filter(|other| other.reader == part.reader).count() > 1;
            let input = reads_again.then_some(part.input);
            let name = naming::part(&graph[of].name, &graph[part.reader].name, input);
            let part = handed_on(graph, *part, of_reader(part)?, name, detours)?;
            naming::as_of(graph, part, of);
            parts.push(part);
        }
        if count == 1 {
            return graph.add(&name, Op::Add, &parts);
        }
        let sum = graph.add(&naming::beside(&name, "sum"), Op::Add, &parts)?;
        graph.add(&name, Op::Scale(Factor::Inverse(count)), &[sum])
    }
}

/// The part of its gradient that a step hands on to one of its inputs.
fn handed_on(
    graph: &mut Graph,
    Part { reader: id, input }: Part,
    gradient: NodeId,
    name: String,
    detours: &[Detour],
) -> Result<NodeId> {
    if let Some(number) = detours::times(detours, graph, id, input) {
        let before = naming::beside(&name, "before");
        let before = by_rule(graph, Part { reader: id, input }, gradient, before, detours)?;
        return graph.add(&name, Op::Scale(Factor::Number(number)), &[before]);
    }
    by_rule(graph, Part { reader: id, input }, gradient, name, detours)
}

/// The same without a factor.
fn by_rule(
    graph: &mut Graph,
    Part { reader: id, input }: Part,
    gradient: NodeId,
    name: String,
    detours: &[Detour],
) -> Result<NodeId> {
    let rule = graph[id].op.clone().way_back(input);
    let mut step = Backward::new(graph, id, gradient, name);
    if let Some(other) = detours::handed_on(detours, &mut step, input) {
        return other;
    }
    match rule {
        WayBack::Through(rule) => rule(&mut step),
        WayBack::Ends(why) | WayBack::Refused(why) => Err(Error::new(why)),
    }
}

/// How the gradients of a node's readers stand side by side (or on top of each other) in its own, where each of them reads another
/// block and together they read all of it once, as heads do: the op, and the readers in order.
fn put_together(graph: &Graph, of: NodeId, readers: &[Part]) -> Option<(Op, Vec<usize>)> {
    if readers.len() < 2 {
        return None;
    }
    let block = |part: &Part| match graph[part.reader].op {
        Op::Columns { start, count } => Some((true, start, count)),
        Op::Rows { start, count } => Some((false, start, count)),
        _ => None,
    };
    let blocks: Vec<(bool, usize, usize)> = readers.iter().map(block).collect::<Option<_>>()?;
    let are_columns = blocks[0].0;
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|at| blocks[*at].1);
    let mut end = 0;
    for at in &order {
        let (is_column, start, count) = blocks[*at];
        if is_column != are_columns || start != end {
            return None;
        }
        end += count;
    }
    let shape = graph[of].shape();
    let whole = if are_columns { shape.cols } else { shape.rows };
    (end == whole).then_some((if are_columns { Op::Concatenate } else { Op::Stack(None) }, order))
}
