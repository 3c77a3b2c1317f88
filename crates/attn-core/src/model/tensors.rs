//! The tensors of a model: every weight of its listing, found in the files.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::attention::WeightLayout;
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::{Machine, read_once};
use crate::matrix::Shape;
use crate::memory;
use crate::params::family::Layout;
use crate::params::{Family, ModelPart, NormSite, Weight, masked_words, weights};
use crate::tensor::{Dtype, Tensor};
use crate::text::{counted, listed_briefly};

use super::architecture::Architecture;

/// A weight by what it does: its symbol in the listing of weights, or the place of its norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slot {
    /// A matrix or a bias: `W_Q`, `b_Q`.
    Weight(&'static str),
    /// The gain of a norm.
    Gain(NormSite),
    /// The bias of a norm.
    Bias(NormSite),
}

/// The bias of the head that predicts masked words, which older files have under another name, newer ones under both.
const DECODER_BIAS: &str = "cls.predictions.decoder.bias";
const OLD_DECODER_BIAS: &str = "cls.predictions.bias";

/// Where a weight is.
#[derive(Clone, Debug, PartialEq)]
struct Place {
    /// Its name in the files.
    name: String,
    layout: WeightLayout,
}

/// A weight with its name in the files, and the order of its numbers.
#[derive(Clone, Debug)]
pub struct NamedWeight {
    /// Its name in the files.
    pub name: String,
    /// The order of its numbers.
    pub layout: WeightLayout,
    /// The numbers.
    pub tensor: Tensor,
}

/// The tensors of a model, found in a checkpoint.
#[derive(Debug)]
pub struct Tensors {
    checkpoint: Box<dyn Checkpoint>,
    places: HashMap<(Slot, Option<usize>), Place>,
    /// The weights that a token is multiplied with, layer by layer, the head last.
    products: Vec<(Slot, Option<usize>)>,
    /// True if the head is the embedding.
    pub tied: bool,
    /// True if there is a head that gives logits.
    pub has_head: bool,
    /// What the files have and no step reads, in words: copies, and what is known by its name alone, “mask buffers (12), by their
    /// names”.
    pub ignored: Vec<String>,
    /// Remarks on what was found: a head that is tied because it is absent, or is not although the configuration says so.
    pub notes: Vec<String>,
    /// Tensors that have been read.
    loaded: Mutex<BTreeMap<String, Tensor>>,
}

/// The search for a model's tensors among those of a checkpoint.
struct Search<'a> {
    architecture: &'a Architecture,
    checkpoint: &'a dyn Checkpoint,
    /// Names in the files by listed names.
    found: BTreeMap<String, String>,
    places: HashMap<(Slot, Option<usize>), Place>,
    /// The weights found, in the order of the listing.
    listed: Vec<(Slot, Option<usize>)>,
    missing: Vec<String>,
    /// Tensors with the numbers of others, in words.
    copies: Vec<String>,
    notes: Vec<String>,
}

impl Tensors {
    /// Finds every weight of a model.
    ///
    /// # Errors
    /// If one is missing, has another shape than the configuration says, or a type that is not computed with; if there are
    /// tensors that no such model has; if two names mean the same weight.
    pub fn find(architecture: &Architecture, checkpoint: impl Checkpoint + 'static) -> Result<Tensors> {
        let name = checkpoint.name().to_string();
        find(architecture, Box::new(checkpoint)).map_err(|error| error.in_source(name))
    }

    /// A weight, wherever it is. In a model with a tied head, `W_U` is `W_E`.
    ///
    /// # Errors
    /// If the model has none, or it cannot be read.
    pub fn stored(&self, slot: Slot, layer: Option<usize>) -> Result<NamedWeight> {
        let (slot, layer) = self.key(slot, layer);
        let place = self.places.get(&(slot, layer)).ok_or_else(|| {
            Error::new(format!("the model has no weight {slot:?}")).in_source(self.checkpoint.name())
        })?;
        let known = self.in_memory().get(&place.name).cloned();
        let tensor = match known {
            Some(tensor) => tensor,
            None => self.checkpoint.tensor(&place.name)?,
        };
        // A tied head has a row for each token.
        let layout = if slot == Slot::Weight("W_E") { WeightLayout::OutIn } else { place.layout };
        Ok(NamedWeight { name: place.name.clone(), layout, tensor })
    }

