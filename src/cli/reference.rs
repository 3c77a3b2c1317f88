//! `attn errata` and `attn notation`: what a reader of the five texts wants to look up.

use clap::Args;

use super::output::{self, LookArgs};
use super::{Env, Streams};
use crate::demo::errata::{Erratum, errata};
use crate::demo::{Document, Step, Story, Table, notation};
use crate::error::Result;
use crate::graph::Graph;
use crate::render::Page;

/// Where the texts slip or contradict each other
///
/// 003:97 is line 97 of text 003 as a plain file, a paragraph a line.
///
/// Examples:
///   attn errata
///   attn errata --document 003
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct ErrataArgs {
    /// One document only: 000 to 004.
    #[arg(long, value_name = "NUMBER")]
    document: Option<String>,
    #[command(flatten)]
    look: LookArgs,
}

impl ErrataArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let only = self.document.as_deref().map(Document::numbered).transpose()?;
        let wanted = Document::ALL.into_iter().filter(|&document| only.is_none_or(|only| only == document));
        if self.look.is_for_people() {
            let pages: Vec<Page> = wanted.map(|document| Page::whole(story(document))).collect();
            return output::pages(&pages, "errata", &self.look.style(env), streams);
        }
        let parts: Vec<(String, Table)> = wanted.map(part).collect();
        self.look.tables("errata", &parts, env, streams)
    }
}

/// The errata of one document, told one after the other.
fn story(document: Document) -> Story {
    let step = |erratum: &Erratum| {
        let demo = erratum.demo.map_or(String::new(), |demo| format!(" (attn demo {demo})"));
        Step {
            text: format!("{}, “{}”: {}.", erratum.reference(), erratum.place, erratum.written),
            notice: Some(format!("{}{demo}", erratum.holds)),
            shown: Vec::new(),
        }
    };
    let steps = errata().filter(|erratum| erratum.document == document).map(step).collect();
    Story::of_steps(&format!("{}  {}", document.number(), document.title()), Graph::new(), steps)
}

/// The same as a table.
fn part(document: Document) -> (String, Table) {
    let row = |erratum: &Erratum| {
        let (place, section) = (erratum.reference(), erratum.place.to_string());
        vec![
            place,
            section,
            erratum.written.into(),
            erratum.holds.into(),
            erratum.demo.unwrap_or_default().into(),
        ]
    };
    let rows = errata().filter(|erratum| erratum.document == document).map(row);
    let title = format!("{}  {}", document.number(), document.title());
    (title, Table::new(&["place", "section", "written", "holds", "demo"], rows))
}

/// The letters of the five texts beside ours
///
/// Example:
///   attn notation --width 120
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct NotationArgs {
    #[command(flatten)]
    look: LookArgs,
}

impl NotationArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        self.look.tables(
            "notation",
            &[("The five texts' letters, and ours".into(), notation())],
            env,
            streams,
        )
    }
}
