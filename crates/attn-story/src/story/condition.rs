//! The value of an expression over matrices: of the condition of a sentence, and of the key of a lesson.

use std::cell;
use std::cell::RefCell;

use attn_core::language::{
    CellFunction, Expression, ExpressionKind as Kind, Name, Over, Piece, Repeat, Sign, of_numbers,
};

use crate::answer::{Cell, Cells, Order, Table, Value, extreme, ranked};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::{self, Graph, Op, Origin, resolve};
use crate::matrix::{Labels, Matrix, labels};

/// A sentence, and the condition under which it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The step that it belongs to, from 0.
    pub step: usize,
    /// The condition under which it is shown, with all names written out.
    pub condition: Expression,
    /// The sentence; cells are written `{A[1,2]:2}`, and those that it names have to exist.
    pub text: String,
    /// True if it replaces the step's heading instead of standing below it.
    pub is_heading: bool,
    /// True if it is shown.
    pub shown: bool,
}

/// The source of the numbers of an expression.
pub trait Numbers {
    /// The cells that an address of a run names: a whole node, a row as 1×n, a column as n×1, a cell as 1×1, each with its labels.
    /// In a demo the run has no name.
    ///
    /// # Errors
    /// If there is no such run, or the address names nothing in it.
    fn matrix(&self, run: &str, address: &str) -> Result<Matrix>;

    /// Whether these given matrices hold the demo's own numbers, and random ones those of its own seed; without names, all.
    ///
    /// # Errors
    /// If one of them is computed or missing.
    fn is_own(&self, _names: &[String]) -> Result<bool> {
        Err(Error::new("only demos have numbers of their own"))
    }
}

/// A graph, and the seed of the demo that it belongs to.
pub struct GraphNumbers<'a>(pub &'a Graph, pub u32);

impl Numbers for GraphNumbers<'_> {
    fn matrix(&self, _: &str, address: &str) -> Result<Matrix> {
        part(self.0, address).map_err(|error| error.of_kind(ErrorKind::Unknown))
    }

    fn is_own(&self, names: &[String]) -> Result<bool> {
        let is_own = |op: &Op| match op {
            Op::Given(Origin::Stated | Origin::Identity) => Some(true),
            Op::Given(Origin::Drawn(seed)) => Some(*seed == self.1),
            Op::Given(Origin::Fitted | Origin::User(_)) => Some(false),
            _ => None,
        };
        if names.is_empty() {
            return Ok(self.0.nodes().filter_map(|(_, node)| is_own(&node.op)).all(|own| own));
        }
        names.iter().try_fold(true, |all, name| {
            let own = is_own(&self.0[self.0.require(name)?].op);
            Ok(all & own.ok_or_else(|| unknown(format!("`{name}` is computed")))?)
        })
    }
}

/// A node, a row, a column `A[*,cave]` or a cell of a graph, with its labels.
///
/// # Errors
/// If the address names nothing.
pub fn part(graph: &Graph, address: &str) -> Result<Matrix> {
    let one = |names: Option<&Labels>, at: usize| names.map(|names| labels(&[names[at].as_str()]));
    let column = || {
        let (node, column) = address.split_once("[*,").or_else(|| address.split_once("[:,"))?;
        let graph::Cells::Cell(cell) = resolve(graph, &format!("{node}[1,{column}")).ok()? else {
            return None;
        };
        let matrix = graph.matrix(cell.node).ok()?;
        let cells = Matrix::from_fn(matrix.rows(), 1, |row, _| matrix[(row, cell.col)]);
        let named = cells.with_row_labels(matrix.row_labels().cloned());
        Some(named.with_col_labels(one(matrix.col_labels(), cell.col)))
    };
    Ok(match resolve(graph, address) {
        Ok(graph::Cells::Node(node)) => graph.matrix(node)?.clone(),
        Ok(graph::Cells::Row(node, row)) => {
            let matrix = graph.matrix(node)?;
            Matrix::from_fn(1, matrix.cols(), |_, col| matrix[(row, col)])
                .with_row_labels(one(matrix.row_labels(), row))
                .with_col_labels(matrix.col_labels().cloned())
        }
        Ok(graph::Cells::Cell(cell)) => {
            let matrix = graph.matrix(cell.node)?;
            Matrix::filled(1, 1, matrix[(cell.row, cell.col)])
                .with_row_labels(one(matrix.row_labels(), cell.row))
                .with_col_labels(one(matrix.col_labels(), cell.col))
        }
        Err(error) => column().ok_or(error)?,
    })
}

