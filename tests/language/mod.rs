//! Demos that are texts: what they give, and what is said of a text that is none.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use tempfile::TempDir;

use crate::common::attn;

/// A demo in a file of its own.
fn file(text: &str) -> (TempDir, String) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("mine.attn");
    fs::write(&path, text).unwrap();
    let name = path.display().to_string();
    (place, name)
}

fn demo(body: &str) -> (TempDir, String) {
    file(&format!("attn-demo: 1\ntitle: Mine\n\n{body}"))
}

#[track_caller]
fn said(body: &str) -> String {
    let (_place, name) = demo(body);
    attn("demo").arg(name).ok().out
}

#[track_caller]
fn refused(body: &str, at: &str, words: &[&str]) {
    let (_place, name) = demo(body);
    let outcome = attn("demo").arg(name.clone()).run();
    assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{body}");
    assert!(outcome.err.contains(&format!("{name}:{at}: ")), "{body}: no `{at}` in {}", outcome.err);
    for word in words {
        assert!(outcome.err.contains(word), "{body}: no `{word}` in {}", outcome.err);
    }
}

const WINDOW: &str = "\
X = [1 0; 0 1; 1 1; 2 0] rows rain, falls, on, roofs
O = attend(X, X, X, mask = causal, window = 2)
: Each word reads itself and the word before it.
show A | O
if A[on,rain] == 0: “on” does not read “rain”.
if A[on,rain] > 0: This is false.
if A[4] == 0: This is false too: a row stands for all of its cells.
";

#[test]
fn a_window_of_two_over_four_words_shows_what_the_command_computes() {
    let out = said(WINDOW);
    assert!(out.contains("→ “on” does not read “rain”.") && !out.contains("false"), "{out}");
    let (_place, name) = demo(WINDOW);
    let ours = attn("demo").arg(name).nodes();
    let theirs = attn("attend --x '1 0; 0 1; 1 1; 2 0' --causal --window 2").nodes();
    assert_eq!(ours.matrix("A"), theirs.matrix("A"));
    assert_eq!(ours.matrix("O"), theirs.matrix("O"));
}

#[test]
fn what_numpy_writes_is_read_as_the_screen_writes_it() {
    let (_a, ours) = demo(
        "X = [1 2; 3 4]\nS = X Xᵀ\nT = X − S\nU = X ∘ T\n: Steps.\nshow U\nif S[1,1] ≈ 5 and S == S: Yes.\n",
    );
    let (_b, theirs) = demo(
        "X = [1, 2; 3, 4]\nS = X @ X.T\nT = X - S\nU = X * T\n: Steps.\nshow U\nif S[1,1] ~= 5 and S == S: Yes.\n",
    );
    let graph = |name: String| attn("demo").arg(name).arg("--format").arg("csv").ok().out;
    assert_eq!(graph(ours), graph(theirs));
}

#[test]
fn a_users_numbers_take_the_place_of_given_ones_and_what_depends_on_their_shape_follows() {
    let body = "X = [1 2; 3 4]\ncount = 2 in 1..5\nd = table(rows(X), cols(X)): 1 if i == j else 0\nY = X + d\nZ = ones(count, 1)\n\
                : One step.\nshow alone Y\nshow alone Z\nif own(X): Its own.\n";
    let (_place, name) = demo(body);
    assert!(said(body).contains("Its own."));
    let set = |values: &[&str]| {
        let command = values
            .iter()
            .fold(attn("demo").arg(name.clone()), |command, value| command.arg("--set").arg(*value));
        command.run()
    };
    let out = set(&["X=1 0 0; 0 1 0; 0 0 1", "count=3"]).out;
    assert!(out.contains("Y (3×3)") && out.contains("Z (3×1)") && !out.contains("Its own."), "{out}");
    assert!(set(&["count=6"]).err.contains("from 1 to 5"));
    assert!(set(&["W=1"]).err.contains("you can set: X count d"));
}

#[test]
fn paragraphs_repeat_and_numbers_stand_in_names_and_sentences() {
    let out = said(
        "X = [1 2 3 4]\nlet n = cols(X) / 2\n\nfor h in 1..n\nX_{h} = part(X, h, n)\n: Part {h} of {n}.\nshow alone X_{h}\nif X_{h}[1,1] > 0: It begins with {X_{h}[1,1]:1}.\n\n\
                    all = stack(X_{h} for h in 1..n) of parts rows first, second\n: All.\nshow alone all\n",
    );
    for words in
        ["1  Part 1 of 2.", "2  Part 2 of 2.", "It begins with 3.", "collected from the two parts", "second"]
    {
        assert!(out.contains(words), "no `{words}` in {out}");
    }
}

