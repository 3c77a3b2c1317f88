//! What a student hands in to `attn diagnose`: files of every kind, and what is pasted.

use std::fs;
use std::path::Path;

use crate::common::attn;
use crate::exercise::{
    EXERCISE, INVERTED, NO_SCALE, NO_SCALE_A, RIGHT, RIGHT_A, RIGHT_S, doubles, ids, judged, npy, place,
    typed, yours,
};
use serde_json::{Value, json};

#[test]
fn files_of_single_and_half_precision_are_judged_by_what_these_can_hold() {
    let place = place();
    let file = |name: &str| place.path().join(name);
    let single = |rows: [[f64; 4]; 3]| rows.concat().iter().flat_map(|&x| (x as f32).to_le_bytes()).collect();
    let half = |rows: [[f64; 4]; 3]| {
        rows.concat().iter().flat_map(|&x| half::f16::from_f64(x).to_le_bytes()).collect()
    };
    npy(&file("f4.npy"), "<f4", &[3, 4], single(RIGHT));
    npy(&file("f2.npy"), "<f2", &[3, 4], half(RIGHT));
    npy(&file("wrong_f4.npy"), "<f4", &[3, 4], single(NO_SCALE));
    npy(&file("wrong_f2.npy"), "<f2", &[3, 4], half(NO_SCALE));
    for name in ["f4.npy", "f2.npy"] {
        assert_eq!(yours(file(name).to_str().unwrap()).code, 0, "{name}");
    }
    for name in ["wrong_f4.npy", "wrong_f2.npy"] {
        assert_eq!(ids(&judged(&[file(name).to_str().unwrap().into()])), [["no-scale"]], "{name}");
    }
    // The same digits as text are right too, and half precision is named.
    let text = RIGHT.map(|row| row.map(|x| half::f16::from_f64(x).to_f64()));
    let typed = yours(typed(text));
    assert!(typed.code == 0 && typed.out.contains("float16"), "{}", typed.out);
}

#[test]
fn half_precision_explains_what_it_rounds_and_no_more() {
    // NumPy 2.4.6, with X and the weights .astype(np.float16): every step is computed in float16. None is further off than 0.00048.
    const COMPUTED: [[f64; 4]; 3] = [
        [0.01001739501953125, 1.7998046875, -0.11993408203125, -0.40966796875],
        [0.029541015625, 1.765625, -0.3876953125, 0.28369140625],
        [1.2275390625, -0.50830078125, -0.21875, -0.112060546875],
    ];
    let place = place();
    let file = |name: &str, rows: [[f64; 4]; 3]| {
        let path = place.path().join(name);
        let bytes = rows.concat().iter().flat_map(|&x| half::f16::from_f64(x).to_le_bytes()).collect();
        npy(&path, "<f2", &[3, 4], bytes);
        path.to_str().unwrap().to_string()
    };
    assert_eq!(yours(file("computed.npy", COMPUTED)).code, 0);
    let shifted = file("shifted.npy", RIGHT.map(|row| row.map(|x| x + 0.003)));
    let mut one = RIGHT;
    one[1][0] += 0.003;
    let one = file("one.npy", one);
    for (name, cells) in [(&shifted, 2..=12), (&one, 1..=1)] {
        let all = judged(std::slice::from_ref(name));
        let node = &all["nodes"][0];
        assert_eq!((&all["verdict"], &node["verdict"]), (&json!("close"), &json!("close")), "{name}: {all}");
        let max = crate::golden::number(&node["largest"]);
        assert!((0.0025..0.0035).contains(&max), "{name}: {max}");
        assert!(cells.contains(&node["cells"].as_u64().unwrap()), "{name}: {all}");
        assert!(
            crate::golden::number(&node["beyond"]["allowed"])
                < crate::golden::number(&node["beyond"]["largest"])
        );
    }
    assert_eq!(judged(std::slice::from_ref(&one))["nodes"][0]["beyond"]["at"], "O[2,1]");
    let told = yours(&shifted);
    assert!(
        told.code == 1 && told.out.starts_with("O is close, but not right in half precision"),
        "{}",
        told.out
    );
    let options = told.out.split("give ").nth(1).unwrap().trim().trim_end_matches('.');
    assert_eq!(
        attn(&format!("{EXERCISE} {options}")).arg("--yours").arg(&shifted).run().code,
        0,
        "{options}"
    );
}

