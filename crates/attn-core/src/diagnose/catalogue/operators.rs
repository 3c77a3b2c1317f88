//! Every operator at every site, with sentences composed from the tables of `data/operators.toml`. Mistakes with a name of their own
//! are found before.

use std::sync::{Arc, LazyLock};

use serde::Deserialize;

use crate::data_file;
use crate::error::{Error, Result};
use crate::graph::recipes::{Alter, Alteration, Change, Recipe, Site};
use crate::language::{At, Values, change, expression};

use super::mistake::{Mistake, Slip, Way};
use crate::diagnose::Task;

/// The tables of the data file, whose head says what they have.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    function: Vec<Entry>,
    axis: Vec<Axis>,
    norm: Vec<Entry>,
    #[serde(rename = "move")]
    moves: Vec<Entry>,
    pattern: Vec<Entry>,
    other: Vec<Entry>,
    projection: Vec<Entry>,
    itself: Vec<Entry>,
    factor: Vec<Factor>,
    place: Vec<Place>,
}

/// An operator, in which words may be missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Entry {
    alter: String,
    part: Option<String>,
    plural: bool,
    done: String,
    cause: String,
}

/// The words of an axis.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Axis {
    axis: String,
    row: String,
    rows: String,
    each: String,
    across: String,
}

/// A number of the exercise, and its name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Factor {
    number: String,
    name: String,
}

/// A site, and the words for it in sentences.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    id: String,
    site: Site,
    noun: String,
    #[serde(default)]
    plural: bool,
    #[serde(default)]
    when: String,
    #[serde(default)]
    note: String,
    #[serde(default)]
    others: Vec<String>,
    #[serde(default)]
    own: String,
    #[serde(default)]
    factors: bool,
    #[serde(rename = "if")]
    condition: Option<String>,
}

/// An operator on numbers, and its sentence: “The first row of the queries was set to 0.”
#[derive(Clone, Debug)]
struct Operator {
    alter: Alter,
    /// The part that is altered, and whether it is a plural; none where it is all of the numbers.
    part: Option<(String, bool)>,
    /// The operation, as a participle: “squared”. `{their}` stands for “their” or “its”.
    done: String,
    /// What usually does it.
    cause: String,
}

/// The tables, and the operators that are the same at every site: those before and after the ones with another matrix.
struct Operators {
    tables: Tables,
    before: Vec<Operator>,
    after: Vec<Operator>,
}

/// The operators of the data file; each is read once.
static OPERATORS: LazyLock<Operators> = LazyLock::new(|| {
    let text = include_str!("../../../data/operators.toml");
    let tables: Tables = data_file::read(text);
    let read =
        |entries: &[Entry], words: &[(&str, &str)]| read(entries, words).expect("a test reads the file");
    let along = |axis: &Axis, entries: &[Entry]| {
        let Axis { axis, row, rows, each, across } = axis;
        let words =
            [("{axis}", axis), ("{row}", row), ("{rows}", rows), ("{each}", each), ("{across}", across)];
        read(entries, &words.map(|(name, word)| (name, &**word)))
    };
    let Tables { function, axis, norm, moves, pattern, itself, .. } = &tables;
    let mut before = read(function, &[]);
    before.extend(axis.iter().flat_map(|axis| along(axis, norm)));
    // The whole matrix has no order.
    before.extend(axis[..2].iter().flat_map(|axis| along(axis, moves)));
    before.extend(read(pattern, &[]));
    let after = read(itself, &[]);
    Operators { tables, before, after }
});

/// The operators, with these words in their places.
fn read(entries: &[Entry], words: &[(&str, &str)]) -> Result<Vec<Operator>> {
    let put = |text: &str| words.iter().fold(text.to_string(), |text, (name, word)| text.replace(name, word));
    let one = |entry: &Entry| {
        let part = entry.part.as_ref().map(|part| (put(part), entry.plural));
        let (done, cause) = (put(&entry.done), entry.cause.clone());
        Ok(Operator { alter: alter(&put(&entry.alter))?, part, done, cause })
    };
    entries.iter().map(one).collect()
}

