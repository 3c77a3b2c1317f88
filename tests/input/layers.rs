//! The weights of one attention layer, under the names of each library: `layers.json` has what its own layer computes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use attn::matrix::Matrix;
use serde_json::{Map, Value, json};

use crate::common::{Outcome, attn};

fn cases() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/input/layers.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// Numbers as lists within lists.
fn nested(shape: &[usize], values: &[f64]) -> Value {
    match shape {
        [] => json!(values[0]),
        [_] => json!(values),
        [first, rest @ ..] => values.chunks(values.len() / first).map(|part| nested(rest, part)).collect(),
    }
}

/// Entries, each with its shape and numbers, as a file of an ending.
fn file(ending: &str, entries: &[(String, Vec<usize>, Vec<f64>)]) -> Vec<u8> {
    if ending == "json" {
        let all: Map<String, Value> =
            entries.iter().map(|(name, shape, values)| (name.clone(), nested(shape, values))).collect();
        return Value::Object(all).to_string().into_bytes();
    }
    let mut header = Map::new();
    let mut data = Vec::new();
    for (name, shape, values) in entries {
        let start = data.len();
        data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        header.insert(
            name.clone(),
            json!({"dtype": "F64", "shape": shape, "data_offsets": [start, data.len()]}),
        );
    }
    let header = Value::Object(header).to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()
}

fn entries(case: &Value) -> Vec<(String, Vec<usize>, Vec<f64>)> {
    let all = case["entries"].as_object().unwrap().iter();
    all.map(|(name, entry)| {
        let shape = entry["shape"].as_array().unwrap().iter().map(|side| side.as_u64().unwrap() as usize);
        (name.clone(), shape.collect(), numbers(&entry["values"]))
    })
    .collect()
}

/// Runs `attn attend FILE --x X` on these entries, with options behind it.
fn run(ending: &str, entries: &[(String, Vec<usize>, Vec<f64>)], options: &str) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("layer.{ending}"));
    fs::write(&path, file(ending, entries)).unwrap();
    let x = nested(&[4, 4], &cases()["X"].as_array().unwrap().iter().flat_map(numbers).collect::<Vec<_>>());
    let x = x.to_string();
    let line = attn(&format!("attend --only O --format csv {options}"));
    on_one_line(line.arg("--x").arg(x).arg(path.to_str().unwrap()).run())
}

/// The same outcome, with what it says on one line.
fn on_one_line(ran: Outcome) -> Outcome {
    Outcome { err: ran.err.split_whitespace().collect::<Vec<_>>().join(" "), ..ran }
}

fn matrix(rows: &Value) -> Matrix {
    Matrix::from_rows(&rows.as_array().unwrap().iter().map(numbers).collect::<Vec<_>>()).unwrap()
}

#[track_caller]
fn computed(ran: &Outcome) -> Matrix {
    assert_eq!(ran.code, 0, "{}", ran.err);
    let rows: Vec<Vec<f64>> =
        ran.out.lines().map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    Matrix::from_rows(&rows).unwrap()
}

fn case(of: &str, by: &str) -> Value {
    let all = cases();
    let found = all["cases"].as_array().unwrap().iter();
    found
        .into_iter()
        .find(|case| case["of"] == of && case["by"].as_str().unwrap().contains(by))
        .unwrap()
        .clone()
}

fn entry(name: &str, shape: &[usize], value: f64) -> (String, Vec<usize>, Vec<f64>) {
    (name.to_string(), shape.to_vec(), vec![value; shape.iter().product()])
}

#[test]
fn the_layer_of_every_library_is_computed_as_it_computes_itself() {
    let all = cases();
    let mut libraries = BTreeSet::new();
    for case in all["cases"].as_array().unwrap() {
        libraries.insert(case["of"].as_str().unwrap());
        for ending in ["json", "safetensors"] {
            let what = format!("{} ({}), {ending}", case["of"], case["by"]);
            let mut entries = entries(case);
            // A scalar is no list of rows.
            entries.retain(|(_, shape, _)| ending == "safetensors" || !shape.is_empty());
            let ran = run(ending, &entries, case["options"].as_str().unwrap());
            let (o, expected) = (computed(&ran), matrix(&case["O"]));
            assert_eq!(o.shape(), expected.shape(), "{what}");
            // Some layers of transformers have their softmax in float32.
            let worst = o.cells().zip(expected.cells()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 5e-7, "{what}: off by {worst}\n{}", ran.err);
        }
    }
    assert_eq!(libraries.len(), 22, "{libraries:?}");
}

