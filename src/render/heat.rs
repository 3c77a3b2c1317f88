//! Shades for weights and scores: a level for each cell, and the colours of a level.
//!
//! Blue for positive numbers, orange for negative ones: they differ with every common kind of colour blindness. The larger a
//! number, the more its shade stands out from the screen: light shades on a dark screen, dark ones on a light screen. If the
//! background is unknown, small numbers stay unshaded and larger ones get shades of middle luminance, which stand out from
//! both. Text and shade are set together, so that the number can be read on its shade.

use super::theme::Theme;
use crate::graph::{Graph, NodeId, Op};
use crate::matrix::Matrix;

/// The setting that decides if weights and scores are shaded.
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

/// The shade of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Shade {
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
pub(super) const LEVELS: usize = 8;

/// The shades of a screen, as numbers of the 256-colour palette: text and ground for each level, [`LEVELS`] of them. What is
/// near 0 has none.
struct Palette {
    positive: [Option<(u8, u8)>; LEVELS],
    negative: [Option<(u8, u8)>; LEVELS],
}

const BLACK: u8 = 16;
const WHITE: u8 = 231;

const fn light_on(ground: u8) -> Option<(u8, u8)> {
    Some((WHITE, ground))
}

const fn dark_on(ground: u8) -> Option<(u8, u8)> {
    Some((BLACK, ground))
}

const LIGHT: Palette = Palette {
    positive: [
        None,
        dark_on(195),
        dark_on(153),
        dark_on(117),
        dark_on(75),
        dark_on(33),
        light_on(26),
        light_on(18),
    ],
    negative: [
        None,
        dark_on(230),
        dark_on(223),
        dark_on(222),
        dark_on(215),
        dark_on(208),
        dark_on(172),
        light_on(94),
    ],
};

const DARK: Palette = Palette {
    positive: [
        None,
        light_on(17),
        light_on(19),
        light_on(24),
        dark_on(32),
        dark_on(75),
        dark_on(117),
        dark_on(195),
    ],
    negative: [
        None,
        light_on(52),
        light_on(94),
        light_on(130),
        dark_on(172),
        dark_on(208),
        dark_on(215),
        dark_on(223),
    ],
};

const EITHER: Palette = Palette {
    positive: [None, None, None, dark_on(66), dark_on(66), dark_on(31), dark_on(31), dark_on(31)],
    negative: [None, None, None, dark_on(131), dark_on(131), light_on(130), light_on(130), light_on(130)],
};

const BARS: [char; LEVELS] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The colours of a shade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShadeColours {
    /// The text, as a number of the 256-colour palette.
    pub ink: u8,
    /// The colour behind it.
    pub ground: u8,
    /// True if the text is bold too.
    pub bold: bool,
}

impl Shade {
    /// The colours of the shade on a screen; `None` for a cell that keeps the screen's own colours.
    pub(super) fn look(self, theme: Theme) -> Option<ShadeColours> {
        let palette = match theme {
            Theme::Light => LIGHT,
            Theme::Dark => DARK,
            Theme::Unknown => EITHER,
        };
        let (shades, level) = match self {
            Shade::Positive(level) => (palette.positive, level),
            Shade::Negative(level) => (palette.negative, level),
            Shade::None | Shade::Masked => return None,
        };
        let (ink, ground) = shades[level]?;
        Some(ShadeColours { ink, ground, bold: theme == Theme::Unknown && level == LEVELS - 1 })
    }

    /// The bar beside the number.
    pub(super) fn bar(self) -> Option<char> {
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
        Op::Softmax(..) | Op::UnguardedSoftmax(..) => NodeKind::Weights,
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
pub(super) fn shades(graph: &Graph, id: NodeId, matrix: &Matrix) -> Vec<Shade> {
    let kind = kind(graph, id);
    let largest = match kind {
        NodeKind::Other => return Vec::new(),
        NodeKind::Weights => 1.0,
        NodeKind::Scores | NodeKind::Change => matrix
            .cells()
            .filter(|x| x.is_finite())
            .fold(0.0, |max: f64, x| if x.abs() > max { x.abs() } else { max }),
    };
    let scores = (graph[id].inputs.first()).and_then(|&input| graph[input].matrix());
    let scores = scores.filter(|scores| scores.shape() == matrix.shape() && kind == NodeKind::Weights);
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

    /// Relative luminance of a colour of the 6×6×6 cube or a grey.
    fn luminance(colour: u8) -> f64 {
        let level = |step: u8| if step == 0 { 0.0 } else { 55.0 + 40.0 * f64::from(step) };
        let rgb = match colour {
            232..=255 => [8.0 + 10.0 * f64::from(colour - 232); 3],
            _ => [(colour - 16) / 36, (colour - 16) / 6 % 6, (colour - 16) % 6].map(level),
        };
        crate::render::theme::luminance(rgb.map(|c| c / 255.0))
    }

    fn contrast(a: f64, b: f64) -> f64 {
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// #111111 and #ffffff.
    fn screens() -> [(Theme, f64); 2] {
        let dark = crate::render::theme::luminance([17.0 / 255.0; 3]);
        [(Theme::Dark, dark), (Theme::Light, 1.0)]
    }

    const SIDES: [fn(usize) -> Shade; 2] = [Shade::Positive, Shade::Negative];

    #[test]
    fn every_number_can_be_read_on_its_shade() {
        let mut shaded = 0;
        for theme in [Theme::Dark, Theme::Light, Theme::Unknown] {
            for (level, side) in (0..LEVELS).flat_map(|level| SIDES.map(|side| (level, side))) {
                let Some(look) = side(level).look(theme) else { continue };
                let found = contrast(luminance(look.ink), luminance(look.ground));
                assert!(found >= 4.5, "{:?} {theme:?}: {found:.2}", side(level));
                shaded += 1;
            }
        }
        assert_eq!(shaded, 2 * (7 + 7 + 5));
    }

    #[test]
    fn the_larger_a_number_the_more_its_shade_stands_out_and_the_largest_does_so_clearly() {
        for (theme, screen) in screens() {
            for side in SIDES {
                let found: Vec<f64> = (1..LEVELS)
                    .map(|level| contrast(luminance(side(level).look(theme).unwrap().ground), screen))
                    .collect();
                assert!(found.is_sorted_by(|a, b| a < b), "{theme:?} {:?}: {found:.2?}", side(0));
                assert!(found[LEVELS - 2] >= 3.0, "{theme:?} {:?}: {found:.2?}", side(0));
                assert_eq!(side(0).look(theme), None, "what is near 0 keeps the screen's colours");
            }
        }
    }

    #[test]
    fn where_the_screen_is_unknown_shades_stand_out_from_both_and_the_largest_is_bold() {
        for side in SIDES {
            let looks: Vec<Option<ShadeColours>> =
                (0..LEVELS).map(|level| side(level).look(Theme::Unknown)).collect();
            assert!(looks[..3].iter().all(Option::is_none) && looks[3..].iter().all(Option::is_some));
            for look in looks.iter().flatten() {
                for (_, screen) in screens() {
                    let found = contrast(luminance(look.ground), screen);
                    // 4.35 from both is the most there is: #ffffff and #111111 are 18.9 apart.
                    assert!((3.9..=4.85).contains(&found), "{look:?}: {found:.2}");
                }
            }
            let bold: Vec<bool> = looks[3..].iter().flatten().map(|look| look.bold).collect();
            assert_eq!(bold, [false, false, false, false, true]);
        }
    }
}
