//! Keys over runs with numbers that are read off by eye, answers to them, read and judged, and votes.

use crate::lesson::lesson_format;
use proptest::prelude::*;

use super::*;
use crate::error::{Place, Problem};
use crate::lesson::key::Expression;
use crate::lesson::key::sample_runs::runs;

fn kind(word: &str) -> Kind {
    kind_named(word).expect(word)
}

fn key(word: &str, text: &str) -> Key {
    kind(word).key(text, 1).unwrap()
}

/// The error of a key.
fn refused(word: &str, text: &str) -> Problem {
    match kind(word).key(text, 1).expect_err(text) {
        Error::Unusable(problem) => *problem,
        other => panic!("{text}: {other}"),
    }
}

fn answer(word: &str, text: &str) -> Answer {
    kind(word).evaluate(&key(word, text), &runs()).unwrap()
}

/// The error of a student's answer.
fn refusal(text: &str, right: &Answer, letters: usize) -> String {
    right.read(text, letters).expect_err(text).to_string()
}

fn is_right(text: &str, right: &Answer) -> bool {
    right.accepts(&right.read(text, 3).unwrap())
}

/// Every printable character that an answer may begin with.
fn beginnings(word: &str, right: &Answer, letters: usize) -> String {
    ('!'..='~').filter(|&typed| kind(word).may_begin(typed, right, letters)).collect()
}

#[test]
fn a_key_that_is_not_computed_is_refused_with_the_form_that_is() {
    for (word, text, form) in [
        ("choice", "C", "C iff count(RUN:A[bat], == 0) == 2"),
        ("choice", " C ", "C iff "),
        ("choice", "C iff 1 == 1", "C iff "),
        ("number", "0.3 ± 0.005", "± 0.005"),
        ("number", "0.3", "RUN:A[bat,cave] ± 0.005"),
        ("order", "bat cave", "rank(RUN:A[bat])"),
    ] {
        let error = refused(word, text);
        assert!(error.what.contains("typed, not computed"), "{text}: {}", error.what);
        assert!(error.help.is_some_and(|help| help.contains(form)), "{text}");
    }
}

#[test]
fn a_key_of_another_kind_is_refused() {
    for (word, text) in [
        ("choice", "plain:A[bat,cave] ± 0.1"),
        ("choice", "count(plain:A, == 0) == 2"),
        ("choice", "C iff sum(plain:A)"),
        ("choice", "C iff sum(plain:A) == 1 ± 0.1"),
        ("number", "argmax(plain:A) ± 0.1"),
        ("number", "C iff len(plain:A) == 9"),
        ("cell", "rank(plain:A[bat])"),
        ("cell", "argmax(plain:A) ± 0.1"),
        ("order", "argmax(plain:A)"),
        ("open", "argmax(plain:A)"),
        ("number", "plain:A[bat,cave] ± -0.1"),
        ("number", "plain:A[bat,cave] ± inf"),
    ] {
        assert_eq!(refused(word, text).help.as_deref(), Some(kind(word).key_help()), "{text}");
    }
    let typo = refused("choice", "C if sum(plain:A) == 3");
    assert_eq!(typo.what, "here stands `if`, where `iff` is expected");
    assert_eq!(typo.place, Some(Place::Text(String::new(), 1, 3)));
}

#[test]
fn the_example_of_each_kind_is_a_key_of_it() {
    let listed = lesson_format().iter().find(|part| part.head[0] == "kind").unwrap();
    for (kind, row) in KINDS.into_iter().zip(&listed.rows) {
        assert_eq!(kind.key(row[1], 1).is_ok(), kind.is_graded(), "{kind:?}");
        assert_eq!(kind.word(), row[0]);
    }
}

#[test]
fn an_error_repeats_no_escape_sequence() {
    let cell = answer("cell", "argmax(plain:A)");
    for text in ["\u{1b}]0;title\u{7}bta,bat", "b\u{1b}[31mta,bat", "bat,b\u{9b}2Jta"] {
        let error = refusal(text, &cell, 0);
        assert!(!error.contains(['\u{1b}', '\u{9b}', '\u{7}']) && error.contains("\\u{"), "{error:?}");
    }
}

#[test]
fn an_answer_is_shown_as_it_is_typed() {
    for (word, key) in [("cell", "argmax(plain:A)"), ("order", "rank(plain:A[bat])")] {
        let right = answer(word, key);
        let typed = right.read(&right.typed(), 0).unwrap();
        assert!(right.accepts(&typed), "{}", right.typed());
    }
    assert_eq!(answer("cell", "argmax(plain:A)").typed(), "cave,cave");
}

