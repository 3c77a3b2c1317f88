//! Numbers that may differ by one unit of their last printed place: `<!-- tol: last-digit -->`.

use crate::elementary::pow;
use crate::lesson::key::{WrittenNumber, numbers_in};

/// What binary fractions may add to a difference, as a part of the unit.
const ROUNDING: f64 = 1e-6;

/// What was printed, with each line taken from `expected` that differs from it by no more than that.
pub(super) fn within_last_digit(printed: &str, expected: &str) -> String {
    let lines: Vec<&str> = expected.split_inclusive('\n').collect();
    let nearest = |(at, line): (usize, &str)| {
        let same_place = lines.get(at).into_iter().chain(&lines);
        let near = same_place.copied().find(|expected| is_near(line, expected));
        near.map_or_else(
            || line.to_string(),
            |near| format!("{}{}", near.trim_end_matches('\n'), end_of(line)),
        )
    };
    printed.split_inclusive('\n').enumerate().map(nearest).collect()
}

/// One unit of the last place of a number.
fn unit(number: &WrittenNumber) -> f64 {
    let text = number.text().trim_end_matches('%');
    let power = text.split_once(['e', 'E']).and_then(|(_, power)| power.parse::<i32>().ok()).unwrap_or(0);
    let percent = if number.text().ends_with('%') { 2 } else { 0 };
    pow(10.0, f64::from(power) - number.decimals() as f64 - f64::from(percent))
}

fn end_of(line: &str) -> &str {
    &line[line.trim_end_matches('\n').len()..]
}

/// Whether two lines are as long, and the same but for the last digits of their numbers.
fn is_near(printed: &str, expected: &str) -> bool {
    let (printed, expected) = (printed.trim_end_matches('\n'), expected.trim_end_matches('\n'));
    if printed == expected {
        return true;
    }
    let (ours, theirs) = (numbers_in(printed), numbers_in(expected));
    if ours.len() != theirs.len() || printed.chars().count() != expected.chars().count() {
        return false;
    }
    let (mut at, mut other) = (0, 0);
    for ((range, number), (range_there, there)) in ours.iter().zip(&theirs) {
        // A sign that comes or goes moves the blanks before it.
        let same_text = printed[at..range.start].trim_end() == expected[other..range_there.start].trim_end();
        let difference = (number.value() - there.value()).abs();
        let close = number.value() == there.value() || difference <= unit(number) * (1.0 + ROUNDING);
        if !same_text || number.decimals() != there.decimals() || !close {
            return false;
        }
        (at, other) = (range.end, range_there.end);
    }
    printed[at..] == expected[other..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_near_whose_numbers_differ_by_one_unit_of_their_last_place() {
        for (printed, expected) in [
            ("│ bat │ 0.52   0.18 │", "│ bat │ 0.53   0.17 │"),
            ("│ bat │  0.00 │", "│ bat │ -0.00 │"),
            ("12 of 30%", "13 of 31%"),
            ("124,439,808", "124,439,809"),
            ("1.5e-3", "1.4e-3"),
        ] {
            assert!(is_near(printed, expected), "{printed} {expected}");
        }
        for (printed, expected) in [
            ("0.52", "0.54"),
            ("0.52", "0.5"),
            ("0.52 a", "0.52 b"),
            ("0.52", "0.52 0.52"),
            ("1.5e-3", "1.3e-3"),
            ("bat", "cat"),
        ] {
            assert!(!is_near(printed, expected), "{printed} {expected}");
        }
    }

    #[test]
    fn only_the_lines_that_are_near_are_taken_over() {
        assert_eq!(within_last_digit("a 0.52\nb 0.3\n", "a 0.53\nb 0.5\n"), "a 0.53\nb 0.3\n");
        assert_eq!(within_last_digit("x 1.0\ny 2.0\n", "...\ny 2.1\n"), "x 1.0\ny 2.1\n");
        assert_eq!(within_last_digit("a 0.52\n", "a 0.53"), "a 0.53\n");
    }
}
