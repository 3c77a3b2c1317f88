//! Linear layers: the same bits for every order of the weights, instruction set, number of rows and number of threads, and errors
//! within what is promised.

use crate::{Error, Linear, LinearWeight, Machine, Rows, SimdLevel, WeightOrder, linear};
use half::{bf16, f16};

use super::random::Random;
use super::sweep::one_in;
use super::{plain, same};

const ORDERS: [WeightOrder; 2] = [WeightOrder::OutIn, WeightOrder::InOut];

/// A type of weights that can be made from a number.
trait TestWeight: LinearWeight {
    fn from_f32(x: f32) -> Self;
    fn from_bits(bits: u32) -> Self;
}

impl TestWeight for f32 {
    fn from_f32(x: f32) -> f32 {
        x
    }
    fn from_bits(bits: u32) -> f32 {
        f32::from_bits(bits)
    }
}

impl TestWeight for f16 {
    fn from_f32(x: f32) -> f16 {
        f16::from_f32(x)
    }
    fn from_bits(bits: u32) -> f16 {
        f16::from_bits(bits as u16)
    }
}

impl TestWeight for bf16 {
    fn from_f32(x: f32) -> bf16 {
        bf16::from_f32(x)
    }
    fn from_bits(bits: u32) -> bf16 {
        bf16::from_bits(bits as u16)
    }
}

/// A layer with a bias, and the rows to apply it to.
struct Layer<W> {
    rows: usize,
    inputs: usize,
    outputs: usize,
    x: Vec<f32>,
    /// (N, K).
    weights: Vec<W>,
    bias: Vec<f32>,
}

impl<W: TestWeight> Layer<W> {
    /// Inputs, weights and biases of N(0, 1).
    fn normal([rows, inputs, outputs]: [usize; 3], seed: u64) -> Layer<W> {
        let mut random = Random::new(seed);
        let mut normal = |count: usize| -> Vec<f32> { (0..count).map(|_| random.normal() as f32).collect() };
        let (x, bias) = (normal(rows * inputs), normal(outputs));
        let weights = normal(inputs * outputs).into_iter().map(W::from_f32).collect();
        Layer { rows, inputs, outputs, x, weights, bias }
    }

    /// The outputs of `rows` rows from `first` on, with the weights in this order.
    fn run(&self, order: WeightOrder, machine: Machine, first: usize, rows: usize) -> Vec<f32> {
        let x = &self.x[first * self.inputs..][..rows * self.inputs];
        let (count, width, weights) = match order {
            WeightOrder::OutIn => (self.outputs, self.inputs, self.weights.clone()),
            WeightOrder::InOut => {
                let at = |k: usize, n: usize| self.weights[n * self.inputs + k];
                let transposed = (0..self.inputs).flat_map(|k| (0..self.outputs).map(move |n| (k, n)));
                (self.inputs, self.outputs, transposed.map(|(k, n)| at(k, n)).collect())
            }
        };
        let input = Rows::new("x", x, rows, self.inputs).expect("it fits");
        let weights = Rows::new("w", &weights, count, width).expect("it fits");
        let mut output = vec![f32::NAN; rows * self.outputs];
        let problem = Linear { input, weights, order, bias: Some(&self.bias) };
        linear(&problem, machine, &mut output).expect("it fits");
        output
    }

    /// The definition, on its own.
    fn expected(&self, t: usize, n: usize) -> f32 {
        let (x, w) =
            (&self.x[t * self.inputs..][..self.inputs], &self.weights[n * self.inputs..][..self.inputs]);
        x.iter().zip(w).fold(0.0f32, |sum, (x, w)| libm::fmaf(*x, w.widen(), sum)) + self.bias[n]
    }
}

#[track_caller]
fn assert_same(expected: &[f32], found: &[f32], what: &str) {
    assert_eq!(expected.len(), found.len(), "{what}");
    for (at, (a, b)) in expected.iter().zip(found).enumerate() {
        assert!(same(*a, *b), "{what}: number {at}: {a:?} became {b:?}");
    }
}

