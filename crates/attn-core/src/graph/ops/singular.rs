//! Singular values and vectors: checked, not derived.

use super::definition::*;
use crate::attention::singular_values;
use crate::graph::Side;

const CHECKED: WayBack =
    WayBack::Refused("singular values and vectors are checked, not derived: no step of attention reads them");

/// Singular vectors of a, one a column: the first `rank` of them.
pub fn vectors<R: Request, A: Ask<R>>(op: A, side: Side, rank: usize) -> A {
    let name = if side == Side::Left { "left" } else { "right" };
    op.rule(|of: &R| {
        of.recorded(|| format!("of the first {rank} {name} singular vectors; W = U Σ Vᵀ is checked"))
    })
    .value(|inputs| {
        let of_side = singular_values(inputs[0]).map(|all| match side {
            Side::Left => all.left.with_row_labels(rows_of(inputs[0])),
            Side::Right => all.right.with_row_labels(cols_of(inputs[0])),
        });
        Some(of_side.and_then(|vectors| Op::Columns { start: 0, count: rank }.apply(&[&vectors])))
    })
    .shape(|inputs| {
        let Shape { rows, cols } = inputs[0];
        let height = if side == Side::Left { rows } else { cols };
        (rank <= rows.min(cols)).then_some(Shape { rows: height, cols: rank }).ok_or(None)
    })
    .equation(|w| format!("first {rank} {name} singular vectors of {}", w.input(0)))
    .way_back(|_| CHECKED)
}

/// All singular values of a, as one row.
pub fn values<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| of.recorded(|| "a singular value; W = U Σ Vᵀ is checked".into()))
        .value(|inputs| Some(singular_values(inputs[0]).map(|all| all.values)))
        .shape(|inputs| Ok(Shape { rows: 1, cols: inputs[0].rows.min(inputs[0].cols) }))
        .written("singular values of {a}")
        .way_back(|_| CHECKED)
}
