//! What students hand in, and what the teacher reads: codes from mails and forms, result files, and the page of a class.

use std::fs;

use attn::lesson::hand_in::{HandIn, HandedQuestion, handed_in};
use attn::lesson::quiz::Grade;
use serde_json::Value;

use crate::common::{Outcome, attn};

/// The line that the quiz of the tour ends with, under a name.
fn code(name: &str, answers: &str) -> String {
    let done = attn("lesson quiz 0-tour --tries 2 --name").arg(name).input(answers).run();
    let line = done.out.lines().find(|line| line.starts_with("attn1:")).expect("a line to hand in");
    line.to_string()
}

fn report(words: &str, text: &str) -> Outcome {
    attn(&format!("lesson report - {words}")).input(text).run()
}

fn tables(text: &str) -> Value {
    serde_json::from_str::<Value>(&report("--format json", text).out).unwrap()["tables"].clone()
}

fn student(name: &str, outcome: Grade, answer: &str, mistakes: &[&str]) -> HandIn {
    let question = HandedQuestion {
        id: "score".into(),
        outcome,
        answer: answer.into(),
        mistakes: mistakes.iter().map(|id| id.to_string()).collect(),
    };
    HandIn { name: name.into(), lesson: "0-tour".into(), seed: None, questions: vec![question] }
}

#[test]
fn a_line_is_read_from_mails_chats_and_forms_whatever_they_do_to_it() {
    let own = code("Ana", "12\n12\n");
    assert!(own.len() < 500, "{} characters", own.len());
    let expected = handed_in(&own).unwrap().remove(0).unwrap();
    assert_eq!(expected.name, "Ana");
    assert_eq!(expected.questions[0].id, "score");
    let letters: Vec<char> = own.chars().collect();
    let wrapped: Vec<String> = letters.chunks(60).map(|line| line.iter().collect()).collect();
    for text in [
        format!("Dear teacher,\n\n{own}\n\nAna"),
        format!("> > {}\n", wrapped.join("\n> > ")),
        format!("time,name,line\n2026-11-28,Ana,\"{own}\"\n"),
        format!("[12:01] Ana: {} ", wrapped.join("\r\n")),
    ] {
        assert_eq!(handed_in(&text).unwrap().remove(0).unwrap(), expected, "{text}");
    }
}

#[test]
fn a_changed_line_is_told_and_the_others_count() {
    let (good, bad) = (code("Ana", "12\n"), code("Ben", "3\n"));
    // Every letter of the base64 changed, one after the other.
    for at in 6..bad.len() - 1 {
        let letter = if bad.as_bytes()[at] == b'A' { "B" } else { "A" };
        let changed = format!("{}{letter}{}", &bad[..at], &bad[at + 1..]);
        let read = handed_in(&changed).unwrap().remove(0);
        assert!(read.is_err() || read.unwrap() == handed_in(&bad).unwrap().remove(0).unwrap(), "letter {at}");
    }
    let told = report("", &format!("{}\n{good}\n{}", bad.replacen(":e", ":f", 1), &bad[..40]));
    assert_eq!(told.code, 2);
    assert!(told.out.contains("Ana") && !told.out.contains("Ben"), "{}", told.out);
    assert!(told.err.contains("code 1: a code was changed"), "{}", told.err);
    assert!(told.err.contains("code 3: a code is cut off"), "{}", told.err);
}

#[test]
fn foreign_texts_are_bounded_and_escaped_and_open_no_file() {
    let evil = HandIn {
        lesson: "/etc/passwd".into(),
        ..student(
            "\u{1b}[31m<script>alert(1)</script>",
            Grade::Wrong,
            "\u{1b}]0;x\u{7}",
            &["no-scale", "../x"],
        )
    };
    let page = report("--format html", &evil.code());
    assert_eq!(page.code, 0, "{}", page.err);
    assert!(!page.out.contains("<script>alert") && !page.out.contains('\u{1b}'), "{}", page.out);
    assert!(!page.out.contains("../x"), "only mistakes that there are");
    assert!(!report("", &evil.code()).out.contains('\u{1b}'));
    for long in [
        HandIn { name: "x".repeat(501), ..evil.clone() },
        HandIn { questions: vec![evil.questions[0].clone(); 501], ..evil },
    ] {
        assert!(handed_in(&long.code()).unwrap()[0].is_err());
    }
    for (text, says) in [
        ("", "empty"),
        ("hello", "there are no results"),
        ("{", "this is not JSON"),
        ("{}", "there are no results"),
        ("attn1:", "cut off"),
        ("attn1:AAAA; and attn1:BBBB;", "code 1: a code was changed"),
        ("attn1:;", "changed"),
        ("a,b\n1,2\n", "there are no results"),
    ] {
        let told = report("", text);
        assert_eq!((told.code, told.out.as_str()), (2, ""), "{text}");
        assert!(told.err.contains(says), "{text}: {}", told.err);
    }
}

