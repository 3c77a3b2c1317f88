//! `order`: attention alone ignores order; a causal mask helps from the second layer on, positions help at once.

use super::head::head;
use crate::attention::{Pairing, Rotation};
use crate::demo::fit::reversal;
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op, Statistic};
use crate::matrix::{Matrix, labels};
use crate::story::Digits;
use crate::story::condition::{all, equal, less, not, own, same, within};

pub(super) const DEMO: Demo = Demo {
    name: "order",
    source: Source::section(Document::Imagined, "Finishing notes"),
    title: "“A defeated B” and “B defeated A”: where order comes from",
    summary: "where word order comes from: the mask and positions",
    place: crate::demo::Topic::Scores.at(3),
    keywords: &["position", "positional", "rope", "rotary", "sinusoidal", "encoding"],
    digits: Digits::Places(4),
    build,
};

const FEATURES: [&str; 4] = ["team A", "team B", "action", "outcome"];

fn build(demo: &mut Builder) -> Result<()> {
    let mut weights = Vec::new();
    for name in ["W_Q", "W_K", "W_V"] {
        weights.push(demo.given(name, Matrix::identity(FEATURES.len()).cols_named(&FEATURES))?);
    }
    let layers = Layers { weights: [weights[0], weights[1], weights[2]] };
    two_teams(demo, &layers)?;
    let (questions, plain) = cricket(demo, &layers)?;
    let causal = causal(demo, &layers, questions)?;
    let stacked = second_layer(demo, &layers, questions)?;
    let sinusoidal = sinusoidal(demo, &layers, questions)?;
    let rotary = rotary(demo, &layers, questions)?;
    let names =
        ["attention alone", "two layers", "causal mask", "causal mask, two layers", "sinusoidal", "rotary"];
    let gaps = [plain, stacked[0], causal, stacked[1], sinusoidal, rotary];
    let gaps = demo.collect("gaps", "cases", Some(labels(&names)), &gaps)?;
    demo.step(
        "All cases together: how different is the last word's vector in the two questions? Only if the difference is not 0 \
         can the model give two different answers.",
    )
    .claim(
        all([
            within(1e-9, "gaps[1,1]", 0.0),
            within(1e-9, "gaps[2,1]", 0.0),
            within(1e-9, "gaps[3,1]", 0.0),
            less(1e-6, "gaps[4,1]"),
            less(1e-6, "gaps[5,1]"),
            less(1e-6, "gaps[6,1]"),
        ]),
        "It is 0 in the first three cases.",
    )
        .show(&[gaps]);
    Ok(())
}

/// The weights of every layer; the identity, unless the user puts in others.
struct Layers {
    weights: [NodeId; 3],
}

#[derive(Clone, Copy, PartialEq)]
enum LayerKind {
    Plain,
    Causal,
    Rotary,
}

impl Layers {
    fn run(&self, demo: &mut Builder, suffix: &str, x: NodeId, kind: LayerKind) -> Result<NodeId> {
        let mut nodes = Vec::new();
        for (name, weights) in ["Q", "K", "V"].into_iter().zip(self.weights) {
            nodes.push(demo.compute(&format!("{name}{suffix}"), Op::Product, &[x, weights])?);
        }
        if kind == LayerKind::Rotary {
            let frequencies = demo.graph().require("F")?;
            for (name, node) in ["Q", "K"].into_iter().zip(&mut nodes) {
                let turn = Op::Rotary(Rotation { first: 0, pairing: Pairing::Halves, magnitude: 1.0 });
                *node = demo.compute(&format!("{name}_turned{suffix}"), turn, &[*node, frequencies])?;
            }
        }
        Ok(head(demo, suffix, [nodes[0], nodes[1], nodes[2]], kind == LayerKind::Causal)?.o)
    }

    /// Runs one layer on both questions.
    fn both(&self, demo: &mut Builder, name: &str, x: [NodeId; 2], kind: LayerKind) -> Result<[NodeId; 2]> {
        Ok([
            self.run(demo, &format!("_1{name}"), x[0], kind)?,
            self.run(demo, &format!("_2{name}"), x[1], kind)?,
        ])
    }
}

