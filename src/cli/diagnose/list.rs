//! `attn diagnose --list`: the catalogue of mistakes.

use crate::cli::output::{self, FormatArg, LookArgs};
use crate::cli::{Env, Streams};
use crate::diagnose::{GROUPS, Group, Mistake, catalogue, find};
use crate::error::Result;
use crate::graph::Graph;
use crate::render::Page;
use crate::story::{Step, Story, Table};

/// The whole catalogue, or everything about one mistake.
pub(super) fn write(id: Option<&str>, look: &LookArgs, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
    let one = id.map(find).transpose()?;
    match one {
        Some(mistake) if look.is_for_people() => {
            output::pages(&[Page::whole(story(mistake))], "diagnose", &look.style(env), streams)
        }
        one => {
            // Programs are told everything.
            let whole = matches!(look.format, FormatArg::Json | FormatArg::Csv);
            let parts = match (one, whole) {
                (Some(one), _) => vec![(ALL.to_string(), table(&[one], whole))],
                (None, true) => vec![(ALL.to_string(), table(&catalogue().collect::<Vec<_>>(), whole))],
                // People read a step at a time.
                (None, false) => GROUPS.iter().map(group).collect(),
            };
            look.tables("diagnose", &parts, env, streams)
        }
    }
}

/// The heading over all mistakes in one table.
const ALL: &str = "Classic mistakes";

/// The mistakes of one step.
fn group(group: &Group) -> (String, Table) {
    let mistakes: Vec<&Mistake> = group.mistakes().collect();
    (group.title.to_string(), table(&mistakes, false))
}

fn story(mistake: &Mistake) -> Story {
    let step = |text: &str, notice: Option<String>| Step { text: text.into(), notice, ..Step::default() };
    let steps = vec![
        step(mistake.slip, None),
        step(mistake.why, Some(format!("Symptom: {}", mistake.symptom))),
        step(&format!("To fix it: {}", mistake.fix), None),
        step(&format!("The correct step: attn demo {}.", mistake.demo), None),
    ];
    Story::of_steps(mistake.id, Graph::new(), steps)
}

fn table(mistakes: &[&Mistake], whole: bool) -> Table {
    let row = |mistake: &&Mistake| {
        let all = [mistake.id, mistake.slip, mistake.why, mistake.symptom, mistake.fix, mistake.demo];
        all[..if whole { all.len() } else { 2 }].iter().map(|text| text.to_string()).collect()
    };
    let header: &[&str] = match whole {
        true => &["id", "slip", "why", "symptom", "fix", "demo"],
        false => &["id", "the mistake"],
    };
    Table::new(header, mistakes.iter().map(row))
}
