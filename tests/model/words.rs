//! The model `words`: the texts that were kept from its training, and the figures that `transformers` computes from its files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use attn::input::ModelFolder;
use attn::model::{Edits, LayerEdit, ModelRun, PassOptions, Text};
use attn::story::Prediction;
use attn::tokenizer::Tokenizer;
use serde_json::Value;

use crate::model::fixtures::Fixture;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/words")
}

fn json(file: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder().join(file)).unwrap()).unwrap()
}

fn tokenizer() -> Tokenizer {
    let folder = ModelFolder::words().unwrap();
    let file = folder.required_tokenizer().unwrap();
    Tokenizer::from_bytes(file.name(), file.text().unwrap().as_bytes()).unwrap()
}

fn read(tokenizer: &Tokenizer, text: &str) -> Text {
    let tokens = tokenizer.encode(text).unwrap();
    Text { ids: tokens.ids().iter().map(|&id| id as usize).collect(), tokens: tokens.labels().into() }
}

/// The layer and the head of a usual name such as `L0H2`, counted from 1.
fn numbers(head: &str) -> [usize; 2] {
    let (layer, head) = head.strip_prefix('L').unwrap().split_once('H').unwrap();
    [layer, head].map(|number| number.parse::<usize>().unwrap() + 1)
}

/// A head that is taken out.
fn without(head: &str) -> Edits {
    let [layer, head] = numbers(head);
    let edit = LayerEdit { heads: [head].into(), ..LayerEdit::default() };
    Edits { layers: [(layer, edit)].into(), ..Edits::default() }
}

/// What comes after the residual streams of the last token: after the embedding, after each layer.
fn lens(run: &ModelRun<'_>, text: Text, edits: Edits) -> Vec<Prediction> {
    let last = text.ids.len() - 1;
    let forward =
        run.forward(text, PassOptions { edits, measured: false, ..PassOptions::default() }).unwrap();
    let logits = run.lens(&forward, last).unwrap();
    (0..logits.shape().rows).map(|row| Prediction::of(&logits.row(row).unwrap())).collect()
}

/// A text that was kept from the training.
struct Kept {
    kind: String,
    text: String,
    answer: String,
}

/// The texts, two and two: the two of a pair are neighbours.
fn pairs() -> Vec<[Kept; 2]> {
    let kept = |value: &Value| {
        let [kind, text, answer] =
            ["kind", "text", "answer"].map(|key| value[key].as_str().unwrap().to_string());
        Kept { kind, text, answer }
    };
    json("heldout.json").as_array().unwrap().chunks(2).map(|pair| [kept(&pair[0]), kept(&pair[1])]).collect()
}

/// Where the texts of a pair differ: the words that decide, from 0.
fn deciding(pair: &[Kept; 2]) -> Vec<usize> {
    let [one, other] = pair.each_ref().map(|kept| kept.text.split(' ').collect::<Vec<_>>());
    assert_eq!(one.len(), other.len());
    (0..one.len()).filter(|&at| one[at] != other[at]).collect()
}

/// The share of right answers to texts of one kind, or of each kind.
fn right(
    run: &ModelRun<'_>,
    tokenizer: &Tokenizer,
    edits: &Edits,
    only: Option<&str>,
) -> BTreeMap<String, f64> {
    let mut counts: BTreeMap<String, [f64; 2]> = BTreeMap::new();
    for Kept { kind, text, answer } in pairs().into_iter().flatten() {
        if only.is_none_or(|only| only == kind) {
            let places = lens(run, read(tokenizer, &text), edits.clone());
            let (next, _) = places.last().unwrap().top(1).next().unwrap();
            let count = counts.entry(kind).or_default();
            count[0] += f64::from(u8::from(tokenizer.piece(next as u32).unwrap() == answer));
            count[1] += 1.0;
        }
    }
    counts.into_iter().map(|(kind, [right, all])| (kind, right / all)).collect()
}

/// How much of its attention a head gives to some words, from the later token that gives most.
fn look(run: &ModelRun<'_>, text: Text, head: &str, at: &[usize]) -> f64 {
    let [layer, head] = numbers(head);
    let options = PassOptions { measured: false, ..PassOptions::default() };
    let graph = run.layers_again(&run.forward(text, options).unwrap(), layer..=layer).unwrap();
    let weights = graph.matrix(graph.require(&format!("L{layer}.A_{head}")).unwrap()).unwrap();
    let later = at.last().unwrap() + 1..weights.rows();
    later.map(|row| at.iter().map(|&key| weights[(row, key)]).sum::<f64>()).fold(0.0, f64::max)
}

