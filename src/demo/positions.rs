//! Demos of papers on positions: rotations, and biases by distance.

use super::builder::*;
use crate::attention::RopeScaling;
use crate::attention::{HeadOf, Places};

/// Each word stands there twice, so that the same pair of words has more than one distance.
const WORDS: [&str; 4] = ["tick", "tock", "tick", "tock"];
/// No base is larger.
const MOST_BASE: usize = 1_000_000_000;
/// No first position is larger.
const MOST_FIRST: usize = 1_000_000;

/// `rope`: queries and keys rotated by their positions; the two pairings of columns, and how to get from one to the other.
pub(super) fn rope(demo: &mut Builder) -> Result<()> {
    let file = words(demo)?;
    let f = frequencies(demo, file.width)?;
    two_pairings(demo, &file, f)?;
    let right = wrong_pairing(demo, &file, f)?;
    let moved = moved_columns(demo, &file, f, &right)?;
    shifted(demo, &moved, f)?;
    scaling(demo, [moved.q, moved.k], f)
}

/// The words, and the weights of a file.
struct Words {
    x: NodeId,
    w_q: NodeId,
    w_k: NodeId,
    /// Their queries.
    q: NodeId,
    /// Their keys.
    k: NodeId,
    /// The number of columns of a query.
    width: usize,
}

fn words(demo: &mut Builder) -> Result<Words> {
    let x = demo.given("X", numbers("1 0; 0 1; 1 0; 0 1").rows_named(&WORDS))?;
    let w_q = demo.given("W_Q", numbers("2 0 1 1; 1 2 0 1"))?;
    let w_k = demo.given("W_K", numbers("1 1 0 2; 2 0 1 1"))?;
    let width = demo.matrix(w_q)?.cols();
    if width == 0 || !width.is_multiple_of(2) {
        let shape = demo.matrix(w_q)?.shape();
        return Err(Error::new(format!("W_Q is {shape}, but rotary positions rotate pairs of columns"))
            .help("give W_Q and W_K an even number of columns"));
    }
    let q = demo.product("Q", x, w_q)?;
    let k = demo.product("K", x, w_k)?;
    demo.step("Words in X, and the weights that make queries and keys of them. Nothing here knows yet where a word stands.")
        .claim(own(&["X"]), "Each word stands there twice, and both times it has the same query and the same key.")
        .together(&[x, w_q, w_k])
        .together(&[q, k]);
    Ok(Words { x, w_q, w_k, q, k, width })
}

fn frequencies(demo: &mut Builder, width: usize) -> Result<NodeId> {
    let (base, number) = demo.count("base", 100, MOST_BASE)?;
    let f = demo.compute("F", Op::Frequencies { width, base: number as f64 }, &[])?;
    demo.step(
        "Columns rotate in pairs, and each pair has a frequency F: the angle in radians from one position to the next. \
         Position t, counted from 0, turns the pair by t times this angle.",
    )
    .claim(
        top_of_row("F[1,1]"),
        "The first pair turns fastest, by an angle of {F[1,1]}, and the second by {F[1,2]}.",
    )
    .claim(own(&["base"]), "The paper has the base 10000, and a small one shows more in a short text.")
    .together(&[base, f]);
    Ok(f)
}

/// Rows rotated from a first position on.
fn rotated(
    demo: &mut Builder,
    name: &str,
    [x, f]: [NodeId; 2],
    pairing: Pairing,
    first: usize,
) -> Result<NodeId> {
    demo.compute(name, Op::Rotary(Rotation { first, pairing, magnitude: 1.0 }), &[x, f])
}

/// Queries and keys rotated, and their scores.
struct RotatedHead {
    q: NodeId,
    k: NodeId,
    s: NodeId,
}

fn rotated_head(
    demo: &mut Builder,
    suffix: &str,
    [q, k, f]: [NodeId; 3],
    pairing: Pairing,
    first: usize,
) -> Result<RotatedHead> {
    let q = rotated(demo, &format!("Q_{suffix}"), [q, f], pairing, first)?;
    let k = rotated(demo, &format!("K_{suffix}"), [k, f], pairing, first)?;
    let s = demo.compute(&format!("S_{suffix}"), Op::ProductTransposed, &[q, k])?;
    Ok(RotatedHead { q, k, s })
}

