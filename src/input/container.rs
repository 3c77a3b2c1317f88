//! The contents of a file in any format: one array, or several with names.

use std::mem;
use std::path::Path;

use zip::ZipArchive;

use crate::error::{Error, Result};
use crate::graph::Role;
use crate::read::{
    AllowedNumbers, Array, Delimiter, DelimiterChoice, EntryKind, Item, Json, Limit, Nodes, TOKENS, document,
    entry_name, inline, is_json, item, looks_inline, own, parse, table, tables, told,
};
use crate::tensor::{Dtype, Element, Tensor};
use crate::text::{clip, listed_briefly};

use super::cell_type::StoredArray;
use super::npy::Npz;
use super::open::{Input, ending};
use super::pickle::{Numbers, Torch};
use super::safetensors::Tensors;
use super::{matlab, npy, pickle, remedy, safetensors, workbook};

/// The formats, each with the endings of its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Npy,
    Npz,
    Safetensors,
    Json,
    /// With what the ending says of the delimiter.
    Delimited(DelimiterChoice),
    /// Another file, packed.
    Gzip,
    /// A zip archive of PyTorch.
    Torch,
    Pickle,
    Matlab,
    Workbook,
}

/// The endings of text in other forms than tables, and of what is known by its content.
const OTHERS: [&str; 22] = [
    "md", "tex", "html", "htm", "jsonl", "ndjson", "yaml", "yml", "mtx", "dat", "out", "log", "gz", "mat",
    "xlsx", "pt", "pth", "bin", "ckpt", "pkl", "pickle", "vec",
];

impl Format {
    /// The format of a file by its ending; what has another, or none, is judged by its content.
    ///
    /// # Errors
    /// If the content is of a kind that is not read: what it is, and how to convert it.
    fn of(input: &mut Input) -> Result<Format> {
        match input.ending.as_deref().and_then(Format::of_ending) {
            Some(format) => Ok(format),
            None => Format::sniff(input),
        }
    }

    /// True if the ending of the path is one of a file that may be read, or there is none.
    pub(super) fn reads(path: &Path) -> bool {
        ending(path).is_none_or(|ending| Format::of_ending(&ending).is_some() || OTHERS.contains(&&*ending))
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
    /// If the start cannot be read, or is that of a file of another kind.
    fn sniff(input: &mut Input) -> Result<Format> {
        let start = input.peek(512)?;
        let text = start.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&start).trim_ascii_start();
        Ok(if start.starts_with(npy::MAGIC) {
            Format::Npy
        } else if npy::MAGICS.iter().any(|magic| start.starts_with(magic)) {
            Format::in_zip(input)?
        } else if safetensors::looks_like(&start, input.length) {
            Format::Safetensors
        } else if start.starts_with(&[0x1f, 0x8b]) {
            Format::Gzip
        } else if start.get(124..126) != Some(&[0, 2])
            && (start.starts_with(matlab::MAGIC)
                || input.ending.as_deref() == Some("mat") && !start.starts_with(remedy::HDF5))
        {
            Format::Matlab
        } else if start.first() == Some(&0x80) && (2..=5).contains(start.get(1).unwrap_or(&0)) {
            Format::Pickle
        } else if is_json(text) {
            Format::Json
        } else {
            remedy::check(&start, input)?;
            Format::Delimited(DelimiterChoice::Detected)
        })
    }

