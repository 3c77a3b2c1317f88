//! What is said of slips with sinks, kept keys and rotary positions, and which slips no input shows.

use std::collections::BTreeSet;

use crate::diagnose::mechanism_slips::exercises;
use crate::mistakes::answer;
use attn::diagnose::catalogue;

#[test]
fn with_a_sink_the_fix_of_a_wrong_sum_puts_the_sink_into_it() {
    let of_sums = ["rows-scaled", "softmax-unnormalised", "softmax-wrong-sum"];
    let mut seen = BTreeSet::new();
    for exercise in exercises() {
        for slip in exercise.wrong.iter().filter(|slip| of_sums.contains(&slip.id.as_str())) {
            let diagnosis = exercise.examine(answer("O", &slip.matrix));
            let judged = diagnosis.first_wrong().unwrap();
            let slips = judged.mistakes.iter().flat_map(|named| &named.slips);
            for one in slips.filter(|one| of_sums.contains(&&*one.mistake.id)) {
                assert!(one.fix().contains("exp(sink)"), "{}: {}", exercise.name, one.fix());
                seen.insert(one.mistake.id.clone());
            }
        }
    }
    assert!(seen.iter().eq(&of_sums), "{seen:?}");
}

#[test]
fn a_kept_key_too_many_is_not_fixed_by_showing_the_first_keys() {
    let mut count = 0;
    for exercise in exercises() {
        let kept = exercise.examiner.task().recipe().mask.keep_first;
        let keys = if kept == 1 { "the first key".to_string() } else { format!("the first {kept} keys") };
        for slip in exercise.wrong.iter().filter(|slip| slip.variant == "one more") {
            let diagnosis = exercise.examine(answer("O", &slip.matrix));
            let named = &diagnosis.first_wrong().unwrap().mistakes;
            let mut fixes = named.iter().flat_map(|named| &named.slips).map(|slip| slip.fix());
            assert!(fixes.any(|fix| fix.contains(&format!("exactly {keys}"))), "{}", exercise.name);
            count += 1;
        }
    }
    assert!(count > 1, "{count}");
}

#[test]
fn a_factor_that_was_left_out_is_said_once() {
    let all = exercises().iter().flat_map(|exercise| exercise.wrong.iter().map(move |slip| (exercise, slip)));
    let left_out = all.filter(|(_, slip)| slip.id == "rope-magnitude" && slip.variant == "left out");
    let sentences: Vec<String> = left_out
        .flat_map(|(exercise, slip)| {
            let diagnosis = exercise.examine(answer("O", &slip.matrix));
            let named = &diagnosis.first_wrong().unwrap().mistakes;
            named.iter().flat_map(|named| &named.slips).map(|slip| slip.sentence()).collect::<Vec<_>>()
        })
        .filter(|sentence| sentence.contains("factor of sines"))
        .collect();
    assert!(!sentences.is_empty());
    assert!(sentences.iter().all(|said| said.matches("left out").count() == 1), "{sentences:?}");
}

#[test]
fn what_no_input_shows_is_proven_and_nothing_else_is_said_to_be() {
    let mut proven = BTreeSet::new();
    for exercise in exercises() {
        let task = exercise.examiner.task();
        let is_never_shown = |id: &str| catalogue().any(|one| one.id == id && task.never_shows(one));
        for slip in &exercise.wrong {
            assert!(!is_never_shown(&slip.id), "{}: {} {}", exercise.name, slip.id, slip.variant);
        }
        proven.extend(exercise.unchanged.iter().filter(|id| is_never_shown(id)).cloned());
    }
    // A cap of 50 shows with scores near −50, and a dynamic scaling with more tokens.
    assert!(
        proven.iter().eq(["positions-start", "qk-norm-late", "rope-pairing", "sink-missing"]),
        "{proven:?}"
    );
}
