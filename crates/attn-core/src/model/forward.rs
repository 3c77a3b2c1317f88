//! A pass over a text, layer by layer: of each layer only its input, its cache and the measures of its heads are kept. A layer that
//! is asked for is computed again from its input, to the same bits.

use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};

use crate::attention::{RopeScaling, WeightLayout};
use crate::elementary::ln;
use crate::error::{Error, Result};
use crate::graph::recipes::{HeadCache, LookAtWeights, PositionKind, Rotary, StepsOfHeads};
use crate::graph::{Graph, MAX_CELLS, NodeId, Op, Origin, Precision};
use crate::matrix::Labels;
use crate::tensor::Tensor;

use super::run::{Edits, ModelRun, Removal, Text};

/// The nodes of a layer with a dozen heads.
const USUAL_NODES: usize = 256;

/// How a pass is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct PassOptions {
    /// The numbers that steps are computed in.
    pub precision: Precision,
    /// The limit of the numbers that a graph records.
    pub limit: usize,
    /// The parts that are taken out.
    pub edits: Edits,
    /// Whether the patterns of the heads are measured.
    pub measured: bool,
}

impl Default for PassOptions {
    /// The exact path, with the usual limit and nothing taken out.
    fn default() -> PassOptions {
        PassOptions { precision: Precision::Exact, limit: MAX_CELLS, edits: Edits::default(), measured: true }
    }
}

/// What is kept of a pass.
#[derive(Clone, Debug)]
pub struct Forward {
    /// How it was computed.
    pub options: PassOptions,
    /// The text.
    pub text: Text,
    /// The input of each layer, and last the output of the last one.
    pub streams: Vec<Tensor>,
    /// The keys and values of each layer.
    pub caches: Vec<HeadCache>,
    /// The measures of each layer's heads, where they were asked for.
    pub heads: Vec<Vec<HeadMeasures>>,
}

impl PassOptions {
    /// An empty graph for such a pass.
    pub(super) fn graph(&self) -> Graph {
        Graph::new().in_precision(self.precision).with_limit(self.limit).with_room_for(USUAL_NODES)
    }
}

