//! The slips that the reviews of `attn diagnose` named: each is in the catalogue and has wrong results by another hand, and what
//! the reviews added is found by its name (tests/golden/reviewed_slips.py).

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnose::{field, gradient_slips};
use crate::golden;
use crate::mistakes::{Ids, More, OtherSlip, answer, named, reviewed_cases};
use attn::diagnose::{Diagnosis, catalogue};

/// A slip in the words of a review, its id here, its id in the golden files where that is another one, and how the variant begins
/// there.
type Reviewed = (&'static str, &'static str, &'static str, &'static str);

/// Every single slip that the first two reviews and the task itself name.
const REVIEWED: &[Reviewed] = &[
    ("overflow to NaN", "softmax-overflow", "", "float64"),
    ("overflow to NaN in single precision", "softmax-overflow", "", "float32"),
    ("missing keepdims: the sum", "softmax-keepdims", "", "sum"),
    ("missing keepdims: the maximum", "softmax-keepdims", "", "maximum"),
    ("exp not divided by the sum", "softmax-unnormalised", "", ""),
    ("heads split by reshape", "heads-by-reshape", "", "split"),
    ("heads split and joined by reshape", "heads-by-reshape", "", "split and join"),
    ("heads joined by reshape", "heads-not-transposed", "", ""),
    ("interleaved split and join", "heads-interleaved-both", "", ""),
    ("columns interleaved at the join", "columns-interleaved", "", ""),
    ("only W_Q transposed", "projection-transposed", "", "W_Q"),
    ("only W_K transposed", "projection-transposed", "", "W_K"),
    ("only W_V transposed", "projection-transposed", "", "W_V"),
    ("W_O transposed", "output-projection-transposed", "", ""),
    ("weights untransposed", "weights-transposed", "", ""),
    ("keys from W_Q", "keys-are-queries", "", ""),
    ("queries from W_K", "queries-are-keys", "", ""),
    ("values from W_Q", "values-are-queries", "", ""),
    ("k and v swapped", "keys-values-exchanged", "", ""),
    ("transposed weights times V", "weights-turned", "", ""),
    ("softmax over heads", "softmax-heads", "", ""),
    ("softmax twice", "softmax-twice", "", ""),
    ("log-softmax", "log-softmax", "", ""),
    ("causal mask one too high", "causal-off-by-one", "", "one later key"),
    ("causal mask one too low", "mask-strict", "", ""),
    ("−1 for −∞", "mask-weak", "", "-1 in place"),
    ("−10 for −∞", "mask-weak", "", "-10"),
    ("+1e9 for −∞", "mask-positive", "", "1e9"),
    ("padding applied to queries", "mask-on-queries", "", "queries"),
    ("−1e9 and an empty row", "mask-finite-empty-row", "", ""),
    ("mask polarity", "mask-inverted", "", ""),
    ("no mask", "mask-missing", "", ""),
    ("a float mask of ones and zeros", "mask-added", "", ""),
    ("batch_first", "mask-unasked", "", "each token itself alone"),
    ("√T", "scale-by-length", "", "sqrt(T)"),
    ("T", "scale-by-length", "", "T"),
    ("√H", "scale-by-heads", "", "sqrt(H)"),
    ("H", "scale-by-heads", "", "H"),
    ("d_model", "scale-model-width", "scale-by-model-width", "d_model"),
    ("√d_model", "scale-model-width", "", ""),
    ("d_v", "scale-by-value-width", "", "d_v"),
    ("√d_v", "scale-by-value-width", "", "sqrt(d_v)"),
    ("one head over the full width, √d_head", "heads-full-width", "", ""),
    ("scale after the softmax", "scale-late", "", ""),
    ("layer norm before", "layer-norm", "", "X, before"),
    ("layer norm after", "layer-norm", "", "result, after"),
    ("Add & Norm", "layer-norm", "", "Add & Norm"),
    ("RMS norm", "rms-norm", "", ""),
    ("positions added", "positions-added", "", "once"),
    ("positions added twice", "positions-added", "", "twice"),
    ("RoPE, neighbours", "rotary-positions", "", "neighbours"),
    ("RoPE, halves", "rotary-positions", "", "halves"),
    ("residual doubled", "residual-doubled", "", ""),
    ("heads shared: queries", "heads-share-first", "", "queries"),
    ("all heads with head 1's weights", "heads-share-first", "", "weights"),
    ("heads averaged", "heads-averaged", "", "results"),
    ("weights averaged over heads", "heads-averaged", "", "weights"),
    ("wrong number of heads", "heads-wrong-number", "", ""),
    ("W_O per head", "output-projection-per-head", "", ""),
    ("results unjoined, (H, T, d)", "heads-unjoined", "", "head by head"),
    ("results unjoined, (T, H, d)", "heads-unjoined", "", "token by token"),
    ("results unjoined and transposed", "heads-unjoined", "", "head by head, transposed"),
    ("result transposed", "column-convention", "", ""),
    ("result flattened", "result-reshaped", "result-flattened", ""),
    ("sigmoid", "sigmoid-weights", "", ""),
    ("ReLU over its sum", "relu-weights", "", "over its sum"),
    ("L2 norm", "l2-normalised", "", ""),
    ("hard maximum", "hard-maximum", "", ""),
    ("uniform weights", "uniform-weights", "", ""),
    ("column maxima subtracted", "column-maximum", "", ""),
    ("softmax over features", "softmax-features", "", ""),
    ("Σ q∘k", "score-elementwise", "", ""),
    ("negative squared distance", "score-distance", "", "squared"),
    ("V divided by √d_k", "values-scaled", "", ""),
    ("W_O applied twice", "output-projection-twice", "", ""),
    ("sign of the scores", "scores-negated", "", ""),
    ("sign of the result", "output-negated", "", ""),
    ("result minus residual", "residual-subtracted", "", "result minus residual"),
    ("residual minus result", "residual-subtracted", "", "residual minus result"),
    ("result times residual", "residual-multiplied", "", ""),
    ("residual inside the projection", "residual-inside", "", ""),
    ("residual of the normalised X", "residual-normalised", "", ""),
    ("residual added where none is asked for", "residual-added", "", ""),
    ("rows reversed", "rows-reversed", "", ""),
    ("last row repeated", "rows-off-by-one", "", "first row missing"),
    ("last row not reached", "rows-off-by-one", "", "last row not reached"),
    ("a causal mask nobody asked for", "mask-unasked", "", "causal"),
    ("a window nobody asked for", "mask-unasked", "", "window"),
    ("key-only mask (T,)", "mask-one-row", "", ""),
    ("row-only mask (T, 1)", "mask-one-column", "", ""),
    ("padded X zeroed", "padding-zeroed", "", "X"),
    ("padded outputs zeroed", "padded-outputs-zeroed", "", ""),
    ("only the first key/value head", "kv-head-first-only", "", ""),
    ("key/value heads reversed", "kv-heads-reversed", "", ""),
    ("any temperature", "temperature", "", "0.73"),
    ("a bias of V", "bias-added", "bias-of-values", ""),
    ("a bias of the output", "bias-added", "bias-of-output", ""),
    ("attention applied twice", "attention-twice", "", "as tokens"),
    ("the weights applied twice", "attention-twice", "", "the weights twice"),
    ("top-k weights", "top-k-weights", "", "2, not divided"),
    ("top-k weights, renormalised", "top-k-weights", "", "2, divided"),
    ("a range of K that slides", "range-slides", "", "K, down"),
    ("a range of V that slides", "range-slides", "", "V, down"),
    ("a range of W that slides", "range-slides", "", "W_Q"),
    ("a range of a sum that slides", "range-slides", "", "the sum"),
    ("a range of a maximum that slides", "range-slides", "", "the maximum"),
    ("sorted weights", "numbers-sorted", "", "weights"),
    ("sorted scores", "numbers-sorted", "", "scores"),
    ("sorted results", "numbers-sorted", "", "rows of the result"),
    ("an exact GELU on the result", "activation-added", "", "exact GELU"),
    ("SiLU on the result", "activation-added", "", "SiLU"),
];

