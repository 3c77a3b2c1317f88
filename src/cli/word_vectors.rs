//! The vectors of words: defined ones, those of a file, the built-in ones, and ones invented from letters.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::demo::{Document, words};
use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::Origin;
use crate::input::{self, Files};
use crate::matrix::{Labels, Matrix, labels};
use crate::read::{self, AllowedNumbers};
use crate::text::{all_of, counted, nearest};

use super::options::{first_given, replace_earlier};

/// The approximate length of an invented vector; the built-in words are 4 to 5 long.
const USUAL_LENGTH: f64 = 4.0;

/// The options for the vectors of words.
#[derive(Deserialize, Clone, Debug)]
pub(super) struct WordArgs {
    pub define: Vec<String>,
    pub embeddings: Option<String>,
}

/// The vectors of some words.
pub(super) struct WordVectors {
    /// A row for each word, labelled by it.
    pub matrix: Matrix,
    /// The origin of the rows.
    pub origin: Origin,
    /// Notes on the vectors.
    pub notes: Vec<String>,
}

impl WordArgs {
    /// Keeps the later definition of each word that is defined twice: `self` was parsed from both option lists.
    pub(super) fn replace_earlier(&mut self, earlier: &WordArgs) {
        replace_earlier(&mut self.define, earlier.define.len());
    }

    /// Refuses the options where no words are looked up.
    pub(super) fn check_unused(&self) -> Result<()> {
        let used = [("--define", !self.define.is_empty()), ("--embeddings", self.embeddings.is_some())];
        match first_given(&used) {
            Some(option) => Err(Error::new(format!("{option} needs words to look up"))
                .help("give a sentence with --words \"bat cave racket\", and no --random")),
            None => Ok(()),
        }
    }

    /// The vectors of `names`, one row each. Each is looked up as it is written and then in lower case: among the defined
    /// words, in the file, among the built-in words. What is in none of them gets a vector invented from its letters.
    pub(super) fn vectors(&self, names: &[String], files: &mut Files<'_>) -> Result<WordVectors> {
        let defined = self.defined()?;
        let mut notes = unused(&defined, names);
        let mut found: BTreeMap<&str, WordVector> = BTreeMap::new();
        found.extend(names.iter().filter_map(|word| Some((word.as_str(), of_definition(word, &defined)?))));
        let mut width = None;
        if let Some(file) = &self.embeddings {
            let missing: Vec<&str> = missing(names, &found).into_iter().collect();
            if !missing.is_empty() {
                let vectors = files.word_vectors(file, &missing)?;
                width = Some(vectors.width);
                notes.extend(vectors.hints.into_iter().map(|hint| format!("{hint}.")));
                let origin = Origin::User(visible(file).into_owned());
                let rows = missing.into_iter().zip(vectors.rows);
                found.extend(rows.filter_map(|(word, row)| {
                    Some((word, WordVector { row: row?, origin: origin.clone(), built_in: None }))
                }));
            }
        }
        if width.is_none_or(|width| width == 2) {
            let words = missing(names, &found);
            found.extend(words.into_iter().filter_map(|word| Some((word, built_in(word)?))));
        }
        invent(missing(names, &found), &mut found, width);
        notes.extend(notes_on(names, &found));
        let rows: Vec<&WordVector> = names.iter().map(|name| &found[name.as_str()]).collect();
        check_widths(names, &rows)?;
        let origins: Vec<Origin> = rows.iter().map(|found| found.origin.clone()).collect();
        let origin = match origins.split_first() {
            Some((first, others))
                if *first != Origin::Letters && others.iter().all(|other| other == first) =>
            {
                first.clone()
            }
            _ => Origin::Rows(origins),
        };
        let labels: Labels = names.iter().map(|name| name.to_string()).collect();
        let axes = axes(&rows);
        let rows: Vec<Vec<f64>> = rows.into_iter().map(|found| found.row.clone()).collect();
        let matrix = Matrix::from_rows(&rows)?.with_row_labels(Some(labels)).with_col_labels(axes);
        Ok(WordVectors { matrix, origin, notes })
    }

