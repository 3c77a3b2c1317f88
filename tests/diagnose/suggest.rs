//! `attn diagnose --suggest-input`: an input on which mistakes show.

use std::fs;
use std::path::Path;

use crate::common::attn;
use crate::exercise::{EXERCISE, place};
use attn::matrix::Matrix;
use serde_json::Value;

#[test]
fn an_input_that_would_tell_is_written_and_read_back() {
    let place = place();
    let mut drawn: Option<Matrix> = None;
    for name in ["better.npz", "better.json"] {
        let path = place.path().join(name);
        let path = path.to_str().unwrap();
        let exercise = "diagnose --words 'bat cave racket' --causal --suggest-input";
        let told = attn(exercise).arg(path).ok().out;
        assert!(told.contains(&format!("attn attend {path} --causal")), "{told}");
        let nodes = attn(&format!("attend {path} --causal")).nodes();
        let x = nodes.matrix("X");
        assert!(x.cells().all(|x| (x * 100.0 - (x * 100.0).round()).abs() < 1e-9), "two decimals");
        assert!(drawn.get_or_insert_with(|| x.clone()).same_bits(&x), "both formats keep every bit");
        // A result without the scale is seen there.
        let wrong = place.path().join("wrong.npy");
        let save = format!("O={}", wrong.display());
        attn(&format!("attend {path} --causal --scale none --save")).arg(save).ok();
        let judged = attn(&format!("diagnose {path} --causal --yours")).arg(wrong.to_str().unwrap()).run();
        assert!(judged.code == 1 && judged.out.contains("[no-scale]"), "{}", judged.out);
    }
}

#[test]
fn tokens_are_kept_in_what_is_written() {
    let place = place();
    for name in ["named.npz", "named.json"] {
        let path = place.path().join(name);
        attn(EXERCISE)
            .arg("--tokens")
            .arg("the,höhle,sleeps")
            .arg("--suggest-input")
            .arg(path.to_str().unwrap())
            .ok();
        let shown = attn("attend").arg(path.to_str().unwrap()).arg("--heads").arg("2").ok().out;
        assert!(shown.contains("│ höhle "), "{name}: {shown}");
    }
}

#[test]
fn nothing_is_written_where_it_cannot_be() {
    let place = place();
    let before = |path: &Path| fs::read_dir(path).unwrap().count();
    for (name, said) in [
        ("x.npy", ".npz or .json"),
        ("x.csv", ".npz or .json"),
        ("none/x.npz", "there is no folder `"),
        ("", ".npz or .json"),
    ] {
        let outcome =
            attn(EXERCISE).arg("--suggest-input").arg(place.path().join(name).to_str().unwrap()).run();
        assert_eq!(outcome.code, 2, "{name}");
        assert!(outcome.err.contains(said), "{name}: {}", outcome.err);
    }
    assert_eq!(before(place.path()), 0);
}

#[test]
fn what_is_there_is_not_overwritten_by_a_suggestion() {
    let place = place();
    let exercise = place.path().join("exercise.json");
    fs::write(&exercise, r#"{"X": [[1, 0.5], [0.25, 2]]}"#).unwrap();
    let path = exercise.to_str().unwrap();
    let before = fs::read(&exercise).unwrap();
    attn("diagnose").arg(path).arg("--suggest-input").arg(path).refused(&["already exists", "new file"]);
    assert_eq!(fs::read(&exercise).unwrap(), before);
}

#[test]
fn a_suggestion_says_how_many_mistakes_of_how_many_it_shows_and_which_it_does_not() {
    let place = place();
    // A mask that hides nothing: whether it is there or not, nothing changes.
    let exercise =
        "diagnose --q '1 2; 2 1' --k '1 0; 2 1' --v '1; 3' --mask '0 0; 0 0' --mask-kind add --format json";
    let told = attn(exercise).arg("--suggest-input").arg(place.path().join("a.npz").to_str().unwrap()).ok();
    let told: Value = serde_json::from_str(&told.out).unwrap();
    let row = &told["tables"][0]["rows"][0];
    let (shown, hidden) = (row["shown"].clone(), row["hidden"].as_str().unwrap().to_string());
    let hidden: Vec<&str> = hidden.split_whitespace().collect();
    let exercise = exercise.replace("json", "table");
    let told =
        attn(&exercise).arg("--suggest-input").arg(place.path().join("b.npz").to_str().unwrap()).ok().out;
    let shown: usize =
        shown.as_str().map_or_else(|| shown.as_u64().unwrap() as usize, |s| s.parse().unwrap());
    assert!(
        hidden.contains(&"mask-missing")
            && told.contains(&format!("{shown} of {} mistakes", shown + hidden.len())),
        "{told}"
    );
    assert!(hidden.iter().all(|id| told.contains(&format!("│ {id} "))), "{told}");
}
