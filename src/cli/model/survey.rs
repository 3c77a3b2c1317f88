//! `--survey`: every head, scored on the text and on a random sequence that repeats itself.

use crate::cli::presentation::typed_without;
use crate::cli::program::Program;
use crate::cli::{Env, Streams};
use crate::error::{Error, Result};
use crate::graph::Convention;
use crate::matrix::Labels;
use crate::model::{Forward, Text};
use crate::random::LegacyStream;
use crate::render::{ModelPage, PageToken, model_page};
use crate::story::{
    MeasuredText, Table, head_grid, head_rules, heads_that_stand_out, measures_table, stand_out_title,
    survey_table,
};
use crate::text::quoted;

use super::ModelArgs;
use super::folder::{ChosenNumbers, OpenedModel, ReadText};
use super::reading::{HEADS, first_part};

/// The seed of the random sequence.
const SEED: u32 = 0;
/// Up to this many heads the screen has a row for each.
const MOST_LISTED: usize = 48;
/// The heads that are named for each place that they attend to.
const NAMED: usize = 3;
/// The usual length of the part that is repeated.
const REPEATED: usize = 50;
/// The most tokens of the random sequence: a beginning, and the part twice.
pub(super) const LONGEST: usize = 1 + 2 * REPEATED;

/// The tables of a survey.
pub(super) fn tables(
    model: &OpenedModel,
    read: Option<ReadText>,
    args: &ModelArgs,
) -> Result<Vec<(String, Table)>> {
    let for_people = args.output.look.is_for_people();
    let (sequence, mut about) = repeated(model, for_people)?;
    let pass = |text: Text| -> Result<(Forward, ChosenNumbers)> {
        let chosen = args.varied.chosen(model, text.ids.len())?;
        let forward = model.run().forward(text, chosen.options.clone())?;
        Ok((forward, chosen))
    };
    let (random, chosen) = pass(sequence)?;
    let on_text = match read.map(|read| pass(read.text)).transpose()? {
        Some((on_text, of_text)) => {
            if of_text.why != chosen.why {
                about.push(vec!["the text is computed in".to_string(), of_text.why]);
            }
            Some(on_text)
        }
        None => None,
    };
    let heads: usize = random.heads.iter().map(Vec::len).sum();
    if for_people && heads > MOST_LISTED && !args.all {
        let how =
            format!("{heads} of them; --all shows every measure of each, and --format csv has them too");
        about.push(vec!["heads".to_string(), how]);
    }
    let mut parts = vec![first_part(model, (random.text.ids.len(), &chosen), ("survey", about), args)];
    if !for_people {
        let texts = on_text.iter().map(|forward| ("text", &forward.heads));
        let all: Vec<(&str, &Vec<Vec<_>>)> = texts.chain([("random", &random.heads)]).collect();
        parts.push(("Heads".to_string(), survey_table(&all)));
        return Ok(parts);
    }
    let texts: Vec<(&str, &Forward)> =
        on_text.iter().map(|text| ("the text", text)).chain([("the random sequence", &random)]).collect();
    for (name, forward) in &texts {
        parts.push((stand_out_title(&format!(" on {name}")), heads_that_stand_out(&forward.heads, NAMED)));
    }
    if !args.all && heads > MOST_LISTED {
        return Ok(parts);
    }
    for (name, forward) in &texts {
        parts.push((format!("The letter of each head on {name}"), head_grid(&forward.heads)));
    }
    for (name, forward) in &texts {
        let title = format!(
            "All heads on {name}: mean weights in %, in brackets the share without key 1; entropy in bits"
        );
        parts.push((title, measures_table(&forward.heads)));
    }
    let names: Vec<String> = texts.iter().map(|(name, _)| format!("in {name}")).collect();
    let measured = texts.iter().zip(&names).filter_map(|((_, forward), name)| {
        let head = forward.heads.first()?.first()?;
        Some(MeasuredText { name, tokens: forward.text.ids.len(), head })
    });
    parts.push(("Letters".to_string(), head_rules(&measured.collect::<Vec<_>>())));
    Ok(parts)
}

/// A random sequence, twice, and how it was drawn.
fn repeated(model: &OpenedModel, for_people: bool) -> Result<(Text, Vec<Vec<String>>)> {
    let own = &model.architecture.model;
    let context = own.positions.longest().unwrap_or(u64::MAX);
    let length = REPEATED.min(((context.saturating_sub(1)) / 2) as usize);
    if length < 2 {
        return Err(Error::new(format!("a context of {context} tokens is too short for a survey")));
    }
    let tokenizer = model.tokenizer.as_ref();
    let special: Vec<u32> = tokenizer.map_or_else(Vec::new, |tokenizer| tokenizer.special_ids());
    let all = 0..own.vocabulary as usize;
    let usual: Vec<usize> = all.clone().filter(|&id| !special.contains(&(id as u32))).collect();
    if usual.is_empty() {
        return Err(Error::new("the vocabulary has special tokens alone"));
    }
    let mut stream = LegacyStream::seeded(SEED);
    let beginning = tokenizer.and_then(|tokenizer| tokenizer.beginning());
    if let Some(token) = beginning.filter(|token| u64::from(token.id) >= own.vocabulary) {
        return Err(model.outside_vocabulary(&token.piece, token.id as usize));
    }
    let drawn: Vec<usize> = (0..length)
        .map(|_| usual[((stream.uniform() * usual.len() as f64) as usize).min(usual.len() - 1)])
        .collect();
    let first: Vec<usize> = beginning.map(|token| token.id as usize).into_iter().collect();
    let ids = [&first[..], &drawn, &drawn].concat();
    let tokens: Labels = ids.iter().map(|&id| model.token_text(id)).collect();

    let begun = beginning.map_or(String::new(), |token| format!("{}, then ", token.piece));
    let left_out = match all.len() - usual.len() {
        0 => String::new(),
        special => format!(", the {special} special ones left out"),
    };
    let listed: Vec<String> = ids.iter().map(usize::to_string).collect();
    let listed = match for_people {
        true => format!(
            "{} …; all of them, for --ids: attn model {} --survey --format json",
            listed[..listed.len().min(8)].join(","),
            quoted(&model.folder.name)
        ),
        false => listed.join(","),
    };
    let row = |what: &str, value: String| vec![what.to_string(), value];
    let about = vec![
        row("random sequence", format!("{begun}{length} random tokens, twice (seed {SEED})")),
        row(
            "drawn by",
            format!(
                "{length} numbers u of NumPy's np.random.RandomState({SEED}).random_sample({length}); int(u · {}) counts the ids, \
                 from 0{left_out}",
                usual.len()
            ),
        ),
        row("its ids", listed),
    ];
    Ok((Text { ids, tokens }, about))
}

// `--format html`: the page of a text, with a picture of every head.

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
    let heads = heads(model);
    let command = typed_without(program.typed, &OF_THE_PAGE);
    let [layer, head] = [heads.len().min(3), heads.last().map_or(1, |heads| heads[0].min(2))];
    let page = ModelPage {
        command: "model",
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
    let run = model.run();
    let mut layer = |number: usize| run.layers_again(forward, number..=number);
    model_page(&page, &mut layer, &style, streams.out)
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
fn heads(model: &OpenedModel) -> Vec<[usize; 2]> {
    model.architecture.blocks.iter().map(|block| [block.recipe.heads, block.recipe.kv_heads]).collect()
}
