//! What the digits shown allow: how far from the exact number an answer may lie that is computed from rounded operands.
//!
//! A student sees `0.59` and `0.41`, and multiplies these. So each operand is taken as an interval, of everything that is
//! shown like it, and the term of the cell is evaluated over the intervals. A whole number is shown as it is.

use serde_json::Value;

use crate::elementary::pow;
use crate::error::{Error, Result};

/// A cell as `--explain CELL --format json` explains it: its term, and the cells that it is computed from.
pub(super) struct ShownOperands<'a> {
    cell: &'a Value,
}

/// The smallest and the largest number that something can be.
type Interval = (f64, f64);

impl<'a> ShownOperands<'a> {
    /// Reads the explanation of one cell.
    ///
    /// # Errors
    /// If it is none.
    pub fn of(explanation: &'a Value) -> Result<ShownOperands<'a>> {
        let cell = &explanation["explanations"][0];
        if !cell["term"].is_object() {
            return Err(Error::new("it is not computed from other numbers"));
        }
        Ok(ShownOperands { cell })
    }

    /// The nodes of its operands, each once.
    pub fn operands(&self) -> Vec<&'a str> {
        let mut nodes: Vec<&str> = self.cells().filter_map(|cell| cell["node"].as_str()).collect();
        nodes.dedup();
        nodes
    }

    /// How far from its number one can end who computes with its operands at this many decimals.
    ///
    /// # Errors
    /// If it is not made of sums, differences and products of cells and numbers.
    pub fn slack(&self, decimals: usize) -> Result<f64> {
        let value = number(&self.cell["value"]);
        let (least, most) = self.interval(&self.cell["term"], decimals).ok_or_else(|| {
            Error::new("it is more than sums and products of cells")
                .help("leave out “from … decimals”, and write the tolerance that its rounded operands need")
        })?;
        Ok((value - least).max(most - value))
    }

    fn cells(&self) -> impl Iterator<Item = &'a Value> {
        self.cell["operands"].as_array().into_iter().flatten()
    }

    fn interval(&self, term: &Value, decimals: usize) -> Option<Interval> {
        let parts = |name: &str| -> Option<Vec<Interval>> {
            term[name].as_array()?.iter().map(|part| self.interval(part, decimals)).collect()
        };
        if let Some(address) = term["cell"].as_str() {
            let cell = self.cells().find(|cell| cell["address"] == address)?;
            return Some(shown_alike(number(&cell["value"]), decimals));
        }
        if !term["number"].is_null() {
            let number = number(&term["number"]);
            return Some((number, number));
        }
        if let Some(terms) = parts("sum") {
            return Some(terms.into_iter().fold((0.0, 0.0), |sum, term| (sum.0 + term.0, sum.1 + term.1)));
        }
        if let Some(terms) = parts("product") {
            return Some(terms.into_iter().fold((1.0, 1.0), product));
        }
        match parts("difference")?[..] {
            [from, of] => Some((from.0 - of.1, from.1 - of.0)),
            _ => None,
        }
    }
}

/// Everything that is shown like this number.
fn shown_alike(number: f64, decimals: usize) -> Interval {
    if number.fract() == 0.0 || !number.is_finite() {
        return (number, number);
    }
    let shown: f64 = format!("{number:.decimals$}").parse().unwrap_or(number);
    let half = pow(10.0, -(decimals as f64)) / 2.0;
    (shown - half, shown + half)
}

fn product(left: Interval, right: Interval) -> Interval {
    let corners = [left.0 * right.0, left.0 * right.1, left.1 * right.0, left.1 * right.1];
    (corners.into_iter().fold(f64::INFINITY, f64::min), corners.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn cell(term: Value) -> Value {
        let operand =
            |address: &str, value: f64| json!({"address": address, "node": &address[..1], "value": value});
        let operands = [
            operand("A[1,1]", 0.594),
            operand("A[1,2]", 0.406),
            operand("V[1,1]", 3.0),
            operand("V[2,1]", -1.2),
        ];
        json!({"explanations": [{"value": 0.594 * 3.0 + 0.406 * -1.2, "term": term, "operands": operands}]})
    }

    fn mixture() -> Value {
        let product = |a: &str, v: &str| json!({"product": [{"cell": a}, {"cell": v}]});
        cell(json!({"sum": [product("A[1,1]", "V[1,1]"), product("A[1,2]", "V[2,1]")]}))
    }

    #[test]
    fn each_operand_may_be_whatever_is_shown_like_it() {
        // By hand: 0.585…0.595 times 3, and 0.405…0.415 times −1.205…−1.195; the exact number is 1.2948.
        let mixture = mixture();
        let most: f64 = 0.595 * 3.0 - 0.405 * 1.195;
        let least: f64 = 0.585 * 3.0 - 0.415 * 1.205;
        let slack = ShownOperands::of(&mixture).unwrap().slack(2).unwrap();
        assert!((slack - (1.2948 - least).max(most - 1.2948)).abs() < 1e-12, "{slack}");
        assert_eq!(ShownOperands::of(&mixture).unwrap().operands(), ["A", "V"]);
    }

    #[test]
    fn more_digits_allow_less_and_whole_numbers_nothing() {
        let mixture = mixture();
        let at = |decimals| ShownOperands::of(&mixture).unwrap().slack(decimals).unwrap();
        assert!(at(1) > at(2) && at(2) > at(3));
        let whole = cell(json!({"difference": [{"cell": "V[1,1]"}, {"number": 1.7052}]}));
        assert!(ShownOperands::of(&whole).unwrap().slack(0).unwrap() < 1e-12);
    }

    #[test]
    fn what_is_more_than_sums_and_products_is_refused() {
        let power = cell(json!({"power": {"base": "e", "exponent": {"cell": "A[1,1]"}}}));
        assert!(ShownOperands::of(&power).unwrap().slack(2).is_err());
        assert!(ShownOperands::of(&json!({"nodes": []})).is_err());
    }
}
