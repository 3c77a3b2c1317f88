//! Document 002. What Python says to its code is recorded by tests/golden/errata.py and slips.py.

use crate::common::steps::{cosine, euclidean, product_transposed, rows, unit_rows};
use attn::graph::{CellId, Graph, Op, Origin, Term};
use attn::matrix::Matrix;

use super::quotations::excerpt;
use attn::demo::errata;

use super::{Check, close, draws, node, story, weights};
use crate::golden;

pub const CHECKS: &[Check] = &[
    ("faster-inference", the_last_output_needs_the_token_before_it),
    ("distance", at_length_one_the_squared_distance_is_two_minus_twice_the_cosine),
    ("one-term-too-many", a_dot_product_of_vectors_of_n_numbers_has_n_terms),
    ("length-or-dimension", the_divisor_is_the_root_of_the_dimension_and_not_of_the_norm),
    ("rounded-on-the-way", rounding_on_the_way_moves_bat_to_another_second_decimal),
    ("keepdims-left-out", without_keepdims_the_rows_of_a_table_do_not_sum_to_one),
    ("array-called", an_array_cannot_be_called),
    ("vectors-in-training", the_same_matrices_give_other_vectors_for_another_text),
    ("printed-unrounded", print_shows_every_digit_of_the_weights),
    ("values-decide-nothing", the_weights_do_not_depend_on_w_v),
    ("d-out", the_class_stops_at_d_out_and_agrees_with_ours_once_it_reads_output_dim),
    ("heads-in-a-list", a_plain_list_hides_every_parameter_of_the_heads),
    ("no-output-matrix", the_concatenation_is_as_many_times_too_wide_as_there_are_heads),
];

#[test]
fn at_length_one_the_squared_distance_is_two_minus_twice_the_cosine() {
    let [x] = draws(21, [(5, 3)]);
    let unit = unit_rows(&x);
    let (distance, cosines) = (euclidean(&unit, &unit).unwrap(), cosine(&x, &x).unwrap());
    assert!(close(&distance.map(|d| d * d), &cosines.map(|c| 2.0 - 2.0 * c)));
    // Of different lengths they need not agree: see bat, cave and racket.
    let graph = story("similarity", &[]).graph;
    let (dot, distance) = (node(&graph, "dot"), node(&graph, "euclidean"));
    assert!(dot[(0, 2)] > dot[(0, 1)] && distance[(0, 2)] > distance[(0, 1)]);
}

#[test]
fn a_dot_product_of_vectors_of_n_numbers_has_n_terms() {
    for n in 1..6 {
        let ones = Matrix::filled(1, n, 1.0);
        assert_eq!(product_transposed(&ones, &ones).unwrap()[(0, 0)], n as f64);
        let mut graph = Graph::new();
        let x = graph.given("X", ones, Origin::Stated).unwrap();
        let dot = graph.add("dot", Op::ProductTransposed, &[x, x]).unwrap();
        let terms = graph.terms(CellId { node: dot, row: 0, col: 0 });
        assert!(matches!(terms, Term::Sum(terms) if terms.len() == n));
    }
}

#[test]
fn the_divisor_is_the_root_of_the_dimension_and_not_of_the_norm() {
    let graph = story("similarity", &[]).graph;
    let (dot, scaled) = (node(&graph, "dot"), node(&graph, "scaled"));
    let norm_of_bat = dot[(0, 0)].sqrt();
    assert!((norm_of_bat - 18.0_f64.sqrt()).abs() < 1e-15);
    assert!((scaled[(0, 1)] - 12.0 / 2.0_f64.sqrt()).abs() < 1e-14);
    assert!((scaled[(0, 1)] - 12.0 / norm_of_bat.sqrt()).abs() > 1.0);
}

#[test]
fn rounding_on_the_way_moves_bat_to_another_second_decimal() {
    let graph = story("context", &[]).graph;
    let bat = |name: &str| format!("{:.2} {:.2}", node(&graph, name)[(0, 0)], node(&graph, name)[(0, 1)]);
    assert_eq!(bat("O_cave"), "3.43 1.72");
    assert_eq!(bat("O_rounded_cave"), "3.43 1.71");
}

#[test]
fn an_array_cannot_be_called() {
    let said = golden::json("errata.json");
    assert_eq!(golden::string(&said, "array_called"), "TypeError: 'numpy.ndarray' object is not callable");
}

