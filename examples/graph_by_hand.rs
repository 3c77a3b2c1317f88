//! A graph built op by op, and the expression that one of its cells came from: `cargo run --example graph_by_hand`.

use std::io::Write;

use attn::attention::{Axis, Base};
use attn::graph::{CellId, Convention, Graph, Op, Origin, formula, symbolic};
use attn::matrix::Matrix;

fn main() -> attn::error::Result<()> {
    let mut graph = Graph::new();
    let q = graph.given("Q", Matrix::of([[1.0, 0.0], [0.0, 1.0]]), Origin::Stated)?;
    let k = graph.given("K", Matrix::of([[2.0, 1.0], [0.0, 3.0]]), Origin::Stated)?;
    let s = graph.add("S", Op::ProductTransposed, &[q, k])?;
    let a = graph.add("A", Op::Softmax(Axis::Rows, Base::E), &[s])?;

    let mut out = std::io::stdout().lock();
    for node in [s, a] {
        writeln!(out, "{}", formula(&graph, node, Convention::Rows, true))?;
    }
    let cell = CellId { node: s, row: 1, col: 0 };
    let terms = graph.terms(cell);
    writeln!(out, "S[2,1] = {} = {}", symbolic(&graph, &terms), terms.evaluate(&graph))?;
    Ok(())
}
