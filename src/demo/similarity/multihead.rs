//! `multihead`: two heads one after the other, the same as one product cut into blocks, and both under the causal mask.

use super::SOFTMAX;
use crate::attention::Mask;
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::recipes::{Recipe, Weights};
use crate::graph::{NodeId, Op, Statistic};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{all, equal, not, own};

pub(super) const DEMO: Demo = Demo {
    name: "multihead",
    source: Source::section(Document::Similarity, "Implementing Multi-head self-attention"),
    title: "Several heads: a loop, or one product cut into blocks",
    summary: "several heads in a loop or in one product: the same result",
    place: crate::demo::Topic::Heads.at(2),
    keywords: &["head", "heads", "multi-head", "mha", "concatenation"],
    digits: Digits::Places(2),
    build,
};

/// The nodes of one head from its scores on.
struct Head {
    scores: NodeId,
    scaled: NodeId,
    weights: NodeId,
    output: NodeId,
}

fn build(demo: &mut Builder) -> Result<()> {
    let x = Matrix::of([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).rows_named(&["she", "saw", "bats"]);
    let x = demo.given("X", x)?;
    let first =
        weights(demo, 1, [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]], [[2.0, 0.0], [0.0, 1.0]]])?;
    let second =
        weights(demo, 2, [[[1.0, 1.0], [0.0, 1.0]], [[1.0, 0.0], [-1.0, 1.0]], [[0.0, 1.0], [3.0, 0.0]]])?;
    demo.step("All heads read the same X. Each head has its own weights.")
        .together(&[x, first[0], first[1], first[2]])
        .together(&second);

    let (one, q_1) = looped(demo, "_1", x, first)?;
    demo.step("Head 1: queries, keys and values, then scores, divided by √d_k, the softmax of each row, and the mixed values.")
        .together(&q_1)
        .together(&[one.scores, one.scaled])
        .together(&[one.weights, one.output]);
    let (two, q_2) = looped(demo, "_2", x, second)?;
    demo.step("Head 2: the same steps with its own weights.")
        .claim(
            not(equal("A_1[she,she]", "A_2[she,she]")),
            "The heads attend to different tokens: “she” gives {A_1[she,she]:2} to itself in head 1 and {A_2[she,she]:2} in \
             head 2.",
        )
        .together(&q_2)
        .together(&[two.scores, two.scaled])
        .together(&[two.weights, two.output]);

    let c = demo.compute("C", Op::Concatenate, &[one.output, two.output])?;
    demo.step("The outputs of the heads stand side by side. H heads of width d_v give H · d_v columns.")
        .show(&[c]);
    let last = one_product(demo, x, [first, second])?;
    agreement(demo, c, last)?;
    causal(demo, [one, two], [&q_1, &q_2])
}

/// The given weights of one head: `W_Q_1 W_K_1 W_V_1`.
fn weights(demo: &mut Builder, head: usize, [q, k, v]: [[[f64; 2]; 2]; 3]) -> Result<[NodeId; 3]> {
    Ok([
        demo.given(&format!("W_Q_{head}"), Matrix::of(q))?,
        demo.given(&format!("W_K_{head}"), Matrix::of(k))?,
        demo.given(&format!("W_V_{head}"), Matrix::of(v))?,
    ])
}

/// One turn of the loop: its own three products, then attention.
fn looped(demo: &mut Builder, suffix: &str, x: NodeId, weights: [NodeId; 3]) -> Result<(Head, [NodeId; 3])> {
    let mut project = |name: &str, w: NodeId| demo.compute(&format!("{name}{suffix}"), Op::Product, &[x, w]);
    let projected = [project("Q", weights[0])?, project("K", weights[1])?, project("V", weights[2])?];
    let head = attend(demo, suffix, projected)?;
    Ok((head, projected))
}

fn attend(demo: &mut Builder, suffix: &str, roles: [NodeId; 3]) -> Result<Head> {
    let (Weights { scores, scaled, weights, .. }, output) = demo.head(suffix, roles, &Recipe::default())?;
    Ok(Head { scores, scaled, weights, output })
}

