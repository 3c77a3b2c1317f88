//! The value of an expression, given the numbers of the runs.

use crate::answer::Table;
use crate::error::{Error, Result};
use crate::graph::number_text;
use crate::matrix::Matrix;

use super::written_number::at_decimals;
use super::{Cell, Cells, Comparison, Expression, Function, Order, Value, Values};

impl Expression {
    /// The value of the expression. Sums run row by row from left to right; `==` is exact, so computed numbers are compared at
    /// `round(…, n)`. −∞ is a number like others, the smallest.
    ///
    /// # Errors
    /// If a cell is missing or NaN, a function is given what it cannot use, or `argmax`, `argmin` or `rank` find a tie: two
    /// numbers that agree to a billionth of the larger, or differ by no more than rounding leaves.
    pub fn evaluate(&self, values: &dyn Values) -> Result<Value> {
        match self {
            Expression::Number(number) => Ok(Value::Number(*number)),
            Expression::Reference { run, address } => self.reference(values, run, address),
            Expression::Call(function, of) => {
                let value = match (function, of.evaluate(values)?) {
                    (Function::Round(decimals), Value::Number(number)) => {
                        Value::Number(rounded(number, *decimals))
                    }
                    (_, Value::Cells(cells)) => self.of_cells(*function, cells, values)?,
                    (_, other) => return Err(self.wants(*function, of, &other)),
                };
                match value {
                    Value::Number(number) if number.is_nan() => Err(self.is_nan()),
                    value => Ok(value),
                }
            }
            Expression::Compare(left, comparison, right) => {
                let (left, right) = (left.evaluate(values)?, right.evaluate(values)?);
                self.compared(*comparison, &left, &right).map(Value::Truth)
            }
        }
    }

    /// The value of the expression, which must be a number.
    ///
    /// # Errors
    /// Those of [`Expression::evaluate`]; and if the value is not a number.
    pub fn number(&self, values: &dyn Values) -> Result<f64> {
        let value = self.evaluate(values)?;
        value.number().ok_or_else(|| {
            Error::new(format!("`{self}` is {}, not a number", value.kind())).help(
                "name one cell, such as RUN:A[bat,cave], or make it one number with sum, min, max, len or count",
            )
        })
    }

    fn reference(&self, values: &dyn Values, run: &str, address: &str) -> Result<Value> {
        let matrix = values.matrix(run, address)?;
        if matrix.cells().any(f64::is_nan) {
            return Err(self.is_nan());
        }
        let names_cell = address.split_once('[').is_some_and(|(_, inside)| inside.contains(','));
        if names_cell && matrix.rows() == 1 && matrix.cols() == 1 {
            return Ok(Value::Number(matrix[(0, 0)]));
        }
        Ok(Value::Cells(Cells { matrix, run: run.to_string(), address: address.to_string() }))
    }

    fn of_cells(&self, function: Function, cells: Cells, values: &dyn Values) -> Result<Value> {
        let numbers = || cells.matrix.cells();
        let count = |count: usize| Value::Number(count as f64);
        Ok(match function {
            Function::Argmax => Value::Cell(self.extreme(&cells, true, values)?),
            Function::Argmin => Value::Cell(self.extreme(&cells, false, values)?),
            Function::Rank => Value::Order(self.rank(&cells)?),
            Function::Sum => Value::Number(numbers().fold(0.0, |sum, x| sum + x)),
            Function::Min => Value::Number(numbers().reduce(f64::min).ok_or_else(|| self.is_empty(&cells))?),
            Function::Max => Value::Number(numbers().reduce(f64::max).ok_or_else(|| self.is_empty(&cells))?),
            Function::Len => count(numbers().count()),
            Function::Count(comparison, number) => {
                count(numbers().filter(|&x| comparison.holds(x, number)).count())
            }
            Function::Round(decimals) => {
                let matrix = cells.matrix.map(|x| rounded(x, decimals));
                Value::Cells(Cells { matrix, ..cells })
            }
        })
    }

