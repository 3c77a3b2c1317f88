//! The catalogue of mistakes, and everything about one of them.

use std::sync::Arc;

use crate::diagnose::{Mistake, Suggestion, Task};
use crate::foreign::visible;
use crate::graph::Graph;
use crate::matrix::Matrix;
use crate::story::{Step, StepItem, Story, Table};
use crate::text::counted;

/// The story of one mistake: what was done, why it is wrong, its symptom, and how to fix it.
pub fn mistake(mistake: &Mistake) -> Story {
    let step = |text: String| Step::new(text, Vec::new());
    let notice = Some(format!("Symptom: {}", mistake.symptom));
    let mut steps = vec![
        step(mistake.slip.clone()),
        Step { notice, ..step(mistake.why.clone()) },
        step(format!("To fix it: {}", mistake.fix)),
    ];
    steps.extend(mistake.demo.as_ref().map(|demo| step(format!("The correct step: attn demo {demo}."))));
    Story::of_steps(&mistake.id, Graph::new(), steps)
}

/// Mistakes by id, with all that is known of each.
pub fn mistakes_in_full<'m>(mistakes: impl IntoIterator<Item = &'m Arc<Mistake>>) -> Table {
    let row = |mistake: &Arc<Mistake>| {
        let Mistake { id, slip, why, symptom, fix, demo, .. } = &**mistake;
        [id, slip, why, symptom, fix, demo.as_ref().unwrap_or(&String::new())].map(String::clone).to_vec()
    };
    Table::new(&["id", "slip", "why", "symptom", "fix", "demo"], mistakes.into_iter().map(row))
}

/// Mistakes by id, with one sentence each.
pub fn mistakes<'m>(mistakes: impl IntoIterator<Item = &'m Arc<Mistake>>) -> Table {
    sentences("id", "the mistake", mistakes)
}

/// Mistakes by id with one sentence each, below these words.
pub(super) fn sentences<'m>(
    id: &str,
    slip: &str,
    mistakes: impl IntoIterator<Item = &'m Arc<Mistake>>,
) -> Table {
    let row = |mistake: &Arc<Mistake>| vec![mistake.id.clone(), mistake.slip.clone()];
    Table::new(&[id, slip], mistakes.into_iter().map(row))
}

// A suggested input: a file on which mistakes show, and how to use it.

/// The file of a suggestion, the matrices in it, and the commands that use it. `arguments` are those by which a command reads it, and
/// `task` is the exercise that the input is for.
pub fn suggested_input(
    file: &str,
    suggestion: &Suggestion,
    task: &Task,
    matrices: &[(&str, &Matrix)],
    arguments: &str,
) -> Story {
    let shown = match (suggestion.told_apart, suggestion.hidden.len()) {
        (all, 0) => format!("all {}", counted(all, "mistake")),
        (shown, hidden) => format!("{shown} of {}", counted(shown + hidden, "mistake")),
    };
    let title = format!("A test input that shows {shown} in the result: {}", visible(file));
    let holds: Vec<String> =
        matrices.iter().map(|(name, matrix)| format!("{name} ({})", matrix.shape())).collect();
    let commands = [format!("attn attend {arguments}"), format!("attn diagnose {arguments} --yours FILE")];
    let commands = Table::new(&["command"], commands.map(|command| vec![command]));
    let mut steps = vec![
        Step::new(format!("The file holds {}.", holds.join(", ")), Vec::new()),
        Step::new(
            "Compute attention on it with your own code. Then see the right answer, and check yours:",
            vec![StepItem::Table(commands)],
        ),
    ];
    let (never, not_here): (Vec<_>, Vec<_>) =
        suggestion.hidden.iter().partition(|mistake| task.never_shows(mistake));
    steps.extend(hidden(&never, NEVER_SHOWN));
    steps.extend(hidden(&not_here, NOT_SHOWN_HERE));
    Story::of_steps(&title, Graph::new(), steps)
}

/// Above mistakes that no input shows.
const NEVER_SHOWN: &str = "With these options some mistakes change nothing in the result, on any numbers.";
/// Above mistakes that this input does not show.
const NOT_SHOWN_HERE: &str = "On this input some mistakes change nothing in the result, or too little for three digits. Other \
                              numbers, another number of tokens or another mask may show them.";

/// The step that names mistakes which the input does not show; none where there are none.
fn hidden(mistakes: &[&Arc<Mistake>], text: &str) -> Option<Step> {
    let table = sentences("mistake", "what it would be", mistakes.iter().copied());
    (!mistakes.is_empty()).then(|| Step::new(text, vec![StepItem::Table(table)]))
}
