//! `.safetensors`: named tensors behind one header. Only the tensors asked for are read, so that a model's file may be
//! larger than memory.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;
use std::{fs, io};

use safetensors::Dtype;
use safetensors::tensor::Metadata;
use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::foreign::visible;
use crate::json_tree::check_names;
use crate::read::{Limit, checked_cells, entry_name};
use crate::tensor::{Storage, StoredNumbers, Tensor};
use crate::text::{grouped, listed_briefly, nearest};
use crate::{memory, tensor};

use super::cell_type::{ArrayFormat, Kind, StoredArray, is_read};
use super::open::{Input, ReadSeek, path_text, regular, unread, unreadable};

/// The longest header that the format allows, in bytes; those of the largest models have a few million.
const LONGEST_HEADER: u64 = 100_000_000;

/// Bytes of memory for a byte of a header while it is parsed.
const HEADER_AS_DATA: u64 = 16;

/// An opened file, its header read and checked.
pub(super) struct Tensors {
    reader: Box<dyn ReadSeek>,
    metadata: Metadata,
    /// The names of the tensors, in the order in which they are stored.
    pub(super) names: Vec<String>,
    /// Bytes before the first tensor.
    start: u64,
}

/// True if a file may start with a header: its length as a `u64`, then an object in JSON.
pub(super) fn looks_like(start: &[u8], length: u64) -> bool {
    header_length(start).is_some_and(|header| header <= length.saturating_sub(8))
        && start.get(8) == Some(&b'{')
}

fn header_length(start: &[u8]) -> Option<u64> {
    start.first_chunk().map(|length| u64::from_le_bytes(*length))
}

/// What the header says of a tensor of any type.
pub(super) struct HeaderEntry<'a> {
    pub(super) name: &'a str,
    pub(super) dtype: Dtype,
    pub(super) dims: &'a [usize],
    /// The first byte in the file.
    pub(super) start: u64,
    /// The number of its bytes.
    pub(super) bytes: u64,
}

impl Tensors {
    /// Reads the header.
    ///
    /// # Errors
    /// If it is damaged, or does not account for every byte of the file.
    pub(super) fn open(input: Input) -> Result<Tensors> {
        let name = input.name.clone();
        Tensors::with_header(input).map_err(|error| error.in_source(name))
    }

    fn with_header(mut input: Input) -> Result<Tensors> {
        let damaged = |what: String| Error::new(what).help("download or save the file again");
        let start = input.peek(8)?;
        let Some(length) = header_length(&start).filter(|&length| length <= input.length - 8) else {
            return Err(damaged("the .safetensors file is incomplete: its header is cut off".into()));
        };
        if length > LONGEST_HEADER {
            let [length, most] = [length, LONGEST_HEADER].map(grouped);
            return Err(damaged(format!(
                "the header of the .safetensors file has {length} bytes, but the format allows {most} at most"
            )));
        }
        let mut reader = input.reader;
        let _parsing = memory::hold(length * HEADER_AS_DATA)?;
        let mut header = Vec::new();
        reader.seek(SeekFrom::Start(8)).map_err(unread)?;
        reader.by_ref().take(length).read_to_end(&mut header).map_err(unread)?;
        let unparsed =
            |said: String| damaged(format!("the header of the .safetensors file cannot be read: {said}"));
        check_names(&header).map_err(|error| unparsed(error.to_string()))?;
        // Metadata checks on reading that shapes, types and offsets agree and that no product overflows.
        let metadata: Metadata = serde_json::from_slice(&header)
            .map_err(|error| unparsed(wrong_places(&header).unwrap_or_else(|| error.to_string())))?;
        let start = 8 + length;
        let (said, stored) = (metadata.data_len(), input.length - start);
        if said as u64 != stored {
            return Err(damaged(format!("the header says {said} bytes of tensors, but {stored} follow")));
        }
        let names = metadata.offset_keys();
        Ok(Tensors { reader, metadata, names, start })
    }

