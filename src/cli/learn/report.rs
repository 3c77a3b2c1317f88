//! What a training says: in the terminal, as tables, as JSON.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::cli::{Env, Streams, output};
use crate::error::{Error, Result};
use crate::foreign::{from_path, visible};
use crate::graph::{Convention, Graph};
use crate::learn::{self, Pattern, Predicted, Settings};
use crate::render;
use crate::render::{Curve, Format, Page, Plot, Scale};
use crate::story::{Step, StepItem, Story, Table};
use crate::text::{counted, grouped, typed};

use super::LearnArgs;
use super::history::{End, HALF, HeadCurve, History, LEARNED, Substitution};

impl LearnArgs {
    /// Shows a training in the format that is asked for.
    pub(super) fn show(&self, history: &History, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let style = self.output.style(env, Convention::Rows);
        match self.output.look.format {
            Format::Json => {
                let text = serde_json::to_string_pretty(&json(history));
                let text = text.map_err(|error| Error::new(error.to_string()))?;
                Ok(writeln!(streams.out, "{text}")?)
            }
            Format::Table => {
                let text = |text: String| (text, Table::default());
                let arrow = |notice: String| text(format!("→ {notice}"));
                render::tables(&[text(begun(history))], "learn", &style, streams.out)?;
                writeln!(streams.out)?;
                render::plots(&plots(history), &style, streams.out)?;
                writeln!(streams.out)?;
                let mut parts: Vec<(String, Table)> = seen(history).map(arrow).into_iter().collect();
                parts.extend(rules(history).map(text));
                parts.push(text(ended(history)));
                for (title, table, notice) in tables(history, false) {
                    parts.push((title, table));
                    parts.extend(notice.map(arrow));
                }
                parts.push(text(self.onward(history)));
                render::tables(&parts, "learn", &style, streams.out)
            }
            Format::Csv => {
                let all = steps(history, |_| true, |number| number.to_string());
                render::tables(&[(String::new(), all)], "learn", &style, streams.out)
            }
            _ => {
                let title = format!("attn learn {}", history.task.name());
                let story = Story::of_steps(&title, Graph::new(), told(history));
                output::pages(&[Page::whole(story)], "learn", &style, streams)
            }
        }
    }

    /// What can be done next.
    fn onward(&self, history: &History) -> String {
        if let Some(folder) = &self.save {
            let instead = if history.replaces { ", in place of the model that was there" } else { "" };
            let folder = visible(&from_path(folder)).into_owned();
            return format!("Written to {folder}{instead}. attn model {folder} opens it.");
        }
        let seed = history.settings.seed.wrapping_add(1);
        let is_unlearned = history.is_learned() == Some(false);
        let more = if is_unlearned { "More steps or layers: --steps, --layers. " } else { "" };
        format!("{more}Another start: --seed {seed}. Keep the model: --save FOLDER.")
    }
}

/// A training as a document tells it.
fn told(history: &History) -> Vec<Step> {
    let step = |text: String, shown: Vec<StepItem>, notice: Option<String>| Step {
        text,
        shown,
        notice,
        ..Step::default()
    };
    let curves = vec![StepItem::Picture(svg(history, &IN_PAGE)), StepItem::Table(some_steps(history))];
    let rules = rules(history).map_or(String::new(), |rules| format!(" {rules}"));
    let mut told = vec![
        step(begun(history), Vec::new(), None),
        step(format!("The loss by step.{rules}"), curves, seen(history)),
        step(ended(history), Vec::new(), None),
    ];
    let tables = tables(history, true).into_iter();
    told.extend(tables.map(|(title, table, notice)| step(title, vec![StepItem::Table(table)], notice)));
    told
}

/// What follows the curves: a title, a table, and what to see in it.
fn tables(history: &History, in_columns: bool) -> Vec<(String, Table, Option<String>)> {
    substitutions(history).into_iter().chain([examples(history, in_columns)]).collect()
}

