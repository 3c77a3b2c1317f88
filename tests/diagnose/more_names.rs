//! What students do besides the classic mistakes: slips by another hand (tests/golden/more_mistakes.py), each by its name.

use std::collections::BTreeMap;

use crate::common::one_in;
use crate::mistakes::{More, OtherSlip, answer, by_hand, more_cases, named, says_nothing};

/// Ids of the other hand, and what they are called here where that is another name.
const CALLED: &[(&str, &str)] = &[
    ("scale-by-model-width", "scale-model-width"),
    ("bias-of-values", "bias-added"),
    ("bias-of-output", "bias-added"),
    ("result-flattened", "result-reshaped"),
];

/// What gives the same numbers, whatever the input, or on the inputs of the file.
const EQUALS: &[(&str, &[&str])] = &[
    ("scale-twice", &["scale-by-d"]),
    // Where nothing is hidden, every row is divided by the same number.
    ("rows-scaled", &["weights-altered"]),
    // Half of X in the residual is X divided by 2 there, and a head that is missing has values of 0.
    ("residual-scaled", &["residual-altered"]),
    (
        "heads-weighted",
        &["values-altered", "heads-altered", "projections-altered", "only-one-head", "result-left-zero"],
    ),
    // A last row that is not reached is 0.
    ("rows-off-by-one", &["result-left-zero"]),
    // The third power of √2 is twice that root.
    ("temperature", &["scale-twice"]),
    (
        "scale-by-model-width",
        &["scale-by-d", "scale-by-length", "scale-by-heads", "scale-by-value-width", "scale-twice"],
    ),
];

/// What the first wrong step alone shows of a slip that consists of two changes.
const AT_FIRST: &[(&str, &[&str])] = &[
    ("softmax-features", &["no-softmax"]),
    ("scale-late", &["no-scale"]),
    ("values-scaled", &["no-scale"]),
    ("linear-attention", &["queries-keys-altered"]),
    ("mask-twice", &["mask-zero", "mask-added"]),
    ("padded-outputs-zeroed", &["mask-missing"]),
    ("keys-values-exchanged", &["keys-are-values"]),
    ("heads-interleaved-both", &["heads-interleaved"]),
];

fn called(id: &str) -> &str {
    CALLED.iter().find(|(theirs, _)| *theirs == id).map_or(id, |(_, ours)| ours)
}

/// Whether one of the names is the slip's, or one of those that give the same numbers there.
fn is_named(slip: &OtherSlip, names: &[std::collections::BTreeSet<String>]) -> bool {
    let equal = EQUALS.iter().filter(|(id, _)| *id == slip.id).flat_map(|(_, others)| others.iter().copied());
    let expected: Vec<&str> = [slip.id.as_str()]
        .into_iter()
        .chain(slip.same_as.iter().map(String::as_str))
        .chain(equal)
        .map(called)
        .collect();
    // Where the right answer has rows that see nothing, a missing guard is a mistake of its own.
    let is_one = |ids: &std::collections::BTreeSet<String>| {
        ids.iter().filter(|id| *id != "empty-row-nan").count() == 1
            && ids.iter().all(|id| id == "empty-row-nan" || expected.contains(&id.as_str()))
    };
    names.iter().any(is_one)
}

/// How many of the results of each slip got their name.
#[derive(Default)]
struct Shares(BTreeMap<String, (usize, usize)>);

impl Shares {
    fn add(&mut self, slip: &OtherSlip, told: bool) {
        let share = self.0.entry(slip.id.clone()).or_default();
        share.0 += usize::from(told);
        share.1 += 1;
    }

    #[allow(clippy::print_stdout, reason = "cargo test -- --nocapture shows the shares")]
    fn print(&self) {
        for (id, (told, all)) in &self.0 {
            println!("{told:4} of {all:4} {id}");
        }
        let [told, all] = [0, 1].map(|at| self.0.values().map(|share| [share.0, share.1][at]).sum::<usize>());
        println!("{told:4} of {all:4}");
    }
}

fn here(case: &More, slip: &OtherSlip) -> String {
    format!("{}: {} {}", case.name, slip.id, slip.variant)
}

