//! A cell for each pair of a query and a key, as masks and biases have them: read where they lie.

use crate::error::Result;
use crate::kernel::{Heads, Layout};
use crate::matrix::Shape;

/// (T, N) cells, the same for every head.
#[derive(Clone, Copy, Debug)]
pub struct Pairs<'a, T> {
    cells: &'a [T],
    layout: Layout,
}

/// The cells of a mask matrix.
#[derive(Clone, Copy, Debug)]
pub enum MaskCells<'a, T> {
    /// For [`super::MatrixRule::Allow`] and [`super::MatrixRule::Block`].
    Truth(Pairs<'a, bool>),
    /// For [`super::MatrixRule::Add`].
    Added(Pairs<'a, T>),
}

impl<'a, T: Copy> Pairs<'a, T> {
    /// The first head of `cells`, read through `layout`.
    ///
    /// # Errors
    /// If the layout reaches past the cells.
    pub fn new(cells: &'a [T], layout: Layout) -> Result<Pairs<'a, T>> {
        let layout = Layout { heads: 1, ..layout };
        Heads::new("a matrix beside the scores", cells, layout)?;
        Ok(Pairs { cells, layout })
    }

    /// Rows times columns.
    pub fn shape(&self) -> Shape {
        Shape { rows: self.layout.rows, cols: self.layout.columns }
    }

    /// The cell of query i and key j.
    pub(super) fn at(&self, i: usize, j: usize) -> T {
        self.cells[i * self.layout.row_stride + j * self.layout.column_stride]
    }

    /// The cells as they are stored in memory, and the layout that reads them as the cells of this many heads.
    pub(super) fn for_heads(&self, heads: usize) -> (&'a [T], Layout) {
        (self.cells, Layout { heads, head_stride: 0, ..self.layout })
    }
}

impl<T: Copy> MaskCells<'_, T> {
    /// Rows times columns.
    pub fn shape(&self) -> Shape {
        match self {
            MaskCells::Truth(cells) => cells.shape(),
            MaskCells::Added(cells) => cells.shape(),
        }
    }
}
