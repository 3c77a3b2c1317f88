//! The steps of an alteration: a norm, a function, another order of rows.

use crate::attention::{Axis, Base, Mask, MatrixRule, Order, Pairing, Rotation};
use crate::error::{Error, Result};
use crate::graph::{Factor, Graph, NodeId, Op, Step};
use crate::matrix::Shape;

use super::alteration::{Alter, Combine, Move, Norm, OtherMatrix, Site, Slant};
use super::attend::{Last, Pipeline};

impl Pipeline<'_> {
    /// The name of a node before the alteration at one of these sites; its own name where there is none.
    pub fn name_before(&self, sites: &[Site], name: &str) -> String {
        match self.alteration_at(sites) {
            Some(_) => format!("{name}_before"),
            None => name.to_string(),
        }
    }

    /// The node after the recipe's alteration at one of these sites, under its own name where that is free.
    ///
    /// # Errors
    /// If the shapes do not allow it.
    pub fn altered(&mut self, sites: &[Site], name: &str, node: NodeId) -> Result<NodeId> {
        self.altered_from(sites, name, (node, 0))
    }

    /// The same for a node whose first row is at this position.
    pub fn altered_from(
        &mut self,
        sites: &[Site],
        name: &str,
        (node, first): (NodeId, usize),
    ) -> Result<NodeId> {
        let Some(alter) = self.alteration_at(sites) else { return Ok(node) };
        let name = if self.graph.find(name).is_some() { format!("{name}_altered") } else { name.to_string() };
        let mut chain = Chain { graph: self.graph, name: &name, parts: 0 };
        let (op, inputs) = chain.last(alter, node, first)?;
        self.graph.add(&name, op, &inputs)
    }

    fn alteration_at(&self, sites: &[Site]) -> Option<Alter> {
        let alteration = self.recipe.alteration?;
        sites.iter().any(|site| alteration.stage.parts().contains(site)).then_some(alteration.alter)
    }
}

// The chain of steps that alters a node.

/// A chain of steps that ends in a node with a given name.
struct Chain<'a> {
    graph: &'a mut Graph,
    name: &'a str,
    parts: usize,
}

