//! `gqa`: heads that share keys and values, from one pair for each head to one for all, and the latent variant.

use super::head::head;
use crate::attention::key_value_head;
use crate::demo::{Builder, Demo, Document, Source};
use crate::error::Result;
use crate::graph::{Factor, NodeId, Op, Statistic};
use crate::matrix::Matrix;
use crate::story::condition::{all, columns, equal, own, within};
use crate::story::{Digits, Table};

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
        "H query heads share G key/value heads. With G = H this is multi-head attention (MHA), with G = 1 multi-query \
         attention (MQA), and anything in between is grouped-query attention (GQA).",
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
    let shared = SharedKeysAndValues { name: "gqa", groups: 2, w_k, w_v };
    let [k, v, o] = shared.attend(demo, x, q)?;
    demo.step(
        "A small GQA. Each head has its own block of neighbouring columns. Heads 1 and 2 read the first block of K and V, \
         heads 3 and 4 the second.",
    )
    .claim(
        all([equal(columns("W_Q"), 4.0), equal(columns("W_K"), 2.0), equal(columns("W_V"), 2.0)]),
        "Here every head is one column wide.",
    )
    .folded(&[w_q, w_k, w_v])
    .together(&[x, k, v, o]);
    let [w_k_each, w_v_each, _, difference] = shared.written_out(demo, x, q, o)?;
    demo.step(
        "The same as MHA, with each shared block repeated for every head that reads it. So GQA is MHA in which several heads \
         have the same keys and values.",
    )
    .claim(
        equal("difference_gqa[1,1]", 0.0),
        "O_gqa_each equals O_gqa: the largest difference is {difference_gqa[1,1]}.",
    )
    .together(&[w_k, w_v, w_k_each, w_v_each])
    .show(&[difference]);
    Ok(())
}

fn multi_query(demo: &mut Builder, x: NodeId, q: NodeId) -> Result<()> {
    let w_k = demo.given("W_K_mqa", Matrix::of([[1.], [1.], [0.], [1.]]).cols_named(&["kv 1"]))?;
    let w_v = demo.given("W_V_mqa", Matrix::of([[1.], [2.], [0.], [3.]]))?;
    let shared = SharedKeysAndValues { name: "mqa", groups: 1, w_k, w_v };
    let [_, _, o] = shared.attend(demo, x, q)?;
    let [_, _, _, difference] = shared.written_out(demo, x, q, o)?;
    demo.step(
        "G = 1 is MQA: all heads share one key and one value. It equals MHA with this block repeated for every head.",
    )
    .claim(equal("difference_mqa[1,1]", 0.0), "The largest difference is {difference_mqa[1,1]}.")
    .folded(&[w_k, w_v])
    .together(&[o])
    .show(&[difference]);
    Ok(())
}

/// Key and value weights that several query heads share.
struct SharedKeysAndValues {
    name: &'static str,
    groups: usize,
    w_k: NodeId,
    w_v: NodeId,
}

impl SharedKeysAndValues {
    /// K, V and the result of all heads.
    fn attend(&self, demo: &mut Builder, x: NodeId, q: NodeId) -> Result<[NodeId; 3]> {
        let name = self.name;
        let k = demo.compute(&format!("K_{name}"), Op::Product, &[x, self.w_k])?;
        let v = demo.compute(&format!("V_{name}"), Op::Product, &[x, self.w_v])?;
        Ok([k, v, all_heads(demo, name, [q, k, v], self.groups)?])
    }

