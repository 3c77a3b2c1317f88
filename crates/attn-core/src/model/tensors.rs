//! The tensors of a model: every weight of its listing, found in the files.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use super::architecture::Architecture;
use super::checkpoint::{Checkpoint, Entry};
use super::names::{listed_name, reason_to_ignore};
use crate::attention::WeightLayout;
use crate::error::{Error, ErrorKind, Result};
use crate::params::{Family, ModelPart, NormSite, Weight, weights};
use crate::tensor::{Dtype, Tensor};
use crate::text::{counted, listed_briefly};

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

/// The head of an encoder that predicts masked words, which no count of parameters has: symbol, name, and its shape in rows and
/// columns of d and n_vocab.
const MASKED_WORD_HEAD: [(&str, &str); 5] = [
    ("W_head", "cls.predictions.transform.dense.weight"),
    ("b_head", "cls.predictions.transform.dense.bias"),
    ("g_head", "cls.predictions.transform.LayerNorm.weight"),
    ("beta_head", "cls.predictions.transform.LayerNorm.bias"),
    ("b_U", DECODER_BIAS),
];

/// The matrix of that head and its bias, which older files have under another name, newer ones under both.
const DECODER: &str = "cls.predictions.decoder.weight";
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
pub struct Tensors<'c> {
    checkpoint: &'c dyn Checkpoint,
    places: HashMap<(Slot, Option<usize>), Place>,
    /// The weights that a token is multiplied with, layer by layer, the head last.
    products: Vec<(Slot, Option<usize>)>,
    /// True if the head is the embedding.
    tied: bool,
    has_head: bool,
    ignored: Vec<String>,
    notes: Vec<String>,
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

