//! The ways to make a mistake, from their entries in the data file to the changes of one exercise.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::diagnose::Task;
use crate::error::{Error, ErrorKind, Result};
use crate::graph::recipes::{Change, text_of};
use crate::language::{At, Lookup, Values, change, expression};
use crate::text::{clip, did_you_mean};

use super::mistake::{Each, Mistake, Slip, Way, WayEntry};
use super::numbers::coincidence;
use super::operators;

/// The names that may stand in the values of changes, where other names are words.
const QUANTITIES: [&str; 7] = ["T", "N", "H", "G", "d_k", "d_v", "d_model"];

/// The place of an error within a text of an entry.
const HERE: At = At { line: 1, column: 1 };

/// A text of an entry has at most this many bytes, also when what stands in its braces is written out.
pub(super) const LONGEST_TEXT: usize = 4000;
/// A text that stands for another one, and so on, does so at most this often.
const DEEPEST: usize = 8;
/// All texts of a mistake have at most this many bytes, when they are written out.
const MOST_WRITTEN: usize = 1 << 18;
/// A mistake is made in at most this many rounds of one way.
const MOST_ROUNDS: usize = 1000;
/// The mistakes of a file have at most this many ways in an exercise.
const MOST_WAYS: usize = 500;

impl Task {
    /// The same exercise with mistakes of somebody's own, all of one file, which are tried together with the others.
    ///
    /// # Errors
    /// At the line and column of a way that cannot be read in this exercise, or if there are too many.
    pub fn with_mistakes(self, own: &[Arc<Mistake>]) -> Result<Task> {
        let mut ways = Vec::new();
        for mistake in own {
            ways.extend(mistake.ways(&self)?);
            if ways.len() > MOST_WAYS {
                let what = format!("up to here there are more than {MOST_WAYS} ways in this exercise");
                let error = Error::new(what).of_kind(ErrorKind::TooLarge);
                return Err(error.at(mistake.place(None, "id")));
            }
        }
        Ok(self.with_ways(own, ways))
    }
}

/// Names, and their values in a round.
type Round = Map<String, Value>;

/// Reads the ways of a mistake in an exercise.
struct Reader<'a> {
    mistake: &'a Arc<Mistake>,
    task: &'a Task,
    /// The way that is read; none while the condition of all is.
    way: Option<usize>,
    /// The bytes of texts so far, and how deep they are in each other.
    written: Cell<usize>,
    depth: Cell<usize>,
    /// The last name that stood for nothing.
    missed: RefCell<String>,
    /// The error in a text that a name stands for.
    fault: RefCell<Option<Error>>,
}

impl Mistake {
    /// The ways to make it in an exercise; none where it cannot be made.
    ///
    /// # Errors
    /// If its entry in the data file cannot be read: the file, the entry, and what is wrong in it.
    pub fn ways(self: &Arc<Mistake>, task: &Task) -> Result<Vec<Way>> {
        let (written, depth, missed, fault) = Default::default();
        let mut reader = Reader { mistake: self, task, way: None, written, depth, missed, fault };
        let mut ways = Vec::new();
        if !reader.holds("if", self.condition.as_deref(), &Round::new())? {
            return Ok(ways);
        }
        for (number, entry) in self.entries.iter().enumerate() {
            reader.way = Some(number);
            ways.extend(match entry.generator.as_deref() {
                None => reader.of_entry(entry)?,
                Some("operators") => operators::ways(self, task)?,
                // What is solved for is not tried.
                Some("solver") => Vec::new(),
                Some(other) => {
                    let error = Error::new(format!("there is no generator `{}`", clip(other)))
                        .help("operators, solver");
                    return Err(error.moved(self.place(reader.way, "generator")));
                }
            });
        }
        Ok(ways)
    }
}

