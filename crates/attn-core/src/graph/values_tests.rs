//! Values of ops against figures that come from elsewhere: by hand, from PyTorch, from the papers.

use crate::attention::{
    Axis, Base, Mask, MatrixRule, Pairing, RopeScaling, Rotation, SingularValues, WeightLayout, Yarn, linear,
    singular_values,
};
use crate::error::Result;
use crate::graph::Op;
use crate::matrix::{Labels, Matrix};

fn relu(x: &Matrix) -> Matrix {
    Op::Relu.apply(&[x]).unwrap()
}

fn silu(x: &Matrix) -> Matrix {
    Op::Silu.apply(&[x]).unwrap()
}

fn sigmoid(x: &Matrix) -> Matrix {
    Op::Sigmoid.apply(&[x]).unwrap()
}

fn minus_mean(x: &Matrix) -> Matrix {
    Op::MinusMean.apply(&[x]).unwrap()
}

fn unit_rows(x: &Matrix) -> Matrix {
    Op::UnitRows.apply(&[x]).unwrap()
}

fn single_range(x: &Matrix) -> Matrix {
    Op::SingleRange.apply(&[x]).unwrap()
}

fn product(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    Op::Product.apply(&[a, b])
}

fn product_transposed(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    Op::ProductTransposed.apply(&[a, b])
}

fn change(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    Op::Change.apply(&[a, b])
}

fn cosine(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    Op::Cosine.apply(&[a, b])
}

fn euclidean(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    Op::Euclidean.apply(&[a, b])
}

fn guard(a: &Matrix, b: &Matrix) -> Result<Matrix> {
    Op::Guard.apply(&[a, b])
}

fn softmax(x: &Matrix, axis: Axis, base: Base) -> Matrix {
    Op::Softmax(axis, base).apply(&[x]).unwrap()
}

fn unguarded_softmax(x: &Matrix, axis: Axis, base: Base) -> Matrix {
    Op::UnguardedSoftmax(axis, base).apply(&[x]).unwrap()
}

fn sums(x: &Matrix, axis: Axis) -> Matrix {
    Op::Sums(axis).apply(&[x]).unwrap()
}

fn max_along(x: &Matrix, axis: Axis) -> Matrix {
    Op::Max(axis).apply(&[x]).unwrap()
}

fn exponential(x: &Matrix, base: Base) -> Matrix {
    Op::Exponential(base).apply(&[x]).unwrap()
}

fn columns(x: &Matrix, start: usize, count: usize) -> Result<Matrix> {
    Op::Columns { start, count }.apply(&[x])
}

fn rows(x: &Matrix, start: usize, count: usize) -> Result<Matrix> {
    Op::Rows { start, count }.apply(&[x])
}

fn every_nth_column(x: &Matrix, start: usize, step: usize) -> Result<Matrix> {
    Op::EveryNthColumn { start, step }.apply(&[x])
}

fn reshape(x: &Matrix, rows: usize, cols: usize) -> Result<Matrix> {
    Op::Reshape { rows, cols }.apply(&[x])
}

fn block_sums(x: &Matrix, rows: usize, cols: usize) -> Result<Matrix> {
    Op::BlockSums { rows, cols }.apply(&[x])
}

fn add(parts: &[&Matrix]) -> Result<Matrix> {
    Op::Add.apply(parts)
}

fn concatenate(parts: &[&Matrix]) -> Result<Matrix> {
    Op::Concatenate.apply(parts)
}

fn stack(parts: &[&Matrix], names: Option<Labels>) -> Result<Matrix> {
    Op::Stack(names).apply(parts)
}

fn frequencies(width: usize, base: f64) -> Matrix {
    Op::Frequencies { width, base }.apply(&[]).unwrap()
}

fn sinusoidal(first: usize, tokens: usize, width: usize) -> Matrix {
    Op::Sinusoidal { first, tokens, width }.apply(&[]).unwrap()
}

fn rotary(x: &Matrix, f: &Matrix, rotation: &Rotation) -> Result<Matrix> {
    Op::Rotary(*rotation).apply(&[x, f])
}

fn scaled_frequencies(f: &Matrix, divisors: Option<&Matrix>, scaling: &RopeScaling) -> Result<Matrix> {
    Op::ScaledFrequencies(*scaling).apply(&[Some(f), divisors].into_iter().flatten().collect::<Vec<_>>())
}

fn mask(scores: &Matrix, matrix: Option<&Matrix>, mask: &Mask) -> Result<Matrix> {
    Op::Mask(*mask).apply(&[Some(scores), matrix].into_iter().flatten().collect::<Vec<_>>())
}

