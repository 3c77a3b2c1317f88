//! `attn similarity`, and the vectors of words.

use clap::{Args, ValueEnum};

use super::output::{self, NodeArgs, OutputArgs};
use super::{Env, Streams};
use crate::demo::{Plane, Shown, Step, Story, words};
use crate::error::{Error, Result, nearest};
use crate::graph::build::{self, Measure};
use crate::graph::{Convention, Graph, Origin};
use crate::input::{Allow, Files, clean_label};
use crate::matrix::{Labels, Matrix, labels};

/// How alike words are: dot products, cosines, distances
///
/// Examples:
///   attn similarity bat cave racket
///   attn similarity bat dog --define dog=1,2
///   attn similarity bat cave --explain 'cosine[bat,cave]'
///   attn similarity king queen --embeddings glove.txt.gz --measure cosine
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct SimilarityArgs {
    /// The words.
    #[arg(required = true, value_name = "WORD")]
    words: Vec<String>,
    /// Which tables to show [default: all].
    #[arg(long, value_enum, value_delimiter = ',')]
    measure: Vec<MeasureArg>,
    /// A word of your own, or other numbers for a known one: dog=1,2.
    #[arg(long, value_name = "WORD=NUMBERS")]
    define: Vec<String>,
    /// Word vectors: a word and its numbers on every line, plain or gzip.
    #[arg(long, value_name = "FILE")]
    embeddings: Option<String>,
    #[command(flatten)]
    nodes: NodeArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// `--measure`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MeasureArg {
    /// The dot product.
    Dot,
    /// The dot product over the root of the width.
    Scaled,
    /// The cosine.
    Cosine,
    /// The distance.
    Euclidean,
}

impl SimilarityArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let names: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let vectors =
            vectors(&names, self.embeddings.as_deref(), &self.define, &mut Files::new(streams.input))?;
        let origin = self.origin();
        let measure = |measure: &MeasureArg| match measure {
            MeasureArg::Dot => Measure::Dot,
            MeasureArg::Scaled => Measure::Scaled,
            MeasureArg::Cosine => Measure::Cosine,
            MeasureArg::Euclidean => Measure::Euclidean,
        };
        let measures = match self.measure.is_empty() {
            true => Measure::ALL.to_vec(),
            false => self.measure.iter().map(measure).collect(),
        };
        let graph = build::similarity(vectors, origin, &measures)?;
        let story = story(graph, ours(&names, &self.define, self.embeddings.is_some()));
        let page = self.nodes.page(story, &self.output)?;
        output::pages(&[page], "similarity", &self.output.style(env, Convention::Rows), streams)
    }
}

impl SimilarityArgs {
    /// Where the vectors come from: known words are stated, the others the user's.
    fn origin(&self) -> Origin {
        let defined = |word: &String| self.define.iter().any(|definition| defines(definition, word));
        match (&self.embeddings, self.words.iter().all(defined), self.words.iter().any(defined)) {
            (Some(file), false, _) => Origin::User(clean_label(file).into_owned()),
            (_, _, true) => Origin::User("--define".into()),
            _ => Origin::Stated,
        }
    }
}

/// Whether `WORD=NUMBERS` is about this word.
fn defines(definition: &str, word: &str) -> bool {
    definition.split_once('=').is_some_and(|(defined, _)| defined == word)
}

