//! The demos of document 003 give what NumPy gives, and show what issue and document say of them.

use attn::demo::{Settings, find};
use attn::matrix::Matrix;
use attn::params::{caches_by_sharing, named};
use attn::random::LegacyStream;
use attn::story::{StepItem, Story};

fn story(name: &str, settings: &Settings) -> Story {
    find(name).unwrap().story(settings).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A demo with its own numbers.
fn told(name: &str) -> Story {
    story(name, &Settings::default())
}

/// A demo with other numbers in place of its own.
fn with(name: &str, matrices: &[(&str, &Matrix)]) -> Story {
    let set =
        matrices.iter().map(|(node, matrix)| (node.to_string(), ((*matrix).clone(), "test".to_string())));
    story(name, &Settings { set: set.collect(), ..Settings::default() })
}

fn matrix<'a>(story: &'a Story, node: &str) -> &'a Matrix {
    story.graph.matrix(story.graph.require(node).unwrap()).unwrap()
}

/// The one cell of a 1×1 node.
fn number(story: &Story, node: &str) -> f64 {
    let cells: Vec<f64> = matrix(story, node).cells().collect();
    assert_eq!(cells.len(), 1, "{node} is not one number");
    cells[0]
}

/// The cell that labels name.
fn cell(story: &Story, node: &str, row: &str, col: &str) -> f64 {
    let matrix = matrix(story, node);
    let at = |labels: Option<&attn::matrix::Labels>, label: &str| {
        labels.unwrap().iter().position(|l| l == label).unwrap_or_else(|| panic!("{node} has no {label}"))
    };
    matrix[(at(matrix.row_labels(), row), at(matrix.col_labels(), col))]
}

/// Where the largest cell of a row stands.
fn argmax(row: impl Iterator<Item = f64>) -> usize {
    let best =
        row.enumerate().fold((0, f64::NEG_INFINITY), |best, (j, x)| if x > best.1 { (j, x) } else { best });
    best.0
}

fn draws(seed: u32, rows: usize, cols: usize) -> Matrix {
    LegacyStream::seeded(seed).standard_normal_matrix(rows, cols)
}

/// Integers from −3 to 3.
fn integers(seed: u32, rows: usize, cols: usize) -> Matrix {
    draws(seed, rows, cols).map(|x| (2.0 * x).round().clamp(-3.0, 3.0))
}

#[test]
fn the_results_of_every_demo_are_those_of_numpy() {
    let figures = crate::golden::json("imagined.json");
    let demos = figures["demos"].as_object().expect("demos");
    assert_eq!(demos.len(), 9);
    for (name, nodes) in demos {
        let story = told(name);
        for (node, theirs) in nodes.as_object().expect("nodes") {
            let (ours, theirs) = (matrix(&story, node), crate::golden::matrix(theirs));
            assert_eq!(ours.shape(), theirs.shape(), "{name} {node}");
            for (a, b) in ours.cells().zip(theirs.cells()) {
                assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{name} {node}: {a} is not {b}");
            }
        }
    }
}

#[test]
fn the_demos_of_document_003_are_all_there_in_the_order_of_its_sections() {
    let names: Vec<&str> = attn::demo::demos()
        .filter(|demo| demo.source.document() == Some(attn::demo::Document::Imagined))
        .map(|demo| demo.name)
        .collect();
    assert_eq!(names, ["pooling", "transforms", "scale", "output", "gqa", "mlp", "order", "unembed", "init"]);
}

#[test]
fn the_word_that_repeats_in_the_third_question_is_city() {
    let story = told("pooling");
    let words = matrix(&story, "X_3").row_labels().unwrap().clone();
    let repeated: Vec<&String> =
        words.iter().filter(|word| words.iter().filter(|w| w == word).count() > 1).collect();
    assert_eq!(repeated, ["city", "city"]);
}

#[test]
fn a_repeated_word_moves_the_sum_most_and_attention_least() {
    let story = told("pooling");
    let moved =
        ["sum", "average", "fixed", "attention"].map(|name| matrix(&story, &format!("moved_{name}"))[(2, 0)]);
    assert!(moved.windows(2).all(|pair| pair[0] > pair[1]), "{moved:?}");
    assert_eq!(moved[0], 4.0);
}

