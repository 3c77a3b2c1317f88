//! The conditions of remarks.

use super::names::Teller;
use crate::demo::builder::*;
use crate::language::{Expression, ExpressionKind as Kind, Index, Sign};
use crate::matrix::Shape;
use crate::text::clip;

impl Teller<'_> {
    pub(super) fn condition(&self, of: &Expression) -> Result<Condition> {
        match &*of.kind {
            Kind::Unary(Sign::Not, of) => Ok(not(self.condition(of)?)),
            Kind::Binary(Sign::And, a, b) => Ok(Condition::All(vec![self.condition(a)?, self.condition(b)?])),
            Kind::Binary(Sign::Or, a, b) => Ok(Condition::Any(vec![self.condition(a)?, self.condition(b)?])),
            Kind::Close(a, b, within) => {
                let within = within.as_ref().map(|within| self.number(within)).transpose()?;
                if within.is_some_and(|within| within.is_nan() || within < 0.0) {
                    return Err(self.wrong(b.at, "a distance behind ± is not negative"));
                }
                self.compared(a, Relation::Within(within.unwrap_or(ROUNDING)), b)
            }
            Kind::Binary(Sign::Equal, a, b) => self.compared(a, Relation::Equal, b),
            Kind::Binary(Sign::Differs, a, b) => Ok(not(self.compared(a, Relation::Equal, b)?)),
            Kind::Binary(Sign::Less, a, b) => self.compared(a, Relation::Less, b),
            Kind::Binary(Sign::AtMost, a, b) => self.compared(a, Relation::AtMost, b),
            Kind::Binary(Sign::More, a, b) => self.compared(b, Relation::Less, a),
            Kind::Binary(Sign::AtLeast, a, b) => self.compared(b, Relation::AtMost, a),
            Kind::Call { function, arguments, .. } if function == "own" => {
                let names: Result<Vec<String>> = arguments
                    .iter()
                    .map(|of| match &*of.kind {
                        Kind::Name(name) if self.demo.is_changeable(self.node(name)?) => self.name(name),
                        Kind::Name(_) => Err(self
                            .wrong(of.at, "nobody can put other numbers in the place of this matrix")
                            .help("`own` takes matrices that are given")),
                        _ => Err(self.wrong(of.at, "`own` takes names of matrices")),
                    })
                    .collect();
                Ok(Condition::Own(names?))
            }
            Kind::Each { function, first, argument, repeat }
                if first.is_empty() && matches!(function.as_str(), "all" | "any") =>
            {
                let each = self.repeated(Some(repeat), 1, || self.condition(argument))?;
                Ok(if function == "all" { Condition::All(each) } else { Condition::Any(each) })
            }
            Kind::Call { function, arguments, .. }
                if let Some(about) = about(function)
                    && let [of] = &arguments[..] =>
            {
                match &*of.kind {
                    _ if function == "nan" => match self.address(of)? {
                        Some(address) => Ok(Condition::NotANumber(address.text)),
                        None => Err(self.wrong(of.at, "a matrix, a row or a cell is expected here")),
                    },
                    Kind::Name(name) => self.node(name).and_then(|_| Ok(about(self.name(name)?))),
                    _ => Err(self.wrong(of.at, "the name of a matrix is expected here")),
                }
            }
            Kind::Call { function, arguments, .. } if function == "top" && arguments.len() == 1 => {
                match self.address(&arguments[0])? {
                    Some(Address { text, is_cell: true }) => Ok(Condition::TopOfRow(text)),
                    _ => Err(self.wrong(of.at, "`top` takes a cell: top(A[1,2])")),
                }
            }
            _ if self.is_number(of) => Ok(if self.number(of)? != 0.0 { all([]) } else { any([]) }),
            _ => Err(self
                .wrong(of.at, "a condition is expected here")
                .help("for example A[1,1] == 1, or own(X)")),
        }
    }

    /// A comparison; a matrix or a row stands for all of its cells.
    fn compared(&self, a: &Expression, relation: Relation, b: &Expression) -> Result<Condition> {
        let (whole_a, whole_b, place) = (self.several(a)?, self.several(b)?, a.at);
        let compare = |a: Quantity, b: Quantity| Condition::Compare(a, relation, b);
        match (whole_a, whole_b) {
            (None, None) => Ok(compare(self.quantity(a)?, self.quantity(b)?)),
            (Some(a), Some(b)) => match relation {
                Relation::Equal => Ok(Condition::Same(a, b, 0.0)),
                Relation::Within(within) => Ok(Condition::Same(a, b, within)),
                Relation::Less | Relation::AtMost => Err(self
                    .wrong(place, "two matrices are compared with `==` and `≈` alone")
                    .help("compare max(A) with min(B), or cells")),
            },
            (Some(a), None) => {
                let b = self.quantity(b)?;
                Ok(all([compare(max_of(&a), b.clone()), compare(min_of(&a), b)]))
            }
            (None, Some(b)) => {
                let a = self.quantity(a)?;
                Ok(all([compare(a.clone(), max_of(&b)), compare(a, min_of(&b))]))
            }
        }
    }

    /// The address of a matrix or a row of several cells.
    fn several(&self, of: &Expression) -> Result<Option<String>> {
        Ok(self.address(of)?.filter(|address| !address.is_cell).map(|address| address.text))
    }

    /// The address that an expression is, if it is one. A number in a name or an index is written out.
    fn address(&self, of: &Expression) -> Result<Option<Address>> {
        let index = |at: &Expression, length: usize| -> Result<String> {
            match &*at.kind {
                Kind::Name(name) if self.name(name)? == "last" => Ok(length.to_string()),
                Kind::Text(text) => self.text(text),
                Kind::Name(name) if !self.is_number(at) => self.name_or_word(name),
                _ => Ok(self.whole(at)?.to_string()),
            }
        };
        match &*of.kind {
            Kind::Name(name) if self.demo.node(&self.name(name)?).is_ok() || !self.is_number(of) => {
                let node = self.node(name)?;
                let shape = self.demo.matrix(node)?.shape();
                self.spend(of.at, 4.0 * (shape.rows * shape.cols) as f64)?;
                let is_one = self.demo.matrix(node)?.shape() == Shape { rows: 1, cols: 1 };
                let name = self.name(name)?;
                Ok(Some(Address {
                    text: if is_one { format!("{name}[1,1]") } else { name },
                    is_cell: is_one,
                }))
            }
            Kind::Text(name) if self.demo.node(name).is_ok() => {
                let is_one = self.demo.matrix(self.demo.node(name)?)?.shape() == Shape { rows: 1, cols: 1 };
                let text = if is_one { format!("{name}[1,1]") } else { name.clone() };
                Ok(Some(Address { text, is_cell: is_one }))
            }
            Kind::Part(name, indices) => {
                let Shape { rows, cols } = self.demo.matrix(self.node(name)?)?.shape();
                let name = self.name(name)?;
                match &indices[..] {
                    [Index::One(i), Index::One(j)] => Ok(Some(Address {
                        text: format!("{name}[{},{}]", index(i, rows)?, index(j, cols)?),
                        is_cell: true,
                    })),
                    [Index::One(i)] | [Index::One(i), Index::All] => {
                        Ok(Some(Address { text: format!("{name}[{}]", index(i, rows)?), is_cell: false }))
                    }
                    [Index::All, Index::One(j)] => {
                        Ok(Some(Address { text: format!("{name}[*,{}]", index(j, cols)?), is_cell: false }))
                    }
                    _ => Err(self.wrong(of.at, "a condition names a cell, a row or a column")),
                }
            }
            _ => Ok(None),
        }
    }

    fn quantity(&self, of: &Expression) -> Result<Quantity> {
        let is_node = matches!(&*of.kind, Kind::Name(name) if self.demo.node(&self.name(name)?).is_ok());
        if !is_node && self.is_number(of) {
            return Ok(Quantity::Number(self.number(of)?));
        }
        let address = |of: &Expression| -> Result<String> {
            let address = self.address(of)?.map(|address| address.text);
            address.ok_or_else(|| self.wrong(of.at, "a matrix, a row or a cell is expected here"))
        };
        match &*of.kind {
            Kind::Name(_) | Kind::Text(_) | Kind::Part(..) => match self.address(of)? {
                Some(Address { text, is_cell: true }) => Ok(Quantity::Cell(text)),
                Some(_) => Err(self
                    .wrong(of.at, "this is more than one number")
                    .help("compare it as it is, or take its max, min or sum: max(A[1]) + 1 > 0")),
                None => Err(self.wrong(of.at, "a matrix, a row or a cell is expected here")),
            },
            Kind::LargestSize(of) => Ok(Quantity::MaxSize(address(of)?)),
            Kind::Binary(Sign::Plus, a, b) => Ok(plus(self.quantity(a)?, self.quantity(b)?)),
            Kind::Binary(Sign::Product | Sign::Multiply, a, b) => {
                Ok(times(self.quantity(a)?, self.quantity(b)?))
            }
            Kind::Call { function, arguments, .. } => match (function.as_str(), &arguments[..]) {
                ("max", [of]) => Ok(Quantity::Max(address(of)?)),
                ("min", [of]) => Ok(Quantity::Min(address(of)?)),
                ("sum", [of]) => Ok(Quantity::Sum(address(of)?)),
                _ => Err(self.wrong(of.at, format!("`{}` is no number of a condition", clip(function)))),
            },
            _ => Err(self.wrong(of.at, "a number or a cell is expected here")),
        }
    }
}

/// What a condition of this name says about a matrix.
fn about(function: &str) -> Option<fn(String) -> Condition> {
    Some(match function {
        "nan" => Condition::NotANumber,
        "whole" => Condition::Whole,
        "identity" => Condition::Identity,
        "symmetric" => Condition::Symmetric,
        "lower_triangular" => Condition::ZerosAboveDiagonal,
        _ => return None,
    })
}

/// What a condition reads.
struct Address {
    text: String,
    is_cell: bool,
}
