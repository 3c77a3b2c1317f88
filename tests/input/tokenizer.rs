//! Tokenizers against the Python package `tokenizers`, and files that are broken.

use std::fs;
use std::path::PathBuf;

use crate::common::one_in;
use attn::tokenizer::{Step, TokenSource, Tokenizer, TokenizerKind, Tokens};
use serde_json::{Value, json};

/// The fixtures, with the kind of each.
const KINDS: [(&str, TokenizerKind); 7] = [
    ("gpt2", TokenizerKind::ByteLevelBpe { merges: 303 }),
    ("llama3", TokenizerKind::ByteLevelBpe { merges: 301 }),
    ("llama2", TokenizerKind::Bpe { merges: 219, byte_fallback: true }),
    ("gemma", TokenizerKind::Bpe { merges: 222, byte_fallback: true }),
    ("bert", TokenizerKind::WordPiece),
    ("words", TokenizerKind::WordLevel),
    ("unigram", TokenizerKind::Unigram),
];

fn bytes(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/tokenizers");
    fs::read(folder.join(name)).expect("a fixture")
}

fn tokenizer(name: &str) -> Tokenizer {
    Tokenizer::from_bytes(name, &bytes(&format!("{name}.json"))).expect("a tokenizer")
}

fn value(name: &str) -> Value {
    serde_json::from_slice(&bytes(name)).expect("JSON")
}

/// The tokenizer of a fixture after a change.
fn changed(name: &str, change: impl FnOnce(&mut Value)) -> attn::error::Result<Tokenizer> {
    let mut file = value(&format!("{name}.json"));
    change(&mut file);
    Tokenizer::from_bytes("tokenizer.json", file.to_string().as_bytes())
}

fn refusal(name: &str, change: impl FnOnce(&mut Value)) -> String {
    changed(name, change).err().expect("an error").to_string()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().expect("a list")
}

fn numbers(value: &Value) -> Vec<usize> {
    let numbers = value.as_array().expect("a list").iter();
    numbers.map(|number| number.as_u64().expect("a number") as usize).collect()
}

/// The characters of a text before a byte, as Python counts.
fn characters(text: &str, byte: usize) -> usize {
    text[..byte].chars().count()
}

#[test]
fn every_text_has_the_tokens_of_the_python_package() {
    let expected = value("expected.json");
    let page = list(&expected, "page");
    assert_eq!(page.len(), 39);
    for (name, kind) in KINDS {
        let (tokenizer, expected) = (tokenizer(name), &expected["tokenizers"][name]);
        assert_eq!(tokenizer.kind(), kind, "{name}");
        assert_eq!(tokenizer.vocabulary_size() as u64, expected["size"].as_u64().unwrap(), "{name}");
        for (text, row) in page.iter().zip(list(expected, "rows")) {
            let text = text.as_str().expect("a text");
            let Tokens { tokens } = tokenizer.encode(text).expect("tokens");
            let ids: Vec<usize> = tokens.iter().map(|token| token.id as usize).collect();
            assert_eq!(ids, numbers(&row[0]), "{name}: {text:?}");
            let added: Vec<usize> = tokens.iter().map(|token| usize::from(token.is_added())).collect();
            assert_eq!(added, numbers(&row[1]), "{name}: {text:?}");
            for (token, offsets) in tokens.iter().zip(row[2].as_array().unwrap()) {
                let range = [token.range.start, token.range.end].map(|byte| characters(text, byte));
                assert_eq!(range[..], numbers(offsets)[..], "{name}: {text:?}: {token:?}");
                assert_eq!(token.piece, expected["pieces"][token.id.to_string()], "{name}");
            }
        }
    }
}

