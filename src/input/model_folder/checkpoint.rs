//! The tensors of a model, which stay in their files until they are asked for.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};
use crate::foreign::{from_os, from_path, to_path};
use crate::input::open::{self, Input, examined, file_error, path_text, regular, unreadable};
use crate::input::safetensors::{StoredFile, Tensors, no_tensor, number_type};
use crate::input::save::read_text;
use crate::input::source::ReadPermission;
use crate::json_tree::{check_names, tree};
use crate::model::{self, Checkpoint};
use crate::read::{Limit, checked_cells, entry_name, shape_text};
use crate::tensor::{Dtype, Storage, StoredNumbers, Tensor};
use crate::text::{all_of, choices, clip, grouped, listed_briefly, quoted};

/// Where one tensor of a model is, and what it is.
#[derive(Clone, Debug)]
pub struct StoredEntry {
    /// The file within the folder, for people: `model-00001-of-00002.safetensors`.
    pub file: Arc<str>,
    /// What the header says of it; its type only if models are computed in it.
    pub header: model::Entry,
    /// The position of its first byte in the file.
    pub offset: u64,
    /// The number of its bytes.
    pub bytes: u64,
    storage: Arc<dyn Storage>,
}

/// The tensors of a model by their names in its files, still in them.
#[derive(Clone, Debug, Default)]
pub struct StoredTensors {
    /// The folder in errors.
    pub(super) place: String,
    entries: BTreeMap<String, StoredEntry>,
    files: Vec<Arc<str>>,
}

impl StoredTensors {
    pub(super) fn new(place: &str) -> StoredTensors {
        StoredTensors { place: place.to_string(), ..StoredTensors::default() }
    }

    /// Adds what the header of a file says; the numbers are in `storage`.
    ///
    /// # Errors
    /// If an earlier file has a tensor of the same name.
    pub(super) fn add(&mut self, file: &str, header: &Tensors, storage: Arc<dyn Storage>) -> Result<()> {
        let file: Arc<str> = file.into();
        for entry in header.entries() {
            let Entry::Vacant(room) = self.entries.entry(entry.name.to_string()) else {
                let [name, first, second] = [entry.name, &self.entries[entry.name].file, &file].map(clip);
                return Err(Error::new(format!("two files have a tensor `{name}`: {first} and {second}"))
                    .in_source(&*self.place)
                    .help(
                        "files of two models are mixed up here: download the model again into an empty folder",
                    ));
            };
            room.insert(StoredEntry {
                file: file.clone(),
                header: model::Entry {
                    dims: entry.dims.to_vec(),
                    type_name: entry.dtype.to_string(),
                    dtype: number_type(entry.dtype).filter(|dtype| *dtype != Dtype::Bool),
                },
                offset: entry.start,
                bytes: entry.bytes,
                storage: storage.clone(),
            });
        }
        self.files.push(file);
        Ok(())
    }

    /// A tensor, as its header has it.
    pub fn stored(&self, name: &str) -> Option<&StoredEntry> {
        self.entries.get(name)
    }

    /// The bytes of all tensors.
    pub fn bytes(&self) -> u64 {
        self.entries.values().map(|entry| entry.bytes).sum()
    }

    /// The files that hold them, within the folder.
    pub fn files(&self) -> &[Arc<str>] {
        &self.files
    }
}

impl Checkpoint for StoredTensors {
    fn name(&self) -> &str {
        &self.place
    }

    fn names(&self) -> Vec<&str> {
        self.entries.keys().map(String::as_str).collect()
    }

    fn entry(&self, name: &str) -> Option<&model::Entry> {
        Some(&self.entries.get(name)?.header)
    }

    /// The tensor of this name, still in its file; a vector is one row. It may be read by several threads at once.
    ///
    /// # Errors
    /// If there is none, it has more than three dimensions or none, or its numbers are not F32, F16, BF16 or F64.
    fn tensor(&self, name: &str) -> Result<Tensor> {
        let Some(entry) = self.entries.get(name) else {
            return Err(no_tensor(&self.place, name, self.entries.keys()).of_kind(ErrorKind::Unknown));
        };
        let place = || entry_name(entry.storage.name(), name);
        let model::Entry { dims, type_name, dtype } = &entry.header;
        let dtype = dtype.ok_or_else(|| refused_type(type_name).in_source(place()))?;
        let count = checked_cells(dims, usize::MAX).map_err(|error| error.in_source(place()))?;
        if !(1..=3).contains(&dims.len()) {
            let shape = shape_text(dims);
            let what =
                format!("a tensor of shape {shape} is neither a vector, a matrix nor a stack of matrices");
            return Err(Error::new(what).in_source(place()));
        }
        let numbers = StoredNumbers::new(entry.storage.clone(), entry.offset, dtype, count)?;
        Tensor::stored(numbers, dims).map_err(|error| error.in_source(place()))
    }
}

