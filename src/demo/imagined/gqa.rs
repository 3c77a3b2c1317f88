//! `gqa`: heads that share keys and values, from one pair for each head to one for all, and the latent variant.

use super::head::head;
use crate::attention::key_value_head;
use crate::demo::{Builder, Demo, Digits, Document, Source, Table};
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op, Statistic};
use crate::matrix::Matrix;

pub(super) const DEMO: Demo = Demo {
    name: "gqa",
    source: Source::section(Document::Imagined, "Additional Modifications"),
    title: "MHA, GQA, MQA and the latent variant: who shares keys and values",
    summary: "sharing keys and values: MHA, GQA, MQA, latent; cache size",
    place: crate::demo::Topic::Heads.at(5),
    keywords: &[
        "head",
        "heads",
        "grouped",
        "mqa",
        "mha",
        "mla",
        "latent",
        "cache",
        "kv",
        "kv-cache",
        "grouped-query",
    ],
    digits: Digits::Places(4),
    build,
};

/// Query heads of the small example.
const HEADS: usize = 4;

fn build(demo: &mut Builder) -> Result<()> {
    demo.step(
        "H query heads share G key/value heads. G = H is multi-head attention (MHA), G = 1 multi-query \
         (MQA), between them lies grouped-query (GQA).",
    )
    .table(who_reads_whom());

    let x = Matrix::of([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0]]);
    let x = demo.given("X", x.rows_named(&["a", "red", "bat"]))?;
    let w_q = Matrix::of([[1., 0., 0., 1.], [0., 1., 1., 0.], [1., 1., 0., 0.], [0., 0., 1., 1.]]);
    let w_q = demo.given("W_Q", w_q.cols_named(&["head 1", "head 2", "head 3", "head 4"]))?;
    let q = demo.compute("Q", Op::Product, &[x, w_q])?;

    grouped(demo, x, w_q, q)?;
    multi_query(demo, x, q)?;
    latent(demo, x, q)?;
    sizes(demo)
}

fn who_reads_whom() -> Table {
    let readers = |groups| (0..HEADS).map(move |head| key_value_head(head, HEADS, groups) + 1);
    let row = |(name, groups): (&str, usize)| {
        let own = [name.to_string(), groups.to_string(), (HEADS / groups).to_string()];
        own.into_iter().chain(readers(groups).map(|head| format!("k{head} v{head}"))).collect()
    };
    let rows = [("MHA", 4), ("GQA", 2), ("MQA", 1)].map(row);
    Table::new(&["", "G", "H/G (document: g)", "q1 reads", "q2 reads", "q3 reads", "q4 reads"], rows)
}

fn grouped(demo: &mut Builder, x: NodeId, w_q: NodeId, q: NodeId) -> Result<()> {
    let names = ["kv 1", "kv 2"];
    let w_k = demo.given("W_K", Matrix::of([[1., 0.], [0., 1.], [1., 1.], [0., 1.]]).cols_named(&names))?;
    let w_v = demo.given("W_V", Matrix::of([[2., 0.], [0., 1.], [1., 0.], [0., 3.]]))?;
    let weights = [w_q, w_k, w_v];
    let shared = Shared { name: "gqa", groups: 2, w_k, w_v };
    let [k, v, o] = shared.attend(demo, x, q)?;
    demo.step(
        "A small GQA: each head owns a block of neighbouring columns. Heads 1 and 2 read the first block of \
         K and V, heads 3 and 4 the second.",
    )
    .together(&[x])
    .notice("Every head is one column wide here: a column is a head.")
    .together(&weights)
    .show(&[k, v, o]);
    let [w_k_each, w_v_each, o_each, difference] = shared.written_out(demo, x, q, o)?;
    demo.step(
        "The same as MHA, with every shared block written out once for each of its readers. So GQA is MHA \
         whose heads have equal keys and values; with G = H nothing is shared.",
    )
    .notice("The largest difference is {difference_gqa[1,1]}.")
    .together(&[w_k_each, w_v_each])
    .show(&[o_each, difference]);
    Ok(())
}

fn multi_query(demo: &mut Builder, x: NodeId, q: NodeId) -> Result<()> {
    let w_k = demo.given("W_K_mqa", Matrix::of([[1.], [1.], [0.], [1.]]).cols_named(&["kv 1"]))?;
    let w_v = demo.given("W_V_mqa", Matrix::of([[1.], [2.], [0.], [3.]]))?;
    let shared = Shared { name: "mqa", groups: 1, w_k, w_v };
    let [_, _, o] = shared.attend(demo, x, q)?;
    let [_, _, o_each, difference] = shared.written_out(demo, x, q, o)?;
    demo.step(
        "G = 1 is MQA: one key and one value for all heads. Again it equals MHA with that block repeated.",
    )
    .notice("The largest difference is {difference_mqa[1,1]}.")
    .together(&[w_k, w_v])
    .show(&[o, o_each, difference]);
    Ok(())
}

