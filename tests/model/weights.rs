//! Attention weights that a framework returned: `weights.json` has what NumPy computes of them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Attn, attn};
use crate::exercise::{doubles, npy, place};
use crate::golden::{self, assert_close, matrix};

fn golden() -> Value {
    golden::json("weights.json")
}

/// All numbers within lists, in order.
fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(parts) => parts.iter().flat_map(flat).collect(),
        number => vec![number.as_f64().expect("a number")],
    }
}

/// The array of this name as a file, under these sides.
fn file(folder: &Path, name: &str, dims: &[usize]) -> String {
    let path = folder.join(format!("{name}{}.npy", dims.len()));
    npy(&path, "<f8", dims, doubles(flat(&golden()[name])));
    path.display().to_string()
}

fn weights(file: &str, options: &str) -> Attn {
    attn(&format!("weights {file} {options}"))
}

#[test]
fn the_rollout_is_that_of_numpy_after_every_layer() {
    let folder = place();
    let file = file(folder.path(), "A", &[3, 2, 4, 4]);
    let nodes = weights(&file, "--rollout --full").nodes();
    for (node, rollout) in
        ["L1.A_half", "L2.R", "L3.R"].into_iter().zip(golden()["rollout"].as_array().unwrap())
    {
        assert_close(node, &nodes.matrix(node), &matrix(rollout));
    }
}

#[test]
fn the_mean_over_heads_is_that_of_numpy() {
    let folder = place();
    let nodes = weights(&file(folder.path(), "A", &[3, 2, 4, 4]), "--mean").nodes();
    assert_eq!(nodes.names().iter().filter(|name| name.ends_with("A_mean")).count(), 3);
    assert_close("L2.A_mean", &nodes.matrix("L2.A_mean"), &matrix(&golden()["mean"][1]));
}