/// Whether a condition is true of a graph whose random matrices come from `seed` where they are the demo's own.
pub fn holds(condition: &Expression, graph: &Graph, seed: u32) -> bool {
    matches!(truth(condition, &GraphNumbers(graph, seed), 0), Ok(true))
}

/// The error of the first address that a condition reads and that does not exist, if there is one.
pub fn missing(condition: &Expression, graph: &Graph) -> Option<Error> {
    let mut missing = None;
    condition.clone().each(&mut |kind| match kind {
        Kind::Reference { address, .. } if missing.is_none() => missing = part(graph, address).err(),
        _ => {}
    });
    missing
}

// The value of an expression.

/// The value of an expression in a lesson of this version, or, with 0, in a demo. Sums run row by row from left to right; `==` is
/// exact. −∞ is a number like others, the smallest.
///
/// # Errors
/// Of kind [`ErrorKind::Unknown`] if numbers decide that there is no value: a cell is missing or NaN, or `argmax`, `argmin` or
/// `rank` find a tie, two numbers that agree to a billionth of the larger, or differ by no more than rounding leaves. Else if
/// something is given what it cannot use.
pub fn evaluate(of: &Expression, numbers: &dyn Numbers, version: u8) -> Result<Value> {
    Evaluation { numbers, version, bound: RefCell::default(), repeated: cell::Cell::new(0) }.value(of)
}

/// The value of an expression that is true or false.
///
/// # Errors
/// Those of [`evaluate`]; and if it is neither.
pub fn truth(of: &Expression, numbers: &dyn Numbers, version: u8) -> Result<bool> {
    Evaluation { numbers, version, bound: RefCell::default(), repeated: cell::Cell::new(0) }.truth(of)
}

/// The value of an expression that is a number.
///
/// # Errors
/// Those of [`evaluate`]; and if it is none.
pub fn number(of: &Expression, numbers: &dyn Numbers, version: u8) -> Result<f64> {
    Evaluation { numbers, version, bound: RefCell::default(), repeated: cell::Cell::new(0) }.number(of)
}

/// Distances up to this size are rounding, where `≈` names no other.
const ROUNDING: f64 = 1e-9;
/// What is repeated in a key runs at most this often, in sum.
const MOST_REPEATED: usize = 10_000;

fn unknown(what: impl Into<String>) -> Error {
    Error::new(what).of_kind(ErrorKind::Unknown)
}

struct Evaluation<'a> {
    numbers: &'a dyn Numbers,
    version: u8,
    /// What is repeated now: names with their numbers or words.
    bound: RefCell<Vec<(String, String)>>,
    repeated: cell::Cell<usize>,
}

