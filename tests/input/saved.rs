//! A computation that was written with `--format json` is read back whole, and run again it gives the same numbers.

use std::sync::Arc;

use attn::demo::demos;
use attn::graph::saved::{Reason, SavedGraph, read};
use attn::graph::{Graph, Node, Op, Origin, Value as Numbers};
use attn::matrix::same_number;
use attn::render::Screen;
use serde_json::{Value, json};

use crate::common::{attn, in_process};

/// The document of a command, and its graphs.
#[track_caller]
fn written(line: &str) -> (Value, Vec<Arc<Graph>>) {
    let output = in_process(&attn(line).arg("--format").arg("json").args(), Screen::plain(80));
    assert_eq!(output.code, 0, "attn {line}\n{}", output.err);
    (serde_json::from_str(&output.out).expect("JSON"), output.graphs)
}

#[track_caller]
fn saved(line: &str) -> SavedGraph {
    read(&written(line).0).unwrap_or_else(|error| panic!("attn {line}\n{error}")).remove(0)
}

/// Compares everything that a node has. NaN is NaN, whatever its bits: JSON has one NaN.
#[track_caller]
pub fn same_nodes(found: &Graph, expected: &Graph, what: &str) -> usize {
    let count = |graph: &Graph| graph.nodes().count();
    assert_eq!(count(found), count(expected), "{what}");
    assert_eq!(
        (found.precision(), found.is_of_model()),
        (expected.precision(), expected.is_of_model()),
        "{what}"
    );
    let mut compared = 0;
    for ((_, a), (_, b)) in found.nodes().zip(expected.nodes()) {
        let facts = |node: &Node| {
            let (op, inputs) = (node.op.clone(), node.inputs.clone());
            (node.name.clone(), op, inputs, node.step, node.label.clone(), node.collects.clone())
        };
        assert_eq!(facts(a), facts(b), "{what}: {}", b.name);
        assert_eq!(a.labels(), b.labels(), "{what}: {}", b.name);
        let (Numbers::Formed(a), Numbers::Formed(b)) = (&a.value, &b.value) else {
            panic!("{what}: {} has no numbers", b.name);
        };
        assert_eq!((a.shape(), a.dtype(), a.is_exact()), (b.shape(), b.dtype(), b.is_exact()), "{what}");
        let b = b.clone().loaded().unwrap();
        for (x, y) in a.cells().zip(b.cells()) {
            assert!(x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan(), "{what}: {x:e} is not {y:e}");
            compared += 1;
        }
    }
    compared
}

/// A command's graphs, read back and run again, are the ones that it computed. Returns the number of cells.
#[track_caller]
fn comes_back(line: &str) -> usize {
    let (document, graphs) = written(line);
    let saved = read(&document).unwrap_or_else(|error| panic!("attn {line}\n{error}"));
    assert_eq!(saved.len(), graphs.len(), "{line}");
    let mut compared = 0;
    for (SavedGraph { graph, read_only, title }, expected) in saved.into_iter().zip(graphs) {
        assert_eq!(read_only, None, "{line}");
        assert!(!title.is_empty(), "{line}");
        compared += same_nodes(&graph, &expected, line);
        let again = graph.run_again().unwrap_or_else(|error| panic!("attn {line}\n{error}"));
        compared += same_nodes(&again, &expected, &format!("{line}, run again"));
        assert_eq!(graph.warnings(), again.warnings(), "{line}");
    }
    compared
}

#[test]
fn every_demo_comes_back_and_gives_the_same_bits_again() {
    let compared: usize = demos().map(|demo| comes_back(&format!("demo {}", demo.name))).sum();
    assert!(compared > 10_000, "only {compared} numbers were compared");
}

const HEADS: &str = "attend --random 5,16 --heads 4 --tokens a,b,c,d,e";

