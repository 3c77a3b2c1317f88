//! What `attn find` shows from the catalogues: terms, mistakes in the five texts, their letters, and example data.

use attn_core::data_file::entries;
use colored::Colorize;
use serde::Deserialize;

use crate::demo::errata::{Erratum, errata};
use crate::demo::{self, Document, GlossaryTerm, find, glossary, notation};
use crate::error::{EXIT_DONE, Error, Result};
use crate::foreign::{from_path, to_path, visible};
use crate::graph::Graph;
use crate::input::{BUNDLED, BundledFile, PutOutcome, put_files};
use crate::render::{Format, Page, Style};
use crate::story::{Step, Story, Table};
use crate::text::{counted, nearest, quoted};

use super::output::{self, Group, LookArgs, wrapped};
use super::program::{Env, Streams};

/// Which mistakes in the texts are shown: those of a text, or of a demo.
#[derive(Deserialize, Debug)]
pub(super) struct ErrataArgs {
    document: Option<String>,
    demo: Option<String>,
}

impl ErrataArgs {
    /// Writes them.
    ///
    /// # Errors
    /// If there is no such text or demo.
    pub(super) fn run(&self, look: &LookArgs, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        output::write_paged(look, env, streams, |streams| self.write(look, env, streams))
    }

    fn write(&self, look: &LookArgs, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let parts = self.wanted()?;
        if parts.is_empty() {
            let remark = "no known mistake in the texts is about this; attn find --errata lists all of them"
                .to_string();
            output::warnings(&Graph::new(), &[remark], &look.style(env), streams);
        }
        if look.is_for_people() {
            let pages: Vec<Page> =
                parts.iter().map(|(document, errata)| Page::whole(story(*document, errata))).collect();
            return output::pages(&pages, "errata", &look.style(env), streams);
        }
        let parts: Vec<(String, Table)> =
            parts.iter().map(|(document, errata)| part(*document, errata)).collect();
        look.tables("errata", &parts, env, streams)
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

/// Writes the letters of the texts beside ours.
///
/// # Errors
/// If they cannot be written.
pub(super) fn write_notation(look: &LookArgs, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
    let letters = "The letters of the five texts, and ours (a number is a line of the text)";
    let texts =
        Document::ALL.map(|each| [each.number(), each.title(), each.found()].map(String::from).into());
    let header = ["what", "attn", "option", "in a model's files"];
    let names: Vec<[&str; 4]> = entries(include_str!("../../data/model_names.toml"));
    let of_models = Table::new(&header, names.into_iter().map(|row| row.map(String::from).to_vec()));
    let parts = [
        (letters.into(), notation()),
        ("The texts".into(), Table::new(&["text", "title", "how to find it"], texts)),
        ("What today's models add".into(), of_models),
    ];
    output::write_paged(look, env, streams, |streams| look.tables("notation", &parts, env, streams))
}

// The terms.

/// Writes all terms, or the one of this name.
///
/// # Errors
/// If there is no such term.
pub(super) fn write_terms(
    term: &[String],
    look: &LookArgs,
    env: &Env,
    streams: &mut Streams<'_>,
) -> Result<u8> {
    if term.is_empty() && look.format == Format::Table {
        let rows = glossary().iter().map(|term| (term.name.to_string(), first_sentence(term.means)));
        let group = Group { title: "Terms".into(), head: ["term", "means"], rows: rows.collect() };
        let closing = "`attn find --terms TERM` explains one, with its formula and a command that shows it.";
        return output::write(&[group], closing, "glossary", look, env, streams);
    }
    let asked = term.join(" ");
    let terms: Vec<&GlossaryTerm> =
        if term.is_empty() { glossary().iter().collect() } else { vec![demo::term(&asked)?] };
    if let ([one], Format::Table) = (&terms[..], look.format) {
        let style = look.style(env);
        let text = card(one, &style);
        return output::show(&text, &style, env, streams);
    }
    let header = ["term", "also", "means", "formula", "node", "see"];
    let rows = terms.into_iter().map(term_row);
    look.tables("glossary", &[("Glossary".into(), Table::new(&header, rows))], env, streams)?;
    Ok(EXIT_DONE)
}

fn first_sentence(text: &str) -> String {
    match text.split_once(". ") {
        Some((first, _)) => format!("{first}."),
        None => text.to_string(),
    }
}

/// One term as it is read on a screen.
fn card(term: &GlossaryTerm, style: &Style) -> String {
    let mut text = if style.colour { term.name.bold().to_string() } else { term.name.to_string() };
    if !term.also.is_empty() {
        text.push_str(&format!(" (also: {})", term.also.join(", ")));
    }
    text.push_str(&format!("\n{}\n", wrapped(&style.charset.spelled(term.means), "  ", style.width)));
    let formula = term.formula.map(|formula| ("formula", formula.to_string()));
    let node = term.node.map(|node| ("node", node.to_string()));
    let see =
        term.see.iter().enumerate().map(|(at, see)| (if at == 0 { "see" } else { "" }, see.to_string()));
    let facts: Vec<(&str, String)> = formula.into_iter().chain(node).chain(see).collect();
    text.push('\n');
    for (name, fact) in facts {
        text.push_str(&format!("  {name:<9}{fact}\n"));
    }
    text
}

fn term_row(term: &GlossaryTerm) -> Vec<String> {
    vec![
        term.name.to_string(),
        term.also.join(", "),
        term.means.to_string(),
        term.formula.unwrap_or_default().to_string(),
        term.node.unwrap_or_default().to_string(),
        term.see.join("; "),
    ]
}

// The small data that travels with the program.

/// Where the example data are written.
#[derive(Deserialize, Debug)]
pub(super) struct ExamplesArgs {
    write: Option<String>,
    overwrite: bool,
}

/// The command that checks the example results.
const JUDGED: &str = "attn diagnose --random 6,4 --seed 1 --causal --batch examples/data/answers";

impl ExamplesArgs {
    /// Lists the files, prints one, or writes them to a folder.
    ///
    /// # Errors
    /// If there is no such file, or one cannot be written.
    pub(super) fn run(
        &self,
        name: &[String],
        look: &LookArgs,
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<u8> {
        if let Some(folder) = &self.write {
            return self.write_to(folder, env, streams);
        }
        if name.is_empty() {
            let closing = format!(
                "`attn find --examples NAME` prints one, `attn find --examples --write DIR` writes all of them, and every command \
                 finds them: attn attend examples/data/bat.json\n\nTo have the seven results judged: {JUDGED}"
            );
            return output::write(&bundled_groups(), &closing, "examples", look, env, streams);
        }
        streams.out.write_all(bundled_file(&name.join(" "))?.bytes)?;
        Ok(EXIT_DONE)
    }

    fn write_to(&self, folder: &str, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let files: Vec<(&str, &[u8])> = BUNDLED.iter().map(|file| (file.name, file.bytes)).collect();
        let put = put_files(&to_path(folder), &files, self.overwrite, env.writing)?;
        let written = put.iter().filter(|put| **put != PutOutcome::WasThere).count();
        let shown = visible(folder).into_owned();
        let mut said = format!("{} written to {shown}", counted(written, "file"));
        if written < put.len() {
            said.push_str(&format!("; {} there already", put.len() - written));
        }
        let example = from_path(&to_path(folder).join("bat.json"));
        let example = quoted(&example).into_owned();
        said.push_str(&format!("\n\n  attn attend {example}\n"));
        streams.out.write_all(env.charset.spelled(&said).as_bytes())?;
        Ok(EXIT_DONE)
    }
}

/// The files by their folder.
fn bundled_groups() -> [Group; 2] {
    let rows = |folder: Option<&str>| {
        let inside = BUNDLED.iter().filter(|file| file.place().0 == folder);
        inside.map(|file| (file.name.to_string(), file.about.to_string())).collect()
    };
    let head = ["file", "holds"];
    [
        Group { title: "Example data".into(), head, rows: rows(None) },
        Group { title: "Seven results of one exercise".into(), head, rows: rows(Some("answers")) },
    ]
}

/// The file of this name, with or without its folder.
fn bundled_file(name: &str) -> Result<&'static BundledFile> {
    let within = name.strip_prefix("./").unwrap_or(name);
    let within = within.strip_prefix("examples/data/").unwrap_or(within).trim_end_matches('/');
    let bare = within.rsplit('/').next().unwrap_or(within);
    let found = BUNDLED.iter().find(|file| file.name == within);
    if let Some(file) = found.or_else(|| BUNDLED.iter().find(|file| file.place().1 == bare)) {
        return Ok(file);
    }
    let shown = visible(name);
    if let Some(first) = BUNDLED.iter().find(|file| file.place().0 == Some(within)) {
        return Err(Error::new(format!("`{shown}` is a folder of examples"))
            .help(format!("print one of its files: attn find --examples {}", first.name)));
    }
    let error = Error::new(format!("there is no example `{shown}`"));
    Err(match nearest(within, BUNDLED.iter().flat_map(|file| [file.name, file.place().1])) {
        Some(near) => error.help(format!("did you mean: attn find --examples {near}")),
        None => error.help("`attn find --examples` lists them"),
    })
}
