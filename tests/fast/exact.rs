//! `attn attend --fast`: what the fused kernel gives is what the steps give, and everything that it never forms says so.

#[path = "../common/promise.rs"]
mod promise;

use crate::cases::{Case, cases, node};
use crate::common::attn;
use attn::attention::{Mask, key_value_head};
use attn::cli::Env;
use attn::graph::Graph;
use attn::graph::recipes::{AttendInputs, Recipe, Score, attend_fused};
use attn::kernel::{Machine, SimdLevel};
use attn::matrix::Matrix;
use attn::tensor::Dtype;
use promise::Promise;
use proptest::prelude::*;
use serde_json::Value;

const SMALL: &str = "attend --q '1 0; 0 1' --k '1 0; 0 1; 1 1' --v '1 2; 3 4; 5 6' --fast";

/// The cases of `attend.json` that compare by the dot product: the command without its file's name, and the figures.
fn golden_cases() -> Vec<(tempfile::NamedTempFile, String, Value)> {
    let all = crate::golden::json("attend.json");
    let dot = crate::golden::list(&all, "cases").iter().filter(|case| case["options"]["score"] == "dot");
    dot.map(|case| {
        let file = crate::golden::attend_bundle(&case["inputs"]);
        let options = crate::golden::attend_options(&case["options"]);
        let line = format!("attend {}{options} --fast", file.path().to_str().expect("a plain path"));
        (file, line, case.clone())
    })
    .collect()
}

#[track_caller]
fn assert_close(what: &str, ours: &Matrix, theirs: &Matrix, within: f64) {
    assert_eq!(ours.shape(), theirs.shape(), "{what}");
    for (a, b) in ours.cells().zip(theirs.cells()) {
        assert!(a == b || (a - b).abs() <= within * (1.0 + b.abs()), "{what}: {a:e} is not {b:e}");
    }
}

#[test]
fn in_double_precision_o_is_that_of_numpy_and_pytorch() {
    let cases = golden_cases();
    assert!(cases.len() >= 40, "{}", cases.len());
    for (_file, line, case) in cases {
        let expected = &case["expected"];
        let theirs =
            crate::golden::matrix(if expected["O"].is_null() { &expected["C"] } else { &expected["O"] });
        assert_close(&line, &attn(&format!("{line} --dtype f64")).nodes().matrix("O"), &theirs, 1e-12);
        let max = theirs.cells().fold(1.0, |max: f64, x| max.max(x.abs()));
        let scores = crate::golden::json("fast.json");
        let lse =
            crate::golden::list(&scores, "cases").iter().find(|known| known["name"] == case["name"]).unwrap();
        let sizes = crate::golden::matrix(&lse["LSE"])
            .cells()
            .filter(|x| x.is_finite())
            .fold(1.0, |a: f64, x| a.max(x.abs()));
        assert_close(&line, &attn(&line).nodes().matrix("O"), &theirs, 1e-5 * max * sizes);
    }
}

#[test]
fn the_log_sum_exp_is_that_of_numpy() {
    let lse = crate::golden::json("fast.json");
    let lse = crate::golden::list(&lse, "cases");
    let cases = golden_cases();
    assert_eq!(lse.len(), cases.len());
    for ((_file, line, case), theirs) in cases.into_iter().zip(lse) {
        assert_eq!(case["name"], theirs["name"]);
        let ours = attn(&format!("{line} --dtype f64")).nodes().matrix("LSE");
        assert_close(&line, &ours, &crate::golden::matrix(&theirs["LSE"]), 1e-12);
    }
}

fn fused(case: &Case, dtype: Dtype) -> Graph {
    let machine = Machine { simd: SimdLevel::detect(), threads: 1 };
    attend_fused(&case.recipe, case.inputs(), dtype, machine).unwrap().0
}

