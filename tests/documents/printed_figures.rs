//! The figures that documents 002 to 004 print stand on the default screen of their demo, at 80 columns.

use crate::common::attn;

/// What is between the rules and blanks of each line.
fn lines(demo: &str) -> Vec<Vec<String>> {
    let out = attn(&format!("demo {demo} --width 80")).ok().out;
    let is_between = |c: char| c.is_whitespace() || "│├┤".contains(c);
    let words = |line: &str| -> Vec<String> {
        line.split(is_between).filter(|word| !word.is_empty()).map(str::to_string).collect()
    };
    out.lines().map(words).collect()
}

/// For each demo, numbers as the document prints them: those of one row stand next to each other on one line.
const PRINTED: &[(&str, &[&str])] = &[
    // 002, lines 31–33: the table of similarities; lines 16 and 52: the coordinates.
    ("similarity", &["bat 1.00 0.71 0.71", "cave 0.71 1.00 0", "racket 0.71 0 1.00"]),
    ("similarity", &["bat 3 3", "cave 4 0", "racket 0 5"]),
    // Lines 36–47: the mixtures, with scores and with weights.
    ("context", &["bat 1.00 0.71", "cave 0.71 1.00", "bat 0.57 0.43", "cave 0.43 0.57"]),
    ("context", &["bat 3 3 1.00 0.71 0.57 0.43", "racket 0 5 0.71 1.00 0.43 0.57"]),
    // Lines 65–73: four vectors, and where the matrix takes them.
    ("stretch", &["v1 1 0", "v2 0 1", "v3 1 1", "v4 -1 0", "x 3 0", "y 0 1", "v1 3 0", "v3 3 1", "v4 -3 0"]),
    // Lines 91–113: what the code prints.
    ("stretch", &["v3 1.00 -0.71", "v4 -0.71 1.00", "0.85 0.15", "1.00 -0.95", "-0.95 1.00", "0.88 0.12"]),
    // 003, line 222: the tokens of Llama 3 8B; lines 226–228: 4096 = 32 · 128 queries, 1024 = 8 · 128 keys.
    ("pooling", &["128256"]),
    ("gqa", &["GQA 4 8 32", "128"]),
    // 004, lines 30–48, 182–198: the widths and the heads of GPT-3.
    ("lowrank", &["12288", "128", "96"]),
];

#[test]
fn what_the_documents_print_is_on_the_screen() {
    for (demo, rows) in PRINTED {
        let lines = lines(demo);
        for row in *rows {
            let words: Vec<String> = row.split(' ').map(str::to_string).collect();
            let is_there = lines.iter().any(|line| line.windows(words.len()).any(|part| *part == words[..]))
                // A number in a sentence may have a full stop or a comma behind it.
                || (words.len() == 1
                    && lines.iter().flatten().any(|word| word.trim_matches(|c: char| !c.is_ascii_digit()) == *row));
            assert!(is_there, "demo {demo}: {row}");
        }
    }
}

/// The sizes of document 004 belong to GPT-3, which has 12288 numbers for a token, 128 for a head, and 96 heads.
#[test]
fn the_tokens_of_document_004_are_all_on_the_screen() {
    let lines = lines("update");
    for token in ["a", "fluffy", "blue", "creature", "roamed", "the", "verdant", "forest"] {
        assert!(lines.iter().any(|line| line.first().is_some_and(|word| word == token)), "{token}");
    }
}
