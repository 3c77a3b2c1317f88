//! `attn model FOLDER TEXT`: the tokens, the next word, what the layers would predict, what the heads look at.

use super::numbers::ChosenNumbers;
use super::opened::{OpenedModel, ReadText};
use super::overview;
use super::predicted::{self, Predicted, check_numbers, how_to_mask};
use super::{ModelArgs, TOP, VariedArgs};
use crate::cli::env::Env;
use crate::cli::program::Program;
use crate::cli::versus;
use crate::elementary::ln;
use crate::error::Result;
use crate::foreign::visible;
use crate::model::{Edits, Forward, ModelRun, PassOptions};
use crate::story::{
    HeadGrid, MeasuredText, Prediction, Table, change_table, entropy_grid, head_grid, head_rules,
    last_token_grid, lens_table, position_table, prediction_table, survey_table,
};
use crate::tensor::Tensor;

/// The title of the first table about heads.
pub(super) const HEADS: &str = "What each head looks at";

/// The tables of a text, and the pass that they are about.
pub(super) fn tables(
    model: &OpenedModel,
    read: &ReadText,
    (args, program): (&ModelArgs, &Program<'_>),
    env: &Env,
) -> Result<(Vec<(String, Table)>, Forward)> {
    let for_people = args.output.look.is_for_people();
    let edits = args.varied.changes.edits(&model.architecture)?;
    let chosen = args.varied.numbers.chosen(model, read.text.ids.len(), edits);
    let mut parts = vec![beginning(model, read, &chosen, args)];
    parts.push(("Tokens".to_string(), tokens(read, for_people)));
    let forward = model.with_run(|run| {
        let forward = run.forward(read.text.clone(), chosen.options.clone())?;
        if model.has_head {
            let shown = ShownPredictions {
                model,
                run: &run,
                places: predicted::places(model, read),
                top: usize::from(args.top.unwrap_or(TOP)),
                for_people,
            };
            if let Some(other) = args.versus.options() {
                let typed = versus::typed_with::<ModelArgs, VariedArgs>("model", program, other)?;
                let edits = typed.varied.changes.edits(&model.architecture).map_err(versus::in_versus)?;
                let options = typed.varied.numbers.chosen(model, read.text.ids.len(), edits).options;
                let opened = typed.other_model(args, env)?;
                let heads = ["as it is", other];
                parts.extend(
                    opened
                        .as_ref()
                        .unwrap_or(model)
                        .with_run(|other| shown.changes((&forward, options, &other), heads))?,
                );
            } else if let Some(changed) = args.varied.changes.described() {
                let options = PassOptions { edits: Edits::default(), ..forward.options.clone() };
                let heads = [changed.as_str(), "the whole model"];
                parts.extend(shown.changes((&forward, options, &run), heads)?);
            }
            parts.extend(shown.predictions(&forward)?);
        }
        parts.extend(heads(&forward, for_people));
        Ok(forward)
    })?;
    Ok((parts, forward))
}

/// What is shown of a model's predictions.
struct ShownPredictions<'a> {
    model: &'a OpenedModel,
    run: &'a ModelRun<'a>,
    places: Vec<Predicted>,
    /// The number of tokens.
    top: usize,
    for_people: bool,
}

