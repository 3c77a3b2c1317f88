//! Demos of “Attention and Transformer Imagined” about what a model has around its heads.

use super::builder::*;
use super::pooling::{WORD_FEATURES, vectors};

/// `mlp`: two linear maps are one, ReLU stops that, and XOR falls apart in a wider space; the gated variant.
pub(super) fn mlp(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X", numbers("0 0; 0 1; 1 0; 1 1").cols_named(&["x1", "x2"]))?;
    let rows = demo.matrix(x)?.rows();
    let xor = rows_over_and_over(&numbers("0; 1; 1; 0"), rows);
    let xor = demo.fitted("xor", xor, (4, 1))?;
    demo.step("The perceptron works on each row on its own. `xor` is what it should return for each row.")
        .claim(own(&["X", "xor"]), "XOR is 1 where exactly one of the two features is 1.")
        .together(&[x, xor]);

    let w_1 = demo.given("W_1", numbers("1 0 1; 0 1 -1"))?;
    let w_2 = demo.given("W_2", numbers("-1; 1; 2"))?;
    let wide = demo.product("H_linear", x, w_1)?;
    let linear = demo.product("Y_linear", wide, w_2)?;
    demo.step("Two linear maps: W_1 goes from width d to width i, W_2 goes back. (The text calls them M_i and M_o.)")
        .show(&[wide, linear]);
    collapse(demo, x, [w_1, w_2], linear)?;
    impossible(demo, xor, linear)?;
    with_relu(demo, wide, w_2, xor)?;
    silu(demo)?;
    gated(demo, x, xor)
}

fn collapse(demo: &mut Builder, x: NodeId, [w_1, w_2]: [NodeId; 2], linear: NodeId) -> Result<()> {
    let w = demo.product("W", w_1, w_2)?;
    let one = demo.product("Y_one", x, w)?;
    let [_, difference] = demo.difference(["change", "difference"], [one, linear])?;
    demo.step(
        "With nothing between them, the two maps are one: (X W_1) W_2 = X (W_1 W_2). The wider space has no effect.",
    )
    .claim(equal("difference[1,1]", 0.0), "The largest difference is {difference[1,1]}.")
    .claim(less(0.0, "difference[1,1]"), "They differ only by rounding.")
    .show(&[w, one, difference]);
    Ok(())
}

/// A proof that no linear map computes XOR: its outputs for the two outer rows have the same sum as those for the two inner
/// rows.
fn impossible(demo: &mut Builder, xor: NodeId, linear: NodeId) -> Result<()> {
    let rows = demo.matrix(linear)?.rows();
    let signs = rows_over_and_over(&numbers("-1; 1; 1; -1"), rows).transposed();
    let signs = demo.fitted("signs", signs, (1, 4))?;
    let of_linear = demo.product("balance_linear", signs, linear)?;
    let of_xor = demo.product("balance_xor", signs, xor)?;
    demo.step(
        "Can a linear map compute `xor`? Multiply its outputs by the signs and add, then do the same with the wanted numbers.",
    )
    .claim(
        all([own(&["X", "xor"]), within(1e-9, "balance_linear[1,1]", 0.0), equal("balance_xor[1,1]", 2.0)]),
        "The two middle outputs minus the two outer ones. Since (0,1) + (1,0) = (0,0) + (1,1), every linear map gives 0. \
         XOR needs {balance_xor[1,1]}, so no linear map can compute it.",
    )
    .together(&[signs])
    .show(&[of_linear, of_xor]);
    Ok(())
}

