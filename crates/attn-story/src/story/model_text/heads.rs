//! A grid of layers and heads, one cell for each head.

use crate::model::{FIRST_FROM, HeadMeasures, Look, NAMED_BY, NAMED_FROM};
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

/// One row for each layer, one column for each head: the entropy of a row of its weights, the mean over the text, in bits.
pub fn entropy_grid(grid: &HeadGrid<'_>) -> Table {
    grid.table(|measures| format!("{:.1}", measures.entropy), |_| None)
}

/// A text on which heads are measured: its name for people, its number of tokens, and a head of it. All heads of a text have their
/// shares from the same queries.
#[derive(Clone, Copy)]
pub struct MeasuredText<'a> {
    /// “in the text”.
    pub name: &'a str,
    /// The number of its tokens.
    pub tokens: usize,
    /// The measures of one of its heads.
    pub head: &'a HeadMeasures,
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

/// What the letters mean, by which rule a head gets one, and on how many queries a share rests where these are not all.
pub fn head_rules(texts: &[MeasuredText<'_>]) -> Table {
    let row = |look: Look| vec![letter(look).to_string(), look.name().to_string(), rule(look, texts)];
    let none = vec![
        "·".to_string(),
        "none of these".to_string(),
        format!(
            "a letter needs {:.0} % of the weights without key 1, over {NAMED_BY} queries at least; f stands where key 1 has \
             {:.0} %, or half and nothing else stands out",
            100.0 * NAMED_FROM,
            100.0 * FIRST_FROM
        ),
    ];
    Table::new(
        &["letter", "looks at", "share of the weights, in %, over all queries i but the first"],
        Look::ALL.map(row).into_iter().chain([none]),
    )
}

/// The rule of a place; where not every query can look there, on how many the share rests: “(here 1 of 9)”.
fn rule(look: Look, texts: &[MeasuredText<'_>]) -> String {
    // Every query but the first two looks before itself.
    let is_of_some = matches!(look, Look::Same | Look::Induction);
    if !is_of_some || texts.iter().all(|text| text.head.queries(look) + 1 >= text.tokens) {
        return look.rule().to_string();
    }
    let count = |text: &MeasuredText<'_>| {
        let name = if texts.len() > 1 { format!(" {}", text.name) } else { String::new() };
        format!("{}\u{a0}of\u{a0}{}{name}", text.head.queries(look), text.tokens)
    };
    let counts: Vec<String> = texts.iter().map(count).collect();
    format!("{}, over the queries whose token came before (here {})", look.rule(), counts.join(", "))
}

/// Every head with all of its measures, for people: shares in hundredths, the entropy in bits.
pub fn measures_table(layers: &[Vec<HeadMeasures>]) -> Table {
    let mut rows = Vec::new();
    for (layer, heads) in layers.iter().enumerate() {
        for (head, measures) in heads.iter().enumerate() {
            let share = |share: &Option<f64>| share.map_or("·".to_string(), |x| format!("{:.0}", 100.0 * x));
            let names = format!("L{}.A_{}\u{a0}L{layer}H{head}", layer + 1, head + 1);
            let mut row = vec![names];
            row.extend(measures.shares.iter().map(share));
            row.push(format!("{:.1}", measures.entropy));
            rows.push(row);
        }
    }
    let header = ["head", "previous", "first", "itself", "same", "induction", "entropy"];
    Table::new(&header, rows).with_numbers(&header[1..])
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

/// The columns for the number of queries that a share rests on, where it is not all.
const RESTS_ON: [&str; 2] = ["queries with the same token", "queries of induction"];

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
        [&["on", "layer", "head", "usual name", "looks at", "share"][..], &looks, &["entropy"], &RESTS_ON]
            .concat();
    let numbers = [&["layer", "head", "share", "entropy"][..], &looks, &RESTS_ON].concat();
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
    row.extend([Look::Same, Look::Induction].map(|look| measures.queries(look).to_string()));
    row
}