/// The columns of the first two pairs, and the models that have the pairing.
fn pairings(width: usize) -> Table {
    let pairs = width / 2;
    let shown = pairs.min(2);
    let columns = |first: usize, second: usize| format!("columns {first}, {second}");
    let row = |name: &str, of: fn(usize, usize) -> (usize, usize), files: &str| {
        let pairs = (0..shown).map(|pair| of(pair, pairs)).map(|(first, second)| columns(first, second));
        std::iter::once(name.to_string()).chain(pairs).chain([files.to_string()]).collect()
    };
    let header = ["pairing", "pair 1", "pair 2"].into_iter().take(1 + shown).chain(["found in"]);
    let header: Vec<&str> = header.collect();
    let halves = row("halves", |p, pairs| (p + 1, p + pairs + 1), "Llama and Qwen on the hub");
    let neighbours = row("neighbours", |p, _| (2 * p + 1, 2 * p + 2), "the paper, Meta's files");
    Table::new(&header, [halves, neighbours])
}

fn two_pairings(demo: &mut Builder, words: &Words, f: NodeId) -> Result<()> {
    let halves = rotated(demo, "Q_halves", [words.q, f], Pairing::Halves, 0)?;
    let neighbours = rotated(demo, "Q_neighbours", [words.q, f], Pairing::Neighbours, 0)?;
    demo.step("There are two conventions on which columns form a pair, and both are in use.")
        .claim(
            not(same("Q_halves", "Q_neighbours")),
            "The two give different vectors. The first word is at position 0, so neither turns it.",
        )
        .table(pairings(words.width))
        .together(&[halves, neighbours]);
    Ok(())
}

/// A file made for neighbours, read in both ways. Gives back the right way.
fn wrong_pairing(demo: &mut Builder, words: &Words, f: NodeId) -> Result<RotatedHead> {
    let (first, right, wrong) = (0, Pairing::Neighbours, Pairing::Halves);
    let q = demo.node("Q_neighbours")?;
    let k = rotated(demo, "K_neighbours", [words.k, f], right, first)?;
    let s = demo.compute("S_neighbours", Op::ProductTransposed, &[q, k])?;
    let q_wrong = demo.node("Q_halves")?;
    let k_wrong = rotated(demo, "K_halves", [words.k, f], wrong, first)?;
    let s_wrong = demo.compute("S_halves", Op::ProductTransposed, &[q_wrong, k_wrong])?;
    let gap = demo.gap("pairing", [s_wrong, s])?;
    demo.step(
        "Suppose that the model was trained with neighbours, and a program reads its file with halves. All shapes fit, so no \
         error appears.",
    )
    .claim(
        all([
            less(ROUNDING, "gap_pairing[1,1]"),
            not(within(1e-3, "S_halves[2,1]", "S_neighbours[2,1]")),
        ]),
        "But the scores are wrong: that of the second word for the first is {S_halves[2,1]} in place of \
         {S_neighbours[2,1]}. The largest error is {gap_pairing[1,1]}.",
    )
    .together(&[s, s_wrong])
    .show(&[gap]);
    Ok(RotatedHead { q, k, s })
}

/// The permutation of columns that puts the first columns of all pairs before the second ones.
fn firsts_before_seconds(width: usize) -> Matrix {
    let pairs = width / 2;
    let source = |j: usize| if j < pairs { 2 * j } else { 2 * (j - pairs) + 1 };
    Matrix::from_fn(width, width, |i, j| if i == source(j) { 1.0 } else { 0.0 })
}

