//! The biases of positions, ALiBi's and T5's: between other heads, mirrored, scaled.

use crate::elementary::ln;
use crate::graph::recipes::PositionKind;
use crate::matrix::Matrix;

use super::super::catalogue::numbers::number;
use super::layout::permutations;
use super::{Alternative, OneNumber, Steps, slip};

pub(super) fn alternatives(steps: &Steps<'_>) -> Vec<Alternative> {
    let heads = steps.heads();
    let biases = (0..heads).map(|head| steps.of_head("B_position", head)).collect::<Option<Vec<_>>>();
    let Some(biases) = biases else { return Vec::new() };
    let is_alibi = matches!(steps.task.recipe().positions.kind, PositionKind::Alibi { .. });
    let (id, what) = if is_alibi { ("alibi-slopes", "ALiBi's slopes") } else { ("t5-heads", "T5's columns") };
    let nodes = |made: &dyn Fn(usize) -> Matrix| {
        (0..heads).map(|head| (steps.name("B_position", head), made(head))).collect::<Vec<_>>()
    };
    let mut all = Vec::new();
    for (order, how) in orders(&biases) {
        let said = format!("{what} belong to other heads: {how}.");
        all.push(Alternative::new(slip(id, how, said), nodes(&|head| biases[order[head]].clone())));
    }
    if biases[0].rows() == biases[0].cols() && !is_alibi {
        let said =
            "The sign of the relative position is wrong: it is the place of the key minus that of the query.";
        all.push(Alternative::new(
            slip("t5-sign", "query minus key", said),
            nodes(&|head| biases[head].transposed()),
        ));
    }
    let factor = steps.task.recipe().scale.factor(steps.task.facts().d_k).map(|factor| factor.value());
    let root = (steps.task.facts().d_k as f64).sqrt();
    for times in [factor.unwrap_or(1.0 / root), factor.map_or(root, |factor| 1.0 / factor)] {
        if times == 1.0 {
            continue;
        }
        let how = if times < 1.0 {
            format!("divided by {}", number(1.0 / times))
        } else {
            format!("multiplied by {}", number(times))
        };
        let said =
            format!("The bias of the positions was {how} too: it was scaled together with the scores.");
        all.push(Alternative::new(
            slip("position-bias-scaled", how, said),
            nodes(&|head| biases[head].map(|x| x * times)),
        ));
    }
    all
}

/// Orders of the heads: sorted by the size of their bias, reversed, and of few heads every one.
fn orders(biases: &[&Matrix]) -> Vec<(Vec<usize>, String)> {
    const MOST: usize = 4;
    let heads = biases.len();
    if heads < 2 {
        return Vec::new();
    }
    let size = |head: &usize| {
        biases[*head].cells().filter(|x| x.is_finite()).fold(0.0, |max: f64, x| max.max(x.abs()))
    };
    let right: Vec<usize> = (0..heads).collect();
    let mut falling = right.clone();
    falling.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let rising: Vec<usize> = falling.iter().rev().copied().collect();
    let reversed: Vec<usize> = right.iter().rev().copied().collect();
    let mut all = vec![
        (falling, "they were sorted, the largest first".to_string()),
        (rising, "they were sorted, the smallest first".into()),
        (reversed, "they stand in reverse order".into()),
    ];
    if heads <= MOST {
        let list = |order: &Vec<usize>| {
            order.iter().map(|head| (head + 1).to_string()).collect::<Vec<_>>().join(" ")
        };
        all.extend(permutations(heads).into_iter().map(|order| {
            let how = format!("they stand in the order {}", list(&order));
            (order, how)
        }));
    }
    let mut known: Vec<Vec<usize>> = vec![right];
    all.retain(|(order, _)| {
        let is_new = !known.contains(order);
        known.push(order.clone());
        is_new
    });
    all
}

/// The biases times one number.
pub(super) fn of_factor<'a>(steps: &Steps<'a>) -> Option<OneNumber<'a>> {
    let of_head = |head| Some((steps.name("B_position", head), steps.of_head("B_position", head)?));
    let biases: Vec<(String, &Matrix)> = (0..steps.heads()).map(of_head).collect::<Option<_>>()?;
    let made = move |factor: f64| {
        let said =
            format!("The numbers are as if the bias of the positions were multiplied by {}.", number(factor));
        let slip = slip("position-bias-scaled", format!("times {}", number(factor)), said);
        let nodes = biases.iter().map(|(name, bias)| (name.clone(), bias.map(|x| x * factor))).collect();
        Alternative { solved: 1, ..Alternative::new(slip, nodes) }
    };
    Some(OneNumber { range: [ln(1e-3), ln(1e3)], made: Box::new(made) })
}
