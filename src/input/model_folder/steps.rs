//! The weights that a training kept after some of its steps.

use std::fs;
use std::path::Path;

use super::root::{Root, names_in};
use super::storage::{WEIGHTS, add_file};
use super::tensors::StoredTensors;
use crate::error::{Error, ErrorKind, Result};
use crate::input::open::examined;
use crate::text::listed_briefly;

/// The folder within a model's folder that has them.
pub(in crate::input) const CHECKPOINTS: &str = "checkpoints";

/// The most steps that are all listed.
const MOST_LISTED: usize = 24;

/// The file of a step, within the model's folder.
pub(in crate::input) fn step_file(step: usize) -> String {
    format!("{CHECKPOINTS}/step-{step}.safetensors")
}

/// The steps that a folder has weights of, in order.
///
/// # Errors
/// If they cannot be read.
pub(super) fn steps_in(folder: &Path) -> Result<Vec<usize>> {
    let folder = folder.join(CHECKPOINTS);
    if examined(&folder, fs::metadata(&folder))?.is_none_or(|metadata| !metadata.is_dir()) {
        return Ok(Vec::new());
    }
    let names = names_in(&folder, |_| true)?;
    let step = |name: &String| name.strip_prefix("step-")?.strip_suffix(".safetensors")?.parse().ok();
    let mut steps: Vec<usize> = names.iter().filter_map(step).collect();
    steps.sort_unstable();
    // `step-007` is no name that is written.
    steps.retain(|step| names.contains(&format!("step-{step}.safetensors")));
    steps.dedup();
    Ok(steps)
}

/// Steps in words: `50, 100, 150`, and of many the first ones.
pub(super) fn listed(steps: &[usize]) -> String {
    let steps: Vec<String> = steps.iter().map(usize::to_string).collect();
    if steps.len() > MOST_LISTED {
        listed_briefly(steps.iter().map(String::as_str))
    } else {
        steps.join(", ")
    }
}

/// The tensors that were kept after a step.
pub(super) fn open_step(root: &Root, step: usize) -> Result<StoredTensors> {
    let kept = steps_in(&root.path)?;
    let file = step_file(step);
    let Some(found) = root.file(&file)? else {
        let error = |what: String| Error::new(what).of_kind(ErrorKind::File).in_source(root.name());
        return Err(match kept.as_slice() {
            [] => error("there are no checkpoints in this folder".to_string())
                .help(format!("it has no weights but those of {WEIGHTS}, which are opened without a step")),
            _ => error(format!("the weights of step {step} were not kept"))
                .help(format!("kept are {}", listed(&kept))),
        });
    };
    let mut tensors = StoredTensors::new(&root.name());
    add_file(&mut tensors, &file, &found)?;
    Ok(tensors)
}
