//! The ways to make a mistake, from their entries in the data file to the changes of one exercise.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::diagnose::{Facts, Task};
use crate::error::{Error, Result};
use crate::graph::recipes::{Change, Recipe};
use crate::language::{At, Values, change, expression};

use super::numbers::coincidence;
use super::operators;

/// One way to make a mistake.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// The changes: one choice, and those that usually go with it.
    pub changes: Vec<Change>,
    /// The detail that distinguishes it from the other ways, where there are several: “to 2 decimals”.
    pub detail: Option<String>,
    /// The sentence of this way, where it says more than the mistake's own.
    pub slip: Option<String>,
    /// The fix of this way, where it says more than the mistake's own.
    pub fix: Option<String>,
    /// Whether it changes anything without another mistake.
    pub alone: bool,
    /// Whether it is too rare to be looked for together with others, though the mistake is not.
    pub rare: bool,
    /// Whether it is any operator at any stage, which is looked for where nothing else fits.
    pub general: bool,
}

impl Way {
    /// The same, with what else the number is that it divides the scores by; what is said otherwise is `said`.
    pub fn with_coincidence(self, said: &str, right: &Recipe, facts: &Facts) -> Way {
        let [change] = &self.changes[..] else { return self };
        let mut recipe = *right;
        if change.is_of("scale") {
            Change::put_all([change], &mut recipe);
        } else {
            return self;
        }
        let factor = recipe.scale.factor(facts.d_k);
        match factor.and_then(|factor| coincidence(factor.value(), 2, right, facts)) {
            Some(also) => {
                let said = self.slip.as_deref().unwrap_or(said);
                Way { slip: Some(format!("{said} {also}")), ..self }
            }
            None => self,
        }
    }
}

/// A way, or several alike, as the data file has them.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WayEntry {
    /// The changes, with `;` between them.
    change: String,
    /// The condition.
    #[serde(rename = "if")]
    condition: Option<String>,
    /// What it is repeated for.
    #[serde(rename = "for")]
    each: Vec<Each>,
    detail: String,
    slip: String,
    fix: String,
    rare: bool,
    /// The condition on which it changes anything without another mistake; none where it always does.
    alone: Option<String>,
    /// The name of a function that makes the ways: `operators`.
    generator: Option<String>,
}

/// What a way is repeated for.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Each {
    /// `n in 1..4`, or the name of a list of the file.
    Named(String),
    /// Each of these.
    Listed(Vec<Record>),
}

/// Names, and their values: a text may have `{…}` in it, and one that begins with `=` is an expression.
type Record = BTreeMap<String, Value>;

/// What the entries of a file share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// The name of the file.
    pub file: String,
    /// Texts with a name.
    pub texts: BTreeMap<String, String>,
    /// Lists with a name, to repeat a way for.
    pub lists: BTreeMap<String, Vec<Record>>,
}

/// The names that may stand in the values of changes, where other names are words.
const QUANTITIES: [&str; 7] = ["T", "N", "H", "G", "d_k", "d_v", "d_model"];

/// No error has a place within an entry: its text is short.
const HERE: At = At { line: 0, column: 0 };

/// The ways of a mistake in an exercise.
pub(super) struct Reader<'a> {
    pub shared: &'a Shared,
    pub id: &'a str,
    pub task: &'a Task,
}

