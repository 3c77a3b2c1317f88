//! The terms of positions: sinusoids, rotations, and biases by distance.

use std::f64::consts::PI;

use super::{InputReader, chosen, minus, over, times};
use crate::attention::{Base, HeadOf, Places, RopeScaling, Rotation, dynamic_ratio};
use crate::graph::Term;

/// `sin` or `cos` of `position / 10000^(2p/width)`.
pub(super) fn sinusoidal(width: usize, position: usize, j: usize) -> Term {
    let angle = Box::new(over(Term::Number(position as f64), power_of_pair(10_000.0, j / 2, width as f64)));
    if j.is_multiple_of(2) { Term::Sine(angle) } else { Term::Cosine(angle) }
}

/// `1 / base^(2p/width)`.
pub(super) fn frequency(width: usize, base: f64, pair: usize) -> Term {
    over(Term::Number(1.0), power_of_pair(base, pair, width as f64))
}

/// `base^(2p/width)`.
fn power_of_pair(base: f64, pair: usize, width: f64) -> Term {
    let exponent = over(Term::Number(2.0 * pair as f64), Term::Number(width));
    Term::Power(Base::Number(base), Box::new(exponent))
}

/// `−m · distance`, with the slope m as a power of 2.
pub(super) fn alibi(head: HeadOf, places: Places, i: usize, j: usize) -> Term {
    let distance = places.distance(i, j).unsigned_abs();
    if distance == 0 {
        return chosen(Term::Number(0.0), "the key is at the position of the query");
    }
    let (above, below) = head.slope_exponent();
    let exponent = over(Term::Number(-(above as f64)), Term::Number(below as f64));
    let slope = Term::Power(Base::Number(2.0), Box::new(exponent));
    Term::Product(vec![Term::Number(-1.0), slope, Term::Number(distance as f64)])
}

impl InputReader<'_> {
    pub(super) fn rotary(&self, rotation: &Rotation, i: usize, j: usize) -> Term {
        let pairs = self.width(1);
        if j >= 2 * pairs {
            return chosen(self.cell(0, i, j), "this column is not rotated");
        }
        let (pair, partner, is_first) = rotation.pairing.partner(j, pairs);
        let angle = Box::new(times(Term::Number((rotation.first + i) as f64), self.cell(1, 0, pair)));
        let of_size = |term: Term| match rotation.magnitude {
            1.0 => term,
            magnitude => times(term, Term::Number(magnitude)),
        };
        let own = times(self.cell(0, i, j), of_size(Term::Cosine(angle.clone())));
        let other = times(self.cell(0, i, partner), of_size(Term::Sine(angle)));
        if is_first { minus(own, other) } else { Term::Sum(vec![own, other]) }
    }

    pub(super) fn scaled_frequency(&self, scaling: &RopeScaling, pair: usize) -> Term {
        let (own, width) = (|| self.cell(0, 0, pair), 2 * self.width(0));
        let divided = |factor: f64| over(own(), Term::Number(factor));
        match *scaling {
            RopeScaling::Linear { factor } => divided(factor),
            RopeScaling::Dynamic { original, length, .. } if length as f64 <= original => {
                chosen(own(), "the text is not longer than the original context")
            }
            RopeScaling::Dynamic { factor, original, length } => {
                let ratio = dynamic_ratio(factor, original, length);
                over(own(), power_of_pair(ratio, pair, width as f64 - 2.0))
            }
            RopeScaling::Llama3 { factor, low, high, original } => {
                let wavelength = 2.0 * PI / self.value(0, 0, pair);
                if wavelength < original / high {
                    chosen(own(), "its wavelength is short: it is kept")
                } else if wavelength > original / low {
                    chosen(divided(factor), "its wavelength is long: it is divided")
                } else {
                    let wavelength = over(Term::Number(2.0 * PI), own());
                    let turns = over(Term::Number(original), wavelength);
                    let share = minus(turns, Term::Number(low));
                    let share = over(share, minus(Term::Number(high), Term::Number(low)));
                    let rest = minus(Term::Number(1.0), Term::Named("s"));
                    let sum = vec![times(rest, divided(factor)), times(Term::Named("s"), own())];
                    Term::With { name: "s", is: Box::new(share), within: Box::new(Term::Sum(sum)) }
                }
            }
            RopeScaling::Yarn(yarn) => {
                let [low, high] = yarn.ramp(width);
                let ramp = (pair as f64 - low) / (high - low);
                if ramp <= 0.0 {
                    chosen(own(), "the pair is fast: it is kept")
                } else if ramp >= 1.0 {
                    chosen(divided(yarn.factor), "the pair is slow: it is divided")
                } else {
                    let above = minus(Term::Number(pair as f64), Term::Number(low));
                    let ramp = over(above, minus(Term::Number(high), Term::Number(low)));
                    let rest = minus(Term::Number(1.0), Term::Named("r"));
                    let sum = vec![times(divided(yarn.factor), Term::Named("r")), times(own(), rest)];
                    Term::With { name: "r", is: Box::new(ramp), within: Box::new(Term::Sum(sum)) }
                }
            }
            RopeScaling::LongRope { .. } => over(own(), self.cell(1, 0, pair)),
        }
    }
}
