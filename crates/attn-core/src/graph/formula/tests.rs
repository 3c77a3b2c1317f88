//! Equations as they are written.

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
    assert_eq!(told(size), "largest query (gap, 1×1) = largest absolute value of queries, all runs (4×3)");
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