/// The error for numbers of a type that models are not computed in.
fn refused_type(dtype: &str) -> Error {
    match dtype {
        "BOOL" | "I64" | "U64" | "C64" => Error::new(format!("numbers of type {dtype} are no weights"))
            .help("attn reads weights in F32, F16, BF16 and F64"),
        _ => Error::new(format!("this checkpoint is quantised: {dtype}")).help(REMEDY),
    }
}

// `model.safetensors.index.json`: which tensor is in which of several files.

/// The name of the index in a folder.
pub(super) const INDEX: &str = "model.safetensors.index.json";

/// The longest index that is read, in bytes: as long as a header may be.
const LONGEST: u64 = 100_000_000;

/// The files of a model, and the tensors in each.
pub(super) struct Index {
    name: String,
    /// The file of each tensor.
    places: BTreeMap<String, String>,
}

impl Index {
    /// Reads the index.
    ///
    /// # Errors
    /// If it is no index, or names a file outside of the folder.
    pub(super) fn read(file: &ModelFile) -> Result<Index> {
        let name = file.name().to_string();
        let damaged =
            |what: String| Error::new(what).in_source(&*name).help("download or save the file again");
        let input = file.input()?;
        if input.length > LONGEST {
            let [length, most] = [input.length, LONGEST].map(grouped);
            return Err(damaged(format!("the index has {length} bytes; at most {most} are read")));
        }
        let text = input.text()?;
        let unread = |error: serde_json::Error| damaged(format!("the index cannot be read: {error}"));
        check_names(text.as_bytes()).map_err(unread)?;
        let mut index =
            tree(text.as_bytes(), &[&["weight_map"]], unread).map_err(|error| error.in_source(&*name))?;
        let Some(Value::Object(map)) = index.get_mut("weight_map").map(Value::take) else {
            return Err(damaged("the index has no `weight_map`".into()));
        };
        let mut places = BTreeMap::new();
        for (tensor, file) in map {
            let Value::String(file) = file else {
                return Err(damaged(format!("the index names no file for the tensor `{}`", clip(&tensor))));
            };
            if !is_inside(&file) {
                let [tensor, file] = [tensor, file].map(|name| clip(&name));
                return Err(Error::new(format!(
                    "the index places the tensor `{tensor}` in `{file}`, outside of the folder, and such files are not opened"
                ))
                .in_source(&*name)
                .help("download the model again, from a source that you trust"));
            }
            places.insert(tensor, file);
        }
        if places.is_empty() {
            return Err(damaged("the index names no tensor".into()));
        }
        Ok(Index { name, places })
    }

    /// The files, each once.
    pub(super) fn files(&self) -> BTreeSet<&str> {
        self.places.values().map(String::as_str).collect()
    }

    /// The error for a file that is not in the folder.
    pub(super) fn missing(&self, file: &str) -> Error {
        Error::new(format!("the index names the file {}, which is not in the folder", clip(file)))
            .in_source(&*self.name)
            .help("the download was not finished: download this file too")
    }

    /// Checks that every tensor is where the index places it. The files may hold tensors that the index does not name.
    ///
    /// # Errors
    /// If one is nowhere, or in another file.
    pub(super) fn check(&self, tensors: &StoredTensors) -> Result<()> {
        for (tensor, file) in &self.places {
            let found = tensors.stored(tensor).map(|entry| &*entry.file);
            if found == Some(file) {
                continue;
            }
            let but = match found {
                Some(found) => format!("but it is in {}", clip(found)),
                None => "which does not have it".to_string(),
            };
            let [tensor, file] = [tensor, file].map(|name| clip(name));
            return Err(Error::new(format!("the index places the tensor `{tensor}` in {file}, {but}"))
                .in_source(&*self.name)
                .help("the index belongs to other files: download all of them again"));
        }
        Ok(())
    }
}

/// True if a name leads to a place within the folder, whatever the system.
fn is_inside(file: &str) -> bool {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    !file.is_empty() && !file.contains(['\\', ':', '\0']) && Path::new(file).components().all(is_plain)
}

