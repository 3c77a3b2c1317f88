//! The demos of document 004: their figures against NumPy, and their claims on these and on other numbers.

use attn::demo::{Settings, find};
use attn::matrix::Matrix;
use attn::story::Story;
use proptest::prelude::*;

const DEMOS: [&str; 5] = ["columns", "update", "lowrank", "sum-heads", "block"];

fn story(demo: &str) -> Story {
    story_with(demo, Vec::new())
}

/// The story with other matrices in place of the demo's own.
fn story_with(demo: &str, set: Vec<(&str, Matrix)>) -> Story {
    let set = set.into_iter().map(|(name, matrix)| (name.to_string(), (matrix, "--set".to_string())));
    find(demo).unwrap().story(&Settings { set: set.collect(), ..Settings::default() }).unwrap()
}

fn node<'a>(story: &'a Story, name: &str) -> &'a Matrix {
    story.graph.matrix(story.graph.require(name).unwrap()).unwrap()
}

fn number(story: &Story, name: &str) -> f64 {
    node(story, name)[(0, 0)]
}

fn max(matrix: &Matrix) -> f64 {
    matrix.cells().map(f64::abs).fold(0.0, f64::max)
}

fn matrix(rows: usize, cols: usize) -> impl Strategy<Value = Matrix> {
    proptest::collection::vec(-3.0..3.0_f64, rows * cols)
        .prop_map(move |values| Matrix::from_row_major(rows, cols, &values).unwrap())
}

fn matrices<const N: usize>(shapes: [(usize, usize); N]) -> impl Strategy<Value = Vec<Matrix>> {
    shapes.into_iter().map(|(rows, cols)| matrix(rows, cols).boxed()).collect::<Vec<_>>()
}

#[test]
fn every_figure_is_what_numpy_computes() {
    let golden = crate::golden::json("one_third.json");
    for demo in DEMOS {
        let story = story(demo);
        let expected = golden["demos"][demo].as_object().unwrap();
        for (name, values) in expected {
            let (here, numpy) = (node(&story, name), crate::golden::matrix(values));
            assert_eq!(here.shape(), numpy.shape(), "{demo} {name}");
            for (a, b) in here.cells().zip(numpy.cells()) {
                assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{demo} {name}: {a:e}, NumPy {b:e}");
            }
        }
        for (_, given) in story.graph.nodes().filter(|(_, node)| node.op.is_given()) {
            assert!(expected.contains_key(&given.name), "{demo}: {} has no figures", given.name);
        }
    }
}

#[test]
fn the_grid_is_the_row_view_transposed_to_the_last_bit() {
    let story = story("columns");
    assert!(node(&story, "grid").same_bits(&node(&story, "S").transposed()));
    assert_eq!((number(&story, "A_largest"), number(&story, "O_largest")), (0.0, 0.0));
    assert!(node(&story, "A_grid_sums").cells().all(|sum| (sum - 1.0).abs() < 1e-15));
}

#[test]
fn below_the_diagonal_of_the_grid_every_weight_is_exactly_zero() {
    let story = story("columns");
    let weights = node(&story, "A_grid");
    let below = (0..3).flat_map(|i| (0..i).map(move |j| (i, j)));
    assert!(below.clone().all(|at| weights[at].to_bits() == 0));
    assert!(below.clone().all(|at| node(&story, "grid_masked")[at] == f64::NEG_INFINITY));
    assert_eq!(below.count(), 3);
}

#[test]
fn the_compact_form_read_literally_is_something_else() {
    let story = story("columns");
    let literal = node(&story, "A_literal");
    assert!((0..3).all(|j| (literal.col(j).sum::<f64>() - 1.0).abs() < 1e-12));
    assert!(node(&story, "A_literal_sums").cells().all(|sum| (sum - 1.0).abs() > 0.1));
    assert!(number(&story, "literal_largest") > 0.5);
}

#[test]
fn creature_reads_fluffy_and_blue_and_forest_reads_verdant() {
    let story = story("update");
    let weights = node(&story, "A");
    let tokens = weights.row_labels().unwrap();
    let read_by = |reader: &str| {
        let row = tokens.iter().position(|token| token == reader).unwrap();
        let clearly = (0..tokens.len()).filter(|&j| weights[(row, j)] > 0.4);
        clearly.map(|j| tokens[j].clone()).collect::<Vec<_>>()
    };
    assert_eq!(tokens.join(" "), "a fluffy blue creature roamed the verdant forest");
    assert_eq!(read_by("creature"), ["fluffy", "blue"]);
    assert_eq!(read_by("forest"), ["verdant"]);
    // The document's wording, that fluffy attends to creature, would need a weight in the row of fluffy.
    assert_eq!(weights[(1, 3)].to_bits(), 0);
}

