//! Writing one matrix to a file, or several under their names, whole or not at all.

use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use ::safetensors::SafeTensorError;
use ::safetensors::tensor::TensorView;
use serde::ser::{Serialize, SerializeMap, Serializer};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::error::{Error, Result};
use crate::foreign::{from_path, to_path, visible};
use crate::graph::{Graph, NodeId};
use crate::matrix::{Labels, Matrix, Shape};
use crate::read::{Delimiter, DelimiterChoice, Limit, TOKENS, is_meant_as_number, shortest};
use crate::tensor::{Dtype, Tensor};
use crate::text::{clip, listed_briefly};

use super::container::Format;
use super::draft::{Draft, FolderDraft, WriteResult, behind_links, write_whole};
use super::open::{Input, ending, examined, names_in, path_text, unreadable};

/// The permission of a command to write files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WritePermission {
    /// It may.
    #[default]
    Allowed,
    /// It may not: it stands in a lesson, which may come from anyone.
    Refused,
}

impl WritePermission {
    /// # Errors
    /// If nothing may be written, or the name is empty.
    pub fn check(self, path: &Path) -> Result<()> {
        match self {
            // Joined with the names of files, it would be the current folder.
            _ if path.as_os_str().is_empty() => Err(Error::new("the name of what is to be written is empty")
                .help("give a name; a shell variable that is not set is an empty one")),
            WritePermission::Allowed => Ok(()),
            WritePermission::Refused => Err(Error::new("a lesson cannot write files")
                .in_source(path_text(path))
                .help("leave the option out, or show the command in a ```console,ignore block")),
        }
    }
}

/// The format that a file is written in: all that are read have an ending of their own but `.txt`.
///
/// # Errors
/// If the ending is unknown, or there is none.
fn format(path: &Path) -> Result<Format> {
    let ending = ending(path).unwrap_or_default();
    let format = Format::of_ending(&ending).filter(|_| ending != "txt");
    format.ok_or_else(|| {
        let what = match ending.as_str() {
            "" => "the file name has no ending, so the format is unknown".to_string(),
            other => format!("files that end in `.{}` cannot be written", clip(other)),
        };
        Error::new(what)
            .in_source(path_text(path))
            .help("choose .npy, .npz, .safetensors, .csv, .tsv or .json")
    })
}

/// Writes a text to a file, whole or not at all.
///
/// # Errors
/// If nothing may be written, or the file cannot be.
pub fn save_text(path: &Path, text: &str, writing: WritePermission) -> Result<()> {
    writing.check(path)?;
    write_text(path, text)
}

/// Writes `table`, called `name` where the format has names, in the format of the file's ending. Every bit is kept: `.npy`,
/// `.npz` and `.safetensors` keep the type of the numbers too, `.csv`, `.tsv` and `.json` their shortest digits in it, and
/// labels. A file that is there is replaced once the new one is whole.
///
/// # Errors
/// If nothing may be written, the ending is unknown, or the file cannot be written; then nothing has changed.
pub fn save(path: &Path, name: &str, table: &dyn Table, writing: WritePermission) -> Result<()> {
    writing.check(path)?;
    let format = format(path)?;
    let mut computed = Ok(());
    let written = replaced(path, |file| {
        match format {
            Format::Npy => npy(file, table),
            Format::Npz => npz(file, None, &[(name, table)]),
            Format::Safetensors => safetensors(file, &[(name, table)]),
            Format::Delimited(DelimiterChoice::By(Delimiter::Character(tab))) => delimited(file, tab, table),
            Format::Json => json(file, &TableObject(table)),
            // No ending stands for those that are only read.
            _ => delimited(file, b',', table),
        }?;
        computed = table.check();
        if computed.is_ok() { Ok(()) } else { Err("a number could not be computed".into()) }
    });
    computed.and(written)
}

