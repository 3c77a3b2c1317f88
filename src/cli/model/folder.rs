//! A model's folder, opened: its steps, its tensors, its tokenizer.

use std::path::Path;

use serde::Deserialize;

use crate::cli::options::{first_given, positive};
use crate::cli::program::Env;
use crate::error::{Error, Result};
use crate::foreign::to_path;
use crate::graph::{Graph, MAX_CELLS, Precision};
use crate::input::{MaskToken, ModelFile, ModelFolder, WORDS};
use crate::kernel::Machine;
use crate::matrix::Labels;
use crate::memory;
use crate::model::{Architecture, Edits, ModelRun, PassOptions, Tensors, Text, name_vocabulary};
use crate::params::Positions;
use crate::tensor::Dtype;
use crate::text::{counted, grouped};
use crate::tokenizer::{TokenSource, Tokenizer, Tokens, parse_ids};

/// A model's folder, opened.
pub(crate) struct OpenedModel {
    pub folder: ModelFolder,
    pub architecture: Architecture,
    pub tensors: Tensors,
    pub tokenizer: Option<Tokenizer>,
    /// The reason why the folder's tokenizer cannot be used; ids need none.
    pub unusable_tokenizer: Option<String>,
    /// Remarks on what was found.
    pub notes: Vec<String>,
    /// The id that stands for a masked word, where there is one; encoders alone have it.
    pub mask: Option<u32>,
}

/// A text, as it was given and as the model reads it.
pub(crate) struct ReadText {
    /// The tokens, with their pieces; without a tokenizer there are only ids.
    pub tokens: Option<Tokens>,
    pub text: Text,
    /// The tokens that the file's rules added, in words.
    pub added: Option<String>,
}

/// The piece that stands twice, because it is written where the file's rules put it as well.
fn twice(tokens: &Tokens) -> Option<&str> {
    let first = tokens.tokens.iter().take_while(|token| token.source == TokenSource::Before).count();
    let (before, of_text) = tokens.tokens.split_at_checked(first)?;
    let written = of_text.first()?;
    before.iter().any(|token| token.id == written.id).then_some(&*written.piece)
}

fn read_tokenizer(file: &ModelFile) -> Result<Tokenizer> {
    Tokenizer::from_bytes(file.name(), file.text()?.as_bytes())
}

/// The mask token that the folder names; else the usual one of BERT, where the tokenizer has it.
fn mask(folder: &ModelFolder, tokenizer: Option<&Tokenizer>) -> Result<Option<u32>> {
    let id = |piece: &str| tokenizer.and_then(|tokenizer| tokenizer.id(piece));
    Ok(match folder.mask_token()? {
        Some(MaskToken::Id(id)) => Some(id),
        Some(MaskToken::Piece(piece)) => id(&piece),
        None => id("[MASK]"),
    })
}

impl OpenedModel {
    /// Opens a folder with the weights that were kept after a step of its training, where one is named.
    ///
    /// # Errors
    /// Those of [`ModelFolder::within`], and if its model cannot be run, or these weights were not kept.
    pub fn open_at(folder: &str, step: Option<usize>, env: &Env) -> Result<OpenedModel> {
        if folder == WORDS {
            return match step {
                Some(_) => Err(Error::new("there are no checkpoints of this model")
                    .in_source(WORDS)
                    .help("it travels with the program as it is: leave out --at")),
                None => OpenedModel::of(ModelFolder::words()?),
            };
        }
        env.reading.check(folder)?;
        let folder = ModelFolder::within(Path::new(&to_path(folder)), step, &env.reading)?;
        OpenedModel::of(folder)
    }

