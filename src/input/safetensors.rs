//! `.safetensors`: named tensors behind one header. Only the tensors asked for are read, so that a model's file may be
//! larger than memory.

use std::io::{self, Read, Seek, SeekFrom};

use safetensors::Dtype;
use safetensors::tensor::Metadata;

use crate::error::{Error, Result};
use crate::memory;
use crate::tensor::{self, Element};
use crate::text::grouped;
use crate::unique::check_names;

use super::cell_type::{ArrayFormat, CellType, Payload};
use super::dims::checked_cells;
use super::item::{Item, entry_name};
use super::limit::Limit;
use super::open::{Input, ReadSeek, unreadable};
use super::safetensors_places::wrong_places;

/// The longest header that the format allows, in bytes; those of the largest models have a few million.
const LONGEST_HEADER: u64 = 100_000_000;

/// Bytes of memory for a byte of a header while it is parsed.
const HEADER_AS_DATA: u64 = 16;

/// An opened file, its header read and checked.
pub(super) struct Tensors {
    name: String,
    reader: Box<dyn ReadSeek>,
    metadata: Metadata,
    /// The tensors in the order in which they are stored.
    names: Vec<String>,
    /// Bytes before the first tensor.
    start: u64,
    limit: Limit,
}

/// True if a file may start with a header: its length as a `u64`, then an object in JSON.
pub(super) fn looks_like(start: &[u8], length: u64) -> bool {
    header_length(start).is_some_and(|header| header <= length.saturating_sub(8))
        && start.get(8) == Some(&b'{')
}

fn header_length(start: &[u8]) -> Option<u64> {
    start.first_chunk().map(|length| u64::from_le_bytes(*length))
}

impl Tensors {
    /// Reads the header.
    ///
    /// # Errors
    /// If it is damaged, or does not account for every byte of the file.
    pub(super) fn open(mut input: Input) -> Result<Tensors> {
        let name = input.name.clone();
        let damaged =
            |what: String| Error::new(what).in_source(&name).help("download or save the file again");
        let start = input.peek(8)?;
        let Some(length) = header_length(&start).filter(|&length| length <= input.length - 8) else {
            return Err(damaged("the .safetensors file is incomplete: its header is cut off".into()));
        };
        if length > LONGEST_HEADER {
            return Err(damaged(format!(
                "the header of the .safetensors file has {} bytes, but the format allows {} at most",
                grouped(length),
                grouped(LONGEST_HEADER)
            )));
        }
        let mut reader = input.reader;
        let _parsing = memory::hold(length * HEADER_AS_DATA).map_err(|error| error.in_source(&name))?;
        let mut header = Vec::new();
        reader
            .seek(SeekFrom::Start(8))
            .and_then(|_| reader.by_ref().take(length).read_to_end(&mut header))
            .map_err(|error| unreadable(&name, &error))?;
        check_names(&header).map_err(|error| {
            damaged(format!("the header of the .safetensors file cannot be read: {error}"))
        })?;
        // Metadata checks on reading that shapes, types and offsets agree and that no product overflows.
        let metadata: Metadata = serde_json::from_slice(&header).map_err(|error| {
            let said = wrong_places(&header).unwrap_or_else(|| error.to_string());
            damaged(format!("the header of the .safetensors file cannot be read: {said}"))
        })?;
        let start = 8 + length;
        let stored = input.length - start;
        if metadata.data_len() as u64 != stored {
            return Err(damaged(format!(
                "the header says {} bytes of tensors, but {stored} follow",
                metadata.data_len()
            )));
        }
        let names = metadata.offset_keys();
        Ok(Tensors { name, reader, metadata, names, start, limit: input.limit })
    }

    /// The names of the tensors, in the order in which they are stored.
    pub(super) fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Reads the tensor at a position of [`Tensors::names`].
    ///
    /// # Errors
    /// If its numbers are of a type that is not read, or there are too many.
    pub(super) fn read<T: Element>(&mut self, position: usize) -> Result<Item<T>> {
        let entry = self.names.get(position).map(String::as_str).unwrap_or_default();
        let name = entry_name(&self.name, entry);
        let Some(info) = self.metadata.info(entry) else {
            return Err(Error::new("no such tensor").in_source(name));
        };
        let cell = cell_type(info.dtype).map_err(|error| error.in_source(&name))?;
        checked_cells(&info.shape, self.limit.cells()).map_err(|error| error.in_source(&name))?;
        let seek = self.reader.seek(SeekFrom::Start(self.start + info.data_offsets.0 as u64));
        seek.map_err(|error| unreadable(&name, &error))?;
        let stored = ArrayFormat { cell, big_endian: false, fortran: false, dims: info.shape.clone() };
        match stored.read(&name, &mut self.reader)? {
            Payload::Whole(array) => Ok(Item::Array(array)),
            Payload::CutOff(_) => Err(unreadable(&name, &io::ErrorKind::UnexpectedEof.into())),
        }
    }
}

