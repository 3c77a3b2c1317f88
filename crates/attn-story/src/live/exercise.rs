//! An exercise whose result is handed in as text, and judged as `attn diagnose` judges a file.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Opening;
use crate::diagnose::{
    ComparedMatrix, Examiner, Task, Tolerance, computed_steps, limit, named_submission, submission,
    with_renaming_remarks,
};
use crate::error::{Error, Result};
use crate::graph::{Convention, Node, NodeId, Op, Origin, formula};
use crate::matrix::Matrix;
use crate::read::{arrays, told};
use crate::render::html::{matrix_table, table_of_words};
use crate::render::html_page::{escaped, live_data};
use crate::render::numpy::assignment;
use crate::story::diagnosis::{PageReport, page_report};
use crate::text::all_of;

/// What was handed in, in errors.
const NAME: &str = "your numbers";

/// An exercise.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exercise {
    computation: Opening,
    /// The step that is asked for: `A`.
    step: String,
}

impl Exercise {
    /// The exercise to compute a step.
    ///
    /// # Errors
    /// If no recipe built the computation, or it does not compute this step.
    pub fn new(computation: Opening, step: &str) -> Result<Exercise> {
        let steps = steps(&computation.task()?);
        if !steps.iter().any(|known| known == step) {
            let error = Error::new(format!("`{step}` is no step that can be handed in"));
            return Err(error.help(format!("ask for {}", steps.join(" "))));
        }
        Ok(Exercise { computation, step: step.to_string() })
    }

    /// Judges numbers: as this step where one is named, or as the steps that they name themselves.
    ///
    /// # Errors
    /// At the line and column of what cannot be read; if it is no step of this exercise.
    pub fn check(&self, text: &str, step: Option<&str>) -> Result<CheckedNumbers> {
        let task = self.computation.task()?;
        let most = limit(task.right());
        if text.len() as u64 > most.whole {
            return Err(most.too_large(NAME));
        }
        let mut read = arrays(NAME, text)?;
        // One note for each array that was read from a form that had to be guessed.
        let notes: Vec<String> = read
            .iter()
            .flat_map(|(name, array)| told(name.as_deref().unwrap_or("Your text"), array))
            .collect();
        let asked = step.unwrap_or(&self.step);
        let submission = match &mut read[..] {
            [(None, _)] => named_submission(asked, read.remove(0).1, task.right()),
            _ => submission(read, task.right()),
        };
        let submission = submission.map_err(|error| error.in_source(NAME))?;
        let examiner = Examiner::new(task, Tolerance::default());
        let answers = &submission.answers;
        let diagnosis =
            examiner.examine(answers).map_err(|error| with_renaming_remarks(error, &submission.remarks))?;
        let mistakes = diagnosis.first_wrong().map_or(&[][..], |wrong| &wrong.mistakes);
        let mut seen = HashSet::new();
        let ids = mistakes.iter().flat_map(|named| named.ids()).filter(|id| seen.insert(*id));
        let ids = ids.map(|id| id.to_string()).collect();
        let mut compared = examiner.compare(answers)?;
        let is_right = |node: &str| {
            let is_it = |name: &str| {
                node == name || node.strip_prefix(name).is_some_and(|rest| rest.starts_with('_'))
            };
            diagnosis.nodes.iter().any(|judged| is_it(&judged.name) && judged.verdict.is_right())
        };
        // What is right in another form has other numbers.
        for matrix in compared.iter_mut().filter(|matrix| is_right(&matrix.node)) {
            matrix.differing.clear();
        }
        Ok(CheckedNumbers {
            is_right: diagnosis.is_right(),
            has_asked: answers.iter().any(|answer| answer.name == self.step),
            report: page_report(&diagnosis, examiner.task(), answers),
            mistakes: ids,
            remarks: notes.into_iter().chain(submission.remarks).collect(),
            decimals: answers.iter().filter_map(|answer| answer.decimals).max(),
            compared,
        })
    }

