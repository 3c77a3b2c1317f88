//! Linear layers and softmaxes over memory that ends where forbidden memory begins, or begins where it ends.

use half::{bf16, f16};

use super::guarded::GuardedNumbers;
use super::ragged::Memory;
use crate::{
    Activation, Linear, LinearWeight, Machine, Rows, SimdLevel, WeightOrder, activate, linear, softmax_rows,
};

/// Rows, inputs, outputs: one row, a few, and many; whole and ragged squares, blocks and panels.
const SIZES: [[usize; 3]; 14] = [
    [1, 1, 1],
    [1, 8, 8],
    [1, 17, 33],
    [1, 300, 71],
    [2, 31, 15],
    [3, 64, 64],
    [5, 7, 100],
    [8, 129, 17],
    [9, 16, 16],
    [13, 5, 200],
    [30, 257, 47],
    [64, 33, 65],
    [97, 260, 9],
    [70, 64, 385],
];

/// Runs every size in both orders.
fn multiply_all<W: LinearWeight, const AT_START: bool>(level: SimdLevel) {
    for [rows, inputs, outputs] in SIZES {
        for order in [WeightOrder::OutIn, WeightOrder::InOut] {
            let [height, width] =
                if order == WeightOrder::OutIn { [outputs, inputs] } else { [inputs, outputs] };
            let mut x = GuardedNumbers::<f32, AT_START>::new(&vec![0.5; rows * inputs]);
            let mut weights = GuardedNumbers::<W, AT_START>::new(&vec![W::default(); height * width]);
            let mut bias = GuardedNumbers::<f32, AT_START>::new(&vec![0.25; outputs]);
            let mut output = GuardedNumbers::<f32, AT_START>::new(&vec![0.0; rows * outputs]);
            let problem = Linear {
                input: Rows::new("x", x.numbers(), rows, inputs).expect("it fits"),
                weights: Rows::new("w", weights.numbers(), height, width).expect("it fits"),
                order,
                bias: Some(bias.numbers()),
            };
            linear(&problem, Machine { simd: level, threads: 2 }, output.numbers()).expect("it fits");
            assert!(output.numbers().iter().all(|number| *number == 0.25), "{level}, {order:?}");
        }
    }
}

/// Activations and softmaxes of rows of every length.
fn change_all_rows<const AT_START: bool>(level: SimdLevel) {
    let machine = Machine { simd: level, threads: 2 };
    for columns in (1..70).chain([129, 1000]) {
        for rows in [1, 3] {
            let numbers = vec![0.5; rows * columns];
            let mut x = GuardedNumbers::<f32, AT_START>::new(&numbers);
            for activation in [Activation::Gelu, Activation::GeluTanh, Activation::Silu] {
                activate(activation, x.numbers(), machine).expect("it is there");
            }
            softmax_rows(x.numbers(), columns, machine).expect("rows");
        }
    }
}

#[test]
fn nothing_behind_a_layer_is_touched() {
    for level in super::levels("layers guarded behind") {
        multiply_all::<f32, false>(level);
        multiply_all::<f16, false>(level);
        multiply_all::<bf16, false>(level);
        change_all_rows::<false>(level);
    }
}

#[test]
fn nothing_before_a_layer_is_touched() {
    for level in super::levels("layers guarded before") {
        multiply_all::<f32, true>(level);
        multiply_all::<f16, true>(level);
        multiply_all::<bf16, true>(level);
        change_all_rows::<true>(level);
    }
}