    fn of(folder: ModelFolder) -> Result<OpenedModel> {
        let mut architecture = Architecture::from_config(&folder.config.text, &folder.config.name)?;
        let tensors = Tensors::find(&architecture, folder.tensors.clone())?;
        let mut notes = tensors.notes.clone();
        notes.extend(ModelRun::new(&architecture, &tensors).rounded_factor()?);
        notes.extend(
            folder
                .adapter
                .map(|file| format!("{file} is not applied: the weights are those of the model alone")),
        );
        if tensors.has_head {
            // As it was found: the count of parameters is that of the files.
            architecture.model.tied = tensors.tied;
        }
        let (tokenizer, unusable_tokenizer) = match folder.tokenizer.as_ref().map(read_tokenizer) {
            Some(Err(error)) => (None, Some(error.to_string())),
            Some(Ok(tokenizer)) => (Some(tokenizer), None),
            None => (None, None),
        };
        let mask = if architecture.model.is_encoder() { mask(&folder, tokenizer.as_ref())? } else { None };
        Ok(OpenedModel { mask, folder, architecture, tensors, tokenizer, unusable_tokenizer, notes })
    }

    /// The token that starts a text: the one that the tokenizer puts first, or else the one that `config.json` names, which some
    /// tools put there (TransformerLens in GPT-2).
    pub fn beginning(&self) -> Option<usize> {
        if let Some(token) = self.tokenizer.as_ref().and_then(|tokenizer| tokenizer.beginning()) {
            return Some(token.id as usize);
        }
        let id = self.folder.config.tree()?.get("bos_token_id")?.as_u64()?;
        (id < self.architecture.model.vocabulary).then_some(id as usize)
    }

    /// The ids that end a text: those that `generation_config.json` names, or else `config.json`.
    ///
    /// # Errors
    /// If `generation_config.json` cannot be read.
    pub fn end_tokens(&self) -> Result<Vec<usize>> {
        let named = |text: &str| -> Option<Vec<usize>> {
            let config: serde_json::Value = serde_json::from_str(text).ok()?;
            let own =
                config.get("eos_token_id").or_else(|| config.get("text_config")?.get("eos_token_id"))?;
            let ids = match own {
                serde_json::Value::Array(ids) => ids.iter().filter_map(serde_json::Value::as_u64).collect(),
                id => vec![id.as_u64()?],
            };
            Some(ids.into_iter().map(|id| id as usize).collect())
        };
        let generation = self.folder.generation_config.as_ref().map(ModelFile::text).transpose()?;
        let found = generation.as_deref().and_then(named).or_else(|| named(&self.folder.config.text));
        Ok(found.unwrap_or_default())
    }

    /// More than the bytes that a pass over this many tokens takes, all steps of all layers included; in `f32` less is kept.
    pub fn bytes_of_pass(&self, tokens: usize, is_exact: bool) -> u64 {
        let own = &self.architecture.model;
        let tokens = tokens as u64;
        let product = |factors: &[u64]| factors.iter().fold(1u64, |all, factor| all.saturating_mul(*factor));
        let row = product(&[12, own.hidden]).saturating_add(product(&[5, own.intermediate]));
        let patterns = product(&[6, own.query_heads, tokens]);
        let (layers, width) = if is_exact { (own.layers, 8) } else { (2, 4) };
        let steps = product(&[layers, tokens, row.saturating_add(patterns), width]);
        let streams = product(&[own.layers.saturating_add(1), tokens, own.hidden, 3, width]);
        let logits = product(&[own.layers.saturating_add(4), own.vocabulary, 2, width]);
        [self.tensors.bytes_in_memory(), steps, streams, logits, 16 << 20]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// The model, ready to run.
    pub fn run(&self) -> ModelRun<'_> {
        ModelRun::new(&self.architecture, &self.tensors)
    }

    /// A text, as the model reads it.
    ///
    /// # Errors
    /// If there is no tokenizer, or no token.
    pub fn read(&self, text: &str) -> Result<ReadText> {
        let read_again;
        let tokenizer = match &self.tokenizer {
            Some(tokenizer) => tokenizer,
            None => {
                // The file is missing or cannot be used: its error again.
                read_again = read_tokenizer(self.folder.required_tokenizer()?)?;
                &read_again
            }
        };
        let tokens = tokenizer.encode(text)?;
        if tokens.tokens.is_empty() {
            return Err(Error::new("the text has no tokens").help("give a text with at least one word"));
        }
        let added = tokenizer.added().described().map(|added| match twice(&tokens) {
            Some(piece) => {
                format!("{added}; {piece} stands twice, as the text begins with it, too: leave it out there")
            }
            None => added,
        });
        self.of_tokens(tokens, added)
    }

