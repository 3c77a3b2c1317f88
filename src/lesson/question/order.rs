//! `order`: the columns of a row, from the largest number to the smallest.

use crate::answer::{Answer, option_of};
use crate::lesson::key::{Expression, Function, Key, Value};

use super::begins_one;
use super::kind::{Example, QuestionKind, of_another_kind};

/// The columns of a row, from the largest number to the smallest: `rank(plain:A[bat])`.
pub(super) struct OrderKind;

impl QuestionKind for OrderKind {
    fn word(&self) -> &'static str {
        "order"
    }

    fn key_help(&self) -> &'static str {
        "write rank(RUN:A[bat])"
    }

    fn example(&self) -> Example {
        Example { key: "rank(plain:A[bat])", typed: "the columns, the largest first: cave bat racket" }
    }

    fn fault(&self, key: &Key) -> Option<String> {
        let is_order = matches!(key.expression, Expression::Call(Function::Rank, _));
        if is_order && key.letter.is_none() && key.tolerance.is_none() { None } else { of_another_kind(self) }
    }

    fn may_begin(&self, typed: char, right: &Answer, letters: usize) -> bool {
        let Value::Order(order) = &right.value else { return false };
        let is_option = option_of(typed, letters.min(order.positions.len())).is_some();
        typed.is_ascii_digit() || is_option || begins_one(typed, &order.table.col_labels())
    }

    fn quiz_prompt(&self, letters: &[char]) -> Option<String> {
        let parts = if letters.is_empty() { "names" } else { "letters" };
        Some(format!("the {parts}, the largest first"))
    }

    fn status_hint(&self, letters: usize) -> Option<String> {
        let parts = if letters == 0 { "names" } else { "letters" };
        Some(format!("type the {parts}, largest first"))
    }

    fn options_are_columns(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{answer, beginnings, refusal};
    use super::*;

    #[test]
    fn an_order_is_read_by_letters_labels_and_positions() {
        let right = answer("order", "rank(plain:A[bat])");
        assert_eq!(right.to_string(), "bat cave racket");
        for text in ["b c a", "b,c,a", "bca", "B > C > A", "cave racket bat", "Cave, racket,bat", "2 3 1"] {
            match right.read(text, 3).unwrap() {
                Value::Order(order) => assert_eq!(order.positions, [1, 2, 0], "{text}"),
                other => panic!("{text}: {other}"),
            }
        }
        let refusal = |text: &str, letters| refusal(text, &right, letters);
        let unknown = "A (1×3) has no column `bca`\n  help: its columns are bat cave racket";
        assert_eq!(refusal("bca", 0), unknown);
        assert!(refusal("b b a", 3).starts_with("`b b a` names cave twice"));
        let short = "`b c` names 2 of 3 columns\n  help: type the letters A to C";
        assert!(refusal("b c", 3).starts_with(short));
        assert!(refusal("cave cave bat", 0).starts_with("`cave cave bat` names cave twice"));
        for text in ["", ",", "b,,a", "abcd", "1 2 4", "bat cave rocket"] {
            assert!(refusal(text, 3).contains("help: "), "{text}");
        }
        assert_eq!(beginnings("order", &right, 0), "0123456789BCRbcr");
        assert_eq!(beginnings("order", &right, 3), "0123456789ABCRabcr");
    }
}
