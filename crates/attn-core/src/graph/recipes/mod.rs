//! Recipes: inputs and options to the graph of a whole computation.

mod alter;
mod alteration;
mod attend;
mod change;
mod fused;
mod given_weights;
mod heads;
mod loss;
mod mask_pattern;
mod output;
mod positions;
mod recipe;
mod weights;

use serde::Deserialize;

use crate::attention::{Axis, Base};
use crate::error::Result;
use crate::matrix::Matrix;

use super::{Factor, Graph, Op, Origin};

pub use alteration::{Alter, Alteration, Combine, Move, Norm, OtherMatrix, Site, Slant, text_of};
pub use attend::{AttendInputs, HeadCache, attend, attend_as_far_as_possible, attend_in};
pub(crate) use attend::{LookAtWeights, StepsOfHeads};
pub use change::{Change, Setting, tree};
pub use fused::attend_fused;
pub(crate) use fused::{HeadInputs, heads_inside, removed};
pub use given_weights::{Derived, GivenWeights};
pub use heads::split;
pub use loss::{CrossEntropy, cross_entropy, cross_entropy_in_batch};
pub use mask_pattern::{MaskLine, MaskPattern};
pub use recipe::{
    AfterNormalise, AlibiSlopes, Biasing, CapPlace, Divisor, Featurewise, Gating, Groups, HeadSharing,
    Hiding, MagnitudeUse, Merge, NormPlace, Normalise, NormaliseAxis, NormedRoles, Output, PositionKind,
    Positions, Projection, QkNorm, Qkv, QkvSource, QkvSources, Recipe, Residual, Rotary, RotatedPart,
    RotatedRoles, Scale, Score, ScoreFunction, ScoreRows, Shift, SineSigns, SinkUse, Split, SplitRoles,
};
pub use weights::{Weights, weights};

// The graph of similarities between words.

/// A measure of the similarity of two vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The dot product.
    Dot,
    /// The dot product divided by the root of the width.
    Scaled,
    /// The cosine of the angle.
    Cosine,
    /// The Euclidean distance: smaller is more similar.
    Euclidean,
}

impl Measure {
    /// All four, in the order of the tables.
    pub const ALL: [Measure; 4] = [Measure::Dot, Measure::Scaled, Measure::Cosine, Measure::Euclidean];
}

/// The words as rows of `X`, and a table for each measure: `dot`, `scaled`, `cosine`, `euclidean`.
///
/// # Errors
/// If there are more than [`MAX_CELLS`](crate::graph::MAX_CELLS) numbers.
pub fn similarity(words: Matrix, origin: Origin, measures: &[Measure]) -> Result<Graph> {
    let mut graph = Graph::new();
    let width = words.cols();
    let x = graph.given("X", words, origin)?;
    let wanted = |measure| measures.contains(&measure);
    if wanted(Measure::Dot) || wanted(Measure::Scaled) {
        let dot = graph.add("dot", Op::ProductTransposed, &[x, x])?;
        if wanted(Measure::Scaled) {
            graph.add("scaled", Op::Scale(Factor::InverseRoot(width)), &[dot])?;
        }
    }
    if wanted(Measure::Cosine) {
        graph.add("cosine", Op::Cosine, &[x, x])?;
    }
    if wanted(Measure::Euclidean) {
        graph.add("euclidean", Op::Euclidean, &[x, x])?;
    }
    graph.warn_of_range();
    Ok(graph)
}

// The graph of a softmax with every step as a node.

/// Scores (one row, or several), over the temperature, minus the maximum, exponentials, their sum, the weights, and the
/// sum of the weights: `x`, `x_tempered`, `shifted`, `powers`, `power_sum`, `A`, `A_sum`. The node `x_tempered` exists
/// only where there is a temperature.
///
/// # Errors
/// If there are more than [`MAX_CELLS`](crate::graph::MAX_CELLS) numbers.
pub fn softmax(scores: Matrix, origin: Origin, temperature: Option<f64>, base: Base) -> Result<Graph> {
    let mut graph = Graph::new();
    let mut last = graph.given("x", scores, origin)?;
    if let Some(temperature) = temperature {
        last = graph.add("x_tempered", Op::Temperature(temperature), &[last])?;
    }
    let shifted = graph.add("shifted", Op::MinusMax(Axis::Rows), &[last])?;
    let powers = graph.add("powers", Op::Exponential(base), &[shifted])?;
    graph.add("power_sum", Op::Sums(Axis::Rows), &[powers])?;
    let weights = graph.add("A", Op::Softmax(Axis::Rows, base), &[last])?;
    graph.add("A_sum", Op::Sums(Axis::Rows), &[weights])?;
    graph.warn_of_range();
    Ok(graph)
}

