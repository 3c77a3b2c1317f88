//! Positions: vectors to add to the tokens, rotations of queries and keys with their frequencies, biases by distance.

use std::f64::consts::PI;

use super::definition::*;
use crate::attention::{Buckets, HeadOf, Pairing, Places, RopeScaling, Rotation};

/// A leaf: a vector for each position, `sin(t / 10000^(2p/d))` in the even columns 2p, `cos(…)` in the odd ones 2p + 1, with t and p from
/// 0. The vectors are added to the tokens.
///
/// # Source
/// Vaswani et al. 2017, section 3.5.
pub fn sinusoidal<R: Request, A: Ask<R>>(op: A, first: usize, tokens: usize, width: usize) -> A {
    op.rule(|of: &R| {
        of.cells(|i, j| {
            let position = R::Number::of((first + i) as f64);
            let angle = position.over(power_of_pair(10_000.0, j / 2, width as f64));
            angle.function(if j.is_multiple_of(2) { Function::Sine } else { Function::Cosine })
        })
    })
    .check(|op| is_position(op, first))
    .leaf(tokens, width)
    .equation(|_| {
        let from = match first {
            0 => "row t, pair p of columns, both from 0".to_string(),
            first => format!("row t from {first}, pair p of columns from 0"),
        };
        format!("sin and cos of t / 10000^(2p/d): {from}")
    })
}

/// `base^(2p/width)`.
fn power_of_pair<N: Number>(base: f64, pair: usize, width: f64) -> N {
    N::of(2.0 * pair as f64).over(N::of(width)).power_of(Base::Number(base))
}

fn is_position(op: &str, first: usize) -> Result<()> {
    in_range(op, (first as u64) < MOST, "first", "at most 2⁵³")
}

// Rotations, their frequencies, and what lets these reach beyond the context of training.

/// A leaf: the frequencies of rotary positions, in radians per position: `1 / base^(2p/width)` for the pair p, from 0.
///
/// # Source
/// Su et al. 2021, “RoFormer”, section 3.2.2, with base 10000.
pub fn frequencies<R: Request, A: Ask<R>>(op: A, width: usize, base: f64) -> A {
    op.rule(|of: &R| of.cells(|_, pair| R::Number::of(1.0).over(power_of_pair(base, pair, width as f64))))
        .leaf(1, width / 2)
        .names(|_| (None, Some((1..=width / 2).map(|pair| format!("pair {pair}")).collect())))
        .equation(|_| format!("1 / {}^(2p/{width}): pair p of columns, from 0", number_text(base)))
}

const FREQUENCIES: WayBack = WayBack::Ends("frequencies are chosen, not learned");

/// The frequencies a, changed for longer texts; see [`RopeScaling`] for the formulas. LongRoPE's divisors are the second input.
///
/// # Source
/// Linear: Chen et al. 2023, “Extending Context Window of Large Language Models via Positional Interpolation”. Dynamic and YaRN:
/// Peng et al. 2023, “YaRN”, sections 3.2 and 3.3. llama3: the published code of Llama 3.1. LongRoPE: Ding et al. 2024.
pub fn scaled_frequencies<R: Request, A: Ask<R>>(op: A, scaling: RopeScaling) -> A {
    op.rule(|of: &R| {
        let width = 2 * of.shape(0).cols;
        of.cells(|_, pair| scaled_frequency(&scaling, (pair, width), of.at(0, 0, pair), || of.at(1, 0, pair)))
    })
    .inputs(1 + usize::from(matches!(scaling, RopeScaling::LongRope { .. })))
    .check(|_| scaling.check())
    .check_numbers(|inputs| {
        scaling.check()?;
        match inputs.iter().skip(1).flat_map(|divisors| divisors.cells()).find(|number| *number <= 0.0) {
            None => Ok(()),
            Some(number) => Err(Error::new(format!("a divisor of the rope scaling longrope is {number}"))
                .help("give positive numbers: the frequencies are divided by them")),
        }
    })
    .shape(|inputs| {
        let a = inputs[0];
        if matches!(scaling, RopeScaling::Dynamic { .. }) && (a.rows != 1 || a.cols < 2) {
            let error = Error::new("the rope scaling dynamic needs at least two pairs of columns");
            return Err(Some(error.help("rotate four columns or more, or use another scaling: linear")));
        }
        let wanted = Shape { rows: 1, cols: a.cols };
        if inputs.iter().all(|input| *input == wanted) {
            return Ok(a);
        }
        let b = inputs.get(1).copied().unwrap_or(Shape { rows: 0, cols: 0 });
        let error = format!("the rope scaling longrope needs a divisor for each pair, {a}, but they are {b}");
        Err(Some(Error::new(error).help(format!("give one row of {}", counted(a.cols, "number")))))
    })
    .equation(|w| scaled_frequencies_text(w, scaling))
    .way_back(|_| FREQUENCIES)
}

