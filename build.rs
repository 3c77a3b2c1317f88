//! Embeds the demos: the files below `data/demos`, in the order of their paths. `003/05-gqa.attn` is the demo `gqa`.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("Cargo sets it")).join("data/demos");
    let mut files = Vec::new();
    collect(&folder, &mut files)?;
    files.sort();
    let entry = |path: &PathBuf| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let (_, name) = stem.split_once('-').expect("a number and a name");
        format!("({name:?}, include_str!({:?})),\n", path.display().to_string())
    };
    let list = format!("&[\n{}]", files.iter().map(entry).collect::<String>());
    fs::write(Path::new(&env::var("OUT_DIR").expect("Cargo sets it")).join("demos.rs"), list)
}

#[allow(clippy::print_stdout, reason = "Cargo reads it")]
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|ending| ending == "attn") {
            files.push(path);
        }
    }
    Ok(())
}
