//! The demos of document 002 against the figures that it prints and against NumPy (tests/golden/similarity.py).

use attn::demo::{Settings, find};
use attn::elementary::{cos, sin};
use attn::graph::Statistic;
use attn::matrix::Matrix;
use attn::story::Story;
use proptest::prelude::*;

const DEMOS: [&str; 5] = ["similarity", "context", "stretch", "lookup", "multihead"];

fn story(name: &str, set: &[(&str, Matrix)]) -> Story {
    let set = set.iter().map(|(node, matrix)| (node.to_string(), (matrix.clone(), "test".into()))).collect();
    find(name).unwrap().story(&Settings { set, ..Settings::default() }).unwrap()
}

fn demo(name: &str) -> Story {
    story(name, &[])
}

fn node<'a>(story: &'a Story, name: &str) -> &'a Matrix {
    story.graph.matrix(story.graph.require(name).unwrap()).unwrap()
}

/// A cell by the labels of its row and column.
fn cell(story: &Story, name: &str, row: &str, col: &str) -> f64 {
    let matrix = node(story, name);
    let place = |labels: Option<&attn::matrix::Labels>, label: &str| {
        labels.unwrap().iter().position(|other| other == label).unwrap()
    };
    matrix[(place(matrix.row_labels(), row), place(matrix.col_labels(), col))]
}

/// As the document prints it: two decimals.
fn printed(matrix: &Matrix) -> Vec<Vec<String>> {
    let text = |x: f64| format!("{x:.2}").replace("-0.00", "0.00");
    (0..matrix.rows()).map(|i| matrix.row(i).map(text).collect()).collect()
}

fn close(a: &Matrix, b: &Matrix) -> bool {
    a.shape() == b.shape() && a.cells().zip(b.cells()).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs().max(1.0))
}

#[test]
fn every_node_that_numpy_computed_is_the_same_here() {
    let golden = crate::golden::json("similarity.json");
    for name in DEMOS {
        let story = demo(name);
        for (node_name, expected) in golden[name].as_object().unwrap() {
            let (ours, expected) = (node(&story, node_name), crate::golden::matrix(expected));
            assert!(close(ours, &expected), "{name} {node_name}:\n{ours:?}\n{expected:?}");
        }
    }
}

#[test]
fn the_similarity_table_of_the_document_comes_out_at_two_decimals() {
    let story = demo("similarity");
    assert_eq!(
        printed(node(&story, "cosine")),
        [["1.00", "0.71", "0.71"], ["0.71", "1.00", "0.00"], ["0.71", "0.00", "1.00"]]
    );
}

#[test]
fn for_bat_the_dot_product_prefers_racket_the_distance_cave_and_the_cosine_neither() {
    let story = demo("similarity");
    let of = |measure, word| cell(&story, measure, "bat", word);
    assert_eq!((of("dot", "racket"), of("dot", "cave")), (15.0, 12.0));
    assert_eq!((of("euclidean", "cave"), of("euclidean", "racket")), (10.0_f64.sqrt(), 13.0_f64.sqrt()));
    assert!((of("cosine", "cave") - of("cosine", "racket")).abs() < 1e-15);
    assert!((of("cosine", "cave") - 0.5_f64.sqrt()).abs() < 1e-15);
}

#[test]
fn squash_ties_in_every_measure() {
    let story = demo("similarity");
    for measure in ["dot_squash", "cosine_squash", "euclidean_squash"] {
        let of = |word| cell(&story, measure, "squash", word);
        assert_eq!(of("commit"), of("pumpkin"), "{measure}");
    }
}

#[test]
fn bat_moves_to_3_43_1_72_and_rounding_on_the_way_gives_1_71() {
    let story = demo("context");
    assert_eq!(printed(node(&story, "A_cave")), [["0.57", "0.43"], ["0.43", "0.57"]]);
    assert_eq!(printed(node(&story, "A_racket")), [["0.57", "0.43"], ["0.43", "0.57"]]);
    assert_eq!(printed(node(&story, "O_cave"))[0], ["3.43", "1.72"]);
    assert_eq!(printed(node(&story, "O_rounded_cave"))[0], ["3.43", "1.71"]);
    assert_eq!(node(&story, "A_rounded_cave").row(0).collect::<Vec<_>>(), [0.57, 0.43]);
}

#[test]
fn the_mixture_before_the_softmax_is_bat_plus_0_71_cave() {
    let story = demo("context");
    let mixed = node(&story, "mixture_cave");
    assert!((mixed[(0, 0)] - (3.0 + 0.5_f64.sqrt() * 4.0)).abs() < 1e-14);
}

