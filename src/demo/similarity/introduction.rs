//! The end of `context`: a pronoun that finds its noun, one step instead of many, and pictures, as the document's introduction
//! names them.

use super::SOFTMAX;
use crate::attention::Base;
use crate::demo::Builder;
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op};
use crate::matrix::{Matrix, labels};
use crate::story::condition::{all, equal, less, own, top_of_row};

/// The document's sentence about a pronoun.
const SENTENCE: [&str; 10] = ["The", "cat", "sat", "on", "the", "mat", "because", "it", "was", "tired"];
const KINDS: [&str; 2] = ["living", "thing"];

/// “it” finds “cat”.
pub(super) fn pronoun(demo: &mut Builder) -> Result<()> {
    let key = |word: &str| match word {
        "cat" => [2.0, 0.0],
        "mat" => [0.0, 2.0],
        "it" => [1.0, 1.0],
        _ => [0.0, 0.0],
    };
    let k = Matrix::from_fn(SENTENCE.len(), 2, |i, j| key(SENTENCE[i])[j]);
    let k = demo.given("K_it", k.rows_named(&SENTENCE).cols_named(&KINDS))?;
    let q = demo.given("q_it", Matrix::of([[3.0, 0.0]]).rows_named(&["it"]).cols_named(&KINDS))?;
    let width = demo.matrix(k)?.cols();
    let s = demo.compute("S_it", Op::ProductTransposed, &[q, k])?;
    let scaled = demo.compute("S_scaled_it", Op::Scale(Factor::InverseRoot(width)), &[s])?;
    let a = demo.compute("A_it", SOFTMAX, &[scaled])?;
    demo.step(
        "A pronoun has to find its noun. Its query is compared with the keys of all words of the sentence.",
    )
    .claim(
        own(&["K_it", "q_it"]),
        "The sentence is “The cat sat on the mat because it was tired”. The vectors are ours: “it” looks for \
             something that is living.",
    )
    .claim(
        all([top_of_row("A_it[it,cat]"), less("A_it[it,mat]", "A_it[it,cat]")]),
        "“it” gives {A_it[it,cat]:2} of its attention to “cat” and {A_it[it,mat]:2} to “mat”.",
    )
    .folded(&[q, k])
    .columns(&[(s, None), (scaled, None), (a, None)]);
    Ok(())
}

/// The number of steps between the first word and the last.
pub(super) fn steps(demo: &mut Builder) -> Result<()> {
    let lengths = Matrix::of([[2.0, 3.0, 5.0, 10.0]]);
    let names = demo.own_labels(&["length"], &["2 words", "3 words", "5 words", "10 words"]);
    let n = demo.given("length", lengths.with_col_labels(names))?;
    let shape = demo.matrix(n)?.shape();
    let one = demo.compute("attention_steps", Op::Ones { rows: shape.rows, cols: shape.cols }, &[])?;
    let rnn = demo.compute("rnn_steps", Op::Subtract, &[n, one])?;
    let kept = demo.compute("rnn_kept", Op::Exponential(Base::Number(0.5)), &[rnn])?;
    demo.label(one, "steps with attention");
    demo.label(rnn, "steps of an RNN");
    demo.label(kept, "kept by an RNN");
    demo.step(
        "A recurrent network (RNN) reads one word at a time, so a sentence of n words takes n − 1 steps from the first \
         word to the last. Attention compares any two words in one step. It reads all at once, but it still writes one \
         word at a time: each new word needs the one before it.",
    )
    .claim(
        equal("rnn_steps[1,5 words]", 4.0),
        "If every step of the RNN keeps half of what came before, {rnn_kept[1,5 words]} of the first word is left \
         after 5 words.",
    )
    .columns(&[(n, None), (rnn, None), (one, None), (kept, None)]);
    Ok(())
}

/// A picture, cut into patches: each patch is a token.
pub(super) fn picture(demo: &mut Builder) -> Result<()> {
    let pixels = Matrix::of([[1., 1., 0., 0.], [1., 1., 0., 0.], [0., 0., 1., 1.], [0., 0., 1., 1.]]);
    let image = demo.given("image", pixels)?;
    let shape = demo.matrix(image)?.shape();
    let (high, wide) = ((shape.rows / 2).max(1), (shape.cols / 2).max(1));
    let mut patches: Vec<NodeId> = Vec::new();
    for top in [0, shape.rows - high] {
        for left in [0, shape.cols - wide] {
            let at = patches.len() + 1;
            let rows =
                demo.compute(&format!("strip_{at}"), Op::Rows { start: top, count: high }, &[image])?;
            let cut = Op::Columns { start: left, count: wide };
            let square = demo.compute(&format!("square_{at}"), cut, &[rows])?;
            let row = Op::Reshape { rows: 1, cols: high * wide };
            patches.push(demo.compute(&format!("patch_{at}"), row, &[square])?);
        }
    }
    let names = labels(&["top left", "top right", "bottom left", "bottom right"]);
    let x = demo.collect("X_patches", "patches", Some(names), &patches)?;
    let s = demo.compute("S_patches", Op::ProductTransposed, &[x, x])?;
    let scaled = demo.compute("S_scaled_patches", Op::Scale(Factor::InverseRoot(high * wide)), &[s])?;
    let a = demo.compute("A_patches", SOFTMAX, &[scaled])?;
    demo.step("Tokens need not be words. A picture is cut into patches, each patch becomes a row, and the rest stays the same.")
        .claim(own(&["image"]), "A picture of 4×4 pixels gives four patches of 2×2. 1 is bright, 0 is dark.")
        .claim(
            all([
                less("A_patches[top left,top right]", "A_patches[top left,bottom right]"),
                less("A_patches[top left,bottom left]", "A_patches[top left,bottom right]"),
            ]),
            "The patch at the top left gives {A_patches[top left,bottom right]:2} to the patch in the opposite corner, \
             more than to its neighbours.",
        )
        .together(&[image, x])
        .show(&[a]);
    Ok(())
}