#[test]
fn steps_run_again_with_another_matrix_as_if_they_were_written_out() {
    let chain = "X = [1 2; 3 4] rows bat, cave\nW = [1 1; 0 2]\nQ = X W\nS = Q Xᵀ\nA = softmax(S)\nO = A X\nX_2 = [0 1; 5 2] rows a, b\n";
    let again = format!(
        "{chain}O_2 = again(O, X = X_2)\nA_flat = again(A, S = Q)\n: Again.\nshow O_2\nif O_2[a,1] > 0: Named.\n"
    );
    let written = "Q_2 = X_2 W\nS_2 = Q_2 X_2ᵀ\nA_2 = softmax(S_2)\nO_2 = A_2 X_2\nA_flat = softmax(Q)\n: Again.\nshow O_2\nif O_2[a,1] > 0: Named.\n";
    let nodes = |body: &str| {
        let (_place, name) = demo(body);
        told(&format!("demo {name}"))["graphs"][0]["nodes"].clone()
    };
    assert_eq!(nodes(&again), nodes(&format!("{chain}{written}")));
    assert!(said(&again).contains("→ Named."));
    // What is there already under its new name is not made again.
    let twice = format!("{chain}A_2 = again(A, X = X_2)\nO_2 = again(O, X = X_2)\n: Again.\nshow O_2\n");
    let once = format!("{chain}O_2 = again(O, X = X_2)\n: Again.\nshow O_2\n");
    assert_eq!(nodes(&twice), nodes(&once));
    for (line, at, words) in [
        ("O_2 = again(O)", "11:7", &["`again` takes a matrix"][..]),
        ("P = again(O, X = X_2)", "11:5", &["not O with another ending", "O_2 = again(O, X = X_2)"]),
        ("O_2 = again(O, Y = X_2)", "11:20", &["Y"]),
        ("O_2 = again(O, X_2 = X)", "11:7", &["O is not made of X_2"]),
        ("X_3 = [1 2 3]\nO_2 = again(O, X = X_3)", "12:7", &["Q_2"]),
    ] {
        refused(&format!("{chain}{line}\n"), at, words);
    }
    // Each line makes a hundred steps.
    let before = |n: usize| if n == 1 { "X".to_string() } else { format!("Y{}", n - 1) };
    let long: String = (1..=100).map(|n| format!("Y{n} = 1 {}\n", before(n))).collect();
    let many = "\nfor n in 1..60\nX_{n} = X + X\nY100_{n} = again(Y100, X = X_{n})\n";
    refused(&format!("X = [1 2]\n{long}{many}"), "108:12", &["more than 4000 definitions"]);
}

#[test]
fn rows_columns_and_matrices_are_compared_cell_by_cell() {
    let out = said(
        "X = [1 2; 1 2; 3 2]\nY = X + X\n: Compared.\nif X[1] == X[2]: a1\nif X[1] == X[3]: b1\nif X[:, 2] == 2: a2\nif X[1] != X[3]: a3\n\
         if X == Y: b2\nif X[1] ≈ X[2]: a4\nif X ≈ Y ± 10: a5\nif X ≈ Y ± 0.5: b3\nif X[3] ≈ X[1] ± 2: a6\n",
    );
    let told = out.split("→ ").nth(1).expect("remarks").split_whitespace().collect::<Vec<_>>();
    assert_eq!(told, ["a1", "a2", "a3", "a4", "a5", "a6"], "{out}");
}

