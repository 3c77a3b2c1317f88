//! Gradients of steps agree with their rules on dual numbers, those of whole pipelines with differences of the numbers themselves.

use std::collections::BTreeSet;

use attn::attention::WeightLayout;
use attn::graph::recipes::AttendInputs;
use attn::graph::{GeluForm, Graph, NodeId, Op, OpKind, Origin, Start, WayBack};
use attn::matrix::Matrix;
use proptest::prelude::*;

use crate::cases::{Case, cases, every_op, given};

/// Numbers between 0.3 and 2, of both signs and all of another size: none is near a place where a function jumps, a divisor is 0 or
/// two numbers are the largest.
fn away_from_zero(rows: usize, cols: usize) -> impl Strategy<Value = Matrix> {
    let count = rows * cols;
    let sizes = Just((0..count).collect::<Vec<usize>>()).prop_shuffle();
    let cells = proptest::collection::vec((0.0..0.7_f64, any::<bool>()), count);
    (sizes, cells).prop_map(move |(sizes, cells)| {
        let sign = |negative: bool| if negative { -1.0 } else { 1.0 };
        let number = |(size, (more, negative)): (usize, (f64, bool))| {
            sign(negative) * (0.3 + (size as f64 + more) * 1.7 / count as f64)
        };
        let values: Vec<f64> = sizes.into_iter().zip(cells).map(number).collect();
        Matrix::from_row_major(rows, cols, &values).unwrap()
    })
}

/// Two matrices of one shape, and as many numbers that weigh a result.
fn of_one_shape() -> impl Strategy<Value = [Matrix; 3]> {
    (3..=5_usize, 2..=3_usize).prop_flat_map(|(rows, half)| {
        let matrix = || away_from_zero(rows, 2 * half);
        (matrix(), matrix(), matrix()).prop_map(<[Matrix; 3]>::from)
    })
}

/// `Σ w ∘ y` over the cells of y that are finite.
fn loss(y: &Matrix, w: &Matrix) -> f64 {
    y.cells().zip(w.cells()).filter(|(y, _)| y.is_finite()).map(|(y, w)| y * w).sum()
}

/// The slope of a function of one number, from four of its values beside 0.
fn smooth_slope(f: impl Fn(f64) -> f64) -> f64 {
    let h = 2e-4;
    (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)
}

/// The matrix with one cell changed by this much.
fn nudged(matrix: &Matrix, at: (usize, usize), by: f64) -> Matrix {
    Matrix::from_fn(matrix.rows(), matrix.cols(), |i, j| {
        if (i, j) == at { matrix[(i, j)] + by } else { matrix[(i, j)] }
    })
}

/// Whether a gradient is what the numbers say, relative to its largest number.
fn assert_slopes(what: &str, ours: &Matrix, theirs: impl Fn((usize, usize)) -> f64, within: f64) {
    let size = ours.cells().fold(1.0, |size: f64, x| size.max(x.abs()));
    for (i, j) in (0..ours.rows()).flat_map(|i| (0..ours.cols()).map(move |j| (i, j))) {
        let (ours, theirs) = (ours[(i, j)], theirs((i, j)));
        assert!((ours - theirs).abs() <= within * size, "{what}[{i},{j}]: {ours}, but it moves by {theirs}");
    }
}

/// An input of an op as it takes it: some are defined, or bend little, for positive numbers alone; and a divisor that other steps have
/// computed may be so near to 0 that no difference is exact there.
fn within_range(op: &Op, number: usize, input: &Matrix) -> Matrix {
    let away = |x: f64| (x.abs() + 0.3).copysign(x);
    match (OpKind::from(op), number) {
        (OpKind::Logarithm | OpKind::Root | OpKind::DivideBySum, _) => input.map(f64::abs),
        (OpKind::Divide, 1) => input.map(away),
        // Where both are the same its case says 0, and not how it would move.
        (OpKind::Change, 1) => input.map(|x| x + 0.25),
        _ => input.clone(),
    }
}

