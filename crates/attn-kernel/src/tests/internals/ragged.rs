//! Problems of every ragged size over memory that the caller provides, to detect reads and writes beside it.
//!
//! Inputs and outputs are exactly as long as they must be. AddressSanitizer sees a step beside them on the heap,
//! [`guarded`](super::guarded) memory ends the program at once.

use crate::tests::sweep::one_in;
use crate::{Attention, Band, Heads, Kernels, Layout, Machine, Output, SimdLevel, attend};

/// Memory for a slice of numbers whose ends are watched.
pub(super) trait Memory<C> {
    /// Memory that holds these numbers.
    fn new(numbers: &[C]) -> Self;
    fn numbers(&mut self) -> &mut [C];
}

impl<C: Copy> Memory<C> for Box<[C]> {
    fn new(numbers: &[C]) -> Self {
        numbers.into()
    }

    fn numbers(&mut self) -> &mut [C] {
        self
    }
}

/// Queries, keys, d_k, d_v: both paths, tiles of every width, whole and ragged registers, several parts of a cache.
const SIZES: [[usize; 4]; 24] = [
    [1, 1, 1, 1],
    [1, 7, 3, 5],
    [2, 17, 16, 16],
    [3, 31, 17, 33],
    [5, 129, 15, 64],
    [15, 33, 64, 65],
    [16, 16, 16, 16],
    [16, 5, 31, 7],
    [17, 17, 17, 17],
    [19, 128, 8, 4],
    [23, 130, 9, 12],
    [24, 3, 32, 1],
    [25, 63, 33, 31],
    [31, 65, 1, 15],
    [32, 127, 2, 3],
    [33, 129, 63, 13],
    [47, 64, 5, 63],
    [49, 4, 12, 20],
    [64, 131, 24, 9],
    [65, 66, 65, 66],
    [1, 1030, 20, 18],
    [18, 530, 127, 128],
    [17, 1030, 129, 127],
    [66, 1030, 128, 130],
];

/// Layouts of (heads, rows, columns).
fn layouts(heads: usize, rows: usize, columns: usize) -> [Layout; 4] {
    let stacked = Layout::stacked(heads, rows, columns);
    [
        stacked,
        Layout::side_by_side(heads, rows, columns),
        Layout { row_stride: 1, column_stride: rows, ..stacked },
        Layout { row_stride: columns + 3, head_stride: rows * (columns + 3), ..stacked },
    ]
}

/// The length of the slice that a layout reaches over.
fn reach(layout: Layout) -> usize {
    (layout.heads - 1) * layout.head_stride
        + (layout.rows - 1) * layout.row_stride
        + (layout.columns - 1) * layout.column_stride
        + 1
}

/// Small whole numbers: every score and sum is far from the ends of the format.
fn numbers<T: Kernels>(count: usize, seed: usize) -> Vec<T> {
    (0..count).map(|i| T::from_f64(((i * 7 + seed * 3) % 13) as f64 / 8.0 - 0.75)).collect()
}

/// All sizes in all layouts, full and with everything that hides, each as it is and with a cap, sinks and a bias by distance.
fn problems() -> impl Iterator<Item = ([usize; 4], Choices)> {
    let choices = |(seed, sizes): (usize, [usize; 4])| {
        let turns = if is_large(sizes) { 1 } else { 4 };
        let ways = [(false, false), (true, false), (false, true), (true, true)];
        let all = move |turn| {
            ways.map(move |(is_hidden, is_varied)| (sizes, Choices { turn, is_hidden, is_varied, seed }))
        };
        (0..turns).flat_map(all)
    };
    SIZES.into_iter().enumerate().flat_map(choices)
}

/// Returns true if the plain version takes long.
fn is_large([_, keys, ..]: [usize; 4]) -> bool {
    keys > 500
}

/// All problems over memory of this kind.
pub(super) fn attend_to_all<T: Kernels, M: Memory<T>, B: Memory<bool>>(simd: SimdLevel) {
    let quick = problems().filter(|(sizes, _)| simd != SimdLevel::Portable || !is_large(*sizes));
    for (sizes, choices) in quick.step_by(one_in(3)) {
        attend_to::<T, M, B>(simd, sizes, choices);
    }
}