#[test]
fn merges_are_those_of_the_plain_algorithm_in_its_order() {
    let expected = value("expected.json");
    for name in ["gpt2", "llama3"] {
        let tokenizer = tokenizer(name);
        let piece = |id: &u32| tokenizer.piece(*id).expect("a piece");
        let texts = list(&expected["merges"], "page").iter().zip(list(&expected["merges"], name));
        for (text, words) in texts {
            let text = text.as_str().unwrap();
            let steps = tokenizer.steps(text).unwrap().expect("BPE has steps");
            assert_eq!(steps.len(), words.as_array().unwrap().len(), "{name}: {text:?}");
            for (word, expected) in steps.iter().zip(words.as_array().unwrap()) {
                let merge = |step: &Step| match step {
                    Step::Merge { left, right, number, .. } => {
                        Some(json!([piece(left), piece(right), number]))
                    }
                    _ => None,
                };
                assert_eq!(word.word, expected["word"]);
                assert_eq!(
                    json!(word.steps.iter().filter_map(merge).collect::<Vec<_>>()),
                    expected["merges"]
                );
                assert_eq!(json!(word.ids.iter().map(piece).collect::<Vec<_>>()), expected["pieces"]);
            }
        }
    }
}

#[test]
fn the_steps_of_every_text_end_in_its_tokens() {
    let page = value("expected.json");
    for (name, kind) in KINDS {
        let tokenizer = tokenizer(name);
        for text in list(&page, "page").iter().map(|text| text.as_str().unwrap()) {
            let Some(words) = tokenizer.steps(text).unwrap() else {
                assert!(matches!(kind, TokenizerKind::Unigram | TokenizerKind::WordLevel), "{name}");
                continue;
            };
            let steps: Vec<u32> = words.iter().flat_map(|word| word.ids.clone()).collect();
            let tokens = tokenizer.encode(text).unwrap().tokens;
            let tokens: Vec<u32> =
                tokens.iter().filter(|token| !token.is_added()).map(|token| token.id).collect();
            assert_eq!(steps, tokens, "{name}: {text:?}");
        }
    }
}

#[test]
fn what_the_file_adds_is_said() {
    let described = |name: &str| tokenizer(name).added().described();
    assert_eq!(described("gpt2"), None);
    assert_eq!(described("llama3").unwrap(), "<|begin_of_text|> before the text");
    assert_eq!(described("bert").unwrap(), "[CLS] before the text and [SEP] after it");
    assert_eq!(described("unigram").unwrap(), "</s> after the text");
    let beginning = |name: &str| tokenizer(name).beginning().map(|token| (token.id, token.piece.clone()));
    assert_eq!(beginning("gemma"), Some((2, "<bos>".to_string())));
    assert_eq!(beginning("gpt2"), None);
    assert_eq!(tokenizer("bert").special_ids(), [0, 1, 2, 3, 4]);
    assert_eq!(tokenizer("gemma").special_ids(), [0, 1, 2, 3], "other added tokens are not special");
    let left_out = tokenizer("bert").left_out().join("; ");
    assert!(left_out.contains("after 512 tokens") && left_out.contains("fills up"), "{left_out}");
}

#[test]
fn tokens_say_where_they_come_from() {
    let sources = |name: &str, text: &str| -> Vec<TokenSource> {
        tokenizer(name).encode(text).unwrap().tokens.iter().map(|token| token.source).collect()
    };
    use TokenSource::{After, Before, Special, Text, Unknown};
    assert_eq!(sources("bert", "[MASK] ☃ cave"), [Before, Special, Unknown, Text, After]);
    assert_eq!(sources("bert", ""), [Before, After]);
    assert_eq!(sources("llama3", "<|eot_id|>"), [Before, Special]);
    assert_eq!(sources("words", "the zebra"), [Text, Unknown]);
}

#[test]
fn pieces_are_shown_as_text() {
    let shown = |name: &str, text: &str| tokenizer(name).encode(text).unwrap().labels();
    assert_eq!(shown("gpt2", "The cave"), ["The", "␣cave"]);
    assert_eq!(shown("gpt2", "👍"), ["<0xF0>", "<0x9F>", "<0x91>", "<0x8D>"]);
    assert_eq!(shown("gpt2", "é")[..], ["é"]);
    assert_eq!(shown("llama2", "the 👍").last().unwrap(), "<0x8D>");
    assert_eq!(shown("llama2", "the")[1], "␣the");
    assert_eq!(shown("bert", "THE BATS"), ["[CLS]", "the", "bat", "##s", "[SEP]"]);
    let gpt2 = tokenizer("gpt2");
    let id = gpt2.id("Ġcave").expect("a piece");
    assert_eq!(gpt2.decode(id).unwrap(), "␣cave");
    assert_eq!(gpt2.tokens_of(&[id]).unwrap().tokens[0].piece, "Ġcave");
    let error = gpt2.tokens_of(&[id, 559, 999]).unwrap_err().to_string();
    assert!(error.starts_with("id 3 of the list, 999, has no piece"), "{error}");
    assert!(error.contains("the largest id is 559"), "{error}");
}

