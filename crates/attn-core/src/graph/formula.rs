//! An op as an equation: `Q (4×5) = X (4×5) · W_Q (5×5)`.
//!
//! One notation, in UTF-8, from which the renderers make ASCII and LaTeX: names with `_`, `·` for a product, `ᵀ`
//! behind what is transposed, `√(…)`, `−`, `∞`, `≤`, `∘`. With shapes, which is how people read it, a node that has a
//! label goes by it, and a node that only collects others says so: `gap, causal mask (gap_causal, 2×1) = collected from the
//! two runs`.
//!
//! A new op needs an arm here, or this does not compile.
#![deny(clippy::wildcard_enum_match_arm)]

use super::equation::{Convention, Equation};
use super::op::Op;
use super::op_parameters::{Factor, Fusion, GeluForm, Side};
use super::{Graph, NodeId};
use crate::attention::{Axis, Base, Order, WeightLayout};
use crate::text::counted;

mod conditions;
mod parts;
mod positions;
#[cfg(test)]
mod tests;

/// The equation of a node, written. With `shapes`, every matrix carries its shape and goes by its label, if it has one.
pub fn formula(graph: &Graph, id: NodeId, convention: Convention, shapes: bool) -> String {
    equation(graph, id, convention, shapes).to_string()
}

/// The equation of a node; see [`formula`].
pub fn equation(graph: &Graph, id: NodeId, convention: Convention, shapes: bool) -> Equation {
    let node = &graph[id];
    let writer = FormulaWriter { graph, inputs: &node.inputs, convention, shapes };
    let right = match &node.collects {
        Some(what) if matches!(node.op, Op::Concatenate) => writer.side_by_side(what),
        Some(what) if !node.op.is_given() => writer.collected(what),
        _ => writer.right_hand_side(&node.op),
    };
    Equation { left: writer.introduced(id), right }
}

struct FormulaWriter<'a> {
    graph: &'a Graph,
    inputs: &'a [NodeId],
    convention: Convention,
    shapes: bool,
}

