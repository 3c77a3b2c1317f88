//! `induction`, of papers on what two layers do together.

use super::builder::*;

/// The text, as places in the vocabulary: when the bat sleeps the bat.
const TEXT: [usize; 6] = [0, 1, 2, 3, 1, 2];
const VOCABULARY: [&str; 4] = ["when", "the", "bat", "sleeps"];
/// How far a weight may lie from its closed form because the first head is not quite sharp.
const NEARLY: f64 = 1e-6;

/// `induction`: an induction head that is written by hand, with three strengths as its only numbers.
pub(super) fn induction(demo: &mut Builder) -> Result<()> {
    let text = Text::of(demo)?;
    let x = text.stream(demo)?;
    let x_2 = text.previous_token(demo, x)?;
    let (a, v) = text.induction(demo, x_2)?;
    text.how_strong(demo)?;
    demo.begin_at("A_2[6,4]");
    text.predicted(demo, a, v)
}

/// A text as one-hot rows, and its sizes.
struct Text {
    tokens: NodeId,
    /// n: the number of tokens.
    length: usize,
    /// The number of words in the vocabulary.
    words: usize,
}

/// A head's scores before the mask, without their strength; its weights; and all that is only named.
struct Looked {
    matches: NodeId,
    weights: NodeId,
    named: Vec<NodeId>,
}

impl Text {
    fn of(demo: &mut Builder) -> Result<Text> {
        let own = Matrix::from_fn(TEXT.len(), VOCABULARY.len(), |i, j| f64::from(u8::from(TEXT[i] == j)));
        let names = TEXT.map(|word| VOCABULARY[word]);
        let tokens = demo.given("tokens", own.rows_named(&names).cols_named(&VOCABULARY))?;
        let matrix = demo.matrix(tokens)?;
        let is_one_hot = |i: usize| {
            let ones = matrix.row(i).filter(|x| *x == 1.0).count();
            ones == 1 && matrix.row(i).all(|x| x == 0.0 || x == 1.0)
        };
        if matrix.rows() < 2 || !(0..matrix.rows()).all(is_one_hot) {
            return Err(Error::new("tokens needs at least two rows, each with a single 1 among zeros")
                .help("a row stands for a token of the text, and its 1 for the place of the token in the vocabulary"));
        }
        Ok(Text { tokens, length: matrix.rows(), words: matrix.cols() })
    }

    /// The columns that say which token this is.
    fn token(&self) -> (usize, usize) {
        (0, self.words)
    }

    /// The columns behind token and position, for the token before.
    fn slot(&self) -> (usize, usize) {
        (self.words + self.length, self.words)
    }

    /// The residual stream before the first layer: token, position, empty slot.
    fn stream(&self, demo: &mut Builder) -> Result<NodeId> {
        let ones = demo.compute("ones", Op::Ones { rows: 1, cols: self.length }, &[])?;
        let positions = demo.compute("positions", Op::Diagonal, &[ones])?;
        let names: Labels = (1..=self.length).map(|at| format!("at {at}")).collect();
        let rows = demo.matrix(self.tokens)?.row_labels().cloned();
        demo.name_lines(positions, rows.clone(), Some(names));
        let slot = demo.compute("slot", Op::Scale(Factor::Number(0.0)), &[self.tokens])?;
        let words = demo.matrix(self.tokens)?.col_labels().cloned();
        let names = words.map(|words| words.iter().map(|word| format!("after {word}")).collect());
        demo.name_lines(slot, rows, names);
        let x = demo.side_by_side("X", "blocks", &[self.tokens, positions, slot])?;
        demo.step(
            "The residual stream has three blocks of columns: which token this is, which position it has, and an empty slot for the \
             token before it.",
        )
        .together(&[self.tokens, positions])
        .folded(&[slot, x]);
        Ok(x)
    }

    /// A head of a layer: scores of all pairs, times a strength, and the softmax of those that the mask leaves.
    fn head(&self, demo: &mut Builder, layer: usize, [q, k, strength]: [NodeId; 3]) -> Result<Looked> {
        let of = |name: &str| format!("{name}_{layer}");
        let matches = demo.compute(&of("match"), Op::ProductTransposed, &[q, k])?;
        let s = demo.compute(&of("S"), Op::Times, &[matches, strength])?;
        let causal = CAUSAL;
        let masked = demo.compute(&of("S_masked"), Op::Mask(causal), &[s])?;
        let weights = demo.compute(&of("A"), SOFTMAX, &[masked])?;
        Ok(Looked { matches, weights, named: vec![q, k, s, masked] })
    }