#[test]
fn conditions_have_the_functions_of_keys() {
    let out = said(
        "X = [1 2 3; 3 2 1; 0 0 5] rows a, b, c\n: Compared.\nif count(X, == 0) == 2: a1\nif argmax(X[1]) == argmax(X[3]): b1\n\
         if argmax(X) == argmax(X) and argmin(X[a]) != argmin(X[b]): a2\nif rank(X[a]) == rank(X[b]): b2\nif len(X[a]) == 3: a3\n\
         if argmax(X[c]) == argmax(X[c]) and not argmin(X[c]) == argmin(X[c]): b3\nif round(X[1,2] / 3, 2) == 0.67: a4\n\
         if X[1,1] − X[1,2] == −1 and (X[1,1] == 1) + 1 == 2: a5\nif sum(X[i,i] for i in 1..3) == 8: a6\n",
    );
    let told = out.split("→ ").nth(1).expect("remarks").split_whitespace().collect::<Vec<_>>();
    assert_eq!(told, ["a1", "a2", "a3", "a4", "a5", "a6"], "{out}");
    for (condition, words) in [
        ("X < X", "compares a row or a matrix with a row or a matrix"),
        ("argmx(X[1]) == 1", "did you mean `argmax`"),
        ("top(X[1])", "is not a valid call of top"),
        ("count(X, 0) == 2", "write count(A[bat], == 0)"),
        ("X[1,1]", "not true or false"),
    ] {
        refused(&format!("X = [1 2]\n: a\nif {condition}: b\n"), "6:4", &[words]);
    }
}

#[test]
fn what_takes_too_long_or_too_deep_is_refused_at_once() {
    let big = "a = draw(2048, 2048)\n";
    let sum = |count: usize, word: &str| vec!["1"; count].join(word);
    for (body, words) in [
        (format!("{big}b = distance(a, a)\n: x\n"), "computes too much"),
        (format!("{big}b = a a\n: x\n"), "computes too much"),
        (format!("a = table(2048, 2048): {}\n: x\n", sum(200, " + ")), "computes too much"),
        (format!("{big}: x\n{}", "if max|a| > 9: y\n".repeat(300)), "computes too much"),
        (
            format!("for h in 1..256\na_{{h}} = [1]\n: x\n{}", "show a_{h}\n".repeat(5000)),
            "computes too much",
        ),
        (
            "let a = sum(sum(sum(1 for i in 1..2000) for j in 1..2000) for k in 1..2000)\n: x\n".into(),
            "computes too much",
        ),
        ("a = table(1000, 1000): sum(1 for k in 1..2000)\n: x\n".into(), "computes too much"),
        (
            "a = [1]\n: x\nif all(all(all(1 > a for i in 1..2000) for j in 1..2000) for k in 1..2000): y\n"
                .into(),
            "computes too much",
        ),
        (
            format!("a = [1] rows {} for h in 1..2000\n: x\n", vec!["b"; 100_000].join(", ")),
            "computes too much",
        ),
        (format!("a = [1]\nb = stack({})\n: x\n", vec!["a"; 20_000].join(", ")), "4000 matrices"),
        (format!("a = [1]\n: x\nshow a{}\n", "{1}".repeat(100_000)), "at most 1000 letters"),
        (format!("let a = {}\n: x\n", sum(40_000, " + ")), "at most 1000 operators"),
        (format!("need {}: y\n: x\n", sum(40_000, " and ")), "at most 1000 operators"),
        (format!("let a = {}1\n: x\n", "not ".repeat(40_000)), "signs follow each other"),
        (format!("let a = {}1\n: x\n", "(".repeat(40_000)), "brackets are open"),
        (
            format!("a = [1]\n: x\nif {}a[1,1]{} == 1: y\n", "max|".repeat(300), "|".repeat(300)),
            "brackets are open",
        ),
    ] {
        let (_place, name) = demo(&body);
        let outcome = attn("demo").arg(name).run();
        assert_eq!(outcome.code, 2, "{}", &body[..60.min(body.len())]);
        assert!(outcome.err.contains(words), "no `{words}` in {}", outcome.err);
    }
    for braces in ["{".repeat(50_000) + &"}".repeat(50_000), "{".repeat(50_000), "{{a}".repeat(10_000)] {
        let (_place, name) = demo(&format!("X = [1]\n: {braces}\n"));
        attn("demo").arg(name).refused(&["mine.attn:5:1: "]);
    }
    let (_place, name) = demo("X = [1]\n: x\nif X == 1: {X[1,1]:65536}\n");
    attn("demo").arg(name).refused(&["mine.attn:6:1: `X[1,1]:65536` has no"]);
}