#[test]
fn a_text_said_twice_doubles_the_sum_and_leaves_the_average() {
    for seed in 0..5 {
        let story = with("pooling", &[("X_1", &integers(seed, 6, 4))]);
        let repeated = matrix(&story, "repeated");
        for j in 0..4 {
            assert_eq!(repeated[(1, j)], 2.0 * repeated[(0, j)]);
            assert!((repeated[(3, j)] - repeated[(2, j)]).abs() < 1e-15);
        }
    }
}

#[test]
fn the_average_points_where_the_sum_points() {
    let story = told("pooling");
    for answer in ["Delhi", "city"] {
        let (sum, average) =
            (cell(&story, "toward", "sum", answer), cell(&story, "toward", "average", answer));
        assert!((sum - average).abs() < 1e-15, "{answer}: {sum} {average}");
    }
}

#[test]
fn constants_give_a_word_the_same_share_in_every_question_and_the_input_does_not() {
    let story = told("pooling");
    let share = |node: &str, word: &str| cell(&story, node, "city", word);
    assert!(share("A_4", "city") > 0.9);
    assert!(matrix(&story, "A_3").col(1).all(|weight| weight < 0.01));
    assert_eq!(matrix(&story, "fixed_4").cells().collect::<Vec<_>>(), [0.25; 4]);
}

#[test]
fn one_transformation_gives_symmetric_scores_whatever_the_words_and_weights() {
    for seed in 0..10 {
        let story = with("transforms", &[("X", &draws(seed, 5, 4)), ("W", &draws(seed + 100, 4, 3))]);
        assert_eq!(number(&story, "asymmetry_one"), 0.0);
        assert_eq!(matrix(&story, "S_one").rows(), 5);
    }
}

#[test]
fn two_transformations_let_a_word_ask_for_what_it_does_not_offer() {
    let story = told("transforms");
    assert_eq!(cell(&story, "S", "swung", "bat"), 8.0);
    assert_eq!(cell(&story, "S", "bat", "swung"), 0.0);
}

#[test]
fn two_queries_and_two_keys_make_four_different_relations() {
    let story = told("transforms");
    let relations = matrix(&story, "relations");
    let rows: Vec<Vec<f64>> = (0..4).map(|i| relations.row(i).collect()).collect();
    for i in 0..4 {
        assert!(rows[i + 1..].iter().all(|other| *other != rows[i]), "relation {} stands there twice", i + 1);
    }
    let heaviest = |i: usize| relations.col_labels().unwrap()[argmax(relations.row(i))].clone();
    assert_eq!((heaviest(0), heaviest(3)), ("cave".to_string(), "swung".to_string()));
}

#[test]
fn scores_grow_like_the_root_of_the_width_and_the_scale_repairs_it_for_any_seed() {
    for seed in 0..8 {
        let story = story("scale", &Settings { seed: Some(seed), ..Settings::default() });
        let (size, scaled) = (matrix(&story, "size"), matrix(&story, "size_scaled"));
        for (i, d) in [1.0_f64, 4.0, 16.0, 64.0, 256.0, 1024.0].into_iter().enumerate() {
            let growth = size[(i, 0)] / d.sqrt();
            assert!((0.5..1.6).contains(&growth), "seed {seed}, d = {d}: {growth}");
            assert!((scaled[(i, 0)] - growth).abs() < 1e-12);
        }
    }
}

#[test]
fn wide_heads_saturate_the_softmax_and_flatten_its_slope_unless_scaled_for_any_seed() {
    for seed in 0..8 {
        let story = story("scale", &Settings { seed: Some(seed), ..Settings::default() });
        let ends = |node: &str| (matrix(&story, node)[(0, 0)], matrix(&story, node)[(5, 0)]);
        let ((narrow, wide), (narrow_slope, wide_slope)) = (ends("largest"), ends("slope"));
        assert!(wide > 0.85 && wide > 2.0 * narrow, "seed {seed}: {narrow} {wide}");
        assert!(wide_slope < narrow_slope / 3.0, "seed {seed}: {narrow_slope} {wide_slope}");
        let ((narrow, wide), (narrow_slope, wide_slope)) = (ends("largest_scaled"), ends("slope_scaled"));
        assert!((wide - narrow).abs() < 0.15, "seed {seed}: {narrow} {wide}");
        assert!((wide_slope / narrow_slope - 1.0).abs() < 0.2, "seed {seed}: {narrow_slope} {wide_slope}");
    }
}

#[test]
fn key_value_and_joined_widths_differ() {
    let story = told("output");
    let width = |node: &str| matrix(&story, node).cols();
    assert_eq!((width("X"), width("Q_1"), width("K_1"), width("V_1")), (5, 4, 4, 3));
    assert_eq!((width("C"), width("O")), (6, 5));
}

