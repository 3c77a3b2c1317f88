//! A softmax that goes wrong, or is taken where it should not be.

use crate::attention::{Base, Mask};
use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{
    AfterNormalise, Alter, Divisor, Hiding, Normalise, NormaliseAxis, Recipe, ScoreFunction, Shift, Site,
};

use super::fitted::OWN_SUM_WITH_SINK;
use super::{Way, Ways, altered, each_altered, if_possible, operators, to_decimals, when};

/// exp of more than this overflows.
pub(super) const OVERFLOWS: f64 = 709.0;
/// The softmax as it should be.
const RIGHT: Normalise = Normalise {
    function: ScoreFunction::Exponential,
    shift: Shift::Max,
    divisor: Divisor::Sum,
    along: NormaliseAxis::Keys,
    then: AfterNormalise::Mixed,
    single: false,
};
/// exp without the maximum subtracted.
const NAIVE: Normalise = Normalise { shift: Shift::Nothing, ..RIGHT };
/// The scores themselves, not divided.
const IDENTITY: Normalise =
    Normalise { function: ScoreFunction::Identity, divisor: Divisor::Nothing, ..RIGHT };

/// The ways to make the mistakes of this file.
pub(super) const WAYS: &[Ways] = &[
    ("softmax-overflow", |_, facts| {
        let said = format!(
            "exp overflowed: the largest score is {:.0}, and the largest score of each row was not subtracted first.",
            facts.max_score
        );
        let fix = format!(
            "exp overflowed, because the largest score is {:.0}: subtract each row's maximum before exp.",
            facts.max_score
        );
        let naive =
            |single| Way::plain(Change::Normalise(Normalise { single, ..NAIVE })).saying(&said).fixing(&fix);
        let mut ways = if_possible(facts.max_score > OVERFLOWS, vec![naive(false)]);
        if facts.max_score > 88.0 {
            ways.push(Way { detail: Some("in single precision".into()), ..naive(true) });
        }
        ways
    }),
    ("softmax-keepdims", |_, facts| {
        let sum = Normalise { divisor: Divisor::MisplacedSum, ..RIGHT };
        let way = |normalise, detail| Way::detailed(Change::Normalise(normalise), detail);
        let missing = |what: &str| format!("keepdims=True is missing: {what}.");
        let ways = vec![
            way(sum, "the sum").saying(missing("the sum of row j divided column j")),
            way(Normalise { shift: Shift::Nothing, ..sum }, "the sum, without a maximum")
                .saying(missing("the sum of row j divided column j")),
            way(Normalise { shift: Shift::Misplaced, ..sum }, "the sum and the maximum").saying(missing(
                "the maximum of row j was subtracted from column j, and the sum of row j divided it",
            )),
            way(Normalise { shift: Shift::Misplaced, ..RIGHT }, "the maximum")
                .saying(missing("the maximum of row j was subtracted from column j")),
        ];
        if_possible(facts.q.rows == facts.keys, ways)
    }),
    ("softmax-unnormalised", |_, facts| {
        let plain = Normalise { divisor: Divisor::Nothing, ..NAIVE };
        let ways = vec![
            Way::plain(Change::Normalise(plain)),
            Way::detailed(
                Change::Normalise(Normalise { shift: Shift::Max, ..plain }),
                "after subtracting the maximum",
            ),
        ];
        ways.into_iter().map(|way| with_sink(way, facts)).collect()
    }),
    ("softmax-heads", |recipe, _| {
        when(recipe.heads > 1, Change::Normalise(Normalise { along: NormaliseAxis::Heads, ..RIGHT }))
    }),
    ("softmax-twice", |recipe, _| {
        let again = |then| Change::Normalise(Normalise { then, ..RIGHT });
        let mut ways = vec![Way::plain(again(AfterNormalise::Again))];
        if recipe.mask.is_some() {
            ways.push(Way::detailed(again(AfterNormalise::AgainMasked), "with the mask both times"));
        }
        ways
    }),
    ("log-softmax", |recipe, _| {
        let then = |then| Change::Normalise(Normalise { then, ..RIGHT });
        let mut ways = vec![Way::plain(then(AfterNormalise::Logarithm))];
        if recipe.mask.is_some() {
            ways.push(Way::detailed(then(AfterNormalise::LogarithmOfVisible), "hidden weights 0"));
        }
        ways
    }),
    ("softmax-features", |recipe, _| {
        let mut ways = vec![
            Way::detailed(altered(Site::Values, Alter::SOFTMAX), "of the values"),
            Way::detailed(altered(Site::Result, Alter::SOFTMAX), "of the result"),
            Way::detailed(altered(Site::Heads, Alter::SOFTMAX), "of the heads before W_O"),
            Way::detailed(altered(Site::Mixes, Alter::SOFTMAX), "of what each head mixes"),
        ];
        let late =
            Way::detailed(altered(Site::Result, Alter::SOFTMAX), "of the result, in place of the weights")
                .with(Change::Normalise(IDENTITY));
        ways.push(if recipe.mask.is_some() { late.with(Change::Hiding(Hiding::Zero)) } else { late });
        ways
    }),
    ("column-maximum", |_, _| only(Normalise { shift: Shift::OfColumns, ..RIGHT })),
    ("softmax-wrong-sum", |_, facts| {
        let divisors = [
            (Divisor::ColumnSum, "the sum of the column"),
            (Divisor::WholeSum, "the sum of all"),
            (Divisor::FirstSum, "the sum of the first row"),
            // An exponential over the max of its row is one after subtracting the max, not divided.
            (Divisor::Count, "the number of keys"),
            (Divisor::SumAnd(1.0), "the sum and 1"),
        ];
        let ways = divisors.iter().flat_map(|&(divisor, what)| {
            // The sum and 1, without a maximum, is a sink of 0.
            let is_other_sink = facts.has_sink && matches!(divisor, Divisor::SumAnd(_));
            // Without a maximum, columns and the whole are a softmax along another axis, and large scores overflow: both have a
            // name of their own.
            let is_named = matches!(divisor, Divisor::ColumnSum | Divisor::WholeSum)
                || facts.max_score > OVERFLOWS
                || is_other_sink;
            let shifts = [(Shift::Max, ""), (Shift::Nothing, ", without a maximum")];
            let count = if is_named { 1 } else { 2 };
            shifts.into_iter().take(count).map(move |(shift, how)| {
                let normalise = Normalise { divisor, shift, ..RIGHT };
                Way::detailed(Change::Normalise(normalise), format!("{what}{how}")).saying(format!(
                    "The exponentials were divided by {what} instead of the sum of their row."
                ))
            })
        });
        ways.map(|way| with_sink(way, facts)).collect()
    }),
    ("softmax-base-10", |_, _| vec![Way::plain(Change::Base(Base::Number(10.0)))]),
    ("uniform-weights", |recipe, _| {
        // The limit of a softmax at an infinite temperature.
        let even = Change::Temperature(1e300);
        let mut ways = vec![Way::plain(even)];
        if recipe.mask.is_some() {
            ways.push(Way::detailed(even, "hidden keys too").with(Change::Mask(Mask::default())));
        }
        ways
    }),
    ("softmax-axis", |_, _| only(Normalise { along: NormaliseAxis::Queries, ..RIGHT })),
    ("softmax-whole", |_, _| only(Normalise { along: NormaliseAxis::All, ..RIGHT })),
    ("no-softmax", |_, _| only(IDENTITY)),
    ("sum-normalised", |_, _| only(Normalise { divisor: Divisor::Sum, ..IDENTITY })),
    ("softmax-base-2", |_, _| vec![Way::plain(Change::Base(Base::Number(2.0)))]),
    ("empty-row-nan", |_, facts| when(facts.empty_rows > 0, Change::Unguarded)),
    ("weights-rounded", |_, _| to_decimals(Change::WeightDecimals)),
    ("sigmoid-weights", |recipe, _| instead(recipe, ScoreFunction::Sigmoid, &PLAIN_OR_SUM)),
    ("relu-weights", |recipe, _| instead(recipe, ScoreFunction::Relu, &PLAIN_OR_SUM)),
    ("tanh-weights", |recipe, _| instead(recipe, ScoreFunction::Tanh, &PLAIN_OR_SUM)),
    ("squares-normalised", |recipe, _| instead(recipe, ScoreFunction::Squared, &PLAIN_OR_SUM)),
    ("absolute-normalised", |recipe, _| {
        let sizes = [(Divisor::Sum, "absolute values"), (Divisor::Nothing, "absolute values, not divided")];
        let ways = instead(recipe, ScoreFunction::Absolute, &sizes);
        let signed = instead(recipe, ScoreFunction::Identity, &[(Divisor::SizeSum, "with their signs")]);
        ways.into_iter().chain(signed).collect()
    }),
    ("l2-normalised", |recipe, _| {
        let mut ways =
            instead(recipe, ScoreFunction::Identity, &[(Divisor::Length, "the scores themselves")]);
        let powers = Normalise { divisor: Divisor::Length, ..RIGHT };
        ways.push(Way::detailed(Change::Normalise(powers), "the exponentials"));
        ways
    }),
    ("scores-divided", |recipe, _| {
        let divisors = [
            (Divisor::Count, "the number of keys"),
            (Divisor::Max, "the largest of the row"),
            (Divisor::WholeSum, "the sum of all"),
            (Divisor::ColumnSum, "the sum of the column"),
            (Divisor::MisplacedSum, "the sum of row j for column j"),
        ];
        instead(recipe, ScoreFunction::Identity, &divisors)
    }),
    ("hard-maximum", |_, _| only(Normalise { function: ScoreFunction::HardMaximum, ..RIGHT })),
    ("weights-turned", |_, facts| {
        let ways = vec![Way::plain(altered(Site::Weights, Alter::Transposed))];
        if_possible(facts.q.rows == facts.keys, ways)
    }),
    ("weights-altered", altered_weights),
];

