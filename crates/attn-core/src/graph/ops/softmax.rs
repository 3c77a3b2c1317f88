//! From scores to weights: the softmax, and the steps it is made of.

use super::definition::*;
use super::statistics::share_of_max;

/// Every cell minus the max of its line: `x[k] − max x`.
///
/// The softmax of the result is the softmax of the line, and for a base above 1 its max power is exactly 1, so none overflows.
/// A score of −∞ (a masked one) stays −∞, also where nothing but −∞ is in the line. The only other score of a line is its own
/// max, and becomes 0 even where it has left the range.
pub fn minus_max<R: Request, A: Ask<R>>(op: A, axis: Axis) -> A {
    op.rule(|of: &R| {
        of.each_line(axis, |line| {
            let max = R::Number::max(line.iter().cloned());
            let alone = is_alone(&line);
            move |k: usize| {
                let x = line[k].clone();
                let is_max = alone && x.value() == f64::INFINITY;
                less_max(x, &max, is_max)
            }
        })
    })
    .equation(|w| format!("{} − max of {}", w.input(0), w.each(axis)))
    // The gradient, and the largest cell loses the sum of all.
    .back(|step, _| {
        let (a, dy) = (step.input(0), step.dy);
        let share = share_of_max(step, axis, a)?;
        let sum = step.part("sum", Op::Sums(axis), &[dy])?;
        let spread = step.spread("sum_repeated", axis, sum, a)?;
        let of_max = step.part("of_largest", Op::Multiply, &[share, spread])?;
        step.finish(Op::Subtract, &[dy, of_max])
    })
}

/// Whether the line has one score that is not hidden, and that one has left the range.
fn is_alone<N: Number>(line: &[N]) -> bool {
    let mut visible = line.iter().filter(|x| x.value() != f64::NEG_INFINITY);
    visible.next().is_some_and(|x| x.value() == f64::INFINITY) && visible.next().is_none()
}

/// A score minus the max of its line, which it may be by itself.
fn less_max<N: Number>(x: N, max: &N, is_alone: bool) -> N {
    if x.value() == f64::NEG_INFINITY {
        x.because("a hidden score stays −∞")
    } else if is_alone {
        N::of(0.0).because("it is the only score that is not hidden")
    } else {
        x.minus(max.clone())
    }
}

/// Every cell divided by the sum of its line: `x[k] / Σ x`.
///
/// The division fails for numbers of both signs, whose sum may be 0 or negative: the result is infinite or NaN.
pub fn divide_by_sum<R: Request, A: Ask<R>>(op: A, axis: Axis) -> A {
    op.rule(|of: &R| {
        of.each_line(axis, |line| {
            let sum = R::Number::sum(line.iter().cloned());
            move |k: usize| line[k].clone().over(sum.clone())
        })
    })
    .equation(|w| format!("{} / sum of {}", w.input(0), w.each(axis)))
    // With the sum s of a line, `da = (dy − Σ y ∘ dy) / s`.
    .back(|step, _| {
        let (a, dy) = (step.input(0), step.dy);
        let centred = centred(step, axis)?;
        let sums = step.of_step("sum", Op::Sums(axis), &[a])?;
        let sums = step.spread("sum_repeated", axis, sums, dy)?;
        step.finish(Op::Quotient, &[centred, sums])
    })
}

/// Exponentials, divided by their sum: `e^(x[k] − m) / Σ e^(x − m)`, with m the max of the line. A line of −∞ alone (a fully masked
/// query) gives zeros.
///
/// # Source
/// Vaswani et al. 2017, section 3.2.1; the subtracted max: Goodfellow et al., “Deep Learning”, section 4.1.
pub fn softmax<R: Request, A: Ask<R>>(op: A, axis: Axis, base: Base) -> A {
    op.rule(|of: &R| of.each_line(axis, |line| softmax_of(line, base)))
        .equation(|w| written(w, axis, base))
        .back(|step, _| back_through_softmax(step, axis, base))
}

