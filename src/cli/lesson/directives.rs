//! `attn lesson directives`.

use clap::Args;

use crate::cli::output::LookArgs;
use crate::cli::{Env, Streams};
use crate::demo::Table;
use crate::error::Result;
use crate::lesson::DIRECTIVES;

/// What a lesson's comments can tell the program: the whole list
#[derive(Args, Debug)]
pub(super) struct DirectivesArgs {
    #[command(flatten)]
    look: LookArgs,
}

impl DirectivesArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let row =
            |one: crate::lesson::Directive| vec![format!("<!-- {} -->", one.form), one.does.to_string()];
        let in_prose = [
            "0.30<!-- = RUN:CELL -->".to_string(),
            "within a line of text: the number must be that cell, at the digits written".to_string(),
        ];
        let rows = DIRECTIVES.map(row).into_iter().chain([in_prose.to_vec()]);
        let table = Table::new(&["directive", "what it does"], rows);
        self.look.tables("lesson", &[("Directives of a lesson".to_string(), table)], env, streams)
    }
}