#[test]
fn a_word_outside_the_vocabulary_is_named_with_its_column_and_its_neighbours() {
    let without_unknown = |file: &mut Value| {
        let id = file["model"]["vocab"].as_object_mut().unwrap().remove("[UNK]").unwrap();
        file["model"]["vocab"]["[PAD]"] = id;
        file["added_tokens"] = json!([]);
    };
    let tokenizer = changed("words", without_unknown).unwrap();
    assert!(tokenizer.encode("the bat that").is_ok());
    let error = tokenizer.encode("thé bat that").unwrap_err().to_string();
    assert!(error.starts_with("the word `thé` in column 1 is not among the 200 words"), "{error}");
    let error = tokenizer.encode("the bat rackest").unwrap_err().to_string();
    assert!(error.starts_with("the word `rackest` in column 9 is not among"), "{error}");
    assert!(error.contains("did you mean `rackets`?"), "{error}");
    let error = tokenizer.encode("zzzzzzzzzzzz").unwrap_err().to_string();
    assert!(error.contains("its first words are: [PAD] the"), "{error}");
    let bert = changed("bert", |file| file["model"]["unk_token"] = json!("[NONE]")).unwrap();
    let error = bert.encode("the ☃").unwrap_err().to_string();
    assert!(error.starts_with("`☃` in column 5 is not in the vocabulary"), "{error}");
}

#[test]
fn a_text_that_is_no_text_is_refused() {
    let error = tokenizer("gpt2").encode("caf\u{10ffe9}").unwrap_err().to_string();
    assert!(error.starts_with("the text `caf\\xE9` is not UTF-8"), "{error}");
}

#[test]
fn a_broken_file_is_refused_by_what_is_wrong() {
    let said =
        |text: &[u8]| Tokenizer::from_bytes("tokenizer.json", text).err().expect("an error").to_string();
    let whole = bytes("gpt2.json");
    let cut = said(&whole[..1000]);
    assert!(cut.starts_with("tokenizer.json:1:1000: this is not JSON: EOF while parsing"), "{cut}");
    assert!(cut.contains("download it again"), "{cut}");
    assert!(said(b"[]").contains("is not a JSON object"));
    assert!(said(b"{}").contains("has no `model`"));
    assert!(said(b"\xff").contains("this is not JSON"));
    type Change = fn(&mut Value);
    let cases: [(&str, Change, &str); 21] = [
        ("gpt2", |file| file["model"]["vocab"] = json!({}), "the vocabulary is empty"),
        ("gpt2", |file| file["model"]["vocab"] = json!(7), "has no `vocab`"),
        ("gpt2", |file| file["model"]["vocab"]["!"] = json!(1), "pieces `!` and `\"` have the same id, 1"),
        ("gpt2", |file| file["model"]["vocab"]["!"] = json!(-1), "piece `!` has no usable id: -1"),
        ("gpt2", |file| file["model"]["vocab"]["!"] = json!(1u64 << 40), "has no usable id"),
        ("gpt2", |file| file["model"]["merges"][2] = json!("a b c"), "merge 3 is not a pair of pieces"),
        ("gpt2", |file| file["model"]["merges"][2] = json!("zz z"), "merge 3 has the piece `zz`"),
        ("llama3", |file| file["model"]["merges"][2] = json!(["a"]), "merge 3 is not a pair of pieces"),
        ("llama3", |file| file["model"]["merges"] = Value::Null, "has no list of `merges`"),
        ("llama3", |file| file["model"]["type"] = json!("Bpe2"), "the type of tokenizer `Bpe2` is not known"),
        ("llama3", |file| file["version"] = json!("2.0"), "Unknown tokenizer version '2.0'"),
        ("llama3", |file| file["added_tokens"][1] = json!({ "id": 3 }), "entry 2 of `added_tokens`"),
        (
            "llama3",
            |file| file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = json!("(?P<"),
            "this tokenizer cannot be used",
        ),
        (
            "llama3",
            |file| file["post_processor"]["processors"][1]["special_tokens"] = json!({}),
            "the template adds `<|begin_of_text|>`",
        ),
        (
            "llama3",
            |file| {
                file["post_processor"]["processors"][1]["single"][1] =
                    json!({ "Sequence": { "id": "B", "type_id": 0 } })
            },
            "the template for one text asks for another one",
        ),
        ("gemma", |file| file["post_processor"]["single"] = json!([]), "has no place for the text"),
        (
            "bert",
            |file| file["pre_tokenizer"] = json!({ "type": "FixedLength", "length": 0 }),
            "cuts words of length 0",
        ),
        (
            "llama2",
            |file| file["normalizer"]["normalizers"][0]["prepend"] = json!(""),
            "puts an empty text before",
        ),
        (
            "llama2",
            |file| file["normalizer"]["normalizers"][1]["pattern"] = json!({ "Regex": "(?=a)" }),
            "the pattern `(?=a)` of the normalizer matches an empty place",
        ),
        ("unigram", |file| file["model"]["vocab"][3] = json!(["", 0.0]), "entry 3 of the vocabulary"),
        (
            "unigram",
            |file| file["normalizer"] = json!({ "type": "Precompiled", "precompiled_charsmap": "AAAA" }),
            "`precompiled_charsmap` is broken",
        ),
    ];
    for (name, change, expected) in cases {
        let said = refusal(name, change);
        assert!(said.starts_with("tokenizer.json: ") && said.contains(expected), "{name}: {said}");
        assert!(said.contains("help: "), "{said}");
    }
}

