//! Functions of each number on its own, as in the perceptron of a block.

use crate::elementary;
use crate::matrix::Matrix;

/// `out = max(0, x)` of every cell.
///
/// # Source
/// Nair and Hinton 2010; “Attention and Transformer Imagined”, section MLP or FFNN.
pub fn relu(x: &Matrix) -> Matrix {
    x.map(|x| if x > 0.0 { x } else { 0.0 })
}

/// `out = elu(x) + 1` of every cell: `x + 1` where x is positive, `e^x` elsewhere. It is never negative.
///
/// # Source
/// Katharopoulos et al. 2020, “Transformers are RNNs”, equation 7: the feature map of linear attention.
pub fn elu_plus_one(x: &Matrix) -> Matrix {
    x.map(|x| if x > 0.0 { x + 1.0 } else { elementary::exp(x) })
}

/// `out = x / (1 + e^(−x))` of every cell: x times its own sigmoid. At −∞ it is 0, its limit.
///
/// # Source
/// Elfwing et al. 2017; as the gate of a perceptron: Shazeer 2020, “GLU Variants Improve Transformer”.
pub fn silu(x: &Matrix) -> Matrix {
    with_limit_0(x, |x| x / (1.0 + elementary::exp(-x)))
}

/// `out = 1 / (1 + e^(−x))` of every cell, between 0 and 1.
pub fn sigmoid(x: &Matrix) -> Matrix {
    x.map(|x| 1.0 / (1.0 + elementary::exp(-x)))
}

/// `out = tanh(x)` of every cell, between −1 and 1.
pub fn tanh(x: &Matrix) -> Matrix {
    x.map(elementary::tanh)
}

/// `out = x/2 · (1 + erf(x/√2))` of every cell: x times the share of a standard normal distribution that lies below it. At −∞ it
/// is 0, its limit.
///
/// # Source
/// Hendrycks and Gimpel 2016, “Gaussian Error Linear Units”, section 2; the MLP of BERT.
pub fn gelu(x: &Matrix) -> Matrix {
    let root = 2.0_f64.sqrt();
    with_limit_0(x, |x| 0.5 * x * (1.0 + elementary::erf(x / root)))
}

/// `out = (1 + erf(x/√2)) / 2` of every cell: the share of a standard normal distribution that lies below it.
pub fn normal_share(x: &Matrix) -> Matrix {
    let root = 2.0_f64.sqrt();
    x.map(|x| 0.5 * (1.0 + elementary::erf(x / root)))
}

/// `out = x/2 · (1 + tanh(√(2/π) · (x + 0.044715·x³)))` of every cell: [`gelu`] but for 5·10⁻⁴ at most. At −∞ it is 0, its limit.
///
/// # Source
/// Hendrycks and Gimpel 2016, section 2; the MLP of GPT-2.
pub fn gelu_tanh(x: &Matrix) -> Matrix {
    let factor = (2.0 / std::f64::consts::PI).sqrt();
    with_limit_0(x, |x| 0.5 * x * (1.0 + elementary::tanh(factor * (x + GELU_CUBIC * x * x * x))))
}

/// The number before x³ in the tanh form of GELU.
pub const GELU_CUBIC: f64 = 0.044_715;

/// `f` of every cell, and 0 at −∞, where f would be −∞ · 0.
fn with_limit_0(x: &Matrix, f: impl Fn(f64) -> f64) -> Matrix {
    x.map(|x| if x == f64::NEG_INFINITY { 0.0 } else { f(x) })
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
