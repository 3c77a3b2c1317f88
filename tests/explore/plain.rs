//! Line by line, from a file of keys, without a terminal.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::attn;

const WORDS: [&str; 5] = ["explore", "attend", "--words", "bat cave racket", "--causal"];

/// What `attn explore attend …` prints for these keys, and its exit code.
fn played(keys: &str, more: &[&str]) -> (String, i32) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("keys.txt");
    fs::write(&file, keys).expect("the keys");
    let play = file.to_string_lossy().into_owned();
    run(&[&WORDS[..], &["--plain", "--play", &play], more].concat(), "")
}

fn run(args: &[&str], input: &str) -> (String, i32) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_attn"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    child.stdin.take().expect("input").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8"));
    (text.concat(), output.status.code().expect("a code"))
}

#[test]
fn the_state_is_told_after_each_key() {
    let (said, code) = played("k\nk\nj\nTab\nEnter\nq\n", &["--at", "A[cave,bat]"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.starts_with("The softmax of each row"), "{said}");
    assert!(said.contains("A[cave,bat] = 0.0558   softmax(S_masked)"), "{said}");
    assert!(said.contains("A[bat,bat] = 1"), "{said}");
    assert!(said.contains("Enter goes to S_masked[cave,bat]."), "{said}");
    assert!(said.contains("It feeds 2 numbers of O."), "{said}");
}

#[test]
fn a_number_is_changed_and_taken_back() {
    let (said, code) = played("6\nEnter\nu\nu\nq\n", &["--at", "X[cave,animals]"]);
    assert_eq!(code, 0);
    assert!(said.contains("X[cave,animals] = 6   (before: 4)   given"), "{said}");
    assert!(said.contains("The last change has moved"), "{said}");
    assert!(said.contains("There is nothing to undo."), "{said}");
    // tests/golden/… : 12.7279 = 3·3 + 3·3 over √2 stays, and S[cave,cave] = 36 instead of 16.
    let (said, _) =
        played("6\nEnter\n/\nS\n[\nc\na\nv\ne\n,\nc\na\nv\ne\n]\nEnter\nq\n", &["--at", "X[cave,animals]"]);
    assert!(said.contains("S[cave,cave] = 36   (before: 16)"), "{said}");
}

#[test]
fn lines_have_keys_numbers_and_searches() {
    let (said, code) = run(
        &[&WORDS[..], &["--plain", "--at", "X[cave,animals]"]].concat(),
        "6.5\n/S[cave,cave]\nEnter\nnonsense\n?\nq\n",
    );
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("S[cave,cave] = 42.25"), "{said}");
    assert!(said.contains("`nonsense` is no key; ? lists them."), "{said}");
    assert!(said.contains("C-r: make it again"), "{said}");
}

#[test]
fn a_guess_is_compared_with_the_number() {
    let (said, _) = run(&[&WORDS[..], &["--plain", "--at", "S[cave,bat]"]].concat(), "a\n11.5\nq\n");
    assert!(said.contains("S[cave,bat] = ?"), "{said}");
    assert!(said.contains("You said 11.5. It is 12: off by 0.5."), "{said}");
    let hidden = said.split("= ?").nth(1).expect("a hidden number");
    let asked = hidden.split("> ").next().unwrap_or_default();
    assert!(
        asked.contains("= 4·3 + 0·3") && !asked.contains("= 12"),
        "the result is not told before: {said}"
    );
}

#[test]
fn without_a_terminal_the_error_says_what_to_type_instead() {
    let (said, code) = run(&WORDS, "");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("exploring needs a terminal"), "{said}");
    assert!(said.contains("attn attend --words 'bat cave racket' --causal"), "{said}");
    let (_folder, file) = written(&["attend", "--words", "bat cave", "--format", "json"]);
    let keys = std::env::temp_dir().join("never-written.txt").to_string_lossy().into_owned();
    for (args, command) in [
        (
            vec!["attend", "--words", "bat cave", "--at", "S", "--record", &keys],
            "attn attend --words 'bat cave',",
        ),
        (vec!["demo", "mask", "--at=S"], "attn demo mask,"),
        (
            vec!["model", "words", "the bat", "--layers", "1", "--set", "W_E[bat,1]=9", "--at", "L1.A_3"],
            "attn model words 'the bat',",
        ),
        (vec![&*file, "--at", "S"], "add --plain --play FILE"),
    ] {
        let (said, code) = run(&[&["explore"], &args[..]].concat(), "");
        assert!(code == 2 && said.contains(command), "{said}");
        assert!(!said.contains(&format!("attn {file}")), "{said}");
        if let Some(command) = command.strip_suffix(',') {
            let words = shlex::split(command).expect("words");
            let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
            assert_eq!(run(&words, "").1, 0, "{command}");
        }
    }
}