#[test]
fn nan_is_data_in_every_format() {
    let place = place();
    let file = |name: &str| place.path().join(name).to_str().unwrap().to_string();
    npy(Path::new(&file("o.npy")), "<f8", &[3, 4], doubles(INVERTED.concat()));
    fs::write(file("o.csv"), typed(INVERTED).replace("; ", "\n").replace(' ', ",")).unwrap();
    let rows: Vec<Vec<Value>> = INVERTED
        .iter()
        .map(|row| row.iter().map(|&x| if x.is_nan() { "nan".into() } else { x.into() }).collect())
        .collect();
    fs::write(file("o.json"), json!(rows).to_string()).unwrap();
    for source in [file("o.npy"), file("o.csv"), file("o.json"), typed(INVERTED)] {
        let judged = judged(std::slice::from_ref(&source));
        assert_eq!(ids(&judged), [["mask-inverted"]], "{source}");
        assert_eq!(judged["nodes"][0]["largest"], "inf", "no number is near NaN");
    }
}

#[test]
fn heads_come_as_a_stack_or_one_by_one() {
    let place = place();
    let file = |name: &str| place.path().join(name).to_str().unwrap().to_string();
    npy(Path::new(&file("a.npy")), "<f8", &[2, 3, 3], doubles(RIGHT_A.concat().concat()));
    npy(Path::new(&file("a4.npy")), "<f8", &[1, 2, 3, 3], doubles(RIGHT_A.concat().concat()));
    npy(Path::new(&file("wrong.npy")), "<f8", &[2, 3, 3], doubles(NO_SCALE_A.concat().concat()));
    for name in ["a.npy", "a4.npy"] {
        assert_eq!(judged(&[format!("A={}", file(name))])["verdict"], "right");
    }
    // np.concatenate(A, axis=1), and A.transpose(1, 0, 2): read as the heads, in one line.
    let by_token: Vec<f64> = (0..3).flat_map(|i| RIGHT_A.iter().flat_map(move |head| head[i])).collect();
    for (shape, said) in [(&[3, 6][..], "side by side"), (&[3, 2, 3], "its shape is [3, 2, 3]")] {
        npy(Path::new(&file("other.npy")), "<f8", shape, doubles(by_token.clone()));
        let yours = format!("A={}", file("other.npy"));
        assert_eq!(judged(std::slice::from_ref(&yours))["verdict"], "right");
        let told = attn(EXERCISE).arg("--yours").arg(&yours).arg("--width").arg("120").run();
        let all = format!("{}{}", told.out, told.err);
        assert!(all.contains(&format!("A is read as the 2 heads, {said}.")), "{all}");
    }
    assert_eq!(judged(&[format!("A_2={}", typed(RIGHT_A[1]))])["verdict"], "right");
    assert_eq!(judged(&[format!("A_1={}", typed(RIGHT_A[1]))])["verdict"], "wrong");
    let wrong = judged(&[format!("weights={}", file("wrong.npy"))]);
    assert_eq!((&wrong["first_wrong"], ids(&wrong)), (&json!("A"), vec![vec!["no-scale"]]));
    assert_eq!(wrong["nodes"][0]["first"], "A_1[2,1]");
}