    /// The largest cell, or the smallest, in the coordinates of its node also where one row is searched.
    fn extreme(&self, cells: &Cells, is_max: bool, values: &dyn Values) -> Result<Cell> {
        let (node, row) = match cells.address.split_once('[') {
            None => (cells.address.trim(), None),
            Some((node, row)) => (node.trim(), row.trim_end().strip_suffix(']')),
        };
        let table = match row {
            None => Table::new(node, cells.matrix.clone())?,
            Some(_) => Table::new(node, values.matrix(&cells.run, node)?)?,
        };
        let given_row = row.map(|row| table.row(row)).transpose()?;
        let shape = table.shape();
        if given_row.is_some() && (cells.matrix.rows() != 1 || cells.matrix.cols() != shape.cols) {
            return Err(Error::new(format!("`{}` is not a row of {node} ({shape})", cells.address)));
        }
        let in_node = |(row, col)| (given_row.unwrap_or(row), col);
        let address = |at| {
            let (row, col) = in_node(at);
            table.address(row, col)
        };
        let (row, col) =
            in_node(extreme(&cells.matrix, is_max, address).map_err(|error| self.in_words(error))?);
        Ok(Cell { row, col, in_given_row: given_row.is_some(), table })
    }

    fn rank(&self, cells: &Cells) -> Result<Order> {
        let row = match cells.matrix.shape() {
            shape if shape.rows == 1 => cells.matrix.clone(),
            shape if shape.cols == 1 => cells.matrix.transposed(),
            shape => {
                let error = Error::new(format!("`{self}` needs one row, `{}` is {shape}", cells.address));
                return Err(error.help("name the row: rank(RUN:A[bat])"));
            }
        };
        let node = cells.address.split('[').next().unwrap_or_default().trim();
        let table = Table::new(node, row.clone())?;
        let positions = ranked(&row, |col| table.col_name(col)).map_err(|error| self.in_words(error))?;
        Ok(Order { positions, table })
    }

    fn compared(&self, comparison: Comparison, left: &Value, right: &Value) -> Result<bool> {
        let equality = |same: bool| match comparison {
            Comparison::Equal => Some(same),
            Comparison::Unequal => Some(!same),
            _ => None,
        };
        let holds = match (left, right) {
            (Value::Cell(a), Value::Cell(b)) => equality((a.row, a.col) == (b.row, b.col)),
            (Value::Order(a), Value::Order(b)) => equality(a.positions == b.positions),
            _ => left.number().zip(right.number()).map(|(left, right)| comparison.holds(left, right)),
        };
        holds.ok_or_else(|| {
            Error::new(format!("`{self}` compares {} with {}", left.kind(), right.kind()))
                .help("compare two numbers; or two cells or two orders, with == or !=")
        })
    }

    fn wants(&self, function: Function, of: &Expression, value: &Value) -> Error {
        let wanted = match function {
            Function::Argmax | Function::Argmin => "a matrix or a row",
            Function::Rank => "a row",
            Function::Round(_) => "a number, a row or a matrix",
            _ => "a row or a matrix",
        };
        let usage = Function::ALL.iter().find(|(name, _)| *name == function.name());
        Error::new(format!("{} needs {wanted}, `{of}` is {}", function.name(), value.kind()))
            .help(format!("write {}", usage.map_or("", |(_, usage)| usage)))
    }

    fn is_nan(&self) -> Error {
        Error::new(format!("`{self}` is not a number: NaN")).help("choose cells that are not NaN")
    }

    fn is_empty(&self, cells: &Cells) -> Error {
        Error::new(format!("`{self}`: {} ({}) is empty", cells.address, cells.matrix.shape()))
    }

    /// The error with the expression that it is about.
    fn in_words(&self, error: Error) -> Error {
        match error {
            Error::Unusable(mut problem) => {
                problem.what = format!("`{self}`: {}", problem.what);
                Error::Unusable(problem)
            }
            other => other,
        }
    }
}

