//! Masks: which keys a query may attend to.

use super::definition::*;
use crate::attention::{Mask, MatrixRule, Visibility, does_not_fit};

/// Hidden cells become −∞, which the softmax turns into a weight of exactly 0; the others stay, plus the cell of the mask matrix, for
/// [`MatrixRule::Add`].
///
/// # Source
/// “Understanding the attention mechanism”, section Masked attention; Vaswani et al. 2017, section 3.2.3.
pub fn masked<R: Request, A: Ask<R>>(op: A, mask: Mask) -> A {
    // Turned round, a matrix of 0 and −∞ says which keys are hidden, and is not added.
    let is_added = mask.matrix == Some(MatrixRule::Add) && !mask.inverted;
    let op = op.rule(|of: &R| {
        let Shape { rows, cols } = of.shape(0);
        let has_matrix = of.inputs() > 1;
        of.cells(|i, j| {
            let (score, cell) = (of.at(0, i, j), has_matrix.then(|| of.at(1, i, j)));
            match (mask.visibility((i, j), (rows, cols), cell.as_ref().map(Number::value)), cell) {
                (Visibility::Hidden(rule), _) => R::Number::of(f64::NEG_INFINITY).because(rule.why()),
                (_, Some(cell)) if is_added => Number::sum([score, cell]).because("the mask is added"),
                _ => score.because("no rule hides the key"),
            }
        })
    });
    of_scores(mask, op)
        .equation(|w| {
            let kept = if is_added { w.joined(" + ") } else { w.input(0) };
            match conditions(w, &mask) {
                conditions if conditions.is_empty() => kept,
                conditions => format!("{kept} where {conditions}, else −∞"),
            }
        })
        .way_back(|input| if input == 0 || is_added { WayBack::Through } else { SELECTS })
        // Hidden cells get 0.
        .back(|step, _| {
            let inputs: Vec<NodeId> = (0..step.inputs()).map(|at| step.input(at)).collect();
            let pattern = step.of_step("pattern", Op::MaskPattern(mask), &inputs)?;
            step.sloped(pattern)
        })
}

/// The mask as numbers: 1 where it lets through, 0 elsewhere, in the shape of a.
pub fn mask_pattern<R: Request, A: Ask<R>>(op: A, mask: Mask) -> A {
    let op = op.rule(|of: &R| {
        let Shape { rows, cols } = of.shape(0);
        let has_matrix = of.inputs() > 1;
        of.cells(|i, j| {
            let cell = has_matrix.then(|| of.at(1, i, j).value());
            match mask.visibility((i, j), (rows, cols), cell) {
                Visibility::Hidden(rule) => R::Number::of(0.0).because(rule.why()),
                Visibility::Visible => R::Number::of(1.0).because("no rule hides the key"),
            }
        })
    });
    of_scores(mask, op)
        .equation(|w| format!("1 where {}, else 0", conditions(w, &mask)))
        .way_back(|_| SELECTS)
}

const SELECTS: WayBack = WayBack::Ends("a mask says which cells are taken: it is chosen, not learned");

/// A mask on the scores a, and on the matrix b where the mask has a rule for one.
fn of_scores<R: Request, A: Ask<R>>(mask: Mask, op: A) -> A {
    op.inputs(1 + usize::from(mask.matrix.is_some()))
        .check(|op| {
            let range = "a window of 1 shows the query's own position, and none is smaller";
            in_range(op, mask.window != Some(0), "window", range)
        })
        .shape(|inputs| match inputs {
            [a, b] if a != b => Err(Some(does_not_fit("mask", *b, *a))),
            _ => Ok(inputs[0]),
        })
}

/// The condition under which a query sees a key: `key ≤ query + 2 and M ≠ 0`.
fn conditions(w: &FormulaWriter<'_>, mask: &Mask) -> String {
    let shape = w.shape(0);
    let shift = if mask.from_start { 0 } else { shape.cols as i128 - shape.rows as i128 };
    let query = match shift {
        0 => "query".to_string(),
        shift if shift > 0 => format!("query + {shift}"),
        shift => format!("query − {}", -shift),
    };
    let mut conditions = Vec::new();
    if mask.causal {
        conditions.push(format!("key ≤ {query}"));
    }
    if let Some(window) = mask.window {
        let near = if mask.causal {
            format!("{query} − key < {window}")
        } else {
            format!("|{query} − key| < {window}")
        };
        conditions.push(match mask.keep_first {
            0 => near,
            // Positions count from 0 here, as the op does.
            kept => format!("({near} or key < {kept})"),
        });
    }
    match mask.matrix {
        Some(MatrixRule::Allow) => conditions.push(format!("{} ≠ 0", w.input(1))),
        Some(MatrixRule::Block) => conditions.push(format!("{} = 0", w.input(1))),
        Some(MatrixRule::Add) if mask.inverted => conditions.push(format!("{} ≠ −∞", w.input(1))),
        Some(MatrixRule::Add) | None => {}
    }
    if mask.hides_own {
        conditions.push(format!("key ≠ {query}"));
    }
    let conditions = conditions.join(" and ");
    if mask.inverted { format!("not ({conditions})") } else { conditions }
}

/// The weights a, with 0 in the rows in which b (the scores) is nothing but −∞: the guard for a query that sees no key.
pub fn guard<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| {
        let keys = of.shape(1).cols;
        of.cells(|i, j| match (0..keys).all(|key| of.at(1, i, key).value() == f64::NEG_INFINITY) {
            true => R::Number::of(0.0).because("it may attend to nothing"),
            false => of.at(0, i, j).because("it may attend to something"),
        })
    })
    .inputs(2)
    .shape(|inputs| match inputs {
        [a, b] if a != b => Err(Some(does_not_fit("matrix of weights", *a, *b))),
        _ => Ok(inputs[0]),
    })
    .written("{a}, with 0 where a row of {b} is all −∞")
    .way_back(|input| match input {
        0 => WayBack::Through,
        _ => WayBack::Ends("the scores only say which rows are hidden"),
    })
    .back(|step, _| step.finish(Op::Guard, &[step.dy, step.input(1)]))
}
