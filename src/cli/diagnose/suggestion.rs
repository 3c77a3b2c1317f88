//! `attn diagnose --suggest-input`: an input on which mistakes show, written to a file.

use crate::cli::attend::options_of;
use crate::cli::output::{FormatArg, LookArgs};
use crate::cli::{Env, Streams, output};
use crate::diagnose::{Task, suggest};
use crate::error::{Error, Result};
use crate::foreign::{to_path, visible};
use crate::graph::Role;
use crate::graph::recipes::AttendInputs;
use crate::input;
use crate::matrix::Matrix;
use crate::render::Page;
use crate::story::Table;
use crate::story::diagnosis::suggested_input;
use crate::text::quoted;

/// Every call draws the same numbers.
const SEED: u32 = 0;

/// Writes the input, and describes how to use it.
pub(super) fn write(
    file: &str,
    task: &Task,
    look: &LookArgs,
    env: &Env,
    streams: &mut Streams<'_>,
) -> Result<()> {
    if matches!(look.format, FormatArg::Csv | FormatArg::Numpy) {
        return Err(Error::new("the description of a suggested input is not a matrix")
            .help("give --format json to get it as data; the matrices are in the file"));
    }
    let path = &to_path(file);
    input::check_bundle_ending(path)?;
    // An existing file may be the exercise itself, which cannot be made again.
    if input::exists(file) {
        return Err(Error::new("the file already exists")
            .in_source(visible(file))
            .help("name a new file: no file is overwritten"));
    }
    let suggestion = suggest(task, SEED)?;
    let matrices = named(&suggestion.inputs)?;
    let inputs = &suggestion.inputs;
    let labels = inputs.x.as_ref().and_then(|x| x.tensor.row_labels());
    let tokens = inputs.tokens.as_ref().or(labels).map(|tokens| &tokens[..]);
    input::save_bundle(path, tokens, &matrices, env.writing)?;
    let arguments = format!("{} {}", quoted(file), options_of(task.recipe())).trim_end().to_string();
    if look.is_for_people() {
        let page = Page::whole(suggested_input(file, &suggestion, task, &matrices, &arguments));
        return output::pages(&[page], "diagnose", &look.style(env), streams);
    }
    let hidden: Vec<&str> = suggestion.hidden.iter().map(|mistake| mistake.id).collect();
    let row = vec![file.to_string(), arguments, suggestion.told_apart.to_string(), hidden.join(" ")];
    let table = Table::new(&["file", "arguments", "shown", "hidden"], [row]).with_numbers(&["shown"]);
    look.tables("diagnose", &[("Suggested input".into(), table)], env, streams)
}

/// The matrices under the names by which they are read back.
fn named(inputs: &AttendInputs) -> Result<Vec<(&'static str, &Matrix)>> {
    let given = Role::all().filter_map(|role| Some((role, inputs.get(role)?)));
    given.map(|(role, given)| Ok((role.name(), given.tensor.matrix()?))).collect()
}