impl<'c> Tensors<'c> {
    /// Finds every weight of a model.
    ///
    /// # Errors
    /// If one is missing, has another shape than the configuration says, or a type that is not computed with; if there are
    /// tensors that no such model has; if two names mean the same weight.
    pub fn find(architecture: &Architecture, checkpoint: &'c dyn Checkpoint) -> Result<Tensors<'c>> {
        let tensors = find(architecture, checkpoint);
        tensors.map_err(|error| error.in_source(checkpoint.name()))
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
        let known =
            self.loaded.lock().unwrap_or_else(std::sync::PoisonError::into_inner).get(&place.name).cloned();
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
        let mut loaded = self.loaded.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        loaded.insert(name.clone(), tensor.clone());
        Ok(NamedWeight { name, layout, tensor })
    }

    /// Returns true if the model has this weight.
    pub fn has(&self, slot: Slot, layer: Option<usize>) -> bool {
        self.places.contains_key(&(slot, layer))
    }

    /// Returns true if there is a head that gives logits.
    pub fn has_head(&self) -> bool {
        self.has_head
    }

    /// Returns true if the head is the embedding.
    pub fn is_tied(&self) -> bool {
        self.tied
    }

    /// The type of the embedding, in which the model is run by those who published it.
    ///
    /// # Errors
    /// If it cannot be found.
    pub fn dtype(&self) -> Result<Dtype> {
        Ok(self.stored(Slot::Weight("W_E"), None)?.tensor.dtype())
    }

    /// What the files have and no step reads, in words: copies, and what is known by its name alone, “mask buffers (12), by their
    /// names”.
    pub fn ignored(&self) -> &[String] {
        &self.ignored
    }

    /// Remarks on what was found: a head that is tied because it is absent, or is not although the configuration says so.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The number of weights that a token is multiplied with: all matrices of the layers and of the head, and not the tables of
    /// embeddings.
    pub fn weights_per_token(&self) -> u64 {
        let entries = self.checkpoint.entries();
        let of = |key| entries.get(&self.places[key].name).map_or(0, Entry::count);
        self.products.iter().map(of).fold(0, u64::saturating_add)
    }

    /// The bytes of all weights that a pass keeps in memory: all but the tables of embeddings, of which it reads some rows.
    pub fn bytes_in_memory(&self) -> u64 {
        let entries = self.checkpoint.entries();
        let is_table = |slot: &Slot| match slot {
            Slot::Weight("W_E") => !self.tied,
            slot => matches!(slot, Slot::Weight("W_P" | "W_T")),
        };
        let bytes = |place: &Place| {
            let entry = entries.get(&place.name);
            entry.map_or(0, |entry| {
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
        let loaded = self.loaded.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Some([1, 2].map(|ahead| {
            let next = self.products[(at + ahead) % self.products.len()];
            loaded.get(&self.places.get(&next)?.name).cloned()
        }))
    }

    /// Where a weight stands in the listing. In a model with a tied head, `W_U` is `W_E`.
    fn key(&self, slot: Slot, layer: Option<usize>) -> (Slot, Option<usize>) {
        (if slot == Slot::Weight("W_U") && self.tied { Slot::Weight("W_E") } else { slot }, layer)
    }
}

fn find<'c>(architecture: &Architecture, checkpoint: &'c dyn Checkpoint) -> Result<Tensors<'c>> {
    let family = architecture.model.family;
    let mut found = BTreeMap::new();
    for name in checkpoint.entries().keys() {
        let listed = listed_name(family, name);
        if let Some(other) = found.insert(listed, name.clone()) {
            return Err(Error::new(format!("`{other}` and `{name}` are the same weight"))
                .help("a file has each weight once: save the model again"));
        }
    }
    let mut search = Search {
        architecture,
        checkpoint,
        found,
        places: HashMap::new(),
        listed: Vec::new(),
        missing: Vec::new(),
        copies: Vec::new(),
        notes: Vec::new(),
    };
    let listed = weights(&architecture.model)?;
    let embedding = listed.iter().find(|weight| weight.symbol == "W_E").map_or("", |weight| weight.name);
    let has_head = family != Family::Bert || search.found.contains_key(MASKED_WORD_HEAD[0].1);
    let head = match family {
        Family::Bert => Some(DECODER).filter(|_| has_head),
        Family::AttnSmall => None,
        _ => listed.iter().find(|weight| weight.symbol == "W_U").map(|weight| weight.name),
    };
    let tied = head.map_or(Ok(false), |head| search.is_tied(head, embedding))?;
    for weight in listed.iter().filter(|weight| weight.part != ModelPart::Pooler) {
        if weight.symbol != "W_U" || !tied {
            search.weight(weight)?;
        }
    }
    if family == Family::Bert {
        if has_head {
            search.masked_word_head(tied)?;
        } else {
            let none = "there is no head that predicts masked words, so there are no logits";
            search.notes.push(none.to_string());
        }
    }
    search.check_missing()?;
    let ignored = search.ignored()?;
    Ok(Tensors {
        checkpoint,
        products: products(search.listed, tied),
        places: search.places,
        tied,
        has_head,
        ignored,
        notes: search.notes,
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
        let entry = &self.checkpoint.entries()[&name];
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
        let is_copy = self.checkpoint.same_numbers(name, other)?;
        if is_copy {
            self.found.remove(listed);
            self.copies.push(format!("`{name}`, a copy of `{other}`"));
        }
        Ok(is_copy)
    }

    /// The head of BERT that predicts masked words.
    fn masked_word_head(&mut self, tied: bool) -> Result<()> {
        let (d, vocabulary) = (self.architecture.model.hidden, self.architecture.model.vocabulary);
        if !tied {
            let slot = (Slot::Weight("W_U"), None);
            self.place(slot, DECODER.to_string(), &[vocabulary, d], WeightLayout::OutIn)?;
        }
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
        for (symbol, name) in MASKED_WORD_HEAD {
            let shape = match symbol {
                "W_head" => vec![d, d],
                "b_U" => vec![vocabulary],
                _ => vec![d],
            };
            self.place((Slot::Weight(symbol), None), name.to_string(), &shape, WeightLayout::OutIn)?;
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