#[derive(Clone, Copy, Debug)]
struct Choices {
    turn: usize,
    is_hidden: bool,
    is_varied: bool,
    seed: usize,
}

/// The output and the log-sum-exps.
fn attend_to<T: Kernels, M: Memory<T>, B: Memory<bool>>(
    simd: SimdLevel,
    [queries, keys, width, value_width]: [usize; 4],
    Choices { turn, is_hidden, is_varied, seed }: Choices,
) -> Vec<T> {
    let (heads, kv_heads) = if is_large([queries, keys, width, value_width]) {
        (1, 1)
    } else {
        [(1, 1), (2, 2), (2, 1), (3, 1)][seed % 4]
    };
    let layout = |heads, rows, columns, which: usize| layouts(heads, rows, columns)[(turn + which) % 4];
    let (of_q, of_k) = (layout(heads, queries, width, 0), layout(kv_heads, keys, width, seed % 2));
    let (of_v, of_output) = (layout(kv_heads, keys, value_width, 0), layout(heads, queries, value_width, 1));
    let of_scores = layout(heads, queries, keys, 0);
    let mut q = M::new(&numbers(reach(of_q), 1));
    let mut k = M::new(&numbers(reach(of_k), 2));
    let mut v = M::new(&numbers(reach(of_v), 3));
    let mut bias = M::new(&numbers(reach(of_scores), 4));
    let mask: Vec<bool> = (0..reach(of_scores)).map(|at| at % 5 != 0).collect();
    let mut mask = B::new(&mask);
    let of_distances = layout(heads, 1, queries + keys - 1, 0);
    let mut relative = M::new(&numbers(reach(of_distances), 5));
    let mut sinks = M::new(&numbers(heads, 6));
    let mut output = M::new(&vec![T::ZERO; reach(of_output)]);
    let mut lse = M::new(&vec![T::ZERO; heads * queries]);
    let mut attention = Attention::new(
        Heads::new("q", q.numbers(), of_q).expect("it fits"),
        Heads::new("k", k.numbers(), of_k).expect("it fits"),
        Heads::new("v", v.numbers(), of_v).expect("it fits"),
    );
    if is_hidden {
        attention.band = Band { from: Some(-70), ..Band::causal(queries, keys) };
        attention.mask = Some(Heads::new("mask", mask.numbers(), of_scores).expect("it fits"));
        attention.bias = Some(Heads::new("bias", bias.numbers(), of_scores).expect("it fits"));
    }
    if is_varied {
        attention.band.keep_first = 9;
        attention.relative_bias =
            Some(Heads::new("relative", relative.numbers(), of_distances).expect("it fits"));
        attention.soft_cap = Some(T::from_f64(1.25));
        attention.sinks = Some(sinks.numbers());
    }
    let machine = Machine { simd, threads: 2 };
    let to = Output::new(output.numbers(), of_output).with_log_sum_exps(lse.numbers());
    attend(&attention, machine, to).expect("it fits");
    output.numbers().iter().chain(lse.numbers().iter()).copied().collect()
}

#[test]
fn ragged_problems_on_the_heap_have_the_bits_of_the_plain_version() {
    fn check<T: Kernels>(levels: &[SimdLevel]) {
        let on_the_heap = attend_to::<T, Box<[T]>, Box<[bool]>>;
        for (sizes, choices) in problems().step_by(one_in(8)) {
            let plain = on_the_heap(SimdLevel::Portable, sizes, choices);
            for &level in levels {
                let found = on_the_heap(level, sizes, choices);
                let same = plain.iter().zip(&found).all(|(a, b)| a.bits() == b.bits());
                assert!(same, "{level}, {}: {sizes:?}, {choices:?}", T::NAME);
            }
        }
    }
    let levels: Vec<SimdLevel> = super::levels("ragged problems on the heap").collect();
    check::<f32>(&levels);
    check::<f64>(&levels);
}