/// How it ended.
fn ended(history: &History) -> String {
    let (loss, accuracy) = history.held_out;
    let done = counted(history.steps.len(), "step");
    let after = match &history.end {
        End::Done => format!("After {done}"),
        End::Stopped(_) => format!("Stopped after {done}"),
        End::Failed(_) => format!("After {done}, before it failed"),
    };
    let examples = counted(history.held_out_examples, "new example");
    let Some(is_learned) = history.is_learned() else {
        let guess = history.loss_of_frequencies;
        return format!(
            "{after}: the loss on {examples} is {loss:.3}. A guess by the frequencies of the symbols has {guess:.3}."
        );
    };
    let (is, right, least) = (if is_learned { "" } else { "not " }, 100.0 * accuracy, 100.0 * LEARNED);
    let from = history.right_from().map_or(String::new(), |step| {
        format!(" From step {step} on, ten batches in a row were {least:.0} % right.")
    });
    format!(
        "{after}: {is}learned. {right:.1} % of the predictions on {examples} are right; learned means {least:.0} % or more.{from}"
    )
}

/// What the model says on examples, or writes.
///
/// In a terminal an example is a line; a document has a column for each symbol, because its letters have different widths.
fn examples(history: &History, in_columns: bool) -> (String, Table, Option<String>) {
    let symbols = history.task.symbols();
    if !history.written.is_empty() {
        let lines = history.written.iter().flat_map(|text| text.split('\n'));
        let rows = lines.map(|line| vec![visible(line).into_owned()]);
        return ("What it writes now:".to_string(), Table::new(&["written"], rows), None);
    }
    let longest = history.shown.iter().map(Vec::len).max().unwrap_or(0);
    let row = |name: &str, of: &[Predicted], id: &dyn Fn(&Predicted) -> Option<usize>| {
        let shown = |one: &Predicted| match id(one).map(|id| symbols.text(&[id])) {
            Some(symbol) if symbol != " " => symbol,
            _ => "·".to_string(),
        };
        let mut cells: Vec<String> = of.iter().map(shown).collect();
        match in_columns {
            true => cells.resize(longest, String::new()),
            false => cells = vec![cells.concat()],
        }
        cells.insert(0, name.to_string());
        cells
    };
    let rows = history.shown.iter().flat_map(|example| {
        [
            row("tokens", example, &|one| Some(one.token)),
            row("asked", example, &|one| one.target),
            row("predicted", example, &|one| one.target.map(|_| one.predicted)),
        ]
    });
    let numbers: Vec<String> = (1..=longest).map(|at| at.to_string()).collect();
    let heads: Vec<&str> =
        if in_columns { numbers.iter().map(String::as_str).collect() } else { vec!["symbols"] };
    let asked = || history.shown.iter().flatten().filter_map(|one| Some((one.target?, one.predicted)));
    let right = asked().filter(|(target, predicted)| target == predicted).count();
    let said = match asked().count() {
        asked if asked == right => format!("All {asked} predictions on these examples are right."),
        asked => format!("{right} of the {asked} predictions on these examples are right."),
    };
    ("New examples:".to_string(), Table::new(&[&[""], &heads[..]].concat(), rows), Some(said))
}

/// What is learned, and with what.
fn begun(history: &History) -> String {
    let (task, Settings { size, adam, batch, seed, .. }) = (&history.task, &history.settings);
    let of_model = [
        format!("{} of {}", counted(size.layers, "layer"), counted(size.heads, "head")),
        format!("width {}", size.width),
        size.mlp.map_or("no MLP".into(), |width| format!("an MLP of {width}")),
        if size.normed { "RMS norms".into() } else { "no norm".into() },
    ];
    format!(
        "{}: {}. {}, at most {}. The model: {}; {} parameters. {} of {} each, seed {seed}. The learning rate rises to {} in {}, \
         then falls to a tenth of it at the last step.",
        task.name(),
        task.sentence(),
        counted(task.symbols().count(), "symbol"),
        counted(task.context(), "token"),
        of_model.join(", "),
        grouped(size.parameters() as u64),
        counted(adam.steps, "step"),
        counted(*batch, "example"),
        typed(adam.rate),
        counted(adam.warm_up, "step"),
    )
}