    /// The format of a zip archive by the names in it.
    fn in_zip(input: &mut Input) -> Result<Format> {
        let archive = ZipArchive::new(&mut *input.reader);
        let has = |end: &str| {
            archive.as_ref().is_ok_and(|archive| {
                archive.file_names().any(|name| name.is_ok_and(|name| name.ends_with(end)))
            })
        };
        let format = if has("xl/workbook.xml") {
            Format::Workbook
        } else if has("data.pkl") {
            Format::Torch
        } else if archive.is_ok() && !has(".npy") {
            return Err(remedy::of_zip(&input.name));
        } else {
            Format::Npz
        };
        drop(archive);
        input.rewind()?;
        Ok(format)
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
    Torch(Torch),
    /// Arrays whose bytes are at hand.
    Held(Vec<Numbers>),
}

impl Container {
    /// Opens a file or a stream.
    ///
    /// # Errors
    /// If its ending is not one of those that are read, the content is not of its format, or has no names where they are needed.
    pub(super) fn open(input: Input, purpose: Purpose) -> Result<Container> {
        let name = input.name.clone();
        let mut input = input;
        let is_packed = Format::of(&mut input).map_err(|error| error.in_source(&name))? == Format::Gzip;
        let input = if is_packed { input.unpacked().map_err(|error| error.in_source(&name))? } else { input };
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
                let is_sniffed = input.ending.as_deref() != Some("json") && purpose != Purpose::Layer;
                let text = input.text()?;
                let json = match parse(&name, &text) {
                    Err(_) if is_sniffed && looks_inline(&text) => {
                        let tables = tables(&name, &text, DelimiterChoice::Detected, purpose.allowed())?;
                        return Ok(Container::of_arrays(name, tables, limit));
                    }
                    json => json?,
                };
                let nodes = match purpose {
                    Purpose::One(_) => Nodes::Either,
                    Purpose::Layer => Nodes::Given,
                    Purpose::Results => Nodes::Computed,
                };
                let (names, entries) = document(json, nodes)?.into_iter().unzip();
                (names, Entries::Text(entries))
            }
            Format::Delimited(delimiting) => {
                input.charge_as_text()?;
                let tables = tables(&name, &input.text()?, delimiting, purpose.allowed())?;
                if purpose == Purpose::Layer && tables.iter().any(|(name, _)| name.is_none()) {
                    return Err(nameless());
                }
                return Ok(Container::of_arrays(name, tables, limit));
            }
            Format::Gzip => {
                return Err(Error::new("this is a gzip file in a gzip file").help("unpack it once"));
            }
            Format::Torch => {
                let torch = Torch::open(input)?;
                let names =
                    torch.tensors.iter().map(|(name, _)| Some(name.clone()).filter(|name| !name.is_empty()));
                (names.collect(), Entries::Torch(torch))
            }
            Format::Workbook => {
                let sheets = workbook::sheets(input, purpose.allowed())?;
                let (names, arrays): (Vec<_>, Vec<_>) = sheets.into_iter().unzip();
                let names = if names.len() == 1 { vec![None] } else { names.into_iter().map(Some).collect() };
                (names, Entries::Text(arrays.into_iter().map(Json::Array).collect()))
            }
            format @ (Format::Matlab | Format::Pickle) => {
                let bytes = input.bytes()?;
                let found = if format == Format::Matlab {
                    matlab::variables(&bytes, limit)?
                } else {
                    pickle::plain(&bytes)?
                };
                let (names, numbers): (Vec<_>, Vec<_>) = found.into_iter().unzip();
                (
                    names.into_iter().map(|name| Some(name).filter(|name| !name.is_empty())).collect(),
                    Entries::Held(numbers),
                )
            }
        };
        let named = !names.contains(&None);
        if purpose == Purpose::Layer && !named {
            return Err(nameless());
        }
        let names = names.into_iter().map(Option::unwrap_or_default).collect();
        Ok(Container { name, names, named, limit, entries })
    }

    /// Arrays of a text that has been read.
    fn of_arrays(name: String, arrays: Vec<(Option<String>, Array)>, limit: Limit) -> Container {
        let (names, arrays): (Vec<_>, Vec<_>) = arrays.into_iter().unzip();
        let named = !names.contains(&None);
        let names = names.into_iter().map(Option::unwrap_or_default).collect();
        Container {
            name,
            names,
            named,
            limit,
            entries: Entries::Text(arrays.into_iter().map(Json::Array).collect()),
        }
    }

    /// A matrix that is typed in place.
    ///
    /// # Errors
    /// If it is none, or has no name where it needs one.
    pub(super) fn typed_in_place(name: String, text: &str, purpose: Purpose) -> Result<Container> {
        if purpose == Purpose::Layer {
            return Err(nameless().in_source(name));
        }
        // Lines may be a print with more than numbers, or a table with `;` between them.
        let array = match text.trim().contains('\n') {
            true => table(&format!("`{}`", clip(text)), text, DelimiterChoice::Detected, purpose.allowed())?,
            false => inline(text, purpose.allowed())?,
        };
        Ok(Container::of_arrays(name, vec![(None, array)], Limit::ANY))
    }

    /// What a reader should know about how a text with one matrix was read.
    pub(super) fn notes(&self) -> Vec<String> {
        match &self.entries {
            Entries::Text(all) => match &all[..] {
                [Json::Array(array)] => told(&self.name, array),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// The entry for a role: the only one, or the one with its name; with a note in the second case.
    ///
    /// # Errors
    /// As [`Container::check_single`].
    pub(super) fn entry_for(&self, role: Role) -> Result<(usize, Option<String>)> {
        let is_it = |name: &&String| own(name) == Some(EntryKind::Whole(role));
        let found: Vec<&String> = self.names.iter().filter(is_it).collect();
        match found[..] {
            [name] if self.names.len() > 1 => {
                let position = self.names.iter().position(|other| other == name).unwrap_or_default();
                let note = format!(
                    "Of {}, `{}` is read; it has {} arrays.",
                    self.name,
                    clip(name),
                    self.names.len()
                );
                Ok((position, Some(note)))
            }
            _ => self.check_single().map(|()| (0, None)),
        }
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
            Entries::Torch(torch) => return torch.stored(position, limit),
            Entries::Held(all) => match all.get(position) {
                Some(Numbers::Held(format, bytes)) => pickle::held(format, bytes, limit)?,
                _ => return Ok(None),
            },
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
            Entries::Held(all) => match all.get(position) {
                Some(Numbers::Array(array)) => Ok(Item::Array(array.clone())),
                _ => Err(Error::new("no such entry")),
            },
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
            _ if ["indptr", "indices", "data"]
                .iter()
                .all(|part| self.names.iter().any(|name| name == part)) =>
            {
                Err(Error::new("this is a sparse matrix of SciPy").in_source(&self.name).help(
                    remedy::python(&self.name, "import numpy, scipy.sparse", |file| {
                        format!("scipy.sparse.load_npz({file}).toarray()")
                    }),
                ))
            }
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