/// What the header says of a tensor of any type.
pub(super) struct HeaderEntry<'a> {
    pub(super) name: &'a str,
    /// The type as the header writes it.
    pub(super) dtype: String,
    pub(super) dims: &'a [usize],
    /// The first byte in the file.
    pub(super) start: u64,
    /// The number of its bytes.
    pub(super) bytes: u64,
}

impl Tensors {
    /// What the header says, in the order in which the tensors are stored.
    pub(super) fn entries(&self) -> impl Iterator<Item = HeaderEntry<'_>> {
        self.names.iter().filter_map(|name| {
            let info = self.metadata.info(name)?;
            let (begin, end) = info.data_offsets;
            Some(HeaderEntry {
                name,
                dtype: info.dtype.to_string(),
                dims: &info.shape,
                start: self.start + begin as u64,
                bytes: (end - begin) as u64,
            })
        })
    }
}

/// The position of a tensor in its file.
pub(super) struct TensorPlace {
    /// The first byte.
    pub(super) start: u64,
    pub(super) dtype: tensor::Dtype,
    pub(super) dims: Vec<usize>,
}

impl Tensors {
    /// The position of a tensor; `None` if there is none of this name.
    ///
    /// # Errors
    /// If they are of a type that is not read where it lies, or there are none.
    pub(super) fn place(&self, entry: &str) -> Result<Option<TensorPlace>> {
        let Some(info) = self.metadata.info(entry) else { return Ok(None) };
        let name = entry_name(&self.name, entry);
        let dtype = match info.dtype {
            Dtype::F64 => tensor::Dtype::F64,
            Dtype::F32 => tensor::Dtype::F32,
            Dtype::F16 => tensor::Dtype::F16,
            Dtype::BF16 => tensor::Dtype::Bf16,
            Dtype::BOOL => tensor::Dtype::Bool,
            other => {
                return Err(Error::new(format!("numbers of type {other:?} cannot stay in their file"))
                    .in_source(name)
                    .help("save the tensor as F32, F64, F16, BF16 or BOOL"));
            }
        };
        checked_cells(&info.shape, usize::MAX).map_err(|error| error.in_source(&name))?;
        let start = self.start + info.data_offsets.0 as u64;
        Ok(Some(TensorPlace { start, dtype, dims: info.shape.clone() }))
    }

    /// True if the tensor at a position of [`Tensors::names`] holds truth values.
    pub(super) fn is_boolean(&self, position: usize) -> bool {
        let info = self.names.get(position).and_then(|name| self.metadata.info(name));
        info.is_some_and(|info| info.dtype == Dtype::BOOL)
    }

    /// From now on no tensor may be larger than this.
    pub(super) fn keep_within(&mut self, limit: Limit) {
        self.limit = limit;
    }
}

fn cell_type(dtype: Dtype) -> Result<CellType> {
    Ok(match dtype {
        Dtype::F64 => CellType::F64,
        Dtype::F32 => CellType::F32,
        Dtype::F16 => CellType::F16,
        Dtype::BF16 => CellType::Bf16,
        Dtype::I8 => CellType::I8,
        Dtype::I16 => CellType::I16,
        Dtype::I32 => CellType::I32,
        Dtype::I64 => CellType::I64,
        Dtype::U8 => CellType::U8,
        Dtype::U16 => CellType::U16,
        Dtype::U32 => CellType::U32,
        Dtype::U64 => CellType::U64,
        Dtype::BOOL => CellType::Bool,
        other => {
            return Err(Error::new(format!("the numbers have the type {other}"))
                .help("convert the tensor to F64, F32, F16, BF16, an integer type or BOOL"));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn open(bytes: Vec<u8>) -> Result<Tensors> {
        let length = bytes.len() as u64;
        Tensors::open(Input {
            name: "x.safetensors".into(),
            length,
            limit: Limit::ANY,
            reader: Box::new(Cursor::new(bytes)),
        })
    }

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
    }

    fn fails(bytes: Vec<u8>) -> String {
        open(bytes).and_then(|mut tensors| tensors.read::<f64>(0)).err().unwrap().to_string()
    }

    const TWO: &str = r#"{"X":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}"#;

    #[test]
    fn a_tensor_is_read_from_its_offset() {
        let data = [1.5f32.to_le_bytes(), (-2.0f32).to_le_bytes()].concat();
        let mut tensors = open(file(TWO, &data)).unwrap();
        assert_eq!(tensors.names(), ["X"]);
        assert!(
            matches!(tensors.read::<f64>(0).unwrap(), Item::Array(array) if array.values() == [1.5, -2.0])
        );
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
}
