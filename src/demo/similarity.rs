//! Demos of “Mathematical details behind self-attention”, in the order of its sections.

use super::builder::*;
use super::words::{self, Word};
use crate::graph::recipes::Weights;

// Demos of “Mathematical details behind self-attention”.

/// The rows of the known words of these names.
fn word_rows(names: &[&str]) -> Matrix {
    let found: Vec<Word> = names.iter().filter_map(|name| words::find(name)).copied().collect();
    words::matrix(&found)
}

/// A picture for a step: points, and an arrow from each row of one node to the same row of another. None where the user
/// put in vectors that are not of width 2.
struct Picture {
    points: Vec<NodeId>,
    arrows: Vec<(NodeId, NodeId)>,
    drawn: bool,
}

impl Picture {
    fn of(demo: &Builder, points: &[NodeId], arrows: &[(NodeId, NodeId)]) -> Result<Picture> {
        let mut drawn = true;
        for node in points.iter().copied().chain(arrows.iter().flat_map(|&(from, to)| [from, to])) {
            drawn &= demo.matrix(node)?.cols() == 2;
        }
        Ok(Picture { points: points.to_vec(), arrows: arrows.to_vec(), drawn })
    }

    fn beside(&self, step: StepBuilder<'_>) {
        if self.drawn {
            step.plane(&self.points, &self.arrows);
        }
    }
}

/// `similarity`: four measures on the same words, where they disagree, and why they cannot on vectors of length 1.
pub(super) fn similarity(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X", word_rows(&["bat", "cave", "racket"]))?;
    let width = demo.matrix(x)?.cols();
    let picture = Picture::of(demo, &[x], &[])?;
    picture
        .beside(demo.step("Each row is a word. Its numbers are the coordinates of a point.").together(&[x]));

    let dot = demo.compute("dot", Op::ProductTransposed, &[x, x])?;
    demo.step(
        "The dot product multiplies the coordinates in pairs and adds. A vector that is twice as long gets scores twice as large.",
    )
    .claim(
        all([
            less(0.0, "dot[bat,cave]"),
            less("dot[bat,cave]", "dot[bat,racket]"),
            at_most("cosine[bat,racket]", plus("cosine[bat,cave]", 1e-9)),
        ]),
        "For bat, racket ({dot[bat,racket]}) beats cave ({dot[bat,cave]}), but only because its vector is longer.",
    )
    .show(&[dot]);

    let scaled = demo.compute("scaled", Op::Scale(Factor::InverseRoot(width)), &[dot])?;
    demo.step("Attention divides by the square root of the number of coordinates. Every score is divided by the same number, so their order stays.")
        .show(&[scaled]);

    let cosine = demo.compute("cosine", Op::Cosine, &[x, x])?;
    demo.step(
        "The cosine divides by both lengths, so only the angle counts. Two vectors of the same direction have cosine 1.",
    )
    .claim(
        within(1e-9, "cosine[bat,cave]", "cosine[bat,racket]"),
        "Now bat has {cosine[bat,cave]:2} with cave and {cosine[bat,racket]:2} with racket: a tie.",
    )
    .claim(
        all([
            equal("cosine[cave,racket]", 0.0),
            less(0.0, max_size_of("X[cave]")),
            less(0.0, max_size_of("X[racket]")),
        ]),
        "Cave and racket are at a right angle, so their cosine is {cosine[cave,racket]}.",
    )
    .show(&[cosine]);

    let euclidean = demo.compute("euclidean", Op::Euclidean, &[x, x])?;
    demo.step(
        "The Euclidean distance is the straight line between two points. Here a small number means alike.",
    )
    .claim(
        less("euclidean[bat,cave]", "euclidean[bat,racket]"),
        "For bat, cave ({euclidean[bat,cave]:2}) is nearer than racket ({euclidean[bat,racket]:2}).",
    )
    .claim(
        all([
            less("euclidean[bat,cave]", "euclidean[bat,racket]"),
            less("dot[bat,cave]", "dot[bat,racket]"),
            within(1e-9, "cosine[bat,cave]", "cosine[bat,racket]"),
        ]),
        "So the dot product prefers racket, the distance prefers cave, and the cosine has a tie.",
    )
    .show(&[euclidean]);
    unit_vectors(demo)?;
    squash(demo)?;
    squash_in_context(demo)
}

/// The same words at length 1, where every measure gives the same ranking: |a − b|² = 2 − 2 a·b.
fn unit_vectors(demo: &mut Builder) -> Result<()> {
    let x = demo.node("X")?;
    let unit = demo.compute("X_unit", Op::UnitRows, &[x])?;
    let picture = Picture::of(demo, &[x], &[(x, unit)])?;
    let step = demo.step("Now every vector is divided by its length. Its direction stays.").show(&[unit]);
    picture.beside(step);

    let dot = demo.compute("dot_unit", Op::ProductTransposed, &[unit, unit])?;
    let distance = demo.compute("euclidean_unit", Op::Euclidean, &[unit, unit])?;
    demo.step(
        "Between vectors of length 1 the dot product is the cosine, and the squared distance is 2 − 2 · cosine. So all \
         measures give the same order.",
    )
    .claim(
        all([
            less("dot_unit[cave,racket]", "dot_unit[cave,bat]"),
            less("euclidean_unit[cave,bat]", "euclidean_unit[cave,racket]"),
        ]),
        "For cave, bat comes before racket in both tables: dot products {dot_unit[cave,bat]:2} and \
         {dot_unit[cave,racket]:2}, distances {euclidean_unit[cave,bat]:2} and {euclidean_unit[cave,racket]:2}.",
    )
    .show(&[dot, distance]);
    Ok(())
}