/// What to see in the curves: where the loss falls, and which heads have turned to a place.
fn seen(history: &History) -> Option<String> {
    let losses: Vec<(usize, f64)> = history.steps.iter().map(|step| (step.number, step.loss)).collect();
    let points = points(&losses);
    let ((_, first), (_, last)) = (*points.first()?, *points.last()?);
    // The shortest part of the curve with half of the fall.
    let parts = (0..points.len()).flat_map(|from| (from + 1..points.len()).map(move |to| (from, to)));
    let with_half = parts.filter(|(from, to)| 2.0 * (points[*from].1 - points[*to].1) >= first - last);
    let steepest = with_half.min_by_key(|(from, to)| to - from).filter(|_| last < first);
    let mut all = vec![match steepest {
        Some((from, to)) => format!(
            "The loss falls from {first:.2} to {last:.2}; half of this fall lies between steps {:.0} and {:.0}.",
            points[from].0, points[to].0
        ),
        None => format!("The loss does not fall: it begins at {first:.2} and ends at {last:.2}."),
    }];
    let curves = best_heads(history);
    all.extend(curves.iter().filter_map(|curve| {
        let (name, step, last) = (&curve.name, curve.reaches(HALF)?, curve.last());
        Some(format!("{name} reaches {HALF} at step {step}, and is {last:.2} at the end."))
    }));
    if all.len() == 1 && !curves.is_empty() {
        all.push(format!("No score of a head reaches {HALF}."));
    }
    Some(all.join(" "))
}

/// What the model gets right with other weights in one head, and which of them tells most.
fn substitutions(history: &History) -> Option<(String, Table, Option<String>)> {
    let percent = |share: &f64| format!("{:.1} %", 100.0 * share);
    let names = history.substitutes();
    let rows = history.substitutions.iter().map(|Substitution { head, right }| {
        std::iter::once(head.clone()).chain(right.iter().map(percent)).collect()
    });
    let table = Table::new(&[&["weights of"], &names[..]].concat(), rows).with_numbers(&names);
    // The heads that count most: with equal weights least is right.
    let mut heads: Vec<&Substitution> = history.substitutions.iter().collect();
    heads.sort_by(|a, b| a.right[0].total_cmp(&b.right[0]));
    heads.truncate(2);
    heads.sort_by(|a, b| a.head.cmp(&b.head));
    let sentence = |Substitution { head, right }: &Substitution| {
        let best = (1..names.len()).rev().max_by(|a, b| right[*a].total_cmp(&right[*b]))?;
        let (equal, most, name) = (percent(&right[0]), percent(&right[best]), names[best]);
        Some(format!("{head}: {equal} are right with equal weights, and {most} with all weight at “{name}”."))
    };
    let said = heads.into_iter().filter_map(sentence).collect::<Vec<String>>().join(" ");
    let title = "If one head had other weights, this share of these predictions would be right (equal weights: a query gives each key \
                 that it sees the same):";
    (!said.is_empty()).then(|| (title.to_string(), table, Some(said)))
}

/// What the scores of the heads are; nothing where no head has any.
fn rules(history: &History) -> Option<String> {
    let curves = history.curves();
    let shown = |pattern: &&Pattern| curves.iter().any(|curve| curve.pattern == **pattern);
    let rules = history.settings.patterns.iter().filter(shown);
    let rules: Vec<String> =
        rules.map(|pattern| format!("{}: {}.", pattern.name(), pattern.rule())).collect();
    (!rules.is_empty()).then(|| format!("A score is a mean over the queries i. {}", rules.join(" ")))
}

/// The most steps of a document.
const MOST_STEPS: usize = 20;

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
    let names = curves.iter().map(|curve| curve.name.as_str());
    let header: Vec<&str> = ["step", "loss", "accuracy"].into_iter().chain(names).collect();
    let score = |curve: &HeadCurve, step: usize| curve.at(step).map_or(String::new(), &number);
    let rows = history.steps.iter().filter(|step| is_shown(step.number)).map(|step| {
        let mut row = vec![step.number.to_string(), number(step.loss), number(step.accuracy)];
        row.extend(curves.iter().map(|curve| score(curve, step.number)));
        row
    });
    Table::new(&header, rows).with_numbers(&header)
}