#[test]
fn errors_say_where_and_what_is_expected() {
    for (body, at, words) in [
        ("S = softmx(S)\n: a\n", "4:5", &["did you mean `softmax`"][..]),
        ("X = [1 2\n: a\n", "4:8", &["the line ends here, where a number, `;` or `]` is expected"]),
        ("X = [1 2; 3]\n: a\n", "4:12", &["row 2 has 1 numbers, and row 1 has 2"]),
        ("X = [1 2]\nY = X W\n: a\n", "5:7", &["there is no node `W`"]),
        ("X = [1 2]\nY = X X\n: a\n", "5:5", &["a 1×2 matrix cannot be multiplied by a 1×2 one"]),
        ("X = [1 2]\nY = softmax(X Xᵀ)\n: a\n", "5:13", &["a second step", "a name in a line of its own"]),
        ("X = [1 2]\nshow X\n", "5:1", &["no sentence"]),
        ("X = [1 2]\n: a\n: b\n", "6:1", &["a second sentence"]),
        ("X = [1 2]\n: a\nif X[1,1] = 1: b\n", "6:11", &["here stands `=`"]),
        ("X = [1 2]\n: a\nshwo X\n", "6:6", &["did you mean `show`"]),
        ("X = [1 2]\n: a\n\nfor h in 1..3000\nY = X\n", "7:10", &["more than 2048 times"]),
        ("X = draw(100000, 1)\n: a\n", "4:10", &["at most 2048"]),
        ("X = [1 2]\nO = attend(X, X, X, heads = 3)\n: a\n", "5:5", &["3"]),
        ("need 1 == 2: One is not two\n: a\n", "4:1", &["One is not two"]),
        ("  X = [1]\n", "4:1", &["continues no other"]),
        ("X = [1 2]\n: {X[1,1]} is a cell\n", "5:1", &["`{X[1,1]}` is no number", "in a remark"]),
        ("X = [1 2]\nY = X[0]\n: a\n", "5:7", &["count from 1"]),
        ("X = [1]\nY = mask(X, causal, window = 0)\n: a\n", "5:30", &["none is smaller"]),
        ("X = [1 2]\nT = XY\n: a\n", "5:5", &["there is no node `XY`"]),
        ("X = [1 2]\nT = X\n: a\n", "5:5", &["a second name", "use the first one"]),
        ("X = [1] § 2\n", "4:9", &["`§` means nothing here"]),
        ("X = [1; 2] rows a, b, c\n: a\n", "4:1", &["`X` has 2 rows, and 3 names for them"]),
        ("X = [1 2]\nY = X * X.T\n: a\n", "5:9", &["Q @ K.T"]),
        ("X = [1 2]\nY = softmax X\n: a\n", "5:5", &["a function has brackets: softmax(S)"]),
        ("X = [1 2]\nY = np.softmax(X)\n: a\n", "5:5", &["did you mean `softmax`"]),
        ("X = [1 2]\nY = softmax(X\n: a\n", "5:13", &["where `,` or `)` is expected"]),
        ("X = [1 2]\nY = mask(X, casual)\n: a\n", "5:13", &["the rules are `causal`"]),
        ("X = [1 2]\nY = X ** X\n: a\n", "5:8", &["here stands `*`"]),
        ("X = [1 2]\nneed X[1,1] == 2: It is not 2\n: a\n", "5:1", &["It is not 2"]),
    ] {
        refused(body, at, words);
    }
    let (_place, name) = file("title: No first line\n");
    attn("demo").arg(name).refused(&["1:1: a demo begins with `attn-demo: 1`"]);
    let (_place, name) = file("attn-demo: 1\n\nX = [1]\n");
    attn("demo").arg(name).refused(&["has no title"]);
    let (_place, name) = file("attn-demo: 1\ntitle: A\ntilte: B\n\n");
    attn("demo").arg(name).refused(&["did you mean `title`"]);
}

#[test]
fn a_new_demo_is_written_checked_and_not_written_over() {
    let place = tempfile::tempdir().unwrap();
    let name = place.path().join("first.attn").display().to_string();
    attn("demo new").arg(name.clone()).ok();
    let checked = attn("demo check").arg(name.clone()).ok().out;
    assert!(checked.ends_with("4 steps, 5 matrices, 1 remark (1 shown): ok\n"), "{checked}");
    attn("demo new").arg(name.clone()).refused(&["exists already"]);
    attn("demo new").refused(&["attn demo new mine.attn"]);
    attn("demo new x.txt").refused(&["ends in .attn"]);
    attn("demo check").refused(&["needs a file"]);
    fs::write(&name, "attn-demo: 1\ntitle: A\n\nX = [1\n").unwrap();
    let checked = attn("demo check").arg(name).run();
    assert_eq!(checked.code, 2);
    assert!(checked.err.contains("first.attn:4:6"), "{}", checked.err);
}

