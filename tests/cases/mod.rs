//! Random attention: tokens, weights, masks and recipes, and what a test reads from the graph.
#![allow(dead_code, reason = "each test takes what it needs")]

use attn::attention::{Axis, Base, Mask, MatrixRule};
use attn::graph::build::{AttendInputs, Output, Recipe, Scale, Score, attend};
use attn::graph::{Factor, Graph, Op, Origin, Side, Statistic};
use attn::matrix::Matrix;
use proptest::prelude::*;

/// Numbers between −3 and 3.
pub fn matrix(rows: usize, cols: usize) -> impl Strategy<Value = Matrix> {
    proptest::collection::vec(-3.0..3.0_f64, rows * cols)
        .prop_map(move |values| Matrix::from_row_major(rows, cols, &values).unwrap())
}

/// An input of a pipeline.
pub fn given(matrix: &Matrix) -> Option<(Matrix, Origin)> {
    Some((matrix.clone(), Origin::Stated))
}

/// The graph of a pipeline that fits.
pub fn run(recipe: &Recipe, inputs: AttendInputs) -> Graph {
    attend(recipe, inputs).unwrap()
}

/// The values of a node.
pub fn node<'a>(graph: &'a Graph, name: &str) -> &'a Matrix {
    graph.matrix(graph.require(name).unwrap()).unwrap()
}

/// Whether two matrices agree in every cell.
pub fn close(a: &Matrix, b: &Matrix, within: f64) -> bool {
    a.shape() == b.shape() && a.cells().zip(b.cells()).all(|(a, b)| a == b || (a - b).abs() <= within)
}

/// Row `order[i]` of the matrix as row i.
pub fn reordered(matrix: &Matrix, order: &[usize]) -> Matrix {
    Matrix::from_fn(order.len(), matrix.cols(), |i, j| matrix[(order[i], j)])
}

/// The matrices as one.
pub fn side_by_side(parts: &[Matrix]) -> Matrix {
    attn::attention::concatenate(&parts.iter().collect::<Vec<_>>()).unwrap()
}

/// Queries, keys and values of T over N tokens, with a recipe.
#[derive(Clone, Debug)]
pub struct Case {
    pub recipe: Recipe,
    pub q: Matrix,
    pub k: Matrix,
    pub v: Matrix,
    pub mask: Matrix,
    pub bias: Option<Matrix>,
}

impl Case {
    pub fn inputs(&self) -> AttendInputs {
        AttendInputs {
            q: given(&self.q),
            k: given(&self.k),
            v: given(&self.v),
            mask: self.recipe.mask.matrix.and(given(&self.mask)),
            bias: self.bias.as_ref().and_then(given),
            ..AttendInputs::default()
        }
    }

    pub fn run(&self) -> Graph {
        run(&self.recipe, self.inputs())
    }

    /// The same case under another recipe.
    pub fn under(&self, recipe: Recipe) -> Graph {
        run(&recipe, self.inputs())
    }

    /// The nodes of one kind, a head each: `A` alone, or `A_1`, `A_2` …
    pub fn heads(&self, graph: &Graph, name: &str) -> Vec<Matrix> {
        match self.recipe.heads {
            1 => vec![node(graph, name).clone()],
            heads => (1..=heads).map(|head| node(graph, &format!("{name}_{head}")).clone()).collect(),
        }
    }

    /// Whether query i may see key j, from the words of the rules.
    pub fn sees(&self, i: usize, j: usize) -> bool {
        let (queries, keys, mask) = (self.q.rows() as i64, self.k.rows() as i64, &self.recipe.mask);
        let (position, key) = (i as i64 + if mask.from_start { 0 } else { keys - queries }, j as i64);
        let near = mask.window.is_none_or(|window| (position - key).abs() < window as i64);
        let allowed = match mask.matrix {
            Some(MatrixRule::Allow) => self.mask[(i, j)] != 0.0,
            Some(MatrixRule::Block) => self.mask[(i, j)] == 0.0,
            Some(MatrixRule::Add) => self.mask[(i, j)] > f64::NEG_INFINITY,
            None => true,
        };
        (!mask.causal || key <= position) && near && allowed
    }
}

/// Any mask.
pub fn masks() -> impl Strategy<Value = Mask> {
    let matrix = prop_oneof![
        2 => Just(None),
        1 => Just(Some(MatrixRule::Allow)),
        1 => Just(Some(MatrixRule::Block)),
        1 => Just(Some(MatrixRule::Add)),
    ];
    (any::<bool>(), proptest::option::of(1..4_usize), any::<bool>(), matrix).prop_map(
        |(causal, window, from_start, matrix)| Mask { causal, window, from_start, matrix, ..Mask::default() },
    )
}