fn rms_norm(x: &Matrix, gain: Option<&Matrix>, epsilon: f64) -> Result<Matrix> {
    Op::RmsNorm(epsilon).apply(&[Some(x), gain].into_iter().flatten().collect::<Vec<_>>())
}

// arithmetic

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
        assert!((out.row(i).map(|x| x * x).sum::<f64>() / 2.0 - 1.0).abs() < 1e-15);
    }
}

// softmax

#[test]
fn an_added_mask_of_minus_infinity_hides() {
    let rule = Mask { matrix: Some(MatrixRule::Add), ..Mask::default() };
    let added = Matrix::of([[0.5, f64::NEG_INFINITY]]);
    let masked = mask(&Matrix::of([[1.0, 2.0]]), Some(&added), &rule).unwrap();
    assert_eq!(masked.cells().collect::<Vec<_>>(), [1.5, f64::NEG_INFINITY]);
}

#[test]
fn a_fully_masked_row_has_weights_zero_and_never_nan() {
    let hidden = f64::NEG_INFINITY;
    let weights = softmax(&Matrix::of([[hidden, hidden], [1.0, hidden]]), Axis::Rows, Base::E);
    assert_eq!(weights.cells().collect::<Vec<_>>(), [0.0, 0.0, 1.0, 0.0]);
}

#[test]
fn the_only_score_that_is_not_hidden_has_weight_1_however_large() {
    let (hidden, inf) = (f64::NEG_INFINITY, f64::INFINITY);
    let weights = softmax(&Matrix::of([[hidden, inf], [inf, 1.0]]), Axis::Rows, Base::E);
    assert_eq!(weights.row(0).collect::<Vec<_>>(), [0.0, 1.0]);
    assert!(weights[(1, 0)].is_nan());
}

#[test]
fn large_scores_do_not_overflow_because_the_maximum_is_subtracted() {
    let weights = softmax(&Matrix::of([[1000.0, 1001.0]]), Axis::Rows, Base::E);
    // 1/(1+e) and e/(1+e)
    assert!((weights[(0, 0)] - 0.268_941_421_369_995_1).abs() < 1e-15);
    assert!((weights[(0, 1)] - 0.731_058_578_630_004_9).abs() < 1e-15);
}

#[test]
fn the_softmax_down_the_columns_is_the_transpose_of_the_one_along_the_rows() {
    let x = Matrix::of([[1.0, -2.0], [0.5, 3.0], [2.0, 2.0]]);
    let down = softmax(&x, Axis::Columns, Base::E);
    assert!(down.same_bits(&softmax(&x.transposed(), Axis::Rows, Base::E).transposed()));
}

#[test]
fn the_largest_of_each_row_and_of_each_column() {
    let x = Matrix::of([[1.0, -2.0], [-5.0, -3.0]]);
    assert_eq!(max_along(&x, Axis::Rows).cells().collect::<Vec<_>>(), [1.0, -3.0]);
    assert_eq!(max_along(&x, Axis::Columns).cells().collect::<Vec<_>>(), [1.0, -2.0]);
}

#[test]
fn over_the_whole_matrix_all_cells_together_sum_to_1() {
    // Powers 1, 1/2, 1/4, 1/4 of base 2 from the largest on: halves and quarters of 2.
    let x = Matrix::of([[3.0, 2.0], [1.0, 1.0]]);
    let weights = softmax(&x, Axis::Whole, Base::Number(2.0));
    assert_eq!(weights.cells().collect::<Vec<_>>(), [0.5, 0.25, 0.125, 0.125]);
    assert_eq!(sums(&weights, Axis::Whole)[(0, 0)], 1.0);
}

#[test]
fn without_its_guard_only_a_fully_masked_row_differs_and_is_nan() {
    let hidden = f64::NEG_INFINITY;
    let x = Matrix::of([[hidden, hidden], [1.0, hidden], [0.5, 2.0]]);
    let (with, without) = (softmax(&x, Axis::Rows, Base::E), unguarded_softmax(&x, Axis::Rows, Base::E));
    assert!(without.row(0).all(f64::is_nan));
    assert!((1..3).all(|i| with.row(i).eq(without.row(i))));
}

#[test]
fn the_guard_takes_the_rows_without_a_visible_score_and_no_others() {
    let hidden = f64::NEG_INFINITY;
    let scores = Matrix::of([[hidden, hidden], [1.0, hidden]]);
    let weights = exponential(&scores, Base::E).map(|x| x / 0.0);
    let guarded = guard(&weights, &scores).unwrap();
    assert_eq!(guarded.row(0).collect::<Vec<_>>(), [0.0, 0.0]);
    assert!(guarded[(1, 0)] == f64::INFINITY && guarded[(1, 1)].is_nan());
}

