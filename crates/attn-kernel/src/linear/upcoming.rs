//! The weights of the next block, prefetched while this one is multiplied: reading memory then takes no time of its own.

use std::ops::Range;

use super::problem::{Linear, WeightOrder};
use crate::prefetch::{self, LINE};

/// The cache lines of a block of weights that have not been prefetched yet.
pub(super) struct UpcomingWeights<W> {
    row: *const W,
    stride: usize,
    rows_left: usize,
    lines_per_row: usize,
    line: usize,
    /// The lines that are prefetched at a time, so that the last ones come with the last tile.
    at_a_time: usize,
}

impl<W: Copy> UpcomingWeights<W> {
    /// The weights of these inputs for these outputs, to be prefetched `times` times some.
    #[inline(always)]
    pub fn new(
        linear: &Linear<'_, W>,
        inputs: Range<usize>,
        outputs: Range<usize>,
        times: usize,
    ) -> UpcomingWeights<W> {
        let (rows, columns) = match linear.order {
            WeightOrder::OutIn => (outputs, inputs),
            WeightOrder::InOut => (inputs, outputs),
        };
        let lines_per_row = (columns.len() * size_of::<W>()).div_ceil(LINE);
        let stride = linear.weights.stride();
        UpcomingWeights {
            row: linear.weights.start().wrapping_add(rows.start * stride + columns.start),
            stride,
            rows_left: if lines_per_row == 0 { 0 } else { rows.len() },
            lines_per_row,
            line: 0,
            at_a_time: (rows.len() * lines_per_row).div_ceil(times.max(1)),
        }
    }

    /// Prefetches some more of them.
    #[inline(always)]
    pub fn prefetch_some(&mut self) {
        for _ in 0..self.at_a_time {
            if self.rows_left == 0 {
                return;
            }
            prefetch::far(self.row.wrapping_add(self.line * (LINE / size_of::<W>())));
            self.line += 1;
            if self.line == self.lines_per_row {
                self.line = 0;
                self.rows_left -= 1;
                self.row = self.row.wrapping_add(self.stride);
            }
        }
    }
}
