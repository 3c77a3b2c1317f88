//! Masks: bands of any width, keys hidden that should not be, and keys of padding that are not hidden.

use crate::elementary::ln;
use crate::matrix::Matrix;
use crate::text::all_of;

use super::super::catalogue::numbers::number;
use super::{Alternative, OneNumber, Steps, slip, softmax};

pub(super) fn alternatives(steps: &Steps<'_>) -> Vec<Alternative> {
    [bands(steps), keys(steps), padded(steps)].concat()
}

/// The weights where a function says which key a query sees.
fn seeing(steps: &Steps<'_>, sees: impl Fn(usize, usize) -> bool) -> Option<Vec<(String, Matrix)>> {
    steps.weights(|_, open, _| {
        softmax(&Matrix::from_fn(open.rows(), open.cols(), |i, j| {
            if sees(i, j) { open[(i, j)] } else { f64::NEG_INFINITY }
        }))
    })
}

/// A band along the diagonal, or everything but a band.
fn bands(steps: &Steps<'_>) -> Vec<Alternative> {
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
fn keys(steps: &Steps<'_>) -> Vec<Alternative> {
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

/// Weights beside this many further keys whose scores are 0.
fn beside(steps: &Steps<'_>, count: f64) -> Option<Vec<(String, Matrix)>> {
    steps.weights(|_, _, masked| {
        let more = Matrix::from_fn(masked.rows(), masked.cols() + 1, |i, j| {
            if j < masked.cols() { masked[(i, j)] } else { ln(count) }
        });
        let all = softmax(&more);
        Matrix::from_fn(masked.rows(), masked.cols(), |i, j| all[(i, j)])
    })
}

/// Keys of zeros that are not hidden, as padding adds them.
fn padded(steps: &Steps<'_>) -> Vec<Alternative> {
    const MOST: usize = 64;
    let keys = steps.task.facts().keys;
    let one = |count: usize| {
        let multiple = [8, 16, 32, 64].into_iter().find(|size| (keys + count) % size == 0 && count < *size);
        let why = multiple
            .map_or(String::new(), |size| format!(" {keys} keys and {count} are a multiple of {size}."));
        let said =
            format!("{count} keys of zeros were not hidden: each row was divided by {count} too much.{why}");
        let nodes = beside(steps, count as f64)?;
        Some(Alternative {
            solved: 1,
            ..Alternative::new(slip("padding-unmasked", format!("{count} keys"), said), nodes)
        })
    };
    (2..=MOST).filter_map(one).collect()
}

/// Any number beside the sum of the exponentials.
pub(super) fn of_padding<'a>(steps: &Steps<'a>) -> Option<OneNumber<'a>> {
    beside(steps, 1.0)?;
    let task = steps.task;
    let made = move |count: f64| {
        let said = format!(
            "The numbers are as if {} had been added to the sum of the exponentials of each row.",
            number(count)
        );
        let nodes = beside(&Steps { task }, count).unwrap_or_default();
        Alternative { solved: 1, ..Alternative::new(slip("padding-unmasked", number(count), said), nodes) }
    };
    Some(OneNumber { range: [ln(1e-3), ln(1e3)], made: Box::new(made) })
}
