//! The tables of `attn tokens --merges`: how each word becomes tokens.

use crate::story::Table;
use crate::tokenizer::{Step, Tokenizer, WordSteps, marked};

/// A line for each step of each word.
pub(super) fn for_people(tokenizer: &Tokenizer, words: &[WordSteps]) -> Table {
    let rows = words.iter().flat_map(|word| lines(tokenizer, word));
    let rows: Vec<Vec<String>> = rows.collect();
    let has_numbers = tokenizer.kind().merges().is_some();
    let header: &[&str] = if has_numbers { &["word", "step", "merge"] } else { &["word", "step"] };
    let rows = rows.into_iter().map(|row| row.into_iter().take(header.len()).collect());
    Table::new(header, rows).with_numbers(&["merge"])
}

/// The lines of a word: its name in the first of them.
fn lines(tokenizer: &Tokenizer, word: &WordSteps) -> Vec<Vec<String>> {
    let mut said: Vec<(String, String)> = word.steps.iter().map(|step| line(tokenizer, step)).collect();
    let tokens = pieces(tokenizer, &word.ids);
    let is_finished = matches!(word.steps[..], [Step::Start(ref start)] if *start == word.ids);
    match word.steps[..] {
        [] => said.push((format!("= {tokens}   a token of its own"), String::new())),
        _ if is_finished => said = vec![(format!("= {tokens}"), String::new())],
        [Step::Whole(_)] => {}
        _ => said.push((format!("= {tokens}"), String::new())),
    }
    let name = shown_word(tokenizer, word);
    let names = std::iter::once(name).chain(std::iter::repeat(String::new()));
    names.zip(said).map(|(name, (step, number))| vec![name, step, number]).collect()
}

fn line(tokenizer: &Tokenizer, step: &Step) -> (String, String) {
    let piece = |id: u32| tokenizer.decode(id).unwrap_or_default();
    match step {
        Step::Start(start) => (pieces(tokenizer, start), String::new()),
        &Step::Merge { left, right, into, number } => {
            (format!("{} {} → {}", piece(left), piece(right), piece(into)), number.to_string())
        }
        &Step::Whole(id) => (format!("= {}   in the vocabulary as a whole", piece(id)), String::new()),
        Step::Longest { rest, piece: id } if *rest == piece(*id) => {
            (format!("{rest} is in the vocabulary"), String::new())
        }
        Step::Longest { rest, piece: id } => (format!("{rest} begins with {}", piece(*id)), String::new()),
        Step::NoPiece { rest } => (format!("{rest} begins with no piece"), String::new()),
        Step::TooLong { most } => (format!("longer than {most} characters"), String::new()),
    }
}

fn pieces(tokenizer: &Tokenizer, ids: &[u32]) -> String {
    let pieces: Vec<String> = ids.iter().filter_map(|&id| tokenizer.decode(id)).collect();
    pieces.join(" ")
}

/// The word as people read it.
fn shown_word(tokenizer: &Tokenizer, word: &WordSteps) -> String {
    marked(&tokenizer.text_of(&word.word))
}

/// A row for each step, with every part in a column of its own, for programs.
pub(super) fn as_data(tokenizer: &Tokenizer, words: &[WordSteps]) -> Table {
    let header = ["word", "text", "step", "left", "right", "result", "merge", "tokens"];
    let piece = |id: u32| tokenizer.piece(id).unwrap_or_default();
    let all = |ids: &[u32]| ids.iter().map(|&id| piece(id)).collect::<Vec<_>>().join(" ");
    let rows = words.iter().enumerate().flat_map(|(at, word)| {
        let tokens = all(&word.ids);
        let row = move |step: usize, [left, right, into, number]: [String; 4], tokens: String| {
            vec![(at + 1).to_string(), word.word.clone(), step.to_string(), left, right, into, number, tokens]
        };
        let empty = String::new;
        let parts = move |step: &Step| match step {
            Step::Start(start) => [empty(), empty(), all(start), empty()],
            &Step::Merge { left, right, into, number } => {
                [piece(left), piece(right), piece(into), number.to_string()]
            }
            &Step::Whole(id) => [empty(), empty(), piece(id), empty()],
            Step::Longest { rest, piece: id } => [rest.clone(), empty(), piece(*id), empty()],
            Step::NoPiece { rest } => [rest.clone(), empty(), empty(), empty()],
            Step::TooLong { .. } => [empty(), empty(), empty(), empty()],
        };
        let steps: Vec<[String; 4]> = word.steps.iter().map(parts).collect();
        let count = steps.len();
        let last = row(count, [empty(), empty(), empty(), empty()], tokens);
        let steps = steps.into_iter().enumerate().map(move |(step, parts)| row(step, parts, String::new()));
        steps.chain([last]).collect::<Vec<_>>()
    });
    Table::new(&header, rows).with_numbers(&["word", "step", "merge"])
}