#[test]
fn the_table_of_shapes_says_the_shapes_of_the_nodes_also_of_a_users() {
    let longer = draws(1, 7, 5);
    for story in [told("output"), with("output", &[("X", &longer)])] {
        let tables = story.steps.iter().flat_map(|step| &step.shown);
        let Some(StepItem::Table(table)) =
            tables.into_iter().find(|shown| matches!(shown, StepItem::Table(_)))
        else {
            panic!("no table");
        };
        assert_eq!(table.rows.len(), 14, "X, ten of head 1, C, W_O, O");
        for row in &table.rows {
            assert_eq!(row[4], matrix(&story, &row[0]).shape().to_string(), "{}", row[0]);
        }
    }
}

#[test]
fn shared_keys_and_values_are_mha_with_those_repeated_bit_for_bit_for_any_weights() {
    for seed in 0..10 {
        let (x, q) = (draws(seed, 3, 4), draws(seed + 20, 4, 8));
        let (two, one) = (draws(seed + 40, 4, 4), draws(seed + 60, 4, 2));
        let own =
            [("X", &x), ("W_Q", &q), ("W_K", &two), ("W_V", &two), ("W_K_mqa", &one), ("W_V_mqa", &one)];
        // Heads of width 2: MLA's up-projections make keys and values of that width too.
        let (up_k, up_v) = (draws(seed + 80, 2, 8), draws(seed + 90, 2, 8));
        let story = with("gqa", &[&own[..], &[("W_up_K", &up_k), ("W_up_V", &up_v)]].concat());
        for (shared, each) in [("O_gqa", "O_gqa_each"), ("O_mqa", "O_mqa_each")] {
            assert!(matrix(&story, shared).same_bits(matrix(&story, each)), "seed {seed}: {shared}");
        }
        assert_eq!(matrix(&story, "O_gqa").cols(), 8);
        assert!(number(&story, "difference_mla") < 1e-12);
    }
}

#[test]
fn as_many_key_heads_as_query_heads_is_mha_and_a_single_one_is_mqa() {
    let story = told("gqa");
    let Some(StepItem::Table(table)) = story.steps[0].shown.first() else { panic!("no table") };
    let readers: Vec<&[String]> = table.rows.iter().map(|row| &row[3..]).collect();
    assert_eq!(readers[0], ["k1 v1", "k2 v2", "k3 v3", "k4 v4"]);
    assert_eq!(readers[1], ["k1 v1", "k1 v1", "k2 v2", "k2 v2"]);
    assert_eq!(readers[2], ["k1 v1"; 4]);
    for name in ["gqa", "mqa", "mla"] {
        assert_eq!(number(&story, &format!("difference_{name}")), 0.0, "{name}");
    }
}

#[test]
fn the_cache_of_llama_is_the_one_that_its_configuration_gives() {
    let story = told("gqa");
    let llama = &named("llama3-8b").unwrap()[0];
    let shared = caches_by_sharing(llama, 8192, 2).unwrap();
    assert_eq!(shared.len(), 3);
    for (sharing, cache) in shared {
        let row = match sharing {
            "MHA" => 0,
            "GQA" => 1,
            _ => 2,
        };
        assert_eq!(matrix(&story, "cache_bytes")[(row, 0)], cache.bytes as f64);
    }
}

#[test]
fn two_linear_maps_are_one_exactly_on_integers() {
    for seed in 0..20 {
        let (x, up, down) = (integers(seed, 4, 2), integers(seed + 50, 2, 5), integers(seed + 100, 5, 1));
        let story = with("mlp", &[("X", &x), ("W_1", &up), ("W_2", &down)]);
        assert!(matrix(&story, "Y_one").same_bits(matrix(&story, "Y_linear")), "seed {seed}");
        assert_eq!(number(&story, "difference"), 0.0);
    }
}

#[test]
fn no_linear_map_gives_xor_and_relu_does_exactly() {
    for seed in 0..20 {
        let story = with("mlp", &[("W_1", &integers(seed, 2, 3)), ("W_2", &integers(seed + 50, 3, 1))]);
        assert_eq!((number(&story, "balance_linear"), number(&story, "balance_xor")), (0.0, 2.0));
    }
    let story = told("mlp");
    assert_eq!(matrix(&story, "Y").cells().collect::<Vec<_>>(), [0.0, 1.0, 1.0, 0.0]);
    assert!(matrix(&story, "H").cols() > matrix(&story, "X").cols());
}

