//! The properties of each instruction set beside its registers: detection, compilation, and the size of its tiles.

use super::registers::{LoadWeights, Simd};

/// An instruction set for both number types.
pub(crate) trait InstructionSet: Simd<f32> + Simd<f64> + LoadWeights {
    /// Returns true if this processor has it.
    fn is_available() -> bool;

    /// The work `W`, compiled for this set, as a function of its own.
    ///
    /// # Safety
    /// This processor has the set, and the promise of `W::run` is kept.
    unsafe fn run<W: Work<Self>>(input: W::Input<'_>) -> W::Output;

    /// Calls `then` with the tile of this width.
    fn with_tile_size<W: WithTileSize>(width: TileWidth, then: W) -> W::Output;

    /// Calls `then` with the tile of linear layers: R registers of outputs times M rows.
    fn with_panel_size<W: WithTileSize>(then: W) -> W::Output;
}

/// Something to compile for a set. `run` has to be `#[inline(always)]`: only inside [`InstructionSet::run`] may the compiler
/// use the set's instructions.
pub(crate) trait Work<S> {
    type Input<'a>;
    type Output;

    /// # Safety
    /// The result of the work.
    unsafe fn run(simd: S, input: Self::Input<'_>) -> Self::Output;
}

/// The width of a tile. Wide tiles read keys and values less often; narrow ones waste less where there are few queries or a
/// mask hides much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TileWidth {
    Narrow,
    Middle,
    Wide,
}

impl TileWidth {
    pub const ALL: [TileWidth; 3] = [TileWidth::Narrow, TileWidth::Middle, TileWidth::Wide];

    /// The time of a score relative to one in a wide tile: measured with AVX-512 while other programs used the same core,
    /// which is when loads are expensive.
    pub fn relative_cost(self) -> f64 {
        match self {
            TileWidth::Narrow => 1.2,
            TileWidth::Middle => 1.06,
            TileWidth::Wide => 1.0,
        }
    }
}

/// Something to do with the size of a tile: R registers of queries times M keys, or columns, at a time. That takes R · M sums,
/// and R + 1 registers for the factors.
pub(crate) trait WithTileSize {
    type Output;
    fn call<const R: usize, const M: usize>(self) -> Self::Output;
}