#[test]
fn the_same_matrices_give_other_vectors_for_another_text() {
    let [x] = draws(22, [(4, 2)]);
    let (own, other) = (story("multihead", &[]).graph, story("multihead", &[("X", &x)]).graph);
    for role in ["Q", "K", "V"] {
        let (w, vectors) = (format!("W_{role}_1"), format!("{role}_1"));
        assert!(node(&own, &w).same_bits(node(&other, &w)));
        assert!(!close(node(&own, &vectors), node(&other, &vectors)));
    }
}

#[test]
fn the_weights_do_not_depend_on_w_v() {
    let [w] = draws(23, [(2, 2)]);
    let own = story("multihead", &[]).graph;
    let other_values = story("multihead", &[("W_V_1", &w)]).graph;
    assert!(node(&own, "A_1").same_bits(node(&other_values, "A_1")));
    assert!(!close(node(&own, "O_1"), node(&other_values, "O_1")));
    for name in ["W_Q_1", "W_K_1"] {
        assert!(!close(node(&own, "A_1"), node(&story("multihead", &[(name, &w)]).graph, "A_1")));
    }
}

#[test]
fn the_class_stops_at_d_out_and_agrees_with_ours_once_it_reads_output_dim() {
    let said = golden::json("errata.json");
    let expected = "AttributeError: 'SelfAttention' object has no attribute 'd_out'";
    assert_eq!(golden::string(&said, "d_out"), expected);
    assert!(close(node(&story("multihead", &[]).graph, "C"), &golden::matrix(&said["C"])));
}

#[test]
fn the_concatenation_is_as_many_times_too_wide_as_there_are_heads() {
    let graph = story("multihead", &[]).graph;
    let (x, c, o) = (node(&graph, "X"), node(&graph, "C"), node(&graph, "O"));
    assert_eq!(golden::matrix(&golden::json("errata.json")["C"]).cols(), 2 * x.cols());
    assert_eq!(c.cols(), 2 * x.cols());
    assert_eq!(o.shape(), x.shape());
}

#[test]
fn a_plain_list_hides_every_parameter_of_the_heads() {
    let graph = story("multihead", &[]).graph;
    let of_the_heads = ["W_Q_1", "W_K_1", "W_V_1", "W_Q_2", "W_K_2", "W_V_2"];
    let ours: usize = of_the_heads.iter().map(|name| node(&graph, name).cells().count()).sum();
    let found = &golden::json("errata.json")["parameters"];
    assert_eq!(golden::number(&found["list"]), 0.0);
    assert_eq!(golden::number(&found["module_list"]), ours as f64);
}

#[test]
fn the_last_output_needs_the_token_before_it() {
    let own = story("mask", &[]);
    let x = node(&own.graph, "X");
    let changed =
        Matrix::from_fn(
            x.rows(),
            x.cols(),
            |i, j| if i + 2 == x.rows() { x[(i, j)] + 1.0 } else { x[(i, j)] },
        );
    let other = story("mask", &[("X", &changed)]);
    let last = |story: &attn::story::Story| rows(node(&story.graph, "O"), x.rows() - 1, 1).unwrap();
    assert!(!close(&last(&own), &last(&other)));
}

/// The figures of an array of `slips.json`, and the one with which the text is contradicted.
fn said_by_numpy(key: &str) -> Vec<f64> {
    golden::numbers(&golden::json("slips.json")[key])
}

#[test]
fn without_keepdims_the_rows_of_a_table_do_not_sum_to_one() {
    let erratum = errata::errata().find(|erratum| erratum.id == "keepdims-left-out").unwrap();
    let sums: Vec<String> =
        said_by_numpy("sums_without_keepdims").iter().map(|sum| format!("{sum:.3}")).collect();
    assert!(erratum.holds.contains(&format!("{}, {} and {}", sums[0], sums[1], sums[2])), "{sums:?}");
    assert_eq!(said_by_numpy("sums_with_keepdims"), [1.0, 1.0, 1.0]);
    assert_eq!(golden::matrix(&golden::json("slips.json")["of_one_row"]), Matrix::of([[0.57, 0.43]]));
}

#[test]
fn print_shows_every_digit_of_the_weights() {
    let erratum = errata::errata().find(|erratum| erratum.id == "printed-unrounded").unwrap();
    let said = golden::json("slips.json");
    for printed in golden::list(&said, "printed") {
        let printed = printed.as_str().unwrap();
        assert!(erratum.holds.contains(printed), "{printed}");
        assert!(!excerpt(erratum.id).contains(printed));
    }
    let ours = weights(&Matrix::of([[1.0, -0.71]]));
    assert_eq!(format!("[{:.8} {:.8}]", ours[(0, 0)], ours[(0, 1)]), said["printed"][0].as_str().unwrap());
}
