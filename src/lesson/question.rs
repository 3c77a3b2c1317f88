//! The kinds of question, and votes.
//!
//! A new kind is a variant of [`Kind`], its entry in [`KINDS`], what each method says of it, a row in `data/lesson_format.toml`,
//! and, if its key is written in a new way, a part of the parser of keys. How answers are typed and judged is in [`crate::answer`], for pages too. Player, quiz,
//! check and exports ask a question for its [`Kind`] what they need to know, and no other file names one.

use crate::answer::{LONGEST, MOST_OPTIONS, last_letter, option_of};
use crate::elementary::pow;
use crate::error::{Error, Result};
use crate::graph::number_text;
use crate::language::Gives;
use crate::text::{clip, counted, one_of};

use super::key::{Key, Value, Values, at_decimals};

pub use crate::answer::{Answer, rounded_to_tolerance};

/// A kind of question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// The letter of an option: `C iff count(causal:A[bat], == 0) == 2`.
    Choice,
    /// A number, right within a tolerance: `plain:A[bat,cave] ± 0.005`, `plain:O[bat,1] ± 0.05 from 2 decimals`.
    Number,
    /// The place of a cell: `argmax(plain:A)`.
    Cell,
    /// The columns of a row, from the largest number to the smallest: `rank(plain:A[bat])`.
    Order,
    /// All numbers of a step, as the student's own code printed them; a mistake in them is named: `causal:O`.
    Numbers,
    /// Any answer; it is discussed in class, is not graded and has no key.
    #[default]
    Open,
}

/// All kinds of question, in the order in which lists name them.
pub const KINDS: [Kind; 6] = [Kind::Choice, Kind::Number, Kind::Cell, Kind::Order, Kind::Numbers, Kind::Open];

/// The maximum number of letters that are listed in the status line.
const MOST_NAMED: usize = 5;

/// The words of all kinds: “choice, number, cell, order or open”.
pub fn any_kind() -> String {
    one_of(&KINDS.map(Kind::word))
}

/// The kind that a lesson has this word for.
pub fn kind_named(word: &str) -> Option<Kind> {
    KINDS.into_iter().find(|kind| kind.word() == word)
}