    /// A weight, in memory. It stays there, so that it is read once.
    ///
    /// # Errors
    /// Those of [`Tensors::stored`].
    pub fn loaded(&self, slot: Slot, layer: Option<usize>) -> Result<NamedWeight> {
        let NamedWeight { name, layout, tensor } = self.stored(slot, layer)?;
        if !tensor.is_stored() {
            return Ok(NamedWeight { name, layout, tensor });
        }
        let tensor = tensor.loaded()?;
        self.in_memory().insert(name.clone(), tensor.clone());
        Ok(NamedWeight { name, layout, tensor })
    }

    /// Returns true if the model has this weight.
    pub fn has(&self, slot: Slot, layer: Option<usize>) -> bool {
        self.places.contains_key(&(slot, layer))
    }

    /// The type of the embedding, in which the model is run by those who published it.
    ///
    /// # Errors
    /// If it cannot be found.
    pub fn dtype(&self) -> Result<Dtype> {
        Ok(self.stored(Slot::Weight("W_E"), None)?.tensor.dtype())
    }

    /// The number of weights that a token is multiplied with: all matrices of the layers and of the head, and not the tables of
    /// embeddings.
    pub fn weights_per_token(&self) -> u64 {
        let of = |key| self.checkpoint.entry(&self.places[key].name).map_or(0, Entry::count);
        self.products.iter().map(of).fold(0, u64::saturating_add)
    }

    /// The bytes of all weights that a pass keeps in memory: all but the tables of embeddings, of which it reads some rows.
    pub fn bytes_in_memory(&self) -> u64 {
        let is_table = |slot: &Slot| match slot {
            Slot::Weight("W_E") => !self.tied,
            slot => matches!(slot, Slot::Weight("W_P" | "W_T")),
        };
        let bytes = |place: &Place| {
            self.checkpoint.entry(&place.name).map_or(0, |entry| {
                entry.count().saturating_mul(entry.dtype.map_or(8, |dtype| dtype.size() as u64))
            })
        };
        let kept = self.places.iter().filter(|((slot, _), _)| !is_table(slot));
        kept.map(|(_, place)| bytes(place)).fold(0, u64::saturating_add)
    }

    /// The weights that a token is multiplied with, in memory.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn product_weights(&self) -> Result<Vec<Tensor>> {
        self.products.iter().map(|(slot, layer)| Ok(self.loaded(*slot, *layer)?.tensor)).collect()
    }

    /// The two weights that a token is multiplied with after this one, where they are in memory already; after the head those of
    /// the first layer, for the next token. None after what is no such weight.
    pub(super) fn after(&self, slot: Slot, layer: Option<usize>) -> Option<[Option<Tensor>; 2]> {
        let at = self.products.iter().position(|product| *product == self.key(slot, layer))?;
        let loaded = self.in_memory();
        Some([1, 2].map(|ahead| {
            let next = self.products[(at + ahead) % self.products.len()];
            loaded.get(&self.places.get(&next)?.name).cloned()
        }))
    }

    fn in_memory(&self) -> MutexGuard<'_, BTreeMap<String, Tensor>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a weight stands in the listing. In a model with a tied head, `W_U` is `W_E`.
    fn key(&self, slot: Slot, layer: Option<usize>) -> (Slot, Option<usize>) {
        (if slot == Slot::Weight("W_U") && self.tied { Slot::Weight("W_E") } else { slot }, layer)
    }
}

