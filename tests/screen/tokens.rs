//! `attn tokens`: what it prints of a text, of ids, and of broken input.

use std::fs;

use attn::foreign::hidden;
use serde_json::Value;
use unicode_width::UnicodeWidthStr;

use crate::common::{Attn, attn};

/// The command for one of the small tokenizers.
fn tokens(name: &str) -> Attn {
    attn("tokens").arg(format!("tests/tokenizers/{name}.json"))
}

/// The tables of the command as JSON.
fn tables(command: Attn) -> Vec<Value> {
    let out = command.arg("--format").arg("json").ok().out;
    let value: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(value["command"], "tokens");
    value["tables"].as_array().expect("tables").clone()
}

/// The cells of the lines of a screen that begin a row, without the frame.
fn rows(out: &str) -> Vec<String> {
    let line = |line: &str| line.trim_matches(['│', ' ']).split_whitespace().collect::<Vec<_>>().join(" ");
    out.lines().filter(|line| line.starts_with('│')).map(line).collect()
}

#[test]
fn a_text_is_shown_token_by_token() {
    let out = tokens("bert").arg("The BATS [MASK] ☃").ok().out;
    let rows = rows(&out);
    assert_eq!(rows[0], "token id piece text");
    for expected in [
        "1 2 [CLS] (added before the text)",
        "3 222 bat BAT",
        "4 460 ##s S",
        "5 4 [MASK] [MASK] (special)",
        "6 1 [UNK] ☃ (unknown)",
        "7 3 [SEP] (added after the text)",
        "tokens 7 tokens: 5 of the text, 2 added",
        "added [CLS] before the text and [SEP] after it",
        "tokenizer WordPiece; 740 pieces in the vocabulary",
    ] {
        assert!(rows.iter().any(|row| row == expected), "{expected}\n{out}");
    }
}

#[test]
fn merges_stand_one_per_line_and_end_in_the_tokens() {
    let out = tokens("gpt2").arg("The cave").arg("--merges").ok().out;
    let rows = rows(&out);
    let start = rows.iter().position(|row| row == "␣cave ␣ c a v e").expect("the word");
    assert_eq!(
        rows[start + 1..],
        ["␣ c → ␣c 17", "␣c a → ␣ca 39", "v e → ve 43", "␣ca ve → ␣cave 98", "= ␣cave"]
    );
    let out = tokens("bert").arg("bats").arg("--merges").ok().out;
    assert!(out.contains("bats begins with bat") && out.contains("##s is in the vocabulary"), "{out}");
    let out = tokens("llama3").arg("tokenizers <|eot_id|> tokenizers").arg("--merges").ok().out;
    assert!(out.contains("= ␣tokenizers   in the vocabulary as a whole"), "{out}");
    assert!(out.contains("= <|eot_id|>   a token of its own"), "{out}");
    let out = tokens("words").arg("the bat").arg("--merges").ok().out;
    assert!(out.contains("none: WordLevel has no list of merges"), "{out}");
}

#[test]
fn json_has_every_field() {
    let tables = tables(tokens("llama3").arg("é the").arg("--merges"));
    let token = &tables[0]["rows"][2];
    assert_eq!(token["position"], 3);
    assert_eq!(token["shown"].as_str().map(|shown| shown.replace('␣', " ")), Some(" the".to_string()));
    assert_eq!((&token["text"], &token["start"], &token["end"]), (&" the".into(), &1.into(), &5.into()));
    assert_eq!(tables[0]["rows"][0]["source"], "before");
    let summary = &tables[1]["rows"][0];
    assert_eq!((&summary["merges"], &summary["added"]), (&301.into(), &1.into()));
    let merges = &self::tables(tokens("gpt2").arg(" cave").arg("--merges"))[2]["rows"];
    assert_eq!(merges[4]["left"], "Ġca");
    assert_eq!((&merges[4]["result"], &merges[4]["merge"]), (&"Ġcave".into(), &98.into()));
    assert_eq!((&merges[5]["merge"], &merges[5]["tokens"]), (&Value::Null, &"Ġcave".into()));
    let csv = tokens("gpt2").arg("a,b").arg("--format").arg("csv").ok().out;
    assert!(csv.contains("position,id,piece,shown,text,start,end,source\n"), "{csv}");
    assert!(csv.contains("\",\",\",\",\",\",1,2,text"), "{csv}");
}

