//! Document 001.

use crate::common::steps::{mask, product, rows};
use attn::attention::{Mask, MatrixRule};
use attn::graph::recipes::Recipe;
use attn::matrix::Matrix;

use super::quotations::excerpt;
use super::{Check, attend_to, close, draws, node, scores, weights};

pub const CHECKS: &[Check] = &[
    ("one-head", a_second_head_makes_a_second_table_of_weights_and_another_output),
    ("row-times-matrix", row_i_of_the_product_is_the_row_times_the_matrix),
    ("self-left-out", the_matrix_product_includes_the_tokens_own_value),
    ("closing-bracket", the_summary_closes_more_brackets_than_it_opens),
];

#[test]
fn a_second_head_makes_a_second_table_of_weights_and_another_output() {
    let [q, k, v] = draws(11, [(3, 4), (3, 4), (3, 4)]);
    let one = attend_to(&Recipe::default(), &q, &k, &v);
    let two = attend_to(&Recipe { heads: 2, kv_heads: 2, ..Recipe::default() }, &q, &k, &v);
    assert!(!close(node(&two, "A_1"), node(&two, "A_2")));
    assert_eq!(node(&one, "O").shape(), node(&two, "O").shape());
    assert!(!close(node(&one, "O"), node(&two, "O")));
}

#[test]
fn row_i_of_the_product_is_the_row_times_the_matrix() {
    let [i, w] = draws(12, [(2, 3), (3, 4)]);
    let q = product(&i, &w).unwrap();
    let v = rows(&i, 1, 1).unwrap();
    assert!(rows(&q, 1, 1).unwrap().same_bits(&product(&v, &w).unwrap()));
    let column = v.transposed();
    assert!(product(&w, &column).is_err(), "W on the left of a column of 3 needs 3 columns");
    assert!(product(&w.transposed(), &column).unwrap().transposed().same_bits(&rows(&q, 1, 1).unwrap()));
}

#[test]
fn the_matrix_product_includes_the_tokens_own_value() {
    let [x, v] = draws(14, [(3, 2), (3, 2)]);
    let s = scores(&x, &x);
    let a = weights(&s);
    let o = product(&a, &v).unwrap();
    for i in 0..3 {
        for j in 0..2 {
            let others: f64 =
                (0..3).filter(|&other| other != i).map(|other| a[(i, other)] * v[(other, j)]).sum();
            let own = a[(i, i)] * v[(i, j)];
            assert!(own != 0.0 && (o[(i, j)] - others - own).abs() < 1e-12);
        }
    }
    let block = Mask { matrix: Some(MatrixRule::Block), ..Mask::default() };
    let without = weights(&mask(&s, Some(&Matrix::identity(3)), &block).unwrap());
    assert!((0..3).all(|i| without[(i, i)] == 0.0));
}

#[test]
fn the_summary_closes_more_brackets_than_it_opens() {
    let excerpt = excerpt("closing-bracket");
    let count = |bracket| excerpt.matches(bracket).count();
    assert_eq!((count("("), count(")")), (1, 2));
}