/// Writes matrices under their names, and the names of the tokens where there are any, as [`super::Files::bundle`] reads
/// them and `numpy.load`: `.npz`, or `.json`, which keeps labels too. A file that is there is replaced once the new one is
/// whole.
///
/// # Errors
/// If nothing may be written, the ending is another, or the file cannot be written; then nothing has changed.
pub fn save_bundle(
    path: &Path,
    tokens: Option<&[String]>,
    matrices: &[(&str, &Matrix)],
    writing: WritePermission,
) -> Result<()> {
    writing.check(path)?;
    let format = bundle_format(path)?;
    let tables: Vec<(&str, &dyn Table)> =
        matrices.iter().map(|&(name, matrix)| (name, matrix as &dyn Table)).collect();
    replaced(path, |file| match format {
        Format::Json => json(file, &BundleObject(tokens, &tables)),
        _ => npz(file, tokens, &tables),
    })
}

/// Checks that the ending is one of a format for several matrices.
///
/// # Errors
/// If the ending is not `.npz` or `.json`.
pub fn check_bundle_ending(path: &Path) -> Result<()> {
    bundle_format(path).map(|_| ())
}

fn bundle_format(path: &Path) -> Result<Format> {
    match format(path) {
        Ok(format @ (Format::Npz | Format::Json)) => Ok(format),
        _ => Err(Error::new("this file holds several matrices, so it must end in .npz or .json")
            .in_source(path_text(path))
            .help("change its ending to .npz or .json")),
    }
}

/// Checks, before anything is computed, that a file can be written at a place: that its folder is there, takes files, and has nothing
/// else of this name.
///
/// # Errors
/// If nothing may be written, or the file could not be.
pub fn check_place(path: &Path, writing: WritePermission) -> Result<()> {
    writing.check(path)?;
    is_for_a_file(path)?;
    takes_files(path.parent().unwrap_or(Path::new(""))).map_err(|error| not_written(path, &error))
}

/// Tries whether [`put_files`] can put files into a folder, before they are computed.
///
/// # Errors
/// If nothing may be written, or the folder takes no files, or the one that it is to be made below.
pub fn check_folder(folder: &Path, writing: WritePermission) -> Result<()> {
    writing.check(folder)?;
    let is_there = |place: &&Path| place.as_os_str().is_empty() || fs::metadata(place).is_ok();
    takes_files(folder.ancestors().find(is_there).unwrap_or(folder))
        .map_err(|error| no_folder(&path_text(folder), &error))
}

/// Tries whether files can be written into a folder; the empty path is the current one.
pub(super) fn takes_files(folder: &Path) -> std::io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    tempfile::tempfile_in(folder).map(drop)
}

/// Writes a file that may be there already.
pub(super) fn replaced(path: &Path, fill: impl FnOnce(&mut Draft) -> WriteResult) -> Result<()> {
    is_for_a_file(path)?;
    write_whole(path, fill).map_err(|error| not_written(path, &*error))
}

/// That a file can have this name: there is its folder, and nothing but a file has it.
pub(super) fn is_for_a_file(path: &Path) -> Result<()> {
    WritePermission::Allowed.check(path)?;
    let is_link = examined(path, fs::symlink_metadata(path))?.is_some_and(|found| found.is_symlink());
    let target = if is_link { behind_links(path) } else { Ok(path.to_path_buf()) };
    let target = target.map_err(|error| not_written(path, &*error))?;
    if examined(&target, fs::metadata(&target))?.is_some_and(|metadata| !metadata.is_file()) {
        return Err(Error::new("this exists, but is not a regular file")
            .in_source(path_text(path))
            .help("choose another name"));
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty())
        && examined(folder, fs::metadata(folder))?.is_none_or(|folder| !folder.is_dir())
    {
        return Err(Error::new(format!("there is no folder `{}`", path_text(folder)))
            .in_source(path_text(path))
            .help("create the folder first, or choose another name"));
    }
    Ok(())
}

