//! `attn man`: a manual page for each command, made from the definition of the command line.

use crate::foreign::{to_path, visible};
use crate::text::{counted, nearest, quoted};
use std::io::Write as _;
use std::process::{Command, Stdio};

use clap::Args;

use super::program::Program;
use super::{Env, Streams, help, help_layout};
use crate::error::{Error, Result};
use crate::input::put_files;

/// Print the manual page of attn or of one command, or write all pages to a folder
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct ManArgs {
    /// The command; without one, the page of attn
    #[arg(value_name = "COMMAND", conflicts_with = "write")]
    command: Vec<String>,
    /// Write all pages to this folder
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    write: Option<String>,
}

/// The program and its version, for the footer of each page.
const SOURCE: &str = concat!("attn ", env!("CARGO_PKG_VERSION"));

const EXAMPLES: &str = "\
Examples:
  attn man                            attn(1), shown by man on a terminal
  attn man lesson play                attn-lesson-play(1)
  attn man demo > attn-demo.1         a file or a pipe gets the page's source
  attn man --write ~/.local/share/man/man1";

impl ManArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let pages = pages(program)?;
        if let Some(folder) = &self.write {
            let names: Vec<String> = pages.iter().map(|page| format!("{}.1", page.name)).collect();
            let files: Vec<(&str, &[u8])> =
                names.iter().map(String::as_str).zip(pages.iter().map(|page| page.text.as_slice())).collect();
            // They are the program's own, of whatever version: a newer page takes the place of an older one.
            let put = put_files(&to_path(folder), &files, true, env.writing)?;
            let said = format!("{} written to {}\n", counted(put.len(), "page"), visible(folder));
            streams.out.write_all(env.charset.spelled(&said).as_bytes())?;
            return Ok(());
        }
        let name = std::iter::once("attn")
            .chain(self.command.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join("-");
        let page = pages.iter().find(|page| page.name == name).ok_or_else(|| {
            let asked = visible(&self.command.join(" ")).into_owned();
            let error = Error::new(format!("there is no command `{asked}`"));
            match nearest(&name, pages.iter().map(|page| page.name.as_str())) {
                Some(near) if near != "attn" => error.help(format!(
                    "did you mean: attn man {}",
                    near.trim_start_matches("attn-").replace('-', " ")
                )),
                _ => error.help(format!("search for it: attn find {}", quoted(&asked))),
            }
        })?;
        if env.has_screen && streams.out.flush().is_ok() && shown_by_man(&page.text) {
            return Ok(());
        }
        if env.has_screen {
            let words: Vec<&str> = self.command.iter().map(String::as_str).collect();
            return help::instead_of_a_page(&words, program, env, streams);
        }
        streams.out.write_all(&page.text)?;
        Ok(())
    }
}

/// Shows a page on the terminal with the system's `man`; returns whether that worked.
fn shown_by_man(page: &[u8]) -> bool {
    let man = Command::new("man").args(["-l", "-"]).stdin(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut man) = man else { return false };
    // A reader who leaves early closes the pipe.
    let _ = man.stdin.take().map(|mut input| input.write_all(page));
    man.wait().is_ok_and(|status| status.success())
}

/// A manual page.
struct ManPage {
    /// Its name without the section: `attn-lesson-play`.
    name: String,
    text: Vec<u8>,
}

/// The pages of all commands, that of `attn` first.
fn pages(program: &Program<'_>) -> Result<Vec<ManPage>> {
    let mut whole = program.definitions.clone().version(env!("CARGO_PKG_VERSION"));
    whole.build();
    let mut pages = Vec::new();
    collect(&whole, "attn", None, &mut pages)?;
    Ok(pages)
}

/// Adds the page of a command and those of its subcommands.
fn collect(command: &clap::Command, name: &str, above: Option<&str>, pages: &mut Vec<ManPage>) -> Result<()> {
    let inner = || command.get_subcommands().filter(|inner| !inner.is_hide_set());
    let below: Vec<String> = inner().map(|inner| format!("{name}-{}", inner.get_name())).collect();
    let (own, examples) = help_layout::without_examples(command);
    let own = own.version(env!("CARGO_PKG_VERSION"));
    let mut text = Vec::new();
    clap_mangen::Man::new(own).title(name.to_string()).source(SOURCE).render(&mut text)?;
    text.extend(section_of_examples(&examples).into_bytes());
    let related: Vec<String> = above.map(str::to_string).into_iter().chain(below).collect();
    if !related.is_empty() {
        let related: Vec<String> =
            related.iter().map(|page| format!("\\fB{}\\fR(1)", escaped(page))).collect();
        text.extend(format!(".SH \"SEE ALSO\"\n{}\n", related.join(", ")).into_bytes());
    }
    pages.push(ManPage { name: name.to_string(), text });
    for one in inner() {
        collect(one, &format!("{name}-{}", one.get_name()), Some(name), pages)?;
    }
    Ok(())
}

/// The examples of a command, line by line as they are.
fn section_of_examples(help: &str) -> String {
    let Some(lines) = help.strip_prefix("Examples:\n") else { return String::new() };
    let lines: Vec<String> =
        lines.lines().map(|line| escaped(line.strip_prefix("  ").unwrap_or(line))).collect();
    format!(".SH EXAMPLES\n.nf\n{}\n.fi\n", lines.join("\n"))
}

/// A text in roff, in which no character is a command.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}