#[test]
fn single_precision_ends_at_3_4e38() {
    let x = Matrix::of([[3.4e38, 3.5e38, -1e39, f64::NAN]]);
    let out = single_range(&x);
    assert_eq!(out.row(0).take(3).collect::<Vec<_>>(), [3.4e38, f64::INFINITY, f64::NEG_INFINITY]);
    assert!(out[(0, 3)].is_nan());
}

#[test]
fn base_2_halves_the_weight_for_each_point_of_score() {
    let weights = softmax(&Matrix::of([[3.0, 2.0, 2.0]]), Axis::Rows, Base::Number(2.0));
    assert_eq!(weights.cells().collect::<Vec<_>>(), [0.5, 0.25, 0.25]);
}

// positions

fn at(first: usize, pairing: Pairing) -> Rotation {
    Rotation { first, pairing, magnitude: 1.0 }
}

fn yarn(factor: f64) -> RopeScaling {
    let (fast, slow) = (32.0, 1.0);
    RopeScaling::Yarn(Yarn {
        factor,
        original: 64.0,
        base: 10_000.0,
        fast,
        slow,
        truncate: true,
        attention: None,
    })
}

#[test]
fn rotation_keeps_lengths_and_makes_scores_depend_on_distance_alone() {
    let row = [0.3, -1.2, 0.7, 2.0, 0.25];
    let same = Matrix::from_fn(5, 5, |_, j| row[j]);
    for pairing in [Pairing::Halves, Pairing::Neighbours] {
        let rotated = rotary(&same, &frequencies(4, 100.0), &at(0, pairing)).unwrap();
        let scores = product_transposed(&rotated, &rotated).unwrap();
        for i in 0..4 {
            assert!((scores[(i, i)] - scores[(0, 0)]).abs() < 1e-12, "a row's length changed");
            assert!((scores[(i, i + 1)] - scores[(0, 1)]).abs() < 1e-12, "the distance is 1 in both");
            assert_eq!(rotated[(i, 4)], row[4], "the fifth column belongs to no pair");
        }
        assert!((scores[(0, 1)] - scores[(0, 2)]).abs() > 1e-3, "the distance has no effect");
    }
}

#[test]
fn the_first_position_is_not_rotated_and_too_many_frequencies_are_refused() {
    let x = Matrix::of([[1.0, 2.0]]);
    assert!(rotary(&x, &frequencies(2, 10_000.0), &at(0, Pairing::Halves)).unwrap().same_bits(&x));
    assert!(rotary(&x, &frequencies(4, 10_000.0), &at(0, Pairing::Halves)).is_err());
}

#[test]
fn the_sinusoids_of_position_one_are_those_of_the_paper() {
    let table = sinusoidal(0, 2, 4);
    // sin 1, cos 1, sin 0.01, cos 0.01
    let expected = [
        0.841_470_984_807_896_5,
        0.540_302_305_868_139_8,
        0.009_999_833_334_166_664,
        0.999_950_000_416_665_3,
    ];
    assert!(table.row(1).zip(expected).all(|(a, b)| (a - b).abs() < 1e-15));
    assert_eq!(table.row(0).collect::<Vec<_>>(), [0.0, 1.0, 0.0, 1.0]);
    assert!(sinusoidal(1, 1, 4).row(0).eq(table.row(1)));
}

#[test]
fn a_factor_of_one_changes_nothing() {
    let f = frequencies(16, 10_000.0);
    for scaling in [
        RopeScaling::Linear { factor: 1.0 },
        RopeScaling::Dynamic { factor: 1.0, original: 8.0, length: 8 },
        RopeScaling::Llama3 { factor: 1.0, low: 1.0, high: 4.0, original: 64.0 },
        yarn(1.0),
    ] {
        let scaled = scaled_frequencies(&f, None, &scaling).unwrap();
        let close = scaled.cells().zip(f.cells()).all(|(a, b)| (a - b).abs() <= 1e-16 * b.abs().max(1.0));
        assert!(close, "{scaling:?}");
        assert_eq!(scaling.magnitude(), 1.0);
    }
}

