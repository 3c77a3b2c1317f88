//! The contents of a file in any format: one array, or several with names.

use std::mem;
use std::path::Path;

use crate::error::{Error, Result};
use crate::graph::Role;
use crate::read::{
    AllowedNumbers, Array, Delimiter, DelimiterChoice, Item, Json, Limit, Nodes, TOKENS, document,
    entry_name, inline, is_json, item, parse, table,
};
use crate::tensor::{Dtype, Element, Tensor};
use crate::text::{clip, listed_briefly};

use super::cell_type::StoredArray;
use super::npy::Npz;
use super::open::{Input, ending};
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
    /// The format of a file by its ending; what has none is judged by its content.
    ///
    /// # Errors
    /// If the ending is not one of those that are read.
    fn of(input: &mut Input) -> Result<Format> {
        let Some(ending) = input.ending.as_deref() else { return Format::sniff(input) };
        Format::of_ending(ending).ok_or_else(|| {
            let error = Error::new(format!("files that end in `.{}` are not supported", clip(ending)));
            match ending {
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
    fn sniff(input: &mut Input) -> Result<Format> {
        let start = input.peek(512)?;
        let text = start.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&start).trim_ascii_start();
        Ok(if start.starts_with(npy::MAGIC) {
            Format::Npy
        } else if npy::MAGICS.iter().any(|magic| start.starts_with(magic)) {
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
    /// The names of the entries as the file spells them.
    pub(super) names: Vec<String>,
    /// Whether they have names; else there is one.
    named: bool,
    /// No array in binary may be larger than this.
    limit: Limit,
    entries: Entries,
}

enum Entries {
    /// A text, which is read at once.
    Text(Vec<Json>),
    Npy(Input),
    Npz(Npz),
    Safetensors(Tensors),
}

impl Container {
    /// Opens a file or a stream.
    ///
    /// # Errors
    /// If its ending is not one of those that are read, the content is not of its format, or has no names where they are needed.
    pub(super) fn open(input: Input, purpose: Purpose) -> Result<Container> {
        let name = input.name.clone();
        Container::of_input(input, purpose).map_err(|error| error.in_source(name))
    }

    fn of_input(mut input: Input, purpose: Purpose) -> Result<Container> {
        let (name, limit) = (input.name.clone(), input.limit);
        let (names, entries): (Vec<Option<String>>, Entries) = match Format::of(&mut input)? {
            Format::Npy => (vec![None], Entries::Npy(input)),
            Format::Npz => {
                let npz = Npz::open(input)?;
                (npz.names.iter().cloned().map(Some).collect(), Entries::Npz(npz))
            }
            Format::Safetensors => {
                let tensors = Tensors::open(input)?;
                (tensors.names.iter().cloned().map(Some).collect(), Entries::Safetensors(tensors))
            }
            Format::Json => {
                input.charge_as_text()?;
                let json = parse(&name, &input.text()?)?;
                let nodes = if purpose == Purpose::Results { Nodes::Computed } else { Nodes::Given };
                let (names, entries) = document(json, nodes)?.into_iter().unzip();
                (names, Entries::Text(entries))
            }
            Format::Delimited(_) if purpose == Purpose::Layer => return Err(nameless()),
            Format::Delimited(delimiting) => {
                input.charge_as_text()?;
                let array = table(&name, &input.text()?, delimiting, purpose.allowed())?;
                (vec![None], Entries::Text(vec![Json::Array(array)]))
            }
        };
        let named = !names.contains(&None);
        if purpose == Purpose::Layer && !named {
            return Err(nameless());
        }
        let names = names.into_iter().map(Option::unwrap_or_default).collect();
        Ok(Container { name, names, named, limit, entries })
    }

    /// A matrix that is typed in place.
    ///
    /// # Errors
    /// If it is none, or has no name where it needs one.
    pub(super) fn typed_in_place(name: String, text: &str, purpose: Purpose) -> Result<Container> {
        if purpose == Purpose::Layer {
            return Err(nameless().in_source(name));
        }
        let entries = Entries::Text(vec![Json::Array(inline(text, purpose.allowed())?)]);
        Ok(Container { name, names: vec![String::new()], named: false, limit: Limit::ANY, entries })
    }

    /// Whether it is a text whose header has no name for the names of its rows.
    pub(super) fn has_short_header(&self) -> bool {
        matches!(&self.entries, Entries::Text(all) if matches!(&all[..], [Json::Array(array)] if array.facts.short_header))
    }

    /// The name of an entry in errors.
    pub(super) fn place(&self, position: usize) -> String {
        let entry = self.names.get(position).map(String::as_str).unwrap_or_default();
        if self.named { entry_name(&self.name, entry) } else { self.name.clone() }
    }

    /// All arrays, each with its name where the file gives names; lists of words are left aside.
    ///
    /// # Errors
    /// If there are none, or one cannot be read.
    pub(super) fn into_all(mut self) -> Result<Vec<(Option<String>, Array)>> {
        if !self.named {
            return Ok(vec![(None, self.array(0)?)]);
        }
        let mut arrays = Vec::new();
        for position in 0..self.names.len() {
            if let Item::Array(array) = self.read(position)? {
                arrays.push((Some(self.names[position].clone()), array));
            }
        }
        if arrays.is_empty() {
            return Err(Error::new("the file has no arrays").in_source(self.name));
        }
        Ok(arrays)
    }

    /// The array in binary at a position of `names`, of which the header has been read; `None` in a text.
    fn stored(&mut self, position: usize, limit: Limit) -> Result<Option<StoredArray<'_>>> {
        Ok(Some(match &mut self.entries {
            Entries::Npy(input) => npy::stored(&mut input.reader, input.length, limit)?,
            Entries::Npz(npz) => npz.stored(position, limit)?,
            Entries::Safetensors(tensors) => tensors.stored(position, limit)?,
            Entries::Text(_) => return Ok(None),
        }))
    }

    /// Reads the entry at a position of `names`, once; numbers row by row.
    ///
    /// # Errors
    /// If it cannot be read as an array or as words.
    pub(super) fn read(&mut self, position: usize) -> Result<Item> {
        let place = self.place(position);
        self.item(position, &place).map_err(|error| error.in_source(place))
    }

    fn item(&mut self, position: usize, place: &str) -> Result<Item> {
        let limit = Limit { cells: self.limit.cells.min(Limit::ANY.cells), ..self.limit };
        if let Some(stored) = self.stored(position, limit)? {
            return Ok(match stored.read(place)? {
                Item::Array(array) => Item::Array(array.row_by_row()),
                words => words,
            });
        }
        match &mut self.entries {
            Entries::Text(entries) if position < entries.len() => {
                item(mem::replace(&mut entries[position], Json::Null))
            }
            _ => Err(Error::new("no such entry")),
        }
    }

    /// Reads the array at a position of `names`, once.
    ///
    /// # Errors
    /// If it cannot be read as an array.
    pub(super) fn array(&mut self, position: usize) -> Result<Array> {
        self.read(position)?.into_array().map_err(|error| error.in_source(self.place(position)))
    }

    /// # Errors
    /// If there are no entries or several, listing them.
    pub(super) fn check_single(&self) -> Result<()> {
        match self.names.len() {
            0 => Err(Error::new("the file has no arrays").in_source(&self.name)),
            1 => Ok(()),
            several => {
                let list = listed_briefly(self.names.iter().map(String::as_str));
                Err(Error::new(format!("the file has {several} arrays, but one is needed: {list}"))
                    .in_source(&self.name)
                    .help("save the one you mean in its own file"))
            }
        }
    }
}

/// The error for a file of one matrix where names are needed.
fn nameless() -> Error {
    Error::new("this is one matrix without a name, but matrices with names are needed").help(format!(
        "save them in a .npz, .safetensors or .json file under the names X, W_Q, W_K, W_V, or Q, K, V, and {TOKENS}"
    ))
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
    /// The entry at a position of `names` as it is wanted for a role.
    ///
    /// # Errors
    /// If it cannot be read, a number may not stand there or is beyond the type, or it has another shape than the role.
    pub(super) fn tensor(&mut self, position: usize, role: Role, want: ReadOptions) -> Result<Tensor> {
        let place = self.place(position);
        let read = match want.dtype_of(role) {
            None => {
                let array = self.array(position)?.checked(&place, allowed(role))?;
                array.into_exact(role)
            }
            Some(Dtype::F64) => self.typed::<f64>(position, role, want),
            Some(_) => self.typed::<f32>(position, role, want),
        };
        read.map_err(|error| error.in_source(place))
    }

    /// The entry as the kernel reads it, in type T: of truth values where they are wanted, or where the file has them.
    fn typed<T: Element>(&mut self, position: usize, role: Role, want: ReadOptions) -> Result<Tensor> {
        let (name, is_mask) = (self.place(position), role == Role::Mask);
        if let Some(stored) = self.stored(position, self.limit)? {
            return if is_mask && (want.mask_as_truth || stored.is_boolean()) {
                for_role(&name, stored.read::<bool>(&name)?, role)
            } else {
                for_role(&name, stored.read::<T>(&name)?, role)
            };
        }
        // Of a text all numbers are judged before one is found to be beyond the type.
        let array = self.array(position)?.checked(&name, allowed(role))?;
        if is_mask && (want.mask_as_truth || array.facts.boolean) {
            for_role(&name, Item::Array(array.in_type::<bool>(&name)?), role)
        } else {
            for_role(&name, Item::Array(array.in_type::<T>(&name)?), role)
        }
    }
}

/// # Errors
/// If these are words, a number may not stand there, or the array has another shape than the role.
fn for_role<T: Element>(name: &str, item: Item<T>, role: Role) -> Result<Tensor> {
    item.into_array()?.checked(name, allowed(role))?.into_typed(role)
}
