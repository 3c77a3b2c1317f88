//! What the screen says first, and its shades.

use serde_json::Value;

use crate::common::attn;
use crate::zeros::{WEIGHTS_PER_TOKEN, zeros};

const TEXT: &str = "model words 'the bat sleeps in the cave . it is'";

/// The first sentence of a screen, on one line.
fn first_line(line: &str) -> String {
    let out = attn(line).ok().out;
    out.split("\n\n").next().unwrap().replace('\n', " ")
}

#[test]
fn the_first_line_says_which_numbers_and_why() {
    // A layer has 4·32² weights of attention and 2·32·64 of the MLP; the head has 101·32.
    let weights: u32 = 2 * (4 * 32 * 32 + 2 * 32 * 64) + 101 * 32;
    assert_eq!(weights, 19_616);
    let line = "words: GPT-2, 2 layers of 4 heads, computed in f64 (9 tokens × 19,616 weights = 176,544, at most 10⁹)";
    for view in ["", "--without L1", "--versus '--without L1'"] {
        assert_eq!(first_line(&format!("{TEXT} {view}")), line, "{view}");
    }
    assert_eq!(first_line(&format!("{TEXT} --layer 1")), format!("Layer 1 of {line}"));
    assert_eq!(
        first_line(&format!("{TEXT} --layer 2 --head 3")),
        format!("Layer 2, head 3 (L1H2) of {line}")
    );
    let of_tokens = |tokens: u32, product: &str| {
        line.replace("9 tokens", &format!("{tokens} tokens")).replace("176,544", product)
    };
    assert_eq!(first_line("model words 'the bat' --next 3"), of_tokens(5, "98,080"));
    // The random sequence: 15 tokens, twice.
    assert_eq!(first_line("model words --survey"), of_tokens(30, "588,480"));
    let out = attn(&format!("{TEXT} --survey")).ok().out;
    assert!(out.contains("the text is computed in   f64 (9 tokens × 19,616 weights"), "{out}");
    assert_eq!(
        first_line(&format!("{TEXT} --dtype f32")),
        "words: GPT-2, 2 layers of 4 heads, computed in f32 (as asked)"
    );
}

#[test]
fn above_a_billion_multiplications_f32_is_the_default_and_the_first_line_says_so() {
    let tokens = 1_000_000_000 / WEIGHTS_PER_TOKEN + 1;
    assert_eq!((WEIGHTS_PER_TOKEN, tokens), (7_865_216, 128));
    let folder = zeros(tokens);
    let ids = vec!["1"; tokens].join(",");
    let out = attn("model").arg(folder.path().display().to_string()).arg("--ids").arg(ids).ok().out;
    let line = out.split("\n\n").next().unwrap().replace('\n', " ");
    let why = "computed in f32 (128 tokens × 7,865,216 weights = 1,006,747,648, more than 10⁹)";
    assert!(line.ends_with(why), "{line}");
}

#[test]
fn programs_read_the_first_line_as_rows() {
    let out = attn(&format!("{TEXT} --format json")).ok().out;
    let value: Value = serde_json::from_str(&out).unwrap();
    let first = &value["tables"][0];
    assert_eq!(first["title"], "words");
    assert_eq!(first["rows"][0]["value"], "GPT-2, 2 layers of 4 heads");
    assert_eq!(first["rows"][1]["this run"], "computed in");
    assert_eq!(first["rows"][1]["value"], "f64 (9 tokens × 19,616 weights = 176,544, at most 10⁹)");
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
    let shown = |more: &str| attn(&format!("{REPEATING} --top 1 {more}")).ok().out;
    let plain = shown("");
    assert!(!plain.contains('\x1b'), "without colour there are letters and figures");
    assert!(plain.contains("│ 2     │ s61   s96   s50   i67 │"), "{plain}");
    for theme in ["dark", "light"] {
        let out = shown(&format!("--color always --theme {theme}"));
        let grid = &out[out.find("What each head looks at").unwrap()..];
        let [s62, s61, s71, i67]: [Option<String>; 4] =
            grounds(grid, &["s62", "s61", "s71", "i67"]).try_into().unwrap();
        assert!(s71.is_some() && s71 == i67, "both are in the sixth eighth: {s71:?} {i67:?}");
        assert!(s62.is_some() && s62 == s61 && s62 != i67, "0.62 and 0.61: {s62:?} {s61:?} {i67:?}");
        let other = attn(&format!("{TEXT} --top 1 --color always --theme {theme}")).ok().out;
        let other = &other[other.find("What each head looks at").unwrap()..];
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
    let one = attn(&format!("{TEXT} --top 1 --width 200")).ok().out;
    let grid = &one[one.find("What each head looks at").unwrap()..one.find("The token that").unwrap()];
    assert!(!grid.contains(" i9"), "one query is no habit: {grid}");
    assert!(one.contains("over the queries whose token came before (here 1 of 9)"), "{one}");
    let two = attn(&format!("{REPEATING} --top 1 --width 200")).ok().out;
    assert!(two.contains("over the queries whose token came before (here 2 of 9)"), "{two}");
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
    let out = attn(&format!("{TEXT} --top 1")).ok().out;
    let (_, from) = out.split_once("Entropy of the weights of a row in bits").expect("a title");
    assert!(from.starts_with(", mean of all rows (9 keys alike: 3.2)"), "{from}");
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
    assert!(short.contains("320 of them: --all") && !short.contains("All heads on"), "{short}");
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
