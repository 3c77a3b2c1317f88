//! `sink`, of papers on tokens that take the weight when nothing fits.

use super::builder::*;

const TOKENS: [&str; 6] = ["start", "the", "cat", "sat", "down", "and"];
const VALUES: &str = "0 0; 1 0; 4 2; 2 6; 0 4; 1 0";
/// No text is longer.
const LONGEST: usize = 2048;

/// `sink`: where the softmax puts the weight of a query that matches nothing; windows, kept keys and learned sinks.
pub(super) fn sink(demo: &mut Builder) -> Result<()> {
    let nothing = demo.given("S_none", Matrix::of([[0.0; TOKENS.len()]]).cols_named(&TOKENS))?;
    let shape = demo.matrix(nothing)?.shape();
    if shape.rows != 1 || shape.cols < 2 {
        return Err(Error::new(format!(
            "S_none is {shape}, and the demo follows one query over at least two tokens"
        )));
    }
    let keys = shape.cols;
    let v = rows_over_and_over(&numbers(VALUES), keys).rows_named(&TOKENS);
    let v = demo.fitted("V", v, (TOKENS.len(), 2))?;
    let none = nothing_fits(demo, nothing, v)?;
    let s = Matrix::from_fn(1, keys, |_, j| if j == 0 { 4.0 } else { 0.0 }).cols_named(&TOKENS);
    let s = demo.fitted("S", s, (1, TOKENS.len()))?;
    let first = first_token(demo, s, v)?;
    every_query(demo, s, keys)?;
    let [window, kept] = windows(demo, s, v)?;
    let learned = learned(demo, [nothing, v])?;
    special_sinks(demo, nothing)?;
    compare(demo, &[none, first, window, kept, learned])
}

/// The weights of one query, their sum, and the values mixed by them.
struct Mixed {
    a: NodeId,
    total: NodeId,
    o: NodeId,
}

fn mixed(demo: &mut Builder, suffix: &str, a: NodeId, v: NodeId) -> Result<Mixed> {
    let total = demo.compute(&format!("total{suffix}"), Op::Sums(Axis::Rows), &[a])?;
    let o = demo.product(&format!("O{suffix}"), a, v)?;
    Ok(Mixed { a, total, o })
}

fn nothing_fits(demo: &mut Builder, s: NodeId, v: NodeId) -> Result<NodeId> {
    let a = demo.compute("A_none", SOFTMAX, &[s])?;
    let none = mixed(demo, "_none", a, v)?;
    demo.step("The weights of a softmax always sum to 1, also if no token fits the query.")
        .claim(
            all([own(&["S_none"]), within(ROUNDING, max_of("A_none"), min_of("A_none"))]),
            "The query “and” fits no token, so each of them gets {A_none[1,1]}. The output is the mean of all values: noise.",
        )
        .columns(&[(s, None), (none.a, Some(none.total))])
        .together(&[v])
        .together(&[none.o]);
    Ok(none.o)
}

fn first_token(demo: &mut Builder, s: NodeId, v: NodeId) -> Result<NodeId> {
    let a = demo.compute("A", SOFTMAX, &[s])?;
    let first = mixed(demo, "", a, v)?;
    demo.step(
        "Models learn a way out: the first token gets a high score from such queries, and its value is close to 0. This token \
         is called an attention sink.",
    )
    .claim(
        all([own(&["V"]), less(0.8, "A[1,1]"), less(max_size_of("O"), 0.5)]),
        "“start” takes {A[1,1]:2} of the weight and adds nothing to the output. So the output is close to 0, and the token of this query hardly changes.",
    )
    .columns(&[(s, None), (first.a, Some(first.total))])
    .together(&[first.o]);
    Ok(first.o)
}

/// All queries with the same scores, under a causal mask.
fn every_query(demo: &mut Builder, s: NodeId, keys: usize) -> Result<()> {
    let ones = demo.compute("ones", Op::Ones { rows: keys, cols: 1 }, &[])?;
    let each = demo.product("S_each", ones, s)?;
    let causal = Op::Mask(CAUSAL);
    let hidden = demo.compute("S_each_masked", causal, &[each])?;
    let a = demo.compute("A_each", SOFTMAX, &[hidden])?;
    demo.step(
        "Only the first token is visible to all queries under a causal mask. That is why it becomes the sink: each row here is a \
         query with these scores.",
    )
    .claim(
        equal(min_of("A_each[*,1]"), &*format!("A_each[{keys},1]")),
        &format!("Each of them gives it at least {{A_each[{keys},1]:2}}."),
    )
    .folded(&[each])
    .show(&[a]);
    Ok(())
}

