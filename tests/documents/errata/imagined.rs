//! Document 003.

use std::collections::BTreeSet;

use crate::common::steps::{add, concatenate, mask, product, relu, rows, sinusoidal};
use attn::attention::{Mask, MatrixRule, key_value_head};
use attn::graph::recipes::{AttendInputs, Output, Recipe, attend};
use attn::matrix::Matrix;

use super::quotations::{also, excerpt};
use super::{Check, attend_to, close, draws, given, node, scores, story, weights};

pub const CHECKS: &[Check] = &[
    ("one-letter-three-things", one_letter_is_a_number_here_and_a_vector_elsewhere),
    ("capital-or-city", the_word_that_repeats_is_city),
    ("what-averages-solve", the_average_undoes_a_repeated_sentence_but_not_a_repeated_word),
    ("same-words", attention_without_positions_mixes_both_stories_to_the_same_vector),
    ("query-or-key", exchanging_query_and_key_gives_other_weights),
    ("dot-or-cosine", dot_product_and_cosine_rank_differently_where_lengths_differ),
    ("head-index", heads_with_the_same_matrices_give_the_same_output),
    ("shared-scores", heads_that_share_their_scores_are_one_head_with_wider_values),
    ("width-of-a-head", a_head_is_as_wide_as_its_values_and_not_as_its_keys),
    ("lower-triangular-mask", an_added_lower_triangular_mask_hides_nothing),
    ("ith-word", row_i_sees_word_i),
    ("pairs-and-heads", as_many_pairs_are_used_as_there_are_query_heads),
    ("linear-separation", a_linear_map_cannot_separate_xor_and_a_relu_after_it_can),
    ("two-letters-again", one_output_matrix_starts_from_the_heads_and_the_other_from_the_perceptron),
    ("not-in-the-text", the_equations_have_neither_positions_nor_a_residual),
];

/// The three questions of lines 39 to 41.
const QUESTIONS: [&str; 3] = [
    "what is the capital of india",
    "what is the capital city of india",
    "what city is the capital city of india",
];

/// A row for each word of the text: 1 in the column of the word among all words.
fn one_hot(text: &str, vocabulary: &[&str]) -> Matrix {
    let words: Vec<&str> = text.split(' ').collect();
    Matrix::from_fn(words.len(), vocabulary.len(), |i, j| if words[i] == vocabulary[j] { 1.0 } else { 0.0 })
}

fn vocabulary<'a>(texts: &[&'a str]) -> Vec<&'a str> {
    texts.iter().flat_map(|text| text.split(' ')).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The words of a text mixed with one weight for all: 1 for the sum, 1/n for the average.
fn pooled(text: &str, weight: f64, word: &str) -> f64 {
    let words = vocabulary(&QUESTIONS);
    let x = one_hot(text, &words);
    let pooled = product(&Matrix::filled(1, x.rows(), weight), &x).unwrap();
    pooled[(0, words.iter().position(|other| *other == word).unwrap())]
}

#[test]
fn the_word_that_repeats_is_city() {
    assert_eq!(QUESTIONS.map(|text| pooled(text, 1.0, "capital")), [1.0, 1.0, 1.0]);
    assert_eq!(QUESTIONS.map(|text| pooled(text, 1.0, "city")), [0.0, 1.0, 2.0]);
}

#[test]
fn the_average_undoes_a_repeated_sentence_but_not_a_repeated_word() {
    let average = |text: &str, word| pooled(text, 1.0 / text.split(' ').count() as f64, word);
    for text in QUESTIONS {
        let twice = format!("{text} {text}");
        for word in vocabulary(&QUESTIONS) {
            assert!((average(&twice, word) - average(text, word)).abs() < 1e-15, "{word}");
        }
    }
    assert_eq!(average(QUESTIONS[1], "city"), 1.0 / 7.0);
    assert_eq!(average(QUESTIONS[2], "city"), 2.0 / 8.0);
}