#[test]
fn a_demo_from_a_file_has_the_options_of_those_in_the_program() {
    let (_place, name) = demo(WINDOW);
    for (options, words) in [
        ("--explain A[2,1]", "exp("),
        ("--step 1 --full", "S_masked"),
        ("--brief", "reads itself"),
        ("--format html --live", "class=\"opening\""),
        ("--only A --format numpy", "[[1.  "),
        ("--set X[1,1]=5", "1  Each word"),
        ("--versus '--set X[1,1]=5'", "A"),
    ] {
        let out = attn(&format!("demo {name} {options}")).ok().out;
        assert!(out.contains(words), "{options}: no `{words}` in {out}");
    }
    let explored = attn(&format!("explore demo {name} --keys 'q' --plain")).run();
    assert!(explored.code == 0 || explored.err.contains("--"), "{}", explored.err);
}

#[test]
fn its_texts_drive_no_terminal_and_no_page() {
    let body = "X = [1] rows \"\u{1b}[31mred\"\n: <script>alert(1)</script> \u{1b}]0;x\u{7}\nshow alone X\n";
    let (_place, name) = demo(body);
    assert!(!attn("demo").arg(name.clone()).ok().out.contains('\u{1b}'));
    let page = attn("demo").arg(name).arg("--format").arg("html").ok().out;
    assert!(!page.contains("<script>alert") && !page.contains('\u{1b}'), "{page}");
}

/// The files of the program's demos.
fn files_of_demos() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/demos");
    let inside =
        |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    inside(&folder).iter().flat_map(|folder| inside(folder)).collect()
}

#[test]
fn every_demo_of_the_program_is_read_from_a_file_too() {
    for path in files_of_demos() {
        let own = path.file_stem().unwrap().to_str().unwrap().split_once('-').unwrap().1.to_string();
        let of_file = attn("demo").arg(path.display().to_string()).arg("--format").arg("csv").ok().out;
        assert_eq!(of_file, attn(&format!("demo {own} --format csv")).ok().out, "{own}");
    }
}

#[test]
fn the_demo_in_the_documentation_says_what_it_says_there() {
    let told = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/language.md")).unwrap();
    let text = told.split("```attn\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a demo");
    let (_place, name) = file(text);
    let out = attn("demo").arg(name).ok().out;
    assert!(out.contains("→ “on” does not read “rain”: its weight is 0."), "{out}");
}

#[test]
fn every_function_in_the_documentation_exists_and_every_one_that_exists_is_told() {
    let told = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/language.md")).unwrap();
    let (_place, name) = demo("X = [1]\nY = nothing(X)\n: a\n");
    let known = attn("demo").arg(name).run().err;
    let known = known.split("the functions are ").nth(1).expect("a list").trim();
    for function in known.split(' ') {
        let sign = if function == "sqrt" { "√A" } else { function };
        assert!(
            told.contains(&format!("`{sign}")) || told.contains(&format!("{function}(")),
            "{function} is not told"
        );
    }
}

proptest! {
    #[test]
    fn no_text_reaches_a_panic(text in "[A-Za-z_ =\\[\\]();:|.,0-9\\n{}ᵀ−·√≈±\"#*/@]{0,120}") {
        let (_place, name) = demo(&text);
        prop_assert!([0, 2].contains(&attn("demo").arg(name).run().code));
    }

    #[test]
    fn no_part_of_a_demo_reaches_a_panic(cut in 0..2000_usize, length in 0..40_usize, put in "[\\[\\](){}|:;=,.0-9a-z−ᵀ ]{0,6}") {
        let whole = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("data/demos/000/06-mask.attn")).unwrap();
        let letters: Vec<char> = whole.chars().collect();
        let start = cut.min(letters.len());
        let end = (start + length).min(letters.len());
        let text: String = letters[..start].iter().chain(put.chars().collect::<Vec<_>>().iter()).chain(&letters[end..]).collect();
        let (_place, name) = file(&text);
        prop_assert!([0, 2].contains(&attn("demo").arg(name).run().code));
    }
}

