//! What was handed in: the nodes that its arrays are for.

use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::{Graph, Node, Op, Role, Stage};
use crate::matrix::{Matrix, Shape};
use crate::read::{Array, Limit};
use crate::text::{listed_briefly, nearest};

use super::Answer;

/// The answers of one student, and remarks on how they were read.
#[derive(Debug, Default)]
pub struct Submission {
    /// One for each node.
    pub answers: Vec<Answer>,
    /// Names that were read as others, and arrays that are not checked.
    pub remarks: Vec<String>,
}

/// The node of an array without a name.
const RESULT: &str = Stage::Output.name();

/// Other names of the nodes, in lower-case letters and digits only.
const SPELLINGS: [(Stage, &[&str]); 17] = [
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
    (
        Stage::QueriesRotated,
        &["queriesrotated", "rotatedqueries", "queryrotated", "qrot", "rotq", "qrope", "qembed"],
    ),
    (Stage::KeysRotated, &["keysrotated", "rotatedkeys", "keyrotated", "krot", "rotk", "krope", "kembed"]),
    (Stage::QueriesNormed, &["queriesnormed", "normedqueries", "querynormed", "qnorm", "normq"]),
    (Stage::KeysNormed, &["keysnormed", "normedkeys", "keynormed", "knorm", "normk"]),
    (Stage::PositionBias, &["positionbias", "positionalbias", "relativepositionbias", "alibi", "alibibias"]),
    (Stage::Capped, &["cappedscores", "scorescapped", "softcappedscores", "capped", "softcapped"]),
    (Stage::Gate, &["gate", "gates"]),
    (Stage::Gated, &["gated", "gatedoutput", "outputgated", "gatedheads", "headsgated"]),
    (Stage::Positioned, &["positioned", "xpos", "xwithpositions"]),
];

/// The steps of queries and keys that are often handed in with all heads side by side.
const OF_ALL_HEADS: [Stage; 4] =
    [Stage::QueriesNormed, Stage::KeysNormed, Stage::QueriesRotated, Stage::KeysRotated];

/// The maximum size of a file that is handed in for this exercise.
pub fn limit(right: &Graph) -> Limit {
    let cells = |node: &Node| node.shape().rows * node.shape().cols;
    Limit::of_numbers(right.nodes().map(|(_, node)| cells(node)).sum())
}

/// The array that is handed in under a name, as an answer.
///
/// # Errors
/// If this exercise has no step of that name, or the array has too many dimensions.
pub fn named_submission(name: &str, array: Array, right: &Graph) -> Result<Submission> {
    let remark = letter_read(name, right);
    let (answer, read) = node(name, right)
        .and_then(|node| answer(node, array, right))
        .map_err(|error| with_renaming_remarks(error, remark.as_slice()))?;
    Ok(Submission { answers: vec![answer], remarks: remark.into_iter().chain(read).collect() })
}

/// The arrays of one file as answers. A single array is the result unless it has the name of another node; several arrays are the
/// nodes of their names, and those that are given or unknown are left out with a remark.
///
/// # Errors
/// If there is nothing to be judged among them.
pub fn submission(arrays: Vec<(Option<String>, Array)>, right: &Graph) -> Result<Submission> {
    let alone = arrays.len() == 1;
    let mut submission = Submission::default();
    let (mut given, mut surplus) = (Vec::new(), Vec::new());
    for (name, array) in arrays {
        submission.remarks.extend(name.as_deref().and_then(|name| letter_read(name, right)));
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
                let (one, read) = answer(node, array, right)
                    .map_err(|error| with_renaming_remarks(error, &submission.remarks))?;
                submission.answers.push(one);
                submission.remarks.extend(read);
            }
        }
    }
    if !given.is_empty() {
        submission.remarks.push(format!("Not checked, because it is given: {}.", given.join(", ")));
    }
    if !submission.answers.is_empty() {
        if !surplus.is_empty() {
            let names = listed_briefly(surplus.iter().map(|(name, _)| name.as_str()));
            submission.remarks.push(format!("Not checked, because this exercise has no such step: {names}."));
        }
        return Ok(submission);
    }
    let nothing = || Error::new("the file has no computed step").help("hand in what you computed: S, A, O …");
    Err(surplus.into_iter().next().map_or_else(nothing, |(_, error)| error))
}

/// The answer, and a remark where its numbers are laid out in another way than here.
fn answer(name: String, array: Array, right: &Graph) -> Result<(Answer, Option<String>)> {
    let (decimals, digits, roundoff) = (array.facts.decimals, array.facts.digits, array.facts.roundoff);
    let matrices = heads_apart(&name, array.into_heads()?, right);
    let (laid_out, remark) = laid_out(&name, &matrices, right).unzip();
    let matrices = laid_out.unwrap_or(matrices);
    Ok((Answer { name, matrices, decimals, digits, roundoff }, remark))
}

