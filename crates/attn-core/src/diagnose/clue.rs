//! Conspicuous properties of wrong numbers, with a sentence for each.

use crate::text::counted;

/// A conspicuous property of numbers that no mistake explains.
#[derive(Clone, Debug, PartialEq)]
pub enum Clue {
    /// Weights whose rows do not sum to 1.
    RowSums {
        /// The node.
        node: String,
        /// The min and max of these sums.
        between: (f64, f64),
        /// The rows (from 0) that do not sum to 1; all of them where none is listed.
        rows: Vec<usize>,
    },
    /// The columns of the weights sum to 1, and not the rows.
    ColumnSums(String),
    /// Some weights are negative: the node, and the min.
    Negative(String, f64),
    /// Some weights are above 1: the node, and the max.
    AboveOne(String, f64),
    /// NaN in some cells: the node, and the rows (from 0) that are nothing else.
    NotANumber {
        /// The node.
        node: String,
        /// The number of these cells.
        cells: usize,
        /// The rows that are NaN throughout.
        rows: Vec<usize>,
    },
    /// Infinite numbers: the node, and the number of cells.
    Infinite(String, usize),
    /// All rows are equal.
    EqualRows(String),
    /// Two rows (from 0) are equal that should not be.
    TwinRows(String, usize, usize),
    /// The matrix equals its own transpose, and should not.
    Symmetric(String),
    /// The rows are the right ones in another order; for each row (from 0) the one that it is.
    RowOrder(String, Vec<usize>),
    /// Only some rows are wrong: the node, the first wrong row (from 0), and the number of wrong rows.
    SomeRows(String, usize, usize),
    /// Only some columns are wrong: the node, the first wrong column (from 0), and the number of wrong columns.
    SomeColumns(String, usize, usize),
    /// Some heads (from 0) are wrong, and the others are right.
    SomeHeads(String, Vec<usize>),
    /// The sign is reversed in most cells.
    Signs(String),
    /// The rows of O are sums of the right values, with other weights.
    OtherWeights,
    /// Weights that dropout would leave.
    Dropout,
    /// A possible cause without proof: “a bias of the keys”.
    ConsistentWith(&'static str),
}

impl Clue {
    /// The clue as a sentence.
    pub fn sentence(&self) -> String {
        let number = |x: &f64| crate::graph::number_text(format!("{x:.3e}").parse().unwrap_or(*x));
        match self {
            Clue::RowSums { node, between: (low, high), rows } => {
                let sums = if low == high {
                    format!("to {}", number(low))
                } else {
                    format!("to numbers from {} to {}", number(low), number(high))
                };
                match rows.len() {
                    0 => format!("The rows of {node} sum {sums}, not to 1."),
                    1 => format!("Row {} of {node} sums {sums}, not to 1.", rows[0] + 1),
                    _ => format!("{} of {node} sum {sums}, not to 1.", capital(&listed("row", rows))),
                }
            }
            Clue::ColumnSums(node) => format!("The columns of {node} sum to 1, but its rows should."),
            Clue::Negative(node, least) => {
                format!("{node} has negative weights, down to {}; a softmax gives none below 0.", number(least))
            }
            Clue::AboveOne(node, most) => {
                format!("{node} has weights above 1, up to {}; a softmax gives none above 1.", number(most))
            }
            Clue::NotANumber { node, cells, rows } => match rows[..] {
                [] => format!("{node} has NaN in {}.", counted(*cells, "cell")),
                _ => format!("{node} is NaN in {}.", listed("row", rows)),
            },
            Clue::Infinite(node, 1) => format!("{node} has an infinite number in 1 cell."),
            Clue::Infinite(node, cells) => format!("{node} has infinite numbers in {cells} cells."),
            Clue::EqualRows(node) => format!("All rows of {node} are equal: the queries make no difference."),
            Clue::TwinRows(node, a, b) => format!("Rows {} and {} of {node} are equal.", a + 1, b + 1),
            Clue::Symmetric(node) => {
                format!("{node} equals its own transpose, as if queries and keys were the same.")
            }
            Clue::RowOrder(node, order) => {
                let order: Vec<String> = order.iter().map(|row| (row + 1).to_string()).collect();
                format!("The rows of {node} are right, but in the order {}.", order.join(" "))
            }
            Clue::SomeRows(node, first, 1) => {
                format!("Only row {} of {node} is wrong; the others are right.", first + 1)
            }
            Clue::SomeRows(node, first, wrong) => format!(
                "Only {wrong} rows of {node} are wrong, the first of them row {}; the others are right.",
                first + 1
            ),
            Clue::SomeColumns(node, first, 1) => {
                format!("Only column {} of {node} is wrong; the others are right.", first + 1)
            }
            Clue::SomeColumns(node, first, wrong) => format!(
                "Only {wrong} columns of {node} are wrong, the first of them column {}; the others are right.",
                first + 1
            ),
            Clue::SomeHeads(node, heads) => {
                let verb = if heads.len() == 1 { "is" } else { "are" };
                format!("Only {} of {node} {verb} wrong; the other heads are right.", listed("head", heads))
            }
            Clue::Signs(node) => format!("Most numbers of {node} have the wrong sign."),
            Clue::OtherWeights => {
                "Every row of O is a sum of the right values: the values are right, and their weights are not.".into()
            }
            Clue::Dropout => "The numbers are consistent with dropout of the weights, which sets some to 0 and makes the others larger.".into(),
            Clue::ConsistentWith(what) => format!("The numbers are consistent with {what}."),
        }
    }
}

fn capital(text: &str) -> String {
    let (first, rest) = text.split_at(text.len().min(1));
    format!("{}{rest}", first.to_uppercase())
}

fn listed(what: &str, places: &[usize]) -> String {
    let numbers: Vec<String> = places.iter().take(6).map(|place| (place + 1).to_string()).collect();
    let more = if places.len() > 6 { " …" } else { "" };
    let plural = if places.len() == 1 { "" } else { "s" };
    format!("{what}{plural} {}{more}", numbers.join(", "))
}