/// Why a file cannot be written, in the system's words without the name of the temporary file.
pub(super) fn not_written(path: &Path, error: &(dyn std::error::Error + 'static)) -> Error {
    let why = match error.downcast_ref::<std::io::Error>() {
        Some(error) => match error.kind() {
            ErrorKind::NotFound => "nothing can be written there".to_string(),
            kind => kind.to_string(),
        },
        None => error.to_string(),
    };
    Error::new(format!("the file cannot be written: {why}"))
        .in_source(path_text(path))
        .help("name a file in a folder that you may write to, and check the free space")
}

/// The table as text with a delimiter between its cells, as a file of it would be: what `attn` reads back with the same
/// bits and labels.
///
/// # Errors
/// None that a table could cause; memory is the only limit.
pub fn delimited_text(delimiter: u8, table: &dyn Table) -> Result<String> {
    let mut text = Vec::new();
    let failed = |error: String| Error::new(format!("the table cannot be written: {error}"));
    delimited(&mut text, delimiter, table).map_err(|error| failed(error.to_string()))?;
    String::from_utf8(text).map_err(|error| failed(error.to_string()))
}

/// Checks that the ending is one of a format that is written.
///
/// # Errors
/// If the ending is unknown.
pub fn check_ending(path: &Path) -> Result<()> {
    format(path).map(|_| ())
}

fn delimited(out: &mut dyn Write, delimiter: u8, table: &dyn Table) -> WriteResult {
    let mut out = BufWriter::new(out);
    let ([rows, cols], shape) = (table.labels(), table.shape());
    let between = char::from(delimiter).to_string();
    let mut line = |label: Option<String>, cells: Vec<String>| {
        writeln!(out, "{}", label.into_iter().chain(cells).collect::<Vec<_>>().join(&between))
    };
    if let Some(cols) = cols {
        let is_alone = cols.len() == 1 && rows.is_none();
        let labels = cols.iter().map(|label| quoted(label, delimiter, is_alone));
        line(rows.map(|_| String::new()), labels.collect())?;
    }
    for i in 0..shape.rows {
        let numbers = (0..shape.cols).map(|j| shortest(table.at(i, j), table.dtype()));
        line(rows.map(|rows| quoted(&rows[i], delimiter, false)), numbers.collect())?;
    }
    Ok(out.flush()?)
}

/// A label that is read back as the same label, and not as a number, a comment, two fields, or the start of JSON or of a printed
/// array; nor, where it is alone on its line, as a title or a separator.
fn quoted(label: &str, delimiter: u8, is_alone: bool) -> String {
    let marks = ['"', ',', ';', '[', '{', '\u{feff}'];
    let special = |c: char| c.is_whitespace() || c == char::from(delimiter) || marks.contains(&c);
    let is_title =
        is_alone && (label.ends_with([':', '=']) || label.to_ascii_lowercase().starts_with("sep="));
    let safe = !label.is_empty() && !label.starts_with(['#', '(', '|']) && !label.contains(special);
    if safe && !is_title && !is_meant_as_number(label) {
        label.to_string()
    } else {
        format!("\"{}\"", label.replace('"', "\"\""))
    }
}

fn json(out: &mut dyn Write, object: &impl Serialize) -> WriteResult {
    let mut out = BufWriter::new(out);
    serde_json::to_writer(&mut out, object)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

// Writing matrices in binary: `.npy`, `.npz` and `.safetensors`.

fn npy(out: &mut dyn Write, table: &dyn Table) -> WriteResult {
    let descr = match table.dtype() {
        Dtype::F32 | Dtype::F16 | Dtype::Bf16 => "<f4",
        Dtype::F64 => "<f8",
        Dtype::Bool => "|b1",
    };
    let mut out = BufWriter::with_capacity(1 << 16, out);
    npy_header(&mut out, descr, &format!("{}, {}, ", table.shape().rows, table.shape().cols))?;
    numbers(&mut out, table)?;
    Ok(out.flush()?)
}

/// Text of fixed width, padded with zeros, as NumPy stores an array of `str`: `<U6`.
fn npy_words(out: &mut dyn Write, words: &[String]) -> WriteResult {
    let width = words.iter().map(|word| word.chars().count()).max().unwrap_or(0).max(1);
    npy_header(out, &format!("<U{width}"), &format!("{},", words.len()))?;
    for word in words {
        let padded = word.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
        out.write_all(&padded.flat_map(u32::to_le_bytes).collect::<Vec<u8>>())?;
    }
    Ok(())
}

/// The header of a `.npy` file of version 1.0, behind which the data begin at a multiple of 64 bytes.
fn npy_header(out: &mut dyn Write, descr: &str, shape: &str) -> WriteResult {
    /// Bytes of the magic, the version and the length of the header.
    const BEFORE: usize = 10;
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    let length = (BEFORE + header.len() + 1).next_multiple_of(64) - BEFORE;
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&u16::try_from(length)?.to_le_bytes())?;
    Ok(writeln!(out, "{header:<width$}", width = length - 1)?)
}

/// The numbers of a table in their type, row by row. Of a half type every number is one of f32.
fn numbers(out: &mut dyn Write, table: &dyn Table) -> WriteResult {
    let shape = table.shape();
    for x in (0..shape.rows).flat_map(|i| (0..shape.cols).map(move |j| table.at(i, j))) {
        match table.dtype() {
            Dtype::F32 | Dtype::F16 | Dtype::Bf16 => out.write_all(&(x as f32).to_le_bytes()),
            Dtype::F64 => out.write_all(&x.to_le_bytes()),
            Dtype::Bool => out.write_all(&[u8::from(x != 0.0)]),
        }?;
    }
    Ok(())
}

pub(super) fn npz(
    out: impl Write + Seek,
    tokens: Option<&[String]>,
    tables: &[(&str, &dyn Table)],
) -> WriteResult {
    // A fixed date: the same matrix gives the same bytes.
    let bytes = |table: &dyn Table| table.shape().rows as u64 * table.shape().cols as u64 * 8;
    let options = SimpleFileOptions::default()
        .large_file(tables.iter().any(|(_, table)| bytes(*table) >= 1 << 32))
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default());
    let mut archive = ZipWriter::new(out);
    for (name, table) in tables {
        archive.start_file(format!("{name}.npy"), options)?;
        npy(&mut archive, *table)?;
    }
    if let Some(tokens) = tokens {
        archive.start_file(format!("{TOKENS}.npy"), options)?;
        npy_words(&mut archive, tokens)?;
    }
    archive.finish()?;
    Ok(())
}