    /// The tensor at a position of `names`.
    ///
    /// # Errors
    /// If its numbers are of a type that is not read, or there are too many.
    pub(super) fn stored(&mut self, position: usize, limit: Limit) -> Result<StoredArray<'_>> {
        let entry = self.names.get(position).map(String::as_str).unwrap_or_default();
        let Some(HeaderEntry { dtype, dims, start, bytes, .. }) = self.entry(entry) else {
            return Err(Error::new("no such tensor"));
        };
        if !is_read(dtype) {
            return Err(Error::new(format!("the numbers have the type {dtype}"))
                .help("convert the tensor to F64, F32, F16, BF16, an integer type or BOOL"));
        }
        checked_cells(dims, limit.cells)?;
        let kind = Kind::Number(dtype);
        let format = ArrayFormat { kind, big_endian: false, fortran: false, dims: dims.to_vec() };
        self.reader.seek(SeekFrom::Start(start)).map_err(unread)?;
        Ok(StoredArray { format, reader: Box::new(self.reader.by_ref().take(bytes)) })
    }

    /// What the header says, in the order in which the tensors are stored.
    pub(super) fn entries(&self) -> impl Iterator<Item = HeaderEntry<'_>> {
        self.names.iter().filter_map(|name| self.entry(name))
    }

    /// What the header says of a tensor; `None` if there is none of this name.
    fn entry<'a>(&'a self, name: &'a str) -> Option<HeaderEntry<'a>> {
        let info = self.metadata.info(name)?;
        let (begin, end) = info.data_offsets;
        let (start, bytes) = (self.start + begin as u64, (end - begin) as u64);
        Some(HeaderEntry { name, dtype: info.dtype, dims: &info.shape, start, bytes })
    }
}

// What is wrong with the places of the tensors in a `.safetensors` file.

/// A tensor's first byte and the one behind its last, counted from the end of the header.
struct Place<'a> {
    name: &'a str,
    from: u64,
    to: u64,
}

/// The first two neighbours of a header that overlap, or that have bytes between them which belong to none; nothing where
/// something else is wrong with it.
pub(super) fn wrong_places(header: &[u8]) -> Option<String> {
    let header: Map<String, Value> = serde_json::from_slice(header).ok()?;
    let tensors = header.iter().filter(|(name, _)| *name != "__metadata__");
    let mut places: Vec<Place<'_>> =
        tensors.map(|(name, tensor)| place(name, tensor)).collect::<Option<_>>()?;
    places.sort_by_key(|place| (place.from, place.to));
    let Place { name, from, .. } = *places.first()?;
    if from > 0 {
        return Some(format!("the first {from} bytes belong to no tensor: `{name}` begins behind them"));
    }
    let [one, other] = places.array_windows().find(|[one, other]| one.to != other.from)?;
    let (names, from, to) = (format!("`{}` and `{}`", one.name, other.name), other.from, one.to);
    Some(if from < to {
        format!("the tensors {names} overlap: both have the bytes {from} to {}", to.min(other.to))
    } else {
        format!("there is a hole: {} bytes between the tensors {names} belong to none", from - to)
    })
}

fn place<'a>(name: &'a str, tensor: &Value) -> Option<Place<'a>> {
    let offsets = tensor.get("data_offsets")?.as_array()?;
    let (from, to) = (offsets.first()?.as_u64()?, offsets.get(1)?.as_u64()?);
    (from <= to).then_some(Place { name, from, to })
}

// Tensors that stay in their file until their numbers are asked for.

/// A tensor of a `.safetensors` file, by its name in it. Only the header is read here; the numbers are read when they are asked
/// for, so that a file may be larger than memory.
///
/// # Errors
/// If the file cannot be opened, is no such file, has no tensor of this name, or its type or its dimensions are not those of
/// numbers that attention computes with.
pub fn stored(path: &Path, entry: &str) -> Result<Tensor> {
    let name = path_text(path);
    let tensors = Tensors::open(Input::open(&name, path, Limit::LARGE)?)?;
    let Some(HeaderEntry { dtype, dims, start, .. }) = tensors.entry(entry) else {
        return Err(no_tensor(&name, entry, tensors.names.iter()));
    };
    let place = || entry_name(&name, entry);
    let kept = number_type(dtype).ok_or_else(|| {
        Error::new(format!("numbers of type {dtype:?} cannot stay in their file"))
            .in_source(place())
            .help("save the tensor as F32, F64, F16, BF16 or BOOL")
    })?;
    let count = checked_cells(dims, usize::MAX).map_err(|error| error.in_source(place()))?;
    let (file, _) = regular(&name, path)?;
    let storage = StoredFile::new(place(), file)?;
    let numbers = StoredNumbers::new(Arc::new(storage), start, kept, count)?;
    Tensor::stored(numbers, dims).map_err(|error| error.in_source(place()))
}

