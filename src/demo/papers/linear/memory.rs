//! The second half of `linear`: what a memory matrix returns, if writing only adds, if it corrects first, and if it forgets.

use super::one_by_one::{add_to, few_rows, outer, row};
use crate::demo::Builder;
use crate::error::{Error, Result};
use crate::graph::{NodeId, Op};
use crate::matrix::Matrix;
use crate::story::condition::{all, equal, identity, less, not, own, within};

const FACTS: [&str; 3] = ["Germany", "Italy", "Germany again"];
const COUNTRIES: [&str; 2] = ["Germany", "Italy"];
const CAPITALS: [&str; 3] = ["Bonn", "Rome", "Berlin"];

/// Keys, a value for each, and the keys that are asked for.
pub(super) struct Facts {
    k: NodeId,
    v: NodeId,
    ask: NodeId,
    count: usize,
}

/// Facts that are added up, asked for by the first keys.
pub(super) fn adding(demo: &mut Builder) -> Result<Facts> {
    let k = Matrix::of([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]).rows_named(&FACTS);
    let v = Matrix::identity(CAPITALS.len()).rows_named(&FACTS).cols_named(&CAPITALS);
    let (k, v) = (demo.given("K_facts", k)?, demo.given("V_facts", v)?);
    let count = few_rows(demo, "K_facts", k)?;
    let ask = demo.compute("ask", Op::Rows { start: 0, count: count.min(COUNTRIES.len()) }, &[k])?;
    demo.compute("overlap", Op::ProductTransposed, &[ask, ask])?;
    let standing = demo.compute("K_facts_standing", Op::Transpose, &[k])?;
    let memory = demo.compute("memory", Op::Product, &[standing, v])?;
    let recalled = demo.compute("recalled", Op::Product, &[ask, memory])?;
    demo.step(
        "The state is a memory: kᵀ v is a matrix that answers the key k with the value v. Here facts are added up, without φ \
         and without a norm, and then the memory is asked.",
    )
    .claim(
        all([
            own(&["V_facts"]),
            identity("overlap"),
            equal("recalled[Italy,Rome]", 1.0),
            equal("recalled[Italy,Bonn]", 0.0),
            equal("recalled[Italy,Berlin]", 0.0),
        ]),
        "The key of “Italy” has length 1 and is at right angles to the others, so it returns Rome and nothing else.",
    )
    .claim(
        all([
            own(&["K_facts"]),
            less(0.5, "recalled[Germany,Bonn]"),
            less(0.5, "recalled[Germany,Berlin]"),
        ]),
        "“Germany” was written twice, and returns {recalled[Germany,Bonn]} of Bonn and {recalled[Germany,Berlin]} of Berlin: \
         adding never replaces a value.",
    )
    .together(&[k, v])
    .together(&[memory, recalled]);
    Ok(Facts { k, v, ask, count })
}

/// Keys that are not at right angles.
pub(super) fn near_keys(demo: &mut Builder, facts: &Facts) -> Result<()> {
    let k = Matrix::of([[1.0, 0.0], [0.6, 0.8]]).rows_named(&COUNTRIES);
    let k = demo.given("K_near", k)?;
    let count = demo.matrix(k)?.rows();
    let v = demo.compute("V_near", Op::Rows { start: 0, count }, &[facts.v])?;
    let overlap = demo.compute("overlap_near", Op::ProductTransposed, &[k, k])?;
    let standing = demo.compute("K_near_standing", Op::Transpose, &[k])?;
    let memory = demo.compute("memory_near", Op::Product, &[standing, v])?;
    let recalled = demo.compute("recalled_near", Op::Product, &[k, memory])?;
    demo.step(
        "The first facts again, with other keys. Only d keys of width d can be at right angles, so in a long text most keys \
         overlap.",
    )
    .heading_if(
        not(equal("overlap_near[Germany,Italy]", 0.0)),
        "The first two facts again, with keys that overlap. Only d keys of width d can be at right angles, so in a long text most \
         keys overlap.",
    )
    .claim(
        all([
            not(equal("overlap_near[Germany,Italy]", 0.0)),
            within(1e-12, "recalled_near[Germany,Rome]", "overlap_near[Germany,Italy]"),
            within(1e-12, "recalled_near[Italy,Bonn]", "overlap_near[Germany,Italy]"),
        ]),
        "The dot product of the two keys is {overlap_near[Germany,Italy]:2}, and each question also returns this much of the \
         other answer: the memory is blurred.",
    )
    .together(&[k, overlap])
    .show(&[recalled]);
    Ok(())
}

/// What one fact does to a memory.
struct Write {
    /// What the memory answers before.
    known: NodeId,
    /// The value minus this.
    error: NodeId,
    /// The memory after it.
    state: NodeId,
}

/// The rule by which a fact is written.
struct Rule {
    /// The part of the error that is corrected.
    beta: NodeId,
    /// The part of the memory that is kept before each fact.
    gate: Option<NodeId>,
}

