//! `attn errata` and `attn notation`: what a reader of the five texts wants to look up.

use clap::Args;

use super::listing;
use super::notation_of_models::notation_of_models;
use super::output::TablesArgs;
use super::write;
use super::{Env, Streams};
use crate::demo::errata::{Erratum, errata};
use crate::demo::{Document, find, notation};
use crate::error::Result;
use crate::graph::Graph;
use crate::render::Page;
use crate::story::{Step, Story, Table};

/// Mistakes and contradictions in the five texts
///
/// Each entry quotes the text, and then says what is true. “003, line 97” is line 97 of text 003 as a plain file, where
/// each paragraph is one line.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct ErrataArgs {
    /// Only one text: 000 to 004
    #[arg(long, value_name = "NUMBER")]
    document: Option<String>,
    /// Only what belongs to this demo
    #[arg(long, value_name = "DEMO")]
    demo: Option<String>,
    #[command(flatten)]
    look: TablesArgs,
}

const EXAMPLES: &str = "\
Examples:
  attn errata                   all of them
  attn errata --document 003    of one text
  attn errata --demo mask       of one demo";

impl ErrataArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        listing::shown(&self.look, env, streams, |streams| self.write(env, streams))
    }

    fn write(&self, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let parts = self.wanted()?;
        if parts.is_empty() {
            let remark =
                "no known mistake in the texts concerns this demo; attn errata lists all of them".to_string();
            write::warnings(&Graph::new(), &[remark], &self.look.style(env), streams);
        }
        if self.look.look().is_for_people() {
            let pages: Vec<Page> =
                parts.iter().map(|(document, errata)| Page::whole(story(*document, errata))).collect();
            return write::pages(&pages, "errata", &self.look.style(env), streams);
        }
        let parts: Vec<(String, Table)> =
            parts.iter().map(|(document, errata)| part(*document, errata)).collect();
        self.look.tables("errata", &parts, env, streams)
    }

    /// The errata asked for, document by document.
    fn wanted(&self) -> Result<Vec<(Document, Vec<&'static Erratum>)>> {
        let document = self.document.as_deref().map(Document::numbered).transpose()?;
        let demo = self.demo.as_deref().map(|name| find(name).map(|demo| demo.name)).transpose()?;
        let of = |each: Document| -> Vec<&'static Erratum> {
            let is_wanted = |erratum: &&Erratum| {
                erratum.document == each
                    && document.is_none_or(|only| only == each)
                    && demo.is_none_or(|only| erratum.demo == Some(only))
            };
            errata().filter(is_wanted).collect()
        };
        Ok(Document::ALL
            .map(|each| (each, of(each)))
            .into_iter()
            .filter(|(_, list)| !list.is_empty())
            .collect())
    }
}

/// A text as a heading: number and title.
fn heading(document: Document) -> String {
    format!("{}  {}", document.number(), document.title())
}

/// Line and section: `Line 8, in “Computing the attention weights”`.
fn place(erratum: &Erratum) -> String {
    if erratum.place == erratum.document.title() {
        format!("Line {}, the title", erratum.line)
    } else {
        format!("Line {}, in “{}”", erratum.line, erratum.place)
    }
}

/// The errata of one document, one after the other.
fn story(document: Document, errata: &[&Erratum]) -> Story {
    let step = |erratum: &&Erratum| {
        let demo = erratum.demo.map_or(String::new(), |demo| format!(" (attn demo {demo})"));
        Step {
            text: format!("{}. {}", place(erratum), erratum.quotation()),
            notice: Some(format!("{}{demo}", erratum.correction())),
            shown: Vec::new(),
            ..Step::default()
        }
    };
    let mut story = Story::of_steps(&heading(document), Graph::new(), errata.iter().map(step).collect());
    story.source = Some(document.found().to_string());
    story
}

/// The same data as a table.
fn part(document: Document, errata: &[&Erratum]) -> (String, Table) {
    let row = |erratum: &&Erratum| {
        vec![
            erratum.reference(),
            erratum.place.to_string(),
            erratum.text.into(),
            erratum.holds.into(),
            erratum.demo.unwrap_or_default().into(),
        ]
    };
    let header = ["place", "section", "the text says", "but", "demo"];
    (heading(document), Table::new(&header, errata.iter().map(row)))
}

/// The letters of the five texts, compared with ours
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  attn notation --width 120")]
pub(super) struct NotationArgs {
    #[command(flatten)]
    look: TablesArgs,
}

impl NotationArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let letters = "The letters of the five texts, and ours (a number is a line of the text)";
        let texts =
            Document::ALL.map(|each| [each.number(), each.title(), each.found()].map(String::from).into());
        let parts = [
            (letters.into(), notation()),
            ("The texts".into(), Table::new(&["text", "title", "how to find it"], texts)),
            ("What today's models add".into(), notation_of_models()),
        ];
        listing::shown(&self.look, env, streams, |streams| self.look.tables("notation", &parts, env, streams))
    }
}