/// A number rounded to `decimals` places as the tables print it, which NumPy's scaled rounding is not always: 2.675 is shown
/// as 2.67, because the nearest 64-bit float lies below it.
fn rounded(number: f64, decimals: usize) -> f64 {
    if !number.is_finite() {
        return number;
    }
    at_decimals(number, decimals).parse().unwrap_or(number)
}

// The largest cell, the smallest, and the order of a row; a tie is an error, because a class cannot decide it.

/// Relative difference up to which two numbers are a tie: no table shows it.
const SAME_PART: f64 = 1e-9;
/// Difference up to which two numbers are a tie, as a part of the largest absolute value: rounding leaves as much.
const NOISE: f64 = 1e-15;
/// At most this many tied cells are named in an error.
const MOST_NAMED: usize = 4;

/// The position of the max of a matrix, or of the min; `address` names a cell of it.
///
/// # Errors
/// If there is none, or another cell ties with it.
pub(super) fn extreme(
    matrix: &Matrix,
    is_max: bool,
    address: impl Fn((usize, usize)) -> String,
) -> Result<(usize, usize)> {
    let positions = || (0..matrix.rows()).flat_map(|row| (0..matrix.cols()).map(move |col| (row, col)));
    let better = |a: f64, b: f64| if is_max { a > b } else { a < b };
    let best = positions().reduce(|best, at| if better(matrix[at], matrix[best]) { at } else { best });
    let best = best.ok_or_else(|| Error::new("there is no cell to choose from"))?;
    let scale = scale_of(matrix);
    let tied: Vec<(usize, usize)> =
        positions().filter(|&at| is_tie(matrix[at], matrix[best], scale)).collect();
    match tied.len() {
        1 => Ok(best),
        _ => Err(tie(tied.into_iter().map(address), matrix[best])),
    }
}

/// The positions of the numbers from the largest to the smallest; `name` names a position.
///
/// # Errors
/// If there is none, or two of them tie.
pub(super) fn ranked(row: &Matrix, name: impl Fn(usize) -> String) -> Result<Vec<usize>> {
    let values: Vec<f64> = row.cells().collect();
    let mut positions: Vec<usize> = (0..values.len()).collect();
    positions.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let scale = scale_of(row);
    let pair = positions.windows(2).find(|pair| is_tie(values[pair[0]], values[pair[1]], scale));
    match pair {
        Some(&[first, ..]) => {
            let tied = positions.iter().filter(|&&at| is_tie(values[at], values[first], scale));
            Err(tie(tied.map(|&at| name(at)), values[first]))
        }
        _ if positions.is_empty() => Err(Error::new("there is no cell to rank")),
        _ => Ok(positions),
    }
}

/// The largest finite number, without its sign.
fn scale_of(matrix: &Matrix) -> f64 {
    matrix.cells().filter(|x| x.is_finite()).fold(0.0, |scale, x| x.abs().max(scale))
}

fn is_tie(a: f64, b: f64, scale: f64) -> bool {
    let allowed = (SAME_PART * a.abs().max(b.abs())).max(NOISE * scale);
    // Two infinities of one sign differ by NaN; one infinity allows any difference, and ties with no finite number.
    a == b || (a.is_finite() && b.is_finite() && (a - b).abs() <= allowed)
}

fn tie(names: impl Iterator<Item = String>, value: f64) -> Error {
    let names: Vec<String> = names.collect();
    let listed = names[..names.len().min(MOST_NAMED)].join(", ");
    let listed = match names.len().saturating_sub(MOST_NAMED) {
        0 => listed,
        more => format!("{listed} and {more} more"),
    };
    let hold = if names.len() == 2 { "both hold" } else { "all hold" };
    Error::new(format!("a tie, {listed} {hold} {}", number_text(value)))
        .help("ask about numbers that differ by more than rounding; a student cannot tell these apart")
}

#[cfg(test)]
mod tests;
