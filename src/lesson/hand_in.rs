//! What a student hands in: the results of a quiz as a file, or as one line of text that fits into a message or a form.
//!
//! The line is `attn1:`, the results in JSON, compressed as zlib does, in base64, and `;`. zlib's checksum shows when it was changed on
//! the way. It is no proof against cheating: anyone can write such a line.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::read::records;
use crate::render::base64;
use crate::text::{clip, from_base64};

use super::quiz::{Grade, Results};

/// The results of one student.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HandIn {
    /// The student's name or number.
    pub name: String,
    /// The name of the lesson.
    pub lesson: String,
    /// The seed of its numbers, if they were drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u32>,
    /// Every question, in the order of the lesson.
    pub questions: Vec<HandedQuestion>,
}

/// A question and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HandedQuestion {
    /// The id of the question.
    pub id: String,
    /// What came of it.
    pub outcome: Grade,
    /// The first answer that was typed; empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub answer: String,
    /// The mistakes in numbers that were handed in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mistakes: Vec<String>,
}

/// The words above a code.
pub const TO_HAND_IN: &str = "Hand in this line";

/// What a code begins with, and ends with.
const BEGINS: &str = "attn1:";
const ENDS: char = ';';
/// The most characters of a code, and the most bytes of what is in it.
const LONGEST_CODE: usize = 16 << 10;
const MOST_BYTES: u64 = 256 << 10;
/// The most questions of one student, and the most characters of one of the texts.
const MOST_QUESTIONS: usize = 500;
const LONGEST_TEXT: usize = 500;

impl HandIn {
    /// The results of a quiz under a name.
    pub fn of(results: &Results, name: &str) -> HandIn {
        let question = |one: &super::quiz::QuestionResult| HandedQuestion {
            id: one.id.clone(),
            outcome: one.outcome,
            answer: cut(one.answers.first().map_or("", String::as_str)),
            mistakes: one.mistakes.clone(),
        };
        HandIn {
            name: cut(name),
            lesson: results.lesson.clone(),
            seed: results.seed,
            questions: results.graded.iter().map(question).collect(),
        }
    }

    /// The results as one line.
    pub fn code(&self) -> String {
        let json = serde_json::to_vec(self).unwrap_or_default();
        format!("{BEGINS}{}{ENDS}", packed(&json, Compression::best()))
    }

    /// The sum of the points, and of how many.
    pub fn points(&self) -> (f64, usize) {
        let points: Vec<f64> = self.questions.iter().filter_map(|one| one.outcome.points()).collect();
        (points.iter().sum(), points.len())
    }
}

/// Bytes compressed as zlib does, in base64.
pub(crate) fn packed(bytes: &[u8], level: Compression) -> String {
    let mut packed = ZlibEncoder::new(Vec::new(), level);
    // Writing to memory does not fail.
    base64(&packed.write_all(bytes).and_then(|()| packed.finish()).unwrap_or_default())
}

/// A text that is not longer than a code takes.
fn cut(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).collect()
}

/// All results in a text: codes in it, wherever they stand, the CSV or the JSON of `attn lesson quiz`, or the file of a page. A code that was
/// changed or cut off is an error of its own; the others count all the same.
///
/// # Errors
/// If there is nothing of these in it.
pub fn handed_in(text: &str) -> Result<Vec<Result<HandIn>>> {
    if text.contains(BEGINS) {
        return Ok(text.split(BEGINS).skip(1).map(decoded).collect());
    }
    let all = if text.trim_start().starts_with('{') { in_json(text)? } else { in_rows(text)? };
    match all {
        Some(all) => Ok(all.into_iter().map(Ok).collect()),
        None => Err(Error::new("there are no results in it").help(
            "give files of `attn lesson quiz --output`, of a page's Hand in, or texts with codes: attn1:…;",
        )),
    }
}

