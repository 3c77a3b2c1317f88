//! Questions that are answered by all numbers of a step: at the keyboard, and as data for a page.

use std::fs;

use attn_story::live::Pages;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{Outcome, attn};

/// It asks for the result of three words: X = [[3, 3], [4, 0], [0, 5]].
const LESSON: &str = "---\nattn-lesson: 1\n---\n# Own code\n\n<!-- run: words = attn attend --words 'bat cave racket' -->\n\n\
                      ## One step\n\n<!-- ask: id=own kind=numbers -->\n\nWhat is O?\n\n<!-- key: words:O -->\n\n<details>\n<summary>Answer</summary>\n\nA mixture of the rows.\n\n</details>\n";

/// By NumPy, without the division by √d_k: `E = np.exp(X @ X.T - 30); np.round(E / E.sum(1, keepdims=True) @ X, 4)`.
const UNSCALED: &str = "[[2.8604 3.0876]\n [3.9820 0.0540]\n [0.0001 4.9999]]";
/// The same with `np.exp(X @ X.T / 2**.5 - 30)`.
const RIGHT: &str = "[[2.6956 3.1734]\n [3.9441 0.1675]\n [0.0025 4.9983]]";

fn lesson(text: &str) -> (TempDir, String) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("own.md");
    fs::write(&path, text).unwrap();
    let name = path.to_str().unwrap().to_string();
    (place, name)
}

fn run(words: &str, file: &str, input: &str) -> Outcome {
    attn(words).arg(file).input(input).run()
}

#[test]
fn numbers_that_are_pasted_in_several_lines_are_one_answer_and_their_mistake_is_named() {
    let (_place, file) = lesson(LESSON);
    assert_eq!(run("lesson check", &file, "").code, 0);
    let wrong = run("lesson quiz --format json", &file, &format!("{UNSCALED}\n"));
    let results: Value = serde_json::from_str(&wrong.out).unwrap();
    let row = &results["tables"][0]["rows"][0];
    assert_eq!(row["outcome"], "wrong", "{row}");
    assert_eq!(row["mistakes"], "no-scale", "{row}");
    let said = run("lesson quiz", &file, &format!("{UNSCALED}\n"))
        .out
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(said.contains("The scores were not divided by √d_k before the softmax. [no-scale]"), "{said}");
    assert!(said.contains("To fix it: Divide the scores by √d_k before the softmax."), "{said}");
    assert!(said.contains("Answer: O, as `attn attend --words 'bat cave racket'` computes it"), "{said}");
    let right = run("lesson quiz", &file, &format!("{RIGHT}\n"));
    assert_eq!(right.code, 0, "{}", right.out);
    // The right numbers of another step are no answer, also where they are handed in under their name.
    let scores = r#"{"S": [[18, 12, 15], [12, 16, 0], [15, 0, 25]]}"#;
    let other = run("lesson quiz", &file, &format!("{scores}\n"));
    assert_ne!(other.code, 0, "{}", other.out);
    assert!(other.out.contains("these are numbers of another step, not of O"), "{}", other.out);
    // A bracket that does not end keeps nothing but its own lines.
    let open = run("lesson quiz", &file, "[[1 2\n\n");
    assert!(open.code == 1 && open.out.contains("your numbers"), "{}", open.out);
    // In brackets the lines go on; without them a line is the answer.
    assert_eq!(run("lesson quiz", &file, "2.6956 3.1734; 3.9441 0.1675; 0.0025 4.9983\n").code, 0);
}

#[test]
fn a_key_is_a_whole_step_of_a_computation_that_can_be_judged() {
    for (key, says) in [
        ("words:O[1,1]", "is not a key for a numbers question"),
        ("words:O ± 0.5", "is not a key for a numbers question"),
        ("words:P", "P"),
        ("soft:softmax", "softmax"),
    ] {
        let text = LESSON
            .replace("key: words:O", &format!("key: {key}"))
            .replace("\n## One", "\n<!-- run: soft = attn softmax 1 2 -->\n\n## One");
        let (_place, file) = lesson(&text);
        let checked = run("lesson check", &file, "");
        assert_ne!(checked.code, 0, "{key}: {}", checked.out);
        assert!(
            format!("{}{}", checked.out, checked.err).contains(says),
            "{key}: {}{}",
            checked.out,
            checked.err
        );
    }
    let (_place, file) = lesson(
        &LESSON.replace("words:O -->", "words:O -->\n<!-- opt A: words:S[1,1] -->\n<!-- if A: no -->"),
    );
    let checked = run("lesson check", &file, "");
    assert!(checked.out.contains("`own` foresees a wrong answer"), "{}", checked.out);
}

#[test]
fn a_page_judges_with_the_same_words_and_keeps_the_right_numbers_apart() {
    let (_place, file) = lesson(LESSON);
    let page = run("lesson export --to html --live", &file, "").out;
    let (_, rest) = page.split_once("class=\"check\">").expect("the data of an exercise");
    let data: Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
    assert_eq!(data["steps"], json!(["Q", "K", "V", "S", "S_scaled", "A", "O"]));
    let mut pages = Pages::new();
    let mut check = |numbers: &str, step: Option<&str>| -> Value {
        let request = json!({ "check": data["check"], "numbers": numbers, "step": step });
        serde_json::from_str(&pages.answer(&request.to_string())).unwrap()
    };
    let said = check(UNSCALED, None);
    assert_eq!(said["is_right"], false);
    assert_eq!(said["mistakes"], json!(["no-scale"]));
    let told = attn("diagnose --words 'bat cave racket' --yours")
        .arg(UNSCALED.replace("]\n [", "; ").replace(['[', ']'], ""))
        .run();
    let told = told.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.starts_with(said["headline"].as_str().unwrap()), "{told}");
    let lines = said["lines"].to_string();
    let yours = said["yours"].as_str().unwrap();
    assert_eq!(yours.matches("class=\"differs\"").count(), 6, "{yours}");
    assert!(!lines.contains("2.6956") && !yours.contains("2.6956"), "{lines}");
    assert!(!lines.contains("--"), "a page has no options: {lines}");
    assert!(said["right"].as_str().unwrap().contains("2.6956"));
    assert_eq!(check(RIGHT, None)["is_right"], true);
    assert_eq!(
        check(r#"{"A": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}"#, None)["headline"]
            .as_str()
            .unwrap()
            .split(' ')
            .next(),
        Some("A")
    );
    for (numbers, says) in [
        ("", "your numbers"),
        ("a b\nc", "your numbers"),
        ("[[1, 2", "your numbers"),
        ("1 2 <script>", "your numbers"),
        (r#"{"Z9": [[1]], "Y8": [[1]]}"#, "no step"),
    ] {
        let said = check(numbers, None);
        assert!(said["error"].as_str().is_some_and(|error| error.contains(says)), "{numbers}: {said}");
    }
    let large = "1 ".repeat(1 << 20);
    assert!(check(&large, None)["error"].as_str().unwrap().contains("larger than 1 MiB"));
    let scores = check("18 12 15; 12 16 0; 15 0 25", Some("S"));
    assert_eq!((&scores["is_right"], &scores["has_asked"]), (&true.into(), &false.into()), "{scores}");
    assert_eq!(check(RIGHT, None)["has_asked"], true);
    assert_eq!(check(RIGHT, Some("Q"))["is_right"], false);
    assert!(check(RIGHT, Some("X"))["error"].as_str().unwrap().contains("given, not computed"));
}
