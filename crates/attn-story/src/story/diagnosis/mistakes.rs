//! Mistakes in words: their ids, what was done, and the demos that show the correct step.

use crate::diagnose::{NamedMistake, Slip};
use crate::graph::{Factor, Op};
use crate::text::one_of;

/// The sentence of a mistake, with its detail and id: “The scores were rounded … (to 2 decimals). [scores-rounded]”.
pub(super) fn sentence(slip: &Slip) -> String {
    format!("{} [{}]", slip.sentence(), slip.mistake.id)
}

/// The id of a mistake with its detail: `weights-rounded (to 2 decimals)`.
pub(super) fn id(slip: &Slip) -> String {
    match &slip.detail {
        Some(detail) => format!("{} ({detail})", slip.mistake.id),
        None => slip.mistake.id.to_string(),
    }
}

/// The ids of one explanation: `no-scale`, `no-scale + weights-rounded (to 2 decimals)`.
pub(super) fn ids(named: &NamedMistake) -> String {
    named.slips.iter().map(id).collect::<Vec<_>>().join(" + ")
}

/// The ids of explanations that fit equally.
pub(super) fn alternatives(several: &[NamedMistake]) -> String {
    const MOST: usize = 6;
    let mut ids: Vec<String> = several.iter().take(MOST).map(ids).collect();
    if several.len() > MOST {
        ids.push(format!("{} more", several.len() - MOST));
    }
    one_of(&ids)
}

/// Whether several explanations are the same computation on every input.
pub(super) fn are_same_computation(several: &[NamedMistake]) -> bool {
    // A factor is the number that it is, whatever it was computed from.
    let op = |op: &Op| match op {
        Op::Scale(factor) => Op::Scale(Factor::Number(to_digits(factor.value()))),
        op => op.clone(),
    };
    let steps = |named: &NamedMistake| -> Vec<_> {
        let nodes = named.graph.nodes();
        nodes.map(|(_, node)| (node.name.clone(), op(&node.op), node.inputs.clone())).collect()
    };
    several.len() > 1
        && several.iter().all(|named| named.slips.len() == 1 && steps(named) == steps(&several[0]))
}

/// Twelve digits of a number.
fn to_digits(x: f64) -> f64 {
    format!("{x:.11e}").parse().unwrap_or(x)
}

/// “The correct step: attn demo scale.” None where no demo shows it.
pub(super) fn demos(named: &NamedMistake) -> Option<String> {
    let mut demos: Vec<&str> = named.slips.iter().filter_map(|slip| slip.mistake.demo).collect();
    demos.dedup();
    if demos.is_empty() {
        return None;
    }
    let commands: Vec<String> = demos.iter().map(|demo| format!("attn demo {demo}")).collect();
    Some(format!("The correct step: {}.", commands.join(", ")))
}
