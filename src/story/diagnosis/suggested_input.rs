//! A suggested input: a file on which mistakes show, and how to use it.

use crate::diagnose::Suggestion;
use crate::foreign::visible;
use crate::graph::Graph;
use crate::hint::Hint;
use crate::matrix::Matrix;
use crate::story::{Step, StepItem, Story, Table};
use crate::text::counted;

/// The file of a suggestion, the matrices in it, and the commands that use it. `arguments` are those by which a command reads it.
pub fn suggested_input(
    file: &str,
    suggestion: &Suggestion,
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
    let mut steps = vec![
        Step { text: format!("The file holds {}.", holds.join(", ")), ..Step::default() },
        Step {
            text: "Compute attention on it with your own code. Then see the right answer, and check yours:"
                .into(),
            notice: None,
            shown: vec![StepItem::Table(Table::new(
                &["command"],
                [
                    vec![format!("{} {arguments}", Hint::Attend)],
                    vec![format!("{} {arguments} {} FILE", Hint::Diagnose, Hint::Yours)],
                ],
            ))],
            ..Step::default()
        },
    ];
    if !suggestion.hidden.is_empty() {
        let rows = suggestion.hidden.iter().map(|mistake| vec![mistake.id.into(), mistake.slip.into()]);
        steps.push(Step {
            text: "With these options some mistakes change nothing in the result, on any numbers.".into(),
            notice: None,
            shown: vec![StepItem::Table(Table::new(&["mistake", "what it would be"], rows))],
            ..Step::default()
        });
    }
    Story::of_steps(&title, Graph::new(), steps)
}