#[test]
fn the_gate_gives_xor_too_with_two_hidden_columns() {
    let story = told("mlp");
    assert_eq!(matrix(&story, "H_gated").cols(), 2);
    assert!(number(&story, "largest_miss_gated") < 1e-15);
}

/// The largest difference between the last words of the two questions, case by case.
fn gaps(story: &Story) -> [f64; 6] {
    let gaps = matrix(story, "gaps");
    assert_eq!(gaps.rows(), 6);
    [0, 1, 2, 3, 4, 5].map(|i| gaps[(i, 0)])
}

#[test]
fn attention_alone_gives_every_word_the_same_vector_in_either_order() {
    assert_eq!(number(&told("order"), "difference"), 0.0);
    for seed in 0..10 {
        let (x, w) = (draws(seed, 3, 4), draws(seed + 30, 4, 4));
        let story = with("order", &[("X_AB", &x), ("W_Q", &w), ("W_V", &draws(seed + 60, 4, 4))]);
        assert!(number(&story, "difference") < 1e-13, "seed {seed}");
    }
}

#[test]
fn only_positions_or_a_mask_in_two_layers_tell_the_order_of_words() {
    let [alone, layers, mask, mask_layers, sinusoidal, rotary] = gaps(&told("order"));
    assert_eq!([alone, layers, mask], [0.0; 3]);
    assert!([mask_layers, sinusoidal, rotary].into_iter().all(|gap| gap > 0.04));
    for seed in 0..10 {
        let (x, w) = (draws(seed, 4, 4), draws(seed + 30, 4, 4));
        let story = with("order", &[("X_1", &x), ("W_Q", &w), ("W_K", &draws(seed + 60, 4, 4))]);
        let [alone, layers, mask, mask_layers, sinusoidal, rotary] = gaps(&story);
        assert!([alone, layers, mask].into_iter().all(|gap| gap < 1e-13), "seed {seed}");
        assert!([mask_layers, sinusoidal, rotary].into_iter().all(|gap| gap > 1e-6), "seed {seed}");
    }
}

#[test]
fn a_causal_mask_changes_what_an_earlier_word_sees() {
    let story = told("order");
    let (one, two) = (matrix(&story, "O_1_causal"), matrix(&story, "O_2_causal"));
    assert_eq!(one.row_labels().unwrap()[1], "defeated");
    assert!(one.row(1).zip(two.row(1)).any(|(a, b)| (a - b).abs() > 0.2));
}

#[test]
fn the_vector_comes_back_as_delhi_at_every_temperature() {
    let story = told("unembed");
    let temperatures = matrix(&story, "temperatures");
    assert_eq!(temperatures.col_labels().unwrap()[0], "Delhi");
    let mut last = 1.0;
    for i in 0..temperatures.rows() {
        assert_eq!(argmax(temperatures.row(i)), 0);
        assert!((temperatures.row(i).sum::<f64>() - 1.0).abs() < 1e-15);
        assert!(temperatures[(i, 0)] < last, "a higher temperature levels the choice");
        last = temperatures[(i, 0)];
    }
}

#[test]
fn every_word_finds_itself_once_all_vectors_have_length_one() {
    let story = told("unembed");
    let lost = |node: &str| {
        let logits = matrix(&story, node);
        (0..logits.rows()).filter(|&i| argmax(logits.row(i)) != i).count()
    };
    assert_eq!((lost("back"), lost("back_unit")), (3, 0));
}

#[test]
fn zero_weights_give_exactly_uniform_attention_and_exactly_no_gradient() {
    let story = told("init");
    assert!(matrix(&story, "A_zero").cells().all(|weight| weight == 0.25));
    assert_eq!(number(&story, "from_average_zero"), 0.0);
    assert!(matrix(&story, "dS_zero").cells().any(|x| x != 0.0), "the scores themselves have a gradient");
    assert!(matrix(&story, "dW_Q_zero").cells().all(|x| x == 0.0));
}

#[test]
fn small_weights_give_uniform_attention_and_distinct_gradients() {
    let story = told("init");
    assert!(matrix(&story, "A_small").cells().all(|weight| (weight - 0.25).abs() < 2e-4));
    assert!(number(&story, "from_average_small") < 2e-4);
    let gradient: Vec<f64> = matrix(&story, "dW_Q_small").cells().collect();
    assert!(gradient.iter().all(|&x| x != 0.0) && gradient.iter().any(|&x| x != gradient[0]));
}

