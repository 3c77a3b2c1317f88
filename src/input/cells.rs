//! The cells of a text, gathered one by one.

use crate::error::{Error, Result};
use crate::memory;

use super::allowed_numbers::AllowedNumbers;
use super::array::Array;
use super::dims::MOST_CELLS;
use super::number::{number, truth};

/// Gathers the cells of a text, which are all numbers or all truth values.
pub(super) struct Cells {
    values: Vec<f64>,
    boolean: Option<bool>,
    decimals: usize,
    allow: AllowedNumbers,
}

impl Cells {
    pub(super) fn new(allow: AllowedNumbers) -> Cells {
        Cells { values: Vec::new(), boolean: None, decimals: 0, allow }
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
        Ok(Array::new(dims, self.values)?.with_boolean(boolean).with_decimals(decimals))
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
}