impl Chain<'_> {
    /// Records a step before the last one.
    fn part(&mut self, op: Op, inputs: &[NodeId]) -> Result<NodeId> {
        self.parts += 1;
        self.graph.add(&format!("{}_part{}", self.name, self.parts), op, inputs)
    }

    /// Records a last step as one before another.
    fn made(&mut self, (op, inputs): Last) -> Result<NodeId> {
        self.part(op, &inputs)
    }

    fn times(&mut self, number: f64, a: NodeId) -> Result<NodeId> {
        self.part(Op::Scale(Factor::Number(number)), &[a])
    }

    fn relu(&mut self, a: NodeId) -> Result<NodeId> {
        self.part(Op::Relu, &[a])
    }

    /// The same number in every cell.
    fn filled(&mut self, number: f64, like: NodeId) -> Result<NodeId> {
        let Shape { rows, cols } = self.graph[like].shape();
        self.filled_with(number, (rows, cols))
    }

    fn filled_with(&mut self, number: f64, (rows, cols): (usize, usize)) -> Result<NodeId> {
        let ones = self.part(Op::Ones { rows, cols }, &[])?;
        if number == 1.0 { Ok(ones) } else { self.times(number, ones) }
    }

    /// `|a|`.
    fn size(&mut self, a: NodeId) -> Result<Last> {
        let minus = self.times(-1.0, a)?;
        Ok((Op::Add, vec![self.relu(a)?, self.relu(minus)?]))
    }

    /// The part of each cell above a number: `max(0, a − number)`.
    fn above(&mut self, number: f64, a: NodeId) -> Result<NodeId> {
        let shift = self.filled(-number, a)?;
        let moved = self.part(Op::Add, &[a, shift])?;
        self.relu(moved)
    }

    /// The last step, after those before it.
    fn last(&mut self, alter: Alter, a: NodeId, first: usize) -> Result<Last> {
        let Shape { rows, cols } = self.graph[a].shape();
        Ok(match alter {
            Alter::Negated => (Op::Scale(Factor::Number(-1.0)), vec![a]),
            Alter::Times(number) => (Op::Scale(Factor::Number(number)), vec![a]),
            Alter::Plus(number) => (Op::Add, vec![a, self.filled(number, a)?]),
            Alter::From(number) => (Op::Subtract, vec![self.filled(number, a)?, a]),
            Alter::Relu => (Op::Relu, vec![a]),
            Alter::Silu => (Op::Silu, vec![a]),
            Alter::Gelu(form) => (Op::Gelu(form), vec![a]),
            Alter::Tanh => (Op::Tanh, vec![a]),
            Alter::Sigmoid => (Op::Sigmoid, vec![a]),
            Alter::Exponential => (Op::Exponential(Base::E), vec![a]),
            Alter::Squared => (Op::Multiply, vec![a, a]),
            Alter::Cubed => (Op::Multiply, vec![self.part(Op::Multiply, &[a, a])?, a]),
            Alter::Absolute => self.size(a)?,
            Alter::Inverse => (Op::Quotient, vec![self.filled(1.0, a)?, a]),
            Alter::Transposed => (Op::Transpose, vec![a]),
            Alter::Rounded(decimals) => (Op::Round(decimals), vec![a]),
            Alter::Truncated(decimals) => (Op::Truncate(decimals), vec![a]),
            Alter::Reshaped { rows, cols } => (Op::Reshape { rows, cols }, vec![a]),
            Alter::ReadByColumn => (Op::Reshape { rows, cols }, vec![self.part(Op::Transpose, &[a])?]),
            Alter::ReshapedAndTransposed => {
                (Op::Transpose, vec![self.part(Op::Reshape { rows: cols, cols: rows }, &[a])?])
            }
            Alter::Normed(norm, axis) => self.normed(norm, axis, a)?,
            Alter::Moved(how, axis) => self.along(axis, a, |chain, rows| chain.moved_rows(how, rows))?,
            Alter::Sorted(order, axis) => {
                self.along(axis, a, |_, rows| Ok((Op::SortRows(order), vec![rows])))?
            }
            Alter::With(how, other) => {
                let b = self.other(other, a)?;
                self.combined(how, a, b)?
            }
            Alter::Combined(how, one, other) => {
                let [b, c] = [self.other(one, a)?, self.other(other, a)?];
                self.combined(how, b, c)?
            }
            Alter::TopK { count, divided } => self.top_k((count, divided), a)?,
            Alter::Slanted(side) => self.slanted(side, a)?,
            Alter::Kept(mask) => (Op::Multiply, vec![a, self.part(Op::MaskPattern(mask), &[a])?]),
            Alter::PaddingZeroed(mask) => {
                let matrix = self.required("M", "mask of the padding")?;
                let visible = self.part(Op::MaskPattern(mask), &[matrix, matrix])?;
                let row = self.part(Op::Rows { start: 0, count: 1 }, &[visible])?;
                (Op::Product, vec![self.part(Op::Diagonal, &[row])?, a])
            }
            Alter::IdentityAdded => {
                let own = Mask { window: Some(1), from_start: true, ..Mask::default() };
                let ones = self.filled(1.0, a)?;
                (Op::Add, vec![a, self.part(Op::MaskPattern(own), &[ones])?])
            }
            Alter::Biased => {
                let bias = self.required("b", "bias to add")?;
                (Op::Add, vec![a, self.down(bias, a)?])
            }
            Alter::RotaryHalves => self.rotary(Pairing::Halves, a, first)?,
            Alter::RotaryNeighbours => self.rotary(Pairing::Neighbours, a, first)?,
            Alter::Positions(_) | Alter::PositionsFromOne | Alter::PositionsInHalves => {
                self.positions(alter, a)?
            }
            Alter::AttendedAgain => {
                return Err(Error::new("only the result goes through the whole attention again"));
            }
            _ => self.function(alter, a)?,
        })
    }

    /// Functions of each cell that take several steps.
    fn function(&mut self, alter: Alter, a: NodeId) -> Result<Last> {
        Ok(match alter {
            Alter::LeakyRelu => {
                let minus = self.times(-0.01, a)?;
                // ReLU(−0.01 a) is −0.01 a for negative a, and 0 otherwise.
                (Op::Subtract, vec![self.relu(a)?, self.relu(minus)?])
            }
            Alter::Elu | Alter::EluAndOne => {
                let minus = self.times(-1.0, a)?;
                let size_below = self.relu(minus)?;
                let below = self.times(-1.0, size_below)?;
                let power = self.part(Op::Exponential(Base::E), &[below])?;
                let and_one = (Op::Add, vec![self.relu(a)?, power]);
                if alter == Alter::EluAndOne {
                    return Ok(and_one);
                }
                (Op::Subtract, vec![self.made(and_one)?, self.filled(1.0, a)?])
            }
            Alter::Softplus => {
                let power = self.part(Op::Exponential(Base::E), &[a])?;
                let ones = self.filled(1.0, a)?;
                (Op::Logarithm, vec![self.part(Op::Add, &[ones, power])?])
            }
            Alter::RootOfSize => {
                let logarithm = self.function(Alter::LogarithmOfSize, a)?;
                let logarithm = self.made(logarithm)?;
                (Op::Exponential(Base::E), vec![self.times(0.5, logarithm)?])
            }
            Alter::LogarithmOfSize => {
                let size = self.size(a)?;
                (Op::Logarithm, vec![self.made(size)?])
            }
            Alter::LogarithmOfOneAndSize => {
                let size = self.size(a)?;
                let (size, ones) = (self.made(size)?, self.filled(1.0, a)?);
                (Op::Logarithm, vec![self.part(Op::Add, &[ones, size])?])
            }
            Alter::Clipped(low, high) => {
                let (above, beyond) = (self.above(low, a)?, self.above(high, a)?);
                let kept = self.part(Op::Subtract, &[above, beyond])?;
                (Op::Add, vec![kept, self.filled(low, a)?])
            }
            // The sign: tanh(1e12 a).
            _ => (Op::Tanh, vec![self.times(1e12, a)?]),
        })
    }

    /// The node of this name.
    fn required(&self, name: &str, what: &str) -> Result<NodeId> {
        self.graph.find(name).ok_or_else(|| Error::new(format!("there is no {what}")))
    }

    /// A row repeated in as many rows as `like` has.
    fn down(&mut self, row: NodeId, like: NodeId) -> Result<NodeId> {
        let rows = self.graph[like].shape().rows;
        let ones = self.part(Op::Ones { rows, cols: 1 }, &[])?;
        self.part(Op::Product, &[ones, row])
    }

    /// A column repeated in as many columns as `like` has.
    fn across(&mut self, column: NodeId, like: NodeId) -> Result<NodeId> {
        let cols = self.graph[like].shape().cols;
        let ones = self.part(Op::Ones { rows: 1, cols }, &[])?;
        self.part(Op::Product, &[column, ones])
    }

    /// Applies an operation on rows along another axis: to the transpose, or to all cells as one row.
    fn along(
        &mut self,
        axis: Axis,
        a: NodeId,
        rows: impl FnOnce(&mut Self, NodeId) -> Result<Last>,
    ) -> Result<Last> {
        let Shape { rows: height, cols } = self.graph[a].shape();
        let (there, back) = match axis {
            Axis::Rows => return rows(self, a),
            Axis::Columns => (Op::Transpose, Op::Transpose),
            Axis::Whole => (Op::Reshape { rows: 1, cols: height * cols }, Op::Reshape { rows: height, cols }),
        };
        let turned = self.part(there, &[a])?;
        let last = rows(self, turned)?;
        Ok((back, vec![self.made(last)?]))
    }
}

