//! `attn model FOLDER TEXT`: the tokens, the next word, what the layers would predict, what the heads attend to.

use crate::cli::program::{Env, Program};
use crate::cli::versus;
use crate::elementary::ln;
use crate::error::Result;
use crate::model::{Edits, Forward, LayerEdit, ModelRun, PassOptions};
use crate::story::{
    MeasuredText, Prediction, Table, change_table, entropy_grid, head_grid, head_rules, heads_that_stand_out,
    last_token_grid, lens_in_words, lens_table, percent, position_table, prediction_table, stand_out_title,
    survey_table,
};
use crate::tensor::Tensor;

use super::folder::{ChosenNumbers, OpenedModel, ReadText};
use super::logits::{Predicted, check_numbers, how_to_mask};
use super::{ModelArgs, TOP, overview};

/// The title of the grid of heads.
pub(super) const HEADS: &str = "What each head attends to";
/// The next tokens that are shown on a screen that is kept short.
const FEW: u16 = 5;
/// The heads that are named for each place that they attend to.
const NAMED: usize = 3;
/// The earlier tokens that are named, to which the last one attends.
const ATTENDED: usize = 4;
/// Each head is taken out in turn where all these passes have at most this many multiplications.
const MOST_PRODUCTS: u64 = 100_000_000;

/// The tables of a text, and the pass that they are about. A screen has the main ones, unless all are asked for.
pub(super) fn tables(
    model: &OpenedModel,
    read: &ReadText,
    (args, program): (&ModelArgs, &Program<'_>),
    env: &Env,
) -> Result<(Vec<(String, Table)>, Forward)> {
    let for_people = args.output.look.is_for_people();
    let is_short = for_people && !args.output.is_page() && !args.all;
    let chosen = args.varied.chosen(model, read.text.ids.len())?;
    let mut parts = vec![beginning(model, read, &chosen, args)];
    if !is_short {
        parts.push(("Tokens".to_string(), tokens(read)));
    }
    let forward = model.run().forward(read.text.clone(), chosen.options.clone())?;
    let mut matters = None;
    if model.tensors.has_head {
        let shown = ShownPredictions {
            model,
            places: super::logits::places(model, read),
            top: usize::from(args.top.unwrap_or(if is_short { FEW } else { TOP })),
            for_people,
            is_short,
        };
        let is_compared = args.versus.options().is_some() || args.varied.changes.described().is_some();
        if let Some(other) = args.versus.options() {
            let typed = versus::typed_with::<ModelArgs>("model", program, other)?;
            let chosen = typed.varied.chosen(model, read.text.ids.len());
            let options = chosen.map_err(versus::in_versus)?.options;
            let opened = typed.other_model(args, env)?;
            let other_model = opened.as_ref().unwrap_or(model);
            parts.extend(shown.changes((&forward, options, other_model), ["as it is", other])?);
        } else if let Some(changed) = args.varied.changes.described() {
            let options = PassOptions { edits: Edits::default(), ..forward.options.clone() };
            parts.extend(shown.changes((&forward, options, model), [&changed, "the whole model"])?);
        }
        // On a short screen the table of changes has these predictions already.
        if !is_short || !is_compared || super::logits::is_of_all_positions(model) {
            parts.extend(shown.predictions(&forward)?);
        }
        if for_people && !is_compared {
            matters = shown.head_that_matters(&forward, chosen.products)?;
        }
    }
    if for_people {
        let heads = heads_in_words(&forward, matters, [is_short, model.architecture.model.is_encoder()]);
        parts.push((stand_out_title(""), heads));
    }
    if !is_short {
        parts.extend(heads(&forward, for_people));
    }
    Ok((parts, forward))
}

/// The head without which the predicted token loses most.
struct HeadThatMatters {
    /// Its layer and its number, from 1.
    layer: usize,
    head: usize,
    /// The row of the prediction, from 0.
    row: usize,
    /// The predicted token, and its probability with and without the head.
    token: String,
    probabilities: [f64; 2],
}

/// What the heads do, in a table and in sentences that say where to look.
fn heads_in_words(
    forward: &Forward,
    matters: Option<HeadThatMatters>,
    [is_short, is_encoder]: [bool; 2],
) -> Table {
    let tokens = &forward.text.tokens;
    let last = tokens.len().saturating_sub(1);
    let mut notices = Vec::new();
    // An encoder predicts at other places than the last one.
    let looking_back = if is_encoder { &[][..] } else { &forward.heads };
    // Other keys than the first, the one before and its own: those that every head has to attend to if it finds nothing.
    let mut attended: Vec<(f64, usize, String)> = Vec::new();
    for (layer, heads) in looking_back.iter().enumerate() {
        for (head, measures) in heads.iter().enumerate() {
            let (key, weight) = measures.last;
            if key > 0 && key + 1 < last && weight >= 0.5 {
                attended.push((weight, key, format!("L{}.A_{}", layer + 1, head + 1)));
            }
        }
    }
    attended.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut look = attended.first().map(|(_, _, head)| head.clone());
    if let Some(HeadThatMatters { layer, head, row, token, probabilities: [with, without] }) = matters {
        let name = format!("L{layer}.A_{head}");
        let there = forward.heads.get(layer - 1).and_then(|heads| heads.get(head - 1));
        let there = there.filter(|_| row == last).map_or_else(String::new, |measures| {
            let (key, weight) = measures.last;
            let (query, share, key) = (&tokens[last], percent(weight, true), &tokens[key]);
            format!(" In it “{query}” gives {share} of its attention to “{key}”.")
        });
        let [with, without] = [with, without].map(|p| percent(p, true));
        let usual = format!("L{}H{}", layer - 1, head - 1);
        notices.push(format!(
            "Look at {name} ({usual}): without it, {token} would fall from {with} to {without}, more than without any other head.{there}"
        ));
        look = Some(name);
    }
    if !attended.is_empty() {
        let said = |(weight, key, head): &(f64, usize, String)| {
            format!("“{}” (token\u{a0}{}, {head}\u{a0}{:.0}\u{a0}%)", tokens[*key], key + 1, 100.0 * weight)
        };
        let named = attended.iter().take(ATTENDED).map(said).collect::<Vec<String>>().join(", ");
        let more = match attended.len().saturating_sub(ATTENDED) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        let last = &tokens[last];
        notices.push(format!(
            "In some heads the last token, “{last}”, attends mostly to one earlier token: {named}{more}."
        ));
    }
    if is_short {
        let look = look.unwrap_or_else(|| "L1.A_1".to_string());
        notices.push(
            format!("--only {look} shows its weights, --all every table, and --format html > page.html a picture of every head.")
                .replace("--only ", "--only\u{a0}")
                .replace("--format html > page.html", "--format\u{a0}html\u{a0}>\u{a0}page.html"),
        );
    }
    heads_that_stand_out(&forward.heads, NAMED).noticing(notices)
}

/// What is shown of a model's predictions.
struct ShownPredictions<'a> {
    model: &'a OpenedModel,
    places: Vec<Predicted>,
    /// The number of tokens.
    top: usize,
    for_people: bool,
    /// Whether what each layer would predict is told in a sentence alone.
    is_short: bool,
}

