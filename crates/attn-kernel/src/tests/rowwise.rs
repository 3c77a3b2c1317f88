//! Activations, and the softmax of a pattern: the same bits from every instruction set and number of threads, PyTorch's
//! values, and errors within what is promised.

use crate::{Activation, Band, Error, Machine, SimdLevel, activate, softmax_rows};

use super::random::Random;
use super::{note, plain, same};

const UNIT: f64 = 1.0 / (1u64 << 24) as f64;

const ACTIVATIONS: [Activation; 3] = [Activation::Gelu, Activation::GeluTanh, Activation::Silu];

/// Every instruction set with one to three threads.
fn machines() -> impl Iterator<Item = Machine> {
    SimdLevel::available().flat_map(|simd| (1..=3).map(move |threads| Machine { simd, threads }))
}

/// What `run` makes of the numbers on the plain machine, which is what it makes of them on every other.
#[track_caller]
fn everywhere(what: &str, run: impl Fn(Machine) -> Vec<f32>) -> Vec<f32> {
    let expected = run(plain());
    for machine in machines() {
        let found = run(machine);
        assert_eq!(expected.len(), found.len());
        for (at, (a, b)) in expected.iter().zip(&found).enumerate() {
            assert!(same(*a, *b), "{what}, {machine:?}: number {at}: {a:?} became {b:?}");
        }
    }
    expected
}

fn normal(count: usize, seed: u64, size: f64) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..count).map(|_| (random.normal() * size) as f32).collect()
}

fn activated(activation: Activation, numbers: &[f32]) -> Vec<f32> {
    everywhere(&format!("{activation:?}"), |machine| {
        let mut numbers = numbers.to_vec();
        activate(activation, &mut numbers, machine).expect("it is there");
        numbers
    })
}

/// The definition in f64.
fn exact(activation: Activation, x: f32) -> f64 {
    let x = f64::from(x);
    match activation {
        Activation::Gelu => 0.5 * x * libm::erfc(-x / std::f64::consts::SQRT_2),
        Activation::GeluTanh => {
            let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
            x / (1.0 + libm::exp(-2.0 * inner))
        }
        Activation::Silu => x / (1.0 + libm::exp(-x)),
    }
}

#[test]
fn activations_have_the_values_of_pytorch() {
    const X: [f32; 8] = [-8.0, -3.0, -1.0, -0.25, 0.5, 1.0, 2.0, 6.0];
    // torch 2.15 in float64: gelu(x), gelu(x, approximate="tanh"), silu(x).
    const EXPECTED: [[f64; 8]; 3] = [
        [
            -4.884981308350689e-15,
            -0.00404969409489031,
            -0.15865525393145702,
            -0.10032341857926907,
            0.34573123063700656,
            0.841344746068543,
            1.9544997361036416,
            5.999999994080474,
        ],
        [
            -0.0,
            -0.0036373920817729943,
            -0.1588080093917233,
            -0.100324649298315,
            0.34571400982514394,
            0.8411919906082768,
            1.954597694087775,
            5.9999999999156035,
        ],
        [
            -0.002682801043731825,
            -0.14227761953270035,
            -0.2689414213699951,
            -0.10945587477855048,
            0.3112296656009273,
            0.7310585786300049,
            1.7615941559557646,
            5.985164261060192,
        ],
    ];
    for (activation, expected) in ACTIVATIONS.into_iter().zip(EXPECTED) {
        for ((x, expected), found) in X.into_iter().zip(expected).zip(activated(activation, &X)) {
            let error = (f64::from(found) - expected).abs();
            assert!(
                error <= 5.0 * UNIT * f64::from(x.abs()),
                "{activation:?} of {x}: {found}, not {expected}"
            );
            assert_eq!(found, activation.of(x));
        }
    }
}