// Normalisations along rows, columns or all cells.

impl Chain<'_> {
    /// A norm along an axis.
    fn normed(&mut self, norm: Norm, axis: Axis, a: NodeId) -> Result<Last> {
        let whole = match norm {
            Norm::Softmax => Op::Softmax(axis, Base::E),
            Norm::Sum => Op::DivideBySum(axis),
            Norm::MinusMax => Op::MinusMax(axis),
            _ => return self.along(axis, a, |chain, rows| chain.normed_rows(norm, rows)),
        };
        Ok((whole, vec![a]))
    }

    fn normed_rows(&mut self, norm: Norm, a: NodeId) -> Result<Last> {
        let count = self.graph[a].shape().cols as f64;
        Ok(match norm {
            Norm::Length => (Op::UnitRows, vec![a]),
            Norm::Centred => (Op::MinusMean, vec![a]),
            Norm::RootMeanSquare(epsilon) => (Op::RmsNorm(epsilon), vec![a]),
            Norm::Standard { epsilon, sample: false } => (Op::LayerNorm(epsilon), vec![a]),
            // The sum of the squares over n − 1 instead of n.
            Norm::Standard { epsilon, sample: true } => {
                let share = (count - 1.0) / count;
                let normed = self.part(Op::LayerNorm(epsilon * share), &[a])?;
                (Op::Scale(Factor::Number(share.sqrt())), vec![normed])
            }
            Norm::Range => {
                let negative = self.times(-1.0, a)?;
                let (high, minus_low) =
                    (self.part(Op::Max(Axis::Rows), &[a])?, self.part(Op::Max(Axis::Rows), &[negative])?);
                let range = self.part(Op::Add, &[high, minus_low])?;
                let (range, minus_low) = (self.across(range, a)?, self.across(minus_low, a)?);
                (Op::Quotient, vec![self.part(Op::Add, &[a, minus_low])?, range])
            }
            Norm::Max => {
                let max = self.part(Op::Max(Axis::Rows), &[a])?;
                (Op::Quotient, vec![a, self.across(max, a)?])
            }
            Norm::MaxSize | Norm::SizeSum => {
                let size = self.size(a)?;
                let size = self.made(size)?;
                let of = if norm == Norm::SizeSum { Op::Sums(Axis::Rows) } else { Op::Max(Axis::Rows) };
                let divisor = self.part(of, &[size])?;
                (Op::Quotient, vec![a, self.across(divisor, a)?])
            }
            // These are steps of their own for every axis.
            Norm::Softmax | Norm::Sum | Norm::MinusMax => return self.normed(norm, Axis::Rows, a),
        })
    }
}

