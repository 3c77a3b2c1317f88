//! Demos of papers on positions: rotations, and biases by distance.

use super::builder::*;
use crate::attention::{HeadOf, Places};

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
