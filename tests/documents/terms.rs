//! The terms of a cell are its explanation; evaluating them must give the bits that were recorded.

use crate::common::assert_terms_give_the_recorded_bits;
use attn::attention::{Axis, Base, Mask, MatrixRule, Order};
use attn::graph::recipes::{
    AfterNormalise, Alter, Alteration, AttendInputs, Combine, Divisor, Groups, HeadSharing, Hiding, Merge,
    Move, Norm, Normalise, NormaliseAxis, OtherMatrix, Output, Qkv, QkvSource, QkvSources, Recipe, Scale,
    Score, ScoreFunction, ScoreRows, Shift, Site, Slant, Split, attend, attend_as_far_as_possible,
};
use attn::graph::{GeluForm, Given, Graph, Op, Origin};
use attn::matrix::Matrix;
use proptest::prelude::*;

fn matrix(rows: usize, cols: usize) -> impl Strategy<Value = Matrix> {
    proptest::collection::vec(-4.0..4.0_f64, rows * cols)
        .prop_map(move |values| Matrix::from_row_major(rows, cols, &values).unwrap())
}

fn given(matrix: Matrix) -> Option<Given> {
    Some(matrix.into())
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
        let narrow = |w: &Matrix| crate::common::steps::columns(w, 0, 4 / recipe.heads * recipe.kv_heads).unwrap();
        let inputs = AttendInputs {
            x: given(x),
            w_q: given(weights[0].clone()),
            w_k: given(narrow(&weights[1])),
            w_v: given(narrow(&weights[2])),
            w_o: given(weights[3].clone()),
            bias: bias.then(|| extra[0].clone().into()),
            mask: added.then(|| extra[1].map(|x| if x > 2.0 { f64::NEG_INFINITY } else { x }).into()),
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

fn one_of<T: Clone + std::fmt::Debug + 'static>(choices: &[T]) -> impl Strategy<Value = T> + use<T> {
    proptest::sample::select(choices.to_vec())
}

/// How scores become weights, in every way.
fn normalise() -> impl Strategy<Value = Normalise> {
    use ScoreFunction::{Absolute, Exponential, HardMaximum, Identity, Relu, Sigmoid, Squared, Tanh};
    let function = one_of(&[Exponential, Identity, Absolute, Squared, Relu, Sigmoid, Tanh, HardMaximum]);
    let shift = one_of(&[Shift::Max, Shift::Nothing, Shift::OfColumns, Shift::Misplaced, Shift::MaxFromHere]);
    let divisor = one_of(&[
        Divisor::Sum,
        Divisor::Nothing,
        Divisor::SumAnd(1.0),
        Divisor::Length,
        Divisor::SizeSum,
        Divisor::Max,
        Divisor::Count,
        Divisor::MisplacedSum,
        Divisor::ColumnSum,
        Divisor::WholeSum,
        Divisor::FirstSum,
        Divisor::SumFromHere(Axis::Rows),
        Divisor::SumFromHere(Axis::Columns),
        Divisor::SumFromHere(Axis::Whole),
    ]);
    let along =
        one_of(&[NormaliseAxis::Keys, NormaliseAxis::Queries, NormaliseAxis::All, NormaliseAxis::Heads]);
    let then = one_of(&[
        AfterNormalise::Mixed,
        AfterNormalise::Again,
        AfterNormalise::AgainMasked,
        AfterNormalise::Logarithm,
        AfterNormalise::LogarithmOfVisible,
        AfterNormalise::Masked,
    ]);
    (function, shift, divisor, along, then, any::<bool>()).prop_map(
        |(function, shift, divisor, along, then, single)| Normalise {
            function,
            shift,
            divisor,
            along,
            then,
            single,
        },
    )
}

/// Something that attention does not do, somewhere.
fn alteration() -> impl Strategy<Value = Option<Alteration>> {
    let stage = one_of(&[
        Site::Tokens,
        Site::Queries,
        Site::QueriesAndKeys,
        Site::Values,
        Site::Roles,
        Site::Scores,
        Site::Weights,
        Site::Mixes,
        Site::Heads,
        Site::Result,
    ]);
    let alter = one_of(&[
        Alter::Negated,
        Alter::Absolute,
        Alter::Tanh,
        Alter::Gelu(GeluForm::Erf),
        Alter::Elu,
        Alter::EluAndOne,
        Alter::Sorted(Order::Descending, Axis::Rows),
        Alter::Sorted(Order::Ascending, Axis::Columns),
        Alter::TopK { count: 2, divided: false },
        Alter::TopK { count: 2, divided: true },
        Alter::Slanted(Slant::Left),
        Alter::Slanted(Slant::Right),
        Alter::AttendedAgain,
        Alter::Clipped(-1.0, 1.0),
        Alter::Normed(Norm::Softmax, Axis::Rows),
        Alter::Normed(Norm::Standard { epsilon: 1e-5, sample: false }, Axis::Rows),
        Alter::Normed(Norm::Standard { epsilon: 0.0, sample: true }, Axis::Columns),
        Alter::Normed(Norm::Centred, Axis::Columns),
        Alter::Normed(Norm::Range, Axis::Whole),
        Alter::Positions(2),
        Alter::RotaryNeighbours,
        Alter::Moved(Move::Reversed, Axis::Rows),
        Alter::Moved(Move::Reversed, Axis::Columns),
        Alter::Moved(Move::FirstGone, Axis::Rows),
        Alter::Moved(Move::Cumulative, Axis::Columns),
        Alter::With(Combine::Added, OtherMatrix::Itself),
        Alter::Truncated(1),
    ]);
    // Only a result goes through attention again.
    let at = |(stage, alter)| match alter {
        Alter::AttendedAgain => Alteration { stage: Site::Result, alter },
        _ => Alteration { stage, alter },
    };
    proptest::option::of((stage, alter).prop_map(at))
}

/// A recipe with every kind of slip in it.
fn slips() -> impl Strategy<Value = Recipe> {
    let source =
        || one_of(&[QkvSource::Own, QkvSource::Transposed, QkvSource::Tokens, QkvSource::Of(Qkv::Key)]);
    let split = one_of(&[Split::Blocks, Split::Interleaved, Split::Reshaped]);
    let comparison = one_of(&[ScoreRows::QueriesWithKeys, ScoreRows::KeysWithQueries]);
    let score = one_of(&[
        Score::Dot,
        Score::Cosine,
        Score::Distance,
        Score::SquaredDistance,
        Score::RowsAsColumn,
        Score::RowsAsRow,
    ]);
    let scale = one_of(&[Scale::Auto, Scale::None, Scale::Inverse, Scale::Root, Scale::InverseRootOf(5)]);
    let hiding = one_of(&[
        Hiding::MinusInfinity,
        Hiding::Zero,
        Hiding::Replaced(-1e9),
        Hiding::OneAddedToVisible,
        Hiding::Added(1.0),
        Hiding::PlusInfinity,
        Hiding::AfterSoftmax,
    ]);
    let merge = one_of(&[
        Merge::SideBySide,
        Merge::Reversed,
        Merge::Reshaped,
        Merge::ByColumn,
        Merge::Summed,
        Merge::Averaged,
    ]);
    let common = one_of(&[
        HeadSharing::Nothing,
        HeadSharing::FirstOf { q: true, k: false, v: true },
        HeadSharing::FirstWeights,
        HeadSharing::MeanWeights,
    ]);
    let first = (source(), source(), split, comparison, score, scale, hiding);
    let second = (normalise(), merge, common, alteration(), any::<[bool; 4]>());
    (first, second).prop_map(|(first, second)| {
        let (q, v, split, comparison, score, scale, hiding) = first;
        let (normalise, merge, common, alteration, [tiled, guarded, inverted, own]) = second;
        Recipe {
            heads: 2,
            kv_heads: 2,
            roles: QkvSources { q, k: QkvSource::Own, v },
            split,
            groups: [Groups::Shared, Groups::Reversed][usize::from(tiled)],
            common,
            comparison,
            score,
            scale,
            mask: Mask { causal: true, inverted, hides_own: own, ..Mask::default() },
            hiding,
            score_decimals: tiled.then_some(1),
            normalise,
            base: if guarded { Base::E } else { Base::Number(2.0) },
            guarded,
            weight_decimals: own.then_some(2),
            merge,
            output: Output {
                projected: !matches!(merge, Merge::Summed | Merge::Averaged),
                ..Output::default()
            },
            alteration,
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
        let (graph, _) = attend_as_far_as_possible(&recipe, inputs);
        prop_assert!(graph.nodes().count() > 8);
        assert_terms_give_the_recorded_bits(&graph);
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