// Rearranged rows and columns.

/// A block of rows of the rearranged matrix.
#[derive(Clone, Copy)]
enum Block {
    /// Rows of the original: the first, and their count.
    Own(usize, usize),
    /// This many rows of zeros.
    Zero(usize),
}

impl Chain<'_> {
    /// Rearranged rows.
    fn moved_rows(&mut self, how: Move, a: NodeId) -> Result<Last> {
        let rows = self.graph[a].shape().rows;
        if rows < 2 {
            return Err(Error::new("one row alone has no other place"));
        }
        match how {
            Move::Reversed => Ok((Op::ReverseRows, vec![a])),
            Move::FirstForAll | Move::LastForAll => {
                let start = if how == Move::FirstForAll { 0 } else { rows - 1 };
                let row = self.part(Op::Rows { start, count: 1 }, &[a])?;
                let ones = self.part(Op::Ones { rows, cols: 1 }, &[])?;
                Ok((Op::Product, vec![ones, row]))
            }
            Move::SumForAll | Move::SumOnly => {
                let count = if how == Move::SumForAll { rows } else { 1 };
                Ok((Op::Product, vec![self.filled_with(1.0, (count, rows))?, a]))
            }
            Move::MeanForAll | Move::MeanOnly => {
                let count = if how == Move::MeanForAll { rows } else { 1 };
                let ones = self.filled_with(1.0, (count, rows))?;
                Ok((Op::Product, vec![self.part(Op::Scale(Factor::Inverse(rows)), &[ones])?, a]))
            }
            Move::MaxForAll | Move::MaxOnly => {
                let turned = self.part(Op::Transpose, &[a])?;
                let max = self.part(Op::Max(Axis::Rows), &[turned])?;
                if how == Move::MaxOnly {
                    return Ok((Op::Transpose, vec![max]));
                }
                let ones = self.filled_with(1.0, (rows, 1))?;
                Ok((Op::ProductTransposed, vec![ones, max]))
            }
            Move::Cumulative | Move::CumulativeFromEnd | Move::RunningMean => self.cumulative(how, a),
            Move::Differences => {
                let before = self.stacked(a, &[Block::Zero(1), Block::Own(0, rows - 1)])?;
                Ok((Op::Subtract, vec![a, self.made(before)?]))
            }
            _ => self.stacked(a, &blocks(how, rows)),
        }
    }

    /// Sums or means of all rows up to each, or from each on.
    fn cumulative(&mut self, how: Move, a: NodeId) -> Result<Last> {
        let rows = self.graph[a].shape().rows;
        let ones = self.part(Op::Ones { rows, cols: rows }, &[])?;
        let causal = self.part(Op::MaskPattern(Mask { causal: true, ..Mask::default() }), &[ones])?;
        let which = match how {
            Move::CumulativeFromEnd => self.part(Op::Transpose, &[causal])?,
            Move::RunningMean => self.part(Op::DivideBySum(Axis::Rows), &[causal])?,
            _ => causal,
        };
        Ok((Op::Product, vec![which, a]))
    }

    /// Blocks of rows on top of each other.
    fn stacked(&mut self, a: NodeId, blocks: &[Block]) -> Result<Last> {
        let cols = self.graph[a].shape().cols;
        let mut parts = Vec::new();
        for block in blocks {
            match *block {
                Block::Own(_, 0) | Block::Zero(0) => {}
                Block::Own(start, count) => parts.push(self.part(Op::Rows { start, count }, &[a])?),
                Block::Zero(count) => parts.push(self.filled_with(0.0, (count, cols))?),
            }
        }
        // Repeated rows cannot keep their labels.
        Ok((Op::Stack(None), parts))
    }
}

