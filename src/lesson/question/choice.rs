//! `choice`: the letter of an option.

use crate::answer::{Answer, last_letter, option_of};
use crate::error::{Error, Result};
use crate::lesson::key::{Expression, Key, Value, Values};
use crate::text::one_of;

use super::kind::{Example, QuestionKind, of_another_kind};

/// The maximum number of letters that are listed in the status line.
const MOST_NAMED: usize = 5;

/// The letter of an option: `C iff count(causal:A[bat], == 0) == 2`.
pub(super) struct ChoiceKind;

impl QuestionKind for ChoiceKind {
    fn word(&self) -> &'static str {
        "choice"
    }

    fn key_help(&self) -> &'static str {
        "write the letter and what makes it right: C iff count(RUN:A[bat], == 0) == 2"
    }

    fn example(&self) -> Example {
        Example { key: "C iff count(causal:A[bat], == 0) == 2", typed: "a letter of the list `- A. …`" }
    }

    fn fault(&self, key: &Key) -> Option<String> {
        match key {
            Key { letter: Some(_), expression: Expression::Compare(..), tolerance: None, .. } => None,
            _ => of_another_kind(self),
        }
    }

    fn evaluate(&self, key: &Key, values: &dyn Values) -> Result<Answer> {
        let (Some(letter), Value::Truth(holds)) = (key.letter, key.expression.evaluate(values)?) else {
            return Err(
                Error::new(format!("`{}` makes no letter right", key.expression)).help(self.key_help())
            );
        };
        Ok(Answer { holds, ..Answer::exact(Value::Letter(letter)) })
    }

    fn may_begin(&self, typed: char, _: &Answer, letters: usize) -> bool {
        option_of(typed, letters).is_some()
    }

    fn quiz_prompt(&self, letters: &[char]) -> Option<String> {
        let letters: Vec<String> = letters.iter().map(char::to_string).collect();
        Some(one_of(&letters))
    }

    fn status_hint(&self, letters: usize) -> Option<String> {
        if letters > MOST_NAMED {
            return Some(format!("A to {} answers", last_letter(letters)));
        }
        let letters: Vec<String> = ('A'..='Z').take(letters).map(String::from).collect();
        Some(format!("{} answers", letters.join(" ")))
    }

    fn is_chosen_by_letter(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{answer, beginnings, key, refusal};
    use super::*;

    #[test]
    fn its_key_says_whether_the_letter_is_right() {
        let right = answer("choice", "c iff count(causal:A[bat], == 0) == 2");
        assert_eq!(right, Answer::exact(Value::Letter('C')));
        let wrong = answer("choice", "B iff count(causal:A[bat], == 0) == 1");
        assert_eq!(wrong, Answer { holds: false, ..Answer::exact(Value::Letter('B')) });
        let key = key("choice", "C iff plain:A[1,2] > causal:A[1,2]");
        assert_eq!(key.runs(), ["plain", "causal"]);
    }

    #[test]
    fn a_letter_is_read_in_either_case() {
        let right = Answer::exact(Value::Letter('A'));
        for text in ["c", "C", " c ", "C.", "c)"] {
            let read = right.read(text, 3).unwrap();
            assert_eq!(read, Value::Letter('C'), "{text}");
        }
        for text in ["d", "", "cc", "1", "é"] {
            assert!(refusal(text, &right, 3).ends_with("help: type a letter A to C"), "{text}");
        }
        assert_eq!(beginnings("choice", &right, 2), "ABab");
    }
}