impl ModelRun<'_> {
    /// A pass over a text.
    ///
    /// # Errors
    /// If the text does not fit the model, weights cannot be read, or a layer records more numbers than the limit.
    pub fn forward(&self, text: Text, options: PassOptions) -> Result<Forward> {
        let mut graph = options.graph();
        let x = self.embed(&mut graph, &text, 0)?;
        let mut forward = Forward {
            streams: vec![numbers(&graph, x)?],
            text,
            caches: Vec::new(),
            heads: Vec::new(),
            options,
        };
        for layer in 1..=self.layers() {
            let mut graph = forward.options.graph();
            let x = self.entered(&forward, &mut graph, layer)?;
            let (edits, measures) = (&forward.options.edits, RefCell::new(Vec::new()));
            let measure = |_: usize, weights: &Tensor| {
                measures.borrow_mut().push(HeadMeasures::of(weights, &forward.text.ids));
            };
            let look: LookAtWeights<'_> = &measure;
            let steps = StepsOfHeads::Forgotten(forward.options.measured.then_some(look));
            let start = (x, HeadCache::default());
            let (x, cache) = self.layer_after(&mut graph, layer, start, edits, steps)?;
            forward.streams.push(numbers(&graph, x)?);
            forward.caches.push(cache);
            forward.heads.push(measures.into_inner());
        }
        Ok(forward)
    }

    /// The graph of some layers, counted from 1, with all their steps, computed again from the recorded residual stream; from
    /// layer 1 on, with the embedding.
    ///
    /// # Errors
    /// If there are no such layers, or they record more numbers than the limit.
    pub fn layers_again(&self, forward: &Forward, layers: RangeInclusive<usize>) -> Result<Graph> {
        let mut graph = forward.options.graph();
        let mut x = match *layers.start() {
            1 => self.embed(&mut graph, &forward.text, 0)?,
            first => self.entered(forward, &mut graph, first)?,
        };
        for layer in layers {
            x = self.layer(&mut graph, layer, x, &forward.options.edits)?;
        }
        Ok(graph)
    }

    /// The logits of some rows of the text, counted from 0.
    ///
    /// # Errors
    /// If the model has no head.
    pub fn logits_of(&self, forward: &Forward, rows: std::ops::Range<usize>) -> Result<Tensor> {
        let mut graph = forward.options.graph();
        let x = self.final_rows(forward, &mut graph, rows)?;
        let logits = self.logits(&mut graph, x)?;
        numbers(&graph, logits)
    }

    /// What the residual stream would predict for one token, counted from 0, at each place: a row for the input of each layer, and
    /// last one for the output of the last layer. The weights of the head are read once for all of them.
    ///
    /// # Errors
    /// If the model has no head, or there is no such token.
    pub fn lens(&self, forward: &Forward, token: usize) -> Result<Tensor> {
        let mut graph = forward.options.graph();
        let mut rows = Vec::new();
        for (place, stream) in forward.streams.iter().enumerate() {
            let name = format!("X_{}", place + 1);
            rows.push(graph.weights(&name, part(stream, token..token + 1)?, Origin::Stream(place + 1))?);
        }
        let x = graph.add("X_final", Op::Stack(None), &rows)?;
        let logits = self.logits(&mut graph, x)?;
        numbers(&graph, logits)
    }

    /// Records the output of the last layer in a graph, as `X_final`.
    ///
    /// # Errors
    /// If the name is taken.
    pub fn final_stream(&self, forward: &Forward, graph: &mut Graph) -> Result<NodeId> {
        self.final_rows(forward, graph, 0..forward.text.ids.len())
    }

    fn final_rows(&self, forward: &Forward, graph: &mut Graph, rows: Range<usize>) -> Result<NodeId> {
        let stream = forward.streams.last().ok_or_else(|| Error::new("there is no residual stream"))?;
        let rows = if rows == (0..stream.shape().rows) { stream.clone() } else { part(stream, rows)? };
        graph.weights("X_final", rows, Origin::Stream(forward.streams.len()))
    }

    /// The residual stream that enters a layer, as it was recorded.
    fn entered(&self, forward: &Forward, graph: &mut Graph, layer: usize) -> Result<NodeId> {
        let stream = layer.checked_sub(1).and_then(|at| forward.streams.get(at));
        let stream = stream.ok_or_else(|| Error::new(format!("there is no layer {layer}")))?;
        self.stream_of(graph, layer, stream.clone())
    }
}

/// Some rows of a tensor in memory, in its type.
fn part(tensor: &Tensor, rows: Range<usize>) -> Result<Tensor> {
    let part = tensor.rows(rows)?;
    if tensor.is_exact() { Ok(part) } else { part.in_type::<f32>() }
}

/// The numbers of a node.
pub(super) fn numbers(graph: &Graph, node: NodeId) -> Result<Tensor> {
    graph[node].tensor().cloned().ok_or_else(|| Error::new(format!("`{}` is never formed", graph[node].name)))
}

// What a head attends to, measured on its pattern.
//
// A measure is the mean of a weight: for the token before, the mean of A[i, i − 1]. It is the score that TransformerLens and the
// papers have, and heads are ranked and named by it. The first token gets much of the weights in most heads, because the weights of
// a row have to sum to 1 and a head without anything to look for leaves them there; so a second number stands beside each mean: the
// share of what the other keys get.

/// A place that a head may attend to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Look {
    /// The token before.
    Previous,
    /// The first token.
    First,
    /// The token itself.
    Itself,
    /// An earlier token that is the same.
    Same,
    /// The token that followed the same token the last times: what comes next if the text repeats itself.
    Induction,
}

impl Look {
    /// All of them.
    pub const ALL: [Look; 5] = [Look::Previous, Look::First, Look::Itself, Look::Same, Look::Induction];

    /// Its place among all of them.
    fn place(self) -> usize {
        self as usize
    }

    /// Its letter in grids, its name, and its rule.
    fn words(self) -> (char, &'static str, &'static str) {
        match self {
            Look::Previous => ('p', "previous token", "the weight of key i − 1"),
            Look::First => ('f', "first token", "the weight of key 1"),
            Look::Itself => ('s', "itself", "the weight of key i"),
            Look::Same => ('=', "same token", "the weight of earlier keys j with the token of i"),
            Look::Induction => {
                ('i', "induction", "the weight of keys j whose token before, j − 1, is the token of i")
            }
        }
    }

