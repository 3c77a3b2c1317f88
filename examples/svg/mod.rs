//! A terminal as an SVG: one screen, or a recording in asciicast v2.

use std::error::Error;
use std::fmt::Write as _;
use std::num::NonZeroU16;

use vt100::{Color, Parser, Screen};

const COLUMN: f64 = 8.4;
const LINE: f64 = 16.0;
const MARGIN: f64 = 16.0;
const FONT: &str = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

/// The columns of a still picture.
const COLUMNS: u16 = 100;
/// A recording waits at most this long between two changes of the screen, in seconds.
const LONGEST_WAIT: f64 = 4.0;
/// The last screen stays this long before the recording begins again.
const LAST_LOOK: f64 = 5.0;

/// Ink and paper where a program asks for no colour.
struct Theme {
    paper: &'static str,
    ink: &'static str,
    /// The eight colours that have names.
    named: [&'static str; 8],
}

const LIGHT: Theme = Theme {
    paper: "#fdfdfb",
    ink: "#24292f",
    named: ["#24292f", "#b42318", "#1a7f37", "#8a6100", "#0b5cad", "#8b2a8b", "#0e6b74", "#6e7781"],
};
const DARK: Theme = Theme {
    paper: "#14171c",
    ink: "#dfe3e8",
    named: ["#6e7781", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#e0a3ff", "#56d4dd", "#dfe3e8"],
};

/// Text that looks the same from one end to the other, and where it stands.
#[derive(Clone, PartialEq)]
struct Span {
    column: u16,
    columns: u16,
    text: String,
    ink: Color,
    paper: Color,
    bold: bool,
    dim: bool,
    inverse: bool,
}

/// The SVG of a text with its escapes.
pub fn still(text: &str) -> String {
    let text = text.trim_end();
    let rows = text.lines().count().max(1);
    let mut parser = Parser::new(size(rows as u16), size(COLUMNS), 0);
    parser.process(text.replace('\n', "\r\n").as_bytes());
    let mut svg = begin(COLUMNS, rows as u16, &LIGHT);
    for (number, spans) in rows_of(parser.screen()).iter().enumerate() {
        draw(spans, number, &LIGHT, &mut svg);
    }
    svg + "</svg>\n"
}

/// The moving SVG of one step of a recorded lesson, counted from 1; it begins again at its end.
///
/// Every line is drawn once for each time it looks different, and seen as long as it looks so.
///
/// # Errors
/// If it is no recording, or has no such step.
pub fn moving(recording: &str, step: usize) -> Result<String, Box<dyn Error>> {
    let mut lines = recording.lines();
    let header: serde_json::Value = serde_json::from_str(lines.next().ok_or("an empty recording")?)?;
    let number = |name: &str| header[name].as_u64().and_then(|n| u16::try_from(n).ok()).ok_or("no size");
    let (columns, rows) = (number("width")?, number("height")?);
    let mut parser = Parser::new(size(rows), size(columns), 0);
    let (mut steps, mut clock, mut before) = (0, 0.0, None);
    let mut frames: Vec<(f64, Vec<Vec<Span>>)> = Vec::new();
    for line in lines {
        let (at, code, data): (f64, String, String) = serde_json::from_str(line)?;
        if code == "m" {
            steps += 1;
            continue;
        }
        if steps < step {
            continue;
        }
        if steps > step {
            break;
        }
        clock += (at - before.unwrap_or(at)).min(LONGEST_WAIT);
        before = Some(at);
        parser.process(data.as_bytes());
        frames.push((clock, rows_of(parser.screen())));
    }
    if frames.is_empty() {
        return Err(format!("the recording has {steps} steps, and no step {step}").into());
    }
    Ok(film(&frames, columns, rows, clock + LAST_LOOK))
}

/// Screens one after the other, each from its own second on.
fn film(frames: &[(f64, Vec<Vec<Span>>)], columns: u16, rows: u16, length: f64) -> String {
    let mut svg = begin(columns, rows, &DARK);
    for row in 0..usize::from(rows) {
        let mut since = 0;
        for now in 1..=frames.len() {
            if frames.get(now).is_some_and(|(_, frame)| frame[row] == frames[since].1[row]) {
                continue;
            }
            let spans = &frames[since].1[row];
            if !spans.is_empty() {
                let end = frames.get(now).map_or(length, |(second, _)| *second);
                shown_between(frames[since].0, end, length, &mut svg);
                draw(spans, row, &DARK, &mut svg);
                svg.push_str("</g>\n");
            }
            since = now;
        }
    }
    svg + "</svg>\n"
}

/// Begins a group that is seen from one second to another, in every round.
fn shown_between(start: f64, end: f64, length: f64, svg: &mut String) {
    let (from, to) = (start / length, end / length);
    let (values, times) = match (from > 0.0, to < 1.0) {
        (true, true) => ("hidden;visible;hidden", format!("0;{from:.5};{to:.5}")),
        (true, false) => ("hidden;visible", format!("0;{from:.5}")),
        (false, true) => ("visible;hidden", format!("0;{to:.5}")),
        (false, false) => ("visible", "0".to_string()),
    };
    let _ = writeln!(
        svg,
        "<g visibility=\"hidden\"><animate attributeName=\"visibility\" calcMode=\"discrete\" values=\"{values}\" \
         keyTimes=\"{times}\" dur=\"{length:.2}s\" repeatCount=\"indefinite\"/>"
    );
}

fn size(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap_or(NonZeroU16::MIN)
}

fn begin(columns: u16, rows: u16, theme: &Theme) -> String {
    let width = 2.0 * MARGIN + f64::from(columns) * COLUMN;
    let height = 2.0 * MARGIN + f64::from(rows) * LINE;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"{FONT}\" font-size=\"14\">\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{}\"/>\n",
        theme.paper
    )
}

/// The spans of each row; an empty row has none.
fn rows_of(screen: &Screen) -> Vec<Vec<Span>> {
    let (rows, columns) = screen.size();
    (0..rows.get()).map(|row| spans_of(screen, row, columns.get())).collect()
}

fn spans_of(screen: &Screen, row: u16, columns: u16) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation()) else {
            continue;
        };
        let text = if cell.has_contents() { cell.contents() } else { " " };
        let columns = if cell.is_wide() { 2 } else { 1 };
        let span = Span {
            column,
            columns,
            text: text.to_string(),
            ink: cell.fgcolor(),
            paper: cell.bgcolor(),
            bold: cell.bold(),
            dim: cell.dim(),
            inverse: cell.inverse(),
        };
        match spans.last_mut().filter(|last| last.looks_like(&span)) {
            Some(last) => {
                last.text.push_str(&span.text);
                last.columns += columns;
            }
            None => spans.push(span),
        }
    }
    spans.retain(|span| !span.is_blank());
    spans
}

