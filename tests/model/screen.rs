//! What the screen says first, and its shades.

use serde_json::Value;

use crate::common::attn;
use crate::model::zeros::{WEIGHTS_PER_TOKEN, zeros};

const TEXT: &str = "model words 'the bat sleeps in the cave . it is'";

/// What a screen says before its first table: the title, and the sentences below it.
fn beginning(line: &str) -> (String, String) {
    let out = attn(line).arg("--width").arg("200").ok().out;
    let (title, rest) = out.split_once('\n').unwrap();
    (title.to_string(), rest.split("\n\n").next().unwrap().replace('\n', " "))
}

#[test]
fn a_screen_begins_with_the_text_and_says_which_numbers_and_why() {
    let title = "words: “the bat sleeps in the cave . it is”";
    let said = |tokens: u32| {
        format!("→ GPT-2, 2 layers of 4 heads; {tokens} tokens; computed in f64 (the model is small).")
    };
    for view in ["", "--all", "--versus '--without L1'", "--survey"] {
        let (found, below) = beginning(&format!("{TEXT} {view}"));
        assert_eq!(found, title, "{view}");
        // The random sequence of a survey: 15 tokens, twice.
        assert!(below.starts_with(&said(if view == "--survey" { 30 } else { 9 })), "{view}: {below}");
    }
    assert_eq!(beginning(&format!("{TEXT} --layer 1")).0, format!("Layer 1 of {title}"));
    let head = attn(&format!("{TEXT} --layer 2 --head 3 --width 200")).ok().out;
    assert!(head.starts_with(&format!("Layer 2, head 3 (L1H2) of {title}\n")), "{head}");
    assert!(head.contains(&said(9)), "{head}");
    assert!(beginning("model words 'the bat' --next 3").1.starts_with(&said(5)));
    assert_eq!(beginning("model words --ids 86,11").0, "words: ids 86,11");
    let asked = beginning(&format!("{TEXT} --dtype f32")).1;
    assert!(asked.ends_with("computed in f32 (as asked)."), "{asked}");
    let page = attn(&format!("{TEXT} --format html")).ok().out;
    assert!(
        page.contains(&format!("<h1>{title}</h1>")) && page.contains(&format!("<title>{title} · ")),
        "title"
    );
}

#[test]
fn above_a_billion_multiplications_f32_is_the_default_and_the_screen_says_so() {
    let tokens = 1_000_000_000 / WEIGHTS_PER_TOKEN + 1;
    assert_eq!((WEIGHTS_PER_TOKEN, tokens), (7_865_216, 128));
    let folder = zeros(tokens);
    let ids = vec!["1"; tokens].join(",");
    let out = attn("model").arg(folder.path().display().to_string()).arg("--ids").arg(ids).ok().out;
    let why =
        "computed in f32 (128 tokens × 7,865,216 weights are more than 10⁹ products; --dtype f64 is exact).";
    assert!(out.replace("\n  ", " ").contains(why), "{out}");
}

#[test]
#[ignore = "seconds: .ci/run runs it"]
fn the_screen_of_a_text_has_at_most_40_lines_and_says_where_to_look() {
    let folder = zeros(20);
    let large = format!("model {} --ids 1,2,3,4,1,2,3,4,1,2", folder.path().display());
    for (command, width) in [(TEXT, 80), (TEXT, 200), (&large, 80), (&large, 200)] {
        let out = attn(&format!("{command} --width {width}")).ok().out;
        assert!(out.lines().count() <= 40, "{} lines\n{out}", out.lines().count());
        let all = attn(&format!("{command} --width {width} --all")).ok().out;
        assert!(all.lines().count() > 80 && all.contains("Letters"), "{all}");
    }
    // tests/model/words.rs: without L1.A_3, and without no other head, the answers to such questions are guesses.
    for (text, head, token, key) in [
        ("the bat sleeps in the cave . it is", "L1.A_3 (L0H2)", "animal", "cave"),
        ("the bat lies by the racket . it is", "L1.A_3 (L0H2)", "equipment", "racket"),
        ("the fluffy green creature roamed the verdant forest . it looks", "L2.A_2 (L1H1)", "green", "green"),
    ] {
        let out = attn(&format!("model words '{text}' --width 200")).ok().out;
        assert!(out.contains(&format!("Look at {head}: without it, {token} would fall from")), "{out}");
        assert!(out.contains(&format!("of its attention to “{key}”.")), "{out}");
    }
    // No head is more than another one in a model of zeros, and nothing is said of one.
    assert!(!attn(&large).ok().out.contains("Look at"));
}