    /// Its letter in grids of heads.
    pub fn letter(self) -> char {
        self.words().0
    }

    /// Its name on the screen.
    pub fn name(self) -> &'static str {
        self.words().1
    }

    /// The key that it attends to, as a rule: query i, key j, both from 1.
    pub fn rule(self) -> &'static str {
        self.words().2
    }

    /// Returns true if a query attends there when it attends to this key; both from 0.
    #[inline]
    pub(crate) fn is(self, ids: &[usize], query: usize, key: usize) -> bool {
        match self {
            Look::Previous => key + 1 == query,
            Look::First => key == 0,
            Look::Itself => key == query,
            Look::Same => key < query && ids[key] == ids[query],
            Look::Induction => key > 0 && key <= query && ids[key - 1] == ids[query] && key - 1 < query,
        }
    }
}

/// A part of the weights, between 0 and 1; none where no query of the text could attend there.
pub type Share = Option<f64>;

/// What a head attends to.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadMeasures {
    /// The mean weight of each place, in the order of [`Look::ALL`]: over all queries but the first, which has no choice, that have
    /// such a key.
    pub means: [Share; 5],
    /// The share of each place in the weights of the other keys, without that of the first key; none for the first key itself.
    pub shares: [Share; 5],
    /// The number of queries that each mean rests on.
    pub queries: [usize; 5],
    /// The mean entropy of the rows, in bits: 0 where each query attends to one key.
    pub entropy: f64,
    /// The key with the largest weight in the last row, counted from 0, and this weight.
    pub last: (usize, f64),
}

/// A mean weight from which on a head is named after its place.
pub const NAMED_FROM: f64 = 0.4;
/// The fewest queries that a mean rests on, for a head to be named after it: one query is no habit.
pub const NAMED_BY: usize = 2;

/// The sums over the queries that can attend to one place.
#[derive(Clone, Copy, Default)]
struct Sums {
    queries: usize,
    /// The weights of the place, with and without the first key.
    there: [f64; 2],
    /// All weights but that of the first key.
    others: f64,
}

/// The mean entropy of the rows of a pattern, in bits.
pub fn mean_entropy(pattern: &Tensor) -> f64 {
    let shape = pattern.shape();
    let of_row = |i: usize| {
        let row = (0..shape.cols).map(|j| pattern.at(i, j)).filter(|x| *x > 0.0);
        row.fold(0.0, |sum, x| sum - x * ln(x)) / ln(2.0)
    };
    (0..shape.rows).fold(0.0, |sum, i| sum + of_row(i)) / (shape.rows.max(1) as f64)
}

impl HeadMeasures {
    /// The measures of a pattern over a text: rows are queries, the last ones of the text, columns are keys.
    pub fn of(pattern: &Tensor, ids: &[usize]) -> HeadMeasures {
        let shape = pattern.shape();
        let past = shape.cols.saturating_sub(shape.rows);
        let mut sums = [Sums::default(); 5];
        for i in 0..shape.rows {
            let row: Vec<f64> = (0..shape.cols).map(|j| pattern.at(i, j)).collect();
            for (look, sums) in Look::ALL.into_iter().zip(&mut sums) {
                sums.add(look, ids, past + i, &row);
            }
        }
        let row = shape.rows.saturating_sub(1);
        let last = (0..if shape.rows == 0 { 0 } else { shape.cols }).map(|key| (key, pattern.at(row, key)));
        let last = last.fold((0, 0.0), |best, one| if one.1 > best.1 { one } else { best });
        HeadMeasures {
            means: sums.map(|sums| (sums.queries > 0).then(|| sums.there[0] / sums.queries as f64)),
            shares: sums.map(|sums| (sums.others > 0.0).then(|| sums.there[1] / sums.others)),
            queries: sums.map(|sums| sums.queries),
            entropy: mean_entropy(pattern),
            last,
        }
    }

    /// The mean weight of one place.
    pub fn mean(&self, look: Look) -> Share {
        self.means[look.place()]
    }

