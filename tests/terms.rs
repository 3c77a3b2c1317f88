//! The terms of a cell are its explanation; evaluating them must give the bits that were recorded.

mod common;

use attn::attention::{Axis, Base, Mask, MatrixRule};
use attn::graph::build::{
    AttendInputs, Comparison, Groups, Hiding, Merge, Normalise, Output, Projection, Recipe, Scale, Score,
    Split, Values, attend,
};
use attn::graph::{Factor, Graph, Op, Origin, Side, Statistic};
use attn::matrix::Matrix;
use common::assert_terms_give_the_recorded_bits;
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
        let mut graph = Graph::new();
        let a = graph.given("a", a, Origin::Stated).unwrap();
        let b = graph.given("b", b, Origin::Drawn(0)).unwrap();
        let unary = [
            Op::Transpose,
            Op::Scale(Factor::Number(-0.5)),
            Op::Scale(Factor::InverseRoot(3)),
            Op::Temperature(0.3),
            Op::MaskPattern(Mask { causal: true, window: Some(2), ..Mask::default() }),
            Op::MinusMax(Axis::Rows),
            Op::MinusMax(Axis::Columns),
            Op::Exponential(Base::E),
            Op::Exponential(Base::Number(3.0)),
            Op::Sums(Axis::Rows),
            Op::Sums(Axis::Columns),
            Op::Largest(Axis::Rows),
            Op::Largest(Axis::Columns),
            Op::DivideBySum(Axis::Rows),
            Op::DivideBySum(Axis::Columns),
            Op::Softmax(Axis::Rows, Base::Number(2.0)),
            Op::Softmax(Axis::Columns, Base::E),
            Op::Softmax(Axis::Whole, Base::E),
            Op::UnguardedSoftmax(Axis::Rows, Base::E),
            Op::UnguardedSoftmax(Axis::Columns, Base::Number(2.0)),
            Op::MinusMax(Axis::Whole),
            Op::DivideBySum(Axis::Whole),
            Op::Sums(Axis::Whole),
            Op::Largest(Axis::Whole),
            Op::EveryNthColumn { start: 1, step: 2 },
            Op::Reshape { rows: 2, cols: 6 },
            Op::Scale(Factor::Inverse(3)),
            Op::Scale(Factor::Root(3)),
            Op::MaskPattern(Mask { causal: true, hides_own: true, inverted: true, ..Mask::default() }),
            Op::Columns { start: 1, count: 2 },
            Op::Rows { start: 1, count: 2 },
            Op::Relu,
            Op::Silu,
            Op::RmsNorm(1e-5),
            Op::UnitRows,
            Op::Rotary { first: 3, base: 10_000.0 },
            Op::SingularVectors { side: Side::Left, rank: 2 },
            Op::SingularVectors { side: Side::Right, rank: 2 },
            Op::SingularValues,
            Op::Summary(Statistic::Mean),
            Op::Summary(Statistic::RootMeanSquare),
            Op::Summary(Statistic::Largest),
            Op::Summary(Statistic::LargestSize),
            Op::Round(2),
        ];
        for (i, op) in unary.into_iter().enumerate() {
            graph.add(&format!("unary_{i}"), op, &[a]).unwrap();
        }
        let one = graph.add("mean", Op::Summary(Statistic::Mean), &[b]).unwrap();
        graph.add("divide", Op::Divide, &[a, one]).unwrap();
        let hidden = |m: &Matrix| m.map(|x| if x > 3.0 { f64::NEG_INFINITY } else { x.max(-1.0) });
        let [c, d] = [a, b].map(|id| hidden(graph.matrix(id).unwrap()));
        let c = graph.given("c", c, Origin::Stated).unwrap();
        let d = graph.given("d", d, Origin::Stated).unwrap();
        graph.add("change", Op::Change, &[c, d]).unwrap();
        for op in [Op::ProductTransposed, Op::Add, Op::Subtract, Op::Multiply, Op::Concatenate, Op::Stack(None), Op::Cosine, Op::Euclidean] {
            graph.add(op.name(), op.clone(), &[a, b]).unwrap();
        }
        let row = graph.add("row", Op::Rows { start: 1, count: 1 }, &[a]).unwrap();
        graph.add("diagonal", Op::Diagonal, &[row]).unwrap();
        let turned = graph.find("unary_0").unwrap();
        graph.add("product", Op::Product, &[a, turned]).unwrap();
        graph.add("positions", Op::Sinusoidal { tokens: 5, width: 4 }, &[]).unwrap();
        for (name, rule) in [("allow", MatrixRule::Allow), ("block", MatrixRule::Block), ("added", MatrixRule::Add)] {
            let mask = Mask { matrix: Some(rule), causal: true, ..Mask::default() };
            graph.add(name, Op::Mask(mask), &[a, b]).unwrap();
            let turned = Mask { inverted: true, hides_own: true, ..mask };
            graph.add(&format!("{name}_turned"), Op::Mask(turned), &[a, b]).unwrap();
            graph.add(&format!("{name}_pattern"), Op::MaskPattern(mask), &[a, b]).unwrap();
        }
        assert_terms_give_the_recorded_bits(&graph);
    }
}

/// A recipe with every kind of slip in it.
fn slips() -> impl Strategy<Value = Recipe> {
    let choices = (0..2_usize, 0..2_usize, 0..5_usize, 0..5_usize, 0..5_usize, 0..3_usize, 0..4_usize);
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
            output: Output { projected: merge != 3, residual: false },
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
    assert_eq!(
        graph.warnings(),
        ["A: row 1 may attend to nothing; its weights are 0, and so is what it mixes"]
    );
}