    /// The words of `--define`, with their numbers.
    fn defined(&self) -> Result<Vec<(String, Vec<f64>)>> {
        let example = "write --define dog=1,2";
        let mut all: Vec<(String, Vec<f64>)> = Vec::new();
        for definition in &self.define {
            let parts = definition.split_once('=').filter(|(word, _)| !word.is_empty());
            let (word, numbers) = parts
                .ok_or_else(|| Error::new(format!("`--define {definition}` has no `=`")).help(example))?;
            let row = read::inline(numbers, AllowedNumbers::FINITE).and_then(|array| array.into_matrix());
            let row = row.map_err(|error| error.in_source(format!("--define {}", visible(word))))?;
            if row.rows() != 1 {
                return Err(
                    Error::new(format!("`{word}` is one vector, not {} rows", row.rows())).help(example)
                );
            }
            if all.iter().any(|(defined, _)| defined == word) {
                return Err(
                    Error::new(format!("`{}` is defined twice", visible(word))).help("give each word once")
                );
            }
            all.push((word.to_string(), row.row(0).collect()));
        }
        Ok(all)
    }
}

/// The words that are not found yet.
fn missing<'w>(names: &'w [String], found: &BTreeMap<&str, WordVector>) -> BTreeSet<&'w str> {
    names.iter().map(String::as_str).filter(|word| !found.contains_key(word)).collect()
}

fn of_definition(word: &str, defined: &[(String, Vec<f64>)]) -> Option<WordVector> {
    let of = |word: &str| defined.iter().find(|(defined, _)| defined == word);
    let (_, row) = of(word).or_else(|| of(&word.to_lowercase()))?;
    Some(WordVector { row: row.clone(), origin: Origin::User("--define".into()), built_in: None })
}

fn built_in(word: &str) -> Option<WordVector> {
    let word = words::find(word)?;
    Some(WordVector { row: word.coordinates.to_vec(), origin: Origin::Stated, built_in: Some(word) })
}

/// Adds invented vectors for the words that have none: of the width of the others and, where these are not the built-in words, of
/// their mean length.
fn invent<'w>(missing: BTreeSet<&'w str>, found: &mut BTreeMap<&'w str, WordVector>, width: Option<usize>) {
    let taken: Vec<Vec<f64>> = found.values().map(|found| found.row.clone()).collect();
    let width = width.or_else(|| taken.first().map(Vec::len)).unwrap_or(2);
    let foreign = found.values().filter(|found| found.built_in.is_none() && found.row.len() == width);
    let lengths = foreign.map(|found| found.row.iter().map(|x| x * x).sum::<f64>().sqrt());
    let lengths: Vec<f64> = lengths.filter(|x| *x > 0.0).collect();
    let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
    let length = if mean.is_finite() { mean } else { USUAL_LENGTH };
    let words: Vec<&str> = missing.into_iter().collect();
    let letters = |row| WordVector { row, origin: Origin::Letters, built_in: None };
    let rows = input::invented(&words, width, length, &taken).into_iter().map(letters);
    found.extend(words.into_iter().zip(rows));
}

fn check_widths(names: &[String], rows: &[&WordVector]) -> Result<()> {
    let first = rows.first().map_or(0, |found| found.row.len());
    let other = names.iter().zip(rows).find(|(_, found)| found.row.len() != first);
    let Some((name, found)) = other else { return Ok(()) };
    let (name, of_first, has) = (visible(name), visible(&names[0]), counted(found.row.len(), "number"));
    let width = counted(first, "number");
    Err(Error::new(format!("`{name}` has {has} and `{of_first}` has {first}"))
        .help(format!("all vectors need the same width: give `{name}` {width}, or define both")))
}

/// The names of the columns, where all words are built-in ones of one plane.
fn axes(rows: &[&WordVector]) -> Option<Labels> {
    let planes: Vec<_> = rows.iter().map(|found| found.built_in.map(|word| word.axes)).collect();
    let first = planes.first().copied().flatten()?;
    planes.iter().all(|plane| *plane == Some(first)).then(|| labels(&first))
}

// The vector of one word.

/// The vector of a word, and its origin.
#[derive(Clone)]
struct WordVector {
    pub row: Vec<f64>,
    pub origin: Origin,
    /// The built-in word, if it is one.
    pub built_in: Option<&'static words::Word>,
}

// Notes on the vectors of words: which are built in, which are invented, and which definitions are not used.

