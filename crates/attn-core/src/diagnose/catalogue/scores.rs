//! Mistakes in the scores and in their scale.

use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{
    Alter, Biasing, Divisor, Featurewise, Hiding, Normalise, Recipe, Scale, Score, ScoreFunction, ScoreRows,
    Site,
};
use crate::text::all_of;

use super::softmaxes::OVERFLOWS;
use super::{Likelihood, Mistake, Way, altered, if_possible, to_decimals, when};

pub(super) const MISTAKES: &[Mistake] = &[
    Mistake {
        id: "qk-swapped",
        likelihood: Likelihood::Classic,
        slip: "Keys and queries were swapped: the scores are K Qᵀ instead of Q Kᵀ.",
        why: "Row i of the scores must belong to query i: the softmax runs along it, over the keys.",
        fix: "Compute the scores as Q Kᵀ, with one row for each query.",
        symptom: "S is the transpose of the right scores; with as many queries as keys the shape does not show it.",
        demo: Some("columns"),
        ways: |_, _| vec![Way::plain(Change::Comparison(ScoreRows::KeysWithQueries))],
    },
    Mistake {
        id: "cosine-scores",
        likelihood: Likelihood::Classic,
        slip: "Queries and keys were compared by their cosine instead of their dot product.",
        why: "A cosine ignores the lengths of the vectors, but a token can get more attention through a long key.",
        fix: "Use the dot products Q Kᵀ, without dividing by the lengths of the vectors.",
        symptom: "No score is larger than 1, and the weights are nearly uniform.",
        demo: Some("similarity"),
        ways: |recipe, _| {
            let cosine = |detail| Way::detailed(Change::Score(Score::Cosine), detail);
            match (recipe.score, recipe.scale) {
                (Score::Cosine, _) => Vec::new(),
                (Score::Dot, Scale::None) => vec![Way::plain(Change::Score(Score::Cosine))],
                // A cosine needs no scale, so the scale may be left out with it.
                _ => vec![cosine("scaled"), cosine("unscaled").with(Change::Scale(Scale::None))],
            }
        },
    },
    Mistake {
        id: "no-scale",
        likelihood: Likelihood::Classic,
        slip: "The scores were not divided by √d_k before the softmax.",
        why: "Dot products grow with the width of the vectors, by about √d_k; without the scale they saturate the softmax.",
        fix: "Divide the scores by √d_k before the softmax.",
        symptom: "The weights are too sharp: near 0 and 1.",
        demo: Some("scale"),
        ways: |recipe, _| {
            let scaled = !matches!(recipe.scale, Scale::None) && recipe.scale != Scale::Number(1.0);
            when(scaled, Change::Scale(Scale::None))
        },
    },
    Mistake {
        id: "scale-by-d",
        likelihood: Likelihood::Classic,
        slip: "The scores were divided by d_k instead of √d_k.",
        why: "The spread of a dot product grows like the root of the width; dividing by the width makes the scores too small. \
              Dividing both Q and K by √d_k does the same.",
        fix: "Divide the scores by √d_k, not by d_k.",
        symptom: "The weights are too even.",
        demo: Some("scale"),
        ways: |recipe, _| when(recipe.scale == Scale::Auto, Change::Scale(Scale::Inverse)),
    },
    Mistake {
        id: "scale-multiplied",
        likelihood: Likelihood::Classic,
        slip: "The scores were multiplied by √d_k instead of divided by it.",
        why: "The scale has to make large dot products smaller.",
        fix: "Divide the scores by √d_k instead of multiplying them by it.",
        symptom: "The weights are far too sharp: almost all on one key.",
        demo: Some("scale"),
        ways: |recipe, _| when(recipe.scale == Scale::Auto, Change::Scale(Scale::Root)),
    },
    Mistake {
        id: "scale-model-width",
        likelihood: Likelihood::Classic,
        slip: "The scores were divided by √d_model, the root of the whole width, instead of the root of one head's width.",
        why: "A dot product has one term for each column of a head, and its spread depends only on their number.",
        fix: "Take d_k, the width of one head: divide the scores by √d_k.",
        symptom: "The weights of every head are a little too even.",
        demo: Some("scale"),
        ways: |recipe, facts| {
            let mut widths: Vec<usize> = facts.x.iter().map(|x| x.cols).collect();
            if !widths.contains(&facts.q.cols) {
                widths.push(facts.q.cols);
            }
            // Without tokens the width of the model is that of Q, and with one head that is d_k itself.
            if recipe.scale != Scale::Auto || (facts.x.is_none() && recipe.heads == 1) {
                widths.clear();
            }
            let change = |width| Change::Scale(Scale::InverseRootOf(width));
            let mut ways: Vec<Way> = match widths[..] {
                [only] => vec![Way::plain(change(only))],
                _ => {
                    widths.iter().map(|&width| Way::detailed(change(width), format!("by √{width}"))).collect()
                }
            };
            ways.extend(widths.iter().map(|&width| {
                let change = Change::Scale(Scale::InverseOf(width));
                Way { rare: true, ..Way::detailed(change, format!("by {width}")) }
                    .saying(format!("The scores were divided by {width}, the whole width, instead of √d_k."))
            }));
            ways
        },
    },
    Mistake {
        id: "scores-rounded",
        likelihood: Likelihood::Classic,
        slip: "The scores were rounded before the softmax.",
        why: "The softmax turns a difference of scores into a ratio of weights, so a small rounding error grows.",
        fix: "Round only what you print; compute with all digits.",
        symptom: "The weights are nearly right, and equal where the scores became equal.",
        demo: Some("context"),
        ways: |_, _| to_decimals(Change::ScoreDecimals),
    },
];