/// All heads' weights side by side, one product for each of Q, K and V, whose columns are then cut into heads.
fn one_product(demo: &mut Builder, x: NodeId, heads: [[NodeId; 3]; 2]) -> Result<NodeId> {
    let (mut weights, mut products, mut blocks) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
    for (role, name) in ["Q", "K", "V"].into_iter().enumerate() {
        let own = [heads[0][role], heads[1][role]];
        let w = demo.compute(&format!("W_{name}"), Op::Concatenate, &own)?;
        let all = demo.compute(name, Op::Product, &[x, w])?;
        weights.push(w);
        products.push(all);
        let mut start = 0;
        for (head, blocks) in blocks.iter_mut().enumerate() {
            let count = demo.matrix(own[head])?.cols();
            let block = Op::Columns { start, count };
            blocks.push(demo.compute(&format!("{name}_block_{}", head + 1), block, &[all])?);
            start += count;
        }
    }
    demo.step("Now without the loop: the weights of the heads stand side by side, and there is one product each for Q, K and V.")
        .together(&weights)
        .together(&products);

    demo.step("Reshaping cuts Q into one block of columns for each head, and K and V in the same way. No number changes.")
        .together(&[blocks[0][0], blocks[1][0]]);

    let mut outputs = Vec::new();
    for (head, block) in blocks.iter().enumerate() {
        let [q, k, v] = block[..] else { continue };
        outputs.push(attend(demo, &format!("_block_{}", head + 1), [q, k, v])?.output);
    }
    demo.compute("C_blocks", Op::Concatenate, &outputs)
}

fn agreement(demo: &mut Builder, c: NodeId, blocks: NodeId) -> Result<()> {
    let difference = demo.compute("difference", Op::Subtract, &[blocks, c])?;
    let largest = demo.compute("largest", Op::Summary(Statistic::MaxSize), &[difference])?;
    demo.step("Attention within each block. How far is the concatenation of the results, C_blocks, from C of the loop?")
        .claim(
            equal("largest[1,1]", 0.0),
            "The largest difference is {largest[1,1]}: the sums are the same, in the same order.",
        )
        .show(&[largest]);
    Ok(())
}

/// The same heads under the causal mask, and the projection that brings the result back to the width of X.
fn causal(demo: &mut Builder, heads: [Head; 2], projected: [&[NodeId; 3]; 2]) -> Result<()> {
    let (mut shown, mut outputs) = (Vec::new(), Vec::new());
    for (head, (Head { scaled, .. }, [_, _, v])) in heads.iter().zip(projected).enumerate() {
        let head = head + 1;
        let mask = Op::Mask(Mask { causal: true, ..Mask::default() });
        let masked = demo.compute(&format!("S_masked_{head}"), mask, &[*scaled])?;
        let weights = demo.compute(&format!("A_causal_{head}"), SOFTMAX, &[masked])?;
        let output = demo.compute(&format!("O_causal_{head}"), Op::Product, &[weights, *v])?;
        shown.push([masked, weights]);
        outputs.push(output);
    }
    let c = demo.compute("C_causal", Op::Concatenate, &outputs)?;
    let step = demo
        .step("The causal variant hides later tokens in every head: the weights above the diagonal are exactly 0.")
        .claim(
            all([equal("A_causal_1[she,she]", 1.0), equal("A_causal_2[she,she]", 1.0)]),
            "“she” comes first, so it can only attend to itself, in both heads.",
        );
    match shown[..] {
        [[masked, weights], [_, others]] => step.together(&[masked, weights]).together(&[others, c]),
        _ => step.show(&[c]),
    };

    let w_o = Matrix::of([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]);
    let w_o = demo.given("W_O", w_o)?;
    let o = demo.compute("O", Op::Product, &[c, w_o])?;
    demo.step(
        "The text stops at the concatenation. An output matrix W_O mixes the heads, and it can take the result back to \
         the width of X.",
    )
    .claim(own(&["W_O"]), "This W_O simply adds the two heads.")
    .together(&[w_o, o]);
    Ok(())
}