/// Checks the gradient of one step with respect to each of its inputs, and returns how many have one.
fn check_step(graph: &Graph, id: NodeId, weights: &Matrix) -> usize {
    let op = &graph[id].op;
    let numbered = graph[id].inputs.iter().enumerate();
    let inputs: Vec<Matrix> =
        numbered.map(|(number, &input)| within_range(op, number, graph.matrix(input).unwrap())).collect();
    let value = |inputs: &[Matrix]| op.apply(&inputs.iter().collect::<Vec<_>>()).unwrap();
    let y = value(&inputs);
    let weights: Vec<f64> = weights.cells().collect();
    let w = Matrix::from_fn(y.rows(), y.cols(), |i, j| {
        let place = (i * y.cols() + j) % weights.len();
        if y[(i, j)].is_finite() { weights[place] } else { 0.0 }
    });
    let mut checked = 0;
    for at in 0..inputs.len() {
        let WayBack::Through = op.way_back(at) else { continue };
        let mut own = Graph::new();
        let leaf = |(number, matrix): (usize, &Matrix)| {
            own.given(&format!("x{}", number + 1), matrix.clone(), Origin::Stated).unwrap()
        };
        let leaves: Vec<NodeId> = inputs.iter().enumerate().map(leaf).collect();
        let y = own.add("y", op.clone(), &leaves).unwrap();
        let gradients = own.gradients(y, Start::Given(given(&w).unwrap()), &[leaves[at]]).unwrap();
        let ours = own.matrix(gradients.of(leaves[at]).unwrap()).unwrap();
        let all: Vec<&Matrix> = inputs.iter().collect();
        let theirs = |cell| {
            let slopes = op.slopes(&all, at, cell, value(&inputs).shape()).expect("a rule");
            let moved = slopes.cells().zip(w.cells()).filter(|(_, w)| *w != 0.0);
            moved.map(|(slope, w)| slope * w).sum()
        };
        assert_slopes(&format!("{} by input {}", graph[id].name, at + 1), ours, theirs, 1e-12);
        checked += 1;
    }
    checked
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn the_gradient_of_every_op_is_that_of_its_rule_on_dual_numbers(
        [a, b, weights] in of_one_shape(),
    ) {
        let graph = every_op(a, b);
        let computed = graph.nodes().filter(|(_, node)| !node.inputs.is_empty());
        let steps = computed.map(|(id, _)| check_step(&graph, id, &weights));
        let checked: usize = steps.sum();
        prop_assert!(checked > 120, "only {} gradients were checked", checked);
    }

    #[test]
    fn gradients_of_whole_pipelines_are_those_of_differences(case in cases(), seed in away_from_zero(3, 4)) {
        prop_assume!(has_directions(&case.run()));
        check_case(&case, &seed);
    }
}

#[test]
fn an_op_without_a_gradient_says_why() {
    let numbers = Matrix::from_fn(3, 4, |i, j| 0.4 + (i * 4 + j) as f64 / 10.0);
    let graph = every_op(numbers.clone(), numbers);
    let (mut refused, mut ends) = (BTreeSet::new(), BTreeSet::new());
    for (_, node) in graph.nodes() {
        for input in 0..node.inputs.len() {
            match node.op.way_back(input) {
                WayBack::Through => {}
                WayBack::Ends(why) => {
                    assert!(why.len() > 20, "{}", node.name);
                    ends.insert((node.op.name(), input));
                }
                WayBack::Refused(why) => {
                    assert!(why.len() > 20, "{}", node.name);
                    refused.insert(node.op.name());
                }
            }
        }
    }
    assert_eq!(
        refused.into_iter().collect::<Vec<_>>(),
        ["round", "singular-values", "singular-vectors", "sort-rows", "truncate"]
    );
    let ends: Vec<(&str, usize)> = ends.into_iter().collect();
    assert_eq!(
        ends,
        [
            ("guard", 1),
            ("mask", 1),
            ("mask-pattern", 0),
            ("mask-pattern", 1),
            ("rotary", 1),
            ("scaled-frequencies", 0),
            ("scaled-frequencies", 1)
        ]
    );
}

/// Whether every row that a cosine reads has a direction: at 0 the cosine jumps, and has no slope.
fn has_directions(graph: &Graph) -> bool {
    let cosines = graph.nodes().filter(|(_, node)| node.op == Op::Cosine);
    let mut read =
        cosines.flat_map(|(_, node)| node.inputs.iter().map(|&input| graph.matrix(input).unwrap()));
    let length = |rows: &Matrix, i: usize| rows.row(i).map(|x| x * x).sum::<f64>().sqrt();
    read.all(|rows| (0..rows.rows()).all(|i| length(rows, i) > 0.1))
}

#[test]
fn a_vector_of_zeros_has_no_direction_and_its_gradient_is_0_and_never_nan() {
    let mut graph = Graph::new();
    let q = graph.given("q", Matrix::of([[0.0, 0.0], [3.0, 4.0]]), Origin::Stated).unwrap();
    let k = graph.given("k", Matrix::of([[1.0, 0.0], [0.0, 0.0]]), Origin::Stated).unwrap();
    let y = graph.add("y", Op::Cosine, &[q, k]).unwrap();
    let gradients = graph.gradients(y, Start::Ones, &[q, k]).unwrap();
    let gradient = |of: NodeId| graph.matrix(gradients.of(of).unwrap()).unwrap();
    // d(cos)/dq = (k/‖k‖ − cos · q/‖q‖) / ‖q‖ = ((1, 0) − 0.6 · (0.6, 0.8)) / 5, and for k ((0.6, 0.8) − 0.6 · (1, 0)) / 1.
    let expected = [(q, [[0.0, 0.0], [0.128, -0.096]]), (k, [[0.0, 0.8], [0.0, 0.0]])];
    for (of, expected) in expected {
        let expected = Matrix::of(expected);
        for (ours, right) in gradient(of).cells().zip(expected.cells()) {
            assert!((ours - right).abs() < 1e-15, "{ours} is not {right}");
        }
    }
}

