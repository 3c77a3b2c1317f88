//! `meaning`: the demo of the model that travels with the program.

use super::builder::*;
use crate::graph::{Graph, Origin};
use crate::input::{FolderCheckpoint, ModelFolder};
use crate::model::{Architecture, Edits, Forward, LayerEdit, ModelRun, PassOptions, Tensors, Text};
use crate::tokenizer::Tokenizer;

/// A sentence, and the word in it that decides.
struct Case {
    name: &'static str,
    text: &'static str,
}

const CASES: [Case; 2] = [
    Case { name: "cave", text: "the bat sleeps in the cave . it is" },
    Case { name: "racket", text: "the bat lies by the racket . it is" },
];
/// The answers.
const ANSWERS: [&str; 2] = ["animal", "equipment"];
/// The layer and the head that look at the deciding word, counted from 1.
const DECIDING: (usize, usize) = (1, 3);
/// The place of `bat` in both sentences, from 0.
const BAT: usize = 1;
/// The places where the residual stream is read.
const PLACES: [&str; 3] = ["embedding", "layer 1", "layer 2"];

/// `meaning`: one word decides what another means, in a model that was trained: which head looks at it, and what follows.
pub(super) fn meaning(demo: &mut Builder) -> Result<()> {
    let model = WordsModel::open()?;
    let texts = [model.read(CASES[0].text)?, model.read(CASES[1].text)?];
    let answers = [model.id(ANSWERS[0])?, model.id(ANSWERS[1])?];
    model.with_run(|run| {
        read(demo, &texts);
        let heads = [first_layer(demo, &run, &texts[0], 0)?, first_layer(demo, &run, &texts[1], 1)?];
        same_embedding(demo, heads.each_ref().map(|head| head.embedding))?;
        look(demo, &heads)?;
        added(demo, &heads, answers)?;
        let words = NextWords { run: &run, vocabulary: model.vocabulary(), answers };
        after_each_layer(demo, &words, &texts)?;
        without_the_head(demo, &words, &texts)
    })?;
    measured(demo);
    Ok(())
}

/// The tokens of both sentences.
fn read(demo: &mut Builder, texts: &[Text; 2]) {
    let [cave, racket] = texts;
    let row = |(at, (a, b)): (usize, (&String, &String))| {
        vec![(at + 1).to_string(), a.clone(), cave.ids[at].to_string(), b.clone(), racket.ids[at].to_string()]
    };
    let rows = cave.tokens.iter().zip(racket.tokens.iter()).enumerate().map(row);
    let table = Table::new(&["position", "one sentence", "id", "the other", "its id"], rows);
    demo.step(
        "The model has two layers of four heads, and was trained to predict the next word. It reads two sentences, each token \
         as a number. Both end in “it is”: nothing in these words says what the bat is.",
    )
    .table(table.with_numbers(&["position", "id", "its id"]));
}

/// The deciding head on one sentence.
struct Head {
    embedding: NodeId,
    /// The weights of the last token.
    weights: NodeId,
    /// The values mixed by them.
    mixed: NodeId,
    /// The rows of the output projection that belong to the head.
    projection: NodeId,
    /// The table of embeddings.
    table: NodeId,
}

/// The steps of the first layer that lead to the deciding head.
fn first_layer(demo: &mut Builder, run: &ModelRun<'_>, text: &Text, case: usize) -> Result<Head> {
    let (layer, head) = DECIDING;
    let graph = run.layers_again(&pass(run, text, None)?, layer..=layer)?;
    let wanted =
        ["E", &format!("L{layer}.A_{head}"), &format!("L{layer}.O_{head}"), &format!("L{layer}.W_O"), "W_E"];
    let wanted: Vec<NodeId> = wanted.into_iter().map(|name| graph.require(name)).collect::<Result<_>>()?;
    let name = CASES[case].name;
    let [embedding, weights, mixed, projection, table] =
        demo.adopt(&graph, &wanted, &format!("_{name}"))?[..]
    else {
        return Err(Error::new("the first layer has other steps"));
    };
    let last = Op::Rows { start: text.ids.len() - 1, count: 1 };
    let weights = demo.compute(&format!("is_{name}"), last.clone(), &[weights])?;
    let mixed = demo.compute(&format!("mix_{name}"), last, &[mixed])?;
    Ok(Head { embedding, weights, mixed, projection, table })
}

