//! `similarity`: four measures on the same words, where they disagree, and why they cannot on vectors of length 1.

use super::SOFTMAX;
use super::{Picture, word_rows};
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op};
use crate::story::Digits;
use crate::story::condition::{all, at_most, equal, less, max_size_of, own, plus, within};

pub(super) const DEMO: Demo = Demo {
    name: "similarity",
    source: Source::section(Document::Similarity, "Word Similarity"),
    title: "How alike are two words? It depends on the measure",
    summary: "how alike two words are: four measures, and where they disagree",
    place: crate::demo::Topic::Start.at(1),
    keywords: &["cosine", "dot product", "distance", "euclidean", "alike", "vectors", "scores"],
    digits: Digits::Places(2),
    build,
};

fn build(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X", word_rows(&["bat", "cave", "racket"]))?;
    let width = demo.matrix(x)?.cols();
    let picture = Picture::of(demo, &[x], &[])?;
    picture
        .beside(demo.step("Each row is a word. Its numbers are the coordinates of a point.").together(&[x]));

    let dot = demo.compute("dot", Op::ProductTransposed, &[x, x])?;
    demo.step(
        "The dot product multiplies the coordinates in pairs and adds. A vector that is twice as long gets scores twice as large.",
    )
    .claim(
        all([
            less(0.0, "dot[bat,cave]"),
            less("dot[bat,cave]", "dot[bat,racket]"),
            at_most("cosine[bat,racket]", plus("cosine[bat,cave]", 1e-9)),
        ]),
        "For bat, racket ({dot[bat,racket]}) beats cave ({dot[bat,cave]}), but only because its vector is longer.",
    )
    .show(&[dot]);

    let scaled = demo.compute("scaled", Op::Scale(Factor::InverseRoot(width)), &[dot])?;
    demo.step("Attention divides by the square root of the number of coordinates. Every score is divided by the same number, so their order stays.")
        .show(&[scaled]);

    let cosine = demo.compute("cosine", Op::Cosine, &[x, x])?;
    demo.step(
        "The cosine divides by both lengths, so only the angle counts. Two vectors of the same direction have cosine 1.",
    )
    .claim(
        within(1e-9, "cosine[bat,cave]", "cosine[bat,racket]"),
        "Now bat has {cosine[bat,cave]:2} with cave and {cosine[bat,racket]:2} with racket: a tie.",
    )
    .claim(
        all([
            equal("cosine[cave,racket]", 0.0),
            less(0.0, max_size_of("X[cave]")),
            less(0.0, max_size_of("X[racket]")),
        ]),
        "Cave and racket are at a right angle, so their cosine is {cosine[cave,racket]}.",
    )
    .show(&[cosine]);

    let euclidean = demo.compute("euclidean", Op::Euclidean, &[x, x])?;
    demo.step(
        "The Euclidean distance is the straight line between two points. Here a small number means alike.",
    )
    .claim(
        less("euclidean[bat,cave]", "euclidean[bat,racket]"),
        "For bat, cave ({euclidean[bat,cave]:2}) is nearer than racket ({euclidean[bat,racket]:2}).",
    )
    .claim(
        all([
            less("euclidean[bat,cave]", "euclidean[bat,racket]"),
            less("dot[bat,cave]", "dot[bat,racket]"),
            within(1e-9, "cosine[bat,cave]", "cosine[bat,racket]"),
        ]),
        "So the dot product prefers racket, the distance prefers cave, and the cosine has a tie.",
    )
    .show(&[euclidean]);
    unit_vectors(demo)?;
    squash(demo)?;
    squash_in_context(demo)
}

/// The same words at length 1, where every measure gives the same ranking: |a − b|² = 2 − 2 a·b.
fn unit_vectors(demo: &mut Builder) -> Result<()> {
    let x = demo.graph().require("X")?;
    let unit = demo.compute("X_unit", Op::UnitRows, &[x])?;
    let picture = Picture::of(demo, &[x], &[(x, unit)])?;
    let step = demo.step("Now every vector is divided by its length. Its direction stays.").show(&[unit]);
    picture.beside(step);

    let dot = demo.compute("dot_unit", Op::ProductTransposed, &[unit, unit])?;
    let distance = demo.compute("euclidean_unit", Op::Euclidean, &[unit, unit])?;
    demo.step(
        "Between vectors of length 1 the dot product is the cosine, and the squared distance is 2 − 2 · cosine. So all \
         measures give the same order.",
    )
    .claim(
        all([
            less("dot_unit[cave,racket]", "dot_unit[cave,bat]"),
            less("euclidean_unit[cave,bat]", "euclidean_unit[cave,racket]"),
        ]),
        "For cave, bat comes before racket in both tables: dot products {dot_unit[cave,bat]:2} and \
         {dot_unit[cave,racket]:2}, distances {euclidean_unit[cave,bat]:2} and {euclidean_unit[cave,racket]:2}.",
    )
    .show(&[dot, distance]);
    Ok(())
}

