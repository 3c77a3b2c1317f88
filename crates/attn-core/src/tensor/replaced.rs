//! A tensor with some other numbers.

use super::{Element, Tensor, in_type};
use crate::error::{Error, Result};
use crate::kernel::Layout;
use crate::memory;

impl Tensor {
    /// These numbers in their own type `T`, in memory, with others in some cells: row and column from 0, and the number, which is
    /// rounded to the type. The last one for a cell counts.
    ///
    /// # Errors
    /// If they are of another type or cannot be read, there is no such cell, a finite number is beyond the type, or there is no room
    /// for a copy.
    pub fn replaced<T: Element>(&self, cells: &[(usize, usize, f64)]) -> Result<Tensor> {
        let here = self.in_memory()?;
        let Layout { rows, columns, heads, head_stride, row_stride, column_stride } = self.layout();
        let own = here.slice::<T>().ok_or_else(|| Error::new("these numbers have another type"))?;
        let mut values: Vec<T> = memory::reserved(own.len())?;
        values.extend_from_slice(own);
        let mut is_inexact = self.is_inexact();
        for &(i, j, x) in cells {
            if i >= rows || j >= heads * columns {
                return Err(Error::new(format!(
                    "there is no cell [{},{}] in a tensor of {}",
                    i + 1,
                    j + 1,
                    self.shape()
                )));
            }
            let value: T = in_type(x)?;
            is_inexact |= value.exactly() != x;
            values[j / columns * head_stride + i * row_stride + j % columns * column_stride] = value;
        }
        let replaced =
            Tensor::new(values, self.layout())?.with_stack(self.is_stack()).with_inexact(is_inexact);
        Ok(replaced.labelled(self.row_labels().cloned(), self.col_labels().cloned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_is_replaced_and_the_others_keep_their_bits() {
        let heads =
            Tensor::new(vec![1.0_f32, 2.0, 3.0, 4.0], Layout::stacked(2, 1, 2)).unwrap().with_stack(true);
        let other = heads.replaced::<f32>(&[(0, 2, 7.0), (0, 2, 0.1)]).unwrap();
        let third = f64::from(0.1_f32);
        assert_eq!(other.cells().collect::<Vec<_>>(), [1.0, 2.0, third, 4.0]);
        assert_eq!(heads.at(0, 2), 3.0, "clones do not share it");
        assert!(other.is_inexact() && other.dims() == heads.dims());
        assert!(
            heads.replaced::<f32>(&[(1, 0, 1.0)]).is_err() && heads.replaced::<f32>(&[(0, 4, 1.0)]).is_err()
        );
        assert!(heads.replaced::<f32>(&[(0, 0, 1e300)]).is_err() && heads.replaced::<f64>(&[]).is_err());
    }
}
