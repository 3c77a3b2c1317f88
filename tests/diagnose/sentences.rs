//! Every sentence that the tables of stages and operators make together reads as one.

use std::collections::BTreeSet;

use crate::mistakes::{cases, more_cases, operator_cases};
use attn::diagnose::{Task, Way, catalogue};

/// Every way of every mistake that is made of both tables, in one exercise.
fn general(task: &Task) -> Vec<Way> {
    let ways = catalogue().flat_map(|mistake| mistake.ways(task).unwrap());
    ways.filter(|way| way.general).collect()
}

fn complaint(sentence: &str) -> Option<&'static str> {
    let has = |part: &str| sentence.contains(part);
    let subject = |start: &str| sentence.starts_with(start);
    let plurals = [
        "The tokens",
        "The queries",
        "The keys",
        "The values",
        "The scores",
        "The weights",
        "The rows",
        "The columns",
    ];
    let is_plural = plurals.iter().any(|plural| subject(plural)) || subject("W_Q, W_K and W_V");
    let is_single = ["The result ", "The first row ", "The last row ", "The diagonal ", "W_O "]
        .iter()
        .any(|one| subject(one));
    if !sentence.starts_with(|first: char| first.is_uppercase()) {
        Some("begins with a small letter")
    } else if !sentence.ends_with('.') || has("..") || has(",.") {
        Some("does not end with one full stop")
    } else if has("  ") || has(" ,") || has(" .") {
        Some("has a stray blank")
    } else if has("was was") || has("were were") || has("the the") || has("{") {
        Some("has a word twice, or a brace")
    } else if is_plural && !has(" were ") {
        Some("is plural, without `were`")
    } else if is_single && !has(" was ") {
        Some("is singular, without `was`")
    } else if is_single && (has("their") || has("themselves")) {
        Some("is singular, and says `their`")
    } else {
        None
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "cargo test -- --nocapture shows every sentence")]
fn every_composed_sentence_reads_as_one() {
    let tasks = cases().iter().map(|case| case.examiner.task());
    let others = more_cases().iter().chain(operator_cases()).map(|case| case.examiner.task());
    let ways: Vec<Way> = tasks.chain(others).flat_map(general).collect();
    let sentences: BTreeSet<&str> =
        ways.iter().flat_map(|way| [way.slip.said.as_deref(), way.slip.fix.as_deref()]).flatten().collect();
    assert!(sentences.len() > 1000, "only {}", sentences.len());
    let mut complaints = Vec::new();
    for sentence in sentences {
        println!("{sentence}");
        complaints.extend(complaint(sentence).map(|why| format!("{sentence} {why}")));
    }
    assert!(complaints.is_empty(), "{}:\n{}", complaints.len(), complaints.join("\n"));
    assert!(
        ways.iter().all(|way| way.slip.said.is_some() && way.slip.fix.is_some() && way.slip.detail.is_some())
    );
}
