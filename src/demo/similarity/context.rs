//! `context`: from similarities to weights to context vectors, and how a word moves in the plane.

use super::{Picture, SOFTMAX, word_rows};
use crate::demo::{Builder, Demo, Digits, Document, Source};
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op};

pub(super) const DEMO: Demo = Demo {
    name: "context",
    source: Source::section(Document::Similarity, "So what is self-attention?"),
    title: "The other words of the sentence move a word",
    summary: "how the other words of a sentence move a word",
    place: crate::demo::Topic::Start.at(2),
    keywords: &["attention", "context vector", "self-attention", "bat", "cave"],
    digits: Digits::Places(2),
    build,
};

fn build(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X_cave", word_rows(&["bat", "cave"]))?;
    demo.step("Each row is a word of a sentence, as a point of the plane.")
        .notice("The sentence is “a bat lives in the cave”; these two of its words carry the meaning.")
        .together(&[x]);

    let s = demo.compute("S_cave", Op::Cosine, &[x, x])?;
    demo.step("The scores: how alike each word (row) is to each word (column). Here they are cosines.")
        .show(&[s]);

    let mixture = demo.compute("mixture_cave", Op::Product, &[s, x])?;
    demo.step("Used as they are, the scores mix the words: each row of the mixture is a sum of all words.")
        .notice(
            "Bat becomes {S_cave[bat,bat]} · bat + {S_cave[bat,cave]:2} · cave = ({mixture_cave[bat,1]:2}, \
             {mixture_cave[bat,2]:2}). The scores sum to more than 1, so the word grows.",
        )
        .show(&[mixture]);

    let a = demo.compute("A_cave", SOFTMAX, &[s])?;
    demo.step("The softmax turns each row of scores into weights that sum to 1.").show(&[a]);

    let o = demo.compute("O_cave", Op::Product, &[a, x])?;
    let picture = Picture::of(demo, &[x], &[(x, o)])?;
    let step = demo
        .step("The weights mix the words into context vectors. Every word moves towards those it attends to.")
        .notice("Bat moves from (3, 3) to ({O_cave[bat,1]:2}, {O_cave[bat,2]:2}), and cave comes to meet it.")
        .show(&[o]);
    picture.beside(step);

    rounding(demo, x, s, o)?;
    racket(demo)?;
    scaled_dot_products(demo)
}

/// The document's own way: scores rounded to two decimals, then the weights again.
fn rounding(demo: &mut Builder, x: NodeId, s: NodeId, o: NodeId) -> Result<()> {
    let scores = demo.compute("S_rounded_cave", Op::Round(2), &[s])?;
    let softmax = demo.compute("A_of_rounded_cave", SOFTMAX, &[scores])?;
    let weights = demo.compute("A_rounded_cave", Op::Round(2), &[softmax])?;
    let output = demo.compute("O_rounded_cave", Op::Product, &[weights, x])?;
    demo.compute("difference_cave", Op::Subtract, &[output, o])?;
    demo.step("The document rounds on the way: the scores to two decimals, then the weights. The error is carried along.")
        .notice(
            "Bat lands at ({O_rounded_cave[bat,1]:2}, {O_rounded_cave[bat,2]:2}): its second coordinate is off in \
             the last digit shown, by {difference_cave[bat,2]:3}. Round once, at the end.",
        )
        .show(&[output]);
    Ok(())
}

/// The other sentence.
fn racket(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X_racket", word_rows(&["bat", "racket"]))?;
    let s = demo.compute("S_racket", Op::Cosine, &[x, x])?;
    let a = demo.compute("A_racket", SOFTMAX, &[s])?;
    let o = demo.compute("O_racket", Op::Product, &[a, x])?;
    let picture = Picture::of(demo, &[x], &[(x, o)])?;
    let step = demo
        .step("Another sentence, and the same steps.")
        .notice(
            "It is “a tennis racket and a baseball bat”. The weights are the same as with cave, but bat goes the \
             other way, to ({O_racket[bat,1]:2}, {O_racket[bat,2]:2}).",
        )
        .together(&[x])
        .show(&[s, a, o]);
    picture.beside(step);
    Ok(())
}

/// Both sentences with the scores that attention really uses.
fn scaled_dot_products(demo: &mut Builder) -> Result<()> {
    let (shown, picture) = scaled(demo, "cave")?;
    let step = demo
        .step(
            "Attention takes scaled dot products as scores. They have no upper bound, so weights can come near 0 or 1.",
        )
        .notice("Bat keeps {A_scaled_cave[bat,bat]:2} for itself beside cave and hardly moves.")
        .show(&shown);
    picture.beside(step);

    let (shown, picture) = scaled(demo, "racket")?;
    let step = demo
        .step("The other sentence with scaled dot products.")
        .notice("Beside racket bat keeps {A_scaled_racket[bat,bat]:2}: racket is longer than cave, and length counts now.")
        .show(&shown);
    picture.beside(step);
    Ok(())
}

fn scaled(demo: &mut Builder, sentence: &str) -> Result<([NodeId; 3], Picture)> {
    let x = demo.graph().require(&format!("X_{sentence}"))?;
    let width = demo.matrix(x)?.cols();
    let dot = demo.compute(&format!("dot_{sentence}"), Op::ProductTransposed, &[x, x])?;
    let scale = Op::Scale(Factor::InverseRoot(width));
    let scaled = demo.compute(&format!("scaled_{sentence}"), scale, &[dot])?;
    let a = demo.compute(&format!("A_scaled_{sentence}"), SOFTMAX, &[scaled])?;
    let o = demo.compute(&format!("O_scaled_{sentence}"), Op::Product, &[a, x])?;
    Ok(([scaled, a, o], Picture::of(demo, &[x], &[(x, o)])?))
}