/// Key and value weights that several query heads share.
struct Shared {
    name: &'static str,
    groups: usize,
    w_k: NodeId,
    w_v: NodeId,
}

impl Shared {
    /// K, V and the result of all heads.
    fn attend(&self, demo: &mut Builder, x: NodeId, q: NodeId) -> Result<[NodeId; 3]> {
        let name = self.name;
        let k = demo.compute(&format!("K_{name}"), Op::Product, &[x, self.w_k])?;
        let v = demo.compute(&format!("V_{name}"), Op::Product, &[x, self.w_v])?;
        Ok([k, v, all_heads(demo, name, [q, k, v], self.groups)?])
    }

    /// The weights with each shared block repeated for every head that reads it, what MHA makes of them, and the
    /// largest difference from `shared`.
    fn written_out(&self, demo: &mut Builder, x: NodeId, q: NodeId, shared: NodeId) -> Result<[NodeId; 4]> {
        let name = format!("{}_each", self.name);
        let mut each = Vec::new();
        for (letter, weights) in [("W_K", self.w_k), ("W_V", self.w_v)] {
            let blocks = demo.split(&format!("{letter}_{}", self.name), weights, self.groups)?;
            let repeated: Vec<NodeId> = (0..HEADS)
                .filter_map(|head| blocks.get(key_value_head(head, HEADS, self.groups)).copied())
                .collect();
            each.push(demo.compute(&format!("{letter}_{name}"), Op::Concatenate, &repeated)?);
        }
        let k = demo.compute(&format!("K_{name}"), Op::Product, &[x, each[0]])?;
        let v = demo.compute(&format!("V_{name}"), Op::Product, &[x, each[1]])?;
        let o = all_heads(demo, &name, [q, k, v], HEADS)?;
        let change = demo.compute(&format!("change_{}", self.name), Op::Subtract, &[o, shared])?;
        let largest = Op::Summary(Statistic::LargestSize);
        Ok([each[0], each[1], o, demo.compute(&format!("difference_{}", self.name), largest, &[change])?])
    }
}

/// Every query head with the key/value head it reads, side by side.
fn all_heads(demo: &mut Builder, name: &str, [q, k, v]: [NodeId; 3], groups: usize) -> Result<NodeId> {
    let queries = demo.split(&format!("Q_{name}"), q, HEADS)?;
    let (keys, values) =
        (demo.split(&format!("K_{name}"), k, groups)?, demo.split(&format!("V_{name}"), v, groups)?);
    let mut heads = Vec::new();
    for (i, &query) in queries.iter().enumerate() {
        let group = key_value_head(i, HEADS, groups);
        let suffix = format!("_{name}_{}", i + 1);
        heads.push(head(demo, &suffix, [query, keys[group], values[group]], false)?.o);
    }
    demo.compute(&format!("O_{name}"), Op::Concatenate, &heads)
}

fn latent(demo: &mut Builder, x: NodeId, q: NodeId) -> Result<()> {
    let down = demo.given("W_down", Matrix::of([[1., 0.], [0., 1.], [1., 0.], [0., 2.]]))?;
    let up_k = demo.given("W_up_K", Matrix::of([[1., 0., 1., 0.], [0., 1., 1., 2.]]))?;
    let up_v = demo.given("W_up_V", Matrix::of([[2., 0., 1., 0.], [0., 1., 0., 3.]]))?;
    let latent = demo.compute("latent", Op::Product, &[x, down])?;
    let k = demo.compute("K_mla", Op::Product, &[latent, up_k])?;
    let v = demo.compute("V_mla", Op::Product, &[latent, up_v])?;
    demo.step(
        "The latent variant (MLA) keeps one narrow row for each word. Keys and values of all heads are made \
         from it.",
    )
    .notice("Four keys and four values a word come out of two cached numbers.")
    .together(&[down, up_k, up_v])
    .show(&[latent, k, v]);

    let o = all_heads(demo, "mla", [q, k, v], HEADS)?;
    let ups = demo.split("W_up_K", up_k, HEADS)?;
    let mut changes = Vec::new();
    for (i, up) in ups.into_iter().enumerate() {
        let i = i + 1;
        let query = demo.graph().require(&format!("Q_mla_{i}"))?;
        let s = demo.graph().require(&format!("S_mla_{i}"))?;
        let moved = demo.compute(&format!("Q_latent_{i}"), Op::ProductTransposed, &[query, up])?;
        let direct = demo.compute(&format!("S_latent_{i}"), Op::ProductTransposed, &[moved, latent])?;
        changes.push(demo.compute(&format!("change_mla_{i}"), Op::Subtract, &[direct, s])?);
    }
    let changes = demo.compute("change_mla", Op::Stack(None), &changes)?;
    let difference = demo.compute("difference_mla", Op::Summary(Statistic::LargestSize), &[changes])?;
    let [moved, direct] = [demo.graph().require("Q_latent_1")?, demo.graph().require("S_latent_1")?];
    demo.step(
        "The keys need not even be formed: W_up_K can move to the query, which then asks the latent row \
         itself. The scores stay what they were, in every head.",
    )
    .notice(
        "The largest difference is {difference_mla[1,1]}. (DeepSeek-V2 also keeps a small rotary key, \
             left out here.)",
    )
    .show(&[o, moved, direct, difference]);
    Ok(())
}

