//! The contents of a file in any format: one array, or several with names.

use std::ffi::OsStr;
use std::mem;
use std::path::Path;

use crate::error::{Error, Result};
use crate::graph::Role;
use crate::read::{
    AllowedNumbers, Array, Delimiter, DelimiterChoice, Document, Item, Json, Limit, Nodes, document,
    entry_name, is_json, item, parse, table,
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
        let Some(ending) = path.extension() else {
            return Format::sniff(input);
        };
        let ending = ending.to_string_lossy().to_ascii_lowercase();
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
        let known =
            |ending: &OsStr| Format::of_ending(&ending.to_string_lossy().to_ascii_lowercase()).is_some();
        path.extension().is_none_or(known)
    }

    /// The format that an ending in small letters stands for.
    fn of_ending(ending: &str) -> Option<Format> {
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

/// The contents of a file.
pub(super) enum Content<T = f64> {
    One(Array<T>),
    Many(Container),
}

/// Named entries, read when they are asked for; a `.npy` file is one without a name.
pub(super) enum Container {
    Npy(Input),
    Npz(Npz),
    Safetensors(Tensors),
    Json { name: String, entries: Vec<(String, Json)> },
}

impl<T: Element> Content<T> {
    /// Reads the contents of `input`. `allow` is checked for text here, where the line is known. Of a computation in JSON the nodes
    /// `nodes` are read.
    ///
    /// # Errors
    /// If the content is not of that format.
    pub(super) fn read(
        input: Input,
        format: Format,
        allow: AllowedNumbers,
        nodes: Nodes,
    ) -> Result<Content<T>> {
        let name = input.name.clone();
        match format {
            Format::Npy => Ok(Content::One(Container::Npy(input).array(&name, 0)?)),
            Format::Npz => Ok(Content::Many(Container::Npz(Npz::open(input)?))),
            Format::Safetensors => Ok(Content::Many(Container::Safetensors(Tensors::open(input)?))),
            Format::Json => {
                input.charge_as_text()?;
                let json = parse(&name, &input.text()?)?;
                match document(json, nodes).map_err(|error| error.in_source(&name))? {
                    Document::One(array) => Ok(Content::One(array.in_type(&name)?)),
                    Document::Many(entries) => Ok(Content::Many(Container::Json { name, entries })),
                }
            }
            Format::Delimited(delimiting) => {
                input.charge_as_text()?;
                Ok(Content::One(table(&name, &input.text()?, delimiting, allow)?.in_type(&name)?))
            }
        }
    }

    /// The only array, in the order of the file.
    ///
    /// # Errors
    /// If there are none or several, listing them.
    pub(super) fn into_one(self, name: &str) -> Result<Array<T>> {
        let mut container = match self {
            Content::One(array) => return Ok(array),
            Content::Many(container) => container,
        };
        container.check_single(name)?;
        container.array(name, 0)
    }
}

impl Content {
    /// All arrays, each with its name where the file gives names; lists of words are left aside.
    ///
    /// # Errors
    /// If there are none, or one cannot be read.
    pub(super) fn into_all(self, name: &str) -> Result<Vec<(Option<String>, Array)>> {
        let mut container = match self {
            Content::One(array) => return Ok(vec![(None, array.row_by_row())]),
            Content::Many(container) => container,
        };
        let mut arrays = Vec::new();
        for (position, entry) in container.names().into_iter().enumerate() {
            if let Item::Array(array) = container.read(position)? {
                arrays.push((Some(entry), array.row_by_row()));
            }
        }
        if arrays.is_empty() {
            return Err(Error::new("the file has no arrays").in_source(name));
        }
        Ok(arrays)
    }
}

impl Container {
    /// The names of the entries as the file spells them.
    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Container::Npy(_) => vec![String::new()],
            Container::Npz(npz) => npz.names.clone(),
            Container::Safetensors(tensors) => tensors.names.clone(),
            Container::Json { entries, .. } => entries.iter().map(|(name, _)| name.clone()).collect(),
        }
    }

    /// Reads the entry at a position of [`Container::names`], once; numbers in the order of the file.
    ///
    /// # Errors
    /// If it cannot be read as an array or as words.
    pub(super) fn read<T: Element>(&mut self, position: usize) -> Result<Item<T>> {
        match self {
            Container::Npy(input) => npy::read(&input.name, &mut input.reader, input.length, input.limit),
            Container::Npz(npz) => npz.read(position),
            Container::Safetensors(tensors) => tensors.read(position),
            Container::Json { name, entries } => match entries.get_mut(position) {
                Some((entry, json)) => {
                    let place = entry_name(name, entry);
                    let item = item(mem::replace(json, Json::Null));
                    match item.map_err(|error| error.in_source(&place))? {
                        Item::Array(array) => Ok(Item::Array(array.in_type(&place)?)),
                        Item::Words(words) => Ok(Item::Words(words)),
                    }
                }
                None => Err(Error::new("no such entry").in_source(name.clone())),
            },
        }
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
    pub(super) fn check_single(&self, name: &str) -> Result<()> {
        let names = self.names();
        match names.len() {
            0 => Err(Error::new("the file has no arrays").in_source(name)),
            1 => Ok(()),
            several => {
                let list = listed_briefly(names.iter().map(String::as_str));
                Err(Error::new(format!("the file has {several} arrays, but one is needed: {list}"))
                    .in_source(name)
                    .help("save the one you mean in its own file"))
            }
        }
    }

    /// From now on no entry may be larger than this.
    pub(super) fn keep_within(&mut self, limit: Limit) {
        match self {
            Container::Npy(input) => input.limit = limit,
            Container::Npz(npz) => npz.limit = limit,
            Container::Safetensors(tensors) => tensors.limit = limit,
            Container::Json { .. } => {}
        }
    }
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
        let is_truth = self.is_truth(role) || (role == Role::Mask && array.is_boolean());
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
        if let Container::Json { .. } = self {
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
        match self {
            Container::Npy(input) => {
                let is_boolean = npy::is_boolean(&input.name, &mut input.reader)?;
                input.rewind()?;
                Ok(is_boolean)
            }
            Container::Npz(npz) => npz.is_boolean(position),
            Container::Safetensors(tensors) => Ok(tensors.is_boolean(position)),
            Container::Json { .. } => Ok(false),
        }
    }
}
