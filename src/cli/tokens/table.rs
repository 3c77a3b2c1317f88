//! The tables of `attn tokens`: the tokens, and what there is to say about them.

use crate::story::Table;
use crate::text::{all_of, counted, grouped};
use crate::tokenizer::{SPACE, Token, TokenSource, Tokenizer, Tokens, marked};

/// Each token with its piece and the text that it covers.
pub(super) fn for_people(tokens: &Tokens, text: &str) -> Table {
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
pub(super) fn as_data(tokens: &Tokens, text: &str) -> Table {
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
            source(token.source).to_string(),
        ]
    });
    Table::new(&header, rows).with_numbers(&["position", "id", "start", "end"])
}

fn source(source: TokenSource) -> &'static str {
    match source {
        TokenSource::Text => "text",
        TokenSource::Special => "special",
        TokenSource::Unknown => "unknown",
        TokenSource::Before => "before",
        TokenSource::After => "after",
        TokenSource::Id => "id",
    }
}

/// How many tokens there are, which ones were added, and the kind of the tokenizer.
pub(super) fn about(tokenizer: &Tokenizer, tokens: &Tokens, has_no_steps: bool) -> Table {
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
pub(super) fn about_as_data(tokenizer: &Tokenizer, tokens: &Tokens) -> Table {
    let added = tokenizer.added();
    let ids = |tokens: &[crate::tokenizer::AddedToken]| {
        tokens.iter().map(|token| token.id.to_string()).collect::<Vec<_>>().join(",")
    };
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