/// The frequency of a pair after a scaling. LongRoPE alone has a divisor.
fn scaled_frequency<N: Number>(
    scaling: &RopeScaling,
    (pair, width): (usize, usize),
    own: N,
    divisor: impl FnOnce() -> N,
) -> N {
    let of = N::of;
    match *scaling {
        RopeScaling::Linear { factor } => own.over(of(factor)),
        RopeScaling::Dynamic { original, length, .. } if length as f64 <= original => {
            own.because("the text is not longer than the original context")
        }
        RopeScaling::Dynamic { factor, original, length } => {
            let ratio = factor * length as f64 / original - (factor - 1.0);
            own.over(power_of_pair(ratio, pair, width as f64 - 2.0))
        }
        RopeScaling::Llama3 { factor, low, high, original } => {
            let wavelength = 2.0 * PI / own.value();
            if wavelength < original / high {
                own.because("its wavelength is short: it is kept")
            } else if wavelength > original / low {
                own.over(of(factor)).because("its wavelength is long: it is divided")
            } else {
                let turns = of(original).over(of(2.0 * PI).over(own.clone()));
                let share = turns.minus(of(low)).over(of(high).minus(of(low)));
                let s = share.named("s");
                let divided = own.clone().over(of(factor));
                N::sum([of(1.0).minus(s.clone()).times(divided), s.times(own)]).with("s", &share)
            }
        }
        RopeScaling::Yarn(yarn) => {
            let [low, high] = yarn.ramp(width);
            let ramp: N = of(pair as f64).minus(of(low)).over(of(high).minus(of(low)));
            if ramp.value() <= 0.0 {
                own.because("the pair is fast: it is kept")
            } else if ramp.value() >= 1.0 {
                own.over(of(yarn.factor)).because("the pair is slow: it is divided")
            } else {
                let r = ramp.named("r");
                let divided = own.clone().over(of(yarn.factor));
                N::sum([divided.times(r.clone()), own.times(of(1.0).minus(r))]).with("r", &ramp)
            }
        }
        RopeScaling::LongRope { .. } => own.over(divisor()),
    }
}

/// The same as an equation.
fn scaled_frequencies_text(w: &FormulaWriter<'_>, scaling: RopeScaling) -> String {
    let (f, number) = (w.short(0), number_text);
    match scaling {
        RopeScaling::Linear { factor } => format!("{f} / {}", number(factor)),
        RopeScaling::Dynamic { original, length, .. } if length as f64 <= original => {
            format!("{f}: {length} tokens are not more than {}", number(original))
        }
        RopeScaling::Dynamic { factor, original, length } => {
            let (less, factor) = (number(factor - 1.0), number(factor));
            format!("{f} / r^(2p/(d − 2)), r = {factor} · {length}/{} − {less}", number(original))
        }
        RopeScaling::Llama3 { factor, low, high, original } => {
            let [factor, low, high, original] = [factor, low, high, original].map(number);
            format!(
                "{f}, or {f} / {factor} where 2π/{f} > {original}/{low}, blended down to {original}/{high}"
            )
        }
        RopeScaling::Yarn(yarn) => {
            let [low, high] = yarn.ramp(2 * w.shape(0).cols).map(number);
            let factor = number(yarn.factor);
            format!("{f} · (1 − r) + {f}/{factor} · r, r from 0 at pair {low} to 1 at pair {high}")
        }
        RopeScaling::LongRope { .. } => format!("{f} / {}", w.input(1)),
    }
}

/// Rows of a rotated by their positions: each pair of columns (x, z) of row t by the angle `θ = (first + t) · f[p]`, with the frequencies f
/// in the row b, so that a dot product of two rotated rows depends on the distance of their positions alone: `x' = x · cos θ − z · sin θ`,
/// `z' = z · cos θ + x · sin θ`. Columns behind the last of the pairs stay as they are.
///
/// # Source
/// Su et al. 2021, “RoFormer”, section 3.2.2; the rotation of a part: Black et al. 2022, “GPT-NeoX-20B”, section 2.1.
pub fn rotary<R: Request, A: Ask<R>>(op: A, rotation: Rotation) -> A {
    let Rotation { first, pairing, magnitude } = rotation;
    op.rule(|of: &R| {
        let pairs = of.shape(1).cols;
        let of_size = |number: R::Number| match magnitude {
            1.0 => number,
            magnitude => number.times(Number::of(magnitude)),
        };
        of.cells(|t, j| {
            if j >= 2 * pairs {
                return of.at(0, t, j).because("this column is not rotated");
            }
            let (pair, partner, is_first) = pairing.partner(j, pairs);
            let angle = R::Number::of((first + t) as f64).times(of.at(1, 0, pair));
            let own = of.at(0, t, j).times(of_size(angle.clone().function(Function::Cosine)));
            let other = of.at(0, t, partner).times(of_size(angle.function(Function::Sine)));
            if is_first { own.minus(other) } else { Number::sum([own, other]) }
        })
    })
    .inputs(2)
    .check(|op| is_position(op, first))
    .shape(|inputs| {
        let [a, f] = [inputs[0], inputs[1]];
        if f.rows == 1 && f.cols.checked_mul(2).is_some_and(|width| width <= a.cols) {
            return Ok(a);
        }
        let error = Error::new(format!("frequencies of {f} cannot rotate {}", counted(a.cols, "column")));
        Err(Some(error.help("give one row with a frequency for each pair of columns")))
    })
    .equation(|w| {
        let partners = match pairing {
            Pairing::Halves => format!("p and p + {}", w.shape(1).cols),
            Pairing::Neighbours => "2p and 2p + 1".into(),
        };
        let size = match magnitude {
            1.0 => String::new(),
            magnitude => format!(", sin and cos times {}", number_text(magnitude)),
        };
        let (x, f, columns, row) = (w.input(0), w.short(1), w.lines(false), w.line(true));
        format!(
            "{x} with {columns} {partners} rotated by t · {f}[p]: {row} t from {first}, p and {columns} from 0{size}"
        )
    })
    .way_back(|input| if input == 0 { WayBack::Through } else { FREQUENCIES })
    // A rotation is undone by the negative angle.
    .back(|step, _| {
        let negative = step.of_step("back", scale(-1.0), &[step.input(1)])?;
        step.finish(Op::Rotary(rotation), &[step.dy, negative])
    })
}

