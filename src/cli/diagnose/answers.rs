//! From what was handed in to the nodes that it is for.

use crate::diagnose::Answer;
use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::{Graph, Node, Role, Stage};
use crate::input::{Array, Files, Limit};
use crate::text::{listed_briefly, nearest};

/// What one student handed in, and what is to be said of it.
#[derive(Debug, Default)]
pub(super) struct Handed {
    /// A node each.
    pub answers: Vec<Answer>,
    /// What was left aside.
    pub remarks: Vec<String>,
}

/// The result, which an array without a name is.
const RESULT: &str = Stage::Output.name();

/// Other spellings of the nodes, in small letters and digits alone.
const SPELLINGS: [(Stage, &[&str]); 8] = [
    (
        Stage::Output,
        &["out", "output", "outputs", "result", "context", "attentionoutput", "attnoutput", "z", "y"],
    ),
    (
        Stage::Weights,
        &["attn", "attention", "weights", "attentionweights", "attnweights", "probs", "probabilities"],
    ),
    (Stage::Scores, &["score", "scores", "logits", "attentionscores", "attnscores"]),
    (Stage::Scaled, &["scaledscores", "scoresscaled", "scaled"]),
    (Stage::Masked, &["maskedscores", "scoresmasked", "masked"]),
    (Stage::Role(Role::Q), &["query", "queries"]),
    (Stage::Role(Role::K), &["key", "keys"]),
    (Stage::Role(Role::V), &["value", "values"]),
];

/// How large a file may be that is handed in for this exercise.
pub(super) fn limit(right: &Graph) -> Limit {
    let cells = |node: &Node| node.shape().rows * node.shape().cols;
    Limit::of_numbers(right.nodes().map(|(_, node)| cells(node)).sum())
}

/// What the values of `--yours` name: FILE, NODE=FILE.
pub(super) fn handed_in(yours: &[String], files: &mut Files<'_>, right: &Graph) -> Result<Handed> {
    let mut all = Handed::default();
    let limit = limit(right);
    for text in yours {
        let handed = match named(text) {
            Some((name, source)) => {
                let place = visible(source).into_owned();
                let remark = letter_read(name, right);
                let answer = only(files.named(source, limit)?)
                    .and_then(|array| answer(node(name, right)?, array))
                    .map_err(|error| reminded(error.in_source(place), remark.as_slice()))?;
                Handed { answers: vec![answer], remarks: remark.into_iter().collect() }
            }
            None => {
                let place = visible(text).into_owned();
                submission(files.named(text, limit)?, right).map_err(|error| error.in_source(place))?
            }
        };
        all.answers.extend(handed.answers);
        all.remarks.extend(handed.remarks);
    }
    Ok(all)
}

/// `A=weights.csv` as name and source, unless that is itself a file.
fn named(text: &str) -> Option<(&str, &str)> {
    let (name, source) = text.split_once('=')?;
    let name = name.trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && !crate::input::exists(text)).then_some((name, source))
}

/// The arrays of one file as answers: one array is the result, unless its name says otherwise; several are the nodes of
/// their names. What the exercise gives is left aside there, and what it has no name for where something else is known.
pub(super) fn submission(arrays: Vec<(Option<String>, Array)>, right: &Graph) -> Result<Handed> {
    let alone = arrays.len() == 1;
    let mut handed = Handed::default();
    let (mut given, mut surplus) = (Vec::new(), Vec::new());
    for (name, array) in arrays {
        handed.remarks.extend(name.as_deref().and_then(|name| letter_read(name, right)));
        let node = match name {
            None => RESULT.to_string(),
            Some(name) => match node(&name, right) {
                Ok(node) => node,
                Err(_) if alone => RESULT.to_string(),
                Err(error) => {
                    surplus.push((name, error));
                    continue;
                }
            },
        };
        match right.find(&node) {
            Some(id) if !alone && right[id].op.is_given() => given.push(node),
            _ => {
                let one = answer(node, array).map_err(|error| reminded(error, &handed.remarks))?;
                handed.answers.push(one);
            }
        }
    }
    if !given.is_empty() {
        handed.remarks.push(format!("Not checked, because it is given: {}.", given.join(", ")));
    }
    if !handed.answers.is_empty() {
        if !surplus.is_empty() {
            let names = listed_briefly(surplus.iter().map(|(name, _)| name.as_str()));
            handed.remarks.push(format!("Not checked, because this exercise has no such step: {names}."));
        }
        return Ok(handed);
    }
    let nothing = || Error::new("the file has no computed step").help("hand in what you computed: S, A, O …");
    Err(surplus.into_iter().next().map_or_else(nothing, |(_, error)| error))
}

