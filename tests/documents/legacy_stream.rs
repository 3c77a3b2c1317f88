//! NumPy's legacy random stream, and the document whose matrices come out of it.

use attn::elementary::exp;
use attn::matrix::Matrix;
use attn::random::LegacyStream;
use attn::render::numpy::array_lines;

fn close(a: f64, b: f64, relative: f64) -> bool {
    a == b || (a - b).abs() <= relative * b.abs()
}

#[test]
fn a_seed_gives_the_numbers_that_numpy_draws_from_it() {
    let golden = crate::golden::json("legacy_stream.json");
    let count = golden["count"].as_u64().unwrap() as usize;
    for expected in crate::golden::list(&golden, "streams") {
        let seed = u32::try_from(expected["seed"].as_u64().unwrap()).unwrap();
        let mut stream = LegacyStream::seeded(seed);
        let drawn: Vec<f64> = (0..count).map(|_| stream.standard_normal()).collect();
        let (first, last) =
            (crate::golden::numbers(&expected["first"]), crate::golden::numbers(&expected["last"]));
        assert!(!first.is_empty() && !last.is_empty());
        let pairs = drawn.iter().zip(&first).chain(drawn[count - last.len()..].iter().zip(&last));
        for (&here, &numpy) in pairs {
            assert!(close(here, numpy, 1e-15), "seed {seed}: {here:e}, NumPy {numpy:e}");
        }
    }
}

#[test]
fn all_arrays_of_document_000_come_out_of_seed_0_as_it_prints_them() {
    let printed = crate::golden::text("document_000_printed.txt");
    let printed: Vec<&str> = printed.trim_end().split("\n---\n").collect();
    let computed = document_000(&mut LegacyStream::seeded(0));
    let texts: Vec<String> = computed
        .iter()
        .filter(|(_, on_paper, _)| *on_paper)
        .map(|(_, _, matrix)| array_lines(matrix))
        .collect();
    assert_eq!(texts, printed);
    assert_eq!(printed.iter().map(|text| text.matches('.').count()).sum::<usize>(), 430);
}

#[test]
fn all_matrices_of_document_000_have_the_values_that_numpy_computes() {
    let golden = crate::golden::json("document_000.json");
    let expected = crate::golden::list(&golden, "matrices");
    let computed = document_000(&mut LegacyStream::seeded(0));
    assert_eq!(computed.len(), expected.len());
    for ((name, _, matrix), expected) in computed.iter().zip(expected) {
        assert_eq!(*name, crate::golden::string(expected, "name"));
        assert_eq!(array_lines(matrix), crate::golden::string(expected, "text"), "{name}");
        let values = crate::golden::matrix(&expected["values"]);
        assert_eq!(matrix.shape(), values.shape());
        let max = values
            .cells()
            .filter(|value| value.is_finite())
            .fold(0.0, |most: f64, value| most.max(value.abs()));
        for (here, numpy) in matrix.cells().zip(values.cells()) {
            let near = here == numpy || (here - numpy).abs() <= 1e-14 * max;
            assert!(near, "{name} of {}: {here:e}, NumPy {numpy:e}", expected["demo"]);
        }
    }
}

/// The matrices of document 000 in its order: name, whether the document prints it, value. Plain loops, and its own
/// softmax, which subtracts no maximum.
fn document_000(stream: &mut LegacyStream) -> Vec<(&'static str, bool, Matrix)> {
    let x = stream.standard_normal_matrix(4, 5);
    let mut all = vec![("X", true, x.clone())];
    let triangle = Matrix::from_fn(4, 4, |i, j| if j <= i { 1.0 } else { 0.0 });
    for left in
        [Matrix::identity(4), Matrix::filled(4, 4, 1.0), triangle, stream.standard_normal_matrix(4, 4)]
    {
        all.extend([("L", true, left.clone()), ("L X", true, product(&left, &x))]);
    }
    let scores = stream.standard_normal_matrix(4, 4);
    let left = shares(&scores);
    all.extend([("S", false, scores), ("L", true, left.clone()), ("L X", true, product(&left, &x))]);
    let right = stream.standard_normal_matrix(5, 6);
    all.extend([("R", true, right.clone()), ("X R", true, product(&x, &right))]);
    all.extend(attention(stream, 6, 7, false));
    all.extend(attention(stream, 5, 5, false));
    all.extend(attention(stream, 5, 5, true));
    all
}

fn attention(
    stream: &mut LegacyStream,
    values_width: usize,
    keys_width: usize,
    causal: bool,
) -> Vec<(&'static str, bool, Matrix)> {
    let x = stream.standard_normal_matrix(4, 5);
    let w_q = stream.standard_normal_matrix(5, keys_width);
    let w_k = stream.standard_normal_matrix(5, keys_width);
    let w_v = stream.standard_normal_matrix(5, values_width);
    let (q, k, v) = (product(&x, &w_q), product(&x, &w_k), product(&x, &w_v));
    let scores = product(&q, &k.transposed());
    let seen = Matrix::from_fn(4, 4, |i, j| if causal && j > i { f64::NEG_INFINITY } else { scores[(i, j)] });
    let weights = shares(&seen);
    let output = product(&weights, &v);
    let given = [("X", x), ("W_Q", w_q), ("W_K", w_k), ("W_V", w_v), ("Q", q), ("K", k), ("S", scores)];
    let mut all: Vec<_> = given.into_iter().map(|(name, matrix)| (name, false, matrix)).collect();
    if causal {
        all.push(("S_masked", false, seen));
    }
    all.extend([("A", true, weights), ("V", true, v), ("O", true, output)]);
    all
}

fn product(left: &Matrix, right: &Matrix) -> Matrix {
    Matrix::from_fn(left.rows(), right.cols(), |i, j| left.row(i).zip(right.col(j)).map(|(a, b)| a * b).sum())
}

fn shares(scores: &Matrix) -> Matrix {
    Matrix::from_fn(scores.rows(), scores.cols(), |i, j| {
        exp(scores[(i, j)]) / scores.row(i).map(exp).sum::<f64>()
    })
}
