//! Slips with positions, norms of queries and keys, soft-caps, windows, sinks and gates, each by its name: wrong results by another
//! hand (tests/golden/mechanism_slips.py).

use std::collections::BTreeSet;

use crate::common::one_in;
use crate::golden;
use crate::mistakes::{Ids, answer, by_hand, cases, inputs, more_cases, named};
use attn::attention::{Mask, Pairing, RopeScaling, Yarn};
use attn::diagnose::{Answer, Diagnosis, Examiner, Task, Tolerance, Verdict, catalogue};
use attn::graph::recipes::{NormPlace, Output, PositionKind, Positions, QkNorm, Recipe, Rotary, Scale};
use attn::matrix::Matrix;
use serde_json::Value;

/// An exercise of the golden file.
pub(crate) struct Exercise {
    pub name: String,
    pub examiner: Examiner,
    /// The right steps, those of heads under their own names.
    right: Vec<(String, Matrix)>,
    /// The slips that leave the result as it is.
    pub unchanged: BTreeSet<String>,
    pub wrong: Vec<WrongMatrix>,
    /// Wrong steps before the result, each alone.
    in_steps: Vec<WrongMatrix>,
}

pub(crate) struct WrongMatrix {
    pub id: String,
    pub variant: String,
    node: String,
    pub matrix: Matrix,
}

impl Exercise {
    fn of(value: &Value) -> Exercise {
        let task = Task::new(recipe(&value["options"]), inputs(&value["inputs"])).unwrap();
        let steps = value["right"].as_object().unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
        let unchanged = golden::list(value, "unchanged").iter().map(|slip| text(&slip[0]));
        let wrong = |value: &Value| WrongMatrix {
            id: text(&value["mistakes"][0]),
            variant: value.get("variant").map(text).unwrap_or_default(),
            node: value.get("node").map_or_else(|| "O".to_string(), text),
            matrix: golden::matrix(value.get("matrix").unwrap_or(&value["O"])),
        };
        Exercise {
            name: golden::string(value, "name").to_string(),
            examiner: Examiner::new(task, Tolerance::default()),
            right: steps.iter().map(|(name, value)| (name.clone(), golden::matrix(value))).collect(),
            unchanged: unchanged.collect(),
            wrong: golden::list(value, "wrong").iter().map(wrong).collect(),
            in_steps: golden::list(value, "in_steps").iter().map(wrong).collect(),
        }
    }

    fn result(&self) -> &Matrix {
        &self.right.iter().find(|(name, _)| name == "O").unwrap().1
    }

    pub fn examine(&self, answer: Answer) -> Diagnosis {
        self.examiner.examine(&[answer]).unwrap()
    }
}

pub(crate) fn exercises() -> &'static [Exercise] {
    static ALL: std::sync::OnceLock<Vec<Exercise>> = std::sync::OnceLock::new();
    ALL.get_or_init(|| {
        golden::list(&golden::json("mechanism_slips.json"), "cases").iter().map(Exercise::of).collect()
    })
}

fn count(options: &Value, key: &str) -> Option<usize> {
    options[key].as_u64().map(|number| number as usize)
}

pub(crate) fn recipe(options: &Value) -> Recipe {
    let norm = QkNorm { epsilon: golden::number(&options["qk_norm_eps"]), ..QkNorm::default() };
    let place = if options["qk_norm"] == true { NormPlace::BeforeRotation } else { NormPlace::Nowhere };
    Recipe {
        heads: count(options, "heads").unwrap(),
        kv_heads: count(options, "kv_heads").unwrap(),
        scale: if options["scale"] == "none" { Scale::None } else { Scale::Auto },
        positions: Positions {
            kind: positions(options),
            first: count(options, "first_position").unwrap(),
            ..Positions::default()
        },
        qk_norm: QkNorm { place, ..norm },
        soft_cap: options["softcap"].as_f64(),
        mask: Mask {
            causal: options["causal"] == true,
            window: count(options, "window"),
            keep_first: count(options, "keep_first").unwrap(),
            from_start: options["causal_from"] == "start",
            ..Mask::default()
        },
        output: Output { residual: options["residual"] == true, ..Output::default() },
        ..Recipe::default()
    }
}

