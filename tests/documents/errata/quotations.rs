//! What the errata quote, compared with the texts: tests/golden/excerpts.py has cut the excerpts from them.

use attn::demo::Document;
use attn::demo::errata::{Erratum, errata};
use serde_json::Value;

use crate::golden;

/// What LaTeX and Markdown write, and how a quotation writes it; longer ones first.
const PLAIN: [(&str, &str); 34] = [
    ("\\left", ""),
    ("\\right", ""),
    ("\\quad", ""),
    ("\\(", ""),
    ("\\)", ""),
    ("$", ""),
    ("&", ""),
    ("**output matrix**", "output matrix"),
    ("\\mathbb{R}", "ℝ"),
    ("\\top", "T"),
    ("\\sum", "Σ"),
    ("\\cdot", "·"),
    ("\\ne", "≠"),
    ("\\in", "∈"),
    ("\\times", "×"),
    ("\\dots", "…"),
    ("\\mapsto", "↦"),
    ("\\sigma", "σ"),
    ("\\Delta", "Δ"),
    ("S'", "S′"),
    ("“", "‘"),
    ("”", "’"),
    ("\"fluffy\"", "‘fluffy’"),
    ("\"blue\"", "‘blue’"),
    ("\"creature\"", "‘creature’"),
    ("\\frac{1}", "1/"),
    ("\\frac{QK^T}", "QK^T/"),
    ("\\sqrt", "√"),
    ("\\text", ""),
    ("\\mathbf", ""),
    ("\\vec", ""),
    ("\\", ""),
    ("\u{a0}", ""),
    ("\n", ""),
];

/// An excerpt without blanks, LaTeX's commands as characters, and without the braces around a single thing.
fn plain(excerpt: &str) -> String {
    let mut text = excerpt.to_string();
    for (tex, character) in PLAIN {
        text = text.replace(tex, character);
    }
    without_needless_braces(&text)
}

/// `{n}`, `{head}` and `{d}` alone, `_{n}` as `_n`; braces around several things after `_` or `^` stay.
fn without_needless_braces(text: &str) -> String {
    let mut out: Vec<char> = Vec::new();
    let mut opened = Vec::new();
    for character in text.chars().filter(|c| !c.is_whitespace()) {
        match character {
            '{' => {
                opened.push(out.len());
                out.push('{');
            }
            '}' => {
                let start = opened.pop().expect("an opened brace");
                let is_script = start > 0 && ['_', '^'].contains(&out[start - 1]);
                if is_script && out.len() - start > 2 {
                    out.push('}');
                } else {
                    out.remove(start);
                }
            }
            other => out.push(other),
        }
    }
    out.into_iter().collect()
}

fn excerpt_of<'a>(cut: &'a Value, erratum: &Erratum) -> &'a Value {
    let is_its = |entry: &&Value| golden::string(entry, "id") == erratum.id;
    golden::list(cut, "excerpts")
        .iter()
        .find(is_its)
        .unwrap_or_else(|| panic!("no excerpt for {}", erratum.id))
}

/// The excerpt that an erratum quotes, as the text has it.
pub fn excerpt(id: &str) -> String {
    let erratum = errata().find(|erratum| erratum.id == id).unwrap();
    golden::string(excerpt_of(&golden::json("excerpts.json"), erratum), "excerpt").to_string()
}

/// The excerpts of the other lines that a correction names.
pub fn also(id: &str) -> Vec<String> {
    let cut = golden::json("excerpts.json");
    let of_it = golden::list(&cut, "also").iter().filter(|entry| golden::string(entry, "id") == id);
    of_it.map(|entry| golden::string(entry, "excerpt").to_string()).collect()
}

#[test]
fn every_quotation_is_what_the_text_says_in_the_line_that_is_named() {
    let cut = golden::json("excerpts.json");
    for erratum in errata() {
        let entry = excerpt_of(&cut, erratum);
        let excerpt = golden::string(entry, "excerpt");
        assert!(excerpt.split_whitespace().count() <= 25, "{}", erratum.id);
        assert_eq!(golden::string(entry, "document"), erratum.document.number(), "{}", erratum.id);
        assert_eq!(entry["line"].as_u64(), Some(erratum.line as u64), "{}", erratum.id);
        assert_eq!(without_blanks(erratum.text), plain(excerpt), "{}", erratum.id);
    }
    assert_eq!(golden::list(&cut, "excerpts").len(), errata().count());
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn a_quotation_that_says_something_else_is_told_apart() {
    assert_eq!(plain(r"\vec{o}_i = \sum_{j \ne i} w_j"), "o_i=Σ_{j≠i}w_j");
    assert_ne!(plain(r"\vec{o}_i = \sum_{j \ne i} w_j"), "o_i=Σ_jw_j");
    assert_eq!(plain(r"\text{head}_{n_h} \in \mathbb{R}^{n \times d}"), "head_{n_h}∈ℝ^{n×d}");
}

#[test]
fn titles_and_sections_are_those_of_the_texts() {
    let cut = golden::json("excerpts.json");
    for document in Document::ALL {
        assert_eq!(golden::string(&cut["titles"], document.number()), document.title());
    }
    for erratum in errata() {
        let headings = golden::list(&cut["headings"], erratum.document.number());
        let is_above = |entry: &&Value| entry["line"].as_u64().unwrap() <= erratum.line as u64;
        let heading = headings.iter().rev().find(is_above).map(|entry| golden::string(entry, "heading"));
        assert_eq!(heading, Some(erratum.place), "{}", erratum.id);
    }
}

#[test]
fn the_other_lines_that_a_correction_names_say_what_it_says_of_them() {
    let cut = golden::json("excerpts.json");
    for entry in golden::list(&cut, "also") {
        let id = golden::string(entry, "id");
        let erratum = errata().find(|erratum| erratum.id == id).unwrap_or_else(|| panic!("no erratum {id}"));
        let line = entry["line"].to_string();
        let mut numbers = erratum.holds.split(|c: char| !c.is_ascii_digit());
        assert!(numbers.any(|number| number == line), "{id} does not name line {line}: {}", erratum.holds);
    }
}

#[test]
fn the_shapes_of_the_second_text_fit_and_no_erratum_denies_it() {
    // 001:12 says “b_1, …, b_m, with the dimension of the a vectors being m”, which is what a weighted sum needs.
    assert!(errata().all(|erratum| (erratum.document.number(), erratum.line) != ("001", 12)));
}
