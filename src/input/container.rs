//! The contents of a file in any format: one array, or several with names.

use std::mem;
use std::path::Path;

use crate::error::{Error, Result};
use crate::graph::Role;
use crate::read::{
    AllowedNumbers, Array, Delimiter, DelimiterChoice, Document, Item, Json, Limit, Nodes, TOKENS, document,
    entry_name, inline, is_json, item, parse, table,
};
use crate::tensor::{Dtype, Element, Tensor};
use crate::text::{clip, listed_briefly};

use super::npy::Npz;
use super::open::Input;
use super::safetensors::Tensors;
use super::{npy, safetensors};

/// The formats, each with the endings of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Npy,
    Npz,
    Safetensors,
    Json,
    /// With what the ending says of the delimiter.
    Delimited(DelimiterChoice),
}

/// The endings of readable files, for errors.
const ENDINGS: &str = ".npy, .npz, .safetensors, .csv, .tsv, .txt or .json";

impl Format {
    /// The format of a file by its ending; a name without one is judged by its content.
    ///
    /// # Errors
    /// If the ending is not one of those that are read.
    pub(super) fn of(path: &Path, input: &mut Input) -> Result<Format> {
        let Some(ending) = ending(path) else { return Format::sniff(input) };
        Format::of_ending(&ending).ok_or_else(|| {
            let error = Error::new(format!("files that end in `.{}` are not supported", clip(&ending)))
                .in_source(&input.name);
            match ending.as_str() {
                "pt" | "pth" | "bin" | "ckpt" => error.help(
                    "a PyTorch file may run code when it is opened: save the tensors as .safetensors or .npz",
                ),
                _ => error.help(format!("save it as {ENDINGS}")),
            }
        })
    }

    /// True if the ending of the path is one of a format that is read, or there is none.
    pub(super) fn reads(path: &Path) -> bool {
        ending(path).is_none_or(|ending| Format::of_ending(&ending).is_some())
    }

    /// The format that an ending in small letters stands for.
    pub(super) fn of_ending(ending: &str) -> Option<Format> {
        Some(match ending {
            "npy" => Format::Npy,
            "npz" => Format::Npz,
            "safetensors" => Format::Safetensors,
            "json" => Format::Json,
            "tsv" => Format::Delimited(DelimiterChoice::By(Delimiter::Character(b'\t'))),
            "csv" => Format::Delimited(DelimiterChoice::DetectedCommas),
            "txt" => Format::Delimited(DelimiterChoice::Detected),
            _ => return None,
        })
    }

    /// The format of a stream by how it starts. Brackets without a comma are an array as NumPy prints it.
    ///
    /// # Errors
    /// If the start cannot be read.
    pub(super) fn sniff(input: &mut Input) -> Result<Format> {
        let start = input.peek(512)?;
        let text = start.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&start).trim_ascii_start();
        Ok(if start.starts_with(super::npy::MAGIC) {
            Format::Npy
        } else if super::npy::MAGICS.iter().any(|magic| start.starts_with(magic)) {
            Format::Npz
        } else if safetensors::looks_like(&start, input.length) {
            Format::Safetensors
        } else if is_json(text) {
            Format::Json
        } else {
            Format::Delimited(DelimiterChoice::Detected)
        })
    }
}

/// The ending of a path, in small letters.
pub(super) fn ending(path: &Path) -> Option<String> {
    Some(path.extension()?.to_string_lossy().to_ascii_lowercase())
}

/// What a source is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// One array of such numbers.
    One(AllowedNumbers),
    /// The matrices of a layer, by their names.
    Layer,
    /// Results to be judged: of a computation in JSON the nodes that it computed.
    Results,
}

impl Purpose {
    /// The numbers that a text may hold: they are checked where its lines are known.
    fn allowed(self) -> AllowedNumbers {
        match self {
            Purpose::One(allowed) => allowed,
            Purpose::Layer | Purpose::Results => AllowedNumbers::ANYTHING,
        }
    }
}

/// The contents of a source: entries that are read when they are asked for. What has one array without a name has one entry.
pub(super) struct Container {
    /// Its name in errors.
    pub(super) name: String,
    entries: Entries,
}

enum Entries {
    /// A text, which is read at once.
    Text(Option<Array>),
    Npy(Input),
    Npz(Npz),
    Safetensors(Tensors),
    Json(Vec<(String, Json)>),
}