    /// A text, or else ids, as the model reads them; nothing if there is neither.
    ///
    /// # Errors
    /// Those of [`OpenedModel::read`] and [`OpenedModel::read_ids`].
    pub fn read_either(&self, text: Option<&str>, ids: Option<&str>) -> Result<Option<ReadText>> {
        match (text, ids) {
            (Some(text), _) => self.read(text).map(Some),
            (None, Some(ids)) => self.read_ids(ids).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Ids, as the model reads them.
    ///
    /// # Errors
    /// If they cannot be read, or are outside the vocabulary.
    pub fn read_ids(&self, ids: &str) -> Result<ReadText> {
        let vocabulary = self.architecture.model.vocabulary as usize;
        let ids = parse_ids(ids, vocabulary)?;
        if let Some(tokenizer) = &self.tokenizer
            && let Ok(tokens) = tokenizer.tokens_of(&ids)
        {
            return self.of_tokens(tokens, None);
        }
        let tokens: Labels = ids.iter().map(|id| format!("token {id}")).collect();
        let ids = ids.iter().map(|&id| id as usize).collect();
        Ok(ReadText { tokens: None, text: Text { ids, tokens }, added: None })
    }

    fn of_tokens(&self, tokens: Tokens, added: Option<String>) -> Result<ReadText> {
        let ids: Vec<usize> = tokens.ids().iter().map(|&id| id as usize).collect();
        let vocabulary = self.architecture.model.vocabulary as usize;
        if let Some((at, id)) = ids.iter().enumerate().find(|(_, id)| **id >= vocabulary) {
            return Err(self.outside_vocabulary(&(at + 1).to_string(), *id));
        }
        let labels: Labels = tokens.labels().into();
        Ok(ReadText { text: Text { ids, tokens: labels }, tokens: Some(tokens), added })
    }

    /// The error for a token of the tokenizer that the model does not have.
    pub fn outside_vocabulary(&self, token: &str, id: usize) -> Error {
        let count = self.architecture.model.vocabulary;
        Error::new(format!("token {token} has the id {id}, but the model's vocabulary has {count} tokens"))
            .in_source(&self.folder.name)
            .help("tokenizer.json belongs to another model: take both from one source")
    }

    /// “GPT-2, 2 layers of 4 heads”.
    pub fn described(&self) -> String {
        let own = &self.architecture.model;
        let count = |number: u64, what: &str| counted(number as usize, what);
        let (layers, heads) = (count(own.layers, "layer"), count(own.query_heads, "head"));
        format!("{}, {layers} of {heads}", own.family.name())
    }

    /// A remark on a text that is longer than those the model was trained on, where it is computed all the same.
    pub fn too_long(&self, tokens: usize) -> Option<String> {
        let Positions::Rotary(Some(context)) = self.architecture.model.positions else { return None };
        (tokens as u64 > context).then(|| {
            format!("the text has {tokens} tokens, more than the {context} that the model is made for")
        })
    }

    /// The text of some tokens.
    pub fn text_of(&self, ids: &[usize]) -> String {
        let numbers: Vec<u32> = ids.iter().map(|&id| id as u32).collect();
        let text = self.tokenizer.as_ref().map(|tokenizer| tokenizer.text_of_ids(&numbers));
        text.unwrap_or_else(|| ids.iter().map(usize::to_string).collect::<Vec<_>>().join(" "))
    }

    /// Names the lines of a graph that stand for the tokens of the vocabulary, so that `logits[is,animal]` is a cell.
    pub fn name_words(&self, graph: &mut Graph) {
        let reads_ids = |name: &str| name == "W_E" || name.starts_with("logits");
        if graph.nodes().any(|(_, node)| reads_ids(&node.name)) {
            let words =
                (0..self.architecture.model.vocabulary as usize).map(|id| self.token_text(id)).collect();
            name_vocabulary(graph, &words);
        }
    }

    /// The text of a token of the vocabulary, for people.
    pub fn token_text(&self, id: usize) -> String {
        let piece = self.tokenizer.as_ref().and_then(|tokenizer| tokenizer.decode(id as u32));
        piece.unwrap_or_else(|| format!("token {id}"))
    }
}

// The views of a model.

/// What a command shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// What the model consists of.
    Model,
    /// What it makes of a text.
    Text,
    /// How a text goes on.
    Continuation,
    /// All heads, scored.
    Survey,
    /// The steps of a layer, or nodes and cells of layers.
    Layers,
    /// Nothing: matrices are only saved.
    Files,
}

// `--dtype` and `--limit`: the numbers that a model is computed in, and how many are recorded.

/// Up to this many multiplications the exact path is taken, unless the user chooses.
const MOST_EXACT: u64 = 1_000_000_000;

/// The numbers that a model is computed in.
#[derive(Deserialize, Clone, Debug)]
pub(super) struct NumbersArgs {
    dtype: Option<Dtype>,
    limit: Option<usize>,
}

/// How a pass is computed, and why.
pub(super) struct ChosenNumbers {
    pub options: PassOptions,
    /// “f64 (the model is small)”.
    pub why: String,
    /// The multiplications with weights of one pass.
    pub products: u64,
}

impl ChosenNumbers {
    /// The model, and the numbers that it is computed in: a screen says it below its first line.
    pub fn described(&self, model: &OpenedModel, tokens: usize) -> String {
        format!("{}; {}; computed in {}.", model.described(), counted(tokens, "token"), self.why)
    }
}

impl NumbersArgs {
    /// The option that is used, if one is.
    pub fn given_option(&self) -> Option<&'static str> {
        first_given(&[("--dtype", self.dtype.is_some()), ("--limit", self.limit.is_some())])
    }

