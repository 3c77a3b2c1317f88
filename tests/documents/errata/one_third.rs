//! Document 004.

use crate::common::steps::{concatenate, product, rows, softmax};
use attn::attention::{Axis, Base, Mask};
use attn::graph::recipes::{AttendInputs, Recipe, attend};
use attn::matrix::Matrix;
use attn::params::{Counts, ModelPart, named, weights as listing};

use super::quotations::{also, excerpt};
use super::{Check, attend_to, close, draws, given, node, row_sums_to_one, scores, story, weights};

pub const CHECKS: &[Check] = &[
    ("width-by-tokens", the_width_is_heads_times_head_width_and_any_number_of_tokens_fits_it),
    ("a-query-is-a-vector", the_query_of_a_token_is_a_vector_as_wide_as_a_key),
    ("close-and-large", close_vectors_can_have_a_small_product_and_distant_ones_a_large_one),
    ("who-attends", the_token_with_the_query_reads_the_values_of_the_others),
    ("sum-to-one", the_products_do_not_sum_to_one_but_their_softmax_does),
    ("grid-transposed", q_k_transposed_is_the_transpose_of_the_grid),
    ("mask-left-out", without_the_mask_later_tokens_get_weight),
    ("numerical-stability", scores_spread_like_the_root_of_d_and_saturate_a_softmax_that_is_stable_anyway),
    ("columns-of-rows", the_softmax_down_the_columns_of_rows_normalises_over_the_queries),
    ("scale-left-out", the_softmax_of_unscaled_products_is_another_one),
    ("summed-twice", a_row_of_the_product_with_v_is_the_whole_sum),
    ("one-index-twice", the_sum_over_the_heads_keeps_the_token_apart_from_the_head),
    ("down-in-output", the_output_matrix_holds_the_up_projections_alone),
    ("majority", the_perceptrons_of_gpt2_are_less_than_half_of_it),
    ("a-third", attention_is_a_third_of_gpt3_but_less_of_others),
];

#[test]
fn the_width_is_heads_times_head_width_and_any_number_of_tokens_fits_it() {
    let gpt3 = &named("gpt3").unwrap()[0];
    assert_eq!((gpt3.hidden, gpt3.query_heads * gpt3.head_width, gpt3.vocabulary), (12288, 12288, 50257));
    let [x, w_q, w_k, w_v] = draws(41, [(7, 6), (6, 2), (6, 2), (6, 6)]);
    for tokens in 1..=7 {
        let inputs = AttendInputs {
            x: given(&rows(&x, 0, tokens).unwrap()),
            w_q: given(&w_q),
            w_k: given(&w_k),
            w_v: given(&w_v),
            ..AttendInputs::default()
        };
        assert_eq!(node(&attend(&Recipe::default(), inputs).unwrap(), "O").cols(), x.cols());
    }
}

#[test]
fn close_vectors_can_have_a_small_product_and_distant_ones_a_large_one() {
    let short = Matrix::of([[0.1, 0.1]]);
    assert!((scores(&short, &short)[(0, 0)] - 0.02).abs() < 1e-15);
    let (far, near) = (Matrix::of([[10.0, 0.0]]), Matrix::of([[3.0, 0.0]]));
    assert_eq!(scores(&far, &near)[(0, 0)], 30.0);
    let graph = story("similarity", &[]).graph;
    let (dot, distance) = (node(&graph, "dot"), node(&graph, "euclidean"));
    assert!(distance[(0, 1)] < distance[(0, 2)] && dot[(0, 1)] < dot[(0, 2)]);
}

#[test]
fn the_token_with_the_query_reads_the_values_of_the_others() {
    // Fluffy, blue, creature: only creature asks, and only fluffy and blue answer.
    let q = Matrix::of([[0.0], [0.0], [4.0]]);
    let k = Matrix::of([[1.0], [1.0], [0.0]]);
    let causal = Recipe { mask: Mask { causal: true, ..Mask::default() }, ..Recipe::default() };
    let output = |v: &Matrix| {
        let graph = attend_to(&causal, &q, &k, v);
        (node(&graph, "A").clone(), node(&graph, "O").clone())
    };
    let v = Matrix::of([[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]]);
    let (a, o) = output(&v);
    assert!(a[(2, 0)] + a[(2, 1)] > 0.9, "the row of creature: {a:?}");
    let (_, other_fluffy) = output(&Matrix::of([[2.0, 0.0], [0.0, 1.0], [5.0, 5.0]]));
    assert!(other_fluffy[(2, 0)] > o[(2, 0)], "creature reads fluffy");
    let (_, other_creature) = output(&Matrix::of([[1.0, 0.0], [0.0, 1.0], [-5.0, 7.0]]));
    assert!(
        rows(&other_creature, 0, 2).unwrap().same_bits(&rows(&o, 0, 2).unwrap()),
        "fluffy reads no creature"
    );
}

