//! Attention weights that were computed elsewhere, and what is made of them: the rollout over layers, the sum of some queries, and
//! weights times the length of values.

use crate::attention::Axis;
use crate::error::{Error, Result};
use crate::graph::{Cells, Factor, Graph, NodeId, Op, Origin, Role, Stage, resolve};
use crate::matrix::Matrix;
use crate::text::counted;

/// How far the sum of a row may lie from 1: weights in half precision are that coarse.
const TOLERANCE: f64 = 5e-3;

/// The weights of the heads of all layers.
#[derive(Clone, Debug)]
pub struct GivenWeights {
    /// Of each layer the weights of its heads, A: a row for each query, a column for each key.
    pub layers: Vec<Vec<Matrix>>,
    /// Where they come from.
    pub origin: Origin,
}

/// What is made of the weights.
#[derive(Clone, Debug, Default)]
pub struct Derived {
    /// The mean over the heads of each layer.
    pub mean: bool,
    /// The rollout over all layers.
    pub rollout: bool,
    /// The queries whose weights are added, by their names or their numbers from 1.
    pub queries: Vec<String>,
    /// The values of the heads, V, as many as there are weights, and where they come from.
    pub values: Option<GivenWeights>,
}

impl GivenWeights {
    /// The numbers of queries and of keys.
    pub fn shape(&self) -> (usize, usize) {
        self.layers.first().and_then(|heads| heads.first()).map_or((0, 0), |a| (a.rows(), a.cols()))
    }

    /// Checks that the numbers can be weights; returns the greatest distance of the sum of a row from 1.
    ///
    /// # Errors
    /// If the heads have different shapes, or a weight is negative or no number.
    pub fn check(&self) -> Result<f64> {
        let mut furthest = 0.0_f64;
        let named = |layer: usize, head: usize| format!("layer {}, head {}", layer + 1, head + 1);
        for (layer, heads) in self.layers.iter().enumerate() {
            for (head, a) in heads.iter().enumerate() {
                if (a.rows(), a.cols()) != self.shape() {
                    return Err(Error::new(format!(
                        "{} has another shape than the others",
                        named(layer, head)
                    )));
                }
                for i in 0..a.rows() {
                    let row = (0..a.cols()).map(|j| a[(i, j)]);
                    if let Some((j, x)) = row.clone().enumerate().find(|(_, x)| !x.is_finite() || *x < 0.0) {
                        let place = format!("row {}, column {}", i + 1, j + 1);
                        return Err(Error::new(format!("{}, {place}: {x} is no weight", named(layer, head)))
                            .help("weights are what a softmax gives: from 0 to 1; scores go through attn softmax first"));
                    }
                    furthest = furthest.max((row.sum::<f64>() - 1.0).abs());
                }
            }
        }
        Ok(furthest)
    }

    /// Whether a node of this name, without its layer, is a step of the rollout.
    pub fn is_of_rollout(name: &str) -> bool {
        ["A_sum", "A_mean", "A_and_I", "A_half", "R"].contains(&name)
    }

    /// Whether the columns of all heads sum to 1, as the rows should.
    pub fn is_transposed(&self) -> bool {
        let sum = |a: &Matrix, j: usize| (0..a.rows()).map(|i| a[(i, j)]).sum::<f64>();
        self.layers
            .iter()
            .flatten()
            .all(|a| (0..a.cols()).all(|j| !GivenWeights::is_off((sum(a, j) - 1.0).abs())))
    }

    /// Whether the distance of a sum from 1 is more than rounding.
    pub fn is_off(distance: f64) -> bool {
        distance > TOLERANCE
    }

    /// The graph: `L1.A_1`, …, and what is made of them.
    ///
    /// - The rollout of layer l is `R_l = ½ (mean over heads of A + I) · R_{l−1}`, with `R_0 = I`: how much of each token at the
    ///   bottom reaches each token above layer l if information flows as the weights say, and half of it past attention.
    /// - The weights of several queries are added, key by key.
    /// - Weights times the lengths of values, `A[i,j] · ‖V[j]‖`: a key with a short value gives little, whatever its weight.
    ///
    /// # Shapes
    /// Weights are (T, S), values (S, d). A rollout needs T = S.
    /// # Errors
    /// If shapes do not fit, or there is no room.
    /// # Source
    /// Abnar and Zuidema, “Quantifying Attention Flow in Transformers”, section 3, for the rollout; Kobayashi et al., “Attention is
    /// Not Only a Weight”, section 3, for the lengths.
    pub fn graph(self, derived: &Derived) -> Result<Graph> {
        let (queries, keys) = self.shape();
        if derived.rollout && queries != keys {
            return Err(Error::new(format!(
                "there is no rollout of {} over {}",
                counted(queries, "query"),
                counted(keys, "key")
            ))
            .help("it goes from layer to layer over the same tokens"));
        }
        let mut graph = Graph::new();
        let mut before = None;
        for (at, heads) in self.layers.iter().enumerate() {
            let outside = graph.enter_layer(Some(at + 1));
            let weights = weights_of(&mut graph, heads, &self.origin)?;
            if !derived.queries.is_empty() {
                sums(&mut graph, &weights, &derived.queries)?;
            }
            if let Some(values) = &derived.values {
                let own = values.layers.get(at).filter(|own| own.len() == weights.len());
                let there = values.layers.get(at).map_or(0, Vec::len);
                let own = own.ok_or_else(|| {
                    Error::new(format!(
                        "layer {} has {there} matrices of values for {} heads",
                        at + 1,
                        weights.len()
                    ))
                    .help("give an array [layers, heads, T, d]; values that heads share are repeated")
                })?;
                if let Some(v) = own.iter().find(|v| v.rows() != keys) {
                    let rows = counted(v.rows(), "row");
                    return Err(Error::new(format!(
                        "the values have {rows}, but the weights have {}",
                        counted(keys, "key")
                    )));
                }
                by_length(&mut graph, &weights, own, &values.origin)?;
            }
            let mean = (derived.mean || derived.rollout).then(|| mean(&mut graph, &weights)).transpose()?;
            if let Some(mean) = mean.filter(|_| derived.rollout) {
                before = Some(rolled(&mut graph, mean, before)?);
            }
            graph.enter_layer(outside);
        }
        Ok(graph)
    }
}

