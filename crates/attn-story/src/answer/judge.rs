//! The judgement of an answer.

use serde::{Deserialize, Serialize};

use super::right::Answer;
use super::saved::{SavedValue, number};
use crate::error::{Error, Result};
use crate::foreign::visible;

/// What judges the answers to one question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedJudge", into = "SavedJudge")]
pub struct Judge {
    /// The right answer.
    pub right: Answer,
    /// The number of options with letters; 0 where there are none.
    pub letters: usize,
    /// The answers that get a feedback of their own, in its order; `None` for one that cannot be computed.
    pub foreseen: Vec<Option<Answer>>,
}

/// What is said of an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// Whether it is right.
    pub is_right: bool,
    /// The answer as it is repeated.
    pub repeated: String,
    /// The place of a wrong answer among those that are foreseen.
    pub foreseen: Option<usize>,
}

impl Judge {
    /// Judges an answer as it was typed.
    ///
    /// # Errors
    /// If it is no answer to this question.
    pub fn judge(&self, typed: &str) -> Result<Judgement> {
        let value = self.right.read(typed, self.letters)?;
        let is_right = self.right.accepts(&value);
        let typed = visible(typed.trim());
        let repeated = match value.lettered().filter(|_| self.letters > 0) {
            Some(lettered) => lettered,
            None if value.letter().is_some() => typed.to_uppercase(),
            None => typed.into_owned(),
        };
        let is_it = |foreseen: &Option<Answer>| foreseen.as_ref().is_some_and(|one| one.accepts(&value));
        let foreseen = if is_right { None } else { self.foreseen.iter().position(is_it) };
        Ok(Judgement { is_right, repeated, foreseen })
    }
}

/// What is written of a judge.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedJudge {
    right: SavedValue,
    tolerance: String,
    letters: usize,
    foreseen: Vec<Option<SavedValue>>,
}

impl From<Judge> for SavedJudge {
    fn from(judge: Judge) -> SavedJudge {
        let Judge { right, letters, foreseen } = judge;
        SavedJudge {
            tolerance: right.tolerance.to_string(),
            right: right.value.into(),
            letters,
            foreseen: foreseen.into_iter().map(|answer| answer.map(|answer| answer.value.into())).collect(),
        }
    }
}

impl TryFrom<SavedJudge> for Judge {
    type Error = Error;

    fn try_from(saved: SavedJudge) -> Result<Judge> {
        let tolerance = number(&saved.tolerance)?;
        let answer = |value: SavedValue| Ok(Answer { tolerance, ..Answer::exact(value.value()?) });
        let foreseen = saved.foreseen.into_iter().map(|value| value.map(answer).transpose());
        let foreseen = foreseen.collect::<Result<_>>()?;
        Ok(Judge { right: answer(saved.right)?, letters: saved.letters, foreseen })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, Order, Table, Value};
    use super::*;
    use crate::matrix::Matrix;

    fn judge(value: Value, tolerance: f64, letters: usize, foreseen: &[Option<Value>]) -> Judge {
        let right = Answer { tolerance, ..Answer::exact(value) };
        let foreseen = foreseen.iter().map(|value| right.with_value(value.as_ref()?)).collect();
        Judge { right, letters, foreseen }
    }

    fn table(name: &str, rows: usize) -> Table {
        let words = ["bat", "cave", "racket"];
        let matrix = Matrix::filled(rows, 3, 0.0).cols_named(&words);
        Table::new(name, if rows == 3 { matrix.rows_named(&words) } else { matrix }).unwrap()
    }

    fn judges() -> [Judge; 4] {
        let cell = |row, col| Value::Cell(Cell { row, col, in_given_row: false, table: table("A", 3) });
        let order = |of: &[usize]| Value::Order(Order { positions: of.to_vec(), table: table("A", 1) });
        [
            judge(Value::Letter('C'), 0.0, 3, &[Some(Value::Letter('A'))]),
            judge(Value::Number(f64::NEG_INFINITY), 0.1, 0, &[None, Some(Value::Number(0.1 + 0.2))]),
            judge(cell(1, 0), 0.0, 0, &[Some(cell(0, 1))]),
            judge(order(&[1, 0, 2]), 0.0, 3, &[Some(order(&[2, 0, 1]))]),
        ]
    }

    #[test]
    fn a_judge_that_was_written_and_read_judges_the_same() {
        for judge in judges() {
            let written = serde_json::to_string(&judge).unwrap();
            let read: Judge = serde_json::from_str(&written).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), written);
            for typed in ["a", "C", "0.3", "-inf", "cave,bat", "1,2", "b a c", "cave bat racket", "", "x y"] {
                let said = |judge: &Judge| judge.judge(typed).map_err(|error| error.to_string());
                assert_eq!(said(&read), said(&judge), "{typed}: {written}");
            }
        }
    }

    #[test]
    fn a_wrong_answer_is_found_among_those_that_are_foreseen() {
        let [choice, number, cell, order] = judges();
        let said = |judge: &Judge, typed: &str| {
            let Judgement { is_right, repeated, foreseen } = judge.judge(typed).unwrap();
            (is_right, repeated, foreseen)
        };
        assert_eq!(said(&choice, "a)"), (false, "A)".into(), Some(0)));
        assert_eq!(said(&choice, "b"), (false, "B".into(), None));
        assert_eq!(said(&choice, "c"), (true, "C".into(), None));
        assert_eq!(said(&number, "0,25"), (false, "0,25".into(), Some(1)));
        assert_eq!(said(&number, "−∞"), (true, "−∞".into(), None));
        assert_eq!(said(&cell, "bat, CAVE"), (false, "bat, CAVE".into(), Some(0)));
        assert_eq!(said(&cell, "2,1"), (true, "2,1".into(), None));
        assert_eq!(said(&order, "bac"), (true, "B A C: cave, bat, racket".into(), None));
        assert!(cell.judge("bta,bat").unwrap_err().to_string().contains("did you mean `bat`"));
    }
}
