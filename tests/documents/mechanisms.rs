//! Positions, norms, soft-caps, sinks, windows and gates give what PyTorch and transformers give, step by step.

use crate::common::{Nodes, attn};
use crate::golden::{assert_close, json, list, matrix, string};
use attn::attention::{Buckets, HeadOf, Mask};
use attn::graph::recipes::{AttendInputs, PositionKind, Positions, Recipe, Scale, attend};
use attn::matrix::Matrix;
use serde_json::{Value, json};

/// The records of `mechanisms.json` about these mechanisms.
fn records(mechanisms: &[&str]) -> Vec<Value> {
    let golden = json("mechanisms.json");
    let records: Vec<Value> = list(&golden, "records")
        .iter()
        .filter(|record| mechanisms.contains(&string(record, "mechanism")))
        .cloned()
        .collect();
    assert!(records.len() >= mechanisms.len(), "{mechanisms:?}");
    records
}

/// The bundle of a record under our names. Where no values are given, the keys serve as values.
fn bundle(record: &Value) -> tempfile::NamedTempFile {
    let mut inputs = serde_json::Map::new();
    for (name, value) in record["inputs"].as_object().expect("inputs") {
        let name = match name.as_str() {
            "sinks" => "sink",
            "table" => "R",
            "W_G" => "W_g",
            "mask" => "M",
            other => other,
        };
        inputs.insert(name.to_string(), value.clone());
    }
    if !inputs.contains_key("V") && !inputs.contains_key("X") {
        inputs.insert("V".into(), inputs["K"].clone());
    }
    let scaling = &record["parameters"]["rope_scaling"];
    if let Some(short) = scaling.get("short_factor") {
        inputs.insert("F_divisors".into(), json!([short, scaling["long_factor"]]));
    }
    crate::golden::attend_bundle(&Value::Object(inputs))
}

/// The options of a record as a user types them.
fn options(record: &Value) -> String {
    let parameters = &record["parameters"];
    let mut line = String::new();
    for (key, option) in [
        ("heads", "--heads"),
        ("kv_heads", "--kv-heads"),
        ("position", "--position"),
        ("rope_base", "--rope-base"),
        ("rope_width", "--rope-width"),
        ("first_position", "--first-position"),
        ("scale", "--scale"),
        ("window", "--window"),
        ("softcap", "--softcap"),
    ] {
        match &parameters[key] {
            Value::Null => {}
            Value::String(text) => line.push_str(&format!(" {option}={text}")),
            number => line.push_str(&format!(" {option}={number}")),
        }
    }
    if !record["inputs"]["g_Q"].is_null() {
        line.push_str(&format!(" --qk-norm-eps={}", parameters["eps"]));
    }
    if parameters["causal"] == true {
        line.push_str(" --causal");
    }
    if !record["inputs"]["mask"].is_null() {
        line.push_str(" --mask-kind=allow");
    }
    if let Some(scaling) = parameters["rope_scaling"].as_object() {
        line.push_str(&format!(" --rope-scaling={}", rope_scaling(scaling, parameters)));
    }
    line
}

/// `--rope-scaling` with the names of a model's configuration.
fn rope_scaling(scaling: &serde_json::Map<String, Value>, parameters: &Value) -> String {
    let is_list = |name: &str| name.ends_with("long_factor") || name.ends_with("short_factor");
    // transformers ignores a single one of these two.
    let is_ignored = |name: &str| name == "mscale" && !scaling.contains_key("mscale_all_dim");
    let mut pairs: Vec<String> = scaling
        .iter()
        .filter(|(name, _)| *name != "rope_type" && !is_list(name) && !is_ignored(name))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    if !parameters["max_position_embeddings"].is_null() && scaling["rope_type"] == "dynamic" {
        pairs.push(format!("original={}", parameters["max_position_embeddings"]));
    }
    format!("{}:{}", scaling["rope_type"].as_str().expect("a type"), pairs.join(","))
}

/// A node under its name in the records: all heads side by side, or a node of ours.
fn node(nodes: &Nodes, name: &str) -> Matrix {
    let ours = match name {
        "inv_freq" if nodes.names().contains(&"F_scaled") => "F_scaled",
        "inv_freq" => "F",
        "gate" => "G",
        other => other,
    };
    if nodes.names().contains(&ours) {
        return nodes.matrix(ours);
    }
    let heads = (1..).map(|head| format!("{ours}_{head}"));
    let heads: Vec<Matrix> = heads
        .take_while(|name| nodes.names().contains(&name.as_str()))
        .map(|name| nodes.matrix(&name))
        .collect();
    assert!(!heads.is_empty(), "no node {name} in {:?}", nodes.names());
    crate::common::steps::concatenate(&heads.iter().collect::<Vec<_>>()).expect("heads of one height")
}

