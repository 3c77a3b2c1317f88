//! Products, arithmetic cell by cell, the similarity of rows, functions of each number, and norms of rows.

use std::borrow::Cow;

use crate::elementary;
use crate::error::{Error, ErrorKind, Result};
use crate::matrix::{Matrix, Shape, same_number};

/// The matrix product: `out[i,j] = Σ_k a[i,k] · b[k,j]`, summed over k from left to right.
///
/// # Shapes
/// `a` is (n, m), `b` is (m, p); the result is (n, p), with the row labels of `a` and the column labels of `b`.
/// # Errors
/// If `a` has not as many columns as `b` has rows.
pub fn product(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    if a.cols() != b.rows() {
        return Err(Error::new(format!(
            "a {} matrix cannot be multiplied by a {} one: the columns of the first ({}) must equal the rows of \
             the second ({})",
            a.shape(),
            b.shape(),
            a.cols(),
            b.rows()
        ))
        .of_kind(ErrorKind::Shape));
    }
    Ok(mixed_columns(a, b.cols(), |k, j| b[(k, j)]).labelled_by(a.row_labels(), b.col_labels()))
}

/// All dot products between rows: `out[i,j] = Σ_k a[i,k] · b[j,k]`, that is `a bᵀ`.
///
/// # Shapes
/// `a` is (n, d), `b` is (m, d); the result is (n, m), labelled by the rows of both.
/// # Errors
/// If the rows differ in width.
/// # Source
/// Vaswani et al. 2017, section 3.2.1: `Q Kᵀ`.
pub fn product_transposed(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    same_width(a, b)?;
    Ok(mixed_columns(a, b.rows(), |k, j| b[(j, k)]).labelled_by(a.row_labels(), b.row_labels()))
}

/// All dot products between columns: `out[i,j] = Σ_k a[k,i] · b[k,j]`, that is `aᵀ b`, summed over k from left to right.
///
/// # Shapes
/// `a` is (n, d), `b` is (n, m); the result is (d, m), labelled by the columns of both.
/// # Errors
/// If the columns differ in length.
pub fn transposed_product(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    product(&a.transposed(), b)
}

/// `out[i,j] = Σ_k a[i,k] · share(k, j)`, summed over k from left to right: each column of the result mixes the columns of a.
///
/// A whole column is summed at a time, so that the processor can work on several cells at once; the order in each cell, and
/// so its bits, are those of a sum on its own.
fn mixed_columns(a: &Matrix, cols: usize, share: impl Fn(usize, usize) -> f64) -> Matrix {
    let mut values = vec![0.0; a.rows() * cols];
    for (j, column) in values.chunks_exact_mut(a.rows().max(1)).enumerate() {
        for k in 0..a.cols() {
            let share = share(k, j);
            for (sum, x) in column.iter_mut().zip(a.column(k)) {
                *sum += x * share;
            }
        }
    }
    Matrix::from_columns(a.rows(), cols, values)
}

/// The sum of several matrices of one shape: `out[i,j] = 0 + a[i,j] + b[i,j] + …`.
///
/// Of two, −∞ in the second hides what it is added to: also a score that has left the range, where +∞ − ∞ would be NaN.
///
/// # Errors
/// If the shapes differ, or there is nothing to add.
pub fn add(matrices: &[&Matrix]) -> Result<Matrix> {
    let (first, others) = matrices.split_first().ok_or_else(|| Error::new("there is nothing to add"))?;
    let start = first.map(|x| 0.0 + x);
    let hides = others.len() == 1;
    let plus = |a: f64, b: f64| if hides && is_hidden_by(a, b) { b } else { a + b };
    others.iter().try_fold(start, |sum, next| cell_by_cell(&sum, next, "added", plus))
}

/// Returns true if b, added to a, hides it: b is −∞, and the sum may be NaN.
pub fn is_hidden_by(a: f64, b: f64) -> bool {
    a == f64::INFINITY && b == f64::NEG_INFINITY
}

