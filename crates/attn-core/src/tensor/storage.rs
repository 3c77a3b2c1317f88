//! Numbers that stay in a file until they are asked for.

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use super::dtype::Dtype;
use crate::error::{Error, Result};
use crate::text::counted;

/// Bytes that can be read from anywhere, by several readers at once.
pub trait Storage: Debug + Send + Sync {
    /// Its name in errors.
    fn name(&self) -> &str;

    /// Its length in bytes when it was opened.
    fn length(&self) -> u64;

    /// Fills the buffer with the bytes from an offset on.
    ///
    /// # Errors
    /// If they cannot be read, or fewer are left there than the buffer has room for.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()>;
}

/// Numbers in a [`Storage`], one after the other, their lowest bytes first.
#[derive(Clone, Debug)]
pub struct StoredNumbers {
    storage: Arc<dyn Storage>,
    start: u64,
    dtype: Dtype,
    count: usize,
}

/// This many bytes are read at a time: a multiple of every size.
const PIECE: usize = 1 << 16;

impl StoredNumbers {
    /// The `count` numbers of this type that begin at byte `start`.
    ///
    /// # Errors
    /// If the storage ends before they do.
    pub fn new(storage: Arc<dyn Storage>, start: u64, dtype: Dtype, count: usize) -> Result<StoredNumbers> {
        let bytes = (count as u64).checked_mul(dtype.size() as u64);
        let end = bytes.and_then(|bytes| start.checked_add(bytes));
        if end.is_none_or(|end| end > storage.length()) {
            let length = storage.length();
            return Err(Error::new(format!(
                "{} of type {} from byte {start} on do not fit {length} bytes",
                counted(count, "number"),
                dtype.name()
            ))
            .in_source(storage.name()));
        }
        Ok(StoredNumbers { storage, start, dtype, count })
    }

    /// Their type.
    pub fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The storage's name in errors.
    pub(super) fn name(&self) -> &str {
        self.storage.name()
    }

    /// Gives the bytes of some of them, by their places, to `take`, piece by piece; no number lies in two pieces.
    ///
    /// # Errors
    /// If the storage cannot be read, or has become shorter.
    pub(super) fn read(&self, places: Range<usize>, mut take: impl FnMut(&[u8])) -> Result<()> {
        let size = self.dtype.size();
        let mut piece = vec![0; PIECE.min(places.len().saturating_mul(size))];
        let mut at = places.start;
        while at < places.end {
            let count = (places.end - at).min(PIECE / size);
            let bytes = &mut piece[..count * size];
            self.storage.read_at(self.start + (at * size) as u64, bytes)?;
            take(bytes);
            at += count;
        }
        Ok(())
    }
}