// Configurations of quantised checkpoints, which are refused by the name of their method.

/// The keys under which programs describe a quantisation: most of them, an older one, and MLX.
const KEYS: [&str; 3] = ["quantization_config", "compression_config", "quantization"];

/// The remedy for every quantised checkpoint.
pub(super) const REMEDY: &str = "attn reads weights as they are: open the checkpoint that this one was made from, \
     with weights in F32, F16 or BF16";

/// Checks that a configuration describes weights that are stored as plain numbers.
///
/// # Errors
/// If it describes a quantisation; the error names the method. A text that is not JSON is no error here: reading the
/// configuration says where it is wrong.
pub fn check_not_quantised(config: &ConfigFile) -> Result<()> {
    let Some(Value::Object(fields)) = config.tree() else { return Ok(()) };
    let nested = fields.get("text_config").and_then(Value::as_object);
    match [Some(&fields), nested].into_iter().flatten().find_map(quantisation) {
        Some((key, method)) => Err(Error::new(format!("this checkpoint is quantised: {method} (`{key}`)"))
            .in_source(&*config.name)
            .help(REMEDY)),
        None => Ok(()),
    }
}

/// The key of a quantisation, and its method.
fn quantisation(fields: &Map<String, Value>) -> Option<(&'static str, String)> {
    KEYS.into_iter().find_map(|key| match fields.get(key)? {
        Value::Null | Value::Bool(false) => None,
        value => Some((key, method(value))),
    })
}

/// The method, and its bits where they are known.
fn method(value: &Value) -> String {
    let on = |key: &str| value.get(key).and_then(Value::as_bool) == Some(true);
    let bits = value.get("bits").and_then(Value::as_u64);
    let bits = bits.or(on("load_in_4bit").then_some(4)).or(on("load_in_8bit").then_some(8));
    let named = value.get("quant_method").or_else(|| value.get("quant_algo")).and_then(Value::as_str);
    match (named, bits) {
        (Some(name), Some(bits)) => format!("{}, {bits} bits", clip(name)),
        (Some(name), None) => clip(name),
        (None, Some(bits)) => format!("{bits} bits"),
        (None, None) => "by a method that is not named".to_string(),
    }
}

// Opening the files that hold a model's tensors.

/// The name of the tensors' file in a folder.
pub(in crate::input) const WEIGHTS: &str = "model.safetensors";

/// The beginning of a file that stands for another one, which Git LFS has not fetched.
const LFS_POINTER: &[u8] = b"version https://git-lfs";

/// Opens a file of tensors, reads its header, and adds what is in it. The file is opened once for all of them.
///
/// # Errors
/// If it cannot be opened, its header is wrong, or an earlier file has one of its tensors.
pub(super) fn add_file(tensors: &mut StoredTensors, label: &str, file: &ModelFile) -> Result<()> {
    let name = file.name();
    let Some(path) = file.path() else {
        return Err(Error::new("this file is not on disk").in_source(name));
    };
    check_regular(name, path)?;
    let (opened, length) = regular(name, path)?;
    let reader = opened.try_clone().map_err(|error| unreadable(name, &error))?;
    // Before the header is read, so that the header is that of the numbers read later.
    let storage = StoredFile::new(name.to_string(), opened)?;
    let mut input = Input::of_file(name, reader, length, Limit::LARGE)?;
    if input.peek(LFS_POINTER.len())? == LFS_POINTER {
        return Err(Error::new("this is only a pointer to the file: Git has not fetched the file itself")
            .in_source(name)
            .help("in the model's folder: git lfs pull"));
    }
    if let Some((what, help)) = in_disguise(&input.peek(9)?) {
        return Err(Error::new(format!("this is {what}, whatever its name says")).in_source(name).help(help));
    }
    tensors.add(label, &Tensors::open(input)?, Arc::new(storage))
}

/// What a file is by its first bytes, where it is of another kind: its name was changed. Where a header of tensors begins, byte 9 is
/// a brace.
fn in_disguise(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    if bytes.get(8) == Some(&b'{') {
        return None;
    }
    match bytes {
        [b'P', b'K', 3, 4, ..] => Some(("a zip archive, such as a .bin or .pt of PyTorch", CONVERT)),
        [0x80, 2..=5, ..] => Some(("a pickle, such as an old .bin or .pt of PyTorch", CONVERT)),
        [b'G', b'G', b'U', b'F', ..] => Some(("a .gguf file", NO_GGUF)),
        _ => None,
    }
}

