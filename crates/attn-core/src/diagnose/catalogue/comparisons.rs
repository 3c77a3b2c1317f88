//! Other ways to compare a query with a key.

use super::softmaxes::OVERFLOWS;
use super::{Likelihood, Mistake, Way, altered, general, if_possible, when};
use crate::diagnose::Change;
use crate::graph::recipes::{
    Alter, Biasing, Divisor, Featurewise, Hiding, Normalise, Recipe, Scale, Score, ScoreFunction, Site,
};

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "score-elementwise",
        likelihood: Likelihood::Common,
        slip: "Query i was multiplied by key i alone, instead of every query by every key.",
        why: "Q ∘ K multiplies cell by cell; every query has to be compared with every key, which is Q Kᵀ.",
        fix: "Use the matrix product Q Kᵀ: `Q @ K.T`, not `(Q * K).sum(axis=1)`.",
        symptom: "All scores of a row (or of a column) are the same.",
        demo: Some("pairwise"),
        ways: |_, facts| {
            let ways = vec![
                Way::detailed(Change::Score(Score::RowsAsColumn), "equal along each row"),
                Way::detailed(Change::Score(Score::RowsAsRow), "equal down each column"),
            ];
            if_possible(facts.q.rows == facts.keys, ways)
        },
    },
    Mistake {
        id: "score-distance",
        likelihood: Likelihood::Common,
        slip: "The scores are the negative distances of queries and keys instead of their dot products.",
        why: "A distance punishes long keys; a dot product lets them win.",
        fix: "Use the dot products Q Kᵀ as scores.",
        symptom: "No score is above 0.",
        demo: Some("similarity"),
        ways: |recipe, facts| {
            let ways = [(Score::SquaredDistance, "squared"), (Score::Distance, "not squared")];
            let scaled = ways.map(|(score, detail)| Way::detailed(Change::Score(score), detail));
            let unscaled = ways.map(|(score, detail)| {
                Way::detailed(Change::Score(score), format!("{detail}, unscaled"))
                    .with(Change::Scale(Scale::None))
            });
            let half = Way::detailed(Change::Score(Score::SquaredDistance), "half the square, unscaled")
                .with(Change::Scale(Scale::Number(0.5)));
            let mut all: Vec<Way> = scaled.into_iter().chain(unscaled).chain([half]).collect();
            if let Some(scale) = recipe.scale.factor(facts.d_k) {
                let number = |factor: f64| Change::Scale(Scale::Number(factor * scale.value()));
                all.push(
                    Way::detailed(Change::Score(Score::SquaredDistance), "half the square").with(number(0.5)),
                );
                let positive = "The scores are the distances of queries and keys themselves: what is far away gets most.";
                let sign = [
                    ("its sign forgotten", number(-1.0)),
                    ("its sign forgotten, unscaled", Change::Scale(Scale::Number(-1.0))),
                ];
                all.extend(sign.map(|(detail, scale)| {
                    Way::detailed(Change::Score(Score::Distance), detail).with(scale).saying(positive)
                }));
            }
            all
        },
    },
    Mistake {
        id: "score-function",
        likelihood: Likelihood::Rare,
        slip: "Queries and keys were compared by another function than the dot product.",
        why: "The score of a query and a key is the sum of the products of their features.",
        fix: "Use the dot products Q Kᵀ as scores.",
        symptom: "Q and K are right, and the scores are not.",
        demo: Some("similarity"),
        ways: |_, facts| {
            let functions = [
                (Featurewise::Manhattan, "minus the sum of |q − k|"),
                (Featurewise::MaxDifference, "minus the largest |q − k|"),
                (Featurewise::MaxProduct, "the largest product q k"),
                (Featurewise::Sum, "the sum of q + k"),
                (Featurewise::TanhOfSum, "the sum of tanh(q + k)"),
            ];
            let ways = functions.into_iter().flat_map(|(function, said)| {
                let change = Change::Score(Score::Featurewise(function));
                let scaled = Way::detailed(change, said);
                [scaled, Way::detailed(change, format!("{said}, unscaled")).with(Change::Scale(Scale::None))]
            });
            // A step for each feature: of wide keys that is too much work.
            if_possible(facts.d_k > 1 && facts.d_k <= 16, ways.collect())
        },
    },
    Mistake {
        id: "scores-negated",
        likelihood: Likelihood::Common,
        slip: "The scores have the wrong sign.",
        why: "The largest dot product has to get the largest weight.",
        fix: "Use Q Kᵀ, without a minus sign.",
        symptom: "The keys that should have most weight have least.",
        demo: Some("pairwise"),
        ways: |_, _| vec![Way::plain(altered(Site::Scores, Alter::Negated))],
    },
    Mistake {
        id: "keys-not-transposed",
        likelihood: Likelihood::Common,
        slip: "K was not transposed: the scores are Q K instead of Q Kᵀ.",
        why: "A score is the dot product of a row of Q with a row of K; Q K takes columns of K. Where K is square no error appears.",
        fix: "Compute the scores as Q Kᵀ: `Q @ K.T`.",
        symptom: "The scores are wrong, and their shape is right.",
        demo: Some("pairwise"),
        ways: |_, facts| when(facts.keys == facts.d_k, Change::Score(Score::Untransposed)),
    },
    Mistake {
        id: "keys-reshaped",
        likelihood: Likelihood::Common,
        slip: "K was reshaped to (d_k, N) instead of transposed.",
        why: "A reshape keeps the numbers in their order: column j of it is not key j.",
        fix: "Transpose the keys: `K.T`, or `K.swapaxes(-1, -2)` with heads.",
        symptom: "The scores are wrong, and their shape is right.",
        demo: Some("pairwise"),
        ways: |_, facts| when(facts.keys > 1 && facts.d_k > 1, Change::Score(Score::KeysReshaped)),
    },
    Mistake {
        id: "dot-scores",
        likelihood: Likelihood::Common,
        slip: "Queries and keys were compared by their dot product instead of their cosine.",
        why: "A dot product grows with the lengths of the vectors; a cosine has only their directions.",
        fix: "Divide every query and every key by its length first.",
        symptom: "Some scores are larger than 1.",
        demo: Some("similarity"),
        ways: |recipe, _| when(recipe.score == Score::Cosine, Change::Score(Score::Dot)),
    },
    Mistake {
        id: "bias-misused",
        likelihood: Likelihood::Common,
        slip: "The bias was not added to the scaled scores.",
        why: "The bias is added once, after the scale and before the softmax.",
        fix: "Compute the softmax of Q Kᵀ/√d_k + B.",
        symptom: "The scores are right up to the scale, and wrong after it.",
        demo: Some("weights"),
        ways: |_, facts| if_possible(facts.has_bias, biases()),
    },
    Mistake {
        id: "linear-attention",
        likelihood: Likelihood::Rare,
        slip: "The weights are products of a function of the queries and a function of the keys: linear attention.",
        why: "Linear attention replaces exp(q·k) by φ(q)·φ(k): that is cheaper, and it is another model.",
        fix: "Take the softmax of each row of the scores.",
        symptom: "No weight is negative, and the weights are products of two matrices as narrow as a head.",
        demo: Some("weights"),
        ways: |recipe, _| linear(recipe),
    },
    Mistake {
        id: "scores-altered",
        likelihood: Likelihood::Rare,
        slip: "A function was applied to the scores before the softmax.",
        why: "The softmax reads the scaled and masked scores themselves.",
        fix: "Take the softmax of the scaled scores.",
        symptom: "The scores are right, and what the softmax reads is not.",
        demo: Some("weights"),
        ways: |recipe, facts| {
            let functions = [
                (Alter::Relu, "ReLU"),
                (Alter::Absolute, "the absolute value"),
                (Alter::Squared, "the square"),
                (Alter::Exponential, "exp"),
                (Alter::Sigmoid, "a sigmoid"),
                (Alter::Tanh, "tanh"),
                (Alter::SOFTMAX, "a softmax before scale and mask"),
                (Alter::OVER_SUM, "division by the sum of the row"),
                (Alter::CENTRED, "the mean of each row subtracted"),
                (Alter::COLUMNS_CENTRED, "the mean of each column subtracted"),
                (Alter::SOFTMAX_OF_COLUMNS, "a softmax down each column"),
            ];
            // exp of a large score overflows, which has a name of its own.
            let overflows = facts.max_score > OVERFLOWS;
            let possible =
                functions.into_iter().filter(|&(alter, _)| !(overflows && alter == Alter::Exponential));
            let known = possible.map(|(alter, detail)| Way::detailed(altered(Site::Scores, alter), detail));
            known.chain(general::ways("scores-altered", recipe, facts)).collect()
        },
    },
];