fn positions(options: &Value) -> PositionKind {
    let pairing = match options["position"].as_str() {
        None => return PositionKind::None,
        Some("alibi") => return PositionKind::Alibi { heads: None },
        Some("t5") => return PositionKind::Buckets { furthest: 128 },
        Some("sinusoidal") => return PositionKind::Sinusoidal,
        Some("rope-interleaved") => Pairing::Neighbours,
        Some(_) => Pairing::Halves,
    };
    let scaling = Some(&options["rope_scaling"]).filter(|scaling| !scaling.is_null());
    PositionKind::Rotary(Rotary {
        pairing,
        base: golden::number(&options["rope_base"]),
        width: count(options, "rope_width"),
        scaling: scaling.map(rope_scaling),
        ..Rotary::default()
    })
}

fn rope_scaling(scaling: &Value) -> RopeScaling {
    let number = |key: &str| golden::number(&scaling[key]);
    let factor = number("factor");
    match golden::string(scaling, "kind") {
        "linear" => RopeScaling::Linear { factor },
        "dynamic" => RopeScaling::Dynamic { factor, original: number("original"), length: 0 },
        "llama3" => RopeScaling::Llama3 {
            factor,
            low: number("low"),
            high: number("high"),
            original: number("original"),
        },
        "yarn" => RopeScaling::Yarn(Yarn {
            factor,
            original: number("original"),
            base: 10_000.0,
            fast: 32.0,
            slow: 1.0,
            truncate: true,
            attention: None,
        }),
        _ => RopeScaling::LongRope { factor, original: number("original"), attention: None },
    }
}

fn is_alone(id: &str, names: &[Ids]) -> bool {
    names.iter().any(|ids| ids.iter().eq([id]))
}