impl Reader<'_> {
    /// The ways of an entry: one for each round of what it is repeated for.
    fn of_entry(&self, entry: &WayEntry) -> Result<Vec<Way>> {
        let mut rounds = vec![Round::new()];
        for each in &entry.each {
            let mut longer = Vec::new();
            for round in rounds {
                longer.extend(self.located("for", &round, self.rounds(each, &round))?);
                if longer.len() > MOST_ROUNDS {
                    let error = Error::new(format!("this repeats the way more than {MOST_ROUNDS} times"));
                    return self.located("for", &round, Err(error.of_kind(ErrorKind::TooLarge)));
                }
            }
            rounds = longer;
        }
        let mut ways = Vec::new();
        for round in rounds {
            if self.holds("if", entry.condition.as_deref(), &round)? {
                ways.push(self.way(entry, &round)?);
            }
        }
        Ok(ways)
    }

    /// A round with the names of each inner round.
    fn rounds(&self, each: &Each, round: &Round) -> Result<Vec<Round>> {
        let records = match each {
            Each::Listed(records) => records,
            Each::Named(name) => match self.mistake.shared.lists.get(name) {
                Some(records) => records,
                None if !name.contains(" in ") => {
                    let near = did_you_mean(name, self.mistake.shared.lists.keys().map(String::as_str));
                    let help =
                        near.unwrap_or_else(|| "write the name of a list of the file, or n in 1..4".into());
                    return Err(Error::new(format!("there is no list `{}`", clip(name))).help(help));
                }
                None => {
                    let names = |name: &str| self.named(name, round);
                    let (variable, values) = values(&names).repeated(name, HERE)?;
                    let with = |value| self.counted(round.clone(), [(variable.clone(), value)]);
                    return values.into_iter().map(with).collect();
                }
            },
        };
        let mut rounds = Vec::new();
        for record in records {
            let condition = record.get("if").map(text_of);
            if !self.is_true(condition.as_deref(), round)? {
                continue;
            }
            let mut inner = Vec::new();
            for (name, value) in record.iter().filter(|(name, _)| *name != "if") {
                let value = match value.as_str().map(|text| (text, text.strip_prefix('='))) {
                    Some((_, Some(of))) => {
                        let names = |name: &str| self.named(name, round);
                        values(&names).value(&expression("", of, HERE)?)?
                    }
                    Some((text, None)) => self.text(text, round)?.into(),
                    None => value.clone(),
                };
                inner.push((name.clone(), value));
            }
            rounds.push(self.counted(round.clone(), inner)?);
        }
        Ok(rounds)
    }

    fn way(&self, entry: &WayEntry, round: &Round) -> Result<Way> {
        let quantities = |name: &str| {
            let quantity = || QUANTITIES.contains(&name).then(|| self.task.named(name)).flatten();
            self.known(name, round.get(name).cloned().or_else(quantity))
        };
        let changes = self.located("change", round, self.text(&entry.change, round))?;
        let changes = changes.split(';').map(str::trim).filter(|text| !text.is_empty());
        let changes = changes.map(|text| change(values(&quantities), text, HERE, self.task.recipe()));
        let changes = changes.collect::<Result<Vec<Change>>>().and_then(|changes| self.checked(changes));
        let changes = self.located("change", round, changes)?;
        let text = |field: &str, text: &str| -> Result<_> {
            Ok(Some(self.located(field, round, self.text(text, round))?).filter(|text| !text.is_empty()))
        };
        let (detail, said) = (text("detail", &entry.detail)?, text("slip", &entry.slip)?);
        let fix = text("fix", &entry.fix)?;
        let own = || said.as_deref().unwrap_or(&self.mistake.slip);
        let said = self.coincidence(&changes).map(|also| format!("{} {also}", own())).or(said.clone());
        let slip = Slip { mistake: self.mistake.clone(), detail, said, fix };
        let alone = self.holds("alone", entry.alone.as_deref(), round)?;
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

    /// The changes of a way of somebody's own: attention is changed by one operation at most, and stays attention.
    fn checked(&self, changes: Vec<Change>) -> Result<Vec<Change>> {
        if self.mistake.is_own() {
            if changes.iter().filter(|change| matches!(change, Change::Alteration(_))).count() > 1 {
                let error = Error::new("a way has one operation at most, and any number of settings");
                return Err(error.help("write two mistakes, or one of the operations as a setting"));
            }
            let mut recipe = *self.task.recipe();
            Change::put_all(&changes, &mut recipe);
            let help =
                "correct the change, or give the way an `if`, so that attention can be computed with it";
            recipe.check().map_err(|error| error.with_help(help.to_string()))?;
        }
        Ok(changes)
    }

    /// Whether the condition of a field holds; where there is none, it does.
    fn holds(&self, field: &str, condition: Option<&str>, round: &Round) -> Result<bool> {
        self.located(field, round, self.is_true(condition, round))
    }

    fn is_true(&self, condition: Option<&str>, round: &Round) -> Result<bool> {
        let Some(condition) = condition else { return Ok(true) };
        let names = |name: &str| self.named(name, round);
        values(&names).holds(&expression("", &self.text(condition, round)?, HERE)?)
    }

    /// A text with what stands in its braces.
    fn text(&self, text: &str, round: &Round) -> Result<String> {
        if !text.contains('{') {
            self.count(text)?;
            return Ok(text.to_string());
        }
        let depth = self.depth.replace(self.depth.get() + 1);
        let names = |name: &str| self.named(name, round);
        let written = match depth {
            DEEPEST => {
                let error = Error::new("the texts of the file stand for each other without end");
                Err(error.of_kind(ErrorKind::TooLarge))
            }
            _ => values(&names).text(text, HERE),
        };
        self.depth.set(depth);
        let written = written?;
        self.count(&written)?;
        Ok(written)
    }

    /// Counts a text; one of many is some bytes at least.
    fn count(&self, text: &str) -> Result<()> {
        self.written.set(self.written.get() + text.len().max(50));
        if text.len() > LONGEST_TEXT || self.written.get() > MOST_WRITTEN {
            let what = format!(
                "written out, a text has more than {LONGEST_TEXT} bytes, or all of the mistake {MOST_WRITTEN}"
            );
            return Err(Error::new(what).of_kind(ErrorKind::TooLarge));
        }
        Ok(())
    }

    /// A round with more names; what it holds counts like a text.
    fn counted(&self, mut round: Round, names: impl IntoIterator<Item = (String, Value)>) -> Result<Round> {
        round.extend(names);
        self.count("")?;
        round.values().filter_map(Value::as_str).try_for_each(|text| self.count(text))?;
        Ok(round)
    }

    /// What a name stands for: in the file, in this round, or in the exercise.
    fn named(&self, name: &str, round: &Round) -> Option<Value> {
        let found = match self.mistake.shared.texts.get(name) {
            Some(text) => match self.text(text, round) {
                Ok(text) => Some(Value::String(text)),
                Err(error) => {
                    self.fault.borrow_mut().get_or_insert(error);
                    None
                }
            },
            None => round.get(name).cloned().or_else(|| self.task.named(name)),
        };
        self.known(name, found)
    }

    /// What a name stands for; a name that stands for nothing is noted.
    fn known(&self, name: &str, found: Option<Value>) -> Option<Value> {
        if found.is_none() {
            *self.missed.borrow_mut() = name.to_string();
        }
        found
    }

    /// What was read of a field; an error at its place, with the name that was meant. One in a text that a name stands for comes first.
    fn located<T>(&self, field: &str, round: &Round, read: Result<T>) -> Result<T> {
        self.fault.take().map_or(read, Err).map_err(|error| {
            let inner = |(name, value): (&String, &Value)| {
                let fields = value.as_object().into_iter().flat_map(|fields| fields.keys());
                fields.map(|field| format!("{name}.{}", field.replace('-', "_"))).collect::<Vec<_>>()
            };
            let names = self.task.names();
            let fields: Vec<String> = names.iter().flat_map(inner).collect();
            let texts = self.mistake.shared.texts.keys();
            let known = round.keys().chain(names.keys()).chain(texts).chain(&fields).map(String::as_str);
            let near = did_you_mean(&self.missed.borrow(), known);
            let near = near.filter(|_| error.kind() != ErrorKind::TooLarge);
            let error = if let Some(near) = near { error.help(near) } else { error };
            error.moved(self.mistake.place(self.way, field))
        })
    }
}

/// Values of names, without a file: the reader knows the place.
fn values(names: Lookup<'_>) -> Values<'_> {
    Values { file: "", names }
}