/// The cells of keys that are not after their query; 0 elsewhere.
fn without_later_keys(scores: &Matrix) -> Matrix {
    let causal = Mask { causal: true, ..Mask::default() };
    let visible = causal.pattern(scores.rows(), scores.cols(), None);
    Matrix::from_fn(
        scores.rows(),
        scores.cols(),
        |i, j| {
            if visible[(i, j)] == 1.0 { scores[(i, j)] } else { 0.0 }
        },
    )
}

#[test]
fn every_recorded_step_equals_that_of_transformers() {
    let all = records(&["rope", "alibi", "sink", "softcap", "qk-norm", "gate", "stack"]);
    let mut compared = 0;
    for record in all.iter().filter(|record| {
        let inputs = record["inputs"].as_object().expect("inputs");
        inputs.contains_key("K") || inputs.contains_key("X")
    }) {
        let file = bundle(record);
        let line = format!("attend {}{}", file.path().to_str().expect("a plain path"), options(record));
        let nodes = attn(&line).nodes();
        for (name, values) in record["outputs"].as_object().expect("outputs") {
            // The factor of sines and cosines is part of the rotation.
            if name != "attention_scaling" {
                let what = format!("{} {name} ({line})", string(record, "name"));
                let (mut ours, mut theirs) = (node(&nodes, name), matrix(values));
                if string(record, "mechanism") == "alibi" && name.starts_with("S_biased") {
                    // Theirs rewards later keys, which the mask hides; ours counts the distance in both directions.
                    (ours, theirs) = (without_later_keys(&ours), without_later_keys(&theirs));
                }
                assert_close(&what, &ours, &theirs);
                compared += 1;
            }
        }
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn slopes_of_one_to_sixteen_heads_are_those_of_bloom_and_mpt() {
    let slopes = &records(&["alibi"])[0]["outputs"];
    for heads in 1..=16 {
        let ours = Matrix::from_fn(1, heads, |_, head| HeadOf { head: head + 1, heads }.slope());
        assert_close(&format!("{heads} heads"), &ours, &matrix(&slopes[format!("slopes_{heads}")]));
    }
}

#[test]
fn buckets_of_distances_are_those_of_t5() {
    let mut compared = 0;
    for record in records(&["t5"]).iter().filter(|record| !record["outputs"]["buckets"].is_null()) {
        let parameters = &record["parameters"];
        let number = |key: &str| parameters[key].as_i64().expect("a number");
        let buckets = Buckets {
            count: number("buckets") as usize,
            furthest: number("max_distance") as usize,
            both_ways: parameters["causal"] == false,
        };
        let theirs = matrix(&record["outputs"]["buckets"]);
        // Theirs is the position of the key less that of the query.
        for (relative, theirs) in (number("from")..=number("to")).zip(theirs.cells()) {
            assert_eq!(buckets.bucket(-relative) as f64, theirs, "{} {relative}", string(record, "name"));
            compared += 1;
        }
    }
    assert_eq!(compared, 4 * 401);
}

#[test]
fn windows_show_the_keys_that_transformers_shows() {
    for record in records(&["window"]) {
        let parameters = &record["parameters"];
        let number = |key: &str| parameters[key].as_u64().expect("a number") as usize;
        let mask = Mask {
            causal: parameters["causal"] == true,
            window: Some(number("window")),
            keep_first: number("keep_first"),
            ..Mask::default()
        };
        let ours = mask.pattern(number("queries"), number("keys"), None);
        assert_close(string(&record, "name"), &ours, &matrix(&record["outputs"]["visible"]));
    }
}

#[test]
fn layers_with_the_positions_of_t5_give_its_results() {
    for record in records(&["t5"]).iter().filter(|record| !record["inputs"]["X"].is_null()) {
        let (inputs, parameters) = (&record["inputs"], &record["parameters"]);
        let given = |name: &str| Some(matrix(&inputs[name]).into());
        let furthest = parameters["max_distance"].as_u64().expect("a number") as usize;
        let kind = PositionKind::Buckets { furthest };
        let recipe = Recipe {
            heads: 2,
            kv_heads: 2,
            scale: Scale::None,
            positions: Positions { kind, ..Positions::default() },
            mask: Mask { causal: parameters["causal"] == true, ..Mask::default() },
            ..Recipe::default()
        };
        let inputs = AttendInputs {
            x: given("X"),
            w_q: given("W_Q"),
            w_k: given("W_K"),
            w_v: given("W_V"),
            w_o: given("W_O"),
            position_table: given("table"),
            ..AttendInputs::default()
        };
        let graph = attend(&recipe, inputs).expect("the shapes fit");
        for (name, values) in record["outputs"].as_object().expect("outputs") {
            let ours = graph.matrix(graph.require(name).expect("a node")).expect("formed");
            assert_close(&format!("{} {name}", string(record, "name")), ours, &matrix(values));
        }
    }
}
