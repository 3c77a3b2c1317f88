//! Heads whose steps nobody looks at: the same steps with the same bits as those of a head that is recorded, but some queries at a
//! time, so that their scores stay in the cache, and on all threads.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use super::super::op::Op;
use super::super::op_parameters::Factor;
use super::super::{Graph, NodeId, Precision};
use super::numbers::{named, singles};
use super::rows::{hide, softmax_in_place};
use crate::attention::{Axis, Base, Mask};
use crate::error::{Error, Result};
use crate::kernel::{Linear, Machine, Rows, WeightOrder, each_task, linear};
use crate::matrix::Shape;
use crate::memory;
use crate::tensor::Tensor;

/// The queries of a task: with a thousand keys, their scores fit the cache of a core.
const QUERIES_TOGETHER: usize = 64;

/// Fewer multiplications than this are done on one thread; reading keys and values from memory takes longer than multiplying.
const MIN_PRODUCTS_FOR_THREADS: usize = 100_000;

/// The steps of a head: scores, scale, mask, softmax, values mixed.
#[derive(Clone, Debug)]
pub(in crate::graph) struct HeadSteps {
    scale: Option<Factor>,
    mask: Option<Mask>,
    machine: Machine,
}

impl Graph {
    /// The steps recorded after the first `count` nodes, if they are those of a head with these queries, keys and values that read
    /// nothing else: then the other heads have the same.
    pub(in crate::graph) fn steps_of_head(&self, count: usize, qkv: [NodeId; 3]) -> Option<HeadSteps> {
        let Precision::Single(machine) = self.precision else { return None };
        let [queries, keys, values] = qkv;
        let mut steps = HeadSteps { scale: None, mask: None, machine };
        let mut nodes = self.nodes[count..].iter().enumerate().peekable();
        let mut next = |reads: &[NodeId], fits: &mut dyn FnMut(&Op) -> bool| {
            let found = nodes.next_if(|(_, node)| node.inputs == reads && fits(&node.op));
            found.map(|(at, _)| NodeId(count + at))
        };
        let mut read = next(&[queries, keys], &mut |op| matches!(op, Op::ProductTransposed))?;
        let mut scale = |op: &Op| matches!(op, Op::Scale(factor) if steps.scale.replace(*factor).is_none());
        read = next(&[read], &mut scale).unwrap_or(read);
        let mut mask =
            |op: &Op| matches!(op, Op::Mask(mask) if mask.is_range() && steps.mask.replace(*mask).is_none());
        read = next(&[read], &mut mask).unwrap_or(read);
        let weights = next(&[read], &mut |op| matches!(op, Op::Softmax(Axis::Rows, Base::E)))?;
        next(&[weights, values], &mut |op| matches!(op, Op::Product))?;
        nodes.peek().is_none().then_some(steps)
    }

    /// What other heads with these steps mix, of queries, keys and values each.
    ///
    /// # Errors
    /// If the shapes do not fit, or there is no room for the numbers.
    pub(in crate::graph) fn mixed_by_heads(
        &self,
        steps: &HeadSteps,
        heads: &[[NodeId; 3]],
    ) -> Result<Vec<Tensor>> {
        let of_head = |head: &[NodeId; 3]| HeadNumbers::new(&self.tensors(head)?);
        steps.mixed(&heads.iter().map(of_head).collect::<Result<Vec<_>>>()?)
    }
}

