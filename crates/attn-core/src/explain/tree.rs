//! The tree of explanations: a cell, its operands, theirs, each sub-tree once.

use std::collections::{HashMap, HashSet, VecDeque};

use super::trail::{KEPT_BELOW, ends_level, followed};
use super::{Note, SHOWN, notes, shortened_to};
use crate::attention::Axis;
use crate::error::{Error, Result};
use crate::graph::{CellId, Graph, NodeId, Op, Term, address_of};

/// The most cells that are explained at once.
pub const MOST_EXPLAINED: usize = 10_000;
/// A cell that is made of more numbers is not written out.
const MOST_NUMBERS: usize = 100_000;
/// The most parts of all formulas together.
const MOST_PARTS: usize = 2_000_000;

/// The number of levels of operands that are explained. In the graph of a model a level goes down to the next cell that reads weights:
/// what only passes a number on, and the scores between queries and keys, end none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// This many levels; 1 is the cell itself, with the values of its operands.
    Levels(usize),
    /// Down to the numbers that are given.
    All,
}

/// The choice between long sums that are followed into every term and shortened ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LongSums {
    /// Every term.
    Whole,
    /// The terms that [`shortened`](super::shortened) keeps.
    Shortened,
}

/// The explanation of one cell: its term and its operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The cell.
    pub cell: CellId,
    /// Its address: `O[bat,animals]`.
    pub address: String,
    /// Its value as recorded.
    pub value: f64,
    /// The expression it comes from, whole: evaluating it gives the recorded bits.
    pub term: Term,
    /// The term as it is shown, with long sums shortened.
    pub shown: Term,
    /// The number of terms that are kept of long sums.
    pub kept: usize,
    /// The remarks beside it.
    pub notes: Vec<Note>,
    /// The cells in the expression as it is shown, in its order, each once.
    pub operands: Vec<Branch>,
}

impl Explanation {
    /// The number of cells that are explained here: this one, and those below it.
    pub fn count(&self) -> usize {
        let below = self.operands.iter().map(|branch| match branch {
            Branch::Explained(explanation) => explanation.count(),
            Branch::Repeated(_) | Branch::Further(_) => 0,
        });
        1 + below.sum::<usize>()
    }
}

/// An operand of an explained cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Branch {
    /// Explained here.
    Explained(Explanation),
    /// Explained at another place of the same trees.
    Repeated(CellId),
    /// Deeper than asked for.
    Further(CellId),
}

impl Branch {
    /// The operand.
    pub fn cell(&self) -> CellId {
        match self {
            Branch::Explained(explanation) => explanation.cell,
            Branch::Repeated(cell) | Branch::Further(cell) => *cell,
        }
    }
}

/// Explains cells; one that occurs several times is explained once, where it is nearest to a requested cell. A cell that is
/// requested twice is explained once.
///
/// # Errors
/// If a cell's matrix is never formed, or comes from the fused kernel, or the trees would be too large to be of use.
pub fn explain(graph: &Graph, cells: &[CellId], depth: Depth, sums: LongSums) -> Result<Vec<Explanation>> {
    let mut asked = Vec::new();
    let mut seen = HashSet::new();
    for &cell in cells {
        if graph[cell.node].is_never_formed() || !graph.is_of_model() {
            graph.matrix(cell.node)?;
        }
        if let Op::Fused(_) = graph[cell.node].op {
            let name = &graph[cell.node].name;
            return Err(Error::new(format!(
                "{name} comes from the fused kernel, which does not store the steps"
            ))
            .help("leave out --fast: then every number can be explained"));
        }
        if seen.insert(cell) {
            asked.push(cell);
        }
    }
    let found = find(graph, &asked, depth, sums)?;
    let mut writer = TreeBuilder { graph, found, written: asked.iter().copied().collect() };
    Ok(asked.into_iter().filter_map(|cell| writer.explanation(cell, 1)).collect())
}

