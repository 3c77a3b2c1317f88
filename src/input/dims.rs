//! Dimensions of arrays, checked before anything is reserved for them.

use crate::error::{Error, Result};

/// The most cells of one array: a gibibyte of `f64`.
pub(super) const MOST_CELLS: usize = crate::graph::MAX_CELLS;

/// The help for a matrix that is too large for the exact path.
pub(super) fn smaller() -> String {
    "save a part of it; attn attend --fast reads larger Q, K, V, masks and biases".to_string()
}

/// The number of cells that dimensions span, at least one and at most `most`.
///
/// # Errors
/// If there are none, or too many.
pub(super) fn checked_cells(dims: &[usize], most: usize) -> Result<usize> {
    let cells = dims.iter().try_fold(1usize, |product, &side| product.checked_mul(side));
    match cells {
        Some(0) => Err(Error::new(format!("there are no numbers: the shape is {}", shape_text(dims)))),
        Some(cells) if cells <= most => Ok(cells),
        _ if most == usize::MAX => {
            Err(Error::new(format!("the shape {} has more numbers than any memory holds", shape_text(dims)))
                .help("the header is wrong: save the array again"))
        }
        _ => Err(Error::new(format!("the shape {} has more than {most} numbers", shape_text(dims)))
            .help(smaller())),
    }
}

/// `(2, 3, 4)`, as NumPy writes a shape; short whatever the number of dimensions.
pub(super) fn shape_text(dims: &[usize]) -> String {
    let shown: Vec<String> = dims.iter().take(6).map(usize::to_string).collect();
    match dims.len() {
        1 => format!("({},)", shown.concat()),
        0..=6 => format!("({})", shown.join(", ")),
        more => format!("({}, … {more} dimensions)", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_checked_before_anything_is_reserved() {
        assert!(checked_cells(&[1 << 62, 1 << 62], usize::MAX).is_err());
        assert!(checked_cells(&[1 << 40], MOST_CELLS).is_err());
        assert!(checked_cells(&[3, 0], MOST_CELLS).is_err());
        assert_eq!(checked_cells(&[], MOST_CELLS).unwrap(), 1);
    }
}