#[test]
fn fast_pairs_are_kept_and_slow_ones_divided() {
    let f = frequencies(32, 10_000.0);
    for scaling in [RopeScaling::Llama3 { factor: 8.0, low: 1.0, high: 4.0, original: 64.0 }, yarn(8.0)] {
        let scaled = scaled_frequencies(&f, None, &scaling).unwrap();
        assert_eq!(scaled[(0, 0)], f[(0, 0)]);
        assert_eq!(scaled[(0, 15)], f[(0, 15)] / 8.0);
        let is_between = |p: &usize| scaled[(0, *p)] < f[(0, *p)] && scaled[(0, *p)] > f[(0, *p)] / 8.0;
        assert!((0..16).any(|p| is_between(&p)), "no pair is blended: {scaling:?}");
    }
}

#[test]
fn parameters_out_of_range_are_errors_that_name_them() {
    let error = |scaling: RopeScaling| scaling.check().unwrap_err().to_string();
    assert_eq!(
        error(RopeScaling::Linear { factor: 0.0 }),
        "the factor of the rope scaling linear is 0, but it must be a number above 0"
    );
    assert!(
        error(RopeScaling::Llama3 { factor: 8.0, low: 4.0, high: 4.0, original: 64.0 })
            .contains("high factor")
    );
    assert!(
        error(RopeScaling::LongRope { factor: 2.0, original: 1.0, attention: None })
            .contains("original length")
    );
    let f = frequencies(4, 10.0);
    let long = RopeScaling::LongRope { factor: 2.0, original: 16.0, attention: None };
    assert!(scaled_frequencies(&f, None, &long).is_err());
    assert!(scaled_frequencies(&f, Some(&Matrix::filled(1, 2, 0.0)), &long).is_err());
    assert!(scaled_frequencies(&f, Some(&frequencies(6, 10.0)), &long).is_err());
}

// heads

#[test]
fn heads_taken_apart_and_put_together_again_are_the_whole() {
    let x = Matrix::from_fn(3, 6, |i, j| (10 * i + j) as f64);
    let parts: Vec<Matrix> = (0..3).map(|h| columns(&x, 2 * h, 2).unwrap()).collect();
    assert!(concatenate(&parts.iter().collect::<Vec<_>>()).unwrap().same_bits(&x));
}

#[test]
fn every_second_column_is_what_numpy_slices_with_a_step() {
    let x = Matrix::of([[0.0, 1.0, 2.0, 3.0, 4.0]]).cols_named(&["a", "b", "c", "d", "e"]);
    let taken = every_nth_column(&x, 1, 2).unwrap();
    assert_eq!(taken, Matrix::of([[1.0, 3.0]]).cols_named(&["b", "d"]));
    assert!(every_nth_column(&x, 5, 2).is_err() && every_nth_column(&x, 0, 0).is_err());
}

