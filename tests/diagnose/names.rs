//! The name that comes back is the mistake that was made: wrong results by NumPy, checked against PyTorch.

use crate::common::one_in;
use crate::mistakes::{Case, Ids, Wrong, answer, by_hand, cases, named, same, says_nothing};
use attn::diagnose::Diagnosis;

/// What a result of a case must be called, from the data alone.
enum Expected {
    /// It is the right result.
    Right,
    /// Each of these, and perhaps more that give the same.
    Named(Vec<Ids>),
}

fn expected(case: &Case, wrong: &Wrong) -> Expected {
    if same(&wrong.result, &case.right) {
        return Expected::Right;
    }
    // Without any number in it, a result is what many mistakes give, and the likeliest of them are named.
    let equal = |size: usize| -> Vec<Ids> {
        let records =
            case.wrong.iter().filter(|other| other.ids.len() == size && same(&other.result, &wrong.result));
        records.map(|other| other.ids.clone()).collect()
    };
    match equal(1) {
        singles if !singles.is_empty() => Expected::Named(singles),
        _ => Expected::Named(equal(2)),
    }
}

/// Whether two mistakes that come to one slip are called by its name: a scale and a base are a temperature, scores and a softmax
/// both turned are turned weights.
fn is_one_slip(truth: &[Ids], names: &[Ids]) -> bool {
    const SCALES: [&str; 5] =
        ["no-scale", "scale-by-d", "scale-multiplied", "scale-model-width", "softmax-base-2"];
    let named = |id: &str| names.iter().any(|ids| ids.iter().eq([id]));
    truth.iter().all(|ids| {
        let are_scales = ids.len() == 2 && ids.iter().all(|id| SCALES.contains(&id.as_str()));
        let are_turned = ids.iter().eq(["qk-swapped", "softmax-axis"]);
        are_scales && named("temperature") || are_turned && named("weights-turned")
    })
}

/// What is wrong with what came back, if anything is.
fn complaint(case: &Case, wrong: &Wrong, diagnosis: &Diagnosis) -> Option<String> {
    let names = named(diagnosis);
    let here = || format!("{}: {} came back as {names:?}", case.name, wrong.label);
    match expected(case, wrong) {
        Expected::Right if diagnosis.is_right() => None,
        Expected::Right => Some(format!("{}, and it is right", here())),
        Expected::Named(_) if says_nothing(&wrong.result) && !diagnosis.is_right() && names.is_empty() => {
            None
        }
        Expected::Named(_) if says_nothing(&wrong.result) && names.iter().all(|ids| ids.len() == 1) => None,
        Expected::Named(truth) if is_one_slip(&truth, &names) => None,
        Expected::Named(truth) => {
            if let Some(missing) = truth.iter().find(|ids| !names.contains(ids)) {
                return Some(format!("{}, without {missing:?}", here()));
            }
            let size = truth[0].len();
            if names.iter().any(|ids| ids.len() != size) {
                return Some(format!("{}, with sets of another size", here()));
            }
            // What is named besides must not be known to give other numbers; what can be made in several ways is known
            // in some of them alone.
            let in_several_ways = |ids: &Ids| {
                ["mask-inverted", "mask-added", "scale-model-width"].iter().any(|id| ids.contains(*id))
            };
            let impostor = names.iter().find(|ids| {
                let known = || case.wrong.iter().filter(|other| other.ids == **ids);
                !truth.contains(ids)
                    && !in_several_ways(ids)
                    && known().next().is_some()
                    && known().all(|other| other.value.get("digits").is_none())
                    && !known().any(|other| same(&other.result, &wrong.result))
            });
            impostor.map(|ids| format!("{}, and {ids:?} gives other numbers", here()))
        }
    }
}

#[test]
fn the_right_result_is_right_and_so_is_every_step_of_it() {
    for case in cases() {
        for (name, value) in case.value["right"].as_object().unwrap() {
            if case.examiner.task().right().find(name).is_none() {
                continue;
            }
            let diagnosis = case.examiner.examine(&[answer(name, &crate::golden::matrix(value))]).unwrap();
            assert!(diagnosis.is_right(), "{}: {name}", case.name);
        }
        for decimals in 1..5 {
            let diagnosis = case.examiner.examine(&[by_hand("O", &case.right, decimals)]).unwrap();
            assert!(diagnosis.is_right(), "{}: rounded to {decimals} decimals", case.name);
        }
    }
}

#[test]
fn every_mistake_and_every_pair_comes_back_under_its_name() {
    let (mut complaints, mut checked) = (Vec::new(), 0);
    for case in cases().iter().step_by(one_in(8)) {
        for wrong in &case.wrong {
            let diagnosis = case.examiner.examine(&[answer("O", &wrong.result)]).unwrap();
            complaints.extend(complaint(case, wrong, &diagnosis));
            checked += 1;
        }
    }
    assert!(checked > 1000 / one_in(10), "only {checked}");
    assert!(
        complaints.is_empty(),
        "{} of {checked}:\n{}",
        complaints.len(),
        complaints[..complaints.len().min(40)].join("\n")
    );
}

#[test]
fn results_rounded_by_hand_still_name_the_mistake() {
    let (mut all, mut by_name) = (0, 0);
    for case in cases().iter().step_by(one_in(8)) {
        for wrong in case.wrong.iter().filter(|wrong| wrong.ids.len() == 1) {
            for decimals in [3, 4] {
                let diagnosis = case.examiner.examine(&[by_hand("O", &wrong.result, decimals)]).unwrap();
                let judged = &diagnosis.nodes[0];
                all += 1;
                by_name += usize::from(named(&diagnosis).contains(&wrong.ids));
                let told = says_nothing(&wrong.result)
                    || diagnosis.is_right()
                    || judged.too_few_digits
                    || named(&diagnosis).contains(&wrong.ids);
                assert!(
                    told,
                    "{}, {decimals} decimals: {} came back as {:?}",
                    case.name,
                    wrong.label,
                    named(&diagnosis)
                );
            }
        }
    }
    // Few of them may be left to “right as far as the digits go” and to “too few digits”.
    assert!(by_name * 10 >= all * 9, "{by_name} of {all} under their names");
}