impl ShownPredictions<'_> {
    fn name(&self, id: usize) -> String {
        self.model.token_text(id)
    }

    /// The head without which the first prediction loses most of its probability; none where the passes without each head would take
    /// long, or where none of them lowers it.
    fn head_that_matters(&self, forward: &Forward, products: u64) -> Result<Option<HeadThatMatters>> {
        let count: usize = forward.heads.iter().map(Vec::len).sum();
        let is_cheap = products.saturating_mul(count as u64) <= MOST_PRODUCTS;
        let Some(place) = self.places.first().filter(|_| is_cheap && count > 1) else { return Ok(None) };
        let run = self.model.run();
        let of = |pass: &Forward| -> Result<Prediction> {
            Ok(Prediction::of(&row(&run.logits_of(pass, place.row..place.row + 1)?, 0)))
        };
        let Some((id, p)) = of(forward)?.top(1).next() else { return Ok(None) };
        let mut best = None;
        let mut least = p;
        for (at, heads) in forward.heads.iter().enumerate() {
            for head in 1..=heads.len() {
                let edit = LayerEdit { heads: [head].into(), ..LayerEdit::default() };
                let edits = Edits { layers: [(at + 1, edit)].into(), ..Edits::default() };
                let options = PassOptions { measured: false, edits, ..forward.options.clone() };
                let without = of(&run.forward(forward.text.clone(), options)?)?.probability(id);
                if without < least {
                    least = without;
                    best = Some((at + 1, head));
                }
            }
        }
        // What cannot be seen in the figures is not said.
        let best = best.filter(|_| percent(least, true) != percent(p, true));
        Ok(best.map(|(layer, head)| HeadThatMatters {
            layer,
            head,
            row: place.row,
            token: self.name(id),
            probabilities: [p, least],
        }))
    }

    /// The predictions of two passes over the same text, the second one with other options, perhaps of other weights.
    fn changes(
        &self,
        (forward, options, other_model): (&Forward, PassOptions, &OpenedModel),
        heads: [&str; 2],
    ) -> Result<Vec<(String, Table)>> {
        let options = PassOptions { measured: false, ..options };
        let (run, other_run) = (self.model.run(), other_model.run());
        let other = other_run.forward(forward.text.clone(), options)?;
        if super::logits::is_of_all_positions(self.model) {
            return Ok(vec![self.at_all_positions((&other_run, &other), &format!(", {}", heads[1]))?]);
        }
        // What is changed stands last.
        let is_changed = !forward.options.edits.is_nothing() && other.options.edits.is_nothing();
        let (own, other) = ((&run, forward), (&other_run, &other));
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
            Ok((pass.text.tokens[at].clone(), Prediction::of(&logits)))
        };
        let all = (0..pass.text.ids.len()).map(predicted).collect::<Result<Vec<_>>>()?;
        let name = |id: usize| self.name(id);
        let table = position_table(&all, &name, self.for_people);
        Ok((format!("What the model predicts at each position{head}"), table))
    }

    /// The predictions, and what the residual stream would predict after each layer.
    fn predictions(&self, forward: &Forward) -> Result<Vec<(String, Table)>> {
        let (run, mut parts) = (self.model.run(), Vec::new());
        if super::logits::is_of_all_positions(self.model) {
            parts.push(self.at_all_positions((&run, forward), "")?);
        }
        for place in &self.places {
            // A row for each place of the residual stream; the last one is the model's own prediction.
            let logits = run.lens(forward, place.row)?;
            let of = |stream: usize| Prediction::of(&row(&logits, stream));
            let last = forward.streams.len() - 1;
            check_numbers(&row(&logits, last), place.row + 1)?;
            let last = of(last);
            let name = |id: usize| self.name(id);
            let table = prediction_table(&last, self.top, &name, self.for_people);
            let after = |stream: usize| match stream {
                0 => ("embedding".to_string(), of(0)),
                layer => (format!("layer {layer}"), of(layer)),
            };
            let lens: Vec<(String, Prediction)> = (0..forward.streams.len()).map(after).collect();
            let notices = [last.how_sure(), lens_in_words(&lens, &last, &name)];
            parts.push((place.title.clone(), table.noticing(notices)));
            if !self.is_short {
                parts.push((place.lens.clone(), lens_table(&lens, &last, &name, self.for_people)));
            }
        }
        Ok(parts)
    }
}