/// The name of something of a head; of the only head it needs no number.
fn of_head(name: &str, head: usize, heads: usize) -> String {
    if heads == 1 { name.to_string() } else { format!("{name}_{}", head + 1) }
}

fn weights_of(graph: &mut Graph, heads: &[Matrix], origin: &Origin) -> Result<Vec<NodeId>> {
    let mut weights = Vec::new();
    for (head, a) in heads.iter().enumerate() {
        let id = graph.weights(&of_head("A", head, heads.len()), a.clone().into(), origin.clone())?;
        graph.mark(id, Stage::Weights.of_head((heads.len() > 1).then_some(head + 1)));
        weights.push(id);
    }
    Ok(weights)
}

/// The weights of some queries of each head, added.
fn sums(graph: &mut Graph, weights: &[NodeId], queries: &[String]) -> Result<()> {
    let first = &graph[weights[0]];
    let (name, shape, rows) = (first.name.clone(), first.shape(), first.labels().0.cloned());
    let mut places = Vec::new();
    for query in queries {
        if let Cells::Row(_, row) = resolve(graph, &format!("{name}[{query}]"))? {
            places.push(row);
        }
    }
    let chosen = Matrix::from_fn(1, shape.rows, |_, j| f64::from(u8::from(places.contains(&j))));
    let chosen = chosen.labelled_by(Some(&[String::from("all")].into_iter().collect()), rows.as_ref());
    let chosen = graph.given("chosen", chosen, Origin::Stated)?;
    for (head, &a) in weights.iter().enumerate() {
        graph.add(&of_head("A_summed", head, weights.len()), Op::Product, &[chosen, a])?;
    }
    Ok(())
}

/// The weights of each head, times the lengths of its values.
fn by_length(graph: &mut Graph, weights: &[NodeId], values: &[Matrix], origin: &Origin) -> Result<()> {
    for (head, (&a, v)) in weights.iter().zip(values).enumerate() {
        let name = |name: &str| of_head(name, head, weights.len());
        let v = graph.given(&name(Role::V.name()), v.clone(), origin.clone())?;
        let squares = graph.add(&name("V_squares"), Op::Multiply, &[v, v])?;
        let sums = graph.add(&name("V_sums"), Op::Sums(Axis::Rows), &[squares])?;
        let roots = graph.add(&name("V_roots"), Op::Root, &[sums])?;
        let lengths = graph.add(&name("V_lengths"), Op::Transpose, &[roots])?;
        let diagonal = graph.add(&name("V_diagonal"), Op::Diagonal, &[lengths])?;
        graph.add(&name("A_by_length"), Op::Product, &[a, diagonal])?;
    }
    Ok(())
}

/// The mean over the heads.
fn mean(graph: &mut Graph, weights: &[NodeId]) -> Result<NodeId> {
    let [only] = weights else {
        let sum = graph.add("A_sum", Op::Add, weights)?;
        return graph.add("A_mean", Op::Scale(Factor::Inverse(weights.len())), &[sum]);
    };
    Ok(*only)
}

/// The rollout up to this layer, from that up to the one before.
fn rolled(graph: &mut Graph, mean: NodeId, before: Option<NodeId>) -> Result<NodeId> {
    let tokens = graph[mean].shape().rows;
    let ones = graph.add("I_row", Op::Ones { rows: 1, cols: tokens }, &[])?;
    let identity = graph.add("I", Op::Diagonal, &[ones])?;
    let both = graph.add("A_and_I", Op::Add, &[mean, identity])?;
    let half = graph.add("A_half", Op::Scale(Factor::Number(0.5)), &[both])?;
    match before {
        None => Ok(half),
        Some(before) => {
            let rollout = graph.add("R", Op::Product, &[half, before])?;
            graph.mark(rollout, Stage::Weights);
            Ok(rollout)
        }
    }
}
