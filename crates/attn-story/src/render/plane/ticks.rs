//! The numbers at an axis: round ones, as many as there is room for.

use crate::story::in_sentence;

/// Numbers that are 1, 2 or 5 times a power of ten apart.
#[derive(Clone, Copy)]
pub struct Ticks {
    /// 1, 2 or 5 …
    digit: u8,
    /// The power of ten of the distance between two numbers.
    power: i32,
}

impl Ticks {
    /// The nearest together that are at least this far apart; `least` is positive.
    pub fn apart(least: f64) -> Ticks {
        // Written as 3.2e-1, a number says its power of ten.
        let text = format!("{least:e}");
        let power = text.split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0);
        let mut ticks = Ticks { digit: 1, power };
        while ticks.step() < least && ticks.power < 300 {
            ticks = ticks.wider();
        }
        ticks
    }

    /// The next that are further apart.
    pub fn wider(self) -> Ticks {
        match self.digit {
            1 => Ticks { digit: 2, ..self },
            2 => Ticks { digit: 5, ..self },
            _ => Ticks { digit: 1, power: self.power + 1 },
        }
    }

    /// The distance between neighbouring numbers.
    pub fn step(self) -> f64 {
        format!("{}e{}", self.digit, self.power).parse().unwrap_or(f64::INFINITY)
    }

    /// The numbers in a range that holds 0, and their texts.
    pub fn within(self, low: f64, high: f64) -> Vec<(f64, String)> {
        const MOST: f64 = 100.0;
        let step = self.step();
        let (first, last) = ((low / step).ceil().max(-MOST) as i64, (high / step).floor().min(MOST) as i64);
        let places = usize::try_from(-self.power).unwrap_or(0);
        let number = |i: i64| {
            let number = i as f64 * step;
            (number, in_sentence(number, places))
        };
        (first..=last).map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_at_least_as_far_apart_as_asked() {
        for (least, step) in [(0.9, 1.0), (1.0, 1.0), (1.1, 2.0), (3.0, 5.0), (0.03, 0.05), (70.0, 100.0)] {
            assert_eq!(Ticks::apart(least).step(), step, "{least}");
        }
        let texts = |low, high| {
            let ticks = Ticks::apart(0.4).within(low, high);
            ticks.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(texts(-0.7, 1.2), "−0.5 0 0.5 1");
        assert_eq!(texts(0.0, 0.2), "0");
    }
}