pub(super) fn safetensors(out: &mut dyn Write, tables: &[(&str, &dyn Table)]) -> WriteResult {
    let mut stored = Vec::new();
    for (name, table) in tables {
        let dtype = match table.dtype() {
            Dtype::F32 | Dtype::F16 | Dtype::Bf16 => ::safetensors::Dtype::F32,
            Dtype::F64 => ::safetensors::Dtype::F64,
            Dtype::Bool => ::safetensors::Dtype::BOOL,
        };
        let mut bytes = Vec::new();
        numbers(&mut bytes, *table)?;
        stored.push((*name, dtype, vec![table.shape().rows, table.shape().cols], bytes));
    }
    let views = stored
        .iter()
        .map(|(name, dtype, dims, bytes)| Ok((*name, TensorView::new(*dtype, dims.clone(), bytes)?)))
        .collect::<std::result::Result<Vec<_>, SafeTensorError>>()?;
    Ok(out.write_all(&::safetensors::serialize(views, None)?)?)
}

// Matrices as the JSON that is read back with the same bits and labels.

/// `{"rows": […], "cols": […], "values": [[…]]}`, labels only where there are any.
pub(super) struct TableObject<'m>(pub(super) &'m dyn Table);

impl Serialize for TableObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, labels) in ["rows", "cols"].into_iter().zip(self.0.labels()) {
            if let Some(labels) = labels {
                map.serialize_entry(key, &labels[..] as &[String])?;
            }
        }
        map.serialize_entry("values", &Rows(self.0))?;
        map.end()
    }
}

/// `{"X": {…}, "W_Q": {…}, "tokens": […]}`.
pub(super) struct BundleObject<'m>(
    pub(super) Option<&'m [String]>,
    pub(super) &'m [(&'m str, &'m dyn Table)],
);