/// A training as data: neither times nor paths.
fn json(history: &History) -> Value {
    let with = |mut entry: Value, names: &[&str], numbers: Vec<Value>| {
        names.iter().zip(numbers).for_each(|(name, number)| entry[*name] = number);
        entry
    };
    let patterns: Vec<&str> = history.settings.patterns.iter().map(|pattern| pattern.name()).collect();
    let head = |(layer, head, scores): (usize, usize, &[Option<f64>])| {
        let entry = json!({ "layer": layer + 1, "head": head + 1 });
        with(entry, &patterns, scores.iter().map(|score| json!(score)).collect())
    };
    let step = |step: &learn::Step| {
        let heads: Vec<Value> = step.of_heads().map(head).collect();
        json!({ "step": step.number, "loss": step.loss, "accuracy": step.accuracy, "heads": heads })
    };
    let substitution = |of: &Substitution| {
        let right = of.right.iter().map(|right| json!(right)).collect();
        with(json!({ "head": of.head }), &history.substitutes(), right)
    };
    json!({
        "task": history.task.name(),
        "seed": history.settings.seed,
        "parameters": history.settings.size.parameters(),
        "steps": history.steps.iter().map(step).collect::<Vec<Value>>(),
        "heldout_examples": history.held_out_examples,
        "heldout_loss": history.held_out.0,
        "heldout_accuracy": history.held_out.1,
        "learned": history.is_learned(),
        "instead": history.substitutions.iter().map(substitution).collect::<Vec<Value>>(),
    })
}

// Options that need each other.

impl LearnArgs {
    /// # Errors
    /// If options contradict each other.
    pub(super) fn check_options(&self) -> Result<()> {
        let looks = self.nodes.explain.given_option().or((!self.nodes.only.is_empty()).then_some("--only"));
        match (self.at, looks) {
            (None, Some(option)) => Err(Error::new(format!("{option} needs the step that it looks into"))
                .help(format!("add --at 150: {option} then shows the numbers of step 150"))),
            (Some(_), None) => Err(Error::new("--at says which step, but not what is shown of it")
                .help("add --explain 'L1.dW_Q[2,1]' to see what changed this weight, or --only L1.dW_Q")),
            (None, None) if self.output.look.format == Format::Numpy => {
                Err(Error::new("a training cannot be written as NumPy arrays")
                    .help("use --format csv or --format json"))
            }
            _ => Ok(()),
        }
    }
}

// The curves of a training: loss and heads, in the terminal and as a picture.

/// The points of a curve; more are averaged.
const POINTS: usize = 100;
/// The curves of heads that are drawn.
const MOST_HEADS: usize = 3;

/// The points of a curve, the mean of neighbours where there are many.
fn points(all: &[(usize, f64)]) -> Vec<(f64, f64)> {
    let together = all.len().div_ceil(POINTS).max(1);
    let mean = |part: &[(usize, f64)]| {
        let count = part.len() as f64;
        let (x, y) = part.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 as f64, y + point.1));
        (x / count, y / count)
    };
    all.chunks(together).map(mean).collect()
}

/// The curves of heads with the largest scores at the end, in the order of layers and heads.
fn best_heads(history: &History) -> Vec<HeadCurve> {
    let mut curves: Vec<(usize, HeadCurve)> = history.curves().into_iter().enumerate().collect();
    curves.sort_by(|a, b| b.1.last().total_cmp(&a.1.last()));
    curves.truncate(MOST_HEADS);
    curves.sort_by_key(|(at, _)| *at);
    curves.into_iter().map(|(_, curve)| curve).collect()
}

/// The curves of the loss, and of the scores of the heads.
fn plots(history: &History) -> Vec<Plot> {
    let losses: Vec<(usize, f64)> = history.steps.iter().map(|step| (step.number, step.loss)).collect();
    let most = losses.iter().fold(0.0_f64, |most, (_, loss)| most.max(*loss));
    let every = (most / 4.0).ceil().max(1.0);
    let ticks = (0..).map(|i| f64::from(i) * every).take_while(|tick| *tick <= most).collect();
    let curve =
        |name: &str, all: &[(usize, f64)]| Curve { name: name.into(), points: points(all), marked: false };
    let plot = |title: &str, ticks: Vec<f64>, curves: Vec<Curve>| Plot {
        title: title.into(),
        scale: Scale::Linear,
        ticks,
        across: across(history),
        up: |y| format!("{y:.1}"),
        curves,
    };
    let mut all = vec![plot("loss (cross-entropy) by step", ticks, vec![curve("loss", &losses)])];
    let heads: Vec<Curve> = best_heads(history).iter().map(|head| curve(&head.name, &head.scores)).collect();
    if !heads.is_empty() {
        all.push(plot("what heads attend to: scores by step", vec![0.0, 0.5, 1.0], heads));
    }
    all
}

