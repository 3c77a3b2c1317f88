//! BERT, which predicts the tokens at masked places: the figures of `transformers` in `tests/models/masked`.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::attn;

fn models() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models"))
}

/// `bert-a` with the tokenizer, as far as these files are in it.
fn folder(files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in ["config.json", "model.safetensors"] {
        fs::copy(models().join("bert-a").join(file), folder.path().join(file)).unwrap();
    }
    for file in files {
        fs::copy(models().join("masked").join(file), folder.path().join(file)).unwrap();
    }
    folder
}

fn figures() -> Vec<Value> {
    let text = fs::read_to_string(models().join("masked/figures.json")).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    value["texts"].as_array().unwrap().clone()
}

fn tables(folder: &TempDir, more: &[&str]) -> Vec<Value> {
    let command = attn("model --format json --top 71").arg(folder.path().display().to_string());
    let out = more.iter().fold(command, |command, &more| command.arg(more)).ok().out;
    serde_json::from_str::<Value>(&out).unwrap()["tables"].as_array().unwrap().clone()
}

fn rows<'t>(tables: &'t [Value], title: &str) -> &'t [Value] {
    let table = tables.iter().find(|table| table["title"] == title);
    table.unwrap_or_else(|| panic!("no {title}"))["rows"].as_array().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

/// The probabilities of a table are those of all 71 tokens.
#[track_caller]
fn assert_predicted(rows: &[Value], expected: &[f64]) {
    assert_eq!(rows.len(), 71);
    for row in rows {
        let (id, p) = (row["id"].as_u64().unwrap() as usize, row["probability"].as_f64().unwrap());
        assert!((p - expected[id]).abs() < 1e-9, "token {id}: {p} {}", expected[id]);
    }
}

#[test]
fn each_masked_place_has_the_predictions_of_transformers_after_every_layer() {
    let folder = folder(&["tokenizer.json", "tokenizer_config.json"]);
    let mut places = 0;
    for figures in figures().iter().filter(|text| !text["masked"].as_object().unwrap().is_empty()) {
        let text = figures["text"].as_str().unwrap();
        let ids =
            figures["ids"].as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>().join(",");
        for given in [&[text][..], &["--ids", &ids]] {
            let tables = tables(&folder, given);
            for (position, expected) in figures["masked"].as_object().unwrap() {
                let title = format!("What the model puts at position {position}, `[MASK]`");
                assert_predicted(rows(&tables, &title), &numbers(&expected["probabilities"]));
                let title = format!("What each layer would put at position {position} (logit lens)");
                let lens = rows(&tables, &title);
                let expected = expected["lens"].as_array().unwrap();
                assert_eq!((lens.len(), lens[0]["after"].as_str().unwrap()), (expected.len(), "embedding"));
                for (row, expected) in lens.iter().zip(expected) {
                    let expected = numbers(expected);
                    let largest = expected.iter().copied().fold(0.0, f64::max);
                    assert!((row["p first"].as_f64().unwrap() - largest).abs() < 1e-9, "{row}");
                }
                places += 1;
            }
            let shown =
                tables.iter().filter(|table| table["title"].as_str().unwrap().starts_with("What the model"));
            assert_eq!(shown.count(), figures["masked"].as_object().unwrap().len());
        }
    }
    assert_eq!(places, 6);
}

#[test]
fn without_a_mask_it_says_which_place_is_shown_and_how_to_mask_one() {
    let folder = folder(&["tokenizer.json", "tokenizer_config.json"]);
    let figures = figures();
    let plain = figures.iter().find(|text| text["last"].is_array()).unwrap();
    let text = plain["text"].as_str().unwrap();
    // The last token of the text, not [SEP].
    let title = "What the model would put at position 7, `cave`";
    assert_predicted(rows(&tables(&folder, &[text]), title), &numbers(&plain["last"]));
    let shown = attn("model").arg(folder.path().display().to_string()).arg(text).ok().out;
    assert!(shown.contains(title) && !shown.contains("The next token"), "{shown}");
    assert!(shown.replace("│\n│", " ").contains("no place is masked: put [MASK] (id 4)"), "{shown}");
    let masked = attn("model").arg(folder.path().display().to_string()).arg("the [MASK] sleeps").ok().out;
    assert!(!masked.contains("no place is masked"), "{masked}");
}

#[test]
fn the_mask_token_is_named_by_the_tokenizer_its_settings_or_the_configuration() {
    let title = "What the model puts at position 2, `";
    let masks = |folder: &TempDir| {
        let tables = tables(folder, &["--ids", "2,4,3"]);
        tables.iter().any(|table| table["title"].as_str().unwrap().starts_with(title))
    };
    assert!(masks(&folder(&["tokenizer.json"])), "the usual name");
    let nothing = folder(&[]);
    assert!(!masks(&nothing));
    let shown = attn("model").arg(nothing.path().display().to_string()).arg("--ids").arg("2,4,3").ok().out;
    assert!(shown.contains("names a mask token"), "{shown}");
    assert!(shown.contains("What the model would put at position 3, `token 3`"), "{shown}");
    let config = nothing.path().join("config.json");
    let text = fs::read_to_string(&config).unwrap().replacen('{', "{\"mask_token_id\": 4,", 1);
    fs::write(&config, text).unwrap();
    assert!(masks(&nothing), "the configuration names the id");
    let other = folder(&["tokenizer.json"]);
    let settings = other.path().join("tokenizer_config.json");
    fs::write(&settings, r#"{"mask_token": {"content": "[SEP]"}}"#).unwrap();
    assert!(!masks(&other), "the settings name another token");
    fs::write(&settings, "{").unwrap();
    let path = other.path().display().to_string();
    attn("model").arg(path).arg("--ids").arg("2,4,3").refused(&["tokenizer_config.json: this is not JSON"]);
}

#[test]
fn a_part_that_is_taken_out_changes_the_predictions_at_the_masked_place() {
    let folder = folder(&["tokenizer.json"]);
    let tables = tables(&folder, &["the bat sleeps in the [MASK] .", "--without", "L1"]);
    let changes = rows(&tables, "What the model puts at position 7, `[MASK]`, without L1");
    let figures = figures();
    let whole = numbers(&figures[0]["masked"]["7"]["probabilities"]);
    for row in changes {
        let before = row["the whole model"].as_f64().unwrap();
        assert!((before - whole[row["id"].as_u64().unwrap() as usize]).abs() < 1e-9, "{row}");
    }
    assert!(changes.iter().any(|row| row["change"].as_f64().unwrap().abs() > 0.01));
}
