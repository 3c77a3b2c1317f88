//! The demos `rope`, `alibi`, `cache` and `sink`: their nodes against NumPy (tests/golden/mechanism_demos_1.py), and each of
//! their claims.

use crate::common::attn;
use crate::documents::demo_numbers::{cell, node, number, told};
use attn::elementary::{exp, pow};
use attn::matrix::Matrix;
use attn::story::Story;
use proptest::prelude::*;
use serde_json::Value;

const DEMOS: [&str; 4] = ["rope", "alibi", "cache", "sink"];

/// Everything that the steps say about their numbers.
fn said(story: &Story) -> String {
    story.steps.iter().filter_map(|step| step.notice.clone()).collect::<Vec<_>>().join("\n")
}

/// All sentences, with the headings of the steps.
fn sentences(story: &Story) -> String {
    let headings = story.steps.iter().map(|step| step.text.as_str());
    headings.chain([said(story).as_str()]).collect::<Vec<_>>().join("\n")
}

fn largest(matrix: &Matrix) -> f64 {
    matrix.cells().map(f64::abs).fold(0.0, f64::max)
}

fn sum(matrix: &Matrix) -> f64 {
    matrix.cells().sum()
}

#[test]
fn every_node_that_numpy_computed_is_the_same_here() {
    let golden = crate::golden::json("mechanism_demos_1.json");
    let cases = crate::golden::list(&golden, "cases");
    assert_eq!(cases.len(), 11);
    for demo in DEMOS {
        assert!(cases.iter().any(|case| crate::golden::string(case, "demo") == demo), "{demo}");
    }
    for case in cases {
        let demo = crate::golden::string(case, "demo");
        let value = |value: &Value| match value {
            Value::Array(_) => crate::golden::matrix(value),
            other => number(crate::golden::number(other)),
        };
        let set = case["set"].as_object().unwrap();
        let set: Vec<_> = set.iter().map(|(name, given)| (&name[..], value(given))).collect();
        let story = told(demo, &set).unwrap();
        for (name, theirs) in case["nodes"].as_object().unwrap() {
            crate::golden::assert_close(name, node(&story, name), &crate::golden::matrix(theirs));
        }
    }
}

#[test]
fn the_pairings_give_different_vectors_and_different_scores_with_the_same_weights() {
    let story = told("rope", &[]).unwrap();
    let (halves, neighbours) = (node(&story, "Q_halves"), node(&story, "Q_neighbours"));
    assert!(halves.row(0).eq(neighbours.row(0)), "position 0 is not rotated");
    for row in 1..4 {
        assert!(!halves.row(row).eq(neighbours.row(row)), "row {row}");
    }
    assert!(cell(&story, "gap_pairing") > 5.0);
    assert!(said(&story).contains("The largest error is 5.1425."), "{}", said(&story));
}

#[test]
fn after_the_columns_are_moved_the_rotated_vectors_have_the_same_bits_and_the_scores_are_right() {
    let story = told("rope", &[]).unwrap();
    for (fixed, right) in [("Q_fixed", "Q_neighbours"), ("K_fixed", "K_neighbours")] {
        let (fixed, right) = (node(&story, fixed), node(&story, right));
        for row in 0..4 {
            for (moved, from) in [0, 2, 1, 3].into_iter().enumerate() {
                assert_eq!(fixed[(row, moved)].to_bits(), right[(row, from)].to_bits(), "{row} {moved}");
            }
        }
    }
    assert!(cell(&story, "gap_fixed") < 1e-14);
    assert!(said(&story).contains("exactly the same numbers in another order"));
    // Moved in the wrong way, the scores stay wrong, and nothing is said.
    let unmoved = told("rope", &[("order", Matrix::identity(4))]).unwrap();
    assert!(cell(&unmoved, "gap_fixed") > 5.0);
    assert!(!said(&unmoved).contains("in another order"), "{}", said(&unmoved));
}

#[test]
fn scores_depend_on_the_distance_alone() {
    let story = told("rope", &[]).unwrap();
    let s = node(&story, "S_shifted");
    assert!(cell(&story, "gap_shifted") < 1e-12);
    assert!((s[(1, 0)] - s[(3, 2)]).abs() < 1e-12);
    assert!((s[(1, 0)] - s[(3, 0)]).abs() > 1.0, "another distance has another score");
    assert!(said(&story).contains("as the fourth scores the third: 2.7694."));
}

