//! Shades for weights and scores: a level for each cell, and how a level looks.
//!
//! Blue for what is large, orange for what is negative: told apart with every common kind of colour blindness. Foreground
//! and background are set together, so that the number reads on dark and on light screens.

use crate::graph::{Graph, NodeId, Op};
use crate::matrix::Matrix;

/// Whether weights and scores are shaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Heat {
    /// In colour where there is colour; masked cells are hatched.
    #[default]
    Auto,
    /// In colour where there is colour, and with a small bar beside each number.
    Always,
    /// Not at all.
    Never,
}

/// What a cell's shade says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shade {
    /// Nothing.
    #[default]
    None,
    /// Hidden by a mask.
    Masked,
    /// From 0 to [`LEVELS`] − 1: how large, for a positive number (or 0).
    Positive(usize),
    /// The same, for a negative number.
    Negative(usize),
}

/// How many shades there are on each side.
pub(super) const LEVELS: usize = 8;

const BLUES: [u8; LEVELS] = [255, 195, 153, 117, 75, 33, 26, 18];
const ORANGES: [u8; LEVELS] = [255, 230, 223, 222, 215, 208, 172, 94];
const BARS: [char; LEVELS] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const BLACK: u8 = 16;
const WHITE: u8 = 231;

impl Shade {
    /// Foreground and background, as numbers of the 256-colour palette.
    pub(super) fn colours(self) -> Option<(u8, u8)> {
        let (palette, level) = match self {
            // What is near 0 keeps the screen's own colours: on a dark one it would shine.
            Shade::Positive(0) | Shade::Negative(0) => return None,
            Shade::Positive(level) => (BLUES, level),
            Shade::Negative(level) => (ORANGES, level),
            Shade::None | Shade::Masked => return None,
        };
        // White where the shade is dark: each text has a contrast of at least 4.5 : 1 to its shade.
        let dark = level == LEVELS - 1 || palette[level] == BLUES[6];
        Some((if dark { WHITE } else { BLACK }, palette[level]))
    }

    /// The bar beside the number.
    pub(super) fn bar(self) -> Option<char> {
        match self {
            Shade::Positive(level) => Some(BARS[level]),
            // A bar for how large, and none that could be taken for a positive number's.
            Shade::Negative(_) => Some('▿'),
            Shade::Masked => Some(' '),
            Shade::None => None,
        }
    }
}

/// The kind of numbers in a node, as far as shading is concerned.
#[derive(PartialEq)]
enum Kind {
    Weights,
    Scores,
    Change,
    Other,
}

fn kind(graph: &Graph, id: NodeId) -> Kind {
    let node = &graph[id];
    match &node.op {
        Op::Softmax(..) | Op::UnguardedSoftmax(..) => Kind::Weights,
        Op::ProductTransposed | Op::Cosine => Kind::Scores,
        Op::Mask(_) => Kind::Scores,
        Op::Change => Kind::Change,
        Op::Scale(_) | Op::Temperature(_) | Op::Add | Op::Transpose | Op::Round(_) => {
            node.inputs.first().map_or(Kind::Other, |&input| kind(graph, input))
        }
        _ => Kind::Other,
    }
}

/// The shade of each cell of a node, row by row; empty for what is neither scores nor weights.
pub(super) fn shades(graph: &Graph, id: NodeId, matrix: &Matrix) -> Vec<Shade> {
    let kind = kind(graph, id);
    let largest = match kind {
        Kind::Other => return Vec::new(),
        Kind::Weights => 1.0,
        Kind::Scores | Kind::Change => matrix
            .cells()
            .filter(|x| x.is_finite())
            .fold(0.0, |max: f64, x| if x.abs() > max { x.abs() } else { max }),
    };
    let scores = (graph[id].inputs.first()).and_then(|&input| graph[input].matrix());
    let scores = scores.filter(|scores| scores.shape() == matrix.shape() && kind == Kind::Weights);
    let level = |x: f64| match largest {
        _ if x.is_infinite() => LEVELS - 1,
        0.0 => 0,
        largest => ((x.abs() / largest * LEVELS as f64) as usize).min(LEVELS - 1),
    };
    let cells = (0..matrix.rows()).flat_map(|i| (0..matrix.cols()).map(move |j| (i, j)));
    cells
        .map(|(i, j)| {
            let x = matrix[(i, j)];
            let hidden = scores.is_some_and(|scores| scores[(i, j)] == f64::NEG_INFINITY);
            match x {
                0.0 if kind == Kind::Change => Shade::None,
                f64::NEG_INFINITY if kind != Kind::Change => Shade::Masked,
                _ if hidden => Shade::Masked,
                _ if x.is_nan() => Shade::None,
                _ if x < 0.0 => Shade::Negative(level(x)),
                _ => Shade::Positive(level(x)),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::{Axis, Base};
    use crate::graph::Origin;

    #[test]
    fn masked_cells_are_hatched_and_weights_shaded_from_zero_to_one() {
        let mut graph = Graph::new();
        let s = Matrix::of([[0.0, f64::NEG_INFINITY], [0.0, 0.0]]);
        let s = graph.given("S", s, Origin::Stated).unwrap();
        let a = graph.add("A", Op::Softmax(Axis::Rows, Base::E), &[s]).unwrap();
        let shades = shades(&graph, a, graph.matrix(a).unwrap());
        assert_eq!(shades, [Shade::Positive(7), Shade::Masked, Shade::Positive(4), Shade::Positive(4)]);
    }

    #[test]
    fn a_change_is_shaded_by_its_sign_and_what_has_not_moved_is_not() {
        let mut graph = Graph::new();
        let a = graph.given("A", Matrix::of([[0.0, 1.0, 2.0, 3.0]]), Origin::Stated).unwrap();
        let b = Matrix::of([[0.0, 3.0, 1.0, f64::NEG_INFINITY]]);
        let b = graph.given("B", b, Origin::Stated).unwrap();
        let change = graph.add("change", Op::Change, &[a, b]).unwrap();
        let shades = shades(&graph, change, graph.matrix(change).unwrap());
        assert_eq!(shades, [Shade::None, Shade::Positive(7), Shade::Negative(4), Shade::Negative(7)]);
    }

    /// Relative luminance of a colour of the 6×6×6 cube or a grey, as WCAG 2 defines it.
    fn luminance(colour: u8) -> f64 {
        let level = |step: u8| if step == 0 { 0.0 } else { 55.0 + 40.0 * f64::from(step) };
        let [r, g, b] = match colour {
            232..=255 => [8.0 + 10.0 * f64::from(colour - 232); 3],
            _ => [(colour - 16) / 36, (colour - 16) / 6 % 6, (colour - 16) % 6].map(level),
        };
        let linear = |c: f64| {
            let c = c / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { crate::elementary::pow((c + 0.055) / 1.055, 2.4) }
        };
        0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
    }

    #[test]
    fn every_number_can_be_read_on_its_shade() {
        for level in 1..LEVELS {
            for shade in [Shade::Positive(level), Shade::Negative(level)] {
                let (text, paper) = shade.colours().unwrap();
                let (a, b) = (luminance(text), luminance(paper));
                let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                assert!(contrast >= 4.5, "{shade:?}: {contrast:.1}");
            }
        }
    }
}
