//! A variant of your own: scores that are kept below 5, as Gemma 2 keeps its own below 50, and where one of them comes from:
//! `cargo run --example soft_capped`.

use std::io::Write;

use attn::attention::{Axis, Base};
use attn::explain::steps;
use attn::graph::{Convention, Factor, formula};
use attn_core::{CellId, Graph, Matrix, Op, Origin, Result, symbolic};

fn main() -> Result<()> {
    write(&mut std::io::stdout().lock())
}

/// Builds the graph, and writes its equations and one of its cells.
pub fn write(out: &mut dyn Write) -> Result<()> {
    let mut graph = Graph::new();
    let x = Matrix::of([[3.0, 3.0], [4.0, 0.0], [0.0, 5.0]]).rows_named(&["bat", "cave", "racket"]);
    let x = graph.given("X", x, Origin::Stated)?;
    let s = graph.add("S", Op::ProductTransposed, &[x, x])?;
    let scaled = graph.add("S_scaled", Op::Scale(Factor::InverseRoot(2)), &[s])?;
    let capped = graph.add("S_capped", Op::SoftCap(5.0), &[scaled])?;
    let a = graph.add("A", Op::Softmax(Axis::Rows, Base::E), &[capped])?;
    graph.add("O", Op::Product, &[a, x])?;

    for (node, _) in graph.nodes() {
        writeln!(out, "{}", formula(&graph, node, Convention::Rows, true))?;
    }
    let terms = graph.terms(CellId { node: capped, row: 1, col: 0 });
    writeln!(out, "S_capped[cave,bat] = {}", symbolic(&graph, &terms))?;
    for step in steps(&graph, &terms) {
        writeln!(out, "  = {}", symbolic(&graph, &step))?;
    }
    Ok(())
}