#[test]
fn an_answer_that_is_too_long_is_refused_unread() {
    for (word, key) in [("cell", "argmax(plain:A)"), ("number", "sum(plain:A) ± 0")] {
        let long = refusal(&"1".repeat(10_000_000), &answer(word, key), 3);
        assert!(long.contains("too long for an answer"));
    }
}

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

fn read_cell(text: &str, right: &Answer) -> (usize, usize) {
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
        assert_eq!(read_cell(text, &right), (1, 0), "{text}");
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
        assert_eq!(read_cell(text, &right), (1, 0), "{text}");
    }
}

#[test]
fn its_key_is_a_number_and_a_tolerance() {
    let right = |value, tolerance| Answer { tolerance, ..Answer::exact(Value::Number(value)) };
    for text in ["plain:A[bat,cave] ± 0.005", "plain:A[bat,cave]+-.005", "plain:A[bat,cave] +/- 5e-3"] {
        assert_eq!(answer("number", text), right(0.25, 0.005), "{text}");
    }
    assert_eq!(answer("number", "len(plain:A[bat]) ± 0"), right(3.0, 0.0));
    assert_eq!(refused("number", "plain:A[bat,cave]").what, "`plain:A[bat,cave]` has no tolerance");
}

#[test]
fn a_number_is_read_as_students_write_it() {
    let right = answer("number", "sum(plain:A) ± 0.1");
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
        let read = right.read(text, 0).unwrap();
        assert_eq!(read, Value::Number(value), "{text}");
    }
    let refusal = |text: &str| refusal(text, &right, 0);
    for text in ["", "x", "nan", "1/0", "0/0", "1/2/3", "1,2,3", "1.2.3", "%", "/", "∞/∞"] {
        assert!(refusal(text).ends_with("type a number, such as 0.3, 1/3 or 33%"), "{text}");
    }
    assert_eq!(refusal("1,234"), "`1,234` may be 1.234 or 1234\n  help: type 1.234 or 1234");
    assert_eq!(beginnings("number", &right, 0), "+,-.0123456789i");
}

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

fn a_number(value: f64, tolerance: f64) -> Answer {
    Answer { tolerance, ..Answer::exact(Value::Number(value)) }
}

fn option(text: &str) -> Value {
    Expression::parse(text, 1).unwrap().evaluate(&runs()).unwrap()
}

#[test]
fn a_number_is_right_up_to_its_tolerance_and_no_further() {
    let is_right = |text: &str, right: &Answer| is_right(text, right);
    let answer = a_number(0.3, 0.005);
    for text in ["0.3", "0,305", "0.295", "30%", ".304"] {
        assert!(is_right(text, &answer), "{text}");
    }
    for text in ["0.3051", "0.2949", "-0.3", "1/3", "inf"] {
        assert!(!is_right(text, &answer), "{text}");
    }
    let exact = a_number(1_391_569_403_904.0, 0.0);
    assert!(is_right("1,391,569,403,904", &exact) && !is_right("1391569403905", &exact));
    let small = a_number(1e-9, 0.3);
    assert!(is_right("0.300000001", &small) && !is_right("0.3000000011", &small));
    assert!(is_right("1/3", &a_number(1.0 / 3.0, 0.0)));
    let masked = a_number(f64::NEG_INFINITY, 0.1);
    assert!(is_right("−∞", &masked) && !is_right("-5", &masked) && !is_right("inf", &masked));
}

#[test]
fn letters_cells_and_orders_are_right_or_wrong() {
    let choice = Answer::exact(Value::Letter('C'));
    assert!(is_right("c", &choice) && !is_right("B", &choice));
    let cell = answer("cell", "argmax(plain:A)");
    assert!(is_right("cave,cave", &cell) && is_right("2,2", &cell));
    assert!(!is_right("1,2", &cell));
    let order = answer("order", "rank(plain:A[bat])");
    assert!(is_right("bat cave racket", &order) && !is_right("cave bat racket", &order));
    assert!(!choice.accepts(&Value::Number(1.0)));
}