    /// The share of one place without the first key.
    pub fn share(&self, look: Look) -> Share {
        self.shares[look.place()]
    }

    /// The number of queries that the mean of a place rests on.
    pub fn queries(&self, look: Look) -> usize {
        self.queries[look.place()]
    }

    /// What the head is named after: the place with the largest mean weight, if that is large enough. A mean that rests on fewer than
    /// [`NAMED_BY`] queries names no head.
    pub fn name(&self) -> Option<(Look, f64)> {
        let named = Look::ALL.into_iter().filter(|look| self.queries(*look) >= NAMED_BY);
        let means = named.filter_map(|look| Some((look, self.mean(look)?)));
        let best = means.fold(None, |best: Option<(Look, f64)>, one| match best {
            Some(best) if best.1 >= one.1 => Some(best),
            _ => Some(one),
        });
        best.filter(|(_, mean)| *mean >= NAMED_FROM)
    }
}

impl Sums {
    /// Adds the weights of one row, where its query can attend to this place.
    fn add(&mut self, look: Look, ids: &[usize], query: usize, row: &[f64]) {
        // The first query has no choice.
        let keys = 0..row.len().min(query + 1);
        let is_there = |key: &usize| look.is(ids, query, *key);
        if query == 0 || !keys.clone().any(|key| is_there(&key)) {
            return;
        }
        self.queries += 1;
        self.there[0] += keys.clone().filter(is_there).fold(0.0, |sum, key| sum + row[key]);
        if look != Look::First && keys.clone().skip(1).any(|key| is_there(&key)) {
            self.there[1] += keys.clone().skip(1).filter(is_there).fold(0.0, |sum, key| sum + row[key]);
            self.others += keys.skip(1).fold(0.0, |sum, key| sum + row[key]);
        }
    }
}

// More tokens after a text: each layer reads the keys and values of earlier tokens from its cache.

impl ModelRun<'_> {
    /// A pass over a text and more tokens after it. Only the new tokens are computed, to the bits of a pass over all of them; where
    /// the rotation of earlier keys depends on the length of the text, everything is computed again.
    ///
    /// # Errors
    /// Those of [`ModelRun::forward`].
    pub fn continued(&self, forward: Forward, more: &Text) -> Result<Forward> {
        let past = forward.text.ids.len();
        let text = Text {
            ids: [&forward.text.ids[..], &more.ids[..]].concat(),
            tokens: forward.text.tokens.iter().chain(more.tokens.iter()).cloned().collect(),
        };
        let is_mean = forward.options.edits.removal == Removal::Mean && !forward.options.edits.is_nothing();
        if self.rotations_change(past, text.ids.len()) || is_mean {
            return self.forward(text, forward.options);
        }
        let Forward { options, mut streams, mut caches, heads, .. } = forward;
        let mut graph = options.graph();
        let x = self.embed(&mut graph, more, past)?;
        let mut rows = numbers(&graph, x)?;
        for layer in 1..=self.layers() {
            put_below(&options.graph(), &mut streams[layer - 1], &rows, &text.tokens)?;
            let mut graph = options.graph();
            let x = self.stream_of(&mut graph, layer, rows)?;
            let past = std::mem::take(&mut caches[layer - 1]);
            let steps = StepsOfHeads::Forgotten(None);
            let (x, cache) = self.layer_after(&mut graph, layer, (x, past), &options.edits, steps)?;
            rows = numbers(&graph, x)?;
            caches[layer - 1] = cache;
        }
        let last = streams.len() - 1;
        put_below(&options.graph(), &mut streams[last], &rows, &text.tokens)?;
        Ok(Forward { options, text, streams, caches, heads })
    }

    /// Returns true if keys of the first `from` tokens are rotated otherwise in a text of `to` tokens.
    fn rotations_change(&self, from: usize, to: usize) -> bool {
        let changes = |layer: usize| {
            let Ok(recipe) = self.recipe(layer) else { return false };
            let PositionKind::Rotary(Rotary { scaling: Some(scaling), .. }) = recipe.positions.kind else {
                return false;
            };
            match scaling {
                RopeScaling::Dynamic { original, .. } => to as f64 > original,
                RopeScaling::LongRope { original, .. } => from as f64 <= original && to as f64 > original,
                RopeScaling::Linear { .. } | RopeScaling::Llama3 { .. } | RopeScaling::Yarn(_) => false,
            }
        };
        (1..=self.layers()).any(changes)
    }

    /// Records some rows of the residual stream that enters a layer.
    pub(super) fn stream_of(&self, graph: &mut Graph, layer: usize, rows: Tensor) -> Result<NodeId> {
        if layer == 1 {
            return graph.weights("E", rows, Origin::Stream(1));
        }
        let before = graph.enter_layer(Some(layer));
        let x = graph.weights("X", rows, Origin::Stream(layer));
        graph.enter_layer(before);
        x
    }
}