#[test]
fn the_first_pair_turns_fastest_unless_the_base_is_one() {
    assert!(said(&told("rope", &[]).unwrap()).contains("The first pair turns fastest, by an angle of 1"));
    assert!(!said(&told("rope", &[("base", number(1.0))]).unwrap()).contains("turns fastest"));
}

#[test]
fn linear_scaling_puts_the_score_of_a_near_pair_at_a_far_distance() {
    let story = told("rope", &[]).unwrap();
    let scores = node(&story, "scores");
    for near in 1..=3 {
        assert!((scores[(3 * near - 1, 1)] - scores[(near - 1, 0)]).abs() < 1e-12, "{near}");
    }
    assert!((scores[(8, 1)] - scores[(8, 0)]).abs() > 0.5, "unscaled, the far pair has another score");
    assert!(said(&story).contains("the score at distance 9 is the old one at distance 3"));
    let unscaled = told("rope", &[("factor", number(1.0))]).unwrap();
    assert!(!said(&unscaled).contains("Near words move closer"), "{}", said(&unscaled));
}

#[test]
fn pairs_turn_more_slowly_only_with_a_factor_above_1() {
    let slower = ["all pairs turn more slowly", "no angle is larger than in training"];
    let by_three = sentences(&told("rope", &[]).unwrap());
    let by_one = sentences(&told("rope", &[("factor", number(1.0))]).unwrap());
    for words in slower {
        assert!(by_three.contains(words) && !by_one.contains(words), "{words}");
    }
    assert!(by_one.contains("With the factor 1 every frequency stays as it is."), "{by_one}");
    assert!(!by_three.contains("With the factor 1"));
}

/// The slopes of six and of twelve heads come from the published code of ALiBi (`get_slopes`).
#[test]
fn the_formula_of_slopes_is_told_for_powers_of_two_alone() {
    let formula = "Head h of H has the slope m = 2^(−8h/H).";
    for heads in 1..=32_u32 {
        let text = sentences(&told("alibi", &[("heads", number(f64::from(heads)))]).unwrap());
        assert_eq!(text.contains(formula), heads.is_power_of_two(), "{heads}: {text}");
        assert_eq!(text.contains("is no power of two"), !heads.is_power_of_two(), "{heads}: {text}");
    }
    let six = told("alibi", &[("heads", number(6.0))]).unwrap();
    let before: Vec<f64> = node(&six, "one_step").cells().collect();
    assert_eq!(before, [-0.25, -0.0625, -0.015625, -0.00390625, -0.5, -0.125]);
    let rule =
        "The first 4 heads have the slopes of 4 heads, and the rest have every second slope of 8 heads";
    assert!(said(&six).contains(rule), "{}", said(&six));
}

#[test]
fn one_head_is_told_of_once() {
    let out = attn("demo alibi --set heads=1").ok().out;
    assert!(out.contains("collected from the one head") && !out.contains("the one heads"), "{out}");
    let story = told("alibi", &[("heads", number(1.0))]).unwrap();
    assert!(said(&story).contains("multiplies the weight by e^(−m): by 0.9961.\n"), "{}", said(&story));
}

#[test]
fn equal_scores_decay_by_e_to_the_minus_slope_with_each_step() {
    let story = told("alibi", &[]).unwrap();
    let (a, decay) = (node(&story, "A"), node(&story, "decay"));
    for head in 0..8 {
        let slope = pow(0.5, head as f64 + 1.0);
        for j in 0..5 {
            assert!((a[(head, j)] / a[(head, j + 1)] - exp(-slope)).abs() < 1e-12);
        }
        assert!((decay[(head, 0)] - exp(-slope)).abs() < 1e-15);
    }
    assert!(said(&story).contains("by 0.6065 in head 1, by 0.9961 in head 8."));
    let uneven = Matrix::of([[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]]);
    assert!(!said(&told("alibi", &[("S", uneven)]).unwrap()).contains("e^(−m)"));
}