#[test]
fn an_unknown_name_in_a_layer_is_an_error_in_every_format() {
    for (of, by) in [
        ("LLMs-from-scratch", "ch03"),
        ("GPT-2 and nanoGPT", "nanoGPT"),
        ("timm", "timm"),
        ("Keras", "keras"),
    ] {
        let mut entries = entries(&case(of, by));
        let name =
            entries[0].0.rsplit_once(['.', '/']).map_or(String::new(), |(prefix, _)| format!("{prefix}.odd"));
        entries.push(entry(&name, &[2, 2], 1.0));
        for ending in ["json", "safetensors"] {
            let ran = run(ending, &entries, "--heads 2");
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{of}");
            let end = &name[name.len() - "odd".len()..];
            for words in ["unknown names", end, of, "--ignore"] {
                assert!(ran.err.contains(words), "{of}: no `{words}` in {}", ran.err);
            }
            let ran = run(ending, &entries, &format!("--heads 2 --ignore {name}"));
            assert!(ran.code == 0 && ran.err.contains("--ignore leaves out"), "{}", ran.err);
        }
    }
    // An output projection alone is no layer, whatever else is there.
    let ran = run(
        "safetensors",
        &[entry("att.W_query_.weight", &[4, 4], 1.0), entry("att.out_proj.weight", &[4, 4], 1.0)],
        "",
    );
    assert!(ran.code == 2 && ran.err.contains("no name in this file is that of a matrix"), "{}", ran.err);
    assert!(ran.err.contains("c_attn.weight") && ran.err.contains("linears.0.weight"), "{}", ran.err);
}