#[test]
fn large_weights_saturate_and_the_gradient_vanishes_again() {
    let story = told("init");
    let [zero, small, one, large] = [0, 1, 2, 3].map(|i| matrix(&story, "gradient_size")[(i, 0)]);
    assert!(zero == 0.0 && small < one / 10.0 && large < 1e-6, "{zero} {small} {one} {large}");
    assert!(matrix(&story, "A_large").cells().all(|weight| !(1e-6..1.0 - 1e-6).contains(&weight)));
}

#[test]
fn a_users_matrix_of_another_shape_works_or_is_an_ordinary_error() {
    for name in ["pooling", "transforms", "scale", "output", "gqa", "mlp", "order", "unembed", "init"] {
        let own = told(name);
        for (_, node) in own.graph.nodes().filter(|(_, node)| node.op.is_given()) {
            for (rows, cols) in [(0, 0), (1, 1), (1, 0), (0, 3), (2, 3), (5, 2), (9, 9)] {
                let set = [(node.name.clone(), (draws(7, rows, cols), "test".to_string()))].into();
                let Err(error) = find(name).unwrap().story(&Settings { set, ..Settings::default() }) else {
                    continue;
                };
                let said = error.to_string();
                assert!(
                    !said.contains("a sentence of this demo"),
                    "{name} {} {rows}×{cols}: {said}",
                    node.name
                );
            }
        }
    }
}

#[test]
fn a_model_of_counts_predicts_the_most_frequent_follower() {
    let story = told("pooling");
    assert_eq!(cell(&story, "P", "capital", "city"), 2.0 / 3.0);
    assert_eq!(cell(&story, "arg_max", "capital", "city"), 1.0);
    let predicted = matrix(&story, "arg_max");
    assert!((0..predicted.rows()).all(|i| predicted.row(i).sum::<f64>() == 1.0), "{predicted:?}");
    assert!((0..6).all(|i| (matrix(&story, "P").row(i).sum::<f64>() - 1.0).abs() < 1e-12));
}

#[test]
fn a_score_does_not_depend_on_the_length_of_the_question_but_on_its_words() {
    let story = told("pooling");
    let capital: Vec<f64> = matrix(&story, "f_capital").cells().collect();
    assert_eq!(capital, [4.0, 4.0, 4.0]);
    let city: Vec<f64> = matrix(&story, "f_city").cells().collect();
    assert_eq!(city, [0.0, 0.0, 4.0]);
}

#[test]
fn the_one_line_formula_has_every_label_of_the_document_and_nobody_cheats() {
    let story = told("output");
    let table = story.steps.iter().flat_map(|step| &step.shown).filter_map(|shown| match shown {
        StepItem::Table(table) if table.header[0] == "label in the text" => Some(table),
        _ => None,
    });
    let labels: Vec<&str> = table.flat_map(|table| table.rows.iter().map(|row| row[0].as_str())).collect();
    // 003:139, as the document writes them.
    let document = [
        "transform1",
        "transform2",
        "similarity",
        "no cheating",
        "normalising weights",
        "transformation3",
        "weighted average",
        "concat heads",
        "Getting back to input space",
    ];
    assert_eq!(labels, document);
    assert_eq!(cell(&story, "A_causal_1", "red", "bat"), 0.0);
    assert_eq!(cell(&story, "A_causal_2", "red", "bat"), 0.0);
}

#[test]
fn the_first_row_is_not_turned_and_has_position_0() {
    let story = told("order");
    let (before, after) = (matrix(&story, "Q_1_rotary"), matrix(&story, "Q_turned_1_rotary"));
    assert!(before.row(0).eq(after.row(0)) && !before.row(1).eq(after.row(1)));
    let sines = matrix(&story, "P");
    assert_eq!(sines.row(0).collect::<Vec<_>>(), [0.0, 1.0, 0.0, 1.0], "sin 0 and cos 0");
}

#[test]
fn the_gate_comes_with_its_source_and_the_documents_quotation() {
    let story = told("mlp");
    let said: String = story.steps.iter().map(|step| step.text.as_str()).collect();
    // 003:173, word for word.
    assert!(said.contains(
        "We offer no explanation as to why these architectures seem to work; we attribute their success, as all else, to \
         divine benevolence."
    ));
    assert!(said.contains("Noam Shazeer, “GLU Variants Improve Transformer”"));
}
