//! The demos of papers against NumPy (tests/golden/papers.py), against the definition of the softmax, and against the words
//! of the masks.

use crate::common::attn;
use crate::documents::demo_numbers::{cell, node, number, told};
use attn::matrix::Matrix;
use attn::story::StepItem;
use proptest::prelude::*;

#[test]
fn every_node_that_numpy_computed_is_the_same_here() {
    let golden = crate::golden::json("papers.json");
    let cases = crate::golden::list(&golden, "cases");
    assert_eq!(cases.len(), 10);
    for case in cases {
        let demo = crate::golden::string(case, "demo");
        let set = case["set"].as_object().unwrap();
        let set: Vec<_> =
            set.iter().map(|(name, value)| (&name[..], number(crate::golden::number(value)))).collect();
        let story = told(demo, &set).unwrap();
        for (name, theirs) in case["nodes"].as_object().unwrap() {
            crate::golden::assert_close(name, node(&story, name), &crate::golden::matrix(theirs));
        }
    }
}

#[test]
fn the_running_max_moves_in_the_second_and_last_block_only() {
    let story = told("online", &[]).unwrap();
    assert_eq!(node(&story, "max").cells().collect::<Vec<_>>(), [2.0, 4.0, 4.0, 5.0]);
    assert!(cell(&story, "factor_2") < 1.0 && cell(&story, "factor_4") < 1.0);
    assert_eq!(cell(&story, "factor_3"), 1.0);
    assert!(node(&story, "mix_kept_3").same_bits(node(&story, "mix_2")));
}