#[test]
fn both_words_of_a_sentence_come_nearer_to_each_other() {
    let story = demo("context");
    for sentence in ["cave", "racket"] {
        let apart = |name: &str| {
            let words = node(&story, &format!("{name}_{sentence}"));
            (words[(0, 0)] - words[(1, 0)]).abs() + (words[(0, 1)] - words[(1, 1)]).abs()
        };
        assert!(apart("O") < apart("X") && apart("O_scaled") < apart("X"), "{sentence}");
    }
}

#[test]
fn the_stretch_leaves_a_right_angle_and_widens_the_other_as_the_document_prints() {
    let story = demo("stretch");
    assert_eq!((node(&story, "S_12")[(0, 1)], node(&story, "S_12_stretched")[(0, 1)]), (0.0, 0.0));
    assert_eq!(printed(node(&story, "X_12_stretched")), [["3.00", "0.00"], ["0.00", "1.00"]]);
    assert_eq!(printed(node(&story, "S_34")), [["1.00", "-0.71"], ["-0.71", "1.00"]]);
    assert_eq!(printed(node(&story, "S_34_stretched")), [["1.00", "-0.95"], ["-0.95", "1.00"]]);
    assert_eq!(printed(node(&story, "A_34"))[0], ["0.85", "0.15"]);
    assert_eq!(printed(node(&story, "A_34_stretched"))[0], ["0.88", "0.12"]);
}

#[test]
fn a_shear_makes_a_right_angle_half_of_one() {
    assert!((node(&demo("stretch"), "S_12_sheared")[(0, 1)] - 0.5_f64.sqrt()).abs() < 1e-15);
}

#[test]
fn an_exact_look_up_finds_bob_and_nothing_for_alex() {
    let story = demo("lookup");
    assert_eq!(node(&story, "O_exact").row(1).collect::<Vec<_>>(), [60.0, 5_550_123.0]);
    assert!(node(&story, "A_exact").row(0).all(|weight| weight == 0.0));
}

#[test]
fn the_transform_breaks_the_tie_between_alex_and_alec() {
    let story = demo("lookup");
    assert_eq!(node(&story, "S_as_written").row(0).collect::<Vec<_>>(), [3.0, 3.0, 0.0]);
    assert_eq!(node(&story, "S").row(0).collect::<Vec<_>>(), [4.0, 3.0, 0.0]);
}

#[test]
fn a_mixed_age_lies_among_the_ages_and_a_mixed_phone_number_belongs_to_nobody() {
    let story = demo("lookup");
    let (values, output) = (node(&story, "V"), node(&story, "O"));
    assert!(output[(0, 0)] > 30.0 && output[(0, 0)] < 60.0);
    assert!(values.col(1).all(|number| number != output[(0, 1)].round()));
    // A sharp softmax is nearly the exact look-up of the best key.
    assert!((node(&story, "O_sharp")[(0, 0)] - 30.0).abs() < 0.01);
}

#[test]
fn the_loop_over_heads_and_the_one_product_agree_bit_for_bit() {
    let story = demo("multihead");
    assert!(node(&story, "C").same_bits(node(&story, "C_blocks")));
    assert_eq!(node(&story, "largest")[(0, 0)], 0.0);
}