/// A word between two meanings, at the same distance from both.
fn squash(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X_squash", word_rows(&["squash", "commit", "pumpkin"]))?;
    let picture = Picture::of(demo, &[x], &[])?;
    let step = demo
        .step("Other words, in another plane.")
        .claim(
            own(&["X_squash"]),
            "Squash has two meanings: in git you squash commits, in the kitchen you cook a squash. The coordinates are ours.",
        )
        .together(&[x]);
    picture.beside(step);

    let dot = demo.compute("dot_squash", Op::ProductTransposed, &[x, x])?;
    let cosine = demo.compute("cosine_squash", Op::Cosine, &[x, x])?;
    let distance = demo.compute("euclidean_squash", Op::Euclidean, &[x, x])?;
    demo.step("The same three measures on these words.")
        .claim(
            all([
                equal("dot_squash[squash,commit]", "dot_squash[squash,pumpkin]"),
                within(1e-9, "cosine_squash[squash,commit]", "cosine_squash[squash,pumpkin]"),
                within(1e-9, "euclidean_squash[squash,commit]", "euclidean_squash[squash,pumpkin]"),
            ]),
            "Squash has a tie in every table: dot product {dot_squash[squash,commit]} with both words, distance \
             {euclidean_squash[squash,commit]:2} to both. No measure can tell which meaning is meant.",
        )
        .show(&[dot, cosine, distance]);
    Ok(())
}

/// The other word of the sentence pulls squash towards one axis.
fn squash_in_context(demo: &mut Builder) -> Result<()> {
    let x = demo.node("X_squash")?;
    let (words, width) = (demo.matrix(x)?.rows(), demo.matrix(x)?.cols());
    let mut row = |name: &str, i: usize| demo.row(name, x, i.min(words.saturating_sub(1)));
    let squash = row("squash", 0)?;
    let others = [("git", row("commit", 1)?), ("kitchen", row("pumpkin", 2)?)];
    let (mut weights, mut outputs): (Vec<NodeId>, Vec<NodeId>) = (Vec::new(), Vec::new());
    for (sentence, other) in others {
        let mut add =
            |name: &str, op: Op, inputs: &[NodeId]| demo.compute(&format!("{name}_{sentence}"), op, inputs);
        let x = add("X", Op::Stack(None), &[squash, other])?;
        let s = add("S", Op::ProductTransposed, &[squash, x])?;
        let scaled = add("S_scaled", Op::Scale(Factor::InverseRoot(width)), &[s])?;
        weights.push(add("A", SOFTMAX, &[scaled])?);
        outputs.push(add("O", Op::Product, &[weights[weights.len() - 1], x])?);
    }
    let picture = Picture::of(demo, &[x], &[(squash, outputs[0]), (squash, outputs[1])])?;
    let step = demo
        .step(
            "The other word of the sentence decides. Attention mixes squash with commit in one sentence, and with pumpkin in \
             another (the demo `context` shows each step).",
        )
        .claim(
            all([less("squash[1,1]", "O_git[1,1]"), less("O_git[1,2]", "squash[1,2]")]),
            "In “squash the commit”, squash moves to ({O_git[1,1]:2}, {O_git[1,2]:2}): towards git.",
        )
        .claim(
            all([less("O_kitchen[1,1]", "squash[1,1]"), less("squash[1,2]", "O_kitchen[1,2]")]),
            "In “squash and pumpkin”, squash moves to ({O_kitchen[1,1]:2}, {O_kitchen[1,2]:2}): towards vegetables.",
        )
        .together(&weights)
        .together(&outputs);
    picture.beside(step);
    Ok(())
}

/// `context`: from similarities to weights to context vectors, and the movement of a word in the plane.
pub(super) fn context(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X_cave", word_rows(&["bat", "cave"]))?;
    demo.step("Each row is a word of a sentence, as a point in the plane.")
        .claim(
            own(&["X_cave"]),
            "The sentence is “A bat lives in the cave”. We keep the two words that carry the meaning: bat and cave.",
        )
        .together(&[x]);

    let s = demo.compute("S_cave", Op::Cosine, &[x, x])?;
    demo.step("The scores say how alike each word (row) is to each word (column). Here they are cosines.")
        .show(&[s]);

    let mixture = demo.product("mixture_cave", s, x)?;
    demo.step(
        "Used as they are, the scores mix the words: each row of the mixture is a weighted sum of all words.",
    )
    .claim(
        equal(columns("X_cave"), 2.0),
        "Bat = {S_cave[bat,bat]:2} · bat + {S_cave[bat,cave]:2} · cave = ({mixture_cave[bat,1]:2}, \
             {mixture_cave[bat,2]:2}).",
    )
    .claim(
        all([less(1.0, sum("S_cave[bat]")), less(1.0, sum("S_cave[cave]"))]),
        "The scores of each word sum to more than 1, so the words become longer.",
    )
    .show(&[mixture]);

    let a = demo.compute("A_cave", SOFTMAX, &[s])?;
    demo.step("The softmax turns each row of scores into weights that sum to 1.").show(&[a]);

    let o = demo.product("O_cave", a, x)?;
    let picture = Picture::of(demo, &[x], &[(x, o)])?;
    let step = demo
        .step("The weights mix the words into context vectors. Every word moves towards the words it attends to.")
        .claim(
            equal(columns("X_cave"), 2.0),
            "Bat moves from ({X_cave[bat,1]:2}, {X_cave[bat,2]:2}) to ({O_cave[bat,1]:2}, {O_cave[bat,2]:2}), and cave \
             moves towards bat.",
        )
        .show(&[o]);
    picture.beside(step);

    rounding(demo, x, s, o)?;
    racket(demo)?;
    scaled_dot_products(demo)?;
    pronoun(demo)?;
    steps(demo)?;
    picture_of_patches(demo)
}

