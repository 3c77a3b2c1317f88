//! What happens to each number on its own in the perceptron of a block.

use crate::elementary;
use crate::matrix::Matrix;

/// `out = max(0, x)` of every cell.
///
/// # Source
/// Nair and Hinton 2010; “Attention and Transformer Imagined”, section MLP or FFNN.
pub fn relu(x: &Matrix) -> Matrix {
    x.map(|x| if x > 0.0 { x } else { 0.0 })
}

/// `out = x / (1 + e^(−x))` of every cell: x times its own sigmoid. At −∞ it is 0, its limit.
///
/// # Source
/// Elfwing et al. 2017; as the gate of a perceptron: Shazeer 2020, “GLU Variants Improve Transformer”.
pub fn silu(x: &Matrix) -> Matrix {
    x.map(|x| if x == f64::NEG_INFINITY { 0.0 } else { x / (1.0 + elementary::exp(-x)) })
}

/// `out = 1 / (1 + e^(−x))` of every cell, between 0 and 1.
pub fn sigmoid(x: &Matrix) -> Matrix {
    x.map(|x| 1.0 / (1.0 + elementary::exp(-x)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silu_has_the_values_that_pytorch_gives() {
        let out = silu(&Matrix::of([[-1.0, 0.0, 1.0, 2.0]]));
        // torch.nn.functional.silu(torch.tensor([-1., 0., 1., 2.], dtype=torch.float64))
        let expected = [-0.268_941_421_369_995_1, 0.0, 0.731_058_578_630_004_9, 1.761_594_155_955_764_9];
        assert!(out.cells().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15));
    }

    #[test]
    fn a_sigmoid_is_a_half_at_0_and_0_and_1_at_both_ends() {
        let x = Matrix::of([[f64::NEG_INFINITY, 0.0, 1.0, f64::INFINITY]]);
        // 1/(1 + 1/e)
        assert!((sigmoid(&x)[(0, 2)] - 0.731_058_578_630_004_9).abs() < 1e-15);
        assert_eq!([0, 1, 3].map(|j| sigmoid(&x)[(0, j)]), [0.0, 0.5, 1.0]);
    }

    #[test]
    fn relu_keeps_what_is_positive_and_drops_the_rest() {
        assert_eq!(relu(&Matrix::of([[-2.0, 0.0, 3.5]])).cells().collect::<Vec<_>>(), [0.0, 0.0, 3.5]);
    }
}