#[test]
fn the_texts_of_a_pair_differ_in_the_deciding_word_and_in_the_answer() {
    let pairs = pairs();
    assert_eq!(pairs.len(), 310);
    for pair in &pairs {
        let [one, other] = pair;
        assert_eq!(one.kind, other.kind);
        // So no answer that is always the same is right more than half of the time.
        assert_ne!(one.answer, other.answer, "{} / {}", one.text, other.text);
        let words = deciding(pair).len();
        // Who won is decided by the order of two names.
        assert_eq!(words, if one.kind == "winner" { 2 } else { 1 }, "{} / {}", one.text, other.text);
    }
}

#[test]
fn every_kind_is_answered_and_without_the_head_that_looks_at_the_deciding_word_it_is_a_guess() {
    let (fixture, tokenizer, figures) = (Fixture::words(), tokenizer(), json("figures.json"));
    fixture.with_run(|run| {
        let whole = right(&run, &tokenizer, &Edits::default(), None);
        assert_eq!(whole.len(), 9);
        for (kind, share) in &whole {
            assert!(*share >= 0.99, "{kind}: {share}");
            assert!((share - figures["accuracy"][kind].as_f64().unwrap()).abs() < 1e-4, "{kind}: {share}");
            let head = figures["deciding_heads"][kind].as_str().unwrap();
            let part = right(&run, &tokenizer, &without(head), Some(kind))[kind];
            let expected = figures["accuracy_without"][head][kind].as_f64().unwrap();
            assert!((part - expected).abs() < 1e-4, "{kind} without {head}: {part}");
            assert!(part < 0.6, "{kind} without {head}: {part}");
        }
    });
}

#[test]
fn the_head_of_each_kind_looks_at_the_deciding_word() {
    let (fixture, tokenizer, figures) = (Fixture::words(), tokenizer(), json("figures.json"));
    let mut looks: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    fixture.with_run(|run| {
        for pair in pairs() {
            let at = deciding(&pair);
            for Kept { kind, text, .. } in pair {
                let head = figures["deciding_heads"][&kind].as_str().unwrap();
                looks.entry(kind).or_default().push(look(&run, read(&tokenizer, &text), head, &at));
            }
        }
    });
    for (kind, all) in looks {
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let [layer, head] = numbers(figures["deciding_heads"][&kind].as_str().unwrap());
        let expected = &figures["attention_to_deciding_word"][&kind]["largest"][layer - 1][head - 1];
        // The file has six decimals.
        assert!((mean - expected.as_f64().unwrap()).abs() < 1e-6, "{kind}: {mean} {expected}");
        assert!(mean >= 0.5, "{kind}: {mean}");
    }
}

#[test]
fn each_sentence_of_the_figures_goes_on_as_transformers_says_after_every_layer() {
    let (fixture, tokenizer, figures) = (Fixture::words(), tokenizer(), json("figures.json"));
    let sentences = figures["sentences"].as_array().unwrap();
    let mut compared = 0;
    fixture.with_run(|run| {
        for sentence in sentences {
            let text = sentence["text"].as_str().unwrap();
            let places = lens(&run, read(&tokenizer, text), Edits::default());
            let mut check = |prediction: &Prediction, expected: &Value| {
                for (word, p) in expected.as_object().unwrap() {
                    let ours = prediction.probability(tokenizer.id(word).unwrap() as usize);
                    // The file has six decimals.
                    assert!((ours - p.as_f64().unwrap()).abs() < 1e-6, "{text}: {word} {ours} {p}");
                    compared += 1;
                }
            };
            check(places.last().unwrap(), &sentence["next"]);
            let expected = sentence["lens"].as_array().unwrap();
            assert_eq!(expected.len(), places.len());
            places.iter().zip(expected).for_each(|(place, expected)| check(place, expected));
        }
    });
    assert!(compared > 150, "{compared}");
}

#[test]
fn one_word_decides_what_a_bat_is() {
    let (fixture, tokenizer) = (Fixture::words(), tokenizer());
    fixture.with_run(|run| {
        for (text, answer) in [
            ("the bat sleeps in the cave . it is", "animal"),
            ("the bat lies by the racket . it is", "equipment"),
        ] {
            let places = lens(&run, read(&tokenizer, text), Edits::default());
            let (next, p) = places.last().unwrap().top(1).next().unwrap();
            assert_eq!(tokenizer.piece(next as u32).unwrap(), answer);
            assert!(p > 0.999, "{text}: {p}");
        }
    });
}

#[test]
fn its_three_files_are_small() {
    let files = ["config.json", "model.safetensors", "tokenizer.json"];
    let bytes: u64 = files.iter().map(|file| fs::metadata(folder().join(file)).unwrap().len()).sum();
    assert!(bytes <= 200_000, "{bytes} bytes");
}