fn matrix(rows: usize, cols: usize) -> impl Strategy<Value = Matrix> {
    proptest::collection::vec(-3.0..3.0_f64, rows * cols)
        .prop_map(move |values| Matrix::from_row_major(rows, cols, &values).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn on_unit_vectors_the_measures_agree_in_their_ranking(x in matrix(5, 3)) {
        let story = story("similarity", &[("X", x)]);
        let (dot, distance) = (node(&story, "dot_unit"), node(&story, "euclidean_unit"));
        prop_assert!(close(dot, node(&story, "cosine")));
        for i in 0..5 {
            for (j, k) in (0..5).flat_map(|j| (0..j).map(move |k| (j, k))) {
                let larger = dot[(i, j)] > dot[(i, k)] + 1e-9;
                prop_assert!(!larger || distance[(i, j)] < distance[(i, k)], "row {i}: {j} against {k}");
            }
        }
    }

    #[test]
    fn a_rotation_by_any_angle_keeps_every_cosine(angle in -4.0..4.0_f64, x in matrix(2, 2)) {
        let rotation = Matrix::of([[cos(angle), -sin(angle)], [sin(angle), cos(angle)]]);
        let story = story("stretch", &[("rotation", rotation), ("X_34", x)]);
        prop_assert!(close(node(&story, "S_34_rotated"), node(&story, "S_34")));
    }

    #[test]
    fn loop_and_single_product_agree_for_heads_of_any_widths(
        x in matrix(4, 3),
        head_1 in [matrix(3, 2), matrix(3, 2)], v_1 in matrix(3, 5),
        head_2 in [matrix(3, 4), matrix(3, 4)], v_2 in matrix(3, 1),
        w_o in matrix(6, 3),
    ) {
        let [q_1, k_1] = head_1;
        let [q_2, k_2] = head_2;
        let story = story("multihead", &[
            ("X", x), ("W_Q_1", q_1), ("W_K_1", k_1), ("W_V_1", v_1),
            ("W_Q_2", q_2), ("W_K_2", k_2), ("W_V_2", v_2), ("W_O", w_o),
        ]);
        prop_assert!(node(&story, "C").same_bits(node(&story, "C_blocks")));
        let (causal, all) = (node(&story, "A_causal_1"), node(&story, "A_1"));
        prop_assert!((0..4).all(|i| (i + 1..4).all(|j| causal[(i, j)] == 0.0)));
        prop_assert!(causal.row(3).zip(all.row(3)).all(|(a, b)| a.to_bits() == b.to_bits()));
        let max = attn::graph::Op::Summary(Statistic::MaxSize).apply(&[node(&story, "difference")]).unwrap();
        prop_assert_eq!(max[(0, 0)], 0.0);
    }
}

#[test]
fn vectors_of_another_width_run_and_are_left_undrawn() {
    let wide = Matrix::of([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]]);
    let own = demo("context");
    let drawn = |story: &Story| {
        let planes = |step: &attn::story::Step| {
            step.shown.iter().filter(|shown| matches!(shown, attn::story::StepItem::Plane(_))).count()
        };
        story.steps.iter().map(planes).sum::<usize>()
    };
    assert_eq!(drawn(&own), 4);
    assert_eq!(drawn(&story("context", &[("X_cave", wide.clone()), ("X_racket", wide)])), 0);
}

#[test]
fn it_attends_most_to_cat_and_hardly_to_mat() {
    let story = demo("context");
    let of = |word: &str| cell(&story, "A_it", "it", word);
    assert_eq!(format!("{:.2} {:.2}", of("cat"), of("mat")), "0.81 0.01");
    assert!(node(&story, "A_it").cells().all(|weight| weight <= of("cat")));
}

#[test]
fn the_other_word_of_the_sentence_pulls_squash_to_its_axis() {
    let story = demo("similarity");
    let (git, kitchen) = (node(&story, "O_git"), node(&story, "O_kitchen"));
    assert!(git[(0, 0)] > 2.0 && git[(0, 1)] < 2.0, "{git:?}");
    assert!(kitchen[(0, 0)] < 2.0 && kitchen[(0, 1)] > 2.0, "{kitchen:?}");
}

#[test]
fn both_mixtures_of_the_document_have_the_factors_1_and_0_71() {
    let story = demo("context");
    assert_eq!(printed(node(&story, "S_racket")), [["1.00", "0.71"], ["0.71", "1.00"]]);
    assert_eq!(printed(node(&story, "mixture_racket"))[0], ["3.00", "6.54"]);
    assert_eq!(printed(node(&story, "A_racket")), [["0.57", "0.43"], ["0.43", "0.57"]]);
}

#[test]
fn a_reflection_keeps_cosines_and_a_projection_does_not() {
    let story = demo("stretch");
    let mirror = node(&story, "reflection");
    assert_eq!(mirror[(0, 0)] * mirror[(1, 1)] - mirror[(0, 1)] * mirror[(1, 0)], -1.0, "the determinant");
    assert!(close(node(&story, "S_34_reflected"), node(&story, "S_34")));
    assert_eq!(cell(&story, "S_34_projected", "v3", "v4"), -1.0);
}

#[test]
fn an_rnn_takes_a_step_for_each_further_word_and_attention_one() {
    let story = demo("context");
    let (length, rnn) = (node(&story, "length"), node(&story, "rnn_steps"));
    assert!(length.cells().zip(rnn.cells()).all(|(n, steps)| steps == n - 1.0));
    assert!(node(&story, "attention_steps").cells().all(|steps| steps == 1.0));
}
