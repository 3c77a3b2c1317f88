//! `attn model --tokens`: how a text is split into tokens.

use crate::error::{EXIT_DONE, Result};
use crate::foreign::{to_path, visible};
use crate::input::{self, Files, ModelFolder, WORDS};
use crate::story::Table;
use crate::text::{all_of, counted, grouped};
use crate::tokenizer::{
    AddedToken, SPACE, Step, Token, TokenSource, Tokenizer, Tokens, WordSteps, marked, parse_ids,
};

use super::output::LookArgs;
use super::program::Program;
use super::{Env, Outcome, Streams, output};

/// What is split, by which model; a text and ids exclude each other.
pub(super) struct TokensToShow<'a> {
    pub folder: &'a str,
    pub text: Option<&'a str>,
    pub ids: Option<&'a str>,
    pub merges: bool,
    pub look: &'a LookArgs,
}

impl TokensToShow<'_> {
    /// Writes the tokens.
    ///
    /// # Errors
    /// If there is no such model, or an id is none of it.
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
        let tokenizer = open(self.folder, env, streams)?;
        let text = self.text.map(|text| as_typed(text, program)).unwrap_or_default();
        let tokens = match (self.ids, self.text) {
            (Some(ids), _) => tokenizer.tokens_of(&parse_ids(ids, tokenizer.largest_id() as usize + 1)?)?,
            (None, Some(_)) => tokenizer.encode(&text)?,
            (None, None) => tokenizer.vocabulary(),
        };
        let for_people = self.look.is_for_people();
        let shown = self.parts(&tokenizer, &tokens, &text, for_people)?;
        output::write_paged(self.look, env, streams, |streams| {
            self.look.tables("tokens", &shown, env, streams)
        })?;
        Outcome::of_tables(EXIT_DONE, &self.parts(&tokenizer, &tokens, &text, false)?)
    }

    fn parts(
        &self,
        tokenizer: &Tokenizer,
        tokens: &Tokens,
        text: &str,
        for_people: bool,
    ) -> Result<Vec<(String, Table)>> {
        let words = if self.merges { tokenizer.steps(text)? } else { None };
        let has_none = self.merges && words.is_none();
        let (list, summary) = if for_people {
            (token_table(tokens, text), about(tokenizer, tokens, has_none))
        } else {
            (tokens_as_data(tokens, text), about_as_data(tokenizer, tokens))
        };
        let mut parts = vec![("Tokens".to_string(), list), ("Summary".to_string(), summary)];
        if let Some(words) = words {
            let table = if for_people { step_table } else { steps_as_data };
            let table = table(tokenizer, &words);
            parts.push(("How the words become tokens".to_string(), table));
        }
        Ok(parts)
    }
}

/// The tokenizer of a model's folder, or of a file.
fn open(folder: &str, env: &Env, streams: &mut Streams<'_>) -> Result<Tokenizer> {
    if folder == WORDS {
        let words = ModelFolder::words()?;
        let file = words.required_tokenizer()?;
        return Tokenizer::from_bytes(file.name(), file.text()?.as_bytes());
    }
    env.reading.check(folder)?;
    if input::exists(folder) && !input::is_folder(folder) {
        let text = Files::new(streams.input).within(env.reading.clone()).text(folder)?;
        return Tokenizer::from_bytes(&visible(folder), text.as_bytes());
    }
    let file = ModelFolder::tokenizer_within(&to_path(folder), &env.reading)?;
    Tokenizer::from_bytes(file.name(), file.text()?.as_bytes())
}

/// The text as it was typed: the minus before a number has been replaced, so that it is no option.
fn as_typed(text: &str, program: &Program<'_>) -> String {
    let is_typed = program.typed.iter().any(|arg| arg.to_str() == Some(text));
    match text.strip_prefix('−') {
        Some(rest) if !is_typed => format!("-{rest}"),
        _ => text.to_string(),
    }
}

// The tokens, and what there is to say about them.

/// Each token with its piece and the text that it covers.
fn token_table(tokens: &Tokens, text: &str) -> Table {
    let is_from_text = !text.is_empty();
    let rows = tokens.tokens.iter().enumerate().map(|(at, token)| {
        let last = if is_from_text { covered(tokens, at, text) } else { token.shown.clone() };
        vec![(at + 1).to_string(), token.id.to_string(), token.piece.clone(), last]
    });
    Table::new(&["token", "id", "piece", "text"], rows).with_numbers(&["token", "id"])
}