/// The only way: these steps from scores to weights.
fn only(normalise: Normalise) -> Vec<Way> {
    vec![Way::plain(Change::Normalise(normalise))]
}

/// The same way, with a fix that names the sink where the exercise has one.
fn with_sink(way: Way, facts: &Facts) -> Way {
    if facts.has_sink { way.fixing(OWN_SUM_WITH_SINK) } else { way }
}

// Mistakes between scores and weights.

// Other functions in place of the softmax, and things done to weights.

/// The function alone, or over the sum of the row.
const PLAIN_OR_SUM: [(Divisor, &str); 4] = [
    (Divisor::Nothing, "not divided"),
    (Divisor::Sum, "divided by the sum of the row"),
    (Divisor::SumAnd(1e-9), "divided by the sum of the row and 1e-9"),
    (Divisor::Length, "divided by the length of the row"),
];

/// A function in place of the softmax, divided by each of these. With a mask also with 0 in the hidden cells, before or after it:
/// −∞ there would give NaN.
fn instead(recipe: &Recipe, function: ScoreFunction, divisors: &[(Divisor, &str)]) -> Vec<Way> {
    let mut ways = Vec::new();
    for &(divisor, what) in divisors {
        let change = Change::Normalise(Normalise { function, divisor, ..RIGHT });
        ways.push(Way::detailed(change, what));
        if recipe.mask.is_some() {
            let hidden = Way::detailed(change, format!("{what}, hidden scores 0"));
            ways.push(hidden.with(Change::Hiding(Hiding::Zero)));
            let late = Way::detailed(change, format!("{what}, hidden weights 0"));
            ways.push(late.with(Change::Hiding(Hiding::AfterSoftmax)));
        }
    }
    ways
}

/// The mistakes without a name of their own, and all operators. Negated weights give the negative result, or X minus it.
fn altered_weights(recipe: &Recipe, facts: &Facts) -> Vec<Way> {
    let mut alters = vec![
        (Alter::Squared, "squared"),
        (Alter::COLUMNS_REVERSED, "columns in reverse order"),
        (Alter::SOFTMAX_OF_COLUMNS, "a second softmax, over the queries"),
        (Alter::CENTRED, "the mean of each row subtracted"),
    ];
    // Without a residual these are running sums of the result.
    if recipe.output.residual {
        alters.push((Alter::CUMULATIVE, "a running sum over the queries"));
    }
    let count = facts.keys as f64;
    alters.push((Alter::Times(count), "times the number of keys"));
    alters.push((Alter::Times(1.0 / count), "divided by the number of keys"));
    let mut ways = each_altered(Site::Weights, alters);
    ways.extend(operators::ways("weights-altered", recipe, facts));
    ways
}