#[test]
fn the_displacement_moves_creature_towards_fluffy_and_blue_alone() {
    let story = story("update");
    let (before, displacement, after) = (node(&story, "X"), node(&story, "O"), node(&story, "X_updated"));
    let features = displacement.col_labels().unwrap();
    let moved = (0..5).filter(|&j| displacement[(3, j)].abs() > 0.1).map(|j| features[j].as_str());
    assert_eq!(moved.collect::<Vec<_>>(), ["fluffy", "blue"]);
    assert!((0..5).all(|j| after[(3, j)] == before[(3, j)] + displacement[(3, j)]));
}

#[test]
fn a_full_value_matrix_in_every_head_costs_48_times_as_much() {
    let story = story("lowrank");
    assert_eq!(number(&story, "full"), 150_994_944.0);
    assert_eq!(number(&story, "factored"), 3_145_728.0);
    assert_eq!(number(&story, "ratio"), 48.0);
    // W_V in two factors is half of the 57,982,058,496 attention parameters that the document's source counts.
    assert_eq!(2.0 * node(&story, "all_factored")[(2, 0)], 57_982_058_496.0);
}

#[test]
fn first_down_then_up_is_w_v_exactly_on_small_integers() {
    let story = story("lowrank");
    assert!(node(&story, "V_lifted").same_bits(node(&story, "V_whole")));
    assert_eq!(number(&story, "V_largest"), 0.0);
}

#[test]
fn the_best_narrow_matrix_is_nearer_than_the_one_it_was_made_from() {
    let story = story("lowrank");
    let distance = |to: &str| {
        let pairs = node(&story, "W_full").cells().zip(node(&story, to).cells());
        pairs.map(|(a, b)| (a - b) * (a - b)).sum::<f64>()
    };
    assert_eq!(distance("W_V"), 4.0);
    assert!(distance("W_best") < 1.2, "{}", distance("W_best"));
    assert!(number(&story, "W_largest") < 1e-13);
}

#[test]
fn only_the_v_up_go_into_the_output_matrix() {
    let own = story("sum-heads");
    let (w_o, up) = (node(&own, "W_O"), [node(&own, "V_up_1"), node(&own, "V_up_2")]);
    let stacked: Vec<f64> = up.iter().flat_map(|up| up.cells()).collect();
    assert_eq!(w_o.cells().collect::<Vec<_>>(), stacked);
    let tripled = node(&own, "V_down_1").map(|x| 3.0 * x);
    let other = story_with("sum-heads", vec![("V_down_1", tripled)]);
    assert!(node(&other, "W_O").same_bits(w_o));
    assert!(!node(&other, "O").same_bits(node(&own, "O")));
}

#[test]
fn the_sum_of_the_heads_is_the_concatenation_times_the_output_matrix() {
    let story = story("sum-heads");
    assert_eq!(number(&story, "largest"), 0.0);
    assert!(max(node(&story, "O")) > 1.0);
}

#[test]
fn token_1_reaches_token_3_only_with_the_second_block() {
    let story = story("block");
    let moved = |name: &str| {
        let difference = node(&story, name);
        (0..4).filter(|&i| difference.row(i).any(|x| x != 0.0)).collect::<Vec<_>>()
    };
    assert_eq!(moved("difference_block1"), [0, 1]);
    assert_eq!(moved("difference_block2"), [0, 1, 2]);
}

