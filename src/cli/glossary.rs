//! `attn glossary`.

use clap::Args;
use colored::Colorize;

use super::listing::{self, Group, wrapped};
use super::output::{FormatArg, TablesArgs};
use super::{Env, Streams};
use crate::demo::{GlossaryTerm, glossary, term};
use crate::error::{EXIT_DONE, Result};
use crate::render::Style;
use crate::story::Table;

/// The terms of the field, each in a sentence or two
///
/// Each term comes with its formula, the name of its node, and commands that show it.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct GlossaryArgs {
    /// A term; without one, the list of all terms
    #[arg(value_name = "TERM")]
    term: Vec<String>,
    #[command(flatten)]
    look: TablesArgs,
}

const EXAMPLES: &str = "\
Examples:
  attn glossary                 all terms
  attn glossary softmax         one term
  attn glossary causal mask     a term of two words";

impl GlossaryArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        if self.term.is_empty() && self.look.format() == FormatArg::Table {
            let rows = glossary().iter().map(|term| (term.name.to_string(), first_sentence(term.means)));
            let group = Group { title: "Terms".into(), head: ["term", "means"], rows: rows.collect() };
            let closing = "`attn glossary TERM` explains one, with its formula and a command that shows it.";
            return listing::write(&[group], closing, "glossary", &self.look.look(), env, streams);
        }
        let asked = self.term.join(" ");
        let terms: Vec<&GlossaryTerm> =
            if self.term.is_empty() { glossary().iter().collect() } else { vec![term(&asked)?] };
        if let ([one], FormatArg::Table) = (&terms[..], self.look.format()) {
            let style = self.look.style(env);
            let text = card(one, &style);
            return listing::show(&text, &style, env, streams);
        }
        let header = ["term", "also", "means", "formula", "node", "see"];
        let rows = terms.into_iter().map(row);
        self.look.tables("glossary", &[("Glossary".into(), Table::new(&header, rows))], env, streams)?;
        Ok(EXIT_DONE)
    }
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

fn row(term: &GlossaryTerm) -> Vec<String> {
    vec![
        term.name.to_string(),
        term.also.join(", "),
        term.means.to_string(),
        term.formula.unwrap_or_default().to_string(),
        term.node.unwrap_or_default().to_string(),
        term.see.join("; "),
    ]
}
