//! Compresses the program of a page: the binary holds it as a page does.
#![allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::{env, fs};

use flate2::Compression;
use flate2::write::ZlibEncoder;

const PROGRAM: &str = "src/render/attn_page.wasm";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={PROGRAM}");
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&fs::read(PROGRAM)?)?;
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo names no folder")?);
    fs::write(folder.join("attn_page.zlib"), encoder.finish()?)?;
    Ok(())
}