// Other numbers to divide by, and other places to divide.

pub(super) const SCALES: &[Mistake] = &[
    Mistake {
        id: "scale-by-length",
        likelihood: Likelihood::Common,
        slip: "The scores were divided by the root of the number of tokens instead of √d_k.",
        why: "A dot product has one term for each column of a head; how many tokens there are does not change its size.",
        fix: "Divide the scores by √d_k, the root of the width of a head.",
        symptom: "The sharpness of the weights depends on how long the text is.",
        demo: Some("scale"),
        ways: |recipe, facts| {
            let lengths = [("T, the number of queries", facts.q.rows), ("N, the number of keys", facts.keys)];
            let lengths = &lengths[..if facts.q.rows == facts.keys { 1 } else { 2 }];
            instead(recipe, lengths)
        },
    },
    Mistake {
        id: "scale-by-heads",
        likelihood: Likelihood::Common,
        slip: "The scores were divided by the root of the number of heads instead of √d_k.",
        why: "A dot product has one term for each column of a head; how many heads there are does not change its size.",
        fix: "Divide the scores by √d_k, the root of the width of a head.",
        symptom: "The weights of every head are too sharp or too even.",
        demo: Some("scale"),
        ways: |recipe, _| match recipe.heads {
            0 | 1 => Vec::new(),
            heads => instead(recipe, &[("H, the number of heads", heads)]),
        },
    },
    Mistake {
        id: "scale-by-value-width",
        likelihood: Likelihood::Common,
        slip: "The scores were divided by the root of the width of a value instead of √d_k.",
        why: "The scores come from queries and keys: only their width counts.",
        fix: "Divide the scores by √d_k, the root of the width of a key.",
        symptom: "The weights are a little too even or too sharp.",
        demo: Some("scale"),
        ways: |recipe, facts| instead(recipe, &[("d_v, the width of a value", facts.d_v)]),
    },
    Mistake {
        id: "scale-late",
        likelihood: Likelihood::Common,
        slip: "The weights were divided by √d_k, after the softmax.",
        why: "The scale tames the scores before the softmax; after it, it only makes the weights too small.",
        fix: "Divide the scores by √d_k before the softmax, and leave the weights as they are.",
        symptom: "The rows of the weights sum to 1/√d_k.",
        demo: Some("scale"),
        ways: |recipe, facts| late(recipe, facts, Site::Weights, "weights"),
    },
    Mistake {
        id: "values-scaled",
        likelihood: Likelihood::Common,
        slip: "The values were divided by √d_k.",
        why: "The scale belongs to the scores; values are mixed as they are.",
        fix: "Divide the scores by √d_k, not the values.",
        symptom: "The result is too small, by √d_k.",
        demo: Some("scale"),
        ways: |recipe, facts| late(recipe, facts, Site::Values, "values"),
    },
    Mistake {
        id: "scale-unasked",
        likelihood: Likelihood::Common,
        slip: "The scores were divided by √d_k, and this exercise has no scale.",
        why: "T5 has its scale in the weights from which it begins: there the scores are the dot products as they are. Cosines need none.",
        fix: "Leave the scale out: in scaled_dot_product_attention, scale=1.0.",
        symptom: "The weights are too even; next to a bias of positions the dot products count too little.",
        demo: Some("scale"),
        ways: |recipe, facts| {
            let is_unscaled = recipe.scale.factor(facts.d_k).is_none_or(|factor| factor.value() == 1.0);
            let by_width = Way::detailed(Change::Scale(Scale::Inverse), "by d_k")
                .saying("The scores were divided by d_k, and this exercise has no scale.");
            if_possible(is_unscaled && facts.d_k > 1, vec![Way::plain(Change::Scale(Scale::Auto)), by_width])
        },
    },
    Mistake {
        id: "scale-precedence",
        likelihood: Likelihood::Common,
        slip: "The scores were divided by 2 · d_k instead of √d_k, as `S / d_k ** 1/2` does.",
        why: "`**` binds more tightly than `/`: the exponent is 1, and the result is divided by 2.",
        fix: "Write `S / d_k ** 0.5` or `S / np.sqrt(d_k)`.",
        symptom: "The weights are too even.",
        demo: Some("scale"),
        ways: |recipe, facts| {
            let half = Change::Scale(Scale::Number(0.5 / facts.d_k as f64));
            when(recipe.scale == Scale::Auto, half)
        },
    },
    Mistake {
        id: "scale-twice",
        likelihood: Likelihood::Common,
        slip: "The scale was applied three times: to the queries, to the keys and to the scores.",
        why: "Factors of Q, of K and of the scores multiply: together they are the third power of the scale.",
        fix: "Divide once by √d_k: the scores, or the queries alone.",
        symptom: "The weights are too even.",
        demo: Some("scale"),
        ways: |recipe, facts| {
            let root = (facts.d_k as f64).sqrt();
            // Twice is what dividing by d_k is, which has a name of its own.
            let ways = vec![Way::plain(Change::Scale(Scale::Number(1.0 / (root * root * root))))];
            if_possible(recipe.scale == Scale::Auto, ways)
        },
    },
];

