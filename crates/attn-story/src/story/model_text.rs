//! What a model makes of a text: predictions, and what its heads attend to, as tables.

use std::collections::HashSet;

use super::Table;
use crate::elementary::{exp, ln};
use crate::model::{HeadMeasures, Look, NAMED_BY, NAMED_FROM};

// Next words with their probabilities.

/// The characters of a full bar.
const BAR: usize = 24;
/// The next words of each layer that the logit lens shows.
const OF_A_LAYER: usize = 3;

/// A probability for each token of the vocabulary.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    probabilities: Vec<f64>,
    /// The ids, from the most probable on.
    order: Vec<usize>,
}

impl Prediction {
    /// The softmax of the logits.
    pub fn of(logits: &[f64]) -> Prediction {
        let max = logits.iter().fold(f64::NEG_INFINITY, |max, x| if *x > max { *x } else { max });
        let powers: Vec<f64> = logits.iter().map(|x| exp(x - max)).collect();
        let sum: f64 = powers.iter().fold(0.0, |sum, x| sum + x);
        let probabilities: Vec<f64> = powers.iter().map(|x| x / sum).collect();
        let mut order: Vec<usize> = (0..probabilities.len()).collect();
        // Equal ones in the order of their ids.
        order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
        Prediction { probabilities, order }
    }

    /// The most probable tokens, with their probabilities.
    pub fn top(&self, count: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.order.iter().take(count).map(|&id| (id, self.probabilities[id]))
    }

    /// The probability of a token.
    pub fn probability(&self, id: usize) -> f64 {
        self.probabilities.get(id).copied().unwrap_or(0.0)
    }

    /// How sure it is, in words: as unsure as a draw among this many tokens that are equally probable, 2 to the power of the entropy.
    pub fn how_sure(&self) -> String {
        let entropy = self.probabilities.iter().filter(|p| **p > 0.0).fold(0.0, |sum, p| sum - p * ln(*p));
        let count = exp(entropy);
        if count < 1.05 {
            return "The model is almost certain.".to_string();
        }
        let count = if count < 9.95 { format!("{count:.1}") } else { format!("{count:.0}") };
        format!("The model is as unsure as if {count} tokens were equally probable.")
    }

    /// How far another prediction is from this one: Σ p ln(p / q), in nats.
    pub fn divergence(&self, other: &Prediction) -> f64 {
        let pairs = self.probabilities.iter().zip(&other.probabilities);
        pairs.filter(|(p, _)| **p > 0.0).fold(0.0, |sum, (p, q)| sum + p * ln(p / q))
    }
}

/// The most probable tokens, with bars for people.
pub fn prediction_table(
    prediction: &Prediction,
    top: usize,
    name: &dyn Fn(usize) -> String,
    for_people: bool,
) -> Table {
    let largest = prediction.top(1).next().map_or(1.0, |(_, p)| p);
    let row = |(id, p): (usize, f64)| {
        let mut row = vec![name(id), id.to_string(), percent(p, for_people)];
        row.extend(for_people.then(|| bar(p / largest)));
        row
    };
    let header = ["token", "id", "probability", ""];
    let rows = prediction.top(top).map(row);
    Table::new(&header[..if for_people { 4 } else { 3 }], rows).with_numbers(&["id", "probability"])
}

/// The most probable tokens of two predictions, side by side.
pub fn change_table(
    [before, after]: [&Prediction; 2],
    heads: [&str; 2],
    top: usize,
    name: &dyn Fn(usize) -> String,
    for_people: bool,
) -> Table {
    let mut seen = HashSet::new();
    let ids = before.top(top).chain(after.top(top)).map(|(id, _)| id).filter(|id| seen.insert(*id));
    let row = |id: usize| {
        let (p, q) = (before.probability(id), after.probability(id));
        let change = if for_people { points(q - p) } else { (q - p).to_string() };
        vec![name(id), id.to_string(), percent(p, for_people), percent(q, for_people), change]
    };
    let change = if for_people { "change, in points" } else { "change" };
    let header = ["token", "id", heads[0], heads[1], change];
    Table::new(&header, ids.map(row)).with_numbers(&["id", heads[0], heads[1], change])
}

