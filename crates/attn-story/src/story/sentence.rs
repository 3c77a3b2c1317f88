//! Numbers in sentences, sentences about rows, and the choice of the sentence on a step.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use crate::attention::RopeScaling;
use crate::data_file;
use crate::graph::{Cells, Convention, Graph, Node, Op, Role, Stage, Term, resolve};
use crate::json_number;

/// A cell is told with at most this many decimals.
const MOST_PLACES: usize = 17;

/// Puts the values of cells into a sentence: `{A[bat,cave]}` with four decimals, `{A[1,2]:2}` with two.
///
/// # Errors
/// The address that names no cell of the graph.
pub fn fill(graph: &Graph, text: &str) -> std::result::Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let end = rest[start..].find('}').map(|end| start + end).ok_or_else(|| rest[start..].to_string())?;
        let inside = &rest[start + 1..end];
        let (address, places) = match inside.rsplit_once(':') {
            Some((address, places)) => {
                let places = places.parse().ok().filter(|places| *places <= MOST_PLACES);
                (address, places.ok_or_else(|| inside.to_string())?)
            }
            None => (inside, 4),
        };
        let Ok(Cells::Cell(cell)) = resolve(graph, address) else { return Err(inside.to_string()) };
        let value = Term::Cell(cell).evaluate(graph);
        out.push_str(&rest[..start]);
        // A number that is not 0 is not told as 0, unless it is rounding.
        let told =
            (places..=places.max(12)).map(|places| in_sentence(value, places)).find(|told| told != "0");
        out.push_str(told.as_deref().unwrap_or("0"));
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// A number as a sentence shows it: rounded, trailing zeros dropped, with a real minus sign.
pub fn in_sentence(value: f64, places: usize) -> String {
    if value.abs() >= 1e9 && value.is_finite() {
        return format!("{value:.places$e}").replace('-', "−");
    }
    let rounded = format!("{value:.places$}");
    let trimmed =
        if rounded.contains('.') { rounded.trim_end_matches('0').trim_end_matches('.') } else { &rounded };
    match trimmed {
        "-0" => "0".to_string(),
        text => text.replace('-', "−").replace("inf", "∞"),
    }
}

/// A text with a capital at its beginning.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A sentence about rows, which the column convention turns into one about columns.
pub(super) fn in_convention(sentence: &str, convention: Convention) -> String {
    if convention == Convention::Rows {
        return sentence.to_string();
    }
    let turned = |word: &str| {
        let letters = word.trim_end_matches(|c: char| !c.is_alphabetic());
        let other = match letters {
            "row" => "column",
            "rows" => "columns",
            "column" => "row",
            "columns" => "rows",
            same => same,
        };
        format!("{other}{}", &word[letters.len()..])
    };
    sentence.split_inclusive(' ').map(turned).collect()
}

// The sentences of `sentences.toml`.

/// A sentence, and what has to hold for it.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Sentence {
    stage: String,
    op: String,
    when: String,
    text: String,
    part: String,
}

/// The sentences on steps, and those on gradients.
pub(super) static SENTENCES: LazyLock<Sentences> =
    LazyLock::new(|| data_file::read(include_str!("../../data/sentences.toml")));

/// What the file has.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sentences {
    pub attend: Vec<Sentence>,
    pub backward: Vec<Sentence>,
    pub comparison: Vec<Sentence>,
}

/// What sentences can ask of a step, and say of it.
#[derive(Default)]
pub(super) struct Facts {
    stage: String,
    head: Option<usize>,
    pub op: &'static str,
    /// Words that hold of it, some with the text that they stand for.
    words: BTreeMap<String, String>,
}

/// A sentence with its numbers.
pub(super) struct Said {
    /// The text, with the head that it is about.
    pub text: String,
    /// The text for any head.
    pub of_any_head: String,
    /// What neighbours that take one sentence have in common.
    pub part: (String, Option<usize>),
}

impl Facts {
    /// The facts of a node of this stage and this head: `of-head`, `role` and what kind of role it is, and `scores`.
    pub(super) fn new(stage: Option<Stage>, head: Option<usize>) -> Facts {
        let mut facts = Facts { head, ..Facts::default() };
        facts.add_those(&[("of-head", head.is_some()), ("scores", stage.is_some_and(Stage::is_scores))]);
        match stage {
            Some(Stage::Role(role)) => {
                facts.add("role", role.name());
                facts.add_those(&[
                    ("for-heads", role.has_heads()),
                    ("of-weights", role.is_weights()),
                    ("tokens", role == Role::X),
                ]);
            }
            Some(stage) => {
                let name = serde_json::to_value(stage).unwrap_or_default();
                facts.stage = name.as_str().unwrap_or_default().to_string();
            }
            None => {}
        }
        facts
    }

    /// A word that holds, and the text that it stands for.
    pub(super) fn add(&mut self, word: &str, text: impl Into<String>) {
        self.words.insert(word.to_string(), text.into());
    }

    /// Those of the words that hold.
    pub(super) fn add_those(&mut self, words: &[(&str, bool)]) {
        words.iter().filter(|(_, holds)| *holds).for_each(|(word, _)| self.add(word, ""));
    }

