//! What no rule computes: given numbers, and the steps of the fused kernel, which are recorded with their values. And 1 everywhere.

use super::definition::*;
use crate::attention::MatrixRule;
use crate::graph::{FusedSteps, Fusion, Origin};

/// A leaf: numbers that were given, not computed.
pub fn given<R: Request, A: Ask<R>>(op: A, origin: &Origin) -> A {
    op.rule(|of: &R| of.recorded(|| origin.to_string())).leaf(0, 0).equation(|_| origin.to_string())
}

/// A leaf: 1 in every cell, as where every pair of a query and a key counts once.
pub fn ones<R: Request, A: Ask<R>>(op: A, rows: usize, cols: usize) -> A {
    op.rule(|of: &R| of.cells(|_, _| Number::of(1.0))).leaf(rows, cols).written("1 everywhere")
}

/// The step that the fused kernel computes without forming the scores. It is recorded, never applied, and not derived.
pub fn fused<R: Request, A: Ask<R>>(op: A, fusion: Fusion) -> A {
    let op = op.rule(|of: &R| of.recorded(|| "computed block by block, without storing the steps".into()));
    let op = match fusion {
        // Q, K, V; sinks, a table of positions, a bias, a mask.
        Fusion::Output(steps) => op.inputs_from(3, Some(7)).equation(|w| {
            let steps: String = told(w, &steps).iter().map(|step| format!(", {step}")).collect();
            format!("attention({}), fused{steps}", w.joined(", "))
        }),
        Fusion::LogSumExp => op.inputs_from(1, None).equation(|w| {
            let scores = match w.count() {
                0 | 1 => w.input(0),
                several => format!("{} … {}", w.input(0), w.input(several - 1)),
            };
            format!("ln Σ exp of {} of {scores}", w.each(Axis::Rows))
        }),
    };
    let why = "the fused kernel does not keep the steps that a gradient reads";
    op.shape(|_| Err(None)).way_back(|_| WayBack::Refused(why))
}

/// The steps on the scores that differ from the default: causal, window 128, scale 0.5.
fn told(
    w: &FormulaWriter<'_>,
    FusedSteps { scale, temperature, soft_cap, mask }: &FusedSteps,
) -> Vec<String> {
    let mut steps = Vec::new();
    let from = if mask.from_start { " from the first key" } else { "" };
    steps.extend(mask.causal.then(|| format!("causal{from}")));
    steps.extend(mask.window.map(|window| format!("window {window}{from}")));
    if mask.keep_first > 0 {
        steps.push(format!("first {} kept", mask.keep_first));
    }
    let matrix = || w.input(w.count().saturating_sub(1));
    steps.extend(mask.matrix.map(|rule| match rule {
        MatrixRule::Allow => format!("where {} ≠ 0", matrix()),
        MatrixRule::Block => format!("where {} = 0", matrix()),
        MatrixRule::Add => format!("{} added", matrix()),
    }));
    match scale {
        // The usual one.
        Some(Factor::InverseRoot(_)) => {}
        Some(factor) => steps.push(format!("scale {}", number_text(factor.value()))),
        None => steps.push("not scaled".to_string()),
    }
    if *temperature != 1.0 {
        steps.push(format!("temperature {}", number_text(*temperature)));
    }
    steps.extend(soft_cap.map(|cap| format!("soft-cap {}", number_text(cap))));
    steps
}