#[test]
fn the_screen_says_how_sure_the_model_is_and_from_which_layer_on() {
    let out = attn(&format!("{TEXT} --width 200")).ok().out;
    assert!(out.contains("→ The model is almost certain."), "{out}");
    let lens = "→ After layer 1 the best guess would be food (53.2 %); from layer 2 on, animal is ahead.";
    assert!(out.replace('\u{a0}', " ").contains(lens), "{out}");
    // Zeros: each of the seven tokens has the same probability.
    let folder = zeros(20);
    let out = attn(&format!("model {} --ids 1,2 --width 200", folder.path().display())).ok().out;
    assert!(out.contains("as unsure as if 7.0 tokens were equally probable"), "{out}");
    assert!(out.contains("is ahead in every layer, from the embedding on"), "{out}");
}

#[test]
fn programs_read_the_first_line_as_rows() {
    let out = attn(&format!("{TEXT} --format json")).ok().out;
    let value: Value = serde_json::from_str(&out).unwrap();
    let first = &value["tables"][0];
    assert_eq!(first["title"], "words");
    assert_eq!(first["rows"][0]["value"], "GPT-2, 2 layers of 4 heads");
    assert_eq!(first["rows"][1]["this run"], "computed in");
    assert_eq!(first["rows"][1]["value"], "f64 (the model is small)");
}

/// The grounds of the cells of a screen that hold these texts.
fn grounds(out: &str, texts: &[&str]) -> Vec<Option<String>> {
    let of = |text: &&str| {
        let at = out.find(text).unwrap_or_else(|| panic!("no {text} in\n{out}"));
        let before = &out[..at];
        let line = &before[before.rfind('\n').unwrap_or(0)..];
        let shade = &line[line.rfind("\x1b[48;5;")? + 7..];
        // What stands between the ground and the text is the ink alone: else the shade is that of a cell before.
        (!shade.contains("\x1b[49m") && !shade.contains("\x1b[0m"))
            .then(|| shade[..shade.find('m').unwrap()].to_string())
    };
    texts.iter().map(of).collect()
}

/// A text in which two queries have a token that came before.
const REPEATING: &str = "model words 'the bat sleeps in the cave . the bat'";

#[test]
fn the_cell_of_a_head_is_shaded_by_its_score() {
    let shown = |more: &str| attn(&format!("{REPEATING} --top 1 --all {more}")).ok().out;
    let plain = shown("");
    assert!(!plain.contains('\x1b'), "without colour there are letters and figures");
    assert!(plain.contains("│ 2     │ s61   s96   s50   i67 │"), "{plain}");
    for theme in ["dark", "light"] {
        let out = shown(&format!("--color always --theme {theme}"));
        let grid = &out[out.find("What each head attends to").unwrap()..];
        let [s62, s61, s72, i67]: [Option<String>; 4] =
            grounds(grid, &["s62", "s61", "s72", "i67"]).try_into().unwrap();
        assert!(s72.is_some() && s72 == i67, "both are in the sixth eighth: {s72:?} {i67:?}");
        assert!(s62.is_some() && s62 == s61 && s62 != i67, "0.62 and 0.61: {s62:?} {s61:?} {i67:?}");
        let other = attn(&format!("{TEXT} --top 1 --all --color always --theme {theme}")).ok().out;
        let other = &other[other.find("What each head attends to").unwrap()..];
        assert_eq!(grounds(other, &["·"]), [None], "a head without a letter has no shade");
        // The same scale as the weights of a matrix: 0.67 here, 0.64 there.
        let weights = attn(&format!("{REPEATING} --only L2.A_3 --color always --theme {theme}")).ok().out;
        assert_eq!(grounds(&weights, &["0.6409"]), [i67], "{theme}");
    }
    assert!(!shown("--color always --heat never").contains("\x1b[48;5;"));
    let bars = shown("--heat always");
    assert!(bars.contains("s61 ▅") && bars.contains("i67 ▆"), "{bars}");
    let ascii = shown("--charset ascii");
    assert!(ascii.is_ascii() && ascii.contains("i67"), "{ascii}");
}

