//! Linear attention and the (gated) delta rule with the ops of the program give the states of transformers after each token.

use super::transformers::{Layer, each};
use attn::attention::{Axis, Base, Mask};
use attn::graph::{Factor, NodeId, Op};

const EXP: Op = Op::Exponential(Base::E);
/// What transformers adds to the sum of squares before it divides by the length.
const LENGTH_EPSILON: f64 = 1e-6;

impl Layer<'_> {
    fn row(&mut self, of: NodeId, at: usize) -> NodeId {
        self.add(Op::Rows { start: at, count: 1 }, &[of])
    }

    fn has(&self, name: &str) -> bool {
        self.graph.find(name).is_some()
    }

    fn rows(&self, of: NodeId) -> usize {
        self.graph[of].shape().rows
    }

    /// `kᵀ v` of two rows.
    fn outer(&mut self, k: NodeId, v: NodeId) -> NodeId {
        let standing = self.add(Op::Transpose, &[k]);
        self.add(Op::Product, &[standing, v])
    }

    /// Rows divided by their lengths.
    fn unit_rows(&mut self, x: NodeId) -> NodeId {
        let width = self.graph[x].shape().cols;
        let normed = self.add(Op::RmsNorm(LENGTH_EPSILON / width as f64), &[x]);
        self.add(Op::Scale(Factor::InverseRoot(width)), &[normed])
    }

    /// `exp(−e^A · ln(1 + e^(a + dt)))` of each token for one head.
    fn gates(&mut self, head: usize) -> NodeId {
        let [a, log, dt] = ["a", "A_log", "dt_bias"].map(|name| self.columns(self.id(name), head, 1));
        let ones = self.add(Op::Ones { rows: self.rows(a), cols: 1 }, &[]);
        let dt = self.add(Op::Product, &[ones, dt]);
        let sum = self.add(Op::Add, &[a, dt]);
        let power = self.add(EXP, &[sum]);
        let more = self.add(Op::Add, &[ones, power]);
        let softplus = self.add(Op::Logarithm, &[more]);
        let rate = self.add(EXP, &[log]);
        let fall = self.add(Op::Times, &[softplus, rate]);
        let exponent = self.add(Op::Scale(Factor::Number(-1.0)), &[fall]);
        self.add(EXP, &[exponent])
    }

    /// The part of each error that one head corrects.
    fn betas(&mut self, head: usize) -> NodeId {
        if self.has("b") {
            let b = self.columns(self.id("b"), head, 1);
            return self.add(Op::Sigmoid, &[b]);
        }
        let rows = self.rows(self.id("Q"));
        self.add(Op::Ones { rows, cols: 1 }, &[])
    }
}

/// One head of the delta rule: what its queries read, its betas and gates, and its last state.
struct DeltaHead {
    read: NodeId,
    betas: NodeId,
    gates: Option<NodeId>,
    state: Option<NodeId>,
}