/// The first lines: the text and the model, and what else there is to say before the text.
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
    first_part(model, (read.text.ids.len(), chosen), ("this run", rows), args)
}

/// The model and the text, and below them the numbers that are computed in and other remarks; for programs these are rows under a
/// head.
pub(super) fn first_part(
    model: &OpenedModel,
    (tokens, chosen): (usize, &ChosenNumbers),
    (head, rows): (&str, Vec<Vec<String>>),
    args: &ModelArgs,
) -> (String, Table) {
    if !args.output.look.is_for_people() {
        let first = [["model".to_string(), model.described()], ["computed in".into(), chosen.why.clone()]];
        let rows = first.into_iter().map(Vec::from).chain(rows);
        return (model.folder.name.clone(), Table::new(&[head, "value"], rows));
    }
    let said = rows.into_iter().map(|row| row.join(": "));
    let notices = std::iter::once(chosen.described(model, tokens)).chain(said);
    (args.title(model), Table::default().noticing(notices))
}

fn tokens(read: &ReadText) -> Table {
    let ids = &read.text.ids;
    let row = |at: usize| {
        let piece = read.tokens.as_ref().map_or("", |tokens| &tokens.tokens[at].piece);
        vec![(at + 1).to_string(), read.text.tokens[at].clone(), ids[at].to_string(), piece.to_string()]
    };
    Table::new(&["position", "token", "id", "piece"], (0..ids.len()).map(row))
        .with_numbers(&["position", "id"])
}

/// A row of logits.
fn row(logits: &Tensor, at: usize) -> Vec<f64> {
    (0..logits.shape().cols).map(|id| logits.at(at, id)).collect()
}

fn heads(forward: &Forward, for_people: bool) -> Vec<(String, Table)> {
    if !for_people {
        return vec![("Heads".to_string(), survey_table(&[("text", &forward.heads)]))];
    }
    let tokens: &[String] = &forward.text.tokens;
    let measured = forward.heads.iter().flatten().next();
    let measured = measured.map(|head| MeasuredText { name: "in the text", tokens: tokens.len(), head });
    vec![
        (HEADS.to_string(), head_grid(&forward.heads)),
        ("Where the last token attends most, in %".to_string(), last_token_grid(&forward.heads, tokens)),
        (entropy_title(tokens.len()), entropy_grid(&forward.heads)),
        ("Letters".to_string(), head_rules(measured.as_slice())),
    ]
}

/// The title of the entropies, with the largest that there can be.
fn entropy_title(tokens: usize) -> String {
    let most = ln(tokens.max(1) as f64) / ln(2.0);
    format!(
        "How spread out the attention is (entropy in bits; 0 = one key, {most:.1} = all {tokens} equally)"
    )
}
