//! Families of problems that were made to break an online softmax, for any shape.

use crate::{BLOCK, Band, Kernels};

use super::masking::Masking;
use super::problem::{Arrangement, Problem, Shape, Stored};
use super::random::Random;
use super::variants::Variant;

/// What is special about the numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Family {
    /// All of N(0, 1).
    Normal,
    /// Queries this many times as large.
    LargeQueries(f64),
    /// All scores the same.
    Equal,
    /// All scores 0, of either sign.
    Zeros,
    /// Every score above the one before by this much, so that the running max rises in every block.
    Ascending(f64),
    /// Every score below the one before.
    Descending,
    /// The last score is far above.
    Spike(f64),
    /// N(0, 1), and these keys hidden by a mask.
    Masked(HiddenKeys),
    /// N(0, 1), and these keys hidden by a bias.
    Biased(HiddenKeys),
    /// N(0, 1), and keys hidden by position.
    Banded(Banded),
    /// N(0, 1), and keys hidden at random.
    Masking(Masking),
    /// N(0, 1), and this scale.
    Scale(f64),
    /// N(0, 1), and a variant of attention.
    Variant(Variant),
}

/// Which keys are hidden, and from whom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HiddenKeys {
    FirstKey,
    LastKey,
    FirstBlock,
    SecondBlock,
    AllButTheLast,
    EveryThirdRow,
    Everything,
}

impl HiddenKeys {
    const ALL: [HiddenKeys; 7] = [
        HiddenKeys::FirstKey,
        HiddenKeys::LastKey,
        HiddenKeys::FirstBlock,
        HiddenKeys::SecondBlock,
        HiddenKeys::AllButTheLast,
        HiddenKeys::EveryThirdRow,
        HiddenKeys::Everything,
    ];

    fn hides(self, keys: usize, i: usize, j: usize) -> bool {
        match self {
            HiddenKeys::FirstKey => j == 0,
            HiddenKeys::LastKey => j + 1 == keys,
            HiddenKeys::FirstBlock => j < BLOCK,
            HiddenKeys::SecondBlock => j / BLOCK == 1,
            HiddenKeys::AllButTheLast => j + 1 != keys,
            HiddenKeys::EveryThirdRow => i.is_multiple_of(3),
            HiddenKeys::Everything => true,
        }
    }
}

/// Which keys a query sees by position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Banded {
    CausalQueriesLast,
    CausalQueriesFirst,
    WindowOfOne,
    EmptyWindow,
    BeyondTheKeys,
    AcrossBlocks,
}

impl Banded {
    const ALL: [Banded; 6] = [
        Banded::CausalQueriesLast,
        Banded::CausalQueriesFirst,
        Banded::WindowOfOne,
        Banded::EmptyWindow,
        Banded::BeyondTheKeys,
        Banded::AcrossBlocks,
    ];

    fn band(self, shape: Shape) -> Band {
        match self {
            Banded::CausalQueriesLast => Band::causal(shape.queries, shape.keys),
            Banded::CausalQueriesFirst => Band { until: Some(1), ..Band::default() },
            Banded::WindowOfOne => Band { from: Some(0), until: Some(1), keep_first: 0 },
            Banded::EmptyWindow => Band { from: Some(1), until: Some(1), keep_first: 0 },
            Banded::BeyondTheKeys => Band { from: Some(shape.keys as isize), ..Band::default() },
            Banded::AcrossBlocks => Band { from: Some(100), until: Some(150), keep_first: 0 },
        }
    }
}

/// Scales of any sign and size; the subnormal one is 0 … 3 · 2^−149 in `f32`.
const SCALES: [f64; 7] = [-1.0, -0.125, 0.0, -0.0, 1e-30, 3.0, 3e-45];

impl Family {
    /// All.
    pub fn all() -> impl Iterator<Item = Family> {
        let numbers = [
            Family::Normal,
            Family::LargeQueries(1e3),
            Family::LargeQueries(1e30),
            Family::Equal,
            Family::Zeros,
            Family::Ascending(0.0625),
            Family::Ascending(3.0),
            Family::Descending,
            Family::Spike(50.0),
            Family::Spike(4.0),
        ];
        let masked =
            HiddenKeys::ALL.into_iter().flat_map(|hidden| [Family::Masked(hidden), Family::Biased(hidden)]);
        let banded = Banded::ALL.into_iter().map(Family::Banded);
        let hidden = masked.chain(banded).chain(Masking::ALL.into_iter().map(Family::Masking));
        let variants = Variant::ALL.into_iter().map(Family::Variant);
        numbers.into_iter().chain(hidden).chain(SCALES.into_iter().map(Family::Scale)).chain(variants)
    }

    /// The problem of this shape.
    pub fn problem<T: Kernels>(self, shape: Shape, random: &mut Random) -> Problem<T> {
        let normal = |random: &mut Random| Problem::normal(shape, [Arrangement::Stacked; 3], random);
        let small = |j: usize| 0.25 * (j % 5) as f64;
        match self {
            Family::Normal => normal(random),
            Family::LargeQueries(factor) => {
                let mut problem = normal(random);
                let large = |_, _, _| T::from_f64(factor * random.normal());
                let extent = (shape.heads, shape.queries, shape.width);
                problem.q = Stored::new(Arrangement::Stacked, extent, T::ZERO, large);
                problem
            }
            Family::Equal => with_scores(shape, random, |_| 0.375),
            Family::Zeros => {
                let zero = |at: usize| T::from_f64(if at.is_multiple_of(2) { 0.0 } else { -0.0 });
                let values = |_, _, _| T::from_f64(random.normal());
                Problem::of(shape, |_, i, _| zero(i), |_, j, _| zero(j), values)
            }
            Family::Ascending(step) => with_scores(shape, random, |j| j as f64 * step - 3.0),
            Family::Descending => with_scores(shape, random, |j| 3.0 - j as f64 / 16.0),
            Family::Spike(height) => {
                with_scores(shape, random, |j| if j + 1 == shape.keys { height } else { small(j) })
            }
            Family::Masked(hidden) => normal(random).masked(|_, i, j| !hidden.hides(shape.keys, i, j)),
            Family::Biased(hidden) => normal(random).biased(|_, i, j| {
                if hidden.hides(shape.keys, i, j) { T::NEG_INFINITY } else { T::from_f64(small(i + j)) }
            }),
            Family::Banded(banded) => Problem { band: banded.band(shape), ..normal(random) },
            Family::Masking(masking) => {
                let mut problem = normal(random);
                masking.hide(&mut problem, random);
                problem
            }
            Family::Variant(variant) => {
                let mut problem = normal(random);
                variant.add_to(&mut problem, random);
                problem
            }
            Family::Scale(scale) => Problem { scale: Some(T::from_f64(scale)), ..normal(random) },
        }
    }
}

/// Scores that are exactly `score(key)`, the same for every query: the first column alone is not zero.
pub fn with_scores<T: Kernels>(
    shape: Shape,
    random: &mut Random,
    score: impl Fn(usize) -> f64,
) -> Problem<T> {
    let first = |x: f64, c: usize| if c == 0 { T::from_f64(x) } else { T::ZERO };
    let values = |_, _, _| T::from_f64(random.normal());
    let mut problem = Problem::of(shape, |_, _, c| first(1.0, c), |_, j, c| first(score(j), c), values);
    problem.scale = Some(T::ONE);
    problem
}