/// `out[i,j] = a[i,j] − b[i,j]`.
///
/// # Errors
/// If the shapes differ.
pub fn subtract(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    cell_by_cell(a, b, "subtracted", |a, b| a - b)
}

/// The change from a to b: `out[i,j] = b[i,j] − a[i,j]`, and exactly 0 where both are the same number, so that −∞ beside −∞, or
/// NaN beside NaN, has not changed.
///
/// # Errors
/// If the shapes differ.
pub fn change(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    cell_by_cell(a, b, "compared cell by cell", |a, b| if same_number(a, b) { 0.0 } else { b - a })
}

/// The product cell by cell (Hadamard): `out[i,j] = a[i,j] · b[i,j]`.
///
/// # Errors
/// If the shapes differ.
pub fn multiply(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    cell_by_cell(a, b, "multiplied cell by cell", |a, b| a * b)
}

/// The quotient cell by cell: `out[i,j] = a[i,j] / b[i,j]`; 0/0 and ∞/∞ are NaN.
///
/// # Errors
/// If the shapes differ.
pub fn quotient(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    cell_by_cell(a, b, "divided cell by cell", |a, b| a / b)
}

/// Every cell divided by the one number in `by`: `out[i,j] = a[i,j] / by[1,1]`.
///
/// # Errors
/// If `by` is not a single number.
pub fn divide(a: &Matrix, by: &Matrix) -> Result<Matrix> {
    let by = one_number(by, "divisor")?;
    Ok(a.map(|x| x / by))
}

/// Every cell multiplied by the one number in `by`: `out[i,j] = a[i,j] · by[1,1]`.
///
/// # Errors
/// If `by` is not a single number.
pub fn times(a: &Matrix, by: &Matrix) -> Result<Matrix> {
    let by = one_number(by, "factor")?;
    Ok(a.map(|x| x * by))
}

/// The number in a matrix of one cell, which `what` has to be.
fn one_number(matrix: &Matrix, what: &str) -> Result<f64> {
    if matrix.shape() != (crate::matrix::Shape { rows: 1, cols: 1 }) {
        return Err(Error::new(format!("a {what} is one number, not a {} matrix", matrix.shape())));
    }
    Ok(matrix[(0, 0)])
}

fn cell_by_cell(a: &Matrix, b: &Matrix, done: &str, f: impl Fn(f64, f64) -> f64) -> Result<Matrix> {
    if a.shape() != b.shape() {
        return Err(Error::new(format!(
            "a {} matrix and a {} one cannot be {done}: the shapes must be the same",
            a.shape(),
            b.shape()
        ))
        .of_kind(ErrorKind::Shape));
    }
    let labels = |of: fn(&Matrix) -> Option<&crate::matrix::Labels>| of(a).or_else(|| of(b)).cloned();
    Ok(Matrix::from_fn(a.rows(), a.cols(), |i, j| f(a[(i, j)], b[(i, j)]))
        .labelled_by(labels(Matrix::row_labels).as_ref(), labels(Matrix::col_labels).as_ref()))
}

/// Both must have rows of one width, as dot products and distances need.
pub(super) fn same_width(a: &Matrix, b: &Matrix) -> Result<()> {
    if a.cols() == b.cols() {
        return Ok(());
    }
    Err(Error::new(format!(
        "rows of width {} cannot be compared with rows of width {} (the shapes are {} and {})",
        a.cols(),
        b.cols(),
        a.shape(),
        b.shape()
    ))
    .of_kind(ErrorKind::Shape))
}

// The similarity of two rows: cosine, Euclidean distance, unit length. (The dot product is `product_transposed`.)

