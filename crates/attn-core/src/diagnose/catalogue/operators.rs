//! Every operator at every site, with sentences composed from the tables of `data/operators.toml`. Mistakes with a name of their own
//! are found before.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::diagnose::Task;
use crate::error::{Error, Result};
use crate::graph::recipes::{Alter, Alteration, Change, Recipe, Site};
use crate::language::{At, Values, change, expression};

use super::way::Way;

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
#[derive(Debug)]
struct Operator {
    alter: Alter,
    /// The part that is altered, and whether it is a plural; none where it is all of the numbers.
    part: Option<(String, bool)>,
    /// The operation, as a participle: “squared”. `{their}` stands for “their” or “its”.
    done: String,
    /// What usually does it.
    cause: String,
}

/// The sites, each with its operators, and the factors of all of them.
struct Sites {
    places: Vec<(Place, Vec<Operator>)>,
    factors: Vec<Factor>,
}

/// The sites of the data file.
static SITES: LazyLock<Sites> = LazyLock::new(|| {
    let text = include_str!("../../../data/operators.toml");
    let tables: Tables = basic_toml::from_str(text).expect("a test reads the file");
    let Tables { function, axis, norm, moves, pattern, other, projection, itself, factor, place } = tables;
    let read = |entries: &[Entry], words: &[(&str, &str)]| -> Vec<Operator> {
        entries.iter().map(|entry| entry.read(words).expect("a test reads the file")).collect()
    };
    let along = |axis: &Axis, entries: &[Entry]| {
        let Axis { axis, row, rows, each, across } = axis;
        let words =
            [("{axis}", axis), ("{row}", row), ("{rows}", rows), ("{each}", each), ("{across}", across)];
        read(entries, &words.map(|(name, word)| (name, &**word)))
    };
    let of_place = |place: Place| {
        let mut operators = read(&function, &[]);
        operators.extend(axis.iter().flat_map(|axis| along(axis, &norm)));
        // The whole matrix has no order.
        operators.extend(axis[..2].iter().flat_map(|axis| along(axis, &moves)));
        operators.extend(read(&pattern, &[]));
        for name in &place.others {
            let said = match name.as_str() {
                "S" => "the scores",
                "S_scaled" => "the scaled scores",
                name => name,
            };
            let again = if *name == place.own { " once more" } else { "" };
            let is_projection = name.starts_with("W_") && place.id != "projections-altered";
            let words = [("{name}", &**name), ("{other}", said), ("{again}", again)];
            operators.extend(read(if is_projection { &projection } else { &other }, &words));
        }
        operators.extend(read(&itself, &[]));
        (place, operators)
    };
    Sites { places: place.into_iter().map(of_place).collect(), factors: factor }
});

impl Entry {
    /// The operator, with these words in their places.
    fn read(&self, words: &[(&str, &str)]) -> Result<Operator> {
        let put =
            |text: &str| words.iter().fold(text.to_string(), |text, (name, word)| text.replace(name, word));
        Ok(Operator {
            alter: alter(&put(&self.alter))?,
            part: self.part.as_ref().map(|part| (put(part), self.plural)),
            done: put(&self.done),
            cause: self.cause.clone(),
        })
    }
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
pub(super) fn ways(id: &str, task: &Task) -> Result<Vec<Way>> {
    let Sites { places, factors } = &*SITES;
    let names = |name: &str| task.named(name);
    let values = Values { file: "", names: &names };
    let mut ways = Vec::new();
    for (place, operators) in places.iter().filter(|(place, _)| place.id == id) {
        if let Some(condition) = &place.condition
            && !values.holds(&expression("", condition, At::default())?)?
        {
            continue;
        }
        ways.extend(operators.iter().map(|operator| place.way(operator)));
        // What multiplies all scores, weights, values or results is solved for.
        let mut known = vec![1.0];
        for Factor { number, name } in factors.iter().filter(|_| place.factors) {
            let number = values.number(&expression("", number, At::default())?)?;
            if known.iter().any(|known: &f64| (known - number).abs() < 1e-9) {
                continue;
            }
            known.push(number);
            for (factor, how) in [(number, "multiplied by"), (1.0 / number, "divided by")] {
                let (done, cause) = (format!("{how} {name}"), "leave out the factor".to_string());
                ways.push(place.way(&Operator { alter: Alter::Times(factor), part: None, done, cause }));
            }
        }
    }
    Ok(ways)
}

impl Place {
    fn way(&self, operator: &Operator) -> Way {
        let Operator { alter, part, cause, .. } = operator;
        let Place { site: stage, noun, when, note, .. } = self;
        let done = self.done(operator);
        let brief = done.trim_end_matches(',');
        // “first row set to 0, after the scale”
        let what = match part {
            None => brief.to_string(),
            Some((part, _)) => format!("{} {brief}", part.trim_start_matches("the ")),
        };
        // “The first row of the queries was set to 0 before the scores were computed.”
        let subject = part.as_ref().map_or_else(|| noun.clone(), |(part, _)| format!("{part} of {noun}"));
        let verb = if self.is_plural(operator) { "were" } else { "was" };
        let rest = if when.is_empty() { brief.to_string() } else { format!("{done} {when}") };
        let sentence = format!("{subject} {verb} {rest}.");
        let (first, rest) = sentence.split_at(1);
        // “Use the queries as they are: look for `np.roll`, or a range that is off by one.”
        let as_is = match stage {
            Site::Result => "Hand in the result as it is".to_string(),
            _ => format!("Use {noun} as {}", if self.plural { "they are" } else { "it is" }),
        };
        Way {
            changes: vec![Change::Alteration(Alteration { stage: *stage, alter: *alter })],
            detail: Some(if note.is_empty() { what } else { format!("{what}, {note}") }),
            slip: Some(format!("{}{rest}", first.to_uppercase())),
            fix: Some(format!("{as_is}: {cause}.")),
            alone: true,
            rare: false,
            general: true,
        }
    }

    fn is_plural(&self, operator: &Operator) -> bool {
        operator.part.as_ref().map_or(self.plural, |(_, is_plural)| *is_plural)
    }

    /// The clause of an operator, with “their” or “its” and “themselves” or “itself”.
    fn done(&self, operator: &Operator) -> String {
        let is_plural = self.is_plural(operator);
        let done = operator.done.replace("{their}", if is_plural { "their" } else { "its" });
        if is_plural { done } else { done.replace("themselves", "itself") }
    }
}
