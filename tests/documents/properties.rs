//! What holds for attention whatever the numbers: sums, masks, causality, permutations, heads, both views.

use crate::cases::{
    Case, Projected, cases, causal_masks, close, given, masks_without_matrix, matrix, no_mask, node,
    projected, reordered, run, side_by_side,
};
use crate::common::steps::{columns, rows, softmax};
use attn::attention::{Axis, Base, Mask, MatrixRule, Pairing, Rotation};
use attn::graph::recipes::{AttendInputs, Output, Recipe, Scale};
use attn::graph::{Graph, Op, Origin};
use attn::matrix::Matrix;
use proptest::prelude::*;

const CLOSE: f64 = 1e-12;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    // Weights

    #[test]
    fn a_row_of_weights_sums_to_1_or_to_0_where_nothing_may_be_seen(case in cases()) {
        let graph = case.run();
        for weights in case.heads(&graph, "A") {
            for i in 0..weights.rows() {
                let sum: f64 = weights.row(i).sum();
                if (0..weights.cols()).any(|j| case.sees(i, j)) {
                    prop_assert!((sum - 1.0).abs() < CLOSE, "row {i}: {sum}");
                } else {
                    prop_assert!(weights.row(i).all(|x| x.to_bits() == 0), "row {i}: {sum}");
                }
            }
        }
    }

    #[test]
    fn a_masked_cell_has_weight_exactly_0_and_a_visible_one_more(case in cases()) {
        let graph = case.run();
        for weights in case.heads(&graph, "A") {
            for (i, j) in (0..weights.rows()).flat_map(|i| (0..weights.cols()).map(move |j| (i, j))) {
                if case.sees(i, j) {
                    prop_assert!(weights[(i, j)] > 0.0 && weights[(i, j)] <= 1.0);
                } else {
                    prop_assert_eq!(weights[(i, j)].to_bits(), 0);
                }
            }
        }
    }

    #[test]
    fn a_query_that_sees_nothing_gives_exactly_0_and_a_warning_and_nothing_is_ever_nan(case in cases()) {
        let graph = case.run();
        let blind = |i: &usize| (0..case.k.rows()).all(|j| !case.sees(*i, j));
        let blind: Vec<usize> = (0..case.q.rows()).filter(blind).collect();
        let output = node(&graph, "O");
        prop_assert!(blind.iter().all(|&i| output.row(i).all(|x| x == 0.0)));
        let warned = graph.warnings().iter().filter(|warning| warning.contains("may attend to nothing")).count();
        prop_assert_eq!(warned, if blind.is_empty() { 0 } else { case.recipe.heads });
        prop_assert!(graph.nodes().all(|(_, node)| node.matrix().unwrap().cells().all(|x| !x.is_nan())));
    }

    #[test]
    fn an_output_lies_between_the_values_that_it_mixes(case in cases()) {
        let graph = case.run();
        let output = node(&graph, "O");
        let (width, copies) = (case.v.cols() / case.recipe.kv_heads, case.recipe.heads / case.recipe.kv_heads);
        for (i, j) in (0..output.rows()).flat_map(|i| (0..output.cols()).map(move |j| (i, j))) {
            let column = j / width / copies * width + j % width;
            let seen: Vec<f64> = (0..case.v.rows()).filter(|&n| case.sees(i, n)).map(|n| case.v[(n, column)]).collect();
            let (low, high) = seen.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| (l.min(x), h.max(x)));
            let inside = low - CLOSE <= output[(i, j)] && output[(i, j)] <= high + CLOSE;
            prop_assert!(seen.is_empty() || inside, "{low} {} {high}", output[(i, j)]);
            if let [only] = seen[..] {
                prop_assert_eq!(output[(i, j)], only);
            }
        }
    }

    #[test]
    fn a_constant_added_to_a_row_of_scores_leaves_its_weights(case in cases(), constants in matrix(5, 1)) {
        let row = |i: usize| 10.0 * constants[(i % 5, 0)];
        let bias = case.bias.clone().unwrap_or_else(|| Matrix::filled(case.q.rows(), case.k.rows(), 0.0));
        let shifted = Case {
            bias: Some(Matrix::from_fn(bias.rows(), bias.cols(), |i, j| bias[(i, j)] + row(i))),
            recipe: Recipe { temperature: 1.0, ..case.recipe },
            ..case.clone()
        };
        let plain = Case { recipe: shifted.recipe, ..case };
        prop_assert!(close(node(&plain.run(), "O"), node(&shifted.run(), "O"), 1e-11));
    }

    #[test]
    fn a_higher_temperature_flattens_and_a_very_high_one_gives_equal_weights(case in cases(), factor in 1.0..5.0_f64) {
        // An added mask acts after the temperature, which does not flatten it.
        let matrix = case.recipe.mask.matrix.filter(|&rule| rule != MatrixRule::Add);
        let mask = Mask { matrix, ..case.recipe.mask };
        let case = Case { recipe: Recipe { mask, ..case.recipe }, ..case };
        let at = |temperature: f64| case.heads(&case.under(Recipe { temperature, ..case.recipe }), "A");
        let (cold, warm, hot) = (at(case.recipe.temperature), at(case.recipe.temperature * factor), at(1e12));
        let max = |weights: &Matrix, i: usize| weights.row(i).fold(0.0, f64::max);
        for (head, i) in (0..warm.len()).flat_map(|head| (0..case.q.rows()).map(move |i| (head, i))) {
            prop_assert!(max(&warm[head], i) <= max(&cold[head], i) + CLOSE);
            let seen = (0..case.k.rows()).filter(|&j| case.sees(i, j)).count() as f64;
            prop_assert!(hot[head].row(i).all(|x| x == 0.0 || (x - 1.0 / seen).abs() < 1e-9));
        }
    }

    // Masks

    #[test]
    fn a_later_token_changes_no_bit_of_the_rows_before_it(
        case in projected(causal_masks()), token in 0..6_usize, other in matrix(1, 3)
    ) {
        let token = token % case.x.rows();
        let cell = |i, j| if i == token { other[(0, j)] } else { case.x[(i, j)] };
        let changed = Matrix::from_fn(case.x.rows(), 3, cell);
        let (before, after) = (case.run(&case.x), case.run(&changed));
        let earlier = |graph: &Graph| rows(node(graph, "O"), 0, token).unwrap();
        prop_assert!(earlier(&before).same_bits(&earlier(&after)));
    }

    #[test]
    fn the_last_queries_alone_give_the_last_rows_as_when_decoding_with_a_cache(
        case in projected(causal_masks()), last in 1..6_usize
    ) {
        let mask = Mask { from_start: false, ..case.recipe.mask };
        let recipe = Recipe { mask, output: Output::default(), ..case.recipe };
        let case = Projected { recipe, ..case };
        let whole = case.run(&case.x);
        let (tokens, [q, k, v, o]) = (case.x.rows(), ["Q", "K", "V", "O"].map(|name| node(&whole, name)));
        let last = last.min(tokens);
        let inputs = |part: &Matrix| AttendInputs {
            q: given(part), k: given(k), v: given(v), w_o: given(&case.weights[3]), ..AttendInputs::default()
        };
        let ending = run(&recipe, inputs(&rows(q, tokens - last, last).unwrap()));
        prop_assert!(node(&ending, "O").same_bits(&rows(o, tokens - last, last).unwrap()));

        let mask = Mask { from_start: true, ..mask };
        let beginning = run(&Recipe { mask, ..recipe }, inputs(&rows(q, 0, last).unwrap()));
        prop_assert!(node(&beginning, "O").same_bits(&rows(o, 0, last).unwrap()));
    }

    #[test]
    fn a_rule_written_as_a_matrix_is_the_same_rule(case in cases()) {
        let pattern = Matrix::from_fn(case.q.rows(), case.k.rows(), |i, j| if case.sees(i, j) { 1.0 } else { 0.0 });
        let masked = |rule: MatrixRule, mask: Matrix| {
            let recipe = Recipe { mask: Mask { matrix: Some(rule), ..Mask::default() }, ..case.recipe };
            Case { recipe, mask, ..case.clone() }.run()
        };
        let allowed = masked(MatrixRule::Allow, pattern.clone());
        let blocked = masked(MatrixRule::Block, pattern.map(|x| 1.0 - x));
        let hidden = pattern.map(|x| if x == 0.0 { f64::NEG_INFINITY } else { 0.0 });
        let added = masked(MatrixRule::Add, hidden);
        let output = node(&allowed, "O");
        prop_assert!(node(&blocked, "O").same_bits(output) && node(&added, "O").same_bits(output));
        if case.recipe.mask.matrix != Some(MatrixRule::Add) {
            prop_assert!(node(&case.run(), "O").same_bits(output));
        }
    }

    // Order of the tokens

    #[test]
    fn without_mask_and_positions_shuffled_tokens_give_the_same_rows_shuffled(
        case in projected(no_mask()), order in Just(vec![0_usize, 1, 2, 3, 4]).prop_shuffle()
    ) {
        let order: Vec<usize> = order.into_iter().filter(|&i| i < case.x.rows()).collect();
        let (plain, shuffled) = (case.run(&case.x), case.run(&reordered(&case.x, &order)));
        prop_assert!(close(node(&shuffled, "O"), &reordered(node(&plain, "O"), &order), 1e-10));
    }

    #[test]
    fn the_order_of_keys_with_their_values_does_not_matter(
        case in cases(), order in Just(vec![0_usize, 1, 2, 3, 4]).prop_shuffle()
    ) {
        let order: Vec<usize> = order.into_iter().filter(|&i| i < case.k.rows()).collect();
        let case = Case { recipe: Recipe { mask: Mask::default(), ..case.recipe }, bias: None, ..case };
        let (k, v) = (reordered(&case.k, &order), reordered(&case.v, &order));
        let shuffled = Case { k, v, ..case.clone() };
        prop_assert!(close(node(&case.run(), "O"), node(&shuffled.run(), "O"), CLOSE));
    }

    #[test]
    fn rotary_scores_depend_on_how_far_tokens_are_apart_alone(
        q in matrix(3, 4), k in matrix(3, 4), shift in 1..50_usize
    ) {
        let scores = |first: usize| {
            let mut graph = Graph::new();
            let q = graph.given("Q", q.clone(), Origin::Stated).unwrap();
            let k = graph.given("K", k.clone(), Origin::Stated).unwrap();
            let f = graph.add("F", Op::Frequencies { width: 4, base: 10_000.0 }, &[]).unwrap();
            let rotary = Op::Rotary(Rotation { first, pairing: Pairing::Halves, magnitude: 1.0 });
            let q = graph.add("Q_turned", rotary.clone(), &[q, f]).unwrap();
            let k = graph.add("K_turned", rotary, &[k, f]).unwrap();
            graph.add("S", Op::ProductTransposed, &[q, k]).unwrap();
            node(&graph, "S").clone()
        };
        prop_assert!(close(&scores(0), &scores(shift), 1e-12));
    }

    // Heads

    #[test]
    fn heads_are_single_heads_on_their_columns_side_by_side(case in cases()) {
        let Recipe { heads, kv_heads, .. } = case.recipe;
        let (d_k, d_v) = (case.q.cols() / heads, case.v.cols() / kv_heads);
        let singles = (1..=heads).map(|head| {
            // The rule as the paper counts it, from 1: query head h reads key/value head ⌈h · G / H⌉.
            let group = (head * kv_heads).div_ceil(heads) - 1;
            let single = Case {
                recipe: Recipe { heads: 1, kv_heads: 1, ..case.recipe },
                q: columns(&case.q, (head - 1) * d_k, d_k).unwrap(),
                k: columns(&case.k, group * d_k, d_k).unwrap(),
                v: columns(&case.v, group * d_v, d_v).unwrap(),
                ..case.clone()
            };
            node(&single.run(), "O").clone()
        });
        let singles: Vec<Matrix> = singles.collect();
        prop_assert!(node(&case.run(), "O").same_bits(&side_by_side(&singles)));
    }

    #[test]
    fn grouped_heads_are_multi_head_attention_with_keys_and_values_repeated(case in cases()) {
        let Recipe { heads, kv_heads, .. } = case.recipe;
        let repeated = |matrix: &Matrix| {
            let width = matrix.cols() / kv_heads;
            let part = |head: usize| columns(matrix, head / (heads / kv_heads) * width, width).unwrap();
            side_by_side(&(0..heads).map(part).collect::<Vec<_>>())
        };
        let full = Case {
            recipe: Recipe { kv_heads: heads, ..case.recipe },
            k: repeated(&case.k),
            v: repeated(&case.v),
            ..case.clone()
        };
        prop_assert!(node(&case.run(), "O").same_bits(node(&full.run(), "O")));
    }

    // Scale, residual, output

    #[test]
    fn the_scale_multiplies_and_none_leaves_the_scores_as_they_are(case in cases(), number in -3.0..3.0_f64) {
        let scaled = |scale| case.under(Recipe { scale, ..case.recipe });
        let times = scaled(Scale::Number(number));
        for (s, scaled) in case.heads(&times, "S").iter().zip(case.heads(&times, "S_scaled")) {
            prop_assert!(scaled.same_bits(&s.map(|x| x * number)));
        }
        let (none, once) = (scaled(Scale::None), scaled(Scale::Number(1.0)));
        prop_assert!(none.nodes().all(|(_, node)| !node.name.starts_with("S_scaled")));
        prop_assert!(node(&none, "O").same_bits(node(&once, "O")));
        let width = (case.q.cols() / case.recipe.heads) as f64;
        let root = scaled(Scale::Number(1.0 / width.sqrt()));
        prop_assert!(node(&scaled(Scale::Auto), "O").same_bits(node(&root, "O")));
    }

    #[test]
    fn the_residual_adds_the_input_to_the_result(case in projected(masks_without_matrix())) {
        let with = |residual| {
            let recipe = Recipe { output: Output { residual, ..Output::default() }, ..case.recipe };
            Projected { recipe, ..case.clone() }.run(&case.x)
        };
        let (plain, added) = (with(false), with(true));
        let rest = node(&plain, "O");
        let sum = Matrix::from_fn(rest.rows(), rest.cols(), |i, j| 0.0 + case.x[(i, j)] + rest[(i, j)]);
        prop_assert!(node(&added, "O").same_bits(&sum));
        prop_assert_eq!(added.last(), added.find("O"));
    }

    // The softmax by itself, and both views

    #[test]
    fn the_column_view_is_the_row_view_transposed_to_the_last_bit(
        q in matrix(4, 3), k in matrix(5, 3), v in matrix(5, 2)
    ) {
        let mut graph = Graph::new();
        let [q, k, v] = [("Q", q), ("K", k), ("V", v)].map(|(name, m)| graph.given(name, m, Origin::Stated).unwrap());
        let mut add = |name: &str, op: Op, inputs: &[_]| graph.add(name, op, inputs).unwrap();
        let (s, grid) = (add("S", Op::ProductTransposed, &[q, k]), add("grid", Op::ProductTransposed, &[k, q]));
        let a = add("A", Op::Softmax(Axis::Rows, Base::E), &[s]);
        let a_grid = add("A_grid", Op::Softmax(Axis::Columns, Base::E), &[grid]);
        let v_turned = add("V_turned", Op::Transpose, &[v]);
        add("O", Op::Product, &[a, v]);
        add("O_grid", Op::Product, &[v_turned, a_grid]);
        for (name, grid) in [("S", "grid"), ("A", "A_grid"), ("O", "O_grid")] {
            prop_assert!(node(&graph, grid).same_bits(&node(&graph, name).transposed()), "{}", name);
        }
    }

    #[test]
    fn the_softmax_keeps_order_and_equality_and_ignores_what_all_scores_share(
        scores in matrix(3, 5), shift in -500.0..500.0_f64, base in 1.5..20.0_f64
    ) {
        // Whole numbers among them, so that some are equal.
        let scores = Matrix::from_fn(3, 5, |i, j| if j < 3 { scores[(i, j)].round() } else { scores[(i, j)] });
        let weights = softmax(&scores, Axis::Rows, Base::E);
        for (i, j, k) in (0..3).flat_map(|i| (0..5).flat_map(move |j| (0..5).map(move |k| (i, j, k)))) {
            let (before, after) = ((scores[(i, j)], scores[(i, k)]), (weights[(i, j)], weights[(i, k)]));
            prop_assert!(before.0 + 1e-6 >= before.1 || after.0 < after.1);
            prop_assert!(before.0 != before.1 || after.0 == after.1);
        }
        let shifted = softmax(&scores.map(|x| x + shift), Axis::Rows, Base::E);
        prop_assert!(close(&weights, &shifted, CLOSE));
        let other_base = softmax(&scores.map(|x| x / attn::elementary::ln(base)), Axis::Rows, Base::Number(base));
        prop_assert!(close(&weights, &other_base, CLOSE));
    }
}