/// The error of a text in a fixture after a change.
fn text_refused(name: &str, text: &str, change: impl FnOnce(&mut Value)) -> String {
    let tokenizer = changed(name, change).expect("a tokenizer");
    tokenizer.encode(text).expect_err("an error").to_string()
}

#[test]
fn a_short_file_that_would_take_all_memory_or_never_end_is_refused() {
    let long = || "#".repeat(1000);
    let replace = |count: usize| json!({ "type": "Replace", "pattern": { "String": "a" }, "content": "a".repeat(count) });
    let sequence =
        |rule: Value, count: usize| json!({ "type": "Sequence", "normalizers": vec![rule; count] });
    let template = |pieces: Value, ids: usize| {
        json!({ "type": "TemplateProcessing", "single": pieces, "pair": [],
            "special_tokens": { "s": { "id": "s", "ids": vec![1; ids], "tokens": vec!["a"; ids] } } })
    };
    let place = json!({ "Sequence": { "id": "A", "type_id": 0 } });
    let special = json!({ "SpecialToken": { "id": "s", "type_id": 0 } });
    let grows = "the normalizer makes ";
    // Where every letter grows, the letters that are tried when a file is read do too.
    for (normalizer, expected) in [
        (sequence(replace(8), 30), grows),
        (sequence(replace(1000), 2), grows),
        // The same without its name, as old files have it.
        (sequence(json!({ "pattern": { "String": "a" }, "content": "a".repeat(8) }), 30), grows),
        (
            sequence(json!({ "type": "Replace", "pattern": { "Regex": "." }, "content": "aaaaaaaa" }), 30),
            grows,
        ),
        (json!({ "type": "Prepend", "prepend": long() }), "`prepend` of the tokenizer has 1,000 bytes"),
        (sequence(json!({ "type": "NFC" }), 33), "more than 32 steps"),
    ] {
        let said = refusal("bert", |file| file["normalizer"] = normalizer.clone());
        assert!(said.contains(expected), "{normalizer}: {said}");
    }
    let said = refusal("bert", |file| {
        file["post_processor"] = template(json!([special, special, place]), 501);
    });
    assert!(said.contains("puts 1,002 tokens around each text; at most 1,000"), "{said}");
    let said = refusal("bert", |file| file["post_processor"] = template(json!([place, place]), 1));
    assert!(said.contains("has 2 places for the text"), "{said}");
    for key in ["unk_token", "continuing_subword_prefix"] {
        let said = refusal("bert", |file| file["model"][key] = json!(long()));
        assert!(said.contains(&format!("`{key}` of the tokenizer has 1,000 bytes")), "{said}");
    }
    // What only a text shows.
    let word = "z".repeat(50_000);
    let too_long = "the words of this text are too long for this tokenizer";
    let said =
        text_refused("bert", &word, |file| file["model"]["max_input_chars_per_word"] = json!(1_000_000_000));
    assert!(said.contains(too_long), "{said}");
    let said = text_refused("unigram", &word, |file| {
        file["model"]["vocab"].as_array_mut().unwrap().push(json!(["z".repeat(2000), -1.0]));
    });
    assert!(said.contains(too_long), "{said}");
    // Files as people have them read such a text.
    for (name, _) in KINDS.into_iter().filter(|(name, _)| *name != "words") {
        tokenizer(name).encode(&word).unwrap();
    }
}

