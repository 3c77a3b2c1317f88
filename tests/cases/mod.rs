//! Random attention: tokens, weights, masks and recipes, and what a test reads from the graph.
#![allow(dead_code, reason = "each test takes what it needs")]

use attn::attention::{
    Axis, Base, Buckets, HeadOf, Mask, MatrixRule, Order, Pairing, Places, RopeScaling, Rotation,
    WeightLayout, Yarn,
};
use attn::graph::recipes::{AttendInputs, Output, Recipe, Scale, Score, attend};
use attn::graph::{Factor, GeluForm, Given, Graph, NodeId, Op, OpKind, Origin, Side, Statistic};
use attn::matrix::Matrix;
use proptest::prelude::*;

/// Numbers between −3 and 3.
pub fn matrix(rows: usize, cols: usize) -> impl Strategy<Value = Matrix> {
    proptest::collection::vec(-3.0..3.0_f64, rows * cols)
        .prop_map(move |values| Matrix::from_row_major(rows, cols, &values).unwrap())
}

/// An input of a pipeline.
pub fn given(matrix: &Matrix) -> Option<Given> {
    Some(matrix.clone().into())
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
    crate::common::steps::concatenate(&parts.iter().collect::<Vec<_>>()).unwrap()
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

/// The nodes that the ops of [`every_op`] read.
struct Sources {
    /// 3×4 numbers.
    a: NodeId,
    /// The same.
    b: NodeId,
    /// Like a and b, with −∞ among the cells.
    hidden: [NodeId; 2],
    /// The transpose of b.
    turned: NodeId,
    /// One row of numbers, as wide as a.
    row: NodeId,
    /// One number.
    one: NodeId,
    /// One row of positive numbers, half as wide as a.
    narrow: NodeId,
    /// 4×2 numbers.
    table: NodeId,
    /// Half the number of the cells of a.
    half: usize,
}

/// A graph in which every op reads a, or a and b, of the same shape: at least 3×4, with an even number of columns. A new op has to be given an example here.
pub fn every_op(a: Matrix, b: Matrix) -> Graph {
    let mut graph = Graph::new();
    let hides = |m: &Matrix| m.map(|x| if x > 3.0 { f64::NEG_INFINITY } else { x.max(-1.0) });
    let (rows, cols) = (a.rows(), a.cols());
    let row = Matrix::from_fn(1, cols, |_, j| b[(0, j)]);
    let one = Matrix::filled(1, 1, b.cells().sum::<f64>() / 12.0);
    let (c, d) = (hides(&a), hides(&b));
    let mut given = |name: &str, matrix| graph.given(name, matrix, Origin::Stated).unwrap();
    let hidden = [given("c", c), given("d", d)];
    let narrow = given("narrow", Matrix::from_fn(1, cols / 2, |_, j| 0.1 + b[(1, j)].abs()));
    let table = given("table", Matrix::from_fn(4, 2, |i, j| b[(j, i)]));
    let (row, one, turned) = (given("row", row), given("one", one), given("turned", b.transposed()));
    let (a, b) = (given("a", a), graph.given("b", b, Origin::Drawn(0)).unwrap());
    let sources = Sources { a, b, hidden, turned, row, one, narrow, table, half: rows * cols / 2 };
    for kind in OpKind::all() {
        for (number, (op, inputs)) in examples(kind, &sources).into_iter().enumerate() {
            assert_eq!(OpKind::from(&op), kind, "an example of another op");
            graph.add(&format!("{}_{number}", op.name()), op, &inputs).unwrap();
        }
    }
    graph
}

/// Changes of frequencies, each with parameters that reach its cases.
fn scalings() -> [RopeScaling; 5] {
    let yarn = Yarn {
        factor: 4.0,
        original: 64.0,
        base: 3.0,
        fast: 8.0,
        slow: 1.0,
        truncate: false,
        attention: None,
    };
    [
        RopeScaling::Linear { factor: 4.0 },
        RopeScaling::Dynamic { factor: 2.0, original: 8.0, length: 8 },
        RopeScaling::Dynamic { factor: 2.0, original: 8.0, length: 20 },
        RopeScaling::Llama3 { factor: 8.0, low: 1.0, high: 4.0, original: 32.0 },
        RopeScaling::Yarn(yarn),
    ]
}

/// Ops of one kind, with the nodes that they read; none of those that are recorded and not computed.
fn examples(kind: OpKind, sources: &Sources) -> Vec<(Op, Vec<NodeId>)> {
    let Sources { a, b, hidden: [c, d], turned, row, one, narrow, table, half } = *sources;
    let of = |ops: &[Op], inputs: &[NodeId]| ops.iter().map(|op| (op.clone(), inputs.to_vec())).collect();
    let along = |op: fn(Axis) -> Op| of(&[Axis::Rows, Axis::Columns, Axis::Whole].map(op), &[a]);
    let (e, two) = (Base::E, Base::Number(2.0));
    let causal = Mask { causal: true, ..Mask::default() };
    let inverted = |mask| Mask { inverted: true, hides_own: true, ..mask };
    let rules = [MatrixRule::Allow, MatrixRule::Block, MatrixRule::Add]
        .map(|rule| Mask { matrix: Some(rule), ..causal });
    match kind {
        OpKind::Given | OpKind::Fused => Vec::new(),
        OpKind::Product => of(&[Op::Product], &[a, turned]),
        OpKind::ProductTransposed => of(&[Op::ProductTransposed], &[a, b]),
        OpKind::TransposedProduct => of(&[Op::TransposedProduct], &[a, b]),
        OpKind::Linear => {
            let (in_out, out_in) = (Op::Linear(WeightLayout::InOut), Op::Linear(WeightLayout::OutIn));
            vec![
                (in_out.clone(), vec![a, turned]),
                (out_in.clone(), vec![a, b]),
                (in_out, vec![turned, a, row]),
                (out_in, vec![turned, turned, row]),
            ]
        }
        OpKind::TokenRows => of(&[Op::TokenRows(vec![2, 0, 2])], &[a]),
        OpKind::Ones => of(&[Op::Ones { rows: 2, cols: 3 }], &[]),
        OpKind::Transpose => of(&[Op::Transpose], &[a]),
        OpKind::Add => vec![(Op::Add, vec![a, b]), (Op::Add, vec![a]), (Op::Add, vec![a, b, b])],
        OpKind::Subtract => of(&[Op::Subtract], &[a, b]),
        OpKind::Change => of(&[Op::Change], &[c, d]),
        OpKind::Multiply => of(&[Op::Multiply], &[a, b]),
        OpKind::Divide => of(&[Op::Divide], &[a, one]),
        OpKind::Times => of(&[Op::Times], &[a, one]),
        OpKind::Quotient => of(&[Op::Quotient], &[a, b]),
        OpKind::OnePlus => of(&[Op::OnePlus], &[a]),
        OpKind::Scale => of(
            &[Factor::Number(-0.5), Factor::InverseRoot(3), Factor::Inverse(3), Factor::Root(3)]
                .map(Op::Scale),
            &[a],
        ),
        OpKind::Temperature => of(&[Op::Temperature(0.3)], &[a]),
        OpKind::SoftCap => [of(&[Op::SoftCap(2.0)], &[a]), of(&[Op::SoftCap(0.7)], &[c])].concat(),
        OpKind::Mask => {
            let with = [rules.map(Op::Mask), rules.map(|rule| Op::Mask(inverted(rule)))].concat();
            [of(&with, &[a, b]), of(&[Op::Mask(causal)], &[a])].concat()
        }
        OpKind::MaskPattern => {
            let alone = [Mask { window: Some(2), ..causal }, inverted(causal)].map(Op::MaskPattern);
            [of(&rules.map(Op::MaskPattern), &[a, b]), of(&alone, &[a])].concat()
        }
        OpKind::MinusMax => along(Op::MinusMax),
        OpKind::Exponential => of(&[e, Base::Number(3.0)].map(Op::Exponential), &[a]),
        OpKind::Logarithm => of(&[Op::Logarithm], &[a]),
        OpKind::Root => of(&[Op::Root], &[a]),
        OpKind::NormalShare => of(&[Op::NormalShare], &[a]),
        OpKind::SingleRange => of(&[Op::SingleRange], &[a]),
        OpKind::Sums => along(Op::Sums),
        OpKind::BlockSums => of(&[Op::BlockSums { rows: 2, cols: 3 }], &[a]),
        OpKind::Max => along(Op::Max),
        OpKind::DivideBySum => along(Op::DivideBySum),
        OpKind::Softmax => {
            [along(|axis| Op::Softmax(axis, Base::E)), of(&[Op::Softmax(Axis::Rows, two)], &[c])].concat()
        }
        OpKind::UnguardedSoftmax => {
            of(&[Op::UnguardedSoftmax(Axis::Rows, e), Op::UnguardedSoftmax(Axis::Columns, two)], &[a])
        }
        OpKind::NegativeLogSoftmax => {
            [of(&[Op::NegativeLogSoftmax], &[a]), of(&[Op::NegativeLogSoftmax], &[c])].concat()
        }
        OpKind::Guard => [of(&[Op::Guard], &[a, b]), of(&[Op::Guard], &[a, c])].concat(),
        OpKind::Columns => of(&[Op::Columns { start: 1, count: 2 }], &[a]),
        OpKind::EveryNthColumn => of(&[Op::EveryNthColumn { start: 1, step: 2 }], &[a]),
        OpKind::Rows => of(&[Op::Rows { start: 1, count: 2 }], &[a]),
        OpKind::ReverseRows => of(&[Op::ReverseRows], &[a]),
        OpKind::SortRows => of(&[Order::Ascending, Order::Descending].map(Op::SortRows), &[a]),
        OpKind::Concatenate => of(&[Op::Concatenate], &[a, b]),
        OpKind::Stack => of(&[Op::Stack(None)], &[a, b]),
        OpKind::Reshape => of(&[Op::Reshape { rows: 2, cols: half }], &[a]),
        OpKind::Relu => of(&[Op::Relu], &[a]),
        OpKind::EluPlusOne => of(&[Op::EluPlusOne], &[a]),
        OpKind::Sigmoid => of(&[Op::Sigmoid], &[a]),
        OpKind::Tanh => of(&[Op::Tanh], &[a]),
        OpKind::Silu => [of(&[Op::Silu], &[a]), of(&[Op::Silu], &[c])].concat(),
        OpKind::Gelu => {
            let forms = [GeluForm::Erf, GeluForm::Tanh].map(Op::Gelu);
            [of(&forms, &[a]), of(&forms, &[c])].concat()
        }
        OpKind::MinusMean => of(&[Op::MinusMean], &[a]),
        OpKind::RmsNorm => [of(&[Op::RmsNorm(1e-5)], &[a]), of(&[Op::RmsNorm(1e-6)], &[a, row])].concat(),
        OpKind::LayerNorm => {
            let inputs = [vec![a], vec![a, row], vec![a, row, row]];
            inputs.map(|inputs| (Op::LayerNorm(1e-5), inputs)).to_vec()
        }
        OpKind::Cosine => of(&[Op::Cosine], &[a, b]),
        OpKind::Euclidean => of(&[Op::Euclidean], &[a, b]),
        OpKind::UnitRows => of(&[Op::UnitRows], &[a]),
        OpKind::SoftmaxWithSink => {
            let sink = Op::SoftmaxWithSink { head: 1 };
            [of(std::slice::from_ref(&sink), &[a, row]), of(std::slice::from_ref(&sink), &[c, row])].concat()
        }
        OpKind::RepeatColumns => of(&[Op::RepeatColumns(3)], &[a]),
        OpKind::Sinusoidal => of(&[0, 2].map(|first| Op::Sinusoidal { first, tokens: 5, width: 4 }), &[]),
        OpKind::Frequencies => of(&[Op::Frequencies { width: 12, base: 500.0 }], &[]),
        OpKind::ScaledFrequencies => {
            let own = of(&scalings().map(Op::ScaledFrequencies), &[narrow]);
            let long = RopeScaling::LongRope { factor: 4.0, original: 16.0, attention: None };
            [own, of(&[Op::ScaledFrequencies(long)], &[narrow, narrow])].concat()
        }
        OpKind::Rotary => {
            let turn = |pairing, magnitude| Op::Rotary(Rotation { first: 3, pairing, magnitude });
            of(&[turn(Pairing::Halves, 1.0), turn(Pairing::Neighbours, 1.25)], &[a, narrow])
        }
        OpKind::Alibi => {
            let places = Places { queries: 2, keys: 4, offset: 2 };
            of(&[3, 5].map(|head| Op::Alibi(HeadOf { head, heads: 6 }, places)), &[])
        }
        OpKind::BucketBias => {
            let places = Places { queries: 3, keys: 5, offset: 1 };
            let bias = |both_ways| Op::BucketBias {
                column: 1,
                buckets: Buckets { count: 4, furthest: 9, both_ways },
                places,
            };
            of(&[bias(true), bias(false)], &[table])
        }
        OpKind::SingularVectors => {
            of(&[Side::Left, Side::Right].map(|side| Op::SingularVectors { side, rank: 2 }), &[a])
        }
        OpKind::SingularValues => of(&[Op::SingularValues], &[a]),
        OpKind::Diagonal => of(&[Op::Diagonal], &[row]),
        OpKind::Summary => {
            let all = [Statistic::Mean, Statistic::RootMeanSquare, Statistic::Max, Statistic::MaxSize];
            of(&all.map(Op::Summary), &[a])
        }
        OpKind::Round => of(&[Op::Round(2)], &[a]),
        OpKind::Truncate => of(&[Op::Truncate(1)], &[a]),
    }
}