/// The document's own way: scores rounded to two decimals, then the weights again.
fn rounding(demo: &mut Builder, x: NodeId, s: NodeId, o: NodeId) -> Result<()> {
    let scores = demo.compute("S_rounded_cave", Op::Round(2), &[s])?;
    let softmax = demo.compute("A_of_rounded_cave", SOFTMAX, &[scores])?;
    let weights = demo.compute("A_rounded_cave", Op::Round(2), &[softmax])?;
    let output = demo.product("O_rounded_cave", weights, x)?;
    demo.compute("difference_cave", Op::Subtract, &[output, o])?;
    demo.step("The text rounds on the way: first the scores to two decimals, then the weights. Rounding errors add up.")
        .claim(
            equal(columns("X_cave"), 2.0),
            "Bat = {A_rounded_cave[bat,bat]:2} · bat + {A_rounded_cave[bat,cave]:2} · cave = \
             ({O_rounded_cave[bat,1]:2}, {O_rounded_cave[bat,2]:2}).",
        )
        .claim(
            not(within(0.0005, "difference_cave[bat,2]", 0.0)),
            "Its second coordinate is off by {difference_cave[bat,2]:3}. Round once, at the end.",
        )
        .together(&[scores, weights])
        .show(&[output]);
    Ok(())
}

/// The other sentence.
fn racket(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X_racket", word_rows(&["bat", "racket"]))?;
    let s = demo.compute("S_racket", Op::Cosine, &[x, x])?;
    let mixture = demo.product("mixture_racket", s, x)?;
    let a = demo.compute("A_racket", SOFTMAX, &[s])?;
    let o = demo.product("O_racket", a, x)?;
    let picture = Picture::of(demo, &[x], &[(x, o)])?;
    let step = demo
        .step("Another sentence, and the same steps.")
        .claim(own(&["X_racket"]), "It is “A tennis racket and a baseball bat”.")
        .claim(
            equal(columns("X_racket"), 2.0),
            "With the scores as they are, bat = {S_racket[bat,bat]:2} · bat + {S_racket[bat,racket]:2} · racket = \
             ({mixture_racket[bat,1]:2}, {mixture_racket[bat,2]:2}).",
        )
        .claim(
            all([
                within(1e-9, "A_racket[bat,bat]", "A_cave[bat,bat]"),
                less("O_racket[bat,1]", "X_racket[bat,1]"),
                less("X_racket[bat,2]", "O_racket[bat,2]"),
                less("X_cave[bat,1]", "O_cave[bat,1]"),
                less("O_cave[bat,2]", "X_cave[bat,2]"),
            ]),
            "The weights of bat are the same as with cave, but bat moves the other way, to ({O_racket[bat,1]:2}, \
             {O_racket[bat,2]:2}).",
        )
        .together(&[x])
        .together(&[s, a])
        .together(&[mixture, o]);
    picture.beside(step);
    Ok(())
}

/// Both sentences with the scores that attention really uses.
fn scaled_dot_products(demo: &mut Builder) -> Result<()> {
    let (shown, picture) = scaled(demo, "cave")?;
    let step = demo
        .step(
            "Attention uses scaled dot products as scores. They have no upper bound, so weights can be close to 0 or 1.",
        )
        .claim(less(0.9, "A_scaled_cave[bat,bat]"), "Next to cave, bat keeps {A_scaled_cave[bat,bat]:2} for itself and hardly moves.")
        .together(&shown[..2])
        .show(&shown[2..]);
    picture.beside(step);

    let (shown, picture) = scaled(demo, "racket")?;
    let step = demo
        .step("The other sentence, with scaled dot products.")
        .claim(
            all([
                less("A_scaled_racket[bat,bat]", "A_scaled_cave[bat,bat]"),
                within(1e-9, "S_racket[bat,racket]", "S_cave[bat,cave]"),
                equal("X_cave[bat,1]", "X_racket[bat,1]"),
                equal("X_cave[bat,2]", "X_racket[bat,2]"),
            ]),
            "Next to racket, bat keeps only {A_scaled_racket[bat,bat]:2}. Racket is longer than cave, and length counts \
             now.",
        )
        .together(&shown[..2])
        .show(&shown[2..]);
    picture.beside(step);
    Ok(())
}

fn scaled(demo: &mut Builder, sentence: &str) -> Result<([NodeId; 3], Picture)> {
    let x = demo.node(&format!("X_{sentence}"))?;
    let width = demo.matrix(x)?.cols();
    let dot = demo.compute(&format!("dot_{sentence}"), Op::ProductTransposed, &[x, x])?;
    let scale = Op::Scale(Factor::InverseRoot(width));
    let scaled = demo.compute(&format!("scaled_{sentence}"), scale, &[dot])?;
    let a = demo.compute(&format!("A_scaled_{sentence}"), SOFTMAX, &[scaled])?;
    let o = demo.product(&format!("O_scaled_{sentence}"), a, x)?;
    Ok(([scaled, a, o], Picture::of(demo, &[x], &[(x, o)])?))
}