/// Every way to compute the layer gives what the definition says.
fn check<W: TestWeight>(layer: &Layer<W>) {
    let Layer { rows, inputs, outputs, .. } = *layer;
    let cells = (0..rows).flat_map(|t| (0..outputs).map(move |n| (t, n)));
    let expected: Vec<f32> = cells.map(|(t, n)| layer.expected(t, n)).collect();
    for order in ORDERS {
        for simd in SimdLevel::available() {
            for threads in 1..=3 {
                let found = layer.run(order, Machine { simd, threads }, 0, rows);
                let what =
                    format!("{}, {rows}×{inputs}×{outputs}, {order:?}, {simd}, {threads} threads", W::NAME);
                assert_same(&expected, &found, &what);
            }
        }
    }
}

/// All of these numbers of rows with some of the widths, so that every width meets every other.
fn check_ragged<W: TestWeight>() {
    const ROWS: [usize; 9] = [0, 1, 2, 3, 5, 8, 13, 64, 65];
    const WIDTHS: [usize; 7] = [0, 1, 7, 8, 64, 65, 769];
    for (i, inputs) in WIDTHS.into_iter().enumerate() {
        for (j, outputs) in WIDTHS.into_iter().enumerate() {
            for (turn, rows) in ROWS.into_iter().enumerate().step_by(one_in(4)) {
                let is_large = rows * inputs * outputs > 1_000_000;
                if !is_large || (i + j) % 3 == turn % 3 && rows < 20 {
                    check(&Layer::<W>::normal([rows, inputs, outputs], (i * 7 + j) as u64));
                }
            }
        }
    }
}

#[test]
fn ragged_layers_of_f32_have_the_bits_of_the_definition() {
    check_ragged::<f32>();
}

#[test]
fn ragged_layers_of_f16_have_the_bits_of_the_definition() {
    check_ragged::<f16>();
}

#[test]
fn ragged_layers_of_bf16_have_the_bits_of_the_definition() {
    check_ragged::<bf16>();
}

#[test]
fn a_row_alone_has_the_bits_of_the_same_row_among_many() {
    fn check<W: TestWeight>() {
        let layer = Layer::<W>::normal([600, 300, 210], 3);
        for order in ORDERS {
            for simd in SimdLevel::available().filter(|simd| *simd != SimdLevel::Portable) {
                let machine = Machine { simd, threads: 2 };
                let all = layer.run(order, machine, 0, layer.rows);
                for (first, rows) in
                    [(0, 1), (599, 1), (511, 2), (95, 3), (7, 4), (130, 7), (200, 30), (88, 512)]
                {
                    let some = layer.run(order, machine, first, rows);
                    let among = &all[first * layer.outputs..][..rows * layer.outputs];
                    assert_same(
                        among,
                        &some,
                        &format!("{}, {order:?}, {simd}: rows {first}, {rows}", W::NAME),
                    );
                }
            }
        }
    }
    check::<f32>();
    check::<f16>();
    check::<bf16>();
}

/// Weights of all bit patterns: subnormal ones, infinities and NaN. Every output has one of them, at one of the inputs, and zeros
/// at the others, so that with inputs of 1 it is that weight.
fn check_all_weights<W: TestWeight>(count: u32, stride: u32) {
    let (inputs, outputs) = (67, count as usize);
    let weight = |n: usize| W::from_bits((n as u32).wrapping_mul(stride));
    let mut layer = Layer::<W>::normal([9, inputs, 0], 1);
    layer.outputs = outputs;
    layer.x.fill(1.0);
    layer.bias = vec![0.0; outputs];
    layer.weights = vec![W::default(); inputs * outputs];
    for n in 0..outputs {
        layer.weights[n * inputs + (n + n / inputs) % inputs] = weight(n);
    }
    for order in ORDERS {
        for simd in SimdLevel::available().filter(|simd| *simd != SimdLevel::Portable) {
            // One row, a few, and many.
            for rows in [1, 2, 9] {
                let found = layer.run(order, Machine { simd, threads: 2 }, 0, rows);
                for (at, found) in found.iter().enumerate() {
                    let weight = weight(at % outputs);
                    // A sum that starts at +0 gives +0 for −0.
                    let same = same(weight.widen() + 0.0, *found);
                    assert!(same, "{}, {simd}, {order:?}, {rows} rows: {weight:?} is {found:?}", W::NAME);
                }
            }
        }
    }
}