#[test]
fn a_letter_rests_on_two_queries_and_the_rule_says_on_how_many() {
    let one = attn(&format!("{TEXT} --top 1 --all --width 200")).ok().out;
    let grid = &one[one.find("What each head attends to").unwrap()..one.find("Where the last").unwrap()];
    assert!(!grid.contains(" i9"), "one query is no habit: {grid}");
    assert!(one.contains("over the queries whose token came before (here 1 of 9)"), "{one}");
    let two = attn(&format!("{REPEATING} --top 1 --all --width 200")).ok().out;
    assert!(two.contains("over the queries whose token came before (here 3 of 9)"), "{two}");
    assert!(!two.contains("key i − 1 (here"), "all queries have a token before them: {two}");
    let survey = attn(&format!("{TEXT} --survey --width 200")).ok().out;
    assert!(survey.contains("(here 1 of 9 in the text, 16 of 30 in the random sequence)"), "{survey}");
    let rows = attn(&format!("{TEXT} --format json")).ok().out;
    let rows: Value = serde_json::from_str(&rows).unwrap();
    let heads = rows["tables"].as_array().unwrap().iter().find(|table| table["title"] == "Heads").unwrap();
    assert_eq!(heads["rows"][0]["queries of induction"], 1, "{}", heads["rows"][0]);
}

#[test]
fn the_screen_of_a_text_has_the_entropy_of_every_head_in_bits() {
    let out = attn(&format!("{TEXT} --all")).ok().out;
    let (_, from) = out.split_once("How spread out the attention is").expect("a title");
    assert!(
        from.replace('\n', " ").starts_with(" (entropy in bits; 0 = one key, 3.2 = all 9 equally)"),
        "{from}"
    );
    let json: Value = serde_json::from_str(&attn(&format!("{TEXT} --format json")).ok().out).unwrap();
    let heads = json["tables"].as_array().unwrap().iter().find(|table| table["title"] == "Heads").unwrap();
    let shown: Vec<String> = heads["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{:.1}", row["entropy"].as_f64().unwrap()))
        .collect();
    assert_eq!(shown.len(), 8);
    for (layer, entropies) in shown.chunks(4).enumerate() {
        let row = format!("│ {}     │ {} │", layer + 1, entropies.join("   "));
        assert!(from.contains(&row), "no {row} in\n{from}");
    }
}

#[test]
fn the_survey_has_a_row_for_every_head_and_asks_for_all_of_a_large_model() {
    let out = attn(&format!("{TEXT} --survey")).ok().out;
    for (name, title) in
        [("L1.A_1 L0H0", "All heads on the text"), ("L2.A_4 L1H3", "All heads on the random")]
    {
        assert!(out.contains(title) && out.matches(name).count() == 2, "{out}");
    }
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    // 40 layers of 8 heads.
    let folder = zeros(20);
    let survey = || attn("model").arg(folder.path().display().to_string()).arg("--survey");
    let short = survey().ok().out;
    assert!(short.contains("320 of them; --all") && !short.contains("All heads on"), "{short}");
    let whole = survey().arg("--all").ok().out;
    assert!(whole.contains("All heads on") && whole.contains("L40.A_8 L39H7"), "{whole}");
}

#[test]
fn hidden_weights_look_hidden_in_a_window_too() {
    let whole = attn(&format!("{TEXT} --only L1.A_3")).ok().out;
    let row = whole.lines().find(|line| line.starts_with("│ sleeps")).unwrap();
    // The third query sees three keys of nine.
    assert_eq!(row.matches("░0").count(), 6, "{whole}");
    for (window, hidden) in [("--around cave", 6), ("--rows 3 --cols 2-6", 3), ("--cols 4-9", 6)] {
        for node in ["L1.A_3", "L1.S_masked_3", "L1.A_3 --dtype f32"] {
            let out = attn(&format!("{TEXT} --only {node} {window}")).ok().out;
            let row = out.lines().find(|line| line.starts_with("│ sleeps")).unwrap();
            assert_eq!(
                row.split_whitespace().filter(|cell| cell.contains('░')).count(),
                hidden,
                "{node} {window}\n{out}"
            );
            assert!(!row.split_whitespace().any(|cell| cell == "0"), "{out}");
        }
    }
}
