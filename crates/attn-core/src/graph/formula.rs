//! An op as an equation: `Q (4×5) = X (4×5) · W_Q (5×5)`.
//!
//! One notation, in UTF-8, from which the renderers make ASCII and LaTeX: names with `_`, `·` for a product, `ᵀ`
//! behind what is transposed, `√(…)`, `−`, `∞`, `≤`, `∘`. With shapes, which is how people read it, a node that has a
//! label goes by it, and a node that only collects others says so: `gap, causal mask (gap_causal, 2×1) = collected from the
//! two runs`.

use super::op::{Factor, Fusion, GeluForm, Op, Side, Statistic};
use super::{Graph, NodeId};
use crate::attention::{Axis, Base, Order};
use crate::text::counted;

mod conditions;

/// Whether tokens are shown as rows, as everything is computed, or as columns: the same graph, transposed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Convention {
    /// `Q = X · W_Q`.
    #[default]
    Rows,
    /// `Qᵀ = W_Qᵀ · Xᵀ`.
    Columns,
}

/// The equation of a node. With `shapes`, every matrix carries its shape and goes by its label, if it has one.
pub fn formula(graph: &Graph, id: NodeId, convention: Convention, shapes: bool) -> String {
    let node = &graph[id];
    let writer = Writer { graph, inputs: &node.inputs, convention, shapes };
    let right = match &node.collects {
        Some(what) if matches!(node.op, Op::Concatenate) => writer.side_by_side(what),
        Some(what) if !node.op.is_given() => format!("collected from {}", all_of(node.inputs.len(), what)),
        _ => writer.right_hand_side(&node.op),
    };
    format!("{} = {right}", writer.introduced(id))
}

struct Writer<'a> {
    graph: &'a Graph,
    inputs: &'a [NodeId],
    convention: Convention,
    shapes: bool,
}