impl Span {
    fn looks_like(&self, other: &Span) -> bool {
        (self.ink, self.paper, self.bold, self.dim, self.inverse)
            == (other.ink, other.paper, other.bold, other.dim, other.inverse)
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty() && self.paper == Color::Default && !self.inverse
    }
}

fn draw(spans: &[Span], row: usize, theme: &Theme, svg: &mut String) {
    let top = MARGIN + row as f64 * LINE;
    for span in spans {
        let (mut ink, mut paper) = (colour(span.ink, theme), colour(span.paper, theme));
        if span.inverse {
            (ink, paper) = (Some(paper.unwrap_or(theme.paper.into())), Some(ink.unwrap_or(theme.ink.into())));
        }
        let indent = span.text.len() - span.text.trim_start().len();
        let left = MARGIN + f64::from(span.column) * COLUMN;
        let length = f64::from(span.columns) * COLUMN;
        if let Some(paper) = paper {
            let _ = writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{length:.1}\" height=\"{LINE}\" fill=\"{paper}\"/>"
            );
        }
        let text = span.text.trim();
        if text.is_empty() {
            continue;
        }
        let behind = span.text.len() - span.text.trim_end().len();
        let (left, length) = (left + indent as f64 * COLUMN, length - (indent + behind) as f64 * COLUMN);
        let ink = ink.unwrap_or(theme.ink.into());
        // Bars are one area: letters side by side would leave seams.
        if text.chars().all(|c| c == '█') {
            let _ = writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{length:.1}\" height=\"{}\" fill=\"{ink}\"/>",
                top + 2.0,
                LINE - 4.0
            );
            continue;
        }
        let weight = if span.bold { " font-weight=\"bold\"" } else { "" };
        let faint = if span.dim { " opacity=\"0.6\"" } else { "" };
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let baseline = top + 12.5;
        let _ = writeln!(
            svg,
            "<text x=\"{left:.1}\" y=\"{baseline:.1}\" textLength=\"{length:.1}\" xml:space=\"preserve\" \
             fill=\"{ink}\"{weight}{faint}>{text}</text>"
        );
    }
}

/// A colour as SVG writes it; none where a program asks for none.
fn colour(colour: Color, theme: &Theme) -> Option<String> {
    let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    Some(match colour {
        Color::Default => return None,
        Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
        Color::Idx(number @ 0..=15) => theme.named[usize::from(number % 8)].to_string(),
        Color::Idx(number @ 16..=231) => {
            let cube = number - 16;
            format!("#{:02x}{:02x}{:02x}", level(cube / 36), level(cube / 6 % 6), level(cube % 6))
        }
        Color::Idx(number) => {
            let grey = 8 + 10 * (number - 232);
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
    })
}