/// What the residual stream would predict at each place, with the probability of the final word and the distance from the final
/// prediction.
pub fn lens_table(
    places: &[(String, Prediction)],
    last: &Prediction,
    name: &dyn Fn(usize) -> String,
    for_people: bool,
) -> Table {
    let best = last.top(1).next().map_or(0, |(id, _)| id);
    let row = |(place, prediction): &(String, Prediction)| {
        let mut row = vec![place.clone()];
        row.extend(top_cells(prediction, name, for_people));
        let p = prediction.probability(best);
        let far = last.divergence(prediction);
        row.extend([percent(p, for_people), if for_people { format!("{far:.2}") } else { far.to_string() }]);
        row
    };
    let of_best = format!("p({})", name(best));
    let header: Vec<&str> = if for_people {
        vec!["after", "first", "second", "third", &of_best, "KL"]
    } else {
        vec!["after", "first", "p first", "second", "p second", "third", "p third", "p final word", "KL"]
    };
    let numbers = [&of_best, "KL", "p first", "p second", "p third", "p final word"];
    Table::new(&header, places.iter().map(row)).with_numbers(&numbers)
}

/// From where on the residual stream predicts the final token, and what the place before would have said.
pub fn lens_in_words(
    places: &[(String, Prediction)],
    last: &Prediction,
    name: &dyn Fn(usize) -> String,
) -> String {
    let first = |prediction: &Prediction| prediction.top(1).next().unwrap_or((0, 0.0));
    let best = first(last).0;
    let since = places.iter().rposition(|(_, prediction)| first(prediction).0 != best).map_or(0, |at| at + 1);
    let best = name(best);
    match (since.checked_sub(1).and_then(|before| places.get(before)), places.get(since)) {
        (Some((before, prediction)), Some((from, _))) => {
            let (other, p) = first(prediction);
            let (other, p) = (name(other), percent(p, true));
            format!("After {before} the best guess would be {other} ({p}); from {from} on, {best} is ahead.")
        }
        _ => format!("{best} is ahead in every layer, from the embedding on."),
    }
}

/// What a model that sees the whole text predicts at each position: a row for each token.
pub fn position_table(
    positions: &[(String, Prediction)],
    name: &dyn Fn(usize) -> String,
    for_people: bool,
) -> Table {
    let row = |(at, (token, prediction)): (usize, &(String, Prediction))| {
        let place = [(at + 1).to_string(), token.clone()];
        place.into_iter().chain(top_cells(prediction, name, for_people)).collect()
    };
    let header: &[&str] = match for_people {
        true => &["position", "token", "first", "second", "third"],
        false => &["position", "token", "first", "p first", "second", "p second", "third", "p third"],
    };
    let table = Table::new(header, positions.iter().enumerate().map(row));
    table.with_numbers(&["position", "p first", "p second", "p third"])
}

/// The most probable tokens, each with its probability; cells stay empty where the vocabulary has fewer.
fn top_cells(prediction: &Prediction, name: &dyn Fn(usize) -> String, for_people: bool) -> Vec<String> {
    let top = prediction.top(OF_A_LAYER).map(|(id, p)| [name(id), percent(p, for_people)]);
    let mut cells: Vec<String> =
        if for_people { top.map(|cell| cell.join(" ")).collect() } else { top.flatten().collect() };
    cells.resize(OF_A_LAYER * if for_people { 1 } else { 2 }, String::new());
    cells
}

/// A change of a probability in hundredths: `+1.5`, `−0.3`, `0`, and `≈ 0` where it is too small to be written so.
fn points(change: f64) -> String {
    match format!("{:+.1}", 100.0 * change).as_str() {
        _ if change == 0.0 => "0".to_string(),
        "+0.0" | "-0.0" => "≈\u{a0}0".to_string(),
        text => text.replace('-', "−"),
    }
}