/// Adds the tensors of a file that travels with the program.
///
/// # Errors
/// If its header is wrong.
pub(super) fn add_bundled(
    tensors: &mut StoredTensors,
    label: &str,
    name: &str,
    bytes: &'static [u8],
) -> Result<()> {
    let header = Tensors::open(Input::bundled(name, bytes, Limit::LARGE))?;
    tensors.add(label, &header, Arc::new(BundledBytes { name: name.to_string(), bytes }))
}

/// Bytes that travel with the program.
#[derive(Debug)]
struct BundledBytes {
    name: String,
    bytes: &'static [u8],
}

impl Storage for BundledBytes {
    fn name(&self) -> &str {
        &self.name
    }

    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let start = usize::try_from(offset).ok();
        let stored = start.and_then(|start| self.bytes.get(start..)?.get(..buffer.len()));
        let Some(stored) = stored else {
            return Err(Error::new("the file ends too early").in_source(&*self.name));
        };
        buffer.copy_from_slice(stored);
        Ok(())
    }
}

// One file of a model's folder.

/// A text of a model's folder, such as `tokenizer.json`, that is read when it is asked for.
#[derive(Clone, Debug)]
pub struct ModelFile {
    name: String,
    place: Place,
}

/// The text of a model's `config.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigFile {
    /// Its name in errors.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl ConfigFile {
    /// The configuration as JSON; none where it is none, or has no room: reading the model says so.
    pub fn tree(&self) -> Option<Value> {
        tree(self.text.as_bytes(), &[], |error| Error::new(error.to_string())).ok()
    }
}

/// The location of a file.
#[derive(Clone, Debug)]
enum Place {
    /// Without links.
    Disk(PathBuf),
    Program(&'static [u8]),
}

impl ModelFile {
    /// A file that travels with the program.
    pub(super) fn bundled(name: String, bytes: &'static [u8]) -> ModelFile {
        ModelFile { name, place: Place::Program(bytes) }
    }

    /// Its name in errors: the path as it was typed, and the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its path without links; `None` for a file that travels with the program.
    pub fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::Disk(path) => Some(path),
            Place::Program(_) => None,
        }
    }

    /// The whole text.
    ///
    /// # Errors
    /// If it is no regular file, cannot be read, is empty, larger than 1 GiB, or is not UTF-8.
    pub fn text(&self) -> Result<String> {
        self.input()?.text()
    }

    /// The file, opened.
    pub(super) fn input(&self) -> Result<Input> {
        match &self.place {
            Place::Disk(path) => {
                check_regular(&self.name, path)?;
                Input::open(&self.name, path, Limit::LARGE)
            }
            Place::Program(bytes) => Ok(Input::bundled(&self.name, bytes, Limit::LARGE)),
        }
    }
}

/// Checks, before a file is opened, that reading it will end.
pub(super) fn check_regular(name: &str, path: &Path) -> Result<()> {
    let metadata = fs::metadata(path).map_err(|error| unreadable(name, &error))?;
    if metadata.is_file() {
        return Ok(());
    }
    let what = if metadata.is_dir() { "this is a folder, not a file" } else { "this is not a regular file" };
    Err(Error::new(what).in_source(name).help("put the model's own file in its place"))
}

// The folder that holds a model's files, and the files that may be opened in it.

/// The folder of snapshots in a hub cache.
const SNAPSHOTS: &str = "snapshots";

/// The remedy where no folder was named.
const NAME_A_FOLDER: &str =
    "name a model's folder: it has config.json, model.safetensors and, for text, tokenizer.json";

/// The way to a model, for those who have none.
const GET_ONE: &str = "this one gets GPT-2 (0.5 GB): hf download openai-community/gpt2 config.json model.safetensors \
     tokenizer.json --local-dir gpt2; `words` needs no download";

/// A folder whose files belong to one model.
pub(super) struct Root {
    /// As it was typed, and within a hub cache the snapshot.
    pub(super) path: PathBuf,
    /// The same without links.
    real: PathBuf,
    reading: ReadPermission,
}

