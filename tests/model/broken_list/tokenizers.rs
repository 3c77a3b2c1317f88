//! Tokenizers that are broken, and texts and ids that do not fit the model.

use serde_json::{Value, json};

use super::{assert_refused, case, run};
use crate::model::broken_folders::{copied, with_file, with_json, without_file};

const FILE: &str = "tokenizer.json";

#[test]
fn tokenizers_that_are_broken() {
    let place = "FOLDER/tokenizer.json";
    let changed = |change: &dyn Fn(&mut Value)| with_json(copied("words"), FILE, change);
    let zebra = |id: Value| changed(&|file| file["model"]["vocab"]["zebra"] = id.clone());
    let written = |text: &str| with_file(copied("words"), FILE, text);
    let split = json!({"type": "Split", "pattern": {"Regex": "("}, "behavior": "Isolated", "invert": false});
    let guess = changed(&|file| file["model"]["type"] = "Guess".into());
    let other_model = "FOLDER: token 2 has the id 500, but the model's vocabulary has 101";
    assert_refused(
        [
            case("empty", written(""), &[place, "the file is empty"]),
            case("cut off", written("{\"model\": "), &[place, "this is not JSON"]),
            case("without a model", written("{}"), &[place, "the tokenizer has no `model`"]),
            case("deep", written(&"[".repeat(100_000)), &[place, "recursion limit"]),
            case("an unknown kind", guess, &[place, "`Guess` is not known"]),
            case("a negative id", zebra(json!(-1)), &[place, "piece `zebra` has no usable id: -1"]),
            case("two pieces with one id", zebra(json!(3)), &[place, "have the same id, 3"]),
            case("an id of 2^40", zebra(json!(1u64 << 40)), &[place, "no usable id: 1099511627776"]),
            case(
                "a pattern that is none",
                changed(&|file| file["pre_tokenizer"] = split.clone()),
                &[place, "cannot be used"],
            ),
            case(
                "missing",
                without_file(copied("words"), FILE),
                &["FOLDER: there is no tokenizer.json", "give the ids"],
            ),
            case("larger than the model", zebra(json!(500)), &[other_model, "belongs to another model"]),
        ]
        .map(|case| case.of_text("the zebra sleeps")),
        11,
    );
    let first = changed(&|file| {
        let single =
            json!([{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]);
        let tokens = json!({"<s>": {"id": "<s>", "ids": [500], "tokens": ["<s>"]}});
        let pair = json!([{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}]);
        file["post_processor"] =
            json!({"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": tokens});
    });
    let words = ["FOLDER: token <s> has the id 500", "belongs to another model"];
    assert_refused([case("a first token that the model lacks", first, &words).of_args(&["--survey"])], 1);
}

#[test]
fn texts_and_ids_that_do_not_fit() {
    let text = |kind, text: &str, words: &[&str]| case(kind, copied("words"), words).of_text(text);
    let ids = |kind, ids: &str, words: &[&str]| case(kind, copied("words"), words).of_ids(ids);
    assert_refused(
        [
            ids("outside of the vocabulary", "1,101", &["id 2 of the list, 101, is outside", "0 to 100"]),
            ids(
                "beyond 64 bits",
                "99999999999999999999",
                &["id 1 of the list, 99999999999999999999, is outside"],
            ),
            ids("no ids", "", &["there is no token id"]),
            text("no tokens", " ", &["the text has no tokens"]),
            text(
                "longer than the context",
                &"the ".repeat(33),
                &["33 tokens, but the model has positions for 32"],
            ),
            text("very long", &"the ".repeat(30_000), &["the text has 30000 tokens"]),
        ],
        6,
    );
}

#[test]
fn ids_need_no_tokenizer() {
    let broken = with_file(copied("words"), FILE, "{");
    let missing = without_file(copied("words"), FILE);
    for (folder, is_broken) in [(&broken, true), (&missing, false)] {
        for args in [&["--ids", "1,2"][..], &[], &["--survey"], &["--ids", "1,2", "--layer", "1"]] {
            let args: Vec<String> = args.iter().map(|arg| arg.to_string()).collect();
            let output = run(folder.path(), &args);
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let said = String::from_utf8(output.stdout).unwrap();
            let tells_notes = !args.contains(&"--layer".into()) && !args.contains(&"--survey".into());
            assert_eq!(
                said.contains("the tokenizer is not used"),
                is_broken && tells_notes,
                "{args:?}\n{said}"
            );
        }
    }
}

#[test]
fn a_text_longer_than_those_of_the_training_is_computed_where_positions_allow_it() {
    let output = run(copied("mistral-a").path(), &["--ids".to_string(), vec!["1"; 65].join(",")]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("the text has 65 tokens, more than the 64"), "{said}");
}
