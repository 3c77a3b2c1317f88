//! What a training says: in the terminal, as tables, as JSON.

use serde_json::{Value, json};

use super::LearnArgs;
use super::curves::plots;
use super::history::{End, History};
use crate::cli::output::FormatArg;
use crate::cli::{Env, Streams};
use crate::error::Result;
use crate::foreign::{from_path, visible};
use crate::graph::Convention;
use crate::learn::Predicted;
use crate::render;
use crate::story::Table;
use crate::text::{counted, grouped};

impl LearnArgs {
    /// Shows a training in the format that is asked for.
    pub(super) fn show(&self, history: &History, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let style = self.output.style(env, Convention::Rows);
        match self.output.look.format {
            FormatArg::Json => {
                let text = serde_json::to_string_pretty(&json(history));
                let text = text.map_err(|error| crate::error::Error::new(error.to_string()))?;
                Ok(writeln!(streams.out, "{text}")?)
            }
            FormatArg::Table => {
                let text = |lines: &[String]| vec![(lines.join(" "), Table::default())];
                render::tables(&text(&begun(history)), "learn", &style, streams.out)?;
                writeln!(streams.out)?;
                render::plots(&plots(history), &style, streams.out)?;
                writeln!(streams.out)?;
                let mut parts = text(&self.ended(history));
                parts.extend(self.examples(history));
                parts.extend(text(&self.onward(history)));
                render::tables(&parts, "learn", &style, streams.out)
            }
            FormatArg::Csv => {
                let all = steps(history, 1, |number| number.to_string());
                render::tables(&[(String::new(), all)], "learn", &style, streams.out)
            }
            _ => {
                let mut parts: Vec<(String, Table)> =
                    begun(history).into_iter().map(|text| (text, Table::default())).collect();
                parts.push(some_steps(history));
                parts.extend(self.ended(history).into_iter().map(|text| (text, Table::default())));
                parts.extend(self.examples(history));
                render::tables(&parts, "learn", &style, streams.out)
            }
        }
    }

    /// How it ended.
    fn ended(&self, history: &History) -> Vec<String> {
        let (loss, accuracy) = history.held_out;
        let done = counted(history.steps.len(), "step");
        let after = match &history.end {
            End::Done => format!("After {done}"),
            End::Stopped(_) => format!("Stopped after {done}"),
            End::Failed(_) => format!("After {done}, before it failed"),
        };
        let examples = counted(history.held_out_examples, "new example");
        let percent = format!("{:.1} %", 100.0 * accuracy);
        let mut all = vec![match history.is_learned() {
            Some(true) => format!("{after}: learned. On {examples} {percent} of the predictions are right."),
            Some(false) => {
                format!("{after}: not learned. On {examples} {percent} of the predictions are right.")
            }
            None => {
                let even = crate::elementary::ln(history.task.symbols().count() as f64);
                format!(
                    "{after}: on {examples} the loss is {loss:.3}; a guess among all symbols has {even:.3}."
                )
            }
        }];
        if let Some(step) = history.right_from().filter(|_| history.is_learned().is_some()) {
            all.push(format!("From step {step} on, ten batches in a row are 99 % right."));
        }
        all
    }

    /// What the model says on examples, or writes.
    fn examples(&self, history: &History) -> Vec<(String, Table)> {
        let symbols = history.task.symbols();
        if !history.written.is_empty() {
            let rows = history.written.iter().map(|line| vec![visible(line).into_owned()]);
            return vec![("What it writes now:".to_string(), Table::new(&["written"], rows))];
        }
        let text = |of: &[Predicted], id: &dyn Fn(&Predicted) -> Option<usize>| -> String {
            let shown = |one: &Predicted| id(one).map_or(" ".to_string(), |id| symbols.text(&[id]));
            of.iter().map(shown).collect::<Vec<String>>().join("").replace(' ', "·")
        };
        let rows = history.shown.iter().flat_map(|example| {
            let row = |name: &str, text: String| vec![name.to_string(), text];
            [
                row("tokens", text(example, &|one| Some(one.token))),
                row("asked", text(example, &|one| one.target)),
                row("predicted", text(example, &|one| one.target.map(|_| one.predicted))),
            ]
        });
        vec![("New examples:".to_string(), Table::new(&["", "symbols"], rows))]
    }