/// Any recipe without residual.
pub fn recipes() -> impl Strategy<Value = Recipe> {
    let heads = prop_oneof![Just((1, 1)), Just((2, 1)), Just((2, 2)), Just((4, 2)), Just((3, 1))];
    let scale = prop_oneof![Just(Scale::Auto), Just(Scale::None), (-2.0..2.0_f64).prop_map(Scale::Number)];
    let score = prop_oneof![3 => Just(Score::Dot), 1 => Just(Score::Cosine)];
    let temperature = prop_oneof![Just(1.0), 0.5..10.0_f64];
    (heads, scale, score, temperature, masks()).prop_map(
        |((heads, kv_heads), scale, score, temperature, mask)| Recipe {
            heads,
            kv_heads,
            score,
            scale,
            temperature,
            mask,
            ..Recipe::default()
        },
    )
}

/// A mask matrix for the rule: zeros and ones, or numbers and −∞.
pub fn mask_matrix(rule: Option<MatrixRule>, values: &Matrix) -> Matrix {
    values.map(|x| match rule {
        Some(MatrixRule::Add) => {
            if x > 1.0 {
                f64::NEG_INFINITY
            } else {
                x
            }
        }
        _ => {
            if x > 0.0 {
                1.0
            } else {
                0.0
            }
        }
    })
}

/// Any case of up to 5 queries over up to 5 keys.
pub fn cases() -> impl Strategy<Value = Case> {
    let sizes = (1..6_usize, 1..6_usize, 1..4_usize, 1..3_usize);
    (recipes(), sizes, any::<bool>()).prop_flat_map(|(recipe, (t, n, d_k, d_v), biased)| {
        let matrices = (
            matrix(t, recipe.heads * d_k),
            matrix(n, recipe.kv_heads * d_k),
            matrix(n, recipe.kv_heads * d_v),
            matrix(t, n),
            matrix(t, n),
        );
        matrices.prop_map(move |(q, k, v, mask, bias)| Case {
            recipe,
            q,
            k,
            v,
            mask: mask_matrix(recipe.mask.matrix, &mask),
            bias: biased.then_some(bias),
        })
    })
}

/// Tokens, and weights of every projection, for one head or two.
#[derive(Clone, Debug)]
pub struct Projected {
    pub recipe: Recipe,
    pub x: Matrix,
    pub weights: Vec<Matrix>,
}

impl Projected {
    pub fn run(&self, x: &Matrix) -> Graph {
        let [w_q, w_k, w_v, w_o] = [0, 1, 2, 3].map(|i| given(&self.weights[i]));
        run(&self.recipe, AttendInputs { x: given(x), w_q, w_k, w_v, w_o, ..AttendInputs::default() })
    }
}

/// Up to 5 tokens of width 3.
pub fn projected(mask: impl Strategy<Value = Mask>) -> impl Strategy<Value = Projected> {
    let heads = prop_oneof![Just((1, 1)), Just((2, 2)), Just((2, 1))];
    (heads, mask, 1..6_usize, any::<bool>()).prop_flat_map(|((heads, kv_heads), mask, tokens, residual)| {
        let output = Output { residual, ..Output::default() };
        let recipe = Recipe { heads, kv_heads, mask, output, ..Recipe::default() };
        let narrow = 2 * kv_heads;
        let weights = vec![
            matrix(3, 2 * heads).boxed(),
            matrix(3, narrow).boxed(),
            matrix(3, narrow).boxed(),
            matrix(2 * heads, 3).boxed(),
        ];
        (matrix(tokens, 3), weights).prop_map(move |(x, weights)| Projected { recipe, x, weights })
    })
}

/// No mask.
pub fn no_mask() -> impl Strategy<Value = Mask> {
    Just(Mask::default())
}

/// The causal rule, with a window or without.
pub fn causal_masks() -> impl Strategy<Value = Mask> {
    let window = proptest::option::of(1..4_usize);
    (window, any::<bool>()).prop_map(|(window, from_start)| Mask {
        causal: true,
        window,
        from_start,
        ..Mask::default()
    })
}

/// Any mask that needs no matrix.
pub fn masks_without_matrix() -> impl Strategy<Value = Mask> {
    masks().prop_map(|mask| Mask { matrix: None, ..mask })
}