/// Puts rows below those of a tensor, in the numbers of the graph, under these names.
fn put_below(graph: &Graph, above: &mut Tensor, rows: &Tensor, names: &Labels) -> Result<()> {
    if above.append(rows, Some(names))? {
        return Ok(());
    }
    let mut graph = Graph::new().in_precision(graph.precision()).with_limit(usize::MAX);
    let inputs = [
        graph.weights("above", above.clone(), Origin::Cache)?,
        graph.weights("rows", rows.clone(), Origin::Cache)?,
    ];
    let all = graph.add("all", Op::Stack(Some(names.clone())), &inputs)?;
    *above = numbers(&graph, all)?;
    Ok(())
}

// Names for the lines of a graph that stand for the tokens of the vocabulary.

/// Names the rows of the embedding, the lines of the unembedding and the columns of the logits after the tokens of the vocabulary, so
/// that nobody reads a position for an id: `logits[is,animal]`. All of them share the names.
pub fn name_vocabulary(graph: &mut Graph, names: &Labels) {
    // Whether the columns of a node are tokens, and not its rows.
    let mut lines: Vec<(NodeId, bool)> = Vec::new();
    for (id, node) in graph.nodes() {
        if node.name == "W_E" {
            lines.push((id, false));
        }
        if !node.name.starts_with("logits") {
            continue;
        }
        lines.push((id, true));
        if let Op::Linear(layout) = node.op {
            let weights_and_bias = [layout == WeightLayout::InOut, true];
            lines.extend(node.inputs.iter().skip(1).copied().zip(weights_and_bias));
        }
    }
    for (id, are_columns) in lines {
        let (rows, cols) = graph[id].labels();
        let (rows, cols) = match are_columns {
            false => (Some(names.clone()), cols.cloned()),
            true => (rows.cloned(), Some(names.clone())),
        };
        graph.name_lines(id, rows, cols);
    }
    graph.set_vocabulary(names.clone());
}

#[cfg(test)]
mod tests {
    use crate::graph::{CellId, Cells, Origin, address_of, resolve};
    use crate::matrix::Matrix;

    use super::*;

    /// The measures of a pattern of these rows.
    fn measures(size: usize, ids: &[usize], cell: impl Fn(usize, usize) -> f64) -> HeadMeasures {
        HeadMeasures::of(&Matrix::from_fn(size, size, cell).into(), ids)
    }

    #[test]
    fn a_pattern_on_the_diagonal_below_is_a_previous_token_head() {
        let on = |i: usize, j: usize| f64::from(u8::from(j + 1 == i || (i, j) == (0, 0)));
        let measures = measures(4, &[5, 6, 7, 8], on);
        assert_eq!((measures.mean(Look::Previous), measures.share(Look::Previous)), (Some(1.0), Some(1.0)));
        assert_eq!((measures.mean(Look::Itself), measures.entropy), (Some(0.0), 0.0));
        assert_eq!(measures.mean(Look::Induction), None, "no token is repeated");
        // Of queries 2 to 4, one attends to the first token.
        assert_eq!((measures.mean(Look::First), measures.share(Look::First)), (Some(1.0 / 3.0), None));
        assert_eq!(measures.name(), Some((Look::Previous, 1.0)));
    }