impl Root {
    /// The folder, or the snapshot of a hub cache.
    ///
    /// # Errors
    /// If there is no such folder, it may not be read, or a hub cache has no snapshot or too many.
    pub(super) fn find(path: &Path, reading: &ReadPermission) -> Result<Root> {
        if path.as_os_str().is_empty() {
            return Err(Error::new("the name of the folder is empty").help(NAME_A_FOLDER));
        }
        reading.check(&from_path(path))?;
        let shown = path_text(path);
        let metadata = fs::metadata(path).map_err(|error| not_opened(path, &error))?;
        if !metadata.is_dir() {
            return Err(not_a_folder(path, metadata.is_file()));
        }
        let real = fs::canonicalize(path).map_err(|error| unreadable(&shown, &error))?;
        let reading = reading.clone();
        if !exists(&real.join("config.json")) && real.join(SNAPSHOTS).is_dir() {
            let within = Path::new(SNAPSHOTS).join(snapshot(path)?);
            let inner = fs::canonicalize(real.join(&within)).map_err(|error| unreadable(&shown, &error))?;
            return Ok(Root { path: path.join(within), real: inner, reading });
        }
        Ok(Root { path: path.to_path_buf(), real, reading })
    }

    /// Its name in errors.
    pub(super) fn name(&self) -> String {
        path_text(&self.path)
    }

    /// The names of what is in it, sorted, without those that begin with a dot.
    ///
    /// # Errors
    /// If it may not be read.
    pub(super) fn list(&self) -> Result<Vec<String>> {
        names_in(&self.path, |_| true)
    }

    /// A file of this name in it; `None` if there is none. It is not opened yet. A link is followed, as those of a hub cache and of
    /// collections that share files lead out of the folder; where it leads must be readable.
    ///
    /// # Errors
    /// If it is a link to nothing, or may not be read.
    pub(super) fn file(&self, file: &str) -> Result<Option<ModelFile>> {
        let name = path_text(&self.path.join(file));
        let path = self.real.join(file);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&name, &error)),
            Ok(_) => {}
        }
        let real = fs::canonicalize(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => file_error(&*name, "this is a link to a file that is not there")
                .help("the download was not finished, or the file was moved: download the model again"),
            _ => unreadable(&name, &error),
        })?;
        self.reading.check(&from_path(&real))?;
        Ok(Some(ModelFile { name, place: Place::Disk(real) }))
    }

    /// The folders in it that look like models, as they can be typed.
    pub(super) fn models_below(&self) -> Vec<String> {
        let is_model = |path: &Path| {
            path.is_dir() && (exists(&path.join("config.json")) || path.join(SNAPSHOTS).is_dir())
        };
        let names = names_in(&self.path, is_model).unwrap_or_default();
        names.iter().map(|name| from_path(&self.path.join(to_path(name)))).collect()
    }
}

/// True if there is something of this name, even a link to nothing.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// The names in a folder that a condition holds for, sorted, without those that begin with a dot.
pub(super) fn names_in(folder: &Path, is: impl Fn(&Path) -> bool) -> Result<Vec<String>> {
    let names = open::names_in(folder).map_err(|error| not_opened(folder, &error))?;
    let names = names.iter().filter(|name| is(&folder.join(name)));
    let mut names: Vec<String> = names.map(|name| from_os(name).into_owned()).collect();
    names.sort();
    Ok(names)
}

/// The snapshot of a hub cache: that of `refs/main`, else the only one.
fn snapshot(hub: &Path) -> Result<PathBuf> {
    let folders = names_in(&hub.join(SNAPSHOTS), Path::is_dir)?;
    let main = hub.join("refs").join("main");
    let main = match examined(&main, fs::metadata(&main))? {
        Some(file) if file.len() > 0 => read_text(&main, 1000)?,
        _ => String::new(),
    };
    if let Some(main) = folders.iter().find(|name| **name == main.trim()) {
        return Ok(to_path(main));
    }
    match folders.as_slice() {
        [only] => Ok(to_path(only)),
        [] => Err(Error::new("this hub cache has no snapshot of the model")
            .in_source(path_text(hub))
            .help("the download was not finished: download the model again")),
        several => {
            let (count, place) = (several.len(), path_text(&hub.join(SNAPSHOTS)));
            let names = listed_briefly(several.iter().map(String::as_str));
            Err(Error::new(format!("this hub cache has {count} snapshots, and refs/main names none of them"))
                .in_source(path_text(hub))
                .help(format!("name one of the folders in {place}: {names}")))
        }
    }
}