/// The text that a token covers, or where it comes from.
fn covered(tokens: &Tokens, at: usize, text: &str) -> String {
    let token = &tokens.tokens[at];
    let written = marked(text.get(token.range.clone()).unwrap_or_default());
    let neighbours = [at.checked_sub(1), Some(at + 1)].into_iter().flatten();
    let overlaps = |other: &Token| {
        !other.is_added() && other.range.start < token.range.end && token.range.start < other.range.end
    };
    let is_shared = neighbours.filter_map(|at| tokens.tokens.get(at)).any(overlaps);
    match token.source {
        TokenSource::Before => "(added before the text)".to_string(),
        TokenSource::After => "(added after the text)".to_string(),
        TokenSource::Special => format!("{written} (special)"),
        TokenSource::Unknown => format!("{written} (unknown)"),
        TokenSource::Text if is_shared => format!("{} of {written}", token.shown),
        TokenSource::Text => written,
        TokenSource::Id => token.shown.clone(),
    }
}

/// The tokens with all that is known of each, for programs.
fn tokens_as_data(tokens: &Tokens, text: &str) -> Table {
    let header = ["position", "id", "piece", "shown", "text", "start", "end", "source"];
    let characters = |byte: usize| text.get(..byte).map_or(0, |before| before.chars().count()).to_string();
    let rows = tokens.tokens.iter().enumerate().map(|(at, token)| {
        vec![
            (at + 1).to_string(),
            token.id.to_string(),
            token.piece.clone(),
            token.shown.clone(),
            text.get(token.range.clone()).unwrap_or_default().to_string(),
            characters(token.range.start),
            characters(token.range.end),
            token.source.to_string(),
        ]
    });
    Table::new(&header, rows).with_numbers(&["position", "id", "start", "end"])
}

/// How many tokens there are, which ones were added, and the kind of the tokenizer.
fn about(tokenizer: &Tokenizer, tokens: &Tokens, has_no_steps: bool) -> Table {
    let typed = tokens.tokens.iter().any(|token| token.source == TokenSource::Id);
    let mut rows = vec![("tokens", count(tokens, typed))];
    if !typed {
        let added = tokenizer.added().described();
        rows.push((
            "added",
            added.unwrap_or_else(|| "nothing: the rules of the file add no token".to_string()),
        ));
    }
    let pieces = grouped(tokenizer.vocabulary_size() as u64);
    rows.push(("tokenizer", format!("{}; {pieces} pieces in the vocabulary", tokenizer.kind())));
    if has_no_steps {
        rows.push(("merges", format!("none: {} has no list of merges", tokenizer.kind().name())));
    }
    rows.extend(signs(tokens).map(|signs| ("signs", signs)));
    rows.extend(tokenizer.left_out().iter().map(|said| ("not done", said.clone())));
    Table::new(&["about", ""], rows.into_iter().map(|(about, said)| vec![about.to_string(), said]))
}

fn count(tokens: &Tokens, typed: bool) -> String {
    let count = tokens.tokens.len();
    match tokens.added() {
        0 if typed => counted(count, "id"),
        0 => counted(count, "token"),
        added => format!("{}: {} of the text, {added} added", counted(count, "token"), count - added),
    }
}

/// What is needed to read the table: the mark of a space, and bytes.
fn signs(tokens: &Tokens) -> Option<String> {
    let has = |sign: &str| tokens.tokens.iter().any(|token| token.shown.contains(sign));
    let space = has(&SPACE.to_string()).then(|| format!("{SPACE} is a space"));
    let byte = has("<0x").then(|| "<0xF0> is a byte of a character, in base 16".to_string());
    let signs: Vec<String> = space.into_iter().chain(byte).collect();
    (!signs.is_empty()).then(|| all_of(&signs))
}

