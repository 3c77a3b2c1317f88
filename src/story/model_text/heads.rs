//! A grid of layers and heads, one cell for each head.

use crate::model::{FIRST_FROM, HeadMeasures, Look, NAMED_FROM};
use crate::story::Table;

/// The heads of all layers.
pub struct HeadGrid<'a> {
    /// The measures of each layer's heads.
    pub layers: &'a [Vec<HeadMeasures>],
}

/// The letter of a place that a head looks at.
fn letter(look: Look) -> char {
    match look {
        Look::Previous => 'p',
        Look::First => 'f',
        Look::Itself => 's',
        Look::Same => '=',
        Look::Induction => 'i',
    }
}

/// One row for each layer, one cell for each head: a letter, and the share in hundredths, by which it is shaded.
pub fn head_grid(grid: &HeadGrid<'_>) -> Table {
    let share = |measures: &HeadMeasures| measures.name().map(|(_, share)| share);
    grid.table(head_letter, share)
}

/// One row for each layer, one column for each head: the token that the last query looks at most, and its weight in hundredths.
pub fn last_token_grid(grid: &HeadGrid<'_>, tokens: &[String]) -> Table {
    let cell = |measures: &HeadMeasures| {
        let (key, weight) = measures.last;
        let token = tokens.get(key).map_or("", String::as_str);
        format!("{token}\u{a0}{:.0}", 100.0 * weight)
    };
    grid.table(cell, |measures| Some(measures.last.1))
}

impl HeadGrid<'_> {
    /// A table with a row for each layer and a column for each head.
    fn table(
        &self,
        cell: impl Fn(&HeadMeasures) -> String,
        share: impl Fn(&HeadMeasures) -> Option<f64>,
    ) -> Table {
        let most = self.layers.iter().map(Vec::len).max().unwrap_or(0);
        let heads: Vec<String> = (1..=most).map(|head| head.to_string()).collect();
        let header: Vec<&str> = ["layer"].into_iter().chain(heads.iter().map(String::as_str)).collect();
        let row = |(layer, heads): (usize, &Vec<HeadMeasures>)| {
            // A layer may have fewer heads than another.
            let blank = (heads.len()..most).map(|_| String::new());
            std::iter::once((layer + 1).to_string()).chain(heads.iter().map(&cell)).chain(blank).collect()
        };
        let shares = |heads: &Vec<HeadMeasures>| {
            let blank = (heads.len()..most).map(|_| None);
            std::iter::once(None).chain(heads.iter().map(&share)).chain(blank).collect()
        };
        let rows = self.layers.iter().enumerate().map(row);
        Table::new(&header, rows).shaded_by(self.layers.iter().map(shares).collect())
    }
}

/// `p87`: the previous token, with 87 hundredths of the weights.
pub fn head_letter(measures: &HeadMeasures) -> String {
    match measures.name() {
        Some((look, share)) => format!("{}{:.0}", letter(look), (100.0 * share).min(99.0)),
        None => "·".to_string(),
    }
}

/// What the letters mean, and by which rule a head gets one.
pub fn head_rules() -> Table {
    let row = |look: Look| vec![letter(look).to_string(), look.name().to_string(), look.rule().to_string()];
    let none = vec![
        "·".to_string(),
        "none of these".to_string(),
        format!(
            "a letter needs {:.0} % of the weights without key 1; f stands where key 1 has {:.0} %, or half and nothing else stands out",
            100.0 * NAMED_FROM,
            100.0 * FIRST_FROM
        ),
    ];
    Table::new(
        &["letter", "looks at", "share of the weights, in %, over all queries i but the first"],
        Look::ALL.map(row).into_iter().chain([none]),
    )
}

/// The head with the largest share of each place, and those after it.
pub fn top_heads(layers: &[Vec<HeadMeasures>]) -> Table {
    const SHOWN: usize = 4;
    let row = |look: Look| {
        let mut heads: Vec<(f64, usize, usize)> = Vec::new();
        for (layer, measures) in layers.iter().enumerate() {
            for (head, measured) in measures.iter().enumerate() {
                heads.extend(measured.share(look).map(|share| (share, layer, head)));
            }
        }
        heads.sort_by(|a, b| b.0.total_cmp(&a.0));
        let said = |(share, layer, head): &(f64, usize, usize)| {
            format!("L{}.A_{} (L{layer}H{head}) {:.0} %", layer + 1, head + 1, 100.0 * share)
        };
        vec![look.name().to_string(), heads.iter().take(SHOWN).map(said).collect::<Vec<_>>().join(", ")]
    };
    Table::new(&["looks at", "heads"], Look::ALL.map(row))
}

/// Every head with all of its measures, on each of several texts.
pub fn survey_table(texts: &[(&str, &Vec<Vec<HeadMeasures>>)]) -> Table {
    let mut rows = Vec::new();
    for (text, layers) in texts {
        for (layer, heads) in layers.iter().enumerate() {
            for (head, measures) in heads.iter().enumerate() {
                let mut row = vec![text.to_string()];
                row.extend(measured(layer + 1, head + 1, measures));
                rows.push(row);
            }
        }
    }
    let looks: Vec<&str> = Look::ALL.iter().map(|look| look.name()).collect();
    let header =
        [&["on", "layer", "head", "usual name", "looks at", "share"][..], &looks, &["entropy"]].concat();
    let numbers = [&["layer", "head", "share", "entropy"][..], &looks].concat();
    Table::new(&header, rows).with_numbers(&numbers)
}

fn measured(layer: usize, head: usize, measures: &HeadMeasures) -> Vec<String> {
    let share = |share: Option<f64>| share.map_or_else(String::new, |share| share.to_string());
    let (look, of) = match measures.name() {
        Some((look, share)) => (look.name().to_string(), share.to_string()),
        None => (String::new(), String::new()),
    };
    let usual = format!("L{}H{}", layer - 1, head - 1);
    let mut row = vec![layer.to_string(), head.to_string(), usual, look, of];
    row.extend(measures.shares.iter().map(|&one| share(one)));
    row.push(measures.entropy.to_string());
    row
}