/// The word has the same row in both sentences.
fn same_embedding(demo: &mut Builder, embeddings: [NodeId; 2]) -> Result<()> {
    let mut rows = [embeddings[0]; 2];
    for (at, case) in CASES.iter().enumerate() {
        let row = Op::Rows { start: BAT, count: 1 };
        rows[at] = demo.compute(&format!("bat_{}", case.name), row, &[embeddings[at]])?;
    }
    let change = demo.compute("bat_change", Op::Subtract, &rows)?;
    demo.label(change, "difference");
    let gap = demo.compute("bat_gap", LARGEST, &[change])?;
    demo.step("The first layer gets one vector for each token: that of the word, plus that of the position.")
        .claim(
            equal("bat_gap[1,1]", 0.0),
            "“bat” has the same vector in both sentences, to the last bit. Whatever it means has to come from other words.",
        )
        .folded(&rows)
        .show(&[gap]);
    Ok(())
}

/// Where the deciding head looks.
fn look(demo: &mut Builder, heads: &[Head; 2]) -> Result<()> {
    demo.step("Head 3 of layer 1 (L0H2, counted from 0): how much the last token, “is”, attends to each token.")
        .claim(
            all([top_of_row("is_cave[1,cave]"), top_of_row("is_racket[1,racket]")]),
            "In one sentence it gives {is_cave[1,cave]:5} to “cave”, in the other {is_racket[1,racket]:5} to “racket”: to the \
             word that decides.",
        )
        .show(&[heads[0].weights])
        .show(&[heads[1].weights]);
    Ok(())
}

/// What the head adds to the residual stream, in the direction that separates the two answers.
fn added(demo: &mut Builder, heads: &[Head; 2], answers: [usize; 2]) -> Result<()> {
    let names = labels(&CASES.map(|case| case.name));
    let width = demo.matrix(heads[0].mixed)?.cols();
    let mixed = demo.collect("mix", "sentences", Some(names), &heads.each_ref().map(|head| head.mixed))?;
    let rows = Op::Rows { start: (DECIDING.1 - 1) * width, count: width };
    let projection = demo.compute("W_O_3", rows, &[heads[0].projection])?;
    let added = demo.product("added", mixed, projection)?;
    let [animal, equipment] = answers;
    let animal = demo.compute("u_animal", Op::TokenRows(vec![animal]), &[heads[0].table])?;
    let equipment = demo.compute("u_equipment", Op::TokenRows(vec![equipment]), &[heads[0].table])?;
    let direction = demo.compute("direction", Op::Subtract, &[animal, equipment])?;
    let toward = demo.compute("toward", Op::ProductTransposed, &[added, direction])?;
    demo.step(
        "The values are mixed with these weights, and W_O adds the result to the residual stream of “is”. Its dot product with \
         the vector of “animal” minus that of “equipment” says which answer it favours.",
    )
    .claim(
        all([less(0.0, "toward[cave,1]"), less("toward[racket,1]", 0.0)]),
        "After “cave” it is positive: {toward[cave,1]} points to “animal”. After “racket” it is negative: {toward[racket,1]} \
         points to “equipment”.",
    )
    .folded(&[added, direction])
    .show(&[toward]);
    Ok(())
}

/// From residual streams to the probabilities of the two answers.
struct NextWords<'a> {
    run: &'a ModelRun<'a>,
    vocabulary: Labels,
    answers: [usize; 2],
}

impl NextWords<'_> {
    /// The probabilities of the two answers, a row for each stream.
    fn of(&self, demo: &mut Builder, suffix: &str, rows: &[StreamRow<'_>]) -> Result<NodeId> {
        let (graph, logits) = unembedded(self.run, rows)?;
        let logits = demo.adopt(&graph, &[logits], &format!("_{suffix}"))?[0];
        let names = labels(&rows.iter().map(|row| row.name).collect::<Vec<_>>());
        demo.name_lines(logits, Some(names), Some(self.vocabulary.clone()));
        let all = demo.compute(&format!("P_{suffix}"), SOFTMAX, &[logits])?;
        let mut columns = Vec::new();
        for (word, id) in ANSWERS.iter().zip(self.answers) {
            let column = Op::Columns { start: id, count: 1 };
            columns.push(demo.compute(&format!("p_{word}_{suffix}"), column, &[all])?);
        }
        demo.side_by_side(&format!("next_{suffix}"), "words", &columns)
    }
}