// The end of `context`: a pronoun that finds its noun, one step instead of many, and pictures, as the document's introduction
// names them.

/// The document's sentence about a pronoun.
const SENTENCE: [&str; 10] = ["The", "cat", "sat", "on", "the", "mat", "because", "it", "was", "tired"];
const KINDS: [&str; 2] = ["living", "thing"];

/// “it” finds “cat”.
fn pronoun(demo: &mut Builder) -> Result<()> {
    let key = |word: &str| match word {
        "cat" => [2.0, 0.0],
        "mat" => [0.0, 2.0],
        "it" => [1.0, 1.0],
        _ => [0.0, 0.0],
    };
    let k = Matrix::from_fn(SENTENCE.len(), 2, |i, j| key(SENTENCE[i])[j]);
    let k = demo.given("K_it", k.rows_named(&SENTENCE).cols_named(&KINDS))?;
    let q = demo.given("q_it", numbers("3 0").rows_named(&["it"]).cols_named(&KINDS))?;
    let width = demo.matrix(k)?.cols();
    let s = demo.compute("S_it", Op::ProductTransposed, &[q, k])?;
    let scaled = demo.compute("S_scaled_it", Op::Scale(Factor::InverseRoot(width)), &[s])?;
    let a = demo.compute("A_it", SOFTMAX, &[scaled])?;
    demo.step(
        "A pronoun has to find its noun. Its query is compared with the keys of all words of the sentence.",
    )
    .claim(
        own(&["K_it", "q_it"]),
        "The sentence is “The cat sat on the mat because it was tired”. The vectors are ours: “it” looks for \
             something that is living.",
    )
    .claim(
        all([top_of_row("A_it[it,cat]"), less("A_it[it,mat]", "A_it[it,cat]")]),
        "“it” gives {A_it[it,cat]:2} of its attention to “cat” and {A_it[it,mat]:2} to “mat”.",
    )
    .folded(&[q, k])
    .columns(&[(s, None), (scaled, None), (a, None)]);
    Ok(())
}

/// The number of steps between the first word and the last.
fn steps(demo: &mut Builder) -> Result<()> {
    let lengths = numbers("2 3 5 10");
    let names = demo.own_labels(&["length"], &["2 words", "3 words", "5 words", "10 words"]);
    let n = demo.given("length", lengths.with_col_labels(names))?;
    let shape = demo.matrix(n)?.shape();
    let one = demo.compute("attention_steps", Op::Ones { rows: shape.rows, cols: shape.cols }, &[])?;
    let rnn = demo.compute("rnn_steps", Op::Subtract, &[n, one])?;
    let kept = demo.compute("rnn_kept", Op::Exponential(Base::Number(0.5)), &[rnn])?;
    demo.label(one, "steps with attention");
    demo.label(rnn, "steps of an RNN");
    demo.label(kept, "kept by an RNN");
    demo.step(
        "A recurrent network (RNN) reads one word at a time, so a sentence of n words takes n − 1 steps from the first \
         word to the last. Attention compares any two words in one step. It reads all at once, but it still writes one \
         word at a time: each new word needs the one before it.",
    )
    .claim(
        equal("rnn_steps[1,5 words]", 4.0),
        "If every step of the RNN keeps half of what came before, {rnn_kept[1,5 words]} of the first word is left \
         after 5 words.",
    )
    .columns(&[(n, None), (rnn, None), (one, None), (kept, None)]);
    Ok(())
}

/// A picture, cut into patches: each patch is a token.
fn picture_of_patches(demo: &mut Builder) -> Result<()> {
    let image = demo.given("image", numbers("1 1 0 0; 1 1 0 0; 0 0 1 1; 0 0 1 1"))?;
    let shape = demo.matrix(image)?.shape();
    let (high, wide) = ((shape.rows / 2).max(1), (shape.cols / 2).max(1));
    let mut patches: Vec<NodeId> = Vec::new();
    for top in [0, shape.rows - high] {
        for left in [0, shape.cols - wide] {
            let at = patches.len() + 1;
            let rows =
                demo.compute(&format!("strip_{at}"), Op::Rows { start: top, count: high }, &[image])?;
            let cut = Op::Columns { start: left, count: wide };
            let square = demo.compute(&format!("square_{at}"), cut, &[rows])?;
            let row = Op::Reshape { rows: 1, cols: high * wide };
            patches.push(demo.compute(&format!("patch_{at}"), row, &[square])?);
        }
    }
    let names = labels(&["top left", "top right", "bottom left", "bottom right"]);
    let x = demo.collect("X_patches", "patches", Some(names), &patches)?;
    let s = demo.compute("S_patches", Op::ProductTransposed, &[x, x])?;
    let scaled = demo.compute("S_scaled_patches", Op::Scale(Factor::InverseRoot(high * wide)), &[s])?;
    let a = demo.compute("A_patches", SOFTMAX, &[scaled])?;
    demo.step("Tokens need not be words. A picture is cut into patches, each patch becomes a row, and the rest stays the same.")
        .claim(own(&["image"]), "A picture of 4×4 pixels gives four patches of 2×2. 1 is bright, 0 is dark.")
        .claim(
            all([
                less("A_patches[top left,top right]", "A_patches[top left,bottom right]"),
                less("A_patches[top left,bottom left]", "A_patches[top left,bottom right]"),
            ]),
            "The patch at the top left gives {A_patches[top left,bottom right]:2} to the patch in the opposite corner, \
             more than to its neighbours.",
        )
        .together(&[image, x])
        .show(&[a]);
    Ok(())
}