    #[test]
    fn induction_attends_to_what_followed_the_same_token() {
        // a b c a b: the second a attends to the first b, the second b to c.
        let on = |i, j| f64::from(u8::from(matches!((i, j), (3, 1) | (4, 2))));
        let measures = measures(5, &[1, 2, 3, 1, 2], on);
        assert_eq!(measures.mean(Look::Induction), Some(1.0));
        assert_eq!(measures.mean(Look::Same), Some(0.0));
        assert_eq!(measures.name(), Some((Look::Induction, 1.0)));
    }

    #[test]
    fn one_query_names_no_head() {
        // a b c a: the second a attends to b, and is the only query whose token came before.
        let measures = measures(4, &[1, 2, 3, 1], |i, j| f64::from(u8::from((i, j) == (3, 1))));
        assert_eq!((measures.mean(Look::Induction), measures.queries(Look::Induction)), (Some(1.0), 1));
        assert_eq!((measures.queries(Look::Previous), measures.queries(Look::Same)), (3, 1));
        assert_eq!(measures.name(), None);
    }

    #[test]
    fn the_name_is_that_of_the_largest_mean_weight_and_the_share_leaves_out_the_first_key() {
        let rest = |first: f64| {
            move |i: usize, j: usize| if j == 0 { first } else { f64::from(u8::from(j == i)) * (1.0 - first) }
        };
        let sink = measures(8, &[1, 2, 3, 4, 5, 6, 7, 8], rest(0.75));
        assert_eq!((sink.mean(Look::Itself), sink.share(Look::Itself)), (Some(0.25), Some(1.0)));
        assert_eq!(sink.name(), Some((Look::First, 0.75)));
        let own = measures(8, &[1, 2, 3, 4, 5, 6, 7, 8], rest(0.25));
        assert_eq!(own.name(), Some((Look::Itself, 0.75)));
        let even = measures(8, &[1, 2, 3, 4, 5, 6, 7, 8], |_, _| 0.125);
        assert_eq!((even.entropy, even.name()), (3.0, None));
    }

    /// The logits of two tokens over a vocabulary of these pieces.
    fn graph(pieces: &[&str]) -> Graph {
        let mut graph = Graph::new();
        let x = graph.given("X", Matrix::filled(2, 3, 1.0).rows_named(&["the", "␣bat"]), Origin::Stated);
        let w = graph.given("W_U", Matrix::filled(pieces.len(), 3, 1.0), Origin::Stated).unwrap();
        graph.add("logits", Op::Linear(WeightLayout::OutIn), &[x.unwrap(), w]).unwrap();
        name_vocabulary(&mut graph, &pieces.iter().map(|piece| piece.to_string()).collect());
        graph
    }

    fn id(graph: &Graph, address: &str) -> Option<usize> {
        match resolve(graph, address).ok()? {
            Cells::Cell(cell) => Some(cell.col),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_column_of_the_logits_is_addressed_by_its_token() {
        let graph = graph(&["the", "␣cave", "7", "�", "�"]);
        assert_eq!(id(&graph, "logits[2,cave]"), Some(1));
        assert_eq!(id(&graph, "logits[bat,token 3]"), Some(3));
        assert_eq!(id(&graph, "logits[2,token 0]"), Some(0));
        assert_eq!(id(&graph, "logits[2,2]"), Some(1), "a number is a position");
        let error = resolve(&graph, "logits[2,token 5]").unwrap_err().to_string();
        assert!(error.contains("ids 0 to 4"), "{error}");
    }

    #[test]
    fn the_shown_address_of_a_token_is_never_a_position() {
        let graph = graph(&["the", "␣cave", "7", "�", "�"]);
        let (logits, weights) = (graph.find("logits").unwrap(), graph.find("W_U").unwrap());
        let shown: Vec<String> =
            (0..5).map(|col| address_of(&graph, CellId { node: logits, row: 1, col })).collect();
        let names = ["the", "␣cave", "token 2", "token 3", "token 4"];
        assert_eq!(shown, names.map(|name| format!("logits[␣bat,{name}]")));
        for (col, address) in shown.iter().enumerate() {
            assert_eq!(id(&graph, address), Some(col), "{address}");
        }
        assert_eq!(address_of(&graph, CellId { node: weights, row: 3, col: 0 }), "W_U[token 3,1]");
    }
}