/// The matrices of a step in the shape that it has here: heads one below the other or side by side apart, a stack with the tokens
/// first turned, and one row of each token, as [T, 1, E] has them, together; with a remark. Nothing where they are as they should be.
fn laid_out(name: &str, matrices: &[Matrix], right: &Graph) -> Option<(Vec<Matrix>, String)> {
    let shape = |name: &str| right.find(name).map(|id| right[id].shape());
    let heads: Vec<Shape> = (1..).map_while(|head| shape(&format!("{name}_{head}"))).collect();
    let (count, first) = (heads.len(), matrices.first()?);
    let (here, all) = (first.shape(), matrices.iter().all(|matrix| matrix.shape() == first.shape()));
    if let Some(whole) = shape(name) {
        // [T, 1, E] is a batch of one; queries, keys and values as [T, H, d] are split into heads.
        let is_split = here.rows == count && matches!(name, "Q" | "K" | "V") && count > 1;
        let are_rows =
            all && matrices.len() > 1 && matrices.len() == whole.rows && here.rows * here.cols == whole.cols;
        let of = if is_split { "the heads of each token" } else { "a batch of one" };
        let remark = || {
            format!(
                "{name} is read as {whole}: its shape is [{}, {}, {}], {of}.",
                whole.rows, here.rows, here.cols
            )
        };
        let cell = |i: usize, j: usize| matrices[i][(j / here.cols, j % here.cols)];
        return (are_rows && (is_split || here.rows == 1))
            .then(|| (vec![Matrix::from_fn(whole.rows, whole.cols, cell)], remark()));
    }
    let head = *heads.first().filter(|head| count > 1 && heads.iter().all(|other| other == *head))?;
    let apart = |cell: &dyn Fn(usize, usize, usize) -> f64, how: String| {
        let one = |h: usize| Matrix::from_fn(head.rows, head.cols, |i, j| cell(h, i, j));
        Some(((0..count).map(one).collect(), format!("{name} is read as the {count} heads, {how}.")))
    };
    let is = |n: usize, rows: usize, cols: usize| all && (matrices.len(), here) == (n, Shape { rows, cols });
    let stack = || format!("its shape is [{}, {}, {}]", matrices.len(), here.rows, here.cols);
    if is(1, count * head.rows, head.cols) {
        apart(&|h, i, j| first[(h * head.rows + i, j)], "one below the other".into())
    } else if is(1, head.rows, count * head.cols) {
        apart(&|h, i, j| first[(i, h * head.cols + j)], "side by side".into())
    } else if matrices.len() == count {
        None
    } else if is(head.rows, count, head.cols) {
        apart(&|h, i, j| matrices[i][(h, j)], stack())
    } else if is(head.rows, head.cols, count) {
        apart(&|h, i, j| matrices[i][(j, h)], stack())
    } else {
        None
    }
}

/// Normed or rotated queries or keys of all heads side by side, a matrix for each head; anything else as it is.
fn heads_apart(name: &str, matrices: Vec<Matrix>, right: &Graph) -> Vec<Matrix> {
    let [whole] = &matrices[..] else { return matrices };
    let stage = OF_ALL_HEADS.into_iter().find(|stage| stage.name() == name && right.find(name).is_none());
    let Some(stage) = stage else { return matrices };
    let widths = (1..).map_while(|head| right.at(stage.of_head(Some(head)))).map(|id| right[id].shape().cols);
    let widths: Vec<usize> = widths.collect();
    if widths.is_empty() || widths.iter().sum::<usize>() != whole.cols() {
        return matrices;
    }
    let starts = widths.iter().scan(0, |end, width| Some(std::mem::replace(end, *end + width)));
    let block = |(width, first)| Matrix::from_fn(whole.rows(), width, |i, j| whole[(i, first + j)]);
    widths.iter().copied().zip(starts).map(block).collect()
}

/// The node that a name means: its own name, in any case, or another usual word. `A` is also the name of `A_1`, `A_2` …
/// together.
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
    let plain = normalised(word);
    let gradient = gradient_word(&plain);
    let is_meant = |known: &&str| [Some(&plain), gradient.as_ref()].contains(&Some(&normalised(known)));
    let spelled = SPELLINGS.iter().filter(|(_, words)| words.contains(&plain.as_str()));
    let known = bases.filter(is_meant).chain(spelled.map(|(stage, _)| stage.name()));
    known.map(with_head).find(|node| exists(node)).ok_or_else(|| unknown(name, right))
}

