//! The demos `latent`, `linear` and `differential` against NumPy (tests/golden/mechanism_demos_2.py), and what they claim; their
//! steps as ops against transformers (tests/golden/mechanisms.py).

mod memories;
mod transformers;

use crate::common::attn;
use crate::documents::demo_numbers::{cell, node, told};
use attn::matrix::Matrix;
use attn::story::Story;
use proptest::prelude::*;

const DEMOS: [&str; 3] = ["latent", "linear", "differential"];

/// The sentences that follow from the numbers.
fn notices(story: &Story) -> String {
    story.steps.iter().filter_map(|step| step.notice.clone()).collect::<Vec<_>>().join(" ")
}

/// The largest difference between two nodes.
fn apart(story: &Story, a: &str, b: &str) -> f64 {
    let (a, b) = (node(story, a), node(story, b));
    assert_eq!(a.shape(), b.shape());
    a.cells().zip(b.cells()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn every_node_that_numpy_computed_is_the_same_here() {
    let golden = crate::golden::json("mechanism_demos_2.json");
    let cases = crate::golden::list(&golden, "cases");
    assert_eq!(cases.len(), 9);
    let mut compared = 0;
    for case in cases {
        let demo = crate::golden::string(case, "demo");
        let set = case["set"].as_object().unwrap();
        let set: Vec<_> = set.iter().map(|(name, rows)| (&name[..], crate::golden::matrix(rows))).collect();
        let story = told(demo, &set).unwrap();
        for (name, theirs) in case["nodes"].as_object().unwrap() {
            let what = format!("{demo} {name}");
            crate::golden::assert_close(&what, node(&story, name), &crate::golden::matrix(theirs));
            compared += 1;
        }
    }
    assert!(compared > 160, "{compared}");
}

#[test]
fn a_users_matrix_of_another_shape_works_or_is_an_ordinary_error() {
    for name in DEMOS {
        let own = told(name, &[]).unwrap();
        for (_, given) in own.graph.nodes().filter(|(_, node)| node.op.is_given()) {
            for (rows, cols) in [(0, 0), (1, 0), (0, 3), (1, 1), (1, 5), (5, 1), (4, 4), (8, 5), (70, 2)] {
                let Err(error) = told(name, &[(&given.name, Matrix::filled(rows, cols, 3.0))]) else {
                    continue;
                };
                let said = error.to_string();
                let what = format!("{name} {} {rows}×{cols}: {said}", given.name);
                assert!(!said.contains("a sentence of this demo"), "{what}");
            }
        }
    }
}

#[test]
fn what_the_demos_cannot_be_told_about_is_refused() {
    attn("demo linear --set").arg(format!("K={}", "1 2;".repeat(65))).refused(&["K has 65 rows", "1 to 64"]);
    attn("demo linear --set").arg("beta=1 2").refused(&["beta must be one number from 0 to 1"]);
    for (name, outside) in [("g", "2"), ("g", "-3"), ("g", "-inf"), ("beta", "5"), ("beta", "-0.1")] {
        let range = format!("{name} must be one number from 0 to 1");
        attn("demo linear --set").arg(format!("{name}={outside}")).refused(&[&range]);
    }
    attn("demo linear --set d=0.5").refused(&["d must be one whole number from 1 to 65536"]);
    attn("demo differential --set")
        .arg("layers=1 0")
        .refused(&["layers must be whole numbers from 1 to 1000"]);
    attn("demo differential --set layer=0").refused(&["layer must be one whole number from 1 to 1000"]);
    let odd = &["W_UK is 2×3, but its columns are shared by two heads", "an even number of columns"];
    attn("demo latent --set").arg("W_UK=1 2 3; 4 5 6").refused(odd);
    attn("demo differential --set")
        .arg("W_K=1; 2; 3")
        .refused(&["W_K is 3×1, but its columns are cut into two halves"]);
}

#[test]
fn the_cache_of_latent_attention_is_as_wide_as_the_latent_and_the_rotary_key_together() {
    let story = told("latent", &[]).unwrap();
    let cache = node(&story, "cache");
    assert_eq!(cell(&story, "numbers"), cache.cols() as f64);
    assert_eq!(cell(&story, "numbers_of_heads"), node(&story, "cache_of_heads").cols() as f64);
    // 512 + 64 against 2 · 128 · 128: the widths in the configuration of DeepSeek-V3.
    assert_eq!([cell(&story, "cached_latent"), cell(&story, "cached_heads")], [576.0, 32768.0]);
    assert!(notices(&story).contains("576 numbers instead of 32768, 57 times fewer"), "{}", notices(&story));
    let other = told("latent", &[("H", Matrix::filled(1, 1, 8.0))]).unwrap();
    assert!(!notices(&other).contains("DeepSeek-V3"), "{}", notices(&other));
}

#[test]
fn the_position_of_a_key_reaches_every_head_through_the_one_rotary_key() {
    let without = told("latent", &[("W_KR", Matrix::filled(4, 2, 0.0))]).unwrap();
    let with = told("latent", &[]).unwrap();
    for head in 1..=2 {
        let [scores, weights] = ["S_R", "A"].map(|name| format!("{name}_{head}"));
        assert!(node(&without, &scores).cells().all(|x| x == 0.0));
        assert!(!node(&with, &weights).same_bits(node(&without, &weights)), "head {head}");
    }
}

#[test]
fn the_memory_of_linear_attention_does_not_grow_with_the_text() {
    let story = told("linear", &[]).unwrap();
    let shapes: Vec<_> = (1..=4).map(|t| node(&story, &format!("state_{t}")).shape()).collect();
    assert!(shapes.iter().all(|shape| *shape == shapes[0]), "{shapes:?}");
    let in_state: Vec<f64> = node(&story, "in_state").cells().collect();
    assert!(in_state.iter().all(|&numbers| numbers == 128.0 * 128.0 + 128.0), "{in_state:?}");
    let cache: Vec<f64> = node(&story, "in_cache").cells().collect();
    assert!(cache.windows(2).all(|pair| pair[0] < pair[1]), "{cache:?}");
}

#[test]
fn adding_keeps_both_values_of_a_key_and_the_delta_rule_only_the_second() {
    let story = told("linear", &[]).unwrap();
    let row = |name: &str, row: usize| node(&story, name).row(row).collect::<Vec<_>>();
    assert_eq!([row("recalled", 0), row("recalled", 1)], [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]);
    assert_eq!([row("recalled_delta", 0), row("recalled_delta", 1)], [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]);
    assert_eq!([row("recalled_gated", 0), row("recalled_gated", 1)], [[0.0, 0.0, 1.0], [0.0, 0.5, 0.0]]);
}

#[test]
fn with_a_gate_of_1_nothing_is_forgotten_and_with_0_all_but_the_last_fact() {
    let open = told("linear", &[("g", Matrix::filled(1, 1, 1.0))]).unwrap();
    assert!(node(&open, "recalled_gated").same_bits(node(&open, "recalled_delta")));
    assert!(notices(&open).contains("With g = 1 nothing is forgotten."));
    let shut = told("linear", &[("g", Matrix::filled(1, 1, 0.0))]).unwrap();
    assert_eq!(node(&shut, "recalled_gated").row(1).collect::<Vec<_>>(), [0.0; 3]);
    assert!(!notices(&shut).contains("With g = 1"));
}

#[test]
fn a_key_returns_its_value_and_nothing_else_only_at_right_angles_to_all_other_keys() {
    let words = "so it returns Rome and nothing else";
    assert!(notices(&told("linear", &[]).unwrap()).contains(words));
    let k = Matrix::of([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]);
    let story = told("linear", &[("K_facts", k)]).unwrap();
    assert_eq!(node(&story, "recalled").row(1).collect::<Vec<_>>(), [0.0, 1.0, 1.0]);
    assert!(!notices(&story).contains(words), "{}", notices(&story));
}

#[test]
fn keys_are_said_to_overlap_only_where_they_do() {
    let overlap = |story: Story| story.steps.iter().any(|step| step.text.contains("with keys that overlap"));
    assert!(overlap(told("linear", &[]).unwrap()));
    assert!(!overlap(told("linear", &[("K_near", Matrix::identity(2))]).unwrap()));
}

#[test]
fn one_token_and_one_fact_are_told_of_in_the_singular() {
    let one = [
        "--set",
        "Q=1 0",
        "--set",
        "K=1 0",
        "--set",
        "V=1 0",
        "--set",
        "K_facts=1 0",
        "--set",
        "V_facts=1 0 0",
        "--set",
        "K_near=1 0",
    ];
    let mut demo = attn("demo linear");
    for word in one {
        demo = demo.arg(word);
    }
    let out = demo.ok().out;
    for what in ["token", "fact"] {
        assert!(
            out.contains(&format!("the one {what}")) && !out.contains(&format!("the one {what}s")),
            "{out}"
        );
    }
}

#[test]
fn at_the_ends_of_their_range_the_parts_are_told_truly() {
    for (g, kept) in [(0.0, "so 0 of it is left"), (1.0, "so 1 of it is left")] {
        let story = told("linear", &[("g", Matrix::filled(1, 1, g))]).unwrap();
        assert_eq!(node(&story, "recalled_gated").row(1).collect::<Vec<_>>(), [0.0, g, 0.0]);
        assert!(notices(&story).contains(kept), "{}", notices(&story));
    }
    let unwritten = told("linear", &[("beta", Matrix::filled(1, 1, 0.0))]).unwrap();
    assert!(node(&unwritten, "recalled_delta").cells().all(|x| x == 0.0));
    for words in ["exactly Rome", "returns Berlin alone", "is left"] {
        assert!(!notices(&unwritten).contains(words), "{}", notices(&unwritten));
    }
}

#[test]
fn weights_that_are_0_over_0_are_explained() {
    let words = ["The quotient 0 / 0 is NaN.", "gets NaN here too: φ(q) · norm is 0."];
    let own = notices(&told("linear", &[]).unwrap());
    assert!(
        own.contains("All features are positive") && words.iter().all(|words| !own.contains(words)),
        "{own}"
    );
    let far = Matrix::filled(4, 2, -800.0);
    for set in [vec![("Q", far.clone()), ("K", far.clone())], vec![("K", far)]] {
        let story = told("linear", &set).unwrap();
        assert!(node(&story, "A").cells().all(f64::is_nan));
        let said = notices(&story);
        assert!(words.iter().all(|words| said.contains(words)), "{said}");
        assert!(!said.contains("All features are positive"), "{said}");
    }
    let unknown = notices(&told("linear", &[("K", Matrix::filled(4, 2, f64::NAN))]).unwrap());
    assert!(words.iter().all(|words| !unknown.contains(words)), "another reason: {unknown}");
}

#[test]
fn a_start_that_is_printed_as_0_8_is_said_to_be_rounded() {
    let layers =
        |cells: [f64; 3]| notices(&told("differential", &[("layers", Matrix::of([cells]))]).unwrap());
    let late = layers([1.0, 2.0, 200.0]);
    assert!(
        late.contains("Where the table has 0.8, it is rounded") && !late.contains("never reaches"),
        "{late}"
    );
    assert!(!layers([1.0, 2.0, 30.0]).contains("it is rounded"));
    assert!(notices(&told("differential", &[]).unwrap()).contains("never reaches 0.8."));
}

#[test]
fn sentences_about_the_first_numbers_are_silent_for_others() {
    let quiet = |demo: &str, set: (&str, Matrix), words: &str| {
        assert!(notices(&told(demo, &[]).unwrap()).contains(words), "{demo} never says {words}");
        let said = notices(&told(demo, &[set]).unwrap());
        assert!(!said.contains(words), "{demo}: {said}");
    };
    quiet("linear", ("K_near", Matrix::identity(2)), "blurred");
    quiet("linear", ("beta", Matrix::filled(1, 1, 0.5)), "returns Berlin alone");
    quiet("differential", ("layer", Matrix::filled(1, 1, 2.0)), "In the first layer");
    quiet("differential", ("W_Q", Matrix::filled(3, 4, 0.0)), "it cancels");
    quiet("latent", ("W_KR", Matrix::filled(4, 2, 0.0)), "hold its position");
}

#[test]
fn the_second_softmax_brings_negative_weights_and_takes_the_noise_away() {
    let story = told("differential", &[]).unwrap();
    assert!(node(&story, "A").cells().any(|weight| weight < 0.0));
    let sat = 3;
    for noise in [0, 2] {
        let (before, after) = (node(&story, "A_1")[(sat, noise)], node(&story, "A")[(sat, noise)]);
        assert!(after.abs() < before / 10.0, "{before} {after}");
    }
    assert!(node(&story, "A")[(sat, 1)] > 0.9 * node(&story, "A_1")[(sat, 1)]);
    assert!(node(&story, "A_ordinary").same_bits(node(&story, "A_1")));
}

/// A matrix of numbers of this size at most.
fn matrix(rows: usize, cols: usize, size: f64) -> impl Strategy<Value = Matrix> {
    proptest::collection::vec(-size..size, rows * cols)
        .prop_map(move |cells| Matrix::from_row_major(rows, cols, &cells).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn absorbed_latent_attention_is_expanded_latent_attention(
        x in matrix(5, 4, 2.0), down in matrix(4, 3, 2.0), gain in matrix(1, 3, 2.0), up_k in matrix(3, 4, 2.0),
        up_v in matrix(3, 6, 2.0), q in matrix(4, 8, 2.0), k in matrix(4, 2, 2.0),
    ) {
        let set = [("X", x), ("W_DKV", down), ("g_KV", gain), ("W_UK", up_k), ("W_UV", up_v), ("W_Q", q), ("W_KR", k)];
        let story = told("latent", &set).unwrap();
        prop_assert!(apart(&story, "O", "O_absorbed") < 1e-11);
        for head in 1..=2 {
            let weights = apart(&story, &format!("A_{head}"), &format!("A_absorbed_{head}"));
            prop_assert!(weights < 1e-11, "{}", weights);
        }
    }

    #[test]
    fn linear_attention_token_by_token_is_linear_attention_at_once(
        q in matrix(6, 3, 3.0), k in matrix(6, 3, 3.0), v in matrix(6, 2, 3.0),
    ) {
        let story = told("linear", &[("Q", q), ("K", k), ("V", v)]).unwrap();
        prop_assert!(apart(&story, "O", "O_recurrent") < 1e-12);
    }

    /// The rows of a rotation of the plane are such keys. What the memory held before is gone.
    #[test]
    fn the_delta_rule_returns_the_values_of_keys_at_right_angles(
        angle in 0.0..6.3_f64, v in matrix(2, 3, 5.0), before in matrix(2, 3, 5.0),
    ) {
        let (sin, cos) = (attn::elementary::sin(angle), attn::elementary::cos(angle));
        let k = Matrix::of([[cos, sin], [-sin, cos]]);
        let story = told("linear", &[("K_facts", k), ("V_facts", v.clone()), ("memory_0", before)]).unwrap();
        for (a, b) in node(&story, "recalled_delta").cells().zip(v.cells()) {
            prop_assert!((a - b).abs() < 1e-13, "{} {}", a, b);
        }
    }

    #[test]
    fn rows_of_differential_weights_sum_to_1_minus_lambda(
        x in matrix(4, 3, 2.0), q in matrix(3, 4, 2.0), k in matrix(3, 4, 2.0), learned in matrix(1, 2, 1.0), layer in 1..40_u32,
    ) {
        let layer = Matrix::filled(1, 1, f64::from(layer));
        let set = [("X", x), ("W_Q", q), ("W_K", k), ("lambda_q1", learned), ("layer", layer)];
        let story = told("differential", &set).unwrap();
        let rest = 1.0 - cell(&story, "lambda");
        prop_assert!(node(&story, "row_sums").cells().all(|sum| (sum - rest).abs() < 1e-12));
        let (start, last) = (cell(&story, "lambda_init"), node(&story, "O_scaled"));
        prop_assert!((0.19..0.8).contains(&start));
        let largest = (1.0 - start) * 2.0;
        prop_assert!(last.cells().all(|x| x.abs() <= largest), "a normed row of 4 cells has none beyond 2");
    }
}
