//! An op as an equation: `Q (4×5) = X (4×5) · W_Q (5×5)`.
//!
//! One notation, in UTF-8, from which the renderers make ASCII and LaTeX: names with `_`, `·` for a product, `ᵀ`
//! behind what is transposed, `√(…)`, `−`, `∞`, `≤`, `∘`. With shapes, which is how people read it, a node that has a
//! label goes by it, and a node that only collects others says so: `gap, causal mask (gap_causal, 2×1) = collected from the
//! two runs`.
//!
//! A new op needs an arm here, or this does not compile.
#![deny(clippy::wildcard_enum_match_arm)]

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::attention::{
    Axis, Base, HeadOf, Mask, MatrixRule, Order, Pairing, RopeScaling, Rotation, WeightLayout,
};
use crate::matrix::Shape;
use crate::text::counted;

use super::op::{Factor, FusedSteps, Fusion, GeluForm, Op, Side};
use super::{Graph, NodeId};

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

// An equation of matrices, and the convention in which it is written.

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

// The conditions of visibility, and the other steps on the scores, as parts of an equation.

impl FormulaWriter<'_> {
    /// The steps on the scores that differ from the default: `, causal, window 128, scale 0.5`.
    fn fused_steps(&self, FusedSteps { scale, temperature, soft_cap, mask }: &FusedSteps) -> String {
        let mut steps = Vec::new();
        let from = if mask.from_start { " from the first key" } else { "" };
        steps.extend(mask.causal.then(|| format!("causal{from}")));
        steps.extend(mask.window.map(|window| format!("window {window}{from}")));
        if mask.keep_first > 0 {
            steps.push(format!("first {} kept", mask.keep_first));
        }
        let matrix = || self.input(self.inputs.len().saturating_sub(1));
        steps.extend(mask.matrix.map(|rule| match rule {
            MatrixRule::Allow => format!("where {} ≠ 0", matrix()),
            MatrixRule::Block => format!("where {} = 0", matrix()),
            MatrixRule::Add => format!("{} added", matrix()),
        }));
        match scale {
            // The usual one.
            Some(Factor::InverseRoot(_)) => {}
            Some(factor) => steps.push(format!("scale {}", number_text(factor.value()))),
            None => steps.push("not scaled".to_string()),
        }
        if *temperature != 1.0 {
            steps.push(format!("temperature {}", number_text(*temperature)));
        }
        steps.extend(soft_cap.map(|cap| format!("soft-cap {}", number_text(cap))));
        steps.iter().map(|step| format!(", {step}")).collect()
    }

    fn masked(&self, mask: &Mask) -> String {
        let kept = match mask.matrix {
            Some(MatrixRule::Add) if !mask.inverted => self.joined(" + "),
            _ => self.input(0),
        };
        match self.conditions(mask) {
            conditions if conditions.is_empty() => kept,
            conditions => format!("{kept} where {conditions}, else −∞"),
        }
    }

    /// The condition under which a query sees a key: `key ≤ query + 2 and M ≠ 0`.
    fn conditions(&self, mask: &Mask) -> String {
        let shape = self.inputs.first().map_or(Shape { rows: 0, cols: 0 }, |&a| self.graph[a].shape());
        let shift = if mask.from_start { 0 } else { shape.cols as i128 - shape.rows as i128 };
        let query = match shift {
            0 => "query".to_string(),
            shift if shift > 0 => format!("query + {shift}"),
            shift => format!("query − {}", -shift),
        };
        let mut conditions = Vec::new();
        if mask.causal {
            conditions.push(format!("key ≤ {query}"));
        }
        if let Some(window) = mask.window {
            let near = if mask.causal {
                format!("{query} − key < {window}")
            } else {
                format!("|{query} − key| < {window}")
            };
            conditions.push(match mask.keep_first {
                0 => near,
                // Positions count from 0 here, as the op does.
                kept => format!("({near} or key < {kept})"),
            });
        }
        match mask.matrix {
            Some(MatrixRule::Allow) => conditions.push(format!("{} ≠ 0", self.input(1))),
            Some(MatrixRule::Block) => conditions.push(format!("{} = 0", self.input(1))),
            Some(MatrixRule::Add) if mask.inverted => conditions.push(format!("{} ≠ −∞", self.input(1))),
            Some(MatrixRule::Add) | None => {}
        }
        if mask.hides_own {
            conditions.push(format!("key ≠ {query}"));
        }
        let conditions = conditions.join(" and ");
        if mask.inverted { format!("not ({conditions})") } else { conditions }
    }
}

