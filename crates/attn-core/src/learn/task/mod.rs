//! Tasks that a small model learns in seconds: what its examples are.

mod data;
mod drawn;
mod symbols;

use std::collections::HashSet;

pub use data::{HELD_OUT, Line, Pair};
pub use drawn::LONGEST;
pub use symbols::Symbols;

use super::batch::{Batch, Example};
use crate::elementary;
use crate::error::{Error, Result};
use crate::random::LegacyStream;
use data::Data;

/// An example that is held out is drawn again this often.
const DRAWN_AGAIN: usize = 100;

/// Where examples come from.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    /// The sequence in reverse order; every token sees all.
    Reverse,
    /// The sequence, then its symbols in order.
    Sort,
    /// A few words of different symbols, again and again in random order.
    Induction {
        /// The number of tokens.
        tokens: usize,
    },
    /// The sum of two numbers of two digits, its last digit first.
    Addition,
    /// Lines, pairs or a text of the user's.
    Data(Data),
}

/// What a model begins with when it writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// The ids of the first symbols.
    pub symbols: Vec<usize>,
    /// The id that ends a line, where it writes lines.
    pub end: Option<usize>,
}

/// A task.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    name: &'static str,
    symbols: Symbols,
    source: Source,
    /// The shortest and the longest length that is drawn.
    lengths: (usize, usize),
}

impl Task {
    /// To say a sequence of digits backwards. `lengths` are the shortest and the longest.
    pub fn reverse(lengths: (usize, usize)) -> Task {
        Task { name: "reverse", symbols: Symbols::digits(), source: Source::Reverse, lengths }
    }

    /// To put a sequence of digits in order.
    pub fn sort(lengths: (usize, usize)) -> Task {
        Task { name: "sort", symbols: Symbols::digits(), source: Source::Sort, lengths }
    }

    /// To finish words that the text has had before: `lengths` are those of a word. Each text has words of its own, of different
    /// letters, in random order.
    ///
    /// # Errors
    /// If a word is longer than the alphabet, or so short that it has no next letter.
    pub fn induction(lengths: (usize, usize)) -> Result<Task> {
        let symbols = Symbols::letters(drawn::LETTERS);
        if lengths.1 > symbols.count() {
            return Err(Error::new(format!(
                "a word of {} different letters cannot be drawn: there are {}",
                lengths.1,
                symbols.count()
            ))
            .help(format!("take at most {}", symbols.count())));
        }
        if lengths.0 < 2 {
            return Err(Error::new("a word of one letter has no next letter").help("take at least 2"));
        }
        let source = Source::Induction { tokens: drawn::INDUCTION_TOKENS };
        Ok(Task { name: "induction", symbols, source, lengths })
    }

    /// To add two numbers of two digits.
    pub fn addition() -> Task {
        let symbols = Symbols::of("0123456789+=".chars());
        Task { name: "addition", symbols, source: Source::Addition, lengths: (1, 1) }
    }

    /// To write lines like these, character by character: names. Longer lines than `context` are cut.
    ///
    /// # Errors
    /// If there are fewer than two lines, or they have the mark of their end in them.
    pub fn lines(name: &'static str, lines: &[Line], context: usize) -> Result<Task> {
        let (symbols, data) = Data::lines(lines, context)?;
        Ok(Task { name, symbols, source: Source::Data(data), lengths: (1, 1) })
    }

    /// To go on with a text, character by character. `lengths` are those of the pieces that are read.
    ///
    /// # Errors
    /// If the text is too short.
    pub fn text(text: &str, lengths: (usize, usize)) -> Result<Task> {
        let (symbols, data) = Data::text(text, lengths.1)?;
        Ok(Task { name: "text", symbols, source: Source::Data(data), lengths })
    }

    /// To answer an input with its output.
    ///
    /// # Errors
    /// If there are fewer than two pairs, or a mark is among their characters.
    pub fn pairs(pairs: &[Pair]) -> Result<Task> {
        let (symbols, data) = Data::pairs(pairs)?;
        Ok(Task { name: "pairs", symbols, source: Source::Data(data), lengths: (1, 1) })
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What is learned, in a few words.
    pub fn sentence(&self) -> &'static str {
        match &self.source {
            Source::Reverse => "reverse a sequence of digits",
            Source::Sort => "put a sequence of digits in order",
            Source::Induction { .. } if drawn::words(self.lengths.1, self.symbols.count()) > 1 => {
                "finish words that the text has had before; each text has a few words of its own, in random order"
            }
            Source::Induction { .. } => {
                "finish a word that the text has had before; each text has one word of its own, again and again"
            }
            Source::Addition => "add two numbers, the last digit of the sum first",
            Source::Data(Data::Lines(_)) => "write lines like these, letter by letter",
            Source::Data(Data::Text(_)) => "go on with the text, character by character",
            Source::Data(Data::Pairs(_)) => "answer an input with its output",
        }
    }

