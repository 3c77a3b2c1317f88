//! Products of matrices, and the linear layer.

use super::definition::*;
use crate::attention::WeightLayout;

/// `a b`.
pub fn product<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| of.mixed(|k, j| of.at(1, k, j)))
        .inputs(2)
        .shape(|inputs| {
            let [a, b] = [inputs[0], inputs[1]];
            fit!(
                a.cols == b.rows,
                Shape { rows: a.rows, cols: b.cols },
                "a {a} matrix cannot be multiplied by a {b} one: the columns of the first ({}) must equal the rows of \
                 the second ({})",
                a.cols,
                b.rows
            )
        })
        .cells(|inputs| inputs[0].rows.saturating_mul(inputs[1].cols))
        .names(|inputs| (rows_of(inputs[0]), cols_of(inputs[1])))
        .equation(|w| w.in_order(w.input(0), w.input(1)))
        // `da = dy bᵀ`, `db = aᵀ dy`.
        .back(|step, input| match input {
            0 => step.finish(Op::ProductTransposed, &[step.dy, step.input(1)]),
            _ => step.finish(Op::TransposedProduct, &[step.input(0), step.dy]),
        })
}

/// `a bᵀ`: all dot products between the rows of a and of b.
pub fn product_transposed<R: Request, A: Ask<R>>(op: A) -> A {
    of_pairs_of_rows(op.rule(|of: &R| of.mixed(|k, j| of.at(1, j, k))))
        .equation(|w| w.in_order(w.input(0), w.turned(1)))
        // `da = dy b`, `db = dyᵀ a`.
        .back(|step, input| match input {
            0 => step.finish(Op::Product, &[step.dy, step.input(1)]),
            _ => step.finish(Op::TransposedProduct, &[step.dy, step.input(0)]),
        })
}

/// One number for each pair of a row of a and a row of b.
pub fn of_pairs_of_rows<R: Request, A: Ask<R>>(op: A) -> A {
    op.inputs(2)
        .shape(|inputs| {
            let [a, b] = [inputs[0], inputs[1]];
            fit!(
                a.cols == b.cols,
                Shape { rows: a.rows, cols: b.rows },
                "rows of width {} cannot be compared with rows of width {} (the shapes are {a} and {b})",
                a.cols,
                b.cols
            )
        })
        .cells(|inputs| inputs[0].rows.saturating_mul(inputs[1].rows))
        .names(|inputs| (rows_of(inputs[0]), rows_of(inputs[1])))
}

/// `aᵀ b`: all dot products between the columns of a and of b.
pub fn transposed_product<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| {
        let height = of.shape(0).rows;
        of.cells(|i, j| dot(height, |k| of.at(0, k, i), |k| of.at(1, k, j)))
    })
    // With the first one transposed, whole columns are summed at a time.
    .value(|inputs| Some(Op::Product.apply(&[&inputs[0].transposed(), inputs[1]])))
    .inputs(2)
    .shape(|inputs| {
        let [a, b] = [inputs[0], inputs[1]];
        (a.rows == b.rows).then_some(Shape { rows: a.cols, cols: b.cols }).ok_or(None)
    })
    .cells(|inputs| inputs[0].cols.saturating_mul(inputs[1].cols))
    .equation(|w| w.in_order(w.turned(0), w.input(1)))
    // `da = b dyᵀ`, `db = a dy`.
    .back(|step, input| match input {
        0 => step.finish(Op::ProductTransposed, &[step.input(1), step.dy]),
        _ => step.finish(Op::Product, &[step.input(0), step.dy]),
    })
}

/// `a b + c`: a linear layer with weights b in the order in which a file has them, and the bias c, one row, where there is one. The
/// products from left to right, and the bias last.
pub fn linear<R: Request, A: Ask<R>>(op: A, layout: WeightLayout) -> A {
    op.rule(|of: &R| {
        let width = of.shape(0).cols;
        of.cells(|i, j| {
            let weight = |k: usize| match layout {
                WeightLayout::InOut => of.at(1, k, j),
                WeightLayout::OutIn => of.at(1, j, k),
            };
            let bias = (of.inputs() > 2).then(|| of.at(2, 0, j));
            Number::sum((0..width).map(|k| of.at(0, i, k).times(weight(k))).chain(bias))
        })
    })
    .in_place(|inputs| {
        let bias = inputs.get(2).copied();
        Some(inputs[0].matrix().and_then(|x| attention::linear(x, inputs[1], layout, bias)))
    })
    .inputs_from(2, Some(3))
    .shape(|inputs| {
        let (width, outputs) = layout.inputs_and_outputs(inputs[1]);
        let bias = Shape { rows: 1, cols: outputs };
        let fits = inputs[0].cols == width && inputs.get(2).is_none_or(|given| *given == bias);
        fits.then_some(Shape { rows: inputs[0].rows, cols: outputs }).ok_or(None)
    })
    .cells(|inputs| inputs[0].rows.saturating_mul(layout.inputs_and_outputs(inputs[1]).1))
    .equation(|w| {
        let weights = if layout == WeightLayout::OutIn { w.turned(1) } else { w.input(1) };
        let product = w.in_order(w.input(0), weights);
        if w.count() > 2 { format!("{product} + {}", w.input(2)) } else { product }
    })
    // As for a product, and `dc` is the sum over all rows.
    .back(|step, input| match (input, layout) {
        (0 | 1, WeightLayout::InOut) => Op::Product.back(step, input),
        (0 | 1, WeightLayout::OutIn) => Op::ProductTransposed.back(step, input),
        _ => step.finish(Op::Sums(Axis::Columns), &[step.dy]),
    })
}
