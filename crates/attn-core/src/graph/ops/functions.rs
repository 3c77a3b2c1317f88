//! Functions of each number on its own, as in the perceptron of a block. Their way back is the gradient times their slope.

use std::f64::consts::PI;

use super::definition::*;
use crate::graph::GeluForm;

/// A power of every cell: eᵃ, or bᵃ for another base b.
pub fn exponential<R: Request, A: Ask<R>>(op: A, base: Base) -> A {
    op.rule(|of: &R| of.each(|x| x.power_of(base)))
        .equation(|w| match base {
            Base::E => format!("exp({})", w.input(0)),
            Base::Number(base) => format!("{} ^ {}", number_text(base), w.input(0)),
        })
        // `da = dy ∘ y · ln b`.
        .back(|step, _| {
            let slope = match base {
                Base::E => step.y,
                Base::Number(base) => step.of_step("slope", scale(elementary::ln(base)), &[step.y])?,
            };
            step.sloped(slope)
        })
}

/// The natural logarithm of every cell.
pub fn logarithm<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| of.each(|x| x.function(Function::Logarithm)))
        .written("ln({a})")
        .back(|step, _| step.finish(Op::Quotient, &[step.dy, step.input(0)]))
}

/// The square root of every cell.
pub fn root<R: Request, A: Ask<R>>(op: A) -> A {
    // `da = dy / (2 y)`.
    op.rule(|of: &R| of.each(Number::root)).written("√({a})").back(|step, _| {
        let double = step.of_step("double", scale(2.0), &[step.y])?;
        step.finish(Op::Quotient, &[step.dy, double])
    })
}

/// `tanh(a)`.
pub fn tanh<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| of.each(|x| x.function(Function::Tanh)))
        .written("tanh({a})")
        .back(|step, _| back_through_tanh(step, step.y))
}

/// `da = dy ∘ (1 − t²)`, with the hyperbolic tangent t.
fn back_through_tanh(step: &mut Backward<'_>, t: NodeId) -> Result<NodeId> {
    let square = step.of_step("squared", Op::Multiply, &[t, t])?;
    let ones = step.ones_like(t)?;
    let slope = step.of_step("slope", Op::Subtract, &[ones, square])?;
    step.sloped(slope)
}

/// `c · tanh(a / c)`: every cell stays between −c and c. A score near 0 hardly changes; one of −∞ becomes −c, so that a mask has to come
/// after the cap.
///
/// # Source
/// Gemma Team 2024, “Gemma 2”, section 2, “Logit soft-capping”, with c = 50 for the scores; Bello et al. 2016 cap by 10.
pub fn soft_cap<R: Request, A: Ask<R>>(op: A, cap: f64) -> A {
    op.rule(|of: &R| of.each(|x| R::Number::of(cap).times(x.over(Number::of(cap)).function(Function::Tanh))))
        .equation(|w| format!("{c} · tanh({} / {c})", w.input(0), c = number_text(cap)))
        .back(|step, _| {
            let share = step.of_step("share", Op::Temperature(cap), &[step.y])?;
            back_through_tanh(step, share)
        })
}

/// `max(0, a)`.
///
/// # Source
/// Nair and Hinton 2010; “Attention and Transformer Imagined”, section MLP or FFNN.
pub fn relu<R: Request, A: Ask<R>>(op: A) -> A {
    // The gradient where y is not 0.
    op.rule(|of: &R| of.each(|x| by_sign(x, |x| x, |_| Number::of(0.0)))).written("ReLU({a})").back(
        |step, _| {
            let slope = step.where_zero("slope", false, step.y)?;
            step.sloped(slope)
        },
    )
}

