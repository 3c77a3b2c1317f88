//! The cells of a text, gathered one by one.

use crate::error::{Error, Result};
use crate::memory;

use super::allowed_numbers::AllowedNumbers;
use super::array::Array;
use super::dims::MOST_CELLS;
use super::number::{Number, number, truth};

/// Gathers the cells of a text, which are all numbers or all truth values.
pub(super) struct Cells {
    values: Vec<f64>,
    boolean: Option<bool>,
    decimals: usize,
    longest: Longest,
    allow: AllowedNumbers,
}

impl Cells {
    pub(super) fn new(allow: AllowedNumbers) -> Cells {
        Cells { values: Vec::new(), boolean: None, decimals: 0, longest: Longest::default(), allow }
    }

    /// Reads one more cell.
    ///
    /// # Errors
    /// If it is neither a number nor a truth value, or not of the kind of the cells before it, or not allowed.
    pub(super) fn push(&mut self, text: &str) -> Result<()> {
        let truth = truth(text);
        let value = match truth {
            Some(truth) => f64::from(u8::from(truth)),
            None => {
                let number = number(text)?;
                self.allow.check(number.value)?;
                self.decimals = self.decimals.max(number.decimals);
                self.longest.add(number);
                number.value
            }
        };
        if *self.boolean.get_or_insert(truth.is_some()) != truth.is_some() {
            return Err(Error::new("this mixes numbers with true and false")
                .help("use only numbers, or only true and false"));
        }
        if self.values.len() == MOST_CELLS {
            return Err(Error::new(format!("there are more than {MOST_CELLS} numbers")));
        }
        memory::grow(&mut self.values, 1, MOST_CELLS)?;
        self.values.push(value);
        Ok(())
    }

    /// The cells as an array.
    ///
    /// # Errors
    /// If there are none, or they do not fill the shape.
    pub(super) fn into_array(self, dims: Vec<usize>) -> Result<Array> {
        let boolean = self.boolean == Some(true);
        let decimals = (!boolean).then_some(self.decimals);
        Ok(Array::new(dims, self.values)?
            .with_boolean(boolean)
            .with_decimals(decimals)
            .with_digits(self.longest.digits()))
    }
}

/// The numbers with the most significant digits. If some of them have more decimals than others, the text has this number
/// of digits in each: `1.388e+00 7.681e-02`. If not, it has the same number of decimals in each: `1.39 0.08`.
#[derive(Default)]
struct Longest {
    digits: usize,
    least_decimals: usize,
    most_decimals: usize,
}

impl Longest {
    fn add(&mut self, Number { decimals, digits, .. }: Number) {
        if digits > self.digits {
            *self = Longest { digits, least_decimals: decimals, most_decimals: decimals };
        } else if digits == self.digits {
            self.least_decimals = self.least_decimals.min(decimals);
            self.most_decimals = self.most_decimals.max(decimals);
        }
    }

    fn digits(&self) -> Option<usize> {
        (self.least_decimals < self.most_decimals).then_some(self.digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_truth_values_do_not_mix() {
        let mut cells = Cells::new(AllowedNumbers::FINITE);
        cells.push("true").unwrap();
        assert!(cells.push("1").is_err());
    }

    #[test]
    fn numbers_have_as_many_digits_or_as_many_decimals() {
        let digits = |text: &str| {
            let mut cells = Cells::new(AllowedNumbers::FINITE);
            text.split(' ').for_each(|number| cells.push(number).unwrap());
            cells.into_array(vec![text.split(' ').count()]).unwrap().digits()
        };
        // What Python's %.4e and %.4g write.
        assert_eq!(digits("1.3882e+00 -7.6811e-02 2.0000e+00"), Some(5));
        assert_eq!(digits("1.388 -0.07681 2 12.5"), Some(4));
        // %.4f, and numbers typed by hand.
        assert_eq!(digits("1.3882 -0.0768 12.5000"), None);
        assert_eq!(digits("1 0.5 0.25 100"), None);
    }
}