/// The error bound of O that the kernel promises, where what is added counts among the scores.
fn bound(case: &Case, unit: f64, least: f64) -> f64 {
    let (heads, groups) = (case.recipe.heads, case.recipe.kv_heads);
    let d_k = case.q.cols() / heads;
    let factor = case.recipe.scale.factor(d_k).map_or(1.0, |factor| factor.value()) / case.recipe.temperature;
    let mut max = 0.0_f64;
    for (i, j, head) in triples(case.q.rows(), case.k.rows(), heads) {
        let key = key_value_head(head, heads, groups);
        let dot: f64 =
            (0..d_k).map(|c| (case.q[(i, head * d_k + c)] * case.k[(j, key * d_k + c)]).abs()).sum();
        let bias = case.bias.as_ref().map_or(0.0, |bias| bias[(i, j)].abs() / case.recipe.temperature);
        let mask = if case.mask[(i, j)].is_finite() { case.mask[(i, j)].abs() } else { 0.0 };
        max = max.max(dot * factor.abs() + bias + mask);
    }
    let values = case.v.cells().fold(0.0, |max: f64, x| max.max(x.abs()));
    Promise { unit, least, width: d_k, keys: case.k.rows(), max_score: max, soft_cap: None }.output(values)
}

/// All triples below three counts.
fn triples(a: usize, b: usize, c: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..a).flat_map(move |i| (0..b).flat_map(move |j| (0..c).map(move |k| (i, j, k))))
}