/// The names of the coordinates.
const AXES: [&str; 2] = ["x", "y"];

/// `stretch`: the effect of a matrix on the angle between two vectors, and so on the weights.
pub(super) fn stretch(demo: &mut Builder) -> Result<()> {
    let x12 = demo.given("X_12", numbers("1 0; 0 1").rows_named(&["v1", "v2"]).cols_named(&AXES))?;
    let x34 = demo.given("X_34", numbers("1 1; -1 0").rows_named(&["v3", "v4"]).cols_named(&AXES))?;
    let stretch = demo.given("stretch", on_axes([[3.0, 0.0], [0.0, 1.0]]))?;
    demo.step(
        "Two pairs of vectors and a matrix. The text calls the matrix A and writes A·v, with v as a column. Here v is a row, \
         so the same product is v·Aᵀ.",
    )
    .together(&[x12, x34, stretch]);

    let (y12, picture) = transformed(demo, "X_12_stretched", x12, stretch)?;
    let step = demo
        .step("The matrix transforms each row of the first pair.")
        .claim(own(&["stretch"]), "It multiplies x by 3 and leaves y as it was.")
        .show(&[y12]);
    picture.beside(step);
    let [before, after] = cosines(demo, ["S_12", "S_12_stretched"], [x12, y12])?;
    demo.step("The cosines of the pair, before and after.")
        .claim(
            all([
                equal("S_12[v1,v2]", 0.0),
                equal("S_12_stretched[v1,v2]", 0.0),
                less(0.0, max_size_of("X_12_stretched[v1]")),
                less(0.0, max_size_of("X_12_stretched[v2]")),
                less(0.0, max_size_of("X_12[v1]")),
                less(0.0, max_size_of("X_12[v2]")),
            ]),
            "v1 and v2 were at a right angle and still are: {S_12[v1,v2]} before, {S_12_stretched[v1,v2]} after.",
        )
        .show(&[before, after]);

    let (y34, picture) = transformed(demo, "X_34_stretched", x34, stretch)?;
    picture.beside(demo.step("The same matrix on the second pair.").show(&[y34]));
    let [before, after] = cosines(demo, ["S_34", "S_34_stretched"], [x34, y34])?;
    demo.step("Its cosines, before and after.")
        .claim(
            all([less("S_34_stretched[v3,v4]", "S_34[v3,v4]"), less("S_34[v3,v4]", 0.0)]),
            "v3 and v4 were unlike ({S_34[v3,v4]:2}) and are even less alike now ({S_34_stretched[v3,v4]:2}).",
        )
        .show(&[before, after]);

    let a_before = demo.compute("A_34", SOFTMAX, &[before])?;
    let a_after = demo.compute("A_34_stretched", SOFTMAX, &[after])?;
    demo.step("The weights follow the scores. Training changes the numbers of the matrix so that a loss gets smaller, and with them the scores and the weights.")
        .claim(
            less("A_34[v3,v3]", "A_34_stretched[v3,v3]"),
            "v3 gave {A_34[v3,v3]:2} to itself and {A_34[v3,v4]:2} to v4. Now it gives {A_34_stretched[v3,v3]:2} and \
             {A_34_stretched[v3,v4]:2}. If the loss is smaller when v3 attends less to v4, training moves the matrix this way.",
        )
        .together(&[a_before, a_after]);
    rotation(demo, x34)?;
    reflection(demo, x34)?;
    shear(demo, x12)?;
    projection(demo, x34)
}

/// A rotation by the angle of a 3-4-5 triangle.
fn rotation(demo: &mut Builder, x: NodeId) -> Result<()> {
    let rotation = demo.given("rotation", on_axes([[0.6, -0.8], [0.8, 0.6]]))?;
    let (y, picture) = transformed(demo, "X_34_rotated", x, rotation)?;
    let cosine = demo.compute("S_34_rotated", Op::Cosine, &[y, y])?;
    let step = demo
        .step("The matrix `rotation` on the second pair. A rotation turns all vectors by the same angle, so it keeps every cosine.")
        .claim(
            within(1e-9, "S_34_rotated[v3,v4]", "S_34[v3,v4]"),
            "The cosine of v3 and v4 is still {S_34_rotated[v3,v4]:2}.",
        )
        .together(&[rotation, y, cosine]);
    picture.beside(step);
    Ok(())
}

/// A mirror along the x axis.
fn reflection(demo: &mut Builder, x: NodeId) -> Result<()> {
    let mirror = demo.given("reflection", on_axes([[1.0, 0.0], [0.0, -1.0]]))?;
    let (y, picture) = transformed(demo, "X_34_reflected", x, mirror)?;
    let cosine = demo.compute("S_34_reflected", Op::Cosine, &[y, y])?;
    let step = demo
        .step("The matrix `reflection` on the same pair. A reflection mirrors the plane. It keeps lengths and angles, so it keeps every cosine.")
        .claim(own(&["reflection"]), "This one reflects at the x axis: y changes its sign.")
        .claim(
            within(1e-9, "S_34_reflected[v3,v4]", "S_34[v3,v4]"),
            "The cosine of v3 and v4 is {S_34_reflected[v3,v4]:2}, as before.",
        )
        .together(&[mirror, y, cosine]);
    picture.beside(step);
    Ok(())
}

