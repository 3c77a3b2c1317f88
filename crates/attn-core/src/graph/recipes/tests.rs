//! Properties of the nodes of every pipeline.

use super::{AttendInputs, Output, Recipe, attend, attend_fused};
use crate::attention::{Mask, MatrixRule};
use crate::graph::{Given, Graph, Op, Role, Stage, Step};
use crate::kernel::Machine;
use crate::matrix::Matrix;
use crate::tensor::Dtype;

fn given(rows: usize, cols: usize) -> Option<Given> {
    Some(Matrix::from_fn(rows, cols, |i, j| (i * 3 + j) as f64 / 7.0).into())
}

/// Every step that there is: a scale, a bias, a temperature, a mask, projections, a residual.
fn every_step(heads: usize) -> (Recipe, AttendInputs) {
    let recipe = Recipe {
        heads,
        kv_heads: heads,
        temperature: 2.0,
        mask: Mask { causal: true, matrix: Some(MatrixRule::Add), ..Mask::default() },
        output: Output { residual: true, ..Output::default() },
        ..Recipe::default()
    };
    let (x, mask, bias) = (given(3, 4), given(3, 3), given(3, 3));
    let [w_q, w_k, w_v, w_o] = [0; 4].map(|_| given(4, 4));
    (recipe, AttendInputs { x, w_q, w_k, w_v, w_o, mask, bias, ..AttendInputs::default() })
}

/// The steps of the nodes, in order; each node has one, and is called after it.
fn steps(graph: &Graph) -> Vec<Step> {
    let step = |node: &crate::graph::Node| {
        let step = node.step.unwrap_or_else(|| panic!("{} is no step", node.name));
        assert_eq!(node.name, step.to_string());
        step
    };
    graph.nodes().map(|(_, node)| step(node)).collect()
}

#[test]
fn every_node_of_a_pipeline_knows_which_step_it_is() {
    for heads in [1, 2] {
        let (recipe, inputs) = every_step(heads);
        let found = steps(&attend(&recipe, inputs).unwrap());
        let of_head = |stage: Stage| (1..=heads).map(move |head| stage.of_head((heads > 1).then_some(head)));
        for stage in Stage::all() {
            let is_formed = stage != Stage::Lse && (heads > 1 || stage != Stage::Mixed);
            let all: Vec<Step> = if stage.is_per_head() && !matches!(stage, Stage::Role(_)) {
                of_head(stage).collect()
            } else {
                vec![stage.into()]
            };
            assert!(
                !is_formed || all.iter().all(|step| found.contains(step)),
                "{} in {found:?}",
                stage.name()
            );
        }
    }
}

#[test]
fn so_does_every_node_of_the_fast_path() {
    for heads in [1, 2] {
        let (recipe, inputs) = every_step(heads);
        let (graph, _) = attend_fused(&recipe, inputs, Dtype::F64, Machine::here()).unwrap();
        assert!(steps(&graph).contains(&Stage::Lse.into()));
        assert_eq!(graph.at(Stage::Output), graph.last());
    }
}

#[test]
fn without_what_follows_the_heads_the_result_is_still_a_step_of_its_own() {
    let recipe = Recipe { heads: 2, kv_heads: 2, ..Recipe::default() };
    let graph = attend(&recipe, AttendInputs { x: given(3, 4), ..AttendInputs::default() }).unwrap();
    let (joined, output) = (graph.at(Stage::Joined).unwrap(), graph.at(Stage::Output).unwrap());
    assert_eq!((graph[joined].name.as_str(), graph[output].name.as_str()), ("C", "O"));
    assert_eq!(graph[output].op, Op::Add);
    assert_eq!(graph.at(Role::WO), None);
}
