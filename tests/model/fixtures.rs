//! The small random models of `tests/models`, and the figures that `transformers` computes from them.

use std::path::{Path, PathBuf};

use attn::input::ModelFolder;
use attn::matrix::Labels;
use attn::model::{Architecture, ModelRun, Tensors, Text};
use safetensors::SafeTensors;

/// All folders, in the order of their names.
pub fn folders() -> Vec<PathBuf> {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models");
    let mut all: Vec<PathBuf> = std::fs::read_dir(models)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("config.json").exists())
        .collect();
    all.sort();
    all
}

/// A folder, opened.
pub struct Fixture {
    pub architecture: Architecture,
    tensors: Tensors,
}

impl Fixture {
    pub fn open(folder: &Path) -> Fixture {
        Fixture::of(&ModelFolder::open(folder).unwrap())
    }

    /// The model that travels with the program.
    pub fn words() -> Fixture {
        Fixture::of(&ModelFolder::words().unwrap())
    }

    fn of(opened: &ModelFolder) -> Fixture {
        let architecture = Architecture::from_config(&opened.config.text, &opened.config.name).unwrap();
        let tensors = Tensors::find(&architecture, opened.tensors.clone()).unwrap();
        Fixture { architecture, tensors }
    }

    pub fn with_run<T>(&self, work: impl FnOnce(ModelRun<'_>) -> T) -> T {
        work(ModelRun::new(&self.architecture, &self.tensors))
    }

    pub fn with_tensors<T>(&self, work: impl FnOnce(&Tensors) -> T) -> T {
        work(&self.tensors)
    }
}

/// The expected figures of one text.
pub struct Expected(Vec<u8>);

impl Expected {
    /// Those of a folder, each with a name.
    pub fn of(folder: &Path) -> Vec<(String, Expected)> {
        ["expected", "expected-beyond", "expected-within"]
            .into_iter()
            .filter_map(|name| {
                let path = folder.join(format!("{name}.safetensors"));
                let name = format!("{}, {name}", folder.file_name()?.to_str()?);
                Some((name, Expected(std::fs::read(path).ok()?)))
            })
            .collect()
    }

    fn bytes(&self, name: &str) -> Option<Vec<u8>> {
        let file = SafeTensors::deserialize(&self.0).unwrap();
        Some(file.tensor(name).ok()?.data().to_vec())
    }

    pub fn integers(&self, name: &str) -> Option<Vec<usize>> {
        let number = |x: &[u8]| i64::from_le_bytes(x.try_into().unwrap()) as usize;
        Some(self.bytes(name)?.chunks(8).map(number).collect())
    }

    pub fn numbers(&self, name: &str) -> Option<Vec<f64>> {
        Some(self.bytes(name)?.chunks(8).map(|x| f64::from_le_bytes(x.try_into().unwrap())).collect())
    }
}

/// Ids as a model reads them.
pub fn text(ids: Vec<usize>) -> Text {
    let tokens: Labels = ids.iter().map(|id| format!("token {id}")).collect();
    Text { ids, tokens }
}
