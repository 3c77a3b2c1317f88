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

#[test]
fn the_cell_of_a_head_is_shaded_by_its_score() {
    let shown = |more: &str| attn(&format!("{TEXT} --top 1 {more}")).ok().out;
    let plain = shown("");
    assert!(!plain.contains('\x1b'), "without colour there are letters and figures");
    assert!(plain.contains("│ 2     │ s62   s75     ·   i99 │"), "{plain}");
    for theme in ["dark", "light"] {
        let out = shown(&format!("--color always --theme {theme}"));
        let grid = &out[out.find("What each head looks at").unwrap()..];
        let [s57, s62, s71, i99]: [Option<String>; 4] =
            grounds(grid, &["s57", "s62", "s71", "i99"]).try_into().unwrap();
        assert!(s57.is_some() && s57 == s62, "both are in the fifth eighth: {s57:?} {s62:?}");
        assert!(s62 != s71 && s71 != i99, "{s62:?} {s71:?} {i99:?}");
        assert_eq!(grounds(grid, &["·"]), [None], "a head without a letter has no shade");
        // The same scale as the weights of a matrix: 0.99 there, 99 here.
        let weights = attn(&format!("{TEXT} --only L1.A_3 --color always --theme {theme}")).ok().out;
        assert_eq!(grounds(&weights, &["0.9946"]), [i99], "{theme}");
    }
    assert!(!shown("--color always --heat never").contains("\x1b[48;5;"));
    let bars = shown("--heat always");
    assert!(bars.contains("s57 ▅") && bars.contains("i99 █"), "{bars}");
    let ascii = shown("--charset ascii");
    assert!(ascii.is_ascii() && ascii.contains("i99"), "{ascii}");
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
