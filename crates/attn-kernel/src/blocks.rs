//! Keys are taken block by block.

use std::ops::Range;

/// Keys in a block. It is part of the result's definition (sums are taken block by block), not of the machine.
pub const BLOCK: usize = 128;

/// Two ranges of keys cut into blocks. Blocks begin at multiples of [`BLOCK`], whatever the first key is. Where the second
/// range begins in a block that the first reaches, or before, that is one block, with the keys between them in it.
#[inline(always)]
pub(crate) fn blocks([first, second]: [Range<usize>; 2]) -> impl Iterator<Item = Range<usize>> {
    let is_shared =
        !first.is_empty() && !second.is_empty() && (first.end - 1) / BLOCK >= second.start / BLOCK;
    let (first, second) = if is_shared {
        (0..0, first.start.min(second.start)..first.end.max(second.end))
    } else {
        (first, second)
    };
    blocks_of(first).chain(blocks_of(second))
}

/// One range cut into blocks.
#[inline(always)]
fn blocks_of(keys: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let first = keys.start / BLOCK;
    let end = if keys.is_empty() { first } else { keys.end.div_ceil(BLOCK) };
    (first..end).map(move |block| (block * BLOCK).max(keys.start)..((block + 1) * BLOCK).min(keys.end))
}
