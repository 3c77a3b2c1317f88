//! `attn diagnose --suggest-input`: an input on which mistakes show, written to a file.

use crate::foreign::{to_path, visible};
use crate::text::{counted, quoted};

use crate::attention::MatrixRule;
use crate::cli::output::{self, FormatArg, LookArgs};
use crate::cli::{Env, Streams};
use crate::diagnose::{Suggestion, Task, suggest};
use crate::error::{Error, Result};
use crate::graph::recipes::{AttendInputs, Recipe, Scale, Score};
use crate::graph::{Graph, Role};
use crate::input;
use crate::matrix::Matrix;
use crate::render::Page;
use crate::story::{Step, StepItem, Story, Table};

/// What is drawn is the same every time.
const SEED: u32 = 0;

/// Writes the input, and says how it is used.
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
    // What is there may be the exercise itself, which cannot be made again.
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
    let command = format!("{} {}", quoted(file), options(task.recipe())).trim_end().to_string();
    if look.is_for_people() {
        let page = Page::whole(story(file, &suggestion, &matrices, &command));
        return output::pages(&[page], "diagnose", &look.style(env), streams);
    }
    let hidden: Vec<&str> = suggestion.hidden.iter().map(|mistake| mistake.id).collect();
    let row = vec![file.to_string(), command, suggestion.told_apart.to_string(), hidden.join(" ")];
    let table = Table::new(&["file", "arguments", "shown", "hidden"], [row]).with_numbers(&["shown"]);
    look.tables("diagnose", &[("Suggested input".into(), table)], env, streams)
}

/// The matrices under the names by which they are read back.
fn named(inputs: &AttendInputs) -> Result<Vec<(&'static str, &Matrix)>> {
    let given = Role::all().filter_map(|role| Some((role, inputs.get(role)?)));
    given.map(|(role, given)| Ok((role.name(), given.tensor.matrix()?))).collect()
}

fn story(file: &str, suggestion: &Suggestion, matrices: &[(&str, &Matrix)], command: &str) -> Story {
    let shown = match (suggestion.told_apart, suggestion.hidden.len()) {
        (all, 0) => format!("all {}", counted(all, "mistake")),
        (shown, hidden) => format!("{shown} of {}", counted(shown + hidden, "mistake")),
    };
    let title = format!("A test input that shows {shown} in the result: {}", visible(file));
    let holds: Vec<String> =
        matrices.iter().map(|(name, matrix)| format!("{name} ({})", matrix.shape())).collect();
    let mut steps = vec![
        Step { text: format!("The file holds {}.", holds.join(", ")), ..Step::default() },
        Step {
            text: "Compute attention on it with your own code. Then see the right answer, and check yours:"
                .into(),
            notice: None,
            shown: vec![StepItem::Table(Table::new(
                &["command"],
                [
                    vec![format!("attn attend {command}")],
                    vec![format!("attn diagnose {command} --yours FILE")],
                ],
            ))],
            ..Step::default()
        },
    ];
    if !suggestion.hidden.is_empty() {
        let rows = suggestion.hidden.iter().map(|mistake| vec![mistake.id.into(), mistake.slip.into()]);
        steps.push(Step {
            text: "With these options some mistakes change nothing in the result, on any numbers.".into(),
            notice: None,
            shown: vec![StepItem::Table(Table::new(&["mistake", "what it would be"], rows))],
            ..Step::default()
        });
    }
    Story::of_steps(&title, Graph::new(), steps)
}

/// The options that a recipe stands for, where they are not the usual ones.
fn options(recipe: &Recipe) -> String {
    let mut options: Vec<String> = Vec::new();
    if recipe.heads > 1 {
        options.push(format!("--heads {}", recipe.heads));
    }
    if recipe.kv_heads != recipe.heads {
        options.push(format!("--kv-heads {}", recipe.kv_heads));
    }
    if recipe.score == Score::Cosine {
        options.push("--score cosine".into());
    }
    match recipe.scale {
        Scale::None => options.push("--scale none".into()),
        Scale::Number(number) => options.push(format!("--scale {number}")),
        _ => {}
    }
    if recipe.temperature != 1.0 {
        options.push(format!("--temperature {}", recipe.temperature));
    }
    let mask = &recipe.mask;
    options.extend(mask.causal.then(|| "--causal".to_string()));
    options.extend(mask.window.map(|window| format!("--window {window}")));
    options.extend(mask.from_start.then(|| "--causal-from start".to_string()));
    options.extend(mask.matrix.map(|rule| {
        let kind = match rule {
            MatrixRule::Allow => "allow",
            MatrixRule::Block => "block",
            MatrixRule::Add => "add",
        };
        format!("--mask-kind {kind}")
    }));
    options.extend(recipe.output.residual.then(|| "--residual".to_string()));
    options.join(" ")
}