/// The file with moved columns, which halves read right. Gives back its queries and keys.
fn moved_columns(demo: &mut Builder, words: &Words, f: NodeId, right: &RotatedHead) -> Result<Words> {
    let width = words.width;
    let order = demo.fitted("order", firsts_before_seconds(width), (4, 4))?;
    let w_q = demo.product("W_Q_moved", words.w_q, order)?;
    let w_k = demo.product("W_K_moved", words.w_k, order)?;
    let q = demo.product("Q_moved", words.x, w_q)?;
    let k = demo.product("K_moved", words.x, w_k)?;
    let head = rotated_head(demo, "fixed", [q, k, f], Pairing::Halves, 0)?;
    let reordered = demo.product("Q_reordered", right.q, order)?;
    demo.gap("order", [head.q, reordered])?;
    let gap = demo.gap("fixed", [head.s, right.s])?;
    demo.step(
        "The fix: move the columns of W_Q and W_K once, the first columns of all pairs to the left, the second ones to the \
         right. Then read the file with halves.",
    )
    .claim(
        all([equal("gap_order[1,1]", 0.0), within(ROUNDING, "gap_fixed[1,1]", 0.0)]),
        "The rotated vectors hold exactly the same numbers in another order, so the scores are right but for rounding. \
         Converters of Meta's files do the same.",
    )
    .folded(&[order])
    .together(&[w_q, w_k])
    .together(&[right.q, head.q])
    .folded(&[head.s])
    .show(&[gap]);
    Ok(Words { x: words.x, w_q, w_k, q, k, width })
}

/// All positions shifted by the same number.
fn shifted(demo: &mut Builder, words: &Words, f: NodeId) -> Result<()> {
    let (shift, first) = demo.count("shift", 50, MOST_FIRST)?;
    let head = rotated_head(demo, "shifted", [words.q, words.k, f], Pairing::Halves, first)?;
    let s = demo.node("S_fixed")?;
    let gap = demo.gap("shifted", [head.s, s])?;
    demo.step("Now the text starts at a later position. Every query and every key turns further, all by the same angles.")
        .claim(
            within(ROUNDING, "gap_shifted[1,1]", 0.0),
            "The scores stay the same but for rounding: they depend on the distance of two words, not on where these stand.",
        )
        .claim(
            all([own(&["X"]), within(ROUNDING, "S_shifted[2,1]", "S_shifted[4,3]")]),
            "So the second word scores the first as the fourth scores the third: {S_shifted[2,1]}.",
        )
        .folded(&[head.q, head.k])
        .together(&[shift, head.s])
        .show(&[gap]);
    Ok(())
}

// The last step of `rope`: one query and one key further and further apart, before and after linear scaling.

/// The largest distance in the texts of training.
const TRAINED: usize = 3;
/// No factor is larger: the table has a row for each distance.
const MOST_FACTOR: usize = 16;

/// The frequencies before and after the scaling, and the scores with both; queries and keys are not rotated yet.
fn scaling(demo: &mut Builder, words: [NodeId; 2], f: NodeId) -> Result<()> {
    let (factor, number) = demo.count("factor", 3, MOST_FACTOR)?;
    let linear = RopeScaling::Linear { factor: number as f64 };
    let f_linear = demo.compute("F_linear", Op::ScaledFrequencies(linear), &[f])?;
    let names: Labels = ["unscaled", "linear"].map(String::from).to_vec().into();
    let both = demo.collect("frequencies", "rows", Some(names), &[f, f_linear])?;
    demo.step(
        &format!(
            "For longer texts than in training, linear scaling divides every frequency by a factor. Suppose that training had \
             distances up to {TRAINED}."
        ),
    )
    .heading_if(
        less(1.0, "factor[1,1]"),
        &format!(
            "For longer texts than in training, linear scaling divides every frequency by a factor: all pairs turn more \
             slowly. Suppose that training had distances up to {TRAINED}."
        ),
    )
    .claim(equal("factor[1,1]", 1.0), "With the factor 1 every frequency stays as it is.")
    .together(&[factor])
    .show(&[both]);

    let far = TRAINED * number;
    let scores = by_distance(demo, words, [f, f_linear], far)?;
    demo.step(
        "One query and one key, further and further apart. Row t is the score of the last word's query at position t and the \
         first word's key at position 0.",
    )
    .claim(
        all([less(1.0, "factor[1,1]"), squeezed(number)]),
        &format!(
            "With scaled frequencies the score at distance {far} is the old one at distance {TRAINED}: no angle is larger than in \
             training, but most are new."
        ),
    )
    .claim(
        not(within(1e-3, "scores[1,1]", "scores[1,2]")),
        "Near words move closer too: the score at distance 1 changes from {scores[1,1]} to {scores[1,2]}.",
    )
    .show(&[scores]);
    Ok(())
}

