//! An op as an equation: `Q (4×5) = X (4×5) · W_Q (5×5)`.
//!
//! One notation, in UTF-8, from which the renderers make ASCII and LaTeX: names with `_`, `·` for a product, `ᵀ`
//! behind what is transposed, `√(…)`, `−`, `∞`, `≤`, `∘`. With shapes, which is how people read it, a node that has a
//! label goes by it, and a node that only collects others says so: `gap, causal mask (gap_causal, 2×1) = collected from the
//! two runs`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::attention::Axis;
use crate::matrix::Shape;

use super::op::Op;
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
        Some(what) if matches!(node.op, Op::Concatenate) => {
            let how = if convention == Convention::Rows { "side by side" } else { "one below the other" };
            format!("{} {how}", all_of(node.inputs.len(), what))
        }
        Some(what) if !node.op.is_given() => format!("collected from {}", all_of(node.inputs.len(), what)),
        _ => node.op.equation(&writer),
    };
    Equation { left: writer.introduced(id), right }
}

/// What writes the right-hand side of an equation.
pub struct FormulaWriter<'a> {
    graph: &'a Graph,
    inputs: &'a [NodeId],
    /// The convention in which it writes.
    pub convention: Convention,
    shapes: bool,
}

impl FormulaWriter<'_> {
    /// A node's name, turned or not, in the convention: `K`, `Kᵀ (5×4)`.
    fn name(&self, id: NodeId, turned: bool) -> String {
        let node = &self.graph[id];
        let turned = turned != (self.convention == Convention::Columns);
        let (mut shape, mark) = (node.shape(), if turned { "ᵀ" } else { "" });
        if turned {
            shape = Shape { rows: shape.cols, cols: shape.rows };
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

    /// The number of inputs.
    pub fn count(&self) -> usize {
        self.inputs.len()
    }

    /// The shape of an input.
    pub fn shape(&self, input: usize) -> Shape {
        self.graph[self.inputs[input]].shape()
    }

    /// The name of an input without its shape and its label.
    pub fn short(&self, input: usize) -> &str {
        &self.graph[self.inputs[input]].name
    }

    /// An input.
    pub fn input(&self, input: usize) -> String {
        self.inputs.get(input).map_or_else(String::new, |&id| self.name(id, false))
    }

    /// An input, transposed.
    pub fn turned(&self, input: usize) -> String {
        self.inputs.get(input).map_or_else(String::new, |&id| self.name(id, true))
    }

    /// `a · b`, which the column convention turns into `bᵀ · aᵀ`.
    pub fn in_order(&self, a: String, b: String) -> String {
        match self.convention {
            Convention::Rows => format!("{a} · {b}"),
            Convention::Columns => format!("{b} · {a}"),
        }
    }

    /// All inputs.
    pub fn joined(&self, between: &str) -> String {
        (0..self.inputs.len()).map(|input| self.input(input)).collect::<Vec<_>>().join(between)
    }

    /// The direction of an axis in the convention, in words.
    pub fn each(&self, axis: Axis) -> &'static str {
        match (axis, self.convention) {
            (Axis::Rows, Convention::Rows) | (Axis::Columns, Convention::Columns) => "each row",
            (Axis::Columns, Convention::Rows) | (Axis::Rows, Convention::Columns) => "each column",
            (Axis::Whole, _) => "all cells",
        }
    }

    /// “rows” for the rows of a matrix, which the column convention turns into columns.
    pub fn lines(&self, of_rows: bool) -> &'static str {
        if of_rows != (self.convention == Convention::Columns) { "rows" } else { "columns" }
    }

    /// “row” for a row of a matrix, which the column convention turns into a column.
    pub fn line(&self, of_row: bool) -> &'static str {
        if of_row != (self.convention == Convention::Columns) { "row" } else { "column" }
    }

    /// An equation in which `{a}` and `{b}` stand for the inputs, `{aᵀ}` for the first one transposed, `{rows}` and `{each row}` for these words
    /// in the convention.
    pub fn filled(&self, equation: &str) -> String {
        let word = |(at, part): (usize, &str)| match part {
            part if at % 2 == 0 => part.to_string(),
            "a" => self.input(0),
            "b" => self.input(1),
            "aᵀ" => self.turned(0),
            "rows" => self.lines(true).to_string(),
            "each row" => self.each(Axis::Rows).to_string(),
            other => unreachable!("an equation has no part {other}"),
        };
        equation.split(['{', '}']).enumerate().map(word).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::{Base, Mask};
    use crate::graph::{Factor, GeluForm, Origin, Statistic};
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
