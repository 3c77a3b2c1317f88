//! `linear`: attention without a softmax, which fits into a memory of fixed size; then memories that correct and forget.

use crate::attention::{Axis, Mask};
use crate::demo::{Builder, Demo, Passage, Source};
use crate::error::Result;
use crate::graph::{NodeId, Op, Statistic};
use crate::matrix::Matrix;
use crate::story::Digits;
use crate::story::condition::{Condition, all, equal, less, max_size_of, min_of, not_a_number, own};

mod memory;
mod one_by_one;

use memory::{adding, correcting, forgetting, near_keys};
use one_by_one::{add_to, few_rows, outer, row};

pub(super) const DEMO: Demo = Demo {
    name: "linear",
    source: Source::Papers(&[
        Passage { paper: "katharopoulos-2020", place: "section 3" },
        Passage { paper: "schlag-2021", place: "section 4" },
        Passage { paper: "yang-2024", place: "section 3" },
    ]),
    title: "Linear attention: a matrix as memory",
    summary: "no softmax: a memory that never grows; the delta rule",
    place: crate::demo::Topic::Cost.at(5),
    keywords: &["memory", "state", "delta", "deltanet", "recurrent", "rnn", "fast weights", "gate", "gated"],
    digits: Digits::Places(4),
    build,
};

const WORDS: [&str; 4] = ["the", "cat", "sat", "down"];

/// No head is wider.
const WIDEST: usize = 65_536;
const LARGEST: Op = Op::Summary(Statistic::MaxSize);

fn build(demo: &mut Builder) -> Result<()> {
    let features = features(demo)?;
    let o = at_once(demo, &features)?;
    let states = token_by_token(demo, &features)?;
    read(demo, &features, &states, o)?;
    sizes(demo)?;
    let facts = adding(demo)?;
    near_keys(demo, &facts)?;
    correcting(demo, &facts)?;
    forgetting(demo, &facts)
}

/// The features of queries and keys, and the values.
struct Features {
    q: NodeId,
    k: NodeId,
    v: NodeId,
    tokens: usize,
}

fn features(demo: &mut Builder) -> Result<Features> {
    let q = Matrix::of([[1.0, 0.0], [0.0, 2.0], [2.0, 1.0], [1.0, 1.0]]).rows_named(&WORDS);
    let k = Matrix::of([[0.0, 1.0], [2.0, 0.0], [1.0, -1.0], [1.0, 2.0]]).rows_named(&WORDS);
    let v = Matrix::of([[4.0, 0.0], [0.0, 2.0], [2.0, 2.0], [0.0, 4.0]]).rows_named(&WORDS);
    let (q, k, v) = (demo.given("Q", q)?, demo.given("K", k)?, demo.given("V", v)?);
    let tokens = few_rows(demo, "K", k)?;
    let of_q = demo.compute("phi_Q", Op::EluPlusOne, &[q])?;
    let of_k = demo.compute("phi_K", Op::EluPlusOne, &[k])?;
    demo.label(of_q, "φ(Q)");
    demo.label(of_k, "φ(K)");
    demo.step(
        "Softmax attention weighs a key by exp(q·k). Linear attention weighs it by φ(q)·φ(k), with φ(x) = elu(x) + 1: this is \
         x + 1 above 0, and exp(x) below.",
    )
    .claim(
        all([less(0.0, min_of("phi_K")), less(0.0, min_of("phi_Q")), less(0.0, min_of("S"))]),
        "All features are positive, so all weights will be positive too.",
    )
    .together(&[q, k, v])
    .together(&[of_q, of_k]);
    Ok(Features { q: of_q, k: of_k, v, tokens })
}

/// All numbers of this node are finite.
fn finite(node: &str) -> Condition {
    less(max_size_of(node), f64::INFINITY)
}

/// All weights at once, as in attention.
fn at_once(demo: &mut Builder, features: &Features) -> Result<NodeId> {
    let s = demo.compute("S", Op::ProductTransposed, &[features.q, features.k])?;
    let causal = Mask { causal: true, ..Mask::default() };
    let pattern = demo.compute("M", Op::MaskPattern(causal), &[s])?;
    let visible = demo.compute("S_visible", Op::Multiply, &[s, pattern])?;
    let a = demo.compute("A", Op::DivideBySum(Axis::Rows), &[visible])?;
    let o = demo.compute("O", Op::Product, &[a, features.v])?;
    demo.step(
        "All at once, as in training: the scores are φ(Q) φ(K)ᵀ, and M puts 0 in place of those of later words. Each row \
         is divided by its sum, and no exponential is taken of a score.",
    )
    .claim(equal("A[1,1]", 1.0), "The first word sees only itself, so it gives itself the weight 1.")
    .claim(
        all([not_a_number("A"), finite("S")]),
        "Some rows of visible scores sum to 0: exp(x) is rounded to 0 where x is far below 0. The quotient 0 / 0 is NaN.",
    )
    .together(&[s, visible])
    .together(&[a, o]);
    Ok(o)
}