#[cfg(test)]
mod tests {
    use super::{
        AlibiSlopes, AttendInputs, CapPlace, Gating, HeadCache, HeadInputs, NormPlace, NormedRoles, Output,
        PositionKind, Positions, QkNorm, Recipe, Rotary, RotatedRoles, SinkUse, StepsOfHeads, attend,
        attend_fused, heads_inside,
    };
    use crate::attention::{Mask, MatrixRule, RopeScaling};
    use crate::graph::{BackwardPass, Given, Graph, Op, Origin, Precision, Role, Stage, Step};
    use crate::matrix::Matrix;
    use crate::random::LegacyStream;
    use crate::tensor::{Dtype, Tensor};
    use attn_kernel::{Layout, Machine};

    fn given(rows: usize, cols: usize) -> Option<Given> {
        Some(Matrix::from_fn(rows, cols, |i, j| (i * 3 + j) as f64 / 7.0).into())
    }

    /// Every step that there is: a scale, a bias, a temperature, a mask, projections, a residual.
    fn every_step(heads: usize) -> (Recipe, AttendInputs) {
        let recipe = Recipe {
            heads,
            kv_heads: heads,
            temperature: 2.0,
            mask: Mask { causal: true, matrix: Some(MatrixRule::Add), ..Mask::default() },
            output: Output { residual: true, ..Output::default() },
            ..Recipe::default()
        };
        let (x, mask, bias) = (given(3, 4), given(3, 3), given(3, 3));
        let [w_q, w_k, w_v, w_o] = [0; 4].map(|_| given(4, 4));
        (recipe, AttendInputs { x, w_q, w_k, w_v, w_o, mask, bias, ..AttendInputs::default() })
    }

    /// The steps of the nodes, in order; each node has one, and is called after it.
    fn steps(graph: &Graph) -> Vec<Step> {
        let step = |node: &crate::graph::Node| {
            let step = node.step.unwrap_or_else(|| panic!("{} is no step", node.name));
            assert_eq!(node.name, step.to_string());
            step
        };
        graph.nodes().map(|(_, node)| step(node)).collect()
    }

    /// The same with a norm of queries and keys, a soft-cap, sinks, a gate and positions of this kind.
    fn every_mechanism(heads: usize, kind: PositionKind) -> (Recipe, AttendInputs) {
        let (recipe, inputs) = every_step(heads);
        let recipe = Recipe {
            positions: Positions { kind, first: 2, ..Positions::default() },
            qk_norm: QkNorm { place: NormPlace::BeforeRotation, ..QkNorm::default() },
            soft_cap: Some(5.0),
            ..recipe
        };
        let inputs = AttendInputs {
            query_gain: given(1, 4 / heads),
            key_gain: given(1, 4 / heads),
            divisors: Some(Matrix::filled(1, 2 / heads, 1.5).into()),
            position_table: given(4, heads),
            sink: given(1, heads),
            w_g: given(4, 4),
            b_q: given(1, 4),
            b_k: given(1, 4),
            b_v: given(1, 4),
            b_o: given(1, 4),
            ..inputs
        };
        (recipe, inputs)
    }

    /// A kind of positions each.
    fn kinds() -> [PositionKind; 4] {
        let scaling = Some(RopeScaling::LongRope { factor: 2.0, original: 2.0, attention: None });
        [
            PositionKind::Rotary(Rotary { scaling, ..Rotary::default() }),
            PositionKind::Alibi { heads: None },
            PositionKind::Buckets { furthest: 9 },
            PositionKind::Sinusoidal,
        ]
    }

    #[test]
    fn every_node_of_a_pipeline_knows_which_step_it_is() {
        for heads in [1, 2] {
            let run = |kind| {
                let (recipe, inputs) = every_mechanism(heads, kind);
                steps(&attend(&recipe, inputs).unwrap())
            };
            let found: Vec<Step> = kinds().into_iter().flat_map(run).collect();
            let of_head =
                |stage: Stage| (1..=heads).map(move |head| stage.of_head((heads > 1).then_some(head)));
            for stage in Stage::all() {
                let is_after_result = matches!(stage, Stage::Lse | Stage::Loss | Stage::Backward);
                let is_formed = !is_after_result && (heads > 1 || stage != Stage::Mixed);
                let all: Vec<Step> = if stage.is_per_head() && !matches!(stage, Stage::Role(_)) {
                    of_head(stage).collect()
                } else {
                    vec![stage.into()]
                };
                assert!(
                    !is_formed || all.iter().all(|step| found.contains(step)),
                    "{} in {found:?}",
                    stage.name()
                );
            }
        }
    }