/// `elu(a) + 1`: `a + 1` where a is positive, `eᵃ` elsewhere; so it is never negative.
///
/// # Source
/// Katharopoulos et al. 2020, “Transformers are RNNs”, equation 7: the feature map of linear attention.
pub fn elu_plus_one<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| of.each(|x| by_sign(x, |x| Number::sum([x, Number::of(1.0)]), |x| x.power_of(Base::E))))
        .written("elu({a}) + 1")
        // The slope is 1 where a is positive, and y elsewhere, which is `y − max(0, a)` in both cases.
        .back(|step, _| {
            let positive = step.of_step("positive", Op::Relu, &[step.input(0)])?;
            let slope = step.of_step("slope", Op::Subtract, &[step.y, positive])?;
            step.sloped(slope)
        })
}

/// The first case where x is positive, and the other one where it is not.
fn by_sign<N: Number>(x: N, positive: impl Fn(N) -> N, other: impl Fn(N) -> N) -> N {
    match x.value() > 0.0 {
        true => positive(x).because("it is positive"),
        false => other(x).because("it is not positive"),
    }
}

/// `1 / (1 + e⁻ᵃ)`, between 0 and 1.
pub fn sigmoid<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| of.each(|x| R::Number::of(1.0).over(one_and_power(x))))
        .written("sigmoid({a})")
        // `da = dy ∘ y ∘ (1 − y)`.
        .back(|step, _| {
            let ones = step.ones_like(step.y)?;
            let rest = step.of_step("rest", Op::Subtract, &[ones, step.y])?;
            let slope = step.of_step("slope", Op::Multiply, &[step.y, rest])?;
            step.sloped(slope)
        })
}

/// `a / (1 + e⁻ᵃ)`: a times its own sigmoid. At −∞ it is 0, its limit.
///
/// # Source
/// Elfwing et al. 2017; as the gate of a perceptron: Shazeer 2020, “GLU Variants Improve Transformer”.
pub fn silu<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| of.each(|x| with_limit_0(x, |x| x.clone().over(one_and_power(x)))))
        .written("SiLU({a})")
        // With the sigmoid σ of a, the slope is `σ + y (1 − σ)`.
        .back(|step, _| {
            let sigmoid = step.of_step("sigmoid", Op::Sigmoid, &[step.input(0)])?;
            let ones = step.ones_like(sigmoid)?;
            let rest = step.of_step("rest", Op::Subtract, &[ones, sigmoid])?;
            let more = step.of_step("more", Op::Multiply, &[step.y, rest])?;
            let slope = step.of_step("slope", Op::Add, &[sigmoid, more])?;
            step.sloped(slope)
        })
}

/// `1 + e^(−x)`.
fn one_and_power<N: Number>(x: N) -> N {
    N::sum([N::of(1.0), N::of(-1.0).times(x).power_of(Base::E)])
}

/// The formula, and 0 at −∞, where it would be −∞ · 0.
fn with_limit_0<N: Number>(x: N, formula: impl Fn(N) -> N) -> N {
    if x.value() == f64::NEG_INFINITY {
        return N::of(0.0).because("this is its limit at −∞");
    }
    formula(x)
}

/// a times the share of a standard normal distribution that lies below it: `a/2 · (1 + erf(a/√2))`; or its tanh form, which differs from
/// it by 5·10⁻⁴ at most: `a/2 · (1 + tanh(√(2/π) · (a + 0.044715·a³)))`. At −∞ it is 0, its limit.
///
/// # Source
/// Hendrycks and Gimpel 2016, “Gaussian Error Linear Units”, section 2; the MLP of BERT, and in the tanh form of GPT-2.
pub fn gelu<R: Request, A: Ask<R>>(op: A, form: GeluForm) -> A {
    let by_tanh = |x: R::Number| {
        let factor = R::Number::of(2.0).over(Number::of(PI)).root();
        let cubic = Number::product([Number::of(CUBIC), x.clone(), x.clone(), x.clone()]);
        factor.times(Number::sum([x, cubic])).function(Function::Tanh)
    };
    let half =
        |x: R::Number, share| Number::product([Number::of(0.5), x, Number::sum([Number::of(1.0), share])]);
    op.rule(|of: &R| match form {
        GeluForm::Erf => of.each(|x| with_limit_0(x, |x| half(x.clone(), erf_of_root_2(x)))),
        GeluForm::Tanh => of.each(|x| with_limit_0(x, |x| half(x.clone(), by_tanh(x)))),
    })
    .written(if form == GeluForm::Tanh { "GELU({a}), tanh form" } else { "GELU({a})" })
    // The slope is `Φ(a) + a φ(a)`, or that of the tanh form.
    .back(|step, _| {
        let a = step.input(0);
        let (share, density) = match form {
            GeluForm::Erf => (step.of_step("share", Op::NormalShare, &[a])?, density(step, a)?),
            GeluForm::Tanh => share_and_density_by_tanh(step, a)?,
        };
        let more = step.of_step("more", Op::Multiply, &[a, density])?;
        let slope = step.of_step("slope", Op::Add, &[share, more])?;
        step.sloped(slope)
    })
}

