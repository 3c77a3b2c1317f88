//! Masks: bands of any width, other keys hidden than the mask hides, and keys of padding that are not hidden.

use crate::elementary::ln;
use crate::matrix::Matrix;
use crate::text::all_of;

use super::{Alternative, Steps, slip, softmax};

/// The weights where a function says which key a query sees.
fn seeing(steps: &Steps<'_>, sees: impl Fn(usize, usize) -> bool) -> Option<Vec<(String, Matrix)>> {
    steps.weights(|_, open, _| {
        softmax(&Matrix::from_fn(open.rows(), open.cols(), |i, j| {
            if sees(i, j) { open[(i, j)] } else { f64::NEG_INFINITY }
        }))
    })
}

/// A band along the diagonal, or everything but a band.
pub(super) fn bands(steps: &Steps<'_>) -> Vec<Alternative> {
    const MOST: usize = 16;
    let (mask, facts) = (steps.task.recipe().mask, steps.task.facts());
    let (queries, keys) = (facts.q.rows, facts.keys);
    if mask.matrix.is_some() || !(mask.causal || mask.window.is_some()) || keys.max(queries) > MOST {
        return Vec::new();
    }
    let offset = if mask.from_start { 0 } else { keys as isize - queries as isize };
    let size = keys.max(queries) as isize;
    let back = mask.window.map_or(size, |window| window as isize - 1);
    let mut all = Vec::new();
    for low in -size..=size {
        for high in low..=size {
            for is_hidden in [false, true] {
                let within = |i: usize, j: usize| (low..=high).contains(&(j as isize - i as isize - offset));
                let Some(nodes) = seeing(steps, |i, j| within(i, j) != is_hidden) else { return all };
                let said = match (is_hidden, low, high) {
                    (false, low, high) if mask.window.is_some() && low == -back && high == back => {
                        format!(
                            "The window reaches to both sides: a token sees the {back} keys before it and the {back} after it. The causal mask is missing."
                        )
                    }
                    (false, _, _) => {
                        format!("A token sees the keys from {} to {}.", side(low, size), side(high, size))
                    }
                    (true, _, _) => format!(
                        "A token sees all keys but those from {} to {}: the sign of a diagonal is wrong.",
                        side(low, size),
                        side(high, size)
                    ),
                };
                let detail = format!("{}{low} to {high}", if is_hidden { "not " } else { "" });
                all.push(Alternative {
                    solved: 2,
                    ..Alternative::new(slip("mask-band", detail, said), nodes)
                });
            }
        }
    }
    all
}

/// A distance in words.
fn side(distance: isize, most: isize) -> String {
    match distance {
        0 => "itself".into(),
        -1 => "the one before it".into(),
        1 => "the one after it".into(),
        d if d <= -most => "the first".into(),
        d if d >= most => "the last".into(),
        d if d < 0 => format!("{} before it", -d),
        d => format!("{d} after it"),
    }
}

/// Other keys hidden than the padding mask hides.
pub(super) fn keys(steps: &Steps<'_>) -> Vec<Alternative> {
    const MOST: usize = 10;
    let (facts, mask) = (steps.task.facts(), steps.task.recipe().mask);
    if !facts.hides_keys || mask.causal || mask.window.is_some() || facts.keys > MOST {
        return Vec::new();
    }
    let Some((_, right)) = steps.scores(0) else { return Vec::new() };
    let hidden: Vec<usize> = (0..facts.keys).filter(|&j| right[(0, j)] == f64::NEG_INFINITY).collect();
    let listed = |keys: &[usize]| all_of(&keys.iter().map(|key| (key + 1).to_string()).collect::<Vec<_>>());
    let subset =
        |bits: usize| (0..facts.keys).filter(move |key| bits >> key & 1 == 1).collect::<Vec<usize>>();
    let others = (1..(1 << facts.keys) - 1).map(subset).filter(|keys| *keys != hidden);
    let one = |keys: Vec<usize>| {
        let (own, right) = (listed(&keys), listed(&hidden));
        let noun = if keys.len() == 1 { "Key" } else { "Keys" };
        let verb = if keys.len() == 1 { "was" } else { "were" };
        let said = format!("{noun} {own} {verb} hidden; the mask hides {right}.");
        let nodes = seeing(steps, |_, j| !keys.contains(&j))?;
        Some(Alternative { solved: 1, ..Alternative::new(slip("mask-keys", own, said), nodes) })
    };
    others.filter_map(one).collect()
}

/// Keys of zeros that are not hidden, as padding adds them: each has the score 0.
pub(super) fn padded(steps: &Steps<'_>) -> Vec<Alternative> {
    const MOST: usize = 64;
    let keys = steps.task.facts().keys;
    let one = |count: usize| {
        let weights = |_: usize, _: &Matrix, masked: &Matrix| {
            let cell = |i, j| if j < masked.cols() { masked[(i, j)] } else { ln(count as f64) };
            let all = softmax(&Matrix::from_fn(masked.rows(), masked.cols() + 1, cell));
            Matrix::from_fn(masked.rows(), masked.cols(), |i, j| all[(i, j)])
        };
        let multiple =
            [8, 16, 32, 64].into_iter().find(|size| (keys + count).is_multiple_of(*size) && count < *size);
        let why = multiple.map_or(String::new(), |size| {
            format!(" With them there are {}, a multiple of {size}.", keys + count)
        });
        let said = format!(
            "{count} more keys with the score 0 count in every sum: keys of zeros, as padding adds them, were not hidden.{why}"
        );
        let slip = slip("rows-scaled", format!("{count} keys of zeros"), said);
        let fix = format!("Hide the keys behind the last token: those with an index of {keys} or more.");
        Some(Alternative { solved: 1, ..Alternative::new(slip.with_fix(fix), steps.weights(weights)?) })
    };
    (2..=MOST).filter_map(one).collect()
}
