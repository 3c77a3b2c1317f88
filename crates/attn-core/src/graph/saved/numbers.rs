//! The numbers of a node of a file.

use half::{bf16, f16};
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::kernel::Layout;
use crate::matrix::{Matrix, Shape};
use crate::tensor::{Element, Tensor, in_type};
use crate::text::{clip, counted};
use crate::{json_number, memory};

/// Rows of numbers in this type; without a type they are a matrix of the exact path.
///
/// # Errors
/// If they do not fill the shape, one of them is no number or beyond the type, there is no such type, or no room for them.
pub(super) fn tensor(values: &Value, shape: Shape, dtype: Option<&str>) -> Result<Tensor> {
    let rows = rows(values, shape)?;
    match dtype {
        None => {
            let cells = cells::<f64>(&rows, shape)?;
            Ok(Matrix::from_row_major(shape.rows, shape.cols, &cells)?.into())
        }
        Some("f32") => typed::<f32>(&rows, shape),
        Some("f64") => typed::<f64>(&rows, shape),
        Some("f16") => typed::<f16>(&rows, shape),
        Some("bf16") => typed::<bf16>(&rows, shape),
        Some("bool") => typed::<bool>(&rows, shape),
        Some(other) => Err(Error::new(format!("there is no type `{}`", clip(other)))
            .help("the types are f32, f64, f16, bf16 and bool")),
    }
}

/// The rows, each as long as the shape says. Only what the file really has is counted, so that a shape allocates nothing.
fn rows(values: &Value, shape: Shape) -> Result<Vec<&[Value]>> {
    let misfit = |what: String| Err(Error::new(what).of_kind(ErrorKind::Shape));
    let Some(rows) = values.as_array() else {
        return Err(Error::new("`values` is no list of rows"));
    };
    if rows.len() != shape.rows {
        return misfit(format!("its shape is {shape}, but its values have {}", counted(rows.len(), "row")));
    }
    let mut found = Vec::with_capacity(rows.len());
    for (i, row) in rows.iter().enumerate() {
        match row.as_array() {
            Some(row) if row.len() == shape.cols => found.push(row.as_slice()),
            Some(row) => {
                let count = counted(row.len(), "number");
                return misfit(format!("its shape is {shape}, but row {} of its values has {count}", i + 1));
            }
            None => return Err(Error::new(format!("row {} of its values is no list", i + 1))),
        }
    }
    Ok(found)
}

fn typed<T: Element>(rows: &[&[Value]], shape: Shape) -> Result<Tensor> {
    Tensor::new(cells::<T>(rows, shape)?, Layout::stacked(1, shape.rows, shape.cols))
}

/// All numbers, row by row.
fn cells<T: Element>(rows: &[&[Value]], shape: Shape) -> Result<Vec<T>> {
    let mut cells: Vec<T> = memory::reserved(shape.rows.saturating_mul(shape.cols))?;
    for (i, row) in rows.iter().enumerate() {
        for (j, cell) in row.iter().enumerate() {
            let place = || format!("row {}, column {}", i + 1, j + 1);
            let Some(x) = json_number::number(cell) else {
                return Err(Error::new(format!(
                    "{} of its values is {}, which is no number",
                    place(),
                    clip(&cell.to_string())
                ))
                .help("write a number, or one of \"inf\", \"-inf\", \"nan\""));
            };
            cells.push(in_type(x).map_err(|error| error.in_source(place()))?);
        }
    }
    Ok(cells)
}