#[test]
fn every_slip_of_another_hand_gets_its_name() {
    let (mut shares, mut complaints) = (Shares::default(), Vec::new());
    for case in more_cases().iter().step_by(one_in(4)) {
        for slip in case.slips.iter().filter(|slip| slip.blame) {
            let diagnosis = case.examiner.examine(&[answer("O", &slip.result)]).unwrap();
            let names = named(&diagnosis);
            let told = is_named(slip, &names);
            shares.add(slip, told);
            if !told {
                complaints.push(format!(
                    "{} came back as {names:?}, right {}",
                    here(case, slip),
                    diagnosis.is_right()
                ));
            }
        }
    }
    shares.print();
    assert!(complaints.is_empty(), "{}:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn what_is_right_is_right_and_what_nobody_can_know_gets_no_name() {
    let mut complaints = Vec::new();
    for case in more_cases().iter().step_by(one_in(4)) {
        for slip in case.slips.iter().filter(|slip| !slip.blame) {
            let mut handed = answer("O", &slip.result);
            if slip.id == "half-precision" {
                handed.roundoff =
                    if slip.variant.starts_with("bfloat16") { 1.0 / 256.0 } else { 1.0 / 2048.0 };
            }
            if let Some(decimals) = slip.value["digits"].as_u64() {
                handed = by_hand("O", &slip.result, decimals as usize);
            }
            let diagnosis = case.examiner.examine(&[handed]).unwrap();
            let names = named(&diagnosis);
            if slip.right && !diagnosis.is_right() && slip.variant != "float16 at every step" {
                complaints.push(format!("{} is right, and came back as wrong: {names:?}", here(case, slip)));
            }
            if names.iter().any(|ids| !ids.iter().eq(["dropout"]) || slip.id != "dropout") {
                complaints.push(format!("{} came back as {names:?}", here(case, slip)));
            }
        }
    }
    assert!(complaints.is_empty(), "{}:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn other_slips_rounded_by_hand_keep_their_names() {
    let (mut shares, mut wrong) = (Shares::default(), Vec::new());
    for case in more_cases().iter().step_by(one_in(4)) {
        for slip in case.slips.iter().filter(|slip| slip.blame && slip.id != "result-truncated") {
            let diagnosis = case.examiner.examine(&[by_hand("O", &slip.result, 4)]).unwrap();
            let names = named(&diagnosis);
            let told = is_named(slip, &names);
            shares.add(slip, told);
            let silent = names.is_empty() || says_nothing(&slip.result) || diagnosis.is_right();
            if !told && !silent {
                wrong.push(format!("{} to 4 decimals came back as {names:?}", here(case, slip)));
            }
        }
    }
    shares.print();
    // With four decimals a very sharp softmax is a maximum, and no more.
    assert!(wrong.len() <= 5, "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn steps_of_other_slips_lead_to_their_names_and_to_no_other() {
    let (mut shares, mut wrong) = (Shares::default(), Vec::new());
    for case in more_cases().iter().step_by(one_in(4)) {
        for slip in case.slips.iter().filter(|slip| slip.blame) {
            let steps = slip.value["steps"].as_object();
            let Some(steps) = steps else { continue };
            let known = |name: &&String| case.examiner.task().right().find(name).is_some();
            let mut handed: Vec<_> = steps
                .keys()
                .filter(known)
                .map(|name| answer(name, &crate::golden::matrix(&steps[name])))
                .collect();
            handed.push(answer("O", &slip.result));
            let diagnosis = case.examiner.examine(&handed).unwrap();
            let names = named(&diagnosis);
            let at_first = AT_FIRST.iter().filter(|(id, _)| *id == slip.id).flat_map(|(_, first)| *first);
            let is_first = at_first.clone().any(|first| names.iter().any(|ids| ids.iter().eq([first])));
            let told = is_named(slip, &names) || is_first;
            shares.add(slip, told);
            if !told && !names.is_empty() {
                let first = diagnosis.first_wrong().map(|wrong| wrong.name.clone());
                wrong.push(format!("{} in {first:?} came back as {names:?}", here(case, slip)));
            }
        }
    }
    shares.print();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// What the clues to these numbers say.
fn clues(case: &More, slip: &OtherSlip) -> String {
    let diagnosis = case.examiner.examine(&[answer("O", &slip.result)]).unwrap();
    diagnosis.nodes[0].clues.iter().map(|clue| clue.sentence.clone() + "\n").collect()
}

#[test]
fn implied_weights_are_consistent_with_biases() {
    // Values with as many columns as keys have one solution, and with one more row of freedom a bias is seen, too.
    let sentences = [
        ("bias-of-queries", "consistent with a bias of the queries"),
        ("biases-left-in", "consistent with biases in all projections"),
    ];
    let cases = more_cases();
    for (id, sentence) in sentences {
        let slips = |case: &'static str| {
            let case = cases.iter().find(|other| other.name == case).unwrap();
            case.slips
                .iter()
                .filter(move |slip| slip.id == id && slip.variant != "result")
                .map(move |slip| (case, slip))
        };
        let mut seen = 0;
        for (case, slip) in slips("as many tokens as columns") {
            assert!(clues(case, slip).contains(sentence), "{}", here(case, slip));
            seen += 1;
        }
        assert!(seen > 0, "{id}");
        for (case, slip) in slips("causal") {
            assert!(!clues(case, slip).contains(sentence), "{}", here(case, slip));
        }
    }
}

#[test]
fn dropout_of_the_weights_is_found_in_the_result() {
    let case = more_cases().iter().find(|case| case.name == "as many tokens as columns").unwrap();
    let slips = || case.slips.iter().filter(|slip| slip.id == "dropout" && slip.variant != "result");
    assert!(slips().count() > 0);
    for slip in slips() {
        let names = named(&case.examiner.examine(&[answer("O", &slip.result)]).unwrap());
        assert!(is_named(slip, &names), "{}: {names:?}", here(case, slip));
    }
}

#[test]
fn no_other_slip_is_consistent_with_biases_or_dropout() {
    let mut complaints = Vec::new();
    for case in more_cases().iter().step_by(one_in(8)) {
        for slip in &case.slips {
            let is_one = ["bias", "dropout"].iter().any(|id| slip.id.starts_with(id));
            let said = clues(case, slip);
            let says =
                ["with biases", "with a bias", "with dropout of"].iter().any(|what| said.contains(what));
            if !is_one && says {
                complaints.push(here(case, slip));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
