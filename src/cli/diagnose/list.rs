//! `attn diagnose --list`: the catalogue of mistakes.

use crate::cli::output::{FormatArg, LookArgs};
use crate::cli::{Env, Streams, output};
use crate::diagnose::{GROUPS, Group, Mistake, catalogue, find};
use crate::error::Result;
use crate::render::Page;
use crate::story::Table;
use crate::story::diagnosis::{mistake, mistakes, mistakes_in_full};

/// The heading over all mistakes in one table.
const ALL: &str = "Classic mistakes";

/// Writes the whole catalogue, or everything about one mistake.
pub(super) fn write(id: Option<&str>, look: &LookArgs, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
    let one = id.map(find).transpose()?;
    if let Some(one) = one.filter(|_| look.is_for_people()) {
        return output::pages(&[Page::whole(mistake(one))], "diagnose", &look.style(env), streams);
    }
    // Data is one table with everything; people read a group at a time.
    let in_full = matches!(look.format, FormatArg::Json | FormatArg::Csv);
    let parts = match one {
        Some(one) if in_full => vec![(ALL.to_string(), mistakes_in_full(&[one]))],
        Some(one) => vec![(ALL.to_string(), mistakes(&[one]))],
        None if in_full => vec![(ALL.to_string(), mistakes_in_full(&catalogue().collect::<Vec<_>>()))],
        None => GROUPS.iter().map(group).chain([classes()]).collect(),
    };
    look.tables("diagnose", &parts, env, streams)
}

/// The mistakes of one step that have a name of their own.
fn group(group: &Group) -> (String, Table) {
    let named: Vec<&Mistake> = group.mistakes().filter(|mistake| !mistake.is_class()).collect();
    (group.title.to_string(), mistakes(&named))
}

/// The classes for everything else, in one line.
fn classes() -> (String, Table) {
    let classes = catalogue().filter(|mistake| mistake.is_class());
    let steps: Vec<&str> = classes.filter_map(|mistake| mistake.id.strip_suffix("-altered")).collect();
    let said = format!(
        "Something was done at one step that attention does not do: {}-altered.",
        steps.join("-altered, ")
    );
    ("Anything else".to_string(), Table::new(&["id", "the mistake"], [vec!["…-altered".to_string(), said]]))
}
