//! A small lesson for the tests of the player, and a `run` that prints what it is given.

use std::sync::Arc;

use crate::graph::{Graph, Origin};
use crate::lesson::{CommandOutput, Lesson, read};
use crate::matrix::Matrix;
use crate::render::Screen;

pub(in crate::lesson) const TEXT: &str = r#"---
attn-lesson: 1
title: Why the mask?
minutes: 10
screen: 80x24
---

# Why the mask?

A decoder may not read the future.

<!-- note: Slide a sheet of paper along a sentence. -->
<!-- run: plain = attn plain -->
<!-- run: causal = attn causal -->

## Before the mask

<!-- step: minutes=3 -->

Each row says where one token looks.

```console
$ attn plain A
attn plain A at 80

```

### A pause

Look at the rows again.

## How many zeros?

<!-- id: zeros-step -->
<!-- step: minutes=2 -->

We hide the future.

<!-- ask: id=zeros kind=choice think=30s -->

How many weights of `bat` are zero?

- A. none
- B. one
- C. two

<!-- key: C iff count(causal:A[bat], == 0) == 2 -->
<!-- if A: True for finite scores. -->
<!-- hint: Who stands behind bat? -->
<!-- hint: Count the tokens in its future. -->

<details>
<summary>Answer</summary>

**C.** Two tokens lie in the future.

</details>

<!-- note: Hold the sheet over them. -->

The rest is shared out again.

## How much is left?

<!-- step: minutes=2 -->
<!-- ask: id=left kind=number think=20s -->

What does `bat` give to itself?

<!-- key: causal:A[bat,bat] ± 0.01 -->
<!-- opt A: plain:A[bat,bat] -->
<!-- if A: So it was without the mask. -->

<details>
<summary>Answer</summary>

All of it.

</details>

## In which order?

<!-- step: minutes=2 -->
<!-- ask: id=order kind=order -->

Which words does `bat` look at, from most to least?

- A. bat
- B. cave
- C. racket

<!-- key: rank(plain:A[bat]) -->

<details>
<summary>Answer</summary>

bat, racket, cave.

</details>

## Your own

<!-- step: minutes=1 -->

Try the mask on your own words.
"#;

pub(in crate::lesson) fn lesson() -> Lesson {
    let lesson = read("mask.md", TEXT).unwrap_or_else(|faults| panic!("{faults:?}"));
    assert!(lesson.faults.is_empty(), "{:?}", lesson.faults);
    lesson
}

/// Prints its arguments and the width, and computes the weights of three tokens.
pub(in crate::lesson) fn run(args: &[String], screen: Screen) -> CommandOutput {
    let weights = match args.first().map(String::as_str) {
        Some("causal") => Matrix::of([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0], [0.2, 0.3, 0.5]]),
        Some("fails") => {
            return CommandOutput::of_text(2, String::new(), "error: no such thing\n".into());
        }
        _ => Matrix::of([[0.5, 0.2, 0.3], [0.25, 0.5, 0.25], [0.2, 0.3, 0.5]]),
    };
    let tokens = ["bat", "cave", "racket"];
    let mut graph = Graph::new();
    graph.given("A", weights.rows_named(&tokens).cols_named(&tokens), Origin::Stated).expect("a new name");
    let out = format!("attn {} at {}\n", args.join(" "), screen.width);
    CommandOutput { code: 0, out, err: String::new(), graphs: vec![Arc::new(graph)] }
}
