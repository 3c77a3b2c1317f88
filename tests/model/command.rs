//! `attn model`, as it is typed.

use serde_json::Value;

use crate::common::{attn, one_in};
use crate::model::fixtures::{Expected, Fixture, folders};

fn json(line: &str) -> Value {
    let outcome = attn(line).arg("--format").arg("json").ok();
    serde_json::from_str(&outcome.out).expect("JSON")
}

fn ids_of(expected: &Expected) -> String {
    expected.integers("ids").unwrap().iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

#[test]
fn every_small_random_model_opens_and_reads_ids() {
    for folder in folders().into_iter().step_by(one_in(4)) {
        let place = folder.display();
        attn(&format!("model {place}")).ok();
        let heads = Fixture::open(&folder).architecture.blocks[0].recipe.heads;
        let suffix = if heads > 1 { "_1" } else { "" };
        for (name, expected) in Expected::of(&folder) {
            let ids = ids_of(&expected);
            attn(&format!("model {place} --ids {ids}")).ok();
            let value = json(&format!("model {place} --ids {ids} --only L1.A{suffix}"));
            let node = value["graphs"][0]["nodes"]
                .as_array()
                .unwrap()
                .iter()
                .find(|node| node["name"] == format!("L1.A{suffix}"));
            let values = node.expect("the pattern")["values"].as_array().unwrap();
            let patterns = expected.numbers("attentions.0").unwrap();
            for (i, row) in values.iter().enumerate() {
                for (j, cell) in row.as_array().unwrap().iter().enumerate() {
                    let far = (cell.as_f64().unwrap() - patterns[i * values.len() + j]).abs();
                    assert!(far < 1e-9, "{name}: [{i},{j}] differs by {far}");
                }
            }
        }
    }
}

#[test]
fn usual_names_and_names_of_the_file_lead_to_the_same_numbers() {
    let text = "model words 'the bat sleeps in the cave . it is'";
    let ours = attn(&format!("{text} --only L1.A_3")).ok().out;
    assert_eq!(attn(&format!("{text} --only L0H2")).ok().out, ours);
    let cell = attn(&format!("{text} --explain L1.W_QKV[6,18]")).ok().out;
    assert!(cell.contains("transformer.h.0.attn.c_attn.weight"), "{cell}");
    assert!(cell.contains("[5, 17]"), "{cell}");
    assert_eq!(attn(&format!("{text} --explain transformer.h.0.attn.c_attn.weight[5,17]")).ok().out, cell);
}

#[test]
fn what_a_model_does_not_have_is_refused_with_what_it_has() {
    let text = "model words 'the bat sleeps'";
    attn(&format!("{text} --layer 3")).refused(&["there is no layer 3", "2 layers, counted from 1"]);
    attn(&format!("{text} --layer 0")).refused(&["there is no layer 0"]);
    attn(&format!("{text} --layer 1 --head 5")).refused(&["there is no head 5", "4 heads"]);
    attn(&format!("{text} --without L1.A_9")).refused(&["there is no head 9"]);
    attn(&format!("{text} --without L9")).refused(&["there is no layer 9"]);
    attn(&format!("{text} --without head3")).refused(&["no part of a model", "mlp:5"]);
    attn(&format!("{text} --without L1.A")).refused(&["layer 1 has 4 heads", "L1.A_1"]);
    attn("model words --layer 1").refused(&["--layer needs a text"]);
    attn("model words 'the zebra sleeps'").refused(&["zebra"]);
    attn("model words --ids 3,500").refused(&["500"]);
    attn("model words ''").refused(&["no tokens"]);
    attn(&format!("{text} --rows 1-2")).refused(&["--rows chooses a part of matrices"]);
    attn(&format!("{text} --layer 1 --rows 9-12")).refused(&["--rows begins at 9, but there are 3"]);
    attn(&format!("{text} --layer 1 --around zebra")).refused(&["no token of the text is `zebra`", "sleeps"]);
    attn(&format!("{text} --layer 1 --next 3")).refused(&["cannot be used with"]);
    attn(&format!("{text} --layer 1 --limit 5")).refused(&["the limit of 5", "raise the limit"]);
    attn("model nowhere 'the bat'").refused(&["no such folder"]);
}

#[test]
fn numbers_beyond_every_layer_are_refused() {
    let text = "model words 'the bat sleeps'";
    let most = usize::MAX;
    for name in
        [format!("L{most}H{most}"), format!("L{most}H0"), format!("L0H{most}"), format!("h.{most}.attn")]
    {
        attn(&format!("{text} --only {name}")).refused(&["error: "]);
        attn(&format!("{text} --explain {name}[1,1]")).refused(&["error: "]);
        attn(&format!("{text} --without {name}")).refused(&["no part of a model"]);
    }
    let weight = "transformer.h.0.attn.c_attn.weight";
    attn(&format!("{text} --explain {weight}[{most},0]")).refused(&["has no row"]);
    attn(&format!("{text} --layer {most}")).refused(&["there is no layer"]);
    attn(&format!("{text} --layer 1 --rows {most}")).refused(&["--rows begins at"]);
}

#[test]
fn a_head_that_is_taken_out_changes_the_next_word_and_nothing_before_it() {
    let text = "model words 'the bat lies by the racket . it is'";
    let shown = attn(&format!("{text} --without L1.A_3 --top 2")).ok().out;
    assert!(shown.contains("The next token, without L1.A_3"), "{shown}");
    let layer = |more: &str| json(&format!("{text} --only L1.A_1 {more}"))["graphs"][0]["nodes"].clone();
    assert_eq!(layer(""), layer("--without L1.A_3"), "the other heads of the layer stay");
    let later = |more: &str| json(&format!("{text} --only L2.A_1 {more}"))["graphs"][0]["nodes"].clone();
    assert_ne!(later(""), later("--without L1.A_3"));
}

#[test]
fn without_the_first_token_the_other_weights_sum_to_1() {
    let value = json("model words 'the bat sleeps in the cave' --without-first --only L2.A_2");
    let nodes = value["graphs"][0]["nodes"].as_array().unwrap();
    let rows = nodes.iter().find(|node| node["name"] == "L2.A_2").unwrap()["values"].as_array().unwrap();
    for (i, row) in rows.iter().enumerate() {
        let row: Vec<f64> = row.as_array().unwrap().iter().map(|cell| cell.as_f64().unwrap()).collect();
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(row[0] == 0.0, i > 0, "row {}", i + 1);
    }
}

#[test]
fn a_seed_gives_the_same_text_again_and_greedy_needs_none() {
    let text = "model words 'the bat' --next 6";
    assert_eq!(attn(text).ok().out, attn(text).ok().out);
    let drawn = |seed: u32| attn(&format!("{text} --temperature 3 --seed {seed}")).ok().out;
    assert_eq!(drawn(1), drawn(1));
    assert!((2..8).any(|seed| drawn(seed) != drawn(1)));
    attn("model words 'the bat' --next 32").refused(&[
        "2 tokens and 32 more are 34",
        "positions for 32",
        "--next 31",
    ]);
    attn("model words 'the bat' --next 31").ok();
}

#[test]
fn every_format_writes_every_view() {
    let text = "model words 'the bat sleeps'";
    for format in ["json", "csv", "markdown", "latex", "html"] {
        for view in ["", "--layer 2", "--layer 1 --head 3", "--survey", "--next 2", "--without L2"] {
            let out = attn(&format!("{text} {view} --format {format}")).ok().out;
            assert!(!out.is_empty(), "{format} {view}");
        }
    }
}

/// A folder with a small model whose configurations name these ids as the ends of a text.
fn ending_with(config: Option<Value>, generation: Option<Value>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let model = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/llama-a");
    std::fs::copy(model.join("model.safetensors"), folder.path().join("model.safetensors")).unwrap();
    let text = std::fs::read_to_string(model.join("config.json")).unwrap();
    let mut own: Value = serde_json::from_str(&text).unwrap();
    match config {
        Some(ids) => own["eos_token_id"] = ids,
        None => drop(own.as_object_mut().unwrap().remove("eos_token_id")),
    }
    std::fs::write(folder.path().join("config.json"), own.to_string()).unwrap();
    if let Some(ids) = generation {
        let text = serde_json::json!({ "eos_token_id": ids }).to_string();
        std::fs::write(folder.path().join("generation_config.json"), text).unwrap();
    }
    folder
}

#[test]
fn a_text_ends_at_the_token_that_ends_texts() {
    let written = |config: Option<Value>, generation: Option<Value>| -> (Vec<u64>, String) {
        let folder = ending_with(config, generation);
        let command = format!("model {} --ids 5,9,3 --next 6", folder.path().display());
        let rows = json(&command)["tables"][1]["rows"].as_array().unwrap().clone();
        (rows.iter().map(|row| row["id"].as_u64().unwrap()).collect(), attn(&command).ok().out)
    };
    let (whole, said) = written(None, None);
    assert!(whole.len() == 6 && !said.contains("ends a text"), "{said}");
    let end = whole[2];
    let stops = whole.iter().position(|id| *id == end).unwrap() + 1;
    for (config, generation) in [
        (Some(end.into()), None),
        (Some(vec![70, end].into()), None),
        (None, Some(end.into())),
        (Some(70.into()), Some(vec![end, 70].into())),
    ] {
        let (ids, said) = written(config, generation);
        assert_eq!(ids, whole[..stops]);
        let sentence = format!("token {end} (id {end}) ends a text of this model: it stops after");
        assert!(said.replace("\n  ", " ").contains(&sentence), "{said}");
    }
    // What the generation says goes before the configuration.
    assert_eq!(written(Some(end.into()), Some(70.into())).0, whole);
}

#[test]
fn every_attention_pattern_is_exported_by_one_name() {
    let text = "model words 'the bat sleeps'";
    let names = |command: &str| -> Vec<String> {
        let nodes = json(command)["graphs"][0]["nodes"].as_array().unwrap().clone();
        nodes.iter().map(|node| node["name"].as_str().unwrap().to_string()).collect()
    };
    let all: Vec<String> =
        (1..=2).flat_map(|layer| (1..=4).map(move |head| format!("L{layer}.A_{head}"))).collect();
    assert_eq!(names(&format!("{text} --only L*.A_*")), all);
    assert_eq!(
        names(&format!("{text} --only *.A_3,L1.A_*")),
        ["L1.A_3", "L2.A_3", "L1.A_1", "L1.A_2", "L1.A_4"]
    );
    assert_eq!(names(&format!("{text} --layer 2 --only A_*")), all[4..]);
    for format in ["csv", "numpy", "markdown", "html"] {
        let out = attn(&format!("{text} --only L*.A_* --format {format}")).ok().out;
        assert!(
            all.iter().all(|name| out.contains(name.as_str()) || format == "markdown"),
            "{format}: {out}"
        );
    }
    attn(&format!("{text} --only A")).refused(&["no node `A`", "'L*.A_*' for all of them"]);
    attn(&format!("{text} --only L1.A")).refused(&["no node `L1.A`", "'L1.A_*' for all of them", "L1.A_1"]);
    attn(&format!("{text} --only L*.Z_*")).refused(&["no node `L*.Z_*`"]);
    // A layer with one head has no numbers; other commands have the same stars.
    let single = names("attend --words 'bat cave' --heads 2 --only A_*");
    assert_eq!(single, ["A_1", "A_2"]);
    attn("attend --words 'bat cave' --heads 2 --only A").refused(&["'A_*' for all of them"]);
}

#[test]
fn symbols_of_a_whole_model_are_asked_for_by_an_address() {
    attn("model words 'the bat' --symbolic").refused(&["needs a cell, a matrix or a layer", "--layer 1"]);
    for more in ["--symbolic L1.A_1[2,1]", "--symbolic --only L1.A_1", "--symbolic --layer 1 --head 1"] {
        attn(&format!("model words 'the bat' {more}")).ok();
    }
}