#[test]
fn a_wrong_answer_is_recognised_as_the_option_that_computes_it() {
    let is_option = |typed: &Value, option: &Value, right: &Answer| {
        right.with_value(option).is_some_and(|option| option.accepts(typed))
    };
    let right = answer("number", "plain:A[bat,cave] ± 0.005");
    let causal = option("causal:A[bat,bat]");
    assert!(is_option(&Value::Number(1.004), &causal, &right));
    assert!(!is_option(&Value::Number(1.006), &causal, &right));
    assert!(!right.accepts(&causal) && right.accepts(&option("round(plain:A[bat,cave], 2)")));

    let cell = answer("cell", "argmax(plain:A)");
    let other = option("argmin(plain:A)");
    assert!(is_option(&option("argmin(plain:A)"), &other, &cell));
    assert!(!is_option(&cell.value, &other, &cell));
    assert!(!cell.accepts(&other) && cell.accepts(&option("argmax(plain:A)")));
    assert!(!is_option(&causal, &other, &cell) && !is_option(&other, &causal, &cell));

    let order = answer("order", "rank(plain:A[bat])");
    let other = option("rank(plain:A[cave])");
    let Value::Order(typed) = &order.value else { panic!("an order") };
    assert!(is_option(&Value::Order(typed.with_positions(&[1, 2, 0])), &other, &order));
    assert!(!order.accepts(&other));
}

#[test]
fn an_answer_is_shown_at_the_digits_of_its_tolerance() {
    let shown = |value, tolerance| a_number(value, tolerance).to_string();
    assert_eq!(shown(0.30123, 0.005), "0.301 ± 0.005");
    assert_eq!(shown(-2.0 / 3.0, 0.5), "−0.7 ± 0.5");
    assert_eq!(shown(3.0, 0.0), "3");
    assert_eq!(shown(f64::NEG_INFINITY, 0.1), "−∞");
    assert_eq!(a_number(0.41234, 0.01).typed(), "0.41");
    assert_eq!(a_number(12.0, 0.5).typed(), "12");
    assert_eq!(a_number(12.0, 0.0).typed(), "12");
}

#[test]
fn a_show_of_hands_is_counted_by_option() {
    assert_eq!(votes("A3 B14 C8", 3).unwrap(), [3, 14, 8]);
    assert_eq!(votes("c8,a3", 3).unwrap(), [3, 0, 8]);
    assert_eq!(votes("A: 3; B=14", 4).unwrap(), [3, 14, 0, 0]);
    assert_eq!(votes("a3b4", 2).unwrap(), [3, 4]);
    assert_eq!(votes("3 14 8", 3).unwrap(), [3, 14, 8]);
    assert_eq!(votes("3, 0,8", 3).unwrap(), [3, 0, 8]);
    for text in [
        "3 14",
        "1 2 3 4",
        "3 99999 1",
        "",
        "A",
        "3",
        "A3 A4",
        "D1",
        "A99999",
        "A3 B",
        "A-1",
        "A3 é4",
        "A99999999999999999999999",
    ] {
        assert!(
            votes(text, 3).unwrap_err().to_string().ends_with("A to C with their votes: A3 B14"),
            "{text}"
        );
    }
    assert!(
        is_show_of_hands("A3 B14")
            && is_show_of_hands("3 14")
            && !is_show_of_hands("3")
            && !is_show_of_hands("A")
            && !is_show_of_hands("0.3")
    );
}

#[test]
fn a_vote_that_is_too_long_is_refused_unread() {
    assert!(votes(&"A".repeat(10_000_000), 3).unwrap_err().to_string().contains("too long"));
}

proptest! {
    #[test]
    fn no_answer_panics(text in "\\PC{0,40}|[abct0-9 ,./%#>\\[\\]()-]{0,30}") {
        for (word, key) in [
            ("number", "sum(plain:A) ± 1"),
            ("choice", "A iff sum(plain:A) > 1"),
            ("cell", "argmax(plain:A)"),
            ("cell", "argmin(odd:repeated[the#2])"),
            ("order", "rank(odd:column)"),
        ] {
            let right = answer(word, key);
            if let Ok(typed) = right.read(&text, 3) {
                right.accepts(&typed);
            }
        }
    }

    #[test]
    fn hands_that_are_shown_are_counted(hands in prop::collection::vec(0usize..40, 1..6)) {
        let shown: Vec<String> = ('A'..).zip(&hands).map(|(letter, hands)| format!("{letter}{hands}")).collect();
        prop_assert_eq!(votes(&shown.join(" "), hands.len()).unwrap(), hands);
    }

    #[test]
    fn no_vote_panics(text in "\\PC{0,40}|[A-Ca-c0-9 ,:=;-]{0,30}") {
        if let Ok(hands) = votes(&text, 3) {
            prop_assert!(hands.len() == 3 && is_show_of_hands(text.trim()));
        }
    }
}
