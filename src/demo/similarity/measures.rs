//! `similarity`: four measures on the same words, where they disagree, and why they cannot on vectors of length 1.

use super::{Picture, word_rows};
use crate::demo::{Builder, Demo, Digits, Document, Source};
use crate::error::Result;
use crate::graph::{Factor, Op};

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
        .beside(demo.step("Each row is a word, its numbers are the coordinates of a point.").together(&[x]));

    let dot = demo.compute("dot", Op::ProductTransposed, &[x, x])?;
    demo.step(
        "The dot product multiplies the coordinates in pairs and adds up. Long vectors get large numbers.",
    )
    .notice(
        "For bat, racket ({dot[bat,racket]}) wins over cave ({dot[bat,cave]}), only because it is the longer \
             of the two.",
    )
    .show(&[dot]);

    let scaled = demo.compute("scaled", Op::Scale(Factor::InverseRoot(width)), &[dot])?;
    demo.step("Attention divides by the root of the number of coordinates. That is one number for all, so the order stays.")
        .show(&[scaled]);

    let cosine = demo.compute("cosine", Op::Cosine, &[x, x])?;
    demo.step(
        "The cosine divides by both lengths: only the angle counts, and each word is at 1 with itself.",
    )
    .notice(
        "Now bat has {cosine[bat,cave]:2} with cave and {cosine[bat,racket]:2} with racket: a tie. Cave and \
             racket stand at a right angle, so theirs is {cosine[cave,racket]}.",
    )
    .show(&[cosine]);

    let euclidean = demo.compute("euclidean", Op::Euclidean, &[x, x])?;
    demo.step("The Euclidean distance is the straight way between two points; here small means alike.")
        .notice(
            "For bat, cave ({euclidean[bat,cave]:2}) is nearer than racket ({euclidean[bat,racket]:2}). Dot product, \
             cosine and distance give three different answers.",
        )
        .show(&[euclidean]);
    unit_vectors(demo)?;
    squash(demo)
}

/// The same words at length 1, where every measure ranks alike: |a − b|² = 2 − 2 a·b.
fn unit_vectors(demo: &mut Builder) -> Result<()> {
    let x = demo.graph().require("X")?;
    let unit = demo.compute("X_unit", Op::UnitRows, &[x])?;
    let picture = Picture::of(demo, &[x], &[(x, unit)])?;
    let step = demo.step("Now every word is brought to length 1. Its direction stays.").show(&[unit]);
    picture.beside(step);

    let dot = demo.compute("dot_unit", Op::ProductTransposed, &[unit, unit])?;
    let distance = demo.compute("euclidean_unit", Op::Euclidean, &[unit, unit])?;
    demo.step(
        "At length 1 the dot product is the cosine, and the squared distance is 2 − 2 · cosine: all measures rank \
         alike.",
    )
    .notice(
        "Cave has bat first in both tables (dot {dot_unit[cave,bat]:2}, distance {euclidean_unit[cave,bat]:2}), \
         then racket ({dot_unit[cave,racket]:2} and {euclidean_unit[cave,racket]:2}).",
    )
    .show(&[dot, distance]);
    Ok(())
}

/// A word between two meanings, at the same distance from both.
fn squash(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X_squash", word_rows(&["squash", "commit", "pumpkin"]))?;
    let picture = Picture::of(demo, &[x], &[])?;
    let step = demo
        .step("Other words, in a plane of their own.")
        .notice("Squash has two meanings as well: one squashes commits, or eats a squash. The coordinates are ours.")
        .together(&[x]);
    picture.beside(step);

    let dot = demo.compute("dot_squash", Op::ProductTransposed, &[x, x])?;
    let cosine = demo.compute("cosine_squash", Op::Cosine, &[x, x])?;
    let distance = demo.compute("euclidean_squash", Op::Euclidean, &[x, x])?;
    demo.step("The same three measures on these words.")
        .notice(
            "Squash ties in every table: dot {dot_squash[squash,commit]} and {dot_squash[squash,pumpkin]}, distance \
             {euclidean_squash[squash,commit]:2} twice. No measure can tell which is meant; the sentence must.",
        )
        .show(&[dot, cosine, distance]);
    Ok(())
}
