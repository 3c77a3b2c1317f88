//! Words that nobody has given a vector: any sentence, in any script, can be attended to.

use crate::common::{attn, one_in, words};
use attn::input::invented;
use serde_json::Value;

/// 1,000 English words: the most frequent ones of this project's lessons and pages when the test was written.
const WORDS: &str = include_str!("words.txt");

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

#[test]
fn invented_words_are_distinct_and_closer_if_one_letter_apart() {
    let words: Vec<&str> = WORDS.lines().collect();
    assert_eq!(words.len(), 1000);
    for width in [2, 3, 50].into_iter().step_by(one_in(3)) {
        let vectors = invented(&words, width, 4.0, &[]);
        let (mut near, mut far) = (Vec::new(), Vec::new());
        for i in 0..words.len() {
            for j in i + 1..words.len() {
                assert_ne!(vectors[i], vectors[j], "{} and {} in {width} columns", words[i], words[j]);
                let distance = distance(&vectors[i], &vectors[j]);
                match strsim::levenshtein(words[i], words[j]) {
                    1 => near.push((distance, words[i], words[j])),
                    _ => far.push(distance),
                }
            }
        }
        far.sort_by(f64::total_cmp);
        let median = far[far.len() / 2];
        assert!(near.len() > 500, "{} pairs one letter apart", near.len());
        for (distance, a, b) in near {
            assert!(distance < median, "{a} and {b} in {width} columns: {distance}, median {median}");
        }
    }
}

#[test]
fn a_sentence_keeps_its_words_its_marks_and_its_order() {
    for (sentence, tokens) in [
        ("A bat lives in the cave", "A|bat|lives|in|the|cave"),
        ("Eine Fledermaus wohnt in der Höhle, oder?", "Eine|Fledermaus|wohnt|in|der|Höhle|,|oder|?"),
        ("蝙蝠 住在 洞里。", "蝙蝠|住在|洞里|。"),
        ("الخفاش يعيش في الكهف؟", "الخفاش|يعيش|في|الكهف|؟"),
        ("the cat and the 🦇", "the|cat|and|the|🦇"),
    ] {
        let nodes = attn("attend --words").arg(sentence).nodes();
        for node in &nodes.0 {
            if !["W_Q", "W_K", "W_V"].contains(&node["name"].as_str().unwrap()) {
                let rows: Vec<&str> =
                    node["rows"].as_array().unwrap().iter().map(|row| row.as_str().unwrap()).collect();
                assert_eq!(rows.join("|"), tokens, "{}", node["name"]);
            }
        }
    }
}

#[test]
fn known_words_keep_their_coordinates_in_any_case_and_equal_words_are_equal() {
    let x = attn("attend --words 'The bat, the Cave, the bat'").nodes().matrix("X");
    let row = |i: usize| x.row(i).collect::<Vec<f64>>();
    assert_eq!((row(1), row(4), row(7)), (vec![3.0, 3.0], vec![4.0, 0.0], vec![3.0, 3.0]));
    assert_eq!(row(3), row(6));
    assert_ne!(row(0), row(3), "The and the are two words");
}

#[test]
fn invented_numbers_are_marked_in_row_note_and_explanation() {
    let line = "attend --words 'bat lives'";
    let out = attn(line).ok().out;
    let row = |word: &str| out.lines().find(|line| line.trim().starts_with(&format!("│ {word} "))).unwrap();
    assert!(row("lives").contains("invented from its letters") && !row("bat").contains("invented"), "{out}");
    assert!(out.contains("→ lives has no vector of its own: it is invented from its letters."), "{out}");
    let heads: Vec<&str> =
        row("X").split(|c: char| " │".contains(c)).filter(|part| !part.is_empty()).collect();
    assert_eq!(heads[..3], ["X", "1", "2"], "{out}");
    assert!(words(&out).join(" ").contains("For bat the columns are animals and sport."), "{out}");
    let explained = attn(&format!("{line} --explain X[lives,1]")).ok().out;
    assert!(explained.contains("invented from its letters"), "{explained}");
    for format in ["markdown", "latex", "html", "json"] {
        let out = attn(&format!("{line} --only X --format {format}")).ok().out;
        assert!(out.contains("invented from its letters"), "{format}: {out}");
    }
    let known = attn("attend --words 'bat cave'").ok().out;
    assert!(known.contains("animals   sport") && !known.contains("invented"), "{known}");
}

