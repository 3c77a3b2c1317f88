//! What holds for positions, soft-caps, sinks, windows and gates whatever the numbers.

use crate::cases::{
    Case, Projected, cases, close, given, masks_without_matrix, matrix, no_mask, node, projected, run,
};
use attn::attention::{Mask, Pairing, RopeScaling, Yarn};
use attn::elementary::exp;
use attn::graph::recipes::{
    AttendInputs, NormPlace, PositionKind, Positions, QkNorm, Recipe, Rotary, attend_fused,
};
use attn::kernel::Machine;
use attn::matrix::Matrix;
use attn::tensor::Dtype;
use proptest::prelude::*;

const CLOSE: f64 = 1e-12;

/// A case of heads of width 4 with rotary positions.
fn rotated(case: &Case, rotary: Rotary, first: usize) -> Recipe {
    Recipe {
        positions: Positions { kind: PositionKind::Rotary(rotary), first, ..Positions::default() },
        ..case.recipe
    }
}

/// Any case whose heads have four columns.
fn cases_of_width_4() -> impl Strategy<Value = Case> {
    cases().prop_flat_map(|case| {
        let (heads, groups) = (case.recipe.heads, case.recipe.kv_heads);
        (matrix(case.q.rows(), 4 * heads), matrix(case.k.rows(), 4 * groups)).prop_map(move |(q, k)| Case {
            q,
            k,
            ..case.clone()
        })
    })
}

fn pairing() -> impl Strategy<Value = Pairing> {
    prop_oneof![Just(Pairing::Halves), Just(Pairing::Neighbours)]
}

/// The columns of each head, of width 4, in the order that makes halves of neighbours.
fn neighbours_as_halves(x: &Matrix) -> Matrix {
    Matrix::from_fn(x.rows(), x.cols(), |i, j| x[(i, j / 4 * 4 + [0, 2, 1, 3][j % 4])])
}

