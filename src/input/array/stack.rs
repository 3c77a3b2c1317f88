//! Arrays as matrices: one, or one for each head.

use crate::attention::concatenate;
use crate::error::{Error, Result};
use crate::graph::Role;
use crate::kernel::Layout;
use crate::matrix::Matrix;
use crate::tensor::{Element, Tensor};
use crate::text::counted;

use super::Array;
use crate::input::dims::shape_text;

impl<T: Element> Array<T> {
    /// The number of heads, and the rows and columns of each: (H, T, d) or (1, H, T, d) is a stack of H, anything less is one.
    ///
    /// # Errors
    /// If it has four dimensions and the first is not 1, or more than four.
    fn heads(&self) -> Result<(usize, usize, usize)> {
        match self.dims[..] {
            [cols] => Ok((1, 1, cols)),
            [rows, cols] => Ok((1, rows, cols)),
            [heads, rows, cols] | [1, heads, rows, cols] => Ok((heads, rows, cols)),
            [batch, _, _, _] => Err(Error::new(format!(
                "this is a batch of {batch} sequences, shape {}, but one sequence is needed",
                shape_text(&self.dims)
            ))
            .help("save one sequence of the batch: (H, T, d) or (1, H, T, d)")),
            _ => Err(Error::new(format!(
                "this array has {}: its shape is {}",
                counted(self.dims.len(), "dimension"),
                shape_text(&self.dims)
            ))
            .help("a matrix has two, a stack of heads three: (H, T, d)")),
        }
    }

    /// Checks that this is one matrix, or, where the role has heads, a stack of them.
    ///
    /// # Errors
    /// As [`Array::into_matrix`] and [`Array::into_heads`].
    pub(in crate::input) fn check_heads(&self, role: Role) -> Result<()> {
        match self.heads()?.0 {
            several @ 2.. if role.is_beside_scores() => Err(Error::new(format!(
                "this has a matrix for each of {several} heads, shape {}, but here all heads share one",
                shape_text(&self.dims)
            ))
            .help("give one (T, N) matrix, or compute each head by itself with its own")),
            several @ 2.. if !role.has_heads() => Err(self.stack_where_a_matrix_belongs(several)),
            _ => Ok(()),
        }
    }

    /// The numbers of a role as the kernel reads them: the values stay where they are.
    ///
    /// # Errors
    /// As [`Array::into_heads`], and if heads are stacked where one matrix belongs.
    pub(in crate::input) fn into_typed(self, role: Role) -> Result<Tensor> {
        self.check_heads(role)?;
        let (heads, rows, columns) = self.heads()?;
        let layout = if self.fortran {
            Layout { heads, rows, columns, head_stride: 1, row_stride: heads, column_stride: heads * rows }
        } else {
            Layout::stacked(heads, rows, columns)
        };
        let tensor = Tensor::new(self.values, layout)?.with_inexact(self.inexact);
        Ok(tensor.with_stack(self.dims.len() > 2).labelled(self.row_labels, self.col_labels))
    }

    fn stack_where_a_matrix_belongs(&self, heads: usize) -> Error {
        let shape = shape_text(&self.dims);
        Error::new(format!("this is a stack of {heads} heads of shape {shape}, but one matrix is needed"))
            .help("give one (T, d) matrix; only Q, K and V may be stacks of heads")
    }
}

impl Array {
    /// The numbers of a role as the exact path computes with them: a matrix, of a stack the heads side by side. The truth values
    /// of a mask stay what they are.
    ///
    /// # Errors
    /// As [`Array::into_typed`].
    pub(in crate::input) fn into_exact(self, role: Role) -> Result<Tensor> {
        self.check_heads(role)?;
        if role == Role::Mask && self.boolean {
            return self.in_type::<bool>(role.name())?.into_typed(role);
        }
        let (heads, stack, inexact) = (self.heads()?.0, self.dims.len() > 2, self.inexact);
        let matrix = match heads {
            1 => self.into_matrix()?,
            _ => concatenate(&self.into_heads()?.iter().collect::<Vec<_>>())?,
        };
        Ok(Tensor::side_by_side(matrix, heads).with_stack(stack).with_inexact(inexact))
    }

    /// The array as one matrix; a one-dimensional one is a single row, a stack of one head is that head.
    ///
    /// # Errors
    /// If it is a stack of several heads, or has more dimensions than that.
    pub fn into_matrix(self) -> Result<Matrix> {
        let (several, rows, cols) = self.heads()?;
        if several > 1 {
            return Err(self.stack_where_a_matrix_belongs(several));
        }
        let matrix = Matrix::from_row_major(rows, cols, &self.values)?;
        Ok(matrix.with_row_labels(self.row_labels).with_col_labels(self.col_labels))
    }

    /// The array as one matrix per head: (H, T, d) or (1, H, T, d) gives H matrices, a plain matrix one.
    ///
    /// # Errors
    /// If it has four dimensions and the first is not 1, or more than four.
    pub fn into_heads(self) -> Result<Vec<Matrix>> {
        let (heads, rows, cols) = self.heads()?;
        let labelled = |matrix: Matrix| {
            matrix.with_row_labels(self.row_labels.clone()).with_col_labels(self.col_labels.clone())
        };
        // All sides are at least 1: `checked_cells` refuses an empty array.
        self.values
            .chunks_exact(rows * cols)
            .take(heads)
            .map(|head| Matrix::from_row_major(rows, cols, head).map(labelled))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(dims: &[usize]) -> Array {
        let cells = dims.iter().product();
        Array::new(dims.to_vec(), (0..cells).map(|i| i as f64).collect()).unwrap()
    }

    #[test]
    fn one_dimension_is_one_row() {
        let matrix = counting(&[3]).into_matrix().unwrap();
        assert!(matrix.same_bits(&Matrix::of([[0.0, 1.0, 2.0]])));
    }

    #[test]
    fn a_stack_becomes_one_matrix_a_head() {
        for dims in [&[2, 2, 3][..], &[1, 2, 2, 3]] {
            let heads = counting(dims).into_heads().unwrap();
            assert_eq!(heads.len(), 2);
            assert!(heads[1].same_bits(&Matrix::of([[6.0, 7.0, 8.0], [9.0, 10.0, 11.0]])));
        }
    }

    #[test]
    fn a_stack_where_a_matrix_belongs_says_so() {
        let said = counting(&[2, 2, 3]).into_matrix().unwrap_err().to_string();
        assert!(said.contains("a stack of 2 heads of shape (2, 2, 3)"), "{said}");
        assert!(counting(&[1, 1, 2, 3]).into_matrix().is_ok());
    }

    #[test]
    fn a_batch_and_a_fifth_dimension_are_refused() {
        let said = counting(&[2, 2, 2, 3]).into_heads().unwrap_err().to_string();
        assert!(said.starts_with("this is a batch of 2"), "{said}");
        assert!(counting(&[1, 1, 1, 2, 3]).into_heads().is_err());
    }
}