    #[test]
    fn what_comes_after_the_result_is_the_loss_and_the_backward_pass_of_each_head() {
        let (recipe, inputs) = every_mechanism(2, PositionKind::Sinusoidal);
        let rows = attend(&recipe, inputs.clone()).unwrap();
        let rows = rows[rows.at(Stage::Output).unwrap()].shape().rows;
        let backward = Some(BackwardPass::CrossEntropy(vec![Some(0); rows]));
        let graph = attend(&recipe, AttendInputs { backward, ..inputs.clone() }).unwrap();
        let result = graph.at(Stage::Output).unwrap();
        let after = graph
            .nodes()
            .skip(result.position() + 1)
            .map(|(_, node)| (node.name.as_str(), node.step.unwrap()));
        let after: Vec<(&str, Step)> = after.collect();
        assert!(
            after.iter().all(|(_, step)| matches!(step.stage, Stage::Loss | Stage::Backward)),
            "{after:?}"
        );
        assert_eq!(after[0], ("Y", Stage::Loss.into()));
        for head in [1, 2] {
            let name = format!("dA_{head}");
            assert!(after.contains(&(&name, Stage::Backward.of_head(Some(head)))), "{after:?}");
        }
        assert_eq!(graph.backward().unwrap().first(), graph.require("Y").unwrap());
        // The fast path keeps no steps to go back through.
        let backward = Some(BackwardPass::CrossEntropy(vec![Some(0); rows]));
        let refused = attend_fused(&recipe, AttendInputs { backward, ..inputs }, Dtype::F64, Machine::here());
        let error = refused.err().unwrap().to_string();
        assert!(error.contains("backward pass"), "{error}");
    }

    #[test]
    fn the_fast_path_refuses_a_mistake_in_a_mechanism_and_never_computes_without_it() {
        let (recipe, inputs) = every_mechanism(2, PositionKind::Rotary(Rotary::default()));
        let inputs = AttendInputs { mask: None, ..inputs };
        let recipe = Recipe { mask: Mask::default(), ..recipe };
        let run = |recipe: Recipe| attend_fused(&recipe, inputs.clone(), Dtype::F64, Machine::here());
        assert!(run(recipe).is_ok());
        let at = |positions: Positions| Recipe { positions, ..recipe };
        let of = |kind: PositionKind| at(Positions { kind, ..recipe.positions });
        let values = Rotary { rotated: RotatedRoles::WithValues, ..Rotary::default() };
        let late = QkNorm { normed: NormedRoles::Queries, ..recipe.qk_norm };
        for mistaken in [
            of(PositionKind::Rotary(values)),
            of(PositionKind::Alibi { heads: Some(4) }),
            at(Positions { slopes: AlibiSlopes::Rising, ..recipe.positions }),
            at(Positions { key_shift: 1, ..recipe.positions }),
            Recipe { qk_norm: late, ..recipe },
            Recipe { sink: SinkUse::Negated, ..recipe },
            Recipe { gate: Gating::WithoutSigmoid, ..recipe },
            Recipe { cap_place: CapPlace::AfterMask, ..recipe },
        ] {
            assert!(run(mistaken).is_err(), "{mistaken:?}");
        }
    }

