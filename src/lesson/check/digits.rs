//! Whether a number can be answered from the digits that the question shows.
use crate::lesson::faults::Faults;
use crate::lesson::key::{Expression, Key, WrittenNumber};
use crate::lesson::model::{Block, Question};
use crate::lesson::option_names::OptionNames;
use crate::lesson::question::Answer;
use crate::lesson::shown_digits::ShownOperands;
use crate::text::counted;

use super::context::CheckContext;

/// Decimals of a table where `--precision` says nothing else.
const USUAL_DECIMALS: usize = 4;

/// An answer computed from the numbers as the question shows them must be right; and a key that counts on a number of decimals
/// must have them on the screen.
pub(super) fn enough(
    question: &Question,
    key: &Key,
    answer: &Answer,
    context: CheckContext<'_>,
    faults: &mut Faults,
) {
    let Key { expression: Expression::Reference { run, address }, shown, .. } = key else { return };
    let tolerance = answer.tolerance;
    // A cell that is given, or that is not a sum of products, has nothing to be held against.
    let Ok(cell) = context.values.operands(run, address) else { return };
    let on_screen = decimals_on_screen(question, &cell, context.options);
    if let Some(decimals) = shown.filter(|decimals| !on_screen.contains(decimals)) {
        let what = format!(
            "the key of `{}` expects numbers shown at {}, but the question shows none of its operands that way",
            question.id,
            counted(decimals, "decimal")
        );
        let help = format!(
            "its operands are {}: show them with --only and --precision {decimals}",
            cell.operands().join(" and ")
        );
        faults.add(question.key_line, what, help);
        return;
    }
    let Some((decimals, slack)) =
        on_screen.into_iter().filter_map(|decimals| Some((decimals, cell.slack(decimals).ok()?))).next()
    else {
        return;
    };
    if slack > tolerance * (1.0 + 1e-9) {
        let what = format!(
            "`{}` shows its numbers at {}, from which an answer can be off by {slack:.4}, and the key allows {tolerance}",
            question.id,
            counted(decimals, "decimal")
        );
        let help = format!(
            "accept what these digits allow: {expression} ± … from {}",
            counted(decimals, "decimal"),
            expression = key.expression
        );
        faults.add(question.key_line, what, help);
    }
}

/// The decimals at which the question shows operands of a cell: in its tables, and in its text. The fewest first.
fn decimals_on_screen(question: &Question, cell: &ShownOperands, options: &OptionNames) -> Vec<usize> {
    let operands = cell.operands();
    let is_operand = |address: &str| {
        let node = address.split('[').next().unwrap_or_default().trim();
        operands.contains(&node)
    };
    let mut decimals: Vec<usize> = Vec::new();
    for block in &question.asked {
        match block {
            Block::Console(console) => {
                for exchange in &console.exchanges {
                    let value = |name: &str| OptionNames::value(&exchange.command.args, name);
                    if value(options.only).is_some_and(|only| only.split(',').any(is_operand)) {
                        let precision = value(options.precision).and_then(|text| text.parse().ok());
                        decimals.push(precision.unwrap_or(USUAL_DECIMALS));
                    }
                }
            }
            Block::Prose(prose) => {
                for claim in &prose.claims {
                    if let Expression::Reference { address, .. } = &claim.expression
                        && is_operand(address)
                        && let Some(written) = WrittenNumber::parse(&prose.markdown[claim.at.clone()])
                    {
                        decimals.push(written.decimals());
                    }
                }
            }
            _ => {}
        }
    }
    decimals.sort_unstable();
    decimals
}