/// A generator of numbers that needs no crate: xorshift.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Reads a file and, if that is possible, some texts with it: nothing may panic. Returns whether it was read.
fn is_read(file: &[u8]) -> bool {
    match Tokenizer::from_bytes("tokenizer.json", file) {
        Ok(tokenizer) => {
            for text in ["the bat's 12  👍 <s>é\n", "", "▁", "[MASK]<|eot_id|>", "a a\u{301} [UNK]"] {
                let _ = tokenizer.encode(text).map(|tokens| tokens.labels());
                let _ = tokenizer.steps(text);
            }
            true
        }
        Err(error) => {
            assert!(error.to_string().starts_with("tokenizer.json"), "{error}");
            false
        }
    }
}

/// Texts of letters, marks and tokens that rules treat differently.
fn mixed_texts(state: &mut u64) -> Vec<String> {
    let parts: Vec<&str> = concat!(
        "a b t e s x é ᄒ \u{1161} \u{301} \u{316} \u{344} \n \t 日 本 ー カ あ 한 ﬁ ½ ① Å İ ß ŉ Σ 👍 🏽 \u{1F9E0} \u{200b} \u{ad} ",
        "<s> [MASK] <|eot_id|> <mask> ' ll . , ! 1 23 ▁ Ġ the bat cave racket Unhappiness"
    )
    .split(' ')
    .chain([" ", "  ", " "])
    .collect();
    let mut text = || {
        let length = next(state) % 24;
        (0..length).map(|_| parts[next(state) as usize % parts.len()]).collect()
    };
    (0..20).map(|_| text()).collect()
}

/// Compares the ids and places of some texts with those of the crate `tokenizers`, if both read a file. Returns whether they do.
fn is_as_in_the_crate(what: &str, file: &[u8], texts: &[String]) -> bool {
    let Ok(ours) = Tokenizer::from_bytes("tokenizer.json", file) else { return false };
    let Ok(mut theirs) = tokenizers::Tokenizer::from_bytes(file) else { return false };
    theirs.with_padding(None).with_truncation(None).expect("no truncation");
    for text in texts {
        let (ours, theirs) = match (ours.encode(text), theirs.encode(text.as_str(), true)) {
            (Ok(ours), Ok(theirs)) => (ours, theirs),
            (ours, theirs) => {
                assert_eq!(ours.is_err(), theirs.is_err(), "{what}: {text:?}");
                continue;
            }
        };
        assert_eq!(ours.ids(), theirs.get_ids(), "{what}: {text:?}");
        for (at, token) in ours.tokens.iter().enumerate() {
            assert_eq!(token.is_added(), theirs.get_special_tokens_mask()[at] == 1, "{what}: {text:?}");
            let (start, end) = theirs.get_offsets()[at];
            let place = text.floor_char_boundary(start)..text.ceil_char_boundary(end);
            assert_eq!(token.range, if start > end { 0..0 } else { place }, "{what}: {text:?}: {token:?}");
        }
    }
    true
}