/// Cosine similarity between rows: `out[i,j] = a_i · b_j / (|a_i| · |b_j|)`. A row of zeros has no direction: its
/// cosines are 0. Rows of very large or very small numbers are brought into range first, which changes no cosine.
///
/// # Shapes
/// `a` is (n, d), `b` is (m, d); the result is (n, m), labelled by the rows of both.
/// # Errors
/// If the rows differ in width.
/// # Source
/// “Mathematical details behind self-attention”, section Word Similarity.
pub fn cosine(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    let (a, b) = (in_range(a), in_range(b));
    let dots = super::product_transposed(&a, &b)?;
    let length_a: Vec<f64> = (0..a.rows()).map(|i| squared_length(&a, i).sqrt()).collect();
    let length_b: Vec<f64> = (0..b.rows()).map(|j| squared_length(&b, j).sqrt()).collect();
    let cell = |i: usize, j: usize| {
        if length_a[i] == 0.0 || length_b[j] == 0.0 {
            return 0.0;
        }
        dots[(i, j)] / (length_a[i] * length_b[j])
    };
    Ok(Matrix::from_fn(dots.rows(), dots.cols(), cell).labelled_like(&dots))
}

/// Euclidean distance between rows: `out[i,j] = √(Σ_k (a[i,k] − b[j,k])²)`.
///
/// # Shapes
/// `a` is (n, d), `b` is (m, d); the result is (n, m), labelled by the rows of both.
/// # Errors
/// If the rows differ in width.
pub fn euclidean(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    same_width(a, b)?;
    let cell = |i, j| {
        let differences = || (0..a.cols()).map(|k| a[(i, k)] - b[(j, k)]);
        let factor = range_factor(differences());
        let squares = differences().fold(0.0, |sum, difference| {
            let difference = difference * factor;
            sum + difference * difference
        });
        f64::sqrt(squares) / factor
    };
    Ok(Matrix::from_fn(a.rows(), b.rows(), cell).labelled_by(a.row_labels(), b.row_labels()))
}

/// Every row divided by its length: `out[i,j] = a[i,j] / |a_i|`. A row of zeros stays as it is.
pub fn unit_rows(a: &Matrix) -> Matrix {
    let a = in_range(a);
    let length: Vec<f64> = (0..a.rows()).map(|i| squared_length(&a, i).sqrt()).collect();
    let cell = |i: usize, j: usize| if length[i] == 0.0 { 0.0 } else { a[(i, j)] / length[i] };
    Matrix::from_fn(a.rows(), a.cols(), cell).labelled_like(&a)
}

/// Every row whose squares would leave the range of an `f64`, times a power of two.
fn in_range(a: &Matrix) -> Cow<'_, Matrix> {
    let factors: Vec<f64> = (0..a.rows()).map(|i| range_factor(a.row(i))).collect();
    if factors.iter().all(|&factor| factor == 1.0) {
        Cow::Borrowed(a)
    } else {
        let cell = |i: usize, j: usize| a[(i, j)] * factors[i];
        Cow::Owned(Matrix::from_fn(a.rows(), a.cols(), cell).labelled_like(a))
    }
}

/// 1 where the squares of these numbers stay in range, else a power of two that brings them there.
pub fn range_factor(numbers: impl Iterator<Item = f64>) -> f64 {
    // 2⁴⁰⁰ and 2⁶⁰⁰, exactly.
    let (limit, power) = (f64::from_bits((1023 + 400) << 52), f64::from_bits((1023 + 600) << 52));
    match numbers.fold(0.0, |max, x: f64| if x.abs() > max { x.abs() } else { max }) {
        max if max > limit && max.is_finite() => 1.0 / power,
        max if max < 1.0 / limit && max > 0.0 => power,
        _ => 1.0,
    }
}

/// The sum of the squares of row `i`: `Σ_k a[i,k]²`.
pub fn squared_length(a: &Matrix, i: usize) -> f64 {
    a.row(i).fold(0.0, |sum, x| sum + x * x)
}

// Functions of each number on its own, as in the perceptron of a block.

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

// Normalisation of each token's vector.

