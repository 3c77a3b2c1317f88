//! RoPE: which columns turn together, by which angles, and over which width.

use crate::attention::Pairing;
use crate::elementary::{cos, ln, pow, sin};
use crate::graph::recipes::PositionKind;
use crate::graph::{Op, Role};
use crate::matrix::Matrix;

use super::super::catalogue::numbers::number;
use super::{Alternative, OneNumber, Slip, Steps, only_slip, slip};

/// The rotation of one head of queries or keys in the right answer.
pub(super) struct Turned<'a> {
    /// The name of its node.
    pub name: String,
    /// The head before it is rotated.
    pub source: &'a Matrix,
    /// The position of the first row.
    pub first: usize,
    pub pairing: Pairing,
    pub magnitude: f64,
    /// The frequencies of the pairs.
    pub frequencies: &'a Matrix,
}

impl<'a> Turned<'a> {
    /// The rotated heads of a role; none where they are not rotated, or in another way than a single rotation.
    pub(super) fn all(steps: &Steps<'a>, role: Role) -> Option<Vec<Turned<'a>>> {
        let right = steps.task.right();
        let of_head = |head: usize| {
            let name = steps.name(&format!("{}_rotated", role.name()), head);
            let node = &right[right.find(&name)?];
            let (Op::Rotary(rotation), [source, frequencies]) = (&node.op, &node.inputs[..]) else {
                return None;
            };
            let (source, frequencies) = (right[*source].matrix()?, right[*frequencies].matrix()?);
            let (first, pairing, magnitude) = (rotation.first, rotation.pairing, rotation.magnitude);
            Some(Turned { name, source, first, pairing, magnitude, frequencies })
        };
        (0..steps.count(role)).map(of_head).collect()
    }

    /// The right position of a row.
    pub(super) fn position(&self, row: usize) -> f64 {
        (self.first + row) as f64
    }

    /// The head with other positions of its rows.
    pub(super) fn at(&self, position: impl Fn(usize) -> f64) -> (String, Matrix) {
        let own = Scheme::of(self);
        (self.name.clone(), turned(self.source, self.magnitude, &own, position))
    }

    /// The head turned by another scheme.
    fn by(&self, scheme: &Scheme<'_>) -> (String, Matrix) {
        (self.name.clone(), turned(self.source, self.magnitude, scheme, |row| self.position(row)))
    }
}

/// How columns are turned.
struct Scheme<'a> {
    /// The number of columns that are turned, from the first on.
    width: usize,
    /// The columns that share an angle.
    angles: Pairing,
    /// The columns that turn together.
    partners: Pairing,
    /// The frequency of a column, by its pair and itself.
    frequency: Box<dyn Fn(usize, usize) -> f64 + 'a>,
    has_sine: bool,
}

