//! The page of mistakes: each with its sentences, and with an example where the catalogue can make it.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::diagnose::{GROUPS, Mistake, Task};
use crate::graph::{Graph, Node};
use crate::matrix::Matrix;
use crate::render::html::matrix_table;
use crate::render::html_page::escaped;
use crate::render::number_alone;

/// An exercise in which mistakes are made: what is typed behind `attn attend`, and the exercise itself.
pub struct Example {
    /// The arguments.
    pub typed: String,
    /// The exercise.
    pub task: Task,
    /// A result with a mistake that is not made here, where this is what the exercise is for.
    pub result: Option<MistakenResult>,
}

/// A result with a mistake, as data.
#[derive(Clone, Debug, Deserialize)]
pub struct MistakenResult {
    /// The mistake.
    pub id: String,
    /// The options of the exercise.
    pub options: String,
    /// Its given matrices, as a bundle in JSON.
    pub inputs: Value,
    /// The step that was handed in.
    pub step: String,
    /// The numbers, row by row; NaN is a text.
    pub numbers: Vec<Vec<Value>>,
}

impl MistakenResult {
    /// What was handed in.
    fn matrix(&self) -> Option<Matrix> {
        let number = |value: &Value| value.as_f64().or_else(|| value.as_str()?.parse().ok());
        let cells: Vec<f64> = self.numbers.iter().flatten().map(number).collect::<Option<_>>()?;
        Matrix::from_row_major(self.numbers.len(), self.numbers.first()?.len(), &cells).ok()
    }
}

/// Results with mistakes that a change of the recipe does not make.
///
/// # Panics
/// If the file that travels with the program is damaged; a test reads it.
pub fn mistaken_results() -> Vec<MistakenResult> {
    serde_json::from_str(include_str!("../../data/mistake_examples.json"))
        .expect("mistake_examples.json is read by a test")
}

/// The decimals of the numbers of examples.
const DECIMALS: usize = 2;

/// Matrices with more columns are too wide to be compared at a glance.
const MOST_COLUMNS: usize = 8;

/// All mistakes, in the order of the steps in which they are made.
pub(super) fn page(exercises: &[Example]) -> String {
    let mut out = String::from(
        "<h1>Mistakes</h1>\n<p>What goes wrong when attention is computed: why it is wrong, what one sees, and how to fix it. \
         In the examples the numbers that differ are marked.</p>\n",
    );
    for group in GROUPS.iter() {
        out.push_str(&format!("<h2>{}</h2>\n", escaped(&group.title)));
        group.mistakes.iter().for_each(|mistake| out.push_str(&entry(mistake, exercises)));
    }
    out
}

fn entry(mistake: &Arc<Mistake>, exercises: &[Example]) -> String {
    let demo = mistake.demo.as_ref().map(|demo| {
        format!("<p>The correct step: <a href=\"demos/{demo}.html\"><code>attn demo {demo}</code></a></p>\n")
    });
    let Mistake { id, slip, why, symptom, fix, .. } = &**mistake;
    let example = exercises.iter().find_map(|one| match &one.result {
        None => made(mistake, one),
        Some(result) => handed(mistake, one, result),
    });
    let example = example.unwrap_or_default();
    format!(
        "<section class=\"mistake\" id=\"{id}\">\n<h3><a href=\"#{id}\">{id}</a></h3>\n<p>{}</p>\n<p>{}</p>\n\
         <p><strong>What one sees:</strong> {}</p>\n<p><strong>To fix it:</strong> {}</p>\n{}{example}</section>\n",
        escaped(slip),
        escaped(why),
        escaped(symptom),
        escaped(fix),
        demo.unwrap_or_default()
    )
}

/// The first step of an exercise in which a mistake changes a number that is shown: right, and with the mistake.
fn made(mistake: &Arc<Mistake>, Example { typed, task, .. }: &Example) -> Option<String> {
    let ways = mistake.ways(task).ok()?;
    ways.iter().filter(|way| way.alone).find_map(|way| {
        let (name, right, wrong) = first_difference(task, &task.with(&way.changes))?;
        let how = way.slip.detail.as_deref().filter(|detail| !detail.is_empty());
        let how = how.map(|detail| format!(", {}", escaped(detail))).unwrap_or_default();
        let exercise = format!("<code>attn attend {}</code>{how}", escaped(typed));
        Some(pair(&exercise, &name, right, &wrong))
    })
}

/// A result that was handed in, beside the right one.
fn handed(
    mistake: &Mistake,
    Example { typed, task, .. }: &Example,
    result: &MistakenResult,
) -> Option<String> {
    let id = task.right().find(&result.step).filter(|_| result.id == mistake.id)?;
    let (right, wrong) = (task.right()[id].matrix()?, result.matrix()?);
    let options = match &**typed {
        "" => "attention without options".to_string(),
        typed => format!("<code>{}</code>", escaped(typed)),
    };
    Some(pair(&options, &result.step, right, &wrong))
}

fn pair(exercise: &str, name: &str, right: &Matrix, wrong: &Matrix) -> String {
    format!(
        "<details class=\"example\">\n<summary>An example</summary>\n<p>{exercise}</p>\n<div class=\"pair\">\n{}{}</div>\n</details>\n",
        matrix_table(&format!("{name}, right"), right, [None, None], DECIMALS, &[]),
        matrix_table(
            &format!("{name}, with the mistake"),
            wrong,
            [None, None],
            DECIMALS,
            &differing(right, wrong)
        )
    )
}

/// The cells that differ in what is shown; none where the shapes differ.
fn differing(right: &Matrix, wrong: &Matrix) -> Vec<(usize, usize)> {
    if right.shape() != wrong.shape() {
        return Vec::new();
    }
    let shown = |matrix: &Matrix, at: (usize, usize)| number_alone(matrix[at], DECIMALS);
    let cells = (0..right.rows()).flat_map(|i| (0..right.cols()).map(move |j| (i, j)));
    cells.filter(|&at| shown(right, at) != shown(wrong, at)).collect()
}

/// The first step of an exercise that differs in what is shown: its name, and its numbers in both. Of a backward pass it is a gradient of
/// something given: what stands between has several right forms.
fn first_difference<'t>(task: &'t Task, wrong: &Graph) -> Option<(String, &'t Matrix, Matrix)> {
    let difference = |node: &'t Node| {
        let other = wrong[wrong.find(&node.name)?].matrix()?;
        let own = node.matrix().filter(|own| own.cols() <= MOST_COLUMNS)?;
        (!differing(own, other).is_empty()).then(|| (node.name.clone(), own, other.clone()))
    };
    let has_gradients = task.results().len() > 1;
    let counts = |node: &Node| !node.op.is_given() && (!has_gradients || task.results().contains(&node.name));
    task.right().nodes().filter(|(_, node)| counts(node)).find_map(|(_, node)| difference(node))
}