/// A probability or a weight in hundredths, for people: `12.3 %`.
pub fn percent(p: f64, for_people: bool) -> String {
    if !for_people {
        return p.to_string();
    }
    if p.is_nan() {
        return "NaN".to_string();
    }
    let percent = 100.0 * p;
    let text = if percent >= 0.05 { format!("{percent:.1} %") } else { "< 0.1 %".to_string() };
    // A line is not broken within it.
    text.replace(' ', "\u{a0}")
}

/// A bar as long as a share, in eighths of a character.
fn bar(share: f64) -> String {
    let eighths = (share * 8.0 * BAR as f64).round().max(0.0) as usize;
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
    format!("{}{rest}", "█".repeat(eighths / 8))
}

// A grid of layers and heads, one cell for each head.

/// One row for each layer, one cell for each head: a letter, and the mean weight in hundredths, by which it is shaded.
pub fn head_grid(layers: &[Vec<HeadMeasures>]) -> Table {
    grid(layers, head_letter, |measures| measures.name().map(|(_, mean)| mean))
}

/// One row for each layer, one column for each head: the token that the last query attends to most, and its weight in hundredths.
pub fn last_token_grid(layers: &[Vec<HeadMeasures>], tokens: &[String]) -> Table {
    let cell = |measures: &HeadMeasures| {
        let (key, weight) = measures.last;
        let token = tokens.get(key).map_or("", String::as_str);
        format!("{token}\u{a0}{:.0}", 100.0 * weight)
    };
    grid(layers, cell, |measures| Some(measures.last.1))
}

/// One row for each layer, one column for each head: the entropy of a row of its weights, the mean over the text, in bits.
pub fn entropy_grid(layers: &[Vec<HeadMeasures>]) -> Table {
    grid(layers, |measures| format!("{:.1}", measures.entropy), |_| None)
}

/// A text on which heads are measured: its name for people, its number of tokens, and a head of it. All heads of a text have their
/// means from the same queries.
#[derive(Clone, Copy)]
pub struct MeasuredText<'a> {
    /// “in the text”.
    pub name: &'a str,
    /// The number of its tokens.
    pub tokens: usize,
    /// The measures of one of its heads.
    pub head: &'a HeadMeasures,
}

/// A table with a row for each layer and a column for each head.
fn grid(
    layers: &[Vec<HeadMeasures>],
    cell: impl Fn(&HeadMeasures) -> String,
    share: impl Fn(&HeadMeasures) -> Option<f64>,
) -> Table {
    let most = layers.iter().map(Vec::len).max().unwrap_or(0);
    let heads: Vec<String> = (1..=most).map(|head| head.to_string()).collect();
    let header: Vec<&str> = ["layer"].into_iter().chain(heads.iter().map(String::as_str)).collect();
    // A layer may have fewer heads than another.
    let row = |(layer, heads): (usize, &Vec<HeadMeasures>)| {
        let mut row: Vec<String> =
            std::iter::once((layer + 1).to_string()).chain(heads.iter().map(&cell)).collect();
        row.resize(header.len(), String::new());
        row
    };
    let shares = |heads: &Vec<HeadMeasures>| {
        let mut shares: Vec<Option<f64>> = std::iter::once(None).chain(heads.iter().map(&share)).collect();
        shares.resize(header.len(), None);
        shares
    };
    Table::new(&header, layers.iter().enumerate().map(row)).shaded_by(layers.iter().map(shares).collect())
}

/// `p87`: the previous token, with a mean weight of 87 hundredths.
pub fn head_letter(measures: &HeadMeasures) -> String {
    match measures.name() {
        Some((look, mean)) => format!("{}{:.0}", look.letter(), (100.0 * mean).min(99.0)),
        None => "·".to_string(),
    }
}