/// The weights of a line of scores.
pub fn softmax_of<N: Number>(line: Vec<N>, base: Base) -> impl Fn(usize) -> N {
    let alone = is_alone(&line);
    shares(line, base, move |x, m| less_max(x, m, alone))
}

/// The powers of a line over their sum, where the exponents are the scores less their max.
fn shares<N: Number>(mut line: Vec<N>, base: Base, less_max: impl Fn(N, &N) -> N) -> impl Fn(usize) -> N {
    let max = N::max(line.iter().cloned());
    let m = max.named("m");
    for x in &mut line {
        *x = less_max(x.clone(), &m).power_of(base);
    }
    let sum = N::sum(line.iter().cloned());
    move |k| {
        if sum.value() == 0.0 {
            return N::of(0.0).because("it may attend to nothing");
        }
        line[k].clone().over(sum.clone()).with("m", &max)
    }
}

fn written(w: &FormulaWriter<'_>, axis: Axis, base: Base) -> String {
    let along = match w.each(axis) {
        "each row" => "",
        "each column" => " down each column",
        _ => " over all cells",
    };
    match base {
        Base::E => format!("softmax({}){along}", w.input(0)),
        Base::Number(base) => format!("softmax({}) of base {}{along}", w.input(0), number_text(base)),
    }
}

/// `da = y ∘ (dy − Σ y ∘ dy)`, times the logarithm of the base where it is not e.
pub fn back_through_softmax(step: &mut Backward<'_>, axis: Axis, base: Base) -> Result<NodeId> {
    let centred = centred(step, axis)?;
    let y = step.y;
    match base {
        Base::E => step.finish(Op::Multiply, &[y, centred]),
        Base::Number(base) => {
            let of_e = step.part("of_base_e", Op::Multiply, &[y, centred])?;
            step.finish(scale(elementary::ln(base)), &[of_e])
        }
    }
}

/// `dy` minus its mean along the axis, where each cell counts by its weight y.
pub fn centred(step: &mut Backward<'_>, axis: Axis) -> Result<NodeId> {
    let (y, dy) = (step.y, step.dy);
    let weighted = step.part("weighted", Op::Multiply, &[y, dy])?;
    let mean = step.part("mean", Op::Sums(axis), &[weighted])?;
    let repeated = step.spread("mean_repeated", axis, mean, dy)?;
    step.part("centred", Op::Subtract, &[dy, repeated])
}

/// The softmax as NumPy and PyTorch have it, without a guard for a line of nothing but −∞: −∞ − (−∞) makes that line NaN.
/// Everywhere else it is [`softmax`].
pub fn unguarded_softmax<R: Request, A: Ask<R>>(op: A, axis: Axis, base: Base) -> A {
    op.rule(|of: &R| of.each_line(axis, |line| shares(line, base, |x, m| x.minus(m.clone()))))
        .equation(|w| format!("{}, without subtracting the maximum", written(w, axis, base)))
        .back(|step, _| back_through_softmax(step, axis, base))
}

/// `−ln softmax` of each row, the loss of a row if this column is its target, without the small numbers between:
/// `ln Σ e^(x − m) − (x[k] − m)`, with m the max of the row. It stays exact where a weight would round to 0 or to 1. A score of −∞ has the
/// weight 0, so its result is ∞.
///
/// # Source
/// Blanchard, Higham and Higham 2021, “Accurately computing the log-sum-exp and softmax functions”.
pub fn negative_log_softmax<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| of.each_line(Axis::Rows, negative_log_softmax_of))
        .equation(|w| format!("−ln({})", written(w, Axis::Rows, Base::E)))
        // `da = softmax(a) ∘ Σ dy − dy`.
        .back(|step, _| {
            let (a, dy) = (step.input(0), step.dy);
            let softmax = step.made("softmax", Op::Softmax(Axis::Rows, Base::E), &[a])?;
            let sum = step.part("sum", Op::Sums(Axis::Rows), &[dy])?;
            let repeated = step.spread("sum_repeated", Axis::Rows, sum, dy)?;
            let shared = step.part("shared", Op::Multiply, &[softmax, repeated])?;
            step.finish(Op::Subtract, &[shared, dy])
        })
}

