//! `stretch`: what a matrix does to the angle between two vectors, and so to the weights.

use super::{Picture, SOFTMAX};
use crate::demo::{Builder, Demo, Digits, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::matrix::Matrix;

pub(super) const DEMO: Demo = Demo {
    name: "stretch",
    source: Source::section(Document::Similarity, "Intuition behind K, Q and V matrices"),
    title: "A matrix changes how alike two vectors are",
    summary: "how stretching, rotating and shearing change a cosine",
    place: crate::demo::Topic::Scores.at(1),
    keywords: &["cosine", "rotation", "shear", "linear", "transformation"],
    digits: Digits::Places(2),
    build,
};

/// The names of the coordinates.
const AXES: [&str; 2] = ["x", "y"];

fn build(demo: &mut Builder) -> Result<()> {
    let x12 =
        demo.given("X_12", Matrix::of([[1.0, 0.0], [0.0, 1.0]]).rows_named(&["v1", "v2"]).cols_named(&AXES))?;
    let x34 = demo
        .given("X_34", Matrix::of([[1.0, 1.0], [-1.0, 0.0]]).rows_named(&["v3", "v4"]).cols_named(&AXES))?;
    let stretch = demo.given("stretch", on_axes([[3.0, 0.0], [0.0, 1.0]]))?;
    demo.step(
        "Two pairs of vectors, and a matrix. The document calls it A and writes A·v with v a column; a row v becomes \
         v·Aᵀ, which is the same.",
    )
    .together(&[x12, x34, stretch]);

    let (y12, picture) = transformed(demo, "X_12_stretched", x12, stretch)?;
    let step = demo
        .step("The matrix acts on each row of the first pair.")
        .notice("It makes the first coordinate three times as long and leaves the second as it was.")
        .show(&[y12]);
    picture.beside(step);
    let [before, after] = cosines(demo, ["S_12", "S_12_stretched"], [x12, y12])?;
    demo.step("The cosines of the pair, before and after.")
        .notice(
            "v1 and v2 stood at a right angle and still do: {S_12[v1,v2]} before, {S_12_stretched[v1,v2]} after. \
             Only a length has changed.",
        )
        .show(&[before, after]);

    let (y34, picture) = transformed(demo, "X_34_stretched", x34, stretch)?;
    picture.beside(demo.step("The same matrix on the second pair.").show(&[y34]));
    let [before, after] = cosines(demo, ["S_34", "S_34_stretched"], [x34, y34])?;
    demo.step("Its cosines, before and after.")
        .notice(
            "v3 and v4 were unlike ({S_34[v3,v4]:2}) and are more so now ({S_34_stretched[v3,v4]:2}): the stretch \
             turns v3 away from v4.",
        )
        .show(&[before, after]);

    let a_before = demo.compute("A_34", SOFTMAX, &[before])?;
    let a_after = demo.compute("A_34_stretched", SOFTMAX, &[after])?;
    demo.step("The weights follow the scores. Training can move weights by changing a matrix.")
        .notice(
            "v3 attended to itself with {A_34[v3,v3]:2} and to v4 with {A_34[v3,v4]:2}; now it is \
             {A_34_stretched[v3,v3]:2} and {A_34_stretched[v3,v4]:2}.",
        )
        .show(&[a_before, a_after]);
    rotation(demo, x34)?;
    shear(demo, x12)
}

/// A rotation by the angle of a 3-4-5 triangle.
fn rotation(demo: &mut Builder, x: NodeId) -> Result<()> {
    let rotation = demo.given("rotation", on_axes([[0.6, -0.8], [0.8, 0.6]]))?;
    let (y, picture) = transformed(demo, "X_34_rotated", x, rotation)?;
    let cosine = demo.compute("S_34_rotated", Op::Cosine, &[y, y])?;
    let step = demo
        .step("Another matrix on the second pair, and the cosines after it.")
        .notice("A rotation turns both by the same angle, so their cosine is still {S_34_rotated[v3,v4]:2}.")
        .together(&[rotation])
        .show(&[y, cosine]);
    picture.beside(step);
    Ok(())
}

fn shear(demo: &mut Builder, x: NodeId) -> Result<()> {
    let shear = demo.given("shear", on_axes([[1.0, 1.0], [0.0, 1.0]]))?;
    let (y, picture) = transformed(demo, "X_12_sheared", x, shear)?;
    let cosine = demo.compute("S_12_sheared", Op::Cosine, &[y, y])?;
    let step = demo
        .step("A third matrix, on the first pair.")
        .notice(
            "A shear pushes v2 towards v1: their cosine goes from {S_12[v1,v2]} to {S_12_sheared[v1,v2]:2}. What \
             the stretch could not do, this matrix can.",
        )
        .together(&[shear])
        .show(&[y, cosine]);
    picture.beside(step);
    Ok(())
}

/// A matrix that takes (x, y) to (x, y).
fn on_axes(rows: [[f64; 2]; 2]) -> Matrix {
    Matrix::of(rows).rows_named(&AXES).cols_named(&AXES)
}

/// `x · matrixᵀ`, and the picture of the movement.
fn transformed(demo: &mut Builder, name: &str, x: NodeId, matrix: NodeId) -> Result<(NodeId, Picture)> {
    let y = demo.compute(name, Op::ProductTransposed, &[x, matrix])?;
    let picture = Picture::of(demo, &[x], &[(x, y)])?;
    Ok((y, picture))
}

fn cosines(demo: &mut Builder, names: [&str; 2], of: [NodeId; 2]) -> Result<[NodeId; 2]> {
    Ok([
        demo.compute(names[0], Op::Cosine, &[of[0], of[0]])?,
        demo.compute(names[1], Op::Cosine, &[of[1], of[1]])?,
    ])
}
