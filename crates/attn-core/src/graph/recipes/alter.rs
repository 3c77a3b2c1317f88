//! What is done at one stage that attention does not do there: a norm, a function, another order of rows.

use super::recipe::Recipe;
use crate::attention::{Axis, Base, Mask};
use crate::error::{Error, Result};
use crate::graph::{Factor, Graph, NodeId, Op};

/// Where something is done to the numbers that attention does not do there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The tokens X, before the projections.
    Tokens,
    /// X before the projections, and the residual.
    TokensAndResidual,
    /// Q.
    Queries,
    /// K.
    Keys,
    /// V.
    Values,
    /// Q and K, per head.
    QueriesAndKeys,
    /// K and V.
    KeysAndValues,
    /// Q, K and V.
    Roles,
    /// The scores, before they are scaled.
    Scores,
    /// The weights, per head.
    Weights,
    /// What each head mixes.
    Mixes,
    /// The heads put together.
    Heads,
    /// The result.
    Result,
}

/// What is done there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alter {
    /// `−a`.
    Negated,
    /// Times a number.
    Times(f64),
    /// `max(0, a)`.
    Relu,
    /// `|a|`.
    Absolute,
    /// `a ∘ a`.
    Squared,
    /// `exp(a)`.
    Exponential,
    /// `1 / (1 + e⁻ᵃ)`.
    Sigmoid,
    /// The hyperbolic tangent.
    Tanh,
    /// A softmax of each row.
    Softmax,
    /// A softmax down each column.
    SoftmaxOfColumns,
    /// Each row divided by its sum.
    OverSum,
    /// Each row minus its mean, over its standard deviation.
    LayerNorm,
    /// Each row over its root mean square.
    RmsNorm,
    /// Each row over its length.
    UnitRows,
    /// Each row minus its mean.
    Centred,
    /// Each column minus its mean.
    ColumnsCentred,
    /// Each column minus its mean, over its standard deviation.
    ColumnsNormed,
    /// Every row stands one place later, and the last comes first.
    RowsLater,
    /// Every row stands one place earlier, and the first comes last.
    RowsEarlier,
    /// Positions of sines and cosines added, so many times.
    Positions(u8),
    /// Pairs of columns turned by their position: (p, p + d/2).
    RotaryHalves,
    /// Pairs of columns turned by their position: (2p, 2p + 1).
    RotaryNeighbours,
    /// Rows as columns.
    Transposed,
    /// The rows in reverse order.
    RowsReversed,
    /// The columns in reverse order.
    ColumnsReversed,
    /// The first row is missing, the last stands twice.
    FirstRowMissing,
    /// The last row is missing, the one before it stands twice.
    LastRowMissing,
    /// The first row stands twice, the last is missing.
    FirstRowTwice,
    /// Each row is the sum of all rows up to it.
    Cumulative,
    /// The mean of all rows, as one row.
    MeanOfRows,
    /// The sum of all rows, as one row.
    SumOfRows,
    /// The rows of tokens that the key mask hides become 0.
    PaddingZeroed(Mask),
    /// Rounded to so many decimals.
    Rounded(u32),
    /// Cut off after so many decimals.
    Truncated(u32),
    /// Read row by row in another shape.
    Reshaped {
        /// Rows.
        rows: usize,
        /// Columns.
        cols: usize,
    },
    /// A row of numbers added to every row.
    Biased,
}

/// Something that attention does not do, at one stage of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alteration {
    /// Where.
    pub stage: Stage,
    /// What.
    pub alter: Alter,
}

/// Small numbers in a norm, as PyTorch has them.
const EPSILON: f64 = 1e-5;

/// What a node is called as long as its stage has something coming that attention does not do.
pub(super) fn name_before(recipe: &Recipe, stages: &[Stage], name: &str) -> String {
    match wanted(recipe, stages) {
        Some(_) => format!("{name}_before"),
        None => name.to_string(),
    }
}

/// The node after what the recipe does at one of these stages, under its own name where that is free. `first` is the position
/// of its first row.
///
/// # Errors
/// If the shapes do not allow it.
pub(super) fn altered(
    graph: &mut Graph,
    recipe: &Recipe,
    stages: &[Stage],
    name: &str,
    (node, first): (NodeId, usize),
) -> Result<NodeId> {
    let Some(alter) = wanted(recipe, stages) else { return Ok(node) };
    let name = if graph.find(name).is_some() { format!("{name}_altered") } else { name.to_string() };
    let mut chain = Chain { graph, name: &name, parts: 0 };
    let (op, inputs) = chain.last(alter, node, first)?;
    chain.graph.add(&name, op, &inputs)
}

fn wanted(recipe: &Recipe, stages: &[Stage]) -> Option<Alter> {
    recipe
        .alteration
        .filter(|alteration| stages.contains(&alteration.stage))
        .map(|alteration| alteration.alter)
}

/// Steps on the way to one node.
struct Chain<'a> {
    graph: &'a mut Graph,
    name: &'a str,
    parts: usize,
}

