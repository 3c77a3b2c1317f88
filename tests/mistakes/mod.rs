//! The exercises of tests/golden/mistakes.json, with the wrong results that NumPy gives for every mistake.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::collections::BTreeSet;

use attn::attention::{Mask, MatrixRule};
use attn::diagnose::{Answer, Diagnosis, Examiner, NamedMistake, Task, Tolerance};
use attn::graph::recipes::{AttendInputs, Output, Recipe, Scale, Score};
use attn::matrix::Matrix;
use serde_json::Value;

use crate::golden;

/// Names of mistakes that are made together.
pub type Ids = BTreeSet<String>;

/// One exercise of the golden file.
pub struct Case {
    pub name: String,
    pub examiner: Examiner,
    pub right: Matrix,
    pub wrong: Vec<Wrong>,
    pub value: Value,
}

/// One wrong result of it.
pub struct Wrong {
    pub ids: Ids,
    pub label: String,
    pub result: Matrix,
    pub value: Value,
}

fn recipe(options: &Value) -> Recipe {
    let count = |key: &str| options[key].as_u64().map(|n| n as usize);
    Recipe {
        heads: count("heads").unwrap(),
        kv_heads: count("kv_heads").unwrap(),
        score: if options["score"] == "cosine" { Score::Cosine } else { Score::Dot },
        scale: match &options["scale"] {
            Value::String(text) if text == "none" => Scale::None,
            Value::String(_) => Scale::Auto,
            number => Scale::Number(golden::number(number)),
        },
        temperature: golden::number(&options["temperature"]),
        mask: Mask {
            causal: options["causal"] == true,
            window: count("window"),
            from_start: options["causal_from"] == "start",
            matrix: match options["mask_kind"].as_str() {
                Some("allow") => Some(MatrixRule::Allow),
                Some("block") => Some(MatrixRule::Block),
                Some("add") => Some(MatrixRule::Add),
                _ => None,
            },
            ..Mask::default()
        },
        output: Output { residual: options["residual"] == true, ..Output::default() },
        ..Recipe::default()
    }
}

/// The given matrices of a case.
pub fn inputs(value: &Value) -> AttendInputs {
    let given = |name: &str| {
        let truth =
            |cell: &Value| cell.as_bool().map_or_else(|| golden::number(cell), |b| f64::from(u8::from(b)));
        let rows = value.get(name)?.as_array().expect("rows");
        let rows: Vec<Vec<f64>> =
            rows.iter().map(|row| row.as_array().unwrap().iter().map(truth).collect()).collect();
        Some(Matrix::from_rows(&rows).unwrap().into())
    };
    AttendInputs {
        x: given("X"),
        w_q: given("W_Q"),
        w_k: given("W_K"),
        w_v: given("W_V"),
        w_o: given("W_O"),
        b_q: given("b_Q"),
        b_k: given("b_K"),
        b_v: given("b_V"),
        b_o: given("b_O"),
        q: given("Q"),
        k: given("K"),
        v: given("V"),
        mask: given("mask"),
        bias: given("bias"),
        query_gain: given("g_Q"),
        key_gain: given("g_K"),
        divisors: given("F_divisors"),
        position_table: given("R"),
        sink: given("sink"),
        w_g: given("W_g"),
        ..AttendInputs::default()
    }
}

/// Other slips than those of the golden file, each alone, by another hand: tests/golden/more_mistakes.json.
pub struct More {
    /// The exercises; their wrong results are `slips`.
    pub name: String,
    pub examiner: Examiner,
    pub right: Matrix,
    pub slips: Vec<OtherSlip>,
}

/// One wrong result of another hand.
pub struct OtherSlip {
    pub id: String,
    pub variant: String,
    /// What gives the same numbers there.
    pub same_as: Vec<String>,
    /// Whether a name may be given.
    pub blame: bool,
    /// Whether the verdict must be right.
    pub right: bool,
    pub result: Matrix,
    pub value: Value,
}

/// The exercises of the other hand, computed once.
pub fn more_cases() -> &'static [More] {
    static ALL: std::sync::OnceLock<Vec<More>> = std::sync::OnceLock::new();
    ALL.get_or_init(|| of_another_hand("more_mistakes.json"))
}

/// Those of tests/golden/operators.json: something done at one stage.
pub fn operator_cases() -> &'static [More] {
    static ALL: std::sync::OnceLock<Vec<More>> = std::sync::OnceLock::new();
    ALL.get_or_init(|| of_another_hand("operators.json"))
}

/// Those of tests/golden/reviewed_slips.json: what reviews named.
pub fn reviewed_cases() -> &'static [More] {
    static ALL: std::sync::OnceLock<Vec<More>> = std::sync::OnceLock::new();
    ALL.get_or_init(|| of_another_hand("reviewed_slips.json"))
}

/// Those of tests/golden/coincidences.json: results that several slips give alike.
pub fn coincidence_cases() -> &'static [More] {
    static ALL: std::sync::OnceLock<Vec<More>> = std::sync::OnceLock::new();
    ALL.get_or_init(|| of_another_hand("coincidences.json"))
}

