//! What a printed derivation says is true of the numbers that are printed: each line, calculated from its text alone, gives the
//! next one to its last digit, unless ≈ stands between them. Nothing of the program calculates here but what it prints.

#![allow(
    clippy::disallowed_methods,
    reason = "the judge of the printed numbers calculates with std, not with the program"
)]

use crate::common::{attn, one_in};
use attn::demo::{Source, demos};

/// A line of a derivation as a reader sees it.
#[derive(Clone, Debug, PartialEq)]
enum Seen {
    /// With the exponent that is written behind it, or 0.
    Number(f64, i32),
    /// Left out of a maximum; its numbers are smaller than those that are written.
    Smaller,
    Sum(Vec<Seen>),
    Difference(Vec<Seen>),
    Product(Vec<Seen>),
    Quotient(Vec<Seen>),
    Function(String, Vec<Seen>),
}

impl Seen {
    fn parts(&self) -> &[Seen] {
        match self {
            Seen::Number(..) | Seen::Smaller => &[],
            Seen::Sum(parts) | Seen::Difference(parts) | Seen::Product(parts) | Seen::Quotient(parts) => {
                parts
            }
            Seen::Function(_, parts) => parts,
        }
    }

    fn number(&self) -> f64 {
        match self {
            Seen::Number(number, _) => *number,
            _ => f64::NEG_INFINITY,
        }
    }

    /// Calculates what can be calculated at once, as a reader does from one line to the next.
    fn one_step(&self) -> Seen {
        let parts = self.parts();
        if matches!(self, Seen::Number(..) | Seen::Smaller) {
            return self.clone();
        }
        if !parts.iter().all(|part| matches!(part, Seen::Number(..) | Seen::Smaller)) {
            let parts = parts.iter().map(Seen::one_step).collect();
            return match self {
                Seen::Sum(_) => Seen::Sum(parts),
                Seen::Difference(_) => Seen::Difference(parts),
                Seen::Product(_) => Seen::Product(parts),
                Seen::Quotient(_) => Seen::Quotient(parts),
                Seen::Function(name, _) => Seen::Function(name.clone(), parts),
                other => other.clone(),
            };
        }
        let x: Vec<f64> = parts.iter().map(Seen::number).collect();
        let number = match self {
            Seen::Sum(_) => x.iter().sum(),
            Seen::Difference(_) => x[0] - x[1],
            Seen::Product(_) => x.iter().product(),
            Seen::Quotient(_) => x[0] / x[1],
            Seen::Function(name, _) => match name.as_str() {
                "exp" => x[0].exp(),
                "ln" => x[0].ln(),
                "sin" => x[0].sin(),
                "cos" => x[0].cos(),
                "√" => x[0].sqrt(),
                "|" => x[0].abs(),
                "^" => x[0].powf(x[1]),
                "max" => x.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                "round" => (x[0] * 10_f64.powf(x[1])).round() / 10_f64.powf(x[1]),
                other => panic!("what is {other}?"),
            },
            _ => unreachable!(),
        };
        Seen::Number(number, 0)
    }
}

/// Reads a line.
struct Reader<'a> {
    text: &'a str,
}

impl<'a> Reader<'a> {
    fn line(text: &'a str) -> Seen {
        let mut reader = Reader { text };
        let seen = reader.sum();
        assert_eq!(reader.text, "", "in {text}");
        seen
    }

    fn takes(&mut self, sign: &str) -> bool {
        let rest = self.text.strip_prefix(sign);
        self.text = rest.unwrap_or(self.text);
        rest.is_some()
    }

    fn sum(&mut self) -> Seen {
        let mut left = self.quotient();
        // Whether `left` is a sum of this level, and not one in parentheses.
        let mut open = false;
        loop {
            if self.takes(" + ") {
                let right = self.quotient();
                left = match left {
                    Seen::Sum(mut terms) if open => {
                        terms.push(right);
                        Seen::Sum(terms)
                    }
                    other => Seen::Sum(vec![other, right]),
                };
                open = true;
            } else if self.takes(" − ") {
                left = Seen::Difference(vec![left, self.quotient()]);
                open = false;
            } else {
                return left;
            }
        }
    }

    fn quotient(&mut self) -> Seen {
        let mut left = self.product();
        while self.takes(" / ") {
            left = Seen::Quotient(vec![left, self.product()]);
        }
        left
    }

    fn product(&mut self) -> Seen {
        let first = self.power();
        let mut factors = vec![first];
        while self.takes("·") {
            factors.push(self.power());
        }
        if factors.len() == 1 { factors.remove(0) } else { Seen::Product(factors) }
    }

    fn power(&mut self) -> Seen {
        let base = self.atom();
        if self.takes("^") { Seen::Function("^".into(), vec![base, self.atom()]) } else { base }
    }

