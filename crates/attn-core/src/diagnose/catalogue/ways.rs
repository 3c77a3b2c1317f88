//! The ways to make a mistake, from their entries in the data file to the changes of one exercise.

use serde_json::{Map, Value};

use crate::diagnose::Task;
use crate::error::{Error, Result};
use crate::graph::recipes::Change;
use crate::language::{At, Lookup, Values, change, expression};

use super::mistake::{Each, Mistake, Slip, Way, WayEntry};
use super::numbers::coincidence;
use super::operators;

/// The names that may stand in the values of changes, where other names are words.
const QUANTITIES: [&str; 7] = ["T", "N", "H", "G", "d_k", "d_v", "d_model"];

/// The place of an error within a text of an entry.
const HERE: At = At { line: 1, column: 1 };

/// Reads the ways of a mistake in an exercise.
struct Reader<'a> {
    mistake: &'static Mistake,
    task: &'a Task,
    /// The file, the mistake and the way, for errors.
    place: String,
}

impl Mistake {
    /// The ways to make it in an exercise; none where it cannot be made.
    ///
    /// # Errors
    /// If its entry in the data file cannot be read: the file, the entry, and what is wrong in it.
    pub fn ways(&'static self, task: &Task) -> Result<Vec<Way>> {
        let of_all = Reader { mistake: self, task, place: format!("{}: `{}`", self.shared.file, self.id) };
        if !of_all.holds(self.condition.as_deref(), &Map::new())? {
            return Ok(Vec::new());
        }
        let mut ways = Vec::new();
        for (number, entry) in self.entries.iter().enumerate() {
            let reader = Reader { place: format!("{}, way {}", of_all.place, number + 1), ..of_all };
            let more = match entry.generator.as_deref() {
                None => reader.of_entry(entry),
                Some("operators") => operators::ways(self, task),
                Some(other) => Err(Error::new(format!("there is no generator `{other}`")).help("operators")),
            };
            ways.extend(more.map_err(|error| error.in_source(reader.place))?);
        }
        Ok(ways)
    }
}

impl Reader<'_> {
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
            Each::Named(name) => match self.mistake.shared.lists.get(name) {
                Some(records) => records,
                None if !name.contains(" in ") => {
                    let error = Error::new(format!("there is no list `{name}`"));
                    return Err(error.help("write the name of a list of the file, or n in 1..4"));
                }
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
                        self.values(&names).value(&expression(&self.place, of, HERE)?)?
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
        let changes: Vec<Change> = changes.collect::<Result<_>>()?;
        let text =
            |text: &str| -> Result<_> { Ok(Some(self.text(text, round)?).filter(|text| !text.is_empty())) };
        let (detail, said, fix) = (text(&entry.detail)?, text(&entry.slip)?, text(&entry.fix)?);
        let own = || said.as_deref().unwrap_or(self.mistake.slip);
        let said = self.coincidence(&changes).map(|also| format!("{} {also}", own())).or(said.clone());
        let slip = Slip { mistake: self.mistake, detail, said, fix };
        let alone = self.holds(entry.alone.as_deref(), round)?;
        Ok(Way { slip, changes, alone, rare: entry.rare, general: false })
    }

    /// What else the number is that a change divides the scores by.
    fn coincidence(&self, changes: &[Change]) -> Option<String> {
        let [change] = changes else { return None };
        if !change.is_of("scale") {
            return None;
        }
        let (mut recipe, facts) = (*self.task.recipe(), self.task.facts());
        Change::put_all([change], &mut recipe);
        coincidence(recipe.scale.factor(facts.d_k)?.value(), 2, self.task.recipe(), facts)
    }

    /// Whether a condition holds; where there is none, it does.
    fn holds(&self, condition: Option<&str>, round: &Map<String, Value>) -> Result<bool> {
        let Some(condition) = condition else { return Ok(true) };
        let names = |name: &str| self.named(name, round);
        self.values(&names).holds(&expression(&self.place, &self.text(condition, round)?, HERE)?)
    }

    /// A text with what stands in its braces.
    fn text(&self, text: &str, round: &Map<String, Value>) -> Result<String> {
        if !text.contains('{') {
            return Ok(text.to_string());
        }
        let names = |name: &str| self.named(name, round);
        self.values(&names).text(text, HERE)
    }

    fn values<'n>(&'n self, names: Lookup<'n>) -> Values<'n> {
        Values { file: &self.place, names }
    }

    /// What a name stands for: in the file, in this round, or in the exercise.
    fn named(&self, name: &str, round: &Map<String, Value>) -> Option<Value> {
        if let Some(text) = self.mistake.shared.texts.get(name) {
            return self.text(text, round).ok().map(Value::String);
        }
        round.get(name).cloned().or_else(|| self.task.named(name))
    }
}
