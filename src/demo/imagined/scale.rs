//! `scale`: scores grow like √d, the softmax saturates, its gradient vanishes, and 1/√d_k prevents it.

use crate::attention::{Axis, Base};
use crate::demo::drawn_scores::{drawn_scores, of_their_width};
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op, Statistic};
use crate::matrix::Labels;
use crate::random::LegacyStream;
use crate::story::Digits;
use crate::story::condition::{Condition, all, columns, equal, less, max_of, min_of, within};

pub(super) const DEMO: Demo = Demo {
    name: "scale",
    source: Source::section(Document::Imagined, "Putting it all together"),
    title: "Why scores are divided by √d_k",
    summary: "why scores are divided by √d_k",
    place: crate::demo::Topic::Scores.at(2),
    keywords: &["scaling", "variance", "square root", "saturation", "temperature"],
    digits: Digits::Places(4),
    build,
};

const WIDTHS: [usize; 6] = [1, 4, 16, 64, 256, 1024];
const TOKENS: usize = 16;

/// The measurements for one width.
#[derive(Default)]
struct Measures {
    size: Vec<NodeId>,
    largest: Vec<NodeId>,
    slope: Vec<NodeId>,
}

fn build(demo: &mut Builder) -> Result<()> {
    let (mut plain, mut scaled) = (Measures::default(), Measures::default());
    let mut widths = Vec::new();
    let mut stream = LegacyStream::seeded(demo.seed());
    for width in WIDTHS {
        let (s, d_k) = drawn_scores(demo, &mut stream, TOKENS, width)?;
        widths.push(d_k);
        measure(demo, &mut plain, &format!("d{width}"), s)?;
        let s = demo.compute(&format!("S_scaled_d{width}"), Op::Scale(Factor::InverseRoot(d_k)), &[s])?;
        measure(demo, &mut scaled, &format!("scaled_d{width}"), s)?;
    }
    let names: Labels = widths.iter().map(|width| format!("d = {width}")).collect();
    let [size, largest, slope] = tables(demo, "", &plain, &names)?;
    let [size_scaled, largest_scaled, slope_scaled] = tables(demo, "_scaled", &scaled, &names)?;
    for (node, label) in [
        (size, "size of the scores"),
        (largest, "largest weight"),
        (slope, "slope"),
        (size_scaled, "size of the scaled scores"),
        (largest_scaled, "largest weight, scaled"),
        (slope_scaled, "slope, scaled"),
    ] {
        demo.label(node, label);
    }

    let own = of_their_width(&WIDTHS);
    demo.step(
        "Queries and keys of several widths d. For each width: how large are the scores, as a root mean square?",
    )
    .claim(
        all([own.clone(), about_one("size_scaled")]),
        "The scores grow like √d: {size[2,1]:1} at d = 4, where √d is 2, and {size[6,1]:1} at d = 1024, where √d is 32.",
    )
    .show(&[size]);
    one_query(demo)?;
    demo.step(
        "The largest weight of each row, averaged over the rows. When the scores are far apart, the softmax saturates: one \
         key gets nearly all the weight.",
    )
    .claim(
        all([
            own.clone(),
            less("largest[1,1]", "largest[6,1]"),
            equal(columns("S_d1"), TOKENS as f64),
            equal(columns("S_d1024"), TOKENS as f64),
        ]),
        "It grows from {largest[1,1]:2} at d = 1 to {largest[6,1]:2} at d = 1024. Equal weights would be 1/16 each.",
    )
    .show(&[largest]);
    demo.step(
        "If a score grows a little, its weight a grows a(1 − a) = a − a² times as much. This slope is averaged over all cells \
         here. It is close to 0 for weights near 0 or 1, and then the gradient is, too.",
    )
    .claim(
        all([own.clone(), less("slope[6,1]", "slope[2,1]")]),
        "At d = 4 it is {slope[2,1]}, at d = 1024 only {slope[6,1]}.",
    )
    .show(&[slope]);
    demo.step("The same scores, multiplied by 1/√d_k.")
        .claim(
            all([own.clone(), about_one("size_scaled")]),
            "Now their size is about 1 at every width: from {size_scaled[1,1]:2} at d = 1 to {size_scaled[6,1]:2} at d = 1024.",
        )
        .show(&[size_scaled]);
    demo.step("The largest weights and the slopes of the scaled scores.")
        .claim(
            all([
                own.clone(),
                less("largest_scaled[6,1]", "largest[6,1]"),
                less("slope[6,1]", "slope_scaled[6,1]"),
            ]),
            "At d = 1024 the largest weight falls from {largest[6,1]:2} to {largest_scaled[6,1]:2}, and the slope rises from \
             {slope[6,1]} to {slope_scaled[6,1]}.",
        )
        .show(&[largest_scaled, slope_scaled]);
    Ok(())
}

/// Sizes that are about 1 at every width, whatever the seed.
fn about_one(sizes: &str) -> Condition {
    all([within(0.6, max_of(sizes), 1.0), within(0.6, min_of(sizes), 1.0)])
}

/// The size of the scores, the largest weights and the slopes of the softmax.
fn measure(demo: &mut Builder, measures: &mut Measures, suffix: &str, s: NodeId) -> Result<()> {
    let mut compute =
        |name: &str, op, inputs: &[NodeId]| demo.compute(&format!("{name}_{suffix}"), op, inputs);
    measures.size.push(compute("size", Op::Summary(Statistic::RootMeanSquare), &[s])?);
    let a = compute("A", Op::Softmax(Axis::Rows, Base::E), &[s])?;
    let largest = compute("row_largest", Op::Max(Axis::Rows), &[a])?;
    measures.largest.push(compute("largest", Op::Summary(Statistic::Mean), &[largest])?);
    let squares = compute("A_squared", Op::Multiply, &[a, a])?;
    let slopes = compute("slopes", Op::Subtract, &[a, squares])?;
    measures.slope.push(compute("slope", Op::Summary(Statistic::Mean), &[slopes])?);
    Ok(())
}

fn tables(demo: &mut Builder, suffix: &str, measures: &Measures, names: &Labels) -> Result<[NodeId; 3]> {
    let mut table = |name: &str, parts: &[NodeId]| {
        demo.collect(&format!("{name}{suffix}"), "widths", Some(names.clone()), parts)
    };
    Ok([
        table("size", &measures.size)?,
        table("largest", &measures.largest)?,
        table("slope", &measures.slope)?,
    ])
}

/// The weights of the first query at a small width, at a large one, and at the large one scaled.
fn one_query(demo: &mut Builder) -> Result<()> {
    let mut shown = Vec::new();
    for name in ["d4", "d1024", "scaled_d1024"] {
        let a = demo.graph().require(&format!("A_{name}"))?;
        let row = demo.compute(&format!("row_{name}"), Op::Rows { start: 0, count: 1 }, &[a])?;
        shown.push(demo.compute(&format!("a_{name}"), Op::Transpose, &[row])?);
    }
    demo.step("The weights of the first query: at two widths, and at the larger one with scores divided by √d_k, as in step 5.")
        .heading_if(
            of_their_width(&WIDTHS),
            "The weights of the first query: at d = 4, at d = 1024, and at d = 1024 with scores divided by √d_k, as in step 5.",
        )
        .together(&shown);
    Ok(())
}
