//! `attn completions` and `attn man`: made from the definition of the command line itself.

use clap::Args;
use clap_complete::Shell;

use super::Streams;
use crate::error::Result;

/// A completion script for a shell
///
/// Examples:
///   attn completions bash > ~/.local/share/bash-completion/completions/attn
///   attn completions zsh > ~/.zfunc/_attn
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

impl CompletionsArgs {
    pub(super) fn run(&self, streams: &mut Streams<'_>) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::command(), "attn", &mut script);
        streams.out.write_all(&script)?;
        Ok(())
    }
}

/// The manual page, in roff
///
/// Example:
///   attn man | man -l -
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct ManArgs {}

impl ManArgs {
    pub(super) fn run(&self, streams: &mut Streams<'_>) -> Result<()> {
        let mut page = Vec::new();
        let command = super::command().version(env!("CARGO_PKG_VERSION"));
        clap_mangen::Man::new(command.clone()).render(&mut page)?;
        for subcommand in command.get_subcommands() {
            let mut section = Vec::new();
            let named = subcommand.clone().display_name(format!("attn {}", subcommand.get_name()));
            let man = clap_mangen::Man::new(named);
            section
                .extend_from_slice(format!(".SH ATTN {}\n", subcommand.get_name().to_uppercase()).as_bytes());
            man.render_description_section(&mut section)?;
            man.render_options_section(&mut section)?;
            page.extend(section);
        }
        streams.out.write_all(&page)?;
        Ok(())
    }
}
