//! `--next`: the text goes on, token by token.

use crate::error::{Error, Result};
use crate::matrix::Labels;
use crate::model::{PassOptions, Text};
use crate::params::Positions;
use crate::random::LegacyStream;
use crate::story::{Prediction, Table};
use crate::text::counted;

use super::ModelArgs;
use super::folder::{OpenedModel, ReadText};
use super::logits::check_numbers;
use super::reading::first_part;

/// The choice of the next token.
struct Chooser {
    drawn: Option<LegacyStream>,
    temperature: f64,
}

impl Chooser {
    /// The next token and its probability.
    fn choose(&mut self, logits: &[f64]) -> Option<(usize, f64)> {
        let scaled: Vec<f64> = logits.iter().map(|x| x / self.temperature).collect();
        let prediction = Prediction::of(&scaled);
        let Some(stream) = &mut self.drawn else { return prediction.top(1).next() };
        let at = stream.uniform();
        let mut sum = 0.0;
        let mut last = None;
        for (id, p) in prediction.top(logits.len()) {
            sum += p;
            last = Some((id, p));
            if at < sum {
                break;
            }
        }
        last
    }
}

/// The tables of a text that goes on.
pub(super) fn tables(
    model: &OpenedModel,
    read: ReadText,
    args: &ModelArgs,
    count: usize,
) -> Result<Vec<(String, Table)>> {
    if model.architecture.model.is_encoder() || !model.tensors.has_head {
        let family = model.architecture.model.family;
        let who = if family.is_small() { "a model that sees the whole text at once" } else { family.name() };
        return Err(Error::new(format!("{who} does not write texts"))
            .help("--next needs a decoder, such as GPT-2 or Llama"));
    }
    check_length(model, read.text.ids.len(), count)?;
    let (seed, temperature) = args.more.draws()?;
    let mut chooser = Chooser { drawn: seed.map(LegacyStream::seeded), temperature };
    let chosen = args.varied.chosen(model, read.text.ids.len() + count)?;
    let options = PassOptions { measured: false, ..chosen.options.clone() };
    let before = read.text.ids.len();
    let ends = model.end_tokens()?;
    let (ids, rows) = written(model, (read.text, options), (count, &ends), &mut chooser)?;
    let mut rows_about = about(model, &ids, before);
    if let Some(end) = ids[before..].last().filter(|id| ends.contains(id)) {
        let (text, added) = (model.token_text(*end), counted(ids.len() - before, "token"));
        let said = format!("{text} (id {end}) ends a text of this model: it stops after {added}");
        rows_about.push(vec!["end".to_string(), said]);
    }
    let added = Table::new(&["position", "token", "id", "probability"], rows);
    let added = added.with_numbers(&["position", "id", "probability"]);
    Ok(vec![
        first_part(model, (ids.len(), &chosen), ("this run", rows_about), args),
        ("The tokens that the model adds".to_string(), added),
    ])
}

/// The tokens that are added have positions, too; the last one is not read again.
fn check_length(model: &OpenedModel, before: usize, count: usize) -> Result<()> {
    let Positions::Learned(positions) = model.architecture.model.positions else { return Ok(()) };
    let most = (positions as usize + 1).saturating_sub(before);
    if before as u64 > positions || count <= most {
        // A text that is too long itself has an error of its own.
        return Ok(());
    }
    let (after, before) = (before + count, counted(before, "token"));
    let what = format!("{before} and {count} more are {after}, but the model has positions for {positions}");
    Err(Error::new(what).help(format!("--next {most} goes as far as it can, or give a shorter text")))
}

fn about(model: &OpenedModel, ids: &[usize], before: usize) -> Vec<Vec<String>> {
    let row = |what: &str, ids: &[usize]| vec![what.to_string(), model.text_of(ids)];
    vec![row("text", &ids[..before]), row("goes on", &ids[before..])]
}

/// The ids of the whole text, and a row for each new token; a token that ends a text is the last one.
fn written(
    model: &OpenedModel,
    (text, options): (Text, PassOptions),
    (count, ends): (usize, &[usize]),
    chooser: &mut Chooser,
) -> Result<(Vec<usize>, Vec<Vec<String>>)> {
    let run = model.run();
    let mut forward = run.forward(text, options)?;
    let mut rows = Vec::new();
    for _ in 0..count {
        let tokens = forward.text.ids.len();
        let logits: Vec<f64> = run.logits_of(&forward, tokens.saturating_sub(1)..tokens)?.cells().collect();
        check_numbers(&logits, tokens)?;
        let Some((id, p)) = chooser.choose(&logits) else { break };
        rows.push(vec![(tokens + 1).to_string(), model.token_text(id), id.to_string(), format!("{p:.4}")]);
        let token: Labels = [model.token_text(id)].into_iter().collect();
        if rows.len() < count && !ends.contains(&id) {
            forward = run.continued(forward, &Text { ids: vec![id], tokens: token })?;
        } else {
            forward.text.ids.push(id);
            break;
        }
    }
    Ok((forward.text.ids, rows))
}

// `--next`, `--seed`, `--temperature`: how a text goes on.