    /// The op of a node, with its parameters and what follows from them.
    pub(super) fn add_op(&mut self, node: &Node) {
        self.op = node.op.name();
        self.add_value("", &node.op.params());
        match &node.op {
            Op::Frequencies { width, .. } if *width != 2 => self.add("pairs", (width / 2).to_string()),
            Op::Alibi(head, _) => self.add("slope", in_sentence(head.slope(), 6)),
            Op::ScaledFrequencies(scaling) => {
                self.add("magnitude", in_sentence(scaling.magnitude(), 6));
                let is_within = matches!(scaling, RopeScaling::Dynamic { original, length, .. } if *length as f64 <= *original);
                self.add_those(&[("within", is_within)]);
            }
            _ => {}
        }
    }

    /// The numbers in a value, by their names, and its words.
    fn add_value(&mut self, name: &str, value: &Value) {
        match (value, json_number::number(value)) {
            (Value::Object(fields), _) => fields.iter().for_each(|(name, value)| self.add_value(name, value)),
            (Value::Number(whole), _) if !whole.is_f64() => self.add(name, whole.to_string()),
            (_, Some(number)) => self.add(name, in_sentence(number, 6)),
            (Value::String(word), None) => self.add(word, ""),
            _ => {}
        }
    }

    /// The first of these sentences of which all holds, with its words written out.
    pub(super) fn chosen<'s>(&self, sentences: &'s [Sentence]) -> (&'s Sentence, String) {
        let is_one = |names: &str, name: &str| names.is_empty() || names.split(' ').any(|one| one == name);
        let holds = |sentence: &&Sentence| {
            is_one(&sentence.stage, &self.stage)
                && is_one(&sentence.op, self.op)
                && sentence.when.split_whitespace().all(|word| self.words.contains_key(word))
        };
        let mut fitting = sentences.iter().filter(holds);
        let chosen = fitting.find_map(|sentence| Some((sentence, self.filled(&sentence.text)?)));
        chosen.expect("the last sentence of a list is one for every step")
    }

    /// The first of these sentences of which all holds, said of the head where there are several.
    pub(super) fn said(&self, sentences: &[Sentence]) -> Said {
        let (sentence, text) = self.chosen(sentences);
        let of_each = text.starts_with(char::is_lowercase);
        let head = self.head.filter(|_| of_each);
        let part = match &*sentence.part {
            "" if of_each => &self.stage,
            "" => &text,
            part => part,
        };
        let (part, of_any_head) = ((part.to_string(), head), capitalised(&text));
        let text = head.map_or_else(|| of_any_head.clone(), |head| format!("Head {head}: {text}"));
        Said { text, of_any_head, part }
    }

    /// A text with its words in braces written out; `None` where one of them has no text.
    fn filled(&self, text: &str) -> Option<String> {
        let mut parts = text.split('{');
        let mut out = parts.next()?.to_string();
        for part in parts {
            let (word, rest) = part.split_once('}')?;
            out.extend([self.words.get(word)?.as_str(), rest]);
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Origin;
    use crate::matrix::Matrix;

    fn graph() -> Graph {
        let mut graph = Graph::new();
        let a = Matrix::of([[0.569_54, -0.5], [f64::NEG_INFINITY, 2.0]]).rows_named(&["bat", "cave"]);
        graph.given("A", a, Origin::Stated).unwrap();
        graph
    }

    #[test]
    fn sentences_take_their_numbers_from_the_graph() {
        let filled = fill(&graph(), "bat gives {A[bat,1]:2}, then {A[1,2]}, {A[2,1]} and {A[cave,2]:3}");
        assert_eq!(filled.unwrap(), "bat gives 0.57, then −0.5, −∞ and 2");
    }

    #[test]
    fn each_list_of_sentences_ends_with_one_for_every_step() {
        let mut facts = Facts::new(None, None);
        ["node", "name", "with"].into_iter().for_each(|word| facts.add(word, "X"));
        assert_eq!(facts.said(&SENTENCES.attend).text, "The result, one row for each query.");
        assert_eq!(facts.said(&SENTENCES.backward).text, "Back to X.");
        assert_eq!(facts.chosen(&SENTENCES.comparison).1, "X: computed in another way.");
    }

    #[test]
    fn sentences_are_about_steps_and_ops_that_there_are() {
        let Sentences { attend, backward, comparison } = &*SENTENCES;
        for Sentence { stage, op, text, .. } in attend.iter().chain(backward).chain(comparison) {
            for name in stage.split_whitespace() {
                assert!(serde_json::from_value::<Stage>(name.into()).is_ok(), "{name}: {text}");
            }
            for name in op.split_whitespace() {
                assert!(crate::graph::OpKind::named(name).is_some(), "{name}: {text}");
            }
        }
    }

    #[test]
    fn a_sentence_that_names_no_cell_is_refused() {
        assert_eq!(fill(&graph(), "see {A[dog,1]}"), Err("A[dog,1]".to_string()));
        assert!(fill(&graph(), "see {A[1,1]").is_err());
    }
}