/// The notes on words whose vectors are built in or invented.
fn notes_on(names: &[String], found: &BTreeMap<&str, WordVector>) -> Vec<String> {
    let at = |name: &str| found.get(name);
    let mut seen = BTreeSet::new();
    let in_order: Vec<&str> = names.iter().map(String::as_str).filter(|name| seen.insert(*name)).collect();
    let mut notes: Vec<String> = Vec::new();
    let is_invented = |name: &&str| at(name).is_some_and(|found| found.origin == Origin::Letters);
    let letters: Vec<&str> = in_order.iter().copied().filter(is_invented).collect();
    if !letters.is_empty() {
        let has = match letters.len() {
            1 => "has no vector of its own: it is",
            _ => "have no vectors of their own: each is",
        };
        notes.push(format!(
            "{} {has} {}. Words with similar spelling get similar vectors; the numbers say nothing about meaning. \
             --define WORD=1,2 gives a word your own numbers.",
            listed(&letters),
            Origin::Letters
        ));
        notes.extend(letters.iter().filter_map(|word| misspelt(word)));
        notes.extend(meant_columns(in_order.iter().filter_map(|name| at(name)?.built_in)));
    }
    if let [only] = in_order[..]
        && names.len() == 1
        && is_without_blanks(only)
    {
        notes.push("This is one token: put spaces between the words.".into());
    }
    let of_list = |ours: bool| -> Vec<&str> {
        let built_in = in_order.iter().filter_map(|name| at(name)?.built_in);
        built_in.filter(|word| word.ours == ours).map(|word| word.name).collect()
    };
    let (ours, stated) = (of_list(true), of_list(false));
    if !ours.is_empty() {
        let document = Document::Similarity;
        let theirs = if stated.is_empty() {
            String::new()
        } else {
            let (title, number) = (document.title(), document.number());
            format!("; those of {} are in “{title}” (document {number})", listed(&stated))
        };
        notes.push(format!("We chose the coordinates of {}{theirs}.", listed(&ours)));
    }
    notes
}

/// Whether a text is in a script that sets no spaces between words, and is long for one word.
fn is_without_blanks(text: &str) -> bool {
    let is_of_such = |c: &char| {
        matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
            | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
    };
    const LONGEST_WORD: usize = 3;
    text.chars().filter(is_of_such).count() > LONGEST_WORD
}

/// The note on the columns of built-in words, for matrices without column labels because they contain invented vectors.
fn meant_columns(words: impl Iterator<Item = &'static words::Word>) -> Option<String> {
    let words: Vec<_> = words.collect();
    let [across, up] = words.first()?.axes;
    let names: Vec<&str> = words.iter().map(|word| word.name).collect();
    words
        .iter()
        .all(|word| word.axes == [across, up])
        .then(|| format!("For {} the columns are {across} and {up}.", listed(&names)))
}

/// A list of words, with punctuation in quotation marks; of many words only the first: `bat, cave and “,”`.
fn listed(words: &[&str]) -> String {
    const MOST: usize = 12;
    let name = |word: &&str| {
        if word.contains(char::is_alphanumeric) {
            visible(word).into_owned()
        } else {
            format!("“{}”", visible(word))
        }
    };
    let shown = if words.len() > MOST + 1 { MOST } else { words.len() };
    let mut names: Vec<String> = words[..shown].iter().map(name).collect();
    if words.len() > shown {
        names.push(format!("{} more", words.len() - shown));
    }
    all_of(&names)
}

/// A note for a long word that is nearly a built-in one.
fn misspelt(word: &str) -> Option<String> {
    let near = nearest(word, words::known_words().iter().map(|word| word.name))?;
    let distance = strsim::osa_distance(&word.to_lowercase(), near);
    (word.chars().count() >= 5 && distance == 1)
        .then(|| format!("For {} did you mean {near}, which has coordinates here?", visible(word)))
}

/// Notes on words that are defined and do not occur.
fn unused(defined: &[(String, Vec<f64>)], names: &[String]) -> Vec<String> {
    let occurs = |word: &str| names.iter().any(|name| name == word || name.to_lowercase() == word);
    let unused = defined.iter().filter(|(word, _)| !occurs(word));
    unused.map(|(word, _)| format!("{} is defined but does not occur.", visible(word))).collect()
}
