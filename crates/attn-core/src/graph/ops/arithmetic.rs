//! Arithmetic: cell by cell between matrices of one shape, or of each cell with one number.

use super::definition::*;
use crate::matrix::same_number;

/// `a + b + …`, cell by cell. Of two, −∞ in the second hides what it is added to: also a score that has left the range, where +∞ − ∞ would
/// be NaN.
pub fn add<R: Request, A: Ask<R>>(op: A) -> A {
    /// A sum of more is written with its first two and its last.
    const MOST_SUMMANDS: usize = 8;
    op.rule(|of: &R| {
        let count = of.inputs();
        of.cells(|i, j| {
            if count == 2 {
                let (a, b) = (of.at(0, i, j), of.at(1, i, j));
                if a.value() == f64::INFINITY && b.value() == f64::NEG_INFINITY {
                    return b.because("−∞ hides the score");
                }
                return Number::sum([a, b]);
            }
            Number::sum((0..count).map(|input| of.at(input, i, j)))
        })
    })
    .inputs_from(1, None)
    .cell_by_cell("added")
    .equation(|w| match w.count() {
        many if many > MOST_SUMMANDS => {
            format!("{} + {} + … + {}", w.input(0), w.input(1), w.input(many - 1))
        }
        _ => w.joined(" + "),
    })
    .back(|step, _| step.same())
}

/// `a − b`, cell by cell.
pub fn subtract<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| of.pairs(Number::minus))
        .inputs(2)
        .cell_by_cell("subtracted")
        .written("{a} − {b}")
        .back(|step, input| difference(step, input == 1))
}

/// A difference hands its gradient on, with the other sign to what is subtracted.
fn difference(step: &mut Backward<'_>, is_subtracted: bool) -> Result<NodeId> {
    if is_subtracted { step.finish(scale(-1.0), &[step.dy]) } else { step.same() }
}

/// `b − a`, cell by cell: the change from a to b. Exactly 0 where both are the same number, so that −∞ next to −∞, or NaN next to NaN, has
/// not changed.
pub fn change<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| {
        of.pairs(|a, b| match same_number(a.value(), b.value()) {
            true => R::Number::of(0.0).because("both are the same"),
            false => b.minus(a).because("it has moved"),
        })
    })
    .inputs(2)
    .cell_by_cell("compared cell by cell")
    .written("{b} − {a}")
    .back(|step, input| difference(step, input == 0))
}

/// `a ∘ b`, cell by cell.
pub fn multiply<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| of.pairs(Number::times))
        .inputs(2)
        .cell_by_cell("multiplied cell by cell")
        .written("{a} ∘ {b}")
        .back(|step, input| step.sloped(step.input(1 - input)))
}

/// `a / b`, cell by cell.
pub fn quotient<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| of.pairs(Number::over))
        .inputs(2)
        .cell_by_cell("divided cell by cell")
        .written("{a} / {b}")
        // `da = dy / b`, `db = −dy ∘ y / b`.
        .back(|step, input| {
            let (b, y, dy) = (step.input(1), step.y, step.dy);
            if input == 0 {
                return step.finish(Op::Quotient, &[dy, b]);
            }
            let weighted = step.part("weighted", Op::Multiply, &[dy, y])?;
            let share = step.part("share", Op::Quotient, &[weighted, b])?;
            step.finish(scale(-1.0), &[share])
        })
}

// Each cell of a with one number: b, or a number that the op has.

/// Every cell of a divided by the single number b.
pub fn divide<R: Request, A: Ask<R>>(op: A) -> A {
    with_one_number("divisor", op.rule(|of: &R| of.each(|x| x.over(of.at(1, 0, 0)))))
        .written("{a} / {b}")
        // `da = dy / b`, `db = −Σ dy ∘ y / b`.
        .back(|step, input| {
            let (b, y, dy) = (step.input(1), step.y, step.dy);
            if input == 0 {
                return step.finish(Op::Divide, &[dy, b]);
            }
            let weighted = step.part("weighted", Op::Multiply, &[dy, y])?;
            let sum = step.part("sum", Op::Sums(Axis::Whole), &[weighted])?;
            let share = step.part("share", Op::Divide, &[sum, b])?;
            step.finish(scale(-1.0), &[share])
        })
}