#[test]
fn every_mechanism_of_attention_comes_back_and_gives_the_same_bits_again() {
    for options in [
        "",
        "--causal --window 2 --keep-first 1",
        "--residual --scale none --temperature 0.3",
        "--score cosine --scale 2.5",
        "--softcap 0.5 --sink 0.25 --causal",
        "--sink '0.5 -1 0 2'",
        "--bias '0 1 2 3 4; 1 -inf 1 1 1; 0 0 0 0 0; 1 1 1 1 1; 2 2 2 2 2'",
        "--mask '1 0 1 1 1; 1 1 0 0 1; 0 1 1 0 1; 0 0 0 0 1; 1 1 1 1 1' --mask-kind allow",
        "--mask '1 0 1 1 1; 1 1 0 0 1; 0 1 1 0 1; 1 1 1 1 1; 1 1 0 1 1' --mask-kind block --causal",
        "--mask '0 -1 1 1 1; 0 0.5 -inf 0 1; 0 1 1 0 1; 1 1 1 1 1; 1 1 0 1 1' --mask-kind add",
        "--position rope --causal --first-position 3 --rope-base 500",
        "--position rope-interleaved --rope-width 2",
        "--position rope --rope-scaling linear:factor=4",
        "--position rope --rope-scaling dynamic:factor=2,original=4",
        "--position rope --rope-scaling llama3:factor=8,low=1,high=4,original=32",
        "--position rope --rope-scaling yarn:factor=4,original=16",
        "--position rope --rope-scaling longrope:factor=32,original=16,divisors='1.5 2'",
        "--position alibi --causal",
        "--position sinusoidal",
        "--position t5 --position-table '1 2 3 4; 0 1 0 1; 2 2 2 2; 0.5 0.25 0 1' --scale none",
        "--qk-norm --qk-norm-eps 0.001",
        "--qk-norm '1.5 0.5 1 2'",
        &format!("--gate '{}'", ["1 0 -1 0.5"; 16].join(";")),
    ] {
        comes_back(&format!("{HEADS} {options}"));
    }
    for line in [
        "attend --words 'the bat sleeps in the cave' --causal",
        "attend --q '1 0; 0 1; 2 2' --k '1 0; 0 1' --v '1 2; 3 4' --causal",
        "attend --q '1 0' --k '1 0; 0 1' --v '1 2; 3 4' --causal-from start --causal",
        "attend --q '1 2 3 4; 5 6 7 8' --k '1 0; 0 2' --v '1 2; 3 4' --heads 2 --kv-heads 1",
        "attend --x '1 2; 3 4' --wq '1 0; 0 2' --wo '1 1; 0 1' --residual",
        "similarity bat cave racket",
        "similarity bat cave --measure cosine",
        "softmax 1 2 -inf",
        "softmax 1 2 3 --base 2 --temperature 0.5",
    ] {
        comes_back(line);
    }
}

#[test]
fn a_layer_of_a_model_comes_back_with_its_weights_and_gives_the_same_bits_again() {
    comes_back("model words 'the bat sleeps in the cave' --layer 1");
    comes_back("model words 'the bat sleeps' --layer 2 --without L2.A_3 --mean");
    for folder in ["llama-d", "gemma2-a", "qwen3-a", "neox-a", "phi3-b", "bert-a"] {
        for dtype in ["f64", "f32"] {
            let place = format!("{}/tests/models/{folder}", env!("CARGO_MANIFEST_DIR"));
            comes_back(&format!("model {place} --ids 1,2,3,4,5 --layer 1 --dtype {dtype}"));
        }
    }
}

#[test]
fn what_is_not_whole_opens_read_only_and_says_why() {
    let line = "attend --q '1 0; 0 1' --k '1 0; 0 1' --v '1 2; 3 4'";
    let part = saved(&format!("{line} --only O,A"));
    let reason = Reason::MissingInput { node: "O".into(), input: "V".into() };
    assert_eq!(part.read_only, Some(reason));
    assert!(part.graph.nodes().all(|(_, node)| node.op == Op::Given(Origin::Saved)));
    let versus = saved(&format!("{line} --versus '--scale none'"));
    assert!(matches!(versus.read_only, Some(Reason::MissingInput { .. })), "{:?}", versus.read_only);
    let fused = saved(&format!("{line} --fast"));
    assert_eq!(fused.read_only, Some(Reason::Fused));
    assert!(fused.graph.is_fused() && fused.graph.run_again().is_err());
    let (mut old, _) = written(line);
    old["version"] = json!(1);
    let old = read(&old).unwrap().remove(0);
    assert_eq!(old.read_only, Some(Reason::OldVersion));
    let numbers = |graph: &Graph| graph.matrix(graph.require("O").unwrap()).unwrap().clone();
    assert!(numbers(&old.graph).same_bits(&numbers(&saved(line).graph)));
}

#[test]
fn matrices_are_read_out_of_both_versions() {
    let (mut document, _) = written("attend --words 'bat cave' --causal");
    let first = |document: &Value| {
        let nodes = attn("attend -").input(document.to_string()).nodes();
        nodes.matrix("O")
    };
    let new = first(&document);
    document["version"] = json!(1);
    let old = first(&document);
    assert!(new.cells().zip(old.cells()).all(|(a, b)| same_number(a, b)));
}