#[test]
fn a_comparison_is_told_in_one_sentence() {
    let keys = "6\n/X[cave,sport]\n1\n/S[cave,bat]\nv\nv\nq\n";
    let (said, code) = run(&[&WORDS[..], &["--plain", "--at", "X[cave,animals]"]].concat(), keys);
    assert_eq!(code, 0, "{said}");
    // (6, 1)·(3, 3) = 21 after 6·3 = 18 and, at the start, 4·3 = 12.
    assert!(said.contains("Before the last change this number was 18;"), "{said}");
    assert!(said.contains("At the start this number was 12;"), "{said}");
    assert!(said.contains("of the 9 numbers of S differ."), "{said}");
}

#[test]
fn what_was_typed_is_never_printed_back_raw_and_bytes_that_are_no_text_are_an_error_of_the_input() {
    let typed = |keys: &[u8]| attn("explore demo mask --plain").input(keys).run();
    let said = typed(b"\x1b]0;title\x07\n/\x1b[2J\n\xe2\x80\xae\nq\n");
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(said.out.matches("` is no key").count(), 2, "{}", said.out);
    assert!(!said.out.contains(['\x1b', '\x07', '\u{202e}']), "{:?}", said.out);
    for (keys, what) in [
        (b"l\n\xff\n".to_vec(), "line 2 of the typed keys: it is not UTF-8"),
        (vec![b'l'; 1 << 17], "line 1 of the typed keys: it has 65536 bytes or more"),
    ] {
        let said = typed(&keys);
        assert!(said.code == 2 && said.err.contains(what), "{}", said.err);
    }
}

#[test]
fn wrong_scripts_addresses_and_names_are_errors() {
    for (keys, more, said) in [
        ("Entr\n", &[][..], "line 1: `Entr` is no key"),
        ("q\n", &["--at", "A[dog,bat]"], "has no row `dog`"),
        ("q\n", &["--record", "/nowhere/keys.txt"], "/nowhere/keys.txt"),
    ] {
        let (text, code) = played(keys, more);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains(said), "{text}");
    }
    let (text, code) = run(&["explore", "demo", "mosk", "--plain"], "q\n");
    assert!(code == 2 && text.contains("did you mean"), "{text}");
}

/// A file with what a command prints.
fn written(args: &[&str]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("graph.json");
    let (text, code) = run(args, "");
    assert_eq!(code, 0, "{text}");
    fs::write(&file, text).expect("a file");
    let name = file.to_string_lossy().into_owned();
    (folder, name)
}

#[test]
fn a_saved_graph_is_opened_and_changed() {
    let (_folder, file) = written(&["attend", "--words", "bat cave", "--causal", "--format", "json"]);
    let (said, code) =
        run(&["explore", &file, "--plain", "--at", "X[cave,animals]"], "6\n/S[cave,cave]\nq\n");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("S[cave,cave] = 36   (before: 16)"), "{said}");
}

#[test]
fn a_part_of_a_graph_can_be_looked_at_and_says_why_it_cannot_be_changed() {
    let args = ["attend", "--words", "bat cave", "--causal", "--only", "A", "--format", "json"];
    let (_folder, file) = written(&args);
    let (said, code) = run(&["explore", &file, "--plain"], "1\nq\n");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("This graph can only be looked at: the file has A, but not S_masked"), "{said}");
    let (_folder, file) = written(&["explore", "demo", "mask", "--plain"]);
    let (said, code) = run(&["explore", &file, "--plain"], "q\n");
    assert!(code == 2 && said.contains("this is not JSON"), "{said}");
    let (said, code) = run(&["explore", "mask", "--plain"], "q\n");
    assert!(code == 2 && said.contains("attn demo mask -x"), "{said}");
}

#[test]
fn a_head_of_one_layer_is_taken_out_of_a_model() {
    let model = ["explore", "model", "words", "the bat sleeps in the cave . it is", "--plain"];
    let (said, code) =
        run(&[&model[..], &["--at", "L1.A_3[is,cave]"]].concat(), "x\n/L1.O_3[is,1]\n/L2.O_3[is,1]\nq\n");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("Changed: without head 3 of layer 1."), "{said}");
    assert!(said.contains("L1.O_3[is,1] = 0 ") && said.contains("0, because it is taken out"), "{said}");
    assert!(!said.contains("L2.O_3[is,1] = 0 "), "{said}");
}

#[test]
fn every_layer_of_a_model_is_walked_through_and_its_numbers_are_changed() {
    let model = ["explore", "model", "words", "the bat sleeps in the cave . it is", "--plain"];
    let (said, code) = run(&[&model[..], &["--at", "L1.A_3[cave,cave]"]].concat(), "]\n}\n/E\n9\nu\nq\n");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("L1.A_4[cave,cave]") && said.contains("L2.A_4[cave,cave]"), "{said}");
    assert!(said.contains("The last change has moved") || said.contains("is computed"), "{said}");
}