/// What a head attends to, in words: “previous token 42 %, 92 % without key 1”.
pub fn head_in_words(measures: &HeadMeasures) -> Option<String> {
    let (look, mean) = measures.name()?;
    let mean = format!("{}, {:.0} %", look.name(), 100.0 * mean);
    Some(match measures.share(look) {
        Some(share) => format!("{mean} ({:.0} % without key 1)", 100.0 * share),
        None => mean,
    })
}

/// What the letters mean, by which rule a head gets one, and on how many queries a mean rests where these are not all.
pub fn head_rules(texts: &[MeasuredText<'_>]) -> Table {
    let row = |look: Look| vec![look.letter().to_string(), look.name().to_string(), rule(look, texts)];
    let least = format!(
        "a head has the letter of its largest mean weight, if this is at least {:.0} % and rests on at least {NAMED_BY} queries",
        100.0 * NAMED_FROM
    );
    let none = vec!["·".to_string(), "none of these".to_string(), least];
    let header = ["letter", "attends to", "mean weight, in %, over all queries i but the first"];
    Table::new(&header, Look::ALL.map(row).into_iter().chain([none]))
}

/// The rule of a place; where not every query can attend there, on how many the mean rests: “(here 1 of 9)”.
fn rule(look: Look, texts: &[MeasuredText<'_>]) -> String {
    if texts.iter().all(|text| text.head.queries(look) + 1 >= text.tokens) {
        return look.rule().to_string();
    }
    let count = |text: &MeasuredText<'_>| {
        let name = if texts.len() > 1 { format!(" {}", text.name) } else { String::new() };
        format!("{}\u{a0}of\u{a0}{}{name}", text.head.queries(look), text.tokens)
    };
    let counts: Vec<String> = texts.iter().map(count).collect();
    format!("{}, over the queries whose token came before (here {})", look.rule(), counts.join(", "))
}

/// Every head with all of its measures, for people: means in hundredths, behind each its share without key 1; the entropy in bits.
pub fn measures_table(layers: &[Vec<HeadMeasures>]) -> Table {
    let rows = heads_of(layers).map(|(layer, head, measures)| {
        let cell = |look: Look| match (measures.mean(look), measures.share(look)) {
            (None, _) => "·".to_string(),
            (Some(mean), None) => format!("{:.0}", 100.0 * mean),
            (Some(mean), Some(share)) => format!("{:.0} ({:.0})", 100.0 * mean, 100.0 * share),
        };
        let mut row = vec![format!("{}\u{a0}L{layer}H{head}", name(layer, head))];
        row.extend(Look::ALL.map(cell));
        row.push(format!("{:.1}", measures.entropy));
        row
    });
    let header = ["head", "previous", "first", "itself", "same", "induction", "entropy"];
    Table::new(&header, rows).with_numbers(&header[1..])
}

/// The heads of all layers, with their layer and their number, both from 0.
fn heads_of(layers: &[Vec<HeadMeasures>]) -> impl Iterator<Item = (usize, usize, &HeadMeasures)> {
    let layers = layers.iter().enumerate();
    layers.flat_map(|(layer, heads)| heads.iter().enumerate().map(move |(head, of)| (layer, head, of)))
}

/// `L5.A_3`, from a layer and a head that count from 0.
fn name(layer: usize, head: usize) -> String {
    format!("L{}.A_{}", layer + 1, head + 1)
}

/// The title of [`heads_that_stand_out`], “on the text” or the like in it.
pub fn stand_out_title(on: &str) -> String {
    format!("What the heads attend to{on}: mean weights, a head counts from {:.0} % on", 100.0 * NAMED_FROM)
}

/// What the heads of a model do: for each place the number of heads that are named after it, and those with the largest mean weight.
pub fn heads_that_stand_out(layers: &[Vec<HeadMeasures>], shown: usize) -> Table {
    let count = |look: Option<Look>| {
        let is_it = |measures: &HeadMeasures| measures.name().map(|(look, _)| look) == look;
        heads_of(layers).filter(|(_, _, measures)| is_it(measures)).count().to_string()
    };
    let row = |look: Look| {
        let named = heads_of(layers).filter(|(_, _, measures)| measures.queries(look) >= NAMED_BY);
        let mut heads: Vec<(f64, usize, usize)> =
            named.filter_map(|(layer, head, measures)| Some((measures.mean(look)?, layer, head))).collect();
        heads.sort_by(|a, b| b.0.total_cmp(&a.0));
        let said = |(mean, layer, head): &(f64, usize, usize)| {
            format!("{} {:.0}\u{a0}%", name(*layer, *head), 100.0 * mean).replace(' ', "\u{a0}")
        };
        let largest: Vec<String> = heads.iter().take(shown).map(said).collect();
        let largest = if largest.is_empty() { "·".to_string() } else { largest.join(", ") };
        vec![look.name().to_string(), count(Some(look)), largest]
    };
    let none = vec!["none of these".to_string(), count(None), String::new()];
    Table::new(&["attends to", "heads", "largest mean weights"], Look::ALL.map(row).into_iter().chain([none]))
        .with_numbers(&["heads"])
}

/// The columns for the number of queries that a mean rests on, where it is not all.
const RESTS_ON: [&str; 2] = ["queries with the same token", "queries of induction"];

/// The places whose share without key 1 is told.
const OTHERS: [Look; 4] = [Look::Previous, Look::Itself, Look::Same, Look::Induction];

/// Every head with all of its measures, on each of several texts.
pub fn survey_table(texts: &[(&str, &Vec<Vec<HeadMeasures>>)]) -> Table {
    let rows = texts.iter().flat_map(|(text, layers)| {
        heads_of(layers).map(|(layer, head, measures)| {
            std::iter::once(text.to_string()).chain(measured(layer, head, measures)).collect()
        })
    });
    let looks: Vec<String> = Look::ALL.iter().map(|look| look.name().to_string()).collect();
    let shares = OTHERS.iter().map(|look| format!("{}, share without key 1", look.name()));
    let numbers: Vec<String> = looks.iter().cloned().chain(shares).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let first = ["on", "layer", "head", "usual name", "attends to", "mean weight"];
    let header = [&first[..], &numbers, &["entropy"], &RESTS_ON].concat();
    let numbers = [&["layer", "head", "mean weight", "entropy"][..], &numbers, &RESTS_ON].concat();
    Table::new(&header, rows).with_numbers(&numbers)
}

/// The cells of a head, whose layer and number count from 0.
fn measured(layer: usize, head: usize, measures: &HeadMeasures) -> Vec<String> {
    let part = |part: Option<f64>| part.map_or_else(String::new, |part| part.to_string());
    let (look, of) = match measures.name() {
        Some((look, mean)) => (look.name().to_string(), mean.to_string()),
        None => (String::new(), String::new()),
    };
    let mut row = vec![(layer + 1).to_string(), (head + 1).to_string(), format!("L{layer}H{head}"), look, of];
    row.extend(Look::ALL.map(|look| part(measures.mean(look))));
    row.extend(OTHERS.map(|look| part(measures.share(look))));
    row.push(measures.entropy.to_string());
    row.extend([Look::Same, Look::Induction].map(|look| measures.queries(look).to_string()));
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_the_softmax_and_equal_ones_keep_their_order() {
        let prediction = Prediction::of(&[0.0, 1.0, 0.0]);
        // 1/(2 + e) and e/(2 + e)
        let top: Vec<(usize, f64)> = prediction.top(3).collect();
        assert_eq!(top.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 0, 2]);
        assert!((top[0].1 - 0.576_116_884_765_828_8).abs() < 1e-15);
        assert_eq!(prediction.divergence(&prediction), 0.0);
    }

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(1.0).chars().count(), BAR);
        assert_eq!(bar(0.5).chars().count(), BAR / 2);
        assert_eq!(bar(0.0), "");
    }
}
