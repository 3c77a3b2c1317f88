//! The terms of a cell are its explanation; evaluating them must give the bits that were recorded.

use crate::common::assert_terms_give_the_recorded_bits;
use attn::attention::{Axis, Base, Mask, MatrixRule};
use attn::graph::build::{
    AttendInputs, Comparison, Groups, Hiding, Merge, Normalise, Output, Projection, Recipe, Scale, Score,
    Split, Values, attend,
};
use attn::graph::{Graph, Op, Origin};
use attn::matrix::Matrix;
use proptest::prelude::*;

fn matrix(rows: usize, cols: usize) -> impl Strategy<Value = Matrix> {
    proptest::collection::vec(-4.0..4.0_f64, rows * cols)
        .prop_map(move |values| Matrix::from_row_major(rows, cols, &values).unwrap())
}

fn given(matrix: Matrix) -> Option<(Matrix, Origin)> {
    Some((matrix, Origin::Stated))
}

/// (heads, key/value heads) and whether the causal rule, the window, the bias, an added mask and the cosine are on.
fn recipes() -> impl Strategy<Value = (Recipe, bool, bool)> {
    let heads = prop_oneof![Just((1, 1)), Just((2, 1)), Just((2, 2))];
    (heads, any::<[bool; 6]>(), 1..4_usize).prop_map(
        |((heads, kv_heads), [causal, window, bias, added, cosine, residual], size)| {
            let mask = Mask {
                causal,
                window: window.then_some(size),
                from_start: false,
                matrix: added.then_some(MatrixRule::Add),
                ..Mask::default()
            };
            let recipe = Recipe {
                heads,
                kv_heads,
                score: if cosine { Score::Cosine } else { Score::Dot },
                scale: if cosine { Scale::Number(0.3) } else { Scale::Auto },
                temperature: if bias { 0.7 } else { 1.0 },
                mask,
                output: Output { residual, ..Default::default() },
                ..Recipe::default()
            };
            (recipe, bias, added)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn of_every_cell_of_random_pipelines(
        (recipe, bias, added) in recipes(),
        x in matrix(3, 4),
        weights in [matrix(4, 4), matrix(4, 4), matrix(4, 4), matrix(4, 4)],
        extra in [matrix(3, 3), matrix(3, 3)],
    ) {
        let narrow = |w: &Matrix| attn::attention::columns(w, 0, 4 / recipe.heads * recipe.kv_heads).unwrap();
        let inputs = AttendInputs {
            x: given(x),
            w_q: given(weights[0].clone()),
            w_k: given(narrow(&weights[1])),
            w_v: given(narrow(&weights[2])),
            w_o: given(weights[3].clone()),
            bias: bias.then(|| (extra[0].clone(), Origin::Stated)),
            mask: added.then(|| (extra[1].map(|x| if x > 2.0 { f64::NEG_INFINITY } else { x }), Origin::Stated)),
            ..AttendInputs::default()
        };
        assert_terms_give_the_recorded_bits(&attend(&recipe, inputs).unwrap());
    }

    #[test]
    fn of_every_cell_of_every_op(a in matrix(3, 4), b in matrix(3, 4), zero_row in any::<bool>()) {
        let a = Matrix::from_fn(3, 4, |i, j| if zero_row && i == 1 { 0.0 } else { a[(i, j)] });
        assert_terms_give_the_recorded_bits(&crate::cases::every_op(a, b));
    }
}

/// A recipe with every kind of slip in it.
fn slips() -> impl Strategy<Value = Recipe> {
    let choices = (0..2_usize, 0..2_usize, 0..5_usize, 0..6_usize, 0..5_usize, 0..3_usize, 0..4_usize);
    (choices, any::<[bool; 5]>()).prop_map(|(choices, [tiled, guarded, inverted, own, transposed])| {
        let (split, comparison, scale, hiding, normalise, values, merge) = choices;
        Recipe {
            heads: 2,
            kv_heads: 2,
            projection: [Projection::AsGiven, Projection::Transposed][usize::from(transposed)],
            split: [Split::Blocks, Split::Interleaved][split],
            groups: [Groups::Shared, Groups::Tiled][usize::from(tiled)],
            comparison: [Comparison::QueriesWithKeys, Comparison::KeysWithQueries][comparison],
            scale: [Scale::Auto, Scale::None, Scale::Inverse, Scale::Root, Scale::InverseRootOf(5)][scale],
            mask: Mask { causal: true, inverted, hides_own: own, ..Mask::default() },
            hiding: [
                Hiding::MinusInfinity,
                Hiding::Zero,
                Hiding::MinusBillion,
                Hiding::OneAddedToVisible,
                Hiding::OneAddedToHidden,
                Hiding::AfterSoftmax,
            ][hiding],
            score_decimals: tiled.then_some(1),
            normalise: [
                Normalise::OverKeys,
                Normalise::OverQueries,
                Normalise::OverAll,
                Normalise::Not,
                Normalise::BySum,
            ][normalise],
            base: if guarded { Base::E } else { Base::Number(2.0) },
            guarded,
            weight_decimals: own.then_some(2),
            values: [Values::Projected, Values::Tokens, Values::Keys][values],
            merge: [Merge::SideBySide, Merge::Reversed, Merge::Reshaped, Merge::Summed][merge],
            output: Output { projected: merge != 3, ..Output::default() },
            ..Recipe::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn of_every_cell_of_random_pipelines_with_mistakes_in_them(
        recipe in slips(),
        x in matrix(3, 4),
        weights in [matrix(4, 4), matrix(4, 4), matrix(4, 4), matrix(4, 4)],
    ) {
        let [w_q, w_k, w_v, w_o] = weights.map(given);
        let inputs = AttendInputs { x: given(x), w_q, w_k, w_v, w_o, ..AttendInputs::default() };
        assert_terms_give_the_recorded_bits(&attend(&recipe, inputs).unwrap());
    }
}

#[test]
fn of_a_row_that_may_attend_to_nothing() {
    let hidden = f64::NEG_INFINITY;
    let mut graph = Graph::new();
    let s = graph.given("S", Matrix::of([[hidden, hidden], [0.0, hidden]]), Origin::Stated).unwrap();
    graph.add("A", Op::Softmax(Axis::Rows, Base::E), &[s]).unwrap();
    assert_terms_give_the_recorded_bits(&graph);
    assert_eq!(graph.warnings(), ["A: row 1 may attend to nothing; its weights and its result are 0"]);
}