impl Container {
    /// Opens a file of this format.
    ///
    /// # Errors
    /// If the content is not of that format, or has no names where they are needed.
    pub(super) fn open(input: Input, format: Format, purpose: Purpose) -> Result<Container> {
        let name = input.name.clone();
        let entries = match format {
            Format::Npy | Format::Delimited(_) if purpose == Purpose::Layer => return Err(nameless(&name)),
            Format::Npy => Entries::Npy(input),
            Format::Npz => Entries::Npz(Npz::open(input)?),
            Format::Safetensors => Entries::Safetensors(Tensors::open(input)?),
            Format::Json => {
                input.charge_as_text()?;
                let json = parse(&name, &input.text()?)?;
                let nodes = if purpose == Purpose::Results { Nodes::Computed } else { Nodes::Given };
                match document(json, nodes).map_err(|error| error.in_source(&name))? {
                    Document::One(_) if purpose == Purpose::Layer => return Err(nameless(&name)),
                    Document::One(array) => Entries::Text(Some(array)),
                    Document::Many(entries) => Entries::Json(entries),
                }
            }
            Format::Delimited(delimiting) => {
                input.charge_as_text()?;
                Entries::Text(Some(table(&name, &input.text()?, delimiting, purpose.allowed())?))
            }
        };
        Ok(Container { name, entries })
    }

    /// Opens a file whose path has the ending of its format.
    ///
    /// # Errors
    /// Those of [`Container::open`], and if the ending is not one of those that are read.
    pub(super) fn of_file(path: &Path, mut input: Input, purpose: Purpose) -> Result<Container> {
        let format = Format::of(path, &mut input)?;
        Container::open(input, format, purpose)
    }

    /// A matrix that is typed in place.
    ///
    /// # Errors
    /// If it is none, or has no name where it needs one.
    pub(super) fn typed_in_place(name: String, text: &str, purpose: Purpose) -> Result<Container> {
        if purpose == Purpose::Layer {
            return Err(nameless(&name));
        }
        Ok(Container { name, entries: Entries::Text(Some(inline(text, purpose.allowed())?)) })
    }

    /// Whether it is a text whose header has no name for the names of its rows.
    pub(super) fn has_short_header(&self) -> bool {
        matches!(&self.entries, Entries::Text(Some(array)) if array.facts.short_header)
    }

    /// The names of the entries as the file spells them.
    pub(super) fn names(&self) -> Vec<String> {
        match &self.entries {
            Entries::Text(_) | Entries::Npy(_) => vec![String::new()],
            Entries::Npz(npz) => npz.names.clone(),
            Entries::Safetensors(tensors) => tensors.names.clone(),
            Entries::Json(entries) => entries.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    /// All arrays, each with its name where the file gives names; lists of words are left aside.
    ///
    /// # Errors
    /// If there are none, or one cannot be read.
    pub(super) fn into_all(mut self) -> Result<Vec<(Option<String>, Array)>> {
        let name = self.name.clone();
        if matches!(self.entries, Entries::Text(_) | Entries::Npy(_)) {
            return Ok(vec![(None, self.array(&name, 0)?.row_by_row())]);
        }
        let mut arrays = Vec::new();
        for (position, entry) in self.names().into_iter().enumerate() {
            if let Item::Array(array) = self.read(position)? {
                arrays.push((Some(entry), array.row_by_row()));
            }
        }
        if arrays.is_empty() {
            return Err(Error::new("the file has no arrays").in_source(name));
        }
        Ok(arrays)
    }

    /// Reads the entry at a position of [`Container::names`], once; numbers in the order of the file.
    ///
    /// # Errors
    /// If it cannot be read as an array or as words.
    pub(super) fn read<T: Element>(&mut self, position: usize) -> Result<Item<T>> {
        let missing = || Error::new("no such entry").in_source(&self.name);
        let (place, item) = match &mut self.entries {
            Entries::Npy(input) => {
                return npy::read(&input.name, &mut input.reader, input.length, input.limit);
            }
            Entries::Npz(npz) => return npz.read(position),
            Entries::Safetensors(tensors) => return tensors.read(position),
            Entries::Text(array) => (self.name.clone(), Item::Array(array.take().ok_or_else(missing)?)),
            Entries::Json(entries) => {
                let (entry, json) = entries.get_mut(position).ok_or_else(missing)?;
                let place = entry_name(&self.name, entry);
                let item = item(mem::replace(json, Json::Null)).map_err(|error| error.in_source(&place))?;
                (place, item)
            }
        };
        Ok(match item {
            Item::Array(array) => Item::Array(array.in_type(&place)?),
            Item::Words(words) => Item::Words(words),
        })
    }

    /// Reads the array at a position of [`Container::names`], once; `name` is what errors call it.
    ///
    /// # Errors
    /// If it cannot be read as an array.
    pub(super) fn array<T: Element>(&mut self, name: &str, position: usize) -> Result<Array<T>> {
        self.read(position)?.into_array().map_err(|error| error.in_source(name))
    }

    /// # Errors
    /// If there are no entries or several, listing them.
    pub(super) fn check_single(&self) -> Result<()> {
        let names = self.names();
        match names.len() {
            0 => Err(Error::new("the file has no arrays").in_source(&self.name)),
            1 => Ok(()),
            several => {
                let list = listed_briefly(names.iter().map(String::as_str));
                Err(Error::new(format!("the file has {several} arrays, but one is needed: {list}"))
                    .in_source(&self.name)
                    .help("save the one you mean in its own file"))
            }
        }
    }

    /// From now on no entry may be larger than this.
    pub(super) fn keep_within(&mut self, limit: Limit) {
        match &mut self.entries {
            Entries::Npy(input) => input.limit = limit,
            Entries::Npz(npz) => npz.limit = limit,
            Entries::Safetensors(tensors) => tensors.limit = limit,
            Entries::Text(_) | Entries::Json(_) => {}
        }
    }
}

/// The error for a file of one matrix where names are needed.
fn nameless(name: &str) -> Error {
    Error::new("this is one matrix without a name, but matrices with names are needed").in_source(name).help(
        format!(
            "save them in a .npz, .safetensors or .json file under the names X, W_Q, W_K, W_V, or Q, K, V, and {TOKENS}"
        ),
    )
}

// In which type the matrices of attention are read.

/// Options for reading the matrices of attention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The type of queries, keys, values, a bias and a mask for the fast path, which may be as many numbers as memory holds. Without
    /// one they are matrices of `f64`, as all other matrices are.
    pub dtype: Option<Dtype>,
    /// On the fast path, whether the numbers of a mask say true and false: not 0 is true. Else only those of a boolean file do.
    pub mask_as_truth: bool,
}

impl ReadOptions {
    /// The type in which a role is read, if it is not as a matrix of `f64`.
    pub(super) fn dtype_of(self, role: Role) -> Option<Dtype> {
        self.dtype.filter(|_| role.has_heads() || role.is_beside_scores())
    }