/// The numbers of the exercise that a wrong scale divides or multiplies by, where they are at least this many: “Here 6 is T and
/// 3 · √d_k.”
pub(in crate::diagnose) fn coincidence(
    factor: f64,
    least: usize,
    recipe: &Recipe,
    facts: &Facts,
) -> Option<String> {
    let is_divisor = factor < 1.0;
    let number = if is_divisor { 1.0 / factor } else { factor };
    let mut known: Vec<(&str, usize)> = Vec::new();
    known.extend((facts.q.rows > 1).then_some(("T", facts.q.rows)));
    known.extend((facts.keys != facts.q.rows).then_some(("N", facts.keys)));
    known.extend((recipe.heads > 1).then_some(("H", recipe.heads)));
    known.extend([("d_k", facts.d_k), ("d_v", facts.d_v)]);
    let width = facts.x.map_or(facts.q.cols, |x| x.cols);
    if facts.x.is_some() || recipe.heads > 1 {
        known.push(("d_model", width));
    }
    if recipe.heads > 1 && width.is_multiple_of(recipe.heads) && width != recipe.heads * facts.d_k {
        known.push(("d_model/H", width / recipe.heads));
    }
    let is = |x: f64| (x - number).abs() <= 1e-9 * number;
    let root = |what: &str| if what.contains('/') { format!("√({what})") } else { format!("√{what}") };
    let whole = known.iter().filter(|(_, n)| is(*n as f64)).map(|(what, _)| what.to_string());
    let roots = known.iter().filter(|(_, n)| is((*n as f64).sqrt())).map(|(what, _)| root(what));
    let times = number / (facts.d_k as f64).sqrt();
    let is_multiple = is_divisor && times > 1.5 && (times - times.round()).abs() <= 1e-9 * times;
    let multiple = is_multiple.then(|| format!("{} · √d_k", times.round()));
    let all: Vec<String> = whole.chain(roots).chain(multiple).collect();
    (all.len() >= least && number > 1.0 + 1e-9)
        .then(|| format!("Here {} is {}.", in_words(number), all_of(&all)))
}

