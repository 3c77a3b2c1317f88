//! Tensors whose numbers are in a file, and reading them.

use std::borrow::Cow;
use std::ops::Range;

use super::shared::read_from;
use super::{Dtype, Element, StoredNumbers, Tensor, Values};
use crate::error::{Error, Result};
use crate::kernel::Layout;
use crate::matrix::Matrix;
use crate::text::counted;

impl Tensor {
    /// Numbers in a file: (rows, columns), or (heads, rows, columns), the last dimension running fastest. One dimension is a row.
    ///
    /// # Errors
    /// If there are more dimensions, or as many numbers are not there.
    pub fn stored(stored: StoredNumbers, dims: &[usize]) -> Result<Tensor> {
        let (heads, rows, columns) = match *dims {
            [columns] => (1, 1, columns),
            [rows, columns] => (1, rows, columns),
            [heads, rows, columns] => (heads, rows, columns),
            _ => {
                let many = counted(dims.len(), "dimension");
                return Err(Error::new(format!(
                    "a tensor with {many} is neither a matrix nor a stack of them"
                )));
            }
        };
        let cells = heads.checked_mul(rows).and_then(|cells| cells.checked_mul(columns));
        if cells != Some(stored.count()) {
            let count = counted(stored.count(), "number");
            return Err(Error::new(format!("{count} cannot fill {dims:?}")));
        }
        let tensor = Tensor::of(Values::Stored(stored), Layout::stacked(heads, rows, columns));
        Ok(tensor.with_stack(dims.len() > 2))
    }

    /// These numbers, read into memory.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn loaded(mut self) -> Result<Tensor> {
        if let Values::Stored(stored) = &self.values {
            self.values = in_memory(stored, 0..stored.count())?;
        }
        Ok(self)
    }

    /// These numbers where they are, or read into memory if they are in a file.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn in_memory(&self) -> Result<Cow<'_, Tensor>> {
        if self.is_stored() { self.clone().loaded().map(Cow::Owned) } else { Ok(Cow::Borrowed(self)) }
    }

    /// Neighbouring rows of one matrix, in memory; of numbers in a file only these are read.
    ///
    /// # Errors
    /// If it is a stack of several heads, there are no such rows, or they cannot be read.
    pub fn rows(&self, rows: Range<usize>) -> Result<Tensor> {
        let Layout { heads, columns, row_stride, .. } = self.layout;
        if heads != 1 || rows.end > self.layout.rows || rows.start > rows.end {
            let (start, end, shape) = (rows.start, rows.end, self.shape());
            return Err(Error::new(format!("there are no rows {start}..{end} in a tensor of {shape}")));
        }
        let layout = Layout::stacked(1, rows.len(), columns);
        let labels = self.row_labels().map(|labels| labels[rows.clone()].iter().cloned().collect());
        let part = match &self.values {
            Values::Stored(stored) => {
                Tensor::of(in_memory(stored, rows.start * row_stride..rows.end * row_stride)?, layout)
            }
            _ => Tensor::from(Matrix::from_fn(rows.len(), columns, |i, j| self.at(rows.start + i, j))),
        };
        Ok(part.with_inexact(self.inexact).labelled(labels, self.col_labels().cloned()))
    }
}

/// Some of the numbers in a file, by their places.
fn in_memory(stored: &StoredNumbers, places: Range<usize>) -> Result<Values> {
    fn read<T: Element>(stored: &StoredNumbers, places: Range<usize>) -> Result<Values> {
        let read = |bits: &mut [T::Bits]| stored.read(places.clone(), bits);
        Ok(T::held(read_from(stored.name(), places.len(), T::of_bits, read)?))
    }
    match stored.dtype() {
        Dtype::F32 => read::<f32>(stored, places),
        Dtype::F64 => read::<f64>(stored, places),
        Dtype::F16 => read::<half::f16>(stored, places),
        Dtype::Bf16 => read::<half::bf16>(stored, places),
        Dtype::Bool => read::<bool>(stored, places),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::tensor::Storage;

    /// Bytes that remember which of them were read.
    #[derive(Debug)]
    struct Bytes(Vec<u8>, Mutex<Vec<Range<usize>>>);

    impl Storage for Bytes {
        fn name(&self) -> &str {
            "bytes"
        }

        fn length(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
            let place = offset as usize..offset as usize + buffer.len();
            buffer.copy_from_slice(&self.0[place.clone()]);
            self.1.lock().unwrap().push(place);
            Ok(())
        }
    }

    #[test]
    fn of_numbers_in_a_file_only_those_are_read_that_are_asked_for() {
        let numbers: Vec<u8> = (0..6).flat_map(|i| f64::from(i).to_le_bytes()).collect();
        let bytes = Arc::new(Bytes([vec![0; 3], numbers].concat(), Mutex::default()));
        let stored = StoredNumbers::new(bytes.clone(), 3, Dtype::F64, 6).unwrap();
        let tensor = Tensor::stored(stored, &[3, 2]).unwrap();
        assert!(tensor.is_stored() && bytes.1.lock().unwrap().is_empty());
        assert_eq!(tensor.rows(1..2).unwrap().cells().collect::<Vec<_>>(), [2.0, 3.0]);
        assert_eq!(*bytes.1.lock().unwrap(), vec![std::ops::Range { start: 19, end: 35 }]);
        assert_eq!(tensor.matrix().unwrap()[(2, 1)], 5.0);
        assert!(tensor.rows(2..4).is_err());
        let error = StoredNumbers::new(bytes, 4, Dtype::F64, 6).unwrap_err().to_string();
        assert!(
            error.starts_with("bytes: 6 numbers of type f64 from byte 4 on do not fit 51 bytes"),
            "{error}"
        );
    }
}