/// The scores of the last word's query and the first word's key at the distances from 1 on: a column for each of the
/// frequencies.
fn by_distance(
    demo: &mut Builder,
    [q, k]: [NodeId; 2],
    frequencies: [NodeId; 2],
    far: usize,
) -> Result<NodeId> {
    let last = demo.matrix(q)?.rows().saturating_sub(1);
    let q = demo.row("q_last", q, last)?;
    let k = demo.row("k_first", k, 0)?;
    let ones = demo.compute("ones", Op::Ones { rows: far, cols: 1 }, &[])?;
    let everywhere = demo.product("q_everywhere", ones, q)?;
    let rotary = Op::Rotary(Rotation { first: 1, pairing: Pairing::Halves, magnitude: 1.0 });
    let mut rows = Vec::new();
    for (name, f) in ["unscaled", "linear"].into_iter().zip(frequencies) {
        let q = demo.compute(&format!("q_{name}"), rotary.clone(), &[everywhere, f])?;
        rows.push(demo.compute(&format!("scores_{name}"), Op::ProductTransposed, &[k, q])?);
    }
    let names: Labels = ["unscaled", "linear"].map(String::from).to_vec().into();
    let rows = demo.compute("scores_across", Op::Stack(Some(names)), &rows)?;
    demo.compute("scores", Op::Transpose, &[rows])
}

/// At the distance i times the factor, the scaled score is the unscaled one at the distance i.
fn squeezed(factor: usize) -> Condition {
    let at = |i: usize| within(ROUNDING, &*format!("scores[{},2]", i * factor), &*format!("scores[{i},1]"));
    Condition::All((1..=TRAINED).map(at).collect())
}

/// The verb belongs to a word four places before it.
const ALIBI_WORDS: [&str; 6] = ["some", "keys", "on", "the", "shelf", "are"];
/// No demo has more heads.
const MOST_HEADS: usize = 32;
/// No text is longer.
const LONGEST: usize = 2048;

/// `alibi`: a bias that grows with the distance, with a slope for each head.
pub(super) fn alibi(demo: &mut Builder) -> Result<()> {
    let s = demo.given("S", Matrix::of([[0.0; ALIBI_WORDS.len()]]).cols_named(&ALIBI_WORDS))?;
    let keys = demo.matrix(s)?.cols();
    if demo.matrix(s)?.rows() != 1 || keys < 2 {
        let shape = demo.matrix(s)?.shape();
        return Err(Error::new(format!(
            "S is {shape}, and the demo follows one query over at least two keys"
        )));
    }
    let (heads, count) = demo.count("heads", 8, MOST_HEADS)?;
    let text = Text { s, keys, heads: count };
    let b = text.biases(demo, heads)?;
    text.all_queries(demo)?;
    text.decay(demo, &b)?;
    text.contents(demo, &b)?;
    text.longer(demo)
}

/// One query at the end of a text, and the heads that read it.
struct Text {
    s: NodeId,
    keys: usize,
    heads: usize,
}

impl Text {
    /// The bias of the last query in one head, for this many keys.
    fn bias(&self, demo: &mut Builder, name: &str, head: usize, keys: usize) -> Result<NodeId> {
        let places = Places { queries: 1, keys, offset: keys as isize - 1 };
        let head = HeadOf { head, heads: self.heads };
        demo.compute(&format!("{name}_{}", head.head), Op::Alibi(head, places), &[])
    }

    /// A row for each head.
    fn collect(&self, demo: &mut Builder, name: &str, rows: &[NodeId]) -> Result<NodeId> {
        let names: Vec<String> = (1..=self.heads).map(|head| format!("head {head}")).collect();
        let what = if rows.len() == 1 { "head" } else { "heads" };
        demo.collect(name, what, Some(names.as_slice().into()), rows)
    }

    /// These scores plus the bias of each head.
    fn biased(&self, demo: &mut Builder, name: &str, s: NodeId, b: &[NodeId]) -> Result<NodeId> {
        let mut rows = Vec::new();
        for (head, &b) in (1..).zip(b) {
            rows.push(demo.compute(&format!("{name}_{head}"), Op::Add, &[s, b])?);
        }
        self.collect(demo, name, &rows)
    }

    /// A condition on every head.
    fn every_head(&self, condition: impl Fn(usize) -> Condition) -> Condition {
        Condition::All((1..=self.heads).map(condition).collect())
    }