    /// True if all numbers of a role say true and false.
    fn is_truth(self, role: Role) -> bool {
        role == Role::Mask && self.mask_as_truth
    }

    /// An array of `f64` as a tensor for the kernel.
    ///
    /// # Errors
    /// If it has another shape than the role, or a number may not stand there.
    pub(super) fn of_array<T: Element>(self, name: &str, array: Array, role: Role) -> Result<Tensor> {
        let array = array.checked(name, allowed(role))?;
        let is_truth = self.is_truth(role) || (role == Role::Mask && array.facts.boolean);
        let tensor = if is_truth {
            array.in_type::<bool>(name)?.into_typed(role)
        } else {
            array.in_type::<T>(name)?.into_typed(role)
        };
        tensor.map_err(|error| error.in_source(name))
    }
}

/// Which numbers may stand in a role.
pub(super) fn allowed(role: Role) -> AllowedNumbers {
    if role.is_beside_scores() || role == Role::Sink {
        AllowedNumbers::INFINITE
    } else {
        AllowedNumbers::FINITE
    }
}

impl Container {
    /// The entry at a position of [`Container::names`] as the kernel reads it, in type T: of truth values where they are wanted, or
    /// where the file has them.
    ///
    /// # Errors
    /// If it cannot be read, or has another shape than the role.
    pub(super) fn typed<T: Element>(
        &mut self,
        name: &str,
        position: usize,
        role: Role,
        want: ReadOptions,
    ) -> Result<Tensor> {
        self.keep_within(Limit::LARGE);
        if let Entries::Text(_) | Entries::Json(_) = self.entries {
            return want.of_array::<T>(name, self.array(name, position)?, role);
        }
        let tensor = if want.is_truth(role) || (role == Role::Mask && self.is_boolean(position)?) {
            self.array::<bool>(name, position)?.checked(name, allowed(role))?.into_typed(role)
        } else {
            self.array::<T>(name, position)?.checked(name, allowed(role))?.into_typed(role)
        };
        tensor.map_err(|error| error.in_source(name))
    }

    /// True if an array in binary holds truth values, as far as its header says.
    fn is_boolean(&mut self, position: usize) -> Result<bool> {
        match &mut self.entries {
            Entries::Npy(input) => {
                let is_boolean = npy::is_boolean(&input.name, &mut input.reader)?;
                input.rewind()?;
                Ok(is_boolean)
            }
            Entries::Npz(npz) => npz.is_boolean(position),
            Entries::Safetensors(tensors) => Ok(tensors.is_boolean(position)),
            Entries::Text(_) | Entries::Json(_) => Ok(false),
        }
    }
}