impl Kind {
    /// The word that a lesson has for it: `kind=choice`.
    pub fn word(self) -> &'static str {
        self.words()[0]
    }

    /// The form of its key, as the help of an error.
    pub fn key_help(self) -> &'static str {
        self.words()[1]
    }

    /// The word for it, and the form of its key.
    fn words(self) -> [&'static str; 2] {
        match self {
            Kind::Choice => {
                ["choice", "write the letter and what makes it right: C iff count(RUN:A[bat], == 0) == 2"]
            }
            Kind::Number => [
                "number",
                "write what computes it, and the tolerance: RUN:A[bat,cave] ± 0.005, or \
                 RUN:O[bat,1] ± 0.05 from 2 decimals if the answer is computed from rounded numbers",
            ],
            Kind::Cell => ["cell", "write argmax(RUN:A) or argmin(RUN:A)"],
            Kind::Order => ["order", "write rank(RUN:A[bat])"],
            Kind::Numbers => {
                ["numbers", "write the step that is asked for: RUN:O, where the run is an `attn attend`"]
            }
            Kind::Open => ["open", "remove the key, or give the question another kind"],
        }
    }

    /// Reads the key of a question of this kind in a lesson of this version.
    ///
    /// # Errors
    /// If it cannot be read, is not written as this kind wants it, or reads no run: then it is not computed. An error of what
    /// cannot be read tells the column within the text.
    pub fn key(self, text: &str, version: u8) -> Result<Key> {
        let wrong = |what: String| Err(Error::new(what).help(self.key_help()));
        let quoted = clip(text.trim());
        if !self.is_graded() {
            return wrong(format!("an {} question has no key", self.word()));
        }
        if is_bare_answer(text) {
            return wrong(format!("the key `{quoted}` is typed, not computed"));
        }
        let key = Key::parse(text, version).map_err(|error| error.help(self.key_help()))?;
        if key.runs().is_empty() {
            return wrong(format!("the key `{quoted}` is typed, not computed: it reads no run"));
        }
        match self.fault(&key) {
            Some(fault) => wrong(format!("`{quoted}` {fault}")),
            None => Ok(key),
        }
    }

    /// The fault of a key of another form, as the predicate of a sentence about it: “has no tolerance”.
    fn fault(self, key: &Key) -> Option<String> {
        let Key { letter, expression, tolerance, shown } = key;
        let is_alone = letter.is_none() && tolerance.is_none();
        let is_own = match (self, expression.gives()) {
            (Kind::Choice, Gives::Truth) => letter.is_some() && tolerance.is_none(),
            (Kind::Number, Gives::Number) => letter.is_none(),
            (Kind::Cell, Gives::Cell) | (Kind::Order, Gives::Order) => is_alone,
            (Kind::Numbers, _) => is_alone && expression.reference().is_some_and(|(_, of)| !of.contains('[')),
            _ => false,
        };
        let fault = match tolerance {
            _ if !is_own => return Some(format!("is not a key for a {} question", self.word())),
            _ if self != Kind::Number => return None,
            None => "has no tolerance",
            Some(_) if shown.is_some() && expression.reference().is_none() => {
                "says “from … decimals”, but that needs a single cell"
            }
            Some(tolerance) if tolerance.is_finite() && *tolerance >= 0.0 => return None,
            Some(_) => "has a tolerance below 0",
        };
        Some(fault.to_string())
    }

    /// The right answer.
    ///
    /// # Errors
    /// As those of [`evaluate`](crate::lesson::key::Expression::evaluate); ties among them.
    pub fn evaluate(self, key: &Key, values: &dyn Values) -> Result<Answer> {
        match self {
            Kind::Choice => {
                let (Some(letter), Value::Truth(holds)) = (key.letter, key.expression.evaluate(values)?)
                else {
                    let error = Error::new(format!("`{}` makes no letter right", key.expression));
                    return Err(error.help(self.key_help()));
                };
                Ok(Answer { holds, ..Answer::exact(Value::Letter(letter)) })
            }
            Kind::Number => {
                let value = key.expression.number(values)?;
                let mut tolerance = key.tolerance.unwrap_or_default();
                if let (Some(shown), Some((run, address))) = (key.shown, key.expression.reference()) {
                    tolerance = widened(tolerance, values.slack(run, address, shown)?);
                }
                Ok(Answer { tolerance, ..Answer::exact(Value::Number(value)) })
            }
            _ => key.expression.evaluate(values).map(Answer::exact),
        }
    }

    /// Whether an answer may begin with this character, capital or not. `letters` is the number of options that the question
    /// offers under letters, 0 where it has none.
    pub fn may_begin(self, typed: char, right: &Answer, letters: usize) -> bool {
        match (self, &right.value) {
            (Kind::Choice, _) => option_of(typed, letters).is_some(),
            (Kind::Number, _) => typed.is_ascii_digit() || "-−+.,∞i".contains(typed),
            (Kind::Numbers, _) => typed.is_ascii_digit() || "[({-−.".contains(typed),
            (Kind::Cell, Value::Cell(cell)) => {
                let table = &cell.table;
                let names = [table.row_labels(), table.col_labels(), vec![table.name().to_string()]];
                typed.is_ascii_digit() || "[(".contains(typed) || begins_one(typed, &names.concat())
            }
            (Kind::Order, Value::Order(order)) => {
                let is_option = option_of(typed, letters.min(order.positions.len())).is_some();
                typed.is_ascii_digit() || is_option || begins_one(typed, &order.table.col_labels())
            }
            _ => false,
        }
    }

    /// The prompt of the quiz: “A, B or C”; `None` for ungraded questions. `letters` are those of the options.
    pub fn quiz_prompt(self, letters: &[char]) -> Option<String> {
        Some(match self {
            Kind::Choice => one_of(&letters.iter().map(char::to_string).collect::<Vec<String>>()),
            Kind::Number => "a number".to_string(),
            Kind::Cell => "a row and a column".to_string(),
            Kind::Order => format!("the {}, the largest first", parts(letters.len())),
            Kind::Numbers => "rows (1 2; 3 4), or paste them".to_string(),
            Kind::Open => return None,
        })
    }

    /// The hint in the player's status line: “A B C answers”; `None` for ungraded questions.
    pub fn status_hint(self, letters: usize) -> Option<String> {
        Some(match self {
            Kind::Choice if letters > MOST_NAMED => format!("A to {} answers", last_letter(letters)),
            Kind::Choice => {
                let letters: Vec<String> = ('A'..='Z').take(letters).map(String::from).collect();
                format!("{} answers", letters.join(" "))
            }
            Kind::Number => "type a number".to_string(),
            Kind::Cell => "type row,column".to_string(),
            Kind::Order => format!("type the {}, largest first", parts(letters)),
            Kind::Numbers => "type or paste the rows: 1 2; 3 4".to_string(),
            Kind::Open => return None,
        })
    }

    /// Whether answers are right or wrong.
    pub fn is_graded(self) -> bool {
        self != Kind::Open
    }

    /// Whether the answer is the letter of an option. Then the question must offer some, and hands can be counted.
    pub fn is_chosen_by_letter(self) -> bool {
        self == Kind::Choice
    }

    /// Whether an answer is all numbers of a step, which may be pasted in several lines.
    pub fn is_numbers(self) -> bool {
        self == Kind::Numbers
    }

    /// Whether more of an answer is to come: brackets are still open.
    pub fn goes_on(self, typed: &str) -> bool {
        let count = |brackets: [char; 2]| typed.matches(brackets).count();
        self.is_numbers() && count(['[', '{']) > count([']', '}'])
    }

    /// Whether the options list the columns of a row, and are no answers themselves.
    pub fn options_are_columns(self) -> bool {
        self == Kind::Order
    }
}

