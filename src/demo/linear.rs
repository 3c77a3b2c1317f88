//! `linear`, of papers on attention without a softmax: a matrix as memory.

use super::builder::*;

const WORDS: [&str; 4] = ["the", "cat", "sat", "down"];

/// No head is wider.
const WIDEST: usize = 65_536;

/// `linear`: attention without a softmax, which fits into a memory of fixed size; then memories that correct and forget.
pub(super) fn linear(demo: &mut Builder) -> Result<()> {
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
    let q = numbers("1 0; 0 2; 2 1; 1 1").rows_named(&WORDS);
    let k = numbers("0 1; 2 0; 1 -1; 1 2").rows_named(&WORDS);
    let v = numbers("4 0; 0 2; 2 2; 0 4").rows_named(&WORDS);
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
    let causal = CAUSAL;
    let pattern = demo.compute("M", Op::MaskPattern(causal), &[s])?;
    let visible = demo.compute("S_visible", Op::Multiply, &[s, pattern])?;
    let a = demo.compute("A", Op::DivideBySum(Axis::Rows), &[visible])?;
    let o = demo.product("O", a, features.v)?;
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
        let mixed = demo.product(&name("mixed"), q, state)?;
        let total = demo.compute(&name("total"), Op::ProductTransposed, &[q, norm])?;
        read.push(demo.compute(&name("o"), Op::Divide, &[mixed, total])?);
    }
    let recurrent = demo.collect("O_recurrent", word_for_tokens(features.tokens), None, &read)?;
    let [_, largest] = demo.difference(["change", "largest_change"], [recurrent, o])?;
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
    let n = demo.given("tokens", numbers("10 100 1000 100000"))?;
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

// Tokens one by one: rows, what they write into a memory, and running sums.

/// At most this many tokens are written into a memory one by one.
const MOST_TOKENS: usize = 64;

/// The number of rows of a node.
///
/// # Errors
/// If there is none, or there are too many to follow one by one.
fn few_rows(demo: &Builder, name: &str, id: NodeId) -> Result<usize> {
    match demo.matrix(id)?.rows() {
        rows @ 1..=MOST_TOKENS => Ok(rows),
        rows => Err(Error::new(format!(
            "{name} has {rows} rows, and the demo follows 1 to {MOST_TOKENS} tokens one by one"
        ))),
    }
}

/// Row `at` of a matrix.
fn row(demo: &mut Builder, name: &str, of: NodeId, at: usize) -> Result<NodeId> {
    demo.row(name, of, at)
}

/// `kᵀ v` of two rows: the matrix that answers k with v.
fn outer(demo: &mut Builder, name: &str, k: NodeId, v: NodeId) -> Result<NodeId> {
    let standing = demo.compute(&format!("{name}_key"), Op::Transpose, &[k])?;
    demo.product(name, standing, v)
}

/// A running sum: the part, added to what was there.
fn add_to(demo: &mut Builder, name: &str, before: Option<NodeId>, part: NodeId) -> Result<NodeId> {
    let inputs: Vec<NodeId> = before.into_iter().chain([part]).collect();
    demo.compute(name, Op::Add, &inputs)
}

// The second half of `linear`: what a memory matrix returns, if writing only adds, if it corrects first, and if it forgets.

const FACTS: [&str; 3] = ["Germany", "Italy", "Germany again"];
const COUNTRIES: [&str; 2] = ["Germany", "Italy"];
const CAPITALS: [&str; 3] = ["Bonn", "Rome", "Berlin"];

/// Keys, a value for each, and the keys that are asked for.
struct Facts {
    k: NodeId,
    v: NodeId,
    ask: NodeId,
    count: usize,
}

/// Facts that are added up, asked for by the first keys.
fn adding(demo: &mut Builder) -> Result<Facts> {
    let k = numbers("1 0; 0 1; 1 0").rows_named(&FACTS);
    let v = Matrix::identity(CAPITALS.len()).rows_named(&FACTS).cols_named(&CAPITALS);
    let (k, v) = (demo.given("K_facts", k)?, demo.given("V_facts", v)?);
    let count = few_rows(demo, "K_facts", k)?;
    let ask = demo.compute("ask", Op::Rows { start: 0, count: count.min(COUNTRIES.len()) }, &[k])?;
    demo.compute("overlap", Op::ProductTransposed, &[ask, ask])?;
    let standing = demo.compute("K_facts_standing", Op::Transpose, &[k])?;
    let memory = demo.product("memory", standing, v)?;
    let recalled = demo.product("recalled", ask, memory)?;
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
fn near_keys(demo: &mut Builder, facts: &Facts) -> Result<()> {
    let k = demo.given("K_near", numbers("1 0; 0.6 0.8").rows_named(&COUNTRIES))?;
    let count = demo.matrix(k)?.rows();
    let v = demo.compute("V_near", Op::Rows { start: 0, count }, &[facts.v])?;
    let overlap = demo.compute("overlap_near", Op::ProductTransposed, &[k, k])?;
    let standing = demo.compute("K_near_standing", Op::Transpose, &[k])?;
    let memory = demo.product("memory_near", standing, v)?;
    let recalled = demo.product("recalled_near", k, memory)?;
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
        let known = demo.product(&name("known"), k, before)?;
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
fn correcting(demo: &mut Builder, facts: &Facts) -> Result<()> {
    let (rows, cols) = (demo.matrix(facts.k)?.cols(), demo.matrix(facts.v)?.cols());
    let empty = demo.fitted("memory_0", Matrix::filled(rows, cols, 0.0).cols_named(&CAPITALS), (2, 3))?;
    let beta = part_of_one(demo, "beta", 1.0)?;
    demo.label(beta, "β");
    let writes = write(demo, "", facts, empty, &Rule { beta, gate: None })?;
    let known = collected(demo, "known", facts, &writes, |write| write.known)?;
    let errors = collected(demo, "errors", facts, &writes, |write| write.error)?;
    let last = writes.last().map_or(empty, |write| write.state);
    let recalled = demo.product("recalled_delta", facts.ask, last)?;
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
fn forgetting(demo: &mut Builder, facts: &Facts) -> Result<()> {
    let gate = part_of_one(demo, "g", 0.5)?;
    let (empty, beta) = (demo.node("memory_0")?, demo.node("beta")?);
    let writes = write(demo, "_gated", facts, empty, &Rule { beta, gate: Some(gate) })?;
    let last = writes.last().map_or(empty, |write| write.state);
    let recalled = demo.product("recalled_gated", facts.ask, last)?;
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