#[test]
fn every_text_has_the_tokens_and_places_of_the_crate() {
    let page = value("expected.json");
    let mut texts: Vec<String> =
        list(&page, "page").iter().map(|text| text.as_str().unwrap().to_string()).collect();
    let mut state = 88_172_645_463_325_252;
    texts.extend(mixed_texts(&mut state));
    for (name, _) in KINDS {
        assert!(is_as_in_the_crate(name, &bytes(&format!("{name}.json")), &texts), "{name}");
    }
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    for file in ["models/words", "tests/models/masked"] {
        let bytes = fs::read(root.join(file).join("tokenizer.json")).expect("a tokenizer");
        assert!(is_as_in_the_crate(file, &bytes, &texts), "{file}");
    }
    let seeds = fs::read_dir(root.join("fuzz/corpus/tokenizer")).expect("seeds");
    let read = seeds.map(|seed| fs::read(seed.expect("a seed").path()).expect("a seed")).filter(|seed| {
        let file = seed.split(|&byte| byte == b'\n').next().unwrap_or_default();
        is_as_in_the_crate("a seed", file, &texts)
    });
    assert!(read.count() >= 5);
}

#[test]
fn every_rule_does_what_it_does_in_the_crate() {
    let regex = |pattern: &str| json!({ "Regex": pattern });
    let mut rules = Vec::new();
    for kind in ["NFC", "NFD", "NFKC", "NFKD", "StripAccents", "Lowercase", "Nmt", "ByteLevel"] {
        rules.push(("normalizer", json!({ "type": kind })));
    }
    for flag in [true, false] {
        let bert = json!({ "type": "BertNormalizer", "clean_text": flag, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": flag });
        let strip = json!({ "type": "Strip", "strip_left": flag, "strip_right": true });
        rules.extend([("normalizer", bert), ("normalizer", strip)]);
        let byte_level =
            json!({ "type": "ByteLevel", "add_prefix_space": flag, "trim_offsets": true, "use_regex": flag });
        let digits = json!({ "type": "Digits", "individual_digits": flag });
        rules.extend([("pre_tokenizer", byte_level.clone()), ("pre_tokenizer", digits)]);
        let roberta = json!({ "type": "RobertaProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0], "trim_offsets": true,
            "add_prefix_space": flag });
        rules.extend([("post_processor", byte_level), ("post_processor", roberta)]);
        for scheme in ["first", "never", "always"] {
            let mark =
                json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": flag });
            rules.push(("pre_tokenizer", mark));
        }
        for behavior in ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"] {
            for pattern in
                [regex("\\s+"), regex("(?i)[bt]|\\p{N}{1,3}"), regex("x*"), json!({ "String": "a" })]
            {
                let split =
                    json!({ "type": "Split", "pattern": pattern, "behavior": behavior, "invert": flag });
                rules.push(("pre_tokenizer", split));
            }
            rules.push(("pre_tokenizer", json!({ "type": "Punctuation", "behavior": behavior })));
        }
    }
    for (pattern, content) in
        [(regex("[aeé]+"), "xy"), (regex("\\s{2,}|b"), ""), (json!({ "String": " " }), "▁")]
    {
        rules.push(("normalizer", json!({ "type": "Replace", "pattern": pattern, "content": content })));
    }
    rules.push(("normalizer", json!({ "type": "Prepend", "prepend": "▁é" })));
    for kind in ["BertPreTokenizer", "Whitespace", "WhitespaceSplit", "UnicodeScripts", "FixedLength"] {
        rules.push(("pre_tokenizer", json!({ "type": kind })));
    }
    rules.push(("pre_tokenizer", json!({ "type": "CharDelimiterSplit", "delimiter": "a" })));
    rules
        .push(("post_processor", json!({ "type": "BertProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0] })));
    let mut state = 88_172_645_463_325_252;
    for (name, _) in KINDS {
        let whole = value(&format!("{name}.json"));
        for (place, rule) in rules.iter().step_by(one_in(5)) {
            let mut file = whole.clone();
            file[place] = rule.clone();
            let what = format!("{name}: {rule}");
            assert!(
                is_as_in_the_crate(&what, file.to_string().as_bytes(), &mixed_texts(&mut state)),
                "{what}"
            );
        }
    }
}

#[test]
fn no_changed_byte_makes_the_program_panic() {
    let (mut state, mut read, mut refused) = (88_172_645_463_325_252, 0, 0);
    for (name, _) in KINDS {
        let whole = bytes(&format!("{name}.json"));
        for round in 0..60 {
            let mut file = whole.clone();
            if round % 6 == 0 {
                file.truncate(next(&mut state) as usize % file.len());
            }
            // The rules stand at the ends of the file; in between is the vocabulary.
            for _ in 0..=round % 3 {
                let length = file.len().max(1);
                let edge = next(&mut state) as usize % length.min(1500);
                let at = if next(&mut state).is_multiple_of(2) { edge } else { length - 1 - edge };
                let bytes = *b"\"0519,:{}[]Aa_";
                if let Some(byte) = file.get_mut(at) {
                    *byte = bytes[next(&mut state) as usize % bytes.len()];
                }
            }
            if is_read(&file) { read += 1 } else { refused += 1 }
        }
    }
    assert!(read > 20 && refused > 100, "{read} were read, {refused} refused");
}

/// The places of a file, as JSON pointers; of a vocabulary and of merges only a few.
fn places(value: &Value, place: &str, found: &mut Vec<String>) {
    found.push(place.to_string());
    let most = if place.ends_with("vocab") || place.ends_with("merges") { 3 } else { usize::MAX };
    match value {
        Value::Object(map) => {
            for (key, inner) in map.iter().take(most) {
                let key = key.replace('~', "~0").replace('/', "~1");
                places(inner, &format!("{place}/{key}"), found);
            }
        }
        Value::Array(list) => {
            for (at, inner) in list.iter().enumerate().take(most) {
                places(inner, &format!("{place}/{at}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn no_changed_rule_makes_the_program_panic() {
    let others = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(7),
        json!(4_294_967_295_u64),
        json!(1e300),
        json!(""),
        json!(" "),
        json!("a*"),
        json!("(?=a)"),
        json!("▁"),
        json!([]),
        json!({}),
        json!(["a", "b"]),
        json!({ "type": "Sequence", "normalizers": [{ "type": "NFKD" }, { "type": "StripAccents" }] }),
        json!({ "type": "Replace", "pattern": { "Regex": "" }, "content": "x" }),
        json!({ "type": "Replace", "pattern": { "Regex": "(?<!a)" }, "content": "" }),
        json!({ "type": "Strip", "strip_left": true, "strip_right": true }),
        json!({ "type": "Prepend", "prepend": "" }),
        json!({ "type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true }),
        json!({ "type": "Metaspace", "replacement": "é", "prepend_scheme": "first", "split": false }),
        json!({ "type": "Split", "pattern": { "Regex": "" }, "behavior": "Removed", "invert": true }),
        json!({ "type": "Punctuation", "behavior": "Contiguous" }),
        json!({ "type": "Digits", "individual_digits": true }),
        json!({ "type": "UnicodeScripts" }),
        json!({ "type": "FixedLength", "length": 1 }),
        json!({ "type": "BertProcessing", "sep": ["x", 4_000_000_000_u64], "cls": ["", 0] }),
        json!({ "type": "RobertaProcessing", "sep": ["x", 1], "cls": ["y", 0], "trim_offsets": true, "add_prefix_space": false }),
    ];
    let (mut read, mut refused, mut panicked) = (0, 0, Vec::new());
    for (name, _) in KINDS {
        let whole = value(&format!("{name}.json"));
        let mut found = Vec::new();
        places(&whole, "", &mut found);
        for (at, place) in found.iter().enumerate() {
            // Every fifth of the values, in turn, keeps the sweep short.
            let step = 5 * one_in(5);
            for other in others.iter().skip(at % step).step_by(step) {
                let mut file = whole.clone();
                *file.pointer_mut(place).expect("a place") = other.clone();
                match std::panic::catch_unwind(|| is_read(file.to_string().as_bytes())) {
                    Ok(true) => read += 1,
                    Ok(false) => refused += 1,
                    Err(_) => panicked.push(format!("{name}: {place} = {other}")),
                }
            }
        }
    }
    assert!(panicked.is_empty(), "{} files: {}", panicked.len(), panicked.join("\n"));
    assert!(read.min(refused) > 400 / one_in(8), "{read} were read, {refused} refused");
}