/// What the residual stream would predict after each layer.
fn after_each_layer(demo: &mut Builder, words: &NextWords<'_>, texts: &[Text; 2]) -> Result<()> {
    let mut shown = Vec::new();
    for (case, text) in CASES.iter().zip(texts) {
        let forward = pass(words.run, text, None)?;
        let row = |(place, name)| StreamRow { name, forward: &forward, place };
        let rows: Vec<StreamRow<'_>> = PLACES.into_iter().enumerate().map(row).collect();
        shown.push(words.of(demo, case.name, &rows)?);
    }
    demo.step(
        "What would be the next word if the model ended here? The final norm and the unembedding, applied after each layer \
         (the logit lens), give the probabilities of the two answers.",
    )
    .claim(
        all([less(0.99, "next_cave[layer 2,animal]"), less(0.99, "next_racket[layer 2,equipment]")]),
        "At the end the bat of the cave is an animal ({next_cave[layer 2,animal]}), and the bat of the racket is equipment \
         ({next_racket[layer 2,equipment]}).",
    )
    .claim(
        all([
            less(0.1, "next_cave[layer 1,animal]"),
            less("next_cave[layer 1,equipment]", "next_cave[layer 1,animal]"),
            less("next_racket[layer 1,animal]", "next_racket[layer 1,equipment]"),
        ]),
        "After layer 1 the right answer is ahead of the wrong one, and layer 2 makes it certain.",
    )
    .together(&shown);
    Ok(())
}

/// The same without the head.
fn without_the_head(demo: &mut Builder, words: &NextWords<'_>, texts: &[Text; 2]) -> Result<()> {
    let passes = [pass(words.run, &texts[0], Some(DECIDING))?, pass(words.run, &texts[1], Some(DECIDING))?];
    let place = words.run.layers();
    let pairs = CASES.iter().zip(&passes);
    let rows: Vec<StreamRow<'_>> =
        pairs.map(|(case, forward)| StreamRow { name: case.name, forward, place }).collect();
    let shown = words.of(demo, "without", &rows)?;
    demo.step("Now the output of this head is set to 0. Nothing else is changed.")
        .claim(
            all([less(0.5, "next_without[cave,animal]"), less(0.5, "next_without[racket,animal]")]),
            "The model says “animal” in both sentences ({next_without[cave,animal]} and {next_without[racket,animal]}), so one of \
             the two answers is wrong. Which bat it is, it can only guess.",
        )
        .show(&[shown]);
    Ok(())
}

/// The figures of the test.
fn measured(demo: &mut Builder) {
    demo.step(
        "Is that so for other sentences? The script that trained the model has measured it on texts that it had kept from the \
         training. The two texts of a pair differ in the deciding word (for “who won”, in the order of two names) and in the \
         answer, so guessing gives at most 0.5. Each question has a head that attends to this word: of two trained models this \
         one was chosen for that, and another need not have such heads. These shares are quoted from models/words/figures.json, \
         and not computed here.",
    )
    .table(held_out());
}

// What the script that trained the model has measured on texts kept from the training: `models/words/figures.json`.

/// The share of right answers to one kind of question.
struct Measured {
    /// The question in words.
    question: &'static str,
    /// The number of texts.
    texts: u32,
    /// With all heads.
    whole: f64,
    /// The head that looks at the deciding word.
    head: &'static str,
    /// Without this head.
    without: f64,
}

/// A row of the table.
const fn share(question: &'static str, texts: u32, whole: f64, head: &'static str, without: f64) -> Measured {
    Measured { question, texts, whole, head, without }
}

/// The kinds of the file, in its order.
const MEASURED: [Measured; 9] = [
    share("what a bat is, word after", 120, 1.0, "L1.A_3", 0.5),
    share("what a bat is, word before", 120, 1.0, "L1.A_3", 0.5),
    share("what an owl or a ball is", 40, 1.0, "L1.A_3", 0.475),
    share("what a squash is", 40, 1.0, "L1.A_3", 0.5),
    share("tired or heavy", 40, 1.0, "L1.A_3", 0.5),
    share("how the creature feels", 80, 1.0, "L1.A_3", 0.225),
    share("how the creature looks", 80, 1.0, "L2.A_2", 0.5375),
    share("how the forest is", 80, 1.0, "L1.A_2", 0.2375),
    share("who won", 20, 1.0, "L2.A_2", 0.5),
];

