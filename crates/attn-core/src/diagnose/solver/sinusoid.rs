//! Sinusoidal positions: the order of sines and cosines, their frequencies, the first position, and what they are added to.

use crate::elementary::{cos, ln, pow, sin};
use crate::graph::Role;
use crate::matrix::Matrix;

use super::super::catalogue::numbers::number;
use super::rotary::EXPONENTS;
use super::{Alternative, OneNumber, Steps, slip};

/// The base of the right frequencies.
const BASE: f64 = 10_000.0;

/// The columns of sines and cosines.
#[derive(Clone, Copy, PartialEq)]
enum Columns {
    SineFirst,
    CosineFirst,
    SinesThenCosines,
    CosinesThenSines,
    SinesAlone,
}

impl Columns {
    const ALL: [(Columns, &'static str); 5] = [
        (Columns::SineFirst, "sine and cosine in turn"),
        (Columns::CosineFirst, "cosine first: the even columns have the cosines"),
        (Columns::SinesThenCosines, "all sines first, then all cosines"),
        (Columns::CosinesThenSines, "all cosines first, then all sines"),
        (Columns::SinesAlone, "sines alone"),
    ];

    /// The pair of a column, and whether it is a cosine.
    fn of(self, column: usize, width: usize) -> (usize, bool) {
        let half = width.div_ceil(2);
        match self {
            Columns::SineFirst => (column / 2, column % 2 == 1),
            Columns::CosineFirst => (column / 2, column.is_multiple_of(2)),
            Columns::SinesThenCosines => (column % half, column >= half),
            Columns::CosinesThenSines => (column % half, column < half),
            Columns::SinesAlone => (column / 2, false),
        }
    }
}

/// Vectors of positions: the columns, the exponent of a pair and a column, the base, the first position.
struct Vectors {
    columns: Columns,
    exponent: fn(usize, usize, f64) -> f64,
    base: f64,
    first: f64,
}

/// The right exponent.
const USUAL: fn(usize, usize, f64) -> f64 = |p, _, d| 2.0 * p as f64 / d;

impl Vectors {
    fn matrix(&self, rows: usize, width: usize) -> Matrix {
        Matrix::from_fn(rows, width, |i, c| {
            let (pair, is_cosine) = self.columns.of(c, width);
            let angle = (self.first + i as f64) * pow(self.base, -(self.exponent)(pair, c, width as f64));
            if is_cosine { cos(angle) } else { sin(angle) }
        })
    }
}

/// X, the right vectors, and the first position.
struct Positioned<'a> {
    x: &'a Matrix,
    vectors: &'a Matrix,
    first: usize,
}