impl Serialize for BundleObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, table) in self.1 {
            map.serialize_entry(name, &TableObject(*table))?;
        }
        if let Some(tokens) = self.0 {
            map.serialize_entry(TOKENS, tokens)?;
        }
        map.end()
    }
}

/// `[[…], …]`: every digit, row by row; `"-inf"`, `"inf"` and `"nan"` as strings.
pub struct Rows<'m>(pub &'m dyn Table);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let (Shape { rows, cols }, dtype) = (self.0.shape(), self.0.dtype());
        let number = |i| move |j| JsonNumber(self.0.at(i, j), dtype);
        serializer.collect_seq((0..rows).map(|i| (0..cols).map(number(i)).collect::<Vec<_>>()))
    }
}

/// A number in JSON, which has no infinity and no NaN of its own: those are `"-inf"`, `"inf"` and `"nan"`.
struct JsonNumber(f64, Dtype);

impl Serialize for JsonNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.1 {
            _ if !self.0.is_finite() => serializer.serialize_str(&shortest(self.0, self.1)),
            // The digits of the type: 0.1, not 0.10000000149011612.
            Dtype::F32 | Dtype::F16 | Dtype::Bf16 => serializer.serialize_f32(self.0 as f32),
            Dtype::F64 | Dtype::Bool => serializer.serialize_f64(self.0),
        }
    }
}

// Numbers that can be saved: a matrix, or a tensor of any type.

/// Rows of numbers, perhaps with labels.
pub trait Table {
    /// Rows times columns.
    fn shape(&self) -> Shape;
    /// The number at row i, column j; in `f64`, which changes none.
    fn at(&self, i: usize, j: usize) -> f64;
    /// The type in which a binary file has them.
    fn dtype(&self) -> Dtype;
    /// The names of the rows and of the columns, where they have any.
    fn labels(&self) -> [Option<&Labels>; 2];
    /// Checks, after all numbers have been asked for, that each of them could be computed.
    ///
    /// # Errors
    /// If one could not.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// The numbers of a node.
///
/// # Errors
/// If it is never formed, or its numbers stay in a file.
pub fn table(graph: &Graph, node: NodeId) -> Result<&dyn Table> {
    match graph[node].typed() {
        Some(numbers) if numbers.is_stored() => {
            Err(Error::new(format!("the numbers of {} stay in the model's file", graph[node].name)))
        }
        Some(numbers) => Ok(numbers),
        None => Ok(graph.matrix(node)?),
    }
}

impl Table for Matrix {
    fn shape(&self) -> Shape {
        self.shape()
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self[(i, j)]
    }

    fn dtype(&self) -> Dtype {
        Dtype::F64
    }

    fn labels(&self) -> [Option<&Labels>; 2] {
        [self.row_labels(), self.col_labels()]
    }
}

impl Table for Tensor {
    fn shape(&self) -> Shape {
        self.shape()
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.at(i, j)
    }

    fn dtype(&self) -> Dtype {
        self.dtype()
    }

    fn labels(&self) -> [Option<&Labels>; 2] {
        [self.row_labels(), self.col_labels()]
    }
}

// Texts as they are: lessons, and what is kept beside them.

/// The text of a regular file of at most `most` bytes.
///
/// # Errors
/// If it cannot be read, is empty, larger, or is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> Result<String> {
    let name = path_text(path);
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        return Err(Error::new("this is not a regular file")
            .in_source(name)
            .help("save its text to a file first"));
    }
    let input = Input::open(&name, path, Limit::ANY)?;
    if input.length > most {
        return Err(Error::new(format!("the file has {} bytes, but at most {most} are read", input.length))
            .in_source(name));
    }
    input.text()
}

/// Writes a text; a file that is there is replaced once the new one is whole.
///
/// # Errors
/// If it cannot be written; then nothing has changed.
pub fn write_text(path: &Path, text: &str) -> Result<()> {
    replaced(path, |file| Ok(file.write_all(text.as_bytes())?))
}