/// Every point to its place on the x axis.
fn projection(demo: &mut Builder, x: NodeId) -> Result<()> {
    let shadow = demo.given("projection", on_axes([[1.0, 0.0], [0.0, 0.0]]))?;
    let (y, picture) = transformed(demo, "X_34_projected", x, shadow)?;
    let cosine = demo.compute("S_34_projected", Op::Cosine, &[y, y])?;
    let step = demo
        .step(
            "The matrix `projection` on the same pair. A projection keeps one direction and drops the other. Every matrix is a combination of rotations or reflections, \
             scaling and projection (the demo `lowrank` takes one apart).",
        )
        .claim(
            all([own(&["projection"]), equal("S_34_projected[v3,v4]", -1.0), not(equal("S_34[v3,v4]", -1.0))]),
            "On the x axis only the direction left or right remains: v3 and v4 had the cosine {S_34[v3,v4]:2}, now they have \
             {S_34_projected[v3,v4]:2}.",
        )
        .together(&[shadow, y, cosine]);
    picture.beside(step);
    Ok(())
}

fn shear(demo: &mut Builder, x: NodeId) -> Result<()> {
    let shear = demo.given("shear", on_axes([[1.0, 1.0], [0.0, 1.0]]))?;
    let (y, picture) = transformed(demo, "X_12_sheared", x, shear)?;
    let cosine = demo.compute("S_12_sheared", Op::Cosine, &[y, y])?;
    let step = demo
        .step("The matrix `shear` on the first pair. A shear moves points along one axis, and the further they are from it the more.")
        .claim(
            less("S_12[v1,v2]", "S_12_sheared[v1,v2]"),
            "It moves v2 towards v1: their cosine goes from {S_12[v1,v2]:2} to {S_12_sheared[v1,v2]:2}.",
        )
        .claim(
            all([less("S_12[v1,v2]", "S_12_sheared[v1,v2]"), equal("S_12_stretched[v1,v2]", "S_12[v1,v2]")]),
            "The stretch left this cosine as it was.",
        )
        .together(&[shear, y, cosine]);
    picture.beside(step);
    Ok(())
}

/// A matrix that takes (x, y) to (x, y).
fn on_axes(rows: [[f64; 2]; 2]) -> Matrix {
    Matrix::of(rows).rows_named(&AXES).cols_named(&AXES)
}

/// `x · matrixᵀ`, and the picture of the movement.
fn transformed(demo: &mut Builder, name: &str, x: NodeId, matrix: NodeId) -> Result<(NodeId, Picture)> {
    let y = demo.compute(name, Op::ProductTransposed, &[x, matrix])?;
    let picture = Picture::of(demo, &[x], &[(x, y)])?;
    Ok((y, picture))
}

fn cosines(demo: &mut Builder, names: [&str; 2], of: [NodeId; 2]) -> Result<[NodeId; 2]> {
    Ok([
        demo.compute(names[0], Op::Cosine, &[of[0], of[0]])?,
        demo.compute(names[1], Op::Cosine, &[of[1], of[1]])?,
    ])
}

/// The names under which the dictionary keeps its entries.
const KEYS: [&str; 3] = ["alex.", "Alec", "Bob"];
/// The names that are looked up.
const QUERIES: [&str; 2] = ["Alex", "Bob"];
/// The characters of these names, and the letters they become when case and punctuation are taken away.
const CHARACTERS: [&str; 10] = ["A", "a", "l", "e", "x", "c", "B", "b", "o", "."];
const LETTERS: [&str; 7] = ["a", "l", "e", "x", "c", "b", "o"];

/// `lookup`: an exact and a soft look-up in a dictionary; the comparison of keys; the values that can be mixed.
pub(super) fn lookup(demo: &mut Builder) -> Result<()> {
    let v = demo.given(
        "V",
        numbers("30 5550101; 40 5550199; 60 5550123").rows_named(&KEYS).cols_named(&["age", "phone"]),
    )?;
    demo.step("A dictionary. Each row is an entry: its name is the key, its numbers are the values.")
        .together(&[v]);

    exactly(demo, v)?;
    let keys = demo.given("X_K", key_characters())?;
    let queries = demo.given("X_Q", query_characters())?;
    demo.step("For a soft lookup, each name becomes a vector with one column for each character.")
        .claim(own(&["X_Q", "X_K"]), "The numbers say how often the character occurs.")
        .together(&[queries])
        .together(&[keys]);
    let s = demo.compute("S_as_written", Op::ProductTransposed, &[queries, keys])?;
    demo.step("The scores of the names as they are spelled.")
        .claim(
            all([equal("S_as_written[Alex,alex.]", "S_as_written[Alex,Alec]"), own(&["X_Q", "X_K"])]),
            "They count shared characters. “Alex” shares {S_as_written[Alex,alex.]} with “alex.” and also \
             {S_as_written[Alex,Alec]} with “Alec”: a tie, because A and a are different columns.",
        )
        .show(&[s]);
    softly(demo, [queries, keys, v])
}

