//! Every kind of masking: which keys each query sees.

use crate::{Band, Kernels, Layout};

use super::problem::{Arrangement, Problem, Stored};
use super::random::Random;

/// A way to hide keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Masking {
    /// Nothing is hidden.
    Full,
    /// The queries are the last of the tokens.
    Causal,
    /// The queries are the first of the tokens.
    CausalFromStart,
    /// A few keys around each query, perhaps none.
    Window,
    /// A boolean mask for every head.
    Mask,
    /// One boolean mask for all heads.
    OneMask,
    /// One row of a boolean mask for all queries of all heads.
    OneRow,
    /// An additive bias with −∞ in it.
    Bias,
    /// A bias, a mask and a causal window.
    Mixed,
}

impl Masking {
    /// All.
    pub const ALL: [Masking; 9] = [
        Masking::Full,
        Masking::Causal,
        Masking::CausalFromStart,
        Masking::Window,
        Masking::Mask,
        Masking::OneMask,
        Masking::OneRow,
        Masking::Bias,
        Masking::Mixed,
    ];

    /// Hides what this hides.
    pub fn hide<T: Kernels>(self, problem: &mut Problem<T>, random: &mut Random) {
        let shape = problem.shape;
        let extent = (shape.heads, shape.queries, shape.keys);
        let arrangement = Arrangement::ALL[random.below(Arrangement::ALL.len())];
        match self {
            Masking::Full => {}
            Masking::Causal => problem.band = Band::causal(shape.queries, shape.keys),
            Masking::CausalFromStart => problem.band.until = Some(1),
            Masking::Window => problem.band = window(random, shape.keys),
            Masking::Mask => problem.mask = Some(mask(arrangement, extent, random)),
            Masking::OneMask => {
                let one = Layout { head_stride: 0, ..Layout::stacked(extent.0, extent.1, extent.2) };
                problem.mask = Some(Stored::repeated(one, || random.below(3) != 0));
            }
            Masking::OneRow => {
                let all = Layout::stacked(extent.0, extent.1, extent.2);
                let one = Layout { head_stride: 0, row_stride: 0, ..all };
                problem.mask = Some(Stored::repeated(one, || random.below(3) != 0));
            }
            Masking::Bias => problem.bias = Some(bias(arrangement, extent, random)),
            Masking::Mixed => {
                problem.mask = Some(mask(arrangement, extent, random));
                problem.bias = Some(bias(Arrangement::Stacked, extent, random));
                problem.band = Band { from: Some(-40), ..Band::causal(shape.queries, shape.keys) };
            }
        }
    }
}

fn window(random: &mut Random, keys: usize) -> Band {
    let from = random.below(keys + 8) as isize - 8;
    Band { from: Some(from - 3), until: Some(from + 1 + random.below(6) as isize), keep_first: 0 }
}

/// Rows of every kind: dense, sparse, nothing, everything, the first key alone, the last alone, all but one of them.
fn mask(
    arrangement: Arrangement,
    (heads, rows, columns): (usize, usize, usize),
    random: &mut Random,
) -> Stored<bool> {
    let kinds: Vec<usize> = (0..heads * rows).map(|_| random.below(8)).collect();
    Stored::new(arrangement, (heads, rows, columns), true, |h, i, j| match kinds[h * rows + i] {
        0 => false,
        1 => true,
        2 => j == 0,
        3 => j + 1 == columns,
        4 => j != 0,
        5 => j + 1 != columns,
        6 => random.below(8) == 0,
        _ => random.below(8) != 0,
    })
}

fn bias<T: Kernels>(
    arrangement: Arrangement,
    extent: (usize, usize, usize),
    random: &mut Random,
) -> Stored<T> {
    let number = |_, _, _| match random.below(8) {
        0 => T::NEG_INFINITY,
        _ => T::from_f64(random.normal()),
    };
    Stored::new(arrangement, extent, T::from_f64(f64::NAN), number)
}
