//! The model `words` on a text, for demos: the steps of `attn model`, recorded in graphs.

use std::rc::Rc;
use std::sync::LazyLock;

use super::names::*;
use crate::graph::Graph;
use crate::input::{ModelFolder, StoredTensors};
use crate::model::{Architecture, Edits, LayerEdit, ModelRun, PassOptions, Tensors, Text};
use crate::tokenizer::Tokenizer;

/// The model, opened.
struct WordsModel {
    architecture: Architecture,
    tensors: StoredTensors,
    tokenizer: Tokenizer,
}

impl WordsModel {
    /// Opens it, once.
    fn open() -> Result<&'static WordsModel> {
        static MODEL: LazyLock<Result<WordsModel>> = LazyLock::new(WordsModel::read_files);
        MODEL.as_ref().map_err(|error| Error::new(error.to_string()))
    }

    fn read_files() -> Result<WordsModel> {
        let folder = ModelFolder::words()?;
        let file = folder.required_tokenizer()?;
        Ok(WordsModel {
            architecture: Architecture::from_config(&folder.config.text, &folder.config.name)?,
            tokenizer: Tokenizer::from_bytes(file.name(), file.text()?.as_bytes())?,
            tensors: folder.tensors,
        })
    }

    fn layers(&self) -> usize {
        self.architecture.model.layers as usize
    }

    /// A text, as the model reads it.
    fn text(&self, text: &str) -> Result<Text> {
        let tokens = self.tokenizer.encode(text)?;
        let ids = tokens.ids().iter().map(|&id| id as usize).collect();
        Ok(Text { ids, tokens: tokens.labels().into() })
    }

    /// Runs something on it.
    fn with_run<T>(&self, work: impl FnOnce(ModelRun<'_>) -> Result<T>) -> Result<T> {
        let tensors = Tensors::find(&self.architecture, self.tensors.clone())?;
        work(ModelRun::new(&self.architecture, &tensors))
    }

    /// All words, in the order of their ids.
    fn vocabulary(&self) -> Labels {
        let words = 0..self.architecture.model.vocabulary as u32;
        words.map(|id| self.tokenizer.piece(id).unwrap_or_default()).collect()
    }
}

/// What it takes to read a text, in multiplications.
const READING: f64 = 3e7;