/// Each spelling is a direction of its own: a key matches or it does not.
fn exactly(demo: &mut Builder, v: NodeId) -> Result<()> {
    let spellings = ["Alex", "alex.", "Alec", "Bob"];
    let queries = numbers("1 0 0 0; 0 0 0 1");
    let keys = numbers("0 1 0 0; 0 0 1 0; 0 0 0 1");
    let queries = demo.given("Q_exact", queries.rows_named(&QUERIES).cols_named(&spellings))?;
    let keys = demo.given("K_exact", keys.rows_named(&KEYS).cols_named(&spellings))?;
    let a = demo.compute("A_exact", Op::ProductTransposed, &[queries, keys])?;
    let o = demo.product("O_exact", a, v)?;
    demo.step("An exact lookup: if every spelling has its own column, a query matches the key with the same spelling, or no key.")
        .claim(
            all([equal("A_exact[Bob,Bob]", 1.0), equal("O_exact[Bob,age]", "V[Bob,age]")]),
            "“Bob” finds his age, {O_exact[Bob,age]}.",
        )
        .claim(
            all([
                equal("A_exact[Alex,alex.]", 0.0),
                equal("A_exact[Alex,Alec]", 0.0),
                equal("A_exact[Alex,Bob]", 0.0),
                own(&["Q_exact", "K_exact"]),
            ]),
            "“Alex” finds nothing, because the key is spelled “alex.”.",
        )
        .together(&[queries, keys])
        .show(&[a, o]);
    Ok(())
}

/// Normalised names, weights, mixed values; and a sharper softmax, which comes near to the exact look-up.
fn softly(demo: &mut Builder, [queries, keys, v]: [NodeId; 3]) -> Result<()> {
    let normalise = demo.given("W", normalising())?;
    let q = demo.product("Q", queries, normalise)?;
    let k = demo.product("K", keys, normalise)?;
    demo.step("One matrix makes the names comparable. Here it is both W_Q and W_K.")
        .claim(own(&["W"]), "It counts capitals as small letters and leaves out the full stop.")
        .together(&[normalise])
        .show(&[q, k]);

    let s = demo.compute("S", Op::ProductTransposed, &[q, k])?;
    let a = demo.compute("A", SOFTMAX, &[s])?;
    demo.step(
        "The scores of the transformed names, and the softmax of each row.",
    )
    .claim(
        less("S[Alex,Alec]", "S[Alex,alex.]"),
        "For “Alex”, “alex.” now scores {S[Alex,alex.]} and “Alec” {S[Alex,Alec]}. The weights are {A[Alex,alex.]:2} and \
         {A[Alex,Alec]:2}.",
    )
    .show(&[s, a]);

    let o = demo.product("O", a, v)?;
    demo.step(
        "The weights mix the values. This makes sense only for values that can be averaged.",
    )
    .claim(
        all([
            own(&["V"]),
            not(whole("O")),
            not(within(0.05, "O[Alex,phone]", "V[alex.,phone]")),
            not(within(0.05, "O[Alex,phone]", "V[Alec,phone]")),
            not(within(0.05, "O[Alex,phone]", "V[Bob,phone]")),
        ]),
        "The mixed age, {O[Alex,age]:2}, is an estimate. The mixed phone number, {O[Alex,phone]:1}, belongs to nobody.",
    )
    .show(&[o]);

    let sharper = demo.compute("S_sharp", Op::Temperature(0.125), &[s])?;
    let a = demo.compute("A_sharp", SOFTMAX, &[sharper])?;
    let o = demo.product("O_sharp", a, v)?;
    demo.step("Dividing the scores by a small number makes the softmax sharper. The smaller the number, the more the best key dominates.")
        .claim(
            less(0.99, "A_sharp[Alex,alex.]"),
            "“alex.” now has {A_sharp[Alex,alex.]:4} of the weight. This is nearly an exact lookup, with an age of \
             {O_sharp[Alex,age]:3}.",
        )
        .show(&[sharper, a, o]);
    Ok(())
}

/// The count of each character (column) in each name that is looked up.
fn query_characters() -> Matrix {
    numbers("1 0 1 1 1 0 0 0 0 0; 0 0 0 0 0 0 1 1 1 0").rows_named(&QUERIES).cols_named(&CHARACTERS)
}

/// The count of each character (column) in each key.
fn key_characters() -> Matrix {
    numbers("0 1 1 1 1 0 0 0 0 1; 1 0 1 1 0 1 0 0 0 0; 0 0 0 0 0 0 1 1 1 0")
        .rows_named(&KEYS)
        .cols_named(&CHARACTERS)
}

/// 1 where a character (row) becomes a letter (column).
fn normalising() -> Matrix {
    numbers("1 0 0 0 0 0 0; 1 0 0 0 0 0 0; 0 1 0 0 0 0 0; 0 0 1 0 0 0 0; 0 0 0 1 0 0 0; 0 0 0 0 1 0 0; 0 0 0 0 0 1 0; 0 0 0 0 0 1 0; 0 0 0 0 0 0 1; 0 0 0 0 0 0 0")
    .rows_named(&CHARACTERS)
    .cols_named(&LETTERS)
}

/// The nodes of one head from its scores on.
struct Head {
    scores: NodeId,
    scaled: NodeId,
    weights: NodeId,
    output: NodeId,
}