#[test]
fn ids_are_shown_without_a_text() {
    let given = tables(tokens("gpt2").arg("--ids").arg("308, 397"));
    let shown: Vec<&Value> = given[0]["rows"].as_array().unwrap().iter().map(|row| &row["shown"]).collect();
    assert_eq!(shown, ["The", "␣bat"]);
    tokens("gpt2").arg("--ids").arg("1,x").refused(&["id 2 of the list, `x`, is not a token id"]);
    tokens("gpt2").arg("--ids").arg("560").refused(&["560, is outside the vocabulary of 560 pieces"]);
    tokens("gpt2").arg("--ids").arg("1").arg("text").refused(&["--ids"]);
    let vocabulary = tables(tokens("gpt2"));
    assert_eq!(
        vocabulary[0]["rows"].as_array().map(Vec::len),
        Some(560),
        "without a text all pieces are listed"
    );
}

#[test]
fn a_text_stays_as_it_was_typed() {
    let text = |text: &str| -> String {
        let tables = tables(tokens("gpt2").arg(text));
        let rows = tables[0]["rows"].as_array().expect("rows");
        let mut covered: Vec<(u64, &str)> = rows
            .iter()
            .map(|row| (row["start"].as_u64().expect("a number"), row["text"].as_str().expect("a text")))
            .collect();
        // A character that several tokens share is in each of their rows.
        covered.dedup();
        covered.into_iter().map(|(_, text)| text).collect()
    };
    for typed in ["-5", "−5", "-1 2; 3 4", " a  b ", "", "\t\n\r\0\u{1b}[31m", "e\u{301}\u{202e}👩\u{200d}🔬"]
    {
        assert_eq!(text(typed), typed, "{typed:?}");
    }
}

#[test]
fn no_text_drives_the_terminal_or_breaks_the_frame() {
    let text = "\u{1b}]0;x\u{7}\u{9b}2J \u{202e}الخفاش\u{200b}\n\t\u{301}蝙蝠 👩\u{200d}🔬 \u{feff}\u{e0041}|&%$#_{}~^\\ <b>";
    for name in ["gpt2", "llama3", "llama2", "gemma", "bert", "words", "unigram"] {
        for format in ["table", "markdown", "latex", "html", "json", "csv"] {
            let command = tokens(name).arg(text).arg("--merges").arg("--format").arg(format);
            let out = command.ok().out;
            let is_safe = hidden(&out).all(|(_, c)| c == '\n' || format == "csv");
            assert!(is_safe, "{name} {format}: {out:?}");
        }
        for width in [40, 60, 80, 120] {
            for charset in ["utf8", "ascii"] {
                let command = tokens(name).arg(text).arg("--merges").arg(format!("--width={width}"));
                let out = command.arg(format!("--charset={charset}")).ok().out;
                assert!(charset == "utf8" || out.is_ascii(), "{out}");
                let frames = out.lines().filter(|line| line.starts_with(['│', '|', '╭', '+']));
                for line in frames {
                    assert!(line.width() <= width, "{name} at {width}: {line}");
                    assert!(
                        line.ends_with(['│', '|', '╮', '╯', '┤', '+']) || !line.starts_with('│'),
                        "{line}"
                    );
                }
            }
        }
    }
}

#[test]
fn what_is_no_tokenizer_is_refused() {
    attn("tokens tests/tokenizers x")
        .refused(&["tests/tokenizers: there is no tokenizer.json in this folder"]);
    attn("tokens nowhere x").refused(&["nowhere: no such folder"]);
    attn("tokens tests/tokenizers/expected.json x")
        .refused(&["the tokenizer has no `model`", "give token ids"]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = fs::read("tests/tokenizers/gpt2.json").expect("a fixture");
    fs::write(folder.path().join("tokenizer.json"), file).expect("a copy");
    let folder = folder.path().to_str().expect("UTF-8").to_string();
    assert_eq!(attn("tokens").arg(folder).arg("a bat").ok().out, tokens("gpt2").arg("a bat").ok().out);
}
