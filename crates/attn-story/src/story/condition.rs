//! Conditions over a graph: a sentence about its numbers is shown only if its condition is true.

/// A number that is read from a graph. An address is `A`, a row `A[bat]`, a column `A[*,cave]`, or a cell `A[bat,cave]`.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// This number.
    Number(f64),
    /// One cell.
    Cell(String),
    /// The max of the numbers at an address.
    Max(String),
    /// The min of the numbers at an address.
    Min(String),
    /// The max of the absolute values at an address.
    MaxSize(String),
    /// The sum of the numbers at an address.
    Sum(String),
    /// The number of rows of a node.
    Rows(String),
    /// The number of columns of a node.
    Columns(String),
    /// The sum of two quantities.
    Plus(Box<Quantity>, Box<Quantity>),
    /// The product of two quantities.
    Times(Box<Quantity>, Box<Quantity>),
}

/// A relation between two quantities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Relation {
    /// The first is smaller.
    Less,
    /// The first is smaller, or they are equal.
    AtMost,
    /// They are equal, to the last bit but for the sign of 0.
    Equal,
    /// They differ by no more than this.
    Within(f64),
}

/// A condition on the numbers of a graph. A closed set, and data: a test evaluates it on its own.
///
/// A condition that names a missing node or cell, or that would compare NaN, is neither true nor false; a condition that
/// contains it does not hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Two quantities in a relation.
    Compare(Quantity, Relation, Quantity),
    /// The cell is larger than every other cell of its row.
    TopOfRow(String),
    /// Two nodes have the same shape and the same numbers.
    Same(String, String),
    /// A square node with ones on the diagonal and zeros elsewhere.
    Identity(String),
    /// Every number above the diagonal is 0.
    ZerosAboveDiagonal(String),
    /// A square node that equals its transpose.
    Symmetric(String),
    /// Every number of a node is whole.
    Whole(String),
    /// A node holds NaN at the address.
    NotANumber(String),
    /// These given nodes have the demo's own numbers, and random ones its own seed. No names: all given nodes.
    Own(Vec<String>),
    /// Every one of these.
    All(Vec<Condition>),
    /// At least one of these.
    Any(Vec<Condition>),
    /// The opposite.
    Not(Box<Condition>),
}

/// A sentence, and the condition under which it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The step that it belongs to, from 0.
    pub step: usize,
    /// The condition under which it is shown.
    pub condition: Condition,
    /// The sentence; cells are written `{A[1,2]:2}`, and those that it names have to exist.
    pub text: String,
    /// True if it replaces the step's heading instead of standing below it.
    pub is_heading: bool,
    /// True if it is shown.
    pub shown: bool,
}

impl From<f64> for Quantity {
    fn from(number: f64) -> Quantity {
        Quantity::Number(number)
    }
}

/// The cell of this address.
impl From<&str> for Quantity {
    fn from(address: &str) -> Quantity {
        Quantity::Cell(address.to_string())
    }
}

/// The max of the numbers at an address.
pub fn max_of(address: &str) -> Quantity {
    Quantity::Max(address.to_string())
}

/// The min of the numbers at an address.
pub fn min_of(address: &str) -> Quantity {
    Quantity::Min(address.to_string())
}

/// The max of the absolute values at an address.
pub fn max_size_of(address: &str) -> Quantity {
    Quantity::MaxSize(address.to_string())
}

/// The sum of the numbers at an address.
pub fn sum(address: &str) -> Quantity {
    Quantity::Sum(address.to_string())
}

/// The number of rows of a node.
pub fn rows(node: &str) -> Quantity {
    Quantity::Rows(node.to_string())
}

/// The number of columns of a node.
pub fn columns(node: &str) -> Quantity {
    Quantity::Columns(node.to_string())
}

/// The sum of two quantities.
pub fn plus(a: impl Into<Quantity>, b: impl Into<Quantity>) -> Quantity {
    Quantity::Plus(Box::new(a.into()), Box::new(b.into()))
}

/// The product of two quantities.
pub fn times(a: impl Into<Quantity>, b: impl Into<Quantity>) -> Quantity {
    Quantity::Times(Box::new(a.into()), Box::new(b.into()))
}

/// a < b.
pub fn less(a: impl Into<Quantity>, b: impl Into<Quantity>) -> Condition {
    Condition::Compare(a.into(), Relation::Less, b.into())
}

/// a ≤ b.
pub fn at_most(a: impl Into<Quantity>, b: impl Into<Quantity>) -> Condition {
    Condition::Compare(a.into(), Relation::AtMost, b.into())
}

/// a = b, exactly.
pub fn equal(a: impl Into<Quantity>, b: impl Into<Quantity>) -> Condition {
    Condition::Compare(a.into(), Relation::Equal, b.into())
}

/// |a − b| ≤ tolerance.
pub fn within(tolerance: f64, a: impl Into<Quantity>, b: impl Into<Quantity>) -> Condition {
    Condition::Compare(a.into(), Relation::Within(tolerance), b.into())
}

/// Every number at the address equals this one.
pub fn every(address: &str, number: f64) -> Condition {
    all([equal(max_of(address), number), equal(min_of(address), number)])
}

/// The cell is larger than every other cell of its row.
pub fn top_of_row(cell: &str) -> Condition {
    Condition::TopOfRow(cell.to_string())
}

/// Two nodes have the same shape and the same numbers.
pub fn same(a: &str, b: &str) -> Condition {
    Condition::Same(a.to_string(), b.to_string())
}

/// A square node with ones on the diagonal and zeros elsewhere.
pub fn identity(node: &str) -> Condition {
    Condition::Identity(node.to_string())
}

/// Every number above the diagonal is 0.
pub fn zeros_above_diagonal(node: &str) -> Condition {
    Condition::ZerosAboveDiagonal(node.to_string())
}

/// A square node that equals its transpose.
pub fn symmetric(node: &str) -> Condition {
    Condition::Symmetric(node.to_string())
}

/// Every number of a node is whole.
pub fn whole(node: &str) -> Condition {
    Condition::Whole(node.to_string())
}

/// A node holds NaN at the address.
pub fn not_a_number(address: &str) -> Condition {
    Condition::NotANumber(address.to_string())
}

/// These given nodes have the demo's own numbers; without names: all of them.
pub fn own(nodes: &[&str]) -> Condition {
    Condition::Own(nodes.iter().map(|node| node.to_string()).collect())
}

/// Every one of these.
pub fn all<const N: usize>(conditions: [Condition; N]) -> Condition {
    Condition::All(conditions.into())
}

/// At least one of these.
pub fn any<const N: usize>(conditions: [Condition; N]) -> Condition {
    Condition::Any(conditions.into())
}

/// The opposite.
pub fn not(condition: Condition) -> Condition {
    Condition::Not(Box::new(condition))
}
