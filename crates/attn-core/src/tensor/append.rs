//! More rows below those of a tensor, as a cache gets them token by token.

use std::sync::OnceLock;

use super::{Tensor, Values};
use crate::error::Result;
use crate::kernel::Layout;
use crate::matrix::Labels;

impl Tensor {
    /// Puts rows below those of this tensor, which then has these names. Numbers that no other tensor shares stay where they are.
    /// Returns false, and changes nothing, unless both are matrices of `f32` in rows of the same width.
    ///
    /// # Errors
    /// If there is no room for them.
    pub fn append(&mut self, rows: &Tensor, names: Option<&Labels>) -> Result<bool> {
        let (Some(more), true) = (rows.slice::<f32>(), self.is_row_by_row() && rows.is_row_by_row()) else {
            return Ok(false);
        };
        let (Values::F32(numbers), true) = (&mut self.values, self.layout.columns == rows.layout.columns)
        else {
            return Ok(false);
        };
        numbers.extend(more)?;
        self.layout = Layout::stacked(1, self.layout.rows + rows.layout.rows, self.layout.columns);
        self.row_labels = names.filter(|names| names.len() == self.layout.rows).cloned();
        self.view = OnceLock::new();
        Ok(true)
    }

    /// Returns true if it is one matrix whose numbers lie row after row, and no others with them.
    fn is_row_by_row(&self) -> bool {
        let Layout { heads, rows, columns, row_stride, column_stride, .. } = self.layout;
        heads == 1 && column_stride == 1 && row_stride == columns && self.values.count() == rows * columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{Matrix, labels};

    fn rows(values: &[f32], rows: usize) -> Tensor {
        Tensor::new(values.to_vec(), Layout::stacked(1, rows, values.len() / rows)).unwrap()
    }

    #[test]
    fn rows_come_below_and_a_tensor_that_shares_the_numbers_keeps_its_own() {
        let mut cache = rows(&[1.0, 2.0], 1);
        let before = cache.clone();
        let names = labels(&["bat", "cave"]);
        assert!(cache.append(&rows(&[3.0, 4.0], 1), Some(&names)).unwrap());
        assert_eq!(cache.cells().collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(cache.row_labels(), Some(&names));
        assert_eq!(before.cells().collect::<Vec<_>>(), [1.0, 2.0]);
    }

    #[test]
    fn other_types_and_widths_are_left_as_they_are() {
        let mut cache = rows(&[1.0, 2.0], 1);
        assert!(!cache.append(&rows(&[3.0], 1), None).unwrap());
        assert!(!cache.append(&Tensor::from(Matrix::identity(2)), None).unwrap());
        assert_eq!(cache.cells().collect::<Vec<_>>(), [1.0, 2.0]);
        let mut exact = Tensor::from(Matrix::identity(2));
        assert!(!exact.append(&rows(&[3.0, 4.0], 1), None).unwrap());
    }
}