/// The same for programs, in one row.
fn about_as_data(tokenizer: &Tokenizer, tokens: &Tokens) -> Table {
    let added = tokenizer.added();
    let ids =
        |tokens: &[AddedToken]| tokens.iter().map(|token| token.id.to_string()).collect::<Vec<_>>().join(",");
    let kind = tokenizer.kind();
    let row = vec![
        tokens.tokens.len().to_string(),
        tokens.added().to_string(),
        kind.name().to_string(),
        kind.merges().map_or(String::new(), |merges| merges.to_string()),
        tokenizer.vocabulary_size().to_string(),
        ids(&added.before),
        ids(&added.after),
        tokenizer.left_out().join("; "),
    ];
    let header = ["tokens", "added", "kind", "merges", "vocabulary", "before", "after", "not done"];
    Table::new(&header, [row]).with_numbers(&["tokens", "added", "merges", "vocabulary"])
}

// `--merges`: how each word becomes tokens.

/// A line for each step of each word.
fn step_table(tokenizer: &Tokenizer, words: &[WordSteps]) -> Table {
    let has_numbers = tokenizer.kind().merges().is_some();
    let header: &[&str] = if has_numbers { &["word", "step", "merge"] } else { &["word", "step"] };
    let rows = words.iter().flat_map(|word| lines(tokenizer, word));
    let rows = rows.map(|row| row.into_iter().take(header.len()).collect());
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
    let name = marked(&tokenizer.text_of(&word.word));
    let names = std::iter::once(name).chain(std::iter::repeat(String::new()));
    names.zip(said).map(|(name, (step, number))| vec![name, step, number]).collect()
}

/// A step in words, and the place of its merge in the list of merges.
fn line(tokenizer: &Tokenizer, step: &Step) -> (String, String) {
    let piece = |id: u32| tokenizer.decode(id).unwrap_or_default();
    let said = match step {
        Step::Start(start) => pieces(tokenizer, start),
        &Step::Merge { left, right, into, number } => {
            let merge = format!("{} {} → {}", piece(left), piece(right), piece(into));
            return (merge, number.to_string());
        }
        &Step::Whole(id) => format!("= {}   in the vocabulary as a whole", piece(id)),
        Step::Longest { rest, piece: id } if *rest == piece(*id) => format!("{rest} is in the vocabulary"),
        Step::Longest { rest, piece: id } => format!("{rest} begins with {}", piece(*id)),
        Step::NoPiece { rest } => format!("{rest} begins with no piece"),
        Step::TooLong { most } => format!("longer than {most} characters"),
    };
    (said, String::new())
}

fn pieces(tokenizer: &Tokenizer, ids: &[u32]) -> String {
    let pieces: Vec<String> = ids.iter().filter_map(|&id| tokenizer.decode(id)).collect();
    pieces.join(" ")
}

/// A row for each step, with every part in a column of its own, for programs.
fn steps_as_data(tokenizer: &Tokenizer, words: &[WordSteps]) -> Table {
    let header = ["word", "text", "step", "left", "right", "result", "merge", "tokens"];
    let piece = |id: u32| tokenizer.piece(id).unwrap_or_default();
    let all = |ids: &[u32]| ids.iter().map(|&id| piece(id)).collect::<Vec<_>>().join(" ");
    let rows = words.iter().enumerate().flat_map(|(at, word)| {
        let tokens = all(&word.ids);
        let row = move |step: usize, [left, right, into, number]: [String; 4], tokens: String| {
            vec![(at + 1).to_string(), word.word.clone(), step.to_string(), left, right, into, number, tokens]
        };
        let empty = String::new;
        let none = || [empty(), empty(), empty(), empty()];
        let parts = move |step: &Step| match step {
            Step::Start(start) => [empty(), empty(), all(start), empty()],
            &Step::Merge { left, right, into, number } => {
                [piece(left), piece(right), piece(into), number.to_string()]
            }
            &Step::Whole(id) => [empty(), empty(), piece(id), empty()],
            Step::Longest { rest, piece: id } => [rest.clone(), empty(), piece(*id), empty()],
            Step::NoPiece { rest } => [rest.clone(), empty(), empty(), empty()],
            Step::TooLong { .. } => none(),
        };
        let steps: Vec<[String; 4]> = word.steps.iter().map(parts).collect();
        let count = steps.len();
        let last = row(count, none(), tokens);
        let steps = steps.into_iter().enumerate().map(move |(step, parts)| row(step, parts, String::new()));
        steps.chain([last]).collect::<Vec<_>>()
    });
    Table::new(&header, rows).with_numbers(&["word", "step", "merge"])
}
