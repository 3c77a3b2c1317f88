//! Opening a model's folder: what is there, and one clear error for every kind of broken folder.

mod damaged;
mod links;
mod missing;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use attn::foreign::from_path;
use attn::input::ModelFolder;
use attn::model::Checkpoint;
use attn::tensor::{Dtype, Tensor};
use half::{bf16, f16};
use tempfile::TempDir;

/// A `.safetensors` file with this header.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

/// A `.safetensors` file with one F32 tensor of each name, (1, 2); the numbers are `first` and the next one.
fn pairs(names: &[&str], first: f32) -> Vec<u8> {
    let entry = |(i, name): (usize, &&str)| {
        format!(r#""{name}":{{"dtype":"F32","shape":[1,2],"data_offsets":[{},{}]}}"#, 8 * i, 8 * i + 8)
    };
    let header: Vec<String> = names.iter().enumerate().map(entry).collect();
    let numbers = (0..2 * names.len()).flat_map(|i| (first + i as f32).to_le_bytes());
    file(&format!("{{{}}}", header.join(",")), &numbers.collect::<Vec<u8>>())
}

/// An index of the tensors `a` and `b` in these files.
fn index(a: &str, b: &str) -> String {
    format!(r#"{{"metadata":{{"total_size":16}},"weight_map":{{"a":"{a}","b":"{b}"}}}}"#)
}

const ONE: &str = "model-00001-of-00002.safetensors";
const TWO: &str = "model-00002-of-00002.safetensors";
const INDEX: &str = "model.safetensors.index.json";
const CONFIG: &str = r#"{"model_type": "gpt2"}"#;

/// A folder that a test fills.
struct Folder(TempDir);

impl Folder {
    fn empty() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    /// With a configuration.
    fn new() -> Folder {
        Folder::empty().with("config.json", CONFIG)
    }

    /// With a configuration, an index, and a file for each of the tensors `a` and `b`.
    fn sharded() -> Folder {
        Folder::new().with(INDEX, index(ONE, TWO)).with(ONE, pairs(&["a"], 1.0)).with(TWO, pairs(&["b"], 5.0))
    }

    fn with(self, name: &str, contents: impl AsRef<[u8]>) -> Folder {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
        self
    }

    fn without(self, name: &str) -> Folder {
        fs::remove_file(self.path(name)).unwrap();
        self
    }

    #[cfg(unix)]
    fn linked(self, name: &str, target: impl AsRef<Path>) -> Folder {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn open(&self) -> ModelFolder {
        ModelFolder::open(self.0.path()).unwrap()
    }

    /// The error of opening it, in which its path is `FOLDER`.
    fn refusal(&self) -> String {
        self.refusal_of("")
    }

    fn refusal_of(&self, inner: &str) -> String {
        let path = if inner.is_empty() { self.0.path().to_path_buf() } else { self.path(inner) };
        let said = ModelFolder::open(&path).expect_err("a broken folder").to_string();
        said.replace(self.0.path().to_str().unwrap(), "FOLDER")
    }

    #[track_caller]
    fn assert_refused(&self, expected: &str) {
        assert_eq!(self.refusal(), expected);
    }
}

/// A file that is there, to be changed.
fn opened(path: &Path) -> fs::File {
    fs::OpenOptions::new().write(true).open(path).unwrap()
}

fn numbers(tensor: &Tensor) -> Vec<f64> {
    tensor.matrix().unwrap().cells().collect()
}

#[test]
fn a_folder_with_one_file_gives_its_configuration_its_tensors_and_its_tokenizer() {
    let folder = Folder::new()
        .with("model.safetensors", pairs(&["a", "b"], 1.0))
        .with("tokenizer.json", "{}")
        .with("generation_config.json", "{ }")
        .with("vocab.json", "{}")
        .with("merges.txt", "");
    let model = folder.open();
    assert_eq!(model.config.text, CONFIG);
    assert_eq!(model.config.name, from_path(&folder.path("config.json")));
    assert_eq!(model.tensors.names(), ["a", "b"]);
    assert_eq!((model.tensors.names().len(), model.tensors.bytes(), model.tensors.files().len()), (2, 16, 1));
    assert_eq!(numbers(&model.tensors.tensor("a").unwrap()), [1.0, 2.0]);
    assert_eq!(numbers(&model.tensors.tensor("b").unwrap()), [3.0, 4.0]);
    let entry = model.tensors.stored("b").unwrap();
    assert_eq!(
        (&*entry.file, &*entry.header.type_name, &*entry.header.dims),
        ("model.safetensors", "F32", &[1, 2][..])
    );
    let place = entry.offset as usize..(entry.offset + entry.bytes) as usize;
    let bytes = fs::read(folder.path("model.safetensors")).unwrap();
    assert_eq!(bytes[place], [3.0f32.to_le_bytes(), 4.0f32.to_le_bytes()].concat());
    assert_eq!(model.required_tokenizer().unwrap().text().unwrap(), "{}");
    assert_eq!(model.generation_config.as_ref().unwrap().text().unwrap(), "{ }");
    assert!(model.tokenizer_config.is_none());
    assert_eq!(model.other_tokenizer_files, ["merges.txt", "vocab.json"]);
}

#[test]
fn a_folder_with_an_index_gives_the_tensors_of_all_its_files() {
    let folder = Folder::sharded();
    let model = folder.open();
    assert_eq!(numbers(&model.tensors.tensor("a").unwrap()), [1.0, 2.0]);
    assert_eq!(numbers(&model.tensors.tensor("b").unwrap()), [5.0, 6.0]);
    assert_eq!(model.tensors.files().iter().map(|file| &**file).collect::<Vec<_>>(), [ONE, TWO]);
    assert_eq!(&*model.tensors.stored("b").unwrap().file, TWO);
    let both = folder.with("model.safetensors", pairs(&["a"], 9.0));
    assert_eq!(both.open().tensors.names().len(), 1, "one file comes before an index, as in transformers");
}

#[test]
fn a_tensor_that_the_index_does_not_name_is_there() {
    let folder = Folder::sharded().with(TWO, pairs(&["b", "c"], 5.0));
    assert_eq!(numbers(&folder.open().tensors.tensor("c").unwrap()), [7.0, 8.0]);
}

#[test]
fn numbers_of_every_type_are_those_of_the_file() {
    let values = [1.5f32, -0.0, f32::MAX, f32::MIN_POSITIVE / 2.0, f32::NEG_INFINITY, 0.1];
    let singles: Vec<u8> = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    let doubles: Vec<u8> = values.iter().flat_map(|&x| (f64::from(x) / 3.0).to_le_bytes()).collect();
    let halves: Vec<u8> = values.iter().flat_map(|&x| f16::from_f32(x).to_le_bytes()).collect();
    let brains: Vec<u8> = values.iter().flat_map(|&x| bf16::from_f32(x).to_le_bytes()).collect();
    let header = r#"{"s":{"dtype":"F32","shape":[6],"data_offsets":[0,24]},"d":{"dtype":"F64","shape":[2,3],"data_offsets":[24,72]},
        "h":{"dtype":"F16","shape":[3,2],"data_offsets":[72,84]},"b":{"dtype":"BF16","shape":[1,2,3],"data_offsets":[84,96]}}"#;
    let folder =
        Folder::new().with("model.safetensors", file(header, &[singles, doubles, halves, brains].concat()));
    let model = folder.open();
    let get = |name: &str, dtype: Dtype, dims: &[usize]| -> Vec<u64> {
        let tensor = model.tensors.tensor(name).unwrap();
        assert!(tensor.is_stored() && tensor.dtype() == dtype && tensor.dims() == dims, "{name}");
        tensor.loaded().unwrap().cells().map(f64::to_bits).collect()
    };
    let bits = |of: fn(f32) -> f64| values.iter().map(|&x| of(x).to_bits()).collect::<Vec<u64>>();
    assert_eq!(get("s", Dtype::F32, &[1, 6]), bits(f64::from));
    assert_eq!(get("d", Dtype::F64, &[2, 3]), bits(|x| f64::from(x) / 3.0));
    assert_eq!(get("h", Dtype::F16, &[3, 2]), bits(|x| f16::from_f32(x).to_f64()));
    // As matrices of one row each, (1, 2, 3) has the same order of cells.
    assert_eq!(get("b", Dtype::Bf16, &[1, 2, 3]), bits(|x| bf16::from_f32(x).to_f64()));
}

#[test]
fn rows_of_a_tensor_are_read_without_the_others() {
    let header = r#"{"w":{"dtype":"BF16","shape":[3,2],"data_offsets":[0,12]}}"#;
    let data: Vec<u8> = (0..6).flat_map(|i| bf16::from_f32(i as f32).to_le_bytes()).collect();
    let folder = Folder::new().with("model.safetensors", file(header, &data));
    let rows = folder.open().tensors.tensor("w").unwrap().rows(1..3).unwrap();
    assert_eq!(rows.cells().collect::<Vec<_>>(), [2.0, 3.0, 4.0, 5.0]);
    assert_eq!(rows.dtype(), Dtype::Bf16);
}

#[test]
fn threads_read_different_tensors_at_once() {
    let names: Vec<String> = (0..64).map(|i| format!("t{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let folder = Folder::new().with("model.safetensors", pairs(&names, 0.0));
    let model = folder.open();
    thread::scope(|scope| {
        for part in 0..2 {
            let (model, names) = (&model, &names);
            scope.spawn(move || {
                for i in (0..6400).map(|i| (2 * i + part) % 64) {
                    let expected = [2.0 * i as f64, 2.0 * i as f64 + 1.0];
                    let loaded = model.tensors.tensor(names[i]).unwrap().loaded().unwrap();
                    assert_eq!(loaded.cells().collect::<Vec<_>>(), expected);
                }
            });
        }
    });
}

#[test]
fn types_that_models_are_not_computed_in_are_refused_by_name_where_they_are_asked_for() {
    let header = r#"{"w":{"dtype":"F8_E4M3","shape":[2,2],"data_offsets":[0,4]},"q":{"dtype":"U8","shape":[4],"data_offsets":[4,8]},
        "ids":{"dtype":"I64","shape":[1],"data_offsets":[8,16]},"mask":{"dtype":"BOOL","shape":[1,1,2,2],"data_offsets":[16,20]},
        "x":{"dtype":"F32","shape":[1],"data_offsets":[20,24]},"s":{"dtype":"F32","shape":[],"data_offsets":[24,28]},
        "five":{"dtype":"F16","shape":[1,1,1,1,1],"data_offsets":[28,30]},"none":{"dtype":"F16","shape":[2,0],"data_offsets":[30,30]}}"#;
    let folder = Folder::new().with("model.safetensors", file(header, &[0; 30]));
    let model = folder.open();
    assert_eq!(model.tensors.entry("q").unwrap().type_name, "U8");
    assert_eq!(numbers(&model.tensors.tensor("x").unwrap()), [0.0]);
    let refused = |name: &str| {
        let said = model.tensors.tensor(name).unwrap_err().to_string();
        said.replace(folder.0.path().to_str().unwrap(), "FOLDER")
    };
    assert_eq!(
        refused("w"),
        "FOLDER/model.safetensors, w: this checkpoint is quantised: F8_E4M3\n  help: attn reads weights as they are: \
         open the checkpoint that this one was made from, with weights in F32, F16 or BF16"
    );
    assert!(refused("q").contains("q: this checkpoint is quantised: U8\n"));
    for (name, expected) in [
        ("ids", "numbers of type I64 are no weights\n  help: attn reads weights in F32, F16, BF16 and F64"),
        ("mask", "numbers of type BOOL are no weights\n  help: attn reads weights in F32, F16, BF16 and F64"),
        ("s", "a tensor of shape () is neither a vector, a matrix nor a stack of matrices"),
        ("five", "a tensor of shape (1, 1, 1, 1, 1) is neither a vector, a matrix nor a stack of matrices"),
        ("none", "there are no numbers: the shape is (2, 0)"),
    ] {
        assert_eq!(refused(name), format!("FOLDER/model.safetensors, {name}: {expected}"));
    }
    assert_eq!(refused("maks"), "FOLDER: there is no tensor `maks`\n  help: did you mean `mask`?");
    assert!(refused("h.0.ln_1.weight").contains("`h.0.ln_1.weight`\n  help: it has `five`, `ids`, "));
}

#[test]
fn a_quantised_configuration_is_refused_before_its_tensors_are_opened() {
    let config = r#"{"quantization_config": {"quant_method": "gptq", "bits": 4}}"#;
    Folder::empty().with("config.json", config).assert_refused(
        "FOLDER/config.json: this checkpoint is quantised: gptq, 4 bits (`quantization_config`)\n  help: attn reads weights \
         as they are: open the checkpoint that this one was made from, with weights in F32, F16 or BF16",
    );
}

#[test]
fn a_file_that_changes_while_it_is_open_is_an_error_where_it_is_read() {
    let changed = |change: fn(&Path)| {
        let folder = Folder::sharded();
        let model = folder.open();
        change(&folder.path(TWO));
        assert_eq!(numbers(&model.tensors.tensor("a").unwrap()), [1.0, 2.0], "the other file is as it was");
        let said = model.tensors.tensor("b").unwrap().loaded().unwrap_err().to_string();
        said.replace(folder.0.path().to_str().unwrap(), "FOLDER")
    };
    let expected = format!(
        "FOLDER/{TWO}: the file changed while it was in use\n  help: wait until nothing writes to it, then run the command again"
    );
    assert_eq!(changed(|path| opened(path).set_len(9).unwrap()), expected);
    assert_eq!(changed(|path| fs::write(path, b"").unwrap()), expected);
    let rewritten = |path: &Path| {
        fs::write(path, pairs(&["b"], 9.0)).unwrap();
        // A clock that ticks slowly may give both versions the same time.
        let later = SystemTime::now() + Duration::from_secs(2);
        opened(path).set_modified(later).unwrap();
    };
    assert_eq!(changed(rewritten), expected);
}

#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_by_another_stays_as_it_was_opened() {
    let folder = Folder::sharded().with("new", pairs(&["b"], 9.0));
    let model = folder.open();
    fs::rename(folder.path("new"), folder.path(TWO)).unwrap();
    assert_eq!(numbers(&model.tensors.tensor("b").unwrap()), [5.0, 6.0]);
}

#[test]
fn a_model_of_the_program_is_read_from_its_own_bytes() {
    let weights: &'static [u8] = Box::leak(pairs(&["a", "b"], 1.0).into_boxed_slice());
    let model = ModelFolder::bundled("words", CONFIG, weights, b"{\"model\": {}}").unwrap();
    assert_eq!((model.name.as_str(), model.path.as_deref()), ("words", None));
    assert_eq!(model.config.name, "words, config.json");
    assert_eq!(numbers(&model.tensors.tensor("b").unwrap()), [3.0, 4.0]);
    assert_eq!(model.required_tokenizer().unwrap().text().unwrap(), "{\"model\": {}}");
    let said =
        ModelFolder::bundled("words", CONFIG, &weights[..weights.len() - 1], b"").unwrap_err().to_string();
    assert!(said.starts_with("words, model.safetensors: the header says 16 bytes of tensors"), "{said}");
    let said = model.tensors.tensor("c").unwrap_err().to_string();
    assert!(said.starts_with("words: there is no tensor `c`"), "{said}");
}