    fn arguments(&mut self) -> Vec<Seen> {
        let mut arguments = vec![self.sum()];
        while self.takes(", ") {
            arguments.push(self.sum());
        }
        assert!(self.takes(")"), "no bracket before {}", self.text);
        arguments
    }

    fn atom(&mut self) -> Seen {
        for name in ["exp", "ln", "sin", "cos", "max", "round"] {
            if self.takes(name) {
                assert!(self.takes("("));
                return Seen::Function(name.into(), self.arguments());
            }
        }
        if self.takes("√") {
            return Seen::Function("√".into(), vec![self.atom()]);
        }
        if self.takes("|") {
            let inner = self.sum();
            assert!(self.takes("|"));
            return Seen::Function("|".into(), vec![inner]);
        }
        if self.text.starts_with('(') {
            return self.in_brackets();
        }
        self.numeral()
    }

    fn in_brackets(&mut self) -> Seen {
        let inner = &self.text[1..self.text.find([')', ':']).expect("a closing bracket")];
        if inner.strip_suffix(" more").is_some_and(|count| count.parse::<usize>().is_ok()) {
            self.text = &self.text[1 + inner.len()..];
            if self.takes(")") {
                return Seen::Smaller;
            }
            assert!(self.takes(": "));
        } else {
            self.text = &self.text[1..];
        }
        self.arguments().remove(0)
    }

    fn numeral(&mut self) -> Seen {
        let is_of_number = |(i, c): (usize, char)| {
            c.is_ascii_digit()
                || ".∞NaNe".contains(c)
                || ("+-−".contains(c) && (i == 0 || self.text[..i].ends_with('e')))
        };
        let end = self.text.char_indices().find(|&at| !is_of_number(at)).map_or(self.text.len(), |(i, _)| i);
        let (text, rest) = self.text.split_at(end);
        self.text = rest;
        let plain = text.replace('−', "-").replace('∞', "inf");
        let exponent =
            plain.split_once('e').map_or(0, |(_, exponent)| exponent.parse().expect("an exponent"));
        let number = plain.parse().unwrap_or_else(|_| panic!("{text:?} before {rest:?} is no number"));
        Seen::Number(number, exponent)
    }
}

/// Half of the last digit that a line shows; `usual` decimals at least, since zeros at the end are left out.
fn half_of_last(line: &str, usual: usize) -> (f64, i32) {
    let numbers = line.split(|c: char| !(c.is_ascii_digit() || c == '.' || c == 'e' || c == '-'));
    let decimals = |number: &str| {
        let mantissa = number.split('e').next().unwrap_or("");
        mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len())
    };
    let most = numbers.map(decimals).max().unwrap_or(0).max(usual);
    (0.5, -(most as i32))
}

/// Whether what was calculated is what the line shows.
fn is_shown(calculated: &Seen, shown: &Seen, (half, exponent): (f64, i32)) -> bool {
    match (calculated, shown) {
        (Seen::Number(x, _), Seen::Number(y, _)) if !x.is_finite() || !y.is_finite() => {
            x == y || (x.is_nan() && y.is_nan())
        }
        (Seen::Number(x, _), Seen::Number(y, written)) => {
            (x - y).abs() <= half * 10_f64.powi(exponent + written) + 1e-14 * y.abs().max(x.abs())
        }
        (a, b) => {
            std::mem::discriminant(a) == std::mem::discriminant(b)
                && a.parts().len() == b.parts().len()
                && a.parts().iter().zip(b.parts()).all(|(a, b)| is_shown(a, b, (half, exponent)))
        }
    }
}

/// A printed derivation: the lines in numbers, each with the sign before it.
fn derivations(out: &str) -> Vec<Vec<(char, String)>> {
    let mut found: Vec<Vec<(char, String)>> = Vec::new();
    let mut open = false;
    for line in out.replace('\u{a0}', " ").lines() {
        let text = line.trim_start();
        let indent = line.chars().count() - text.chars().count();
        let sign = text.chars().next().filter(|sign| ['=', '≈'].contains(sign));
        if line.is_empty() || indent < 3 || text.starts_with(['├', '└', '│']) {
            open = false;
        } else if let Some(sign) = sign {
            if !open {
                found.push(Vec::new());
            }
            open = true;
            found.last_mut().unwrap().push((sign, text[sign.len_utf8()..].trim().to_string()));
        } else if let Some((_, formula)) = text.split_once(" = ").filter(|_| indent == 3 && !open) {
            open = !text.starts_with("with ");
            if open {
                found.push(vec![('=', formula.to_string())]);
            }
        } else if open && indent > 5 {
            let last = &mut found.last_mut().unwrap().last_mut().unwrap().1;
            last.push(' ');
            last.push_str(text);
        } else {
            open = false;
        }
    }
    found
}