#[test]
fn the_largest_difference_is_the_one_between_the_two_results_and_no_more_than_rounding() {
    let story = told("online", &[]).unwrap();
    let apart = |ours: &str, plain: &str| {
        let cells = node(&story, ours).cells().zip(node(&story, plain).cells().collect::<Vec<_>>());
        cells.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let max = apart("O_online", "O").max(apart("A_online", "A"));
    assert_eq!(cell(&story, "largest"), max);
    // The two round differently; a difference of exactly 0 would leave nothing to speak of.
    assert!(max > 0.0 && max < 1e-14, "{max:e}");
}

#[test]
fn hidden_keys_weigh_nothing_also_where_they_fill_the_first_blocks() {
    let hidden = f64::NEG_INFINITY;
    let scores = Matrix::of([[hidden, hidden, hidden, hidden, 1.0, hidden, hidden, hidden]]);
    let story = told("online", &[("S", scores)]).unwrap();
    assert!(
        node(&story, "O_online").same_bits(&crate::common::steps::rows(node(&story, "V"), 4, 1).unwrap())
    );
    assert_eq!(cell(&story, "largest"), 0.0);
    let finite = |name: &str| node(&story, name).cells().all(f64::is_finite);
    assert!(["sum", "mix", "A_online", "O_online"].into_iter().all(finite));
}

#[test]
fn what_the_demos_cannot_be_told_about_is_refused() {
    for (set, words) in [
        ("S=1 2; 3 4", &["S is 2×2", "one row of scores"][..]),
        ("S=-inf -inf", &["no finite score"]),
        ("block=0", &["block must be one whole number from 1 to 2048"]),
        ("block=2.5", &["whole number"]),
        ("block=2 2", &["whole number"]),
        ("V=1 2; 3 4", &["V_2", "rows 3 to 4"]),
    ] {
        attn("demo online --set").arg(set).refused(words);
    }
    let long = told("online", &[("S", Matrix::filled(1, 2000, 1.0))]).unwrap_err().to_string();
    assert!(long.contains("2000 keys in blocks of 2"), "{long}");
    for set in ["tokens=257", "tokens=-1", "window=0", "block_keys=1e300", "block_queries=-inf"] {
        attn("demo blocks --set").arg(set).refused(&["must be one whole number from 1 to 256"]);
    }
}

#[test]
fn a_users_matrix_of_another_shape_works_or_is_an_ordinary_error() {
    for name in ["online", "blocks"] {
        let own = told(name, &[]).unwrap();
        for (_, given) in own.graph.nodes().filter(|(_, node)| node.op.is_given()) {
            for (rows, cols) in [(0, 0), (1, 0), (0, 3), (1, 1), (1, 5), (5, 1), (8, 5), (9, 9)] {
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
fn the_kinds_of_blocks_in_words_are_those_of_the_numbers() {
    let story = told("blocks", &[("tokens", number(9.0)), ("window", number(5.0))]).unwrap();
    let tables = story.steps.iter().flat_map(|step| &step.shown).filter_map(|shown| match shown {
        StepItem::Table(table) => Some(table),
        _ => None,
    });
    let tables: Vec<_> = tables.collect();
    assert_eq!(tables.len(), 2);
    for (table, kind) in tables.into_iter().zip(["kind", "kind_window"]) {
        assert_eq!(table.header, ["block", "1…2", "3…4", "5…6", "7…8", "9"]);
        let kind = node(&story, kind);
        assert!([0.0, 1.0, 2.0].into_iter().all(|each| kind.cells().any(|x| x == each)));
        for (i, row) in table.rows.iter().enumerate() {
            let words = kind.row(i).map(|x| ["empty", "mixed", "full"][x as usize]);
            assert!(row[1..].iter().eq(words.collect::<Vec<_>>()), "{row:?}");
        }
    }
    let many = told("blocks", &[("tokens", number(16.0))]).unwrap();
    assert!(many.steps.iter().flat_map(|step| &step.shown).all(|shown| !matches!(shown, StepItem::Table(_))));
}

#[test]
fn a_table_of_columns_ends_in_a_row_of_sums_only_where_there_are_any() {
    let out = attn("demo online").ok().out;
    let sums = |from: &str, to: &str| {
        let part = out.split_once(from).unwrap().1.split_once(to).unwrap().0;
        part.lines().filter(|line| line.starts_with("   │ sum ")).count()
    };
    assert_eq!(sums("P_1 = exp", "mix_1 (1×2) ="), 1);
    assert_eq!(sums("A_online = exp_all / sum_4", "9  The plain softmax"), 0);
}

#[test]
fn the_list_has_the_demos_of_papers_with_their_algorithms_and_no_document_has_them() {
    let list = attn("demo --by-document --width 200").ok().out;
    let papers = list.split_once("\nPapers\n").expect("a heading").1;
    for words in
        ["Milakov and Gimelshein 2018, Algorithm 3; Dao et al. 2022, Algorithm 1", "Dao 2023, section 3.1.1"]
    {
        assert!(papers.contains(words), "no `{words}` in\n{papers}");
    }
    for document in ["000", "001", "002", "003", "004"] {
        let played = attn("demo --document").arg(document).ok().out;
        assert!(!played.contains("FlashAttention"), "{document}");
    }
    let all = attn("demo --all").ok().out;
    assert!(all.contains("10 Both ways compared.") && all.contains("calculation for softmax”,"), "{all}");
}

/// One row of scores, some of them hidden, and a value of width 3 for each.
fn scores_and_values() -> impl Strategy<Value = (Matrix, Matrix)> {
    (1..20_usize).prop_flat_map(|keys| {
        let score = prop_oneof![4 => -30.0..30.0_f64, 1 => Just(f64::NEG_INFINITY), 1 => Just(2.0)];
        let scores = proptest::collection::vec(score, keys)
            .prop_filter("a finite score", |row| row.iter().any(|x| x.is_finite()));
        let values = proptest::collection::vec(-5.0..5.0_f64, 3 * keys);
        let matrices = move |(scores, values): (Vec<f64>, Vec<f64>)| {
            let matrix = |rows, cols, cells: &[f64]| Matrix::from_row_major(rows, cols, cells).unwrap();
            (matrix(1, keys, &scores), matrix(keys, 3, &values))
        };
        (scores, values).prop_map(matrices)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn blocks_of_any_length_give_the_softmax((s, v) in scores_and_values(), length in 1..25_usize) {
        let keys = s.cols();
        let story = told("online", &[("S", s.clone()), ("V", v.clone()), ("block", number(length as f64))]).unwrap();
        // From the definition: no maximum, no blocks. Scores of at most 30 do not overflow.
        let powers: Vec<f64> = s.cells().map(attn::elementary::exp).collect();
        let sum: f64 = powers.iter().sum();
        for (j, power) in powers.iter().enumerate() {
            prop_assert!((node(&story, "A_online")[(0, j)] - power / sum).abs() < 1e-13);
        }
        for j in 0..3 {
            let output: f64 = (0..keys).map(|i| powers[i] / sum * v[(i, j)]).sum();
            prop_assert!((node(&story, "O_online")[(0, j)] - output).abs() < 1e-12);
        }
        prop_assert_eq!(node(&story, "max").rows(), keys.div_ceil(length));
        prop_assert!(cell(&story, "largest") < 1e-12);
    }

    #[test]
    fn what_is_skipped_holds_no_pair_that_anybody_may_look_at(
        tokens in 1..14_usize, block_queries in 1..6_usize, block_keys in 1..6_usize, window in 1..16_usize,
    ) {
        let set = [("tokens", tokens), ("block_queries", block_queries), ("block_keys", block_keys), ("window", window)];
        let story = told("blocks", &set.map(|(name, value)| (name, number(value as f64)))).unwrap();
        let (causal, sliding) = (node(&story, "kind"), node(&story, "kind_window"));
        for (i, j) in (0..tokens).flat_map(|i| (0..tokens).map(move |j| (i, j))) {
            let at = (i / block_queries, j / block_keys);
            for (kind, sees) in [(causal, j <= i), (sliding, j <= i && i - j < window)] {
                prop_assert!(if sees { kind[at] > 0.0 } else { kind[at] < 2.0 }, "{i} {j}");
            }
        }
        prop_assert_eq!(cell(&story, "total_useful"), (tokens * (tokens + 1) / 2) as f64);
        prop_assert!(cell(&story, "total_useful_window") <= (window * tokens) as f64);
        for suffix in ["", "_window"] {
            let (useful, computed) =
                (cell(&story, &format!("total_useful{suffix}")), cell(&story, &format!("total_computed{suffix}")));
            prop_assert!(useful <= computed && computed <= (tokens * tokens) as f64);
        }
    }
}
