//! Mistakes that cannot show: the input hides them, or too few digits.

use super::answer::{Answer, Part};
use super::candidates::{Candidate, standing_for};
use super::catalogue::{Likelihood, Mistake};
use super::compare::{Allowed, residual};
use super::examiner::Examiner;

/// What could not be seen in some parts.
pub(super) struct Hidden {
    /// Mistakes none of whose ways changes these parts, nor the result.
    pub undetectable: Vec<&'static Mistake>,
    /// Mistakes that change these parts by less than the student's digits show.
    pub too_coarse: Vec<&'static Mistake>,
}

/// How a mistake stands to what was handed in, in every way in which it can be made.
struct Standing {
    mistake: &'static Mistake,
    hidden: bool,
    too_coarse: bool,
}

/// What could not be seen in these parts. A mistake that is made after them is neither hidden nor shown, and not listed.
pub(super) fn hidden(examiner: &Examiner, parts: &[Part<'_>]) -> Hidden {
    let mut all: Vec<Standing> = Vec::new();
    let digits = |answer: &Answer| Answer { matrices: Vec::new(), decimals: None, ..answer.clone() };
    let exact: Vec<Answer> = parts.iter().map(|part| digits(part.answer)).collect();
    let changes = |candidate: &Candidate, node: &str, answer: &Answer| {
        let right = standing_for(examiner.task.right(), node);
        !right.zip(candidate.matrix(node)).is_some_and(|(right, mistaken)| {
            residual(&mistaken, right, Allowed::between(answer, right, &examiner.tolerance)).is_some()
        })
    };
    examiner.candidates.each_single(&examiner.task, |candidate| {
        let mistake = candidate.slips[0].mistake;
        if mistake.likelihood != Likelihood::Classic {
            return;
        }
        let nodes = || {
            parts.iter().zip(&exact).flat_map(|(part, exact)| {
                part.matrices.iter().map(move |(node, _)| (node.as_str(), part.answer, exact))
            })
        };
        let shows = nodes().any(|(node, _, exact)| changes(candidate, node, exact));
        let in_result = || exact.first().is_some_and(|exact| changes(candidate, "O", exact));
        let hidden = !shows && !in_result();
        let too_coarse = shows && !nodes().any(|(node, answer, _)| changes(candidate, node, answer));
        match all.iter_mut().find(|known| std::ptr::eq(known.mistake, mistake)) {
            Some(known) => {
                known.hidden &= hidden;
                known.too_coarse &= too_coarse;
            }
            None => all.push(Standing { mistake, hidden, too_coarse }),
        }
    });
    // With one head the width of the model may be that of the head, and then there is nothing to mistake.
    let one_head = examiner.task.recipe().heads == 1;
    let is_possible = |mistake: &&'static Mistake| !(one_head && mistake.id == "scale-model-width");
    let those = |is: fn(&Standing) -> bool| {
        let standings = all.iter().filter(|standing| is(standing));
        standings.map(|standing| standing.mistake).filter(is_possible).collect()
    };
    Hidden {
        undetectable: those(|standing| standing.hidden),
        too_coarse: those(|standing| standing.too_coarse),
    }
}
