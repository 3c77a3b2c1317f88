//! Reading lessons, and the errors of broken ones.
use crate::lesson::model::{Block, Size};

use super::*;

const WHOLE: &str = r#"---
attn-lesson: 1
title: Why the mask?
minutes: 12
screen: 100x30
---

# Why the mask?

A decoder may not read the future.

<!-- note: Slide a sheet of paper along a sentence,
word by word. -->
<!-- run: plain = attn attend examples/data/bat.json -->
<!-- run: causal = attn attend examples/data/causal.json -->

## Before the mask

<!-- step: minutes=3 -->

Each row sums to 1:
`bat` gives 0.18<!-- = plain:A[bat,cave] --> to `cave`.

```console
$ attn attend examples/data/bat.json
the table

$ attn nonsense
? 2
error

```

### A pause

```text
as it is
```

## Predict: how many zeros?

<!-- ask: id=zeros kind=choice think=30s -->

After the mask, how many?

- A. none, a softmax is never zero
- B. one
- C. two

<!-- key: C iff count(causal:A[bat], == 0) == 2 -->
<!-- if A: True for finite scores. -->
<!-- hint: Look to the right. -->

<details>
<summary>Answer</summary>

**C.** Two.

</details>
"#;

#[test]
fn the_lesson_of_the_format_is_read() {
    let lesson = read("folder/mask.md", WHOLE).unwrap();
    assert_eq!((lesson.name.as_str(), lesson.title.as_str()), ("mask", "Why the mask?"));
    assert_eq!((lesson.minutes, lesson.size), (Some(12.0), Size { columns: 100, rows: 30 }));
    assert_eq!(lesson.runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>(), ["plain", "causal"]);
    assert_eq!(lesson.opening.len(), 2);
    let ids: Vec<&str> = lesson.steps.iter().map(|step| step.id.as_str()).collect();
    assert_eq!(ids, ["before-the-mask", "predict-how-many-zeros"]);
    assert_eq!(lesson.steps[0].minutes, Some(3.0));
    assert_eq!(lesson.steps[0].parts.len(), 2);
    let Block::Console(console) = &lesson.steps[0].parts[0].blocks[1] else {
        panic!("this console block has no command")
    };
    let expected: Vec<(&str, u8)> =
        console.iter().map(|one| (&lesson.text[one.expected.clone()], one.code)).collect();
    assert_eq!(expected, [("the table\n", 0), ("error\n", 2)]);
    let question = lesson.questions().next().unwrap();
    assert_eq!((question.id.as_str(), question.kind.word()), ("zeros", "choice"));
    assert_eq!(question.think.unwrap().as_secs(), 30);
    assert_eq!(question.choices.len(), 3);
    assert_eq!(question.choices[2].text.as_ref().unwrap().markdown, "two");
    assert!(question.choices[0].feedback.is_some() && question.key.is_some());
    assert_eq!((question.asked.len(), question.reveal.len(), question.hints.len()), (1, 1, 1));
}

/// The lesson with one text replaced by another, and what must be said of the line that begins with `at`.
#[track_caller]
fn spoilt(from: &str, to: &str, at: &str, words: &str) {
    assert!(WHOLE.contains(from), "{from}");
    let text = WHOLE.replacen(from, to, 1);
    let line = 1 + text.lines().position(|line| line.starts_with(at)).expect(at);
    let faults = read("x.md", &text).expect_err(to);
    let is_it = |fault: &Fault| fault.line == line && fault.what.contains(words) && fault.help.is_some();
    assert!(faults.0.iter().any(is_it), "{to}: no “{words}” at {line} in {faults:?}");
}

#[test]
fn every_fault_is_named_at_its_line_with_a_remedy() {
    for (from, to, at, words) in [
        ("attn-lesson: 1", "attn-lesson: 3", "attn-lesson", "format `3`"),
        ("minutes: 12", "minutes: soon", "minutes", "`soon` is not a number of minutes"),
        ("screen: 100x30", "screen: wide", "screen", "`wide` is not a screen size"),
        ("title: Why", "titel: Why", "titel", "`titel`"),
        ("<!-- note:", "<!-- nota:", "<!-- nota", "is not a directive"),
        (
            "<!-- run: causal",
            "<!-- run: plain",
            "<!-- run: plain = attn attend examples/data/c",
            "the command at line 14 already has the name",
        ),
        ("= attn attend examples/data/causal.json", "= python x", "<!-- run: causal", "`python` is not attn"),
        ("## Before the mask", "## Zeros", "<!-- ask", "already has the name `zeros`"),
        ("```text\nas it is\n```", "```text\nas it is\n", "```text", "never closed"),
        ("kind=choice", "kind=choise", "<!-- ask", "`choise` is not a kind"),
        ("<!-- key: C iff count(causal:A[bat], == 0) == 2 -->\n", "", "<!-- ask", "has no key"),
        ("</details>\n", "", "<!-- ask", "never closed"),
        ("<!-- if A:", "<!-- if D:", "<!-- if D", "no option D"),
        ("```console\n", "```console,ignored\n", "```console,ig", "a block labelled `console,ignored`"),
        ("```console\n", "```sh\n", "$ attn attend", "a command in a block labelled `sh`"),
        ("minutes: 12", "minutes 12", "minutes 12", "has no colon"),
        ("kind=choice think", "kind=choice kind=cell think", "<!-- ask", "a second `kind=`"),
        ("<!-- hint:", "<!-- if A: again -->\n<!-- hint:", "<!-- if A: again", "a second `if A`"),
        ("- B. one", "- b) one", "- b) one", "stands among the options, but is not one"),
        ("kind=choice", "knd=choice", "<!-- ask", "`knd=choice` is not understood"),
        ("## Before", "# Another\n\n## Before", "# Another", "a second title"),
        ("- C. two", "- D. two", "- D. two", "the next option must be C, not D"),
        (
            "```console\n$",
            "<!-- tol: last-digit -->\n\ntext\n\n```console\n$",
            "<!-- tol",
            "no block follows `tol`",
        ),
        ("$ attn nonsense", "$ ls", "$ ls", "`ls` is not attn"),
    ] {
        spoilt(from, to, at, words);
    }
}