/// The numbers of a head.
struct HeadNumbers<'a> {
    tensors: [&'a Tensor; 3],
    numbers: [Cow<'a, [f32]>; 3],
}

impl<'a> HeadNumbers<'a> {
    fn new(tensors: &[&'a Tensor]) -> Result<HeadNumbers<'a>> {
        let &[q, k, v] = tensors else { return Err(Error::new("a head has queries, keys and values")) };
        Ok(HeadNumbers { tensors: [q, k, v], numbers: [singles(q)?, singles(k)?, singles(v)?] })
    }

    fn shapes(&self) -> [Shape; 3] {
        self.tensors.map(Tensor::shape)
    }
}

/// Returns true if no number is infinite or NaN.
fn are_finite(numbers: &[f32]) -> bool {
    let bits = numbers.iter().fold(0, |largest: u32, x| largest.max(x.abs().to_bits()));
    bits < f32::INFINITY.to_bits()
}

impl HeadSteps {
    fn mixed(&self, heads: &[HeadNumbers<'_>]) -> Result<Vec<Tensor>> {
        let mut mixes: Vec<Vec<f32>> = Vec::new();
        let mut products = 0_usize;
        for head in heads {
            let [q, k, v] = head.shapes();
            mixes.push(memory::uncharged_zeros(q.rows.saturating_mul(v.cols))?);
            let pairs = q.rows.saturating_mul(k.rows);
            products = products.saturating_add(pairs.saturating_mul(k.cols.saturating_add(v.cols)));
        }
        let mut parts = Vec::new();
        for (head, mix) in heads.iter().zip(&mut mixes) {
            let part = QUERIES_TOGETHER * head.shapes()[2].cols.max(1);
            for (at, part) in mix.chunks_mut(part).enumerate() {
                parts.push(Mutex::new((head, at * QUERIES_TOGETHER, part)));
            }
        }
        let threads = if products < MIN_PRODUCTS_FOR_THREADS { 1 } else { self.machine.threads };
        let failed = Mutex::new(None);
        each_task(Machine { threads, ..self.machine }, parts.len(), &|task| {
            let mut part = parts[task].lock().unwrap_or_else(PoisonError::into_inner);
            let (head, first, ref mut mix) = *part;
            if let Err(error) = self.mix(head, first, mix) {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        });
        drop(parts);
        if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let tensor = |(head, mix): (&HeadNumbers<'_>, Vec<f32>)| {
            let [q, _, v] = head.tensors;
            named(mix, (q.shape().rows, v.shape().cols), q.row_labels(), v.col_labels())
        };
        heads.iter().zip(mixes).map(tensor).collect()
    }

    /// What the queries from `first` on mix, as many as fit.
    fn mix(&self, head: &HeadNumbers<'_>, first: usize, mix: &mut [f32]) -> Result<()> {
        let [q_shape, k_shape, v_shape] = head.shapes();
        let [q, k, v] = head.numbers.each_ref().map(|numbers| &numbers[..]);
        let rows = mix.len() / v_shape.cols.max(1);
        let whole = Shape { rows: q_shape.rows, cols: k_shape.rows };
        let visible = |row: usize| match &self.mask {
            Some(mask) => mask.range_of(first + row, whole),
            None => 0..whole.cols,
        };
        // Keys after the last visible one have a weight of 0, and 0 times a finite value is 0.
        let seen = (0..rows).map(|row| visible(row).end).max().unwrap_or(0).clamp(1, whole.cols.max(1));
        let keys = if are_finite(&v[seen * v_shape.cols..]) { seen } else { whole.cols };
        let machine = Machine { threads: 1, ..self.machine };
        let product = |input, weights, order, out: &mut [f32]| {
            linear(&Linear::<f32> { input, weights, order, bias: None }, machine, out).map(drop)
        };
        let mut scores: Vec<f32> = memory::uncharged_zeros(rows.saturating_mul(keys))?;
        let queries = Rows::new("the queries", &q[first * q_shape.cols..], rows, q_shape.cols)?;
        product(queries, Rows::new("the keys", k, keys, k_shape.cols)?, WeightOrder::OutIn, &mut scores)?;
        let factor = self.scale.map(|factor| factor.value() as f32);
        for (row, scores) in scores.chunks_mut(keys.max(1)).enumerate() {
            if let Some(factor) = factor {
                scores.iter_mut().for_each(|x| *x *= factor);
            }
            let visible = visible(row);
            hide(scores, visible.start.min(keys)..visible.end.min(keys));
        }
        softmax_in_place(&mut scores, keys, machine)?;
        let weights = Rows::new("the weights", &scores, rows, keys)?;
        product(weights, Rows::new("the values", v, keys, v_shape.cols)?, WeightOrder::InOut, mix)?;
        Ok(())
    }
}
