//! The output of document 000's demos: every array that the document prints, byte for byte; and how long and in which words the
//! screens are.

use crate::common::attn;

#[test]
fn every_printed_array_of_the_document_comes_out_byte_for_byte() {
    let out = attn("demo --document 000 --format numpy").ok().out;
    let printed = crate::golden::text("document_000_printed.txt");
    let arrays: Vec<&str> =
        printed.split("---\n").map(str::trim_end).filter(|array| !array.is_empty()).collect();
    assert!(arrays.len() >= 20, "only {} arrays", arrays.len());
    for array in arrays {
        assert!(out.contains(array), "this array does not come out:\n{array}");
    }
}

#[test]
fn each_demo_prints_the_documents_arrays_also_when_it_runs_alone() {
    let golden = crate::golden::json("document_000.json");
    let mut checked = 0;
    for array in crate::golden::list(&golden, "matrices") {
        if array["printed"] != true {
            continue;
        }
        let name = crate::golden::string(array, "demo");
        let out = attn("demo").arg(name).arg("--format=numpy").ok().out;
        assert!(out.contains(crate::golden::string(array, "text")), "demo {name} lacks {}", array["name"]);
        checked += 1;
    }
    assert!(checked >= 20, "only {checked} arrays");
}

#[test]
fn the_screens_at_80_columns_are_as_short_as_a_class_can_follow() {
    for (demo, most) in [("mask", 60), ("left", 90), ("right", 90), ("weights", 90), ("qkv", 140)] {
        let out = attn("demo").arg(demo).arg("--width=80").ok().out;
        let lines = out.lines().count();
        assert!(lines <= most, "demo {demo} has {lines} lines");
        let wide = attn("demo").arg(demo).arg("--width=200").ok().out.lines().count();
        assert!(wide * 4 < lines * 3, "demo {demo}: {wide} lines at 200 columns, {lines} at 80");
    }
}

#[test]
fn the_flagship_shows_its_scores_at_once_and_ends_with_its_point() {
    let out = attn("demo mask --width 80").ok().out;
    let lines: Vec<&str> = out.lines().collect();
    let last_score = lines.iter().position(|line| line.contains("│ writing │") && line.contains("4.96"));
    assert!(last_score.is_some_and(|line| line < 24), "{out}");
    let [_, _, remarks, .., point] = lines[..] else { panic!("{out}") };
    assert_eq!(point, "   → The earlier rows do not change at all: the largest difference is exactly 0.");
    assert!(remarks.ends_with("on the source text: attn find --errata --demo mask"), "{out}");
}

#[test]
fn what_is_folded_is_shown_by_full_and_so_are_the_remarks() {
    let (short, full) = (attn("demo mask").ok().out, attn("demo mask --full").ok().out);
    assert!(short.contains("W_V (5×5) = randn, seed 0; --full shows them") && !short.contains("─ W_Q ─"));
    assert!(!full.contains("--full") && !full.contains("attn errata --demo"), "{full}");
    for corner in ["─ X ─", "W_Q", "W_K", "│ W_V │", "─ Q ─"] {
        assert!(full.contains(corner), "{corner} is missing:\n{full}");
    }
    let errata = attn("errata --demo mask").ok().out;
    assert!(full.lines().count() > short.lines().count() + 20 && errata.lines().count() > 5);
}

#[test]
fn rows_have_the_names_of_the_documents_words_and_numbers_still_address_them() {
    for demo in ["mask", "left", "right", "qkv"] {
        let json = attn("demo").arg(demo).arg("--format=json").ok().out;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let nodes = json["graphs"][0]["nodes"].as_array().unwrap();
        let x = nodes.iter().find(|node| node["name"] == "X").unwrap();
        assert_eq!(x["rows"], serde_json::json!(["the", "art", "of", "writing"]), "{demo}");
    }
    let cell = |address: &str| attn("demo mask --explain").arg(address).ok().out;
    assert_eq!(cell("A[2,1]"), cell("A[art,the]"));
    assert!(cell("A[2,1]").contains("0.87"), "{}", cell("A[2,1]"));
}

/// The arrays of the document that a demo shows, as rows of texts.
fn printed_rows(demo: &str) -> Vec<String> {
    let golden = crate::golden::json("document_000.json");
    let arrays = crate::golden::list(&golden, "matrices").iter();
    let of_demo = arrays.filter(|array| array["demo"] == demo && array["printed"] == true);
    let rows = of_demo.flat_map(|array| crate::golden::string(array, "text").lines().map(str::to_string));
    rows.collect()
}

#[test]
fn as_printed_has_the_documents_digits_in_text_markdown_and_latex() {
    for demo in ["left", "right", "qkv", "mask"] {
        let outs = ["table", "markdown", "latex"].map(|format| {
            attn("demo")
                .arg(demo)
                .arg("--as-printed")
                .arg("--full")
                .arg(format!("--format={format}"))
                .ok()
                .out
        });
        let mut numbers = 0;
        for row in printed_rows(demo) {
            for number in row.split(['[', ']', ' ']).filter(|number| number.contains('.')) {
                let number = number.trim_end_matches('.');
                let scientific = number.split_once('e').map(|(mantissa, _)| mantissa);
                // A cell that the mask hides is hatched, and says 0 alone; what has an exponent is a power of ten in LaTeX.
                let short = if number.starts_with("0.00000000e") { "0" } else { number };
                assert!(outs[0].contains(short), "demo {demo} lacks {number}");
                assert!(outs[1].contains(short), "demo {demo} --format markdown lacks {number}");
                let in_latex = scientific.filter(|_| short != "0").unwrap_or(short);
                assert!(outs[2].contains(in_latex), "demo {demo} --format latex lacks {number}");
                numbers += 1;
            }
        }
        assert!(numbers >= 40, "demo {demo}: {numbers} numbers");
    }
    attn("demo mask --as-printed --precision 2").refused(&["--as-printed", "--precision"]);
}

#[test]
fn exactly_0_is_0_and_what_rounds_to_it_has_decimals() {
    let out = attn("demo qkv --width 80").ok().out;
    let row = out.lines().find(|line| line.starts_with("   │ the") && line.contains("1.00  0.00")).unwrap();
    assert!(!row.contains("0. "), "{row}");
    let out = attn("demo mask --only A --heat never").ok().out;
    let row: Vec<&str> =
        out.lines().find(|line| line.starts_with("│ writing")).unwrap().split_whitespace().collect();
    assert!(row.contains(&"0.00") && row.contains(&"0.98"), "{row:?}");
    let row: Vec<&str> =
        out.lines().find(|line| line.starts_with("│ the")).unwrap().split_whitespace().collect();
    assert_eq!(row[3..7], ["1.00", "0", "0", "0"]);
}

#[test]
fn two_steps_stand_side_by_side_on_a_wide_screen_in_the_order_of_reading() {
    let out = attn("demo mask --width 200").ok().out;
    let first = out.lines().find(|line| line.starts_with("1  ")).unwrap();
    assert!(first.contains("    2  Each token gets"), "{first}");
    let numbers: Vec<usize> = out
        .lines()
        .flat_map(|line| [line.chars().take(3).collect::<String>(), line.chars().skip(102).take(3).collect()])
        .filter_map(|start| start.strip_suffix("  ").and_then(|number| number.parse().ok()))
        .collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7], "{out}");
    assert!(attn("demo mask --width 159").ok().out.lines().any(|line| line.starts_with("2  ")));
}