    /// The number of heads is a power of two.
    fn power_of_two() -> Condition {
        Condition::Any((0..=MOST_HEADS.ilog2()).map(|n| equal("heads[1,1]", f64::from(1 << n))).collect())
    }

    /// The slopes of a number of heads that is no power of two.
    fn mixed_slopes(&self) -> String {
        let heads = self.heads;
        let smaller = 1 << heads.ilog2();
        format!(
            "{heads} is no power of two. The first {smaller} heads have the slopes of {smaller} heads, and the rest have every \
             second slope of {} heads, from the first on.",
            2 * smaller
        )
    }

    /// The scores without positions, and with the bias of each head.
    fn biases(&self, demo: &mut Builder, heads: NodeId) -> Result<Vec<NodeId>> {
        let a = demo.compute("A_plain", SOFTMAX, &[self.s])?;
        demo.step("One query at the end of a text, and its scores S for the words. S compares contents: it does not say how far away a word is.")
            .claim(
                all([own(&["S"]), within(ROUNDING, max_of("A_plain"), min_of("A_plain"))]),
                "Here all words fit “are” equally well, so each gets the weight {A_plain[1,1]}.",
            )
            .together(&[self.s, a]);

        let mut b = Vec::new();
        for head in 1..=self.heads {
            b.push(self.bias(demo, "B", head, self.keys)?);
        }
        let s_biased = self.biased(demo, "S_biased", self.s, &b)?;
        let (before, last) = (self.keys - 1, self.heads);
        let at = |head: usize| format!("S_biased[{head},{before}]");
        let halved = (1..last).map(|head| equal(times(2.0, &*at(head + 1)), &*at(head)));
        demo.step(
            "ALiBi adds a bias to each score: −m times the distance from the query to the key. Each head has a slope m of its own.",
        )
        .heading_if(
            Self::power_of_two(),
            "ALiBi adds a bias to each score: −m times the distance from the query to the key. Head h of H has the slope m = \
             2^(−8h/H).",
        )
        .claim(not(Self::power_of_two()), &self.mixed_slopes())
        .claim(
            all([own(&["S"]), Condition::All(halved.collect()), less(&*at(1), &*at(last))]),
            &format!(
                "The word before the query gets −m: {{{}}} in head 1, and half of it in each head that follows.",
                at(1)
            ),
        )
        .together(&[heads])
        .show(&[s_biased]);
        Ok(b)
    }

    /// The bias of all pairs in the first head.
    fn all_queries(&self, demo: &mut Builder) -> Result<()> {
        let places = Places { queries: self.keys, keys: self.keys, offset: 0 };
        let head = HeadOf { head: 1, heads: self.heads };
        let b = demo.compute("B_pairs", Op::Alibi(head, places), &[])?;
        let causal = CAUSAL;
        let masked = demo.compute("B_masked", Op::Mask(causal), &[b])?;
        demo.step(
            "The same for every query (row) and key (column) in head 1, under a causal mask. Along each diagonal the distance is \
             the same, and so is the bias.",
        )
        .show(&[masked]);
        Ok(())
    }