/// Each row divided by its root mean square: `out[i,j] = x[i,j] / √(Σ_k x[i,k]² / d + ε) · gain[j]`, with ε in the units of x².
/// Without a gain nothing is multiplied.
///
/// # Shapes
/// `x` is (T, d), the gain (1, d); the result is (T, d).
/// # Errors
/// If the gain has another shape.
/// # Source
/// Zhang and Sennrich 2019, “Root Mean Square Layer Normalization”; the norm of Llama 3.
pub fn rms_norm(x: &Matrix, gain: Option<&Matrix>, epsilon: f64) -> Result<Matrix> {
    fits_columns("gain", gain, x)?;
    let width = x.cols() as f64;
    let root: Vec<f64> = (0..x.rows()).map(|i| (squared_length(x, i) / width + epsilon).sqrt()).collect();
    let gained = |value: f64, j: usize| gain.map_or(value, |gain| value * gain[(0, j)]);
    Ok(Matrix::from_fn(x.rows(), x.cols(), |i, j| gained(x[(i, j)] / root[i], j)).labelled_like(x))
}

/// Each row minus its mean m, divided by its standard deviation:
/// `out[i,j] = (x[i,j] − m_i) / √(Σ_k (x[i,k] − m_i)² / d + ε) · gain[j] + bias[j]`, with ε in the units of x². Without a gain or a
/// bias nothing is multiplied or added.
///
/// # Shapes
/// `x` is (T, d), gain and bias are (1, d); the result is (T, d).
/// # Errors
/// If gain or bias has another shape.
/// # Source
/// Ba et al. 2016, “Layer Normalization”, equation 4; the norm of GPT-2.
pub fn layer_norm(x: &Matrix, gain: Option<&Matrix>, bias: Option<&Matrix>, epsilon: f64) -> Result<Matrix> {
    fits_columns("bias", bias, x)?;
    let normed = rms_norm(&minus_mean(x), gain, epsilon)?;
    match bias {
        // A sum starts at +0.0.
        Some(bias) => {
            Ok(Matrix::from_fn(x.rows(), x.cols(), |i, j| 0.0 + normed[(i, j)] + bias[(0, j)])
                .labelled_like(x))
        }
        None => Ok(normed),
    }
}

/// Checks that a gain or a bias has one number for each column.
fn fits_columns(what: &str, row: Option<&Matrix>, x: &Matrix) -> Result<()> {
    let wanted = Shape { rows: 1, cols: x.cols() };
    match row.map(Matrix::shape).filter(|shape| *shape != wanted) {
        None => Ok(()),
        Some(shape) => {
            Err(Error::new(format!("the {what} is {shape}, but a matrix of {} needs {wanted}", x.shape()))
                .help(format!("give the {what} one row with a number for each column")))
        }
    }
}