/// The losses of a row of scores.
pub fn negative_log_softmax_of<N: Number>(mut line: Vec<N>) -> impl Fn(usize) -> N {
    let (max, alone) = (N::max(line.iter().cloned()), is_alone(&line));
    let m = max.named("m");
    for x in &mut line {
        *x = less_max(x.clone(), &m, alone);
    }
    let powers = line.iter().map(|x| x.clone().power_of(Base::E));
    let logarithm = N::sum(powers).function(Function::Logarithm);
    move |k| {
        if line[k].value() == f64::NEG_INFINITY {
            return N::of(f64::INFINITY).because("a hidden score has no share");
        }
        logarithm.clone().minus(line[k].clone()).with("m", &max)
    }
}

/// The softmax of each row of a together with a sink σ, a score of no key, in the row b: `e^(x[k] − m) / (Σ e^(x − m) + e^(σ − m))`, with m
/// the max of the row and σ. The sink's own share is dropped, so a row sums to less than 1. A row of −∞ alone gives zeros, as does one
/// where σ is −∞ too.
///
/// # Source
/// OpenAI 2025, the published code of gpt-oss, with a learned σ for each head; with σ = 0 it is Miller 2023, “Attention Is Off By
/// One”.
pub fn softmax_with_sink<R: Request, A: Ask<R>>(op: A, head: usize) -> A {
    op.rule(|of: &R| {
        of.each_line(Axis::Rows, |mut line| {
            line.push(of.at(1, 0, head));
            shares(line, Base::E, |x, m| match x.value() == f64::INFINITY {
                true => R::Number::of(0.0).because("it has left the range, and is the max"),
                false => less_max(x, m, false),
            })
        })
    })
    .inputs(2)
    .shape(|inputs| {
        let [a, b] = [inputs[0], inputs[1]];
        let error = || Error::new(format!("there is no sink for head {} in {b}", head + 1));
        let fits = b.rows == 1 && head < b.cols;
        fits.then_some(a).ok_or_else(|| Some(error().help("give one row with a sink for each head")))
    })
    // With `sink`, or `sink[1,2]` of several.
    .equation(|w| {
        let cell = match (w.shape(1).cols > 1, w.convention) {
            (false, _) => String::new(),
            (true, Convention::Rows) => format!("[1,{}]", head + 1),
            (true, Convention::Columns) => format!("[{},1]", head + 1),
        };
        format!("softmax([{}, {}{cell}]), last {} dropped", w.input(0), w.input(1), w.line(false))
    })
    .back(|step, input| match input {
        0 => back_through_softmax(step, Axis::Rows, Base::E),
        _ => back_to_sink(step, head),
    })
}

/// The sink loses what the keys win: `−(1 − Σ y) · Σ y ∘ dy`, summed over all rows.
fn back_to_sink(step: &mut Backward<'_>, head: usize) -> Result<NodeId> {
    let (y, dy, sinks) = (step.y, step.dy, step.input(1));
    let weighted = step.part("weighted", Op::Multiply, &[y, dy])?;
    let mean = step.part("mean", Op::Sums(Axis::Rows), &[weighted])?;
    let of_keys = step.of_step("of_keys", Op::Sums(Axis::Rows), &[y])?;
    let ones = step.ones_like(of_keys)?;
    let of_sink = step.of_step("of_sink", Op::Subtract, &[ones, of_keys])?;
    let lost = step.part("sink_products", Op::Multiply, &[of_sink, mean])?;
    let lost = step.part("sink_sum", Op::Sums(Axis::Whole), &[lost])?;
    let lost = step.part("sink", scale(-1.0), &[lost])?;
    let identity = step.identity(step.shape(sinks).cols)?;
    let place = step.of_step("sink_place", Op::Rows { start: head, count: 1 }, &[identity])?;
    step.finish(Op::Times, &[place, lost])
}