#[test]
fn activations_are_within_what_is_promised() {
    let near = (0..400_001).map(|i| (i - 200_000) as f32 * 1e-4);
    let anywhere = (0..200_000u32).map(|i| f32::from_bits(i.wrapping_mul(21_467))).filter(|x| x.is_finite());
    let numbers: Vec<f32> = near.chain(anywhere.flat_map(|x| [x, -x])).collect();
    for activation in ACTIVATIONS {
        let (mut worst, mut worst_of_itself) = ((0.0f64, 0.0f32), (0.0f64, 0.0f32));
        for (x, found) in numbers.iter().zip(activated(activation, &numbers)) {
            let expected = exact(activation, *x);
            let (error, size) = ((f64::from(found) - expected).abs(), f64::from(x.abs()));
            let share = error / (5.0 * UNIT * size + libm::scalbn(1.0, -118));
            if share > worst.0 {
                worst = (share, *x);
            }
            if expected.abs() >= libm::scalbn(size, -100) && size >= libm::scalbn(1.0, -20) {
                let share = error / (400.0 * UNIT * expected.abs());
                if share > worst_of_itself.0 {
                    worst_of_itself = (share, *x);
                }
            }
            assert!(
                found == 0.0 || found.is_sign_negative() == x.is_sign_negative(),
                "{activation:?} of {x}"
            );
        }
        note(&format!("{activation:?}: {worst:?} of the bound, {worst_of_itself:?} of that of itself"));
        assert!(worst.0 <= 1.0 && worst_of_itself.0 <= 1.0, "{activation:?}: {worst:?}, {worst_of_itself:?}");
        assert!(worst.0 > 0.1, "{activation:?}: a bound so far away sees no mistake: {worst:?}");
    }
}

#[test]
fn activations_of_special_numbers() {
    for activation in ACTIVATIONS {
        for (x, expected) in [
            (0.0, 0.0),
            (-0.0, -0.0),
            (f32::INFINITY, f32::INFINITY),
            (f32::NAN, f32::NAN),
            (f32::NEG_INFINITY, f32::NAN),
            (f32::MAX, f32::MAX),
            (-1e30, -0.0),
        ] {
            for found in activated(activation, &[x; 37]) {
                assert!(same(found, expected), "{activation:?} of {x}: {found}");
            }
        }
    }
}

#[test]
fn activations_of_every_length_have_the_same_bits() {
    for length in (0..70).chain([8191, 8192, 8193, 16_400, 30_001]) {
        let numbers = normal(length, length as u64, 3.0);
        for activation in ACTIVATIONS {
            let all = activated(activation, &numbers);
            for (x, found) in numbers.iter().zip(all) {
                assert!(same(activation.of(*x), found), "{activation:?} of {x}, {length} numbers");
            }
        }
    }
}

/// The softmax of each row over the keys that a band shows: the scores of all others are −∞.
fn softmax(scores: &[f32], columns: usize, band: Band) -> Vec<f32> {
    let seen = |(at, score): (usize, &f32)| match band.sees(at / columns, at % columns, columns) {
        true => *score,
        false => f32::NEG_INFINITY,
    };
    let scores: Vec<f32> = scores.iter().enumerate().map(seen).collect();
    everywhere(&format!("softmax of {} by {columns}, {band:?}", scores.len()), |machine| {
        let mut weights = scores.clone();
        softmax_rows(&mut weights, columns, machine).expect("rows");
        weights
    })
}

#[test]
fn the_softmax_has_the_values_of_pytorch() {
    // torch 2.15 in float64: softmax of two rows, and of the first two scores of the first row.
    const SCORES: [f32; 6] = [1.5, -2.0, 0.25, 3.0, -0.5, 0.0];
    const EXPECTED: [f64; 6] = [
        0.7594731860969822,
        0.022934102999540424,
        0.21759271090347723,
        0.9259392562016979,
        0.027960942745299075,
        0.04609980105300302,
    ];
    for (expected, found) in EXPECTED.iter().zip(softmax(&SCORES, 3, Band::default())) {
        assert!((f64::from(found) - expected).abs() <= 4.0 * UNIT, "{found}, not {expected}");
    }
    let [a, b] = [0.9706877692486436, 0.02931223075135632];
    let causal = softmax(&SCORES, 3, Band::causal(2, 3));
    assert!((f64::from(causal[0]) - a).abs() <= 4.0 * UNIT && (f64::from(causal[1]) - b).abs() <= 4.0 * UNIT);
    assert_eq!(causal[2], 0.0, "the last key is hidden from the first of two queries");
}