    /// What a matching key of the last query gets by the closed form: e^β / (m·e^β + n − m).
    fn closed_form(&self, demo: &mut Builder, layer: usize, [matches, beta]: [NodeId; 2]) -> Result<NodeId> {
        let of = |name: &str| format!("{name}_{layer}");
        let last = Op::Rows { start: self.length - 1, count: 1 };
        let last = demo.compute(&of("last"), last, &[matches])?;
        let m = demo.compute(&of("m"), Op::Sums(Axis::Rows), &[last])?;
        let ones = demo.node("ones")?;
        let n = demo.compute(&of("n"), Op::Sums(Axis::Rows), &[ones])?;
        let others = demo.compute(&of("others"), Op::Subtract, &[n, m])?;
        let power = demo.compute(&of("power"), Op::Exponential(Base::E), &[beta])?;
        let matching = demo.compute(&of("matching"), Op::Multiply, &[m, power])?;
        let all = demo.compute(&of("all"), Op::Add, &[matching, others])?;
        demo.compute(&of("closed"), Op::Quotient, &[power, all])
    }

    /// The first layer: each token looks at the one before it, and writes that token into its slot.
    fn previous_token(&self, demo: &mut Builder, x: NodeId) -> Result<NodeId> {
        let n = self.length;
        let beta = demo.given("beta_1", numbers("20"))?;
        let positions = demo.node("positions")?;
        let q = columns(demo, "Q_1", positions, (1, n - 1))?;
        let k = columns(demo, "K_1", positions, (0, n - 1))?;
        let Looked { matches, weights: a, named } = self.head(demo, 1, [q, k, beta])?;
        demo.step(
            "Layer 1, the previous-token head. Queries and keys are positions, one column apart: `match_1` is 1 where a key stands one \
             place before the query. The score is `beta_1` times that.",
        )
        .together(&[beta, matches])
        .folded(&named);
        let closed = self.closed_form(demo, 1, [matches, beta])?;
        let before = format!("A_1[{n},{}]", n - 1);
        demo.step("The softmax of each row of scores that the mask leaves: of n keys, the one before the query gets e^beta_1 / (e^beta_1 + n − 1).")
            .claim(
                within(ROUNDING, "closed_1[1,1]", &*before),
                &format!(
                    "The last query has n = {n} keys: e^beta_1 / (e^beta_1 + {}) = {{closed_1[1,1]:10}}. Only the first token has none before it: \
                     it sees itself.",
                    n - 1
                ),
            )
            .show(&[a])
            .folded(&[closed])
            .in_brief(a);
        let v = columns(demo, "V_1", x, self.token())?;
        let o = demo.product("O_1", a, v)?;
        let nothing = demo.compute("nothing", Op::Scale(Factor::Number(0.0)), &[x])?;
        let beside = columns(demo, "beside", nothing, (0, self.slot().0))?;
        let written = demo.side_by_side("written_1", "blocks", &[beside, o])?;
        let x_2 = demo.compute("X_2", Op::Add, &[x, written])?;
        let [rows, cols] = [demo.matrix(x)?.row_labels().cloned(), demo.matrix(x)?.col_labels().cloned()];
        demo.name_lines(x_2, rows, cols);
        demo.step(
            "The value is the token itself. The head writes its mix O_1 into the slot: now each row of the residual stream also says which \
             token came before.",
        )
        .show(&[o])
        .folded(&[v, written, x_2]);
        Ok(x_2)
    }