/// What an equation calls this number of tokens.
fn word_for_tokens(count: usize) -> &'static str {
    if count == 1 { "token" } else { "tokens" }
}

/// The memory after each token.
struct States {
    /// The sum of `φ(k)ᵀ v`.
    states: Vec<NodeId>,
    /// The sum of φ(k).
    norms: Vec<NodeId>,
}

fn token_by_token(demo: &mut Builder, features: &Features) -> Result<States> {
    let mut all_states = States { states: Vec::new(), norms: Vec::new() };
    for at in 0..features.tokens {
        let name = |name: &str| format!("{name}_{}", at + 1);
        let k = row(demo, &name("phi_k"), features.k, at)?;
        let v = row(demo, &name("v"), features.v, at)?;
        let written = outer(demo, &name("written"), k, v)?;
        let before = all_states.states.last().copied();
        all_states.states.push(add_to(demo, &name("state"), before, written)?);
        let before = all_states.norms.last().copied();
        all_states.norms.push(add_to(demo, &name("norm"), before, k)?);
    }
    let names = demo.matrix(features.k)?.row_labels().cloned();
    let norms = demo.collect("norms", word_for_tokens(features.tokens), names, &all_states.norms)?;
    demo.step(
        "Token by token, as when a text is written: each token adds φ(k)ᵀ v to a matrix, the state, and φ(k) to a row, the norm. \
         Then its key and its value are no longer needed.",
    )
    .together(&all_states.states)
    .show(&[norms]);
    Ok(all_states)
}

fn read(demo: &mut Builder, features: &Features, states: &States, o: NodeId) -> Result<()> {
    let mut read = Vec::new();
    for (at, (&state, &norm)) in states.states.iter().zip(&states.norms).enumerate() {
        let name = |name: &str| format!("{name}_{}", at + 1);
        let q = row(demo, &name("phi_q"), features.q, at)?;
        let mixed = demo.compute(&name("mixed"), Op::Product, &[q, state])?;
        let total = demo.compute(&name("total"), Op::ProductTransposed, &[q, norm])?;
        read.push(demo.compute(&name("o"), Op::Divide, &[mixed, total])?);
    }
    let recurrent = demo.collect("O_recurrent", word_for_tokens(features.tokens), None, &read)?;
    let change = demo.compute("change", Op::Subtract, &[recurrent, o])?;
    let largest = demo.compute("largest_change", LARGEST, &[change])?;
    demo.step("A query reads the state after its own token: o = φ(q) · state / (φ(q) · norm).")
        .claim(
            less("largest_change[1,1]", 1e-13),
            "The result is O again: both ways differ by less than 1e-13, which is rounding.",
        )
        .claim(
            all([not_a_number("A"), not_a_number("O_recurrent"), finite("S"), finite("V")]),
            "A query with a row of weights NaN gets NaN here too: φ(q) · norm is 0.",
        )
        .show(&[recurrent, largest]);
    Ok(())
}

/// The numbers in a cache and in a state, for texts of several lengths.
fn sizes(demo: &mut Builder) -> Result<()> {
    let lengths = Matrix::of([[10.0, 100.0, 1000.0, 100_000.0]]);
    let n = demo.given("tokens", lengths)?;
    let (rows, cols) = (demo.matrix(n)?.rows(), demo.matrix(n)?.cols());
    let (width, _) = demo.count("d", 128, WIDEST)?;
    let one_pair = demo.compute("numbers_of_a_token", Op::Add, &[width, width])?;
    let cache = demo.compute("in_cache", Op::Times, &[n, one_pair])?;
    let square = demo.compute("in_matrix", Op::Times, &[width, width])?;
    let state = demo.compute("numbers_of_a_state", Op::Add, &[square, width])?;
    let each = demo.compute("each", Op::Ones { rows, cols }, &[])?;
    let state = demo.compute("in_state", Op::Times, &[each, state])?;
    demo.label(n, "tokens");
    demo.label(cache, "numbers in a cache");
    demo.label(state, "numbers in the state");
    demo.step(
        "What a head of width d keeps: a cache has a key and a value for each token. The state is a d×d matrix, and with the norm \
         d · d + d numbers, however long the text.",
    )
    .claim(
        all([own(&["tokens"]), less("in_state[1,4]", "in_cache[1,4]")]),
        "With d = {d[1,1]} the state has {in_state[1,1]} numbers from the first token on. A cache of {tokens[1,4]} tokens has \
         {in_cache[1,4]}.",
    )
    .together(&[width])
    .columns(&[(n, None), (cache, None), (state, None)]);
    Ok(())
}