fn find(architecture: &Architecture, checkpoint: Box<dyn Checkpoint>) -> Result<Tensors> {
    let family = architecture.model.family;
    let mut found = BTreeMap::new();
    for name in checkpoint.names() {
        let listed = listed_name(family, name);
        if let Some(other) = found.insert(listed, name.to_string()) {
            return Err(Error::new(format!("`{other}` and `{name}` are the same weight"))
                .help("a file has each weight once: save the model again"));
        }
    }
    let mut search = Search {
        architecture,
        checkpoint: &*checkpoint,
        found,
        places: HashMap::new(),
        listed: Vec::new(),
        missing: Vec::new(),
        copies: Vec::new(),
        notes: Vec::new(),
    };
    let listed = weights(&architecture.model)?;
    let embedding = listed.iter().find(|weight| weight.symbol == "W_E").map_or("", |weight| &*weight.name);
    let masked_words = masked_words(&architecture.model);
    let has_head = masked_words.first().is_none_or(|weight| search.found.contains_key(&weight.name));
    let heads = listed.iter().chain(&masked_words).filter(|_| has_head && !family.is_small());
    let head = heads.filter(|weight| weight.symbol == "W_U").map(|weight| &*weight.name).next();
    let tied = head.map_or(Ok(false), |head| search.is_tied(head, embedding))?;
    if !has_head {
        search.notes.push("there is no head that predicts masked words, so there are no logits".to_string());
    } else if !masked_words.is_empty() {
        search.one_decoder_bias()?;
    }
    let listed = listed.iter().filter(|weight| weight.part != ModelPart::Pooler);
    let read = listed.chain(masked_words.iter().filter(|_| has_head));
    for weight in read.filter(|weight| weight.symbol != "W_U" || !tied) {
        search.weight(weight)?;
    }
    search.check_missing()?;
    let ignored = search.ignored()?;
    let Search { listed, places, notes, .. } = search;
    Ok(Tensors {
        checkpoint,
        products: products(listed, tied),
        places,
        tied,
        has_head,
        ignored,
        notes,
        loaded: Mutex::default(),
    })
}

/// The weights that a token is multiplied with, layer by layer, of those that are listed; a tied head is the embedding.
fn products(mut listed: Vec<(Slot, Option<usize>)>, tied: bool) -> Vec<(Slot, Option<usize>)> {
    listed.retain(|(slot, _)| match slot {
        Slot::Weight("W_E") => tied,
        Slot::Weight(symbol) => symbol.starts_with('W') && !["W_P", "W_T"].contains(symbol),
        Slot::Gain(_) | Slot::Bias(_) => false,
    });
    let is_unembedding = |slot: &Slot| matches!(slot, Slot::Weight("W_E" | "W_U"));
    listed.sort_by_key(|(slot, layer)| (layer.unwrap_or(usize::MAX), is_unembedding(slot)));
    listed
}