/// The blocks of rows after a move, from the first row on.
fn blocks(how: Move, rows: usize) -> Vec<Block> {
    use Block::{Own, Zero};
    let (last, half) = (rows - 1, rows / 2);
    match how {
        Move::Later => vec![Own(last, 1), Own(0, last)],
        Move::Earlier => vec![Own(1, last), Own(0, 1)],
        Move::LaterFromZero => vec![Zero(1), Own(0, last)],
        Move::EarlierToZero => vec![Own(1, last), Zero(1)],
        Move::FirstTwice => vec![Own(0, 1), Own(0, last)],
        Move::LastTwice => vec![Own(1, last), Own(last, 1)],
        Move::LastReplaced => vec![Own(0, last), Own(last - 1, 1)],
        Move::FirstGone => vec![Own(1, last)],
        Move::LastGone => vec![Own(0, last)],
        Move::FirstZero => vec![Zero(1), Own(1, last)],
        Move::LastZero => vec![Own(0, last), Zero(1)],
        Move::FirstHalfZero => vec![Zero(half), Own(half, rows - half)],
        Move::LastHalfZero => vec![Own(0, half), Zero(rows - half)],
        Move::EndsSwapped => vec![Own(last, 1), Own(1, last - 1), Own(0, 1)],
        Move::HalvesSwapped => vec![Own(half, rows - half), Own(0, half)],
        Move::NeighboursSwapped => {
            let pairs = (0..half).flat_map(|pair| [Own(2 * pair + 1, 1), Own(2 * pair, 1)]);
            pairs.chain([Own(2 * half, rows % 2)]).collect()
        }
        Move::Repeated => vec![Own(0, rows), Own(0, rows)],
        Move::FirstOnly => vec![Own(0, 1)],
        Move::LastOnly => vec![Own(last, 1)],
        // The other moves (sums, means …) do not copy blocks of rows.
        _ => vec![Own(0, rows)],
    }
}

// Alterations with other numbers: another matrix of the computation, positions, a pattern of ones and zeros.