impl Chain<'_> {
    fn part(&mut self, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        self.parts += 1;
        self.graph.add(&format!("{}_part{}", self.name, self.parts), op, inputs)
    }

    /// The last step, after those before it.
    fn last(&mut self, alter: Alter, a: NodeId, first: usize) -> Result<(Op, Vec<NodeId>)> {
        let (rows, cols) = (self.graph[a].shape().rows, self.graph[a].shape().cols);
        Ok(match alter {
            Alter::Negated => (Op::Scale(Factor::Number(-1.0)), vec![a]),
            Alter::Times(number) => (Op::Scale(Factor::Number(number)), vec![a]),
            Alter::Relu => (Op::Relu, vec![a]),
            Alter::Squared => (Op::Multiply, vec![a, a]),
            Alter::Exponential => (Op::Exponential(Base::E), vec![a]),
            Alter::Sigmoid => (Op::Sigmoid, vec![a]),
            Alter::Softmax => (Op::Softmax(Axis::Rows, Base::E), vec![a]),
            Alter::SoftmaxOfColumns => (Op::Softmax(Axis::Columns, Base::E), vec![a]),
            Alter::OverSum => (Op::DivideBySum(Axis::Rows), vec![a]),
            Alter::RmsNorm => (Op::RmsNorm(EPSILON), vec![a]),
            Alter::UnitRows => (Op::UnitRows, vec![a]),
            Alter::Centred => (Op::MinusMean, vec![a]),
            Alter::LayerNorm => (Op::LayerNorm(EPSILON), vec![a]),
            Alter::Tanh => (Op::Tanh, vec![a]),
            Alter::Transposed => (Op::Transpose, vec![a]),
            Alter::RowsReversed => (Op::ReverseRows, vec![a]),
            Alter::Rounded(decimals) => (Op::Round(decimals), vec![a]),
            Alter::Truncated(decimals) => (Op::Truncate(decimals), vec![a]),
            Alter::Reshaped { rows, cols } => (Op::Reshape { rows, cols }, vec![a]),
            Alter::Absolute => {
                let minus = self.part(Op::Scale(Factor::Number(-1.0)), &[a])?;
                (Op::Add, vec![self.part(Op::Relu, &[a])?, self.part(Op::Relu, &[minus])?])
            }
            Alter::ColumnsCentred => self.turned(Op::MinusMean, a)?,
            Alter::ColumnsNormed => self.turned(Op::LayerNorm(EPSILON), a)?,
            Alter::RowsLater => self.stacked(a, [rows.saturating_sub(1), 1], [0, rows.saturating_sub(1)])?,
            Alter::RowsEarlier => self.stacked(a, [1, rows.saturating_sub(1)], [0, 1])?,
            Alter::ColumnsReversed => self.turned(Op::ReverseRows, a)?,
            Alter::Positions(times) => {
                let positions = self.part(Op::Sinusoidal { tokens: rows, width: cols }, &[])?;
                (Op::Add, [vec![a], vec![positions; usize::from(times)]].concat())
            }
            Alter::RotaryHalves => (Op::Rotary { first, base: 10_000.0 }, vec![a]),
            Alter::RotaryNeighbours => {
                // The halves of what has the even columns first are neighbours; a dot product feels no order of columns.
                let even = self.part(Op::EveryNthColumn { start: 0, step: 2 }, &[a])?;
                let odd = self.part(Op::EveryNthColumn { start: 1, step: 2 }, &[a])?;
                let pairs = self.part(Op::Concatenate, &[even, odd])?;
                (Op::Rotary { first, base: 10_000.0 }, vec![pairs])
            }
            Alter::FirstRowMissing => {
                self.stacked(a, [1, rows.saturating_sub(1)], [rows.saturating_sub(1), 1])?
            }
            Alter::LastRowMissing => {
                self.stacked(a, [0, rows.saturating_sub(1)], [rows.saturating_sub(2), 1])?
            }
            Alter::FirstRowTwice => self.stacked(a, [0, 1], [0, rows.saturating_sub(1)])?,
            Alter::Cumulative => {
                let ones = self.part(Op::Ones { rows, cols: rows }, &[])?;
                let causal = Mask { causal: true, ..Mask::default() };
                (Op::Product, vec![self.part(Op::MaskPattern(causal), &[ones])?, a])
            }
            Alter::SumOfRows => (Op::Product, vec![self.part(Op::Ones { rows: 1, cols: rows }, &[])?, a]),
            Alter::MeanOfRows => {
                let ones = self.part(Op::Ones { rows: 1, cols: rows }, &[])?;
                (Op::Product, vec![self.part(Op::Scale(Factor::Inverse(rows)), &[ones])?, a])
            }
            Alter::PaddingZeroed(mask) => {
                let matrix =
                    self.graph.find("M").ok_or_else(|| Error::new("there is no mask of the padding"))?;
                let visible = self.part(Op::MaskPattern(mask), &[matrix, matrix])?;
                let row = self.part(Op::Rows { start: 0, count: 1 }, &[visible])?;
                (Op::Product, vec![self.part(Op::Diagonal, &[row])?, a])
            }
            Alter::Biased => {
                let bias = self.graph.find("b").ok_or_else(|| Error::new("there is no bias to add"))?;
                let ones = self.part(Op::Ones { rows, cols: 1 }, &[])?;
                (Op::Add, vec![a, self.part(Op::Product, &[ones, bias])?])
            }
        })
    }

    /// An op on the columns instead of the rows.
    fn turned(&mut self, op: Op, a: NodeId) -> Result<(Op, Vec<NodeId>)> {
        let turned = self.part(Op::Transpose, &[a])?;
        Ok((Op::Transpose, vec![self.part(op, &[turned])?]))
    }

    /// Two blocks of rows (the first of them, how many) on top of each other.
    fn stacked(&mut self, a: NodeId, above: [usize; 2], below: [usize; 2]) -> Result<(Op, Vec<NodeId>)> {
        let mut block = |[start, count]: [usize; 2]| self.part(Op::Rows { start, count }, &[a]);
        let blocks = vec![block(above)?, block(below)?];
        // Rows that stand twice cannot keep their names.
        Ok((Op::Stack(None), blocks))
    }
}
