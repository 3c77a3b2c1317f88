//! Numbers as prose writes them.

use super::*;
use crate::graph::{Graph, Origin};
use crate::matrix::Matrix;
use crate::render::{Format, Page, Screen, Style, stories};
use crate::story::{Digits, Story};
use proptest::prelude::*;

fn written(text: &str) -> WrittenNumber {
    WrittenNumber::parse(text).unwrap_or_else(|| panic!("{text}"))
}

fn texts(text: &str) -> Vec<String> {
    let check = |(range, written): (Range<usize>, WrittenNumber)| {
        assert_eq!(&text[range], written.text());
        written.text().to_string()
    };
    numbers_in(text).into_iter().map(check).collect()
}

#[test]
fn a_number_stands_for_its_value() {
    for (text, value, decimals) in [
        ("0.30", 0.3, 2),
        ("−1.5", -1.5, 1),
        ("-.5", -0.5, 1),
        ("+2", 2.0, 0),
        ("124,439,808", 124_439_808.0, 0),
        ("1,234.50", 1234.5, 2),
        ("30%", 0.3, 0),
        ("12.5%", 0.125, 1),
        ("1e-3", 0.001, 0),
        ("1.50E6", 1.5e6, 2),
        ("-∞", f64::NEG_INFINITY, 0),
        ("inf", f64::INFINITY, 0),
    ] {
        assert_eq!((written(text).value(), written(text).decimals()), (value, decimals), "{text}");
    }
    for text in ["", "a", "1,23", "12,34,567", "1 2", "0.3x", "--1", "5.", "1/3", "10e-3", "nan", "W_2"] {
        assert_eq!(WrittenNumber::parse(text), None, "{text}");
    }
}

#[test]
fn a_value_agrees_at_the_digits_written() {
    for (text, value) in [
        ("0.30", 0.2999),
        ("0.30", 0.3049),
        ("0.3", 0.3333),
        ("−1.5", -1.5),
        ("-1.5", -1.46),
        ("30%", 0.304),
        ("12.5%", 0.1252),
        ("124,439,808", 124_439_808.0),
        ("1e-3", 0.00104),
        ("1.5e3", 1540.0),
        ("0.00", -0.001),
        ("−0.00", -0.001),
        ("+0.50", 0.5),
        ("−∞", f64::NEG_INFINITY),
        (".25", 0.25),
    ] {
        assert!(written(text).agrees(value), "{text} {value}");
    }
    for (text, value) in [
        ("0.30", 0.306),
        ("0.30", -0.3),
        ("−1.5", 1.5),
        ("30%", 30.0),
        ("30", 0.3),
        ("124,439,808", 124_439_809.0),
        ("1e-3", 0.0016),
        ("−0.00", 0.001),
        ("∞", f64::NEG_INFINITY),
        ("1.00", f64::INFINITY),
        ("0.00", f64::NAN),
    ] {
        assert!(!written(text).agrees(value), "{text} {value}");
    }
}

#[test]
fn what_a_table_prints_agrees_with_its_cell() {
    // Halves of the last place, which 64-bit floats hold a little above or below.
    let values: Vec<f64> = (1..400).map(|k| f64::from(k) * 0.005).chain([-2.675, 0.145, 1.005]).collect();
    let mut graph = Graph::new();
    graph.given("A", Matrix::from_rows(std::slice::from_ref(&values)).unwrap(), Origin::Stated).unwrap();
    let story = Story::of_graph("", graph, Digits::Places(2));
    let style = Style::on(Screen::plain(80), Format::Markdown);
    let mut page = Vec::new();
    stories(&[Page::whole(story)], "", &style, &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    let row = page.lines().rfind(|line| line.starts_with('|')).unwrap();
    let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
    let printed = &cells[cells.len() - values.len()..];
    for (text, value) in printed.iter().zip(values) {
        assert!(written(text).agrees(value), "{text} {value}");
    }
    assert!(printed.contains(&"0.10") && printed.contains(&"−2.67") || printed.contains(&"-2.67"), "{row}");
}

#[test]
fn another_value_takes_the_same_form() {
    for (text, value, refilled) in [
        ("0.30", 0.4567, "0.46"),
        ("0.30", -0.4567, "−0.46"),
        ("-0.3", -12.0, "-12.0"),
        ("+0.3", 0.25, "+0.2"),
        ("+0.3", -1.0, "−1.0"),
        ("124,439,808", 1_234.0, "1,234"),
        ("1,234", 999.6, "1,000"),
        ("1,234.5", -1e6, "−1,000,000.0"),
        ("30%", 0.666, "67%"),
        ("1e-3", 0.0000213, "2e-5"),
        ("1.5E3", 27.0, "2.7E1"),
        (".25", 0.75, ".75"),
        (".25", 1.75, "1.75"),
        ("0.30", f64::NEG_INFINITY, "−∞"),
        ("−∞", 0.25, "0.2500"),
        ("−0.30", -0.001, "0.00"),
    ] {
        assert_eq!(written(text).refilled(value), refilled, "{text} {value}");
    }
}

#[test]
fn the_numbers_of_a_sentence_are_found_and_names_are_none() {
    assert_eq!(
        texts("0.30, then −1.5 (or +2) and 124,439,808; 30%."),
        ["0.30", "−1.5", "+2", "124,439,808", "30%"]
    );
    assert_eq!(texts("W_2 W__2 x1 2nd 1/3 A_1 0.5x 3D v1.2.3"), [""; 0]);
    assert_eq!(texts("ends in 5."), ["5"]);
    assert_eq!(texts("2-3 and 4×3, 0.2–0.3"), ["2", "3", "4", "3", "0.2", "0.3"]);
    assert_eq!(texts("infinity, in all, −∞"), ["−∞"]);
}

#[test]
fn a_checked_number_stands_before_its_directive_or_the_marks_that_close_it() {
    for (text, number) in [("gives 0.30", "0.30"), ("**0.30**", "0.30"), ("is `−2`", "−2"), ("_30%_", "30%")]
    {
        let (range, written) = WrittenNumber::ending(text).unwrap();
        assert_eq!((&text[range], written.text()), (number, number));
    }
    for text in ["", "0.30 of", "0.30 ", "W_2", "**two**"] {
        assert_eq!(WrittenNumber::ending(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn what_is_refilled_agrees_with_its_value(
        text in "[-−+]?(0|[1-9][0-9]{0,3}|[1-9],[0-9]{3})(\\.[0-9]{1,6})?%?|[1-9](\\.[0-9]{1,3})?e-?[0-9]",
        value in -1e6..1e6f64,
    ) {
        let refilled = written(&text).refilled(value);
        prop_assert!(written(&refilled).agrees(value), "{} {}", text, refilled);
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,60}|[0-9.,%e∞+−-]{0,60}") {
        for (range, written) in numbers_in(&text) {
            prop_assert_eq!(&text[range], written.text());
        }
        WrittenNumber::ending(&text);
    }
}
