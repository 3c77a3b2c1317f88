//! Files of numbers, of words and of models.

use std::cell::OnceCell;
use std::io::{Cursor, Write};
use std::path::Path;

use attn::graph::Role;
use attn::input::{Files, LayerOptions, ReadOptions, stored};
use attn::params::{Counts, Model, cache, caches_by_sharing, weights};
use attn::read::{AllowedNumbers, Array, Limit, inline};
use attn::tensor::Dtype;
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::bytes::{first_line, pieces};
use super::checked;

thread_local! {
    /// The one folder that a target writes into.
    static FOLDER: OnceCell<TempDir> = const { OnceCell::new() };
}

/// Writes a file called `x` with this ending, and says where it is.
fn file(ending: &str, bytes: &[u8]) -> String {
    FOLDER.with(|folder| {
        let folder = folder.get_or_init(|| tempfile::tempdir().expect("a temporary folder"));
        let path = folder.path().join(format!("x.{ending}"));
        std::fs::write(&path, bytes).expect("a file can be written");
        path.to_str().expect("UTF-8").to_string()
    })
}

/// A file in NumPy's format. What does not begin as one is a header in one line, with its numbers behind it.
pub fn npy(bytes: &[u8]) {
    if bytes.starts_with(b"\x93NUMPY") {
        return read("npy", bytes);
    }
    read("npy", &npy_of(bytes));
}

/// A header in one line and the numbers behind it, as a file in NumPy's format.
fn npy_of(bytes: &[u8]) -> Vec<u8> {
    let (header, numbers) = first_line(bytes);
    let length = u16::try_from(header.len() + 1).unwrap_or(u16::MAX);
    [b"\x93NUMPY\x01\x00", &length.to_le_bytes()[..], header, b"\n", numbers].concat()
}

/// An archive of NumPy's. What does not begin as one is built: pieces between lines of `--`, each the name of a part in one
/// line and the part behind it, as for [`npy`]; a name that ends in `*` is packed.
pub fn npz(bytes: &[u8]) {
    if bytes.starts_with(b"PK") {
        return read("npz", bytes);
    }
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for piece in pieces(bytes) {
        let (name, part) = first_line(piece);
        let (name, method) = match name.strip_suffix(b"*") {
            Some(name) => (name, CompressionMethod::Deflated),
            None => (name, CompressionMethod::Stored),
        };
        let options = SimpleFileOptions::default().compression_method(method);
        let part = if part.starts_with(b"{") { npy_of(part) } else { part.to_vec() };
        // A name that was there already is refused by the crate that writes.
        if archive.start_file(String::from_utf8_lossy(name), options).is_ok() {
            archive.write_all(&part).expect("memory can be written");
        }
    }
    read("npz", &archive.finish().expect("memory can be written").into_inner());
}

/// A file of the safetensors format. What begins with `{"` is a header in one line, with its numbers behind it.
pub fn safetensors(bytes: &[u8]) {
    if !bytes.starts_with(b"{\"") {
        return read_and_stored(bytes);
    }
    let (header, numbers) = first_line(bytes);
    read_and_stored(&[&(header.len() as u64).to_le_bytes()[..], header, numbers].concat());
}

/// Reads a file of the safetensors format at once, and each tensor where it is in the file: the same numbers.
fn read_and_stored(bytes: &[u8]) {
    read("safetensors", bytes);
    let path = file("safetensors", bytes);
    for (name, array) in checked(files(|files| files.named(&path, Limit::ANY))).into_iter().flatten() {
        let name = name.expect("a tensor has a name");
        let tensor = checked(stored(Path::new(&path), &name));
        let matrix = tensor.and_then(|tensor| checked(tensor.matrix().cloned()));
        // Stacks of heads are put side by side, which moves their numbers.
        if let (Some(matrix), true) = (matrix, array.dims().len() <= 2) {
            let at_once = array.into_matrix().expect("a matrix has two dimensions");
            assert!(matrix.same_bits(&at_once), "`{name}` has other numbers where it is stored");
        }
    }
}

/// A matrix, several, or a graph in JSON.
pub fn json(bytes: &[u8]) {
    read("json", bytes);
}