/// Those of tests/golden/own_mistakes.json: mistakes of a teacher's own.
pub fn own_cases() -> &'static [More] {
    static ALL: std::sync::OnceLock<Vec<More>> = std::sync::OnceLock::new();
    ALL.get_or_init(|| of_another_hand("own_mistakes.json"))
}

fn of_another_hand(file: &str) -> Vec<More> {
    let golden = golden::json(file);
    let slip = |value: &Value| {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
        let variant = value.get("variant").or_else(|| value.get("digits"));
        let same = value.get("same_as").and_then(Value::as_array);
        OtherSlip {
            id: golden::list(value, "mistakes")[0].as_str().unwrap().to_string(),
            variant: variant.map_or_else(String::new, text),
            same_as: same.into_iter().flatten().map(text).collect(),
            blame: value["blame"] != false,
            right: value["right"] == true,
            result: golden::matrix(&value["O"]),
            value: value.clone(),
        }
    };
    let case = |value: &Value| {
        let task = Task::new(recipe(&value["options"]), inputs(&value["inputs"])).unwrap();
        More {
            name: golden::string(value, "name").to_string(),
            examiner: Examiner::new(task, Tolerance::default()),
            right: golden::matrix(&value["right"]["O"]),
            slips: golden::list(value, "wrong").iter().map(slip).collect(),
        }
    };
    golden::list(&golden, "cases").iter().map(case).collect()
}

/// The exercises of tests/golden/mistakes.json, computed once.
pub fn cases() -> &'static [Case] {
    static ALL: std::sync::OnceLock<Vec<Case>> = std::sync::OnceLock::new();
    ALL.get_or_init(read_cases)
}

fn read_cases() -> Vec<Case> {
    let golden = golden::json("mistakes.json");
    let case = |value: &Value| {
        let task = Task::new(recipe(&value["options"]), inputs(&value["inputs"])).unwrap();
        let nan_cells = |matrix: &Matrix| matrix.cells().filter(|x| x.is_nan()).count();
        let alone = |record: &&Value| {
            record["mistakes"].as_array().is_some_and(|ids| ids.len() == 1 && ids[0] == "empty-row-nan")
        };
        let unguarded = golden::list(value, "wrong")
            .iter()
            .find(alone)
            .map(|record| nan_cells(&golden::matrix(&record["O"])));
        let wrong = |value: &Value| {
            let mut ids: Ids =
                golden::list(value, "mistakes").iter().map(|id| id.as_str().unwrap().to_string()).collect();
            // A cosine without a scale is one of the ways to take the cosine.
            if ids.contains("cosine-scores") {
                ids.remove("no-scale");
            }
            let result = golden::matrix(&value["O"]);
            // Where the right answer has rows that see nothing, a missing guard is a mistake of its own.
            let by_softmax = !ids.contains("no-softmax") && !ids.contains("sum-normalised");
            if by_softmax && Some(nan_cells(&result)) == unguarded {
                ids.insert("empty-row-nan".to_string());
            }
            let extra = ["variant", "digits", "guard"]
                .iter()
                .filter_map(|key| value.get(*key).map(|v| format!(" {key} {v}")));
            let label = format!("{ids:?}{}", extra.collect::<String>());
            Wrong { ids, label, result, value: value.clone() }
        };
        Case {
            name: golden::string(value, "name").to_string(),
            examiner: Examiner::new(task, Tolerance::default()),
            right: golden::matrix(&value["right"]["O"]),
            wrong: golden::list(value, "wrong")
                .iter()
                .filter(|value| value["O"].is_array())
                .map(wrong)
                .filter(|wrong| wrong.ids.len() <= 2)
                .collect(),
            value: value.clone(),
        }
    };
    golden::list(&golden, "cases").iter().map(case).collect()
}

pub fn answer(name: &str, matrix: &Matrix) -> Answer {
    Answer { name: name.into(), matrices: vec![matrix.clone()], decimals: None, digits: None, roundoff: 0.0 }
}

/// Rounded to so many decimals, as by hand.
pub fn by_hand(name: &str, matrix: &Matrix, decimals: usize) -> Answer {
    let rounded = matrix.map(|x| format!("{x:.decimals$}").parse().unwrap());
    Answer { decimals: Some(decimals), ..answer(name, &rounded) }
}

pub fn named(diagnosis: &Diagnosis) -> Vec<Ids> {
    let first = diagnosis.first_wrong();
    let ids = |named: &NamedMistake| named.ids().iter().map(|id| id.to_string()).collect();
    first.map_or_else(Vec::new, |judged| judged.mistakes.iter().map(ids).collect())
}

/// Whether numbers say nothing about how they came about: all of them NaN or infinite, or all 0.
pub fn says_nothing(matrix: &Matrix) -> bool {
    matrix.cells().all(|x| !x.is_finite()) || matrix.cells().all(|x| x == 0.0)
}

/// Whether two results are the same to six digits of the larger.
pub fn same(a: &Matrix, b: &Matrix) -> bool {
    let size = b.cells().filter(|x| x.is_finite()).fold(1e-300_f64, |max, x| max.max(x.abs()));
    let near = |(a, b): (f64, f64)| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-6 * size;
    a.shape() == b.shape() && a.cells().zip(b.cells()).all(near)
}
