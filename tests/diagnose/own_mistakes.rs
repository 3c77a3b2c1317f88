//! `attn diagnose --mistakes`: mistakes of a teacher's own.

use std::fs;
use std::sync::Arc;

use attn::cli::Env;
use attn::diagnose::{Change, Examiner, Mistake, Task, Tolerance, own_mistakes};
use attn::error::Result;
use attn::graph::recipes::{AttendInputs, Recipe};
use attn::input::ReadPermission;
use attn::matrix::Matrix;

use super::table::OWN;
use crate::common::attn;
use crate::exercise::place;
use crate::golden;
use crate::mistakes::{Ids, More, answer, named, own_cases};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/diagnose/own_mistakes.toml");

/// The mistakes of a text, as `mine.toml`.
fn read(text: &str) -> Result<Vec<Arc<Mistake>>> {
    Ok(own_mistakes("mine.toml", text.to_string())?.into_iter().flat_map(|group| group.mistakes).collect())
}

fn examiner(case: &More) -> Examiner {
    let own = read(&fs::read_to_string(FILE).unwrap()).unwrap();
    Examiner::new(case.examiner.task().clone().with_mistakes(&own).unwrap(), Tolerance::default())
}

fn ids(value: &serde_json::Value) -> Ids {
    golden::list(value, "mistakes").iter().map(|id| id.as_str().unwrap().to_string()).collect()
}

#[test]
fn mistakes_of_a_teachers_own_are_named_in_what_numpy_computes_alone_and_with_others() {
    let mut seen = Ids::new();
    for case in own_cases() {
        let examiner = examiner(case);
        assert!(examiner.examine(&[answer("O", &case.right)]).unwrap().is_right(), "{}", case.name);
        for slip in &case.slips {
            let diagnosis = examiner.examine(&[answer("O", &slip.result)]).unwrap();
            assert_eq!(named(&diagnosis), [ids(&slip.value)], "{}", case.name);
            seen.extend(ids(&slip.value));
            let told = &diagnosis.first_wrong().unwrap().mistakes[0].slips[0];
            if !slip.variant.is_empty() {
                assert_eq!(told.detail.as_deref(), Some(&*slip.variant));
                assert_eq!(told.sentence(), format!("The values were clipped ({}).", slip.variant));
                assert!(
                    told.fix().ends_with(&format!("{}).", slip.variant.trim_start_matches("to ±"))),
                    "{}",
                    told.fix()
                );
            }
        }
    }
    assert_eq!(seen.len(), 6, "{seen:?}");
}

#[test]
fn without_the_file_nothing_of_it_is_named_and_with_it_the_others_are_named_as_before() {
    for case in own_cases() {
        let with = examiner(case);
        for slip in &case.slips {
            let diagnosis = case.examiner.examine(&[answer("O", &slip.result)]).unwrap();
            let names = named(&diagnosis);
            assert!(names.iter().flatten().all(|id| !id.starts_with("own-")), "{names:?}");
            if slip.id == "no-scale" {
                assert_eq!(names, named(&with.examine(&[answer("O", &slip.result)]).unwrap()));
            }
        }
    }
    let all = attn("diagnose --list").ok().out;
    assert!(!all.contains("own-root"), "{all}");
}

/// A file of one mistake with one way; `{…}` in these lines is as it is.
fn with(lines: &str) -> String {
    let sentences =
        "[[mistake]]\nid = \"own\"\nslip = \"S.\"\nwhy = \"W.\"\nfix = \"F.\"\nsymptom = \"Y.\"\n";
    format!("{sentences}{lines}")
}

/// The error of a file, or of its ways in an exercise with a causal mask.
fn error(text: &str) -> String {
    let task = Task::new(Recipe::causal(), AttendInputs::of_tokens(Matrix::identity(3))).unwrap();
    let made = read(text).and_then(|own| task.with_mistakes(&own));
    made.map(|_| ()).expect_err(text).to_string()
}

