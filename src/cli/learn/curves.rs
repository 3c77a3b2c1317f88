//! The curves of a training: loss and heads, in the terminal and as a picture.

use std::fmt::Write;
use std::path::Path;

use super::LearnArgs;
use super::history::{HeadCurve, History};
use crate::cli::Env;
use crate::error::Result;
use crate::input;
use crate::render::{Curve, Plot, Scale};

/// The points of a curve; more are averaged.
const POINTS: usize = 100;
/// The curves of heads that are drawn.
const MOST_HEADS: usize = 3;

/// The points of a curve, the mean of neighbours where there are many.
pub(super) fn points(all: &[(usize, f64)]) -> Vec<(f64, f64)> {
    let together = all.len().div_ceil(POINTS).max(1);
    let mean = |part: &[(usize, f64)]| {
        let count = part.len() as f64;
        let (x, y) = part.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 as f64, y + point.1));
        (x / count, y / count)
    };
    all.chunks(together).map(mean).collect()
}

/// The curves of heads with the largest scores at the end, in the order of layers and heads.
pub(super) fn best_heads(history: &History) -> Vec<HeadCurve> {
    let mut curves: Vec<(usize, HeadCurve)> = history.curves().into_iter().enumerate().collect();
    curves.sort_by(|a, b| b.1.last().total_cmp(&a.1.last()));
    curves.truncate(MOST_HEADS);
    curves.sort_by_key(|(at, _)| *at);
    curves.into_iter().map(|(_, curve)| curve).collect()
}

/// A title, the marks of the vertical axis, and named points.
struct Drawing {
    title: String,
    ticks: Vec<f64>,
    curves: Vec<(String, Vec<(f64, f64)>)>,
}

/// The loss, and the scores of the heads.
fn drawings(history: &History) -> Vec<Drawing> {
    let losses: Vec<(usize, f64)> = history.steps.iter().map(|step| (step.number, step.loss)).collect();
    let most = losses.iter().fold(0.0_f64, |most, (_, loss)| most.max(*loss));
    let heads = history.settings.size.heads;
    let scores: Vec<(String, Vec<(f64, f64)>)> =
        best_heads(history).iter().map(|curve| (curve.name(heads), points(&curve.scores))).collect();
    let every = (most / 4.0).ceil().max(1.0);
    let ticks = (0..).map(|i| f64::from(i) * every).take_while(|tick| *tick <= most).collect();
    let mut all = vec![Drawing {
        title: "loss (cross-entropy) by step".to_string(),
        ticks,
        curves: vec![("loss".to_string(), points(&losses))],
    }];
    if !scores.is_empty() {
        all.push(Drawing {
            title: "what heads attend to: scores by step".to_string(),
            ticks: vec![0.0, 0.5, 1.0],
            curves: scores,
        });
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
    (0..)
        .map(|i| i * every)
        .take_while(|step| *step <= last)
        .map(|step| (step as f64, step.to_string()))
        .collect()
}

/// The curves, as a terminal draws them.
pub(super) fn plots(history: &History) -> Vec<Plot> {
    let plot = |drawing: Drawing| Plot {
        title: drawing.title,
        scale: Scale::Linear,
        ticks: drawing.ticks,
        across: across(history),
        up: |y| format!("{y:.1}"),
        curves: drawing
            .curves
            .into_iter()
            .map(|(name, points)| Curve { name, points, marked: false })
            .collect(),
    };
    drawings(history).into_iter().map(plot).collect()
}

impl LearnArgs {
    /// Writes the curves as a picture.
    pub(super) fn write_picture(&self, file: &Path, history: &History, env: &Env) -> Result<()> {
        input::save_text(file, &svg(history, &ON_WHITE), env.writing)
    }
}

/// The colours of a picture.
pub(super) struct Colours {
    ground: Option<&'static str>,
    text: &'static str,
    lines: &'static str,
    curves: [&'static str; 3],
}

/// A picture by itself; its curves are told apart by every eye (Okabe and Ito 2008).
const ON_WHITE: Colours = Colours {
    ground: Some("white"),
    text: "black",
    lines: "#ddd",
    curves: ["#0072b2", "#d55e00", "#009e73"],
};
/// A picture in a page, light or dark as the page is.
pub(super) const IN_PAGE: Colours = Colours {
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
    let all = drawings(history);
    let height = SIZE.1 * all.len() as f64;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {height}\" width=\"{}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"13\" fill=\"{}\" role=\"img\">\n<title>{}, seed {}: loss and heads over \
         steps</title>\n",
        SIZE.0,
        SIZE.0,
        colours.text,
        history.task.name(),
        history.settings.seed
    );
    if let Some(ground) = colours.ground {
        text.push_str(&format!("<rect width=\"100%\" height=\"100%\" fill=\"{ground}\"/>\n"));
    }
    let last = history.steps.last().map_or(1.0, |step| step.number as f64);
    for (at, drawing) in all.iter().enumerate() {
        draw(&mut text, drawing, (&across(history), last), SIZE.1 * at as f64, colours);
    }
    text.push_str("</svg>\n");
    text
}

/// One drawing, from this height on.
fn draw(
    text: &mut String,
    drawing: &Drawing,
    (across, last): (&[(f64, String)], f64),
    top: f64,
    colours: &Colours,
) {
    let (left, right) = (MARGIN.0, SIZE.0 - NAMES);
    let (high, low) = (top + MARGIN.1, top + SIZE.1 - MARGIN.1);
    let ys = drawing.curves.iter().flat_map(|(_, points)| points.iter().map(|(_, y)| *y));
    let most = ys.chain(drawing.ticks.iter().copied()).fold(f64::MIN_POSITIVE, f64::max);
    let x = |step: f64| left + (right - left) * step / last;
    let y = |number: f64| low - (low - high) * number / most;
    // That a string takes text never fails.
    let _ = writeln!(
        text,
        "<text x=\"{left}\" y=\"{}\" font-weight=\"bold\">{}</text>",
        top + 20.0,
        drawing.title
    );
    for tick in &drawing.ticks {
        let at = y(*tick);
        let _ = writeln!(
            text,
            "<path d=\"M{left} {at:.1}H{right}\" stroke=\"{}\"/><text x=\"{}\" y=\"{:.1}\" \
             text-anchor=\"end\">{tick:.1}</text>",
            colours.lines,
            left - 8.0,
            at + 4.0
        );
    }
    for (step, label) in across {
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
            x(*step),
            low + 18.0
        );
    }
    let mut lowest = high;
    for ((name, points), colour) in drawing.curves.iter().zip(colours.curves) {
        let path: Vec<String> = points.iter().map(|(a, b)| format!("{:.1},{:.1}", x(*a), y(*b))).collect();
        let _ = writeln!(
            text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            path.join(" ")
        );
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{:.1}\" fill=\"{colour}\">{name}</text>",
            right + 8.0,
            lowest + 4.0
        );
        lowest += 18.0;
    }
}
