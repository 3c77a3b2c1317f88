//! `stretch`: the effect of a matrix on the angle between two vectors, and so on the weights.

use super::{Picture, SOFTMAX};
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{all, equal, less, max_size_of, not, own, within};

pub(super) const DEMO: Demo = Demo {
    name: "stretch",
    source: Source::section(Document::Similarity, "Intuition behind K, Q and V matrices"),
    title: "A matrix changes how alike two vectors are",
    summary: "which matrices change a cosine: stretch, shear, projection",
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
        "Two pairs of vectors and a matrix. The text calls the matrix A and writes A·v, with v as a column. Here v is a row, \
         so the same product is v·Aᵀ.",
    )
    .together(&[x12, x34, stretch]);

    let (y12, picture) = transformed(demo, "X_12_stretched", x12, stretch)?;
    let step = demo
        .step("The matrix transforms each row of the first pair.")
        .claim(own(&["stretch"]), "It multiplies x by 3 and leaves y as it was.")
        .show(&[y12]);
    picture.beside(step);
    let [before, after] = cosines(demo, ["S_12", "S_12_stretched"], [x12, y12])?;
    demo.step("The cosines of the pair, before and after.")
        .claim(
            all([
                equal("S_12[v1,v2]", 0.0),
                equal("S_12_stretched[v1,v2]", 0.0),
                less(0.0, max_size_of("X_12_stretched[v1]")),
                less(0.0, max_size_of("X_12_stretched[v2]")),
                less(0.0, max_size_of("X_12[v1]")),
                less(0.0, max_size_of("X_12[v2]")),
            ]),
            "v1 and v2 were at a right angle and still are: {S_12[v1,v2]} before, {S_12_stretched[v1,v2]} after.",
        )
        .show(&[before, after]);

    let (y34, picture) = transformed(demo, "X_34_stretched", x34, stretch)?;
    picture.beside(demo.step("The same matrix on the second pair.").show(&[y34]));
    let [before, after] = cosines(demo, ["S_34", "S_34_stretched"], [x34, y34])?;
    demo.step("Its cosines, before and after.")
        .claim(
            all([less("S_34_stretched[v3,v4]", "S_34[v3,v4]"), less("S_34[v3,v4]", 0.0)]),
            "v3 and v4 were unlike ({S_34[v3,v4]:2}) and are even less alike now ({S_34_stretched[v3,v4]:2}).",
        )
        .show(&[before, after]);

    let a_before = demo.compute("A_34", SOFTMAX, &[before])?;
    let a_after = demo.compute("A_34_stretched", SOFTMAX, &[after])?;
    demo.step("The weights follow the scores. Training changes the numbers of the matrix so that a loss gets smaller, and with them the scores and the weights.")
        .claim(
            less("A_34[v3,v3]", "A_34_stretched[v3,v3]"),
            "v3 gave {A_34[v3,v3]:2} to itself and {A_34[v3,v4]:2} to v4. Now it gives {A_34_stretched[v3,v3]:2} and \
             {A_34_stretched[v3,v4]:2}. If the loss is smaller when v3 attends less to v4, training moves the matrix this way.",
        )
        .together(&[a_before, a_after]);
    rotation(demo, x34)?;
    reflection(demo, x34)?;
    shear(demo, x12)?;
    projection(demo, x34)
}

/// A rotation by the angle of a 3-4-5 triangle.
fn rotation(demo: &mut Builder, x: NodeId) -> Result<()> {
    let rotation = demo.given("rotation", on_axes([[0.6, -0.8], [0.8, 0.6]]))?;
    let (y, picture) = transformed(demo, "X_34_rotated", x, rotation)?;
    let cosine = demo.compute("S_34_rotated", Op::Cosine, &[y, y])?;
    let step = demo
        .step("The matrix `rotation` on the second pair. A rotation turns all vectors by the same angle, so it keeps every cosine.")
        .claim(
            within(1e-9, "S_34_rotated[v3,v4]", "S_34[v3,v4]"),
            "The cosine of v3 and v4 is still {S_34_rotated[v3,v4]:2}.",
        )
        .together(&[rotation, y, cosine]);
    picture.beside(step);
    Ok(())
}

/// A mirror along the x axis.
fn reflection(demo: &mut Builder, x: NodeId) -> Result<()> {
    let mirror = demo.given("reflection", on_axes([[1.0, 0.0], [0.0, -1.0]]))?;
    let (y, picture) = transformed(demo, "X_34_reflected", x, mirror)?;
    let cosine = demo.compute("S_34_reflected", Op::Cosine, &[y, y])?;
    let step = demo
        .step("The matrix `reflection` on the same pair. A reflection mirrors the plane. It keeps lengths and angles, so it keeps every cosine.")
        .claim(own(&["reflection"]), "This one reflects at the x axis: y changes its sign.")
        .claim(
            within(1e-9, "S_34_reflected[v3,v4]", "S_34[v3,v4]"),
            "The cosine of v3 and v4 is {S_34_reflected[v3,v4]:2}, as before.",
        )
        .together(&[mirror, y, cosine]);
    picture.beside(step);
    Ok(())
}

/// Every point to its place on the x axis.
fn projection(demo: &mut Builder, x: NodeId) -> Result<()> {
    let shadow = demo.given("projection", on_axes([[1.0, 0.0], [0.0, 0.0]]))?;
    let (y, picture) = transformed(demo, "X_34_projected", x, shadow)?;
    let cosine = demo.compute("S_34_projected", Op::Cosine, &[y, y])?;
    let step = demo
        .step(
            "The matrix `projection` on the same pair. A projection keeps one direction and drops the other. Every matrix is a combination of rotations or reflections, \
             scaling and projection (the demo `lowrank` takes one apart).",
        )
        .claim(
            all([own(&["projection"]), equal("S_34_projected[v3,v4]", -1.0), not(equal("S_34[v3,v4]", -1.0))]),
            "On the x axis only the direction left or right remains: v3 and v4 had the cosine {S_34[v3,v4]:2}, now they have \
             {S_34_projected[v3,v4]:2}.",
        )
        .together(&[shadow, y, cosine]);
    picture.beside(step);
    Ok(())
}

fn shear(demo: &mut Builder, x: NodeId) -> Result<()> {
    let shear = demo.given("shear", on_axes([[1.0, 1.0], [0.0, 1.0]]))?;
    let (y, picture) = transformed(demo, "X_12_sheared", x, shear)?;
    let cosine = demo.compute("S_12_sheared", Op::Cosine, &[y, y])?;
    let step = demo
        .step("The matrix `shear` on the first pair. A shear moves points along one axis, and the further they are from it the more.")
        .claim(
            less("S_12[v1,v2]", "S_12_sheared[v1,v2]"),
            "It moves v2 towards v1: their cosine goes from {S_12[v1,v2]:2} to {S_12_sheared[v1,v2]:2}.",
        )
        .claim(
            all([less("S_12[v1,v2]", "S_12_sheared[v1,v2]"), equal("S_12_stretched[v1,v2]", "S_12[v1,v2]")]),
            "The stretch left this cosine as it was.",
        )
        .together(&[shear, y, cosine]);
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