impl FormulaWriter<'_> {
    /// A node's name, turned or not, in the convention: `K`, `Kᵀ (5×4)`.
    fn name(&self, id: NodeId, turned: bool) -> String {
        let node = &self.graph[id];
        let turned = turned != (self.convention == Convention::Columns);
        let (mut shape, mark) = (node.shape(), if turned { "ᵀ" } else { "" });
        if turned {
            shape = crate::matrix::Shape { rows: shape.cols, cols: shape.rows };
        }
        match (self.shapes, &node.label) {
            (true, Some(label)) => format!("{label}{mark} ({shape})"),
            (true, None) => format!("{}{mark} ({shape})", node.name),
            (false, _) => format!("{}{mark}", node.name),
        }
    }

    /// The left-hand side: the one place where a node with a label also shows the name that it is addressed by.
    fn introduced(&self, id: NodeId) -> String {
        let text = self.name(id, false);
        match (self.shapes, &self.graph[id].label) {
            // The last parenthesis opens the shape; a label such as φ(Q) has one of its own.
            (true, Some(_)) => match text.rsplit_once('(') {
                Some((label, shape)) => format!("{label}({}, {shape}", self.graph[id].name),
                None => text,
            },
            _ => text,
        }
    }

    fn input(&self, input: usize) -> String {
        self.inputs.get(input).map_or_else(String::new, |&id| self.name(id, false))
    }

    fn turned(&self, input: usize) -> String {
        self.inputs.get(input).map_or_else(String::new, |&id| self.name(id, true))
    }

    /// `a · b`, which the column convention turns into `bᵀ · aᵀ`.
    fn in_order(&self, a: String, b: String) -> String {
        match self.convention {
            Convention::Rows => format!("{a} · {b}"),
            Convention::Columns => format!("{b} · {a}"),
        }
    }

    fn joined(&self, between: &str) -> String {
        (0..self.inputs.len()).map(|input| self.input(input)).collect::<Vec<_>>().join(between)
    }

    fn right_hand_side(&self, op: &Op) -> String {
        let a = || self.input(0);
        match op {
            Op::Given(origin) => origin.to_string(),
            Op::Product => self.in_order(a(), self.input(1)),
            Op::ProductTransposed => self.in_order(a(), self.turned(1)),
            Op::TransposedProduct => self.in_order(self.turned(0), self.input(1)),
            Op::Linear(layout) => self.linear(*layout),
            Op::TokenRows(_) => format!("{} of {}, one for each token", self.lines(true), a()),
            Op::Ones { .. } => "1 everywhere".into(),
            Op::Transpose => self.turned(0),
            Op::Add => self.sum(),
            Op::Subtract => self.joined(" − "),
            Op::Change => format!("{} − {}", self.input(1), a()),
            Op::Multiply => self.joined(" ∘ "),
            Op::Divide | Op::Quotient => self.joined(" / "),
            Op::OnePlus => format!("1 + {}", a()),
            Op::Times => self.joined(" · "),
            Op::Scale(Factor::InverseRoot(width)) => format!("{} · 1/√{width}", a()),
            Op::Scale(Factor::Inverse(width)) => format!("{} · 1/{width}", a()),
            Op::Scale(Factor::Root(width)) => format!("{} · √{width}", a()),
            Op::Scale(Factor::Number(number)) => format!("{} · {}", number_text(*number), a()),
            Op::Temperature(temperature) => format!("{} / {}", a(), number_text(*temperature)),
            Op::SoftCap(cap) => {
                let cap = number_text(*cap);
                format!("{cap} · tanh({} / {cap})", a())
            }
            Op::Mask(mask) => self.masked(mask),
            Op::MaskPattern(mask) => format!("1 where {}, else 0", self.conditions(mask)),
            Op::MinusMax(axis) => format!("{} − max of {}", a(), self.each(*axis)),
            Op::Exponential(Base::E) => format!("exp({})", a()),
            Op::Exponential(Base::Number(base)) => format!("{} ^ {}", number_text(*base), a()),
            Op::Logarithm => format!("ln({})", a()),
            Op::Root => format!("√({})", a()),
            Op::NormalShare => format!("Φ({})", a()),
            Op::SingleRange => format!("{}, with ∞ beyond 3.4e38", a()),
            Op::Sums(axis) => format!("sum of {} of {}", self.each(*axis), a()),
            Op::BlockSums { rows, cols } => self.block_sums(*rows, *cols),
            Op::Max(axis) => format!("largest of {} of {}", self.each(*axis), a()),
            Op::DivideBySum(axis) => format!("{} / sum of {}", a(), self.each(*axis)),
            Op::Softmax(axis, base) => self.softmax(*axis, *base),
            Op::UnguardedSoftmax(axis, base) => {
                format!("{}, without subtracting the maximum", self.softmax(*axis, *base))
            }
            Op::NegativeLogSoftmax => format!("−ln({})", self.softmax(Axis::Rows, Base::E)),
            Op::SoftmaxWithSink { head } => self.softmax_with_sink(*head),
            Op::Guard => format!("{}, with 0 where a row of {} is all −∞", a(), self.input(1)),
            Op::EveryNthColumn { start, step } => self.every_nth(*start, *step),
            Op::Reshape { rows, cols } => format!("{} read as {rows}×{cols}", a()),
            Op::Columns { start, count } => self.part(false, *start, *count),
            Op::RepeatColumns(times) => {
                format!("{} with {} repeated {times} times", a(), self.each(Axis::Columns))
            }
            Op::Rows { start, count } => self.part(true, *start, *count),
            Op::ReverseRows => format!("{} of {} in reverse order", self.lines(true), a()),
            Op::SortRows(Order::Ascending) => format!("{} of {}, sorted", self.each(Axis::Rows), a()),
            Op::SortRows(Order::Descending) => {
                format!("{} of {}, sorted from the largest to the smallest", self.each(Axis::Rows), a())
            }
            Op::Concatenate => self.put_together(true),
            Op::Stack(_) => self.put_together(false),
            Op::Relu => format!("ReLU({})", a()),
            Op::EluPlusOne => format!("elu({}) + 1", a()),
            Op::Sigmoid => format!("sigmoid({})", a()),
            Op::MinusMean => format!("{} − mean of {}", a(), self.each(Axis::Rows)),
            Op::Tanh => format!("tanh({})", a()),
            Op::Silu => format!("SiLU({})", a()),
            Op::Gelu(GeluForm::Erf) => format!("GELU({})", a()),
            Op::Gelu(GeluForm::Tanh) => format!("GELU({}), tanh form", a()),
            Op::RmsNorm(epsilon) => self.norm("RMSNorm", *epsilon),
            Op::LayerNorm(epsilon) => self.norm("LayerNorm", *epsilon),
            Op::Cosine => format!("cosine({}, {})", a(), self.input(1)),
            Op::Euclidean => format!("distance({}, {})", a(), self.input(1)),
            Op::UnitRows => format!("{} / length of {}", a(), self.each(Axis::Rows)),
            Op::Sinusoidal { first, .. } => self.sinusoidal(*first),
            Op::Frequencies { width, base } => {
                format!("1 / {}^(2p/{width}): pair p of columns, from 0", number_text(*base))
            }
            Op::ScaledFrequencies(scaling) => self.scaled_frequencies(scaling),
            Op::Rotary(rotation) => self.rotary(rotation),
            Op::Alibi(head, _) => self.alibi(head),
            Op::BucketBias { column, .. } => {
                format!("column {} of {}, row by the bucket of query − key", column + 1, a())
            }
            Op::SingularVectors { side: Side::Left, rank } => {
                format!("first {rank} left singular vectors of {}", a())
            }
            Op::SingularVectors { side: Side::Right, rank } => {
                format!("first {rank} right singular vectors of {}", a())
            }
            Op::SingularValues => format!("singular values of {}", a()),
            Op::Diagonal => format!("diag({})", a()),
            Op::Summary(statistic) => format!("{} of {}", statistic.text(), a()),
            Op::Round(decimals) => format!("{} rounded to {}", a(), counted(*decimals as usize, "decimal")),
            Op::Truncate(decimals) => {
                format!("{} cut off after {}", a(), counted(*decimals as usize, "decimal"))
            }
            Op::Fused(Fusion::Output(steps)) => {
                format!("attention({}), fused{}", self.joined(", "), self.fused_steps(steps))
            }
            Op::Fused(Fusion::LogSumExp) => {
                format!("ln Σ exp of {} of {}", self.each(Axis::Rows), self.listed())
            }
        }
    }

    /// `RMSNorm(X), ε = 0.00001`, with gain and bias where there are any.
    fn norm(&self, name: &str, epsilon: f64) -> String {
        let learned = ["gain", "bias"].into_iter().zip(1..self.inputs.len());
        let learned: String = learned.map(|(what, at)| format!(", {what} {}", self.input(at))).collect();
        format!("{name}({}), ε = {}{learned}", self.input(0), number_text(epsilon))
    }

    /// `X · W + b`, or `X · Wᵀ + b` where the weights have a row for each output.
    fn linear(&self, layout: WeightLayout) -> String {
        let weights = match layout {
            WeightLayout::InOut => self.input(1),
            WeightLayout::OutIn => self.turned(1),
        };
        let product = self.in_order(self.input(0), weights);
        if self.inputs.len() > 2 { format!("{product} + {}", self.input(2)) } else { product }
    }

    fn softmax(&self, axis: Axis, base: Base) -> String {
        let along = match self.each(axis) {
            "each row" => "",
            "each column" => " down each column",
            _ => " over all cells",
        };
        match base {
            Base::E => format!("softmax({}){along}", self.input(0)),
            Base::Number(base) => format!("softmax({}) of base {}{along}", self.input(0), number_text(base)),
        }
    }

    /// The direction of an axis in the convention, in words.
    fn each(&self, axis: Axis) -> &'static str {
        match (axis, self.convention) {
            (Axis::Rows, Convention::Rows) | (Axis::Columns, Convention::Columns) => "each row",
            (Axis::Columns, Convention::Rows) | (Axis::Rows, Convention::Columns) => "each column",
            (Axis::Whole, _) => "all cells",
        }
    }
}

/// A number inside an equation, every digit, with a real minus sign.
pub fn number_text(number: f64) -> String {
    format!("{number}").replace('-', "−").replace("inf", "∞")
}