#[test]
fn each_fault_of_a_file_is_told_with_its_line_its_column_and_the_name_that_was_meant() {
    let way = |lines: &str| with(&format!("[[mistake.ways]]\n{lines}"));
    let cases = [
        ("[[mistakes]]\n".to_string(), "1:3: there is no field `mistakes`", "did you mean `mistake`?"),
        (with("symptoms = 1"), "7:1: there is no field `symptoms`", "did you mean `symptom`?"),
        (with("").replace("why = \"W.\"", "why = 3"), "4:7: invalid type", "expected a string"),
        (with("").replace("why = \"W.\"\n", ""), "1:1: missing field `why`", ""),
        (
            with("likelihood = \"seldom\""),
            "7:14: there is no `seldom`",
            "it can be `classic`, `common`, `rare`",
        ),
        (with("oops"), "7:5: ", "expected `=`"),
        (with(""), "2:6: `own` has no ways", "[[mistake.ways]]"),
        (way("changes = \"scale = none\""), "8:1: there is no field `changes`", "did you mean `change`?"),
        (way("detail = \"x\""), "7:1: the way has no change", "scale = none"),
        (way("generator = \"operators\""), "8:13: only attn's own", "write change"),
        (way("change = \"scale is none\""), "8:10: `scale is none` is no change", "scale = none"),
        (way("change = \"scal = none\""), "8:10: there is no setting `scal`", "did you mean `scale`?"),
        (way("change = \"scale = nonne\""), "8:10: `scale` cannot be `nonne`", "did you mean `none`?"),
        (
            way("change = \"rely(queries)\""),
            "8:10: `rely(queries)`: there is no `rely`",
            "did you mean `relu`?",
        ),
        (way("change = \"relu(quries)\""), "there is no `quries`", "did you mean `queries`?"),
        (way("change = \"softmax(scores)\""), "without an axis", "rows-softmax"),
        (way("change = \"rows-sofmax(scores)\""), "there is no `sofmax`", "did you mean `softmax`?"),
        (way("change = \"times(scores, 1/d_kk)\""), "8:10: `d_kk` is no number", "did you mean `d_k`?"),
        (way("change = \"heads = 0\""), "8:10: there must be at least one head", "an `if`"),
        (way("change = \"relu(queries); relu(keys)\""), "8:10: a way has one operation at most", ""),
        (way("if = \"has_bais\"\nchange = \"scale = none\""), "8:6: there is no `has_bais`", "`has_bias`"),
        (way("if = \"mask.windw == 2\"\nchange = \"scale = none\""), "8:6: ", "`mask.window`"),
        (way("if = \"scor == dot\"\nchange = \"scale = none\""), "8:6: there is no `scor`", "`score`"),
        (way("alone = \"T >\"\nchange = \"scale = none\""), "8:9: the line ends here", ""),
        (way("change = \"scale = none\"\ndetail = \"{tokns}\""), "9:10: there is no `tokns`", ""),
        (way("for = [\"side\"]\nchange = \"scale = none\"\n[list]\nsides = []"), "8:7: ", "`sides`"),
    ];
    for (text, place, help) in cases {
        let error = error(&text);
        assert!(error.starts_with("mine.toml:"), "{text}\n{error}");
        assert!(error.contains(place) && error.contains(help), "{text}\n{error}");
    }
}

#[test]
fn an_id_is_taken_once_and_reads_as_an_id() {
    let one = with("[[mistake.ways]]\nchange = \"scale = none\"\n");
    let twice = error(&format!("{one}\n{one}"));
    assert!(twice.starts_with("mine.toml:11:6: `own` stands twice"), "{twice}");
    let clash = error(&one.replace("\"own\"", "\"no-scale\""));
    assert!(clash.starts_with("mine.toml:2:6: `no-scale` is a mistake of attn's own"), "{clash}");
    for id in ["", "Own", "own mistake", "scores-altered", "own-altered", &"o".repeat(41)] {
        let error = error(&one.replace("\"own\"", &format!("\"{id}\"")));
        assert!(error.contains(" is no id") || error.contains("attn's own"), "{id}: {error}");
    }
}