// Parts of matrices as an equation names them: rows, columns, blocks, several matrices together.

/// A sum of more is written with its first two and its last.
const MOST_SUMMANDS: usize = 8;

impl FormulaWriter<'_> {
    /// A sum of all inputs; of many, the first two and the last.
    fn sum(&self) -> String {
        match self.inputs {
            [first, second, .., last] if self.inputs.len() > MOST_SUMMANDS => {
                let [first, second] = [first, second].map(|id| self.name(*id, false));
                format!("{first} + {second} + … + {}", self.name(*last, false))
            }
            _ => self.joined(" + "),
        }
    }

    /// All inputs of a node that only collects them: `collected from the two runs`.
    fn collected(&self, what: &str) -> String {
        format!("collected from {}", all_of(self.inputs.len(), what))
    }

    /// Inputs side by side in rows, counted: `the four heads side by side`.
    fn side_by_side(&self, what: &str) -> String {
        let how = match self.convention {
            Convention::Rows => "side by side",
            Convention::Columns => "one below the other",
        };
        format!("{} {how}", all_of(self.inputs.len(), what))
    }

    /// `[a | b]` for parts side by side, `[a ; b]` for parts one above the other; the conventions swap them.
    fn put_together(&self, side_by_side: bool) -> String {
        if side_by_side == (self.convention == Convention::Rows) {
            format!("[{}]", self.joined(" | "))
        } else {
            format!("[{}]", self.joined(" ; "))
        }
    }

    fn block_sums(&self, rows: usize, cols: usize) -> String {
        let (rows, cols) = match self.convention {
            Convention::Rows => (rows, cols),
            Convention::Columns => (cols, rows),
        };
        format!("sum of each {rows}×{cols} block of {}", self.input(0))
    }

    fn part(&self, of_rows: bool, start: usize, count: usize) -> String {
        let of_rows = of_rows != (self.convention == Convention::Columns);
        let what = if of_rows { "row" } else { "column" };
        match count {
            1 => format!("{what} {} of {}", start + 1, self.input(0)),
            _ => format!("{what}s {}…{} of {}", start + 1, start + count, self.input(0)),
        }
    }

    /// “rows” for the rows of a matrix, which the column convention turns into columns.
    fn lines(&self, of_rows: bool) -> &'static str {
        if of_rows != (self.convention == Convention::Columns) { "rows" } else { "columns" }
    }

    /// “row” for a row of a matrix, which the column convention turns into a column.
    fn line(&self, of_row: bool) -> &'static str {
        if of_row != (self.convention == Convention::Columns) { "row" } else { "column" }
    }

    fn every_nth(&self, start: usize, step: usize) -> String {
        let what = if self.convention == Convention::Columns { "rows" } else { "columns" };
        format!("{what} {}, {}, … of {}", start + 1, start + step + 1, self.input(0))
    }

    /// One input, or the first and the last of several: `S_1 … S_8`.
    fn listed(&self) -> String {
        match self.inputs.len() {
            0 | 1 => self.input(0),
            several => format!("{} … {}", self.input(0), self.input(several - 1)),
        }
    }
}

/// “the two runs”, “the 13 runs”: all of several things, their number in words as far as it is short.
fn all_of(count: usize, things: &str) -> String {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    match WORDS.get(count) {
        Some(word) => format!("the {word} {things}"),
        None => format!("the {count} {things}"),
    }
}

// The equations of positions.