impl Chain<'_> {
    /// Another matrix of the computation, or the altered one.
    fn other(&mut self, other: OtherMatrix, a: NodeId) -> Result<NodeId> {
        Ok(match other {
            OtherMatrix::Itself => a,
            OtherMatrix::ItselfTransposed => self.part(Op::Transpose, &[a])?,
            OtherMatrix::Node(name) => self.node(name)?,
        })
    }

    fn combined(&mut self, how: Combine, a: NodeId, b: NodeId) -> Result<Last> {
        let (own, of) = (self.graph[a].shape(), self.graph[b].shape());
        let is_product = matches!(how, Combine::Product | Combine::ProductTransposed);
        if !is_product && own != of {
            return Err(Error::new("the shapes do not fit"));
        }
        Ok(match how {
            Combine::Replaced => (Op::Add, vec![b]),
            Combine::Added => (Op::Add, vec![a, b]),
            Combine::Subtracted => (Op::Subtract, vec![a, b]),
            Combine::SubtractedFrom => (Op::Subtract, vec![b, a]),
            Combine::Multiplied => (Op::Multiply, vec![a, b]),
            Combine::Averaged => {
                let sum = self.part(Op::Add, &[a, b])?;
                (Op::Scale(Factor::Number(0.5)), vec![sum])
            }
            Combine::Product => (Op::Product, vec![a, b]),
            Combine::ProductTransposed => (Op::ProductTransposed, vec![a, b]),
        })
    }

    /// A node of the same head, or one that all heads share.
    fn node(&self, name: &str) -> Result<NodeId> {
        let own = self.name.strip_suffix("_altered").unwrap_or(self.name);
        let head = Step::parse(own).and_then(|step| step.head);
        let of_head = head.and_then(|head| self.graph.find(&format!("{name}_{head}")));
        of_head.map_or_else(|| self.required(name, name), Ok)
    }

    /// With sinusoidal positions added.
    fn positions(&mut self, alter: Alter, a: NodeId) -> Result<Last> {
        let Shape { rows, cols: width } = self.graph[a].shape();
        let sines = |tokens| Op::Sinusoidal { first: 0, tokens, width };
        Ok(match alter {
            Alter::PositionsFromOne => {
                let all = self.part(sines(rows + 1), &[])?;
                (Op::Add, vec![a, self.part(Op::Rows { start: 1, count: rows }, &[all])?])
            }
            Alter::PositionsInHalves => {
                let all = self.part(sines(rows), &[])?;
                let sines = self.part(Op::EveryNthColumn { start: 0, step: 2 }, &[all])?;
                let cosines = self.part(Op::EveryNthColumn { start: 1, step: 2 }, &[all])?;
                (Op::Add, vec![a, self.part(Op::Concatenate, &[sines, cosines])?])
            }
            Alter::Positions(times) => {
                let positions = self.part(sines(rows), &[])?;
                (Op::Add, [vec![a], vec![positions; usize::from(times)]].concat())
            }
            _ => (Op::Add, vec![a]),
        })
    }

    /// Rotates all columns by their position, with the paper's frequencies.
    fn rotary(&mut self, pairing: Pairing, a: NodeId, first: usize) -> Result<Last> {
        let width = self.graph[a].shape().cols;
        if !width.is_multiple_of(2) {
            return Err(Error::new(format!("a width of {width} cannot be rotated in pairs")));
        }
        let frequencies = self.part(Op::Frequencies { width, base: 10_000.0 }, &[])?;
        Ok((Op::Rotary(Rotation { first, pairing, magnitude: 1.0 }), vec![a, frequencies]))
    }
}

// Top-k of each row, and slanted rows.

impl Chain<'_> {
    /// Top-k: the k largest numbers of each row, 0 in the other cells, divided by their sum if `divided`.
    fn top_k(&mut self, (count, divided): (usize, bool), a: NodeId) -> Result<Last> {
        if count == 0 || count >= self.graph[a].shape().cols {
            return Err(Error::new("nothing is left out"));
        }
        let sorted = self.part(Op::SortRows(Order::Descending), &[a])?;
        let least = self.part(Op::Columns { start: count - 1, count: 1 }, &[sorted])?;
        let least = self.across(least, a)?;
        // The distance of each number below the smallest kept one: 0 for kept numbers.
        let below = self.part(Op::Subtract, &[least, a])?;
        let below = self.part(Op::Relu, &[below])?;
        let rule = Mask { matrix: Some(MatrixRule::Block), ..Mask::default() };
        let pattern = self.part(Op::MaskPattern(rule), &[a, below])?;
        if !divided {
            return Ok((Op::Multiply, vec![a, pattern]));
        }
        let kept = self.part(Op::Multiply, &[a, pattern])?;
        Ok((Op::DivideBySum(Axis::Rows), vec![kept]))
    }

    /// Row i moved i columns to the side. The matrix with a square of zeros beside it is read as rows that are one cell longer
    /// (or shorter): each row then begins one cell later (or earlier) than the one above it.
    fn slanted(&mut self, side: Slant, a: NodeId) -> Result<Last> {
        let Shape { rows, cols } = self.graph[a].shape();
        let zeros = self.filled_with(0.0, (rows, rows))?;
        let width = cols + rows;
        let beside = match side {
            Slant::Left => [a, zeros],
            Slant::Right => [zeros, a],
        };
        let wide = self.part(Op::Concatenate, &beside)?;
        let line = self.part(Op::Reshape { rows: 1, cols: rows * width }, &[wide])?;
        let (line, width) = match side {
            Slant::Left => {
                let end = self.filled_with(0.0, (1, rows))?;
                (self.part(Op::Concatenate, &[line, end])?, width + 1)
            }
            Slant::Right => {
                (self.part(Op::Columns { start: rows, count: rows * (width - 1) }, &[line])?, width - 1)
            }
        };
        let slanted = self.part(Op::Reshape { rows, cols: width }, &[line])?;
        Ok((Op::Columns { start: 0, count: cols }, vec![slanted]))
    }
}
