//! `attn tokens`.

mod steps;
mod table;

use clap::Args;

use crate::error::{EXIT_DONE, Result};
use crate::foreign::{to_path, visible};
use crate::input;
use crate::input::{Files, ModelFolder, WORDS};
use crate::story::Table;
use crate::tokenizer::{Tokenizer, Tokens, parse_ids};

use super::output::{LookArgs, of_words};
use super::program::Program;
use super::{Env, Outcome, Streams, output};

/// Show how a model splits a text into tokens
///
/// Without a text it shows the whole vocabulary. The model's `tokenizer.json` has the rules. Each token is a piece of its vocabulary, and its id is a row of the model's
/// embedding matrix. Tokens that the rules add to every text are shown, and said to be added.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES, override_usage = USAGE, mut_args(of_words))]
pub(super) struct TokensArgs {
    /// A model's folder, its tokenizer.json, or `words`
    ///
    /// `words` is the small model that travels with the program.
    #[arg(value_name = "FOLDER")]
    folder: String,
    /// The text; without it and --ids, every piece of the vocabulary
    #[arg(value_name = "TEXT")]
    text: Option<String>,
    /// Show ids in place of a text: 464,3290
    #[arg(long, value_name = "IDS", conflicts_with = "text")]
    ids: Option<String>,
    /// Show how each word becomes tokens, one merge per line
    ///
    /// BPE (GPT-2, Llama, Qwen, Gemma): the pairs that are merged, in order, each with its place in the file's list of merges.
    /// WordPiece (BERT): the longest piece that the rest of the word begins with, again and again.
    #[arg(long, requires = "text")]
    merges: bool,
    #[command(flatten)]
    look: LookArgs,
}

/// Written out: a text and ids exclude each other.
const USAGE: &str = "\
attn tokens [OPTIONS] <FOLDER> [TEXT]
       attn tokens [OPTIONS] <FOLDER> --ids <IDS>";

const EXAMPLES: &str = "\
Examples:
  attn tokens words \"the bat sleeps in the cave\"
  attn tokens gpt2/ \"The bat lives in the cave\"
  attn tokens gpt2/ \"unhappiness\" --merges   which letters were joined, in order
  attn tokens bert/tokenizer.json \"Hello\"    the file alone is enough
  attn tokens gpt2/ --ids 464,290            the pieces of ids
  attn tokens words                          all words of the vocabulary";

impl TokensArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
        let tokenizer = open(&self.folder, env, streams)?;
        let text = self.text.as_deref().map(|text| as_typed(text, program)).unwrap_or_default();
        let tokens = match (&self.ids, &self.text) {
            (Some(ids), _) => tokenizer.tokens_of(&parse_ids(ids, tokenizer.largest_id() as usize + 1)?)?,
            (None, Some(_)) => tokenizer.encode(&text)?,
            (None, None) => tokenizer.vocabulary(),
        };
        let for_people = self.look.is_for_people();
        let shown = self.parts(&tokenizer, &tokens, &text, for_people)?;
        output::write_paged(&self.look, env, streams, |streams| {
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
        let mut parts = if for_people {
            vec![
                ("Tokens".to_string(), table::for_people(tokens, text)),
                ("Summary".to_string(), table::about(tokenizer, tokens, has_none)),
            ]
        } else {
            vec![
                ("Tokens".to_string(), table::as_data(tokens, text)),
                ("Summary".to_string(), table::about_as_data(tokenizer, tokens)),
            ]
        };
        if let Some(words) = words {
            let table = if for_people {
                steps::for_people(tokenizer, &words)
            } else {
                steps::as_data(tokenizer, &words)
            };
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
