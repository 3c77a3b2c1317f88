//! `cache`: keys and values of earlier words are kept, so that a new word needs only its own query, key and value.

use super::cache_costs::{bytes, multiplications};
use super::gap::gap;
use crate::attention::{Pairing, Rotation};
use crate::demo::{Builder, Demo, Passage, Source};
use crate::error::{Error, Result};
use crate::graph::recipes::Recipe;
use crate::graph::{NodeId, Op};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::equal;

pub(super) const DEMO: Demo = Demo {
    name: "cache",
    source: Source::Papers(&[Passage { paper: "shazeer-2019", place: "section 2.4" }]),
    title: "The key/value cache: one new word at a time",
    summary: "the key/value cache: what it saves, and what it costs",
    place: crate::demo::Topic::Cost.at(4),
    keywords: &["kv", "kv-cache", "decoding", "decode", "prefill", "memory", "inference"],
    digits: Digits::Places(4),
    build,
};

const WORDS: [&str; 4] = ["birds", "sing", "at", "dawn"];
/// At most this many words are followed one by one.
const MOST_WORDS: usize = 16;

fn build(demo: &mut Builder) -> Result<()> {
    let model = OneHead::given(demo)?;
    let o = model.whole_text(demo)?;
    let words = model.word_by_word(demo)?;
    compare(demo, &words, o)?;
    rotated_keys(demo, &model, &words)?;
    multiplications(demo, model.x, model.weights)?;
    bytes(demo)
}

/// A text, and one head.
struct OneHead {
    x: NodeId,
    weights: [NodeId; 3],
    words: usize,
}

/// One word as it arrives.
struct NewWord {
    k: NodeId,
    o: NodeId,
}

impl OneHead {
    fn given(demo: &mut Builder) -> Result<OneHead> {
        let x = Matrix::of([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 2.0]]);
        let x = demo.given("X", x.rows_named(&WORDS))?;
        let words = demo.matrix(x)?.rows();
        if words == 0 || words > MOST_WORDS {
            return Err(Error::new(format!(
                "X has {words} rows, and the demo follows 1 to {MOST_WORDS} words"
            )));
        }
        let w_q = demo.given("W_Q", Matrix::of([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))?;
        let w_k = demo.given("W_K", Matrix::of([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]))?;
        let w_v = demo.given("W_V", Matrix::of([[2.0, 0.0], [0.0, 3.0], [1.0, 1.0]]))?;
        Ok(OneHead { x, weights: [w_q, w_k, w_v], words })
    }

    /// The whole text at once, under a causal mask.
    fn whole_text(&self, demo: &mut Builder) -> Result<NodeId> {
        let mut roles = Vec::new();
        for (name, weights) in ["Q", "K", "V"].into_iter().zip(self.weights) {
            roles.push(demo.compute(name, Op::Product, &[self.x, weights])?);
        }
        let (weights, o) = demo.head("", [roles[0], roles[1], roles[2]], &Recipe::causal())?;
        demo.step("The whole text at once, under a causal mask: every word has a query, a key and a value. This is what we compare with.")
            .together(&[self.x])
            .folded(&self.weights)
            .together(&roles)
            .together(&[weights.weights, o]);
        Ok(o)
    }

    fn word_by_word(&self, demo: &mut Builder) -> Result<Vec<NewWord>> {
        let mut cache: Option<[NodeId; 2]> = None;
        let mut words = Vec::new();
        for number in 1..=self.words {
            let name = |name: &str| format!("{name}_{number}");
            let x = demo.compute(&name("x"), Op::Rows { start: number - 1, count: 1 }, &[self.x])?;
            let mut new = Vec::new();
            for (letter, weights) in ["q", "k", "v"].into_iter().zip(self.weights) {
                new.push(demo.compute(&name(letter), Op::Product, &[x, weights])?);
            }
            let [q, k, v] = [new[0], new[1], new[2]];
            let [keys, values] = match cache {
                None => [vec![k], vec![v]],
                Some([keys, values]) => [vec![keys, k], vec![values, v]],
            };
            let keys = demo.compute(&name("K_cache"), Op::Stack(None), &keys)?;
            let values = demo.compute(&name("V_cache"), Op::Stack(None), &values)?;
            let (weights, o) = demo.head(&format!("_{number}"), [q, keys, values], &Recipe::default())?;
            let down = demo.compute(&name("weight"), Op::Transpose, &[weights.weights])?;
            tell_word(demo, number, &new, [keys, values, down, o]);
            cache = Some([keys, values]);
            words.push(NewWord { k, o });
        }
        Ok(words)
    }
}

/// The step of one word.
fn tell_word(demo: &mut Builder, number: usize, new: &[NodeId], [keys, values, weight, o]: [NodeId; 4]) {
    let text = match number {
        1 => "Now word by word. The first word computes its query, key and value, and the cache keeps key and value.".to_string(),
        2 => "The second word: only its own row is computed. Its key and value join the cache, and its query reads all keys there."
            .to_string(),
        number => format!("Word {number}: the same steps. The rows above the last come from the cache as they are."),
    };
    let step = demo.step(&text);
    match (number, new) {
        (1, new) => step.together(new).together(&[keys, values]).folded(&[weight, o]),
        (_, [q, ..]) => step.together(&[keys, values, weight, *q, o]),
        (_, []) => step,
    };
}

/// What an equation calls this number of words.
fn word_for_words(count: usize) -> &'static str {
    if count == 1 { "word" } else { "words" }
}

/// The rows of both ways.
fn compare(demo: &mut Builder, words: &[NewWord], whole: NodeId) -> Result<()> {
    let rows: Vec<NodeId> = words.iter().map(|word| word.o).collect();
    let cached = demo.collect("O_cached", word_for_words(words.len()), None, &rows)?;
    let gap = gap(demo, "rows", [cached, whole])?;
    demo.step("Both ways compared. Each word has used one query, its own: no later word reads it, so queries are not kept.")
        .claim(
            equal("gap_rows[1,1]", 0.0),
            "Every row is the row of the whole text, to the last bit. The mask hides later keys there, and here they do not \
             exist yet.",
        )
        .together(&[cached, whole])
        .show(&[gap]);
    Ok(())
}

/// Keys rotated once, when they enter the cache.
fn rotated_keys(demo: &mut Builder, model: &OneHead, words: &[NewWord]) -> Result<()> {
    let width = demo.matrix(model.weights[1])?.cols() / 2 * 2;
    if width == 0 {
        return Ok(());
    }
    let f = demo.compute("F", Op::Frequencies { width, base: 10_000.0 }, &[])?;
    let rotate = |first| Op::Rotary(Rotation { first, pairing: Pairing::Halves, magnitude: 1.0 });
    let mut rows = Vec::new();
    for (position, word) in words.iter().enumerate() {
        let name = format!("k_rotated_{}", position + 1);
        rows.push(demo.compute(&name, rotate(position), &[word.k, f])?);
    }
    let cached = demo.collect("K_cache_rotated", word_for_words(words.len()), None, &rows)?;
    let k = demo.graph().require("K")?;
    let whole = demo.compute("K_rotated", rotate(0), &[k, f])?;
    let gap = gap(demo, "rotated", [cached, whole])?;
    demo.step(
        "With rotary positions the cache keeps rotated keys. A key is turned by its own position, so it is turned once, when it \
         comes in.",
    )
    .claim(equal("gap_rotated[1,1]", 0.0), "They are the rotated keys of the whole text, to the last bit.")
    .folded(&[f])
    .together(&[cached, whole])
    .show(&[gap]);
    Ok(())
}