/// A window without the first token, and one with it.
fn windows(demo: &mut Builder, s: NodeId, v: NodeId) -> Result<[NodeId; 2]> {
    let (window, width) = demo.count("window", 3, LONGEST)?;
    let narrow = Mask { causal: true, window: Some(width), ..Mask::default() };
    let hidden = demo.compute("S_window", Op::Mask(narrow), &[s])?;
    let a = demo.compute("A_window", SOFTMAX, &[hidden])?;
    let cut = mixed(demo, "_window", a, v)?;
    let o = demo.node("O")?;
    let off_by = demo.gap("window", [cut.o, o])?;
    demo.step("A sliding window keeps the last tokens only, to save memory. What happens if the first token falls out of it?")
        .claim(
            all([
                equal("A_window[1,1]", 0.0),
                less(0.5, "A[1,1]"),
                less(max_size_of("O"), max_size_of("O_window")),
            ]),
            "Its weight of {A[1,1]:2} goes to the other tokens. Their values fill the output, which is off by {gap_window[1,1]}.",
        )
        .together(&[window])
        .columns(&[(hidden, None), (cut.a, Some(cut.total))])
        .folded(&[cut.o])
        .show(&[off_by]);

    let (keep, first) = demo.count("keep_first", 1, LONGEST)?;
    let hidden = demo.compute("S_kept", Op::Mask(Mask { keep_first: first, ..narrow }), &[s])?;
    let a = demo.compute("A_kept", SOFTMAX, &[hidden])?;
    let kept = mixed(demo, "_kept", a, v)?;
    let off_by = demo.gap("kept", [kept.o, o])?;
    demo.step(
        "StreamingLLM keeps the first tokens as well as the window. The paper keeps four, and counts positions inside the cache.",
    )
    .claim(
        less("gap_kept[1,1]", "gap_window[1,1]"),
        "With it the output is off by {gap_kept[1,1]}, without it by {gap_window[1,1]}.",
    )
    .together(&[keep])
    .columns(&[(hidden, None), (kept.a, Some(kept.total))])
    .folded(&[kept.o])
    .show(&[off_by]);
    Ok([cut.o, kept.o])
}

/// A learned number in the place of the first token.
fn learned(demo: &mut Builder, [s, v]: [NodeId; 2]) -> Result<NodeId> {
    let sink = demo.given("sink", numbers("4"))?;
    let a = demo.compute("A_sink", Op::SoftmaxWithSink { head: 0 }, &[s, sink])?;
    let learned = mixed(demo, "_sink", a, v)?;
    demo.step(
        "gpt-oss needs no token for this: each head learns one number, the sink. It joins the softmax like one more score, and \
         then its weight is dropped.",
    )
    .claim(
        less("total_sink[1,1]", 0.9),
        "The weights of the tokens sum to {total_sink[1,1]:2}, so a head can stay silent where nothing fits.",
    )
    .together(&[sink])
    .columns(&[(s, None), (learned.a, Some(learned.total))])
    .folded(&[learned.o]);
    Ok(learned.o)
}

/// The sinks −∞ and 0.
fn special_sinks(demo: &mut Builder, s: NodeId) -> Result<()> {
    let off = demo.given("off", Matrix::filled(1, 1, f64::NEG_INFINITY))?;
    let zero = demo.given("zero", numbers("0"))?;
    let a_off = demo.compute("A_off", Op::SoftmaxWithSink { head: 0 }, &[s, off])?;
    let a_zero = demo.compute("A_zero", Op::SoftmaxWithSink { head: 0 }, &[s, zero])?;
    let exp = demo.compute("exp_s", Op::Exponential(Base::E), &[s])?;
    let total = demo.compute("sum_exp", Op::Sums(Axis::Rows), &[exp])?;
    let one = demo.compute("one", Op::Ones { rows: 1, cols: 1 }, &[])?;
    let below = demo.compute("one_more", Op::Add, &[one, total])?;
    let by_formula = demo.compute("A_one_more", Op::Divide, &[exp, below])?;
    let a = demo.node("A_none")?;
    let from_usual = demo.gap("off", [a_off, a])?;
    let from_formula = demo.gap("zero", [a_zero, by_formula])?;
    demo.step("Two special sinks: −∞ takes nothing, and 0 adds e⁰ = 1 to the sum of the exponentials.")
        .claim(
            all([own(&["off"]), equal("gap_off[1,1]", 0.0)]),
            "With −∞ the weights are those of the usual softmax, A_none, to the last bit.",
        )
        .claim(
            all([own(&["zero"]), within(ROUNDING, "gap_zero[1,1]", 0.0)]),
            "With 0 they are e^s / (1 + Σ e^s). Miller says that attention with the usual formula is “off by one”, and this 1 is his \
             remedy.",
        )
        .together(&[off, zero])
        .columns(&[(a, None), (a_off, None), (exp, Some(total)), (by_formula, None), (a_zero, None)])
        .show(&[from_usual, from_formula]);
    Ok(())
}

/// The largest number of the output of this case is less than a quarter of that where nothing fits.
fn is_small(case: usize) -> Condition {
    less(times(4.0, max_size_of(&format!("outputs[{case}]"))), max_size_of("outputs[1]"))
}

/// The output in every case.
fn compare(demo: &mut Builder, outputs: &[NodeId]) -> Result<()> {
    let names = ["nothing fits", "first token as sink", "window", "window and first", "learned sink"];
    let all_outputs = demo.collect("outputs", "cases", Some(labels(&names)), outputs)?;
    demo.step("The outputs of all cases together.")
        .claim(
            all([
                Condition::All([2, 4, 5].map(is_small).into()),
                less(0.5, "A[1,1]"),
                less(0.5, "A_kept[1,1]"),
                less(max_size_of("outputs[4]"), max_size_of("outputs[3]")),
            ]),
            "A sink makes the output small against that of “nothing fits”: a token as sink, a kept token, and a learned number \
             alike.",
        )
        .show(&[all_outputs]);
    Ok(())
}