fn two_teams(demo: &mut Builder, layers: &Layers) -> Result<()> {
    let x = Matrix::of([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]]);
    let x = demo.given("X_AB", x.rows_named(&["team A", "defeated", "team B"]).cols_named(&FEATURES))?;
    let rows = demo.matrix(x)?.rows();
    let swap =
        demo.fitted("swap", reversal(rows, rows).rows_named(&["team B", "defeated", "team A"]), (3, 3))?;
    let turned = demo.compute("X_BA", Op::Product, &[swap, x])?;
    demo.step("X_AB is a sentence. Its product with `swap` is X_BA.")
        .claim(own(&["X_AB", "swap"]), "“A defeated B” and “B defeated A”: the same words in another order.")
        .together(&[x, turned]);

    let o = layers.run(demo, "_AB", x, LayerKind::Plain)?;
    let o_turned = layers.run(demo, "_BA", turned, LayerKind::Plain)?;
    let back = demo.compute("swap_back", Op::Transpose, &[swap])?;
    let back = demo.compute("O_BA_in_order", Op::Product, &[back, o_turned])?;
    let change = demo.compute("change", Op::Subtract, &[back, o])?;
    let difference = demo.compute("difference", Op::Summary(Statistic::MaxSize), &[change])?;
    demo.step(
        "Attention over both sentences, with the same W_Q, W_K and W_V. How large is the largest difference, once the rows of \
         O_BA are back in the order of X_AB?",
    )
    .claim(
        all([within(1e-9, "difference[1,1]", 0.0), own(&["X_AB", "swap"])]),
        "Every word gets the same vector in both sentences, no matter who won. Only the rows have changed places.",
    )
    .claim(
        all([same("W_Q", "W_K"), same("W_Q", "W_V")]),
        "W_K and W_V are the same matrix as W_Q.",
    )
    .folded(&layers.weights)
    .show(&[o])
    .folded(&[o_turned])
    .show(&[difference]);
    Ok(())
}