/// The array of a file that is named for one node.
fn only(mut arrays: Vec<(Option<String>, Array)>) -> Result<Array> {
    match (arrays.pop(), arrays.len()) {
        (Some((_, array)), 0) => Ok(array),
        (_, others) => Err(Error::new(format!("the file has {} arrays, but one is needed", others + 1))
            .help(
                "leave out the step before the file name: each array then counts as the step of its own name",
            )),
    }
}

fn answer(name: String, array: Array) -> Result<Answer> {
    let (decimals, roundoff) = (array.decimals(), array.roundoff());
    Ok(Answer { name, matrices: array.into_heads()?, decimals, roundoff })
}

/// The node that a name stands for: its own name, in any case, or another usual word. `A` is also the name of `A_1`,
/// `A_2` … together.
fn node(name: &str, right: &Graph) -> Result<String> {
    let exists = |name: &str| right.find(name).is_some() || right.find(&format!("{name}_1")).is_some();
    if exists(name) {
        return Ok(name.to_string());
    }
    // `weights_2`, `attn2` are the second head's.
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let head = &name[word.len()..];
    let with_head = |node: &str| if head.is_empty() { node.to_string() } else { format!("{node}_{head}") };
    let bases = right.nodes().map(|(_, node)| base(node));
    let known = bases.filter(|known| spelled(known) == spelled(word)).chain(
        SPELLINGS
            .iter()
            .filter(|(_, words)| words.contains(&spelled(word).as_str()))
            .map(|(stage, _)| stage.name()),
    );
    known.map(with_head).find(|node| exists(node)).ok_or_else(|| unknown(name, right))
}

/// What is said where a notebook calls the result Z or Y: “Z is read as O.”
fn letter_read(name: &str, right: &Graph) -> Option<String> {
    let word = spelled(name.trim_end_matches(|c: char| c.is_ascii_digit()));
    let node = node(name, right).ok().filter(|_| matches!(word.as_str(), "z" | "y"))?;
    (node != name).then(|| format!("{} is read as {node}.", visible(name)))
}

/// The error with what was said of names that are read as others.
pub(super) fn reminded(error: Error, remarks: &[String]) -> Error {
    let read = remarks.iter().filter(|remark| remark.contains(" is read as "));
    read.fold(error, |error, remark| error.and_help(remark))
}

/// `S_scaled` for the node `S_scaled_2`.
fn base(node: &Node) -> &str {
    node.step.map_or(&node.name, |step| step.stage.name())
}

/// A name in small letters and digits alone.
fn spelled(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn unknown(name: &str, right: &Graph) -> Error {
    let mut computed: Vec<&str> = Vec::new();
    for (_, node) in right.nodes().filter(|(_, node)| !node.op.is_given()) {
        if !computed.contains(&base(node)) {
            computed.push(base(node));
        }
    }
    let shown = visible(name);
    let near = nearest(name, computed.iter().copied());
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    Error::new(format!("this exercise has no step `{shown}`"))
        .help(format!("{near}You can hand in {}", computed.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::recipes::{AttendInputs, Recipe, attend};
    use crate::matrix::Matrix;

    fn right(heads: usize) -> Graph {
        let given = || Some(Matrix::identity(2).into());
        let inputs = AttendInputs { q: given(), k: given(), v: given(), ..AttendInputs::default() };
        attend(&Recipe { heads, kv_heads: heads, ..Recipe::causal() }, inputs).unwrap()
    }

    #[test]
    fn nodes_are_known_in_any_case_and_by_their_usual_words() {
        for (name, expected) in [
            ("O", "O"),
            ("o", "O"),
            ("Output", "O"),
            ("Z", "O"),
            ("y", "O"),
            ("a", "A"),
            ("attn_weights", "A"),
            ("Attention Weights", "A"),
            ("SCORES", "S"),
            ("s_SCALED", "S_scaled"),
            ("masked-scores", "S_masked"),
        ] {
            assert_eq!(node(name, &right(1)).unwrap(), expected, "{name}");
        }
        for (name, expected) in
            [("A", "A"), ("A_2", "A_2"), ("weights", "A"), ("attn_2", "A_2"), ("s1", "S_1")]
        {
            assert_eq!(node(name, &right(2)).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn a_word_that_could_be_anything_is_refused() {
        for name in ["foo", "A_3", "", "W", "7", "T"] {
            let said = node(name, &right(2)).unwrap_err().to_string();
            assert!(said.contains("has no step") && said.contains("S S_scaled"), "{name}: {said}");
        }
    }
}
