//! Shades for weights and scores: a level for each cell.

use serde::{Deserialize, Serialize};

use crate::elementary::pow;
use crate::graph::{Graph, NodeId, Op, Stage};
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
    // Weights may be given, and rolled out.
    let is_weights = node.step.is_some_and(|step| step.stage == Stage::Weights);
    match &node.op {
        Op::Given(_) | Op::Product if is_weights => NodeKind::Weights,
        Op::Softmax(..) | Op::UnguardedSoftmax(..) | Op::SoftmaxWithSink { .. } => NodeKind::Weights,
        Op::ProductTransposed | Op::Cosine | Op::Mask(_) => NodeKind::Scores,
        Op::Change => NodeKind::Change,
        Op::Scale(_) | Op::Temperature(_) | Op::Add | Op::Transpose | Op::Round(_) => {
            node.inputs.first().map_or(NodeKind::Other, |&input| kind(graph, input))
        }
        _ => NodeKind::Other,
    }
}

/// The shades of the cells in some rows and columns, as they are in the whole matrix, row by row; none for a node that holds neither
/// scores nor weights.
pub fn shades(graph: &Graph, id: NodeId, rows: &[usize], cols: &[usize]) -> Vec<Shade> {
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

// The colours of shades.
//
// Blue for positive numbers, orange for negative ones: they differ with every common kind of colour blindness. The larger a
// number, the more its shade stands out from the screen: light shades on a dark screen, dark ones on a light screen. If the
// background is unknown, small numbers stay unshaded and larger ones get shades of middle luminance, which stand out from
// both. Text and shade are set together, so that the number can be read on its shade.

/// The background of the screen: dark, light or unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Theme {
    /// The background is not known: shades have to be readable on both.
    #[default]
    #[serde(rename = "auto")]
    Unknown,
    /// Light text on a dark ground.
    Dark,
    /// Dark text on a light ground.
    Light,
}

/// The luminance on which black and white text are equally easy to read.
const MIDDLE: f64 = 0.179;

impl Theme {
    /// The theme of a ground of this red, green and blue, each from 0 to 1.
    pub fn of_ground(ground: [f64; 3]) -> Theme {
        if luminance(ground) > MIDDLE { Theme::Light } else { Theme::Dark }
    }

    /// The theme according to `COLORFGBG`: `15;0`, the colours of text and ground among the sixteen.
    pub fn of_colorfgbg(text: &str) -> Theme {
        match text.rsplit(';').next().and_then(|ground| ground.parse::<u8>().ok()) {
            Some(0..=6 | 8) => Theme::Dark,
            Some(7 | 9..=15) => Theme::Light,
            _ => Theme::Unknown,
        }
    }
}

/// Relative luminance of a red, green and blue from 0 to 1, as WCAG 2 defines it.
pub fn luminance([r, g, b]: [f64; 3]) -> f64 {
    let linear = |c: f64| if c <= 0.040_45 { c / 12.92 } else { pow((c + 0.055) / 1.055, 2.4) };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

/// The shades of a screen, as numbers of the 256-colour palette: for positive and for negative numbers the ground of each level, or 0
/// for none, as near 0.
type Palette = [[u8; LEVELS]; 2];

const BLACK: u8 = 16;
const WHITE: u8 = 231;

/// The grounds that text is white on.
const DARK_GROUNDS: [u8; 8] = [17, 18, 19, 24, 26, 52, 94, 130];

const LIGHT: Palette = [[0, 195, 153, 117, 75, 33, 26, 18], [0, 230, 223, 222, 215, 208, 172, 94]];
const DARK: Palette = [[0, 17, 19, 24, 32, 75, 117, 195], [0, 52, 94, 130, 172, 208, 215, 223]];
const EITHER: Palette = [[0, 0, 0, 66, 66, 31, 31, 31], [0, 0, 0, 131, 131, 130, 130, 130]];

/// The colours of a shade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShadeColours {
    /// The text, as a number of the 256-colour palette.
    pub ink: u8,
    /// The colour behind it.
    pub ground: u8,
    /// True if the text is bold too.
    pub bold: bool,
}