#[test]
fn a_head_with_a_steep_slope_gives_most_to_the_neighbour_and_a_flat_one_to_the_best_fit() {
    let story = told("alibi", &[]).unwrap();
    let a = node(&story, "A_fits");
    let top = |head: usize| (0..6).max_by(|&i, &j| a[(head, i)].total_cmp(&a[(head, j)])).unwrap();
    assert_eq!((top(0), top(7)), (4, 1), "shelf, keys");
    assert!(said(&story).contains("head 8 with its flat slope gives it most, 0.52."));
}

#[test]
fn a_steep_head_gives_words_far_away_next_to_nothing_in_a_longer_text() {
    let far = |tokens: f64| node(&told("alibi", &[("tokens", number(tokens))]).unwrap(), "far").clone();
    for tokens in [12.0, 24.0, 200.0] {
        // Σ_{d ≥ 6} e^(−d/2) / Σ e^(−d/2) is at most e^(−3).
        assert!(far(tokens)[(0, 0)] < exp(-3.0), "{tokens}");
    }
    assert!(far(200.0)[(0, 7)] > 0.9);
}

#[test]
fn token_by_token_gives_the_rows_of_the_whole_text_to_the_last_bit() {
    let story = told("cache", &[]).unwrap();
    assert!(node(&story, "O_cached").same_bits(node(&story, "O")));
    assert!(node(&story, "K_cache_rotated").same_bits(node(&story, "K_rotated")));
    for word in 1..=4 {
        assert_eq!(node(&story, &format!("q_{word}")).rows(), 1, "one query for each word");
        let cached = node(&story, &format!("K_cache_{word}"));
        assert_eq!(cached.rows(), word);
        for row in 0..word {
            assert!(cached.row(row).eq(node(&story, "K").row(row)));
        }
    }
    assert!(said(&story).contains("Every row is the row of the whole text, to the last bit."));
}

#[test]
fn the_cache_saves_the_multiplications_of_the_formula() {
    let story = told("cache", &[]).unwrap();
    let (d, d_k, d_v) = (3.0, 2.0, 2.0);
    for t in 1..=4 {
        let with = d * (2.0 * d_k + d_v) + t as f64 * (d_k + d_v);
        assert_eq!(node(&story, "with_cache")[(t - 1, 0)], with);
        assert_eq!(node(&story, "without_cache")[(t - 1, 0)], t as f64 * with);
    }
    assert!(said(&story).contains("that is 300 in place of 112."), "{}", said(&story));
}

/// For each text of t words: the products of its rows with the weights, then scores and outputs as whole t×t products.
#[test]
fn without_the_cache_the_products_with_masked_keys_are_counted() {
    let story = told("cache", &[]).unwrap();
    let (d, d_k, d_v) = (3.0, 2.0, 2.0);
    let whole = |t: f64| t * d * (2.0 * d_k + d_v) + t * t * d_k + t * t * d_v;
    assert_eq!((1..=4).map(|t| whole(f64::from(t))).sum::<f64>(), 300.0);
    assert_eq!(node(&story, "total")[(0, 1)], 300.0);
    assert!(
        said(&story).contains("each reads all t keys, also those that the mask hides"),
        "{}",
        said(&story)
    );
}

#[test]
fn one_word_is_told_of_in_the_singular() {
    let out = attn("demo cache --set").arg("X=1 0 1").ok().out;
    assert!(out.contains("collected from the one word") && !out.contains("the one words"), "{out}");
}

#[test]
fn a_mebibyte_cannot_be_set() {
    attn("demo cache --set MiB=5").refused(&["`MiB` is computed, not given"]);
    let story = told("cache", &[]).unwrap();
    assert_eq!(cell(&story, "MiB"), 1024.0 * 1024.0);
    assert!(said(&story).contains("the cache has 4480 MiB, more than the weights with 1137 MiB."));
}

#[test]
fn the_bytes_of_the_cache_are_those_that_params_counts() {
    let story = told("cache", &[]).unwrap();
    let model = &attn::params::named("qwen3-0.6b").unwrap()[0];
    let counted = attn::params::cache(model, 40960, 2).unwrap().bytes;
    assert_eq!(cell(&story, "cache_bytes"), counted as f64);
    // Published: 0.6 B parameters, and 112 KiB of keys and values for each token.
    assert_eq!((cell(&story, "parameters"), cell(&story, "token_bytes")), (596_049_920.0, 112.0 * 1024.0));
    let shorter = told("cache", &[("context", number(1000.0))]).unwrap();
    assert!(!said(&shorter).contains("more than the weights"), "{}", said(&shorter));
}