#[test]
fn biases_are_added_as_the_libraries_add_them() {
    let text = include_str!("../golden/biases.json");
    let all: serde_json::Value = serde_json::from_str(text).unwrap();
    for case in all["cases"].as_array().unwrap() {
        let (entries, options) = (entries(case), case["options"].as_str().unwrap());
        for ending in ["json", "safetensors"] {
            let ran = run(ending, &entries, options);
            let (o, expected) = (computed(&ran), matrix(&case["O"]));
            let worst = o.cells().zip(expected.cells()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(o.shape() == expected.shape() && worst < 1e-12, "{}: off by {worst}", case["of"]);
        }
        let without = computed(&run(
            "safetensors",
            &entries,
            &format!("{options} --ignore {}", case["bias"].as_str().unwrap()),
        ));
        let expected = matrix(&case["O_without"]);
        assert!(without.cells().zip(expected.cells()).all(|(a, b)| (a - b).abs() < 1e-12), "{}", case["of"]);
    }
}

#[test]
fn biases_of_0_are_left_out_and_told() {
    for (of, by) in [
        ("PyTorch's MultiheadAttention", "torch"),
        ("BERT", "transformers"),
        ("Flax", "flax"),
        ("TransformerLens", "itself"),
    ] {
        let case = case(of, by);
        let ran = run("safetensors", &entries(&case), case["options"].as_str().unwrap());
        assert!(ran.err.contains("left out"), "{of}: {}", ran.err);
    }
    let ran = run("json", &[entry("q_proj.weight", &[4, 4], 1.0)], "--ignore norm");
    assert!(ran.err.contains("no name ends in `norm`"), "{}", ran.err);
}

#[test]
fn a_bias_needs_its_projection() {
    let q = [entry("Q", &[2, 2], 1.0), entry("b_Q", &[2], 1.0)];
    let ran = run("json", &q, "");
    assert!(ran.code == 2 && ran.err.contains("b_Q is added to X W_Q, but Q is given"), "{}", ran.err);
    let ran = run("json", &[entry("b_O", &[2], 1.0)], "");
    assert!(ran.code == 2 && ran.err.contains("there is no W_O"), "{}", ran.err);
    let ran = run("json", &[entry("W_V", &[4, 4], 1.0), entry("b_V", &[3], 1.0)], "");
    assert!(ran.code == 2 && ran.err.contains("b_V is 1×3, but W_V makes 4 columns"), "{}", ran.err);
}

#[test]
fn what_the_names_do_not_say_is_asked_for_or_told() {
    // The order of a fused matrix by heads.
    let case_of = |of: &str, by: &str| entries(&case(of, by));
    let ran = run("json", &case_of("GPT-NeoX and BLOOM", ""), "");
    assert!(ran.code == 2 && ran.err.contains("give the number of heads with --heads"), "{}", ran.err);
    // A parameter may be x·W or x·Wᵀ.
    let parameters = case_of("LLMs-from-scratch, as parameters", "");
    let ran = run("json", &parameters, "--heads 2");
    assert!(ran.err.contains("--layout out-in") && ran.err.contains("no output projection"), "{}", ran.err);
    let turned: Vec<_> = parameters
        .iter()
        .map(|(name, shape, values)| {
            (name.clone(), shape.clone(), (0..16).map(|at| values[at % 4 * 4 + at / 4]).collect())
        })
        .collect();
    let other = run("json", &turned, "--heads 2 --layout out-in");
    assert!(!other.err.contains("--layout"), "{}", other.err);
    assert_eq!(computed(&other), computed(&ran));
    // A fused matrix whose sides do not tell which one it is.
    let odd = [entry("c_attn.weight", &[6, 6], 1.0), entry("c_proj.weight", &[2, 2], 1.0)];
    let ran = run("json", &odd, "");
    assert!(ran.code == 2 && ran.err.contains("say with --layout which of both it is"), "{}", ran.err);
    // Scores that are not divided by √d.
    let t5 = case_of("T5", "");
    let ran = run("json", &t5, "--heads 2");
    assert!(
        ran.err.contains("T5 itself does not scale its scores") && ran.err.contains("R is not used"),
        "{}",
        ran.err
    );
    // The mask that belongs to the module.
    let ran = run("json", &case_of("LLMs-from-scratch", "ch03"), "--heads 2");
    assert!(ran.err.contains("it is the causal mask of that layer; --causal applies one"), "{}", ran.err);
    // One of three projections.
    let ran =
        run("json", &[entry("a.q_proj.weight", &[4, 4], 1.0), entry("a.k_proj.weight", &[4, 4], 1.0)], "");
    assert!(
        ran.code == 2 && ran.err.contains("the layer `a` has no W_V: there is no `v_proj.weight`"),
        "{}",
        ran.err
    );
    // As many heads as the weights have.
    let ran = run("json", &case_of("TransformerLens", "itself"), "--heads 4");
    assert!(ran.code == 2 && ran.err.contains("--heads is 4, but the file has 2 heads of"), "{}", ran.err);
}

#[test]
fn queries_keys_and_values_have_those_names_too() {
    let text = |names: [&str; 3]| {
        format!(
            r#"{{"{}": [[1, 2], [0, 1]], "{}": [[3, 1], [1, 1]], "{}": [[5], [7]]}}"#,
            names[0], names[1], names[2]
        )
    };
    let o = |names| attn("attend --only O --format csv -").input(text(names)).ok().out;
    assert_eq!(o(["query", "key", "value"]), o(["Q", "K", "V"]));
    assert_eq!(o(["queries", "keys", "values"]), o(["Q", "K", "V"]));
}

#[test]
fn a_padding_mask_of_one_row_holds_for_every_query() {
    let folder = tempfile::tempdir().unwrap();
    let save = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let o = |mask: &str, options: &str| {
        let line = format!("attend --words 'bat cave racket' --only O --format csv {options} --mask");
        attn(&line).arg(mask).run()
    };
    let whole = o("0 0 -inf; 0 0 -inf; 0 0 -inf", "").out;
    assert!(!whole.is_empty());
    let last_hidden = ["[0, 0, \"-inf\"]", "[[0, 0, \"-inf\"]]", "[[[[0, 0, \"-inf\"]]]]"];
    for (name, text) in last_hidden.iter().enumerate() {
        let ran = o(&save(&format!("{name}.json"), text), "");
        assert_eq!(ran.out, whole, "{}", ran.err);
        assert!(ran.err.contains("The mask has one row, which holds for every query."), "{}", ran.err);
    }
    assert_eq!(o("1 1 0", "--mask-kind allow").out, whole);
    assert_eq!(o("0 0 1", "--mask-kind block").out, whole);
    let ran = o(&save("truth.json", "[true, true, false]"), "");
    assert_eq!(ran.out, whole);
    assert!(ran.err.contains("key_padding_mask"), "{}", ran.err);
    let fast = |mask: &str| o(mask, "--fast --dtype f64");
    assert_eq!(
        fast(&save("fast.json", "[true, true, false]")).out,
        fast("true true false; true true false; true true false").out
    );
    assert!(
        fast("0 0 -inf").code == 0
            && o("0 0 -inf 0", "").err.contains("the mask is 1×4, but the scores are 3×3")
    );
    assert!(o("1 1 0", "").err.contains("--mask-kind"));
}

#[test]
fn stacks_that_may_be_sequences_are_told_and_one_beside_matrices_is_refused() {
    let stack = "[[[1, 2], [0, 1]], [[3, 1], [1, 1]]]";
    let run = |q: &str, k: &str, options: &str| {
        attn(&format!("attend --only O --format csv {options}"))
            .arg("--q")
            .arg(q)
            .arg("--k")
            .arg(k)
            .arg("--v")
            .arg(k)
            .run()
    };
    let told = run(stack, stack, "");
    let err = told.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.code == 0 && err.contains("Q, K and V are stacks of matrices, read as 2 heads of one sequence"),
        "{err}"
    );
    assert_eq!(run(stack, stack, "--heads 2").err, "");
    let refused = run(stack, "1 2; 0 1", "");
    assert!(
        refused.code == 2
            && refused.err.contains("Q is a stack of 2 heads, but K is one matrix with 2 columns"),
        "{}",
        refused.err
    );
    assert_eq!(run(stack, "1 2 3 1; 0 1 1 1", "").code, 0);
    let refused = run("1 2 3 1; 0 1 1 1", stack, "");
    assert!(
        refused.code == 2 && refused.err.contains("K and V have 2 heads, but Q is one matrix"),
        "{}",
        refused.err
    );
    assert_eq!(run("1 2 3 1; 0 1 1 1", stack, "--heads 2").code, 0);
    let numbered =
        r#"{"Q_1": [[1, 2]], "Q_2": [[3, 1]], "K_1": [[1, 2]], "K_2": [[3, 1]], "V_1": [[1]], "V_2": [[3]]}"#;
    assert_eq!(attn("attend --only O -").input(numbered).ok().err, "");
}
