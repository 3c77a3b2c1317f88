//! `attn weights`: attention weights that were computed elsewhere.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::recipes::{Derived, GivenWeights};
use crate::graph::{Convention, Graph, Origin};
use crate::input::{self, Files};
use crate::matrix::{Labels, Matrix};
use crate::model::HeadMeasures;
use crate::read::{Array, Limit};
use crate::render::{ModelPage, PageToken, model_page};
use crate::story::{
    MeasuredText, ShownWeights, Story, Table, given_weights, head_grid, head_rules, heads_that_stand_out,
    measures_table, stand_out_title, survey_table,
};
use crate::text::{counted, quoted};

use super::model::WindowArgs;
use super::output::{OutputArgs, one_page, warnings};
use super::presentation::typed_without;
use super::program::{Env, Outcome, Program, Streams};
use super::selection::NodeArgs;

/// Up to this many heads each has a row on the screen.
const MOST_LISTED: usize = 48;
/// The heads that are named for each place that they attend to.
const NAMED: usize = 3;

/// The options of `attn weights`.
#[derive(Deserialize, Debug)]
pub(super) struct WeightsArgs {
    file: String,
    tokens: Option<String>,
    key_tokens: Option<String>,
    layer: Option<usize>,
    head: Option<usize>,
    queries: Option<String>,
    values: Option<String>,
    mean: bool,
    rollout: bool,
    full: bool,
    #[serde(flatten)]
    window: WindowArgs,
    #[serde(flatten)]
    nodes: NodeArgs,
    #[serde(flatten)]
    output: OutputArgs,
}

/// The weights of a file, and the names of queries and keys.
struct Opened {
    weights: GivenWeights,
    queries: Labels,
    keys: Labels,
    notes: Vec<String>,
}

