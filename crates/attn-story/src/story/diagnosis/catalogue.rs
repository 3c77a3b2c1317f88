//! The catalogue of mistakes, and everything about one of them.

use crate::diagnose::Mistake;
use crate::graph::Graph;
use crate::story::{Step, Story, Table};

/// The story of one mistake: what was done, why it is wrong, its symptom, and how to fix it.
pub fn mistake(mistake: &Mistake) -> Story {
    let step = |text: &str, notice: Option<String>| Step { text: text.into(), notice, ..Step::default() };
    let demo = mistake.demo.map(|demo| step(&format!("The correct step: attn demo {demo}."), None));
    let mut steps = vec![
        step(mistake.slip, None),
        step(mistake.why, Some(format!("Symptom: {}", mistake.symptom))),
        step(&format!("To fix it: {}", mistake.fix), None),
    ];
    steps.extend(demo);
    Story::of_steps(mistake.id, Graph::new(), steps)
}

/// Mistakes by id, with all that is known of each.
pub fn mistakes_in_full(mistakes: &[&Mistake]) -> Table {
    let row = |mistake: &&Mistake| {
        [
            mistake.id,
            mistake.slip,
            mistake.why,
            mistake.symptom,
            mistake.fix,
            mistake.demo.unwrap_or_default(),
        ]
        .map(str::to_string)
        .to_vec()
    };
    Table::new(&["id", "slip", "why", "symptom", "fix", "demo"], mistakes.iter().map(row))
}

/// Mistakes by id, with one sentence each.
pub fn mistakes(mistakes: &[&Mistake]) -> Table {
    let row = |mistake: &&Mistake| vec![mistake.id.to_string(), mistake.slip.to_string()];
    Table::new(&["id", "the mistake"], mistakes.iter().map(row))
}