impl<'a> Scheme<'a> {
    /// The right one.
    fn of(turned: &Turned<'a>) -> Scheme<'a> {
        let frequencies = turned.frequencies;
        let frequency = Box::new(move |pair: usize, _| frequencies[(0, pair)]);
        let (angles, partners) = (turned.pairing, turned.pairing);
        Scheme { width: 2 * frequencies.cols(), angles, partners, frequency, has_sine: true }
    }
}

/// The pair of a column.
fn pair(pairing: Pairing, column: usize, width: usize) -> usize {
    if pairing == Pairing::Halves { column % (width / 2) } else { column / 2 }
}

/// The column that turns with one, and whether it is the second of the two.
fn partner(pairing: Pairing, column: usize, width: usize) -> (usize, bool) {
    match pairing {
        Pairing::Halves => ((column + width / 2) % width, column >= width / 2),
        Pairing::Neighbours => (column ^ 1, column % 2 == 1),
    }
}

/// `x cos θ ∓ x' sin θ`, column by column.
fn turned(source: &Matrix, magnitude: f64, scheme: &Scheme<'_>, position: impl Fn(usize) -> f64) -> Matrix {
    Matrix::from_fn(source.rows(), source.cols(), |i, c| {
        if c >= scheme.width {
            return source[(i, c)];
        }
        let angle = position(i) * (scheme.frequency)(pair(scheme.angles, c, scheme.width), c);
        let (other, is_second) = partner(scheme.partners, c, scheme.width);
        let sine = if scheme.has_sine { sin(angle) } else { 0.0 };
        let sine = if is_second { sine } else { -sine };
        magnitude * (source[(i, c)] * cos(angle) + source[(i, other)] * sine)
    })
}

/// A form of the frequencies: its words, and the frequency for a pair, a column, and the rotated width.
pub(super) type Form = (&'static str, fn(usize, usize, f64) -> f64);

/// Exponents of 1/base in the place of 2p/d.
pub(super) const EXPONENTS: [Form; 6] = [
    ("p/d for pair p", |p, _, d| p as f64 / d),
    ("c/d for column c, so that no two columns have the same frequency", |_, c, d| c as f64 / d),
    ("2c/d for column c, so that no two columns have the same frequency", |_, c, d| 2.0 * c as f64 / d),
    ("2(p + 1)/d for pair p, counted from 0", |p, _, d| 2.0 * (p + 1) as f64 / d),
    ("2p/(d − 2) for pair p", |p, _, d| 2.0 * p as f64 / (d - 2.0).max(1.0)),
    ("−2p/d for pair p: the frequencies rise", |p, _, d| -2.0 * p as f64 / d),
];

/// RoPE with other layouts, other frequencies, over another width, or with permuted columns.
pub(super) fn alternatives(steps: &Steps<'_>) -> Vec<Alternative> {
    let (Some(sides), PositionKind::Rotary(rotary)) = (sides(steps), steps.task.recipe().positions.kind)
    else {
        return Vec::new();
    };
    let Some(pairing) = sides[0].first().map(|one| one.pairing) else { return Vec::new() };
    let mut all = layouts(&sides, pairing);
    all.extend(frequencies(&sides, rotary.base, steps.matrix("Q").filter(|_| steps.heads() > 1)));
    all.extend(whole(steps, rotary.base, pairing));
    all.extend(permuted(&sides));
    all
}

/// All heads of both sides, each made by a function.
fn each(sides: &Sides<'_>, slip: Slip, made: impl Fn(&Turned<'_>) -> (String, Matrix)) -> Alternative {
    Alternative::new(slip, sides.iter().flatten().map(made).collect())
}

/// The angles in one layout of the columns and the partners in the other; the cosines alone.
fn layouts(sides: &Sides<'_>, own: Pairing) -> Vec<Alternative> {
    let other = if own == Pairing::Halves { Pairing::Neighbours } else { Pairing::Halves };
    let mixed = |(angles, partners): (Pairing, Pairing)| {
        let [stand, turn] = [angles, partners].map(in_words);
        let said = format!(
            "Sines and cosines stand for {stand}, but {turn} were turned together: two layouts are mixed."
        );
        each(sides, slip("rope-layouts", format!("angles of {stand}"), said), |one| {
            one.by(&Scheme { angles, partners, ..Scheme::of(one) })
        })
    };
    let said = "The sine term was left out: each column was multiplied by its cosine alone.";
    let cosines = each(sides, only_slip("rope-sine", said), |one| {
        one.by(&Scheme { has_sine: false, ..Scheme::of(one) })
    });
    [(other, own), (own, other)].map(mixed).into_iter().chain([cosines]).collect()
}

/// Other exponents, those of the whole width of Q among them, and angles in the wrong unit.
fn frequencies(sides: &Sides<'_>, base: f64, queries: Option<&Matrix>) -> Vec<Alternative> {
    let made = |slip, frequency: &dyn Fn(&Turned<'_>, usize, usize) -> f64| {
        each(sides, slip, |one| {
            one.by(&Scheme { frequency: Box::new(|p, c| frequency(one, p, c)), ..Scheme::of(one) })
        })
    };
    let of_exponent = |(words, exponent): Form| {
        let said = format!("The exponents of the frequencies are {words}; they should be 2p/d.");
        made(slip("rope-frequencies", words, said), &|one, p, c| {
            pow(base, -exponent(p, c, 2.0 * one.frequencies.cols() as f64))
        })
    };
    let of_model = queries.map(Matrix::cols).map(|width| {
        let said = format!(
            "The exponents of the frequencies are 2p/d_model = 2p/{width}; they should be 2p/d with the width of one head."
        );
        made(slip("rope-frequencies", "2p/d_model", said), &|_, p, _| pow(base, -2.0 * p as f64 / width as f64))
    });
    let degree = std::f64::consts::PI / 180.0;
    let units = [
        ("The angles are in degrees, and sine and cosine read radians.", 1.0 / degree),
        ("The angles were converted from degrees to radians, but they were radians already.", degree),
    ];
    let of_unit = |(said, factor): (&str, f64)| {
        made(slip("rope-degrees", said, said), &|one, p, _| one.frequencies[(0, p)] * factor)
    };
    EXPONENTS.into_iter().map(of_exponent).chain(of_model).chain(units.map(of_unit)).collect()
}

fn in_words(pairing: Pairing) -> &'static str {
    match pairing {
        Pairing::Halves => "the columns p and p + d/2",
        Pairing::Neighbours => "the columns 2p and 2p + 1",
    }
}