/// What a command computes and tells, as data: its steps, its matrices and where they come from.
fn told(command: &str) -> serde_json::Value {
    let out = attn(command).arg("--format").arg("json").ok().out;
    let mut all: serde_json::Value = serde_json::from_str(&out).unwrap();
    all.as_object_mut().unwrap().remove("command");
    all
}

/// The same of the demo that the command writes.
fn read_again(command: &str) -> serde_json::Value {
    let (_place, name) = file(&attn(command).arg("--format").arg("attn").ok().out);
    told(&format!("demo {name}"))
}

#[test]
fn a_demo_in_full_is_the_same_demo() {
    for path in files_of_demos() {
        let name = path.file_stem().unwrap().to_str().unwrap().split_once('-').unwrap().1.to_string();
        // The weights of its model are in single precision, which the language does not have; their numbers are the same.
        if name != "meaning" {
            let command = format!("demo {name}");
            assert!(told(&command) == read_again(&command), "{name}");
        }
    }
    assert!(told("demo mask --seed 3") == read_again("demo mask --seed 3"));
}

#[test]
fn an_attention_in_full_is_the_same_attention() {
    for options in [
        "--words 'bat cave racket' --causal --gradient O[1,1]",
        "--words 'bat cave' --loss cross-entropy --targets 1,2",
        "examples/data/bat.json --heads 2 --residual",
        "examples/data/bat.json --loss cross-entropy --targets animals,-,sport",
        "--random 5,8 --heads 4 --position rope --rope-scaling yarn:factor=4,original=8",
        "--random 4,6 --position alibi --heads 2 --window 2 --sink 1 --softcap 3",
        "--x '1 2; 3 4' --position t5 --position-table '1; 2; 0; 1; 0' --temperature 0.5",
        "--x '1 2; 3 4' --wq '1 1; 0 1' --layout out-in --score cosine --scale none",
        "--q '1 0; 0 1' --k '1; 2' --v '3; 4' --heads 2 --kv-heads 1 --qk-norm",
        "--x '1 0; 0 1; 1 1' --mask '1 0 0; 1 1 0; 0 0 0' --mask-kind allow",
    ] {
        let command = format!("attend {options}");
        assert!(told(&command) == read_again(&command), "{options}");
    }
}

#[test]
fn the_grammar_for_editors_has_every_word_of_the_language() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("editors/attn.tmLanguage.json"))
        .unwrap();
    let _: serde_json::Value = serde_json::from_str(&text).unwrap();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
    for word in attn_core::language::KEYWORDS.iter().chain(&attn_core::language::LINE_WORDS) {
        // In JSON a `\b` before a word becomes a letter before it.
        assert!(words.contains(word) || words.contains(&format!("b{word}").as_str()), "{word}");
    }
}

#[test]
fn what_is_not_there_is_no_condition_and_no_beginning() {
    for (remark, said) in
        [("if X[1,3] > 0: b", "X (1×2) has no column 3"), ("if own(): b {X[bta,1]}", "did you mean `bat`?")]
    {
        let (_place, name) = file(&format!("attn-demo: 1\ntitle: t\n\nX = [1 2] rows bat\n: a\n{remark}\n"));
        let error = attn("demo").arg(name).run().err;
        assert!(error.contains(":6:1: `X[") && error.contains(said), "{error}");
    }
    let (_place, name) = file("attn-demo: 1\ntitle: t\nbegin: X[3,1]\n\nX = [1 2]\n: a\n");
    let error = attn("demo").arg(name).run().err;
    assert!(error.contains("X[3,1] is no cell of this demo"), "{error}");
}

#[test]
fn rows_and_columns_equal_matrices_of_their_shape_and_nan_is_never_told() {
    let body = "A = [1 2; 3 4]\nV = [1 2]\nC = [1; 3]\nZ = [0 0]\nN = Z / Z\n: a\nif A[1] == V: row\nif A[:,1] == C: column\n\
                if A[1] == C: other shape\nif not A[1] == V: not row\nif N != V: nan\nif not symmetric(N): nan again\nif A[last,1] == 3: last\n";
    let (_place, name) = demo(body);
    let out = attn("demo").arg(name).ok().out;
    assert!(out.contains("→ row column last\n"), "{out}");
}