/// A text that grows while a program runs: each piece is in the file at once, however the program ends. A file that is there is
/// replaced by the first piece.
#[derive(Debug)]
pub struct GrowingText {
    path: PathBuf,
    file: File,
    /// The text in the file, once there is any.
    text: Option<String>,
    failed: Option<Error>,
}

impl GrowingText {
    /// An empty text; nothing is in the file yet.
    ///
    /// # Errors
    /// If nothing can be written to the file.
    pub fn new(path: PathBuf) -> Result<GrowingText> {
        is_for_a_file(&path)?;
        let file = File::options().write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|error| not_written(&path, &error))?;
        Ok(GrowingText { path, file, text: None, failed: None })
    }

    /// The text so far.
    pub fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Adds a piece. The first failure is told by [`GrowingText::finish`].
    pub fn push(&mut self, piece: &str) {
        let cleared = if self.text.is_none() { self.file.set_len(0) } else { Ok(()) };
        self.text.get_or_insert_default().push_str(piece);
        let written = cleared.and_then(|()| self.file.write_all(piece.as_bytes()));
        self.note(written);
    }

    /// Takes back what comes after this many bytes.
    pub fn cut(&mut self, length: usize) {
        if let Some(text) = self.text.as_mut().filter(|text| length < text.len()) {
            text.truncate(length);
            let cut = self.file.set_len(length as u64);
            let cut = cut.and_then(|()| self.file.seek(SeekFrom::Start(length as u64)).map(|_| ()));
            self.note(cut);
        }
    }

    fn note(&mut self, outcome: std::io::Result<()>) {
        if let Err(error) = outcome {
            self.failed.get_or_insert_with(|| not_written(&self.path, &error));
        }
    }

    /// # Errors
    /// If a piece could not be written.
    pub fn finish(self) -> Result<()> {
        self.failed.map_or(Ok(()), Err)
    }
}

/// Makes a folder and those above it, readable by its owner alone where the system knows owners.
///
/// # Errors
/// If it cannot be made.
pub fn make_folder(path: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| unreadable(&path_text(path), &error))
}

/// The files of a folder whose names have this ending, sorted; what begins with a point is left aside, and folders are not entered.
///
/// # Errors
/// If it is no folder, or cannot be read.
pub fn files_ending(folder: &str, ending: &str) -> Result<Vec<String>> {
    let path = to_path(folder);
    let names = names_in(&path).map_err(|error| unreadable(&visible(folder), &error))?;
    let files = names.iter().filter(|name| name.to_string_lossy().ends_with(ending));
    let mut files: Vec<String> = files.map(|name| from_path(&path.join(name))).collect();
    files.sort();
    Ok(files)
}

/// True if there is a folder of this name.
pub fn is_folder(name: &str) -> bool {
    fs::metadata(to_path(name)).is_ok_and(|metadata| metadata.is_dir())
}

// Writing several files into a folder, none over what a user has there.

/// The outcome of writing one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    /// It is new.
    New,
    /// It has taken the place of another.
    Replaced,
    /// The same contents were there.
    WasThere,
}