    #[test]
    fn a_mechanism_at_its_limit_is_as_if_it_were_missing() {
        let (recipe, inputs) = every_step(2);
        let run = |recipe: &Recipe, inputs: &AttendInputs| {
            let graph = attend(recipe, inputs.clone()).unwrap();
            graph.matrix(graph.at(Stage::Output).unwrap()).unwrap().clone()
        };
        let plain = run(&recipe, &inputs);
        let close = |other: &Matrix| plain.cells().zip(other.cells()).all(|(a, b)| (a - b).abs() < 1e-12);
        let sink = |number: f64| Some(Matrix::filled(1, 2, number).into());
        assert!(close(&run(&recipe, &AttendInputs { sink: sink(f64::NEG_INFINITY), ..inputs.clone() })));
        assert!(!close(&run(&recipe, &AttendInputs { sink: sink(0.0), ..inputs.clone() })));
        assert!(close(&run(&Recipe { soft_cap: Some(1e12), ..recipe }, &inputs)));
        assert!(!close(&run(&Recipe { soft_cap: Some(0.5), ..recipe }, &inputs)));
        let table = |number: f64| AttendInputs {
            position_table: Some(Matrix::filled(4, 2, number).into()),
            ..inputs.clone()
        };
        let buckets = Positions { kind: PositionKind::Buckets { furthest: 9 }, ..Positions::default() };
        assert!(close(&run(&Recipe { positions: buckets, ..recipe }, &table(0.0))));
        let alibi = Positions { kind: PositionKind::Alibi { heads: None }, ..Positions::default() };
        assert!(!close(&run(&Recipe { positions: alibi, ..recipe }, &inputs)));
        let windowed = |window, keep_first| Mask { window: Some(window), keep_first, ..recipe.mask };
        assert!(close(&run(&Recipe { mask: windowed(3, 0), ..recipe }, &inputs)));
        assert!(close(&run(&Recipe { mask: windowed(1, 3), ..recipe }, &inputs)));
        assert!(!close(&run(&Recipe { mask: windowed(1, 1), ..recipe }, &inputs)));
    }