#[test]
fn what_the_screen_prints_of_a_layer_with_biases_can_be_typed() {
    let body = "X = [1 2]\nW = [1 0; 0 1]\nb = [5 7]\nQ = X W + b\nR = X W.T + b\nT = 2 * X\n: a\nshow Q, R, T\nif Q == R and Q[1,2] == 9 and T[1,2] == 4: right\n";
    let (_place, name) = demo(body);
    let out = attn("demo").arg(name).ok().out;
    assert!(out.contains("X (1×2) · W (2×2) + b (1×2)") && out.contains("→ right"), "{out}");
}

#[test]
fn braces_and_quotes_of_words_survive_the_full_form() {
    let command = "attend --words 'a { \"b\" }'";
    assert!(told(command) == read_again(command));
    let (_place, name) = file(&attn(command).arg("--format").arg("attn").ok().out);
    assert!(attn("demo").arg(name).ok().out.contains("“{”"));
}

#[test]
fn the_number_of_a_loop_ends_with_it_also_where_a_remark_is_read_later() {
    let body = "X = [1]\n: a\nif all(Y_{h}[1,1] > 0 for h in 1..1): later\n\n: b {h}\n\nY_1 = [1]\n";
    let (_place, name) = demo(body);
    attn("demo").arg(name).refused(&["`{h}` is no number"]);
}

#[test]
fn a_change_of_attention_is_a_sentence_wherever_it_is_made() {
    let bat = "attend --x '3 3; 4 0; 0 5' --tokens bat,cave,racket";
    let changed = |change: &str| attn(bat).arg("--set").arg(change).nodes();
    let plain = attn(bat).nodes();
    // Settings that have an option give what the option gives.
    for (change, options) in [
        ("scale = none", "--scale none"),
        ("scale = 0.5", "--scale 0.5"),
        ("temperature = 2", "--temperature 2"),
        ("causal = yes", "--causal"),
        ("mask = (causal = yes, window = 2)", "--causal --window 2"),
        ("mask = 2", "--causal --window 2"),
        ("score = cosine", "--score cosine"),
        ("soft_cap = 3", "--softcap 3"),
    ] {
        let by_option = attn(&format!("{bat} {options}")).nodes();
        for node in ["S", "A", "O"] {
            assert_eq!(changed(change).matrix(node), by_option.matrix(node), "{change}");
        }
        let table = |versus: &str| attn(bat).arg("--versus").arg(versus).arg("--format").arg("csv").ok().out;
        assert_eq!(table(change), table(options), "{change}");
    }
    // Others are the mistakes of `attn diagnose`.
    let (scores, swapped) = (plain.matrix("S"), changed("comparison = keys-with-queries").matrix("S"));
    assert_eq!(scores.transposed().cells().collect::<Vec<_>>(), swapped.cells().collect::<Vec<_>>());
    let told = attn(bat).arg("--set").arg("negated(values)").ok().out;
    assert!(told.contains("  A step that attention does not have.\n   V_altered (3×2) = "), "{told}");
    let twice = attn(bat).arg("--set").arg("negated(values)").arg("--set").arg("relu(keys)").run();
    assert!(twice.code == 2 && twice.err.contains("is a second operation"), "{}", twice.err);
    let both = attn(bat).arg("--set").arg("negated(values)").arg("--set").arg("scale = none").nodes();
    assert_eq!(both.matrix("A"), changed("scale = none").matrix("A"));
    let negated = changed("negated(values)").matrix("O");
    assert_eq!(negated[(0, 0)], -plain.matrix("O")[(0, 0)]);
    for (change, words) in [
        ("scal = none", &["there is no setting `scal`", "did you mean `scale`"][..]),
        ("scale = nothing", &["`scale` cannot be `nothing`", "it can be `auto`, `none`"]),
        ("temperature = 0", &["it must be a positive number"]),
        ("heads = 0", &["at least one head"]),
        ("relu(quries)", &["`quries`", "`queries`"]),
        ("relu(output-weights)", &["changes nothing in this computation"]),
        ("hiding = zero", &["changes nothing in this computation"]),
        ("result = transposed", &["only diagnosis makes"]),
        ("X = 1 2; 3 4", &["sets no cell and no setting", "--x"]),
        ("nonsense", &["is no change", "scale = none"]),
    ] {
        let outcome = attn(bat).arg("--set").arg(change).run();
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""), "{change}");
        for word in words {
            assert!(outcome.err.contains(word), "{change}: no `{word}` in {}", outcome.err);
        }
    }
}
