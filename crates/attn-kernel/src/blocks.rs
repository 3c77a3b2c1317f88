//! Keys are taken block by block.

use std::ops::Range;

/// Keys in a block. It is part of the result's definition (sums are taken block by block), not of the machine.
pub const BLOCK: usize = 128;

/// `keys` cut into blocks. Blocks begin at multiples of [`BLOCK`], whatever the first key is.
#[inline(always)]
pub(crate) fn blocks(keys: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let first = keys.start / BLOCK;
    let end = if keys.is_empty() { first } else { keys.end.div_ceil(BLOCK) };
    (first..end).map(move |block| (block * BLOCK).max(keys.start)..((block + 1) * BLOCK).min(keys.end))
}