    #[test]
    fn rotary_results_depend_on_distances_alone() {
        let (recipe, inputs) = every_step(2);
        let at = |first: usize, query_shift: isize| {
            let kind = PositionKind::Rotary(Rotary::default());
            let recipe = Recipe {
                positions: Positions { kind, first, query_shift, ..Positions::default() },
                ..recipe
            };
            let graph = attend(&recipe, inputs.clone()).unwrap();
            graph.matrix(graph.at(Stage::Output).unwrap()).unwrap().clone()
        };
        let close = |a: &Matrix, b: &Matrix| a.cells().zip(b.cells()).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close(&at(0, 0), &at(7, 0)));
        assert!(!close(&at(0, 0), &at(0, 1)));
    }

    #[test]
    fn so_does_every_node_of_the_fast_path() {
        for heads in [1, 2] {
            let (recipe, inputs) = every_step(heads);
            let (graph, _) = attend_fused(&recipe, inputs, Dtype::F64, Machine::here()).unwrap();
            assert!(steps(&graph).contains(&Stage::Lse.into()));
            assert_eq!(graph.at(Stage::Output), graph.last());
        }
    }

    #[test]
    fn both_paths_give_the_same_result_with_every_mechanism() {
        for heads in [1, 2] {
            for kind in kinds() {
                let (recipe, inputs) = every_mechanism(heads, kind);
                // On the fast path a mask behind a soft-cap can only hide.
                let hides =
                    Matrix::from_fn(3, 3, |i, j| if (i, j) == (2, 1) { f64::NEG_INFINITY } else { 0.0 });
                let inputs = AttendInputs { mask: Some(hides.into()), ..inputs };
                let window = Mask { window: Some(1), keep_first: 1, ..recipe.mask };
                for mask in [recipe.mask, window, Mask { causal: false, ..window }] {
                    let recipe = Recipe { mask, ..recipe };
                    let exact = attend(&recipe, inputs.clone()).unwrap();
                    let (fast, _) =
                        attend_fused(&recipe, inputs.clone(), Dtype::F64, Machine::here()).unwrap();
                    let [exact, fast] = [&exact, &fast]
                        .map(|graph| graph.matrix(graph.at(Stage::Output).unwrap()).unwrap().clone());
                    let close =
                        exact.cells().zip(fast.cells()).all(|(a, b)| (a - b).abs() < 1e-12 * (1.0 + a.abs()));
                    assert!(close, "{heads} heads, {kind:?}, {mask:?}:\n{exact:?}\n{fast:?}");
                }
            }
        }
    }

    #[test]
    fn without_what_follows_the_heads_the_result_is_still_a_step_of_its_own() {
        let recipe = Recipe { heads: 2, kv_heads: 2, ..Recipe::default() };
        let graph = attend(&recipe, AttendInputs { x: given(3, 4), ..AttendInputs::default() }).unwrap();
        let (joined, output) = (graph.at(Stage::Joined).unwrap(), graph.at(Stage::Output).unwrap());
        assert_eq!((graph[joined].name.as_str(), graph[output].name.as_str()), ("C", "O"));
        assert_eq!(graph[output].op, Op::Add);
        assert_eq!(graph.at(Role::WO), None);
    }

    /// What all heads mix, the steps of each kept or forgotten, as bits.
    fn joined(recipe: &Recipe, qkv: &[Matrix; 3], steps: StepsOfHeads<'_>) -> Vec<u32> {
        let machine = Machine { threads: 2, ..Machine::here() };
        let mut graph = Graph::new().in_precision(Precision::Single(machine));
        let mut add = |name: &str, matrix: &Matrix| {
            let values: Vec<f32> = matrix.cells().map(|x| x as f32).collect();
            let tensor = Tensor::new(values, Layout::stacked(1, matrix.rows(), matrix.cols())).unwrap();
            graph.record(name, Op::Given(Origin::Stated), &[], tensor).unwrap()
        };
        let qkv = [add("Q", &qkv[0]), add("K", &qkv[1]), add("V", &qkv[2])];
        let inputs = HeadInputs {
            qkv,
            past: HeadCache::default(),
            is_removed: &|head| head == 3,
            by_mean: false,
            steps,
        };
        let (joined, _) = heads_inside(&mut graph, recipe, inputs).unwrap();
        let formed = graph.nodes().filter(|(_, node)| node.name.starts_with("S_") && !node.is_never_formed());
        assert_eq!(formed.count() > 0, steps.are_kept());
        graph[joined].tensor().unwrap().slice::<f32>().unwrap().iter().map(|x| x.to_bits()).collect()
    }

    #[test]
    fn heads_that_nobody_looks_at_mix_to_the_same_bits() {
        let mut stream = LegacyStream::seeded(4);
        let causal = Mask { causal: true, ..Mask::default() };
        let window = Mask { window: Some(3), ..causal };
        let first = Mask { from_start: true, ..causal };
        for mask in [Mask::default(), causal, window, first] {
            // More queries than a task has, more keys than queries, and a single query.
            for (queries, keys) in [(150, 150), (70, 200), (1, 40), (5, 3)] {
                let recipe = Recipe { heads: 6, kv_heads: 3, mask, ..Recipe::default() };
                let mut qkv = [(queries, 24), (keys, 12), (keys, 15)]
                    .map(|(rows, cols)| stream.standard_normal_matrix(rows, cols));
                let compare = |qkv: &[Matrix; 3]| {
                    let kept = joined(&recipe, qkv, StepsOfHeads::Kept);
                    assert!(
                        kept == joined(&recipe, qkv, StepsOfHeads::Forgotten(None)),
                        "{mask:?} {queries}×{keys}"
                    );
                };
                compare(&qkv);
                // 0 times infinity is no number, even where the key is hidden.
                qkv[2] = Matrix::from_fn(keys, 15, |i, j| match (i + 1 == keys, j) {
                    (true, 0) => f64::INFINITY,
                    _ => qkv[2][(i, j)],
                });
                compare(&qkv);
            }
        }
    }

    #[test]
    fn heads_with_other_steps_than_these_are_computed_one_by_one() {
        let mut stream = LegacyStream::seeded(5);
        let qkv = [(); 3].map(|()| stream.standard_normal_matrix(9, 12));
        let slopes = Positions { kind: PositionKind::Alibi { heads: None }, ..Positions::default() };
        let plain = Recipe { heads: 3, kv_heads: 3, ..Recipe::default() };
        let recipes = [
            Recipe { temperature: 2.0, ..plain },
            Recipe { soft_cap: Some(2.0), ..plain },
            Recipe { positions: slopes, ..plain },
        ];
        for recipe in recipes {
            let forgotten = joined(&recipe, &qkv, StepsOfHeads::Forgotten(None));
            assert!(joined(&recipe, &qkv, StepsOfHeads::Kept) == forgotten, "{recipe:?}");
        }
    }

    #[test]
    fn a_parameter_that_no_file_may_have_no_recipe_may_have_either() {
        let inputs = || AttendInputs::of_tokens(Matrix::identity(2));
        for most in [308, u32::MAX] {
            for recipe in [
                Recipe { score_decimals: Some(most), ..Recipe::default() },
                Recipe { weight_decimals: Some(most), ..Recipe::default() },
            ] {
                let made = attend(&recipe, inputs());
                assert_eq!(made.is_ok(), most == 308);
                if let Err(error) = made {
                    assert!(
                        error.to_string().contains("the decimals of `round` is out of its range"),
                        "{error}"
                    );
                }
            }
        }
    }
}