/// How many lines follow from the one before, and how many do so only roughly; asserts that those with = do.
fn check(what: &str, out: &str, usual: usize) -> (usize, usize) {
    let (mut exact, mut rounded) = (0, 0);
    for lines in derivations(out) {
        // The first line is in symbols, unless there are none.
        for pair in lines[1..].windows(2) {
            let [(_, above), (sign, below)] = pair else { unreachable!() };
            if *sign == '≈' {
                rounded += 1;
                continue;
            }
            exact += 1;
            let (calculated, shown) = (Reader::line(above).one_step(), Reader::line(below));
            assert!(
                is_shown(&calculated, &shown, half_of_last(below, usual)),
                "{what}: {above} = {below}, but it gives {calculated:?}"
            );
        }
    }
    (exact, rounded)
}

/// A command with every derived node explained: whole if small, else its first row, else its first cell.
fn explained(command: &str) -> String {
    let mut explaining = attn(&format!("{command} --width 120"));
    for node in attn(command).nodes().0.iter().filter(|node| node["op"] != "given") {
        let (name, size) = (node["name"].as_str().unwrap(), |i: usize| node["shape"][i].as_u64().unwrap());
        let address = match (size(0) * size(1), size(1)) {
            (0, _) => continue,
            (..=64, _) => name.to_string(),
            (_, ..=64) => format!("{name}[1]"),
            _ => format!("{name}[1,1]"),
        };
        explaining = explaining.arg("--explain").arg(address);
    }
    explaining.ok().out
}

#[test]
fn in_every_demo_each_line_with_an_equals_sign_gives_the_next() {
    let (mut exact, mut rounded) = (0, 0);
    for demo in demos().step_by(one_in(5)) {
        let out = explained(&format!("demo {}", demo.name));
        let (more, roughly) = check(demo.name, &out, demo.decimals);
        if matches!(demo.source, Source::Model { .. }) {
            // A trained model has long sums of numbers with many digits.
            assert!(roughly * 4 < more, "{}: {roughly} of {more} lines are rounded", demo.name);
            continue;
        }
        exact += more;
        rounded += roughly;
    }
    assert!(exact > 10_000 / one_in(10), "{exact} lines");
    assert!(rounded * 100 < exact, "{rounded} of {exact} lines are rounded");
}

#[test]
fn so_it_is_for_attend_in_any_number_of_decimals() {
    let recipes =
        ["", "--causal --temperature 0.7", "--heads 2 --scale none", "--score cosine", "--residual"];
    for (seed, options) in recipes.iter().enumerate() {
        for places in [0, 2, 4, 8] {
            let command = format!("attend --random 4,4 --seed {seed} {options} --precision {places}");
            let (exact, rounded) = check(&command, &explained(&command), places);
            assert!(exact > 100, "{command}: {exact}");
            if (2..=4).contains(&places) {
                assert!(rounded * 8 < exact, "{command}: {rounded} of {exact}");
            }
        }
    }
}

#[test]
fn a_distance_of_small_numbers_is_no_longer_the_root_of_nothing() {
    let out = attn("demo pooling --explain moved_attention[2,1]").ok().out;
    assert!(out.contains("= √0.0002\n     = 0.014"), "{out}");
    assert!(!out.contains("√0.000\n"), "{out}");
    // A name is not broken in its middle.
    let narrow = attn("demo pooling --explain moved_attention[2,1] --width 80").ok().out;
    assert!(narrow.contains("first_attention[1,1])·\n         (w_attention[2,1]"), "{narrow}");
}

#[test]
fn what_the_sign_means_is_said_once() {
    let out = attn("attend --random 4,4 --seed 1 --precision 8 --explain S --explain A").ok().out;
    assert!(out.matches('≈').count() > 2, "{out}");
    assert_eq!(out.matches("≈: rounded").count(), 1, "{out}");
    let latex = attn("attend --random 4,4 --seed 1 --precision 8 --explain S --format latex").ok().out;
    assert!(latex.contains("&\\approx "), "{latex}");
}

#[test]
fn a_line_that_does_not_follow_would_be_found() {
    let one = |above: &str, below: &str| {
        let shown = Reader::line(below);
        is_shown(&Reader::line(above).one_step(), &shown, half_of_last(below, 4))
    };
    assert!(one("0.88163·3", "2.6449") && !one("0.8816·3", "2.6449"));
    assert!(one("exp(−1.5) / (2 − 0.5)", "0.2231 / 1.5") && !one("exp(−1.5)", "0.2232"));
    assert!(one("√(0.5·0.5 + (−1))", "√(0.25 + (−1))") && !one("1 + 2 + 3", "7"));
}