/// The wrong results of the other hand: their id and variant.
fn records() -> BTreeSet<(String, String)> {
    let files = [
        "mistakes.json",
        "more_mistakes.json",
        "reviewed_slips.json",
        "mechanism_slips.json",
        "coincidences.json",
    ]
    .map(golden::json);
    let cases = files.iter().flat_map(|file| golden::list(file, "cases"));
    let wrong = cases.flat_map(|case| golden::list(case, "wrong"));
    let record = |wrong: &serde_json::Value| {
        let ids = golden::list(wrong, "mistakes");
        let variant = wrong.get("variant").and_then(serde_json::Value::as_str).unwrap_or_default();
        (ids.len() == 1).then(|| (ids[0].as_str().unwrap_or_default().to_string(), variant.to_string()))
    };
    wrong.filter_map(record).collect()
}

#[test]
#[allow(clippy::print_stdout, reason = "cargo test -- --nocapture shows the count")]
fn every_slip_of_the_reviews_is_in_the_catalogue_and_has_a_record() {
    let records = records();
    let mut complaints = Vec::new();
    for (slip, id, theirs, variant) in REVIEWED {
        let theirs = if theirs.is_empty() { id } else { theirs };
        if !catalogue().any(|mistake| mistake.id == *id) {
            complaints.push(format!("{slip}: the catalogue has no {id}"));
        }
        if !records.iter().any(|(id, made)| id == theirs && made.starts_with(variant)) {
            complaints.push(format!("{slip}: there is no record of {theirs} ({variant})"));
        }
    }
    println!("{} slips", REVIEWED.len());
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_mistake_of_the_catalogue_has_a_record() {
    // What is made of the tables of stages and operators is in operators.json, and what is made in a part alone, too.
    let elsewhere = ["only-some-rows", "only-one-head", "bias-added", "result-reshaped", "residual-altered"];
    let records: BTreeSet<String> = records().into_iter().map(|(id, _)| id).collect();
    let operators = golden::json("operators.json");
    let of_stages: BTreeSet<String> = golden::list(&operators, "cases")
        .iter()
        .flat_map(|case| golden::list(case, "wrong"))
        .filter_map(|wrong| Some(golden::list(wrong, "mistakes")[0].as_str()?.to_string()))
        .collect();
    let of_gradients = gradient_slips::recorded();
    let of_threads = field::recorded();
    let is_missing = |id: &&str| {
        !records.contains(*id)
            && !of_stages.contains(*id)
            && !elsewhere.contains(id)
            && !of_gradients.contains(id)
            && !of_threads.contains(*id)
    };
    let missing: Vec<&str> = catalogue().map(|mistake| &*mistake.id).filter(is_missing).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Whether one of the explanations is the slip and nothing else.
fn is_named(slip: &OtherSlip, names: &[Ids]) -> bool {
    names.iter().any(|ids| ids.iter().eq([slip.id.as_str()]))
}

/// A sentence and a fix that end like one, and cells that show it.
fn says_what_and_how(diagnosis: &Diagnosis) -> bool {
    let Some(judged) = diagnosis.first_wrong() else { return false };
    let is_sentence = |text: &str| text.ends_with('.') && !text.contains("..") && !text.contains("  ");
    let mut slips = judged.mistakes.iter().flat_map(|named| &named.slips);
    slips.all(|slip| is_sentence(&slip.sentence()) && is_sentence(slip.fix())) && !judged.evidence.is_empty()
}

fn each_slip(mut visit: impl FnMut(&More, &OtherSlip, &Diagnosis)) {
    for case in reviewed_cases() {
        for slip in &case.slips {
            visit(case, slip, &case.examiner.examine(&[answer("O", &slip.result)]).unwrap());
        }
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "cargo test -- --nocapture shows what is said")]
fn what_the_reviews_added_gets_its_name_a_sentence_and_a_fix() {
    let (mut complaints, mut all) = (Vec::new(), BTreeMap::<String, String>::new());
    each_slip(|case, slip, diagnosis| {
        let (names, here) = (named(diagnosis), format!("{}: {} {}", case.name, slip.id, slip.variant));
        if !slip.blame {
            if names.iter().any(|ids| !ids.iter().eq(["dropout"]) || slip.id != "dropout") {
                complaints.push(format!("{here} was blamed: {names:?}"));
            }
        } else if !is_named(slip, &names) {
            complaints.push(format!("{here} came back as {names:?}"));
        } else if !says_what_and_how(diagnosis) {
            complaints.push(format!("{here} has no sentence, no fix, or no evidence"));
        }
        for named in diagnosis.first_wrong().into_iter().flat_map(|judged| &judged.mistakes) {
            let said: Vec<String> = named.slips.iter().map(|slip| slip.sentence()).collect();
            all.insert(format!("{} {}: {}", slip.id, slip.variant, said.join(" + ")), case.name.clone());
        }
    });
    all.iter().for_each(|(said, case)| println!("{said}   [{case}]"));
    assert!(complaints.is_empty(), "{}:\n{}", complaints.len(), complaints.join("\n"));
}

#[test]
fn dropout_after_the_output_projection_is_named_whatever_is_added_to_it() {
    let mut seen = 0;
    each_slip(|case, slip, diagnosis| {
        if slip.id == "dropout" {
            seen += 1;
            let names = named(diagnosis);
            assert!(is_named(slip, &names), "{}: {names:?}", case.name);
        }
    });
    assert!(seen > 0);
}