#[test]
fn attention_without_positions_mixes_both_stories_to_the_same_vector() {
    let stories =
        ["south-africa defeated australia the winner is", "australia defeated south-africa the winner is"];
    let words = vocabulary(&stories);
    let [embedding, w_q, w_k, w_v] = draws(31, [(words.len(), 4), (4, 4), (4, 4), (4, 4)]);
    let last_row = |story: &str, positions: bool| {
        let x = product(&one_hot(story, &words), &embedding).unwrap();
        let x = if positions { add(&[&x, &sinusoidal(0, x.rows(), 4)]).unwrap() } else { x };
        let project = |w| product(&x, w).unwrap();
        let graph = attend_to(&Recipe::default(), &project(&w_q), &project(&w_k), &project(&w_v));
        rows(node(&graph, "O"), x.rows() - 1, 1).unwrap()
    };
    assert!(close(&last_row(stories[0], false), &last_row(stories[1], false)));
    assert!(!close(&last_row(stories[0], true), &last_row(stories[1], true)));
}

#[test]
fn dot_product_and_cosine_rank_differently_where_lengths_differ() {
    let graph = story("similarity", &[]).graph;
    let (dot, cosine) = (node(&graph, "dot"), node(&graph, "cosine"));
    assert!(dot[(0, 2)] > dot[(0, 1)]);
    assert!((cosine[(0, 2)] - cosine[(0, 1)]).abs() < 1e-15);
}

#[test]
fn heads_with_the_same_matrices_give_the_same_output() {
    let [x, w_q, w_k, w_v, other] = draws(32, [(3, 4), (4, 2), (4, 2), (4, 2), (4, 2)]);
    let heads = |second: &Matrix| {
        let twice = |w, v| product(&x, &concatenate(&[w, v]).unwrap()).unwrap();
        let recipe = Recipe { heads: 2, kv_heads: 2, ..Recipe::default() };
        attend_to(&recipe, &twice(&w_q, second), &twice(&w_k, &w_k), &twice(&w_v, &w_v))
    };
    let same = heads(&w_q);
    assert!(node(&same, "O_1").same_bits(node(&same, "O_2")));
    let own = heads(&other);
    assert!(!close(node(&own, "O_1"), node(&own, "O_2")));
}

#[test]
fn exchanging_query_and_key_gives_other_weights() {
    let [x, m_q, m_k] = draws(33, [(4, 3), (3, 3), (3, 3)]);
    let (q, k) = (product(&x, &m_q).unwrap(), product(&x, &m_k).unwrap());
    // The last word asks: its row of weights over all words.
    let last = |q: &Matrix, k: &Matrix| weights(&scores(&rows(q, 3, 1).unwrap(), k));
    assert!(!close(&last(&q, &k), &last(&k, &q)));
    assert!(scores(&k, &q).same_bits(&scores(&q, &k).transposed()));
}

#[test]
fn heads_that_share_their_scores_are_one_head_with_wider_values() {
    let [x, m_q, m_k, m_v1, m_v2] = draws(34, [(4, 3), (3, 2), (3, 2), (3, 2), (3, 2)]);
    let shared = weights(&scores(&product(&x, &m_q).unwrap(), &product(&x, &m_k).unwrap()));
    let head = |m_v| product(&shared, &product(&x, m_v).unwrap()).unwrap();
    let heads = concatenate(&[&head(&m_v1), &head(&m_v2)]).unwrap();
    let wide = product(&x, &concatenate(&[&m_v1, &m_v2]).unwrap()).unwrap();
    assert!(heads.same_bits(&product(&shared, &wide).unwrap()));
}

#[test]
fn a_head_is_as_wide_as_its_values_and_not_as_its_keys() {
    let (n, heads, h, h_v) = (4, 2, 3, 1);
    let [q, k, v] = draws(35, [(n, heads * h), (n, heads * h), (n, heads * h_v)]);
    let graph = attend_to(&Recipe { heads, kv_heads: heads, ..Recipe::default() }, &q, &k, &v);
    assert_eq!((node(&graph, "O_1").rows(), node(&graph, "O_1").cols()), (n, h_v));
    assert_eq!((node(&graph, "O").rows(), node(&graph, "O").cols()), (n, heads * h_v));
}

#[test]
fn an_added_lower_triangular_mask_hides_nothing() {
    let [s] = draws(36, [(4, 4)]);
    let rule = Mask { matrix: Some(MatrixRule::Add), ..Mask::default() };
    let upper = |added: &Matrix| {
        let a = weights(&mask(&s, Some(added), &rule).unwrap());
        (0..4).flat_map(|i| (i + 1..4).map(move |j| (i, j))).map(|at| a[at]).collect::<Vec<_>>()
    };
    let triangular = Matrix::from_fn(4, 4, |i, j| if j <= i { 1.0 } else { 0.0 });
    assert!(upper(&triangular).iter().all(|weight| *weight > 0.0));
    let hiding = Matrix::from_fn(4, 4, |i, j| if j <= i { 0.0 } else { f64::NEG_INFINITY });
    assert!(upper(&hiding).iter().all(|weight| *weight == 0.0));
}

