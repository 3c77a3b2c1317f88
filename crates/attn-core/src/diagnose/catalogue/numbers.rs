//! Numbers in the sentences of a diagnosis.

use crate::diagnose::Facts;
use crate::graph::recipes::Recipe;
use crate::text::all_of;

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