/// Writes files, by name and contents, into a folder, which is made if it is missing, as are those that names such as
/// `answers/01.csv` lead to; each file is whole before it is seen. A
/// file with other contents is replaced only if `overwrite` says so.
///
/// # Errors
/// If nothing may be written, files with other contents are there, or one cannot be written. The first two leave everything as
/// it was.
pub fn put_files(
    folder: &Path,
    files: &[(&str, &[u8])],
    overwrite: bool,
    writing: WritePermission,
) -> Result<Vec<PutOutcome>> {
    writing.check(folder)?;
    let put = |(name, bytes): &(&str, &[u8])| -> Result<PutOutcome> {
        let path = folder.join(name);
        let is_same = |path: &Path| {
            // Reading a pipe would block.
            fs::metadata(path).is_ok_and(|there| there.is_file() && there.len() == bytes.len() as u64)
                && fs::read(path).is_ok_and(|there| there == *bytes)
        };
        Ok(match examined(&path, fs::symlink_metadata(&path))? {
            Some(_) if is_same(&path) => PutOutcome::WasThere,
            Some(_) => PutOutcome::Replaced,
            None => PutOutcome::New,
        })
    };
    let puts: Vec<PutOutcome> = files.iter().map(put).collect::<Result<_>>()?;
    let is_other = |(_, put): &(_, &PutOutcome)| **put == PutOutcome::Replaced;
    let others: Vec<&str> = files.iter().zip(&puts).filter(is_other).map(|((name, _), _)| *name).collect();
    if !others.is_empty() && !overwrite {
        let verb = if others.len() == 1 { "exists" } else { "exist" };
        return Err(Error::new(format!("{} already {verb} with other contents", listed_briefly(others)))
            .in_source(path_text(folder))
            .help("name another folder, or replace them with --overwrite"));
    }
    if examined(folder, fs::metadata(folder))?.is_none() {
        // A new folder is there with all its files, or not at all.
        let draft = FolderDraft::beside(folder).map_err(|error| no_folder(&path_text(folder), &error))?;
        let written =
            files.iter().try_for_each(|(name, bytes)| draft.write(name, |file| Ok(file.write_all(bytes)?)));
        written.and_then(|()| Ok(draft.persist(None)?)).map_err(|error| not_written(folder, &*error))?;
        return Ok(puts);
    }
    for ((name, bytes), put) in files.iter().zip(&puts) {
        if *put != PutOutcome::WasThere {
            let path = folder.join(name);
            if let Some(inner) = path.parent() {
                fs::create_dir_all(inner).map_err(|error| no_folder(&path_text(folder), &error))?;
            }
            replaced(&path, |file| Ok(file.write_all(bytes)?))?;
        }
    }
    Ok(puts)
}

/// Writes files that are not there yet, by name and contents, into a folder, which is made if it is missing; each file is whole
/// before it is seen.
///
/// # Errors
/// If nothing may be written, a name is none or taken, whatever has it, or a file cannot be written. The first two leave
/// everything as it was.
pub fn put_new_files(folder: &Path, files: &[(&str, &[u8])], writing: WritePermission) -> Result<()> {
    for (name, _) in files {
        let path = folder.join(name);
        writing.check(&path)?;
        if name.is_empty() {
            return Err(Error::new("this is no name of a file")
                .in_source(path_text(&path))
                .help("type a name such as step.md"));
        }
        if examined(&path, fs::symlink_metadata(&path))?.is_some() {
            return Err(Error::new("this exists already")
                .in_source(path_text(&path))
                .help("choose another name"));
        }
    }
    put_files(folder, files, false, writing).map(|_| ())
}

/// Why a folder cannot be made, for its user.
pub(super) fn no_folder(name: &str, error: &std::io::Error) -> Error {
    let why = match error.kind() {
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => "a part of its path is a file".to_string(),
        ErrorKind::NotFound => "nothing can be made there".to_string(),
        kind => kind.to_string(),
    };
    Error::new(format!("the folder cannot be made: {why}"))
        .in_source(name)
        .help("name a folder that you may write to, such as a new one here: ./attn-files")
}

#[cfg(test)]
mod tests {
    use crate::matrix::{Labels, Shape};
    use crate::tensor::Dtype;

    use super::*;

    #[test]
    fn several_matrices_are_written_as_npz_or_json_alone() {
        for name in ["a.npy", "a.csv", "a.safetensors", "a", "a.zip"] {
            let said = check_bundle_ending(Path::new(name)).unwrap_err().to_string();
            assert!(said.starts_with(name) && said.contains(".npz or .json"), "{said}");
        }
        assert!(check_bundle_ending(Path::new("a.NPZ")).is_ok());
    }

    /// A matrix whose last number cannot be computed.
    struct Failing(Matrix);

    impl Table for Failing {
        fn shape(&self) -> Shape {
            self.0.shape()
        }

