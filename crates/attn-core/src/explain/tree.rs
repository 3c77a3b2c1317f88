//! The tree of explanations: a cell, its operands, theirs, each sub-tree once.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::attention::Axis;
use crate::error::{Error, Result};
use crate::graph::{Bindings, CellId, Graph, NodeId, Op, Origin, Term, address_of};

use super::{Note, notes};

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
        let (mut operands, mut seen) = (Vec::new(), HashSet::new());
        parts += each_cell(&term, &mut |_| ());
        each_cell(&shown, &mut |cell| operands.extend(seen.insert(cell).then_some(cell)));
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

/// Passes the cells of a term to `add`, in the order of writing; returns the number of its parts.
pub fn each_cell(term: &Term, add: &mut impl FnMut(CellId)) -> usize {
    if let Term::Cell(cell) = term {
        add(*cell);
    }
    term.parts().into_iter().fold(1, |count, part| count + each_cell(part, add))
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

// The cell to explain next on the way down to the weights of a model.

/// The cell to explain next, on the way from an explained cell down to the weights: the first main operand that is not explained
/// below it, and of that the cell it passes on. None where the way has come to given numbers.
pub fn onward(graph: &Graph, explanation: &Explanation) -> Option<CellId> {
    let main = main_operands(graph, &explanation.shown);
    let mut next = main.into_iter().find(|&cell| !is_final(graph, cell))?;
    let branch = explanation.operands.iter().find(|branch| branch.cell() == next)?;
    if let Branch::Explained(below) = branch
        && !graph[next.node].op.is_given()
    {
        return onward(graph, below);
    }
    while let Some(source) = passed_on(&graph.terms(next)).filter(|&source| !is_final(graph, source)) {
        next = source;
    }
    Some(next)
}

// The way down from a number of a model to its weights: which operands are followed, and where a level ends.
//
// A number of a model is made of thousands of others, and a tree with all of them would be of no use. So a tree follows the largest
// term of each cell, and a level goes as far as the next weights.

/// The terms that are kept of long sums below a cell that was asked for.
pub(super) const KEPT_BELOW: usize = 3;

/// The operands that a cell owes most to: those of the largest term of a sum, of the numerator of a quotient.
pub fn main_operands(graph: &Graph, term: &Term) -> Vec<CellId> {
    let mut cells = Vec::new();
    collect(graph, term, &Bindings::default(), &mut cells);
    cells
}

fn collect(graph: &Graph, term: &Term, names: &Bindings<'_>, cells: &mut Vec<CellId>) {
    match term {
        Term::Cell(cell) if !cells.contains(cell) => cells.push(*cell),
        Term::Sum(terms) => {
            let size = |term: &Term| match term {
                // What is left out is followed nowhere.
                Term::Rest { .. } => -1.0,
                term => term.value(graph, names).abs(),
            };
            let largest = terms.iter().fold(None, |best: Option<(f64, &Term)>, term| match best {
                Some((most, _)) if most >= size(term) => best,
                _ => Some((size(term), term)),
            });
            if let Some((_, largest)) = largest {
                collect(graph, largest, names, cells);
            }
        }
        Term::Quotient(above, _) => collect(graph, above, names, cells),
        Term::Difference(from, _) => collect(graph, from, names, cells),
        Term::With { name, is, within } => {
            let inner = names.and(name, is.value(graph, names));
            collect(graph, within, &inner, cells);
        }
        other => other.parts().into_iter().for_each(|part| collect(graph, part, names, cells)),
    }
}

/// The operands that a tree follows: the main ones, and those that pass a given number on, which takes one line more.
pub(super) fn followed(graph: &Graph, shown: &Term, operands: &[CellId]) -> Vec<CellId> {
    let main = main_operands(graph, shown);
    let ends = |&cell: &CellId| {
        let is_derived = !graph[cell.node].op.is_given() && graph[cell.node].inputs.len() == 1;
        is_derived && passed_on(&graph.terms(cell)).is_some_and(|source| is_final(graph, source))
    };
    operands.iter().copied().filter(|cell| main.contains(cell) || ends(cell)).collect()
}

/// The cell that a term passes on: as it is, hidden by no mask, or times a constant.
pub fn passed_on(term: &Term) -> Option<CellId> {
    match term {
        Term::Cell(cell) => Some(*cell),
        Term::Choice { taken, .. } => passed_on(taken),
        Term::Product(terms) => {
            let mut others = terms.iter().filter(|term| !is_constant(term));
            others.next().filter(|_| others.next().is_none()).and_then(passed_on)
        }
        Term::Quotient(above, below) if is_constant(below) => passed_on(above),
        _ => None,
    }
}

fn is_constant(term: &Term) -> bool {
    match term {
        Term::Number(_) => true,
        Term::Cell(_) | Term::Leaf(..) | Term::Named(_) | Term::Rest { .. } => false,
        other => other.parts().into_iter().all(is_constant),
    }
}

/// Returns true if a level ends with a cell: one that was asked for, or one that reads weights. A cell that passes another one on
/// ends none.
pub(super) fn ends_level(graph: &Graph, term: &Term, operands: &[CellId], is_asked: bool) -> bool {
    let is_weight = |cell: &CellId| matches!(graph[cell.node].op, Op::Given(Origin::Weights(_)));
    passed_on(term).is_none() && (is_asked || operands.iter().any(is_weight))
}

/// Returns true if a cell is a number that is given, and not recorded while the model ran: such a one is explained in the layer before.
pub(super) fn is_final(graph: &Graph, cell: CellId) -> bool {
    matches!(&graph[cell.node].op, Op::Given(origin) if !matches!(origin, Origin::Stream(_)))
}

// Long sums and maxima, cut to their largest terms for the screen.

/// A sum of more terms is shortened.
pub const LONGEST: usize = 8;
/// The number of terms that are kept of it.
pub const SHOWN: usize = 6;

/// The term with every sum of more than [`LONGEST`] terms cut to the [`SHOWN`] largest by size, in their order, and a
/// [`Term::Rest`] for the sum of the others. Of a maximum the largest are kept.
pub fn shortened(graph: &Graph, term: &Term) -> Term {
    shortened_to(graph, term, SHOWN)
}

/// The term with every sum that has more than two terms beyond `most` cut to its `most` largest; see [`shortened`].
pub fn shortened_to(graph: &Graph, term: &Term, most: usize) -> Term {
    shorten(graph, term, &Bindings::default(), most)
}

/// This many terms more than are kept are not worth a line that says that they are left out.
const SPARED: usize = LONGEST - SHOWN;

fn shorten(graph: &Graph, term: &Term, names: &Bindings<'_>, most: usize) -> Term {
    match term {
        Term::Sum(terms) | Term::Max(terms) if terms.len() > most + SPARED => {
            let is_sum = matches!(term, Term::Sum(_));
            let values: Vec<f64> = terms.iter().map(|term| term.value(graph, names)).collect();
            let kept = top(&values, if is_sum { f64::abs } else { |x| x }, most);
            let others = (0..terms.len()).filter(|i| !kept.contains(i)).map(|i| values[i]);
            let value = match is_sum {
                true => others.fold(0.0, |sum, x| sum + x),
                false => others.fold(f64::NEG_INFINITY, f64::max),
            };
            let rest = Term::Rest { count: terms.len() - kept.len(), value };
            let kept = kept.iter().map(|&i| shorten(graph, &terms[i], names, most)).chain([rest]).collect();
            if is_sum { Term::Sum(kept) } else { Term::Max(kept) }
        }
        Term::With { name, is, within } => {
            let inner = names.and(name, is.value(graph, names));
            let within = Box::new(shorten(graph, within, &inner, most));
            Term::With { name, is: Box::new(shorten(graph, is, names, most)), within }
        }
        other => other.map_parts(|part| shorten(graph, part, names, most)),
    }
}

/// The indices of the values to keep, in their order: NaN first, then those of maximum size, of equals the first.
fn top(values: &[f64], size: fn(f64) -> f64, most: usize) -> Vec<usize> {
    let key = |i: usize| if values[i].is_nan() { f64::INFINITY } else { size(values[i]) };
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| key(b).total_cmp(&key(a)));
    order.truncate(most);
    order.sort_unstable();
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Factor;
    use crate::matrix::Matrix;
    use crate::tensor::Tensor;

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

    /// Scores from weights: x·W, its columns as q and k, q·kᵀ, scaled, softmax.
    fn weighted() -> Graph {
        let mut graph = Graph::new();
        let x = Matrix::of([[1.0, 2.0], [3.0, -1.0]]);
        let x = graph.given("X", x, Origin::Stated).unwrap();
        let e = graph.add("E", Op::Add, &[x, x]).unwrap();
        let w = Tensor::from(Matrix::from_fn(2, 4, |i, j| (i * 4 + j) as f64 - 3.0));
        let w = graph.weights("W", w, Origin::Weights("w".into())).unwrap();
        let qk = graph.add("QK", Op::Product, &[e, w]).unwrap();
        let q = graph.add("Q", Op::Columns { start: 0, count: 2 }, &[qk]).unwrap();
        let k = graph.add("K", Op::Columns { start: 2, count: 2 }, &[qk]).unwrap();
        let s = graph.add("S", Op::ProductTransposed, &[q, k]).unwrap();
        let scaled = graph.add("S_scaled", Op::Scale(Factor::InverseRoot(2)), &[s]).unwrap();
        graph
            .add("A", Op::Softmax(crate::attention::Axis::Rows, crate::attention::Base::E), &[scaled])
            .unwrap();
        graph
    }

    fn tree(graph: &Graph, node: &str, depth: Depth) -> Explanation {
        let cell = CellId { node: graph.find(node).unwrap(), row: 1, col: 0 };
        explain(graph, &[cell], depth, LongSums::Shortened).unwrap().remove(0)
    }

    /// The names of the nodes whose cells are explained, and of those that are only named.
    fn names(graph: &Graph, explanation: &Explanation) -> (Vec<String>, Vec<String>) {
        let name = |cell: CellId| graph[cell.node].name.clone();
        let (mut explained, mut named) = (vec![name(explanation.cell)], Vec::new());
        for branch in &explanation.operands {
            match branch {
                Branch::Explained(below) => {
                    let (more, others) = names(graph, below);
                    explained.extend(more);
                    named.extend(others);
                }
                other => named.push(name(other.cell())),
            }
        }
        (explained, named)
    }

    #[test]
    fn two_levels_of_a_weight_of_attention_end_at_the_weights_of_the_model() {
        let graph = weighted();
        let (explained, named) = names(&graph, &tree(&graph, "A", Depth::Levels(2)));
        for node in ["A", "S_scaled", "S", "Q", "K", "QK"] {
            assert!(explained.contains(&node.to_string()), "{node}: {explained:?}");
        }
        assert!(named.contains(&"W".to_string()) && named.contains(&"E".to_string()), "{named:?}");
        assert!(!explained.contains(&"E".to_string()), "{explained:?}");
        // Of the scores of the row, that of the weight itself is followed.
        assert_eq!(explained.iter().filter(|name| *name == "S_scaled").count(), 1);
    }

    #[test]
    fn one_level_of_a_cell_that_is_passed_on_goes_to_where_it_is_computed() {
        let graph = weighted();
        let (explained, named) = names(&graph, &tree(&graph, "Q", Depth::Levels(1)));
        assert_eq!(explained, ["Q", "QK"]);
        assert!(named.contains(&"W".to_string()), "{named:?}");
        let (explained, _) = names(&graph, &tree(&graph, "A", Depth::Levels(1)));
        assert_eq!(explained, ["A"]);
    }

    #[test]
    fn the_way_goes_on_from_the_largest_operand_until_it_comes_to_given_numbers() {
        let graph = weighted();
        let name = |cell: Option<CellId>| cell.map(|cell| graph[cell.node].name.clone());
        let next = |node: &str| name(onward(&graph, &tree(&graph, node, Depth::Levels(1))));
        assert_eq!(next("A").as_deref(), Some("S"), "the scale passes the score on");
        assert_eq!(next("S").as_deref(), Some("QK"));
        assert_eq!(next("QK").as_deref(), Some("E"));
        assert_eq!(next("E"), None);
    }

    #[test]
    fn a_sum_owes_most_to_its_largest_term_and_a_quotient_to_its_numerator() {
        let graph = weighted();
        let cell = |row, col| CellId { node: graph.find("X").unwrap(), row, col };
        let of = |row, col| Term::Cell(cell(row, col));
        let sum = Term::Sum(vec![of(0, 0), of(1, 0), Term::Rest { count: 9, value: 99.0 }]);
        assert_eq!(main_operands(&graph, &sum), [cell(1, 0)]);
        let quotient = Term::Quotient(Box::new(of(0, 1)), Box::new(of(1, 0)));
        assert_eq!(main_operands(&graph, &quotient), [cell(0, 1)]);
        assert_eq!(passed_on(&quotient), None);
        let half = Term::Quotient(Box::new(of(0, 1)), Box::new(Term::Number(2.0)));
        assert_eq!(passed_on(&half), Some(cell(0, 1)));
    }

    #[test]
    fn the_largest_terms_are_kept_in_their_order_and_the_rest_is_added_up() {
        let terms = [1.0, -9.0, 2.0, 8.0, 3.0, -7.0, 4.0, 6.0, 5.0].map(Term::Number).to_vec();
        let kept = [-9.0, 8.0, -7.0, 4.0, 6.0, 5.0].map(Term::Number);
        let mut expected = kept.to_vec();
        expected.push(Term::Rest { count: 3, value: 6.0 });
        assert_eq!(shortened(&Graph::new(), &Term::Sum(terms)), Term::Sum(expected));
    }

    #[test]
    fn fewer_terms_are_kept_where_fewer_are_asked_for() {
        let terms = [1.0, -9.0, 2.0, 8.0, 3.0, -7.0].map(Term::Number).to_vec();
        let mut expected = [-9.0, 8.0, -7.0].map(Term::Number).to_vec();
        expected.push(Term::Rest { count: 3, value: 6.0 });
        assert_eq!(shortened_to(&Graph::new(), &Term::Sum(terms), 3), Term::Sum(expected));
        let five = Term::Sum(vec![Term::Number(1.0); 5]);
        assert_eq!(shortened_to(&Graph::new(), &five, 3), five);
    }

    #[test]
    fn eight_terms_stay() {
        let eight = Term::Sum(vec![Term::Number(1.0); 8]);
        assert_eq!(shortened(&Graph::new(), &eight), eight);
    }
}
