//! Document 000 against its demos: its printed arrays, and what it says about them.

use attn::demo::{Settings, find};
use attn::graph::{CellId, Graph, symbolic};
use attn::matrix::Matrix;
use attn::render::numpy::array_lines;
use attn::story::Story;
use proptest::prelude::*;

const DEMOS: [&str; 6] = ["interact", "left", "weights", "right", "qkv", "mask"];

fn story(demo: &str, settings: &Settings) -> Story {
    find(demo).unwrap().story(settings).unwrap_or_else(|error| panic!("{demo}: {error}"))
}

fn graph(demo: &str) -> Graph {
    story(demo, &Settings::default()).graph
}

fn value<'a>(graph: &'a Graph, name: &str) -> &'a Matrix {
    graph.matrix(graph.require(name).unwrap()).unwrap()
}

/// The demo's numbers replaced, and the seed.
fn settings(seed: u32, set: &[(&str, &Matrix)]) -> Settings {
    let set = set.iter().map(|(name, matrix)| (name.to_string(), ((*matrix).clone(), "test".to_string())));
    Settings { set: set.collect(), seed: Some(seed), ..Settings::default() }
}

/// What the demo calls a matrix of `document_000.json`.
fn node_name(demo: &str, case: Option<&str>, name: &str) -> String {
    match (demo, case, name) {
        ("left", Some(case), "L") => format!("L_{case}"),
        ("left", Some(case), "L X") => format!("Y_{case}"),
        ("right", _, "X R") => "Y".to_string(),
        ("qkv", Some("square"), name) => format!("{name}_square"),
        (_, _, name) => name.to_string(),
    }
}

fn assert_near(what: &str, here: &Matrix, there: &Matrix) {
    assert_eq!(here.shape(), there.shape(), "{what}");
    let max = there.cells().filter(|x| x.is_finite()).fold(0.0, |most: f64, x| most.max(x.abs()));
    for (a, b) in here.cells().zip(there.cells()) {
        let same = a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-14 * max;
        assert!(same, "{what}: {a:e}, NumPy {b:e}");
    }
}

#[test]
fn every_matrix_of_the_document_is_a_node_with_the_printed_digits_of_numpy() {
    let golden = crate::golden::json("document_000.json");
    let (mut nodes, mut printed) = (0, Vec::new());
    for entry in crate::golden::list(&golden, "matrices") {
        let (demo, case) = (crate::golden::string(entry, "demo"), entry["case"].as_str());
        let name = node_name(demo, case, crate::golden::string(entry, "name"));
        let graph = graph(demo);
        let here = value(&graph, &name);
        assert_eq!(array_lines(here), crate::golden::string(entry, "text"), "{demo} {name}");
        assert_near(&format!("{demo} {name}"), here, &crate::golden::matrix(&entry["values"]));
        if entry["printed"].as_bool().unwrap() {
            printed.push(array_lines(here));
        }
        nodes += 1;
    }
    assert_eq!(nodes, 45);
    let on_paper = crate::golden::text("document_000_printed.txt");
    assert_eq!(printed, on_paper.trim_end().split("\n---\n").collect::<Vec<_>>());
}

#[test]
fn what_the_document_only_describes_is_what_numpy_computes() {
    let golden = crate::golden::json("understanding.json");
    let nodes = crate::golden::list(&golden, "nodes");
    assert!(nodes.len() > 30);
    for node in nodes {
        let (demo, name) = (crate::golden::string(node, "demo"), crate::golden::string(node, "name"));
        let graph = graph(demo);
        assert_near(&format!("{demo} {name}"), value(&graph, name), &crate::golden::matrix(&node["values"]));
    }
}

#[test]
fn one_two_two_three_are_eighths_and_the_other_rows_fail_as_the_document_says() {
    let graph = graph("weights");
    let cells = |name: &str| value(&graph, name).cells().collect::<Vec<_>>();
    assert_eq!(cells("share_positive"), [1.0 / 8.0, 2.0 / 8.0, 2.0 / 8.0, 3.0 / 8.0]);
    let mixed = cells("share_mixed");
    assert!(mixed.iter().any(|&share| share < 0.0) && mixed.iter().sum::<f64>() == 1.0, "{mixed:?}");
    assert!(cells("share_balanced").iter().all(|share| share.is_infinite()));
    for case in ["positive", "mixed", "balanced"] {
        let weights = cells(&format!("A_{case}"));
        assert!(weights.iter().all(|&weight| weight > 0.0), "{case}: {weights:?}");
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-15, "{case}: {weights:?}");
    }
}

#[test]
fn exponentials_of_a_thousand_overflow_until_the_maximum_is_subtracted() {
    let graph = graph("weights");
    assert!(value(&graph, "exp_overflow").cells().all(|x| x == f64::INFINITY));
    assert!(value(&graph, "A_overflow").cells().all(f64::is_nan));
    // 1/(1+e) and e/(1+e)
    let expected = [0.268_941_421_369_995_1, 0.731_058_578_630_004_9];
    for (weight, expected) in value(&graph, "A_shifted").cells().zip(expected) {
        assert!((weight - expected).abs() < 1e-15, "{weight}");
    }
    assert!(value(&graph, "A").same_bits(value(&graph, "A_shifted")), "the softmax is the three steps");
}

