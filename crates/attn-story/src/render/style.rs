//! The settings of the appearance of a story.

use std::borrow::Cow;
use std::io::Write;
use std::iter::Peekable;
use std::str::Chars;

use serde::Deserialize;

use super::heat::{Heat, Theme};
use crate::error::Result;
use crate::graph::{Convention, NodeId};
use crate::story::{Digits, StepItem, Story};

/// The output formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Sentences, equations and tables for a terminal; rounded.
    #[default]
    Table,
    /// The graph, every digit.
    Json,
    /// Arrays as NumPy prints them.
    Numpy,
    /// The language of demos, every digit.
    Attn,
    /// Markdown; rounded.
    Markdown,
    /// LaTeX; rounded.
    Latex,
    /// Comma-separated values, every digit.
    Csv,
    /// An HTML page, whose cells show their sources; rounded.
    Html,
    /// An HTML page that computes for itself: its numbers can be changed.
    LiveHtml,
}

/// The columns of what is drawn in characters in a document.
const COLUMNS_OF_DOCUMENT: usize = 80;

impl Format {
    /// Returns true for formats that people read; programs read the others.
    pub fn is_for_people(self) -> bool {
        matches!(self, Format::Table | Format::Markdown | Format::Latex | Format::Html | Format::LiveHtml)
    }
}

/// All settings of the appearance of a story.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// The output format.
    pub format: Format,
    /// The number of decimals, if the user sets it.
    pub places: Option<usize>,
    /// Columns of the screen.
    pub width: usize,
    /// True if escapes for colours may be written.
    pub colour: bool,
    /// The ground that colours stand on.
    pub theme: Theme,
    /// The characters that may be written.
    pub charset: Charset,
    /// The setting for shades of weights and scores.
    pub heat: Heat,
    /// The convention: tokens as rows or as columns.
    pub convention: Convention,
}

impl Style {
    /// A format on a screen, with the default digits, heat and convention.
    pub fn on(screen: Screen, format: Format) -> Style {
        let Screen { width, colour, theme, charset } = screen;
        let (heat, convention) = (Heat::Auto, Convention::Rows);
        Style { format, places: None, width, colour, theme, charset, heat, convention }
    }

    /// The digits of a story under this style.
    pub fn digits(&self, story: &Story) -> Digits {
        self.places.map_or(story.digits, Digits::Places)
    }

    /// Returns true if a matrix that is too wide may have fewer decimals.
    pub fn may_round_further(&self) -> bool {
        self.places.is_none() && self.format == Format::Table
    }

    /// This style for a document, which is the same whatever screen it is written from; for a screen it stays.
    pub fn of_document(&self) -> Style {
        let Screen { width, colour, theme, charset } = Screen::plain(COLUMNS_OF_DOCUMENT);
        match self.format {
            Format::Table => *self,
            _ => Style { width, colour, theme, charset, ..*self },
        }
    }

    /// Writes text in the characters that may be written.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write(&self, text: &str, out: &mut dyn Write) -> Result<()> {
        // Spaces that no line was to be broken at have done their work.
        let text = text.replace('\u{a0}', " ");
        out.write_all(self.charset.spelled(&text).as_bytes())?;
        Ok(())
    }
}

// Names and numbers inside texts, such as the `d_k` of `√d_k`: the formats set them in their own way.

/// Returns true if a character can be part of a name or a number.
pub fn is_in_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '.')
}

/// Takes the name or number that the characters begin with; empty if they begin with something else.
pub fn take_name(characters: &mut Peekable<Chars<'_>>) -> String {
    std::iter::from_fn(|| characters.next_if(|next| is_in_name(*next))).collect()
}

// A story, and what is written of it.

/// A story, and which of its nodes the data formats write.
#[derive(Clone, Debug)]
pub struct Page {
    /// The story.
    pub story: Story,
    /// The nodes that JSON, NumPy and CSV write, in this order.
    pub nodes: Vec<NodeId>,
    /// True if people are shown the headline.
    pub headed: bool,
    /// The number of numbered steps that are left out before the first one that is shown: each keeps its own number.
    pub skipped: usize,
    /// This many are left out after the last one.
    pub left: usize,
    /// The story that a page which computes has in its place: with a step for each setting, also where it changes nothing yet.
    pub computing: Option<Box<Story>>,
}

impl Page {
    /// The whole story.
    pub fn whole(story: Story) -> Page {
        let nodes = story.graph.nodes().map(|(id, _)| id).collect();
        Page { story, nodes, headed: true, skipped: 0, left: 0, computing: None }
    }

    /// A story of which people are shown no headline, and programs these nodes.
    pub fn headless(story: Story, nodes: Vec<NodeId>) -> Page {
        Page { story, nodes, headed: false, skipped: 0, left: 0, computing: None }
    }