fn delta_head(layer: &mut Layer<'_>, head: usize) -> DeltaHead {
    let [heads, key_heads, d_k, d_v] = ["heads", "key_heads", "d_k", "d_v"].map(|name| layer.count(name));
    let of_keys = head * key_heads / heads * d_k;
    let (mut q, mut k) =
        (layer.columns(layer.id("Q"), of_keys, d_k), layer.columns(layer.id("K"), of_keys, d_k));
    if layer.record["parameters"]["l2_norm"] == true {
        (q, k) = (layer.unit_rows(q), layer.unit_rows(k));
    }
    let q = layer.add(Op::Scale(Factor::Number(layer.number("scale"))), &[q]);
    let v = layer.columns(layer.id("V"), head * d_v, d_v);
    let betas = layer.betas(head);
    let gates = layer.has("a").then(|| layer.gates(head));
    let start = Op::Rows { start: head * d_k, count: d_k };
    let mut state = layer.has("initial_state").then(|| layer.add(start, &[layer.id("initial_state")]));
    let mut read = Vec::new();
    for t in 0..layer.rows(q) {
        if let (Some(before), Some(gates)) = (state, gates) {
            let gate = layer.cell(gates, t, 0);
            state = Some(layer.add(Op::Times, &[before, gate]));
        }
        let (k, mut error) = (layer.row(k, t), layer.row(v, t));
        if let Some(before) = state {
            let known = layer.add(Op::Product, &[k, before]);
            error = layer.add(Op::Subtract, &[error, known]);
        }
        let beta = layer.cell(betas, t, 0);
        let part = layer.add(Op::Times, &[error, beta]);
        let correction = layer.outer(k, part);
        let after = layer.add(Op::Add, &state.into_iter().chain([correction]).collect::<Vec<_>>());
        if heads == 1 {
            layer.compare(&format!("state_{}", t + 1), after);
        }
        state = Some(after);
        let q = layer.row(q, t);
        read.push(layer.add(Op::Product, &[q, after]));
    }
    DeltaHead { read: layer.add(Op::Stack(None), &read), betas, gates, state }
}

#[test]
fn the_delta_rule_is_that_of_qwen3_next_with_and_without_a_gate() {
    each(&["delta-rule", "gated-delta-rule"], 5, |layer| {
        let count = layer.count("heads");
        let heads: Vec<DeltaHead> = (0..count).map(|head| delta_head(layer, head)).collect();
        let mut side_by_side = |name: &str, parts: Vec<NodeId>| {
            let all = layer.add(Op::Concatenate, &parts);
            layer.compare(name, all);
        };
        side_by_side("O", heads.iter().map(|head| head.read).collect());
        side_by_side("beta", heads.iter().map(|head| head.betas).collect());
        let gates: Vec<NodeId> = heads.iter().filter_map(|head| head.gates).collect();
        if !gates.is_empty() {
            side_by_side("alpha", gates);
        }
        for (number, head) in (1..).zip(&heads).filter(|_| count > 1) {
            layer.compare(&format!("final_state_{number}"), head.state.expect("a token"));
        }
    });
}

#[test]
fn linear_attention_is_that_of_its_paper_by_states_and_at_once() {
    each(&["linear"], 1, |layer| {
        let [q, k] = ["Q", "K"].map(|name| layer.add(Op::EluPlusOne, &[layer.id(name)]));
        layer.compare("phi_Q", q);
        layer.compare("phi_K", k);
        let scores = layer.add(Op::ProductTransposed, &[q, k]);
        let causal = Mask { causal: true, ..Mask::default() };
        let pattern = layer.add(Op::MaskPattern(causal), &[scores]);
        let visible = layer.add(Op::Multiply, &[scores, pattern]);
        let a = layer.add(Op::DivideBySum(Axis::Rows), &[visible]);
        layer.compare("A", a);
        let v = layer.id("V");
        let o = layer.add(Op::Product, &[a, v]);
        layer.compare("O", o);

        let (mut state, mut norm, mut read) = (None, None, Vec::new());
        for t in 0..layer.rows(k) {
            let (q, k, v) = (layer.row(q, t), layer.row(k, t), layer.row(v, t));
            let written = layer.outer(k, v);
            let states: Vec<NodeId> = state.into_iter().chain([written]).collect();
            let norms: Vec<NodeId> = norm.into_iter().chain([k]).collect();
            let (after, total) = (layer.add(Op::Add, &states), layer.add(Op::Add, &norms));
            layer.compare(&format!("state_{}", t + 1), after);
            layer.compare(&format!("norm_{}", t + 1), total);
            let (mixed, sum) =
                (layer.add(Op::Product, &[q, after]), layer.add(Op::ProductTransposed, &[q, total]));
            read.push(layer.add(Op::Divide, &[mixed, sum]));
            (state, norm) = (Some(after), Some(total));
        }
        let o = layer.add(Op::Stack(None), &read);
        layer.compare("O", o);
    });
}