    /// The symbols, by their ids.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// Whether a token sees only what comes before.
    pub fn is_causal(&self) -> bool {
        self.source != Source::Reverse
    }

    /// Whether there is one right answer, so that all can be right.
    pub fn has_answers(&self) -> bool {
        !matches!(self.source, Source::Data(Data::Lines(_) | Data::Text(_)))
    }

    /// What the model begins with when it writes; none where it answers.
    pub fn starts_with(&self) -> Option<Beginning> {
        match &self.source {
            Source::Data(Data::Lines(_)) => Some(Beginning { symbols: vec![0], end: Some(0) }),
            Source::Data(Data::Text(text)) => Some(Beginning { symbols: vec![text.first()], end: None }),
            _ => None,
        }
    }

    /// The number of tokens of the longest example.
    pub fn context(&self) -> usize {
        match &self.source {
            Source::Reverse => self.lengths.1,
            Source::Sort => 2 * self.lengths.1 - 1,
            Source::Induction { tokens } => *tokens,
            Source::Addition => drawn::ADDITION_TOKENS,
            Source::Data(Data::Text(_)) => self.lengths.1,
            Source::Data(data) => data.context(),
        }
    }

    /// An id that fills up short examples.
    pub fn filler(&self) -> usize {
        0
    }

    /// Examples to learn from, and those that are held out.
    pub fn examples(self, seed: u32) -> Examples {
        // Another stream than that of the weights and of the batches.
        let mut stream = LegacyStream::seeded(seed.wrapping_add(0x9E37_79B9));
        let (source, held_out) = match &self.source {
            Source::Data(data) => {
                let (rest, held_out) = data.split(&mut stream, self.lengths.1);
                (Some(rest), held_out)
            }
            _ => (None, self.drawn_held_out(&mut stream)),
        };
        let known = held_out.iter().map(|example| example.tokens.clone()).collect();
        Examples { task: self, data: source, held_out, known }
    }

    /// Different examples to test on, each of its length.
    fn drawn_held_out(&self, stream: &mut LegacyStream) -> Vec<Example> {
        let mut known = HashSet::new();
        let mut all = Vec::new();
        for _ in 0..HELD_OUT {
            let length = drawn::between(stream, self.lengths);
            let example = self.drawn(stream, length);
            if known.insert(example.tokens.clone()) {
                all.push(example);
            }
        }
        all
    }

    /// An example of a task whose examples are drawn.
    fn drawn(&self, stream: &mut LegacyStream, length: usize) -> Example {
        match &self.source {
            Source::Reverse => drawn::reverse(stream, length, self.symbols.count()),
            Source::Sort => drawn::sort(stream, length, self.symbols.count()),
            Source::Induction { tokens } => {
                drawn::induction(stream, (self.lengths, *tokens), self.symbols.count())
            }
            Source::Addition => drawn::addition(stream),
            Source::Data(_) => Example { tokens: Vec::new(), targets: Vec::new() },
        }
    }
}

/// The examples of a task: those to learn from are drawn, some are held out.
#[derive(Clone, Debug)]
pub struct Examples {
    task: Task,
    /// The data without what is held out.
    data: Option<Data>,
    held_out: Vec<Example>,
    known: HashSet<Vec<usize>>,
}

impl Examples {
    /// The task.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The examples that are kept from learning.
    pub fn held_out(&self) -> &[Example] {
        &self.held_out
    }

    /// The loss of a guess by frequencies alone: `−Σ p ln p`, where p is the share of each symbol among what has to be predicted in
    /// the examples that are held out.
    pub fn loss_of_frequencies(&self) -> f64 {
        let mut counts = vec![0_usize; self.task.symbols.count()];
        for target in self.held_out.iter().flat_map(|example| example.targets.iter().flatten()) {
            counts[*target] += 1;
        }
        let all = counts.iter().sum::<usize>() as f64;
        let shares = counts.into_iter().filter(|count| *count > 0).map(|count| count as f64 / all);
        shares.fold(0.0, |sum, share| sum - share * elementary::ln(share))
    }

    /// The next batch to learn from.
    pub fn batch(&self, stream: &mut LegacyStream, examples: usize) -> Batch {
        let one_length = drawn::between(stream, self.task.lengths);
        let all: Vec<Example> = (0..examples)
            .map(|_| match &self.data {
                Some(data) => data.drawn(stream, one_length),
                None => self.new_example(stream, one_length),
            })
            .collect();
        Batch::of(&all, self.task.filler())
    }

    /// An example that is not held out, unless nearly all are.
    fn new_example(&self, stream: &mut LegacyStream, length: usize) -> Example {
        let mut example = self.task.drawn(stream, length);
        for _ in 0..DRAWN_AGAIN {
            if !self.known.contains(&example.tokens) {
                break;
            }
            example = self.task.drawn(stream, length);
        }
        example
    }
}