#[test]
fn left_and_right_products_are_in_symbols_what_the_document_writes() {
    let graph = graph("interact");
    let symbols = |name: &str| {
        let node = graph.require(name).unwrap();
        let (rows, cols) = (value(&graph, name).rows(), value(&graph, name).cols());
        let cells = (0..rows).flat_map(|row| (0..cols).map(move |col| CellId { node, row, col }));
        cells.map(|cell| symbolic(&graph, &graph.terms(cell))).collect::<Vec<_>>()
    };
    // The entries of the document's two equations, row by row.
    assert_eq!(
        symbols("LX"),
        [
            "l11·x11 + l12·x21",
            "l11·x12 + l12·x22",
            "l11·x13 + l12·x23",
            "l21·x11 + l22·x21",
            "l21·x12 + l22·x22",
            "l21·x13 + l22·x23",
        ]
    );
    assert_eq!(
        symbols("XR"),
        [
            "x11·r11 + x12·r21 + x13·r31",
            "x11·r12 + x12·r22 + x13·r32",
            "x21·r11 + x22·r21 + x23·r31",
            "x21·r12 + x22·r22 + x23·r32",
        ]
    );
}

#[test]
fn other_tokens_have_other_weights_under_the_same_parameters() {
    for seed in 0..20 {
        let graph = story("qkv", &settings(seed, &[])).graph;
        let (here, there) = (value(&graph, "A"), value(&graph, "A_other"));
        let max = here.cells().zip(there.cells()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(max > 0.1, "seed {seed}: the largest difference is {max}");
    }
}

#[test]
fn the_seed_changes_every_drawn_matrix_and_only_those() {
    for demo in ["left", "right", "qkv", "mask"] {
        let (first, second) = (graph(demo), story(demo, &settings(1, &[])).graph);
        for (id, node) in first.nodes() {
            let other = second.matrix(second.require(&node.name).unwrap()).unwrap();
            let drawn = matches!(node.op, attn::graph::Op::Given(attn::graph::Origin::Drawn(_)));
            if drawn || node.op.is_given() {
                assert_eq!(first.matrix(id).unwrap().same_bits(other), !drawn, "{demo} {}", node.name);
            }
        }
    }
}

fn matrix(
    rows: impl Strategy<Value = usize>,
    cols: impl Strategy<Value = usize>,
) -> impl Strategy<Value = Matrix> {
    (rows, cols).prop_flat_map(|(rows, cols)| {
        proptest::collection::vec(-3.0..3.0_f64, rows * cols)
            .prop_map(move |values| Matrix::from_row_major(rows, cols, &values).unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_x_of_any_shape_runs_through_every_demo_that_has_one(x in matrix(1..7_usize, 1..8_usize)) {
        for demo in DEMOS.iter().filter(|demo| **demo != "weights") {
            let story = story(demo, &settings(0, &[("X", &x)]));
            prop_assert_eq!(value(&story.graph, "X").shape(), x.shape());
        }
    }

    #[test]
    fn columns_never_mix_on_the_left(x in matrix(1..6_usize, 1..6_usize), seed in 0..1000_u32) {
        let graph = story("left", &settings(seed, &[("X", &x)])).graph;
        let difference = value(&graph, "difference");
        for i in 0..x.rows() {
            prop_assert!((difference[(i, 0)] - 1.0).abs() < 1e-12, "the rows of L sum to 1");
            prop_assert!((1..x.cols()).all(|j| difference[(i, j)] == 0.0));
        }
    }

    #[test]
    fn rows_never_mix_on_the_right(x in matrix(1..6_usize, 1..6_usize), seed in 0..1000_u32) {
        let graph = story("right", &settings(seed, &[("X", &x)])).graph;
        let difference = value(&graph, "difference");
        prop_assert!(difference.row(0).any(|moved| moved != 0.0));
        prop_assert!((1..x.rows()).all(|i| difference.row(i).all(|moved| moved == 0.0)));
    }

    #[test]
    fn a_softmaxed_r_keeps_every_new_feature_within_the_range_of_the_old_ones(seed in 0..1000_u32) {
        let graph = story("right", &settings(seed, &[])).graph;
        let (x, y) = (value(&graph, "X"), value(&graph, "Y_softmax"));
        for i in 0..x.rows() {
            let (least, most) = x.row(i).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), x| (l.min(x), m.max(x)));
            prop_assert!(y.row(i).all(|y| least - 1e-12 <= y && y <= most + 1e-12));
        }
        prop_assert!(value(&graph, "sum").cells().all(|sum| (sum - 1.0).abs() < 1e-12));
    }

    #[test]
    fn the_order_of_two_products_of_whole_numbers_does_not_matter_at_all(x in matrix(1..5_usize, 1..5_usize)) {
        let x = x.map(|x| x.round());
        let graph = story("interact", &settings(0, &[("X", &x)])).graph;
        prop_assert!(value(&graph, "Y").same_bits(value(&graph, "Y_features_first")));
        prop_assert_eq!(value(&graph, "largest")[(0, 0)], 0.0);
    }

    #[test]
    fn q_k_transposed_is_x_times_the_product_of_the_weights_times_x_transposed(seed in 0..1000_u32) {
        let graph = story("qkv", &settings(seed, &[])).graph;
        let max = value(&graph, "S").cells().fold(0.0, |most: f64, s| most.max(s.abs()));
        prop_assert!(value(&graph, "largest")[(0, 0)] <= 1e-13 * max.max(1.0));
    }

    #[test]
    fn a_changed_last_token_leaves_every_earlier_row_of_the_masked_output_as_it_was(
        x in matrix(1..6_usize, 1..6_usize),
        seed in 0..1000_u32,
    ) {
        let graph = story("mask", &settings(seed, &[("X", &x)])).graph;
        let (before, after) = (value(&graph, "O"), value(&graph, "O_changed"));
        for i in 0..x.rows() - 1 {
            prop_assert!(before.row(i).zip(after.row(i)).all(|(a, b)| a.to_bits() == b.to_bits()), "row {i}");
        }
        let a = value(&graph, "A");
        prop_assert!((0..a.rows()).all(|i| (i + 1..a.cols()).all(|j| a[(i, j)] == 0.0)));
    }
}