#[test]
fn a_file_cannot_drive_a_terminal_or_take_all_memory() {
    let way = |lines: &str| with(&format!("[[mistake.ways]]\n{lines}"));
    let bomb = |letter: char| {
        format!("{letter} = \"{}\"\n", format!("{{{}}}", (letter as u8 + 1) as char).repeat(60))
    };
    let bombs = "abcdefg".chars().map(bomb).collect::<String>();
    let cases = [
        (
            with("").replace("S.", "S\\u001B[2J."),
            "3:8: the text has a character that cannot be shown: \\u{1B}",
        ),
        (
            with("").replace("S.", "S\u{202e}."),
            "3:8: the text has a character that cannot be shown: \\u{202E}",
        ),
        (with("demo = \"x\\ny\""), "7:8: the text has a character that cannot be shown: \\n"),
        (
            way(&format!("change = \"scale = none\"\ndetail = \"{}\"", "x".repeat(4001))),
            "9:10: a text has at most 4000",
        ),
        (
            way("for = [\"n in 1..999\", \"m in 1..999\"]\nchange = \"scale = {n}\""),
            "8:7: this repeats the way",
        ),
        (way("for = [\"n in 1..99999\"]\nchange = \"scale = {n}\""), "8:7: this repeats from 1 to 99999"),
        (way("for = [\"n in 1..501\"]\nchange = \"scale = number({n})\""), "more than 500 ways"),
        (
            way("change = \"scale = none\"\ndetail = \"{a}\"\n[texts]\na = \"{b}\"\nb = \"{a}\""),
            "9:10: the texts",
        ),
        (
            way(&format!("change = \"scale = none\"\ndetail = \"{{a}}\"\n[texts]\n{bombs}h = \"x\"")),
            "9:10: written out",
        ),
        (way(&format!("change = \"scale = {}\"", "(".repeat(3000))), "8:10: more than 40 brackets"),
        (format!("a = {}", "[".repeat(100_000)), "mine.toml:1:"),
        (format!("[{}a]", "a.".repeat(100_000)), "mine.toml:1:"),
        (with("").repeat(101), "not 1 to 100"),
        ("#".repeat((1 << 18) + 1), "at most 256 KiB"),
        ("# nothing".into(), "not 1 to 100"),
    ];
    for (text, said) in cases {
        let error = error(&text);
        assert!(error.contains(said), "{said}: {error}");
    }
    // A text that stands for itself ends.
    let own = way(
        "for = [[{ a = '=\"{a if 1 else 1}\"' }]]\nchange = \"scale = none\"\ndetail = \"{a if 1 else 1}\"",
    );
    let task = Task::new(Recipe::causal(), AttendInputs::of_tokens(Matrix::identity(3))).unwrap();
    let task = task.with_mistakes(&read(&own).unwrap()).unwrap();
    assert_eq!(task.own_ways()[0].slip.detail.as_deref(), Some("{a if 1 else 1}"));
}

#[test]
fn the_example_of_the_documentation_is_read_and_can_be_made() {
    let example = OWN.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let own = read(example).unwrap();
    let case = &own_cases()[0];
    let task = case.examiner.task().clone().with_mistakes(&own).unwrap();
    let ways: Vec<String> = task.own_ways().iter().map(|way| way.slip.sentence()).collect();
    assert_eq!(ways.len(), 5, "{ways:?}");
    assert_eq!(ways[2], "The values were clipped (to ±1/2).");
    let clipped = case.slips.iter().find(|slip| slip.id == "own-clipped").unwrap();
    let diagnosis =
        Examiner::new(task, Tolerance::default()).examine(&[answer("O", &clipped.result)]).unwrap();
    assert_eq!(named(&diagnosis), [Ids::from(["scores-clipped".to_string()])]);
}

#[test]
fn every_way_of_the_mistakes_that_come_with_attn_is_one_operation_at_most() {
    for case in own_cases() {
        for mistake in attn::diagnose::catalogue() {
            for way in mistake.ways(case.examiner.task()).unwrap() {
                let operations = way.changes.iter().filter(|change| matches!(change, Change::Alteration(_)));
                assert!(operations.count() < 2, "{}", mistake.id);
            }
        }
    }
}