#[test]
fn right_steps_are_right_also_in_single_precision_and_rounded_by_hand() {
    for exercise in exercises() {
        for (name, matrix) in &exercise.right {
            let handed = [
                answer(name, matrix),
                Answer {
                    roundoff: f64::from(f32::EPSILON) / 2.0,
                    ..answer(name, &matrix.map(|x| f64::from(x as f32)))
                },
                by_hand(name, matrix, 3),
                by_hand(name, matrix, 2),
            ];
            for (how, handed) in handed.into_iter().enumerate() {
                let verdict = &exercise.examine(handed).nodes[0].verdict;
                assert!(
                    matches!(verdict, Verdict::Right(_)),
                    "{}: {name}, {how}: {verdict:?}",
                    exercise.name
                );
            }
        }
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "cargo test -- --nocapture shows what is said")]
fn every_slip_gets_its_name_a_sentence_and_a_fix() {
    let (mut complaints, mut told, mut alone) = (Vec::new(), 0, 0);
    for exercise in exercises().iter().step_by(one_in(3)) {
        for slip in &exercise.wrong {
            let diagnosis = exercise.examine(answer("O", &slip.matrix));
            let (names, here) =
                (named(&diagnosis), format!("{}: {} {}", exercise.name, slip.id, slip.variant));
            if !is_alone(&slip.id, &names) {
                complaints.push(format!("{here} came back as {names:?}, right {}", diagnosis.is_right()));
                continue;
            }
            (told, alone) = (told + 1, alone + usize::from(names.len() == 1));
            let judged = diagnosis.first_wrong().unwrap();
            let is_sentence =
                |text: &str| text.ends_with('.') && !text.contains("..") && !text.contains("  ");
            for one in judged.mistakes.iter().flat_map(|named| &named.slips) {
                println!("{here}: {} {}", one.sentence(), one.fix());
                if !is_sentence(&one.sentence()) || !is_sentence(one.fix()) {
                    complaints.push(format!("{here}: {} {}", one.sentence(), one.fix()));
                }
            }
            if judged.evidence.is_empty() {
                complaints.push(format!("{here} has no evidence"));
            }
        }
    }
    println!("{told} slips are named, {alone} of them alone");
    assert!(complaints.is_empty(), "{}:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn the_first_wrong_step_alone_shows_the_slip() {
    let (mut complaints, mut told) = (Vec::new(), 0);
    for exercise in exercises().iter().step_by(one_in(3)) {
        for slip in &exercise.in_steps {
            let diagnosis = exercise.examine(answer(&slip.node, &slip.matrix));
            let names = named(&diagnosis);
            let here = format!("{}: {} {} in {}", exercise.name, slip.id, slip.variant, slip.node);
            // Positions below 0 have no name of their own; the report says nothing false.
            let is_below_0 =
                slip.variant == "queries earlier" && exercise.examiner.task().recipe().positions.first == 0;
            told += usize::from(!is_below_0);
            if diagnosis.is_right() || is_alone(&slip.id, &names) == is_below_0 {
                complaints.push(format!("{here} came back as {names:?}"));
            }
        }
    }
    assert!(told > 60 / one_in(6), "only {told}");
    assert!(complaints.is_empty(), "{}:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn what_changes_nothing_is_neither_found_nor_ruled_out() {
    let mut seen = BTreeSet::new();
    for exercise in exercises() {
        let diagnosis = exercise.examine(answer("O", exercise.result()));
        assert!(diagnosis.is_right(), "{}", exercise.name);
        let hidden: BTreeSet<&str> = diagnosis.undetectable.iter().map(|mistake| &*mistake.id).collect();
        // A slip that one of its ways shows is not hidden.
        let shown: BTreeSet<&str> = exercise.wrong.iter().map(|slip| slip.id.as_str()).collect();
        for id in exercise.unchanged.iter().filter(|id| !shown.contains(id.as_str())) {
            assert!(hidden.contains(id.as_str()), "{}: {id} is not in {hidden:?}", exercise.name);
            seen.insert(id.clone());
        }
        let both: Vec<_> = hidden.intersection(&shown).collect();
        assert!(both.is_empty(), "{}: {both:?} are hidden, but change the result", exercise.name);
    }
    let expected =
        ["positions-start", "qk-norm-late", "rope-pairing", "rope-scaling", "sink-missing", "softcap-late"];
    assert!(seen.iter().eq(expected), "{seen:?}");
}

#[test]
#[allow(clippy::print_stdout, reason = "cargo test -- --nocapture shows the shares")]
fn with_two_decimals_another_name_never_stands_alone() {
    let (mut complaints, mut told, mut silent, mut all) = (Vec::new(), 0, 0, 0);
    for exercise in exercises().iter().step_by(one_in(3)) {
        for slip in &exercise.wrong {
            let diagnosis = exercise.examine(by_hand("O", &slip.matrix, 2));
            let names = named(&diagnosis);
            all += 1;
            told += usize::from(is_alone(&slip.id, &names));
            silent += usize::from(names.is_empty());
            let is_cautious =
                || diagnosis.first_wrong().is_none_or(|judged| judged.may_be_chance || judged.too_few_digits);
            if !names.is_empty() && !is_alone(&slip.id, &names) && !is_cautious() {
                complaints.push(format!("{}: {} {} {names:?}", exercise.name, slip.id, slip.variant));
            }
        }
    }
    println!("{told} of {all} named, {silent} without a name, {} misnamed", complaints.len());
    assert!(complaints.is_empty(), "{}:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn exercises_without_positions_norms_caps_sinks_and_gates_try_none_of_these() {
    let of_others = [
        "no-scale",
        "mask-missing",
        "mask-part-missing",
        "window-off-by-one",
        "gqa-tiled",
        "softmax-axis",
        "softmax-unnormalised",
        "softmax-wrong-sum",
        "rows-scaled",
    ];
    let all = exercises().iter().flat_map(|exercise| &exercise.wrong);
    let ids: BTreeSet<&str> = all.map(|slip| slip.id.as_str()).filter(|id| !of_others.contains(id)).collect();
    assert!(ids.len() >= 25, "{ids:?}");
    let tasks = cases().iter().map(|case| case.examiner.task());
    let others = more_cases().iter().map(|case| case.examiner.task());
    for task in tasks.chain(others) {
        let tried = catalogue().filter(|mistake| ids.contains(&*mistake.id));
        let tried: Vec<_> = tried.filter(|mistake| !mistake.ways(task).unwrap().is_empty()).collect();
        assert!(tried.is_empty(), "{tried:?}");
    }
}