/// The error for a folder that cannot be opened.
fn not_opened(path: &Path, error: &io::Error) -> Error {
    let name = path_text(path);
    match error.kind() {
        io::ErrorKind::NotFound => {
            let error = file_error(&*name, "no such folder");
            if is_hub_id(&name) {
                error.help(format!(
                    "attn downloads nothing: first `hf download {name}`, then name the folder that it prints"
                ))
            } else {
                error.help(format!("{NAME_A_FOLDER}; {GET_ONE}"))
            }
        }
        io::ErrorKind::PermissionDenied => {
            file_error(name, "permission denied").help("you may not read this folder: check its permissions")
        }
        _ => unreadable(&name, error),
    }
}

/// True for a name that can only be that of a model in the hub: `openai-community/gpt2`, where there is no such owner's folder.
fn is_hub_id(name: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    name.split_once('/')
        .is_some_and(|(owner, model)| plain(owner) && plain(model) && !exists(Path::new(owner)))
}

/// The error for what is no folder.
fn not_a_folder(path: &Path, is_file: bool) -> Error {
    let error = Error::new("this is not a folder").in_source(path_text(path));
    if !is_file {
        return error.help(NAME_A_FOLDER);
    }
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("gguf") => error.help(NO_GGUF),
        Some("json" | "safetensors") => {
            error.help(format!("name the folder of the file: {}", path_text(above)))
        }
        _ => error.help(NAME_A_FOLDER),
    }
}

// Errors about files that are not there: what is there instead, and the way out.

/// The remedy for a file in the format of llama.cpp.
pub(super) const NO_GGUF: &str = ".gguf files are not read: download the folder that the file was made from, \
     with config.json and model.safetensors";

/// The remedy for a file that PyTorch has written.
pub(super) const CONVERT: &str = "rename it to pytorch_model.bin, and convert it to safetensors, in Python with transformers: \
     AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained(FOLDER) (for BERT: AutoModelForMaskedLM)";

/// The names of an adapter, which changes the weights of another model, and of its configuration.
const ADAPTERS: [&str; 3] = ["adapter_model.safetensors", "adapter_model.bin", ADAPTER_CONFIG];
pub(super) const ADAPTER_CONFIG: &str = "adapter_config.json";

/// The file that says that a folder has an adapter, if one does.
pub(super) fn adapter(names: &[String]) -> Option<&'static str> {
    ADAPTERS.into_iter().find(|adapter| names.iter().any(|name| name == adapter))
}

/// The error for a folder that has an adapter alone; `base` is the model that it belongs to, where it says so.
pub(super) fn only_adapter(folder: &str, base: Option<&str>) -> Error {
    let base = base.map_or("its base model".to_string(), |base| format!("its base model, {}", clip(base)));
    file_error(folder, "this folder has an adapter (LoRA), and no model.safetensors").help(format!(
        "an adapter changes {base}: merge the two, in Python with peft: \
         AutoPeftModelForCausalLM.from_pretrained(FOLDER).merge_and_unload().save_pretrained(MERGED), and put the \
         tokenizer.json of the base model beside it"
    ))
}

/// Files of tokenizers that are not read.
const OTHER_TOKENIZER_FILES: [&str; 7] = [
    "tokenizer.model",
    "vocab.json",
    "merges.txt",
    "vocab.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tekken.json",
];

/// The files of tokenizers in a folder, other than `tokenizer.json`.
pub(super) fn other_tokenizer_files(names: &[String]) -> Vec<String> {
    let known = |name: &&String| OTHER_TOKENIZER_FILES.contains(&name.as_str());
    names.iter().filter(known).cloned().collect()
}

/// The error for a folder without `config.json`; `below` are the models that are in folders below it.
pub(super) fn no_config(folder: &str, names: &[String], below: &[String]) -> Error {
    let missing = |more: &str| file_error(folder, format!("there is no config.json {more}"));
    let here = || missing("in this folder");
    let has = |ending: &str| names.iter().any(|name| name.ends_with(ending));
    match below {
        [] if names.is_empty() => file_error(folder, "this folder is empty")
            .help("the download was not finished, or a model is in another folder"),
        [] if has(".gguf") => missing("in this folder, only a .gguf file").help(NO_GGUF),
        [] if has(".safetensors") => here().help(
            "download the config.json of the same model: the tensors alone do not say how they are used",
        ),
        [] => {
            let names = listed_briefly(names.iter().map(String::as_str));
            missing("and no model.safetensors in this folder")
                .help(format!("name the folder that has them; this one has {names}"))
        }
        [only] => here().help(format!("name the folder below it: {}", quoted(only))),
        several => {
            let several = choices(several.iter().map(String::as_str));
            here().help(format!("name one of the models below it: {several}"))
        }
    }
}