fn with_relu(demo: &mut Builder, wide: NodeId, w_2: NodeId, xor: NodeId) -> Result<()> {
    let hidden = demo.compute("H", Op::Relu, &[wide])?;
    demo.step("ReLU between the maps: negative numbers become 0.")
        .claim(
            all([
                equal("H[1,3]", 0.0),
                equal("H[2,3]", 0.0),
                equal("H[3,3]", 1.0),
                equal("H[4,3]", 0.0),
                own(&["X"]),
            ]),
            "The third column is now 1 only for “x1 without x2”. In three dimensions a plane can separate the two classes.",
        )
        .show(&[hidden]);
    let y = demo.product("Y", hidden, w_2)?;
    let [_, largest] = demo.difference(["miss", "largest_miss"], [y, xor])?;
    demo.step("The same W_2 as before, after the ReLU.")
        .claim(
            all([own(&["xor"]), equal("largest_miss[1,1]", 0.0)]),
            "0, 1, 1, 0: this is XOR, and the largest error is {largest_miss[1,1]}.",
        )
        .show(&[y, largest]);
    Ok(())
}

fn silu(demo: &mut Builder) -> Result<()> {
    let z = demo.given("z", numbers("-8 -1 0 1 2 8"))?;
    let hard = demo.compute("relu", Op::Relu, &[z])?;
    let soft = demo.compute("silu", Op::Silu, &[z])?;
    demo.step(
        "SiLU(z) = z / (1 + exp(−z)) is a smooth version of ReLU: far from 0 the two nearly agree, and SiLU has no corner.",
    )
    .claim(less("silu[1,2]", 0.0), "Just below 0 it is negative: SiLU({z[1,2]}) = {silu[1,2]}.")
    .show(&[hard, soft]);
    Ok(())
}

fn gated(demo: &mut Builder, x: NodeId, xor: NodeId) -> Result<()> {
    let w_gate = demo.given("W_gate", numbers("1 -1; -1 1"))?;
    let w_up = demo.given("W_up", numbers("1 -1; -1 1"))?;
    let w_down = demo.given("W_down", numbers("1; 1"))?;
    let (gate, up) = (demo.product("O_gate", x, w_gate)?, demo.product("O_up", x, w_up)?);
    let open = demo.compute("gate", Op::Silu, &[gate])?;
    demo.step(
        "A gated variant comes from Noam Shazeer, “GLU Variants Improve Transformer”. The text quotes him: “We offer no \
         explanation as to why these architectures seem to work; we attribute their success, as all else, to divine \
         benevolence.” It has two parallel maps, the gate and the up-projection, and then W_down. (The text calls them \
         M_g, M_u and M_d.)",
    )
    .together(&[w_gate, w_up, w_down])
    .show(&[open, up]);
    let hidden = demo.compute("H_gated", Op::Multiply, &[open, up])?;
    let y = demo.product("Y_gated", hidden, w_down)?;
    let [_, largest] = demo.difference(["miss_gated", "largest_miss_gated"], [y, xor])?;
    demo.step(
        "The gate multiplies the up-projection cell by cell: (SiLU(X W_gate) ∘ (X W_up)) W_down. A product of two maps of X \
         is not linear either.",
    )
    .claim(
        all([own(&["X", "xor", "W_gate", "W_up", "W_down"]), within(1e-9, "largest_miss_gated[1,1]", 0.0)]),
        "XOR again, with two hidden columns instead of three, because SiLU(z) · z + SiLU(−z) · (−z) = z².",
    )
    .show(&[hidden, y, largest]);
    Ok(())
}

const FEATURES: [&str; 4] = ["team A", "team B", "action", "outcome"];

