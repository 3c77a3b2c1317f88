//! Some rows and columns of a matrix as texts with their shades, for a screen that shows a part of it.

use std::ops::Range;

use super::heat::{Shade, shades_at};
use super::heat::ShadeColours;
use super::{Charset, Theme, digits};
use crate::graph::{Graph, NodeId};
use crate::matrix::{Labels, Matrix};
use crate::story::Digits;

/// The look of a cell: hidden by a mask, or colours of the 256-colour palette.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shading {
    /// Hidden by a mask.
    pub is_masked: bool,
    /// The colours of the text and behind it, where the cell is shaded.
    pub colours: Option<(u8, u8)>,
}

/// Some rows and columns of a matrix.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WindowOfMatrix {
    /// The label of each row, or its number.
    pub rows: Vec<String>,
    /// The label of each column, or its number.
    pub cols: Vec<String>,
    /// The numbers, row by row, aligned at the point.
    pub texts: Vec<Vec<String>>,
    /// Their shades, row by row.
    pub shades: Vec<Vec<Shading>>,
}

/// The numbers of a node in these rows and columns; a question mark for each where it has none.
pub(crate) fn window_of_matrix(
    graph: &Graph,
    id: NodeId,
    (rows, cols): (Range<usize>, Range<usize>),
    decimals: usize,
    (charset, theme): (Charset, Theme),
) -> WindowOfMatrix {
    let node = &graph[id];
    let (row_labels, col_labels) = node.labels();
    let label = |labels: Option<&Labels>, at: usize| {
        let text = labels.and_then(|labels| labels.get(at)).cloned().unwrap_or_else(|| (at + 1).to_string());
        charset.spelled(&crate::foreign::visible(&text)).into_owned()
    };
    let tensor = node.tensor().filter(|tensor| !tensor.is_stored());
    let at = |i: usize, j: usize| {
        tensor.and_then(|tensor| tensor.number(rows.start + i, cols.start + j)).unwrap_or(f64::NAN)
    };
    let corner = Matrix::from_fn(rows.len(), cols.len(), at);
    let mut texts = match tensor {
        Some(_) => digits::cells(&corner, Digits::Places(decimals), charset),
        None => vec!["?".to_string(); rows.len() * cols.len()],
    }
    .into_iter();
    let places = |range: &Range<usize>| range.clone().collect::<Vec<usize>>();
    let mut shades = shades_at(graph, id, &places(&rows), &places(&cols)).into_iter();
    let mut shading = || {
        let shade = shades.next().unwrap_or_default();
        let colours = shade.look(theme).map(|ShadeColours { ink, ground, .. }| (ink, ground));
        Shading { is_masked: shade == Shade::Masked, colours }
    };
    let shades = rows.clone().map(|_| cols.clone().map(|_| shading()).collect()).collect();
    WindowOfMatrix {
        texts: rows.clone().map(|_| texts.by_ref().take(cols.len()).collect()).collect(),
        rows: rows.map(|row| label(row_labels, row)).collect(),
        cols: cols.map(|col| label(col_labels, col)).collect(),
        shades,
    }
}