/// All facts, written one after the other into an empty memory; each node's name has the suffix.
fn write(demo: &mut Builder, suffix: &str, facts: &Facts, empty: NodeId, rule: &Rule) -> Result<Vec<Write>> {
    let mut writes: Vec<Write> = Vec::new();
    for at in 0..facts.count {
        let name = |name: &str| format!("{name}{suffix}_{}", at + 1);
        let k = row(demo, &name("key"), facts.k, at)?;
        let v = row(demo, &name("value"), facts.v, at)?;
        let mut before = writes.last().map_or(empty, |write| write.state);
        if let Some(gate) = rule.gate {
            before = demo.compute(&name("kept"), Op::Times, &[before, gate])?;
        }
        let known = demo.compute(&name("known"), Op::Product, &[k, before])?;
        let error = demo.compute(&name("error"), Op::Subtract, &[v, known])?;
        let part = demo.compute(&name("part"), Op::Times, &[error, rule.beta])?;
        let correction = outer(demo, &name("correction"), k, part)?;
        let state = add_to(demo, &name("memory"), Some(before), correction)?;
        writes.push(Write { known, error, state });
    }
    Ok(writes)
}

/// One part of all writes, a row each.
fn collected(
    demo: &mut Builder,
    name: &str,
    facts: &Facts,
    writes: &[Write],
    part: fn(&Write) -> NodeId,
) -> Result<NodeId> {
    let names = demo.matrix(facts.k)?.row_labels().cloned();
    let parts: Vec<NodeId> = writes.iter().map(part).collect();
    demo.collect(name, if parts.len() == 1 { "fact" } else { "facts" }, names, &parts)
}

/// A part of something, unless the user puts in another.
///
/// # Errors
/// If the name is taken, or the user's is not one number from 0 to 1.
fn part_of_one(demo: &mut Builder, name: &str, own: f64) -> Result<NodeId> {
    let id = demo.given(name, Matrix::filled(1, 1, own))?;
    let cells: Vec<f64> = demo.matrix(id)?.cells().collect();
    match cells[..] {
        [part] if (0.0..=1.0).contains(&part) => Ok(id),
        _ => Err(Error::new(format!("{name} must be one number from 0 to 1"))
            .help(format!("for example --set {name}={own}, as in the demo"))),
    }
}

/// The delta rule: only what the memory does not yet say is written.
pub(super) fn correcting(demo: &mut Builder, facts: &Facts) -> Result<()> {
    let (rows, cols) = (demo.matrix(facts.k)?.cols(), demo.matrix(facts.v)?.cols());
    let empty = demo.fitted("memory_0", Matrix::filled(rows, cols, 0.0).cols_named(&CAPITALS), (2, 3))?;
    let beta = part_of_one(demo, "beta", 1.0)?;
    demo.label(beta, "β");
    let writes = write(demo, "", facts, empty, &Rule { beta, gate: None })?;
    let known = collected(demo, "known", facts, &writes, |write| write.known)?;
    let errors = collected(demo, "errors", facts, &writes, |write| write.error)?;
    let last = writes.last().map_or(empty, |write| write.state);
    let recalled = demo.compute("recalled_delta", Op::Product, &[facts.ask, last])?;
    demo.step(
        "The delta rule asks first: `known` is what the memory already answers, k S. Only the error is written, S ← S + β kᵀ \
         (v − k S); with columns in place of rows this reads S + β (v − S k) kᵀ.",
    )
    .claim(
        all([
            identity("overlap"),
            equal("recalled_delta[Italy,Rome]", 1.0),
            equal("recalled_delta[Italy,Bonn]", 0.0),
            equal("recalled_delta[Italy,Berlin]", 0.0),
        ]),
        "“Italy” returns exactly Rome.",
    )
    .claim(
        all([
            equal("errors[Germany again,Bonn]", -1.0),
            equal("recalled_delta[Germany,Bonn]", 0.0),
            equal("recalled_delta[Germany,Berlin]", 1.0),
        ]),
        "The third error takes Bonn away and puts Berlin in its place, so “Germany” returns Berlin alone.",
    )
    .together(&[beta])
    .together(&[known, errors])
    .together(&[last, recalled]);
    Ok(())
}

/// The gated delta rule: before each fact the whole memory fades.
pub(super) fn forgetting(demo: &mut Builder, facts: &Facts) -> Result<()> {
    let gate = part_of_one(demo, "g", 0.5)?;
    let (empty, beta) = (demo.graph().require("memory_0")?, demo.graph().require("beta")?);
    let writes = write(demo, "_gated", facts, empty, &Rule { beta, gate: Some(gate) })?;
    let last = writes.last().map_or(empty, |write| write.state);
    let recalled = demo.compute("recalled_gated", Op::Product, &[facts.ask, last])?;
    demo.step(
        "A gate forgets: before each fact the whole memory is multiplied by a number g between 0 and 1, S ← g S. A model computes \
         g and β from each token.",
    )
    .claim(
        all([
            own(&["K_facts", "V_facts", "memory_0", "beta"]),
            within(1e-12, "recalled_gated[Italy,Rome]", "g[1,1]"),
            equal("recalled_gated[Germany,Berlin]", 1.0),
        ]),
        "Rome was written one fact before the end, so {recalled_gated[Italy,Rome]} of it is left. Berlin was written last and is \
         whole.",
    )
    .claim(equal("g[1,1]", 1.0), "With g = 1 nothing is forgotten.")
    .together(&[gate])
    .together(&[last, recalled]);
    Ok(())
}
