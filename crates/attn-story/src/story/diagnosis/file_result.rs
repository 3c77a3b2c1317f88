//! The result of one file of a batch, and its row.

use super::cells::{first_cell, size, worst_cell};
use super::mistakes::alternatives;
use super::precision::{confidence, precision};
use crate::diagnose::{Answer, Diagnosis, JudgedNode, Verdict};
use crate::graph::Graph;
use crate::text::counted;

/// The result of one file.
#[derive(Clone, Debug)]
pub struct FileResult {
    /// Its name.
    pub file: String,
    /// The diagnosis, or why there is none.
    pub outcome: std::result::Result<Diagnosis, String>,
    /// Whether it was not read: a folder, a link, or a file with an unknown ending.
    pub is_ignored: bool,
    /// The precision to which it is right: “to 2 decimals: the largest difference is 0.0041”.
    precision: String,
    /// The agreement of the numbers: “to 5 decimals”, “one of 2”.
    confidence: String,
}

/// The row of a file in the report on a batch.
#[derive(Clone, Debug, Default)]
pub struct FileRow {
    /// Its name.
    pub file: String,
    /// `right`, `close`, `wrong`, `unusable` or `ignored`.
    pub verdict: &'static str,
    /// The first cell that is wrong, or the node.
    pub place: String,
    /// The mistakes, or why none is named.
    pub mistake: String,
    /// The agreement of the numbers.
    pub confidence: String,
}

impl FileResult {
    /// A file that was judged by its answers.
    pub fn judged(file: &str, diagnosis: Diagnosis, answers: &[Answer]) -> FileResult {
        let (precision, confidence) = (precision(&diagnosis, answers), confidence(&diagnosis, answers));
        FileResult {
            file: file.to_string(),
            outcome: Ok(diagnosis),
            is_ignored: false,
            precision,
            confidence,
        }
    }

    /// A file that was not judged, and why.
    pub fn not_judged(file: &str, reason: String, is_ignored: bool) -> FileResult {
        let (precision, confidence) = (String::new(), String::new());
        FileResult { file: file.to_string(), outcome: Err(reason), is_ignored, precision, confidence }
    }

    /// `right`, `close`, `wrong`, `unusable` or `ignored`.
    pub fn verdict(&self) -> &'static str {
        match &self.outcome {
            Ok(diagnosis) => diagnosis.verdict(),
            Err(_) if self.is_ignored => "ignored",
            Err(_) => "unusable",
        }
    }

    /// Its row, with cells named as in the graph of the right answer.
    pub fn row(&self, right: &Graph) -> FileRow {
        let row = FileRow {
            file: self.file.clone(),
            verdict: self.verdict(),
            confidence: self.confidence.clone(),
            ..FileRow::default()
        };
        let Ok(diagnosis) = &self.outcome else { return row };
        let Some(wrong) = diagnosis.first_wrong() else { return row };
        let place = match &wrong.verdict {
            Verdict::Wrong(distance) => first_cell(distance, right),
            Verdict::Close(close) => worst_cell(&close.beyond, right),
            _ => wrong.name.clone(),
        };
        FileRow { place, mistake: mistake(diagnosis, wrong), ..row }
    }

    /// The cells of its row, and a note for which the screen has no room.
    pub fn cells(&self, right: &Graph) -> Vec<String> {
        let note = match &self.outcome {
            Err(reason) => reason.clone(),
            Ok(_) => self.precision.clone(),
        };
        let FileRow { file, verdict, place, mistake, confidence } = self.row(right);
        vec![file, verdict.into(), place, mistake, confidence, note]
    }
}

/// The mistakes of a file that is not right, or why none is named.
fn mistake(diagnosis: &Diagnosis, wrong: &JudgedNode) -> String {
    match &wrong.verdict {
        _ if !wrong.mistakes.is_empty() => alternatives(&wrong.mistakes),
        _ if wrong.too_few_digits => "too few digits to tell".into(),
        Verdict::Close(close) => format!("off by {}", size(close.beyond.difference.max)),
        Verdict::OtherShape(yours, expected) => format!("{yours}, not {expected}"),
        Verdict::OtherCount(yours, expected) => format!("{}, not {expected}", counted(*yours, "matrix")),
        _ if diagnosis.pairs_tried => "no known mistake".into(),
        _ => "no single known mistake".into(),
    }
}