impl Search<'_> {
    /// Finds a weight of the listing, in each layer that has it.
    fn weight(&mut self, weight: &Weight) -> Result<()> {
        let slot = match weight.norm {
            Some(site) if weight.symbol == "beta" => Slot::Bias(site),
            Some(site) => Slot::Gain(site),
            None => Slot::Weight(weight.symbol),
        };
        let shape = weight.stored_shape().unwrap_or_default();
        if !weight.name.contains('*') {
            return self.place((slot, None), weight.name.to_string(), &shape, weight.layout);
        }
        for layer in 0..self.architecture.blocks.len() {
            let name = weight.name.replacen('*', &layer.to_string(), 1);
            self.place((slot, Some(layer + 1)), name, &shape, weight.layout)?;
        }
        Ok(())
    }

    fn place(
        &mut self,
        slot: (Slot, Option<usize>),
        listed: String,
        shape: &[u64],
        layout: WeightLayout,
    ) -> Result<()> {
        let Some(name) = self.found.remove(&listed) else {
            self.missing.push(listed);
            return Ok(());
        };
        let Some(entry) = self.checkpoint.entry(&name) else { return Ok(()) };
        check_type(&name, entry)?;
        let dims: Vec<u64> = entry.dims.iter().map(|size| *size as u64).collect();
        if dims != shape {
            return Err(Error::new(format!(
                "`{name}` is {} in the file, but the configuration makes it {}",
                by(&dims),
                by(shape)
            ))
            .of_kind(ErrorKind::Shape)
            .help("config.json and the tensors belong to different models: take both from one source"));
        }
        self.places.insert(slot, Place { name, layout });
        self.listed.push(slot);
        Ok(())
    }

    /// Whether the head is the embedding. The files decide where they have both: a head with numbers of its own is used, whatever
    /// the configuration says, and of two tensors one is the other's copy only if their numbers are the same.
    fn is_tied(&mut self, head: &str, embedding: &str) -> Result<bool> {
        let is_tied = self.architecture.model.tied;
        match (self.found.get(head).cloned(), self.found.get(embedding).cloned()) {
            (None, _) => {
                if !is_tied {
                    self.notes.push(format!("`{head}` is not in the file: the head is the embedding"));
                }
                Ok(true)
            }
            (Some(_), _) if !is_tied => Ok(false),
            (Some(own), None) => {
                self.notes
                    .push(format!("`{embedding}` is not in the file: the embedding is the head, `{own}`"));
                self.found.remove(head);
                self.found.insert(embedding.to_string(), own);
                Ok(true)
            }
            (Some(own), Some(other)) => {
                let is_copy = self.is_copy((head, &own), &other)?;
                if !is_copy {
                    self.notes.push(format!(
                        "`{own}` is the head: its numbers differ from those of `{other}`, although the configuration makes \
                         them one (`tie_word_embeddings`); transformers 5.24 uses it, too"
                    ));
                }
                Ok(is_copy)
            }
        }
    }

    /// Leaves out a tensor, listed and in the file, that has the numbers of another one.
    fn is_copy(&mut self, (listed, name): (&str, &str), other: &str) -> Result<bool> {
        let is_copy = same_numbers(self.checkpoint, name, other)?;
        if is_copy {
            self.found.remove(listed);
            self.copies.push(format!("`{name}`, a copy of `{other}`"));
        }
        Ok(is_copy)
    }

    /// Leaves one of the two names of the bias of the head that predicts masked words.
    fn one_decoder_bias(&mut self) -> Result<()> {
        if let Some(old) = self.found.get(OLD_DECODER_BIAS).cloned() {
            match self.found.get(DECODER_BIAS).cloned() {
                None => drop(self.found.insert(DECODER_BIAS.to_string(), old)),
                Some(bias) if !self.is_copy((OLD_DECODER_BIAS, &old), &bias)? => self.notes.push(format!(
                    "`{bias}` is the bias of the head: `{old}` has other numbers, and no step reads it"
                )),
                Some(_) => {}
            }
            self.found.remove(OLD_DECODER_BIAS);
        }
        Ok(())
    }

    fn check_missing(&self) -> Result<()> {
        if self.missing.is_empty() {
            return Ok(());
        }
        let what = if self.missing.len() == 1 { "is" } else { "are" };
        let error = Error::new(format!(
            "{} of the model {what} missing: {}",
            counted(self.missing.len(), "tensor"),
            listed_briefly(self.missing.iter().map(String::as_str))
        ));
        let surplus: Vec<&str> = self.surplus().collect();
        Err(if surplus.is_empty() {
            error.help("the file is incomplete, or config.json belongs to another model")
        } else {
            error.help(format!("the file has {} that the model lacks", listed_briefly(surplus.into_iter())))
        })
    }

    /// The tensors that are neither the model's nor well-known ones.
    fn surplus(&self) -> impl Iterator<Item = &str> {
        let left = self.found.iter().filter(|(listed, _)| reason_to_ignore(listed).is_none());
        left.map(|(_, name)| name.as_str())
    }

    /// What no step reads: copies, and the rest counted by its reason.
    ///
    /// # Errors
    /// If there are tensors that no such model has.
    fn ignored(&self) -> Result<Vec<String>> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let surplus: Vec<&str> = self.surplus().collect();
        if !surplus.is_empty() {
            let belongs = if surplus.len() == 1 { "belongs" } else { "belong" };
            return Err(Error::new(format!(
                "{} of the file {belongs} to no {} model: {}",
                counted(surplus.len(), "tensor"),
                self.architecture.model.family.name(),
                listed_briefly(surplus.into_iter())
            ))
            .help(
                "config.json may belong to another model, or the model has steps that are not known here",
            ));
        }
        for reason in self.found.keys().filter_map(|listed| reason_to_ignore(listed)) {
            *counts.entry(reason).or_default() += 1;
        }
        let counts: Vec<String> =
            counts.into_iter().map(|(reason, count)| format!("{reason} ({count})")).collect();
        // Their numbers are not looked at.
        let by_name = (!counts.is_empty()).then(|| format!("{}, by their names", counts.join(", ")));
        Ok(self.copies.iter().cloned().chain(by_name).collect())
    }
}