/// Q, K, V and the bias of a case, each with its gradient and those of the differences.
fn check_case(case: &Case, seed: &Matrix) {
    let mut graph = case.run();
    let o = graph.require("O").unwrap();
    let shape = graph[o].shape();
    let w = Matrix::from_fn(shape.rows, shape.cols, |i, j| seed[(i % 3, j % 4)]);
    let of: Vec<NodeId> = ["Q", "K", "V", "B"].iter().filter_map(|name| graph.find(name)).collect();
    let gradients = graph.gradients(o, Start::Given(given(&w).unwrap()), &of).unwrap();
    for node in of {
        let Some(ours) = gradients.of(node) else { continue };
        let name = graph[node].name.clone();
        let theirs = |cell| smooth_slope(|by| loss(&changed(case, &name, cell, by), &w));
        assert_slopes(&format!("d{name}"), graph.matrix(ours).unwrap(), theirs, 1e-6);
    }
}

/// The result of a case with one number changed.
fn changed(case: &Case, name: &str, cell: (usize, usize), by: f64) -> Matrix {
    let mut inputs: AttendInputs = case.inputs();
    let of = match name {
        "Q" => &mut inputs.q,
        "K" => &mut inputs.k,
        "V" => &mut inputs.v,
        _ => &mut inputs.bias,
    };
    let before = of.take().unwrap().tensor;
    *of = given(&nudged(before.matrix().unwrap(), cell, by));
    let graph = crate::cases::run(&case.recipe, inputs);
    crate::cases::node(&graph, "O").clone()
}

/// Masks, groups, biases, norms and rotary positions, by the program that a user runs.
#[test]
fn gradients_of_whole_pipelines_are_those_of_pytorch() {
    let golden = crate::golden::json("gradients.json");
    let mut checked = 0;
    for case in crate::golden::list(&golden, "cases") {
        let args = crate::golden::list(case, "args").iter().map(|arg| format!("'{}'", arg.as_str().unwrap()));
        let line = args.collect::<Vec<_>>().join(" ");
        let nodes = crate::common::attn(&line).nodes();
        for (name, theirs) in case["gradients"].as_object().expect("gradients") {
            let (ours, theirs) = (nodes.matrix(name), crate::golden::matrix(theirs));
            let size = theirs.cells().fold(1.0, |size: f64, x| size.max(x.abs()));
            let what = crate::golden::string(case, "name");
            assert!(
                crate::cases::close(&ours, &theirs, 1e-9 * size),
                "{what}: {name} is {ours:?}, not {theirs:?}"
            );
            checked += 1;
        }
    }
    assert!(checked >= 88, "only {checked} gradients were compared");
}

/// A layer norm with gain and bias, a layer, GELU and a second layer, as a block of a model has them.
#[test]
fn gradients_through_a_layer_norm_and_both_forms_of_gelu_are_those_of_pytorch() {
    let golden = crate::golden::json("gradients.json");
    let blocks = crate::golden::list(&golden, "blocks");
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        let form = match crate::golden::string(block, "form") {
            "none" => GeluForm::Erf,
            _ => GeluForm::Tanh,
        };
        let mut graph = Graph::new();
        let mut leaf = |name: &str| {
            graph.given(name, crate::golden::matrix(&block["given"][name]), Origin::Stated).unwrap()
        };
        let given = ["X", "gain", "shift", "W1", "b1", "W2", "b2"].map(&mut leaf);
        let [x, gain, shift, w1, b1, w2, b2] = given;
        let layer = Op::Linear(WeightLayout::InOut);
        let normed = graph.add("N", Op::LayerNorm(1e-5), &[x, gain, shift]).unwrap();
        let hidden = graph.add("H", layer.clone(), &[normed, w1, b1]).unwrap();
        let active = graph.add("G", Op::Gelu(form), &[hidden]).unwrap();
        let y = graph.add("Y", layer, &[active, w2, b2]).unwrap();
        assert!(crate::cases::close(graph.matrix(y).unwrap(), &crate::golden::matrix(&block["Y"]), 1e-12));
        let start = Start::Given(crate::golden::matrix(&block["dY"]).into());
        let gradients = graph.gradients(y, start, &given).unwrap();
        for of in given {
            let (ours, name) = (gradients.of(of).unwrap(), format!("d{}", graph[of].name));
            let theirs = crate::golden::matrix(&block["gradients"][&name]);
            assert!(crate::cases::close(graph.matrix(ours).unwrap(), &theirs, 1e-9), "{form:?}: {name}");
        }
    }
}