/// The marks of the steps.
fn across(history: &History) -> Vec<(f64, String)> {
    let last = history.steps.last().map_or(1, |step| step.number);
    let every = last.div_ceil(4).max(1);
    let round = match every {
        0..=9 => 1,
        10..=99 => 10,
        100..=999 => 50,
        _ => 500,
    };
    let every = every.div_ceil(round) * round;
    (0..=last).step_by(every).map(|step| (step as f64, step.to_string())).collect()
}

/// The colours of a picture.
pub(super) struct Colours {
    ground: Option<&'static str>,
    text: &'static str,
    lines: &'static str,
    curves: [&'static str; 3],
}

/// A picture by itself; its curves are told apart by every eye (Okabe and Ito 2008).
pub(super) const ON_WHITE: Colours = Colours {
    ground: Some("white"),
    text: "black",
    lines: "#ddd",
    curves: ["#0072b2", "#d55e00", "#009e73"],
};
/// A picture in a page, light or dark as the page is.
const IN_PAGE: Colours = Colours {
    ground: None,
    text: "var(--ink)",
    lines: "var(--rule)",
    curves: ["var(--link)", "var(--first)", "var(--second)"],
};

/// The size of one drawing of the picture, its margins, and the room for names such as “L12.A_16 previous token” at its right.
const SIZE: (f64, f64) = (600.0, 260.0);
const NAMES: f64 = 190.0;
const MARGIN: (f64, f64) = (56.0, 36.0);

/// The curves as a picture, one drawing below the other.
pub(super) fn svg(history: &History, colours: &Colours) -> String {
    let all = plots(history);
    let height = SIZE.1 * all.len() as f64;
    let (width, colour) = (SIZE.0, colours.text);
    let (name, seed) = (history.task.name(), history.settings.seed);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\" fill=\"{colour}\" role=\"img\">\n<title>{name}, seed {seed}: loss and \
         heads over steps</title>\n"
    );
    if let Some(ground) = colours.ground {
        text.push_str(&format!("<rect width=\"100%\" height=\"100%\" fill=\"{ground}\"/>\n"));
    }
    let last = history.steps.last().map_or(1.0, |step| step.number as f64);
    for (at, plot) in all.iter().enumerate() {
        draw(&mut text, plot, last, SIZE.1 * at as f64, colours);
    }
    text.push_str("</svg>\n");
    text
}

/// One drawing, from this height on.
fn draw(text: &mut String, plot: &Plot, last: f64, top: f64, colours: &Colours) {
    let (left, right) = (MARGIN.0, SIZE.0 - NAMES);
    let (high, low) = (top + MARGIN.1, top + SIZE.1 - MARGIN.1);
    let ys = plot.curves.iter().flat_map(|curve| curve.points.iter().map(|(_, y)| *y));
    let most = ys.chain(plot.ticks.iter().copied()).fold(f64::MIN_POSITIVE, f64::max);
    let x = |step: f64| left + (right - left) * step / last;
    let y = |number: f64| low - (low - high) * number / most;
    // That a string takes text never fails.
    let (base, title) = (top + 20.0, &plot.title);
    let _ = writeln!(text, "<text x=\"{left}\" y=\"{base}\" font-weight=\"bold\">{title}</text>");
    for tick in &plot.ticks {
        let (at, lines, x) = (y(*tick), colours.lines, left - 8.0);
        let _ = writeln!(
            text,
            "<path d=\"M{left} {at:.1}H{right}\" stroke=\"{lines}\"/><text x=\"{x}\" y=\"{:.1}\" \
             text-anchor=\"end\">{tick:.1}</text>",
            at + 4.0
        );
    }
    for (step, label) in &plot.across {
        let (x, y) = (x(*step), low + 18.0);
        let _ = writeln!(text, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{label}</text>");
    }
    let mut base = high + 4.0;
    for (Curve { name, points, .. }, colour) in plot.curves.iter().zip(colours.curves) {
        let path: Vec<String> = points.iter().map(|(a, b)| format!("{:.1},{:.1}", x(*a), y(*b))).collect();
        let (path, x) = (path.join(" "), right + 8.0);
        let _ = writeln!(
            text,
            "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>"
        );
        let _ = writeln!(text, "<text x=\"{x}\" y=\"{base:.1}\" fill=\"{colour}\">{name}</text>");
        base += 18.0;
    }
}