impl Teller<'_> {
    /// A name for a number, or for a text that the model reads: `reads("the bat", without = L1.A_3)`.
    pub(super) fn name_value(&mut self, at: At, name: &str, is: &Expression) -> Result<()> {
        if name == "last" {
            return Err(self.wrong(at, "`last` is the last row or column, and no name of a number"));
        }
        if self.graph.require(name).is_ok() || self.named.get(name).is_some_and(|before| *before != at) {
            return Err(self.wrong(at, format!("`{}` is defined above", clip(name))));
        }
        self.named.insert(name.to_string(), at);
        if let Kind::Call { function, arguments, settings } = &*is.kind
            && function == "reads"
        {
            self.spend(at, READING)?;
            let run = self.reads(is.at, arguments, settings)?;
            self.runs.insert(name.to_string(), run);
            return Ok(());
        }
        let number = self.number(is)?;
        self.bind(name, Some(Value::Number(number)));
        Ok(())
    }

    fn reads(&self, at: At, arguments: &[Expression], settings: &[(String, Expression)]) -> Result<Run> {
        let text = match arguments {
            [Expression { kind, .. }] => match &**kind {
                Kind::Text(text) if !text.trim().is_empty() => Some(text),
                _ => None,
            },
            _ => None,
        };
        let Some(text) = text else {
            let error = self.wrong(at, "`reads` takes one text in quotes");
            return Err(error.help("reads(\"the bat sleeps\")"));
        };
        let mut edits = Edits::default();
        for (setting, value) in settings {
            let Kind::Name(head) = &*value.kind else {
                return Err(self.wrong(value.at, "a head is L1.A_3: layer 1, head 3"));
            };
            if setting != "without" || !edits.layers.is_empty() {
                let error = self.wrong(value.at, format!("`reads` has no such setting `{}`", clip(setting)));
                return Err(error.help("without = L1.A_3, once"));
            }
            let (layer, head) = self.head(value.at, &self.name(head)?)?;
            edits.layers.insert(layer, LayerEdit { heads: [head].into(), ..LayerEdit::default() });
        }
        let model = WordsModel::open()?;
        let text = model.text(text).map_err(|error| self.placed(error, at))?;
        let options = PassOptions { edits, measured: false, ..PassOptions::default() };
        let forward = model.with_run(|run| run.forward(text.clone(), options));
        Ok(Run { text, forward: Rc::new(forward.map_err(|error| self.placed(error, at))?) })
    }

    /// The layer and the head of `L1.A_3`, both from 1.
    fn head(&self, at: At, name: &str) -> Result<(usize, usize)> {
        let parts = name.strip_prefix('L').and_then(|rest| rest.split_once(".A_"));
        let model = WordsModel::open()?;
        let (layers, heads) = (1..=model.layers(), 1..=model.architecture.model.query_heads as usize);
        let read = parts.and_then(|(layer, head)| Some((layer.parse().ok()?, head.parse().ok()?)));
        read.filter(|(layer, head)| layers.contains(layer) && heads.contains(head)).ok_or_else(|| {
            let error = self.wrong(at, format!("the model has no head `{}`", clip(name)));
            error.help("a head is L1.A_3: layer 1, head 3")
        })
    }

    fn run(&self, at: At, name: &str) -> Result<&Run> {
        self.runs.get(name).ok_or_else(|| {
            let error = self.wrong(at, format!("`{}` is no text that the model reads", clip(name)));
            match nearest(name, self.runs.keys().map(String::as_str)) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("define it above: let cave = reads(\"the bat sleeps in the cave\")"),
            }
        })
    }

    fn run_of(&self, of: &Expression) -> Result<&Run> {
        match &*of.kind {
            Kind::Name(name) => self.run(of.at, &self.name_or_word(name)?),
            _ => Err(self.wrong(of.at, "the name of a text that the model reads is expected here")),
        }
    }

    /// The token of a text at a place from 1, and its id.
    fn token_at(&self, run: &Expression, place: &Expression) -> Result<(String, usize)> {
        let text = &self.run_of(run)?.text;
        let at = self.whole(place)?;
        match at.checked_sub(1).and_then(|at| Some((text.tokens.get(at)?.clone(), *text.ids.get(at)?))) {
            Some(found) => Ok(found),
            None => Err(self.wrong(place.at, format!("the text has {} tokens", text.ids.len()))),
        }
    }

    /// `token(cave, 2)` in a sentence.
    pub(super) fn token(&self, arguments: &[Expression]) -> Result<String> {
        match arguments {
            [run, place] => Ok(self.token_at(run, place)?.0),
            _ => Err(self.wrong(At::default(), "a token has a text and a place: {token(cave, 2)}")),
        }
    }

    /// `id(cave, 2)` in a sentence.
    pub(super) fn id(&self, run: &Expression, place: &Expression) -> Result<f64> {
        Ok(self.token_at(run, place)?.1 as f64)
    }

    /// The id of a word.
    pub(super) fn id_of_word(&self, word: &Expression) -> Result<usize> {
        let spelled = match &*word.kind {
            Kind::Text(text) => text.clone(),
            Kind::Name(name) => self.name_or_word(name)?,
            _ => return Err(self.wrong(word.at, "a word of the model is expected here")),
        };
        let id = WordsModel::open()?.tokenizer.id(&spelled);
        let unknown = || self.wrong(word.at, format!("`{}` is no word of the model", clip(&spelled)));
        id.map(|id| id as usize).ok_or_else(unknown)
    }

    /// Matrices of a run, with all that they are computed from; the name of each has the run's at its end.
    pub(super) fn take(&mut self, at: At, names: &[Name], of: &str) -> Result<()> {
        let run = self.run(at, of)?.clone();
        let names: Vec<String> = names.iter().map(|name| self.name(name)).collect::<Result<_>>()?;
        let layers = names.iter().filter_map(|name| name.strip_prefix('L')?.split_once('.')?.0.parse().ok());
        let model = WordsModel::open()?;
        let all = 1..=model.layers();
        let layers: Vec<usize> = layers.filter(|layer| all.contains(layer)).collect();
        let layers =
            layers.iter().min().map_or(1, |&first| first)..=layers.iter().max().map_or(1, |&last| last);
        self.spend(at, READING)?;
        let graph = model.with_run(|words| words.layers_again(&run.forward, layers));
        let graph = graph.map_err(|error| self.placed(error, at))?;
        let wanted = names.iter().map(|name| graph.require(name)).collect::<Result<Vec<NodeId>>>();
        let adopted = wanted.and_then(|wanted| self.graph.adopt(&graph, &wanted, &format!("_{of}")));
        let adopted = adopted.map_err(|error| match error.to_string().contains("two nodes") {
            true => error.with_help(format!("take all that you need from `{of}` in one line")),
            false => error,
        });
        adopted.map_err(|error| self.placed(error, at))?;
        Ok(())
    }

    /// The logits that the last token of some texts would give after a layer: `lens(cave, 0, cave, 1)`.
    pub(super) fn lens(
        &mut self,
        name: &str,
        at: At,
        arguments: &[Expression],
        rows: Option<Labels>,
    ) -> Result<NodeId> {
        if arguments.is_empty() || !arguments.len().is_multiple_of(2) {
            let error = self.wrong(at, "`lens` takes pairs of a text and a layer");
            return Err(error.help("lens(cave, 0, cave, 2): after the embedding, and after layer 2"));
        }
        self.spend(at, READING / 10.0 * arguments.len() as f64)?;
        let model = WordsModel::open()?;
        let mut places = Vec::new();
        for pair in arguments.chunks(2) {
            let layer = self.whole(&pair[1])?;
            if layer > model.layers() {
                return Err(self.wrong(pair[1].at, format!("the model has no layer {layer}")));
            }
            places.push((self.run_of(&pair[0])?.clone(), layer));
        }
        let (graph, logits) = model.with_run(|words| {
            let mut graph = Graph::new();
            let mut streams = Vec::new();
            for (number, (run, layer)) in (1..).zip(&places) {
                let stream = &run.forward.streams[*layer];
                let row = stream.row(stream.shape().rows.saturating_sub(1))?;
                let row = Matrix::from_row_major(1, row.len(), &row)?;
                streams.push(graph.given(&format!("X_{number}"), row, Origin::Stream(layer + 1))?);
            }
            let x = graph.add("X", Op::Stack(rows.clone()), &streams)?;
            graph.collects(x, "streams");
            let logits = words.logits(&mut graph, x)?;
            Ok((graph, logits))
        })?;
        let ending = name.strip_prefix("logits").ok_or_else(|| {
            let error = self.wrong(at, "the result of `lens` is called logits");
            error.help("logits = lens(…), or logits_cave = lens(…)")
        })?;
        let logits = self.graph.adopt(&graph, &[logits], ending)?[0];
        self.graph.name_lines(logits, rows, Some(model.vocabulary()));
        Ok(logits)
    }
}