#[test]
fn inputs_of_other_shapes_work_where_they_fit_and_are_refused_where_not() {
    let ones = |rows, cols| Matrix::filled(rows, cols, 1.0);
    let columns = story_with("columns", vec![("Q", ones(2, 3)), ("K", ones(5, 3)), ("V", ones(5, 4))]);
    assert_eq!((node(&columns, "grid").rows(), node(&columns, "O").rows()), (5, 2));
    let one_token = story_with("update", vec![("X", ones(1, 5))]);
    assert_eq!(node(&one_token, "X_updated").rows(), 1);
    let wide = story_with("lowrank", vec![("W_full", ones(1, 3))]);
    assert_eq!(node(&wide, "W_best").cols(), 3);
    let empty = story_with("block", vec![("X", ones(0, 2))]);
    assert_eq!(node(&empty, "X_out_block2").rows(), 0);
    for (demo, name) in
        [("columns", "V"), ("update", "W_K"), ("lowrank", "d"), ("sum-heads", "S_2"), ("block", "W_up")]
    {
        let set = [(name.to_string(), (ones(7, 9), "--set".to_string()))].into();
        let refused =
            find(demo).unwrap().story(&Settings { set, ..Settings::default() }).unwrap_err().to_string();
        assert!(refused.contains("7×9"), "{demo} {name}: {refused}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn both_views_agree_to_the_last_bit_on_any_numbers(all in matrices([(4, 3), (6, 3), (6, 2)])) {
        let set = ["Q", "K", "V"].into_iter().zip(all).collect();
        let story = story_with("columns", set);
        prop_assert_eq!(number(&story, "A_largest"), 0.0);
        prop_assert_eq!(number(&story, "O_largest"), 0.0);
    }

    #[test]
    fn the_loss_of_the_best_narrow_matrix_is_the_first_value_that_was_dropped(w in matrix(5, 4), rank in 1..4_usize) {
        let x = Matrix::filled(1, 6, 1.0);
        let set = vec![
            ("W_full", w),
            ("X", x),
            ("V_down", Matrix::filled(6, rank, 1.0)),
            ("V_up", Matrix::filled(rank, 6, 1.0)),
        ];
        let story = story_with("lowrank", set);
        let dropped = node(&story, "sigma")[(0, rank)];
        prop_assert!((number(&story, "sigma_largest") - dropped).abs() < 1e-12);
        prop_assert!(number(&story, "W_largest") < 1e-12);
    }

    #[test]
    fn the_sum_of_the_heads_is_one_product_on_any_numbers(
        all in matrices([(5, 4), (5, 5), (5, 5), (4, 3), (4, 3), (3, 4), (3, 4)])
    ) {
        let names = ["X", "S_1", "S_2", "V_down_1", "V_down_2", "V_up_1", "V_up_2"];
        let story = story_with("sum-heads", names.into_iter().zip(all).collect());
        prop_assert!(number(&story, "largest") < 1e-12);
    }

    #[test]
    fn a_change_travels_one_token_a_block_and_never_back(
        all in matrices([(6, 3), (3, 2), (3, 2), (3, 4), (4, 3), (3, 5), (5, 3)]), changed in 0..6_usize
    ) {
        let change = Matrix::from_fn(6, 3, |i, j| if i == changed && j == 0 { 1.0 } else { 0.0 });
        let names = ["X", "W_Q", "W_K", "W_V", "W_O", "W_up", "W_down"];
        let mut set: Vec<(&str, Matrix)> = names.into_iter().zip(all).collect();
        set.push(("change", change));
        let story = story_with("block", set);
        for (block, name) in [(1, "difference_block1"), (2, "difference_block2")] {
            let difference = node(&story, name);
            let still = |i: &usize| *i < changed || *i > changed + block;
            prop_assert!((0..6).filter(still).all(|i| difference.row(i).all(|x| x == 0.0)));
            prop_assert!(difference.row(changed).any(|x| x != 0.0));
        }
    }

    #[test]
    fn any_shape_in_place_of_any_matrix_gives_a_story_or_an_error_and_no_panic(
        shape in (0..9_usize, 0..9_usize), fill in prop_oneof![Just(0.0), Just(-1.5), Just(1e200), Just(f64::NEG_INFINITY)]
    ) {
        for demo in DEMOS {
            let own = story(demo);
            for (_, given) in own.graph.nodes().filter(|(_, node)| node.op.is_given()) {
                let matrix = Matrix::filled(shape.0, shape.1, fill);
                let set = [(given.name.clone(), (matrix, "--set".to_string()))].into();
                if let Err(error) = find(demo).unwrap().story(&Settings { set, ..Settings::default() }) {
                    prop_assert!(!error.to_string().is_empty());
                }
            }
        }
    }
}

#[test]
fn the_weighted_values_of_creature_sum_to_its_displacement() {
    let story = story("update");
    let (weighted, delta, o) =
        (node(&story, "weighted_creature"), node(&story, "delta_creature"), node(&story, "O"));
    for feature in 0..5 {
        assert_eq!(weighted.col(feature).sum::<f64>(), delta[(0, feature)]);
        assert!((o[(3, feature)] - delta[(0, feature)]).abs() < 1e-12);
    }
}

#[test]
fn the_matrix_of_singular_vectors_only_turns_or_reflects() {
    let story = story("lowrank");
    assert!(number(&story, "turn_largest") < 1e-12);
    assert_eq!(node(&story, "R_R").rows(), 6);
}

#[test]
fn a_trillion_and_four_tenths_of_parameters_is_not_said_to_be_a_trillion() {
    let story = story("lowrank");
    let notices: String = story.steps.iter().filter_map(|step| step.notice.clone()).collect();
    assert!(notices.contains("1.4e12 parameters for the values alone"), "{notices}");
    assert!(notices.contains("so 9216 heads"), "{notices}");
}
