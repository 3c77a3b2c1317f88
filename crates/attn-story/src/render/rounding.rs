//! The digits that each line of a derivation needs, so that a reader who calculates with the shown numbers gets the next line.

use super::digits;
use crate::elementary;
use crate::explain::{shortened_to, worked_out};
use crate::graph::{Graph, Term};
use crate::story::Digits;

/// No line gets more decimals than these, unless all have.
const MOST: usize = 6;
/// The decimals that NumPy prints.
const NUMPY: usize = 8;

/// A line of a derivation: its numbers with their digits, and if the line before gives them.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivationLine {
    /// The numbers with the operations between them.
    pub term: Term,
    /// The digits of its numbers.
    pub digits: Digits,
    /// True if the line before, calculated, gives this line, to its last digit.
    pub follows: bool,
}

/// The lines of a derivation. The last line is written in the usual digits; a line before it has as few decimals as it takes
/// for its numbers to give those of the next line, from the usual to six, and not fewer than the next. If no choice makes
/// every line follow, the fewest lines do not.
///
/// Of long sums this many terms are kept.
pub fn lines(graph: &Graph, steps: &[Term], kept: usize, usual: Digits) -> Vec<DerivationLine> {
    let terms: Vec<Term> = steps.iter().map(|step| shortened_to(graph, step, kept)).collect();
    let choices = choices(usual);
    // For each line and each choice of its digits: the best that the lines from it on can do, and the choice for the next line.
    let mut best: Vec<Vec<BestDigits>> = vec![Vec::new(); terms.len()];
    for at in (0..terms.len()).rev() {
        best[at] = (0..choices.len())
            .map(|choice| match best.get(at + 1) {
                None => BestDigits { faults: choice * terms.len(), extra: choice, next: 0, follows: true },
                Some(below) => best_of(graph, &terms, at, choice, &choices, below),
            })
            .collect();
    }
    let mut choice = least(best.first().map_or(&[], Vec::as_slice));
    let mut follows = true;
    let mut lines = Vec::new();
    for (term, options) in terms.into_iter().zip(best) {
        lines.push(DerivationLine { term, digits: choices[choice], follows });
        (choice, follows) = (options[choice].next, options[choice].follows);
    }
    lines
}

/// The best choice of digits for the lines from one on.
#[derive(Clone, Copy)]
struct BestDigits {
    /// The number of lines that do not follow from the line before.
    faults: usize,
    /// The number of decimals that they have beyond the usual ones.
    extra: usize,
    /// The choice for the next line.
    next: usize,
    /// True if the next line follows.
    follows: bool,
}

fn best_of(
    graph: &Graph,
    terms: &[Term],
    at: usize,
    choice: usize,
    choices: &[Digits],
    below: &[BestDigits],
) -> BestDigits {
    let given = worked_out(graph, &as_shown(&terms[at], choices[choice]));
    // The line below never has more decimals than this one.
    let options = (0..=choice).map(|next| {
        let follows = gives(&given, &terms[at + 1], choices[next]);
        let faults = below[next].faults + usize::from(!follows);
        BestDigits { faults, extra: below[next].extra + choice, next, follows }
    });
    let least = options.min_by_key(|best| (best.faults, best.extra));
    least.expect("at least the usual digits")
}

fn least(options: &[BestDigits]) -> usize {
    let key = |&i: &usize| (options[i].faults, options[i].extra);
    (0..options.len()).min_by_key(key).unwrap_or(0)
}

/// The digits that a line may have, the usual ones first.
fn choices(usual: Digits) -> Vec<Digits> {
    match usual {
        Digits::AsNumPy => vec![usual],
        Digits::Places(places) => (places..=places.max(MOST)).map(Digits::Places).collect(),
    }
}

/// The number that a reader sees.
fn shown(x: f64, digits: Digits) -> f64 {
    read(&digits::one(x, digits))
}

