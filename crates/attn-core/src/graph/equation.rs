//! An equation of matrices, and the convention in which it is written.

use serde::{Deserialize, Serialize};

use std::fmt;

/// The convention of display: tokens as rows, which is how everything is computed, or as columns, which shows the same graph
/// transposed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Convention {
    /// `Q = X · W_Q`.
    #[default]
    Rows,
    /// `Qᵀ = W_Qᵀ · Xᵀ`.
    Columns,
}

/// An equation in its two sides; written, they are joined by ` = `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Equation {
    /// The node's name, or several names with commas between them.
    pub left: String,
    /// The formula that computes it.
    pub right: String,
}

impl Equation {
    /// Adds the name of another node that the same formula computes.
    pub fn add_name(&mut self, name: &str) {
        self.left.push_str(", ");
        self.left.push_str(name);
    }
}

impl fmt::Display for Equation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.left, self.right)
    }
}