/// Wrong uses of a bias.
fn biases() -> Vec<Way> {
    let all = [
        (Biasing::Missing, "left out", "The bias was left out."),
        (Biasing::Subtracted, "subtracted", "The bias was subtracted instead of added."),
        (Biasing::Twice, "added twice", "The bias was added twice."),
        (
            Biasing::BeforeScale,
            "added before the scale",
            "The bias was added before the scale, and divided too.",
        ),
        (Biasing::ToWeights, "added to the weights", "The bias was added to the weights, after the softmax."),
        (Biasing::Multiplied, "multiplied", "The scores were multiplied by the bias."),
    ];
    all.map(|(biasing, detail, said)| Way::detailed(Change::Biasing(biasing), detail).saying(said)).to_vec()
}

/// A function of queries and keys, and their products over the sums of their rows.
fn linear(recipe: &Recipe) -> Vec<Way> {
    let functions = [
        (Alter::SOFTMAX, "a softmax of each query and key"),
        (Alter::Exponential, "exp of queries and keys"),
        (Alter::Relu, "ReLU of queries and keys"),
        (Alter::Sigmoid, "a sigmoid of queries and keys"),
        (Alter::EluAndOne, "elu(x) + 1 of queries and keys"),
    ];
    let mut ways = Vec::new();
    for (function, what) in functions {
        for (divisor, how) in [(Divisor::Sum, "over the sum of the row"), (Divisor::Nothing, "not divided")] {
            let products = Normalise { function: ScoreFunction::Identity, divisor, ..Normalise::default() };
            let way = Way::detailed(altered(Site::QueriesAndKeys, function), format!("{what}, {how}"))
                .with(Change::Normalise(products))
                .with(Change::Scale(Scale::None));
            ways.push(if recipe.mask.is_some() { way.with(Change::Hiding(Hiding::Zero)) } else { way });
        }
    }
    ways
}