/// Files that other programs pack: of MATLAB, of PyTorch, pickles, workbooks, gzip. They are known by their content.
pub fn packed(bytes: &[u8]) {
    for ending in ["dat", "mat"] {
        read(ending, bytes);
    }
}

/// Numbers as text: with commas, tabs, blanks, as programs print them, in documents, and typed in place of a file.
pub fn text(bytes: &[u8]) {
    for ending in ["csv", "tsv", "txt", "md"] {
        read(ending, bytes);
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        for allow in [AllowedNumbers::FINITE, AllowedNumbers::ANYTHING] {
            checked(inline(text, allow)).inspect(|array| assert_sound(array, allow));
        }
    }
}

/// A file of word vectors; its first line is the words that are looked up.
pub fn words(bytes: &[u8]) {
    let (asked, vectors) = first_line(bytes);
    let asked = String::from_utf8_lossy(asked).into_owned();
    let asked: Vec<&str> = asked.split_whitespace().take(20).collect();
    let path = file("vec", vectors);
    let from_file = checked(Files::new(&mut std::io::empty()).word_vectors(&path, &asked));
    let mut piped = vectors;
    let from_pipe = checked(Files::new(&mut piped).word_vectors("-", &asked));
    if let (Some(file), Some(pipe)) = (from_file, from_pipe) {
        assert_eq!(format!("{file:?}"), format!("{pipe:?}"), "a file and a pipe have different vectors");
    }
}

/// A model's configuration, to its weights, counts and caches.
pub fn config(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Some(model) = checked(Model::from_config(text, "config.json")) else { return };
    if let Some(weights) = checked(weights(&model))
        && let Some(counts) = checked(Counts::of(&weights))
    {
        let parts: u64 = counts.by_part.iter().map(|(_, count)| count).sum();
        assert_eq!(parts, counts.total, "the parts do not add up");
        assert!(counts.active <= counts.total, "more is active than is there");
    }
    for context in [1, 128, u64::MAX] {
        checked(cache(&model, context, 2));
        checked(caches_by_sharing(&model, context, 4));
    }
}

/// Reads a file in every way that the library has.
fn read(ending: &str, bytes: &[u8]) {
    let path = file(ending, bytes);
    for allow in [AllowedNumbers::FINITE, AllowedNumbers::INFINITE, AllowedNumbers::ANYTHING] {
        checked(files(|files| files.array(&path, allow))).inspect(|array| assert_sound(array, allow));
    }
    checked(files(|files| files.matrix(&path, AllowedNumbers::FINITE)));
    for dtype in [None, Some(Dtype::F32), Some(Dtype::F64)] {
        for mask_as_truth in [false, true] {
            let want = ReadOptions { dtype, mask_as_truth };
            for role in [Role::X, Role::Q, Role::Mask] {
                checked(files(|files| files.read(&path, role, want)));
            }
            checked(files(|files| files.bundle(&path, LayerOptions::default(), want)));
        }
    }
    for layer in [None, Some("0")] {
        if let Some(bundle) = checked(files(|files| {
            files.bundle(&path, LayerOptions { layer, ..LayerOptions::default() }, ReadOptions::default())
        })) {
            bundle.entries.values().for_each(|entry| {
                assert_eq!(entry.tensor.dims().iter().product::<usize>(), entry.tensor.cells().count())
            });
        }
    }
    for limit in [Limit::ANY, Limit::of_numbers(100)] {
        for (_, array) in checked(files(|files| files.named(&path, limit))).into_iter().flatten() {
            assert_sound(&array, AllowedNumbers::ANYTHING);
        }
    }
}

fn files<T>(read: impl FnOnce(&mut Files<'_>) -> T) -> T {
    read(&mut Files::new(&mut std::io::empty()))
}

/// There are as many numbers as the shape says, and only those that are let in.
fn assert_sound(array: &Array, allow: AllowedNumbers) {
    let count: usize = array.dims().iter().product();
    assert_eq!(count, array.values().len(), "shape {:?}", array.dims());
    if let Some(bad) = array.values().iter().find(|value| allow.check(**value).is_err()) {
        panic!("{bad} was let in where {allow:?}");
    }
}