/// The facts about a cell that are found before the tree is written.
struct FoundCell {
    /// The number of cells on the way to it, with the one that was asked for.
    distance: usize,
    kept: usize,
    term: Term,
    shown: Term,
    operands: Vec<CellId>,
}

/// A cell on the way from one that was asked for.
struct Reached {
    cell: CellId,
    distance: usize,
    level: usize,
}

/// The cells to be explained, the nearest first, each with the smallest distance that it occurs at.
fn find(graph: &Graph, asked: &[CellId], depth: Depth, sums: LongSums) -> Result<HashMap<CellId, FoundCell>> {
    let mut found = HashMap::new();
    let mut known: HashSet<CellId> = asked.iter().copied().collect();
    let mut queue: VecDeque<Reached> =
        asked.iter().map(|&cell| Reached { cell, distance: 1, level: 1 }).collect();
    let mut parts = 0;
    if queue.len() > MOST_EXPLAINED {
        return Err(too_many());
    }
    // A model has too many numbers to follow all of them; data for programs have what is asked for.
    let follows_main = graph.is_of_model() && sums == LongSums::Shortened;
    while let Some(Reached { cell, distance, level }) = queue.pop_front() {
        check_size(graph, cell.node)?;
        let term = graph.terms(cell);
        let kept = if follows_main && distance > 1 { KEPT_BELOW } else { SHOWN };
        let shown = match sums {
            LongSums::Whole => term.clone(),
            LongSums::Shortened => shortened_to(graph, &term, kept),
        };
        let mut operands = Vec::new();
        parts += cells_of(&term, &mut Vec::new(), &mut HashSet::new());
        cells_of(&shown, &mut operands, &mut HashSet::new());
        let ends = !graph.is_of_model() || ends_level(graph, &term, &operands, distance == 1);
        let level = level + usize::from(ends);
        if depth == Depth::All || matches!(depth, Depth::Levels(levels) if level <= levels) {
            let followed = if follows_main { followed(graph, &shown, &operands) } else { operands.clone() };
            let new = followed.into_iter().filter(|&operand| known.insert(operand));
            queue.extend(new.map(|cell| Reached { cell, distance: distance + 1, level }));
        }
        found.insert(cell, FoundCell { distance, kept, term, shown, operands });
        if known.len() > MOST_EXPLAINED || parts > MOST_PARTS {
            return Err(too_many());
        }
    }
    Ok(found)
}

fn too_many() -> Error {
    Error::new(format!(
        "this is too much to explain: it has more than {MOST_EXPLAINED} cells, or {MOST_PARTS} numbers and signs"
    ))
    .help("name one cell, as in --explain 'A[1,2]', or give a smaller --depth")
}

/// Refuses cells whose formula alone would fill the memory.
fn check_size(graph: &Graph, node: NodeId) -> Result<()> {
    let (node, shape) = (&graph[node], graph[node].shape());
    let shapes = node.inputs.iter().map(|&input| graph[input].shape());
    let of_all = matches!(
        node.op,
        Op::Softmax(Axis::Whole, _)
            | Op::UnguardedSoftmax(Axis::Whole, _)
            | Op::MinusMax(Axis::Whole)
            | Op::DivideBySum(Axis::Whole)
            | Op::Sums(Axis::Whole)
            | Op::Max(Axis::Whole)
    );
    // A single number may be made of all cells too, others are made of rows and columns.
    let numbers = match node.op {
        Op::BlockSums { rows, cols } => shapes.map(|a| rows.min(a.rows) * cols.min(a.cols)).sum(),
        _ if shape.rows * shape.cols == 1 || of_all => shapes.map(|a| a.rows * a.cols).sum(),
        _ => shapes.map(|a| a.rows.max(a.cols)).max().unwrap_or(0),
    };
    if numbers > MOST_NUMBERS {
        return Err(Error::new(format!(
            "a cell of {} is computed from {numbers} numbers, but at most {MOST_NUMBERS} are written out",
            node.name
        ))
        .help("give smaller matrices"));
    }
    Ok(())
}