impl Writer<'_> {
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
            (true, Some(_)) => text.replacen('(', &format!("({}, ", self.graph[id].name), 1),
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
            Op::Ones { .. } => "1 everywhere".into(),
            Op::Transpose => self.turned(0),
            Op::Add => self.joined(" + "),
            Op::Subtract => self.joined(" − "),
            Op::Change => format!("{} − {}", self.input(1), a()),
            Op::Multiply => self.joined(" ∘ "),
            Op::Divide => self.joined(" / "),
            Op::Quotient => self.joined(" / "),
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
            Op::SingleRange => format!("{}, with ∞ beyond 3.4e38", a()),
            Op::Sums(axis) => format!("sum of {} of {}", self.each(*axis), a()),
            Op::BlockSums { rows, cols } => self.block_sums(*rows, *cols),
            Op::Largest(axis) => format!("largest of {} of {}", self.each(*axis), a()),
            Op::DivideBySum(axis) => format!("{} / sum of {}", a(), self.each(*axis)),
            Op::Softmax(axis, base) => self.softmax(*axis, *base),
            Op::UnguardedSoftmax(axis, base) => {
                format!("{}, without subtracting the maximum", self.softmax(*axis, *base))
            }
            Op::Guard => format!("{}, with 0 where a row of {} is all −∞", a(), self.input(1)),
            Op::EveryNthColumn { start, step } => self.every_nth(*start, *step),
            Op::Reshape { rows, cols } => format!("{} read as {rows}×{cols}", a()),
            Op::Columns { start, count } => self.part(false, *start, *count),
            Op::Rows { start, count } => self.part(true, *start, *count),
            Op::ReverseRows => format!("{} of {} in reverse order", self.lines(true), a()),
            Op::SortRows(Order::Ascending) => format!("{} of {}, sorted", self.each(Axis::Rows), a()),
            Op::SortRows(Order::Descending) => {
                format!("{} of {}, sorted from the largest to the smallest", self.each(Axis::Rows), a())
            }
            Op::Concatenate => self.put_together(true),
            Op::Stack(_) => self.put_together(false),
            Op::Relu => format!("ReLU({})", a()),
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
            Op::Sinusoidal { .. } => {
                "sin and cos of t / 10000^(2p/d): row t, pair p of columns, both from 0".into()
            }
            Op::Rotary { first, base } => {
                let base = number_text(*base);
                format!(
                    "{} with pair p of columns turned by t / {base}^(2p/d): row t from {first}, p from 0",
                    a()
                )
            }
            Op::SingularVectors { side: Side::Left, rank } => {
                format!("first {rank} left singular vectors of {}", a())
            }
            Op::SingularVectors { side: Side::Right, rank } => {
                format!("first {rank} right singular vectors of {}", a())
            }
            Op::SingularValues => format!("singular values of {}", a()),
            Op::Diagonal => format!("diag({})", a()),
            Op::Summary(statistic) => format!("{} of {}", statistic_text(*statistic), a()),
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

    /// One input, or the first and the last of several: `S_1 … S_8`.
    fn listed(&self) -> String {
        match self.inputs.len() {
            0 | 1 => self.input(0),
            several => format!("{} … {}", self.input(0), self.input(several - 1)),
        }
    }

    /// `[a | b]` for parts side by side, `[a ; b]` for parts one above the other; the conventions swap them.
    /// Many blocks, by what they are: `the four heads side by side`.
    fn side_by_side(&self, what: &str) -> String {
        let how = match self.convention {
            Convention::Rows => "side by side",
            Convention::Columns => "one below the other",
        };
        format!("{} {how}", all_of(self.inputs.len(), what))
    }

    fn put_together(&self, side_by_side: bool) -> String {
        match side_by_side == (self.convention == Convention::Rows) {
            true => format!("[{}]", self.joined(" | ")),
            false => format!("[{}]", self.joined(" ; ")),
        }
    }

    /// `RMSNorm(X), ε = 0.00001`, with gain and bias where there are any.
    fn norm(&self, name: &str, epsilon: f64) -> String {
        let learned = ["gain", "bias"].into_iter().zip(1..self.inputs.len());
        let learned: String = learned.map(|(what, at)| format!(", {what} {}", self.input(at))).collect();
        format!("{name}({}), ε = {}{learned}", self.input(0), number_text(epsilon))
    }

    fn block_sums(&self, rows: usize, cols: usize) -> String {
        let (rows, cols) = match self.convention {
            Convention::Rows => (rows, cols),
            Convention::Columns => (cols, rows),
        };
        format!("sum of each {rows}×{cols} block of {}", self.input(0))
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

    fn every_nth(&self, start: usize, step: usize) -> String {
        let what = if self.convention == Convention::Columns { "rows" } else { "columns" };
        format!("{what} {}, {}, … of {}", start + 1, start + step + 1, self.input(0))
    }

    /// What an axis runs along, in the convention.
    fn each(&self, axis: Axis) -> &'static str {
        match (axis, self.convention) {
            (Axis::Rows, Convention::Rows) | (Axis::Columns, Convention::Columns) => "each row",
            (Axis::Columns, Convention::Rows) | (Axis::Rows, Convention::Columns) => "each column",
            (Axis::Whole, _) => "all cells",
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

fn statistic_text(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Mean => "mean",
        Statistic::RootMeanSquare => "root mean square",
        Statistic::Largest => "largest value",
        Statistic::LargestSize => "largest absolute value",
    }
}

/// A number inside an equation, every digit, with a real minus sign.
pub fn number_text(number: f64) -> String {
    format!("{number}").replace('-', "−").replace("inf", "∞")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::Mask;
    use crate::graph::Origin;
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
    fn a_node_that_only_collects_others_says_so_and_a_label_stands_before_the_name_it_is_addressed_by() {
        let mut graph = graph();
        let q = graph.find("Q").unwrap();
        let stack = graph.add("all_q", Op::Stack(None), &[q, q]).unwrap();
        graph.collects(stack, "runs");
        let size = graph.add("gap", Op::Summary(Statistic::LargestSize), &[stack]).unwrap();
        graph.label(stack, "queries, all runs");
        graph.label(size, "largest query");
        let told = |id| formula(&graph, id, Convention::Rows, true);
        assert_eq!(told(stack), "queries, all runs (all_q, 4×3) = collected from the two runs");
        assert_eq!(
            told(size),
            "largest query (gap, 1×1) = largest absolute value of queries, all runs (4×3)"
        );
        // What programs read has the names.
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
            formula(&graph, id, Convention::Rows, false).split_once(" = ").unwrap().1.to_string()
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