/// Checks that a tensor has numbers of a type that models are computed in.
fn check_type(name: &str, entry: &Entry) -> Result<()> {
    if matches!(entry.dtype, Some(Dtype::F32 | Dtype::F64 | Dtype::F16 | Dtype::Bf16)) {
        return Ok(());
    }
    let type_name = &entry.type_name;
    let error = Error::new(format!("`{name}` has numbers of the type {type_name}"));
    let is_quantised = !matches!(&**type_name, "BOOL" | "I64" | "U64" | "C64");
    Err(if is_quantised {
        error.help("a quantised model is not run here: take one with F32, F16, BF16 or F64")
    } else {
        error.help("weights are numbers of the types F32, F16, BF16 or F64: save the model again")
    })
}

/// A shape as people write it: `48×144`.
fn by(dims: &[u64]) -> String {
    dims.iter().map(u64::to_string).collect::<Vec<_>>().join("×")
}

// The tensors of a model, wherever they are.

/// A tensor as a file's header describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its dimensions.
    pub dims: Vec<usize>,
    /// Its type in the file's own words: `BF16`.
    pub type_name: String,
    /// Its type, if attention computes with it.
    pub dtype: Option<Dtype>,
}

impl Entry {
    /// The number of its numbers.
    pub fn count(&self) -> u64 {
        self.dims.iter().fold(1, |count: u64, size| count.saturating_mul(*size as u64))
    }
}

/// Named tensors that can be asked for one by one.
pub trait Checkpoint: Debug + Send + Sync {
    /// Its name in errors: the folder.
    fn name(&self) -> &str;

    /// The names of all tensors in the files, in alphabetical order.
    fn names(&self) -> Vec<&str>;

    /// A tensor as its header describes it.
    fn entry(&self, name: &str) -> Option<&Entry>;

    /// A tensor, which may stay in its file. A vector is one row.
    ///
    /// # Errors
    /// If there is none of this name, or its type is not computed with.
    fn tensor(&self, name: &str) -> Result<Tensor>;
}

/// At most this many numbers of a tensor, or one row, are in memory while two are compared.
const COMPARED: usize = 1 << 18;

