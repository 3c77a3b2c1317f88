//! Weights that PyTorch has saved, and lists and NumPy arrays in a pickle. A pickle is a program; here a few of its instructions build
//! plain values, a few names stand for themselves, and everything else is refused: nothing is ever run.

use std::borrow::Cow;
use std::io::Read;
use std::rc::Rc;

use zip::ZipArchive;

use crate::error::{Error, Result};
use crate::memory;
use crate::read::{Array, Limit, checked_cells};
use crate::text::clip;

use super::cell_type::{ArrayFormat, CellType, Kind, StoredArray, size_of_cell};
use super::open::{Input, ReadSeek, unread};

/// The most bytes of the program of a file: that of a large model has a few hundred thousand.
const LONGEST_PROGRAM: u64 = 16 << 20;
/// The most instructions, and the deepest value within a value.
const MOST_STEPS: usize = 1 << 20;
const DEEPEST: usize = 16;
/// Bytes of memory of a value.
const A_VALUE: u64 = 64;

/// A plain value.
#[derive(Debug)]
enum Value {
    None,
    Truth(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    Tuple(Vec<Rc<Value>>),
    List(Vec<Rc<Value>>),
    Dictionary(Vec<(Rc<Value>, Rc<Value>)>),
    /// One of [`NAMES`], or the type of a storage.
    Name(String),
    /// What lies in another entry of the archive.
    Elsewhere(Rc<Value>),
    /// What a call of a name would give, with its arguments and the state that it is given.
    Made(String, Rc<Value>, Option<Rc<Value>>),
}

/// The names that may stand in a program, with their modules.
const NAMES: [&str; 9] = [
    "torch._utils _rebuild_tensor_v2",
    "torch._utils _rebuild_parameter",
    "collections OrderedDict",
    "numpy.core.multiarray _reconstruct",
    "numpy._core.multiarray _reconstruct",
    "numpy._core.numeric _frombuffer",
    "numpy.core.numeric _frombuffer",
    "numpy ndarray",
    "numpy dtype",
];

/// The types of storages, in PyTorch's names.
const STORAGES: [(&str, CellType); 10] = [
    ("torch DoubleStorage", CellType::F64),
    ("torch FloatStorage", CellType::F32),
    ("torch HalfStorage", CellType::F16),
    ("torch BFloat16Storage", CellType::BF16),
    ("torch LongStorage", CellType::I64),
    ("torch IntStorage", CellType::I32),
    ("torch ShortStorage", CellType::I16),
    ("torch CharStorage", CellType::I8),
    ("torch ByteStorage", CellType::U8),
    ("torch BoolStorage", CellType::BOOL),
];

fn damaged() -> Error {
    Error::new("this is no complete pickle").help("save the file again")
}

/// The error for a pickle that holds more than arrays.
fn other(what: &str) -> Error {
    Error::new(format!("a pickle with {what}: only lists, dictionaries, NumPy arrays and tensors are read, and no code is run"))
        .help("in Python, save the numbers alone: numpy.savez(\"q.npz\", Q=numpy.asarray(q))")
}

/// What a program builds.
fn value(program: &[u8]) -> Result<Rc<Value>> {
    let mut machine = Machine { rest: program, stack: Vec::new(), marks: Vec::new(), memo: Vec::new() };
    let _values = memory::hold((program.len() as u64).saturating_mul(A_VALUE))?;
    for _ in 0..MOST_STEPS {
        if let Some(value) = machine.step()? {
            return Ok(value);
        }
    }
    Err(other("too many instructions"))
}

struct Machine<'p> {
    rest: &'p [u8],
    stack: Vec<Rc<Value>>,
    marks: Vec<usize>,
    /// Values that can be fetched again; `None` for those that may have changed since.
    memo: Vec<Option<Rc<Value>>>,
}