/// Bands of every kind, also ones that hide everything.
fn bands(rows: usize, columns: usize) -> [Band; 6] {
    let window = Band { from: Some(-4), until: Some(1), keep_first: 0 };
    [
        Band::default(),
        Band::causal(rows, columns),
        window,
        Band { keep_first: 2, ..window },
        Band { from: Some(3), until: None, keep_first: 0 },
        Band { from: None, until: Some(-20), keep_first: 0 },
    ]
}

#[test]
fn a_softmax_of_any_shape_is_within_what_is_promised() {
    let mut worst = 0.0f64;
    for rows in [0, 1, 2, 5, 33] {
        for columns in [0, 1, 3, 7, 8, 15, 16, 17, 31, 33, 64, 65, 130, 769] {
            let scores = normal(rows * columns, (rows * 1000 + columns) as u64, 4.0);
            for band in bands(rows, columns) {
                let weights = softmax(&scores, columns, band);
                for i in 0..rows {
                    let row = |of: &[f32]| of[i * columns..(i + 1) * columns].to_vec();
                    worst = worst
                        .max(error_of_softmax(&row(&scores), &row(&weights), |j| band.sees(i, j, columns)));
                }
            }
        }
    }
    note(&format!("softmax: {worst} of the bound"));
    assert!(worst <= 1.0 && worst > 0.05, "{worst}");
}

/// The largest error of a row of weights, as a share of the bound. Hidden weights are +0.
fn error_of_softmax(scores: &[f32], weights: &[f32], sees: impl Fn(usize) -> bool) -> f64 {
    let visible: Vec<usize> = (0..scores.len()).filter(|j| sees(*j)).collect();
    let of = |pick: fn(f64, f64) -> f64, from: f64| {
        visible.iter().fold(from, |a, &j| pick(a, f64::from(scores[j])))
    };
    let (max, min) = (of(f64::max, f64::NEG_INFINITY), of(f64::min, f64::INFINITY));
    let exps: Vec<f64> = visible.iter().map(|&j| libm::exp(f64::from(scores[j]) - max)).collect();
    let sum: f64 = exps.iter().sum();
    let hidden = (0..scores.len()).filter(|j| !sees(*j));
    assert!(hidden.into_iter().all(|j| weights[j].to_bits() == 0), "a hidden key has a weight");
    let bound = UNIT * (2.0 * (max - min) + scores.len() as f64 / 16.0 + 10.0);
    let error = |(exp, &j): (&f64, &usize)| {
        let expected = exp / sum;
        (f64::from(weights[j]) - expected).abs() / (bound * expected + libm::scalbn(1.0, -125))
    };
    exps.iter().zip(&visible).map(error).fold(0.0, f64::max)
}

#[test]
fn a_row_of_minus_infinity_has_no_weights_and_one_nan_stays_in_its_row() {
    let columns = 40;
    let clean = normal(9 * columns, 5, 2.0);
    // Rows of −∞ are fully masked; one NaN makes its whole row NaN, and no other.
    let mut scores = clean;
    scores[..columns].fill(f32::NEG_INFINITY);
    scores[columns + 3] = f32::NAN;
    let weights = softmax(&scores, columns, Band::default());
    assert!(weights[..columns].iter().all(|weight| weight.to_bits() == 0));
    assert!(weights[columns..2 * columns].iter().all(|weight| weight.is_nan()));
    assert!(weights[2 * columns..].iter().all(|weight| weight.is_finite()));
}

#[test]
fn a_row_of_a_softmax_alone_has_the_bits_of_the_same_row_among_many() {
    let (rows, columns) = (300, 100);
    let x = normal(rows * columns, 8, 2.0);
    let weights = softmax(&x, columns, Band::default());
    for row in [0, 1, 81, 82, 163, 299] {
        let own = row * columns..(row + 1) * columns;
        assert_eq!(weights[own.clone()], softmax(&x[own], columns, Band::default()), "row {row}");
    }
}

#[test]
fn shapes_of_rows_that_do_not_fit_are_refused() {
    let says = |result: Result<crate::Resources, Error>, what: &str| {
        let Err(Error::Shape(said)) = result else { panic!("{result:?}") };
        assert_eq!(said, what);
    };
    says(softmax_rows(&mut [0.0; 7], 3, plain()), "7 scores are no rows of 3 keys");
    says(softmax_rows(&mut [0.0; 7], 0, plain()), "7 scores are no rows of 0 keys");
}