impl<'a> Positioned<'a> {
    fn of(steps: &Steps<'a>) -> Option<Positioned<'a>> {
        steps.matrix("X_positioned")?;
        Some(Positioned {
            x: steps.matrix("X")?,
            vectors: steps.matrix("PE")?,
            first: steps.task.recipe().positions.first,
        })
    }

    fn usual(&self) -> Vectors {
        Vectors { columns: Columns::SineFirst, exponent: USUAL, base: BASE, first: self.first as f64 }
    }

    /// The tokens with these vectors.
    fn with(&self, vectors: &Vectors) -> Vec<(String, Matrix)> {
        let added = vectors.matrix(self.x.rows(), self.x.cols());
        vec![("X_positioned".into(), sum(self.x, &added, 1.0))]
    }
}

fn sum(a: &Matrix, b: &Matrix, times: f64) -> Matrix {
    Matrix::from_fn(a.rows(), a.cols(), |i, j| a[(i, j)] + times * b[(i, j)])
}

/// `a b`.
fn product(a: &Matrix, b: &Matrix) -> Matrix {
    Matrix::from_fn(a.rows(), b.cols(), |i, j| (0..b.rows()).map(|k| a[(i, k)] * b[(k, j)]).sum())
}

/// Other orders, exponents, bases, and first positions.
pub(super) fn forms(steps: &Steps<'_>) -> Vec<Alternative> {
    let Some(own) = Positioned::of(steps) else { return Vec::new() };
    let mut all = Vec::new();
    let exponents = [("2p/d for pair p", USUAL)].into_iter().chain(EXPONENTS).chain([
        ("2c/d for column c of its half", (|p, _, d| 4.0 * p as f64 / d) as fn(usize, usize, f64) -> f64),
        ("p/(d/2 − 1) for pair p, as in tensor2tensor", |p, _, d| p as f64 / (d / 2.0 - 1.0).max(1.0)),
    ]);
    for (at, (form, exponent)) in exponents.enumerate() {
        for (columns, order) in Columns::ALL {
            for (base, base_in_words) in [(BASE, ""), (1000.0, "base 1000"), (100.0, "base 100")] {
                let mut parts = Vec::new();
                parts.extend((columns != Columns::SineFirst).then(|| order.to_string()));
                parts.extend((at > 0).then(|| format!("exponents {form}")));
                parts.extend((base != BASE).then(|| base_in_words.to_string()));
                if parts.is_empty() {
                    continue;
                }
                let what = parts.join("; ");
                let said = format!("The vectors of the positions have another form: {what}.");
                let vectors = Vectors { columns, exponent, base, ..own.usual() };
                let solved = parts.len() - 1;
                all.push(Alternative {
                    solved,
                    ..Alternative::new(slip("positions-form", what, said), own.with(&vectors))
                });
            }
        }
    }
    let starts = (0..2 * own.x.rows() + 2).filter(|first| *first != own.first);
    all.extend(starts.map(|first| {
        let said = format!("The positions begin at {first} instead of {}.", own.first);
        let vectors = Vectors { first: first as f64, ..own.usual() };
        Alternative {
            solved: 1,
            ..Alternative::new(slip("positions-start", format!("from {first}"), said), own.with(&vectors))
        }
    }));
    all
}

/// The right vectors in another place: not in the values, in the values alone, after the projections, times √d_model.
pub(super) fn placed(steps: &Steps<'_>) -> Vec<Alternative> {
    let Some(own) = Positioned::of(steps) else { return Vec::new() };
    let mut all = Vec::new();
    let plain = |role: Role| Some(product(own.x, steps.matrix(&format!("W_{}", role.name()))?));
    let name = |role: Role| role.name().to_string();
    let of = |roles: &[Role]| {
        roles.iter().map(|role| Some((name(*role), plain(*role)?))).collect::<Option<Vec<_>>>()
    };
    let places: [(&[Role], &str); 3] = [
        (&[Role::V], "queries and keys alone, not to the values"),
        (&[Role::Q, Role::K], "the values alone"),
        (&[Role::Q, Role::V], "the keys alone"),
    ];
    for (roles, place) in places {
        let said =
            format!("The positions were added for {place}: they belong into X, before all projections.");
        all.extend(of(roles).map(|nodes| Alternative::new(slip("positions-place", place, said), nodes)));
    }
    let late: [(&[Role], &str); 2] =
        [(&[Role::Q, Role::K], "Q and K"), (&[Role::Q, Role::K, Role::V], "Q, K and V")];
    for (roles, place) in late {
        let added = |role: Role| {
            let own_plain = plain(role)?;
            let added = roles.contains(&role) && own_plain.shape() == own.vectors.shape();
            Some((name(role), if added { sum(&own_plain, own.vectors, 1.0) } else { own_plain }))
        };
        let fits = roles
            .iter()
            .all(|role| plain(*role).is_some_and(|own_plain| own_plain.shape() == own.vectors.shape()));
        let nodes =
            [Role::Q, Role::K, Role::V].into_iter().map(added).collect::<Option<Vec<_>>>().filter(|_| fits);
        let said =
            format!("The positions were added to {place} after the projections, not to X before them.");
        all.extend(
            nodes.map(|nodes| {
                Alternative::new(slip("positions-place", format!("{place}, late"), said), nodes)
            }),
        );
    }
    let root = (own.x.cols() as f64).sqrt();
    for (said, x, vectors) in [
        (
            "X and its positions were multiplied by √d_model together; it should be X alone or nothing.",
            root,
            root,
        ),
        ("The positions were divided by √d_model.", 1.0, 1.0 / root),
        ("The positions were subtracted.", 1.0, -1.0),
    ] {
        let scaled = sum(&own.x.map(|cell| cell * x), own.vectors, vectors);
        all.push(Alternative::new(
            slip("positions-place", said, said),
            vec![("X_positioned".into(), scaled)],
        ));
    }
    all
}

/// Another base.
pub(super) fn of_base<'a>(steps: &Steps<'a>) -> Option<OneNumber<'a>> {
    let own = Positioned::of(steps)?;
    let made = move |base: f64| {
        let said = format!(
            "The numbers are as if the base of the positions' frequencies were {} instead of 10000.",
            number(base)
        );
        let nodes = own.with(&Vectors { base, ..own.usual() });
        Alternative {
            solved: 1,
            ..Alternative::new(slip("positions-form", format!("base {}", number(base)), said), nodes)
        }
    };
    Some(OneNumber { range: [ln(1.5), ln(1e7)], made: Box::new(made) })
}

/// The vectors times one number.
pub(super) fn of_factor<'a>(steps: &Steps<'a>) -> Option<OneNumber<'a>> {
    let own = Positioned::of(steps)?;
    let made = move |factor: f64| {
        let said = format!(
            "The numbers are as if the vectors of the positions were multiplied by {}.",
            number(factor)
        );
        let slip = slip("positions-place", format!("times {}", number(factor)), said);
        let nodes = vec![("X_positioned".into(), sum(own.x, own.vectors, factor))];
        Alternative { solved: 1, ..Alternative::new(slip, nodes) }
    };
    Some(OneNumber { range: [ln(1e-3), ln(1e3)], made: Box::new(made) })
}
