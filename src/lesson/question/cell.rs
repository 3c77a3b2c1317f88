//! `cell`: the place of a cell.

use crate::answer::Answer;
use crate::lesson::key::{Expression, Function, Key, Value};

use super::begins_one;
use super::kind::{Example, QuestionKind, of_another_kind};

/// The place of a cell: `argmax(plain:A)`.
pub(super) struct CellKind;

impl QuestionKind for CellKind {
    fn word(&self) -> &'static str {
        "cell"
    }

    fn key_help(&self) -> &'static str {
        "write argmax(RUN:A) or argmin(RUN:A)"
    }

    fn example(&self) -> Example {
        Example { key: "argmax(plain:A)", typed: "row and column: cave,bat or 2,1" }
    }

    fn fault(&self, key: &Key) -> Option<String> {
        let is_cell = matches!(key.expression, Expression::Call(Function::Argmax | Function::Argmin, _));
        if is_cell && key.letter.is_none() && key.tolerance.is_none() { None } else { of_another_kind(self) }
    }

    fn may_begin(&self, typed: char, right: &Answer, _: usize) -> bool {
        let Value::Cell(cell) = &right.value else { return false };
        let names = [cell.table.row_labels(), cell.table.col_labels(), vec![cell.table.name().to_string()]];
        typed.is_ascii_digit() || "[(".contains(typed) || begins_one(typed, &names.concat())
    }

    fn quiz_prompt(&self, _: &[char]) -> Option<String> {
        Some("a row and a column".to_string())
    }

    fn status_hint(&self, _: usize) -> Option<String> {
        Some("type row,column".to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{answer, beginnings, refusal};
    use super::*;

    fn read(text: &str, right: &Answer) -> (usize, usize) {
        match right.read(text, 0).unwrap() {
            Value::Cell(cell) => (cell.row, cell.col),
            other => panic!("{text}: {other}"),
        }
    }

    #[test]
    fn a_cell_is_read_by_labels_and_by_positions() {
        let right = answer("cell", "argmax(plain:A)");
        assert_eq!(right.to_string(), "A[cave,cave]");
        for text in [
            "cave,bat",
            "Cave, BAT",
            "2,1",
            "(2, 1)",
            "[2,1]",
            "A[2,1]",
            "a[cave,bat]",
            "2 1",
            "cave bat",
            "2,bat",
        ] {
            assert_eq!(read(text, &right), (1, 0), "{text}");
        }
        let refusal = |text: &str| refusal(text, &right, 0);
        for text in ["", "cave", "2", "1,2,3", "4,1", "0,1", "B[2,1]", "bat;cave", "(2,1", "[", "A[]"] {
            assert!(refusal(text).contains("help: "), "{text}");
        }
        assert!(refusal("cave").ends_with("type a row and a column, such as bat,bat or 2,1"));
        assert!(refusal("cave,bta").contains("did you mean `bat`"));
        assert_eq!(beginnings("cell", &right, 0), "(0123456789ABCR[abcr");
    }

    #[test]
    fn where_one_row_is_searched_its_column_is_enough() {
        let right = answer("cell", "argmax(plain:A[cave])");
        for text in ["bat", "1", "cave,bat", "2,1"] {
            assert_eq!(read(text, &right), (1, 0), "{text}");
        }
    }
}
