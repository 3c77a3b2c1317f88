//! Next words with their probabilities.

use crate::elementary::{exp, ln};
use crate::story::Table;

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
    let mut ids: Vec<usize> = before.top(top).map(|(id, _)| id).collect();
    for (id, _) in after.top(top) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let row = |id: usize| {
        let (p, q) = (before.probability(id), after.probability(id));
        let change = if for_people { points(q - p) } else { (q - p).to_string() };
        vec![name(id), id.to_string(), percent(p, for_people), percent(q, for_people), change]
    };
    let change = if for_people { "change, in points" } else { "change" };
    let header = ["token", "id", heads[0], heads[1], change];
    Table::new(&header, ids.into_iter().map(row)).with_numbers(&["id", heads[0], heads[1], change])
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
    Table::new(&header, places.iter().map(row)).with_numbers(&[
        &of_best,
        "KL",
        "p first",
        "p second",
        "p third",
        "p final word",
    ])
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
            format!(
                "After {before} the best guess would be {} ({}); from {from} on, {best} is ahead.",
                name(other),
                percent(p, true)
            )
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
    let header: &[&str] = if for_people {
        &["position", "token", "first", "second", "third"]
    } else {
        &["position", "token", "first", "p first", "second", "p second", "third", "p third"]
    };
    Table::new(header, positions.iter().enumerate().map(row))
        .with_numbers(&["position", "p first", "p second", "p third"])
}

/// The most probable tokens, each with its probability; cells stay empty where the vocabulary has fewer.
fn top_cells(prediction: &Prediction, name: &dyn Fn(usize) -> String, for_people: bool) -> Vec<String> {
    let width = if for_people { 1 } else { 2 };
    let mut cells: Vec<String> = Vec::new();
    for (id, p) in prediction.top(OF_A_LAYER) {
        if for_people {
            cells.push(format!("{} {}", name(id), percent(p, true)));
        } else {
            cells.extend([name(id), percent(p, false)]);
        }
    }
    cells.resize(OF_A_LAYER * width, String::new());
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
