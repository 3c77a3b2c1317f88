//! Cells and heads by the names that people type: pieces without their spaces, ids of tokens, the usual names of heads.

use std::fs;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;

use crate::common::attn;

/// `tests/models/gpt2-a` with a byte-level tokenizer of a few words, most of them behind a space.
pub fn byte_level() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/gpt2-a");
    for file in ["config.json", "model.safetensors"] {
        fs::copy(model.join(file), folder.path().join(file)).unwrap();
    }
    let letters = ["a", "b", "c", "e", "h", "t", "v", "Ġ", "Ċ"];
    let merges = [
        ("t", "h"),
        ("th", "e"),
        ("Ġ", "the"),
        ("a", "t"),
        ("b", "at"),
        ("Ġ", "bat"),
        ("c", "a"),
        ("v", "e"),
        ("ca", "ve"),
        ("Ġ", "cave"),
    ];
    let merged = merges.iter().map(|(a, b)| format!("{a}{b}"));
    let pieces = letters.iter().map(|letter| letter.to_string()).chain(merged);
    let vocabulary: serde_json::Map<String, serde_json::Value> =
        pieces.enumerate().map(|(id, piece)| (piece, json!(id))).collect();
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "post_processor": null,
        "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": "",
            "end_of_word_suffix": "", "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
            "vocab": vocabulary, "merges": merges.map(|(a, b)| format!("{a} {b}")),
        },
    });
    fs::write(folder.path().join("tokenizer.json"), tokenizer.to_string()).unwrap();
    folder
}

/// A command on a text in that folder.
fn shown(folder: &TempDir, text: &str, options: &str) -> String {
    let place = folder.path().display();
    attn(&format!("model {place} '{text}' {options}")).ok().out
}

#[test]
fn a_piece_is_addressed_without_the_space_before_it() {
    let folder = byte_level();
    let text = "the bat the cave";
    let of = |cell: &str| shown(&folder, text, &format!("--explain 'L1.A_2[{cell}]'"));
    let ours = of("4,2");
    assert!(ours.contains("L1.A_2[␣cave,␣bat]"), "{ours}");
    for cell in ["cave,bat", "cave, bat", "_cave,_bat", "␣cave,bat", "Ġcave,Ġbat"] {
        assert_eq!(of(cell), ours, "{cell}");
    }
    assert_eq!(of("4,the"), of("4,1"), "the exact piece wins");
    assert_eq!(of("4,_the"), of("4,3"));
    let repeated = "the bat cave bat";
    let error = attn(&format!("model {} '{repeated}' --explain L1.A_2[4,bat]", folder.path().display()));
    error.refused(&["names 2 columns", "bat#1"]);
    let second = shown(&folder, repeated, "--explain L1.A_2[4,bat#2]");
    assert_eq!(second, shown(&folder, repeated, "--explain L1.A_2[4,4]"));
}

#[test]
fn around_finds_a_piece_without_the_space_before_it() {
    let folder = byte_level();
    let around =
        |token: &str| shown(&folder, "the bat the cave", &format!("--only L1.A_2 --around '{token}'"));
    for token in ["cave", "_cave", " cave", "␣cave"] {
        assert_eq!(around(token), around("Ġcave"), "{token}");
    }
    let place = folder.path().display();
    attn(&format!("model {place} 'the bat' --only L1.A_2 --around cave")).refused(&["no token", "cave"]);
}

#[test]
fn a_column_of_the_logits_is_a_token_by_its_piece_or_its_id() {
    let folder = byte_level();
    let of = |cell: &str| shown(&folder, "the bat", &format!("--explain 'logits[2,{cell}]'"));
    // Letters have the ids 0 to 8; ␣cave is merged last.
    let ours = of("token 18");
    assert!(ours.contains("logits[␣bat,␣cave]") && ours.contains("W_U[␣cave,"), "{ours}");
    assert!(ours.contains("wte.weight[18, "), "{ours}");
    assert_eq!(of("_cave"), ours);
    assert_eq!(of("19"), ours, "a number is a position, from 1");
    assert!(of("token 8").contains("logits[␣bat,\\n]"), "{}", of("token 8"));
    assert_eq!(of("\\n"), of("token 8"), "a line break is typed as it is shown");
    attn(&format!("model {} 'the bat' --explain 'logits[2,token 71]'", folder.path().display()))
        .refused(&["no token 71", "ids 0 to 70"]);
    let row = shown(&folder, "the bat", "--explain 'W_E[token 18,3]'");
    assert!(row.contains("in the file: [18, 2]"), "{row}");
}