#[test]
fn a_fault_knows_its_step() {
    let faults = read("x.md", &WHOLE.replacen("kind=choice", "kind=x", 1)).unwrap_err();
    assert_eq!(faults.0[0].step.as_deref(), Some("Predict: how many zeros?"));
    let said = faults.0[0].in_file("x.md").to_string();
    assert!(said.starts_with("x.md:42: `x` is not a kind of question\n  step: Predict"), "{said}");
}

#[test]
fn a_file_that_is_no_lesson_is_called_that_and_nothing_else() {
    let faults = read("x.md", "# Read me\n\n```\nx\n```\n").unwrap_err();
    assert_eq!(faults.0.len(), 1);
    assert!(faults.0[0].what.contains("not a lesson"));
}

#[test]
fn one_slip_is_one_fault() {
    for (from, to) in [
        ("kind=choice", "kind=choise"),
        ("kind=choice", "knd=choice"),
        ("$ attn nonsense", "$ python"),
        ("```text\nas it is\n```", "```text\nas it is\n"),
        (" == 2 -->", " == 2 --"),
    ] {
        let faults = read("x.md", &WHOLE.replacen(from, to, 1)).expect_err(to);
        assert_eq!(faults.0.len(), 1, "{to}: {faults:?}");
    }
}

/// Seven lines before a text, which make a lesson of it.
const ABOVE: &str = "---\nattn-lesson: 1\n---\n# T\n\n## S\n\n";

fn faults_of(text: &str) -> Vec<Fault> {
    read("x.md", &format!("{ABOVE}{text}")).err().unwrap_or_default().0
}

#[test]
fn only_the_first_lines_are_a_head_and_a_longer_fence_may_show_a_shorter_one() {
    let text = format!("{ABOVE}one\n\n---\ntwo: 2\n\n---\n\n````text\n```console\n```\n````\n");
    let lesson = read("x.md", &text).unwrap();
    assert!(matches!(lesson.blocks().last(), Some(Block::Literal(literal)) if literal.label == "text"));
    let lesson = read("x.md", &ABOVE.replace("# T", "# A&#27;[31mB `x`")).unwrap();
    assert_eq!(lesson.title, "A\\u{1B}[31mB x");
    assert!(faults_of(&"> ".repeat(5000)).len() <= 1);
    assert_eq!(faults_of(&format!("{}a\n", "> ".repeat(30))).len(), 1);
}

#[test]
fn every_way_to_spoil_a_fence_is_named_at_its_line() {
    for (text, line, words) in [
        ("a\n\n```console\n$ attn\n", 3, "never closed"),
        ("```\nx\n```\n", 1, "without a label"),
        ("~~~text\nx\n~~~\n", 1, "of `~`"),
        (" ```text\nx\n ```\n", 1, "indented"),
        ("- a\n\n  ```text\n  x\n  ```\n", 3, "within a list"),
        ("a\n\n    x\n", 3, "this block is indented"),
        ("<table></table>\n", 1, "HTML that a lesson does not support"),
        ("a <b>c</b>\n", 1, "HTML in the text"),
        ("<!-- a --> b\n", 1, "not alone"),
        ("<details>\n<summary>A</summary>\n**C.**\n", 3, "text directly below HTML"),
        ("<!-- a\n", 1, "a comment that is never closed"),
        ("<!-- a --\n<!-- b -->\n", 1, "a comment that is not closed before another"),
        ("```text\na\n\n```console\n$ b\n```\n", 1, "not closed before another begins at line 11"),
    ] {
        let faults = faults_of(text);
        assert!(
            faults.iter().any(|fault| fault.line == line + 7 && fault.what.contains(words)),
            "{text:?}: {faults:?}"
        );
    }
}