    /// The weights, and the factor from each word to the one before it.
    fn decay(&self, demo: &mut Builder, b: &[NodeId]) -> Result<()> {
        let s_biased = demo.node("S_biased")?;
        let a = demo.compute("A", SOFTMAX, &[s_biased])?;
        let before = Op::Columns { start: 0, count: self.keys - 1 };
        let before = demo.compute("A_before", before, &[a])?;
        let after = Op::Columns { start: 1, count: self.keys - 1 };
        let after = demo.compute("A_after", after, &[a])?;
        let ratio = demo.compute("ratio", Op::Quotient, &[before, after])?;
        let mut steps = Vec::new();
        for (head, &b) in (1..).zip(b) {
            let step = Op::Columns { start: self.keys - 2, count: 1 };
            steps.push(demo.compute(&format!("one_step_{head}"), step, &[b])?);
        }
        let steps = self.collect(demo, "one_step", &steps)?;
        let decay = demo.compute("decay", Op::Exponential(Base::E), &[steps])?;
        let near = demo.compute("A_near", Op::Columns { start: self.keys - 2, count: 2 }, &[a])?;
        let near = demo.compute("near", Op::Sums(Axis::Rows), &[near])?;
        let last = self.heads;
        let by = if last == 1 {
            "{decay[1,1]}.".to_string()
        } else {
            format!("{{decay[1,1]}} in head 1, by {{decay[{last},1]}} in head {last}.")
        };
        demo.step("The softmax turns the bias into a factor: `ratio` is the weight of a word over that of the next word.")
            .claim(
                self.every_head(|head| {
                    let (row, decay) = (format!("ratio[{head}]"), format!("decay[{head},1]"));
                    all([
                        within(ROUNDING, max_of(&row), &*decay),
                        within(ROUNDING, min_of(&row), &*decay),
                    ])
                }),
                &format!("Each step away multiplies the weight by e^(−m): by {by}"),
            )
            .claim(
                less(&*format!("near[{last},1]"), "near[1,1]"),
                &format!(
                    "Head 1 gives {{near[1,1]:2}} of its weight to the last two words, head {last} gives them \
                     {{near[{last},1]:2}}."
                ),
            )
            .show(&[a])
            .together(&[ratio, decay])
            .folded(&[near]);
        Ok(())
    }

    /// Scores that differ: a noun next to the verb, and the one that the verb belongs to.
    fn contents(&self, demo: &mut Builder, b: &[NodeId]) -> Result<()> {
        const FITS: [f64; ALIBI_WORDS.len()] = [0.0, 2.0, 0.0, 0.0, 1.0, 0.0];
        let fits = Matrix::from_fn(1, self.keys, |_, j| FITS[j % FITS.len()]).cols_named(&ALIBI_WORDS);
        let s = demo.fitted("S_fits", fits, (1, ALIBI_WORDS.len()))?;
        let plain = demo.compute("A_fits_plain", SOFTMAX, &[s])?;
        let biased = self.biased(demo, "S_fits_biased", s, b)?;
        let a = demo.compute("A_fits", SOFTMAX, &[biased])?;
        let last = self.heads;
        demo.step("Now the words fit differently. Contents and distance add up: a good fit far away competes with a poor fit nearby.")
            .claim(
                all([
                    own(&["S_fits"]),
                    top_of_row("A_fits[1,shelf]"),
                    top_of_row(&format!("A_fits[{last},keys]")),
                ]),
                &format!(
                    "“are” belongs to “keys”, and head {last} with its flat slope gives it most, {{A_fits[{last},keys]:2}}. Head \
                     1 with its steep slope gives most to “shelf”, which is nearer: {{A_fits[1,shelf]:2}}."
                ),
            )
            .together(&[s, plain])
            .folded(&[biased])
            .show(&[a]);
        Ok(())
    }

    /// A longer text of words that fit equally well.
    fn longer(&self, demo: &mut Builder) -> Result<()> {
        let (tokens, count) = demo.count("tokens", 4 * ALIBI_WORDS.len(), LONGEST)?;
        let keys = self.keys;
        if count <= keys {
            return Err(Error::new(format!("tokens must be more than the {keys} words of S")));
        }
        let mut rows = Vec::new();
        for head in 1..=self.heads {
            rows.push(self.bias(demo, "B_long", head, count)?);
        }
        let b = self.collect(demo, "B_long", &rows)?;
        let a = demo.compute("A_long", SOFTMAX, &[b])?;
        let far = demo.compute("A_far", Op::Columns { start: 0, count: count - keys }, &[a])?;
        let far = demo.compute("far_down", Op::Sums(Axis::Rows), &[far])?;
        let far = demo.compute("far", Op::Transpose, &[far])?;
        let last = self.heads;
        demo.step(&format!(
            "A longer text needs nothing new: the bias has a value for every distance. All words fit equally well here, and `far` \
             is the weight of those that are {keys} or more away."
        ))
        .claim(
            less("far[1,1]", 0.1),
            "Head 1 gives them {far[1,1]:2}: it reads the end of the text.",
        )
        .claim(
            less(0.5, &*format!("far[1,{last}]")),
            &format!("Head {last} gives them {{far[1,{last}]:2}}: it reads all of it."),
        )
        .together(&[tokens])
        .folded(&[a])
        .show(&[far]);
        Ok(())
    }
}