impl Machine<'_> {
    fn take(&mut self, count: usize) -> Result<&[u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(damaged)?;
        self.rest = rest;
        Ok(taken)
    }

    fn unsigned(&mut self, bytes: usize) -> Result<usize> {
        let number = self.take(bytes)?.iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
        usize::try_from(number).map_err(|_| damaged())
    }

    fn text(&mut self, bytes: usize) -> Result<Value> {
        let length = self.unsigned(bytes)?;
        let text = self.take(length)?.to_vec();
        String::from_utf8(text).map(Value::Text).map_err(|_| damaged())
    }

    fn bytes(&mut self, bytes: usize) -> Result<Value> {
        let length = self.unsigned(bytes)?;
        memory::hold(length as u64)?.keep();
        Ok(Value::Bytes(self.take(length)?.to_vec()))
    }

    fn line(&mut self) -> Result<String> {
        let end = memchr::memchr(b'\n', self.rest).ok_or_else(damaged)?;
        let line = self.take(end)?.to_vec();
        self.take(1)?;
        String::from_utf8(line).map_err(|_| damaged())
    }

    fn pop(&mut self) -> Result<Rc<Value>> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor { Err(damaged()) } else { self.stack.pop().ok_or_else(damaged) }
    }

    /// The values above the last mark.
    fn marked(&mut self) -> Result<Vec<Rc<Value>>> {
        let mark = self.marks.pop().ok_or_else(damaged)?;
        Ok(self.stack.split_off(mark))
    }

    fn last(&mut self, count: usize) -> Result<Value> {
        let mut values = (0..count).map(|_| self.pop()).collect::<Result<Vec<_>>>()?;
        values.reverse();
        Ok(Value::Tuple(values))
    }

    fn push(&mut self, value: Value) -> Result<()> {
        if depth(&value) > DEEPEST {
            return Err(other("values too deep within values"));
        }
        self.stack.push(Rc::new(value));
        Ok(())
    }

    fn keep(&mut self, at: usize) -> Result<()> {
        if at > MOST_STEPS {
            return Err(damaged());
        }
        let value = self.stack.last().ok_or_else(damaged)?;
        // Tuples of tuples could be made to grow without end.
        let changes =
            matches!(&**value, Value::List(_) | Value::Dictionary(_) | Value::Made(..)) || depth(value) > 2;
        if self.memo.len() <= at {
            self.memo.resize(at + 1, None);
        }
        self.memo[at] = (!changes).then(|| value.clone());
        Ok(())
    }

    fn fetch(&mut self, at: usize) -> Result<()> {
        let value =
            self.memo.get(at).ok_or_else(damaged)?.clone().ok_or_else(|| other("a value in two places"))?;
        self.stack.push(value);
        Ok(())
    }

    /// Adds entries to the list or dictionary on the stack.
    fn add(&mut self, mut entries: Vec<Rc<Value>>, are_pairs: bool) -> Result<()> {
        if entries.iter().any(|entry| depth(entry) >= DEEPEST) {
            return Err(other("values too deep within values"));
        }
        let to = self.pop()?;
        let mut to = Rc::try_unwrap(to).map_err(|_| other("a value in two places"))?;
        match &mut to {
            Value::List(list) if !are_pairs => list.append(&mut entries),
            Value::Dictionary(pairs) if are_pairs && entries.len().is_multiple_of(2) => {
                let mut entries = entries.into_iter();
                while let (Some(key), Some(value)) = (entries.next(), entries.next()) {
                    pairs.push((key, value));
                }
            }
            _ => return Err(other("objects of a program")),
        }
        self.stack.push(Rc::new(to));
        Ok(())
    }

    fn name(&mut self, name: String) -> Result<()> {
        if !NAMES.contains(&&*name) && !STORAGES.iter().any(|(known, _)| *known == name) {
            return Err(other(&format!("`{}`", clip(&name.replace(' ', ".")))));
        }
        self.push(Value::Name(name))
    }

    /// One instruction; the result at the last.
    fn step(&mut self) -> Result<Option<Rc<Value>>> {
        let code = self.take(1)?[0];
        match code {
            b'.' => return self.pop().map(Some),
            0x80 => drop(self.take(1)?),
            0x95 => drop(self.take(8)?),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
            b'N' => self.push(Value::None)?,
            0x88 | 0x89 => self.push(Value::Truth(code == 0x88))?,
            b'K' | b'M' => {
                let number = self.unsigned(if code == b'K' { 1 } else { 2 })?;
                self.push(Value::Int(number as i64))?;
            }
            b'J' => {
                let number = self.unsigned(4)? as u32 as i32;
                self.push(Value::Int(i64::from(number)))?;
            }
            0x8a => {
                let length = self.unsigned(1)?;
                let bytes = self.take(length)?;
                let sign = if bytes.last().is_some_and(|byte| byte & 0x80 != 0) { -1i64 } else { 0 };
                if bytes.len() > 8 {
                    return Err(other("an integer of more than 64 bits"));
                }
                let number = bytes.iter().rev().fold(sign, |number, &byte| number << 8 | i64::from(byte));
                self.push(Value::Int(number))?;
            }
            b'G' => {
                let bytes: [u8; 8] = *self.take(8)?.first_chunk().ok_or_else(damaged)?;
                self.push(Value::Float(f64::from_be_bytes(bytes)))?;
            }
            0x8c | b'X' | 0x8d => {
                let text = self.text(match code {
                    0x8c => 1,
                    b'X' => 4,
                    _ => 8,
                })?;
                self.push(text)?;
            }
            b'U' | b'C' | b'T' | b'B' | 0x8e | 0x96 => {
                let bytes = self.bytes(match code {
                    b'U' | b'C' => 1,
                    b'T' | b'B' => 4,
                    _ => 8,
                })?;
                self.push(bytes)?;
            }
            b']' => self.push(Value::List(Vec::new()))?,
            b')' => self.push(Value::Tuple(Vec::new()))?,
            b'}' => self.push(Value::Dictionary(Vec::new()))?,
            b'a' => {
                let value = self.pop()?;
                self.add(vec![value], false)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.add(vec![key, value], true)?;
            }
            b'e' | b'u' => {
                let entries = self.marked()?;
                self.add(entries, code == b'u')?;
            }
            b't' => {
                let values = self.marked()?;
                self.push(Value::Tuple(values))?;
            }
            b'l' => {
                let values = self.marked()?;
                self.push(Value::List(values))?;
            }
            0x85..=0x87 => {
                let values = self.last(usize::from(code - 0x84))?;
                self.push(values)?;
            }
            b'q' | b'r' => {
                let at = self.unsigned(if code == b'q' { 1 } else { 4 })?;
                self.keep(at)?;
            }
            0x94 => self.keep(self.memo.len())?,
            b'h' | b'j' => {
                let at = self.unsigned(if code == b'h' { 1 } else { 4 })?;
                self.fetch(at)?;
            }
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.name(format!("{module} {name}"))?;
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                match (&*module, &*name) {
                    (Value::Text(module), Value::Text(name)) => self.name(format!("{module} {name}"))?,
                    _ => return Err(damaged()),
                }
            }
            b'Q' => {
                let value = self.pop()?;
                self.push(Value::Elsewhere(value))?;
            }
            b'R' => {
                let (arguments, callee) = (self.pop()?, self.pop()?);
                let Value::Name(name) = &*callee else { return Err(other("a call")) };
                let made = match (name.as_str(), &*arguments) {
                    ("collections OrderedDict", Value::Tuple(none)) if none.is_empty() => {
                        Value::Dictionary(Vec::new())
                    }
                    _ => Value::Made(name.clone(), arguments, None),
                };
                self.push(made)?;
            }
            b'b' => {
                let (state, of) = (self.pop()?, self.pop()?);
                match &*of {
                    Value::Made(name, arguments, None) => {
                        let made = Value::Made(name.clone(), arguments.clone(), Some(state));
                        self.push(made)?;
                    }
                    // PyTorch notes the versions of its modules on the dictionary.
                    Value::Dictionary(_) => self.stack.push(of),
                    _ => return Err(other("objects of a program")),
                }
            }
            _ => return Err(other(&format!("the instruction 0x{code:02x}"))),
        }
        Ok(None)
    }
}

