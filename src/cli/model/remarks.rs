//! What is said beside matrices and explanations of a model: the usual name of a head, the command that goes further down.

use super::address::usual_name;
use crate::cli::presentation;
use crate::cli::program::Program;
use crate::explain::onward;
use crate::graph::{NodeId, address_of};
use crate::render::{Format, Style};
use crate::story::{StepItem, Story};
use crate::text::{ScreenWidth, quoted};

/// The widest lines of sentences, and their indent.
const WIDEST: usize = 100;
const INDENT: usize = 2;

/// Says beside a matrix of a head that is shown alone, or whose number is explained, how the head is called elsewhere.
pub(super) fn name_as_elsewhere(story: &mut Story) {
    let graph = &story.graph;
    let usual = |id: NodeId| {
        let node = &graph[id];
        usual_name(node).map(|usual| format!("{}, {usual} elsewhere", node.name))
    };
    for step in story.steps.iter_mut().filter(|step| step.text.is_empty()) {
        match &mut step.shown[..] {
            [StepItem::Node(id)] => step.notice = usual(*id),
            [StepItem::Explained { of, .. }] => {
                let mut last = None;
                for one in of {
                    let node = one.explanation.cell.node;
                    if last.replace(node) != Some(node) {
                        one.caption = usual(node).unwrap_or_default();
                    }
                }
            }
            _ => {}
        }
    }
}

/// Says the command that goes on from an explained number down to the weights.
pub(super) fn say_the_way_on(story: &mut Story, program: &Program<'_>, style: &Style) {
    let graph = &story.graph;
    for step in &mut story.steps {
        let [StepItem::Explained { of, .. }] = &step.shown[..] else { continue };
        let [one] = &of[..] else { continue };
        let Some(next) = onward(graph, &one.explanation) else { continue };
        // The full name of a cell needs no layer and no head.
        let command =
            presentation::typed_without(program.typed, &["--explain", "--layer", "--head", "--only"]);
        let cell = quoted(&address_of(graph, next)).into_owned();
        step.notice = Some(format!("Further down: {}", copied_whole(&command, &cell, style)));
    }
}

/// A command that can be copied from the screen: on one line, or where that has no room on two that a shell joins.
fn copied_whole(command: &str, cell: &str, style: &Style) -> String {
    let whole = format!("{command} --explain {cell}");
    let room = style.width.min(WIDEST).saturating_sub(INDENT);
    let joined = |text: &str| text.replace(' ', "\u{a0}");
    if style.format != Format::Table || whole.width() <= room {
        return joined(&whole);
    }
    format!("{} {}", joined(&format!("{command} \\")), joined(&format!("--explain {cell}")))
}