/// The number that a text stands for.
fn read(text: &str) -> f64 {
    text.replace('−', "-").replace('∞', "inf").parse().unwrap_or(f64::NAN)
}

/// The term with every number as it is shown.
fn as_shown(term: &Term, digits: Digits) -> Term {
    match term {
        Term::Number(x) => Term::Number(shown(*x, digits)),
        Term::Rest { count, value } => Term::Rest { count: *count, value: shown(*value, digits) },
        other => other.map_parts(|part| as_shown(part, digits)),
    }
}

/// Returns true if the calculated numbers equal those of a line in these digits.
fn gives(calculated: &Term, line: &Term, digits: Digits) -> bool {
    match (calculated, line) {
        (Term::Number(x), Term::Number(y)) => rounds_to(*x, *y, digits),
        (Term::Rest { value: x, .. }, Term::Rest { value: y, .. }) => rounds_to(*x, *y, digits),
        (a, b) => {
            let (a_parts, b_parts) = (a.parts(), b.parts());
            std::mem::discriminant(a) == std::mem::discriminant(b)
                && !a_parts.is_empty()
                && a_parts.len() == b_parts.len()
                && a_parts.iter().zip(b_parts).all(|(a, b)| gives(a, b, digits))
        }
    }
}

/// Returns true if a number, rounded, equals another as it is shown; halfway it may go up or down.
fn rounds_to(x: f64, y: f64, digits: Digits) -> bool {
    let text = digits::one(y, digits);
    let y = read(&text);
    if !x.is_finite() || !y.is_finite() {
        return x == y || (x.is_nan() && y.is_nan());
    }
    let places = match digits {
        Digits::AsNumPy => NUMPY,
        Digits::Places(places) => places,
    };
    let exponent: i32 =
        text.split_once('e').and_then(|(_, exponent)| exponent.replace('−', "-").parse().ok()).unwrap_or(0);
    let half = 0.5 * elementary::pow(10.0, f64::from(exponent - places as i32));
    // The errors that x and y have in binary are allowed for.
    (x - y).abs() <= half + 4.0 * f64::EPSILON * x.abs().max(y.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::{SHOWN, steps};

    fn worked(term: &Term, places: usize) -> Vec<(Vec<f64>, bool)> {
        let graph = Graph::new();
        let numbers = |line: &DerivationLine| {
            let parts = line.term.parts().into_iter();
            parts.map(|part| shown(part.evaluate(&graph), line.digits)).collect()
        };
        lines(&graph, &steps(&graph, term), SHOWN, Digits::Places(places))
            .iter()
            .map(|line| (numbers(line), line.follows))
            .collect()
    }

    #[test]
    fn a_product_gets_the_digits_that_give_its_result() {
        // 0.8816·3 would be 2.6448, but 0.88163·3 = 2.64489 is 2.6449.
        let term = Term::Product(vec![Term::Number(0.881_631), Term::Number(3.0)]);
        assert_eq!(worked(&term, 4), [(vec![0.881_63, 3.0], true), (vec![], true)]);
        let exact = Term::Product(vec![Term::Number(0.5), Term::Number(3.0)]);
        assert_eq!(worked(&exact, 4)[0], (vec![0.5, 3.0], true));
    }

    #[test]
    fn where_six_decimals_do_not_suffice_the_line_does_not_follow() {
        let term = Term::Product(vec![Term::Number(0.123_456_789), Term::Number(1e6)]);
        assert_eq!(worked(&term, 4), [(vec![0.1235, 1e6], true), (vec![], false)]);
        assert_eq!(worked(&term, 9), [(vec![0.123_456_789, 1e6], true), (vec![], true)]);
    }

    #[test]
    fn numbers_that_a_sum_leaves_out_are_calculated_with_too() {
        let term = Term::Sum(vec![Term::Number(0.1); 9]);
        assert_eq!(worked(&term, 4).iter().map(|line| line.1).collect::<Vec<bool>>(), [true, true]);
    }
}