#[test]
fn the_command_names_lists_explains_and_checks_them() {
    let place = place();
    let case = &own_cases()[0];
    let slip = case.slips.iter().find(|slip| slip.id == "own-root").unwrap();
    let csv = |matrix: &Matrix| {
        let rows =
            (0..matrix.rows()).map(|i| matrix.row(i).map(|x| x.to_string()).collect::<Vec<_>>().join(","));
        rows.collect::<Vec<_>>().join("\n")
    };
    let golden = golden::json("own_mistakes.json");
    let inputs = &golden::list(&golden, "cases")[0]["inputs"];
    let bundle = place.path().join("exercise.json");
    fs::write(&bundle, inputs.to_string()).unwrap();
    let bundle = bundle.display();
    let command = |more: &str| attn(&format!("diagnose '{bundle}' --causal --mistakes '{FILE}' {more}"));
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_string();

    let file = path("o.csv");
    fs::write(&file, csv(&slip.result)).unwrap();
    let told = command("--yours").arg(&*file).run();
    assert_eq!(told.code, 1, "{}", told.err);
    assert!(
        told.out.starts_with("O is wrong") && told.out.contains("The root of each score was taken."),
        "{}",
        told.out
    );
    assert!(
        told.out.contains("To fix it: Leave out np.sqrt(np.abs(S)).") && told.out.contains("attn demo scale"),
        "{}",
        told.out
    );
    let json = command("--format json --yours").arg(&*file).run().out;
    assert!(json.contains("\"mistakes\":[{\"ids\":[\"own-root\"]"), "{json}");
    fs::create_dir(place.path().join("class")).unwrap();
    for name in ["ada", "alan"] {
        fs::copy(&file, place.path().join("class").join(format!("{name}.csv"))).unwrap();
    }
    let class = command("--batch").arg(path("class")).run();
    assert_eq!((class.code, class.out.matches("own-root").count()), (1, 3), "{}", class.out);

    let listed = command("").ok().out;
    let row = |id: &str, ways: usize| {
        let found = listed
            .lines()
            .find(|line| line.contains(id))
            .is_some_and(|line| line.ends_with(&format!(" {ways} │")));
        assert!(found, "{id}: {listed}");
    };
    for (id, ways) in [("own-clipped", 1), ("own-short-values", 2), ("own-late-residual", 0)] {
        row(id, ways);
    }
    assert!(!listed.contains("no-scale"), "{listed}");
    let bare = attn("diagnose --mistakes").arg(FILE).ok().out;
    assert!(bare.contains("own-root") && bare.contains("Scores\n"), "{bare}");
    let all = command("--list").ok().out;
    assert!(all.contains("no-scale") && all.contains("own-root"), "{all}");
    let one = command("--list own-root").ok().out;
    assert!(
        one.contains("The softmax reads the scores as they are.") && one.contains("attn demo scale."),
        "{one}"
    );

    for (lines, said) in [
        ("demo = \"scael\"", ":7:8: there is no demo `scael`\n  help: did you mean `scale`?"),
        ("demos = \"scale\"", ":7:1: there is no field `demos`\n  help: did you mean `demo`?"),
    ] {
        let text = with(&format!("{lines}\n[[mistake.ways]]\nchange = \"scale = none\"\n"));
        fs::write(place.path().join("bad.toml"), text).unwrap();
        let refused = attn("diagnose --mistakes").arg(path("bad.toml")).run();
        assert!(refused.code == 2 && refused.err.contains(said), "{}", refused.err);
    }
    let of_a_model = attn("diagnose --model no-such-model --yours x.npz --mistakes").arg(FILE).run();
    assert!(of_a_model.code == 2 && of_a_model.err.contains("cannot be used with"), "{}", of_a_model.err);
    let test_input = command("--suggest-input").arg(path("test.json")).run();
    assert!(
        test_input.code == 0 && test_input.out.contains("mistakes in the result"),
        "{}{}",
        test_input.out,
        test_input.err
    );
}

#[test]
fn a_lesson_reads_no_file_of_mistakes_that_it_may_not_read() {
    let (lesson, other) = (place(), place());
    let file = lesson.path().join("lesson.md");
    fs::write(&file, "").unwrap();
    let reading = ReadPermission::of_lesson(file.to_str().unwrap());
    for (folder, code) in [(&lesson, 0), (&other, 2)] {
        let file = folder.path().join("mine.toml");
        fs::copy(FILE, &file).unwrap();
        let env = Env { reading: reading.clone(), ..Env::default() };
        let outcome = attn("diagnose --mistakes").arg(file.to_str().unwrap()).env(env).run();
        assert_eq!(outcome.code, code, "{}", outcome.err);
        assert_eq!(outcome.err.contains("a lesson reads only files below its own folder"), code == 2);
    }
}
