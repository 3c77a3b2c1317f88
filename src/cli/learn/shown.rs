//! What a training says: in the terminal, as tables, as JSON.

use serde_json::{Value, json};

use super::LearnArgs;
use super::curves::plots;
use super::history::{End, History, LEARNED};
use crate::cli::output::FormatArg;
use crate::cli::write;
use crate::cli::{Env, Streams};
use crate::error::Result;
use crate::foreign::{from_path, visible};
use crate::graph::{Convention, Graph};
use crate::learn::{Pattern, Predicted};
use crate::render::{self, Page};
use crate::story::{Step, StepItem, Story, Table};
use crate::text::{counted, grouped, typed};

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
                let mut parts = text(&rules(history));
                parts.extend(text(&self.ended(history)));
                parts.extend(self.examples(history));
                parts.extend(text(&self.onward(history)));
                render::tables(&parts, "learn", &style, streams.out)
            }
            FormatArg::Csv => {
                let all = steps(history, |_| true, |number| number.to_string());
                render::tables(&[(String::new(), all)], "learn", &style, streams.out)
            }
            _ => {
                let title = format!("attn learn {}", history.task.name());
                let story = Story::of_steps(&title, Graph::new(), self.told(history));
                write::pages(&[Page::whole(story)], "learn", &style, streams)
            }
        }
    }

    /// A training as a document tells it.
    fn told(&self, history: &History) -> Vec<Step> {
        let step = |text: &[String], table: Option<Table>| Step {
            text: text.join(" "),
            shown: table.into_iter().map(StepItem::Table).collect(),
            ..Step::default()
        };
        let mut told = vec![
            step(&begun(history), None),
            step(&rules(history), Some(some_steps(history))),
            step(&self.ended(history), None),
        ];
        told.extend(self.examples(history).into_iter().map(|(title, table)| step(&[title], Some(table))));
        told
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
        let right = format!("{:.1} % of the predictions on {examples} are right", 100.0 * accuracy);
        let least = 100.0 * LEARNED;
        let mut all = vec![match history.is_learned() {
            Some(true) => format!("{after}: learned. {right}; learned means {least:.0} % or more."),
            Some(false) => format!("{after}: not learned. {right}; learned means {least:.0} % or more."),
            None => format!(
                "{after}: the loss on {examples} is {loss:.3}. A guess by the frequencies of the symbols has {:.3}.",
                history.loss_of_frequencies
            ),
        }];
        if let Some(step) = history.right_from().filter(|_| history.is_learned().is_some()) {
            all.push(format!(
                "The first ten batches in a row that are {least:.0} % right together begin at step {step}."
            ));
        }
        all
    }

    /// What the model says on examples, or writes.
    fn examples(&self, history: &History) -> Vec<(String, Table)> {
        let symbols = history.task.symbols();
        if !history.written.is_empty() {
            let lines = history.written.iter().flat_map(|text| text.split('\n'));
            let rows = lines.map(|line| vec![visible(line).into_owned()]);
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
                let instead = if history.replaces { ", in place of the model that was there" } else { "" };
                vec![format!(
                    "Written to {0}{instead}. attn model {0} opens it.",
                    visible(&from_path(folder))
                )]
            }
            None => {
                let seed = history.settings.seed.wrapping_add(1);
                let more = match history.is_learned() {
                    Some(false) => "More steps or layers: --steps, --layers. ",
                    _ => "",
                };
                vec![format!("{more}Another start: --seed {seed}. Keep the model: --save FOLDER.")]
            }
        }
    }
}

/// What is learned, and with what.
fn begun(history: &History) -> Vec<String> {
    let (task, size) = (&history.task, &history.settings.size);
    let parts = [
        format!("{} of {}", counted(size.layers, "layer"), counted(size.heads, "head")),
        format!("width {}", size.width),
        size.mlp.map_or("no MLP".into(), |width| format!("an MLP of {width}")),
        if size.normed { "RMS norms".into() } else { "no norm".into() },
    ];
    vec![
        format!(
            "{}: {}. {}, at most {}.",
            task.name(),
            task.sentence(),
            counted(task.symbols().count(), "symbol"),
            counted(task.context(), "token"),
        ),
        format!("The model: {}; {} parameters.", parts.join(", "), grouped(size.parameters() as u64)),
        format!(
            "{} of {} each, seed {}. The learning rate rises to {} in {}, then falls to a tenth of it at the last step.",
            counted(history.settings.adam.steps, "step"),
            counted(history.settings.batch, "example"),
            history.settings.seed,
            typed(history.settings.adam.rate),
            counted(history.settings.adam.warm_up, "step"),
        ),
    ]
}

/// What the scores of the heads are.
fn rules(history: &History) -> Vec<String> {
    let curves = history.curves();
    let shown = |pattern: &&Pattern| curves.iter().any(|curve| curve.pattern == pattern.name());
    let rules = history.settings.patterns.iter().filter(shown);
    let rules: Vec<String> =
        rules.map(|pattern| format!("{}: {}.", pattern.name(), pattern.rule())).collect();
    if rules.is_empty() {
        return Vec::new();
    }
    vec![format!("A score is a mean over the queries i. {}", rules.join(" "))]
}

/// The most steps of a document.
const MOST_STEPS: usize = 40;

/// The first step, the last, and those between them at equal distances, rounded.
fn some_steps(history: &History) -> Table {
    let last = history.steps.len();
    let every = last.div_ceil(MOST_STEPS);
    let is_shown = |number: usize| number == 1 || number == last || number.is_multiple_of(every);
    steps(history, is_shown, |number| format!("{number:.4}"))
}

/// Steps as a table.
fn steps(history: &History, is_shown: impl Fn(usize) -> bool, number: impl Fn(f64) -> String) -> Table {
    let curves = history.curves();
    let heads = history.settings.size.heads;
    let mut header = vec!["step".to_string(), "loss".to_string(), "accuracy".to_string()];
    header.extend(curves.iter().map(|curve| curve.name(heads)));
    let score =
        |curve: &super::history::HeadCurve, step: usize| curve.at(step).map_or(String::new(), &number);
    let rows = history.steps.iter().filter(|step| is_shown(step.number)).map(|step| {
        let mut row = vec![step.number.to_string(), number(step.loss), number(step.accuracy)];
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