/// The case with numbers that single precision has too.
fn in_f32(case: &Case) -> Case {
    let round = |matrix: &Matrix| matrix.map(|x| f64::from(x as f32));
    Case { q: round(&case.q), k: round(&case.k), v: round(&case.v), ..case.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_the_options_the_fused_o_is_that_of_the_steps_within_the_bound(
        case in cases(),
        hides_own in prop::bool::weighted(0.2),
        inverted in prop::bool::weighted(0.2),
    ) {
        let mask = Mask { hides_own, inverted, ..case.recipe.mask };
        let case = Case { recipe: Recipe { score: Score::Dot, mask, ..case.recipe }, ..in_f32(&case) };
        let exact = case.run();
        let exact_o = node(&exact, "O");
        let single = (Dtype::F32, f64::from(f32::EPSILON) / 2.0, f64::from(f32::from_bits(1)));
        for (dtype, unit, least) in [single, (Dtype::F64, f64::EPSILON / 2.0, f64::from_bits(1))] {
            let graph = fused(&case, dtype);
            let o = node(&graph, "O");
            prop_assert_eq!(o.shape(), exact_o.shape());
            let bound = bound(&case, unit, least);
            for (a, b) in o.cells().zip(exact_o.cells()) {
                prop_assert!((a - b).abs() <= bound, "{dtype:?}: {a:e} and {b:e}, bound {bound:e}");
            }
            prop_assert_eq!(graph.warnings(), exact.warnings());
        }
    }

    #[test]
    fn the_fused_graph_names_the_steps_of_the_exact_one_in_their_shapes(case in cases()) {
        let case = Case { recipe: Recipe { score: Score::Dot, ..case.recipe }, ..case };
        let (exact, graph) = (case.run(), fused(&case, Dtype::F64));
        for (_, step) in exact.nodes().filter(|(_, step)| step.name.starts_with(['S', 'A'])) {
            let (_, same) = graph.nodes().find(|(_, node)| node.name == step.name).unwrap();
            prop_assert!(same.is_never_formed());
            prop_assert_eq!(same.shape(), step.shape());
            prop_assert_eq!(&same.op, &step.op);
        }
        prop_assert_eq!(graph.nodes().last().map(|(_, node)| node.name.as_str()), Some("O"));
    }
}

#[test]
fn json_has_the_steps_that_are_never_formed_with_shapes_and_no_values() {
    let nodes = attn(&format!("{SMALL} --causal")).nodes();
    assert_eq!(nodes.names(), ["Q", "K", "V", "S", "S_scaled", "S_masked", "A", "LSE", "O"]);
    for node in &nodes.0[3..7] {
        assert_eq!((&node["never_formed"], &node["shape"]), (&Value::Bool(true), &serde_json::json!([2, 3])));
        assert!(node["values"].is_null());
    }
    for node in nodes.0[..3].iter().chain(&nodes.0[7..]) {
        assert!(node["never_formed"].is_null() && node["values"].is_array() && node["dtype"] == "f32");
    }
}

#[test]
fn every_format_for_people_shows_an_equation_and_no_cells_of_what_is_never_formed() {
    for format in ["table", "markdown", "latex", "html"] {
        let out = attn(&format!("{SMALL} --only S --format {format}")).ok().out;
        assert_eq!(out.matches("never formed").count(), 1, "{format}: {out}");
        assert!(!out.contains("NaN"), "{format}: {out}");
    }
    assert!(attn(&format!("{SMALL} --only S,O --format numpy")).ok().out.contains("\n# never formed\n# O"));
    assert!(
        attn(&format!("{SMALL} --only S,O --format csv")).ok().out.starts_with("# S: never formed\n\n# O\n")
    );
    attn(&format!("{SMALL} --only S --format csv")).refused(&["`S` is never formed", "leave out --fast"]);
}

#[test]
fn what_the_kernel_computes_is_not_explained_and_what_stands_before_it_is() {
    attn(&format!("{SMALL} --explain 'O[1,1]'"))
        .refused(&["O comes from the fused kernel", "leave out --fast"]);
    attn(&format!("{SMALL} --explain 'LSE[1,1]'")).refused(&["LSE comes from the fused kernel"]);
    attn(&format!("{SMALL} --explain 'A[1,1]'")).refused(&["`A` is never formed", "leave out --fast"]);
    attn(&format!("{SMALL} --symbolic 'S[1,1]'")).refused(&["`S` is never formed"]);
    attn(&format!("{SMALL} --save S=s.npy")).refused(&["`S` is never formed"]);
    let words = "attend --words 'bat cave' --fast --explain 'Q[bat,1]'";
    assert!(attn(words).ok().out.contains("q11 = x11·w_q[1,1] + x12·w_q[2,1]"), "{}", attn(words).ok().out);
    let projected = format!("{} --wo '1 1; 0 1' --explain 'O[1,2]' --depth 2", SMALL);
    assert!(
        attn(&projected).ok().out.contains("C[1,1]    3       attention(Q, K, V), fused"),
        "{}",
        attn(&projected).ok().out
    );
}

#[test]
fn what_the_kernel_cannot_do_is_refused() {
    attn(&format!("{SMALL} --score cosine")).refused(&["cannot compute cosine scores", "--score cosine"]);
    attn(&format!("{SMALL} --threads 0")).refused(&["--threads", "between 1 and 256"]);
    attn(&format!("{SMALL} --dtype f16")).refused(&["--dtype", "f32, f64"]);
    for option in ["--dtype f64", "--threads 1", "--simd portable"] {
        attn(&format!("attend --words bat {option}")).refused(&["--fast"]);
    }
    let huge = "attend --q '1e300 1' --k '1 1' --v '1 1' --fast";
    attn(huge).refused(&["1e300 is too large for f32", "--dtype f64"]);
    attn(&format!("{huge} --dtype f64")).ok();
    attn(&format!("{SMALL} --bias '1e300 0 0; 0 0 0'")).refused(&["1e300", "f32", "--dtype f64"]);
    attn(&format!("{SMALL} --mask '1 0; 0 1' --mask-kind allow"))
        .refused(&["the mask is 2×2", "the scores are 2×3"]);
    attn(&format!("{SMALL} --heads 2000")).refused(&["2000"]);
    attn("attend --q '1 0' --k '1 0; 0 1' --v '1 2' --fast")
        .refused(&["2 keys but 1 value, and each key needs one value"]);
}

#[test]
fn the_option_precedes_the_variable_and_instructions_change_no_byte() {
    let plain = attn(SMALL).ok().out;
    for level in SimdLevel::available() {
        let line = format!("{SMALL} --simd {} --threads 2", level.name());
        assert_eq!(attn(&line).ok().out, plain, "{line}");
        let env = Env { simd: Some(level.name().to_string()), ..Env::default() };
        assert_eq!(attn(SMALL).env(env).ok().out, plain, "{level}");
    }
    let wrong = Env { simd: Some("sse9".to_string()), ..Env::default() };
    attn(SMALL).env(wrong.clone()).refused(&["ATTN_SIMD", "`sse9`", "this processor has portable"]);
    attn(&format!("{SMALL} --simd portable")).env(wrong.clone()).ok();
    attn("attend --words bat").env(wrong).ok();
    attn(&format!("{SMALL} --simd avx3")).refused(&["--simd", "did you mean `avx2`?", "portable"]);
    if let Some(lacking) = SimdLevel::ALL.into_iter().find(|level| !level.is_available()) {
        let line = format!("{SMALL} --simd {}", lacking.name());
        attn(&line).refused(&["this processor has no", "this processor has portable"]);
    }
}

#[test]
fn a_row_that_sees_nothing_gives_zeros_and_a_warning() {
    let line = "attend --q '1 1; 1 1' --k '1 1' --v '3 4' --fast --causal --tokens the,bat";
    let outcome = attn(&format!("{line} --only O --format csv")).ok();
    assert_eq!(outcome.out, "the,0,0\nbat,3,4\n");
    assert!(outcome.err.contains("A: row 1 (the) may attend to nothing"), "{}", outcome.err);
    assert_eq!(attn(line).nodes().matrix("LSE")[(0, 0)], f64::NEG_INFINITY);
}

#[test]
fn versus_fast_says_what_is_never_formed_and_that_the_rest_is_rounding() {
    let exact = SMALL.trim_end_matches(" --fast");
    let out = attn(&format!("{exact} --versus '--fast'")).ok().out;
    assert!(
        out.contains("The same in both: Q, K, V.") && out.contains("A: never formed with --fast."),
        "{out}"
    );
    assert!(out.contains("only by rounding"), "{out}");
    let out = attn(&format!("{SMALL} --versus '--scale none'")).ok().out;
    assert!(
        out.contains("The same in both: Q, K, V.") && out.contains("A: never formed, neither here nor with"),
        "{out}"
    );
}

#[test]
fn the_columns_of_grouped_heads_carry_the_names_of_the_values_they_mix() {
    let folder = tempfile::tempdir().unwrap();
    let v = folder.path().join("v.csv");
    std::fs::write(&v, "x,y\n1,2\n3,4\n").unwrap();
    let attend = "attend --q '1 0 1 0; 0 1 1 1' --k '1 0; 0 1'";
    let columns = |heads: &str| {
        let nodes = attn(&format!("{attend} --v {} {heads}", v.display())).nodes();
        nodes.0.last().unwrap()["cols"].clone()
    };
    for (heads, names) in [
        ("--heads 2 --kv-heads 1", ["x", "y", "x", "y"]),
        // Heads 1 and 2 mix the first column, heads 3 and 4 the second.
        ("--heads 4 --kv-heads 2", ["x", "x", "y", "y"]),
    ] {
        assert_eq!(columns(heads), serde_json::json!(names), "{heads}");
        assert_eq!(columns(&format!("{heads} --fast")), serde_json::json!(names), "{heads}");
    }
}

#[test]
fn what_was_computed_in_double_precision_and_loses_digits_in_single_is_named() {
    // Q, K and V from weights: with 0.1 the products have digits that f32 has not.
    let computed = "attend --x '0.1 1; 1 0' --wq '0.1 0; 0 1' --wk '1 0; 0 1' --wv '1 0; 0 1' --fast";
    let out = attn(computed).ok().out;
    assert!(out.contains("The fused kernel reads Q, K, V rounded to f32."), "{out}");
    for line in [&format!("{computed} --dtype f64"), "attend --words 'bat cave' --fast", SMALL] {
        assert!(!attn(line).ok().out.contains("rounded"), "{line}");
    }
}

#[test]
fn without_keys_and_without_tokens_the_missing_ones_are_named() {
    let inputs = AttendInputs { q: crate::cases::given(&Matrix::identity(2)), ..AttendInputs::default() };
    let error = attend_fused(&Recipe::default(), inputs, Dtype::F32, Machine::here()).unwrap_err();
    assert!(error.to_string().contains("there is no K"), "{error}");
}
