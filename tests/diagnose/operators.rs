//! Whatever is done at one stage of attention gets a name: wrong results by NumPy (tests/golden/operators.py).

use crate::common::one_in;
use crate::mistakes::{answer, by_hand, named, operator_cases};

#[test]
#[allow(clippy::print_stdout, reason = "cargo test -- --nocapture shows what got no name")]
fn what_is_done_at_a_stage_gets_a_name() {
    let (mut all, mut by_name, mut at_its_stage) = (0, 0, 0);
    for case in operator_cases().iter().step_by(one_in(2)) {
        for slip in &case.slips {
            let diagnosis = case.examiner.examine(&[answer("O", &slip.result)]).unwrap();
            let names = named(&diagnosis);
            let only = slip.value.get("only").map_or(String::new(), |only| format!(", only one {only}"));
            let here = format!("{}: {} ({}){only}", case.name, slip.id, slip.variant);
            all += 1;
            by_name += usize::from(!names.is_empty());
            // A name of its own comes first; else it is that of the stage.
            let is_general = |id: &String| id.ends_with("-altered");
            let is_its_own = names.iter().any(|ids| ids.iter().any(|id| !is_general(id) || *id == slip.id));
            at_its_stage += usize::from(is_its_own);
            if !is_its_own {
                println!("{here} came back as {names:?}");
            }
        }
    }
    println!("{by_name} of {all} named, {at_its_stage} at their stage or by a name of their own");
    assert!(by_name * 100 >= all * 95, "{by_name} of {all}");
    assert!(at_its_stage * 100 >= all * 95, "{at_its_stage} of {all}");
}

#[test]
fn to_three_decimals_most_still_get_a_name() {
    let (mut all, mut by_name) = (0, 0);
    for case in operator_cases().iter().step_by(one_in(3)) {
        for slip in &case.slips {
            let diagnosis = case.examiner.examine(&[by_hand("O", &slip.result, 3)]).unwrap();
            all += 1;
            by_name += usize::from(diagnosis.is_right() || !named(&diagnosis).is_empty());
        }
    }
    assert!(by_name * 100 >= all * 85, "{by_name} of {all}");
}