#[test]
fn some_layers_of_a_model_are_opened_and_too_many_say_which_fit() {
    let model = ["explore", "model", "words", "the bat sleeps in the cave . it is", "--plain"];
    let (said, code) =
        run(&[&model[..], &["--layers", "2", "--at", "L2.A_3[cave,cave]"]].concat(), "{\n}\nq\n");
    assert!(code == 0 && said.contains("There is no further one"), "{said}");
    let (said, code) = run(&[&model[..], &["--layers", "2-3"]].concat(), "q\n");
    assert!(
        code == 2 && said.contains("there is no layer 3") && said.contains("the model has 2 layers"),
        "{said}"
    );
    // One layer of nine tokens fits, two do not.
    let (said, code) = run(&[&model[..], &["--limit", "12000"]].concat(), "q\n");
    assert!(code == 2 && said.contains("2 layers record about "), "{said}");
    assert!(said.contains("open some of them: --layers 2\n"), "{said}");
    let limit =
        said.split("--limit ").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("a limit");
    let (said, code) = run(&[&model[..], &["--limit", limit]].concat(), "q\n");
    assert_eq!(code, 0, "{said}");
    let (said, code) = run(&[&model[..], &["--limit", "12000", "--layers", "2"]].concat(), "q\n");
    assert_eq!(code, 0, "{said}");
}

#[test]
fn no_line_is_wider_than_the_screen_so_that_a_lesson_can_hold_what_is_printed() {
    let model = ["explore", "model", "words", "the bat sleeps in the cave . it is", "--plain"];
    for width in ["60", "80"] {
        let (said, code) =
            run(&[&model[..], &["--at", "L1.A_3", "--width", width]].concat(), "x\nn\nb\nb\nq\n");
        assert_eq!(code, 0, "{said}");
        let most: usize = width.parse().expect("a width");
        let widest = said.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(most), "{widest:?} of {width}: {said}");
        assert!(said.contains("with m = max(") && said.contains("shortened: "), "{said}");
    }
}

const LOSS: [&str; 9] = [
    "explore",
    "attend",
    "--words",
    "bat cave racket",
    "--causal",
    "--loss",
    "cross-entropy",
    "--targets",
    "animals,-,2",
];

/// An edit of W_V goes through the result and the loss, and back to every gradient.
#[test]
fn gradients_follow_an_edited_number_and_an_adjusted_setting() {
    let keys = "/dO[racket,sport]\n/W_V[sport,sport]\n0.1\n/dO[racket,sport]\nq\n";
    let (said, code) = run(&[&LOSS[..], &["--plain"]].concat(), keys);
    assert_eq!(code, 0, "{said}");
    // V[racket,sport] = 5 becomes 0.5, so that O of “racket” is about (0, 0.5): dO is (1/(1 + e^−0.4973) − 1)/2 = −0.189.
    let told: Vec<&str> = said.lines().filter(|line| line.contains("dO[racket,sport] = ")).collect();
    assert!(told[0].contains("= −0.0034"), "{told:?}");
    assert!(told.last().is_some_and(|last| last.contains("= −0.1891   (before: −0.0034)")), "{told:?}");
    assert!(said.contains("minus 1 if it is the target, over the number of rows that count"), "{said}");
    // The temperature is a step of both ways.
    let (said, _) = run(&[&LOSS[..], &["--plain"]].concat(), "/S_masked\nt\nRight\nEnter\n/dS_scaled\nq\n");
    assert!(said.contains("Back through the temperature: divided once more."), "{said}");
}

#[test]
fn a_gradient_in_one_head_leads_to_the_same_gradient_in_the_next() {
    let line = ["explore", "attend", "--random", "3,4", "--heads", "2", "--gradient", "ones", "--plain"];
    let (said, code) = run(&[&line[..], &["--at", "dA_mean_1[1,1]"]].concat(), "]\nq\n");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("dA_mean_2[1,1]") || said.contains("dA_mean_2[1,sum]"), "{said}");
}

#[test]
fn a_start_that_does_not_fit_is_refused_before_the_explorer_begins() {
    let (said, code) = run(&[&LOSS[..7], &["--targets", "1,2"]].concat(), "");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("there are 2 targets, but O has 3 rows"), "{said}");
    let (said, code) = run(&[&WORDS[..], &["--gradient", "dO=1 2"]].concat(), "");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("--gradient dO=1 2") && said.contains("dO is 1×2, but O is 3×2"), "{said}");
}

/// A graph from a file has the temperature, the scale and the mask once more in its backward pass: to change one of the two alone
/// would be wrong.
#[test]
fn a_setting_that_a_backward_pass_repeats_is_not_adjusted_step_by_step() {
    let (_folder, file) = written(&[
        "attend",
        "--words",
        "bat cave racket",
        "--causal",
        "--gradient",
        "ones",
        "--format",
        "json",
    ]);
    let (said, code) = run(&["explore", &file, "--plain", "--set", "mask=none"], "");
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("there is no mask in this computation"), "{said}");
    let (said, code) = run(&["explore", &file, "--plain", "--set", "X[1,1]=1", "--at", "dW_V[1,1]"], "q\n");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("dW_V[animals,animals]"), "{said}");
}

#[test]
fn a_model_opens_at_the_logit_of_the_token_that_it_predicts() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("keys.txt");
    fs::write(&file, "q\n").expect("the keys");
    let play = file.to_string_lossy().into_owned();
    let text = "the bat sleeps in the cave . it is";
    let (said, code) = run(&["explore", "model", "words", text, "--plain", "--play", &play], "");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("logits[is,animal] = "), "{said}");
}
