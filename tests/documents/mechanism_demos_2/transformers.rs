//! The same steps with the ops of the program give what the modules of transformers give.

use crate::golden::{assert_close, json, list, matrix, number, string};
use attn::attention::{Axis, Base, Mask, Pairing, RopeScaling, Rotation, Yarn};
use attn::graph::{Factor, Graph, NodeId, Op, Origin};
use attn::matrix::Matrix;
use serde_json::Value;

/// A record of `mechanisms.json` as a graph that grows.
pub(super) struct Layer<'a> {
    /// The record.
    pub(super) record: &'a Value,
    /// Its inputs and the steps so far.
    pub(super) graph: Graph,
}

const SOFTMAX: Op = Op::Softmax(Axis::Rows, Base::E);

impl<'a> Layer<'a> {
    fn new(record: &'a Value) -> Layer<'a> {
        let mut graph = Graph::new();
        for (name, rows) in record["inputs"].as_object().expect("inputs") {
            graph.given(name, matrix(rows), Origin::Stated).expect("a name used once");
        }
        Layer { record, graph }
    }

    pub(super) fn id(&self, name: &str) -> NodeId {
        self.graph.require(name).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(super) fn number(&self, name: &str) -> f64 {
        number(&self.record["parameters"][name])
    }

    pub(super) fn count(&self, name: &str) -> usize {
        self.number(name) as usize
    }

    pub(super) fn add(&mut self, op: Op, inputs: &[NodeId]) -> NodeId {
        let name = format!("step_{}", self.graph.nodes().count());
        self.graph.add(&name, op, inputs).unwrap_or_else(|error| panic!("{error}"))
    }

    pub(super) fn columns(&mut self, of: NodeId, start: usize, count: usize) -> NodeId {
        self.add(Op::Columns { start, count }, &[of])
    }

    pub(super) fn cell(&mut self, of: NodeId, row: usize, col: usize) -> NodeId {
        let row = self.add(Op::Rows { start: row, count: 1 }, &[of]);
        self.columns(row, col, 1)
    }

    /// The softmax of scores that are multiplied by the record's scale, under a causal mask.
    fn weights(&mut self, scores: NodeId) -> NodeId {
        let scaled = self.add(Op::Scale(Factor::Number(self.number("scale"))), &[scores]);
        let causal = Op::Mask(Mask { causal: true, ..Mask::default() });
        let masked = self.add(causal, &[scaled]);
        self.add(SOFTMAX, &[masked])
    }

    /// The frequencies of this many columns, scaled if the record scales them.
    fn frequencies(&mut self, width: usize) -> NodeId {
        let base = self.number("rope_base");
        let f = self.add(Op::Frequencies { width, base }, &[]);
        let scaling = &self.record["parameters"]["rope_scaling"];
        if scaling.is_null() {
            return f;
        }
        let parameter = |name: &str| number(&scaling[name]);
        let yarn = Yarn {
            factor: parameter("factor"),
            original: parameter("original_max_position_embeddings"),
            base,
            fast: parameter("beta_fast"),
            slow: parameter("beta_slow"),
            truncate: true,
            attention: Some(1.0),
        };
        self.add(Op::ScaledFrequencies(RopeScaling::Yarn(yarn)), &[f])
    }

    fn rotated(&mut self, x: NodeId, f: NodeId) -> NodeId {
        let halves = string(&self.record["parameters"], "position") == "rope";
        let pairing = if halves { Pairing::Halves } else { Pairing::Neighbours };
        let first = self.count("first_position");
        self.add(Op::Rotary(Rotation { first, pairing, magnitude: 1.0 }), &[x, f])
    }

    #[track_caller]
    pub(super) fn compare(&self, name: &str, ours: NodeId) {
        let what = format!("{} {name}", string(self.record, "name"));
        assert_close(&what, self.graph.matrix(ours).expect("formed"), &matrix(&self.record["outputs"][name]));
    }
}

/// Runs a check on every record of a mechanism.
pub(super) fn each(mechanisms: &[&str], count: usize, check: impl Fn(&mut Layer<'_>)) {
    let golden = json("mechanisms.json");
    let of_these = |record: &&Value| mechanisms.contains(&string(record, "mechanism"));
    let records: Vec<&Value> = list(&golden, "records").iter().filter(of_these).collect();
    assert_eq!(records.len(), count, "{mechanisms:?}");
    for record in records {
        check(&mut Layer::new(record));
    }
}

#[test]
fn latent_attention_is_that_of_deepseek_v3_expanded_and_absorbed() {
    each(&["latent"], 4, |layer| {
        let [heads, rank, n, r, v] =
            ["heads", "kv_rank", "d_nope", "d_rope", "d_v"].map(|name| layer.count(name));
        let norm = Op::RmsNorm(layer.number("eps"));
        let x = layer.id("X");
        let queries = if layer.graph.find("W_Q").is_some() {
            layer.add(Op::Product, &[x, layer.id("W_Q")])
        } else {
            let down = layer.add(Op::Product, &[x, layer.id("W_DQ")]);
            let c = layer.add(norm.clone(), &[down, layer.id("g_Q")]);
            layer.compare("c_Q", c);
            layer.add(Op::Product, &[c, layer.id("W_UQ")])
        };
        let down = layer.add(Op::Product, &[x, layer.id("W_DKV")]);
        let (c, k_r) = (layer.columns(down, 0, rank), layer.columns(down, rank, r));
        let c = layer.add(norm, &[c, layer.id("g_KV")]);
        layer.compare("c_KV", c);
        let f = layer.frequencies(r);
        let k_r = layer.rotated(k_r, f);
        let (mut expanded, mut absorbed) = (Vec::new(), Vec::new());
        for head in 0..heads {
            let (q, up) = (head * (n + r), head * (n + v));
            let (q_n, q_r) = (layer.columns(queries, q, n), layer.columns(queries, q + n, r));
            let q_r = layer.rotated(q_r, f);
            let (w_uk, w_uv) = (layer.id("W_UKV"), layer.id("W_UKV"));
            let (w_uk, w_uv) = (layer.columns(w_uk, up, n), layer.columns(w_uv, up + n, v));
            let position = layer.add(Op::ProductTransposed, &[q_r, k_r]);

            let k_n = layer.add(Op::Product, &[c, w_uk]);
            let content = layer.add(Op::ProductTransposed, &[q_n, k_n]);
            let scores = layer.add(Op::Add, &[content, position]);
            let a = layer.weights(scores);
            layer.compare(&format!("A_{}", head + 1), a);
            let values = layer.add(Op::Product, &[c, w_uv]);
            expanded.push(layer.add(Op::Product, &[a, values]));

            let q_c = layer.add(Op::ProductTransposed, &[q_n, w_uk]);
            layer.compare(&format!("Q_absorbed_{}", head + 1), q_c);
            let content = layer.add(Op::ProductTransposed, &[q_c, c]);
            let scores = layer.add(Op::Add, &[content, position]);
            let a = layer.weights(scores);
            layer.compare(&format!("A_{}", head + 1), a);
            let mixed = layer.add(Op::Product, &[a, c]);
            layer.compare(&format!("mixed_latent_{}", head + 1), mixed);
            absorbed.push(layer.add(Op::Product, &[mixed, w_uv]));
        }
        for of_heads in [expanded, absorbed] {
            let all = layer.add(Op::Concatenate, &of_heads);
            layer.compare("C", all);
            let o = layer.add(Op::Product, &[all, layer.id("W_O")]);
            layer.compare("O", o);
        }
    });
}

/// λ_init of the layers of a row.
fn starts(layer: &mut Layer<'_>, layers: NodeId) -> NodeId {
    let cols = layer.graph[layers].shape().cols;
    let one = layer.add(Op::Ones { rows: 1, cols }, &[]);
    let before = layer.add(Op::Subtract, &[layers, one]);
    let exponent = layer.add(Op::Scale(Factor::Number(-0.3)), &[before]);
    let power = layer.add(Op::Exponential(Base::E), &[exponent]);
    let drop = layer.add(Op::Scale(Factor::Number(0.6)), &[power]);
    let limit = layer.add(Op::Scale(Factor::Number(0.8)), &[one]);
    layer.add(Op::Subtract, &[limit, drop])
}

#[test]
fn differential_attention_is_that_of_diffllama() {
    each(&["differential"], 3, |layer| {
        if layer.record["inputs"].as_object().expect("inputs").is_empty() {
            let layers = Matrix::from_fn(1, 32, |_, j| (j + 1) as f64);
            let layers = layer.graph.given("layers", layers, Origin::Stated).expect("a new name");
            let all = starts(layer, layers);
            return layer.compare("lambda_init", all);
        }
        let number = Matrix::filled(1, 1, layer.number("layer"));
        let number = layer.graph.given("layer", number, Origin::Stated).expect("a new name");
        let start = starts(layer, number);
        layer.compare("lambda_init", start);
        let powers = [1, 2].map(|i| {
            let pair = [layer.id(&format!("lambda_q{i}")), layer.id(&format!("lambda_k{i}"))];
            let dot = layer.add(Op::ProductTransposed, &pair);
            layer.add(Op::Exponential(Base::E), &[dot])
        });
        let learned = layer.add(Op::Subtract, &powers);
        let lambda = layer.add(Op::Add, &[learned, start]);
        layer.compare("lambda", lambda);

        let x = layer.id("X");
        let [q, k, v] = ["W_Q", "W_K", "W_V"].map(|name| layer.add(Op::Product, &[x, layer.id(name)]));
        let (heads, groups) = (layer.count("heads"), layer.count("kv_heads"));
        let width = layer.graph[q].shape().cols / heads;
        let is_rotated = !layer.record["parameters"]["position"].is_null();
        let f = is_rotated.then(|| layer.frequencies(width));
        let weights: Vec<NodeId> = (0..heads)
            .map(|head| {
                let q = layer.columns(q, head * width, width);
                let k = layer.columns(k, head * groups / heads * width, width);
                let [q, k] = [q, k].map(|part| f.map_or(part, |f| layer.rotated(part, f)));
                let scores = layer.add(Op::ProductTransposed, &[q, k]);
                let a = layer.weights(scores);
                layer.compare(&format!("A_{}", head + 1), a);
                a
            })
            .collect();
        // Both records have two key/value heads, which all pairs share side by side.
        let (mut mixed, mut normed) = (Vec::new(), Vec::new());
        let one = layer.add(Op::Ones { rows: 1, cols: 1 }, &[]);
        let factor = layer.add(Op::Subtract, &[one, start]);
        for pair in 0..heads / 2 {
            let second = layer.add(Op::Times, &[weights[pair + heads / 2], lambda]);
            let a = layer.add(Op::Subtract, &[weights[pair], second]);
            layer.compare(&format!("A_difference_{}", pair + 1), a);
            let o = layer.add(Op::Product, &[a, v]);
            let unit = layer.add(Op::RmsNorm(layer.number("eps")), &[o]);
            normed.push(layer.add(Op::Times, &[unit, factor]));
            mixed.push(o);
        }
        let all = layer.add(Op::Concatenate, &mixed);
        layer.compare("C", all);
        let all = layer.add(Op::Concatenate, &normed);
        layer.compare("C_normed", all);
        let o = layer.add(Op::Product, &[all, layer.id("W_O")]);
        layer.compare("O", o);
    });
}