#[test]
fn row_i_sees_word_i() {
    let [q, k, v] = draws(37, [(4, 2), (4, 2), (4, 2)]);
    let causal = Mask { causal: true, ..Mask::default() };
    let graph = attend_to(&Recipe { mask: causal, ..Recipe::default() }, &q, &k, &v);
    let a = node(&graph, "A");
    assert!((0..4).all(|i| a[(i, i)] > 0.0));
    assert_eq!(a[(0, 0)], 1.0);
}

#[test]
fn as_many_pairs_are_used_as_there_are_query_heads() {
    for (heads, groups) in [(4, 2), (32, 8), (6, 1), (3, 3)] {
        let pairs: BTreeSet<(usize, usize)> =
            (0..heads).map(|head| (head, key_value_head(head, heads, groups))).collect();
        assert_eq!(pairs.len(), heads);
        assert!(pairs.len() < heads * groups || groups == 1);
    }
}

#[test]
fn a_linear_map_cannot_separate_xor_and_a_relu_after_it_can() {
    // Corners 00, 01, 10, 11 and a constant 1 for the bias; a line must put the outer two on one side.
    let corners = Matrix::of([[0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 1.0]]);
    let [up, down] = draws(38, [(3, 5), (5, 1)]);
    let score = product(&product(&corners, &up).unwrap(), &down).unwrap();
    // The scores of the outer two sum to those of the inner two, so they cannot all lie on their own side of 0.
    assert!((score[(0, 0)] + score[(3, 0)] - score[(1, 0)] - score[(2, 0)]).abs() < 1e-12);
    let up = Matrix::of([[1.0, 1.0], [1.0, 1.0], [0.0, -1.0]]);
    let hidden = relu(&product(&corners, &up).unwrap());
    let score = product(&hidden, &Matrix::of([[1.0], [-2.0]])).unwrap();
    assert_eq!(score.cells().collect::<Vec<_>>(), [0.0, 1.0, 1.0, 0.0]);
}

#[test]
fn the_equations_have_neither_positions_nor_a_residual() {
    let [x, m_q, m_k, m_v, m_o] = draws(39, [(3, 4), (4, 2), (4, 2), (4, 2), (2, 4)]);
    let output = |x: &Matrix, m_o: &Matrix, residual| {
        let inputs = AttendInputs {
            x: given(x),
            w_q: given(&m_q),
            w_k: given(&m_k),
            w_v: given(&m_v),
            w_o: given(m_o),
            ..AttendInputs::default()
        };
        let recipe = Recipe { output: Output { residual, ..Output::default() }, ..Recipe::default() };
        node(&attend(&recipe, inputs).unwrap(), "O").clone()
    };
    let turned = |x: &Matrix| Matrix::from_fn(3, 4, |i, j| x[(2 - i, j)]);
    assert!(close(&output(&turned(&x), &m_o, false), &turned(&output(&x, &m_o, false))));
    let zero = Matrix::filled(2, 4, 0.0);
    assert!(output(&x, &zero, false).cells().all(|cell| cell == 0.0));
    assert!(close(&output(&x, &zero, true), &x));
}

#[test]
fn one_letter_is_a_number_here_and_a_vector_elsewhere() {
    assert!(excerpt("one-letter-three-things").contains("number in the vector"));
    let elsewhere = also("one-letter-three-things");
    assert!(elsewhere[0].contains("is the next word"), "{elsewhere:?}");
    assert!(elsewhere[1].contains(r"\frac{1}{n} \sum_{i=1}^n w_i"), "{elsewhere:?}");
}

#[test]
fn one_output_matrix_starts_from_the_heads_and_the_other_from_the_perceptron() {
    let here = excerpt("two-letters-again");
    let elsewhere = also("two-letters-again");
    assert!(here.starts_with("O &= O M_o") && elsewhere[0].starts_with("O &= A M_o"));
    // Heads 2 and 3 wide, a perceptron 8 wide: no matrix fits both.
    let [heads, hidden, m_o] = draws(40, [(3, 6), (3, 8), (6, 4)]);
    assert!(product(&heads, &m_o).is_ok() && product(&hidden, &m_o).is_err());
}