#[test]
fn the_products_do_not_sum_to_one_but_their_softmax_does() {
    let [q, k] = draws(42, [(3, 4), (3, 4)]);
    let grid = scores(&k, &q);
    assert!(grid.cells().any(|x| !(0.0..=1.0).contains(&x)));
    assert!(!row_sums_to_one(&grid.transposed()));
    let sigma = softmax(&grid, Axis::Columns, Base::E);
    assert!(sigma.cells().all(|x| (0.0..=1.0).contains(&x)) && row_sums_to_one(&sigma.transposed()));
}

#[test]
fn q_k_transposed_is_the_transpose_of_the_grid() {
    let (n, d_k) = (3, 2);
    let [q, k] = draws(43, [(n, d_k), (n, d_k)]);
    let dot = |i: usize, j: usize| k.row(i).zip(q.row(j)).map(|(k, q)| k * q).sum::<f64>();
    let grid = Matrix::from_fn(n, n, dot);
    let rows_view = product(&q, &k.transposed()).unwrap();
    assert!(close(&rows_view, &grid.transposed()) && !close(&rows_view, &grid));
    // With one column for each token, as q_j = W_Q e_j gives them.
    let (q, k) = (q.transposed(), k.transposed());
    assert!(close(&product(&k.transposed(), &q).unwrap(), &grid));
    assert_eq!(product(&q, &k.transposed()).unwrap().rows(), d_k);
}

#[test]
fn without_the_mask_later_tokens_get_weight() {
    let [q, k, v] = draws(44, [(3, 2), (3, 2), (3, 2)]);
    let later = |mask| node(&attend_to(&Recipe { mask, ..Recipe::default() }, &q, &k, &v), "A")[(0, 2)];
    assert!(later(Mask::default()) > 0.0);
    assert_eq!(later(Mask { causal: true, ..Mask::default() }), 0.0);
}

#[test]
fn the_softmax_down_the_columns_of_rows_normalises_over_the_queries() {
    let [q, k] = draws(45, [(3, 2), (3, 2)]);
    let s = scores(&q, &k);
    let literal = softmax(&s, Axis::Columns, Base::E);
    assert!(row_sums_to_one(&literal.transposed()) && !row_sums_to_one(&literal));
    // Meant is the softmax down the columns of the grid, which is that along the rows of Q Kᵀ.
    let grid = scores(&k, &q);
    assert!(softmax(&grid, Axis::Columns, Base::E).same_bits(&weights(&s).transposed()));
}

#[test]
fn scores_spread_like_the_root_of_d_and_saturate_a_softmax_that_is_stable_anyway() {
    /// The spread of 16 × 16 scores, and the mean over the rows of p · (1 − p) of the largest weight p.
    fn measured(s: &Matrix) -> (f64, f64) {
        let spread = (s.cells().map(|x| x * x).sum::<f64>() / 256.0).sqrt();
        let a = weights(s);
        assert!(row_sums_to_one(&a), "stable at any size");
        let slope = |i| {
            let max = a.row(i).fold(0.0, f64::max);
            max * (1.0 - max)
        };
        (spread, (0..16).map(slope).sum::<f64>() / 16.0)
    }
    for d in [1, 4, 16, 64, 256, 1024] {
        let [q, k] = draws(46, [(16, d), (16, d)]);
        let s = scores(&q, &k);
        let root = (d as f64).sqrt();
        let (spread, slope) = measured(&s);
        let (scaled_spread, scaled_slope) = measured(&s.map(|x| x / root));
        assert!((0.5..2.0).contains(&(spread / root)), "d = {d}: {spread}");
        assert!((0.5..2.0).contains(&scaled_spread), "d = {d}: {scaled_spread}");
        assert!(scaled_slope > 0.1, "d = {d}: {scaled_slope}");
        assert!(d < 256 || slope < scaled_slope / 4.0, "d = {d}: {slope} against {scaled_slope}");
    }
    assert!(row_sums_to_one(&weights(&Matrix::of([[1e4, -1e4, 1e4]]))));
}

