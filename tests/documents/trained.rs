//! The demo of the trained model, against `transformers` (tests/golden/meaning.py) and the figures of the script that trained it.

use std::path::Path;

use crate::documents::demo_numbers::{node, told};
use crate::golden::{json, number, numbers};
use attn::graph::{Convention, formula};
use attn::story::StepItem;
use serde_json::Value;

/// Sums in another order, and the norms of `transformers`.
const TOLERANCE: f64 = 1e-9;

#[test]
fn what_it_shows_of_both_sentences_is_what_transformers_computes() {
    let story = told("meaning", &[]).unwrap();
    let golden = json("meaning.json");
    let mut compared = 0;
    let mut close = |ours: f64, expected: f64, what: String| {
        assert!((ours - expected).abs() < TOLERANCE, "{what}: {ours} and not {expected}");
        compared += 1;
    };
    for (at, case) in ["cave", "racket"].into_iter().enumerate() {
        let expected = &golden["cases"][case];
        let weights = node(&story, &format!("is_{case}"));
        for (key, weight) in numbers(&expected["weights"]).into_iter().enumerate() {
            close(weights[(0, key)], weight, format!("{case}, key {key}"));
        }
        close(node(&story, "toward")[(at, 0)], number(&expected["toward"]), format!("{case}, toward"));
        let next = node(&story, &format!("next_{case}"));
        for (place, answers) in crate::golden::list(expected, "next").iter().enumerate() {
            for (word, p) in numbers(answers).into_iter().enumerate() {
                close(next[(place, word)], p, format!("{case}, place {place}, word {word}"));
            }
        }
        for (word, p) in numbers(&expected["without"]).into_iter().enumerate() {
            close(node(&story, "next_without")[(at, word)], p, format!("{case} without, word {word}"));
        }
    }
    assert_eq!(compared, 2 * (9 + 1 + 6 + 2));
}

/// `L0H2`, counted from 0, as `L1.A_3`.
fn ours(usual: &str) -> String {
    let (layer, head) = usual.strip_prefix('L').unwrap().split_once('H').unwrap();
    let [layer, head] = [layer, head].map(|number| number.parse::<usize>().unwrap() + 1);
    format!("L{layer}.A_{head}")
}

#[test]
fn the_figures_that_it_quotes_stand_in_the_file() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/words/figures.json");
    let figures: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let story = told("meaning", &[]).unwrap();
    let last = story.steps.last().unwrap();
    let [StepItem::Table(table)] = &last.shown[..] else { panic!("the last step is a table") };
    // The file's own order of kinds is that of its texts.
    let kinds =
        ["bat-after", "bat-before", "fixed", "squash", "because", "texture", "colour", "forest", "winner"];
    assert_eq!(table.rows.len(), kinds.len());
    assert_eq!(figures["units"].as_object().unwrap().len(), kinds.len());
    for (row, kind) in table.rows.iter().zip(kinds) {
        let [_, texts, whole, head, without] = &row[..] else { panic!("{row:?}") };
        assert_eq!(*texts, figures["units"][kind].to_string());
        let usual = figures["deciding_heads"][kind].as_str().unwrap();
        assert_eq!(*head, ours(usual), "{kind}");
        for (cell, share) in
            [(whole, &figures["accuracy"][kind]), (without, &figures["accuracy_without"][usual][kind])]
        {
            assert!((cell.parse::<f64>().unwrap() - share.as_f64().unwrap()).abs() < 6e-4, "{kind}");
        }
    }
    assert!(last.text.contains("models/words/figures.json"));
}

#[test]
fn its_weights_come_from_the_file_and_are_recorded_once() {
    let story = told("meaning", &[]).unwrap();
    for (id, node) in story.graph.nodes().filter(|(_, node)| node.op.is_given()) {
        let is_stream = node.name.starts_with("X_");
        let given = formula(&story.graph, id, Convention::Rows, false);
        assert_eq!(is_stream, given.contains("recorded"), "{given}");
        assert!(is_stream || given.contains("of the model's file"), "{given}");
    }
    let has = |name: &str| story.graph.find(name).is_some();
    assert!(has("L1.A_3_cave") && has("L1.A_3_racket"));
    assert!(has("L1.W_QKV") && !has("L1.W_QKV_cave"));
}

#[test]
fn its_numbers_are_the_models_and_cannot_be_set() {
    let said =
        told("meaning", &[("W_E", crate::documents::demo_numbers::number(1.0))]).unwrap_err().to_string();
    assert!(said.contains("`W_E` comes from the model") && said.contains("attn model words"), "{said}");
}
