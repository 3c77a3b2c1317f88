//! The result of one file of a batch, and its row.

use std::collections::BTreeMap;

use super::mistakes::{
    alternatives, are_same_computation, confidence, first_cell, id, precision, size, worst_cell,
};
use crate::diagnose::{Answer, Diagnosis, JudgedNode, Verdict};
use crate::graph::Graph;
use crate::story::Table;
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
    /// How it was read, where that is to be said.
    pub remarks: Vec<String>,
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
            remarks: Vec::new(),
            precision,
            confidence,
        }
    }

    /// A file that was not judged, and why.
    pub fn not_judged(file: &str, reason: String, is_ignored: bool) -> FileResult {
        let (precision, confidence) = (String::new(), String::new());
        let (file, outcome, remarks) = (file.to_string(), Err(reason), Vec::new());
        FileResult { file, outcome, is_ignored, remarks, precision, confidence }
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
        let (file, confidence) = (self.file.clone(), self.confidence.clone());
        let row = FileRow { file, verdict: self.verdict(), confidence, ..FileRow::default() };
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
            Ok(_) => {
                let all = std::iter::once(&self.precision).chain(&self.remarks);
                all.filter(|note| !note.is_empty()).cloned().collect::<Vec<_>>().join(" ")
            }
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

// The totals of a batch: how many files are right, and who made which mistake.

/// The files of a batch by verdict and mistake.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    right: Vec<String>,
    close: Vec<String>,
    /// The number of wrong files; a file may show several mistakes.
    wrong: usize,
    /// By mistake, or mistakes that fit equally: what was done, and in which files.
    named: BTreeMap<String, (String, Vec<String>)>,
    /// The files without a named mistake, by the reason.
    unnamed: BTreeMap<&'static str, Vec<String>>,
    /// Files that could not be judged, and why.
    pub unusable: Vec<(String, String)>,
    /// How files were read, where that is to be said.
    pub remarks: Vec<(String, String)>,
    /// The files that were not read.
    pub ignored: Vec<String>,
}

impl Tally {
    /// Counts a file.
    pub fn add(&mut self, result: FileResult) {
        let file = result.file;
        self.remarks.extend(result.remarks.into_iter().map(|remark| (file.clone(), remark)));
        match result.outcome {
            Err(_) if result.is_ignored => self.ignored.push(file),
            Err(why) => self.unusable.push((file, why)),
            Ok(diagnosis) => match diagnosis.first_wrong() {
                None => self.right.push(file),
                Some(_) if diagnosis.verdict() == "close" => self.close.push(file),
                Some(wrong) => {
                    self.wrong += 1;
                    self.add_wrong(wrong, file);
                }
            },
        }
    }

    fn add_wrong(&mut self, wrong: &JudgedNode, file: String) {
        let mut named = |mistake: String, done: &str| {
            let (_, files) = self.named.entry(mistake).or_insert_with(|| (done.to_string(), Vec::new()));
            files.push(file.clone());
        };
        match &wrong.mistakes[..] {
            [] => self.unnamed.entry(why_unnamed(wrong)).or_default().push(file),
            [only] => only.slips.iter().for_each(|slip| named(id(slip), &slip.sentence())),
            several if are_same_computation(several) => {
                named(alternatives(several), &several[0].slips[0].sentence());
            }
            several => named(alternatives(several), "One of these; the numbers do not tell which."),
        }
    }

    /// Whether every file was judged.
    pub fn all_judged(&self) -> bool {
        self.unusable.is_empty() && self.ignored.is_empty()
    }

    /// Whether every file that was judged is right.
    pub fn all_right(&self) -> bool {
        self.right.len() == self.judged()
    }

    fn judged(&self) -> usize {
        self.right.len() + self.close.len() + self.wrong
    }

    /// Whether any file was judged.
    pub fn has_rows(&self) -> bool {
        self.judged() > 0
    }

    /// “6 files: 1 right, 4 wrong, 1 unusable”.
    pub fn sentence(&self) -> String {
        let all = self.judged() + self.unusable.len() + self.ignored.len();
        let mut parts = vec![format!("{} right", self.right.len())];
        let more = |count: usize, what: &str| (count > 0).then(|| format!("{count} {what}"));
        parts.extend(more(self.close.len(), "close"));
        parts.push(format!("{} wrong", self.wrong));
        parts.extend(more(self.unusable.len(), "unusable"));
        parts.extend(more(self.ignored.len(), "ignored"));
        format!("{}: {}", counted(all, "file"), parts.join(", "))
    }

    /// The mistakes with what was done and by whom, the most frequent first.
    fn frequent_first(&self) -> Vec<(&str, &str, &Vec<String>)> {
        let rows =
            self.named.iter().map(|(mistakes, (done, files))| (mistakes.as_str(), done.as_str(), files));
        let mut rows: Vec<(&str, &str, &Vec<String>)> = rows.collect();
        rows.sort_by_key(|(_, _, files)| std::cmp::Reverse(files.len()));
        rows
    }

    /// The number of files for each mistake, and what was done; `None` where nothing is wrong.
    pub fn mistakes(&self) -> Option<Table> {
        let unnamed = self.unnamed.iter().map(|(why, files)| (*why, "", files));
        let all = self.frequent_first().into_iter().chain(unnamed);
        let row = |(mistakes, done, files): (&str, &str, &Vec<String>)| {
            vec![files.len().to_string(), mistakes.into(), done.into()]
        };
        let table = Table::new(&["files", "mistake", "what was done"], all.map(row)).with_numbers(&["files"]);
        (!table.rows.is_empty()).then_some(table)
    }

    /// The files by mistake, and those without one by verdict.
    pub fn by_mistake(&self) -> Table {
        let unusable: Vec<String> = self.unusable.iter().map(|(file, _)| file.clone()).collect();
        let unusable = ("unusable", &unusable);
        let others = [("close", &self.close), ("right", &self.right), unusable, ("ignored", &self.ignored)];
        let named = self.frequent_first().into_iter().map(|(mistakes, _, files)| (mistakes, files));
        let unnamed = self.unnamed.iter().map(|(why, files)| (*why, files));
        let all = named.chain(unnamed).chain(others).filter(|(_, files)| !files.is_empty());
        let rows: Vec<Vec<String>> =
            all.map(|(what, files)| vec![what.to_string(), files.len().to_string(), first(files)]).collect();
        Table::new(&["mistake", "files", "which"], rows).with_numbers(&["files"])
    }
}

/// Why a wrong file has no named mistake.
fn why_unnamed(wrong: &JudgedNode) -> &'static str {
    match wrong.verdict {
        _ if wrong.too_few_digits => "too few digits to tell",
        Verdict::OtherShape(..) | Verdict::OtherCount(..) => "wrong shape",
        _ => "no known mistake",
    }
}

/// The names of the first files, and how many more there are.
fn first(files: &[String]) -> String {
    const MOST: usize = 40;
    let names = files[..files.len().min(MOST)].join(", ");
    match files.len().saturating_sub(MOST) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}