/// `order`: attention alone ignores order; a causal mask helps from the second layer on, positions help at once.
pub(super) fn order(demo: &mut Builder) -> Result<()> {
    let identity = Matrix::identity(FEATURES.len()).cols_named(&FEATURES);
    let layers = Layers { weights: demo.head_weights("", [identity.clone(), identity.clone(), identity])? };
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
        let mut roles = demo.roles(suffix, x, self.weights)?;
        if kind == LayerKind::Rotary {
            let frequencies = demo.node("F")?;
            for (name, node) in ["Q", "K"].into_iter().zip(&mut roles) {
                let turn = Op::Rotary(Rotation { first: 0, pairing: Pairing::Halves, magnitude: 1.0 });
                *node = demo.compute(&format!("{name}_turned{suffix}"), turn, &[*node, frequencies])?;
            }
        }
        let recipe = if kind == LayerKind::Causal { Recipe::causal() } else { Recipe::default() };
        Ok(demo.head(suffix, roles, &recipe)?.1)
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
    let x = demo.given(
        "X_AB",
        numbers("1 0 0 0; 0 0 1 0; 0 1 0 0")
            .rows_named(&["team A", "defeated", "team B"])
            .cols_named(&FEATURES),
    )?;
    let rows = demo.matrix(x)?.rows();
    let swap =
        demo.fitted("swap", reversal(rows, rows).rows_named(&["team B", "defeated", "team A"]), (3, 3))?;
    let turned = demo.product("X_BA", swap, x)?;
    demo.step("X_AB is a sentence. Its product with `swap` is X_BA.")
        .claim(own(&["X_AB", "swap"]), "“A defeated B” and “B defeated A”: the same words in another order.")
        .together(&[x, turned]);

    let o = layers.run(demo, "_AB", x, LayerKind::Plain)?;
    let o_turned = layers.run(demo, "_BA", turned, LayerKind::Plain)?;
    let back = demo.compute("swap_back", Op::Transpose, &[swap])?;
    let back = demo.product("O_BA_in_order", back, o_turned)?;
    let [_, difference] = demo.difference(["change", "difference"], [back, o])?;
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
    let x = numbers("2 0 0 0; 0 0 2 0; 0 2 0 0; 1 1 1 1");
    let words = ["South Africa", "defeated", "Australia", "is"];
    let x = demo.given("X_1", x.rows_named(&words).cols_named(&FEATURES))?;
    let rows = demo.matrix(x)?.rows();
    let exchange =
        reversal(rows, rows.saturating_sub(1)).rows_named(&["Australia", "defeated", "South Africa", "is"]);
    let exchange = demo.fitted("exchange", exchange, (4, 4))?;
    let turned = demo.product("X_2", exchange, x)?;
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
        demo.row(&format!("last_{}{name}", i + 1), o[i], start)
    };
    let rows = [last(0)?, last(1)?];
    let names = labels(&["question 1", "question 2"]);
    let last = demo.collect(&format!("last{name}"), "questions", Some(names), &rows)?;
    let change = demo.compute(&format!("last_change{name}"), Op::Subtract, &rows)?;
    let gap = demo.compute(&format!("gap{name}"), LARGEST, &[change])?;
    demo.label(last, "last rows");
    demo.label(change, "last-row difference");
    Ok([last, gap])
}

fn causal(demo: &mut Builder, layers: &Layers, questions: [NodeId; 2]) -> Result<NodeId> {
    let o = layers.both(demo, "_causal", questions, LayerKind::Causal)?;
    let [_, gap] = gap(demo, "_causal", o)?;
    let mut second = |i: usize| {
        let start = 1.min(demo.matrix(o[i])?.rows().saturating_sub(1));
        demo.row(&format!("second_{}_causal", i + 1), o[i], start)
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
            let o = demo.node(&format!("O_{}{first}", i + 1))?;
            x.push(demo.compute(&format!("X_{}{name}", i + 1), Op::Add, &[question, o])?);
        }
        let o = layers.both(demo, name, [x[0], x[1]], kind)?;
        gaps.push(gap(demo, name, o)?[1]);
    }
    let last = demo.node("last_causal_second")?;
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
    let [q, turned] = [demo.node("Q_1_rotary")?, demo.node("Q_turned_1_rotary")?];
    let a = [demo.node("A_1_rotary")?, demo.node("A_2_rotary")?];
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

const VOCABULARY: [&str; 6] = ["Delhi", "Mumbai", "India", "capital", "city", "the"];