/// The remark where a notebook calls the result Z or Y: “Z is read as O.”
fn letter_read(name: &str, right: &Graph) -> Option<String> {
    let word = normalised(name.trim_end_matches(|c: char| c.is_ascii_digit()));
    let node = node(name, right).ok().filter(|_| matches!(word.as_str(), "z" | "y"))?;
    (node != name).then(|| format!("{} is read as {node}.", visible(name)))
}

/// The error, with the remarks on names that are read as others as its help.
pub fn with_renaming_remarks(error: Error, remarks: &[String]) -> Error {
    let read = remarks.iter().filter(|remark| remark.contains(" is read as "));
    read.fold(error, |error, remark| error.and_help(remark))
}

/// The name without a head: `S_scaled` for the node `S_scaled_2`, and `dA` for `dA_2`.
fn base(node: &Node) -> &str {
    let of_other = || match node.name.rsplit_once('_') {
        Some((stem, head)) if node.name.starts_with('d') && head.chars().all(|c| c.is_ascii_digit()) => stem,
        _ => &node.name,
    };
    // The steps of a loss and of a backward pass have no stage of their own.
    let step = node.step.filter(|step| !matches!(step.stage, Stage::Loss | Stage::Backward));
    step.map_or_else(of_other, |step| step.stage.name())
}

/// `dq` for the words `gradq` and `qgrad`, which are how `grad_Q` and `Q.grad` are compared.
fn gradient_word(plain: &str) -> Option<String> {
    let of = plain.strip_prefix("grad").or_else(|| plain.strip_suffix("grad"))?;
    Some(format!("d{of}"))
}

/// The step that a gradient belongs to: `S_scaled` for `dS_scaled`.
fn step_of_gradient<'n>(name: &'n str, right: &Graph) -> Option<&'n str> {
    let of = name.strip_prefix('d')?;
    (right.find(of).is_some() || right.find(&format!("{of}_1")).is_some()).then_some(of)
}

/// A name in lower-case letters and digits only.
fn normalised(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The steps of an exercise that can be handed in, in the order of computing: S, A, O …, and gradients.
pub fn computed_steps(right: &Graph) -> Vec<&str> {
    let mut computed: Vec<&str> = Vec::new();
    // What only helps to compute a gradient is nothing that is handed in.
    let mut forward = true;
    for (_, node) in right.nodes() {
        let is_gradient = step_of_gradient(&node.name, right).is_some();
        forward &= !is_gradient;
        let is_stated = node.op.is_given() || matches!(node.op, Op::Ones { .. });
        if (forward || is_gradient) && !is_stated && !computed.contains(&base(node)) {
            computed.push(base(node));
        }
    }
    computed
}

fn unknown(name: &str, right: &Graph) -> Error {
    let has_gradients = right.nodes().any(|(_, node)| step_of_gradient(&node.name, right).is_some());
    if let Some(of) = step_of_gradient(name, right).filter(|_| !has_gradients) {
        return Error::new(format!("{name} is the gradient of {of}, and this exercise has no backward pass"))
            .help("say where it starts: --gradient ones for the sum of O, or --gradient dO=FILE");
    }
    let computed = computed_steps(right);
    let shown = visible(name);
    let near = nearest(name, computed.iter().copied());
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    Error::new(format!("this exercise has no step `{shown}`"))
        .help(format!("{near}You can hand in {}", computed.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::recipes::{AttendInputs, PositionKind, Positions, Recipe, Rotary, attend};

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
    fn steps_of_todays_models_are_known_by_their_usual_words() {
        let kind = PositionKind::Rotary(Rotary::default());
        let positions = Positions { kind, ..Positions::default() };
        let given = || Some(Matrix::identity(4).into());
        let inputs = AttendInputs { q: given(), k: given(), v: given(), ..AttendInputs::default() };
        let recipe = Recipe { heads: 2, kv_heads: 2, positions, soft_cap: Some(5.0), ..Recipe::default() };
        let right = attend(&recipe, inputs).unwrap();
        for (name, expected) in [
            ("q_rotated", "Q_rotated"),
            ("Q-Rotated", "Q_rotated"),
            ("q_embed", "Q_rotated"),
            ("k_rot2", "K_rotated_2"),
            ("capped_scores", "S_capped"),
        ] {
            assert_eq!(node(name, &right).unwrap(), expected, "{name}");
        }
        let whole = Matrix::identity(4);
        assert_eq!(heads_apart("Q_rotated", vec![whole.clone()], &right).len(), 2);
        assert_eq!(heads_apart("S", vec![whole], &right).len(), 1);
    }

    #[test]
    fn a_word_that_could_be_anything_is_refused() {
        for name in ["foo", "A_3", "", "W", "7", "T"] {
            let said = node(name, &right(2)).unwrap_err().to_string();
            assert!(said.contains("has no step") && said.contains("S S_scaled"), "{name}: {said}");
        }
    }
}