impl WeightsArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
        let mut files = Files::new(streams.input).within(env.reading.clone());
        let opened = self.opened(&mut files)?;
        let derived = self.derived(&opened, &mut files)?;
        let of_heads = self.window.given_option().is_none()
            && self.layer.is_none()
            && self.queries.is_none()
            && self.values.is_none()
            && !(self.rollout || self.mean);
        let is_asked = !self.nodes.only.is_empty() || self.nodes.explain.given_option().is_some();
        if of_heads && !is_asked {
            return self.heads(&opened, program, env, streams).map(|()| Outcome::from(0));
        }
        self.window.check_options()?;
        let Opened { weights, keys, notes, .. } = opened;
        let title = self.title(&weights);
        let shown =
            ShownWeights { layer: self.layer, head: self.head, rollout: self.rollout, mean: self.mean };
        let story = given_weights(&title, weights.graph(&derived)?, shown);
        let story = if self.full || self.output.is_page() { story.unfolded() } else { story };
        let story = Story { window: self.window.window(), ..story };
        let mut page = self.nodes.page(story, &self.output)?;
        let looked_at: Vec<_> =
            page.story.shown_nodes().into_iter().map(|id| &page.story.graph[id]).collect();
        self.window.check(&looked_at, &keys)?;
        page.story.remarks.extend(notes);
        one_page(page, "weights", &self.output.style(env, Convention::Rows), env, streams)
    }

    fn title(&self, weights: &GivenWeights) -> String {
        let (queries, keys) = weights.shape();
        let heads = weights.layers.first().map_or(0, Vec::len);
        let [layers, heads] = [counted(weights.layers.len(), "layer"), counted(heads, "head")];
        format!("Attention weights of {}: {layers} with {heads}, {queries} × {keys}", visible(&self.file))
    }

    fn opened(&self, files: &mut Files<'_>) -> Result<Opened> {
        let arrays = files.named(&self.file, Limit::ANY)?;
        let of_file = |error: Error| error.in_source(visible(&self.file));
        let (mut queries, mut keys) = named_in(&arrays);
        let mut weights = GivenWeights {
            layers: layers(arrays).map_err(of_file)?,
            origin: Origin::User(visible(&self.file).into_owned()),
        };
        let furthest = weights.check().map_err(of_file)?;
        let shape = weights.shape();
        if let Some(tokens) = &self.tokens {
            queries = Some(names("--tokens", tokens, shape.0, "query")?);
            if shape.0 == shape.1 {
                keys.clone_from(&queries);
            }
        }
        if let Some(tokens) = &self.key_tokens {
            keys = Some(names("--key-tokens", tokens, shape.1, "key")?);
        }
        let numbered = |count: usize| (1..=count).map(|at| at.to_string()).collect::<Labels>();
        for a in weights.layers.iter_mut().flatten() {
            *a = a.clone().labelled_by(queries.as_ref(), keys.as_ref());
        }
        let mut notes = files.take_notes();
        if GivenWeights::is_off(furthest) {
            notes.push(format!(
                "The weights of a row do not always sum to 1: they are off by up to {furthest:.3}. Dropout does that, and so does a \
                 window that was cut out."
            ));
        }
        let queries = queries.unwrap_or_else(|| numbered(shape.0));
        Ok(Opened { weights, queries, keys: keys.unwrap_or_else(|| numbered(shape.1)), notes })
    }

    fn derived(&self, opened: &Opened, files: &mut Files<'_>) -> Result<Derived> {
        let (layers, heads) =
            (opened.weights.layers.len(), opened.weights.layers.first().map_or(0, Vec::len));
        for (what, asked, there) in [("layer", self.layer, layers), ("head", self.head, heads)] {
            if let Some(asked) = asked.filter(|asked| !(1..=there).contains(asked)) {
                return Err(Error::new(format!("there is no {what} {asked}"))
                    .help(format!("the file has {}, counted from 1", counted(there, what))));
            }
        }
        let values = self.values.as_deref().map(|file| {
            let of_file = |error: Error| error.in_source(visible(file));
            let layers = self::layers(files.named(file, Limit::ANY)?).map_err(of_file)?;
            let label = |v: Matrix| v.labelled_by(Some(&opened.keys), None);
            let layers = layers.into_iter().map(|heads| heads.into_iter().map(label).collect()).collect();
            Ok::<_, Error>(GivenWeights { layers, origin: Origin::User(visible(file).into_owned()) })
        });
        let queries = self.queries.as_deref().map(|text| places(text, &opened.queries)).transpose()?;
        let is_of_rollout = |name: &String| {
            ["R", "A_mean", "A_sum", "A_and_I", "A_half"]
                .iter()
                .any(|own| name.rsplit('.').next().is_some_and(|name| name.split('[').next() == Some(own)))
        };
        let named = self.nodes.only.iter().chain(self.nodes.explain.addresses());
        let rollout = self.rollout || named.into_iter().any(is_of_rollout);
        Ok(Derived {
            rollout,
            mean: self.mean,
            queries: queries.unwrap_or_default(),
            values: values.transpose()?,
        })
    }

    /// What each head attends to: tables, and on a page a picture of every head.
    fn heads(
        &self,
        opened: &Opened,
        program: &Program<'_>,
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<()> {
        let Opened { weights, queries, keys, notes } = opened;
        let style = self.output.style(env, Convention::Rows);
        warnings(&Graph::new(), notes, &style, streams);
        let ids: Vec<usize> =
            keys.iter().map(|key| keys.iter().position(|other| other == key).unwrap_or(0)).collect();
        let measured = |a: &Matrix| HeadMeasures::of(&a.clone().into(), &ids);
        let measures: Vec<Vec<HeadMeasures>> =
            weights.layers.iter().map(|heads| heads.iter().map(measured).collect()).collect();
        let mut parts = vec![self.beginning(weights)];
        if !self.output.look.is_for_people() {
            parts.push(("Heads".to_string(), survey_table(&[("file", &measures)])));
            return self.output.look.tables("weights", &parts, env, streams);
        }
        let count: usize = measures.iter().map(Vec::len).sum();
        parts.push((stand_out_title(""), heads_that_stand_out(&measures, NAMED)));
        if count <= MOST_LISTED || self.output.is_page() {
            parts.push(("The letter of each head".to_string(), head_grid(&measures)));
            let title = "All heads: mean weights in %, in brackets the share without key 1; entropy in bits";
            parts.push((title.to_string(), measures_table(&measures)));
        }
        if let Some(head) = measures.first().and_then(|heads| heads.first()) {
            let text = MeasuredText { name: "here", tokens: keys.len(), head };
            parts.push(("Letters".to_string(), head_rules(&[text])));
        }
        if !self.output.is_page() || queries.len() != keys.len() {
            return self.output.look.tables("weights", &parts, env, streams);
        }
        let (title, before) = (self.title(weights), parts.split_off(0));
        let token = |(id, label): (usize, &String)| PageToken { label: label.clone(), id, piece: None };
        let command = typed_without(program.typed, &["--format"]);
        let page = ModelPage {
            command: "weights",
            title: &title,
            before: &before[..1],
            heading: "What each head attends to",
            after: &before[1..],
            tokens: &keys.iter().enumerate().map(token).collect::<Vec<_>>(),
            heads: &weights.layers.iter().map(|heads| [heads.len(); 2]).collect::<Vec<_>>(),
            measures: &measures,
            command_of_head: &format!("{command} --layer 1 --head 1"),
            command_of_cell: [&format!("{command} --explain '"), "'"],
        };
        let graph = weights.clone().graph(&Derived::default())?;
        let mut layer = |_: usize| Ok(graph.clone());
        model_page(&page, &mut layer, &style, streams.out)
    }

    fn beginning(&self, weights: &GivenWeights) -> (String, Table) {
        let file = quoted(&visible(&self.file)).into_owned();
        let row = |what: &str, command: String| vec![what.to_string(), command];
        let mut rows = vec![row("a head", format!("attn weights {file} --layer 1 --head 1"))];
        if weights.shape().0 == weights.shape().1 {
            rows.push(row("all layers together", format!("attn weights {file} --rollout")));
        }
        (self.title(weights), Table::new(&["to see", "type"], rows))
    }
}

