//! What students type.

use super::super::fake::runs;
use super::super::{Key, Kind};
use super::*;
use proptest::prelude::*;

fn answer(kind: Kind, key: &str) -> Answer {
    Key::parse(kind, key).unwrap().evaluate(&runs()).unwrap()
}

fn said(text: &str, answer: &Answer, options: usize) -> String {
    Given::read(text, answer, options).expect_err(text).to_string()
}

#[test]
fn a_letter_is_read_in_either_case() {
    let right = Answer::Choice { letter: 'A', holds: true };
    for text in ["c", "C", " c ", "C.", "c)"] {
        assert_eq!(Given::read(text, &right, 3).unwrap(), Given::Choice('C'), "{text}");
    }
    for text in ["d", "", "cc", "1", "é"] {
        assert!(said(text, &right, 3).ends_with("help: type a letter A to C"), "{text}");
    }
}

#[test]
fn a_number_is_read_as_students_write_it() {
    let right = Answer::Number { value: 0.0, tolerance: 0.1 };
    for (text, value) in [
        ("0.3", 0.3),
        (".3", 0.3),
        ("0,3", 0.3),
        (",3", 0.3),
        ("−0,125", -0.125),
        ("1/3", 1.0 / 3.0),
        ("-1 / 4", -0.25),
        ("33%", 0.33),
        ("12,5 %", 0.125),
        ("−0.5", -0.5),
        ("1e-3", 0.001),
        ("124,439,808", 124_439_808.0),
        ("1,234.5", 1234.5),
        ("-inf", f64::NEG_INFINITY),
    ] {
        assert_eq!(Given::read(text, &right, 0).unwrap(), Given::Number(value), "{text}");
    }
    for text in ["", "x", "nan", "1/0", "0/0", "1/2/3", "1,2,3", "1.2.3", "%", "/", "∞/∞"] {
        assert!(said(text, &right, 0).ends_with("type a number, such as 0.3, 1/3 or 33%"), "{text}");
    }
    assert_eq!(said("1,234", &right, 0), "`1,234` may be 1.234 or 1234\n  help: type 1.234 or 1234");
}

#[test]
fn a_cell_is_read_by_labels_and_by_positions() {
    let right = answer(Kind::Cell, "argmax(plain:A)");
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
        assert_eq!(Given::read(text, &right, 0).unwrap(), Given::Cell { row: 1, col: 0 }, "{text}");
    }
    for text in ["", "cave", "2", "1,2,3", "4,1", "0,1", "B[2,1]", "bat;cave", "(2,1", "[", "A[]"] {
        assert!(said(text, &right, 0).contains("help: "), "{text}");
    }
    assert!(said("cave", &right, 0).ends_with("type a row and a column, such as bat,bat or 2,1"));
    assert!(said("cave,bta", &right, 0).contains("did you mean `bat`"));
}

#[test]
fn where_one_row_is_searched_its_column_is_enough() {
    let right = answer(Kind::Cell, "argmax(plain:A[cave])");
    for text in ["bat", "1", "cave,bat", "2,1"] {
        assert_eq!(Given::read(text, &right, 0).unwrap(), Given::Cell { row: 1, col: 0 }, "{text}");
    }
}

#[test]
fn an_order_is_read_by_letters_labels_and_positions() {
    let right = answer(Kind::Order, "rank(plain:A[bat])");
    for text in ["b c a", "b,c,a", "bca", "B > C > A", "cave racket bat", "Cave, racket,bat", "2 3 1"] {
        assert_eq!(Given::read(text, &right, 3).unwrap(), Given::Order(vec![1, 2, 0]), "{text}");
    }
    let unknown = said("bca", &right, 0);
    assert_eq!(unknown, "A (1×3) has no column `bca`\n  help: its columns are bat cave racket");
    assert!(said("b b a", &right, 3).starts_with("`b b a` names cave twice"));
    assert!(
        said("b c", &right, 3).starts_with("`b c` names 2 of 3 columns\n  help: type the letters A to C")
    );
    assert!(said("cave cave bat", &right, 0).starts_with("`cave cave bat` names cave twice"));
    for text in ["", ",", "b,,a", "abcd", "1 2 4", "bat cave rocket"] {
        assert!(said(text, &right, 3).contains("help: "), "{text}");
    }
}

#[test]
fn an_error_repeats_no_escape_sequence() {
    let cell = answer(Kind::Cell, "argmax(plain:A)");
    for text in ["\u{1b}]0;title\u{7}bta,bat", "b\u{1b}[31mta,bat", "bat,b\u{9b}2Jta"] {
        let told = said(text, &cell, 0);
        assert!(!told.contains(['\u{1b}', '\u{9b}', '\u{7}']) && told.contains("\\u{"), "{told:?}");
    }
}

#[test]
fn an_answer_begins_as_one_of_its_names_does() {
    let begins =
        |right: &Answer, options| ('!'..='~').filter(|&c| right.may_begin(c, options)).collect::<String>();
    let digits = "0123456789";
    assert_eq!(begins(&answer(Kind::Cell, "argmax(plain:A)"), 0), format!("({digits}ABCR[abcr"));
    assert_eq!(begins(&answer(Kind::Order, "rank(plain:A[bat])"), 0), format!("{digits}BCRbcr"));
    assert_eq!(begins(&answer(Kind::Order, "rank(plain:A[bat])"), 3), format!("{digits}ABCRabcr"));
    assert_eq!(begins(&Answer::Number { value: 0.0, tolerance: 0.1 }, 0), format!("+,-.{digits}i"));
    assert_eq!(begins(&Answer::Choice { letter: 'A', holds: true }, 2), "ABab");
}

#[test]
fn an_answer_is_shown_as_it_is_typed() {
    assert_eq!(Answer::Number { value: 0.41234, tolerance: 0.01 }.typed(), "0.41");
    assert_eq!(Answer::Number { value: 12.0, tolerance: 0.5 }.typed(), "12");
    assert_eq!(Answer::Number { value: 12.0, tolerance: 0.0 }.typed(), "12");
    for (kind, key) in [(Kind::Cell, "argmax(plain:A)"), (Kind::Order, "rank(plain:A[bat])")] {
        let right = answer(kind, key);
        let given = Given::read(&right.typed(), &right, 0).unwrap();
        assert!(super::super::judge(&given, &right), "{}", right.typed());
    }
    assert_eq!(answer(Kind::Cell, "argmax(plain:A)").typed(), "cave,cave");
}

#[test]
fn what_is_too_long_is_refused_unread() {
    for right in [answer(Kind::Cell, "argmax(plain:A)"), Answer::Number { value: 1.0, tolerance: 0.0 }] {
        assert!(said(&"1".repeat(10_000_000), &right, 3).contains("too long for an answer"));
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,40}|[abct0-9 ,./%#>\\[\\]()-]{0,30}") {
        for (kind, key) in [
            (Kind::Number, "sum(plain:A) ± 1"),
            (Kind::Choice, "A iff sum(plain:A) > 1"),
            (Kind::Cell, "argmax(plain:A)"),
            (Kind::Cell, "argmin(odd:repeated[the#2])"),
            (Kind::Order, "rank(odd:column)"),
        ] {
            let right = answer(kind, key);
            if let Ok(given) = Given::read(&text, &right, 3) {
                super::super::judge(&given, &right);
            }
        }
    }
}