#[test]
fn without_a_tokenizer_a_column_of_the_logits_is_the_id_of_a_token() {
    let out = attn("model tests/models/gpt2-a --ids 3,5 --explain 'logits[2,token 24]'").ok().out;
    assert!(out.contains("logits[token 5,token 24]") && out.contains("wte.weight[24, "), "{out}");
    let position = attn("model tests/models/gpt2-a --ids 3,5 --explain 'logits[2,24]'").ok().out;
    assert!(position.contains("logits[token 5,token 23]"), "{position}");
    let copied = attn("model tests/models/gpt2-a --ids 3,5 --explain E_tokens[2,1]").ok().out;
    assert!(copied.contains("W_E[token 5,1]") && !copied.contains("row 6"), "{copied}");
}

#[test]
fn a_weight_in_a_tree_has_its_whole_name_and_its_place_in_the_file() {
    let cell = "model tests/models/gpt2-a --ids 3,5 --explain L2.QKV[2,5]";
    for width in [60, 80, 200] {
        let out = attn(&format!("{cell} --width {width}")).ok().out;
        assert!(out.contains("places in the file count from 0"), "{out}");
        assert!(!out.contains("of the m"), "{out}");
        let branches: Vec<&str> =
            out.split("─ l2.").skip(1).filter(|branch| branch.contains("qkv[")).collect();
        assert!(branches.iter().filter(|branch| branch.contains("w_qkv[")).count() > 4, "{out}");
        for branch in branches {
            let inside = branch.split_once('[').unwrap().1.split_once(']').unwrap().0;
            let [row, col]: [usize; 2] =
                inside.split(',').map(|n| n.parse().unwrap()).collect::<Vec<_>>().try_into().unwrap();
            let joined: String = branch.chars().filter(|c| !c.is_whitespace() && *c != '│').collect();
            let place = match branch.contains("w_qkv[") {
                true => format!("h.1.attn.c_attn.weight[{},{}]", row - 1, col - 1),
                false => format!("h.1.attn.c_attn.bias[{}]", col - 1),
            };
            assert!(joined.contains(&place), "{width}: no {place} in {joined}");
        }
    }
}

#[test]
fn two_levels_below_a_weight_of_attention_stand_weights_by_their_names_in_the_file() {
    let text = "model words 'the bat sleeps in the cave . it is'";
    let out = attn(&format!("{text} --explain L2.A_4[8,6] --depth 2")).ok().out;
    for part in ["L2.S_4[it,cave]", "L2.Q_4[it,", "L2.QKV[it,", "transformer.h.1.attn.c_attn.weight["] {
        assert!(out.contains(part), "no {part} in\n{out}");
    }
    // What is followed is the way of one number; the others have their values.
    assert!(out.lines().count() < 150 && !out.contains("L2.S_4[it,bat]"), "{out}");
    assert!(out.contains("the 3 largest are"), "{out}");
}

/// The command in the last lines of an explanation, as a shell joins them.
fn further_down(out: &str) -> Option<String> {
    let (_, command) = out.split_once("→ Further down:")?;
    let words: Vec<&str> = command.split_whitespace().filter(|word| *word != "\\").collect();
    words.join(" ").strip_prefix("attn ").map(str::to_string)
}

#[test]
fn the_last_line_of_an_explanation_is_the_command_that_goes_further_down() {
    let text = "model words 'the bat sleeps in the cave . it is' --width 200";
    let mut command = format!("{text} --explain L2.A_4[8,6]");
    let mut seen = Vec::new();
    for _ in 0..3 {
        let out = attn(&command).ok().out;
        command = further_down(&out).unwrap_or_else(|| panic!("{command}\n{out}"));
        seen.push((out, command.clone()));
    }
    let narrow = attn(&format!("{text} --explain L2.A_4[8,6]").replace("200", "60")).ok().out;
    let end = "cave . it is' --width 60 \\\n  --explain 'L2.S_4[it,cave]'\n";
    assert!(narrow.ends_with(end), "two lines that a shell joins: {narrow}");
    assert!(seen[0].1.contains("--explain 'L2.S_4[it,cave]'"), "{}", seen[0].1);
    assert!(seen[1].1.contains("--explain 'L2.QKV[it,"), "{}", seen[1].1);
    let (third, _) = &seen[2];
    assert!(third.contains("transformer.h.1.attn.c_attn.weight["), "{third}");
}

#[test]
fn the_way_down_ends_at_the_embedding_of_a_token() {
    let text = "model words 'the bat sleeps'";
    let mut command = format!("{text} --explain L2.X[2,5]");
    let mut steps = 0;
    loop {
        let out = attn(&command).ok().out;
        let Some(next) = further_down(&out) else {
            assert!(out.contains("transformer.w"), "the table of a token or of a position: {out}");
            break;
        };
        command = next;
        steps += 1;
        assert!(steps < 30, "{command}");
    }
    assert!(steps >= 3, "{steps}");
}

