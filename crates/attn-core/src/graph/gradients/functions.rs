//! The way back through functions of single numbers: the gradient times the slope of the function.

use super::backward::Backward;
use crate::attention::{Base, GELU_CUBIC};
use crate::elementary;
use crate::error::Result;
use crate::graph::{Factor, GeluForm, NodeId, Op};

/// A multiple of every cell.
const fn scale(number: f64) -> Op {
    Op::Scale(Factor::Number(number))
}

/// `1 − a ∘ a`: the slope of a hyperbolic tangent a.
fn slope_of_tanh(step: &mut Backward<'_>, a: NodeId) -> Result<NodeId> {
    let square = step.of_step("squared", Op::Multiply, &[a, a])?;
    let ones = step.ones_like(a)?;
    step.of_step("slope", Op::Subtract, &[ones, square])
}

/// `y = tanh(a)`: `da = dy ∘ (1 − y²)`.
pub(super) fn tanh(step: &mut Backward<'_>) -> Result<NodeId> {
    let slope = slope_of_tanh(step, step.y)?;
    step.sloped(slope)
}

/// `y = c · tanh(a / c)`: `da = dy ∘ (1 − (y/c)²)`.
pub(super) fn soft_cap(step: &mut Backward<'_>, cap: f64) -> Result<NodeId> {
    let share = step.of_step("share", Op::Temperature(cap), &[step.y])?;
    let slope = slope_of_tanh(step, share)?;
    step.sloped(slope)
}

/// `y = bᵃ`: `da = dy ∘ y · ln b`.
pub(super) fn exponential(step: &mut Backward<'_>, base: Base) -> Result<NodeId> {
    match base {
        Base::E => step.sloped(step.y),
        Base::Number(base) => {
            let slope = step.of_step("slope", scale(elementary::ln(base)), &[step.y])?;
            step.sloped(slope)
        }
    }
}

/// `y = √a`: `da = dy / (2 y)`.
pub(super) fn root(step: &mut Backward<'_>) -> Result<NodeId> {
    let double = step.of_step("double", scale(2.0), &[step.y])?;
    step.finish(Op::Quotient, &[step.dy, double])
}

/// `y = max(0, a)`: the gradient where y is not 0.
pub(super) fn relu(step: &mut Backward<'_>) -> Result<NodeId> {
    let slope = step.where_zero("slope", false, step.y)?;
    step.sloped(slope)
}

/// `y = elu(a) + 1`: the slope is 1 where a is positive, and y elsewhere, which is `y − max(0, a)` in both cases.
pub(super) fn elu_plus_one(step: &mut Backward<'_>) -> Result<NodeId> {
    let positive = step.of_step("positive", Op::Relu, &[step.input(0)])?;
    let slope = step.of_step("slope", Op::Subtract, &[step.y, positive])?;
    step.sloped(slope)
}

/// `y = 1 / (1 + e⁻ᵃ)`: `da = dy ∘ y ∘ (1 − y)`.
pub(super) fn sigmoid(step: &mut Backward<'_>) -> Result<NodeId> {
    let ones = step.ones_like(step.y)?;
    let rest = step.of_step("rest", Op::Subtract, &[ones, step.y])?;
    let slope = step.of_step("slope", Op::Multiply, &[step.y, rest])?;
    step.sloped(slope)
}

/// `y = a σ` with the sigmoid σ: the slope is `σ + y (1 − σ)`.
pub(super) fn silu(step: &mut Backward<'_>) -> Result<NodeId> {
    let sigmoid = step.of_step("sigmoid", Op::Sigmoid, &[step.input(0)])?;
    let ones = step.ones_like(sigmoid)?;
    let rest = step.of_step("rest", Op::Subtract, &[ones, sigmoid])?;
    let more = step.of_step("more", Op::Multiply, &[step.y, rest])?;
    let slope = step.of_step("slope", Op::Add, &[sigmoid, more])?;
    step.sloped(slope)
}

/// The density of a standard normal distribution at each cell of a: `e^(−a²/2) / √(2π)`.
fn density(step: &mut Backward<'_>, a: NodeId) -> Result<NodeId> {
    let square = step.of_step("squared", Op::Multiply, &[a, a])?;
    let exponent = step.of_step("exponent", scale(-0.5), &[square])?;
    let power = step.of_step("power", Op::Exponential(Base::E), &[exponent])?;
    step.of_step("density", scale(1.0 / (2.0 * std::f64::consts::PI).sqrt()), &[power])
}

/// `y = Φ(a)`: the slope is the density.
pub(super) fn normal_share(step: &mut Backward<'_>) -> Result<NodeId> {
    let slope = density(step, step.input(0))?;
    step.sloped(slope)
}

/// The slope of GELU: `Φ(a) + a φ(a)`, or that of its tanh form.
pub(super) fn gelu(step: &mut Backward<'_>, form: GeluForm) -> Result<NodeId> {
    let a = step.input(0);
    let (share, density) = match form {
        GeluForm::Erf => (step.of_step("share", Op::NormalShare, &[a])?, density(step, a)?),
        GeluForm::Tanh => gelu_tanh(step, a)?,
    };
    let more = step.of_step("more", Op::Multiply, &[a, density])?;
    let slope = step.of_step("slope", Op::Add, &[share, more])?;
    step.sloped(slope)
}

/// What stands for Φ and its slope in the tanh form: `(1 + t)/2` with `t = tanh(√(2/π) (a + c a³))`, and
/// `(1 − t²)/2 · √(2/π) (1 + 3 c a²)`.
fn gelu_tanh(step: &mut Backward<'_>, a: NodeId) -> Result<(NodeId, NodeId)> {
    let factor = (2.0 / std::f64::consts::PI).sqrt();
    let square = step.of_step("input_squared", Op::Multiply, &[a, a])?;
    let cube = step.of_step("cubed", Op::Multiply, &[square, a])?;
    let cubic = step.of_step("cubic", scale(GELU_CUBIC), &[cube])?;
    let sum = step.of_step("sum", Op::Add, &[a, cubic])?;
    let angle = step.of_step("angle", scale(factor), &[sum])?;
    let tanh = step.of_step("tanh", Op::Tanh, &[angle])?;
    let double = step.of_step("double", Op::OnePlus, &[tanh])?;
    let share = step.of_step("share", scale(0.5), &[double])?;
    let of_tanh = step.of_step("tanh_squared", Op::Multiply, &[tanh, tanh])?;
    let ones = step.ones_like(a)?;
    let of_tanh = step.of_step("tanh_slope", Op::Subtract, &[ones, of_tanh])?;
    let of_angle = step.of_step("cubic_slope", scale(3.0 * GELU_CUBIC), &[square])?;
    let of_angle = step.of_step("sum_slope", Op::OnePlus, &[of_angle])?;
    let of_angle = step.of_step("angle_slope", scale(0.5 * factor), &[of_angle])?;
    let density = step.of_step("share_slope", Op::Multiply, &[of_tanh, of_angle])?;
    Ok((share, density))
}
