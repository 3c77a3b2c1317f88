//! `--format html`: the page of a text, with a picture of every head.

use super::ModelArgs;
use super::opened::{OpenedModel, ReadText};
use super::reading::HEADS;
use crate::cli::presentation::typed_without;
use crate::cli::program::Program;
use crate::cli::{Env, Streams};
use crate::error::Result;
use crate::graph::Convention;
use crate::model::Forward;
use crate::render::{ModelPage, PageToken, model_page};
use crate::story::Table;

/// Options that a further command about the same run does not need.
const OF_THE_PAGE: [&str; 3] = ["--format", "--versus", "--top"];

/// Writes the page: the tables of the text, and the heads, layer by layer.
pub(super) fn write(
    model: &OpenedModel,
    (read, forward): (&ReadText, &Forward),
    parts: &[(String, Table)],
    (args, program): (&ModelArgs, &Program<'_>),
    (env, streams): (&Env, &mut Streams<'_>),
) -> Result<()> {
    let mut parts = parts.to_vec();
    // The headline of the page is that of its first table.
    let title = parts.first_mut().map_or_else(String::new, |(title, _)| std::mem::take(title));
    let split = parts.iter().position(|(title, _)| title.starts_with(HEADS)).unwrap_or(parts.len());
    let mut after = parts.split_off(split);
    if let Some((title, _)) = after.first_mut().filter(|(title, _)| title == HEADS) {
        *title = format!("{HEADS}, in letters");
    }
    let heads = heads(model)?;
    let command = typed_without(program.typed, &OF_THE_PAGE);
    let [layer, head] = [heads.len().min(3), heads.last().map_or(1, |heads| heads[0].min(2))];
    let page = ModelPage {
        title: &title,
        before: &parts,
        heading: &heading(args),
        after: &after,
        tokens: &tokens(read),
        heads: &heads,
        measures: &forward.heads,
        command_of_head: &format!("{command} --layer {layer} --head {head}"),
        command_of_cell: [&format!("{command} --explain '"), "' --depth 2"],
    };
    let style = args.live.style(&args.output, env, Convention::Rows);
    model.with_run(|run| {
        let mut layer = |number: usize| run.layers_again(forward, number..=number);
        model_page(&page, &mut layer, &style, streams.out)
    })
}

/// The headline of the pictures, which says what was changed.
fn heading(args: &ModelArgs) -> String {
    match (args.varied.changes.described(), args.versus.options()) {
        (Some(changed), _) => format!("{HEADS}, {changed}"),
        (None, Some(_)) => format!("{HEADS}, as it is"),
        (None, None) => HEADS.to_string(),
    }
}

fn tokens(read: &ReadText) -> Vec<PageToken> {
    let token = |at: usize| PageToken {
        label: read.text.tokens[at].clone(),
        id: read.text.ids[at],
        piece: read.tokens.as_ref().map(|tokens| tokens.tokens[at].piece.clone()),
    };
    (0..read.text.ids.len()).map(token).collect()
}

/// The numbers of query heads and of key/value heads of each layer.
fn heads(model: &OpenedModel) -> Result<Vec<[usize; 2]>> {
    model.with_run(|run| {
        let heads = |layer: usize| run.recipe(layer).map(|recipe| [recipe.heads, recipe.kv_heads]);
        (1..=run.layers()).map(heads).collect()
    })
}