/// The number before a³.
const CUBIC: f64 = 0.044_715;

/// What stands for Φ and its slope in the tanh form: `(1 + t)/2` with `t = tanh(√(2/π) (a + c a³))`, and
/// `(1 − t²)/2 · √(2/π) (1 + 3 c a²)`.
fn share_and_density_by_tanh(step: &mut Backward<'_>, a: NodeId) -> Result<(NodeId, NodeId)> {
    let factor = (2.0 / PI).sqrt();
    let square = step.of_step("input_squared", Op::Multiply, &[a, a])?;
    let cube = step.of_step("cubed", Op::Multiply, &[square, a])?;
    let cubic = step.of_step("cubic", scale(CUBIC), &[cube])?;
    let sum = step.of_step("sum", Op::Add, &[a, cubic])?;
    let angle = step.of_step("angle", scale(factor), &[sum])?;
    let tanh = step.of_step("tanh", Op::Tanh, &[angle])?;
    let double = step.of_step("double", Op::OnePlus, &[tanh])?;
    let share = step.of_step("share", scale(0.5), &[double])?;
    let of_tanh = step.of_step("tanh_squared", Op::Multiply, &[tanh, tanh])?;
    let ones = step.ones_like(a)?;
    let of_tanh = step.of_step("tanh_slope", Op::Subtract, &[ones, of_tanh])?;
    let of_angle = step.of_step("cubic_slope", scale(3.0 * CUBIC), &[square])?;
    let of_angle = step.of_step("sum_slope", Op::OnePlus, &[of_angle])?;
    let of_angle = step.of_step("angle_slope", scale(0.5 * factor), &[of_angle])?;
    let density = step.of_step("share_slope", Op::Multiply, &[of_tanh, of_angle])?;
    Ok((share, density))
}

/// The share of a standard normal distribution that lies below a: `(1 + erf(a/√2)) / 2`. Its slope is the density.
pub fn normal_share<R: Request, A: Ask<R>>(op: A) -> A {
    op.rule(|of: &R| of.each(|x| R::Number::of(0.5).times(Number::sum([Number::of(1.0), erf_of_root_2(x)]))))
        .written("Φ({a})")
        .back(|step, _| {
            let slope = density(step, step.input(0))?;
            step.sloped(slope)
        })
}

/// `erf(x/√2)`.
fn erf_of_root_2<N: Number>(x: N) -> N {
    x.over(N::of(2.0).root()).function(Function::Erf)
}

/// The density of a standard normal distribution at each cell of a: `e^(−a²/2) / √(2π)`.
fn density(step: &mut Backward<'_>, a: NodeId) -> Result<NodeId> {
    let square = step.of_step("squared", Op::Multiply, &[a, a])?;
    let exponent = step.of_step("exponent", scale(-0.5), &[square])?;
    let power = step.of_step("power", Op::Exponential(Base::E), &[exponent])?;
    step.of_step("density", scale(1.0 / (2.0 * PI).sqrt()), &[power])
}