#[test]
fn column_names_reach_the_result_through_an_identity_only() {
    let cols = |line: &str| {
        let nodes = attn(line).nodes();
        nodes.0.last().map(|node| node["cols"].clone()).unwrap_or(Value::Null)
    };
    assert_eq!(cols("attend --words 'bat cave racket'"), serde_json::json!(["animals", "sport"]));
    assert_eq!(cols("attend --words 'bat cave' --wv '1 0; 0 1'"), serde_json::json!(["animals", "sport"]));
    assert_eq!(cols("attend --words 'bat cave' --wv '1 0; 0 2'"), Value::Null);
}

#[test]
fn a_word_can_be_defined_wherever_words_are_taken() {
    let attend = attn("attend --words 'A cat lives' --define cat=1,2 --define a=0,1").nodes().matrix("X");
    assert_eq!(attend.row(0).chain(attend.row(1)).collect::<Vec<_>>(), [0.0, 1.0, 1.0, 2.0]);
    let similarity = attn("similarity 'cat dog' --define cat=1,2,3 --define dog=0,1,0").nodes().matrix("X");
    assert_eq!(similarity.cells().collect::<Vec<_>>(), [1.0, 2.0, 3.0, 0.0, 1.0, 0.0]);
    let wide = attn("similarity cat dog --define cat=1,2,3").nodes().matrix("X");
    assert_eq!(wide.shape().cols, 3, "an invented vector is as wide as the others");
    let unused = attn("attend --words 'bat cave' --define cat=1,2").ok().out;
    assert!(unused.contains("cat is defined but does not occur"), "{unused}");
    attn("attend --x '1 2' --define cat=1,2").refused(&["--define needs words", "--words"]);
    attn("attend --words bat --define bat=1,2 --define bat=1,3").refused(&["`bat` is defined twice"]);
    let versus =
        attn("attend --words 'bat cat' --define cat=1,2 --versus '--define cat=2,1' --only X").ok().out;
    assert!(versus.contains("X_change"), "{versus}");
}

#[test]
fn a_file_of_vectors_decides_the_width_and_its_words_win() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("v.txt");
    std::fs::write(&file, "bat 1 0 0\nracket 0 0 1\nThe 0 1 0\n").unwrap();
    let line = format!("attend --embeddings '{}' --words", file.display());
    let nodes = attn(&line).arg("The BAT the rackett").nodes();
    let x = nodes.matrix("X");
    let row = |i: usize| x.row(i).collect::<Vec<f64>>();
    assert_eq!((row(0), row(1)), (vec![0.0, 1.0, 0.0], vec![1.0, 0.0, 0.0]));
    let origins = nodes.0[0]["origins"].as_array().unwrap();
    assert!(origins[0].as_str().unwrap().contains("v.txt"), "{origins:?}");
    assert_eq!(origins[2], "invented from its letters");
    // About as long as those of the file, which are 1 long.
    let length = row(3).iter().map(|x| x * x).sum::<f64>().sqrt();
    assert!((0.1..=1.51).contains(&length), "{length}");
    let said = attn(&line).arg("The rackett").ok().out;
    assert!(said.contains("for `rackett` did you mean `racket`?"), "{said}");
}

#[test]
fn lists_of_names_are_split_at_commas_or_else_at_blanks() {
    for words in ["cat,bat", "'cat bat'", "cat bat", "'cat, bat'"] {
        let rows = attn(&format!("similarity {words}")).nodes().0[0]["rows"].clone();
        assert_eq!(rows, serde_json::json!(["cat", "bat"]), "{words}");
    }
    for tokens in ["the,cat,sat", "'the cat sat'"] {
        let rows =
            attn(&format!("attend --x '1 0; 0 1; 1 1' --tokens {tokens}")).nodes().0[0]["rows"].clone();
        assert_eq!(rows, serde_json::json!(["the", "cat", "sat"]), "{tokens}");
    }
    attn("attend --x '1 0; 0 1; 1 1' --tokens cat")
        .refused(&["there is 1 name for 3 tokens", "give 3 names"]);
    attn("similarity ,").refused(&["no word"]);
}

