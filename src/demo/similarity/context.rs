//! `context`: from similarities to weights to context vectors, and the movement of a word in the plane.

use super::{Picture, SOFTMAX, introduction, word_rows};
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op};
use crate::story::Digits;
use crate::story::condition::{all, columns, equal, less, not, own, sum, within};

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
    demo.step("Each row is a word of a sentence, as a point in the plane.")
        .claim(
            own(&["X_cave"]),
            "The sentence is “A bat lives in the cave”. We keep the two words that carry the meaning: bat and cave.",
        )
        .together(&[x]);

    let s = demo.compute("S_cave", Op::Cosine, &[x, x])?;
    demo.step("The scores say how alike each word (row) is to each word (column). Here they are cosines.")
        .show(&[s]);

    let mixture = demo.compute("mixture_cave", Op::Product, &[s, x])?;
    demo.step(
        "Used as they are, the scores mix the words: each row of the mixture is a weighted sum of all words.",
    )
    .claim(
        equal(columns("X_cave"), 2.0),
        "Bat = {S_cave[bat,bat]:2} · bat + {S_cave[bat,cave]:2} · cave = ({mixture_cave[bat,1]:2}, \
             {mixture_cave[bat,2]:2}).",
    )
    .claim(
        all([less(1.0, sum("S_cave[bat]")), less(1.0, sum("S_cave[cave]"))]),
        "The scores of each word sum to more than 1, so the words become longer.",
    )
    .show(&[mixture]);

    let a = demo.compute("A_cave", SOFTMAX, &[s])?;
    demo.step("The softmax turns each row of scores into weights that sum to 1.").show(&[a]);

    let o = demo.compute("O_cave", Op::Product, &[a, x])?;
    let picture = Picture::of(demo, &[x], &[(x, o)])?;
    let step = demo
        .step("The weights mix the words into context vectors. Every word moves towards the words it attends to.")
        .claim(
            equal(columns("X_cave"), 2.0),
            "Bat moves from ({X_cave[bat,1]:2}, {X_cave[bat,2]:2}) to ({O_cave[bat,1]:2}, {O_cave[bat,2]:2}), and cave \
             moves towards bat.",
        )
        .show(&[o]);
    picture.beside(step);

    rounding(demo, x, s, o)?;
    racket(demo)?;
    scaled_dot_products(demo)?;
    introduction::pronoun(demo)?;
    introduction::steps(demo)?;
    introduction::picture(demo)
}

/// The document's own way: scores rounded to two decimals, then the weights again.
fn rounding(demo: &mut Builder, x: NodeId, s: NodeId, o: NodeId) -> Result<()> {
    let scores = demo.compute("S_rounded_cave", Op::Round(2), &[s])?;
    let softmax = demo.compute("A_of_rounded_cave", SOFTMAX, &[scores])?;
    let weights = demo.compute("A_rounded_cave", Op::Round(2), &[softmax])?;
    let output = demo.compute("O_rounded_cave", Op::Product, &[weights, x])?;
    demo.compute("difference_cave", Op::Subtract, &[output, o])?;
    demo.step("The text rounds on the way: first the scores to two decimals, then the weights. Rounding errors add up.")
        .claim(
            equal(columns("X_cave"), 2.0),
            "Bat = {A_rounded_cave[bat,bat]:2} · bat + {A_rounded_cave[bat,cave]:2} · cave = \
             ({O_rounded_cave[bat,1]:2}, {O_rounded_cave[bat,2]:2}).",
        )
        .claim(
            not(within(0.0005, "difference_cave[bat,2]", 0.0)),
            "Its second coordinate is off by {difference_cave[bat,2]:3}. Round once, at the end.",
        )
        .together(&[scores, weights])
        .show(&[output]);
    Ok(())
}

/// The other sentence.
fn racket(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X_racket", word_rows(&["bat", "racket"]))?;
    let s = demo.compute("S_racket", Op::Cosine, &[x, x])?;
    let mixture = demo.compute("mixture_racket", Op::Product, &[s, x])?;
    let a = demo.compute("A_racket", SOFTMAX, &[s])?;
    let o = demo.compute("O_racket", Op::Product, &[a, x])?;
    let picture = Picture::of(demo, &[x], &[(x, o)])?;
    let step = demo
        .step("Another sentence, and the same steps.")
        .claim(own(&["X_racket"]), "It is “A tennis racket and a baseball bat”.")
        .claim(
            equal(columns("X_racket"), 2.0),
            "With the scores as they are, bat = {S_racket[bat,bat]:2} · bat + {S_racket[bat,racket]:2} · racket = \
             ({mixture_racket[bat,1]:2}, {mixture_racket[bat,2]:2}).",
        )
        .claim(
            all([
                within(1e-9, "A_racket[bat,bat]", "A_cave[bat,bat]"),
                less("O_racket[bat,1]", "X_racket[bat,1]"),
                less("X_racket[bat,2]", "O_racket[bat,2]"),
                less("X_cave[bat,1]", "O_cave[bat,1]"),
                less("O_cave[bat,2]", "X_cave[bat,2]"),
            ]),
            "The weights of bat are the same as with cave, but bat moves the other way, to ({O_racket[bat,1]:2}, \
             {O_racket[bat,2]:2}).",
        )
        .together(&[x])
        .together(&[s, a])
        .together(&[mixture, o]);
    picture.beside(step);
    Ok(())
}

/// Both sentences with the scores that attention really uses.
fn scaled_dot_products(demo: &mut Builder) -> Result<()> {
    let (shown, picture) = scaled(demo, "cave")?;
    let step = demo
        .step(
            "Attention uses scaled dot products as scores. They have no upper bound, so weights can be close to 0 or 1.",
        )
        .claim(less(0.9, "A_scaled_cave[bat,bat]"), "Next to cave, bat keeps {A_scaled_cave[bat,bat]:2} for itself and hardly moves.")
        .together(&shown[..2])
        .show(&shown[2..]);
    picture.beside(step);

    let (shown, picture) = scaled(demo, "racket")?;
    let step = demo
        .step("The other sentence, with scaled dot products.")
        .claim(
            all([
                less("A_scaled_racket[bat,bat]", "A_scaled_cave[bat,bat]"),
                within(1e-9, "S_racket[bat,racket]", "S_cave[bat,cave]"),
                equal("X_cave[bat,1]", "X_racket[bat,1]"),
                equal("X_cave[bat,2]", "X_racket[bat,2]"),
            ]),
            "Next to racket, bat keeps only {A_scaled_racket[bat,bat]:2}. Racket is longer than cave, and length counts \
             now.",
        )
        .together(&shown[..2])
        .show(&shown[2..]);
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