#[test]
fn every_shape_in_which_weights_are_saved_is_read_alike() {
    let folder = place();
    let whole = weights(&file(folder.path(), "A", &[3, 2, 4, 4]), "--format csv").ok().out;
    let batch = weights(&file(folder.path(), "A", &[3, 1, 2, 4, 4]), "--format csv").ok().out;
    // A list of layers, as np.savez(file, *attentions) and json write it, under names that end in a number.
    let golden = golden();
    let layers = golden["A"].as_array().unwrap().iter().enumerate();
    let layers: serde_json::Map<String, Value> =
        layers.rev().map(|(at, layer)| (format!("arr_{}", at + 9), json!([layer]))).collect();
    let list = folder.path().join("list.json");
    fs::write(&list, Value::from(layers).to_string()).unwrap();
    let list = weights(&list.display().to_string(), "--format csv").ok().out;
    // torch.save(outputs.attentions, file), with a batch of one.
    let tuple = weights("tests/golden/attentions.pt", "--format csv").ok().out;
    let heads = |text: &str| {
        text.lines().filter(|line| line.starts_with("file,")).map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(heads(&whole).len(), 6, "{whole}");
    assert_eq!(heads(&whole), heads(&batch));
    assert_eq!(heads(&whole), heads(&list));
    assert_eq!(heads(&whole), heads(&tuple));
}

#[test]
fn measures_of_heads_are_those_of_numpy() {
    let folder = place();
    let told = weights(&file(folder.path(), "A", &[3, 2, 4, 4]), "--format json").ok().out;
    let told: Value = serde_json::from_str(&told).unwrap();
    let table = &told["tables"].as_array().unwrap()[1];
    let column = |name: &str| -> Vec<f64> {
        let rows = table["rows"].as_array().unwrap().iter();
        rows.map(|row| row[name].as_f64().or_else(|| row[name].as_str()?.parse().ok()).unwrap()).collect()
    };
    for (name, golden_name) in [("entropy", "entropy"), ("previous token", "previous")] {
        for (ours, theirs) in column(name).into_iter().zip(flat(&golden()[golden_name])) {
            assert!((ours - theirs).abs() <= 1e-9 * (1.0 + theirs), "{name}: {ours} {theirs}");
        }
    }
}

#[test]
fn queries_are_added_and_weights_are_multiplied_by_the_length_of_values() {
    let folder = place();
    let (a, v) = (file(folder.path(), "A", &[3, 2, 4, 4]), file(folder.path(), "V", &[3, 2, 4, 3]));
    let sums = weights(&a, "--tokens 'the cat saw it' --queries the,4").nodes();
    let by_length = weights(&a, &format!("--values {v} --layer 2")).nodes();
    for (layer, head) in [(0, 0), (1, 1), (2, 0)] {
        let of = |name: &str| golden()[name][layer][head].clone();
        let name = format!("L{}.A_summed_{}", layer + 1, head + 1);
        assert_close(&name, &sums.matrix(&name), &matrix(&json!([of("first_and_last_query")])));
    }
    assert_close("by length", &by_length.matrix("L2.A_by_length_2"), &matrix(&golden()["by_length"][1][1]));
}

#[test]
fn a_page_has_a_picture_of_every_head() {
    let folder = place();
    let page =
        weights(&file(folder.path(), "A", &[3, 2, 4, 4]), "--tokens 'the cat saw it' --format html").ok().out;
    for layer in 1..=3 {
        assert!(page.contains(&format!("id=\"layer-{layer}\"")), "layer {layer}");
    }
    assert!(page.contains(">saw</li>") && page.contains("· attn weights</title>"));
}

#[test]
fn weights_that_are_none_are_refused_and_those_of_dropout_are_told() {
    let folder = place();
    let numbers = |name: &str, numbers: &str| {
        let path = folder.path().join(name);
        fs::write(&path, numbers).unwrap();
        path.display().to_string()
    };
    let scores = numbers("scores.json", "[[0.5, 0.5], [-1.2, 0.5]]");
    weights(&scores, "").refused(&["row 2, column 1: -1.2 is no weight", "softmax"]);
    let dropped = numbers("dropped.json", "[[1.2, 0], [0, 1.2]]");
    let told = weights(&dropped, "").ok().err;
    assert!(told.contains("off by up to 0.200") && told.contains("Dropout"), "{told}");
    let wide = numbers("wide.json", "[[0.5, 0.25, 0.25]]");
    weights(&wide, "--rollout").refused(&["no rollout over other tokens"]);
    weights(&wide, "--layer 2").refused(&["there is no layer 2", "1 layer"]);
    weights(&wide, "--layer 1 --key-tokens a,b").refused(&["--key-tokens has 2 names", "each key: 3"]);
    weights(&wide, "--queries ,").refused(&["names no query"]);
    weights(&wide, "--queries x").refused(&["have no names", "numbered 1 to 1"]);
    let infinite = numbers("infinite.csv", "inf 0\n0 1\n");
    weights(&infinite, "").refused(&["row 1, column 1: inf is no weight"]);
    let percent = numbers("percent.json", "[[100, 0], [50, 50]]");
    let told = weights(&percent, "").ok().err;
    assert!(told.contains("scores or percentages"), "{told}");
    let turned = numbers("turned.json", "[[1, 0.25], [0, 0.75]]");
    let told = weights(&turned, "").ok().err;
    assert!(told.contains("rows and columns may be exchanged"), "{told}");
    let batch = file(folder.path(), "A", &[1, 3, 2, 2, 4, 2]);
    weights(&batch, "").refused(&["batch", "save one text"]);
}

#[test]
fn what_is_chosen_is_what_every_format_has_and_what_is_explained() {
    let folder = place();
    let file = file(folder.path(), "A", &[3, 2, 4, 4]);
    assert_eq!(weights(&file, "--layer 2 --head 1").nodes().names(), ["L2.A_1"]);
    assert_eq!(weights(&file, "--layer 3 --mean").nodes().names(), ["L3.A_mean"]);
    let told = weights(&file, "--layer 2 --head 1 --explain 'A[3,1]'").ok().out;
    assert!(told.starts_with("L2.A_1[3,1]") && !told.contains("A_2"), "{told}");
    let names = r#"["Hello", ",", " I", "am"]"#;
    let told = weights(&file, &format!("--layer 1 --head 1 --tokens '{names}' --queries 2"));
    let told = told.ok().out;
    assert!(told.contains("Hello") && told.contains("L1.A_summed_1"), "{told}");
}

#[test]
fn over_other_tokens_a_query_has_no_place_among_the_keys() {
    let folder = place();
    let tall = folder.path().join("tall.json");
    fs::write(&tall, "[[[0.25, 0.75], [0.5, 0.5], [1, 0]]]").unwrap();
    let tall = tall.display().to_string();
    let told = weights(&tall, "--key-tokens the,cat").ok().out;
    assert!(told.contains("attends most to") && !told.contains("itself"), "{told}");
    // (0.25 + 0.5 + 1) / 3 and (0.75 + 0.5 + 0) / 3; -Σ a log₂ a over three rows, by hand.
    let table = weights(&tall, "--key-tokens the,cat --format csv").ok().out;
    let line = table.lines().last().unwrap_or_default();
    assert!(line.starts_with("1,1,0.603759374819711") && line.contains(",the,0.583333333333333"), "{table}");
    let square = file(folder.path(), "A", &[3, 2, 4, 4]);
    let other = "--tokens a,b,c,d --key-tokens e,f,g,h";
    weights(&square, &format!("{other} --rollout")).refused(&["no rollout over other tokens"]);
    assert!(!weights(&square, other).ok().out.contains("rollout"));
}

#[test]
fn cross_attention_has_two_lists_of_words() {
    let qkv = "attend --q '1 0; 0 1' --k '1 1; 0 2; 1 0' --v '3 0; 0 5; 1 1'";
    let shown = attn(&format!("{qkv} --tokens le,chat --key-tokens the,black,cat --only A")).ok().out;
    assert!(shown.contains("the    black      cat") && shown.contains("│ chat │"), "{shown}");
    let cell = attn(&format!("{qkv} --tokens le,chat --key-tokens the,black,cat --explain 'A[chat,black]'"))
        .ok()
        .out;
    assert!(cell.starts_with("A[chat,black]"), "{cell}");
    attn(&format!("{qkv} --key-tokens a,b")).refused(&["there are 2 names for 3 tokens", "K has 3 rows"]);
    attn("attend --x '1 2; 3 4' --key-tokens a,b")
        .refused(&["--key-tokens names the rows of given keys and values"]);
}

#[test]
fn weights_and_rollouts_are_shaded_on_the_screen() {
    let folder = place();
    let file = file(folder.path(), "A", &[3, 2, 4, 4]);
    for chosen in ["--layer 1 --head 1", "--mean --layer 1", "--rollout"] {
        let shaded = weights(&file, &format!("{chosen} --heat always")).ok().out;
        assert!(shaded.contains('█') && shaded != weights(&file, chosen).ok().out, "{chosen}: {shaded}");
    }
}
