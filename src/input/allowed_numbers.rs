//! Which numbers may stand where.

use crate::error::{Error, Result};

/// The non-finite numbers that are allowed at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllowedNumbers {
    /// ∞ and −∞, as in a mask or in scores.
    pub infinite: bool,
    /// NaN, as in a result to be compared.
    pub nan: bool,
}

impl AllowedNumbers {
    /// Finite numbers alone: what is computed with.
    pub const FINITE: AllowedNumbers = AllowedNumbers { infinite: false, nan: false };
    /// Also ±∞: masks, biases and scores.
    pub const INFINITE: AllowedNumbers = AllowedNumbers { infinite: true, nan: false };
    /// Everything: results that may themselves show a mistake.
    pub const ANYTHING: AllowedNumbers = AllowedNumbers { infinite: true, nan: true };

    /// Checks that `value` is allowed here.
    ///
    /// # Errors
    /// If it is not; the error has no place yet.
    pub fn check(self, value: f64) -> Result<()> {
        if value.is_nan() && !self.nan {
            return Err(Error::new("this is NaN, not a number")
                .help("replace it; to hide a pair of tokens write -inf in a mask"));
        }
        if value.is_infinite() && !self.infinite {
            let written = if value > 0.0 { "inf" } else { "-inf" };
            return Err(Error::new(format!("`{written}` is not a finite number"))
                .help("write a finite number; only masks, biases and scores may be infinite"));
        }
        Ok(())
    }
}
