//! Variants of attention: soft caps, sinks, biases by distance, windows that keep the first keys.

use crate::{Band, Kernels};

use super::problem::{Arrangement, Problem, Stored};
use super::random::Random;

/// What is added to a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Variant {
    /// A cap like those of models, or far below most scores.
    SoftCap,
    /// A cap of 10³⁰, which changes nothing that can be seen.
    HighCap,
    /// A sink like a score for each head, −∞ for some.
    Sinks,
    /// A sink far above all scores, or far below.
    ExtremeSinks,
    /// −m · |j − i|, as ALiBi has it for causal attention.
    Slopes,
    /// A random number for each distance, −∞ for some.
    Distances,
    /// A causal window, and the first keys.
    KeepFirst,
    /// All of them, and a bias with −∞ in it.
    Together,
}

impl Variant {
    /// All.
    pub const ALL: [Variant; 8] = [
        Variant::SoftCap,
        Variant::HighCap,
        Variant::Sinks,
        Variant::ExtremeSinks,
        Variant::Slopes,
        Variant::Distances,
        Variant::KeepFirst,
        Variant::Together,
    ];

    /// Adds what this adds.
    pub fn add_to<T: Kernels>(self, problem: &mut Problem<T>, random: &mut Random) {
        let heads = problem.shape.heads;
        match self {
            Variant::SoftCap => {
                problem.soft_cap = Some(T::from_f64([0.25, 1.5, 30.0, 50.0][random.below(4)]))
            }
            Variant::HighCap => problem.soft_cap = Some(T::from_f64(1e30)),
            Variant::Sinks => {
                let sink = |random: &mut Random| match random.below(4) {
                    0 => T::NEG_INFINITY,
                    _ => T::from_f64(random.normal()),
                };
                problem.sinks = Some((0..heads).map(|_| sink(random)).collect());
            }
            Variant::ExtremeSinks => {
                let extremes = [60.0, -60.0, 1e30, -1e30].map(T::from_f64);
                problem.sinks = Some((0..heads).map(|_| extremes[random.below(4)]).collect());
            }
            Variant::Slopes => {
                let slope = |h: usize| libm::exp2(-8.0 * (h + 1) as f64 / heads as f64);
                let bias = |h, distance: isize| T::from_f64(-slope(h) * distance.unsigned_abs() as f64);
                *problem = problem.clone().relatively_biased(bias);
            }
            Variant::Distances => problem.relative_bias = Some(distances(problem, random)),
            Variant::KeepFirst => problem.band = window_that_keeps(problem, random),
            Variant::Together => {
                let bias = |_, _, _| {
                    T::from_f64(if random.below(9) == 0 { f64::NEG_INFINITY } else { random.normal() })
                };
                *problem = problem.clone().biased(bias);
                for variant in [Variant::SoftCap, Variant::Sinks, Variant::Distances, Variant::KeepFirst] {
                    variant.add_to(problem, random);
                }
            }
        }
    }
}

/// In memory in any arrangement, with NaN in the gaps.
fn distances<T: Kernels>(problem: &Problem<T>, random: &mut Random) -> Stored<T> {
    let shape = problem.shape;
    let extent = (shape.heads, 1, (shape.keys + shape.queries).saturating_sub(1));
    let arrangement = Arrangement::ALL[random.below(Arrangement::ALL.len())];
    // In half of the cases nothing is hidden.
    let hides = random.below(2) == 0;
    let number = |_, _, _| match random.below(8) {
        0 if hides => T::NEG_INFINITY,
        _ => T::from_f64(random.normal()),
    };
    Stored::new(arrangement, extent, T::from_f64(f64::NAN), number)
}

/// Up to the last key of the query, to a later one, or to all; perhaps a window without a key.
fn window_that_keeps<T: Kernels>(problem: &Problem<T>, random: &mut Random) -> Band {
    let (queries, keys) = (problem.shape.queries, problem.shape.keys);
    let offset = keys as isize - queries as isize;
    let size = random.below(keys + 2) as isize;
    let until = [Some(offset + 1), Some(offset + 1 + random.below(9) as isize), None][random.below(3)];
    let keep_first = [random.below(5), random.below(keys + 2)][random.below(2)];
    Band { from: Some(offset + 1 - size), until, keep_first }
}