/// √n and n in the place of √d_k, for each of these numbers.
fn instead(recipe: &Recipe, numbers: &[(&str, usize)]) -> Vec<Way> {
    if recipe.scale != Scale::Auto {
        return Vec::new();
    }
    let mut ways = Vec::new();
    for &(what, n) in numbers {
        let (letter, said) = what.split_once(", ").unwrap_or((what, ""));
        let choices = [
            (Scale::InverseRootOf(n), format!("√{letter}"), "divided by √"),
            (Scale::InverseOf(n), letter.to_string(), "divided by "),
            (Scale::RootOf(n), format!("times √{letter}"), "multiplied by √"),
        ];
        ways.extend(choices.map(|(scale, detail, done)| {
            let instead = if done.starts_with("divided") { "by √d_k" } else { "divided by √d_k" };
            Way::detailed(Change::Scale(scale), detail)
                .saying(format!("The scores were {done}{n} ({letter} is {said}) instead of {instead}."))
        }));
    }
    ways
}

/// The scale at a later place, instead of the scores or as well.
fn late(recipe: &Recipe, facts: &Facts, stage: Site, what: &str) -> Vec<Way> {
    let factor = 1.0 / (facts.d_k as f64).sqrt();
    let change = || altered(stage, Alter::Times(factor));
    let ways = vec![
        Way::detailed(change(), "in place of the scores")
            .with(Change::Scale(Scale::None))
            .saying(format!("The {what} were divided by √d_k instead of the scores.")),
        Way::detailed(change(), "as well as the scores")
            .saying(format!("The {what} were divided by √d_k as well as the scores.")),
    ];
    if_possible(recipe.scale == Scale::Auto, ways)
}

// Numbers in the sentences of a diagnosis.

/// A number with four digits; `√7 = 2.646` where it is the root of a whole number.
pub(crate) fn in_words(x: f64) -> String {
    let square = x * x;
    let is_root = (square - square.round()).abs() < 1e-4 && square.round() < 4097.0 && square.round() >= 1.0;
    let is_whole = (x - x.round()).abs() < 1e-4;
    if is_root && !is_whole { format!("√{} = {}", square.round(), number(x)) } else { number(x) }
}

/// A number with four digits.
pub(crate) fn number(x: f64) -> String {
    crate::graph::number_text(short(x))
}

/// Four digits of a number.
pub(crate) fn short(x: f64) -> f64 {
    to_digits(x, 4)
}

/// A number rounded to this many digits, at least one.
pub(crate) fn to_digits(x: f64, digits: usize) -> f64 {
    format!("{x:.0$e}", digits.saturating_sub(1)).parse().unwrap_or(x)
}

// Other ways to compare a query with a key.

pub(super) const COMPARISONS: &[Mistake] = &[
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
            known.chain(super::operators::ways("scores-altered", recipe, facts)).collect()
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