/// Adds the cells of a term, each once, in the order of writing, and counts the term's parts.
fn cells_of(term: &Term, cells: &mut Vec<CellId>, known: &mut HashSet<CellId>) -> usize {
    if let Term::Cell(cell) = term
        && known.insert(*cell)
    {
        cells.push(*cell);
    }
    term.parts().into_iter().fold(1, |count, part| count + cells_of(part, cells, known))
}

struct TreeBuilder<'a> {
    graph: &'a Graph,
    found: HashMap<CellId, FoundCell>,
    written: HashSet<CellId>,
}

impl TreeBuilder<'_> {
    /// The cell's explanation at a distance from the one that was asked for; it is removed from the found cells, so that it is written once.
    fn explanation(&mut self, cell: CellId, distance: usize) -> Option<Explanation> {
        let FoundCell { term, shown, operands, kept, .. } = self.found.remove(&cell)?;
        let operands = operands.into_iter().map(|operand| self.branch(operand, distance + 1)).collect();
        Some(Explanation {
            cell,
            address: address_of(self.graph, cell),
            value: Term::Cell(cell).evaluate(self.graph),
            notes: notes(self.graph, cell, &shown),
            term,
            shown,
            kept,
            operands,
        })
    }

    fn branch(&mut self, cell: CellId, distance: usize) -> Branch {
        if self.written.contains(&cell) {
            return Branch::Repeated(cell);
        }
        match self.found.get(&cell).map(|found| found.distance) {
            None => Branch::Further(cell),
            Some(nearest) if nearest != distance => Branch::Repeated(cell),
            Some(_) => {
                self.written.insert(cell);
                self.explanation(cell, distance).map_or(Branch::Further(cell), Branch::Explained)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Origin;
    use crate::matrix::Matrix;

    /// y = x + x' and z = y + x, so that x occurs on two levels.
    fn graph() -> (Graph, [NodeId; 3]) {
        let mut graph = Graph::new();
        let x = graph.given("x", Matrix::of([[2.0]]), Origin::Stated).unwrap();
        let y = graph.add("y", Op::Multiply, &[x, x]).unwrap();
        let z = graph.add("z", Op::Add, &[y, x]).unwrap();
        (graph, [x, y, z])
    }

    fn cell(node: NodeId) -> CellId {
        CellId { node, row: 0, col: 0 }
    }

    #[test]
    fn one_level_names_the_operands_without_explaining_them() {
        let (graph, [x, y, z]) = graph();
        let tree = explain(&graph, &[cell(z)], Depth::Levels(1), LongSums::Shortened).unwrap();
        assert_eq!(tree[0].operands, [Branch::Further(cell(y)), Branch::Further(cell(x))]);
        assert_eq!((tree[0].value, tree[0].address.as_str()), (6.0, "z[1,1]"));
    }

    #[test]
    fn a_cell_is_explained_once_where_it_is_nearest() {
        let (graph, [x, y, z]) = graph();
        let tree = explain(&graph, &[cell(z)], Depth::All, LongSums::Shortened).unwrap();
        let [Branch::Explained(of_y), Branch::Explained(of_x)] = &tree[0].operands[..] else { panic!() };
        assert_eq!((of_y.cell, of_x.cell), (cell(y), cell(x)));
        assert_eq!(of_y.operands, [Branch::Repeated(cell(x))]);
    }

    #[test]
    fn a_cell_asked_for_is_explained_at_the_top() {
        let (graph, [_, y, z]) = graph();
        let tree = explain(&graph, &[cell(z), cell(y), cell(z)], Depth::All, LongSums::Shortened).unwrap();
        assert_eq!(tree.len(), 2);
        assert_eq!(tree[0].operands[0], Branch::Repeated(cell(y)));
    }
}
