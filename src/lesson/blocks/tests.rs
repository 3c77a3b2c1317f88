//! Blocks, and every way to spoil them.

use super::*;

fn of(text: &str) -> (Vec<PieceKind>, Faults) {
    let source = Source::new("x.md", text).unwrap();
    let mut faults = Faults::default();
    let kinds = pieces(&source, &mut faults).into_iter().map(|piece| piece.kind).collect();
    (kinds, faults)
}

#[test]
fn headings_fences_comments_and_folded_answers_are_told_apart() {
    let text = "---\na: 1\n---\n\n# T `x`\n<!-- one -->\n<!-- two\nlines -->\n\ntext <!-- = a:b -->\n\n```console\n$ attn\n\n```\n\n- A. a\n- B. b\n\n<details>\n<summary>Answer</summary>\n\nyes\n\n</details>\n";
    let (kinds, faults) = of(text);
    assert_eq!(faults, Faults::default());
    assert!(
        matches!(&kinds[..], [
        PieceKind::Head,
        PieceKind::Heading(1, title),
        PieceKind::Comment(one),
        PieceKind::Comment(two),
        PieceKind::Prose,
        PieceKind::Fence(label, body),
        PieceKind::Bullets,
        PieceKind::DetailsBegin,
        PieceKind::Summary(summary),
        PieceKind::Prose,
        PieceKind::DetailsEnd,
    ] if title == "T x" && one == "one" && two == "two\nlines" && label == "console" && &text[body.clone()] == "$ attn\n\n" && summary == "Answer"),
        "{kinds:?}"
    );
}

#[test]
fn only_the_first_lines_are_a_head_and_a_longer_fence_may_show_a_shorter_one() {
    let (kinds, faults) =
        of("---\na: 1\n---\n# T\n\none\n\n---\ntwo: 2\n\n---\n\n````text\n```console\n```\n````\n");
    assert_eq!(faults, Faults::default());
    assert_eq!(kinds.iter().filter(|kind| **kind == PieceKind::Head).count(), 1);
    assert!(matches!(kinds.last(), Some(PieceKind::Fence(label, _)) if label == "text"));
    assert_eq!(of("# A&#27;[31mB\n").0, [PieceKind::Heading(1, "A\\u{1B}[31mB".to_string())]);
    let (_, faults) = of(&"> ".repeat(5000));
    assert!(faults.0.len() <= 1);
    assert_eq!(of(&format!("{}a\n", "> ".repeat(30))).1.0.len(), 1);
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
        ("```text\na\n\n```console\n$ b\n```\n", 1, "not closed before another begins at line 4"),
    ] {
        let (_, faults) = of(text);
        assert!(
            faults.0.iter().any(|fault| fault.line == line && fault.what.contains(words)),
            "{text:?}: {faults:?}"
        );
    }
}