    /// The weights with each shared block repeated for every head that reads it, the result of MHA with them, and the largest
    /// difference from `shared`.
    fn written_out(&self, demo: &mut Builder, x: NodeId, q: NodeId, shared: NodeId) -> Result<[NodeId; 4]> {
        let name = format!("{}_each", self.name);
        let mut each = Vec::new();
        for (letter, weights) in [("W_K", self.w_k), ("W_V", self.w_v)] {
            let blocks = demo.split(&format!("{letter}_{}", self.name), weights, self.groups)?;
            let repeated: Vec<NodeId> = (0..HEADS)
                .filter_map(|head| blocks.get(key_value_head(head, HEADS, self.groups)).copied())
                .collect();
            let what = format!("blocks of {letter}, one for each head,");
            each.push(demo.side_by_side(&format!("{letter}_{name}"), &what, &repeated)?);
        }
        let k = demo.compute(&format!("K_{name}"), Op::Product, &[x, each[0]])?;
        let v = demo.compute(&format!("V_{name}"), Op::Product, &[x, each[1]])?;
        let o = all_heads(demo, &name, [q, k, v], HEADS)?;
        let change = demo.compute(&format!("change_{}", self.name), Op::Subtract, &[o, shared])?;
        let largest = Op::Summary(Statistic::MaxSize);
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
    demo.side_by_side(&format!("O_{name}"), "heads", &heads)
}

fn latent(demo: &mut Builder, x: NodeId, q: NodeId) -> Result<()> {
    let down = demo.given("W_down", Matrix::of([[1., 0.], [0., 1.], [1., 0.], [0., 2.]]))?;
    let up_k = demo.given("W_up_K", Matrix::of([[1., 0., 1., 0.], [0., 1., 1., 2.]]))?;
    let up_v = demo.given("W_up_V", Matrix::of([[2., 0., 1., 0.], [0., 1., 0., 3.]]))?;
    let latent = demo.compute("latent", Op::Product, &[x, down])?;
    let k = demo.compute("K_mla", Op::Product, &[latent, up_k])?;
    let v = demo.compute("V_mla", Op::Product, &[latent, up_v])?;
    demo.step(
        "The latent variant (MLA) caches one narrow row for each word. The keys and values of all heads are computed from it.",
    )
    .claim(
        all([equal(columns("latent"), 2.0), equal(columns("K_mla"), 4.0), equal(columns("V_mla"), 4.0)]),
        "Two cached numbers give four keys and four values for each word.",
    )
    .folded(&[down, up_k, up_v])
    .together(&[latent, k, v]);

    all_heads(demo, "mla", [q, k, v], HEADS)?;
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
    let changes = demo.collect("change_mla", "heads", None, &changes)?;
    demo.label(changes, "score differences");
    let difference = demo.compute("difference_mla", Op::Summary(Statistic::MaxSize), &[changes])?;
    let [moved, direct] = [demo.graph().require("Q_latent_1")?, demo.graph().require("S_latent_1")?];
    demo.step(
        "The keys need not even be computed: W_up_K can be folded into the query, which is then compared with the latent row \
         directly. The scores stay the same in every head; head 1 is shown. (DeepSeek-V2 also caches a small rotary key, which \
         is left out here.)",
    )
    .claim(within(1e-9, "difference_mla[1,1]", 0.0), "The largest difference in all four heads is {difference_mla[1,1]}.")
    .together(&[moved, direct])
    .show(&[difference]);
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
    let rows = demo.collect("cached_rows", "parts", None, &[rows, latent])?;
    let h = number(demo, "h", 128.0)?;
    let cached = demo.compute("cached", Op::Product, &[rows, h])?;
    demo.step(
        "The text's g is the number of queries for each key, our G is the number of key/value heads: g · G = H. For every \
         word a layer caches G keys and G values of width h. MLA caches one latent row.",
    )
    .claim(
        own(&["G", "g", "h", "latent_rows"]),
        "The sizes are those of Llama 3 8B, which uses the row GQA. The latent row has {latent_rows[1,1]} · h numbers, as in \
         DeepSeek-V2.",
    )
    .together(&[h, readers, shared, heads, rows, cached]);
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
        "The cache in bytes: these numbers times layers, bytes for each number, and tokens. A MiB is 1024 · 1024 bytes.",
    )
    .claim(
        own(&["MiB"]),
        "A context of {tokens[1,1]} tokens needs {cache_MiB[MHA,1]} MiB with MHA, {cache_MiB[GQA,1]} MiB with GQA and \
         {cache_MiB[MQA,1]} MiB with MQA.",
    )
    .together(&[layers, bytes, tokens])
    .together(&[token, mebi]);
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
    let all = demo.collect("parameters", "parts", None, &[plain, latent])?;
    demo.step(
        "The weights that make keys and values, in each layer: d times what is cached. MLA goes down from d to its latent row, \
         and up to the keys and values of all heads.",
    )
    .claim(
        own(&["G", "h", "d"]),
        "W_K and W_V of a layer of Llama 3 8B hold {parameters[GQA,1]} weights. With MHA they would hold {parameters[MHA,1]}.",
    )
    .show(&[all]);
    Ok(())
}