const VARIANTS: [&str; 3] = ["MHA", "GQA", "MQA"];

fn number(demo: &mut Builder, name: &str, value: f64) -> Result<NodeId> {
    demo.given(name, Matrix::filled(1, 1, value))
}

/// Parameters and cache at the sizes of Llama 3 8B; its own choice is the row GQA.
fn sizes(demo: &mut Builder) -> Result<()> {
    let shared = demo.given("G", Matrix::of([[32.0], [8.0], [1.0]]).rows_named(&VARIANTS))?;
    let readers = demo.given("g", Matrix::of([[1.0], [4.0], [32.0]]).rows_named(&VARIANTS))?;
    let heads = demo.compute("H", Op::Multiply, &[readers, shared])?;
    let rows = demo.compute("key_and_value", Op::Scale(Factor::Number(2.0)), &[shared])?;
    let latent = demo.given("latent_rows", Matrix::of([[4.0]]).rows_named(&["MLA"]))?;
    let rows = demo.compute("cached_rows", Op::Stack(None), &[rows, latent])?;
    let h = number(demo, "h", 128.0)?;
    let cached = demo.compute("cached", Op::Product, &[rows, h])?;
    demo.step(
        "The document's g counts the queries of a key, our G the key/value heads: g·G = H. A layer keeps G \
         keys and G values of width h for every word; MLA keeps one latent row.",
    )
    .notice(
        "The sizes are those of Llama 3 8B, whose own row is GQA. The latent row is \
             {latent_rows[1,1]}·h wide, as in DeepSeek-V2.",
    )
    .together(&[readers, shared, h])
    .show(&[heads, cached]);
    cache(demo, cached)?;
    parameters(demo, cached)
}

fn cache(demo: &mut Builder, cached: NodeId) -> Result<()> {
    let layers = number(demo, "layers", 32.0)?;
    let bytes = number(demo, "bytes", 2.0)?;
    let tokens = number(demo, "tokens", 8192.0)?;
    let all = demo.compute("cached_layers", Op::Product, &[cached, layers])?;
    let token = demo.compute("token_bytes", Op::Product, &[all, bytes])?;
    let whole = demo.compute("cache_bytes", Op::Product, &[token, tokens])?;
    let mebi = number(demo, "MiB", 1_048_576.0)?;
    let mebi = demo.compute("cache_MiB", Op::Divide, &[whole, mebi])?;
    demo.step(
        "The cache in bytes: those numbers times layers, bytes a number, and tokens. A MiB is 1024·1024 bytes.",
    )
    .notice(
        "A context of {tokens[1,1]} tokens takes {cache_MiB[MHA,1]} MiB with MHA, {cache_MiB[GQA,1]} \
             with GQA and {cache_MiB[MQA,1]} with MQA.",
    )
    .together(&[layers, bytes, tokens])
    .show(&[token, mebi]);
    Ok(())
}

/// The weights that make keys and values in one layer.
fn parameters(demo: &mut Builder, cached: NodeId) -> Result<()> {
    let d = number(demo, "d", 4096.0)?;
    let plain = demo.compute("cached_plain", Op::Rows { start: 0, count: 3 }, &[cached])?;
    let plain = demo.compute("parameters_plain", Op::Product, &[plain, d])?;
    let full = demo.compute("cached_MHA", Op::Rows { start: 0, count: 1 }, &[cached])?;
    let both = demo.compute("in_and_out", Op::Add, &[d, full])?;
    let latent = demo.compute("cached_MLA", Op::Rows { start: 3, count: 1 }, &[cached])?;
    let latent = demo.compute("parameters_MLA", Op::Product, &[latent, both])?;
    let all = demo.compute("parameters", Op::Stack(None), &[plain, latent])?;
    demo.step(
        "The weights behind keys and values, for each layer: d times what is kept. MLA goes down from d to \
         its latent row, and up to the keys and values of all heads.",
    )
    .notice(
        "W_K and W_V of a layer of Llama 3 8B hold {parameters[GQA,1]} weights; MHA would hold \
             {parameters[MHA,1]}.",
    )
    .show(&[all]);
    Ok(())
}