/// `unembed`: from a vector back to a word, and the effect of the temperature on the choice.
pub(super) fn unembed(demo: &mut Builder) -> Result<()> {
    let x = demo.given("x", numbers("1 0 1 0").cols_named(&WORD_FEATURES))?;
    let w_e = demo.given("W_E", vectors(&VOCABULARY))?;
    demo.step("x is the vector that the model has computed for the last word. W_E has one row for each word that the model knows.")
        .claim(own(&["x"]), "x asks for something that has to do with a nation and with its government.")
        .together(&[x, w_e]);

    let logits = demo.compute("logits", Op::ProductTransposed, &[x, w_e])?;
    demo.step(
        "The logits are the dot products of x with every word: d numbers become V numbers, one for each word. (Some models, \
         such as Llama 3 8B, have a second matrix for this.)",
    )
    .show(&[logits]);
    let p = demo.compute("p", SOFTMAX, &[logits])?;
    demo.step(
        "The softmax turns them into probabilities. The next word is the most probable one, or it is drawn at random from p.",
    )
    .claim(top_of_row("p[1,Delhi]"), "“Delhi” is the most probable word, with {p[1,Delhi]:2}.")
    .claim(
        all([
            equal("p[1,India]", "p[1,capital]"),
            less("p[1,India]", "p[1,Delhi]"),
            less("p[1,Mumbai]", "p[1,India]"),
            less("p[1,city]", "p[1,India]"),
            less("p[1,the]", "p[1,India]"),
        ]),
        "“India” and “capital” come next, with {p[1,India]:2} each.",
    )
    .show(&[p]);
    temperature(demo, logits, p)?;
    word_to_word(demo, w_e)
}

fn temperature(demo: &mut Builder, logits: NodeId, p: NodeId) -> Result<()> {
    let mut rows = Vec::new();
    for (name, temperature) in [("cold", 0.25), ("cool", 0.5), ("", 1.0), ("warm", 2.0), ("hot", 10.0)] {
        if name.is_empty() {
            rows.push(p);
            continue;
        }
        let divided = demo.compute(&format!("logits_{name}"), Op::Temperature(temperature), &[logits])?;
        rows.push(demo.compute(&format!("p_{name}"), SOFTMAX, &[divided])?);
    }
    let names = labels(&["T = 0.25", "T = 0.5", "T = 1", "T = 2", "T = 10"]);
    let all = demo.collect("temperatures", "temperatures", Some(names), &rows)?;
    demo.step(
        "The logits can be divided by a temperature T first. T below 1 sharpens the probabilities, T above 1 levels them. \
         The order of the words stays the same.",
    )
    .claim(
        less("temperatures[5,Delhi]", "temperatures[1,Delhi]"),
        "“Delhi” falls from {temperatures[1,Delhi]:2} to {temperatures[5,Delhi]:2}. Equal probabilities would be 1/6 each.",
    )
    .show(&[all]);
    Ok(())
}

fn word_to_word(demo: &mut Builder, w_e: NodeId) -> Result<()> {
    let back = demo.compute("back", Op::ProductTransposed, &[w_e, w_e])?;
    demo.step(
        "Does every word find itself? Each row of this table holds the logits of one word against all words.",
    )
    .claim(
        less("back[capital,capital]", "back[capital,Delhi]"),
        "“capital” scores {back[capital,capital]} with itself but {back[capital,Delhi]} with “Delhi”: the dot product \
         favours long vectors.",
    )
    .show(&[back]);
    let unit = demo.compute("W_E_unit", Op::UnitRows, &[w_e])?;
    let cosines = demo.compute("back_unit", Op::ProductTransposed, &[unit, unit])?;
    demo.step("If all rows have length 1, no word scores higher with another word than with itself.")
        .claim(
            all(VOCABULARY.map(|word| within(1e-9, &*format!("back_unit[{word},{word}]"), 1.0))),
            "Every word now scores 1 with itself.",
        )
        .show(&[cosines]);
    Ok(())
}

/// The permutation of `count` rows that turns the order of the first `turned` round and leaves the others.
fn reversal(count: usize, turned: usize) -> Matrix {
    let source = |i: usize| if i < turned { turned - 1 - i } else { i };
    Matrix::from_fn(count, count, |i, j| if j == source(i) { 1.0 } else { 0.0 })
}