    /// Returns true if it explains cells.
    pub fn explains(&self) -> bool {
        let explains = |shown: &StepItem| matches!(shown, StepItem::Explained { .. } | StepItem::Symbolic(_));
        self.story.steps.iter().flat_map(|step| &step.shown).any(explains)
    }
}

// Everything is written in UTF-8; where a terminal has only ASCII, the characters beyond it are spelled out.

/// The characters that a terminal can show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Charset {
    /// All of them.
    #[default]
    Utf8,
    /// ASCII alone.
    Ascii,
}

impl Charset {
    /// The text in this charset. Characters that make up tables keep their width, others may grow.
    pub fn spelled(self, text: &str) -> Cow<'_, str> {
        match self {
            Charset::Utf8 => Cow::Borrowed(text),
            Charset::Ascii => Cow::Owned(ascii(text)),
        }
    }
}

/// The text in ASCII alone.
fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '√' if characters.peek().is_some_and(|next| is_in_name(*next)) => {
                let radicand = take_name(&mut characters);
                out.push_str(&format!("sqrt({radicand})"));
            }
            other if raised(other).is_some() => {
                // One mark for a number of several digits: 10⁻⁹ is 10^-9.
                out.push('^');
                out.extend(raised(other));
                while let Some(digit) = characters.peek().and_then(|next| raised(*next)) {
                    out.push(digit);
                    characters.next();
                }
            }
            // The space that no line is broken at becomes a plain one when all is laid out.
            '\0'..='\x7f' | '\u{a0}' => out.push(character),
            other => out.push_str(spelled(other)),
        }
    }
    out
}

/// The character that stands raised, as an exponent.
fn raised(character: char) -> Option<char> {
    let mut pairs = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁿˣᵃ".chars().zip("0123456789-nxa".chars());
    pairs.find(|(raised, _)| *raised == character).map(|(_, plain)| plain)
}

/// Characters beyond ASCII, each before its spelling. At the end: bars of eighths, and a space and a line break in the pieces of
/// byte-level tokenizers.
const SPELLINGS: &str = "
    × x  · *  ∘ *  ᵀ ^T  √ sqrt  − -  – -  — -  ∞ inf  ≤ <=  ≥ >=  ≠ !=  ≈ ~  ± +-
    → ->  ▶ ->  ← <-  ↦ |->  ∈ in  ℝ R  ↑ ^  ↓ v  ↗ /  ↙ /  ↖ \\  ↘ \\  … ..  µ u  ␣ _
    « \"  » \"  “ \"  ” \"  ‘ '  ’ '  ′ '  ░ :  ▿ v
    ● o  ╭ +  ╮ +  ╰ +  ╯ +  └ +  ├ +  ┤ +  ┼ +  ┬ +  ┴ +  ─ -  │ |
    Σ sum  δ delta  σ sigma  θ theta  ε eps  π pi  α alpha  β beta  λ lambda  φ phi  ₁ _1  ₂ _2  ₃ _3  ₖ _k
    ⌈ ceil(  ⌉ )  ⇒ =>  € EUR  é e  è e  ö oe  ü ue  ä ae
    ▁ .  ▂ -  ▃ ~  ▄ =  ▅ +  ▆ *  ▇ #  █ @  ▏ .  ▎ .  ▍ .  ▌ o  ▋ o  ▊ o  ▉ o  Ġ _  Ċ \\n
";

fn spelled(character: char) -> &'static str {
    let mut words = SPELLINGS.split_whitespace();
    while let (Some(known), Some(spelling)) = (words.next(), words.next()) {
        if known.starts_with(character) {
            return spelling;
        }
    }
    if character == 'Δ' { "Delta " } else { "?" }
}

// The screen that bytes are for.

/// The screen that a command writes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Screen {
    /// Its columns.
    pub width: usize,
    /// True if it shows colours.
    pub colour: bool,
    /// The ground that colours stand on.
    pub theme: Theme,
    /// The characters it shows.
    pub charset: Charset,
}

impl Screen {
    /// A screen without colours that shows every character, for comparing the blocks of a lesson.
    pub fn plain(width: usize) -> Screen {
        Screen { width, colour: false, theme: Theme::Unknown, charset: Charset::Utf8 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_becomes_ascii_and_tables_keep_their_width() {
        let text = "╭──╮\n│░0│\n╰──╯ A (2×2) = softmax(S / √3)ᵀ, −∞";
        let plain = ascii(text);
        assert!(plain.is_ascii());
        assert_eq!(plain.lines().nth(1), Some("|:0|"));
        assert!(plain.ends_with("A (2x2) = softmax(S / sqrt(3))^T, -inf"));
    }

    #[test]
    fn exponents_bars_and_spaces_of_pieces_are_spelled() {
        assert_eq!(ascii("10⁹ 10⁻¹² x² eˣ"), "10^9 10^-12 x^2 e^x");
        assert_eq!(ascii("██▋ █▏ █"), "@@o @. @");
        assert_eq!(ascii("␣cave Ġcave Ċ"), "_cave _cave \\n");
    }
}
