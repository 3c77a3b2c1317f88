//! The folder that holds a model's files, and the files that may be opened in it.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::error::{Error, ErrorKind, Result};
use crate::foreign::{from_os, from_path, to_path, visible};
use crate::input::open::{examined, unreadable};
use crate::input::save::read_text;
use crate::input::source::ReadPermission;
use crate::text::listed_briefly;

use super::file::ModelFile;

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
        let shown = shown(path);
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
        shown(&self.path)
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
        let name = shown(&self.path.join(file));
        let path = self.real.join(file);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(&name, &error)),
            Ok(_) => {}
        }
        let real = fs::canonicalize(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::new("this is a link to a file that is not there")
                .of_kind(ErrorKind::File)
                .in_source(&*name)
                .help("the download was not finished, or the file was moved: download the model again"),
            _ => unreadable(&name, &error),
        })?;
        self.reading.check(&from_path(&real))?;
        Ok(Some(ModelFile::on_disk(name, real)))
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

/// A path as errors show it.
fn shown(path: &Path) -> String {
    visible(&from_path(path)).into_owned()
}

/// True if there is something of this name, even a link to nothing.
fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// The names in a folder that a condition holds for, sorted, without those that begin with a dot.
pub(super) fn names_in(folder: &Path, is: impl Fn(&Path) -> bool) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| not_opened(folder, &error))? {
        let name = entry.map_err(|error| not_opened(folder, &error))?.file_name();
        if !name.as_encoded_bytes().starts_with(b".") && is(&folder.join(&name)) {
            names.push(from_os(&name).into_owned());
        }
    }
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
            .in_source(shown(hub))
            .help("the download was not finished: download the model again")),
        several => Err(Error::new(format!(
            "this hub cache has {} snapshots, and refs/main names none of them",
            several.len()
        ))
        .in_source(shown(hub))
        .help(format!(
            "name one of the folders in {}: {}",
            shown(&hub.join(SNAPSHOTS)),
            listed_briefly(several.iter().map(String::as_str))
        ))),
    }
}

/// The error for a folder that cannot be opened.
fn not_opened(path: &Path, error: &io::Error) -> Error {
    let name = shown(path);
    match error.kind() {
        io::ErrorKind::NotFound => {
            let error = Error::new("no such folder").of_kind(ErrorKind::File).in_source(&*name);
            if is_hub_id(&name) {
                error.help(format!(
                    "attn downloads nothing: first `hf download {name}`, then name the folder that it prints"
                ))
            } else {
                error.help(format!("{NAME_A_FOLDER}; {GET_ONE}"))
            }
        }
        io::ErrorKind::PermissionDenied => Error::new("permission denied")
            .of_kind(ErrorKind::File)
            .in_source(name)
            .help("you may not read this folder: check its permissions"),
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
    let error = Error::new("this is not a folder").in_source(shown(path));
    if !is_file {
        return error.help(NAME_A_FOLDER);
    }
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("gguf") => error.help(super::missing::NO_GGUF),
        Some("json" | "safetensors") => error.help(format!("name the folder of the file: {}", shown(above))),
        _ => error.help(NAME_A_FOLDER),
    }
}