/// The error for a folder without `model.safetensors` and without its index.
pub(super) fn no_weights(folder: &str, names: &[String]) -> Error {
    let has = |is: fn(&str) -> bool| names.iter().map(String::as_str).find(|name| is(name));
    let error = |what: String| file_error(folder, what);
    let only = |file: &str| error(format!("there is no model.safetensors in this folder, only {file}"));
    if let Some(shard) = has(|name| name.ends_with(".safetensors") && name.contains("-of-")) {
        return error("there is no model.safetensors.index.json in this folder".into()).help(format!(
            "{shard} is one part of several; the index says which tensor is in \
             which part: download it too"
        ));
    }
    if let Some(file) = has(|name| name.ends_with(".safetensors")) {
        return only(file).help("if this file holds the whole model, rename it to model.safetensors");
    }
    // What `transformers` opens, and saves again as it is read here.
    let is_of_transformers = |name: &str| {
        name.starts_with("pytorch_model") && (name.ends_with(".bin") || name.ends_with(".bin.index.json"))
    };
    if let Some(file) = has(is_of_transformers) {
        return only(file).help(
            "convert it to safetensors, in Python with transformers: \
             AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained(FOLDER) (for BERT: AutoModelForMaskedLM)",
        );
    }
    if let Some(file) = has(|name| name.ends_with(".gguf")) {
        return only(file).help(NO_GGUF);
    }
    // Weights or whole models that other programs write.
    const OTHERS: [&str; 9] = [".bin", ".pt", ".pth", ".ckpt", ".h5", ".msgpack", ".onnx", ".tflite", ".npz"];
    if let Some(file) = has(|name| OTHERS.iter().any(|ending| name.ends_with(ending))) {
        return only(file).help(
            "attn reads weights as safetensors alone: download the model.safetensors of the model that this file was made from",
        );
    }
    let names = listed_briefly(names.iter().map(String::as_str));
    error("there is no model.safetensors in this folder, and no model.safetensors.index.json".into())
        .help(format!("download the weights too; this folder has {names}"))
}

/// The error for a folder without `tokenizer.json`, where text is to be read.
pub(super) fn no_tokenizer(folder: &str, others: &[String]) -> Error {
    let missing = "there is no tokenizer.json in this folder";
    let (what, instead) = match others {
        [] => (missing.to_string(), "download the model's tokenizer.json"),
        others => (
            format!("{missing}, only {}", all_of(others)),
            "make the file, in Python with transformers: \
             AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)",
        ),
    };
    let help = format!("give the ids of the tokens instead of text: --ids 464,3290, or {instead}");
    file_error(folder, what).help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Option<String> {
        let config = ConfigFile { name: "config.json".into(), text: text.into() };
        check_not_quantised(&config).err().map(|error| error.to_string())
    }

    #[test]
    fn a_quantised_configuration_is_refused_by_its_method() {
        for (config, method) in [
            (r#"{"quantization_config": {"quant_method": "gptq", "bits": 4}}"#, "gptq, 4 bits"),
            (r#"{"quantization_config": {"quant_method": "awq", "bits": 4}}"#, "awq, 4 bits"),
            (
                r#"{"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": true}}"#,
                "bitsandbytes, 8 bits",
            ),
            (r#"{"quantization_config": {"load_in_4bit": true}}"#, "4 bits"),
            (r#"{"text_config": {"quantization_config": {"quant_method": "fp8"}}}"#, "fp8"),
            (r#"{"quantization": {"group_size": 64, "bits": 4}}"#, "4 bits"),
            (r#"{"quantization_config": {}}"#, "by a method that is not named"),
        ] {
            let said = said(config).unwrap();
            let start = format!("config.json: this checkpoint is quantised: {method} (`quant");
            assert!(said.starts_with(&start) && said.contains("help: attn reads weights"), "{said}");
        }
    }

    #[test]
    fn a_configuration_without_one_and_a_text_that_is_no_json_are_left_to_others() {
        for config in [r#"{"quantization_config": null}"#, r#"{"model_type": "gpt2"}"#, "{", "[]", ""] {
            assert_eq!(said(config), None, "{config}");
        }
    }
}
