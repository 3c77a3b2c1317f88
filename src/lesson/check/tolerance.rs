//! Numbers that may differ by one unit of their last printed place: `<!-- tol: last-digit -->`.

use std::collections::HashMap;

use crate::elementary::pow;
use crate::lesson::key::{WrittenNumber, numbers_in};

/// The error of binary fractions in a difference, relative to the unit.
const ROUNDING: f64 = 1e-6;

/// The printed text, with each line replaced by that of `expected` if their numbers differ by no more than the tolerance.
pub(super) fn within_last_digit(printed: &str, expected: &str) -> String {
    let lines: Vec<ComparedLine<'_>> = expected.lines().map(ComparedLine::of).collect();
    let mut alike: HashMap<&str, Vec<&ComparedLine<'_>>> = HashMap::new();
    for line in &lines {
        alike.entry(&line.frame).or_default().push(line);
    }
    let nearest = |(at, printed): (usize, &str)| {
        let text = printed.trim_end_matches('\n');
        let line = ComparedLine::of(text);
        let same_place = lines.get(at).filter(|expected| expected.frame == line.frame);
        let mut candidates =
            same_place.into_iter().chain(alike.get(&*line.frame).into_iter().flatten().copied());
        let near = candidates.find(|expected| line.is_near(expected));
        format!("{}{}", near.map_or(text, |near| near.text), &printed[text.len()..])
    };
    printed.split_inclusive('\n').enumerate().map(nearest).collect()
}

/// A line, its numbers, and what two lines have in common that differ in the digits of their numbers alone.
struct ComparedLine<'a> {
    text: &'a str,
    numbers: Vec<WrittenNumber>,
    frame: String,
}

impl<'a> ComparedLine<'a> {
    fn of(text: &'a str) -> ComparedLine<'a> {
        let found = numbers_in(text);
        let mut frame = format!("{}\n", text.chars().count());
        let mut at = 0;
        for (range, number) in &found {
            // A sign that comes or goes moves the blanks before it.
            frame.push_str(text[at..range.start].trim_end());
            frame.push_str(&format!("\n{}\n", number.decimals()));
            at = range.end;
        }
        frame.push_str(&text[at..]);
        ComparedLine { text, numbers: found.into_iter().map(|(_, number)| number).collect(), frame }
    }

    /// Whether two lines are as long, and the same but for the last digits of their numbers.
    fn is_near(&self, expected: &ComparedLine<'_>) -> bool {
        let close = |(ours, theirs): (&WrittenNumber, &WrittenNumber)| {
            let difference = (ours.value() - theirs.value()).abs();
            ours.value() == theirs.value() || difference <= unit(ours) * (1.0 + ROUNDING)
        };
        self.frame == expected.frame && self.numbers.iter().zip(&expected.numbers).all(close)
    }
}

/// One unit of the last place of a number.
fn unit(number: &WrittenNumber) -> f64 {
    let text = number.text().trim_end_matches('%');
    let power = text.split_once(['e', 'E']).and_then(|(_, power)| power.parse::<i32>().ok()).unwrap_or(0);
    let percent = if number.text().ends_with('%') { 2 } else { 0 };
    pow(10.0, f64::from(power) - number.decimals() as f64 - f64::from(percent))
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
            assert!(ComparedLine::of(printed).is_near(&ComparedLine::of(expected)), "{printed} {expected}");
        }
        for (printed, expected) in [
            ("0.52", "0.54"),
            ("0.52", "0.5"),
            ("0.52 a", "0.52 b"),
            ("0.52", "0.52 0.52"),
            ("1.5e-3", "1.3e-3"),
            ("bat", "cat"),
        ] {
            assert!(!ComparedLine::of(printed).is_near(&ComparedLine::of(expected)), "{printed} {expected}");
        }
    }

    #[test]
    fn only_the_lines_that_are_near_are_taken_over() {
        assert_eq!(within_last_digit("a 0.52\nb 0.3\n", "a 0.53\nb 0.5\n"), "a 0.53\nb 0.3\n");
        assert_eq!(within_last_digit("x 1.0\ny 2.0\n", "...\ny 2.1\n"), "x 1.0\ny 2.1\n");
        assert_eq!(within_last_digit("a 0.52\n", "a 0.53"), "a 0.53\n");
    }
}