/// Each row minus its mean: `out[i,j] = x[i,j] − Σ_k x[i,k] / d`. With [`rms_norm`] after it, this is a [`layer_norm`].
///
/// # Source
/// Ba et al. 2016, “Layer Normalization”.
pub fn minus_mean(x: &Matrix) -> Matrix {
    let width = x.cols() as f64;
    let mean: Vec<f64> = (0..x.rows()).map(|i| x.row(i).fold(0.0, |sum, x| sum + x) / width).collect();
    Matrix::from_fn(x.rows(), x.cols(), |i, j| x[(i, j)] - mean[i]).labelled_like(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_with_the_transpose_equals_the_product_with_it_written_out() {
        let q = Matrix::of([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
        let k = Matrix::of([[0.5, -1.0], [2.0, 0.25]]);
        let direct = product_transposed(&q, &k).unwrap();
        assert!(direct.same_bits(&product(&q, &k.transposed()).unwrap()));
        assert_eq!(direct.row(0).collect::<Vec<_>>(), [-1.5, 2.5]);
    }

    #[test]
    fn shapes_that_do_not_fit_are_named_with_the_rule_they_break() {
        let error = product(&Matrix::identity(2), &Matrix::identity(3)).unwrap_err().to_string();
        assert!(error.contains("2×2") && error.contains("3×3") && error.contains("columns of the first (2)"));
    }

    #[test]
    fn what_is_the_same_on_both_sides_has_not_moved() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        let moved =
            change(&Matrix::of([[1.0, -inf, nan, -inf, 0.0]]), &Matrix::of([[3.5, -inf, nan, 2.0, -0.0]]));
        assert_eq!(moved.unwrap().row(0).collect::<Vec<_>>(), [2.5, 0.0, 0.0, inf, 0.0]);
        assert!(change(&Matrix::of([[nan]]), &Matrix::of([[1.0]])).unwrap()[(0, 0)].is_nan());
    }

    #[test]
    fn a_sum_starts_at_plus_zero() {
        let sum = add(&[&Matrix::of([[-0.0]]), &Matrix::of([[-0.0]])]).unwrap();
        assert_eq!(sum[(0, 0)].to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn bat_is_as_far_in_angle_from_cave_as_from_racket() {
        let words = Matrix::of([[3.0, 3.0], [4.0, 0.0], [0.0, 5.0]]);
        let cosines = cosine(&words, &words).unwrap();
        // The table of document 002: 1, 0.71 and 0 at two decimals.
        let expected = [[1.0, 0.71, 0.71], [0.71, 1.0, 0.0], [0.71, 0.0, 1.0]];
        for (i, row) in expected.iter().enumerate() {
            for (j, &cell) in row.iter().enumerate() {
                assert!((cosines[(i, j)] - cell).abs() < 0.005, "cell {i},{j}: {}", cosines[(i, j)]);
            }
        }
    }

    #[test]
    fn directions_and_distances_of_tiny_and_huge_vectors_are_right() {
        for size in [5e-324, 1e-320, 1e-200, 1e-100, 1.0, 1e100, 1e200, 1e308] {
            let words = Matrix::of([[size, 0.0], [0.0, size], [size, size]]);
            let cosines = cosine(&words, &words).unwrap();
            assert_eq!((cosines[(0, 0)], cosines[(0, 1)]), (1.0, 0.0), "{size:e}");
            assert!((cosines[(0, 2)] - 0.5f64.sqrt()).abs() < 1e-15, "{size:e}: {}", cosines[(0, 2)]);
            assert_eq!(unit_rows(&words)[(0, 0)], 1.0, "{size:e}");
            assert_eq!(euclidean(&words, &words).unwrap()[(2, 0)], size);
        }
        // A long row beside a short one.
        let mixed = Matrix::of([[3e200, 4e200], [3e-200, 4e-200]]);
        assert!((cosine(&mixed, &mixed).unwrap()[(0, 1)] - 1.0).abs() < 1e-15);
        assert_eq!(
            euclidean(&Matrix::of([[3e-200, 4e-200]]), &Matrix::of([[0.0, 0.0]])).unwrap()[(0, 0)],
            5e-200
        );
    }

    #[test]
    fn a_row_of_zeros_has_cosine_zero_with_everything() {
        let words = Matrix::of([[0.0, 0.0], [1.0, 2.0]]);
        assert!(cosine(&words, &words).unwrap().row(0).all(|x| x == 0.0));
    }

    #[test]
    fn euclidean_distance_of_a_3_4_5_triangle_is_5() {
        let distance = euclidean(&Matrix::of([[0.0, 0.0]]), &Matrix::of([[3.0, 4.0]])).unwrap();
        assert_eq!(distance[(0, 0)], 5.0);
    }

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

    #[test]
    fn rows_without_their_mean_sum_to_zero() {
        let out = minus_mean(&Matrix::of([[3.0, 5.0], [1.0, -7.0]]));
        assert_eq!(out.cells().collect::<Vec<_>>(), [-1.0, 1.0, 4.0, -4.0]);
    }

    #[test]
    fn the_mean_of_the_squares_is_one_after_the_norm() {
        let out = rms_norm(&Matrix::of([[3.0, 4.0], [1.0, -7.0]]), None, 0.0).unwrap();
        for i in 0..2 {
            assert!((squared_length(&out, i) / 2.0 - 1.0).abs() < 1e-15);
        }
    }
}
