//! Every small random model gives the figures that `transformers` computes from it.

use attn::graph::{Graph, NodeId, Precision, Stage};
use attn::kernel::Machine;
use attn::model::Edits;

use crate::model::fixtures::{Expected, Fixture, folders, text};

/// The difference in `f64`, as a part of the largest value of a tensor.
const EXACT: f64 = 1e-9;
/// The same in `f32`.
const SINGLE: f64 = 1e-4;

/// The largest difference, as a part of the largest expected value.
fn difference(graph: &Graph, nodes: &[NodeId], expected: &[f64]) -> f64 {
    let cells: Vec<f64> =
        nodes.iter().flat_map(|&node| graph[node].tensor().unwrap().cells().collect::<Vec<_>>()).collect();
    assert_eq!(cells.len(), expected.len());
    let largest = expected.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    let far = cells.iter().zip(expected).map(|(a, b)| (a - b).abs());
    far.fold(0.0, |far, x| if x.is_nan() { f64::INFINITY } else { f64::max(far, x) }) / largest
}

#[test]
fn logits_patterns_and_residual_streams_are_those_of_transformers() {
    compare(Precision::Exact, EXACT);
}

#[test]
fn in_single_precision_they_are_too() {
    compare(Precision::Single(Machine::here()), SINGLE);
}

fn compare(precision: Precision, tolerance: f64) {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for folder in folders() {
        let fixture = Fixture::open(&folder);
        let blocks = &fixture.architecture.blocks;
        for (name, expected) in Expected::of(&folder) {
            fixture.with_run(|run| {
                let mut graph = Graph::new().in_precision(precision);
                let edits = Edits::default();
                let mut x = run.embed(&mut graph, &text(expected.integers("ids").unwrap()), 0).unwrap();
                let mut check = |graph: &Graph, what: String, nodes: &[NodeId], numbers: &[f64]| {
                    let far = difference(graph, nodes, numbers);
                    compared += 1;
                    if far > tolerance {
                        wrong.push(format!("{name}: {what} differs by {far:e}"));
                    }
                };
                for (layer, block) in blocks.iter().enumerate() {
                    let stream = expected.numbers(&format!("residual.{layer}")).unwrap();
                    check(&graph, format!("residual.{layer}"), &[x], &stream);
                    x = run.layer(&mut graph, layer + 1, x, &edits).unwrap();
                    let heads = block.recipe.heads;
                    let head =
                        |h: usize| Stage::Weights.of_head((heads > 1).then_some(h)).in_layer(Some(layer + 1));
                    let patterns: Vec<NodeId> = (1..=heads).map(|h| graph.at(head(h)).unwrap()).collect();
                    let numbers = expected.numbers(&format!("attentions.{layer}")).unwrap();
                    check(&graph, format!("attentions.{layer}"), &patterns, &numbers);
                }
                let last = expected.numbers(&format!("residual.{}", blocks.len())).unwrap();
                check(&graph, "the last residual stream".into(), &[x], &last);
                match expected.numbers("logits") {
                    Some(numbers) => {
                        let logits = run.logits(&mut graph, x).unwrap();
                        check(&graph, "logits".into(), &[logits], &numbers);
                    }
                    None => assert!(run.logits(&mut graph, x).is_err(), "{name} has no head"),
                }
            });
        }
    }
    assert!(compared > 200, "{compared}");
    assert!(wrong.is_empty(), "of {compared}:\n{}", wrong.join("\n"));
}