/// The operation that a text does at `site`.
fn alter(text: &str) -> Result<Alter> {
    let text = text.replace("(site", "(queries");
    match change(Values { file: "", names: &|_| None }, &text, At::default(), &Recipe::default())? {
        Change::Alteration(alteration) => Ok(alteration.alter),
        _ => Err(Error::new(format!("`{text}` is no operation"))),
    }
}

/// The ways of one mistake: everything that can be done at its sites.
pub(super) fn ways(mistake: &Arc<Mistake>, task: &Task) -> Result<Vec<Way>> {
    let Operators { tables, before, after } = &*OPERATORS;
    let names = |name: &str| task.named(name);
    let values = Values { file: "", names: &names };
    let mut ways = Vec::new();
    for place in tables.place.iter().filter(|place| place.id == mistake.id) {
        if let Some(condition) = &place.condition
            && !values.holds(&expression("", condition, At::default())?)?
        {
            continue;
        }
        let others = place.with_others(tables)?;
        ways.extend(before.iter().chain(&others).chain(after).map(|operator| place.way(mistake, operator)));
        // What multiplies all scores, weights, values or results is solved for.
        let mut known = vec![1.0];
        for Factor { number, name } in tables.factor.iter().filter(|_| place.factors) {
            let number = values.number(&expression("", number, At::default())?)?;
            if known.iter().any(|known: &f64| (known - number).abs() < 1e-9) {
                continue;
            }
            known.push(number);
            for (factor, how) in [(number, "multiplied by"), (1.0 / number, "divided by")] {
                let (done, cause) = (format!("{how} {name}"), "leave out the factor".to_string());
                let operator = Operator { alter: Alter::Times(factor), part: None, done, cause };
                ways.push(place.way(mistake, &operator));
            }
        }
    }
    Ok(ways)
}

impl Place {
    /// The operators that combine it with other matrices.
    fn with_others(&self, tables: &Tables) -> Result<Vec<Operator>> {
        let mut operators = Vec::new();
        for name in &self.others {
            let said = match name.as_str() {
                "S" => "the scores",
                "S_scaled" => "the scaled scores",
                name => name,
            };
            let again = if *name == self.own { " once more" } else { "" };
            let is_projection = name.starts_with("W_") && self.id != "projections-altered";
            let words = [("{name}", &**name), ("{other}", said), ("{again}", again)];
            operators.extend(read(if is_projection { &tables.projection } else { &tables.other }, &words)?);
        }
        Ok(operators)
    }

    fn way(&self, mistake: &Arc<Mistake>, operator: &Operator) -> Way {
        let Operator { alter, part, cause, .. } = operator;
        let Place { site: stage, noun, when, note, .. } = self;
        let is_plural = part.as_ref().map_or(self.plural, |(_, is_plural)| *is_plural);
        let done = operator.done.replace("{their}", if is_plural { "their" } else { "its" });
        let done = if is_plural { done } else { done.replace("themselves", "itself") };
        let brief = done.trim_end_matches(',');
        // “first row set to 0, after the scale”
        let what = match part {
            None => brief.to_string(),
            Some((part, _)) => format!("{} {brief}", part.trim_start_matches("the ")),
        };
        // “The first row of the queries was set to 0 before the scores were computed.”
        let subject = part.as_ref().map_or_else(|| noun.clone(), |(part, _)| format!("{part} of {noun}"));
        let verb = if is_plural { "were" } else { "was" };
        let rest = if when.is_empty() { brief.to_string() } else { format!("{done} {when}") };
        let sentence = format!("{subject} {verb} {rest}.");
        let (first, rest) = sentence.split_at(1);
        // “Use the queries as they are: look for `np.roll`, or a range that is off by one.”
        let as_is = match stage {
            Site::Result => "Hand in the result as it is".to_string(),
            _ => format!("Use {noun} as {}", if self.plural { "they are" } else { "it is" }),
        };
        let slip = Slip {
            mistake: mistake.clone(),
            detail: Some(if note.is_empty() { what } else { format!("{what}, {note}") }),
            said: Some(format!("{}{rest}", first.to_uppercase())),
            fix: Some(format!("{as_is}: {cause}.")),
        };
        let changes = vec![Change::Alteration(Alteration { stage: *stage, alter: *alter })];
        Way { slip, changes, alone: true, rare: false, general: true }
    }
}