/// The results of the code that a text begins with, behind its first word. Blanks, ends of lines and the marks of quoted mails in it do not
/// count.
fn decoded(text: &str) -> Result<HandIn> {
    let cut_off = || Error::new("a code is cut off").help("copy it again, from attn1: to the semicolon");
    let end = text.char_indices().take(LONGEST_CODE).find(|(_, c)| *c == ENDS).ok_or_else(cut_off)?.0;
    let letters: String = text[..end].chars().filter(|c| !c.is_whitespace() && *c != '>').collect();
    let changed = || Error::new("a code was changed").help("copy it again, or ask for the results file");
    let bytes = from_base64(&letters).ok_or_else(changed)?;
    let mut json = Vec::new();
    let read = ZlibDecoder::new(&bytes[..]).take(MOST_BYTES).read_to_end(&mut json);
    read.map_err(|_| changed())?;
    let handed: HandIn = serde_json::from_slice(&json).map_err(|_| changed())?;
    checked(handed).ok_or_else(changed)
}

/// The same results, if they are within bounds.
fn checked(handed: HandIn) -> Option<HandIn> {
    let is_short = |text: &String| text.chars().count() <= LONGEST_TEXT;
    let is_fine = |one: &HandedQuestion| {
        is_short(&one.id) && is_short(&one.answer) && one.mistakes.iter().all(is_short)
    };
    let fits = handed.questions.len() <= MOST_QUESTIONS && is_short(&handed.name) && is_short(&handed.lesson);
    (fits && handed.questions.iter().all(is_fine)).then_some(handed)
}

/// The results in JSON: of a page's file, or the rows of a quiz.
fn in_json(text: &str) -> Result<Option<Vec<HandIn>>> {
    let broken = |error: serde_json::Error| Error::new(format!("this is not JSON: {error}"));
    let document: Value = serde_json::from_str(text).map_err(broken)?;
    if let Ok(handed) = HandIn::deserialize(&document) {
        return Ok(checked(handed).map(|handed| vec![handed]));
    }
    Ok(of_rows(document["tables"][0]["rows"].as_array().cloned().unwrap_or_default()))
}

/// The columns of a quiz's results that count.
const COLUMNS: [&str; 7] = ["name", "lesson", "seed", "question", "outcome", "answer", "mistakes"];

/// The results in the CSV of a quiz, or in several such files one after the other.
fn in_rows(text: &str) -> Result<Option<Vec<HandIn>>> {
    let mut records = records("the results", text)?.into_iter();
    let header = records.next().unwrap_or_default();
    let row = |record: Vec<String>| header.iter().cloned().zip(record).collect();
    Ok(of_rows(records.filter(|record| *record != header).map(row)))
}

/// The results of rows that have the columns of a quiz; one student's follow each other.
fn of_rows(rows: impl IntoIterator<Item = Value>) -> Option<Vec<HandIn>> {
    let mut all: Vec<HandIn> = Vec::new();
    for row in rows {
        let [name, lesson, seed, id, outcome, answer, mistakes] = COLUMNS.map(|column| match &row[column] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let Some(outcome) = Grade::of_word(&outcome).filter(|_| !id.is_empty()) else { continue };
        let mistakes = mistakes.split_whitespace().map(str::to_string).collect();
        let question = HandedQuestion { id: cut(&id), outcome, answer: cut(&answer), mistakes };
        let is_same = |handed: &&mut HandIn| {
            handed.name == name
                && handed.lesson == lesson
                && handed.questions.iter().all(|one| one.id != question.id)
        };
        match all.last_mut().filter(is_same) {
            Some(handed) => handed.questions.push(question),
            None => {
                let (name, lesson) = (cut(&name), cut(&lesson));
                all.push(HandIn { name, lesson, seed: seed.parse().ok(), questions: vec![question] });
            }
        }
    }
    (!all.is_empty()).then_some(all)
}

/// A text from outside for a cell of a table.
pub(super) fn cell(text: &str) -> String {
    visible(&clip(text)).into_owned()
}