#[test]
fn what_a_teacher_has_to_look_at_stands_in_the_report_and_stops_nothing() {
    let place = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = place.path().join(name).display().to_string();
        fs::write(&path, text).unwrap();
        path
    };
    let own = HandIn { lesson: "our-own".into(), ..student("=1+1", Grade::Right, "-12", &[]) };
    let again = student("Ana", Grade::Wrong, "7", &[]).code();
    let files = [
        file("hello.txt", "hello"),
        file("ana.txt", &format!("{}\n{again}\n{}", code("Ana", "12\n"), own.code())),
    ];
    let told = attn("lesson report --format csv").arg(&files[0]).arg(&files[1]).run();
    assert_eq!(told.code, 2, "{}", told.err);
    assert!(told.err.contains("hello.txt: there are no results in it"), "{}", told.err);
    for line in [
        "Ana: 2 results of 0-tour; each counts",
        "our-own is not known here; name its folder with --add",
        "\n'=1+1,our-own,1,1,",
    ] {
        assert!(told.out.contains(line), "no `{line}` in {}", told.out);
    }
    let none = attn("lesson report").arg(&files[0]).arg(file("other.txt", "attn1:x;")).run();
    assert!(
        none.err.contains("hello.txt") && none.err.contains("other.txt"),
        "each file has its line: {}",
        none.err
    );
    let json = attn("lesson report --format json").arg(&files[0]).arg(&files[1]).run().out;
    assert!(json.contains("\"=1+1\""), "{json}");
}

#[test]
fn the_files_of_a_quiz_tell_the_same_as_its_line() {
    let place = tempfile::tempdir().unwrap();
    let mut told = Vec::new();
    for end in ["json", "csv"] {
        let file = place.path().join(format!("ana.{end}")).display().to_string();
        attn("lesson quiz 0-tour --tries 1 --name Ana --output").arg(&file).input("12\nB\n").run();
        told.push(attn("lesson report").arg(&file).ok().out);
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(handed_in(&text).unwrap().len(), 1);
    }
    let line = attn("lesson quiz 0-tour --tries 1 --name Ana").input("12\nB\n").run().out;
    told.push(report("", &line).out);
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0], told[2]);
}

#[test]
fn a_class_is_one_page_with_what_went_wrong_why_and_what_to_repeat() {
    let class: Vec<String> = (0..30)
        .map(|n| match n % 5 {
            0 => student(&format!("s{n:02}"), Grade::Right, "12", &[]),
            1 => student(&format!("s{n:02}"), Grade::SecondTry, "18", &[]),
            2 => student(&format!("s{n:02}"), Grade::Wrong, "18", &["no-scale"]),
            3 => student(&format!("s{n:02}"), Grade::Wrong, "7", &["no-scale", "transposed-twice"]),
            _ => student(&format!("s{n:02}"), Grade::Skipped, "", &[]),
        })
        .map(|one| one.code())
        .collect();
    let text = class.join("\n");
    let tables = tables(&text);
    let question = &tables[0]["rows"][0];
    // By hand: of 30 six each; (6 + 6/2) / 30 = 30 %.
    for (column, value) in
        [("right", 6), ("second try", 6), ("wrong", 12), ("no answer", 6), ("% of points", 30)]
    {
        assert_eq!(question[column], value, "{column}: {question}");
    }
    let wrong = &tables[1]["rows"][0];
    assert_eq!((&wrong["answer"], &wrong["students"]), (&"18".into(), &12.into()), "{wrong}");
    assert!(wrong["why"].as_str().unwrap().starts_with("That is bat with itself."), "{wrong}");
    let all = tables.as_array().unwrap();
    let part =
        |title: &str| all.iter().find(|table| table["title"] == title).unwrap_or_else(|| panic!("{title}"));
    assert_eq!(part("Mistakes in numbers")["rows"][0]["mistake"], "no-scale");
    assert_eq!(part("Mistakes in numbers")["rows"][0]["students"], 12);
    assert!(
        part("To repeat tomorrow")["rows"][0]["command"]
            .as_str()
            .unwrap()
            .starts_with("attn lesson play 0-tour#")
    );
    assert_eq!(part("The students")["rows"].as_array().unwrap().len(), 30);
    let page = report("--format html", &text);
    assert_eq!(page.code, 0);
    assert!(page.out.contains("██████") && page.out.contains("s29"), "{}", page.out);
    let nameless = student("", Grade::Right, "12", &[]).code();
    assert_eq!(
        self::tables(&format!("{nameless}\n{nameless}"))[0]["rows"][0]["right"],
        2,
        "two students without a name"
    );
    let titles: Vec<&Value> = all.iter().map(|table| &table["title"]).collect();
    assert!(!titles.contains(&&"To look at".into()), "{titles:?}");
    // The same line twice is one student.
    assert_eq!(self::tables(&format!("{text}\n{text}"))[0]["rows"], tables[0]["rows"]);
}
