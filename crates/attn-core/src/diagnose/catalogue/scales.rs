//! Other numbers to divide by, and other places to divide.

use super::{Likelihood, Mistake, Way, altered, if_possible, when};
use crate::diagnose::digits::in_words;
use crate::diagnose::{Change, Facts};
use crate::graph::recipes::{Alter, Recipe, Scale, Site};
use crate::text::all_of;

pub(super) const MISTAKES: &[Mistake] = &[
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