        fn at(&self, i: usize, j: usize) -> f64 {
            self.0[(i, j)]
        }

        fn dtype(&self) -> Dtype {
            Dtype::F64
        }

        fn labels(&self) -> [Option<&Labels>; 2] {
            [None, None]
        }

        fn check(&self) -> Result<()> {
            Err(Error::new("the weights have changed"))
        }
    }

    #[test]
    fn a_file_stays_as_it_was_if_a_number_cannot_be_computed() {
        let folder = tempfile::tempdir().unwrap();
        let failing = Failing(Matrix::identity(2));
        for name in ["a.npy", "a.npz", "a.safetensors", "a.csv", "a.json"] {
            let path = folder.path().join(name);
            fs::write(&path, "before").unwrap();
            let error = save(&path, "a", &failing, WritePermission::Allowed).unwrap_err();
            assert_eq!(error.to_string(), "the weights have changed", "{name}");
            assert_eq!(fs::read_to_string(&path).unwrap(), "before", "{name}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 5, "no draft is left behind");
    }

    #[test]
    fn words_are_stored_as_numpy_stores_them() {
        // np.save(file, np.array(["bat", "höh"])), NumPy 2.4.6
        let header = b"\x93NUMPY\x01\x00v\x00{'descr': '<U3', 'fortran_order': False, 'shape': (2,), }";
        let mut expected = header.to_vec();
        expected.resize(127, b' ');
        expected.push(b'\n');
        expected.extend("bathöh".chars().flat_map(|c| u32::from(c).to_le_bytes()));
        let mut written = Vec::new();
        npy_words(&mut written, &["bat".to_string(), "höh".to_string()]).unwrap();
        assert_eq!(written, expected);
    }

    #[test]
    fn a_text_is_written_whole_and_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        make_folder(&deep).unwrap();
        let path = deep.join("x.md");
        write_text(&path, "one\ntwo\n").unwrap();
        assert_eq!(read_text(&path, 8).unwrap(), "one\ntwo\n");
        assert!(read_text(&path, 7).unwrap_err().to_string().contains("at most 7"));
        let deep = deep.to_str().unwrap();
        assert_eq!(files_ending(deep, ".md").unwrap(), [path.to_str().unwrap()]);
        assert!(is_folder(deep));
    }

    #[test]
    fn files_are_new_then_there_and_changed_ones_are_replaced_only_when_asked() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b");
        let files: [(&str, &[u8]); 2] = [("x", b"1"), ("y", b"2")];
        let put = |overwrite| put_files(&deep, &files, overwrite, WritePermission::Allowed);
        assert_eq!(put(false).unwrap(), [PutOutcome::New, PutOutcome::New]);
        assert_eq!(put(false).unwrap(), [PutOutcome::WasThere, PutOutcome::WasThere]);
        fs::write(deep.join("y"), "3").unwrap();
        fs::remove_file(deep.join("x")).unwrap();
        let said = put(false).unwrap_err().to_string();
        assert!(said.contains("`y` already exists with") && !deep.join("x").exists(), "{said}");
        assert_eq!(put(true).unwrap(), [PutOutcome::New, PutOutcome::Replaced]);
        assert_eq!(fs::read(deep.join("y")).unwrap(), b"2");
        let refused = put_files(&folder.path().join("c"), &files, true, WritePermission::Refused);
        assert!(refused.is_err() && !folder.path().join("c").exists());
    }

    #[test]
    fn new_files_are_never_written_over_what_is_there_even_if_it_is_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let files: [(&str, &[u8]); 2] = [("x", b"1"), ("y", b"2")];
        let put = |files: &[(&str, &[u8])]| put_new_files(folder.path(), files, WritePermission::Allowed);
        put(&files[1..]).unwrap();
        let said = put(&files).unwrap_err().to_string();
        assert!(said.contains("y: this exists already") && !folder.path().join("x").exists(), "{said}");
        assert!(put(&[("", b"1")]).is_err());
        assert!(put_new_files(folder.path(), &files[..1], WritePermission::Refused).is_err());
    }
}