/// A scaling that changes nothing.
fn idle_scaling() -> impl Strategy<Value = RopeScaling> {
    let yarn = |original| {
        let (factor, base, fast, slow, truncate) = (1.0, 10_000.0, 32.0, 1.0, true);
        RopeScaling::Yarn(Yarn { factor, original, base, fast, slow, truncate, attention: None })
    };
    prop_oneof![
        Just(RopeScaling::Linear { factor: 1.0 }),
        (1.0..100.0_f64).prop_map(|original| RopeScaling::Dynamic {
            factor: 4.0,
            original: 100.0 + original,
            length: 0
        }),
        (1.0..9000.0_f64).prop_map(|original| RopeScaling::Llama3 {
            factor: 1.0,
            low: 1.0,
            high: 4.0,
            original
        }),
        (1.0..9000.0_f64).prop_map(yarn),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn with_rotary_positions_only_distances_count(
        case in cases_of_width_4(), pairing in pairing(), base in 2.0..1e6_f64, first in 1..200_usize
    ) {
        let rotary = Rotary { pairing, base, ..Rotary::default() };
        let (here, later) = (case.under(rotated(&case, rotary, 0)), case.under(rotated(&case, rotary, first)));
        for (a, b) in case.heads(&here, "S").iter().zip(case.heads(&later, "S")) {
            prop_assert!(close(a, &b, 1e-11));
        }
        if case.q.cells().any(|x| x.abs() > 0.01) {
            prop_assert!(case.heads(&here, "Q_rotated") != case.heads(&later, "Q_rotated"), "nothing is rotated");
        }
    }

    #[test]
    fn neighbours_are_halves_of_columns_in_another_order(case in cases_of_width_4(), first in 0..20_usize) {
        let neighbours = Rotary { pairing: Pairing::Neighbours, ..Rotary::default() };
        let reordered = Case { q: neighbours_as_halves(&case.q), k: neighbours_as_halves(&case.k), ..case.clone() };
        let halves = reordered.under(rotated(&case, Rotary::default(), first));
        let neighbours = case.under(rotated(&case, neighbours, first));
        prop_assert!(close(node(&halves, "O"), node(&neighbours, "O"), CLOSE));
    }

    #[test]
    fn a_scaling_by_one_changes_nothing(case in cases_of_width_4(), scaling in idle_scaling()) {
        let plain = case.under(rotated(&case, Rotary::default(), 0));
        let scaled = case.under(rotated(&case, Rotary { scaling: Some(scaling), ..Rotary::default() }, 0));
        prop_assert!(close(node(&plain, "O"), node(&scaled, "O"), CLOSE), "{scaling:?}");
    }

    #[test]
    fn a_table_of_zeros_a_cap_far_away_and_no_sink_change_nothing(case in cases()) {
        let plain = case.run();
        let heads = case.recipe.heads;
        let kind = PositionKind::Buckets { furthest: 16 };
        let recipe = Recipe {
            positions: Positions { kind, ..Positions::default() },
            soft_cap: Some(1e9),
            ..case.recipe
        };
        let inputs = AttendInputs {
            position_table: given(&Matrix::filled(8, heads, 0.0)),
            sink: given(&Matrix::filled(1, heads, f64::NEG_INFINITY)),
            ..case.inputs()
        };
        prop_assert!(close(node(&plain, "O"), node(&run(&recipe, inputs), "O"), CLOSE));
    }

    #[test]
    fn a_window_over_all_keys_hides_none_and_nor_does_one_that_keeps_all(case in cases()) {
        let mask = Mask { window: None, ..case.recipe.mask };
        let open = case.under(Recipe { mask, ..case.recipe });
        for (window, keep_first) in [(9, 0), (9, 3), (1, 9)] {
            let mask = Mask { window: Some(window), keep_first, ..case.recipe.mask };
            let windowed = case.under(Recipe { mask, ..case.recipe });
            prop_assert!(node(&open, "O").same_bits(node(&windowed, "O")), "{window} {keep_first}");
        }
    }

    #[test]
    fn weights_beside_a_sink_are_smaller_by_one_factor_in_each_row(case in cases(), sink in -3.0..3.0_f64) {
        let heads = case.recipe.heads;
        let inputs = AttendInputs { sink: given(&Matrix::filled(1, heads, sink)), ..case.inputs() };
        let (plain, with_sink) = (case.run(), run(&case.recipe, inputs));
        for (head, (a, b)) in case.heads(&plain, "A").iter().zip(case.heads(&with_sink, "A")).enumerate() {
            let name = if heads > 1 { format!("A_{}", head + 1) } else { "A".to_string() };
            let scores = plain.matrix(plain[plain.find(&name).unwrap()].inputs[0]).unwrap();
            for i in 0..a.rows() {
                let share: f64 = b.row(i).sum();
                // What the keys have beside the sink; it rounds to 1 where the sink is far below all scores.
                let max = scores.row(i).fold(sink, f64::max);
                let keys: f64 = scores.row(i).map(|x| exp(x - max)).sum();
                let expected = keys / (keys + exp(sink - max));
                prop_assert!((share - expected).abs() < CLOSE, "row {i}: {share}, and not {expected}");
                prop_assert!(a.row(i).zip(b.row(i)).all(|(a, b)| (a * share - b).abs() < CLOSE));
            }
        }
    }

    #[test]
    fn a_gate_that_is_wide_open_changes_nothing_and_one_that_is_shut_lets_nothing_through(case in projected(no_mask())) {
        let Projected { recipe, x, weights } = &case;
        let plain = case.run(x);
        // A constant column makes every gate's input 50.
        let x_and_one = Matrix::from_fn(x.rows(), 4, |i, j| if j < 3 { x[(i, j)] } else { 1.0 });
        let wider = |w: &Matrix| Matrix::from_fn(4, w.cols(), |i, j| if i < 3 { w[(i, j)] } else { 0.0 });
        let open = Matrix::from_fn(4, recipe.heads, |i, _| if i < 3 { 0.0 } else { 50.0 });
        let inputs = |gate: &Matrix| AttendInputs {
            x: given(&x_and_one),
            w_q: given(&wider(&weights[0])),
            w_k: given(&wider(&weights[1])),
            w_v: given(&wider(&weights[2])),
            w_g: given(gate),
            ..AttendInputs::default()
        };
        let mut recipe = *recipe;
        recipe.output.residual = false;
        let gated = run(&recipe, inputs(&open));
        prop_assert!(close(node(&gated, "C"), node(&gated, "O"), CLOSE));
        prop_assert_eq!(node(&gated, "C").rows(), node(&plain, "C").rows());
        let shut = run(&recipe, inputs(&open.map(|x| -x)));
        prop_assert!(node(&shut, "O").cells().all(|x| x.abs() < CLOSE), "a gate that is shut lets something through");
    }

    #[test]
    fn normed_queries_and_keys_forget_their_lengths(
        case in cases_of_width_4(), longer in 1.0..50.0_f64, after in any::<bool>()
    ) {
        let place = if after { NormPlace::AfterRotation } else { NormPlace::BeforeRotation };
        let recipe = Recipe {
            qk_norm: QkNorm { place, epsilon: 1e-300, ..QkNorm::default() },
            ..rotated(&case, Rotary::default(), 0)
        };
        let stretched = Case { q: case.q.map(|x| longer * x), ..case.clone() };
        let (own, other) = (case.under(recipe), stretched.under(recipe));
        prop_assert!(close(node(&own, "O"), node(&other, "O"), 1e-10));
    }

    #[test]
    fn both_paths_give_the_same_with_positions_cap_sink_and_kept_keys(
        case in cases_of_width_4(), mask in masks_without_matrix(), kind in 0..3_usize, keep_first in 0..3_usize
    ) {
        let kinds = [
            PositionKind::Rotary(Rotary::default()),
            PositionKind::Alibi { heads: None },
            PositionKind::Buckets { furthest: 9 },
        ];
        let keep_first = if mask.window.is_some() { keep_first } else { 0 };
        let recipe = Recipe {
            positions: Positions { kind: kinds[kind], first: 3, ..Positions::default() },
            score: attn::graph::recipes::Score::Dot,
            mask: Mask { keep_first, matrix: None, ..mask },
            soft_cap: Some(2.0),
            ..case.recipe
        };
        let inputs = AttendInputs {
            mask: None,
            position_table: given(&Matrix::from_fn(6, recipe.heads, |i, j| (i + j) as f64 / 3.0)),
            sink: given(&Matrix::from_fn(1, recipe.heads, |_, j| j as f64 - 0.5)),
            ..case.inputs()
        };
        let exact = run(&recipe, inputs.clone());
        let (fast, _) = attend_fused(&recipe, inputs, Dtype::F64, Machine::here()).expect("the shapes fit");
        let fused = fast.matrix(fast.require("O").expect("O")).expect("formed");
        prop_assert!(close(node(&exact, "O"), fused, 1e-11));
    }
}
