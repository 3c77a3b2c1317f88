//! Every op in JSON: its name, its parameters, its shape, and what a broken file makes of it.

use attn::attention::Mask;
use attn::graph::saved::{SavedGraph, read};
use attn::graph::{Factor, FusedSteps, Fusion, Graph, Op, OpKind, Origin};
use attn::matrix::{Matrix, Shape};
use attn::render::{Format, Page, Screen, Style, stories};
use attn::story::Story;
use serde_json::{Value, json};

use crate::cases::every_op;
use crate::common::one_in;
use crate::input::saved::same_nodes;
use crate::random::Random;

/// A document of a graph in which every op is computed.
fn every_op_written() -> (Value, Graph) {
    let a = Matrix::from_fn(3, 4, |i, j| (7 * i + 3 * j) as f64 / 5.0 - 1.3);
    let b = Matrix::from_fn(3, 4, |i, j| (5 * i + 11 * j) as f64 / 7.0 - 2.1);
    let graph = every_op(a, b);
    let page = Page::whole(Story::of_steps("Every op", graph.clone(), Vec::new()));
    let mut out = Vec::new();
    stories(&[page], "test", &Style::on(Screen::plain(80), Format::Json), &mut out).unwrap();
    (serde_json::from_slice(&out).unwrap(), graph)
}

#[test]
fn every_op_comes_back_and_gives_the_same_bits_again() {
    let (document, expected) = every_op_written();
    let saved = read(&document).unwrap().remove(0);
    same_nodes(&saved.graph, &expected, "every op");
    same_nodes(&saved.graph.run_again().unwrap(), &expected, "every op, run again");
}

/// An op of each kind and form: those of the graph, and those that are recorded, not computed.
fn ops() -> Vec<Op> {
    let mask = Mask { window: Some(3), ..Mask::default() };
    let (scale, soft_cap) = (Some(Factor::Number(f64::NEG_INFINITY)), Some(0.1));
    let steps = FusedSteps { scale, temperature: f64::INFINITY, soft_cap, mask };
    let origins = [
        Origin::Stated,
        Origin::Identity,
        Origin::Fitted,
        Origin::Drawn(7),
        Origin::User("--q".into()),
        Origin::Weights("h.0".into()),
        Origin::Stream(2),
        Origin::Cache,
        Origin::Config("rope_scaling".into()),
        Origin::Letters,
        Origin::Saved,
        Origin::Rows(vec![Origin::Stated, Origin::Drawn(1)]),
    ];
    let fused = [Fusion::Output(steps), Fusion::LogSumExp].map(Op::Fused);
    let named = Op::Stack(Some(["bat".to_string(), "cave".to_string()].into()));
    let tiny = [Op::SoftCap(-0.0), Op::Temperature(5e-324), Op::RmsNorm(f64::INFINITY)];
    let computed = every_op_written().1;
    let computed = computed.nodes().map(|(_, node)| node.op.clone()).collect::<Vec<_>>();
    origins.map(Op::Given).into_iter().chain(fused).chain([named]).chain(tiny).chain(computed).collect()
}

#[test]
fn the_name_in_json_is_the_name_of_the_op_and_its_params_are_an_object() {
    let mut names: Vec<&str> = Vec::new();
    for op in ops() {
        let form = serde_json::to_value(&op).unwrap();
        assert_eq!(form["op"], op.name());
        assert!(op.params().is_object(), "{form}");
        let text = json!({ "op": op.name(), "params": op.params() }).to_string();
        let back: Op = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(format!("{back:?}"), format!("{op:?}"), "{text}");
        assert_eq!(OpKind::named(op.name()), Some(OpKind::from(&op)));
        names.push(op.name());
    }
    for name in OpKind::all().flat_map(OpKind::names) {
        assert!(names.contains(&name), "no example of `{name}`");
    }
}

#[test]
fn an_op_fits_the_shape_that_it_computes_and_no_other() {
    let graph = every_op_written().1;
    for (_, node) in graph.nodes().filter(|(_, node)| !node.op.is_given()) {
        let shapes: Vec<Shape> = node.inputs.iter().map(|&input| graph[input].shape()).collect();
        let Shape { rows, cols } = node.shape();
        node.op.check_fits(&shapes, node.shape()).unwrap();
        for other in [Shape { rows: rows + 1, cols }, Shape { rows, cols: cols + 1 }] {
            assert!(node.op.check_fits(&shapes, other).is_err(), "{}: {other}", node.name);
        }
    }
}

/// Every value inside a JSON value but the numbers of nodes.
fn places(value: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    visit(value);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| places(item, visit)),
        Value::Object(entries) => {
            let inner = entries.iter_mut().filter(|(key, _)| *key != "values" && *key != "formula");
            inner.for_each(|(_, item)| places(item, visit));
        }
        _ => {}
    }
}

/// What a file might have in a place: other types, other sizes, what other places have.
fn wrong(random: &mut Random, before: &Value) -> Value {
    let numbers = [0, 1, 2, 3, 5, 64, 1 << 31, 1 << 53, u64::MAX];
    match (before, random.below(4)) {
        (Value::Number(number), 0) => json!(number.as_f64().unwrap_or_default() - 1.0),
        (Value::Number(_) | Value::Null, 1..) => json!(numbers[random.below(numbers.len())]),
        (Value::Bool(before), _) => json!(!before),
        (Value::String(_), 0) => json!(["X", "columns", "add", "e", "inf", "nan"][random.below(6)]),
        (Value::Array(items), 0) => Value::Array(items.iter().rev().cloned().collect()),
        (_, 1) => Value::Null,
        (_, 2) => json!({}),
        _ => [json!(i64::MIN), json!(1e300), json!("-inf")][random.below(3)].clone(),
    }
}

#[test]
fn nothing_in_a_file_reaches_a_panic() {
    let (document, _) = every_op_written();
    let mut count = 0;
    places(&mut document.clone(), &mut |_| count += 1);
    let mut random = Random::new(1);
    let (mut read_anyway, mut refused) = (0, 0);
    for _ in 0..4000 / one_in(10) {
        let (mut broken, chosen, mut at) = (document.clone(), random.below(count), 0);
        places(&mut broken["graphs"][0]["nodes"], &mut |place| {
            if at == chosen {
                *place = wrong(&mut random, place);
            }
            at += 1;
        });
        match read(&broken) {
            Ok(graphs) => {
                read_anyway += 1;
                for SavedGraph { graph, .. } in graphs {
                    let _ = graph.run_again();
                    for (id, _) in graph.nodes() {
                        attn::graph::formula(&graph, id, attn::graph::Convention::Rows, true);
                        let cell = attn::graph::CellId { node: id, row: 0, col: 0 };
                        graph.terms(cell).evaluate(&graph);
                    }
                }
            }
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().is_empty());
            }
        }
    }
    assert!(
        read_anyway > 100 / one_in(10) && refused > 1000 / one_in(10),
        "{read_anyway} were read, {refused} refused"
    );
}