/// A graph in which every op reads a, of 3×4, or a and b, of the same shape.
pub fn every_op(a: Matrix, b: Matrix) -> Graph {
    let mut graph = Graph::new();
    let a = graph.given("a", a, Origin::Stated).unwrap();
    let b = graph.given("b", b, Origin::Drawn(0)).unwrap();
    let unary = [
        Op::Transpose,
        Op::Scale(Factor::Number(-0.5)),
        Op::Scale(Factor::InverseRoot(3)),
        Op::Temperature(0.3),
        Op::MaskPattern(Mask { causal: true, window: Some(2), ..Mask::default() }),
        Op::MinusMax(Axis::Rows),
        Op::MinusMax(Axis::Columns),
        Op::Exponential(Base::E),
        Op::Exponential(Base::Number(3.0)),
        Op::Sums(Axis::Rows),
        Op::Sums(Axis::Columns),
        Op::Largest(Axis::Rows),
        Op::Largest(Axis::Columns),
        Op::DivideBySum(Axis::Rows),
        Op::DivideBySum(Axis::Columns),
        Op::Softmax(Axis::Rows, Base::Number(2.0)),
        Op::Softmax(Axis::Columns, Base::E),
        Op::Softmax(Axis::Whole, Base::E),
        Op::UnguardedSoftmax(Axis::Rows, Base::E),
        Op::UnguardedSoftmax(Axis::Columns, Base::Number(2.0)),
        Op::MinusMax(Axis::Whole),
        Op::DivideBySum(Axis::Whole),
        Op::Sums(Axis::Whole),
        Op::Largest(Axis::Whole),
        Op::BlockSums { rows: 2, cols: 3 },
        Op::EveryNthColumn { start: 1, step: 2 },
        Op::Reshape { rows: 2, cols: 6 },
        Op::Scale(Factor::Inverse(3)),
        Op::Scale(Factor::Root(3)),
        Op::MaskPattern(Mask { causal: true, hides_own: true, inverted: true, ..Mask::default() }),
        Op::Columns { start: 1, count: 2 },
        Op::Rows { start: 1, count: 2 },
        Op::Relu,
        Op::Silu,
        Op::Sigmoid,
        Op::MinusMean,
        Op::ReverseRows,
        Op::SingleRange,
        Op::Logarithm,
        Op::Truncate(1),
        Op::RmsNorm(1e-5),
        Op::UnitRows,
        Op::Rotary { first: 3, base: 10_000.0 },
        Op::SingularVectors { side: Side::Left, rank: 2 },
        Op::SingularVectors { side: Side::Right, rank: 2 },
        Op::SingularValues,
        Op::Summary(Statistic::Mean),
        Op::Summary(Statistic::RootMeanSquare),
        Op::Summary(Statistic::Largest),
        Op::Summary(Statistic::LargestSize),
        Op::Round(2),
    ];
    for (i, op) in unary.into_iter().enumerate() {
        graph.add(&format!("unary_{i}"), op, &[a]).unwrap();
    }
    let one = graph.add("mean", Op::Summary(Statistic::Mean), &[b]).unwrap();
    graph.add("divide", Op::Divide, &[a, one]).unwrap();
    let hidden = |m: &Matrix| m.map(|x| if x > 3.0 { f64::NEG_INFINITY } else { x.max(-1.0) });
    let [c, d] = [a, b].map(|id| hidden(graph.matrix(id).unwrap()));
    let c = graph.given("c", c, Origin::Stated).unwrap();
    let d = graph.given("d", d, Origin::Stated).unwrap();
    graph.add("change", Op::Change, &[c, d]).unwrap();
    for op in [
        Op::ProductTransposed,
        Op::Add,
        Op::Subtract,
        Op::Multiply,
        Op::Quotient,
        Op::Guard,
        Op::Concatenate,
        Op::Stack(None),
        Op::Cosine,
        Op::Euclidean,
    ] {
        graph.add(op.name(), op.clone(), &[a, b]).unwrap();
    }
    let row = graph.add("row", Op::Rows { start: 1, count: 1 }, &[a]).unwrap();
    graph.add("diagonal", Op::Diagonal, &[row]).unwrap();
    let turned = graph.find("unary_0").unwrap();
    graph.add("product", Op::Product, &[a, turned]).unwrap();
    graph.add("ones", Op::Ones { rows: 2, cols: 3 }, &[]).unwrap();
    graph.add("positions", Op::Sinusoidal { tokens: 5, width: 4 }, &[]).unwrap();
    for (name, rule) in
        [("allow", MatrixRule::Allow), ("block", MatrixRule::Block), ("added", MatrixRule::Add)]
    {
        let mask = Mask { matrix: Some(rule), causal: true, ..Mask::default() };
        graph.add(name, Op::Mask(mask), &[a, b]).unwrap();
        let turned = Mask { inverted: true, hides_own: true, ..mask };
        graph.add(&format!("{name}_turned"), Op::Mask(turned), &[a, b]).unwrap();
        graph.add(&format!("{name}_pattern"), Op::MaskPattern(mask), &[a, b]).unwrap();
    }
    graph
}