/// A word between two meanings, at the same distance from both.
fn squash(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X_squash", word_rows(&["squash", "commit", "pumpkin"]))?;
    let picture = Picture::of(demo, &[x], &[])?;
    let step = demo
        .step("Other words, in another plane.")
        .claim(
            own(&["X_squash"]),
            "Squash has two meanings: in git you squash commits, in the kitchen you cook a squash. The coordinates are ours.",
        )
        .together(&[x]);
    picture.beside(step);

    let dot = demo.compute("dot_squash", Op::ProductTransposed, &[x, x])?;
    let cosine = demo.compute("cosine_squash", Op::Cosine, &[x, x])?;
    let distance = demo.compute("euclidean_squash", Op::Euclidean, &[x, x])?;
    demo.step("The same three measures on these words.")
        .claim(
            all([
                equal("dot_squash[squash,commit]", "dot_squash[squash,pumpkin]"),
                within(1e-9, "cosine_squash[squash,commit]", "cosine_squash[squash,pumpkin]"),
                within(1e-9, "euclidean_squash[squash,commit]", "euclidean_squash[squash,pumpkin]"),
            ]),
            "Squash has a tie in every table: dot product {dot_squash[squash,commit]} with both words, distance \
             {euclidean_squash[squash,commit]:2} to both. No measure can tell which meaning is meant.",
        )
        .show(&[dot, cosine, distance]);
    Ok(())
}

/// The other word of the sentence pulls squash towards one axis.
fn squash_in_context(demo: &mut Builder) -> Result<()> {
    let x = demo.graph().require("X_squash")?;
    let (words, width) = (demo.matrix(x)?.rows(), demo.matrix(x)?.cols());
    let mut row = |name: &str, i: usize| {
        demo.compute(name, Op::Rows { start: i.min(words.saturating_sub(1)), count: 1 }, &[x])
    };
    let squash = row("squash", 0)?;
    let others = [("git", row("commit", 1)?), ("kitchen", row("pumpkin", 2)?)];
    let (mut weights, mut outputs): (Vec<NodeId>, Vec<NodeId>) = (Vec::new(), Vec::new());
    for (sentence, other) in others {
        let mut add =
            |name: &str, op: Op, inputs: &[NodeId]| demo.compute(&format!("{name}_{sentence}"), op, inputs);
        let x = add("X", Op::Stack(None), &[squash, other])?;
        let s = add("S", Op::ProductTransposed, &[squash, x])?;
        let scaled = add("S_scaled", Op::Scale(Factor::InverseRoot(width)), &[s])?;
        weights.push(add("A", SOFTMAX, &[scaled])?);
        outputs.push(add("O", Op::Product, &[weights[weights.len() - 1], x])?);
    }
    let picture = Picture::of(demo, &[x], &[(squash, outputs[0]), (squash, outputs[1])])?;
    let step = demo
        .step(
            "The other word of the sentence decides. Attention mixes squash with commit in one sentence, and with pumpkin in \
             another (the demo `context` shows each step).",
        )
        .claim(
            all([less("squash[1,1]", "O_git[1,1]"), less("O_git[1,2]", "squash[1,2]")]),
            "In “squash the commit”, squash moves to ({O_git[1,1]:2}, {O_git[1,2]:2}): towards git.",
        )
        .claim(
            all([less("O_kitchen[1,1]", "squash[1,1]"), less("squash[1,2]", "O_kitchen[1,2]")]),
            "In “squash and pumpkin”, squash moves to ({O_kitchen[1,1]:2}, {O_kitchen[1,2]:2}): towards vegetables.",
        )
        .together(&weights)
        .together(&outputs);
    picture.beside(step);
    Ok(())
}