/// The vectors of words, one row each, labelled: defined ones first, then those of a file, or else the known ones.
pub(super) fn vectors(
    names: &[&str],
    embeddings: Option<&str>,
    definitions: &[String],
    files: &mut Files<'_>,
) -> Result<Matrix> {
    let mut found: Vec<(String, Vec<f64>)> = Vec::new();
    for definition in definitions {
        let (word, numbers) =
            definition.split_once('=').filter(|(word, _)| !word.is_empty()).ok_or_else(|| {
                Error::new(format!("`--define {definition}` has no `=`")).help("write --define dog=1,2")
            })?;
        let row = crate::input::inline(numbers, Allow::FINITE).and_then(|array| array.into_matrix());
        let row = row.map_err(|error| error.in_source(format!("--define {}", clean_label(word))))?;
        if row.rows() != 1 {
            return Err(Error::new(format!("`{word}` is one vector, not {} rows", row.rows()))
                .help("write --define dog=1,2"));
        }
        if found.iter().any(|(defined, _)| defined == word) {
            return Err(
                Error::new(format!("`{}` is defined twice", clean_label(word))).help("give each word once")
            );
        }
        found.push((word.to_string(), row.row(0).collect()));
    }
    let defined = |name: &str, found: &[(String, Vec<f64>)]| found.iter().any(|(word, _)| word == name);
    let mut missing: Vec<&str> = names.iter().copied().filter(|name| !defined(name, &found)).collect();
    missing.sort_unstable();
    missing.dedup();
    if let Some(file) = embeddings.filter(|_| !missing.is_empty()) {
        let rows = files.word_vectors(file, &missing)?;
        found.extend(missing.iter().enumerate().map(|(i, name)| (name.to_string(), rows.row(i).collect())));
    } else {
        for name in missing {
            found.push((name.to_string(), known(name, &found)?));
        }
    }
    let vector = |name: &&str| {
        found.iter().find(|(word, _)| word == name).map(|(_, row)| row.clone()).unwrap_or_default()
    };
    let rows: Vec<Vec<f64>> = names.iter().map(vector).collect();
    for (name, row) in names.iter().zip(&rows) {
        if row.len() != rows[0].len() {
            return Err(Error::new(format!(
                "`{}` has {} numbers and `{}` has {}",
                clean_label(name),
                row.len(),
                clean_label(names[0]),
                rows[0].len()
            ))
            .help("vectors of one width can be compared"));
        }
    }
    let labels = names.iter().map(|name| clean_label(name).into_owned()).collect();
    let axes = axes(names, embeddings, definitions);
    Ok(Matrix::from_rows(&rows)?.with_row_labels(Some(labels)).with_col_labels(axes))
}

/// The names of the axes, where all words are known ones of one plane.
fn axes(names: &[&str], embeddings: Option<&str>, definitions: &[String]) -> Option<Labels> {
    if embeddings.is_some() || !definitions.is_empty() {
        return None;
    }
    let planes: Vec<_> = names.iter().map(|name| words::find(name).map(|word| word.axes)).collect();
    let first = planes.first().copied().flatten()?;
    planes.iter().all(|plane| *plane == Some(first)).then(|| labels(&first))
}

fn known(name: &str, defined: &[(String, Vec<f64>)]) -> Result<Vec<f64>> {
    if let Some(word) = words::find(name) {
        return Ok(word.coordinates.to_vec());
    }
    let built_in = words::known_words().iter().map(|word| word.name);
    let mut all: Vec<&str> = built_in.chain(defined.iter().map(|(word, _)| word.as_str())).collect();
    all.sort_unstable();
    all.dedup();
    let near =
        nearest(name, all.iter().copied()).map_or(String::new(), |near| format!("did you mean `{near}`? "));
    Err(Error::new(format!("the word `{}` is not known", clean_label(name))).help(format!(
        "{near}The known words are {}; take others from a file of word vectors with --embeddings FILE, or \
         define one: attn similarity {} --define {}=1,2",
        all.join(", "),
        clean_label(name),
        clean_label(name)
    )))
}

/// Known words whose coordinates are not the document's.
fn ours(names: &[&str], definitions: &[String], from_file: bool) -> Vec<String> {
    let defined = |name: &str| definitions.iter().any(|definition| defines(definition, name));
    let ours = names
        .iter()
        .filter(|name| !from_file && !defined(name) && words::find(name).is_some_and(|word| word.ours));
    let mut ours: Vec<&str> = ours.copied().collect();
    ours.sort_unstable();
    ours.dedup();
    match ours.is_empty() {
        true => Vec::new(),
        false => vec![format!(
            "the coordinates of {} are ours; bat, cave and racket have those of the document.",
            ours.join(", ")
        )],
    }
}

fn story(graph: Graph, remarks: Vec<String>) -> Story {
    let sentences = [
        ("X", "The words as vectors, a row each."),
        ("dot", "Dot products: large where vectors are long and point the same way."),
        ("scaled", "The same, divided by the root of the width."),
        ("cosine", "Cosines: the angle alone, 1 for the same direction, 0 for a right angle."),
        ("euclidean", "Distances: here small means alike."),
    ];
    let mut steps = Vec::new();
    for (name, text) in sentences {
        let Some(id) = graph.find(name) else { continue };
        let mut shown = vec![Shown::Node(id)];
        if name == "X" && graph[id].shape().cols == 2 {
            shown = vec![Shown::Together(vec![id]), Shown::Plane(Plane::new(&[id], &[]))];
        }
        steps.push(Step { text: text.into(), notice: None, shown });
    }
    Story { remarks, ..Story::of_steps("Similarity", graph, steps) }
}