impl ShownPredictions<'_> {
    fn name(&self, id: usize) -> String {
        shown(&self.model.shown(id), self.for_people)
    }

    /// The predictions of two passes over the same text, the second one with other options, perhaps of other weights.
    fn changes(
        &self,
        (forward, options, other_run): (&Forward, PassOptions, &ModelRun<'_>),
        heads: [&str; 2],
    ) -> Result<Vec<(String, Table)>> {
        let options = PassOptions { measured: false, ..options };
        let other = other_run.forward(forward.text.clone(), options)?;
        if predicted::is_of_all_positions(self.model) {
            return Ok(vec![self.at_all_positions((other_run, &other), &format!(", {}", heads[1]))?]);
        }
        // What is changed stands last.
        let is_changed = !forward.options.edits.is_nothing() && other.options.edits.is_nothing();
        let (own, other) = ((self.run, forward), (other_run, &other));
        let (passes, heads) =
            if is_changed { ([other, own], [heads[1], heads[0]]) } else { ([own, other], heads) };
        let table = |place: &Predicted| -> Result<(String, Table)> {
            let of = |(run, pass): (&ModelRun<'_>, &Forward)| -> Result<Prediction> {
                let logits = run.logits_of(pass, place.row..place.row + 1)?;
                check_numbers(&row(&logits, 0), place.row + 1)?;
                Ok(Prediction::of(&row(&logits, 0)))
            };
            let pair = [of(passes[0])?, of(passes[1])?];
            let name = |id: usize| self.name(id);
            let table = change_table([&pair[0], &pair[1]], heads, self.top, &name, self.for_people);
            Ok((format!("{}, {}", place.title, heads[1]), table))
        };
        self.places.iter().map(table).collect()
    }

    /// What the model predicts at each position.
    fn at_all_positions(
        &self,
        (run, pass): (&ModelRun<'_>, &Forward),
        head: &str,
    ) -> Result<(String, Table)> {
        let logits = run.logits_of(pass, 0..pass.text.ids.len())?;
        let predicted = |at: usize| -> Result<(String, Prediction)> {
            let logits = row(&logits, at);
            check_numbers(&logits, at + 1)?;
            Ok((shown(&pass.text.tokens[at], self.for_people), Prediction::of(&logits)))
        };
        let all = (0..pass.text.ids.len()).map(predicted).collect::<Result<Vec<_>>>()?;
        let name = |id: usize| self.name(id);
        let table = position_table(&all, &name, self.for_people);
        Ok((format!("What the model predicts at each position{head}"), table))
    }

    /// The predictions, and what the residual stream would predict after each layer.
    fn predictions(&self, forward: &Forward) -> Result<Vec<(String, Table)>> {
        let mut parts = Vec::new();
        if predicted::is_of_all_positions(self.model) {
            parts.push(self.at_all_positions((self.run, forward), "")?);
        }
        for place in &self.places {
            // A row for each place of the residual stream; the last one is the model's own prediction.
            let logits = self.run.lens(forward, place.row)?;
            let of = |stream: usize| Prediction::of(&row(&logits, stream));
            let last = forward.streams.len() - 1;
            check_numbers(&row(&logits, last), place.row + 1)?;
            let last = of(last);
            let name = |id: usize| self.name(id);
            let table = prediction_table(&last, self.top, &name, self.for_people);
            parts.push((place.title.clone(), table));
            let after = |stream: usize| match stream {
                0 => ("embedding".to_string(), of(0)),
                layer => (format!("layer {layer}"), of(layer)),
            };
            let lens: Vec<(String, Prediction)> = (0..forward.streams.len()).map(after).collect();
            parts.push((place.lens.clone(), lens_table(&lens, &last, &name, self.for_people)));
        }
        Ok(parts)
    }
}

/// The first line, and below it what else there is to say before the text; programs get both as rows.
fn beginning(
    model: &OpenedModel,
    read: &ReadText,
    chosen: &ChosenNumbers,
    args: &ModelArgs,
) -> (String, Table) {
    let row = |what: &str, value: String| vec![what.to_string(), value];
    let changes = &args.varied.changes;
    let mut rows: Vec<Vec<String>> = Vec::new();
    rows.extend(changes.described().map(|changed| row("changed", changed)));
    rows.extend(changes.about_first().map(|why| row("the first token", why)));
    rows.extend(read.added.iter().map(|added| row("added tokens", added.clone())));
    rows.extend(model.too_long(read.text.ids.len()).map(|long| row("note", long)));
    rows.extend(how_to_mask(model, read).map(|how| row("mask", how)));
    rows.extend(overview::notes(model).into_iter().map(|note| row("note", note)));
    first_part(model, chosen, ("this run", rows), args)
}

/// The first line, and rows below it under a head; for programs the line is rows, too.
pub(super) fn first_part(
    model: &OpenedModel,
    chosen: &ChosenNumbers,
    (head, rows): (&str, Vec<Vec<String>>),
    args: &ModelArgs,
) -> (String, Table) {
    let header = [head, "value"];
    if !args.output.look.is_for_people() {
        let first = [["model".to_string(), model.described()], ["computed in".into(), chosen.why.clone()]];
        let rows = first.into_iter().map(Vec::from).chain(rows);
        return (model.folder.name.clone(), Table::new(&header, rows));
    }
    let table = if rows.is_empty() { Table::default() } else { Table::new(&header, rows) };
    (chosen.first_line(model), table)
}

fn tokens(read: &ReadText, for_people: bool) -> Table {
    let ids = &read.text.ids;
    let shown = |text: &str| shown(text, for_people);
    let row = |at: usize| {
        let piece = read.tokens.as_ref().map_or("", |tokens| &tokens.tokens[at].piece);
        vec![(at + 1).to_string(), shown(&read.text.tokens[at]), ids[at].to_string(), shown(piece)]
    };
    Table::new(&["position", "token", "id", "piece"], (0..ids.len()).map(row))
        .with_numbers(&["position", "id"])
}

/// A text in a cell: a line break would break the table.
fn shown(text: &str, for_people: bool) -> String {
    if for_people { visible(text).into_owned() } else { text.to_string() }
}

/// A row of logits.
fn row(logits: &Tensor, at: usize) -> Vec<f64> {
    (0..logits.shape().cols).map(|id| logits.at(at, id)).collect()
}

fn heads(forward: &Forward, for_people: bool) -> Vec<(String, Table)> {
    if !for_people {
        return vec![("Heads".to_string(), survey_table(&[("text", &forward.heads)]))];
    }
    let grid = HeadGrid { layers: &forward.heads };
    let tokens: Vec<String> = forward.text.tokens.iter().map(|token| visible(token).into_owned()).collect();
    let measured = forward.heads.iter().flatten().next();
    let measured = measured.map(|head| MeasuredText { name: "in the text", tokens: tokens.len(), head });
    vec![
        (HEADS.to_string(), head_grid(&grid)),
        ("The token that the last one looks at most, in %".to_string(), last_token_grid(&grid, &tokens)),
        (entropy_title(tokens.len()), entropy_grid(&grid)),
        ("Letters".to_string(), head_rules(measured.as_slice())),
    ]
}

/// The title of the entropies, with the largest that there can be.
fn entropy_title(tokens: usize) -> String {
    let most = ln(tokens.max(1) as f64) / ln(2.0);
    format!("Entropy of the weights of a row in bits, mean of all rows ({tokens} keys alike: {most:.1})")
}
