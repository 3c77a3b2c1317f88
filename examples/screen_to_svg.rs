//! Draws what a command prints as an SVG, colours and all: `cargo run --example screen_to_svg -- demo context > context.svg`.
//! The picture in the README: `-- demo mask --only S,S_masked,A,O --precision 2 > docs/mask.svg`.

use std::fmt::Write as _;
use std::io::Write as _;

use attn::cli::{Env, Streams, run};
use unicode_width::UnicodeWidthChar;

const COLUMN: f64 = 8.4;
const LINE: f64 = 16.0;
const MARGIN: f64 = 16.0;
const PAPER: &str = "#fdfdfb";
const INK: &str = "#24292f";

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    std::io::stdout().lock().write_all(picture_of(&args).as_bytes())
}

/// The SVG of what `attn ARGS` prints on a screen of 100 columns.
pub fn picture_of(args: &[String]) -> String {
    let env = Env { width: 100, colour: true, ..Env::default() };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut nothing: &[u8] = &[];
    run(args, &env, &mut Streams { input: &mut nothing, out: &mut out, err: &mut err });
    picture(&format!("$ attn {}\n\n{}", args.join(" "), String::from_utf8_lossy(&out)))
}

/// How text looks from some escape sequence on.
#[derive(Clone, Copy, PartialEq)]
struct Look {
    bold: bool,
    dim: bool,
    ink: Option<u8>,
    paper: Option<u8>,
}

const PLAIN: Look = Look { bold: false, dim: false, ink: None, paper: None };

fn picture(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let width = 2.0 * MARGIN + 100.0 * COLUMN;
    let height = 2.0 * MARGIN + lines.len() as f64 * LINE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{PAPER}\"/>\n"
    );
    let mut look = PLAIN;
    for (number, line) in lines.iter().enumerate() {
        draw_line(line, MARGIN + number as f64 * LINE, &mut look, &mut svg);
    }
    svg + "</svg>\n"
}

fn draw_line(line: &str, top: f64, look: &mut Look, svg: &mut String) {
    let mut column = 0;
    let mut rest = line;
    while !rest.is_empty() {
        if let Some(codes) = rest.strip_prefix("\x1b[") {
            let (codes, after) = codes.split_once('m').unwrap_or((codes, ""));
            apply(codes, look);
            rest = after;
            continue;
        }
        let end = rest.find('\x1b').unwrap_or(rest.len());
        let columns = draw_text(&rest[..end], MARGIN + column as f64 * COLUMN, top, *look, svg);
        column += columns;
        rest = &rest[end..];
    }
}

/// Changes the look as the codes of an escape sequence say.
fn apply(codes: &str, look: &mut Look) {
    let mut codes = codes.split(';').map(|code| code.parse::<u8>().unwrap_or(0));
    while let Some(code) = codes.next() {
        match code {
            0 => *look = PLAIN,
            1 => look.bold = true,
            2 => look.dim = true,
            35 => look.ink = Some(90),
            38 => look.ink = codes.by_ref().nth(1),
            39 => look.ink = None,
            48 => look.paper = codes.by_ref().nth(1),
            49 => look.paper = None,
            _ => {}
        }
    }
}

fn draw_text(text: &str, left: f64, top: f64, look: Look, svg: &mut String) -> usize {
    let columns: usize = text.chars().map(|c| c.width().unwrap_or(0)).sum();
    let length = columns as f64 * COLUMN;
    if let Some(paper) = look.paper {
        let _ = writeln!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{length:.1}\" height=\"{LINE}\" fill=\"{}\"/>",
            colour(paper)
        );
    }
    if text.trim().is_empty() {
        return columns;
    }
    let ink = look.ink.map_or(INK.to_string(), colour);
    let weight = if look.bold { " font-weight=\"bold\"" } else { "" };
    let faint = if look.dim { " opacity=\"0.6\"" } else { "" };
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let baseline = top + 12.5;
    let _ = writeln!(
        svg,
        "<text x=\"{left:.1}\" y=\"{baseline:.1}\" textLength=\"{length:.1}\" xml:space=\"preserve\" fill=\"{ink}\"{weight}{faint}>{escaped}</text>"
    );
    columns
}

/// A colour of the 256-colour palette: the 6×6×6 cube and the greys.
fn colour(number: u8) -> String {
    let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
    match number {
        0..=15 => INK.to_string(),
        16..=231 => {
            let cube = number - 16;
            format!("#{:02x}{:02x}{:02x}", level(cube / 36), level(cube / 6 % 6), level(cube % 6))
        }
        232..=255 => {
            let grey = 8 + 10 * (number - 232);
            format!("#{grey:02x}{grey:02x}{grey:02x}")
        }
    }
}