#[test]
fn with_random_numbers_words_are_names() {
    let named = attn("attend --words 'a bat lives' --random 3,4").nodes();
    assert_eq!(named.0[0]["rows"], serde_json::json!(["a", "bat", "lives"]));
    assert!(named.matrix("X").same_bits(&attn("attend --random 3,4").nodes().matrix("X")));
    attn("attend --words 'a bat' --random 3,4").refused(&["2 names", "3 tokens"]);
}

#[test]
fn words_whose_coordinates_are_ours_are_told_from_those_of_the_document() {
    let said = attn("similarity bat owl cave").ok().out;
    let text = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("We chose the coordinates of owl; those of bat and cave are in “Mathematical details behind self-attention” (document 002)."),
        "{text}"
    );
    let known = attn("similarity bat cave").ok().out;
    assert!(!known.contains("We chose"), "{known}");
}

#[test]
fn similarity_and_softmax_compare_with_further_options() {
    let out = attn("softmax 1 2 3 --versus '--temperature 2' --only A_change").ok().out;
    // e, e², e³ over their sum, and the same of ½, 1, 1½, in NumPy.
    assert!(out.contains("+0.0963") && out.contains("-0.1588"), "{out}");
    let out =
        attn("similarity bat cat --define cat=1,2 --versus '--define cat=3,1' --only dot_change").ok().out;
    assert!(out.contains("dot_change"), "{out}");
    attn("softmax 1 2 --versus '--only A'").refused(&["in --versus"]);
    attn("softmax 1 2 --versus '--temperature 0'").refused(&["in --versus", "--temperature"]);
    attn("similarity bat cave --versus '--nonsense'").refused(&["in --versus"]);
}

#[test]
fn what_nobody_gave_is_folded_and_the_notes_about_words_stand_with_the_words() {
    let story = attn("attend --words 'The bat lives in the cave' --width 80").ok().out;
    let first_screen: Vec<&str> = story.lines().take(40).collect();
    let first_screen = first_screen.join("\n");
    assert!(first_screen.contains("Q = K = V = X"), "{first_screen}");
    assert!(first_screen.contains("│ S     │"), "the scores are on the first screen: {first_screen}");
    assert!(!story.contains("─ W_Q ─") && !story.contains("─ Q ─"), "{story}");
    let flat = words(&story).join(" ");
    let at = |text: &str| flat.find(text).unwrap_or_else(|| panic!("no {text}: {story}"));
    assert!(at("invented from its letters. Words") < at("2 Each token"), "{story}");
    assert!(at("the columns are animals and sport") < at("2 Each token"), "{story}");
    assert_eq!(story.matches("--define").count(), 1, "said once: {story}");
    let full = attn("attend --words 'The bat lives in the cave' --full").ok().out;
    assert!(full.contains("─ W_Q ─") && full.contains("─ Q ─"), "{full}");
}

#[test]
fn weights_that_are_given_are_shown_and_the_others_are_folded() {
    let story = attn("attend --x '1 2; 3 4' --wq '0 1; 1 0' --width 100").ok().out;
    assert!(story.contains("│ Q │ 1   2 │") && story.contains("Here K = V = X."), "{story}");
    assert!(!story.contains("Q = K"), "{story}");
}

#[test]
fn in_brief_no_sentence_stands_alone_and_the_scale_is_told_as_it_is() {
    let brief = attn("attend --x '1 2; 3 4' --brief").ok().out;
    assert!(brief.contains("1  The given matrices.\n   X (2×2)"), "{brief}");
    assert!(brief.contains("Divide by √2"), "{brief}");
    let number = attn("attend --x '1 2; 3 4' --scale 0.25").ok().out;
    assert!(number.contains("Multiply the scores by 0.25."), "{number}");
}

#[test]
fn words_without_quotation_marks_are_put_together_in_the_advice() {
    for (line, advice) in [
        ("attend --words bat cave", "'bat cave'"),
        ("attend --words bat cave racket", "'bat cave racket'"),
        ("attend bat cave", "'bat cave'"),
    ] {
        let refused = attn(line).run();
        assert_eq!(refused.code, 2, "{line}");
        assert!(refused.err.contains(&format!("attn attend --words {advice}")), "{}", refused.err);
    }
}

#[test]
fn a_sentence_without_spaces_is_told_to_be_one_token() {
    let told = |typed: &str| {
        words(&attn(&format!("attend --words '{typed}'")).ok().out).join(" ").contains("This is one token")
    };
    assert!(told("猫は魚を食べる"));
    assert!(!told("猫 は 魚") && !told("bat"));
}