/// The type of numbers that may stay in their file.
pub(super) fn number_type(dtype: Dtype) -> Option<tensor::Dtype> {
    Some(match dtype {
        Dtype::F64 => tensor::Dtype::F64,
        Dtype::F32 => tensor::Dtype::F32,
        Dtype::F16 => tensor::Dtype::F16,
        Dtype::BF16 => tensor::Dtype::Bf16,
        Dtype::BOOL => tensor::Dtype::Bool,
        _ => return None,
    })
}

/// The error for a tensor that is not among these.
pub(super) fn no_tensor<'a>(
    place: &str,
    name: &str,
    names: impl Iterator<Item = &'a String> + Clone,
) -> Error {
    let names = names.map(String::as_str);
    let error = Error::new(format!("there is no tensor `{}`", visible(name))).in_source(place);
    match nearest(name, names.clone()) {
        Some(near) => error.help(format!("did you mean `{}`?", visible(near))),
        None => error.help(format!("it has {}", listed_briefly(names))),
    }
}

/// An open file that is read from anywhere, as long as nobody changes it.
#[derive(Debug)]
pub(super) struct StoredFile {
    name: String,
    /// Its [`state`] when it was opened.
    opened: (u64, Option<SystemTime>),
    file: File,
}

/// The length of a file and the time of its last change, where the system knows it: they show that it was changed. A change that keeps
/// the length is not seen within one tick of the file system's clock, a few milliseconds.
fn state(metadata: &fs::Metadata) -> (u64, Option<SystemTime>) {
    (metadata.len(), metadata.modified().ok())
}

impl StoredFile {
    /// A file that is open; from now on a change of it is an error.
    ///
    /// # Errors
    /// If the system does not tell its length.
    pub(super) fn new(name: String, file: File) -> Result<StoredFile> {
        let metadata = file.metadata().map_err(|error| unreadable(&name, &error))?;
        Ok(StoredFile { name, opened: state(&metadata), file })
    }

    /// # Errors
    /// If the file is not as it was when it was opened.
    fn check_unchanged(&self) -> Result<()> {
        let now = self.file.metadata().map_err(|error| unreadable(&self.name, &error))?;
        if state(&now) == self.opened { Ok(()) } else { Err(changed(&self.name)) }
    }
}

impl Storage for StoredFile {
    fn name(&self) -> &str {
        &self.name
    }

    fn length(&self) -> u64 {
        self.opened.0
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        self.check_unchanged()?;
        match fill(&self.file, offset, buffer) {
            // Its length was right before: it was cut off in between.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(changed(&self.name)),
            Err(error) => Err(unreadable(&self.name, &error)),
            Ok(()) => self.check_unchanged(),
        }
    }
}

fn changed(name: &str) -> Error {
    Error::new("the file changed while it was in use")
        .of_kind(ErrorKind::File)
        .in_source(name)
        .help("wait until nothing writes to it, then run the command again")
}

