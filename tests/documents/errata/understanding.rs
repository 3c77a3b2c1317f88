//! Document 000.

use crate::common::steps::softmax;
use crate::common::steps::{columns, divide_by_sum, exponential, product};
use attn::attention::singular_values;
use attn::attention::{Axis, Base};
use attn::graph::recipes::Recipe;
use attn::matrix::Matrix;
use attn::params::named;

use super::{Check, attend_to, close, draws, node, scores, weights};

pub const CHECKS: &[Check] = &[
    ("long-vectors", a_sum_grows_with_the_number_of_tokens_and_not_with_their_width),
    ("exponential-overflow", bare_exponentials_overflow_and_subtracting_the_maximum_does_not),
    ("right-softmax", columns_of_weights_can_only_average_the_features_of_a_token),
    ("unscaled", unscaled_scores_give_the_documents_weights_and_scaled_ones_are_less_sharp),
    ("query-key-names", exchanging_w_q_and_w_k_transposes_the_scores_and_changes_the_weights),
    ("all-flows", the_scores_have_at_most_rank_d_k),
    ("head-width", a_head_is_as_wide_as_the_embedding_divided_by_the_heads),
];

#[test]
fn a_sum_grows_with_the_number_of_tokens_and_not_with_their_width() {
    for tokens in [1, 10, 100] {
        for width in [1, 10, 100] {
            let sum = product(&Matrix::filled(1, tokens, 1.0), &Matrix::filled(tokens, width, 1.0)).unwrap();
            assert!(sum.cells().all(|x| x == tokens as f64), "{tokens} tokens of width {width}");
        }
    }
}

#[test]
fn bare_exponentials_overflow_and_subtracting_the_maximum_does_not() {
    let naive = |x: &Matrix| divide_by_sum(&exponential(x, Base::E), Axis::Rows);
    let large = Matrix::of([[1000.0, 1001.0]]);
    assert!(exponential(&large, Base::E).cells().all(|x| x == f64::INFINITY));
    assert!(naive(&large).cells().all(f64::is_nan));
    assert!(weights(&large).same_bits(&weights(&Matrix::of([[0.0, 1.0]]))));
    let [small] = draws(2, [(3, 4)]);
    assert!(close(&naive(&small), &weights(&small)));
}

#[test]
fn columns_of_weights_can_only_average_the_features_of_a_token() {
    let [x, r] = draws(3, [(6, 5), (5, 8)]);
    let averaged = product(&x, &softmax(&r, Axis::Columns, Base::E)).unwrap();
    let outside = |out: &Matrix| {
        let beyond = |i: usize| {
            let (low, high) =
                (x.row(i).fold(f64::INFINITY, f64::min), x.row(i).fold(f64::NEG_INFINITY, f64::max));
            out.row(i).filter(|y| *y < low - 1e-12 || *y > high + 1e-12).count()
        };
        (0..out.rows()).map(beyond).sum::<usize>()
    };
    assert_eq!(outside(&averaged), 0);
    assert!(outside(&product(&x, &r).unwrap()) > 0);
}

/// Draws as the document's code does, up to its first W_K.
fn documents_queries_and_keys() -> (Matrix, Matrix) {
    let before = [(4, 5), (4, 4), (4, 4), (5, 6)];
    let [_, _, _, _, x, w_q, w_k] =
        draws(0, [before[0], before[1], before[2], before[3], (4, 5), (5, 7), (5, 7)]);
    (product(&x, &w_q).unwrap(), product(&x, &w_k).unwrap())
}

#[test]
fn unscaled_scores_give_the_documents_weights_and_scaled_ones_are_less_sharp() {
    let (q, k) = documents_queries_and_keys();
    let s = scores(&q, &k);
    let unscaled = weights(&s);
    // 000:189
    assert_eq!(format!("{:.8e}", unscaled[(0, 0)]), "9.99996706e-1");
    assert_eq!(format!("{:.3} {:.3}", unscaled[(1, 0)], unscaled[(2, 2)]), "0.978 0.807");
    let scaled = weights(&s.map(|x| x / 7.0_f64.sqrt()));
    assert_eq!(format!("{:.3} {:.3}", scaled[(1, 0)], scaled[(2, 2)]), "0.738 0.525");
    let max = |i: usize| scaled.row(i).fold(0.0, f64::max);
    assert_eq!((max(1), max(2)), (scaled[(1, 0)], scaled[(2, 2)]));
}

#[test]
fn exchanging_w_q_and_w_k_transposes_the_scores_and_changes_the_weights() {
    let [x, w_q, w_k] = draws(4, [(3, 4), (4, 2), (4, 2)]);
    let (q, k) = (product(&x, &w_q).unwrap(), product(&x, &w_k).unwrap());
    let (s, exchanged) = (scores(&q, &k), scores(&k, &q));
    assert!(exchanged.same_bits(&s.transposed()));
    assert!(!close(&weights(&exchanged), &weights(&s)));
    assert!(!close(&weights(&exchanged), &weights(&s).transposed()));
}

#[test]
fn the_scores_have_at_most_rank_d_k() {
    let [x, w_q, w_k] = draws(5, [(6, 8), (8, 8), (8, 8)]);
    for d_k in 1..=8 {
        let narrow = |w: &Matrix| product(&x, &columns(w, 0, d_k).unwrap()).unwrap();
        let s = scores(&narrow(&w_q), &narrow(&w_k));
        let rank = singular_values(&s).unwrap().values.cells().filter(|value| *value > 1e-9).count();
        assert_eq!(rank, d_k.min(6));
    }
}

#[test]
fn a_head_is_as_wide_as_the_embedding_divided_by_the_heads() {
    let [q, k, v] = draws(6, [(3, 8), (3, 8), (3, 8)]);
    let graph = attend_to(&Recipe { heads: 4, kv_heads: 4, ..Recipe::default() }, &q, &k, &v);
    assert_eq!(node(&graph, "Q_1").cols(), 8 / 4);
    let gpt3 = &named("gpt3").unwrap()[0];
    assert_eq!((gpt3.hidden, gpt3.query_heads, gpt3.head_width), (12288, 96, 128));
    assert_eq!(gpt3.hidden / gpt3.query_heads, gpt3.head_width);
}