    /// What can be done next.
    fn onward(&self, history: &History) -> Vec<String> {
        match &self.save {
            Some(folder) => {
                vec![format!("Written to {0}. attn model {0} opens it.", visible(&from_path(folder)))]
            }
            None => {
                let seed = history.settings.seed + 1;
                vec![format!("Another start: --seed {seed}. Keep the model: --save FOLDER.")]
            }
        }
    }
}

/// What is learned, and with what.
fn begun(history: &History) -> Vec<String> {
    let (task, size) = (&history.task, &history.settings.size);
    let parts = [
        counted(size.layers, "layer"),
        format!("{} each", counted(size.heads, "head")),
        format!("width {}", size.width),
        size.mlp.map_or("no MLP".into(), |width| format!("an MLP of {width}")),
        if size.normed { "RMS norms".into() } else { "no norm".into() },
    ];
    vec![
        format!(
            "{}: {}. {}, {} at most, seed {}.",
            task.name(),
            task.sentence(),
            counted(task.symbols().count(), "symbol"),
            counted(task.context(), "token"),
            history.settings.seed
        ),
        format!(
            "{}: {} parameters. {} examples a step, learning rate {}.",
            parts.join(", "),
            grouped(size.parameters() as u64),
            history.settings.batch,
            history.settings.adam.rate
        ),
    ]
}

/// The most steps that a document shows.
const FEW_STEPS: usize = 25;

/// Few enough steps to read, under a title.
fn some_steps(history: &History) -> (String, Table) {
    let every = history.steps.len().div_ceil(FEW_STEPS);
    let title = match every {
        0 | 1 => "Steps".to_string(),
        _ => format!("One of {every} steps; --format csv has all"),
    };
    (title, steps(history, every.max(1), |number| format!("{number:.3}")))
}

/// The steps as a table: the first, every n-th and the last.
fn steps(history: &History, every: usize, written: impl Fn(f64) -> String) -> Table {
    let curves = history.curves();
    let heads = history.settings.size.heads;
    let mut header = vec!["step".to_string(), "loss".to_string(), "accuracy".to_string()];
    header.extend(curves.iter().map(|curve| curve.name(heads)));
    let score =
        |curve: &super::history::HeadCurve, step: usize| curve.at(step).map_or(String::new(), &written);
    let last = history.steps.len();
    let shown = history
        .steps
        .iter()
        .filter(|step| step.number == 1 || step.number.is_multiple_of(every) || step.number == last);
    let rows = shown.map(|step| {
        let mut row = vec![step.number.to_string(), written(step.loss), written(step.accuracy)];
        row.extend(curves.iter().map(|curve| score(curve, step.number)));
        row
    });
    let heads: Vec<&str> = header.iter().map(String::as_str).collect();
    Table::new(&heads, rows).with_numbers(&heads)
}

/// A training as data: neither times nor paths.
fn json(history: &History) -> Value {
    let patterns: Vec<&str> = history.settings.patterns.iter().map(|pattern| pattern.name()).collect();
    let heads = |layers: &[Vec<Vec<Option<f64>>>]| -> Vec<Value> {
        let each = layers.iter().enumerate().flat_map(|(layer, heads)| {
            heads.iter().enumerate().map(move |(head, scores)| (layer + 1, head + 1, scores))
        });
        each.map(|(layer, head, scores)| {
            let mut entry = json!({ "layer": layer, "head": head });
            for (name, score) in patterns.iter().zip(scores) {
                entry[*name] = json!(score);
            }
            entry
        })
        .collect()
    };
    let steps: Vec<Value> = history
        .steps
        .iter()
        .map(|step| {
            json!({
                "step": step.number,
                "loss": step.loss,
                "accuracy": step.accuracy,
                "heads": heads(&step.heads),
            })
        })
        .collect();
    json!({
        "task": history.task.name(),
        "seed": history.settings.seed,
        "parameters": history.settings.size.parameters(),
        "steps": steps,
        "heldout_examples": history.held_out_examples,
        "heldout_loss": history.held_out.0,
        "heldout_accuracy": history.held_out.1,
        "learned": history.is_learned(),
    })
}