impl FormulaWriter<'_> {
    /// The position vectors of the first paper.
    fn sinusoidal(&self, first: usize) -> String {
        let from = if first == 0 {
            "row t, pair p of columns, both from 0".to_string()
        } else {
            format!("row t from {first}, pair p of columns from 0")
        };
        format!("sin and cos of t / 10000^(2p/d): {from}")
    }

    /// The bias of ALiBi, with the head's slope.
    fn alibi(&self, head: &HeadOf) -> String {
        let slope = match head.slope_exponent() {
            (above, below) if above % below == 0 => format!("2^−{}", above / below),
            (above, below) => format!("2^(−{above}/{below})"),
        };
        format!("−{slope} · |query − key|")
    }

    fn rotary(&self, rotation: &Rotation) -> String {
        let pairs = self.graph[self.inputs[1]].shape().cols;
        let partners = match rotation.pairing {
            Pairing::Halves => format!("p and p + {pairs}"),
            Pairing::Neighbours => "2p and 2p + 1".into(),
        };
        let size = match rotation.magnitude {
            1.0 => String::new(),
            magnitude => format!(", sin and cos times {}", number_text(magnitude)),
        };
        let f = &self.graph[self.inputs[1]].name;
        let (columns, row) = (self.lines(false), self.line(true));
        format!(
            "{} with {columns} {partners} rotated by t · {f}[p]: {row} t from {}, p and {columns} from 0{size}",
            self.input(0),
            rotation.first
        )
    }

    fn scaled_frequencies(&self, scaling: &RopeScaling) -> String {
        let f = &self.graph[self.inputs[0]].name;
        let number = number_text;
        match *scaling {
            RopeScaling::Linear { factor } => format!("{f} / {}", number(factor)),
            RopeScaling::Dynamic { original, length, .. } if length as f64 <= original => {
                format!("{f}: {length} tokens are not more than {}", number(original))
            }
            RopeScaling::Dynamic { factor, original, length } => format!(
                "{f} / r^(2p/(d − 2)), r = {} · {length}/{} − {}",
                number(factor),
                number(original),
                number(factor - 1.0)
            ),
            RopeScaling::Llama3 { factor, low, high, original } => format!(
                "{f}, or {f} / {} where 2π/{f} > {}/{}, blended down to {}/{}",
                number(factor),
                number(original),
                number(low),
                number(original),
                number(high)
            ),
            RopeScaling::Yarn(yarn) => {
                let [low, high] = yarn.ramp(2 * self.graph[self.inputs[0]].shape().cols);
                let factor = number(yarn.factor);
                format!(
                    "{f} · (1 − r) + {f}/{factor} · r, r from 0 at pair {} to 1 at pair {}",
                    number(low),
                    number(high)
                )
            }
            RopeScaling::LongRope { .. } => format!("{f} / {}", self.input(1)),
        }
    }

    /// The softmax with the sink of a head: `sink`, or `sink[1,2]` of several.
    fn softmax_with_sink(&self, head: usize) -> String {
        let sink = self.input(1);
        let several = self.inputs.get(1).is_some_and(|&sink| self.graph[sink].shape().cols > 1);
        let cell = match (several, self.convention) {
            (false, _) => String::new(),
            (true, Convention::Rows) => format!("[1,{}]", head + 1),
            (true, Convention::Columns) => format!("[{},1]", head + 1),
        };
        format!("softmax([{}, {sink}{cell}]), last {} dropped", self.input(0), self.line(false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::Mask;
    use crate::graph::{Origin, Statistic};
    use crate::matrix::Matrix;

    fn graph() -> Graph {
        let mut graph = Graph::new();
        let q = graph.given("Q", Matrix::filled(2, 3, 1.0), Origin::Stated).unwrap();
        let k = graph.given("K", Matrix::filled(4, 3, 1.0), Origin::Stated).unwrap();
        let s = graph.add("S", Op::ProductTransposed, &[q, k]).unwrap();
        let scaled = graph.add("S_scaled", Op::Scale(Factor::InverseRoot(3)), &[s]).unwrap();
        let causal = Mask { causal: true, ..Mask::default() };
        let masked = graph.add("S_masked", Op::Mask(causal), &[scaled]).unwrap();
        graph.add("A", Op::Softmax(Axis::Rows, Base::E), &[masked]).unwrap();
        graph
    }

    fn equations(convention: Convention) -> Vec<String> {
        let graph = graph();
        graph.nodes().skip(2).map(|(id, _)| formula(&graph, id, convention, true)).collect()
    }

    #[test]
    fn equations_carry_the_shapes() {
        assert_eq!(
            equations(Convention::Rows),
            [
                "S (2×4) = Q (2×3) · Kᵀ (3×4)",
                "S_scaled (2×4) = S (2×4) · 1/√3",
                "S_masked (2×4) = S_scaled (2×4) where key ≤ query + 2, else −∞",
                "A (2×4) = softmax(S_masked (2×4))",
            ]
        );
    }

    #[test]
    fn what_stands_side_by_side_in_rows_stands_one_above_the_other_in_columns() {
        let mut graph = graph();
        let (q, k) = (graph.find("Q").unwrap(), graph.find("K").unwrap());
        let stack = graph.add("both", Op::Stack(None), &[q, k]).unwrap();
        assert_eq!(formula(&graph, stack, Convention::Rows, true), "both (6×3) = [Q (2×3) ; K (4×3)]");
        assert_eq!(formula(&graph, stack, Convention::Columns, false), "bothᵀ = [Qᵀ | Kᵀ]");
    }

    #[test]
    fn a_label_with_parentheses_precedes_the_name_as_a_whole() {
        let mut graph = graph();
        let k = graph.find("K").unwrap();
        let features = graph.add("phi_K", Op::EluPlusOne, &[k]).unwrap();
        graph.label(features, "φ(K)");
        let scores = graph.add("scores", Op::ProductTransposed, &[features, features]).unwrap();
        let told = |id| formula(&graph, id, Convention::Rows, true);
        assert_eq!(told(features), "φ(K) (phi_K, 4×3) = elu(K (4×3)) + 1");
        assert_eq!(told(scores), "scores (4×4) = φ(K) (4×3) · φ(K)ᵀ (3×4)");
    }

    #[test]
    fn a_collecting_node_says_so_and_a_label_precedes_the_name() {
        let mut graph = graph();
        let q = graph.find("Q").unwrap();
        let stack = graph.add("all_q", Op::Stack(None), &[q, q]).unwrap();
        graph.collects(stack, "runs");
        let size = graph.add("gap", Op::Summary(Statistic::MaxSize), &[stack]).unwrap();
        graph.label(stack, "queries, all runs");
        graph.label(size, "largest query");
        let told = |id| formula(&graph, id, Convention::Rows, true);
        assert_eq!(told(stack), "queries, all runs (all_q, 4×3) = collected from the two runs");
        assert_eq!(
            told(size),
            "largest query (gap, 1×1) = largest absolute value of queries, all runs (4×3)"
        );
        // Output for programs keeps the name.
        assert_eq!(formula(&graph, size, Convention::Rows, false), "gap = largest absolute value of all_q");
    }

    #[test]
    fn functions_and_norms_are_written_as_they_are_in_papers() {
        let mut graph = graph();
        let s = graph.find("S").unwrap();
        let row = graph.add("g", Op::Rows { start: 0, count: 1 }, &[s]).unwrap();
        let mut written = |op: Op, inputs: &[NodeId]| {
            let name = format!("Y{}", graph.nodes().count());
            let id = graph.add(&name, op, inputs).unwrap();
            equation(&graph, id, Convention::Rows, false).right
        };
        assert_eq!(written(Op::SoftCap(50.0), &[s]), "50 · tanh(S / 50)");
        assert_eq!(written(Op::Tanh, &[s]), "tanh(S)");
        assert_eq!(written(Op::Gelu(GeluForm::Erf), &[s]), "GELU(S)");
        assert_eq!(written(Op::Gelu(GeluForm::Tanh), &[s]), "GELU(S), tanh form");
        assert_eq!(written(Op::RmsNorm(0.5), &[s]), "RMSNorm(S), ε = 0.5");
        assert_eq!(written(Op::LayerNorm(0.5), &[s, row, row]), "LayerNorm(S), ε = 0.5, gain g, bias g");
    }

    #[test]
    fn the_column_convention_is_the_same_equation_transposed() {
        let equations = equations(Convention::Columns);
        assert_eq!(equations[0], "Sᵀ (4×2) = K (4×3) · Qᵀ (3×2)");
        assert_eq!(equations[3], "Aᵀ (4×2) = softmax(S_maskedᵀ (4×2)) down each column");
    }
}