    /// The value of --memory that is enough for this many tokens, where there is a limit.
    pub fn enough_memory(&self, model: &OpenedModel, tokens: usize) -> Option<String> {
        let is_exact = self.chosen(model, tokens, Edits::default()).options.precision == Precision::Exact;
        memory::limit_for(model.bytes_of_pass(tokens, is_exact))
    }

    /// The numbers for a text of this many tokens.
    pub fn chosen(&self, model: &OpenedModel, tokens: usize, edits: Edits) -> ChosenNumbers {
        let weights = model.tensors.weights_per_token();
        let products = weights.saturating_mul(tokens as u64);
        let is_small = products <= MOST_EXACT;
        let dtype = self.dtype.unwrap_or(if is_small { Dtype::F64 } else { Dtype::F32 });
        let why = match self.dtype {
            Some(_) => "as asked".to_string(),
            None if is_small => "the model is small".to_string(),
            None => {
                let (count, weights) = (counted(tokens, "token"), grouped(weights));
                format!("{count} × {weights} weights are more than 10⁹ products; --dtype f64 is exact")
            }
        };
        let precision = match dtype {
            Dtype::F64 => Precision::Exact,
            _ => Precision::Single(Machine::here()),
        };
        let options =
            PassOptions { precision, limit: self.limit.unwrap_or(MAX_CELLS), edits, measured: true };
        ChosenNumbers { options, why: format!("{} ({why})", dtype.name()), products }
    }
}

/// How the text goes on.
#[derive(Deserialize, Clone, Debug)]
pub(super) struct NextArgs {
    next: Option<u16>,
    seed: Option<u32>,
    temperature: Option<String>,
}

impl NextArgs {
    /// The number of tokens, if there are to be some.
    pub fn count(&self) -> Option<usize> {
        self.next.map(usize::from)
    }

    /// The seed of the draws, where tokens are drawn, and the temperature.
    ///
    /// # Errors
    /// If the temperature is not positive.
    pub fn draws(&self) -> Result<(Option<u32>, f64)> {
        let temperature = match &self.temperature {
            Some(text) => positive("--temperature", text)?,
            None => 1.0,
        };
        let is_random = self.seed.is_some() || self.temperature.is_some();
        Ok((is_random.then(|| self.seed.unwrap_or(0)), temperature))
    }
}
