//! Document 001 against its demos: products read as dot products and as weighted sums, and the loop they replace.

use attn::demo::{Settings, find};
use attn::graph::{Graph, Op};
use attn::matrix::Matrix;
use proptest::prelude::*;

fn graph(demo: &str, set: &[(&str, &Matrix)]) -> Graph {
    let set = set.iter().map(|(name, matrix)| (name.to_string(), ((*matrix).clone(), "test".to_string())));
    let settings = Settings { set: set.collect(), ..Settings::default() };
    find(demo).unwrap().story(&settings).unwrap_or_else(|error| panic!("{demo}: {error}")).graph
}

fn value<'a>(graph: &'a Graph, name: &str) -> &'a Matrix {
    graph.matrix(graph.require(name).unwrap()).unwrap()
}

#[test]
fn every_figure_is_what_plain_loops_in_python_give() {
    let golden = crate::golden::json("multiplication.json");
    let nodes = crate::golden::list(&golden, "nodes");
    assert!(nodes.len() > 20);
    for node in nodes {
        let (demo, name) = (crate::golden::string(node, "demo"), crate::golden::string(node, "name"));
        let (graph, expected) = (graph(demo, &[]), crate::golden::matrix(&node["values"]));
        let here = value(&graph, name);
        assert_eq!(here.shape(), expected.shape(), "{demo} {name}");
        for (a, b) in here.cells().zip(expected.cells()) {
            assert!((a - b).abs() <= 1e-14, "{demo} {name}: {a:e}, Python {b:e}");
        }
    }
}

#[test]
fn no_query_leaves_itself_out_of_its_sum() {
    let graph = graph("vectorize", &[]);
    for name in ["A", "A_2"] {
        let weights = value(&graph, name);
        assert!((0..weights.rows()).all(|i| weights[(i, i)] > 0.0), "{name}");
    }
}

#[test]
fn the_loop_works_on_one_query_at_a_time() {
    let graph = graph("vectorize", &[]);
    for i in 1..=3 {
        for what in ["query", "scores", "scaled", "weights", "output"] {
            assert_eq!(value(&graph, &format!("{what}_{i}")).rows(), 1, "{what}_{i}");
        }
    }
    let stacked = &graph[graph.require("O_loop").unwrap()];
    assert!(matches!(stacked.op, Op::Stack(_)) && stacked.inputs.len() == 3);
}

#[test]
fn the_second_head_gives_its_largest_weight_to_another_token() {
    let graph = graph("vectorize", &[]);
    let favourite = |name: &str, i: usize| {
        let weights = value(&graph, name);
        (0..weights.cols()).max_by(|&a, &b| weights[(i, a)].total_cmp(&weights[(i, b)])).unwrap()
    };
    for i in 0..2 {
        assert_eq!(favourite("A", i), i, "head 1, token {i}");
        assert_eq!(favourite("A_2", i), 1 - i, "head 2, token {i}");
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

fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn loop_and_products_agree_bit_for_bit_on_any_input(x in matrix(1..6_usize, 1..6_usize)) {
        let graph = graph("vectorize", &[("X", &x)]);
        prop_assert!(value(&graph, "O_loop").same_bits(value(&graph, "O")));
        prop_assert_eq!(value(&graph, "largest")[(0, 0)], 0.0);
        let (scores, scaled) = (value(&graph, "S"), value(&graph, "S_scaled"));
        prop_assert!(scores.cells().zip(scaled.cells()).all(|(s, scaled)| same(scaled, s / 2.0)), "√4 is 2");
    }

    #[test]
    fn heads_stand_side_by_side_unchanged(x in matrix(1..6_usize, 1..6_usize)) {
        let graph = graph("vectorize", &[("X", &x)]);
        let (first, second, both) = (value(&graph, "O"), value(&graph, "O_2"), value(&graph, "C"));
        for i in 0..x.rows() {
            prop_assert!(first.row(i).chain(second.row(i)).zip(both.row(i)).all(|(a, b)| same(a, b)));
        }
    }

    #[test]
    fn a_product_is_the_table_of_all_dot_products(a in matrix(1..6_usize, 1..6_usize)) {
        let graph = graph("pairwise", &[("A", &a)]);
        let (b, table) = (value(&graph, "B"), value(&graph, "AB"));
        for i in 0..a.rows() {
            for j in 0..b.cols() {
                let dot = a.row(i).zip(b.col(j)).fold(0.0, |sum, (x, y)| sum + x * y);
                prop_assert!(same(table[(i, j)], dot));
            }
        }
        prop_assert!(table.same_bits(value(&graph, "S")));
        prop_assert!(same(value(&graph, "dot")[(0, 0)], table[(a.rows() - 1, b.cols() - 1)]));
    }

    #[test]
    fn a_row_of_a_product_is_the_weighted_sum_of_the_rows_of_b(a in matrix(1..6_usize, 1..6_usize)) {
        let graph = graph("weighted-sum", &[("A", &a)]);
        prop_assert!(value(&graph, "row_sum").same_bits(value(&graph, "AB_row")));
        let b = value(&graph, "B");
        for j in 0..b.rows() {
            let scaled = value(&graph, &format!("scaled_{}", j + 1));
            prop_assert!(scaled.row(0).zip(b.row(j)).all(|(scaled, b)| same(scaled, 0.0 + a[(0, j)] * b)));
        }
    }
}