// Biases of the scores that depend on the distance between query and key alone.

/// A leaf: a bias that grows with the distance, `−m · |distance|`, with the head's slope m.
///
/// # Source
/// Press et al. 2021, “Train Short, Test Long: Attention with Linear Biases”, section 3, which has keys before the query only; other
/// numbers of heads: its published code.
pub fn alibi<R: Request, A: Ask<R>>(op: A, head: HeadOf, places: Places) -> A {
    /// More heads than any layer has: powers of this number are still whole numbers.
    const MOST_HEADS: usize = 1 << 24;
    op.rule(|of: &R| of.cells(|i, j| alibi_of(head, places.distance(i, j))))
        .check(|op| {
            let is_head = (1..=head.heads).contains(&head.head) && head.heads <= MOST_HEADS;
            in_range(op, is_head, "head", "it counts from 1 to the number of heads")?;
            in_reach(op, places)
        })
        .leaf(places.queries, places.keys)
        .equation(|_| {
            let slope = match head.slope_exponent() {
                (above, below) if above % below == 0 => format!("2^−{}", above / below),
                (above, below) => format!("2^(−{above}/{below})"),
            };
            format!("−{slope} · |query − key|")
        })
}

/// The bias of a distance.
pub fn alibi_of<N: Number>(head: HeadOf, distance: i64) -> N {
    match distance.unsigned_abs() {
        0 => N::of(0.0).because("the key is at the position of the query"),
        distance => N::product([N::of(-1.0), head.slope_of(), N::of(distance as f64)]),
    }
}

fn in_reach(op: &str, places: Places) -> Result<()> {
    in_range(op, places.offset.unsigned_abs() as u64 <= MOST, "offset", "at most 2⁵³ to either side")
}

/// A bias for each bucket of distances, from a column of the table a.
pub fn bucket_bias<R: Request, A: Ask<R>>(op: A, column: usize, buckets: Buckets, places: Places) -> A {
    op.rule(|of: &R| {
        of.cells(|i, j| {
            let bucket = buckets.bucket(places.distance(i, j));
            of.at(0, bucket, column).because("the distance is in this bucket")
        })
    })
    .check(|op| in_reach(op, places).and_then(|()| buckets.check()))
    .check_numbers(|_| buckets.check())
    .shape(|inputs| {
        let (a, count) = (inputs[0], buckets.count);
        let shape = Shape { rows: places.queries, cols: places.keys };
        fit!(
            column < a.cols && count == a.rows,
            shape,
            "a {a} table of positions has no row for each of {count} buckets and a column {}",
            column + 1
        )
    })
    .cells(|_| places.queries.saturating_mul(places.keys))
    .names(|_| (None, None))
    .equation(|w| format!("column {} of {}, row by the bucket of query − key", column + 1, w.input(0)))
    // Each bucket of the table gets the sum of the cells whose distance is in it.
    .back(|step, _| {
        let (table, dy) = (step.input(0), step.dy);
        let identity = step.identity(buckets.count)?;
        let mut sums = Vec::new();
        for bucket in 0..buckets.count {
            // The bias from a table that has a 1 for this bucket alone: 1 where the distance is in it.
            let here = Op::BucketBias { column: bucket, buckets, places };
            let here = step.of_step(&format!("in_bucket_{bucket}"), here, &[identity])?;
            let cells = step.part(&format!("bucket_{bucket}"), Op::Multiply, &[dy, here])?;
            sums.push(step.part(&format!("bucket_{bucket}_sum"), Op::Sums(Axis::Whole), &[cells])?);
        }
        let sums = step.part("buckets", Op::Stack(None), &sums)?;
        let heads = step.identity(step.shape(table).cols)?;
        let head = step.of_step("head", Op::Rows { start: column, count: 1 }, &[heads])?;
        step.finish(Op::Product, &[sums, head])
    })
}
