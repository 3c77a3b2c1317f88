//! Two graphs in one: both answer as they did alone, and what differs is told.

use crate::cases::{Case, cases, recipes};
use crate::common::assert_terms_give_the_recorded_bits;
use attn::graph::{Graph, GraphPair, Node, Op, Origin, side_by_side};
use attn::matrix::Matrix;
use proptest::prelude::*;

/// A node of the merged graph that holds what `node` of the other graph held.
fn held<'a>(both: &'a GraphPair, base: &Graph, node: &Node) -> &'a Node {
    let suffixed = both.graph.find(&format!("{}_versus", node.name));
    let plain = || both.graph.find(&node.name);
    let id = suffixed.or_else(plain).unwrap_or_else(|| panic!("{} is lost", node.name));
    assert!(suffixed.is_none() || base.find(&node.name).is_some(), "{} needs no suffix", node.name);
    &both.graph[id]
}

fn same_numbers(a: &Matrix, b: &Matrix) -> bool {
    a.shape() == b.shape() && a.cells().zip(b.cells()).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn the_same_computation_differs_in_nothing(case in cases()) {
        let graph = case.run();
        let both = side_by_side(graph.clone(), case.run(), "_versus").unwrap();
        prop_assert!(both.differences.is_empty());
        prop_assert_eq!(&both.graph, &graph);
        prop_assert_eq!(both.same.len(), graph.nodes().count());
    }

    #[test]
    fn two_computations_are_held_whole_in_one_graph(case in cases(), other in recipes()) {
        // Masks by matrix, and heads, as the case has them: its matrices are made for these.
        let Case { recipe, .. } = &case;
        let mask = attn::attention::Mask { matrix: recipe.mask.matrix, ..other.mask };
        let other = attn::graph::recipes::Recipe { heads: recipe.heads, kv_heads: recipe.kv_heads, mask, ..other };
        let (base, other) = (case.run(), case.under(other));
        let both = side_by_side(base.clone(), other.clone(), "_versus").unwrap();
        assert_terms_give_the_recorded_bits(&both.graph);
        for ((id, node), (merged, held)) in base.nodes().zip(both.graph.nodes()) {
            prop_assert!(id == merged && node == held, "{} of the base is not where it was", node.name);
        }
        for (_, node) in other.nodes() {
            let held = held(&both, &base, node);
            prop_assert!(held.matrix().unwrap().same_bits(node.matrix().unwrap()), "{}", node.name);
            prop_assert!(held.op == node.op || node.op.is_given());
        }
        for &id in &both.same {
            let name = &both.graph[id].name;
            let theirs = other.matrix(other.require(name).unwrap()).unwrap();
            prop_assert!(same_numbers(both.graph.matrix(id).unwrap(), theirs), "{name} is not the same");
        }
        let names: std::collections::BTreeSet<&String> = base.nodes().chain(other.nodes()).map(|(_, node)| &node.name).collect();
        prop_assert_eq!(names.len(), both.same.len() + both.differences.len());
    }

    #[test]
    fn a_node_and_its_change_give_the_other(case in cases(), scale in -2.0..2.0_f64) {
        let scale = attn::graph::recipes::Scale::Number(scale);
        let both = side_by_side(case.run(), case.under(attn::graph::recipes::Recipe { scale, ..case.recipe }), "_versus").unwrap();
        for difference in &both.differences {
            let Some(change) = difference.change else { continue };
            let [a, b, change] = [difference.base.unwrap(), difference.other.unwrap(), change].map(|id| both.graph.matrix(id).unwrap());
            let mut moved = 0;
            for ((a, b), change) in a.cells().zip(b.cells()).zip(change.cells()) {
                let size = a.abs().max(b.abs());
                prop_assert!(if a == b { change == 0.0 } else { (a + change - b).abs() <= 1e-15 * size }, "{a} + {change} is not {b}");
                moved += usize::from(a != b);
            }
            let movement = both.movement(difference).unwrap();
            let most = change.cells().fold(0.0_f64, |most, x| most.max(x.abs()));
            prop_assert_eq!((movement.moved, movement.cells), (moved, change.rows() * change.cols()));
            prop_assert_eq!(movement.change.abs(), most);
            prop_assert_eq!(movement.to - movement.from, movement.change);
        }
    }
}

#[test]
fn a_way_to_infinity_counts_only_where_there_is_no_other() {
    let graph = |row: [f64; 3]| {
        let mut graph = Graph::new();
        graph.given("S", Matrix::of([row]), Origin::Stated).unwrap();
        graph
    };
    let furthest = |to: [f64; 3]| {
        let both = side_by_side(graph([1.0, 2.0, 3.0]), graph(to), "_yours").unwrap();
        let movement = both.movement(&both.differences[0]).unwrap();
        (movement.furthest.col, movement.moved)
    };
    assert_eq!(furthest([f64::NEG_INFINITY, 2.5, 4.0]), (2, 3));
    assert_eq!(furthest([1.0, f64::NEG_INFINITY, 3.0]), (1, 1));
    assert_eq!(furthest([1.0, 2.0, f64::NAN]), (2, 1));
}

#[test]
fn a_zero_of_another_sign_is_no_difference_and_is_kept_for_what_reads_it() {
    let graph = |zero: f64| {
        let mut graph = Graph::new();
        let x = graph.given("X", Matrix::of([[zero]]), Origin::Stated).unwrap();
        graph.add("Y", Op::Transpose, &[x]).unwrap();
        graph
    };
    let both = side_by_side(graph(0.0), graph(-0.0), "_versus").unwrap();
    assert!(both.differences.is_empty() && both.same.len() == 2);
    assert_terms_give_the_recorded_bits(&both.graph);
}