    /// The second layer: each token looks for those that came after the same token. Gives its weights and values.
    fn induction(&self, demo: &mut Builder, x: NodeId) -> Result<(NodeId, NodeId)> {
        let beta = demo.given("beta_2", numbers("5"))?;
        let q = columns(demo, "Q_2", x, self.token())?;
        let k = columns(demo, "K_2", x, self.slot())?;
        let Looked { matches, weights: a, named } = self.head(demo, 2, [q, k, beta])?;
        demo.step(
            "Layer 2, the induction head. A query asks with its own token, a key answers with its slot: `match_2` is how much of the slot \
             is the query's token. The score is `beta_2` times that.",
        )
        .claim(
            all([own(&["tokens"]), within(NEARLY, "match_2[6,4]", 1.0)]),
            "The last “bat” asks which token came after “bat”, and “sleeps” did.",
        )
        .together(&[beta, matches])
        .folded(&named);
        let closed = self.closed_form(demo, 2, [matches, beta])?;
        demo.step("The softmax of each row. With m matches of 1 among n keys, a key that matches gets e^beta_2 / (m · e^beta_2 + n − m).")
            .claim(
                all([own(&["tokens"]), one_match(), within(NEARLY, "closed_2[1,1]", "A_2[6,4]")]),
                "In the last row m = 1 and n = 6: “sleeps” gets {A_2[6,4]}, and each other key {A_2[6,1]}.",
            )
            .claim(
                all([own(&["tokens"]), within(NEARLY, "A_2[4,1]", 0.25), within(NEARLY, "A_2[4,4]", 0.25)]),
                "The query “sleeps” finds no match, because its token did not occur before. It looks at all keys alike.",
            )
            .together(&[closed])
            .show(&[a]);
        let v = columns(demo, "V_2", x, self.token())?;
        Ok((a, v))
    }

    /// The strength that gives the matches of the last query a wanted share.
    fn how_strong(&self, demo: &mut Builder) -> Result<()> {
        let odds = demo.given("odds", numbers("99"))?;
        let [m, others, last] = ["m_2", "others_2", "last_2"].map(|name| demo.node(name));
        let (m, others, last) = (m?, others?, last?);
        let each = demo.compute("others_per_match", Op::Quotient, &[others, m])?;
        let ratio = demo.compute("ratio", Op::Multiply, &[odds, each])?;
        let needed = demo.compute("needed", Op::Logarithm, &[ratio])?;
        let s = demo.compute("S_needed", Op::Times, &[last, needed])?;
        let a = demo.compute("A_needed", SOFTMAX, &[s])?;
        demo.step(
            "How large must `beta_2` be, so that the matches of the last query get `odds` times as much as all other keys? The closed form says \
             ln(odds · (n − m)/m).",
        )
        .claim(
            all([own(&["tokens", "odds"]), one_match(), within(NEARLY, "A_needed[1,4]", 0.99)]),
            "99 to 1 is 99 %. With one match among 6 keys that takes ln(99 · 5) = {needed[1,1]}. Twice as many other keys need only ln 2 \
             more.",
        )
        .together(&[odds, needed])
        .show(&[a])
        .folded(&[ratio]);
        Ok(())
    }

    /// The prediction: the logits are what the second head mixes, times `gamma`.
    fn predicted(&self, demo: &mut Builder, a: NodeId, v: NodeId) -> Result<()> {
        let gamma = demo.given("gamma", numbers("8"))?;
        let o = demo.product("O_2", a, v)?;
        let logits = demo.compute("logits", Op::Times, &[o, gamma])?;
        let p = demo.compute("P", SOFTMAX, &[logits])?;
        demo.step("The value is the token again. The logits are its mix O_2 times `gamma`, and their softmax predicts the next token.")
            .claim(
                all([own(&["tokens"]), top_of_row("P[6,sleeps]"), less(0.5, "P[6,sleeps]")]),
                "After “when the bat sleeps the bat” comes “sleeps”, with a probability of {P[6,sleeps]}. Nothing was trained: the text \
                 itself says how it goes on.",
            )
            .together(&[gamma])
            .folded(&[v, o, logits])
            .show(&[p]);
        Ok(())
    }
}

/// The last query has one match, as good as whole.
fn one_match() -> Condition {
    within(NEARLY, "m_2[1,1]", 1.0)
}

/// Some columns of a node: weights that only select need no matrix.
fn columns(demo: &mut Builder, name: &str, x: NodeId, (start, count): (usize, usize)) -> Result<NodeId> {
    demo.compute(name, Op::Columns { start, count }, &[x])
}