/// The names of rows and columns that the file has itself.
fn named_in(arrays: &[(Option<String>, Array)]) -> (Option<Labels>, Option<Labels>) {
    let first = arrays.first().map(|(_, array)| array);
    (first.and_then(Array::row_labels).cloned(), first.and_then(Array::col_labels).cloned())
}

/// The matrices of the heads of each layer: of one array [layers, heads, T, T], or of one for each layer.
fn layers(arrays: Vec<(Option<String>, Array)>) -> Result<Vec<Vec<Matrix>>> {
    let one = arrays.len() == 1;
    let mut arrays = arrays;
    // Names end in the number of the layer: arr_10 comes after arr_9.
    let number = |name: &Option<String>| -> Option<usize> {
        let name = name.as_deref()?;
        name[name.trim_end_matches(|c: char| c.is_ascii_digit()).len()..].parse().ok()
    };
    if arrays.iter().all(|(name, _)| number(name).is_some()) {
        arrays.sort_by_key(|(name, _)| number(name));
    }
    let mut layers = Vec::new();
    for (_, array) in arrays {
        let (layers_of, heads, rows, cols) = sides(array.dims(), one)?;
        let matrix = |part: &[f64]| Matrix::from_row_major(rows, cols, part);
        let all = array.row_by_row();
        let mut heads_of = all.values().chunks_exact(rows * cols).map(matrix);
        for _ in 0..layers_of {
            layers.push(heads_of.by_ref().take(heads).collect::<Result<Vec<_>>>()?);
        }
    }
    Ok(layers)
}

/// The layers, heads, rows and columns of an array; without `layered` it has one layer.
fn sides(dims: &[usize], layered: bool) -> Result<(usize, usize, usize, usize)> {
    let shape = || dims.iter().map(usize::to_string).collect::<Vec<_>>().join("×");
    let of = match dims {
        [rows, cols] => (1, 1, *rows, *cols),
        [heads, rows, cols] | [1, heads, rows, cols] => (1, *heads, *rows, *cols),
        [layers, heads, rows, cols] | [layers, 1, heads, rows, cols] | [1, layers, heads, rows, cols]
            if layered =>
        {
            (*layers, *heads, *rows, *cols)
        }
        [batch, ..] if dims.len() >= 4 => {
            return Err(Error::new(format!("this is a batch of {batch}, shape {}", shape()))
                .help("save one text of the batch: [layers, heads, T, T]"));
        }
        _ => {
            return Err(Error::new(format!(
                "weights have the shape [layers, heads, T, T], but this is {}",
                shape()
            )));
        }
    };
    Ok(of)
}

/// The names of an option, one for each query or key.
fn names(option: &str, text: &str, count: usize, what: &str) -> Result<Labels> {
    let labels = input::label_list(text)?;
    if labels.len() != count {
        let given = counted(labels.len(), "name");
        return Err(Error::new(format!("{option} has {given}, but there is one for each {what}: {count}")));
    }
    Ok(labels.into_iter().collect())
}

/// The places of tokens, by their names or their numbers from 1. A name stands for all tokens that have it.
fn places(text: &str, tokens: &Labels) -> Result<Vec<usize>> {
    let mut places = Vec::new();
    for name in input::label_list(text)? {
        let named: Vec<usize> = (0..tokens.len()).filter(|&at| tokens[at] == name).collect();
        let numbered = name.parse::<usize>().ok().filter(|at| (1..=tokens.len()).contains(at));
        match (named.is_empty(), numbered) {
            (false, _) => places.extend(named),
            (true, Some(at)) => places.push(at - 1),
            (true, None) => {
                let error = Error::new(format!("there is no query `{}`", visible(&name)));
                return Err(error.help(format!("the queries are {}", visible(&tokens.join(" ")))));
            }
        }
    }
    Ok(places)
}