/// The figures as a table.
fn held_out() -> Table {
    let row = |measured: &Measured| {
        let Measured { question, texts, whole, head, without } = measured;
        let (whole, without) = (format!("{whole:.3}"), format!("{without:.3}"));
        vec![question.to_string(), texts.to_string(), whole, head.to_string(), without]
    };
    let header = ["question", "texts", "right", "head", "right without it"];
    Table::new(&header, MEASURED.iter().map(row)).with_numbers(&["texts", "right", "right without it"])
}

// The model `words` on a text, for demos: the steps of `attn model`, recorded in graphs.

/// The model `words`, opened.
struct WordsModel {
    architecture: Architecture,
    checkpoint: FolderCheckpoint,
    tokenizer: Tokenizer,
}

impl WordsModel {
    /// Opens it.
    ///
    /// # Errors
    /// None, unless its files were changed.
    fn open() -> Result<WordsModel> {
        let folder = ModelFolder::words()?;
        let file = folder.required_tokenizer()?;
        Ok(WordsModel {
            architecture: Architecture::from_config(&folder.config.text, &folder.config.name)?,
            tokenizer: Tokenizer::from_bytes(file.name(), file.text()?.as_bytes())?,
            checkpoint: folder.checkpoint(),
        })
    }

    /// Runs something on it.
    ///
    /// # Errors
    /// Those of the work.
    fn with_run<T>(&self, work: impl FnOnce(ModelRun<'_>) -> Result<T>) -> Result<T> {
        let tensors = Tensors::find(&self.architecture, &self.checkpoint)?;
        work(ModelRun::new(&self.architecture, &tensors))
    }

    /// A text, as the model reads it.
    ///
    /// # Errors
    /// If a word is not in the vocabulary.
    fn read(&self, text: &str) -> Result<Text> {
        let tokens = self.tokenizer.encode(text)?;
        let ids = tokens.ids().iter().map(|&id| id as usize).collect();
        Ok(Text { ids, tokens: tokens.labels().into() })
    }

    /// The id of a word.
    ///
    /// # Errors
    /// If it is not in the vocabulary.
    fn id(&self, word: &str) -> Result<usize> {
        let id = self.tokenizer.id(word).map(|id| id as usize);
        id.ok_or_else(|| Error::new(format!("`{word}` is no word of the model")))
    }

    /// All words, in the order of their ids.
    fn vocabulary(&self) -> Labels {
        let words = 0..self.architecture.model.vocabulary as u32;
        words.map(|id| self.tokenizer.piece(id).unwrap_or_default()).collect()
    }
}

/// A pass of the exact path, where asked for without a head; layer and head count from 1.
///
/// # Errors
/// If the text is too long for the model.
fn pass(run: &ModelRun<'_>, text: &Text, without: Option<(usize, usize)>) -> Result<Forward> {
    let mut edits = Edits::default();
    if let Some((layer, head)) = without {
        edits.layers.insert(layer, LayerEdit { heads: [head].into(), ..LayerEdit::default() });
    }
    run.forward(text.clone(), PassOptions { edits, measured: false, ..PassOptions::default() })
}

/// A row of a residual stream, with its name.
struct StreamRow<'a> {
    /// Its name: “layer 1”.
    name: &'a str,
    /// The pass that has recorded it.
    forward: &'a Forward,
    /// The stream: 0 is the input of the first layer.
    place: usize,
}

/// The logits that the last token's row of some residual streams would give, as the rows of one node.
///
/// # Errors
/// If a pass has no such stream.
fn unembedded(run: &ModelRun<'_>, rows: &[StreamRow<'_>]) -> Result<(Graph, NodeId)> {
    let mut graph = Graph::new();
    let mut nodes = Vec::new();
    for (number, StreamRow { forward, place, .. }) in (1..).zip(rows) {
        let stream = &forward.streams[*place];
        let row = stream.row(stream.shape().rows.saturating_sub(1))?;
        let row = Matrix::from_row_major(1, row.len(), &row)?;
        nodes.push(graph.given(&format!("X_{number}"), row, Origin::Stream(place + 1))?);
    }
    let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
    let x = graph.add("X", Op::Stack(Some(labels(&names))), &nodes)?;
    graph.collects(x, "streams");
    let logits = run.logits(&mut graph, x)?;
    Ok((graph, logits))
}