#[test]
fn the_usual_name_of_a_head_is_understood_everywhere() {
    let text = "model words 'the bat sleeps'";
    let folder = tempfile::tempdir().unwrap();
    let saved = |name: &str| {
        let file = folder.path().join("a.csv");
        attn(&format!("{text} --save {name}={}", file.display())).ok();
        let text = fs::read_to_string(&file).unwrap();
        fs::remove_file(&file).unwrap();
        text
    };
    for (ours, usual) in [("L1.A_2", "L0H1"), ("L2.A_4", "L1H3")] {
        assert_eq!(saved(usual), saved(ours));
        for option in ["--only", "--explain", "--without"] {
            let cell = if option == "--explain" { "[2,1]" } else { "" };
            // The names that were typed stand above the heads.
            let out = |name: &str| {
                let out = attn(&format!("{text} {option} {name}{cell}")).ok().out;
                let from = out.find("What the heads attend to").unwrap_or(0);
                out[from..].replace(usual, ours)
            };
            assert_eq!(out(usual), out(ours), "{option}");
        }
    }
}

#[test]
fn the_usual_name_of_a_layers_only_head_is_understood_too() {
    // The same weights as those of one head.
    let folder = tempfile::tempdir().unwrap();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models/gpt2-c");
    fs::copy(model.join("model.safetensors"), folder.path().join("model.safetensors")).unwrap();
    let mut config: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(model.join("config.json")).unwrap()).unwrap();
    config["n_head"] = 1.into();
    fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    let text = format!("model {} --ids 3,5", folder.path().display());
    let ours = attn(&format!("{text} --only L2.A")).ok().out;
    for name in ["L1H0", "L2.A_1"] {
        assert_eq!(attn(&format!("{text} --only {name}")).ok().out, ours, "{name}");
        attn(&format!("{text} --explain {name}[2,1]")).ok();
        attn(&format!("{text} --without {name}")).ok();
    }
}

#[test]
fn a_head_that_is_shown_alone_has_its_usual_name_beside_it() {
    let text = "model words 'the bat sleeps'";
    for option in ["--only L2.A_3", "--only L2.S_3", "--explain L2.A_3[2,1]", "--explain L2.Q_3[2,1]"] {
        let out = attn(&format!("{text} {option}")).ok().out;
        assert!(out.contains("L1H2 elsewhere"), "{option}\n{out}");
    }
    let shared = attn(&format!("{text} --only L2.X")).ok().out;
    assert!(!shared.contains("elsewhere"), "{shared}");
}

#[test]
fn until_takes_short_names_as_only_does() {
    let text = "model words 'the bat sleeps' --layer 1 --head 2";
    let out = attn(&format!("{text} --until A")).ok().out;
    assert!(out.contains("L1.A_2") && out.contains('?'), "{out}");
    assert_eq!(attn(&format!("{text} --until L0H1")).ok().out, out);
}

#[test]
fn a_token_is_shown_in_the_same_way_in_every_table_and_format() {
    let folder = byte_level();
    let tables = |options: &str| -> Vec<serde_json::Value> {
        let out = shown(&folder, "the bat\n", &format!("{options} --format json"));
        let value: serde_json::Value = serde_json::from_str(&out).unwrap();
        value["tables"].as_array().unwrap().clone()
    };
    let tokens = |table: &serde_json::Value| -> Vec<(u64, String)> {
        let of = |row: &serde_json::Value| {
            (row["id"].as_u64().unwrap(), row["token"].as_str().unwrap().to_string())
        };
        table["rows"].as_array().unwrap().iter().map(of).collect()
    };
    let of_text = tables("--top 71");
    let names: std::collections::BTreeMap<u64, String> =
        tokens(of_text.iter().find(|table| table["title"] == "The next token").unwrap())
            .into_iter()
            .collect();
    assert_eq!((names.len(), &*names[&7], &*names[&8], &*names[&18]), (71, "␣", "\\n", "␣cave"));
    let written = tables("--next 9 --temperature 1000 --seed 4");
    for table in [&of_text[1], &written[1]] {
        for (id, token) in tokens(table) {
            assert_eq!(token, names[&id]);
        }
    }
    // A cell of one line, in every format.
    assert!(shown(&folder, "the bat\n", "--top 71").contains("│ \\n  "));
    for (format, view) in [("csv", ""), ("csv", "--only logits"), ("html", ""), ("markdown", "--all")] {
        let out = shown(&folder, "the bat\n", &format!("{view} --format {format}"));
        assert!(out.contains("\\n"), "{format} {view}: {out}");
    }
    let written = shown(&folder, "the bat", "--next 9 --temperature 1000 --seed 4 --width 200");
    let (_, goes_on) = written.split_once("→ goes on: ").unwrap();
    let goes_on = goes_on.split("\n\n").next().unwrap();
    assert!(!goes_on.contains('Ġ') && !goes_on.contains("t h"), "{goes_on}");
}