#[test]
fn every_weight_is_widened_exactly() {
    check_all_weights::<f16>(1 << 16, 1);
    check_all_weights::<bf16>(1 << 16, 1);
    check_all_weights::<f32>(1 << 14, 262_139);
}

#[test]
fn errors_are_within_what_is_promised() {
    const UNIT: f64 = 1.0 / (1u64 << 24) as f64;
    fn check<W: TestWeight>(sizes: [usize; 3], seed: u64) -> f64 {
        let layer = Layer::<W>::normal(sizes, seed);
        let output = layer.run(WeightOrder::OutIn, Machine::here(), 0, layer.rows);
        let terms = (layer.inputs + 1) as f64 * UNIT;
        let gamma = terms / (1.0 - terms);
        let mut worst = 0.0f64;
        for (at, found) in output.iter().enumerate() {
            let (t, n) = (at / layer.outputs, at % layer.outputs);
            let (x, w) = (&layer.x[t * layer.inputs..], &layer.weights[n * layer.inputs..]);
            let products = x.iter().zip(w).take(layer.inputs);
            let products: Vec<f64> = products.map(|(x, w)| f64::from(*x) * f64::from(w.widen())).collect();
            let bias = f64::from(layer.bias[n]);
            let exact = products.iter().sum::<f64>() + bias;
            let size = products.iter().map(|product| product.abs()).sum::<f64>() + bias.abs();
            worst = worst.max((f64::from(*found) - exact).abs() / (gamma * size));
        }
        assert!(worst <= 1.0, "{}, {sizes:?}: {worst}", W::NAME);
        worst
    }
    for (seed, sizes) in (0..).zip([[9, 1, 40], [5, 2, 40], [8, 64, 100], [3, 768, 200], [2, 5000, 30]]) {
        let worst = [check::<f32>(sizes, seed), check::<f16>(sizes, seed), check::<bf16>(sizes, seed)];
        super::note(&format!("linear {sizes:?}: {worst:?} of the bound"));
        // A bound that is never approached would not find a mistake in a short sum.
        assert!(sizes[1] > 2 || worst[0] > 0.2, "{worst:?}");
    }
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let numbers = [1.0f32; 24];
    let rows = |rows, columns| Rows::new("x", &numbers, rows, columns).expect("it fits");
    let run = |input, weights, order, bias, outputs: usize| {
        linear(&Linear { input, weights, order, bias }, plain(), &mut vec![0.0; outputs]).map(drop)
    };
    assert_eq!(run(rows(2, 3), rows(4, 3), WeightOrder::OutIn, Some(&numbers[..4]), 8), Ok(()));
    assert_eq!(run(rows(2, 3), rows(3, 4), WeightOrder::InOut, None, 8), Ok(()));
    let says = |result: Result<(), Error>, what: &str| {
        let Err(Error::Shape(said)) = result else { panic!("{result:?}") };
        assert_eq!(said, what);
    };
    says(
        run(rows(2, 3), rows(3, 4), WeightOrder::OutIn, None, 6),
        "rows of width 3 do not fit weights for 4 inputs",
    );
    says(
        run(rows(2, 4), rows(3, 4), WeightOrder::OutIn, Some(&numbers[..4]), 6),
        "a bias of 4 numbers does not fit 3 outputs",
    );
    says(
        run(rows(2, 4), rows(3, 4), WeightOrder::OutIn, None, 7),
        "an output of 7 numbers does not fit 2 rows of 3 outputs",
    );
    says(Rows::new("weights", &numbers, 5, 5).map(drop), "weights: 5×5 do not fit 24 numbers");
    says(
        Rows::new("weights", &numbers, usize::MAX, 2).map(drop),
        "weights: 18446744073709551615×2 do not fit 24 numbers",
    );
}