/// The document's two questions, shortened to four words.
fn cricket(demo: &mut Builder, layers: &Layers) -> Result<([NodeId; 2], NodeId)> {
    let x =
        Matrix::of([[2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0], [0.0, 2.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]);
    let words = ["South Africa", "defeated", "Australia", "is"];
    let x = demo.given("X_1", x.rows_named(&words).cols_named(&FEATURES))?;
    let rows = demo.matrix(x)?.rows();
    let exchange =
        reversal(rows, rows.saturating_sub(1)).rows_named(&["Australia", "defeated", "South Africa", "is"]);
    let exchange = demo.fitted("exchange", exchange, (4, 4))?;
    let turned = demo.compute("X_2", Op::Product, &[exchange, x])?;
    let questions = [x, turned];
    let o = layers.both(demo, "", questions, LayerKind::Plain)?;
    let [last, gap] = gap(demo, "", o)?;
    demo.step(
        "Two questions with the same words in another order. The next word is predicted from the last row. How different are the \
         two last rows after attention?",
    )
    .claim(
        own(&["X_1", "exchange"]),
        "These are the text's two cricket questions, shortened to four words.",
    )
    .claim(
        within(1e-9, "gap[1,1]", 0.0),
        "The last rows are equal: in attention alone the order of the earlier rows makes no difference.",
    )
    .together(&[x])
    .folded(&[turned])
    .show(&[last, gap]);
    Ok((questions, gap))
}

/// The last rows of both results, and the largest difference between them.
fn gap(demo: &mut Builder, name: &str, o: [NodeId; 2]) -> Result<[NodeId; 2]> {
    let mut last = |i: usize| {
        let start = demo.matrix(o[i])?.rows().saturating_sub(1);
        demo.compute(&format!("last_{}{name}", i + 1), Op::Rows { start, count: 1 }, &[o[i]])
    };
    let rows = [last(0)?, last(1)?];
    let names = labels(&["question 1", "question 2"]);
    let last = demo.collect(&format!("last{name}"), "questions", Some(names), &rows)?;
    let change = demo.compute(&format!("last_change{name}"), Op::Subtract, &rows)?;
    let gap = demo.compute(&format!("gap{name}"), Op::Summary(Statistic::MaxSize), &[change])?;
    demo.label(last, "last rows");
    demo.label(change, "last-row difference");
    Ok([last, gap])
}

fn causal(demo: &mut Builder, layers: &Layers, questions: [NodeId; 2]) -> Result<NodeId> {
    let o = layers.both(demo, "_causal", questions, LayerKind::Causal)?;
    let [_, gap] = gap(demo, "_causal", o)?;
    let mut second = |i: usize| {
        let start = 1.min(demo.matrix(o[i])?.rows().saturating_sub(1));
        demo.compute(&format!("second_{}_causal", i + 1), Op::Rows { start, count: 1 }, &[o[i]])
    };
    let rows = [second(0)?, second(1)?];
    let second =
        demo.collect("second_causal", "questions", Some(labels(&["question 1", "question 2"])), &rows)?;
    demo.label(second, "second rows");
    demo.step(
        "A causal mask, one layer: each word attends to itself and to the words before it. Now earlier rows can differ.",
    )
    .claim(
        all([
            not(equal("O_1_causal[defeated,team A]", "O_2_causal[defeated,team A]")),
            own(&["X_1", "exchange"]),
        ]),
        "The second row, “defeated”, differs, because it attends only to itself and to the word before it.",
    )
    .claim(
        within(1e-9, "gap_causal[1,1]", 0.0),
        "The last word still attends to the same set of words, so its row is the same in both questions.",
    )
    .folded(&o)
    .show(&[second, gap]);
    Ok(gap)
}

/// A second layer on the first one's result and its input, without and with the mask.
fn second_layer(demo: &mut Builder, layers: &Layers, questions: [NodeId; 2]) -> Result<[NodeId; 2]> {
    let mut gaps = Vec::new();
    for (first, name, kind) in
        [("", "_second", LayerKind::Plain), ("_causal", "_causal_second", LayerKind::Causal)]
    {
        let mut x = Vec::new();
        for (i, question) in questions.into_iter().enumerate() {
            let o = demo.graph().require(&format!("O_{}{first}", i + 1))?;
            x.push(demo.compute(&format!("X_{}{name}", i + 1), Op::Add, &[question, o])?);
        }
        let o = layers.both(demo, name, [x[0], x[1]], kind)?;
        gaps.push(gap(demo, name, o)?[1]);
    }
    let last = demo.graph().require("last_causal_second")?;
    demo.step(
        "A second layer reads the input plus the result of the first layer. With the mask, earlier rows now depend on what \
         came before them, and the last row reads these rows.",
    )
    .claim(
        all([less(1e-6, "gap_causal_second[1,1]"), within(1e-9, "gap_second[1,1]", 0.0)]),
        "With the mask the difference is {gap_causal_second[1,1]:3}. Without it, two layers ignore the order just as one does.",
    )
    .show(&[last, gaps[0], gaps[1]]);
    Ok([gaps[0], gaps[1]])
}

fn sinusoidal(demo: &mut Builder, layers: &Layers, questions: [NodeId; 2]) -> Result<NodeId> {
    let shape = demo.matrix(questions[0])?.shape();
    let p = demo.compute("P", Op::Sinusoidal { first: 0, tokens: shape.rows, width: shape.cols }, &[])?;
    let x = [
        demo.compute("X_1_placed", Op::Add, &[questions[0], p])?,
        demo.compute("X_2_placed", Op::Add, &[questions[1], p])?,
    ];
    let o = layers.both(demo, "_placed", x, LayerKind::Plain)?;
    let [_, gap] = gap(demo, "_placed", o)?;
    demo.step(
        "Sinusoidal positions, no mask: each position t, counted from 0, has its own vector, which is added to the word there. \
         The same word in another place is then another row.",
    )
    .claim(less(1e-6, "gap_placed[1,1]"), "One layer is enough: the last rows differ by up to {gap_placed[1,1]:3}.")
    .show(&[p])
    .folded(&x)
    .show(&[gap]);
    Ok(gap)
}

fn rotary(demo: &mut Builder, layers: &Layers, questions: [NodeId; 2]) -> Result<NodeId> {
    let width = demo.matrix(layers.weights[0])?.cols();
    let frequencies = demo.compute("F", Op::Frequencies { width, base: 10_000.0 }, &[])?;
    let o = layers.both(demo, "_rotary", questions, LayerKind::Rotary)?;
    let [_, gap] = gap(demo, "_rotary", o)?;
    let [q, turned] = [demo.graph().require("Q_1_rotary")?, demo.graph().require("Q_turned_1_rotary")?];
    let a = [demo.graph().require("A_1_rotary")?, demo.graph().require("A_2_rotary")?];
    demo.step(
        "Rotary positions turn queries and keys instead: columns p and p + d/2 together, by the position t times the frequency F \
         of the pair. Positions are counted from 0, so the first row is not turned. A score then depends on how far apart two \
         words are.",
    )
    .claim(
        not(equal("A_1_rotary[is,South Africa]", "A_2_rotary[is,South Africa]")),
        "“is” gives {A_1_rotary[is,South Africa]:2} of its weight to “South Africa” three places away, and \
         {A_2_rotary[is,South Africa]:2} when it is the word before.",
    )
    .folded(&[frequencies, q])
    .together(&[turned])
    .show(&[a[0], a[1], gap]);
    Ok(gap)
}