/// Fills a buffer with the bytes from a place of a file on; readers do not disturb each other.
#[cfg(unix)]
fn fill(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// The same, for one reader at a time, because where a file is read next belongs to all of them.
#[cfg(not(unix))]
fn fill(mut file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(buffer)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn open(bytes: Vec<u8>) -> Result<Tensors> {
        let length = bytes.len() as u64;
        Tensors::open(Input {
            name: "x.safetensors".into(),
            ending: None,
            length,
            limit: Limit::ANY,
            reader: Box::new(Cursor::new(bytes)),
        })
    }

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
    }

    fn fails(bytes: Vec<u8>) -> String {
        let read = |mut tensors: Tensors| {
            let read = tensors.stored(0, Limit::ANY).and_then(|array| array.read::<f64>("X"));
            read.map_err(|error| error.in_source("x.safetensors"))
        };
        open(bytes).and_then(read).err().unwrap().to_string()
    }

    const TWO: &str = r#"{"X":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}"#;

    #[test]
    fn a_tensor_is_read_from_its_offset() {
        let data = [1.5f32.to_le_bytes(), (-2.0f32).to_le_bytes()].concat();
        let mut tensors = open(file(TWO, &data)).unwrap();
        assert_eq!(tensors.names, ["X"]);
        let read = tensors.stored(0, Limit::ANY).unwrap().read::<f64>("X").unwrap();
        assert_eq!(read.into_array().unwrap().values(), [1.5, -2.0]);
    }

    #[test]
    fn a_cut_off_file_is_refused_wherever_it_is_cut() {
        let whole = file(TWO, &[0; 8]);
        for length in 0..whole.len() {
            assert!(open(whole[..length].to_vec()).is_err(), "{length}");
        }
        assert!(fails(file(TWO, &[0; 9])).contains("the header says 8 bytes of tensors, but 9 follow"));
    }

    #[test]
    fn absurd_headers_are_refused() {
        let said = fails([&u64::MAX.to_le_bytes()[..], b"{}"].concat());
        assert!(said.contains("its header is cut off"), "{said}");
        for header in [
            r#"{"X":{"dtype":"F32","shape":[4611686018427387904,4611686018427387904],"data_offsets":[0,8]}}"#,
            r#"{"X":{"dtype":"F32","shape":[1,2],"data_offsets":[8,0]}}"#,
            r#"{"X":{"dtype":"F32","shape":[1,2],"data_offsets":[0,18446744073709551615]}}"#,
            r#"{"X":{"dtype":"F99","shape":[1,2],"data_offsets":[0,8]}}"#,
            r#"{"X":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},"Y":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}"#,
            "[1]",
            "{",
        ] {
            let said = fails(file(header, &[0; 8]));
            assert!(said.starts_with("x.safetensors: "), "{said}");
        }
        let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(fails(file(&format!("{{\"X\":{nested}}}"), b"")).contains("cannot be read"));
    }

    #[test]
    fn a_tensor_given_twice_is_refused() {
        let tensor = r#"{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}"#;
        let said = fails(file(&format!("{{\"X\":{tensor},\"X\":{tensor}}}"), &[0; 8]));
        assert!(said.contains("`X` appears twice"), "{said}");
    }

    #[test]
    fn an_unknown_type_is_named() {
        let header = r#"{"X":{"dtype":"F8_E4M3","shape":[1,2],"data_offsets":[0,2]}}"#;
        assert!(fails(file(header, &[0; 2])).contains("F8_E4M3"));
    }

    fn said(places: &[(&str, u64, u64)]) -> Option<String> {
        let tensors: Map<String, Value> = places
            .iter()
            .map(|&(name, from, to)| (name.to_string(), serde_json::json!({"data_offsets": [from, to]})))
            .collect();
        wrong_places(Value::Object(tensors).to_string().as_bytes())
    }

    #[test]
    fn an_overlap_and_a_hole_are_told_apart() {
        let overlap = said(&[("a", 0, 8), ("b", 4, 12)]).unwrap();
        assert_eq!(overlap, "the tensors `a` and `b` overlap: both have the bytes 4 to 8");
        let hole = said(&[("b", 9, 17), ("a", 0, 8)]).unwrap();
        assert_eq!(hole, "there is a hole: 1 bytes between the tensors `a` and `b` belong to none");
        assert!(said(&[("a", 8, 16)]).unwrap().starts_with("the first 8 bytes belong to no tensor"));
        assert_eq!(said(&[("a", 0, 8), ("b", 8, 16)]), None);
        assert_eq!(said(&[("a", 8, 0)]), None);
        assert_eq!(wrong_places(b"{"), None);
    }
}