/// Whether two tensors have the same dimensions and the same numbers, of which a part at a time is read.
fn same_numbers(checkpoint: &dyn Checkpoint, name: &str, other: &str) -> Result<bool> {
    let dims = |name: &str| checkpoint.entry(name).map(|entry| &entry.dims);
    if dims(name) != dims(other) || dims(name).is_some_and(|dims| dims.len() > 2) {
        return Ok(false);
    }
    let (one, other) = (checkpoint.tensor(name)?, checkpoint.tensor(other)?);
    let Shape { rows, cols } = one.shape();
    let step = (COMPARED / cols.max(1)).max(1);
    for start in (0..rows).step_by(step) {
        let _part = memory::part();
        let rows = start..rows.min(start + step);
        if !same(&one.rows(rows.clone())?, &other.rows(rows)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the numbers of two tensors of one shape are equal; NaN is equal to itself.
fn same(one: &Tensor, other: &Tensor) -> bool {
    let is_same = |(a, b): (f64, f64)| a == b || a.is_nan() && b.is_nan();
    one.dtype() == other.dtype() && one.bytes() == other.bytes() && one.bytes().is_some()
        || one.cells().zip(other.cells()).all(is_same)
}

// The names of tensors in files: prefixes that may be there or not, old spellings, tensors that no step reads.

/// The name under which a tensor is listed, from its name in a file: with the family's prefix, and with `weight` and `bias` for the
/// `gamma` and `beta` of older files.
pub(super) fn listed_name(family: Family, name: &str) -> String {
    let name = match name.strip_prefix("language_model.") {
        Some(inner) => inner.to_string(),
        None => name.replacen("model.language_model.", "model.", 1),
    };
    let name = match name.rsplit_once('.') {
        Some((stem, "gamma")) => format!("{stem}.weight"),
        Some((stem, "beta")) => format!("{stem}.bias"),
        _ => name,
    };
    let Layout { prefix, apart, .. } = family.layout();
    if name.starts_with(prefix) || apart.iter().any(|head| name.starts_with(head)) {
        name
    } else {
        format!("{prefix}{name}")
    }
}

/// Why no step reads a tensor of this listed name; none for a tensor that is no well-known one.
pub(super) fn reason_to_ignore(listed: &str) -> Option<&'static str> {
    let is_it = |pattern: &&str| match pattern.strip_prefix('*') {
        Some(end) => listed.ends_with(end),
        None => listed.starts_with(*pattern),
    };
    IGNORED
        .iter()
        .find(|(patterns, _)| patterns.split(' ').any(|pattern| is_it(&pattern)))
        .map(|(_, why)| *why)
}

/// What names of tensors that no step reads begin or, behind a `*`, end with, and what they are.
const IGNORED: [(&str, &str); 6] = [
    ("*.attn.bias *.attn.masked_bias *.attention.bias *.attention.masked_bias", "mask buffers"),
    ("*rotary_emb.inv_freq", "rotary frequencies"),
    ("*embeddings.position_ids *embeddings.token_type_ids", "numbers of positions and types"),
    ("bert.pooler.", "the pooler"),
    ("cls.seq_relationship.", "the next-sentence head"),
    (
        "vision_tower. multi_modal_projector. model.vision_tower. model.multi_modal_projector.",
        "the vision tower",
    ),
];

// Reading a model's weights and doing nothing with them: no token can be decoded faster.

/// The weights that each new token reads once, in memory.
#[derive(Clone, Debug)]
pub struct WeightReading {
    weights: Vec<Tensor>,
}

impl WeightReading {
    /// All weights that a token is multiplied with.
    ///
    /// # Errors
    /// If one cannot be read from its file.
    pub fn of(tensors: &Tensors) -> Result<WeightReading> {
        Ok(WeightReading { weights: tensors.product_weights()? })
    }

    /// The number of bytes.
    pub fn bytes(&self) -> u64 {
        self.numbers().map(|numbers| size_of_val(numbers) as u64).sum()
    }

    /// Reads them once, on the threads of a machine.
    ///
    /// # Errors
    /// If this machine is none.
    pub fn read(&self, machine: Machine) -> Result<()> {
        read_once(machine, &self.numbers().collect::<Vec<_>>())?;
        Ok(())
    }

    /// The bytes of whole `f32` numbers, whatever they mean.
    fn numbers(&self) -> impl Iterator<Item = &[f32]> {
        self.weights.iter().filter_map(Tensor::bytes).map(|bytes| bytemuck::pod_align_to(bytes).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_with_and_without_their_prefix() {
        for (family, name, listed) in [
            ("gpt2", "h.0.attn.c_attn.weight", "transformer.h.0.attn.c_attn.weight"),
            ("gpt2", "transformer.wte.weight", "transformer.wte.weight"),
            ("gpt2", "lm_head.weight", "lm_head.weight"),
            ("bert", "embeddings.LayerNorm.gamma", "bert.embeddings.LayerNorm.weight"),
            ("bert", "cls.predictions.transform.LayerNorm.beta", "cls.predictions.transform.LayerNorm.bias"),
            ("gemma3", "language_model.model.norm.weight", "model.norm.weight"),
            ("gemma3", "model.language_model.norm.weight", "model.norm.weight"),
            ("llama", "layers.1.mlp.up_proj.weight", "model.layers.1.mlp.up_proj.weight"),
            ("gpt_neox", "embed_out.weight", "embed_out.weight"),
        ] {
            let (_, family) = Family::by_model_type().find(|(known, _)| *known == family).unwrap();
            assert_eq!(listed_name(family, name), listed);
        }
    }
}
