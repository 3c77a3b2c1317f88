//! Shades for weights and scores: a level for each cell.

use serde::{Deserialize, Serialize};

use crate::graph::{Graph, NodeId, Op};
use crate::matrix::Shape;
use crate::tensor::Tensor;

/// The setting that decides if weights and scores are shaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Heat {
    /// In colour where there is colour; masked cells are hatched.
    #[default]
    Auto,
    /// In colour where there is colour, and with a small bar beside each number.
    Always,
    /// Not at all.
    Never,
}

/// The shade of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shade {
    /// Nothing.
    #[default]
    None,
    /// Hidden by a mask.
    Masked,
    /// The level of a positive number (or 0), from 0 to [`LEVELS`] − 1.
    Positive(usize),
    /// The level of a negative number.
    Negative(usize),
}

/// The number of shades on each side.
pub const LEVELS: usize = 8;

const BARS: [char; LEVELS] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
impl Shade {
    /// The bar beside the number.
    pub fn bar(self) -> Option<char> {
        match self {
            Shade::Positive(level) => Some(BARS[level]),
            // One bar for all negative numbers; it differs from those of positive ones.
            Shade::Negative(_) => Some('▿'),
            Shade::Masked => Some(' '),
            Shade::None => None,
        }
    }
}

/// The kind of numbers in a node, as far as shading is concerned.
#[derive(PartialEq)]
enum NodeKind {
    Weights,
    Scores,
    Change,
    Other,
}

fn kind(graph: &Graph, id: NodeId) -> NodeKind {
    let node = &graph[id];
    match &node.op {
        Op::Softmax(..) | Op::UnguardedSoftmax(..) | Op::SoftmaxWithSink { .. } => NodeKind::Weights,
        Op::ProductTransposed | Op::Cosine => NodeKind::Scores,
        Op::Mask(_) => NodeKind::Scores,
        Op::Change => NodeKind::Change,
        Op::Scale(_) | Op::Temperature(_) | Op::Add | Op::Transpose | Op::Round(_) => {
            node.inputs.first().map_or(NodeKind::Other, |&input| kind(graph, input))
        }
        _ => NodeKind::Other,
    }
}

/// The shade of each cell of a node, row by row; empty for a node that holds neither scores nor weights.
pub fn shades(graph: &Graph, id: NodeId) -> Vec<Shade> {
    let Shape { rows, cols } = graph[id].shape();
    let all = |count: usize| (0..count).collect::<Vec<usize>>();
    shades_at(graph, id, &all(rows), &all(cols))
}

/// The shades of the cells in some rows and columns, as they are in the whole matrix.
pub fn shades_at(graph: &Graph, id: NodeId, rows: &[usize], cols: &[usize]) -> Vec<Shade> {
    let kind = kind(graph, id);
    let Some(tensor) = graph[id].tensor().filter(|tensor| !tensor.is_stored()) else { return Vec::new() };
    let max = match kind {
        NodeKind::Other => return Vec::new(),
        NodeKind::Weights => 1.0,
        NodeKind::Scores | NodeKind::Change => largest(tensor),
    };
    let scores = (graph[id].inputs.first()).and_then(|&input| graph[input].tensor());
    let scores = scores.filter(|scores| scores.shape() == tensor.shape() && kind == NodeKind::Weights);
    let at = |tensor: &Tensor, i: usize, j: usize| tensor.number(i, j).unwrap_or(f64::NAN);
    let level = |x: f64| match max {
        _ if x.is_infinite() => LEVELS - 1,
        0.0 => 0,
        max => level(x.abs() / max),
    };
    let cells = rows.iter().flat_map(|&i| cols.iter().map(move |&j| (i, j)));
    cells
        .map(|(i, j)| {
            let x = at(tensor, i, j);
            let hidden = scores.is_some_and(|scores| at(scores, i, j) == f64::NEG_INFINITY);
            match x {
                0.0 if kind == NodeKind::Change => Shade::None,
                f64::NEG_INFINITY if kind != NodeKind::Change => Shade::Masked,
                _ if hidden => Shade::Masked,
                _ if x.is_nan() => Shade::None,
                _ if x < 0.0 => Shade::Negative(level(x)),
                _ => Shade::Positive(level(x)),
            }
        })
        .collect()
}

/// The shade of a share from 0 to 1.
pub fn shade_of_share(share: f64) -> Shade {
    Shade::Positive(level(share))
}

fn level(share: f64) -> usize {
    ((share * LEVELS as f64) as usize).min(LEVELS - 1)
}

/// The largest size of a finite number.
fn largest(tensor: &Tensor) -> f64 {
    let larger = |max: f64, x: f64| if x.abs() > max { x.abs() } else { max };
    match tensor.formed_matrix() {
        Some(matrix) => matrix.cells().filter(|x| x.is_finite()).fold(0.0, larger),
        None => tensor.cells().filter(|x| x.is_finite()).fold(0.0, larger),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::{Axis, Base};
    use crate::graph::Origin;
    use crate::matrix::Matrix;

    #[test]
    fn masked_cells_are_hatched_and_weights_shaded_from_zero_to_one() {
        let mut graph = Graph::new();
        let s = Matrix::of([[0.0, f64::NEG_INFINITY], [0.0, 0.0]]);
        let s = graph.given("S", s, Origin::Stated).unwrap();
        let a = graph.add("A", Op::Softmax(Axis::Rows, Base::E), &[s]).unwrap();
        let shades = shades(&graph, a);
        assert_eq!(shades, [Shade::Positive(7), Shade::Masked, Shade::Positive(4), Shade::Positive(4)]);
    }

    #[test]
    fn a_part_has_the_shades_of_the_whole() {
        let mut graph = Graph::new();
        let scores = Matrix::from_fn(6, 6, |i, j| if j > i { f64::NEG_INFINITY } else { (i * j) as f64 });
        let scores = graph.given("S", scores, Origin::Stated).unwrap();
        let weights = graph.add("A", Op::Softmax(Axis::Rows, Base::E), &[scores]).unwrap();
        let whole = shades(&graph, weights);
        let part: Vec<Shade> = [2, 4].iter().flat_map(|i| [1, 3].map(|j| whole[6 * i + j])).collect();
        assert_eq!(shades_at(&graph, weights, &[2, 4], &[1, 3]), part);
        assert_eq!(part[1], Shade::Masked);
        assert!(matches!(part[2], Shade::Positive(_)), "{part:?}");
    }

    #[test]
    fn a_change_is_shaded_by_its_sign_and_what_has_not_moved_is_not() {
        let mut graph = Graph::new();
        let a = graph.given("A", Matrix::of([[0.0, 1.0, 2.0, 3.0]]), Origin::Stated).unwrap();
        let b = Matrix::of([[0.0, 3.0, 1.0, f64::NEG_INFINITY]]);
        let b = graph.given("B", b, Origin::Stated).unwrap();
        let change = graph.add("change", Op::Change, &[a, b]).unwrap();
        let shades = shades(&graph, change);
        assert_eq!(shades, [Shade::None, Shade::Positive(7), Shade::Negative(4), Shade::Negative(7)]);
    }
}