/// How deep values stand within a value. The parts of one have been checked when they were made.
fn depth(value: &Value) -> usize {
    let deepest = |values: &[Rc<Value>]| values.iter().map(|value| depth(value)).max().unwrap_or(0);
    1 + match value {
        Value::Tuple(values) | Value::List(values) => deepest(values),
        Value::Dictionary(pairs) => {
            pairs.iter().map(|(key, value)| depth(key).max(depth(value))).max().unwrap_or(0)
        }
        Value::Elsewhere(value) | Value::Made(_, value, None) => depth(value),
        Value::Made(_, value, Some(state)) => depth(value).max(depth(state)),
        _ => 0,
    }
}

/// The numbers of one entry.
pub(super) enum Numbers {
    /// A list of rows.
    Array(Array),
    /// Bytes behind a header.
    Held(ArrayFormat, Vec<u8>),
    /// A tensor whose numbers lie in an entry of the archive, from a byte on.
    Stored(ArrayFormat, String, u64),
}

/// The arrays within a value, under their names joined by points; what is none is left aside.
fn arrays(value: &Value, name: &str, to: &mut Vec<(String, Numbers)>) -> Result<()> {
    match value {
        Value::Dictionary(pairs) => {
            for (key, value) in pairs {
                if let Value::Text(key) = &**key {
                    arrays(value, &joined(name, key), to)?;
                }
            }
        }
        Value::Made(..) => {
            if let Some(numbers) = made(value)? {
                to.push((name.to_string(), numbers));
            }
        }
        Value::List(rows) | Value::Tuple(rows) if !rows.is_empty() => {
            let (mut dims, mut cells) = (Vec::new(), Vec::new());
            if rectangle(value, 0, &mut dims, &mut cells) {
                to.push((name.to_string(), Numbers::Array(Array::new(dims, cells)?)));
                return Ok(());
            }
            // A list of tensors, such as the attentions of all layers.
            for (at, value) in rows.iter().enumerate() {
                arrays(value, &joined(name, &at.to_string()), to)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// The name of an entry within another one.
fn joined(name: &str, key: &str) -> String {
    if name.is_empty() { key.to_string() } else { format!("{name}.{key}") }
}

/// Gathers nested lists of numbers; false if they are no rectangle.
fn rectangle(value: &Value, depth: usize, dims: &mut Vec<usize>, cells: &mut Vec<f64>) -> bool {
    match value {
        Value::List(rows) | Value::Tuple(rows) => {
            if dims.len() == depth {
                if !cells.is_empty() {
                    return false;
                }
                dims.push(rows.len());
            }
            dims[depth] == rows.len() && rows.iter().all(|row| rectangle(row, depth + 1, dims, cells))
        }
        Value::Int(number) => push(cells, *number as f64) && depth == dims.len(),
        Value::Float(number) => push(cells, *number) && depth == dims.len(),
        _ => false,
    }
}

fn push(cells: &mut Vec<f64>, number: f64) -> bool {
    let has_room = cells.len() < Limit::ANY.cells && memory::grow(cells, 1, Limit::ANY.cells).is_ok();
    if has_room {
        cells.push(number);
    }
    has_room
}

/// The values of a tuple.
fn tuple(value: &Value) -> &[Rc<Value>] {
    match value {
        Value::Tuple(values) => values,
        _ => &[],
    }
}

fn sides(value: &Value) -> Option<Vec<usize>> {
    let side = |value: &Rc<Value>| match **value {
        Value::Int(side) => usize::try_from(side).ok(),
        _ => None,
    };
    tuple(value).iter().map(side).collect()
}

/// The numbers that a call of PyTorch or NumPy makes.
fn made(value: &Value) -> Result<Option<Numbers>> {
    let Value::Made(name, arguments, state) = value else { return Ok(None) };
    match (name.as_str(), tuple(arguments), state) {
        ("torch._utils _rebuild_parameter", [tensor, ..], _) => made(tensor),
        ("torch._utils _rebuild_tensor_v2", [storage, offset, size, stride, ..], _) => {
            let Value::Elsewhere(storage) = &**storage else { return Err(damaged()) };
            let [_, kind, key, ..] = tuple(storage) else { return Err(damaged()) };
            let (Value::Name(kind), Value::Text(key), Value::Int(offset)) = (&**kind, &**key, &**offset)
            else {
                return Err(damaged());
            };
            let (_, cell) = *STORAGES.iter().find(|(known, _)| known == kind).ok_or_else(damaged)?;
            let (Some(dims), Some(strides)) = (sides(size), sides(stride)) else { return Err(damaged()) };
            let fortran = order(&dims, &strides)?;
            let start =
                usize::try_from(*offset).ok().and_then(|offset| offset.checked_mul(size_of_cell(cell)));
            let format = ArrayFormat { kind: Kind::Number(cell), big_endian: false, fortran, dims };
            Ok(Some(Numbers::Stored(format, key.clone(), start.ok_or_else(damaged)? as u64)))
        }
        (_, _, Some(state)) if name.ends_with("multiarray _reconstruct") => {
            let [_, dims, dtype, fortran, bytes] = tuple(state) else { return Err(damaged()) };
            let Value::Bytes(bytes) = &**bytes else { return Err(other("an array of objects")) };
            let fortran = matches!(**fortran, Value::Truth(true));
            held_by_numpy(dims, dtype, fortran, bytes)
        }
        (_, [bytes, dtype, dims, order], _) if name.ends_with("numeric _frombuffer") => {
            let Value::Bytes(bytes) = &**bytes else { return Err(other("an array of objects")) };
            held_by_numpy(dims, dtype, matches!(&**order, Value::Text(order) if order == "F"), bytes)
        }
        _ => Ok(None),
    }
}

fn held_by_numpy(dims: &Value, dtype: &Value, fortran: bool, bytes: &[u8]) -> Result<Option<Numbers>> {
    let (cell, big_endian) = dtype_of(dtype)?;
    let dims = sides(dims).ok_or_else(damaged)?;
    let format = ArrayFormat { kind: Kind::Number(cell), big_endian, fortran, dims };
    Ok(Some(Numbers::Held(format, bytes.to_vec())))
}

/// Whether the first dimension runs fastest.
///
/// # Errors
/// If the numbers do not stand one behind the other.
fn order(dims: &[usize], strides: &[usize]) -> Result<bool> {
    let follows = |mut order: &mut dyn Iterator<Item = usize>| {
        let mut next = 1usize;
        Iterator::all(&mut order, |at| {
            let fits = dims[at] == 1 || strides.get(at) == Some(&next);
            next = next.saturating_mul(dims[at]);
            fits
        })
    };
    match (follows(&mut (0..dims.len()).rev()), follows(&mut (0..dims.len()))) {
        (true, _) => Ok(false),
        (_, true) => Ok(true),
        _ => Err(Error::new("the tensor is a view of a larger one").help("save tensor.contiguous().clone()")),
    }
}

/// The type that NumPy's `dtype('f8')` with its state says.
fn dtype_of(value: &Value) -> Result<(CellType, bool)> {
    let Value::Made(_, arguments, Some(state)) = value else { return Err(other("a value in two places")) };
    let (Some(Value::Text(letters)), Some(Value::Text(order))) =
        (tuple(arguments).first().map(|v| &**v), tuple(state).get(1).map(|v| &**v))
    else {
        return Err(damaged());
    };
    match super::npy::kind(&format!("{}{letters}", if order == ">" { ">" } else { "<" })) {
        Some((Kind::Number(cell), big_endian)) => Ok((cell, big_endian)),
        _ => Err(other(&format!("an array of the type {}", clip(letters)))),
    }
}

/// A list, a dictionary or NumPy arrays in a pickle by itself.
///
/// # Errors
/// If it holds anything else, or needs code.
pub(super) fn plain(bytes: &[u8]) -> Result<Vec<(String, Numbers)>> {
    let mut found = Vec::new();
    arrays(&*value(bytes)?, "", &mut found)?;
    if found.is_empty() {
        return Err(other("no numbers"));
    }
    Ok(found)
}

/// A file of PyTorch: a zip archive with a program that names the tensors, and their numbers in entries of their own.
pub(super) struct Torch {
    archive: ZipArchive<Box<dyn ReadSeek>>,
    /// The folder that all entries are in.
    folder: String,
    big_endian: bool,
    /// The tensors, by name.
    pub(super) tensors: Vec<(String, Numbers)>,
}

impl Torch {
    /// Reads the program.
    ///
    /// # Errors
    /// If there is none, or it does anything but to name tensors.
    pub(super) fn open(input: Input) -> Result<Torch> {
        let mut archive = ZipArchive::new(input.reader).map_err(|_| not_zip())?;
        let mut names = archive.file_names().filter_map(std::result::Result::ok);
        let program = names.find(|name| name == "data.pkl" || name.ends_with("/data.pkl"));
        let program = program.map(Cow::into_owned).ok_or_else(not_zip)?;
        drop(names);
        let folder = program.strip_suffix("data.pkl").unwrap_or_default().to_string();
        let order = entry(&mut archive, &format!("{folder}byteorder"), 16);
        let big_endian = order.is_ok_and(|order| order == b"big");
        let value = value(&entry(&mut archive, &program, LONGEST_PROGRAM)?)?;
        let mut tensors = Vec::new();
        arrays(&value, "", &mut tensors)?;
        Ok(Torch { archive, folder, big_endian, tensors })
    }

    /// The tensor at a position.
    ///
    /// # Errors
    /// If its numbers are not there, or there are too many.
    pub(super) fn stored(&mut self, position: usize, limit: Limit) -> Result<Option<StoredArray<'_>>> {
        let Some((_, numbers)) = self.tensors.get(position) else { return Err(Error::new("no such tensor")) };
        let (format, key, start) = match numbers {
            Numbers::Stored(format, key, start) => (format, key, *start),
            Numbers::Held(format, bytes) => return held(format, bytes, limit).map(Some),
            Numbers::Array(_) => return Ok(None),
        };
        let format = ArrayFormat { big_endian: self.big_endian, ..format.clone() };
        let Kind::Number(cell) = format.kind else { return Err(damaged()) };
        let length = checked_cells(&format.dims, limit.cells)?.saturating_mul(size_of_cell(cell)) as u64;
        let name = format!("{}data/{key}", self.folder);
        let mut file = self.archive.by_name(&name).map_err(|_| damaged())?;
        let present = file.size().saturating_sub(start);
        let skipped = std::io::copy(&mut file.by_ref().take(start), &mut std::io::sink()).map_err(unread)?;
        if skipped < start {
            return Err(damaged());
        }
        StoredArray { format, reader: Box::new(file.take(length)) }
            .checked(present.min(length), limit)
            .map(Some)
    }
}

/// An array whose bytes are at hand.
///
/// # Errors
/// If there are more or fewer than its shape says, or too many.
pub(super) fn held<'b>(format: &ArrayFormat, bytes: &'b [u8], limit: Limit) -> Result<StoredArray<'b>> {
    checked_cells(&format.dims, limit.cells)?;
    StoredArray { format: format.clone(), reader: Box::new(bytes) }.checked(bytes.len() as u64, limit)
}

fn not_zip() -> Error {
    Error::new("this is no file that PyTorch 1.6 or newer has saved")
        .help("in Python, save it again: torch.save(torch.load(\"q.pt\", weights_only=True), \"new.pt\")")
}

/// The bytes of an entry.
///
/// # Errors
/// If there is none of this name, or it has more than `most`.
pub(super) fn entry(archive: &mut ZipArchive<Box<dyn ReadSeek>>, name: &str, most: u64) -> Result<Vec<u8>> {
    let file = archive.by_name(name).map_err(|error| {
        Error::new(format!("the zip archive has no `{name}`: {error}")).help("save the file again")
    })?;
    let mut bytes = memory::ChargedBytes::new(most.saturating_add(1));
    std::io::copy(&mut file.take(most.saturating_add(1)), &mut bytes).map_err(unread)?;
    let bytes = bytes.kept();
    if bytes.len() as u64 > most {
        return Err(Error::new(format!(
            "`{name}` in the zip archive unpacks to more than {} MiB",
            most >> 20
        ))
        .help("save a part of it"));
    }
    Ok(bytes)
}