#[test]
fn the_first_step_that_differs_is_named_and_what_follows_from_it_is_right() {
    let place = place();
    let path = place.path().join("steps.json");
    let steps = json!({ "scores": RIGHT_S, "Attention_Weights": NO_SCALE_A, "out": NO_SCALE, "X": [[1.0]] });
    fs::write(&path, steps.to_string()).unwrap();
    let source = path.to_str().unwrap();
    let all = judged(&[source.to_string()]);
    assert_eq!((&all["first_wrong"], ids(&all)), (&json!("A"), vec![vec!["no-scale"]]));
    let verdicts: Vec<_> =
        crate::golden::list(&all, "nodes").iter().map(|node| (&node["name"], &node["verdict"])).collect();
    assert_eq!(json!(verdicts), json!([["S", "right"], ["A", "wrong"], ["O", "follows"]]));
    let told = attn(EXERCISE).arg("--yours").arg(source).arg("--width").arg("120").run();
    assert!(told.out.contains("right, given your own A"), "{}", told.out);
    assert!(told.out.contains("Not checked, because it is given: X."), "{}", told.out);
}

#[test]
fn a_computation_that_was_saved_as_json_is_judged_node_by_node() {
    let place = place();
    let path = place.path().join("graph.json");
    let exercise = EXERCISE.replacen("diagnose", "attend", 1);
    fs::write(&path, attn(&exercise).arg("--scale").arg("none").arg("--format").arg("json").ok().out)
        .unwrap();
    let all = judged(&[path.to_str().unwrap().to_string()]);
    assert_eq!((&all["verdict"], ids(&all)), (&json!("wrong"), vec![vec!["no-scale"]]));
    assert!(
        crate::golden::list(&all, "nodes")
            .iter()
            .any(|node| node["name"] == "S_2" && node["verdict"] == "right")
    );
}

#[test]
fn standard_input_may_hold_what_was_computed() {
    let text = typed(RIGHT).replace("; ", "\n");
    assert_eq!(attn(EXERCISE).arg("--yours").arg("-").input(text).run().code, 0);
}

#[test]
fn what_python_prints_is_judged_wherever_it_is_pasted() {
    let place = place();
    let path = place.path().join("o.txt");
    let rows = |open: &str, comma: &str, end: &str| {
        let rows = NO_SCALE.map(|row| row.map(|x| format!("{x:7.4}")).join(&format!("{comma} ")));
        format!("{open}[[{}]]{end}", rows.join(&format!("]{comma}\n [")))
    };
    let numpy = rows("", "", "\n");
    let torch = rows("tensor(", ",", ", grad_fn=<UnsafeViewBackward0>)\n");
    for text in [&numpy, &torch, &rows("", ",", "")] {
        fs::write(&path, text).unwrap();
        assert_eq!(ids(&judged(&[path.to_str().unwrap().to_string()])), [["no-scale"]], "{text}");
        assert_eq!(ids(&judged(&[text.trim().to_string()])), [["no-scale"]], "{text}");
        let piped = attn(EXERCISE).arg("--yours").arg("-").input(text.as_bytes()).run();
        assert!(
            piped.out.contains("[no-scale]") && piped.out.replace('\n', " ").contains("decimals."),
            "{text}: {}",
            piped.err
        );
    }
    fs::write(&path, "[[1. 2. ... 3.]\n ...\n [4. 5. ... 6.]]\n").unwrap();
    attn(EXERCISE).arg("--yours").arg(path.to_str().unwrap()).refused(&["not printed", "np.save"]);
}

#[test]
fn arrays_that_the_exercise_has_no_step_for_are_left_aside() {
    let place = place();
    let path = place.path().join("all.json");
    let all = json!({ "mask": [[0, 1], [1, 1]], "O": NO_SCALE, "att": [1], "loss": [[0.5]], "X": [[1.0]] });
    fs::write(&path, all.to_string()).unwrap();
    let source = path.to_str().unwrap().to_string();
    assert_eq!(ids(&judged(std::slice::from_ref(&source))), [["no-scale"]]);
    let told = attn(EXERCISE).arg("--yours").arg(&source).arg("--width").arg("120").run().out;
    assert!(told.contains("this exercise has no such step: `mask`, `att`, `loss`"), "{told}");
    fs::write(&path, json!({ "mask": [[0, 1]], "att": [1], "X": [[1.0]] }).to_string()).unwrap();
    attn(EXERCISE).arg("--yours").arg(&source).refused(&["this exercise has no step `mask`"]);
}