#[test]
fn a_query_that_fits_nothing_still_gives_out_the_whole_weight() {
    let story = told("sink", &[]).unwrap();
    assert!(node(&story, "A_none").cells().all(|weight| weight == 1.0 / 6.0));
    for weights in ["A_none", "A", "A_window", "A_kept"] {
        assert!((sum(node(&story, weights)) - 1.0).abs() < 1e-15, "{weights}");
    }
    let each = node(&story, "A_each");
    assert!((0..6).all(|row| each[(row, 0)] >= each[(5, 0)] && each[(row, 0)] > 0.9));
}

#[test]
fn a_window_without_the_first_token_changes_the_output_and_the_kept_token_repairs_it() {
    let story = told("sink", &[]).unwrap();
    assert_eq!(node(&story, "A_window")[(0, 0)], 0.0);
    let (without, with) = (cell(&story, "gap_window"), cell(&story, "gap_kept"));
    assert!(without > 3.0 && with < 0.1, "{without} {with}");
    assert!(
        said(&story).contains("With it the output is off by 0.0821, without it by 3.132."),
        "{}",
        said(&story)
    );
    let wide = told("sink", &[("window", number(6.0))]).unwrap();
    assert!(!said(&wide).contains("is off by"), "{}", said(&wide));
}

#[test]
fn with_a_learned_sink_rows_sum_to_less_than_one_and_minus_infinity_is_the_usual_softmax() {
    let story = told("sink", &[]).unwrap();
    assert!((sum(node(&story, "A_sink")) - 6.0 / (6.0 + exp(4.0))).abs() < 1e-15);
    assert!(node(&story, "A_off").same_bits(node(&story, "A_none")));
    assert!(node(&story, "A_zero").cells().all(|weight| (weight - 1.0 / 7.0).abs() < 1e-16));
    assert!(said(&story).contains("The weights of the tokens sum to 0.1, so a head can stay silent"));
    let none = told("sink", &[("sink", number(f64::NEG_INFINITY))]).unwrap();
    assert!(!said(&none).contains("stay silent"), "{}", said(&none));
    assert!(largest(node(&story, "O_sink")) < 0.2);
}

#[test]
fn a_sink_makes_the_output_small_only_where_all_three_sinks_do() {
    let words = "A sink makes the output small against that of “nothing fits”";
    assert!(said(&told("sink", &[]).unwrap()).contains(words));
    let row = |cells: [f64; 6]| Matrix::of([cells]);
    for set in [
        vec![("sink", number(-3.0))],
        vec![("sink", number(f64::NEG_INFINITY))],
        vec![("S_none", row([0.0, 0.0, 0.0, 0.0, 0.0, 9.0]))],
        vec![("S", row([0.0, 4.0, 0.0, 0.0, 0.0, 0.0]))],
        vec![("S_none", row([-3.0; 6])), ("sink", number(-4.0))],
        vec![("window", number(6.0))],
        vec![("V", Matrix::filled(6, 2, 1.0))],
    ] {
        let story = told("sink", &set).unwrap();
        assert!(!said(&story).contains("makes the output small"), "{set:?}: {}", said(&story));
    }
}

#[test]
fn what_the_demos_cannot_be_told_about_is_refused() {
    for (set, words) in [
        ("rope --set W_Q='1 2 3; 4 5 6'", &["W_Q is 2×3", "pairs of columns"][..]),
        ("rope --set factor=17", &["factor must be one whole number from 1 to 16"]),
        ("rope --set base=0", &["base must be one whole number"]),
        ("alibi --set S='1 2; 3 4'", &["S is 2×2", "one query"]),
        ("alibi --set heads=0", &["heads must be one whole number from 1 to 32"]),
        ("alibi --set tokens=6", &["tokens must be more than the 6 words of S"]),
        ("cache --set X=17x3.npy", &["17x3.npy"]),
        ("sink --set S_none='1 2; 3 4'", &["S_none is 2×2", "one query"]),
        ("sink --set window=1.5", &["window must be one whole number"]),
    ] {
        attn(&format!("demo {set}")).refused(words);
    }
    let long = told("cache", &[("X", Matrix::filled(17, 3, 1.0))]).unwrap_err().to_string();
    assert!(long.contains("17 rows") && long.contains("1 to 16 words"), "{long}");
}

