//! Mistakes in the scores and in their scale.

use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{
    Alter, Biasing, Divisor, Featurewise, Hiding, Normalise, Recipe, Scale, Score, ScoreFunction, ScoreRows,
    Site,
};
use crate::text::all_of;

use super::softmaxes::OVERFLOWS;
use super::{Way, Ways, altered, each_altered, if_possible, operators, to_decimals, when};

/// The ways to make the mistakes of this file.
pub(super) const WAYS: &[Ways] = &[
    ("qk-swapped", |_, _| vec![Way::plain(Change::Comparison(ScoreRows::KeysWithQueries))]),
    ("cosine-scores", |recipe, _| {
        let cosine = |detail| Way::detailed(Change::Score(Score::Cosine), detail);
        match (recipe.score, recipe.scale) {
            (Score::Cosine, _) => Vec::new(),
            (Score::Dot, Scale::None) => vec![Way::plain(Change::Score(Score::Cosine))],
            // A cosine needs no scale, so the scale may be left out with it.
            _ => vec![cosine("scaled"), cosine("unscaled").with(Change::Scale(Scale::None))],
        }
    }),
    ("no-scale", |recipe, _| {
        let scaled = !matches!(recipe.scale, Scale::None) && recipe.scale != Scale::Number(1.0);
        when(scaled, Change::Scale(Scale::None))
    }),
    ("scale-by-d", |recipe, _| when(recipe.scale == Scale::Auto, Change::Scale(Scale::Inverse))),
    ("scale-multiplied", |recipe, _| when(recipe.scale == Scale::Auto, Change::Scale(Scale::Root))),
    ("scale-model-width", |recipe, facts| {
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
            _ => widths.iter().map(|&width| Way::detailed(change(width), format!("by √{width}"))).collect(),
        };
        ways.extend(widths.iter().map(|&width| {
            let change = Change::Scale(Scale::InverseOf(width));
            Way { rare: true, ..Way::detailed(change, format!("by {width}")) }
                .saying(format!("The scores were divided by {width}, the whole width, instead of √d_k."))
        }));
        ways
    }),
    ("scores-rounded", |_, _| to_decimals(Change::ScoreDecimals)),
    ("scale-by-length", |recipe, facts| {
        let lengths = [("T, the number of queries", facts.q.rows), ("N, the number of keys", facts.keys)];
        let lengths = &lengths[..if facts.q.rows == facts.keys { 1 } else { 2 }];
        instead(recipe, lengths)
    }),
    ("scale-by-heads", |recipe, _| match recipe.heads {
        0 | 1 => Vec::new(),
        heads => instead(recipe, &[("H, the number of heads", heads)]),
    }),
    ("scale-by-value-width", |recipe, facts| instead(recipe, &[("d_v, the width of a value", facts.d_v)])),
    ("scale-late", |recipe, facts| late(recipe, facts, Site::Weights, "weights")),
    ("values-scaled", |recipe, facts| late(recipe, facts, Site::Values, "values")),
    ("scale-unasked", |recipe, facts| {
        let is_unscaled = recipe.scale.factor(facts.d_k).is_none_or(|factor| factor.value() == 1.0);
        let by_width = Way::detailed(Change::Scale(Scale::Inverse), "by d_k")
            .saying("The scores were divided by d_k, and this exercise has no scale.");
        if_possible(is_unscaled && facts.d_k > 1, vec![Way::plain(Change::Scale(Scale::Auto)), by_width])
    }),
    ("scale-precedence", |recipe, facts| {
        let half = Change::Scale(Scale::Number(0.5 / facts.d_k as f64));
        when(recipe.scale == Scale::Auto, half)
    }),
    ("scale-twice", |recipe, facts| {
        let root = (facts.d_k as f64).sqrt();
        // Twice is what dividing by d_k is, which has a name of its own.
        let ways = vec![Way::plain(Change::Scale(Scale::Number(1.0 / (root * root * root))))];
        if_possible(recipe.scale == Scale::Auto, ways)
    }),
    ("score-elementwise", |_, facts| {
        let ways = vec![
            Way::detailed(Change::Score(Score::RowsAsColumn), "equal along each row"),
            Way::detailed(Change::Score(Score::RowsAsRow), "equal down each column"),
        ];
        if_possible(facts.q.rows == facts.keys, ways)
    }),
    ("score-distance", |recipe, facts| {
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
            let positive =
                "The scores are the distances of queries and keys themselves: what is far away gets most.";
            let sign = [
                ("its sign forgotten", number(-1.0)),
                ("its sign forgotten, unscaled", Change::Scale(Scale::Number(-1.0))),
            ];
            all.extend(sign.map(|(detail, scale)| {
                Way::detailed(Change::Score(Score::Distance), detail).with(scale).saying(positive)
            }));
        }
        all
    }),
    ("score-function", |_, facts| {
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
    }),
    ("scores-negated", |_, _| vec![Way::plain(altered(Site::Scores, Alter::Negated))]),
    ("keys-not-transposed", |_, facts| when(facts.keys == facts.d_k, Change::Score(Score::Untransposed))),
    ("keys-reshaped", |_, facts| when(facts.keys > 1 && facts.d_k > 1, Change::Score(Score::KeysReshaped))),
    ("dot-scores", |recipe, _| when(recipe.score == Score::Cosine, Change::Score(Score::Dot))),
    ("bias-misused", |_, facts| if_possible(facts.has_bias, biases())),
    ("linear-attention", |recipe, _| linear(recipe)),
    ("scores-altered", |recipe, facts| {
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
        let mut ways = each_altered(Site::Scores, possible);
        ways.extend(operators::ways("scores-altered", recipe, facts));
        ways
    }),
];

// Other numbers to divide by, and other places to divide.

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