impl Shade {
    /// The colours of the shade on a screen; `None` for a cell that keeps the screen's own colours.
    pub fn look(self, theme: Theme) -> Option<ShadeColours> {
        let [positive, negative] = match theme {
            Theme::Light => LIGHT,
            Theme::Dark => DARK,
            Theme::Unknown => EITHER,
        };
        let (shades, level) = match self {
            Shade::Positive(level) => (positive, level),
            Shade::Negative(level) => (negative, level),
            Shade::None | Shade::Masked => return None,
        };
        let ground = Some(shades[level]).filter(|ground| *ground != 0)?;
        let ink = if DARK_GROUNDS.contains(&ground) { WHITE } else { BLACK };
        Some(ShadeColours { ink, ground, bold: theme == Theme::Unknown && level == LEVELS - 1 })
    }
}

#[cfg(test)]
mod tests {
    use crate::attention::{Axis, Base};
    use crate::graph::Origin;
    use crate::matrix::Matrix;

    use super::*;

    #[test]
    fn masked_cells_are_hatched_and_weights_shaded_from_zero_to_one() {
        let mut graph = Graph::new();
        let s = Matrix::of([[0.0, f64::NEG_INFINITY], [0.0, 0.0]]);
        let s = graph.given("S", s, Origin::Stated).unwrap();
        let a = graph.add("A", Op::Softmax(Axis::Rows, Base::E), &[s]).unwrap();
        let shades = shades(&graph, a, &[0, 1], &[0, 1]);
        assert_eq!(shades, [Shade::Positive(7), Shade::Masked, Shade::Positive(4), Shade::Positive(4)]);
    }

    #[test]
    fn a_part_has_the_shades_of_the_whole() {
        let mut graph = Graph::new();
        let scores = Matrix::from_fn(6, 6, |i, j| if j > i { f64::NEG_INFINITY } else { (i * j) as f64 });
        let scores = graph.given("S", scores, Origin::Stated).unwrap();
        let weights = graph.add("A", Op::Softmax(Axis::Rows, Base::E), &[scores]).unwrap();
        let all: Vec<usize> = (0..6).collect();
        let whole = shades(&graph, weights, &all, &all);
        let part: Vec<Shade> = [2, 4].iter().flat_map(|i| [1, 3].map(|j| whole[6 * i + j])).collect();
        assert_eq!(shades(&graph, weights, &[2, 4], &[1, 3]), part);
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
        let shades = shades(&graph, change, &[0], &[0, 1, 2, 3]);
        assert_eq!(shades, [Shade::None, Shade::Positive(7), Shade::Negative(4), Shade::Negative(7)]);
    }

    /// Relative luminance of a colour of the 6×6×6 cube or a grey.
    fn luminance(colour: u8) -> f64 {
        let level = |step: u8| if step == 0 { 0.0 } else { 55.0 + 40.0 * f64::from(step) };
        let rgb = match colour {
            232..=255 => [8.0 + 10.0 * f64::from(colour - 232); 3],
            _ => [(colour - 16) / 36, (colour - 16) / 6 % 6, (colour - 16) % 6].map(level),
        };
        super::luminance(rgb.map(|c| c / 255.0))
    }

    fn contrast(a: f64, b: f64) -> f64 {
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// #111111 and #ffffff.
    fn screens() -> [(Theme, f64); 2] {
        let dark = super::luminance([17.0 / 255.0; 3]);
        [(Theme::Dark, dark), (Theme::Light, 1.0)]
    }

    #[test]
    fn a_ground_is_dark_or_light() {
        for (ground, theme) in [
            ([0.0, 0.0, 0.0], Theme::Dark),
            ([0.0, 43.0 / 255.0, 54.0 / 255.0], Theme::Dark),
            ([0.18, 0.2, 0.25], Theme::Dark),
            ([1.0, 1.0, 1.0], Theme::Light),
            ([0.99, 0.96, 0.89], Theme::Light),
            ([0.5, 0.5, 0.5], Theme::Light),
        ] {
            assert_eq!(Theme::of_ground(ground), theme, "{ground:?}");
        }
    }

    #[test]
    fn colorfgbg_names_the_ground_last() {
        for (text, theme) in [
            ("15;0", Theme::Dark),
            ("0;15", Theme::Light),
            ("0;default;15", Theme::Light),
            ("12;8", Theme::Dark),
            ("0;7", Theme::Light),
            ("0;default", Theme::Unknown),
            ("", Theme::Unknown),
            ("0;300", Theme::Unknown),
        ] {
            assert_eq!(Theme::of_colorfgbg(text), theme, "{text}");
        }
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
    fn larger_numbers_have_stronger_shades() {
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
    fn shades_for_an_unknown_screen_fit_both_grounds() {
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
