//! Numbers in memory that the clones of a tensor share.

use std::ops::Deref;
use std::sync::Arc;

use crate::error::Result;
use crate::memory;

/// The bytes of a cache line.
const LINE: usize = 64;

/// From this many bytes on, numbers that are read from a file begin with a cache line: products then never read a part of one.
const ALIGNED_FROM: usize = 1 << 16;

/// Numbers, shared by clones.
#[derive(Clone, Debug)]
pub struct Shared<T> {
    all: Arc<Vec<T>>,
    /// The place of the first number; those before it are nobody's.
    start: usize,
    count: usize,
}

impl<T> From<Vec<T>> for Shared<T> {
    fn from(numbers: Vec<T>) -> Shared<T> {
        Shared { start: 0, count: numbers.len(), all: Arc::new(numbers) }
    }
}

impl<T> Deref for Shared<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.all[self.start..self.start + self.count]
    }
}

impl<T: Copy> Shared<T> {
    /// Puts more numbers behind these, where they are if no clone shares them.
    ///
    /// # Errors
    /// If there is no room for them.
    pub(super) fn extend(&mut self, more: &[T]) -> Result<()> {
        let all = Arc::make_mut(&mut self.all);
        all.truncate(self.start + self.count);
        memory::grow(all, more.len(), usize::MAX)?;
        all.extend_from_slice(more);
        self.count += more.len();
        Ok(())
    }
}

/// `count` numbers that `read` writes, as `of_bits` makes them, from a file of this name.
///
/// # Errors
/// If there is no room for them, or `read` fails.
pub(super) fn read_from<B: bytemuck::Pod, T>(
    name: &str,
    count: usize,
    of_bits: impl FnOnce(Vec<B>) -> Vec<T>,
    read: impl FnOnce(&mut [B]) -> Result<()>,
) -> Result<Shared<T>> {
    let per_line = LINE / size_of::<B>().max(1);
    let is_large = count.saturating_mul(size_of::<B>()) >= ALIGNED_FROM;
    let room = if is_large { count.saturating_add(per_line) } else { count };
    let mut bits: Vec<B> = memory::zeros(room).map_err(|error| error.in_source(name))?;
    let start = if is_large { bits.as_ptr().align_offset(LINE).min(per_line) } else { 0 };
    read(&mut bits[start..start + count])?;
    Ok(Shared { all: Arc::new(of_bits(bits)), start, count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_numbers_from_a_file_begin_with_a_cache_line() {
        let read = |count: usize| {
            let write = |bits: &mut [f32]| {
                bits.iter_mut().enumerate().for_each(|(at, bits)| *bits = at as f32);
                Ok(())
            };
            read_from::<f32, f32>("a file", count, |bits| bits, write).unwrap()
        };
        let many = read(100_000);
        assert_eq!(many.as_ptr().addr() % LINE, 0);
        assert_eq!((many.len(), many[0], many[99_999]), (100_000, 0.0, 99_999.0));
        assert_eq!(read(3)[..], [0.0, 1.0, 2.0]);
    }

    #[test]
    fn more_numbers_come_behind_these_and_a_clone_keeps_its_own() {
        let mut numbers = Shared { all: Arc::new(vec![7, 1, 2, 8]), start: 1, count: 2 };
        let before = numbers.clone();
        numbers.extend(&[3, 4]).unwrap();
        assert_eq!((&numbers[..], &before[..]), (&[1, 2, 3, 4][..], &[1, 2][..]));
        let place = numbers.as_ptr();
        drop(before);
        numbers.extend(&[]).unwrap();
        assert_eq!(numbers.as_ptr(), place);
    }
}