/// The rotated heads of queries, and those of keys.
type Sides<'a> = [Vec<Turned<'a>>; 2];

/// The rotated heads of queries and keys.
pub(super) fn sides<'a>(steps: &Steps<'a>) -> Option<Sides<'a>> {
    Some([Turned::all(steps, Role::Q)?, Turned::all(steps, Role::K)?])
}

/// All heads rotated together over their whole width, before they were split.
fn whole(steps: &Steps<'_>, base: f64, pairing: Pairing) -> Option<Alternative> {
    if steps.heads() < 2 || steps.matrix("Q_normed_1").is_some() {
        return None;
    }
    let mut nodes = Vec::new();
    for (role, side) in [Role::Q, Role::K].into_iter().zip(sides(steps)?) {
        let source = steps.matrix(role.name())?;
        let width = source.cols();
        let frequency = Box::new(move |p: usize, _| pow(base, -2.0 * p as f64 / width as f64));
        let scheme = Scheme { width, angles: pairing, partners: pairing, frequency, has_sine: true };
        let all = turned(source, 1.0, &scheme, |row| side[0].position(row));
        for (head, one) in side.iter().enumerate() {
            let own = one.source.cols();
            nodes.push((one.name.clone(), Matrix::from_fn(all.rows(), own, |i, c| all[(i, head * own + c)])));
        }
    }
    let said = "Queries and keys were rotated over their whole width, before the heads were split.";
    Some(Alternative::new(only_slip("rope-before-split", said), nodes))
}

/// The columns of queries or keys permuted from one layout to the other, and those of the other side left.
fn permuted(sides: &Sides<'_>) -> Vec<Alternative> {
    let mut all = Vec::new();
    for (side, [one, two]) in sides.iter().zip([["queries", "keys"], ["keys", "queries"]]) {
        for to_neighbours in [true, false] {
            let node = |turned: &Turned<'_>| {
                let width = 2 * turned.frequencies.cols();
                let from = |c: usize| match to_neighbours {
                    _ if c >= width => c,
                    true => c / 2 + (c % 2) * (width / 2),
                    false => 2 * (c % (width / 2)) + c / (width / 2),
                };
                let source = turned.source;
                let moved = Matrix::from_fn(source.rows(), source.cols(), |i, c| source[(i, from(c))]);
                Turned { source: &moved, name: turned.name.clone(), ..*turned }.at(|row| turned.position(row))
            };
            let how = if to_neighbours { "from halves to neighbours" } else { "from neighbours to halves" };
            let said =
                format!("The columns of the {one} were permuted {how}, and those of the {two} were not.");
            all.push(Alternative::new(
                slip("rope-permuted", format!("{one}, {how}"), said),
                side.iter().map(node).collect(),
            ));
        }
    }
    all
}

/// Another base of the frequencies.
pub(super) fn of_base<'a>(steps: &Steps<'a>) -> Option<OneNumber<'a>> {
    let PositionKind::Rotary(rotary) = steps.task.recipe().positions.kind else { return None };
    let sides = sides(steps)?;
    if rotary.scaling.is_some() || sides[0].first()?.frequencies.cols() < 2 {
        return None;
    }
    let made = move |base: f64| {
        let nodes = sides.iter().flatten().map(|one| {
            let width = 2.0 * one.frequencies.cols() as f64;
            let frequency = Box::new(move |p: usize, _: usize| pow(base, -2.0 * p as f64 / width));
            one.by(&Scheme { frequency, ..Scheme::of(one) })
        });
        let (base, right) = (number(base), number(rotary.base));
        let said =
            format!("The numbers are as if the base of the frequencies were {base} instead of {right}.");
        Alternative { solved: 1, ..Alternative::new(slip("rope-base", base, said), nodes.collect()) }
    };
    Some(OneNumber { range: [ln(2.0), ln(1e9)], made: Box::new(made) })
}

/// Angles that are all the right ones times one number.
pub(super) fn of_factor<'a>(steps: &Steps<'a>) -> Option<OneNumber<'a>> {
    let sides = sides(steps).filter(|sides| !sides[0].is_empty())?;
    let made = move |factor: f64| {
        let factor_in_words = number(factor);
        let said = format!("The numbers are as if all angles of RoPE were multiplied by {factor_in_words}.");
        let slip = slip("rope-frequencies", format!("times {factor_in_words}"), said);
        let one = each(&sides, slip, |one| one.at(|row| factor * one.position(row)));
        Alternative { solved: 1, ..one }
    };
    Some(OneNumber { range: [ln(1e-3), ln(1e2)], made: Box::new(made) })
}