#[test]
fn the_softmax_of_unscaled_products_is_another_one() {
    let [q, k] = draws(47, [(3, 4), (3, 4)]);
    let s = scores(&q, &k);
    assert!(!close(&weights(&s), &weights(&s.map(|x| x / 2.0))));
}

#[test]
fn a_row_of_the_product_with_v_is_the_whole_sum() {
    let [q, k, v] = draws(48, [(3, 2), (3, 2), (3, 2)]);
    let a = weights(&scores(&q, &k));
    let o = product(&a, &v).unwrap();
    for token in 0..3 {
        for x in 0..2 {
            let entries: Vec<f64> = (0..3).map(|i| a[(token, i)] * v[(i, x)]).collect();
            assert!((entries.iter().sum::<f64>() - o[(token, x)]).abs() < 1e-12);
            assert!(entries.iter().all(|entry| (entry - o[(token, x)]).abs() > 1e-9));
        }
    }
}

#[test]
fn the_output_matrix_holds_the_up_projections_alone() {
    let shapes = [(4, 4), (4, 4), (4, 6), (6, 2), (6, 2), (2, 6), (2, 6)];
    let [a_1, a_2, e, down_1, down_2, up_1, up_2] = draws(49, shapes);
    let head = |a: &Matrix, down| product(&weights(a), &product(&e, down).unwrap()).unwrap();
    let (head_1, head_2) = (head(&a_1, &down_1), head(&a_2, &down_2));
    let change = |head: &Matrix, up| product(head, up).unwrap();
    let sum = crate::common::steps::add(&[&change(&head_1, &up_1), &change(&head_2, &up_2)]).unwrap();
    // The V_u of the heads under each other, and nothing else.
    let w_o = concatenate(&[&up_1.transposed(), &up_2.transposed()]).unwrap().transposed();
    assert_eq!((w_o.rows(), w_o.cols()), (2 * 2, 6));
    assert!(close(&product(&concatenate(&[&head_1, &head_2]).unwrap(), &w_o).unwrap(), &sum));
}

/// A part's share of a model in thousandths, rounded, by whole numbers.
fn per_mille(model: &str, part: ModelPart) -> u64 {
    let counts = Counts::of(&listing(&named(model).unwrap()[0]).unwrap()).unwrap();
    (counts.part(part) * 1000 + counts.total / 2) / counts.total
}

#[test]
fn attention_is_a_third_of_gpt3_but_less_of_others() {
    let shares = ["gpt3", "gpt2", "llama3-8b"].map(|model| per_mille(model, ModelPart::Attention));
    assert_eq!(shares, [331, 228, 167]);
    // By hand, from the shapes in 198 and in 003:226 to 229.
    assert_eq!(96 * 96 * 4 * 12288 * 128_u64, 57_982_058_496);
    assert_eq!((57_982_058_496_u64 * 1000 + 175_181_291_520 / 2) / 175_181_291_520, 331);
    assert_eq!(32 * (2 * 4096 * 4096 + 2 * 4096 * 1024) * 1000_u64 / 8_030_261_248, 167);
}

#[test]
fn the_perceptrons_of_gpt2_are_less_than_half_of_it() {
    assert_eq!(["gpt3", "gpt2"].map(|model| per_mille(model, ModelPart::Mlp)), [662, 455]);
    assert_eq!(per_mille("gpt2", ModelPart::Embedding), 316);
    assert_eq!((12 * 2 * 768 * 3072 + 12 * (3072 + 768)) * 1000_u64 / 124_439_808, 455);
}

#[test]
fn the_query_of_a_token_is_a_vector_as_wide_as_a_key() {
    let graph = story("update", &[]).graph;
    let (q, k, w_q) = (node(&graph, "Q"), node(&graph, "K"), node(&graph, "W_Q"));
    assert_eq!(rows(q, 0, 1).unwrap().shape(), rows(k, 0, 1).unwrap().shape());
    assert_eq!(q.cols(), w_q.cols());
    assert!(excerpt("a-query-is-a-vector").contains("is a map"));
    assert!(also("a-query-is-a-vector").iter().any(|text| text.contains(r"\vec{q}_j")));
}

#[test]
fn the_sum_over_the_heads_keeps_the_token_apart_from_the_head() {
    assert!(excerpt("one-index-twice").contains("j^{(j)}"));
    assert_eq!(also("one-index-twice"), [r"\sum_j \Delta\vec{e}_i^{(j)}"]);
}
