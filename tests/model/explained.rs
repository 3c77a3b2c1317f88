//! Every number of a model comes from its terms: to the bit in double precision, within the bound of rounding in single precision.

use attn::graph::{CellId, Graph, NodeId, Precision};
use attn::kernel::Machine;
use attn::model::PassOptions;

use crate::model::fixtures::{Expected, Fixture, folders, text};

/// The cells of a node that are looked at: all of a small one, a spread of a large one.
fn cells(graph: &Graph, node: NodeId) -> Vec<CellId> {
    const MOST: usize = 60;
    let shape = graph[node].shape();
    let count = shape.rows * shape.cols;
    let step = count.div_ceil(MOST).max(1);
    (0..count).step_by(step).map(|at| CellId { node, row: at / shape.cols, col: at % shape.cols }).collect()
}

/// The graph of all layers of a model, with the logits, in this precision.
fn of_every_model(precision: Precision, check: impl Fn(&str, &Graph)) {
    for folder in folders() {
        let fixture = Fixture::open(&folder);
        for (name, expected) in Expected::of(&folder) {
            fixture.with_run(|run| {
                let options = PassOptions { precision, ..PassOptions::default() };
                let forward = run.forward(text(expected.integers("ids").unwrap()), options).unwrap();
                let mut graph = run.layers_again(&forward, 1..=run.layers()).unwrap();
                if expected.numbers("logits").is_some() {
                    let x = graph.find("X_final").unwrap();
                    run.logits(&mut graph, x).unwrap();
                }
                check(&name, &graph);
            });
        }
    }
}

#[test]
fn the_terms_of_each_cell_give_its_recorded_bits() {
    of_every_model(Precision::Exact, |name, graph| {
        for (id, node) in graph.nodes() {
            for cell in cells(graph, id) {
                let recorded = node.tensor().unwrap().number(cell.row, cell.col).unwrap();
                let value = graph.terms(cell).evaluate(graph);
                assert_eq!(
                    value.to_bits(),
                    recorded.to_bits(),
                    "{name}: {} {cell:?}: {value} {recorded}",
                    node.name
                );
            }
        }
    });
}

#[test]
fn in_single_precision_the_terms_differ_by_rounding_alone() {
    of_every_model(Precision::Single(Machine::here()), |name, graph| {
        for (id, node) in graph.nodes() {
            for cell in cells(graph, id) {
                let Some(rounding) = graph.rounding(cell, &graph.terms(cell)) else { continue };
                let far = (rounding.recorded - rounding.terms).abs();
                let same = rounding.recorded == rounding.terms;
                assert!(same || far <= rounding.bound, "{name}: {} {cell:?}: {rounding:?}", node.name);
                // A bound that allows anything says nothing.
                let size = rounding.recorded.abs().max(1.0);
                assert!(same || rounding.bound < 1e-3 * size, "{name}: {} {cell:?}: {rounding:?}", node.name);
            }
        }
    });
}
