//! The softmax by blocks of keys, as FlashAttention computes it: a running maximum, sums that are rescaled when it grows.

use crate::elementary::exp;
use crate::matrix::Matrix;

use super::{Alternative, Steps, slip, softmax};

/// How the sums so far are rescaled when the maximum grows from `old` to `new`: the factor of what is mixed, and of the divisor.
type Rescaling = (&'static str, fn(f64, f64) -> [f64; 2]);

/// Wrong ways.
const WAYS: [Rescaling; 5] = [
    ("were not rescaled", |_, _| [1.0, 1.0]),
    ("were rescaled the wrong way round, by exp(m_new − m_old)", |old, new| [exp(new - old); 2]),
    ("were rescaled the wrong way round in the result alone, by exp(m_new − m_old)", |old, new| {
        [exp(new - old), exp(old - new)]
    }),
    ("were rescaled in the divisor alone", |old, new| [1.0, exp(old - new)]),
    ("were rescaled in the result alone, not in the divisor", |old, new| [exp(old - new), 1.0]),
];

pub(super) fn alternatives(steps: &Steps<'_>) -> Vec<Alternative> {
    const MOST: usize = 64;
    let keys = steps.task.facts().keys;
    let mut all = Vec::new();
    for size in (1..keys).take(MOST) {
        for (how, rescaling) in WAYS {
            let said = format!(
                "The softmax by blocks of {size}: when the running maximum grew, the sums so far {how}."
            );
            let nodes = steps.weights(|_, _, masked| by_blocks(masked, size, rescaling));
            all.extend(nodes.map(|nodes| Alternative {
                solved: 1,
                ..Alternative::new(slip("softmax-blocks", format!("blocks of {size}, {how}"), said), nodes)
            }));
        }
        // In a block of one key alone every weight is 1, and that has better names.
        if size > 1 {
            let said = format!(
                "The softmax was taken in each block of {size} keys alone, and the blocks were added."
            );
            let nodes = steps.weights(|_, _, masked| each_block(masked, size));
            all.extend(nodes.map(|nodes| Alternative {
                solved: 1,
                ..Alternative::new(slip("softmax-blocks", format!("blocks of {size} alone"), said), nodes)
            }));
            let said = format!(
                "The softmax was taken in each block of {size} keys alone, and the results of the blocks were averaged."
            );
            let averaged = |masked: &Matrix| {
                let all = each_block(masked, size);
                // A block in which a query sees nothing counts for nothing.
                let seen = |i: usize| {
                    let row: Vec<f64> = all.row(i).collect();
                    row.chunks(size).filter(|block| block.iter().any(|x| *x > 0.0)).count().max(1) as f64
                };
                let seen: Vec<f64> = (0..all.rows()).map(seen).collect();
                Matrix::from_fn(all.rows(), keys, |i, j| all[(i, j)] / seen[i])
            };
            let nodes = steps.weights(|_, _, masked| averaged(masked));
            all.extend(nodes.map(|nodes| Alternative {
                solved: 1,
                ..Alternative::new(slip("softmax-blocks", format!("mean of blocks of {size}"), said), nodes)
            }));
            let said = format!(
                "A causal mask hides keys by their index within the block of {size}, not within the text."
            );
            let nodes = steps.weights(|_, open, _| {
                softmax(&Matrix::from_fn(open.rows(), open.cols(), |i, j| {
                    if j % size <= i % size { open[(i, j)] } else { f64::NEG_INFINITY }
                }))
            });
            all.extend(nodes.map(|nodes| Alternative {
                solved: 1,
                ..Alternative::new(slip("mask-in-blocks", format!("blocks of {size}"), said), nodes)
            }));
        }
    }
    all
}

/// The weights that a softmax by blocks gives in effect.
fn by_blocks(scores: &Matrix, size: usize, rescaling: fn(f64, f64) -> [f64; 2]) -> Matrix {
    let row = |i: usize| -> Vec<f64> {
        let all: Vec<f64> = scores.row(i).collect();
        let (mut top, mut sum, mut mixed) = (f64::NEG_INFINITY, 0.0, vec![0.0; all.len()]);
        for start in (0..all.len()).step_by(size) {
            let block = &all[start..all.len().min(start + size)];
            let new = block.iter().copied().fold(top, f64::max);
            if new == f64::NEG_INFINITY {
                continue;
            }
            let [of_mixed, of_sum] = if top == f64::NEG_INFINITY { [0.0; 2] } else { rescaling(top, new) };
            mixed.iter_mut().for_each(|weight| *weight *= of_mixed);
            sum *= of_sum;
            for (at, score) in block.iter().enumerate() {
                let power = exp(score - new);
                mixed[start + at] = power;
                sum += power;
            }
            top = new;
        }
        mixed.into_iter().map(|weight| if sum > 0.0 { weight / sum } else { 0.0 }).collect()
    };
    let rows: Vec<Vec<f64>> = (0..scores.rows()).map(row).collect();
    Matrix::from_fn(scores.rows(), scores.cols(), |i, j| rows[i][j])
}

/// A softmax of each block of keys.
fn each_block(scores: &Matrix, size: usize) -> Matrix {
    let cols = scores.cols();
    let blocks: Vec<Matrix> = (0..cols)
        .step_by(size)
        .map(|start| {
            softmax(&Matrix::from_fn(scores.rows(), size.min(cols - start), |i, j| scores[(i, start + j)]))
        })
        .collect();
    Matrix::from_fn(scores.rows(), cols, |i, j| blocks[j / size][(i, j % size)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_divisor_that_is_not_rescaled_is_a_way_of_its_own() {
        // NumPy: o = o * exp(m_old - m_new) + p @ v; l = l + p.sum(), in blocks of 2.
        let scores = Matrix::from_rows(&[vec![1.0, 2.0, 0.5, 3.0]]).unwrap();
        let expected = [0.055239692886, 0.150157053382, 0.033504567369, 0.408169189624];
        let fits = |rescaling| {
            let weights = by_blocks(&scores, 2, rescaling);
            weights.cells().zip(expected).all(|(own, right)| (own - right).abs() < 1e-9)
        };
        let told: Vec<&str> =
            WAYS.iter().filter(|(_, rescaling)| fits(*rescaling)).map(|(how, _)| *how).collect();
        assert_eq!(told, ["were rescaled in the result alone, not in the divisor"]);
    }
}
