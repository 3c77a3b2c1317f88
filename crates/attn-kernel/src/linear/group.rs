//! A task: a group of outputs, for some rows of the input.

use std::ops::Range;

use super::pack::{PanelRow, pack, widened};
use super::problem::Linear;
use super::tile::Step;
use super::upcoming::UpcomingWeights;
use super::weight::RegisterWeight;
use crate::output::SharedRows;
use crate::scratch::Scratch;
use crate::simd::LoadWeights;

/// The inputs of a block: a panel of them fits half of the nearest cache.
const INPUTS: usize = 256;

/// The outputs of a group: the panels of a block, and the weights of the next one, fit the second cache.
pub(super) const GROUP_OUTPUTS: usize = 128;

/// The rows that are multiplied by one panel after the other: a block of their inputs fits the second cache too.
const ROWS_TOGETHER: usize = 96;

/// Some outputs, for some rows of the input.
pub(super) struct Group<'a, W> {
    pub linear: &'a Linear<'a, W>,
    pub rows: Range<usize>,
    pub outputs: Range<usize>,
    pub output: &'a SharedRows<'a, f32>,
    /// The outputs of the group that this thread takes next, as far as that is known.
    pub next_outputs: Range<usize>,
}

/// The arguments of [`multiply_group`].
pub struct GroupTask<'a, W> {
    /// At most [`GROUP_OUTPUTS`] outputs.
    pub(super) group: Group<'a, W>,
    pub(super) scratch: Scratch<'a>,
}

/// The scratch memory of a task, in bytes.
pub(super) fn scratch_bytes<S: LoadWeights, const R: usize>() -> usize {
    Scratch::bytes_of::<PanelRow<S, R>>(INPUTS * GROUP_OUTPUTS.div_ceil(R * S::LANES))
}

/// Computes the outputs of the group.
///
/// # Safety
/// The rows and outputs exist, and no other thread reads or writes these cells meanwhile.
#[inline(always)]
pub(super) unsafe fn multiply_group<W: RegisterWeight, S: LoadWeights, const R: usize, const M: usize>(
    simd: S,
    GroupTask { group, mut scratch }: GroupTask<'_, W>,
) {
    let panels = scratch.take::<PanelRow<S, R>>(INPUTS * group.outputs.len().div_ceil(R * S::LANES));
    // SAFETY: the caller's promise.
    unsafe { group.multiply::<S, R, M>(simd, panels, INPUTS) };
}

impl<W: RegisterWeight> Group<'_, W> {
    /// Block after block of `length` inputs, for each panel after panel of R registers of outputs, for each M rows at a time.
    ///
    /// # Safety
    /// As for [`multiply_group`].
    #[inline(always)]
    pub unsafe fn multiply<S: LoadWeights, const R: usize, const M: usize>(
        &self,
        simd: S,
        panels: &mut [PanelRow<S, R>],
        length: usize,
    ) {
        let Group { linear, rows, outputs, output, .. } = self;
        let width = R * S::LANES;
        // Without inputs there is still an empty block, which writes the bias.
        for start in (0..linear.inputs().max(1)).step_by(length) {
            let inputs = start..(start + length).min(linear.inputs());
            pack::<W, S, R>(simd, linear, &inputs, outputs, panels, length);
            let tiles = rows.len().div_ceil(M) * outputs.len().div_ceil(width);
            let mut upcoming = self.after(&inputs, length, tiles);
            let bias = linear.bias.filter(|_| inputs.end == linear.inputs());
            for start in rows.clone().step_by(ROWS_TOGETHER) {
                let rows = start..(start + ROWS_TOGETHER).min(rows.end);
                for (number, first) in outputs.clone().step_by(width).enumerate() {
                    let outputs = first..(first + width).min(outputs.end);
                    let step = Step {
                        input: linear.input,
                        rows: rows.clone(),
                        inputs: inputs.clone(),
                        panel: &panels[number * length..][..inputs.len()],
                        bias: bias.map(|bias| widened(simd, &bias[outputs.clone()])),
                        outputs,
                    };
                    // SAFETY: the caller's promise.
                    unsafe { step.multiply::<S, W, M>(simd, output, &mut upcoming) };
                }
            }
        }
    }

    /// The weights that this thread needs next.
    #[inline(always)]
    fn after(&self, inputs: &Range<usize>, length: usize, tiles: usize) -> UpcomingWeights<W> {
        let all = self.linear.inputs();
        if inputs.end < all {
            let inputs = inputs.end..(inputs.end + length).min(all);
            return UpcomingWeights::new(self.linear, inputs, self.outputs.clone(), tiles);
        }
        UpcomingWeights::new(self.linear, 0..length.min(all), self.next_outputs.clone(), tiles)
    }
}