#[test]
fn a_users_matrix_of_another_shape_works_or_is_an_ordinary_error() {
    for name in DEMOS {
        let own = told(name, &[]).unwrap();
        for (_, given) in own.graph.nodes().filter(|(_, node)| node.op.is_given()) {
            for (rows, cols) in [(0, 0), (1, 0), (0, 3), (1, 1), (1, 5), (5, 1), (2, 4), (6, 2), (9, 9)] {
                let Err(error) = told(name, &[(&given.name, Matrix::filled(rows, cols, 3.0))]) else {
                    continue;
                };
                let said = error.to_string();
                assert!(
                    !said.contains("a sentence of this demo"),
                    "{name} {} {rows}×{cols}: {said}",
                    given.name
                );
            }
        }
    }
}

#[test]
fn each_demo_is_found_by_its_keywords_and_has_a_term_in_the_glossary() {
    for (word, demo) in [
        ("rotary", "rope"),
        ("interleaved", "rope"),
        ("slope", "alibi"),
        ("kv-cache", "cache"),
        ("streaming", "sink"),
    ] {
        let about: Vec<&str> = attn::demo::demos_about(word).iter().map(|demo| demo.name).collect();
        assert!(about.contains(&demo), "{word}: {about:?}");
    }
    for (term, demo) in
        [("rotary pairing", "rope"), ("ALiBi", "alibi"), ("KV cache", "cache"), ("attention sink", "sink")]
    {
        let see = &attn::demo::term(term).unwrap().see;
        assert!(see.contains(&&*format!("attn demo {demo}")), "{term}: {see:?}");
    }
}

/// A text of random words, and a head of random weights whose width is even.
fn text_and_head() -> impl Strategy<Value = [Matrix; 4]> {
    (1..7_usize, 1..4_usize, 1..4_usize).prop_flat_map(|(words, d, pairs)| {
        let matrix = |rows: usize, cols: usize| {
            proptest::collection::vec(-3.0..3.0_f64, rows * cols)
                .prop_map(move |cells| Matrix::from_row_major(rows, cols, &cells).unwrap())
        };
        [matrix(words, d), matrix(d, 2 * pairs), matrix(d, 2 * pairs), matrix(d, 3)]
            .into_iter()
            .collect::<Vec<_>>()
            .prop_map(|all| all.try_into().unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn with_any_weights_moved_columns_and_shifted_positions_keep_the_scores(
        [x, w_q, w_k, _] in text_and_head(), base in 2..20_000_usize, shift in 1..500_usize,
    ) {
        let set = [("X", x), ("W_Q", w_q), ("W_K", w_k), ("base", number(base as f64)), ("shift", number(shift as f64))];
        let story = told("rope", &set).unwrap();
        prop_assert!(cell(&story, "gap_order") == 0.0);
        prop_assert!(cell(&story, "gap_fixed") < 1e-10);
        prop_assert!(cell(&story, "gap_shifted") < 1e-9);
    }

    #[test]
    fn with_any_weights_the_cache_gives_the_bits_of_the_whole_text([x, w_q, w_k, w_v] in text_and_head()) {
        let story = told("cache", &[("X", x), ("W_Q", w_q), ("W_K", w_k), ("W_V", w_v)]).unwrap();
        prop_assert!(cell(&story, "gap_rows") == 0.0);
        prop_assert!(cell(&story, "gap_rotated") == 0.0);
    }

    #[test]
    fn any_sink_takes_its_part_and_leaves_the_ratios_of_the_weights(
        scores in proptest::collection::vec(-5.0..5.0_f64, 6), sink in -5.0..5.0_f64,
    ) {
        let story = told("sink", &[("S_none", Matrix::from_row_major(1, 6, &scores).unwrap()), ("sink", number(sink))]).unwrap();
        let (with, usual) = (node(&story, "A_sink"), node(&story, "A_none"));
        let total = sum(with);
        prop_assert!(total < 1.0);
        for (a, b) in with.cells().zip(usual.cells()) {
            prop_assert!((a / total - b).abs() < 1e-12);
        }
    }
}
