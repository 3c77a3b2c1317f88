//! Expressions that can be read, and errors of those that cannot.

use super::*;
use proptest::prelude::*;

fn refused(text: &str) -> ParseError {
    Expression::parse(text).expect_err(text)
}

fn help(error: &ParseError) -> &str {
    error.help.as_deref().expect("every error says what to do")
}

fn reference(run: &str, address: &str) -> Expression {
    Expression::Reference { run: run.into(), address: address.into() }
}

#[test]
fn a_label_holds_anything_but_its_closing_bracket() {
    for address in ["A[bat (1),cave]", "A[=,±]", "A[a:b, iff]", "A[[,(]", "A[the#2,naïve 👍]", "W_Q_1[3,2]"]
    {
        let text = format!("plain:{address} == 1");
        match Expression::parse(&text).unwrap() {
            Expression::Compare(left, ..) => assert_eq!(*left, reference("plain", address)),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_run_may_be_named_by_digits_and_by_letters_of_any_script() {
    assert_eq!(Expression::parse("2:A").unwrap(), reference("2", "A"));
    assert_eq!(Expression::parse("no-mask_2:A").unwrap(), reference("no-mask_2", "A"));
    assert_eq!(Expression::parse("größe:A").unwrap(), reference("größe", "A"));
    assert!(is_run_name("no-mask_2") && is_run_name("größe"));
    for name in ["", "a b", "a:b", "a.b", " a"] {
        assert!(!is_run_name(name), "{name}");
    }
}

#[test]
fn an_unknown_function_is_told_its_nearest_and_the_closed_list() {
    let error = refused("1 == agmax(plain:A)");
    assert_eq!((error.line, error.column), (1, 6));
    assert_eq!(error.what, "there is no function `agmax`");
    assert!(help(&error).starts_with("did you mean `argmax`? "), "{error:?}");
    for (name, _) in Function::ALL {
        assert!(help(&refused("mean(a:A)")).contains(name), "{name}");
    }
}

#[test]
fn an_error_stands_in_its_column() {
    for (text, column, what) in [
        ("", 1, "there is no key"),
        ("plain:A[1,2] + 1", 14, "`+ 1` cannot be read here"),
        ("plain:A[1,2] = 1", 14, "`=` is not a comparison"),
        ("1 == 2 == 3", 8, "`== 3` cannot be read here"),
        ("1 ==", 5, "something is missing after `1 ==`"),
        ("«", 1, "`«` is neither a number nor a cell of a run"),
        ("1 == A[bat,cave]", 6, "`A[bat,cave]` is neither a number nor a cell of a run"),
        ("sum(plain:A[bat)", 12, "`[` is not closed"),
        ("sum(plain:A[bat]", 4, "`(` is not closed"),
        ("sum(plain:A[bat]))", 18, "`)` closes nothing"),
        ("count(a:A, 0)", 1, "`count(a:A, 0)` is not a valid call of count"),
        ("sum(a:A, == 0)", 1, "`sum(a:A, == 0)` is not a valid call of sum"),
        ("sum(== 0)", 1, "`sum(== 0)` is not a valid call of sum"),
        ("sum()", 1, "`sum()` is not a valid call of sum"),
        ("round(a:A, 2.5)", 12, "`2.5` is not a number of decimals"),
        ("round(a:A, 99)", 12, "`99` is not a number of decimals"),
        ("1 == 1e999", 6, "`1e999` is beyond the range of a 64-bit float"),
        ("ä == sum", 1, "`ä` is neither a number nor a cell of a run"),
    ] {
        let error = refused(text);
        assert_eq!((error.column, error.what.as_str()), (column, what), "{text}");
    }
    assert_eq!(help(&refused("sum == 2")), "write sum(RUN:A[bat])");
    assert_eq!(help(&refused("1 == A[bat,cave]")), "write its run before it: RUN:A[bat,cave]");
}

#[test]
fn a_place_is_told_by_line_and_column() {
    let at = |text: &str| (refused(text).line, refused(text).column);
    assert_eq!(at("1 == 2 ?"), (1, 8));
    assert_eq!(at("1 ==\n 2 ?"), (2, 4));
    assert_eq!(at("naïve:A == ä"), (1, 12));
}

#[test]
fn deep_and_long_texts_are_refused_before_they_are_read() {
    let deep = format!("{}plain:A{}", "sum(".repeat(100), ")".repeat(100));
    assert_eq!(refused(&deep).what, "brackets are nested more than 8 deep");
    assert_eq!(refused(&deep).column, 36);
    for text in ["(".repeat(10_000), "sum(".repeat(10_000), "[".repeat(10_000), "x".repeat(10_000_000)] {
        assert!(refused(&text).what.contains("longer than 1000 bytes"));
    }
    assert!(Expression::parse(&format!("{}plain:A{}", "sum(".repeat(8), ")".repeat(8))).is_ok());
}

proptest! {
    #[test]
    fn no_text_panics_and_every_column_lies_in_the_text(text in "\\PC{0,60}|[a-z0-9:()\\[\\],=<>. ±\n-]{0,60}") {
        for read in [Expression::parse(&text).err(), parse_key(&text, "").err()].into_iter().flatten() {
            prop_assert!(read.line <= 1 + text.matches('\n').count());
            prop_assert!(read.column <= text.chars().count() + 1);
        }
    }
}