impl Reader<'_> {
    /// All ways of these entries, in order.
    pub(super) fn ways(&self, condition: Option<&str>, entries: &[WayEntry]) -> Result<Vec<Way>> {
        let nothing = Map::new();
        if !self.holds(condition, &nothing).map_err(|error| self.placed(error, 0))? {
            return Ok(Vec::new());
        }
        let mut ways = Vec::new();
        for (number, entry) in entries.iter().enumerate() {
            let more = match entry.generator.as_deref() {
                None => self.of_entry(entry),
                Some("operators") => operators::ways(self.id, self.task),
                Some(other) => Err(Error::new(format!("there is no generator `{other}`")).help("operators")),
            };
            ways.extend(more.map_err(|error| self.placed(error, number + 1))?);
        }
        Ok(ways)
    }

    fn placed(&self, error: Error, way: usize) -> Error {
        let Reader { shared, id, .. } = self;
        let place = if way == 0 { format!("`{id}`") } else { format!("`{id}`, way {way}") };
        error.in_source(format!("{}: {place}", shared.file))
    }

    /// The ways of an entry: one for each round of what it is repeated for.
    fn of_entry(&self, entry: &WayEntry) -> Result<Vec<Way>> {
        let mut rounds = vec![Map::new()];
        for each in &entry.each {
            let mut longer = Vec::new();
            for round in rounds {
                longer.extend(self.rounds(each, round)?);
            }
            rounds = longer;
        }
        let mut ways = Vec::new();
        for round in rounds {
            if self.holds(entry.condition.as_deref(), &round)? {
                ways.push(self.way(entry, &round)?);
            }
        }
        Ok(ways)
    }

    /// A round with the names of each inner round.
    fn rounds(&self, each: &Each, round: Map<String, Value>) -> Result<Vec<Map<String, Value>>> {
        let records = match each {
            Each::Listed(records) => records,
            Each::Named(name) => match self.shared.lists.get(name) {
                Some(records) => records,
                None => {
                    let names = |name: &str| self.named(name, &round);
                    let (variable, values) = self.values(&names).repeated(name, HERE)?;
                    let with = |value| {
                        let mut inner = round.clone();
                        inner.insert(variable.clone(), value);
                        inner
                    };
                    return Ok(values.into_iter().map(with).collect());
                }
            },
        };
        let mut rounds = Vec::new();
        for record in records {
            let condition = record.get("if").and_then(Value::as_str);
            if !self.holds(condition, &round)? {
                continue;
            }
            let mut inner = round.clone();
            for (name, value) in record.iter().filter(|(name, _)| *name != "if") {
                let value = match value.as_str().map(|text| (text, text.strip_prefix('='))) {
                    Some((_, Some(of))) => {
                        let names = |name: &str| self.named(name, &round);
                        self.values(&names).value(&expression("", of, HERE)?)?
                    }
                    Some((text, None)) => self.text(text, &round)?.into(),
                    None => value.clone(),
                };
                inner.insert(name.clone(), value);
            }
            rounds.push(inner);
        }
        Ok(rounds)
    }

    fn way(&self, entry: &WayEntry, round: &Map<String, Value>) -> Result<Way> {
        let quantities = |name: &str| {
            let quantity = || QUANTITIES.contains(&name).then(|| self.task.named(name)).flatten();
            round.get(name).cloned().or_else(quantity)
        };
        let changes = self.text(&entry.change, round)?;
        let changes = changes.split(';').map(str::trim).filter(|text| !text.is_empty());
        let changes = changes.map(|text| change(self.values(&quantities), text, HERE, self.task.recipe()));
        let text =
            |text: &str| -> Result<_> { Ok(Some(self.text(text, round)?).filter(|text| !text.is_empty())) };
        Ok(Way {
            changes: changes.collect::<Result<_>>()?,
            detail: text(&entry.detail)?,
            slip: text(&entry.slip)?,
            fix: text(&entry.fix)?,
            alone: self.holds(entry.alone.as_deref(), round)?,
            rare: entry.rare,
            general: false,
        })
    }

    /// Whether a condition holds; where there is none, it does.
    fn holds(&self, condition: Option<&str>, round: &Map<String, Value>) -> Result<bool> {
        let Some(condition) = condition else { return Ok(true) };
        let names = |name: &str| self.named(name, round);
        self.values(&names).holds(&expression("", &self.text(condition, round)?, HERE)?)
    }

    /// A text with what stands in its braces.
    fn text(&self, text: &str, round: &Map<String, Value>) -> Result<String> {
        if !text.contains('{') {
            return Ok(text.to_string());
        }
        let names = |name: &str| self.named(name, round);
        self.values(&names).text(text, HERE)
    }

    fn values<'n>(&self, names: &'n dyn Fn(&str) -> Option<Value>) -> Values<'n> {
        Values { file: "", names }
    }

    /// What a name stands for: in the file, in this round, or in the exercise.
    fn named(&self, name: &str, round: &Map<String, Value>) -> Option<Value> {
        if let Some(text) = self.shared.texts.get(name) {
            return self.text(text, round).ok().map(Value::String);
        }
        round.get(name).cloned().or_else(|| self.task.named(name))
    }
}