/// Every cell of a multiplied by the single number b.
pub fn times<R: Request, A: Ask<R>>(op: A) -> A {
    with_one_number("factor", op.rule(|of: &R| of.each(|x| x.times(of.at(1, 0, 0)))))
        .written("{a} · {b}")
        // `da = dy · b`, `db = Σ dy ∘ a`.
        .back(|step, input| {
            let (a, b, dy) = (step.input(0), step.input(1), step.dy);
            if input == 0 {
                return step.finish(Op::Times, &[dy, b]);
            }
            let weighted = step.part("weighted", Op::Multiply, &[dy, a])?;
            step.finish(Op::Sums(Axis::Whole), &[weighted])
        })
}

fn with_one_number<R: Request, A: Ask<R>>(what: &'static str, op: A) -> A {
    op.inputs(2).shape(|inputs| {
        let [a, b] = [inputs[0], inputs[1]];
        fit!(b == Shape { rows: 1, cols: 1 }, a, "a {what} is one number, not a {b} matrix")
    })
}

/// `1 + a`, cell by cell: the gain of a norm that stores its distance from 1.
pub fn one_plus<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| of.each(|x| Number::sum([Number::of(1.0), x])))
        .written("1 + {a}")
        .back(|step, _| step.same())
}

/// Every cell multiplied by a number.
pub fn scaled<R: Request, A: Ask<R>>(op: A, factor: Factor) -> A {
    op.rule(|of: &R| {
        let factor: R::Number = factor.number();
        of.each(|x| x.times(factor.clone()))
    })
    .equation(|w| match (factor, w.input(0)) {
        (Factor::InverseRoot(width), a) => format!("{a} · 1/√{width}"),
        (Factor::Inverse(width), a) => format!("{a} · 1/{width}"),
        (Factor::Root(width), a) => format!("{a} · √{width}"),
        (Factor::Number(number), a) => format!("{} · {a}", number_text(number)),
    })
    .back(|step, _| step.finish(Op::Scale(factor), &[step.dy]))
}

impl Factor {
    /// The factor as a number of a rule: `1/√64`.
    fn number<N: Number>(self) -> N {
        let width = |width: usize| N::of(width as f64);
        match self {
            Factor::Number(number) => N::of(number),
            Factor::InverseRoot(d) => N::of(1.0).over(width(d).root()),
            Factor::Inverse(d) => N::of(1.0).over(width(d)),
            Factor::Root(d) => width(d).root(),
        }
    }

    /// The factor's value.
    pub fn value(self) -> f64 {
        self.number()
    }
}

/// Every cell divided by the temperature.
pub fn temperature<R: Request, A: Ask<R>>(op: A, temperature: f64) -> A {
    op.rule(|of: &R| of.each(|x| x.over(Number::of(temperature))))
        .equation(|w| format!("{} / {}", w.input(0), number_text(temperature)))
        .back(|step, _| step.finish(Op::Temperature(temperature), &[step.dy]))
}

// Numbers of fewer digits.

/// Cells beyond the largest number of single precision, 3.4e38, become ∞ or −∞; all others stay.
pub fn single_range<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| {
        of.each(|x| match x.value() {
            value if value > f64::from(f32::MAX) => {
                R::Number::of(f64::INFINITY).because("single precision ends at 3.4e38")
            }
            value if value < f64::from(f32::MIN) => {
                R::Number::of(f64::NEG_INFINITY).because("single precision ends at −3.4e38")
            }
            _ => x,
        })
    })
    .written("{a}, with ∞ beyond 3.4e38")
    .back(|step, _| step.same())
}

/// Every cell rounded to a number of decimals, ties to even as NumPy does.
pub fn round<R: Request, A: Ask<R>>(op: A, decimals: u32) -> A {
    to_decimals(op, decimals, Function::Rounded(decimals), "rounded to")
}

/// Every cell cut off after a number of decimals, towards 0.
pub fn truncate<R: Request, A: Ask<R>>(op: A, decimals: u32) -> A {
    to_decimals(op, decimals, Function::Truncated(decimals), "cut off after")
}

fn to_decimals<R: Request, A: Ask<R>>(op: A, decimals: u32, function: Function, done: &'static str) -> A {
    op.rule(|of: &R| of.each(|x| x.function(function)))
        // `f64` has no more decimals than these, 10³⁰⁸ being its largest power of ten.
        .check(|op| in_range(op, decimals <= 308, "decimals", "from 0 to 308"))
        .equation(|w| format!("{} {done} {}", w.input(0), counted(decimals as usize, "decimal")))
        .way_back(|_| {
            WayBack::Refused(
                "rounding is flat between its jumps, so that nothing could be learned through it",
            )
        })
}