#[test]
fn reshaping_reads_row_by_row() {
    let x = Matrix::of([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    assert!(reshape(&x, 3, 2).unwrap().same_bits(&Matrix::of([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])));
    assert!(reshape(&x, 4, 2).is_err() && reshape(&x, 0, 0).is_err());
}

#[test]
fn rows_taken_apart_and_stacked_again_are_the_whole_with_its_labels() {
    let x = Matrix::from_fn(3, 2, |i, j| (10 * i + j) as f64).rows_named(&["a", "b", "c"]);
    let parts = [rows(&x, 0, 1).unwrap(), rows(&x, 1, 2).unwrap()];
    assert_eq!(stack(&parts.iter().collect::<Vec<_>>(), None).unwrap(), x);
}

#[test]
fn stacked_rows_take_new_names_if_there_is_one_for_each() {
    let (a, b) = (Matrix::of([[1.0]]).rows_named(&["bat"]), Matrix::of([[2.0]]).rows_named(&["cave"]));
    let named = |names: &[&str]| {
        let names = Some(crate::matrix::labels(names));
        stack(&[&a, &b], names).unwrap().row_labels().unwrap().to_vec()
    };
    assert_eq!(named(&["first", "second"]), ["first", "second"]);
    assert_eq!(named(&["one", "too", "many"]), ["bat", "cave"]);
}

#[test]
fn stacking_rows_of_different_widths_names_both_shapes() {
    let error = stack(&[&Matrix::identity(2), &Matrix::identity(3)], None).unwrap_err().to_string();
    assert!(error.contains("3×3") && error.contains("2×2") && error.contains("columns differ"), "{error}");
    assert!(stack(&[], None).is_err());
}

#[test]
fn blocks_at_the_edges_sum_what_is_left() {
    // Rows 1 2 3 and 10 20 30, down to a last row of ones.
    let x = Matrix::of([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0], [1.0, 1.0, 1.0]]);
    let sums = block_sums(&x, 2, 2).unwrap();
    assert_eq!(sums.row(0).chain(sums.row(1)).collect::<Vec<_>>(), [33.0, 33.0, 2.0, 1.0]);
    assert_eq!(sums.row_labels().unwrap()[..], ["1…2", "3"]);
    let all = block_sums(&x.rows_named(&["a", "b", "c"]), usize::MAX, usize::MAX).unwrap();
    assert_eq!((all[(0, 0)], &all.row_labels().unwrap()[0][..]), (69.0, "a…c"));
}

#[test]
fn a_block_without_cells_is_refused_and_a_matrix_without_cells_has_no_blocks() {
    assert!(block_sums(&Matrix::identity(2), 0, 1).is_err());
    assert_eq!(block_sums(&Matrix::filled(0, 3, 0.0), 2, 2).unwrap().rows(), 0);
}

// linear

fn ramp(rows: usize, cols: usize, step: f64) -> Matrix {
    Matrix::from_fn(rows, cols, |i, j| ((i * cols + j) as f64 * step) % 1.7 - 0.8)
}

#[test]
fn both_layouts_give_the_bits_of_the_products() {
    for (rows, inputs, outputs) in [(1, 1, 1), (3, 5, 7), (8, 4, 2), (9, 16, 5), (17, 3, 1), (0, 2, 2)] {
        let (x, w) = (ramp(rows, inputs, 0.7), ramp(inputs, outputs, 0.3));
        let expected = product(&x, &w).unwrap();
        let plain = linear(&x, &w.clone().into(), WeightLayout::InOut, None).unwrap();
        assert!(plain.same_bits(&expected), "{rows} {inputs} {outputs}");
        let turned = linear(&x, &w.transposed().into(), WeightLayout::OutIn, None).unwrap();
        assert!(turned.same_bits(&product_transposed(&x, &w.transposed()).unwrap()));
        assert!(turned.same_bits(&expected));
    }
}

#[test]
fn many_outputs_are_shared_out_between_threads_without_a_change() {
    let (x, w) = (ramp(9, 300, 0.7), ramp(300, 2001, 0.3));
    assert!(x.rows() * w.rows() * w.cols() > 1 << 22, "a second thread is worth it");
    let out = linear(&x, &w.clone().into(), WeightLayout::InOut, None).unwrap();
    assert!(out.same_bits(&product(&x, &w).unwrap()));
}

// singular

/// The max size of the cells of `left · diag(values) · rightᵀ − w`, and of `leftᵀ · left` and `rightᵀ · right` minus ones.
fn misses(w: &Matrix) -> [f64; 3] {
    let SingularValues { left, values, right } = singular_values(w).unwrap();
    let max =
        |a: Matrix, b: &Matrix| a.cells().zip(b.cells()).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    let product = |a: &Matrix, b: &Matrix| product_transposed(a, b).unwrap();
    let stretched = Matrix::from_fn(left.rows(), left.cols(), |i, k| left[(i, k)] * values[(0, k)]);
    let ones = Matrix::identity(values.cols());
    [
        max(product(&stretched, &right), w),
        max(product(&left.transposed(), &left.transposed()), &ones),
        max(product(&right.transposed(), &right.transposed()), &ones),
    ]
}

#[test]
fn the_parts_multiply_back_to_the_whole_whatever_its_rank() {
    let numbers = |rows, cols, start: usize| {
        Matrix::from_fn(rows, cols, |i, j| {
            crate::elementary::sin((start + 7 * i + 11 * i * j + 3 * j) as f64)
        })
    };
    for (rows, cols) in [(1, 1), (2, 3), (5, 4), (6, 6), (12, 12)] {
        for rank in 0..=rows.min(cols) {
            let (a, b) = (numbers(rows, rank, 1), numbers(rank, cols, 2));
            let w = product(&a, &b).unwrap();
            let misses = misses(&w);
            assert!(misses.iter().all(|&miss| miss < 1e-12), "{rows}×{cols} of rank {rank}: {misses:?}");
        }
    }
}

#[test]
fn a_diagonal_is_made_of_one_row_and_of_nothing_else() {
    let square = Op::Diagonal.apply(&[&Matrix::of([[3.0, f64::INFINITY]])]).unwrap();
    assert_eq!(square.cells().collect::<Vec<_>>(), [3.0, 0.0, 0.0, f64::INFINITY]);
    let error = Op::Diagonal.apply(&[&Matrix::identity(2)]).unwrap_err().to_string();
    assert!(error.contains("2×2"), "{error}");
}