impl Evaluation<'_> {
    fn value(&self, of: &Expression) -> Result<Value> {
        let value = match &*of.kind {
            Kind::Number(number) => Value::Number(*number),
            Kind::Reference { run, address } => return self.reference(of, run, address),
            Kind::Name(name) => match self.bound_to(name).map(|text| text.parse()) {
                Some(Ok(number)) => Value::Number(number),
                _ => {
                    return Err(
                        Error::new(format!("`{of}` is not a number")).help("write a number or a cell")
                    );
                }
            },
            Kind::LargestSize(a) => {
                Value::Number(self.matrix(of, a)?.cells().fold(0.0, |max, x| x.abs().max(max)))
            }
            Kind::Binary(sign, a, b) if sign.is_comparison() => {
                Value::Truth(self.compared(of, *sign, 0.0, a, b)?)
            }
            Kind::Unary(sign, _) | Kind::Binary(sign, ..) if sign.gives_truth() => {
                Value::Truth(self.truth(of)?)
            }
            Kind::Unary(..) | Kind::Binary(..) => Value::Number(self.number(of)?),
            Kind::Close(a, b, within) => {
                let within = within.as_ref().map_or(Ok(ROUNDING), |within| self.number(within))?;
                if within < 0.0 {
                    return Err(Error::new(format!("`{of}` has a distance below 0")).help("write ± 0.001"));
                }
                Value::Truth(self.compared(of, Sign::Equal, within, a, b)?)
            }
            Kind::Choice(yes, condition, no) => self.value(if self.truth(condition)? { yes } else { no })?,
            Kind::Call { function, arguments, .. } => self.call(of, function, arguments)?,
            Kind::Each { function, argument, repeat, .. } => self.each(function, argument, repeat)?,
            _ => return Err(Error::new(format!("`{of}` has no value")).help("write a number or a cell")),
        };
        match value {
            Value::Number(number) if number.is_nan() => Err(is_nan(of)),
            value => Ok(value),
        }
    }

    /// A number; a chain of signs, which may be long, does without [`Evaluation::value`].
    fn number(&self, of: &Expression) -> Result<f64> {
        let number = match &*of.kind {
            Kind::Unary(Sign::Minus, a) => -self.number(a)?,
            Kind::Binary(sign, a, b) if !sign.gives_truth() => sign.of(self.number(a)?, self.number(b)?),
            _ => self.single_number(of)?,
        };
        if number.is_nan() { Err(is_nan(of)) } else { Ok(number) }
    }

    fn single_number(&self, of: &Expression) -> Result<f64> {
        let value = self.operand(of)?;
        value.number().ok_or_else(|| self.not_a(of, "a number", &value))
    }

    /// A value, where truth counts as 1 or 0, but not in version 1 of lessons.
    fn operand(&self, of: &Expression) -> Result<Value> {
        Ok(match self.value(of)? {
            Value::Truth(holds) if self.version != 1 => Value::Number(f64::from(u8::from(holds))),
            value => value,
        })
    }

    /// True or false; as [`Evaluation::number`].
    fn truth(&self, of: &Expression) -> Result<bool> {
        match &*of.kind {
            Kind::Unary(Sign::Not, a) => Ok(!self.truth(a)?),
            // Both sides need a value.
            Kind::Binary(Sign::And, a, b) => Ok(self.truth(a)? & self.truth(b)?),
            Kind::Binary(Sign::Or, a, b) => Ok(self.truth(a)? | self.truth(b)?),
            _ => self.single_truth(of),
        }
    }

    fn single_truth(&self, of: &Expression) -> Result<bool> {
        match self.value(of)? {
            Value::Truth(holds) => Ok(holds),
            Value::Number(number) if !matches!(*of.kind, Kind::Reference { .. }) => Ok(number != 0.0),
            other => Err(self.not_a(of, "true or false", &other)),
        }
    }

    fn reference(&self, of: &Expression, run: &str, address: &str) -> Result<Value> {
        let address = self.written_out(address);
        let matrix = self.numbers.matrix(run, &address)?;
        if matrix.cells().any(f64::is_nan) {
            return Err(is_nan(of));
        }
        let names_cell = address.split_once('[').is_some_and(|(_, inside)| inside.contains(','));
        if names_cell && matrix.rows() == 1 && matrix.cols() == 1 {
            return Ok(Value::Number(matrix[(0, 0)]));
        }
        if names_cell && self.version == 1 {
            return Err(Error::new(format!("`{of}` is a column, which is not part of attn-lesson: 1"))
                .help("write attn-lesson: 2 in the head of the lesson"));
        }
        Ok(Value::Cells(Cells { matrix, run: run.to_string(), address }))
    }

    /// The numbers of cells, or, but for version 1 of lessons, of a number alone.
    fn matrix(&self, call: &Expression, of: &Expression) -> Result<Matrix> {
        match self.value(of)? {
            Value::Cells(cells) => Ok(cells.matrix),
            Value::Number(number) if self.version != 1 => Ok(Matrix::filled(1, 1, number)),
            other => Err(self.wants(call, of, &other)),
        }
    }

    fn call(&self, of: &Expression, function: &str, arguments: &[Expression]) -> Result<Value> {
        let count = |count: usize| Ok(Value::Number(count as f64));
        Ok(match (function, arguments) {
            ("own", names) => {
                let name = |of: &Expression| {
                    if let Kind::Text(name) = &*of.kind { Some(name.clone()) } else { None }
                };
                Value::Truth(self.numbers.is_own(&names.iter().filter_map(name).collect::<Vec<String>>())?)
            }
            ("all" | "any", each) => {
                let truths = each.iter().map(|one| self.truth(one)).collect::<Result<Vec<bool>>>()?;
                Value::Truth(if function == "all" {
                    !truths.contains(&false)
                } else {
                    truths.contains(&true)
                })
            }
            ("nan", [a]) => Value::Truth(match &*a.kind {
                Kind::Reference { run, address } => {
                    self.numbers.matrix(run, &self.written_out(address))?.cells().any(f64::is_nan)
                }
                _ => self.value(a).map(|_| false)?,
            }),
            ("top", [a]) => Value::Truth(self.is_top(of, a)?),
            ("argmax" | "argmin", [a]) => Value::Cell(self.extreme(of, a, function == "argmax")?),
            ("rank", [a]) => Value::Order(self.rank(of, a)?),
            ("round", [a, decimals]) => {
                let decimals = self.number(decimals)? as usize;
                match self.value(a)? {
                    Value::Number(number) => Value::Number(rounded(number, decimals)),
                    Value::Cells(cells) => {
                        Value::Cells(Cells { matrix: cells.matrix.map(|x| rounded(x, decimals)), ..cells })
                    }
                    other => return Err(self.wants(of, a, &other)),
                }
            }
            ("count", [a, is]) => {
                let Kind::Is(sign, number) = &*is.kind else { return Err(self.invalid(of, function)) };
                let number = self.number(number)?;
                return count(self.matrix(of, a)?.cells().filter(|&x| is_so(*sign, 0.0, x, number)).count());
            }
            ("len", [a]) => return count(self.matrix(of, a)?.cells().count()),
            ("rows", [a]) => return count(self.matrix(of, a)?.rows()),
            ("cols", [a]) => return count(self.matrix(of, a)?.cols()),
            ("sum" | "min" | "max", [a]) => {
                let cells: Vec<f64> = self.matrix(of, a)?.cells().collect();
                let number = of_numbers(function, &cells);
                Value::Number(number.ok_or_else(|| unknown(format!("`{of}`: `{a}` is empty")))?)
            }
            ("identity" | "symmetric" | "lower_triangular" | "whole", [a]) => {
                let m = self.matrix(of, a)?;
                let is_square = m.rows() == m.cols();
                let everywhere =
                    |is_right: &dyn Fn(usize, usize) -> bool| m.shape().places().all(|(i, j)| is_right(i, j));
                Value::Truth(match function {
                    "identity" => is_square && everywhere(&|i, j| m[(i, j)] == f64::from(u8::from(i == j))),
                    "symmetric" => is_square && everywhere(&|i, j| m[(i, j)] == m[(j, i)]),
                    "lower_triangular" => everywhere(&|i, j| j <= i || m[(i, j)] == 0.0),
                    _ => everywhere(&|i, j| m[(i, j)].fract() == 0.0),
                })
            }
            _ => {
                let numbers = arguments.iter().map(|a| self.number(a)).collect::<Result<Vec<f64>>>()?;
                let number = of_numbers(function, &numbers).ok_or_else(|| self.invalid(of, function))?;
                if function == "even" { Value::Truth(number != 0.0) } else { Value::Number(number) }
            }
        })
    }

    /// The largest cell, or the smallest, in the coordinates of its node also where one row is searched.
    fn extreme(&self, of: &Expression, a: &Expression, is_max: bool) -> Result<Cell> {
        let cells = self.cells(of, a)?;
        let (node, row) = match cells.address.split_once('[') {
            None => (cells.address.trim(), None),
            Some((node, row)) => (node.trim(), row.trim_end().strip_suffix(']')),
        };
        let table = match row {
            None => Table::new(node, cells.matrix.clone())?,
            Some(_) => Table::new(node, self.numbers.matrix(&cells.run, node)?)?,
        };
        let given_row = row.map(|row| table.row(row)).transpose()?;
        if given_row.is_some() && (cells.matrix.rows() != 1 || cells.matrix.cols() != table.shape().cols) {
            return Err(Error::new(format!(
                "`{}` is not a row of {node} ({})",
                cells.address,
                table.shape()
            )));
        }
        let in_node = |(row, col)| (given_row.unwrap_or(row), col);
        let address = |at| {
            let (row, col) = in_node(at);
            table.address(row, col)
        };
        let found = extreme(&cells.matrix, is_max, address).map_err(|error| in_words(of, error))?;
        let (row, col) = in_node(found);
        Ok(Cell { row, col, in_given_row: given_row.is_some(), table })
    }

    fn rank(&self, of: &Expression, a: &Expression) -> Result<Order> {
        let cells = self.cells(of, a)?;
        let row = match cells.matrix.shape() {
            shape if shape.rows == 1 => cells.matrix.clone(),
            shape if shape.cols == 1 => cells.matrix.transposed(),
            shape => {
                let error = Error::new(format!("`{of}` needs one row, `{}` is {shape}", cells.address));
                return Err(error.help(format!("name the row: {}", self.usage("rank"))));
            }
        };
        let node = cells.address.split('[').next().unwrap_or_default().trim();
        let table = Table::new(node, row.clone())?;
        let positions = ranked(&row, |col| table.col_name(col)).map_err(|error| in_words(of, error))?;
        Ok(Order { positions, table })
    }

    /// Cells that are read and not computed, so that each has a place.
    fn cells(&self, call: &Expression, of: &Expression) -> Result<Cells> {
        match self.value(of)? {
            Value::Cells(cells) => Ok(cells),
            other => Err(self.wants(call, of, &other)),
        }
    }

    /// Whether a cell is larger than every other cell of its row.
    fn is_top(&self, of: &Expression, a: &Expression) -> Result<bool> {
        let (Kind::Reference { run, address }, Value::Number(cell)) = (&*a.kind, self.value(a)?) else {
            return Err(self.invalid(of, "top"));
        };
        let address = self.written_out(address);
        let row = address.rsplit_once(',').map_or(address.clone(), |(row, _)| format!("{row}]"));
        let row = self.numbers.matrix(run, &row)?;
        if row.cells().any(f64::is_nan) {
            return Err(is_nan(of));
        }
        Ok(row.cells().filter(|x| *x >= cell).count() == 1)
    }

    /// Whether two values are in a relation; a matrix or a row stands for all of its cells, but not in version 1 of lessons.
    fn compared(
        &self,
        of: &Expression,
        sign: Sign,
        within: f64,
        a: &Expression,
        b: &Expression,
    ) -> Result<bool> {
        let (left, right) = (self.operand(a)?, self.operand(b)?);
        let (asked, is_opposite) = if sign == Sign::Differs { (Sign::Equal, true) } else { (sign, false) };
        let is_so = |a: f64, b: f64| is_so(asked, within, a, b);
        let holds = match (&left, &right, left.number().zip(right.number())) {
            (Value::Cell(a), Value::Cell(b), _) if asked == Sign::Equal => {
                Some((a.row, a.col) == (b.row, b.col))
            }
            (Value::Order(a), Value::Order(b), _) if asked == Sign::Equal => Some(a.positions == b.positions),
            (.., Some((a, b))) => Some(is_so(a, b)),
            _ if self.version == 1 => None,
            (Value::Cells(Cells { matrix, .. }), other, _) if let Some(number) = other.number() => {
                Some(matrix.cells().next().is_some() && matrix.cells().all(|x| is_so(x, number)))
            }
            (other, Value::Cells(Cells { matrix, .. }), _) if let Some(number) = other.number() => {
                Some(matrix.cells().next().is_some() && matrix.cells().all(|x| is_so(number, x)))
            }
            (Value::Cells(a), Value::Cells(b), _) if asked == Sign::Equal => {
                let (a, b) = (&a.matrix, &b.matrix);
                Some(a.shape() == b.shape() && a.cells().zip(b.cells()).all(|(a, b)| is_so(a, b)))
            }
            _ => None,
        };
        let holds = holds.ok_or_else(|| {
            Error::new(format!("`{of}` compares {} with {}", left.kind(), right.kind()))
                .help("compare two numbers; or two cells or two orders, with == or !=")
        })?;
        Ok(holds != is_opposite)
    }

    // What is repeated, in lessons: demos write it out.

    fn each(&self, function: &str, argument: &Expression, repeat: &Repeat) -> Result<Value> {
        let values: Vec<String> = match &repeat.over {
            Over::Range(from, to) => {
                let (from, to) = (self.number(from)?, self.number(to)?);
                let numbers = (0..=MOST_REPEATED).map(|count| from + count as f64).take_while(|x| *x <= to);
                numbers.map(|number| number.to_string()).collect()
            }
            Over::Each(items) => items.iter().map(|item| item.to_string().replace('"', "")).collect(),
        };
        self.repeated.set(self.repeated.get() + values.len());
        if self.repeated.get() > MOST_REPEATED {
            let error = Error::new(format!("this is repeated more than {MOST_REPEATED} times"));
            return Err(error.help("ask about fewer cells"));
        }
        let once = |value: String| {
            self.bound.borrow_mut().push((repeat.variable.clone(), value));
            let number = self.number(argument)?;
            self.bound.borrow_mut().pop();
            Ok(argument.with(Kind::Number(number)))
        };
        let each = values.into_iter().map(once).collect::<Result<Vec<Expression>>>()?;
        self.call(argument, function, &each)
    }

    /// The number or the word that is repeated under a name.
    fn bound_to(&self, name: &Name) -> Option<String> {
        let [Piece::Text(name)] = &name.pieces[..] else { return None };
        self.bound.borrow().iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.clone())
    }

    /// An address in which numbers and words in braces are written out, as in sentences.
    fn written_out(&self, address: &str) -> String {
        let bound = self.bound.borrow();
        let write =
            |text: String, (name, value): &(String, String)| text.replace(&format!("{{{name}}}"), value);
        bound.iter().rev().fold(address.to_string(), write)
    }

    // Errors.

    fn not_a(&self, of: &Expression, wanted: &str, value: &Value) -> Error {
        let run = if self.version > 0 { "RUN:" } else { "" };
        Error::new(format!("`{of}` is {}, not {wanted}", value.kind())).help(match wanted {
            "a number" => format!(
                "name one cell, such as {run}A[bat,cave], or make it one number with sum, min, max, len or count"
            ),
            _ => format!("compare it: {run}A[bat,cave] == 1"),
        })
    }

    fn usage(&self, function: &str) -> String {
        CellFunction::named(function).map_or_else(|| function.to_string(), |found| found.usage(self.version))
    }

    fn invalid(&self, of: &Expression, function: &str) -> Error {
        let error = Error::new(format!("`{of}` is not a valid call of {function}"));
        error.help(format!("write {}", self.usage(function)))
    }

    fn wants(&self, call: &Expression, of: &Expression, value: &Value) -> Error {
        let function = match &*call.kind {
            Kind::Call { function, .. } => function.as_str(),
            _ => "max|A|",
        };
        let wanted = match function {
            "argmax" | "argmin" => "a matrix or a row",
            "rank" => "a row",
            "round" => "a number, a row or a matrix",
            _ => "a row or a matrix",
        };
        let error = Error::new(format!("{function} needs {wanted}, `{of}` is {}", value.kind()));
        error.help(format!("write {}", self.usage(function)))
    }
}

/// The error of something that is not a number.
fn is_nan(of: &Expression) -> Error {
    unknown(format!("`{of}` is not a number: NaN")).help("choose cells that are not NaN")
}

/// The error of numbers, with the expression that it is about.
fn in_words(of: &Expression, error: Error) -> Error {
    match error {
        Error::Unusable(mut problem) => {
            problem.what = format!("`{of}`: {}", problem.what);
            Error::Unusable(problem).of_kind(ErrorKind::Unknown)
        }
        other => other,
    }
}

fn is_so(sign: Sign, within: f64, a: f64, b: f64) -> bool {
    match sign {
        // The difference of two equal infinities is NaN.
        Sign::Equal => a == b || (a - b).abs() <= within,
        _ => sign.of(a, b) != 0.0,
    }
}

/// A number rounded to `decimals` places as the tables print it, which NumPy's scaled rounding is not always: 2.675 is shown
/// as 2.67, because the nearest 64-bit float lies below it.
fn rounded(number: f64, decimals: usize) -> f64 {
    if number.is_finite() { format!("{number:.decimals$}").parse().unwrap_or(number) } else { number }
}
