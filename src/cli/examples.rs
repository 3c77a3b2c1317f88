//! `attn examples`: the small data that travels with the program.

use crate::foreign::{from_path, to_path, visible};
use crate::text::{counted, nearest, quoted};

use clap::Args;

use super::listing::{self, Group};
use super::output::TablesArgs;
use super::{Env, Streams};
use crate::error::{EXIT_DONE, Error, Result};
use crate::input::{BundledFile, PutOutcome, bundled, put_files};

/// Example data to try commands on: list it, print it, or write it to a folder
///
/// Commands find the files from every folder as examples/data/NAME. Write them to a folder of your own to change numbers in
/// them.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExamplesArgs {
    /// The file to print; without one, the list
    #[arg(value_name = "NAME", conflicts_with = "write")]
    name: Option<String>,
    /// Write all files to this folder
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    write: Option<String>,
    /// Replace files that exist and differ
    #[arg(long, requires = "write")]
    overwrite: bool,
    #[command(flatten)]
    look: TablesArgs,
}

/// The command that checks the example results.
const JUDGED: &str = "attn diagnose --random 6,4 --seed 1 --causal --batch examples/data/answers";

const EXAMPLES: &str = "\
Examples:
  attn examples                           the list
  attn examples bat.json                  print one
  attn examples --write data              write all of them
  attn attend examples/data/bat.json      use one
  attn diagnose --random 6,4 --seed 1 --causal --batch examples/data/answers";

impl ExamplesArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        if let Some(folder) = &self.write {
            return self.write_to(folder, env, streams);
        }
        let Some(name) = &self.name else {
            let closing = format!(
                "`attn examples NAME` prints one, `attn examples --write DIR` writes all of them, and every command \
                 finds them: attn attend examples/data/bat.json\n\nTo have the seven results judged: {JUDGED}"
            );
            return listing::write(&groups(), &closing, "examples", &self.look.look(), env, streams);
        };
        streams.out.write_all(file(name)?.bytes)?;
        Ok(EXIT_DONE)
    }

    fn write_to(&self, folder: &str, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let files: Vec<(&str, &[u8])> = bundled().iter().map(|file| (file.name, file.bytes)).collect();
        let put = put_files(&to_path(folder), &files, self.overwrite, env.writing)?;
        let written = put.iter().filter(|put| **put != PutOutcome::WasThere).count();
        let shown = visible(folder).into_owned();
        let mut said = format!("{} written to {shown}", counted(written, "file"));
        if written < put.len() {
            said.push_str(&format!("; {} there already", put.len() - written));
        }
        let example = from_path(&to_path(folder).join("bat.json"));
        let example = quoted(&example).into_owned();
        said.push_str(&format!("\n\n  attn attend {example}\n"));
        streams.out.write_all(env.charset.spelled(&said).as_bytes())?;
        Ok(EXIT_DONE)
    }
}

/// The files by their folder.
fn groups() -> [Group; 2] {
    let rows = |folder: Option<&str>| {
        let inside = bundled().iter().filter(|file| file.place().0 == folder);
        inside.map(|file| (file.name.to_string(), file.about.to_string())).collect()
    };
    let head = ["file", "holds"];
    [
        Group { title: "Example data".into(), head, rows: rows(None) },
        Group { title: "Seven results of one exercise".into(), head, rows: rows(Some("answers")) },
    ]
}

/// The file of this name, with or without its folder.
fn file(name: &str) -> Result<&'static BundledFile> {
    let within = name.strip_prefix("./").unwrap_or(name);
    let within = within.strip_prefix("examples/data/").unwrap_or(within).trim_end_matches('/');
    let bare = within.rsplit('/').next().unwrap_or(within);
    let found = bundled().iter().find(|file| file.name == within);
    if let Some(file) = found.or_else(|| bundled().iter().find(|file| file.place().1 == bare)) {
        return Ok(file);
    }
    let shown = visible(name);
    if let Some(first) = bundled().iter().find(|file| file.place().0 == Some(within)) {
        return Err(Error::new(format!("`{shown}` is a folder of examples"))
            .help(format!("print one of its files: attn examples {}", first.name)));
    }
    let error = Error::new(format!("there is no example `{shown}`"));
    Err(match nearest(within, bundled().iter().flat_map(|file| [file.name, file.place().1])) {
        Some(near) => error.help(format!("did you mean: attn examples {near}")),
        None => error.help("`attn examples` lists them"),
    })
}