/// What an order consists of.
fn parts(letters: usize) -> &'static str {
    if letters == 0 { "names" } else { "letters" }
}

/// A letter, a word or words without anything that computes: `C`, `bat cave`.
fn is_bare_answer(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphabetic() || c.is_whitespace();
    !text.trim().is_empty() && text.chars().all(is_plain)
}

/// Whether one of the names begins with this character, capital or not.
fn begins_one(typed: char, names: &[String]) -> bool {
    let begins = |name: &String| {
        name.chars().next().is_some_and(|first| first.to_lowercase().eq(typed.to_lowercase()))
    };
    names.iter().any(begins)
}

/// A tolerance and what rounded operands add to it, rounded up to the decimals of the tolerance.
fn widened(tolerance: f64, slack: f64) -> f64 {
    let decimals = number_text(tolerance).split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let unit = pow(10.0, -(decimals as f64));
    // The error of binary fractions is no reason for one more unit.
    let units = ((tolerance + slack) / unit - 1e-6).ceil();
    at_decimals(units * unit, decimals).parse().unwrap_or(tolerance + slack)
}

/// The maximum number of votes for an option.
const MOST_HANDS: usize = 9999;

/// Whether a text is a vote, `A3 B14 C8` or `3 14 8`, and not a single answer.
pub fn is_show_of_hands(text: &str) -> bool {
    let has_letters = text.starts_with(|c: char| c.is_ascii_alphabetic());
    has_letters && text.contains(|c: char| c.is_ascii_digit()) || in_order(text).is_some()
}

/// The numbers of `3 14 8`, two of them at least.
fn in_order(text: &str) -> Option<Vec<&str>> {
    let numbers: Vec<&str> = text.split([' ', ',', ';']).filter(|number| !number.is_empty()).collect();
    let all = numbers.iter().all(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    (all && numbers.len() > 1).then_some(numbers)
}

/// Reads a show of hands: how many chose each of the options. An option that is not named has none; numbers alone are
/// those of all options in their order.
///
/// # Errors
/// If it is not letters with numbers, or names a letter that is not an option, or one twice; or not one number for each option.
pub fn votes(text: &str, options: usize) -> Result<Vec<usize>> {
    let last = last_letter(options);
    let help = format!("type a number for each option, or the letters A to {last} with their votes: A3 B14");
    let wrong = |what: String| Err(Error::new(what).help(help.clone()));
    if text.len() > LONGEST {
        return wrong(format!("`{}` is too long for votes", clip(text)));
    }
    let mut hands = vec![None; options.min(MOST_OPTIONS)];
    let lettered: String;
    let mut text = text;
    if let Some(numbers) = in_order(text) {
        if numbers.len() != hands.len() {
            return wrong(format!(
                "`{}` has {} for {} options",
                clip(text),
                counted(numbers.len(), "number"),
                hands.len()
            ));
        }
        lettered = ('A'..='Z').zip(numbers).map(|(letter, number)| format!("{letter}{number} ")).collect();
        text = &lettered;
    }
    let mut rest = text.trim();
    while let Some(letter) = rest.chars().next() {
        let behind = rest[letter.len_utf8()..].trim_start_matches([' ', ':', '=']);
        let digits = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        let (count, further) = behind.split_at(digits);
        let (Some(option), Ok(count)) = (option_of(letter, hands.len()), count.parse::<usize>()) else {
            return wrong(format!("`{}` is not an option with a number of votes", clip(rest)));
        };
        if count > MOST_HANDS {
            return wrong(format!("{count} votes are too many for a class"));
        }
        if hands[option].replace(count).is_some() {
            return wrong(format!("`{}` counts {} twice", clip(text), letter.to_ascii_uppercase()));
        }
        rest = further.trim_start_matches([' ', ',', ';']);
    }
    if hands.iter().all(Option::is_none) {
        return wrong("no votes were counted".to_string());
    }
    Ok(hands.into_iter().map(Option::unwrap_or_default).collect())
}

#[cfg(test)]
mod tests;