/// `multihead`: two heads one after the other, the same as one product cut into blocks, and both under the causal mask.
pub(super) fn multihead(demo: &mut Builder) -> Result<()> {
    let x = demo.given("X", numbers("1 0; 0 1; 1 1").rows_named(&["she", "saw", "bats"]))?;
    let first = demo.head_weights("_1", ["1 0; 0 1", "0 1; 1 0", "2 0; 0 1"].map(numbers))?;
    let second = demo.head_weights("_2", ["1 1; 0 1", "1 0; -1 1", "0 1; 3 0"].map(numbers))?;
    demo.step("All heads read the same X. Each head has its own weights.")
        .together(&[x, first[0], first[1], first[2]])
        .together(&second);

    let (one, q_1) = looped(demo, "_1", x, first)?;
    demo.step("Head 1: queries, keys and values, then scores, divided by √d_k, the softmax of each row, and the mixed values.")
        .together(&q_1)
        .together(&[one.scores, one.scaled])
        .together(&[one.weights, one.output]);
    let (two, q_2) = looped(demo, "_2", x, second)?;
    demo.step("Head 2: the same steps with its own weights.")
        .claim(
            not(equal("A_1[she,she]", "A_2[she,she]")),
            "The heads attend to different tokens: “she” gives {A_1[she,she]:2} to itself in head 1 and {A_2[she,she]:2} in \
             head 2.",
        )
        .together(&q_2)
        .together(&[two.scores, two.scaled])
        .together(&[two.weights, two.output]);

    let c = demo.compute("C", Op::Concatenate, &[one.output, two.output])?;
    demo.step("The outputs of the heads stand side by side. H heads of width d_v give H · d_v columns.")
        .show(&[c]);
    let last = one_product(demo, x, [first, second])?;
    agreement(demo, c, last)?;
    causal(demo, [one, two], [&q_1, &q_2])
}

/// One turn of the loop: its own three products, then attention.
fn looped(demo: &mut Builder, suffix: &str, x: NodeId, weights: [NodeId; 3]) -> Result<(Head, [NodeId; 3])> {
    let projected = demo.roles(suffix, x, weights)?;
    let head = attend(demo, suffix, projected)?;
    Ok((head, projected))
}

fn attend(demo: &mut Builder, suffix: &str, roles: [NodeId; 3]) -> Result<Head> {
    let (Weights { scores, scaled, weights, .. }, output) = demo.head(suffix, roles, &Recipe::default())?;
    Ok(Head { scores, scaled, weights, output })
}

/// All heads' weights side by side, one product for each of Q, K and V, whose columns are then cut into heads.
fn one_product(demo: &mut Builder, x: NodeId, heads: [[NodeId; 3]; 2]) -> Result<NodeId> {
    let (mut weights, mut products, mut blocks) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
    for (role, name) in ["Q", "K", "V"].into_iter().enumerate() {
        let own = [heads[0][role], heads[1][role]];
        let w = demo.compute(&format!("W_{name}"), Op::Concatenate, &own)?;
        let all = demo.product(name, x, w)?;
        weights.push(w);
        products.push(all);
        let mut start = 0;
        for (head, blocks) in blocks.iter_mut().enumerate() {
            let count = demo.matrix(own[head])?.cols();
            let block = Op::Columns { start, count };
            blocks.push(demo.compute(&format!("{name}_block_{}", head + 1), block, &[all])?);
            start += count;
        }
    }
    demo.step("Now without the loop: the weights of the heads stand side by side, and there is one product each for Q, K and V.")
        .together(&weights)
        .together(&products);

    demo.step("Reshaping cuts Q into one block of columns for each head, and K and V in the same way. No number changes.")
        .together(&[blocks[0][0], blocks[1][0]]);

    let mut outputs = Vec::new();
    for (head, block) in blocks.iter().enumerate() {
        let [q, k, v] = block[..] else { continue };
        outputs.push(attend(demo, &format!("_block_{}", head + 1), [q, k, v])?.output);
    }
    demo.compute("C_blocks", Op::Concatenate, &outputs)
}

fn agreement(demo: &mut Builder, c: NodeId, blocks: NodeId) -> Result<()> {
    let [_, largest] = demo.difference(["difference", "largest"], [blocks, c])?;
    demo.step("Attention within each block. How far is the concatenation of the results, C_blocks, from C of the loop?")
        .claim(
            equal("largest[1,1]", 0.0),
            "The largest difference is {largest[1,1]}: the sums are the same, in the same order.",
        )
        .show(&[largest]);
    Ok(())
}

/// The same heads under the causal mask, and the projection that brings the result back to the width of X.
fn causal(demo: &mut Builder, heads: [Head; 2], projected: [&[NodeId; 3]; 2]) -> Result<()> {
    let (mut shown, mut outputs) = (Vec::new(), Vec::new());
    for (head, (Head { scaled, .. }, [_, _, v])) in heads.iter().zip(projected).enumerate() {
        let head = head + 1;
        let mask = Op::Mask(CAUSAL);
        let masked = demo.compute(&format!("S_masked_{head}"), mask, &[*scaled])?;
        let weights = demo.compute(&format!("A_causal_{head}"), SOFTMAX, &[masked])?;
        let output = demo.product(&format!("O_causal_{head}"), weights, *v)?;
        shown.push([masked, weights]);
        outputs.push(output);
    }
    let c = demo.compute("C_causal", Op::Concatenate, &outputs)?;
    let step = demo
        .step("The causal variant hides later tokens in every head: the weights above the diagonal are exactly 0.")
        .claim(
            all([equal("A_causal_1[she,she]", 1.0), equal("A_causal_2[she,she]", 1.0)]),
            "“she” comes first, so it can only attend to itself, in both heads.",
        );
    match shown[..] {
        [[masked, weights], [_, others]] => step.together(&[masked, weights]).together(&[others, c]),
        _ => step.show(&[c]),
    };

    let w_o = demo.given("W_O", numbers("1 0; 0 1; 1 0; 0 1"))?;
    let o = demo.product("O", c, w_o)?;
    demo.step(
        "The text stops at the concatenation. An output matrix W_O mixes the heads, and it can take the result back to \
         the width of X.",
    )
    .claim(own(&["W_O"]), "This W_O simply adds the two heads.")
    .together(&[w_o, o]);
    Ok(())
}