    /// The exercise as a part of a page: its given matrices, what is computed from them, and the data by which a script judges.
    ///
    /// # Errors
    /// As [`Exercise::new`].
    pub fn html(&self) -> Result<String> {
        let task = self.computation.task()?;
        let graph = task.right();
        let is_given = |node: &Node| matches!(&node.op, Op::Given(origin) if *origin != Origin::Identity);
        let given = || graph.nodes().map(|(_, node)| node).filter(|node| is_given(node));
        let matrices = || given().filter_map(|node| Some((node.name.as_str(), node.matrix()?)));
        let table = |(name, matrix): (&str, &Matrix)| {
            matrix_table(name, matrix, [matrix.row_labels(), matrix.col_labels()], DECIMALS, &[])
        };
        let tables: String = matrices().map(table).collect();
        let python: String = matrices().map(|(name, matrix)| assignment(name, matrix)).collect();
        let step = |id: NodeId| {
            format!("<li><code>{}</code></li>\n", escaped(&formula(graph, id, Convention::Rows, true)))
        };
        let computed: String =
            graph.nodes().filter(|(_, node)| !node.op.is_given()).map(|(id, _)| step(id)).collect();
        let identities = graph.nodes().filter(|(_, node)| node.op == Op::Given(Origin::Identity));
        let identities: Vec<&str> = identities.map(|(_, node)| node.name.as_str()).collect();
        let identities = match identities[..] {
            [] => String::new(),
            [one] => format!(" {one} is the identity matrix."),
            _ => format!(" {} are identity matrices.", all_of(&identities)),
        };
        let data = json!({ "check": self, "step": self.step, "steps": steps(&task) });
        Ok(format!(
            "<div class=\"exercise\">\n<div>\n<p>Compute <code>{}</code>.{}</p>\n<div class=\"given\">\n{tables}</div>\n\
             <details><summary>The matrices with every digit, for NumPy</summary>\n<pre>import numpy as np\n{}</pre></details>\n\
             <details open><summary>What is computed, step by step</summary>\n<ol class=\"formulas\">\n{computed}</ol></details>\n</div>\n\
             <div>\n{}</div>\n</div>\n",
            escaped(&self.step),
            escaped(&identities),
            escaped(&python),
            live_data("check", &data.to_string())
        ))
    }
}

/// The given matrices are shown with this many decimals; every digit stands below them.
const DECIMALS: usize = 4;

fn steps(task: &Task) -> Vec<String> {
    computed_steps(task.right()).into_iter().map(str::to_string).collect()
}

/// What is said of numbers that were handed in.
#[derive(Clone, Debug)]
pub struct CheckedNumbers {
    /// Whether nothing is wrong.
    pub is_right: bool,
    /// Whether the step that is asked for is among them; right numbers of another step answer nothing.
    pub has_asked: bool,
    /// The sentences.
    pub report: PageReport,
    /// The mistakes that give the numbers of the first wrong step, by their names in the catalogue.
    pub mistakes: Vec<String>,
    /// How the numbers were read.
    pub remarks: Vec<String>,
    /// The decimals that they have.
    pub decimals: Option<usize>,
    /// Each matrix beside the right one.
    pub compared: Vec<ComparedMatrix>,
}

/// The right numbers have at least this many decimals, and what was handed in at most [`MOST_DECIMALS`].
const LEAST_DECIMALS: usize = 2;
const MOST_DECIMALS: usize = 6;
/// The most columns of a matrix that is drawn, where the right one has fewer.
const MOST_COLUMNS: usize = 64;

impl CheckedNumbers {
    /// As a page shows it: sentences as texts, tables as HTML.
    pub fn view(&self) -> Value {
        let decimals = self.decimals.unwrap_or(4).clamp(LEAST_DECIMALS, MOST_DECIMALS);
        let table = |compared: &ComparedMatrix, whose: &str| {
            let ComparedMatrix { node, yours, right, differing } = compared;
            let matrix = if whose == "right" { right } else { yours };
            let labels = [right.row_labels(), right.col_labels()];
            let labels = if yours.shape() == right.shape() { labels } else { [None, None] };
            matrix_table(&format!("{node}, {whose}"), matrix, labels, decimals, differing)
        };
        // Of a paste that is far too wide, such as all numbers on one line, the sentences say enough.
        let fits = |compared: &ComparedMatrix, whose: &str| {
            whose == "right" || compared.yours.cols() <= MOST_COLUMNS.max(compared.right.cols())
        };
        let all = |whose: &str| -> String {
            let shown = self.compared.iter().filter(|one| fits(one, whose));
            shown.map(|one| table(one, whose)).collect()
        };
        let evidence: String = self.report.tables.iter().map(table_of_words).collect();
        json!({
            "is_right": self.is_right,
            "has_asked": self.has_asked,
            "headline": self.report.headline,
            "lines": self.report.lines,
            "mistakes": self.mistakes,
            "remarks": self.remarks,
            "yours": all("yours"),
            "right": all("right") + &evidence,
        })
    }
}
