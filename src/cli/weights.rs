//! `attn weights`: attention weights that were computed elsewhere.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::graph::recipes::{Derived, GivenWeights};
use crate::graph::{Convention, Graph, Origin};
use crate::input::{self, Files};
use crate::matrix::{Labels, Matrix};
use crate::model::{HeadMeasures, mean_entropy};
use crate::read::{Array, Limit};
use crate::render::{ModelPage, PageToken, model_page};
use crate::story::{
    MeasuredText, ShownWeights, Story, Table, given_weights, head_grid, head_rules, heads_that_stand_out,
    measures_table, stand_out_title, survey_table,
};
use crate::text::counted;

use super::model::{WindowArgs, Within, nodes_in};
use super::output::{OutputArgs, one_page, warnings};
use super::presentation::typed_without;
use super::program::{Env, Outcome, Program, Streams};
use super::selection::NodeArgs;

/// Up to this many heads each has a row on the screen.
const MOST_LISTED: usize = 48;
/// The heads that are named for each place that they attend to.
const NAMED: usize = 3;

/// Dropout does not move the sum of a row further from 1.
const MOST_OF_DROPOUT: f64 = 4.0;

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
    all: bool,
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
    keys: Labels,
    /// Whether tokens attend to tokens of the same text, so that a query has a place among the keys.
    is_self: bool,
    notes: Vec<String>,
}

impl WeightsArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
        let mut files = Files::new(streams.input).within(env.reading.clone());
        let opened = self.opened(&mut files)?;
        let derived = self.derived(&opened, &mut files)?;
        let of_heads = self.layer.is_none()
            && self.queries.is_none()
            && self.values.is_none()
            && !(self.rollout || self.mean);
        let is_asked = !self.nodes.only.is_empty() || self.nodes.explain.given_option().is_some();
        if of_heads && !is_asked {
            if let Some(option) = self.window.given_option() {
                return Err(Error::new(format!(
                    "{option} chooses a part of matrices, and none is shown whole"
                ))
                .help("add --layer 1"));
            }
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
        let shown = story.shown_nodes();
        let nodes = nodes_in(&story.graph, &self.nodes, Within { layer: self.layer, head: self.head })?;
        let mut page = nodes.page(story, &self.output)?;
        if !is_asked {
            page.nodes = shown;
        }
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
            let why = match furthest {
                _ if weights.is_transposed() => "The columns sum to 1: rows and columns may be exchanged.",
                furthest if furthest > MOST_OF_DROPOUT => {
                    "These may be scores or percentages, and no weights."
                }
                _ => "Dropout does that, and so does a window that was cut out.",
            };
            notes.push(format!("Some rows do not sum to 1: they are off by up to {furthest:.3}. {why}"));
        }
        let is_self = shape.0 == shape.1 && (self.key_tokens.is_none() || queries == keys);
        Ok(Opened { weights, keys: keys.unwrap_or_else(|| numbered(shape.1)), is_self, notes })
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
        let queries = self.queries.as_deref().map(input::label_list).transpose()?;
        if queries.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::new("--queries names no query").help("--queries the,cat or --queries 1,2"));
        }
        let is_of_rollout = |name: &String| {
            let node = name.split('[').next().unwrap_or_default();
            GivenWeights::is_of_rollout(node.rsplit('.').next().unwrap_or(node))
        };
        let named = self.nodes.only.iter().chain(self.nodes.explain.addresses());
        let rollout = self.rollout || named.into_iter().any(is_of_rollout);
        if rollout && !opened.is_self {
            return Err(Error::new("there is no rollout over other tokens than the queries themselves")
                .help("it goes from layer to layer over the tokens of one text"));
        }
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
        let Opened { weights, keys, is_self, notes } = opened;
        let style = self.output.style(env, Convention::Rows);
        warnings(&Graph::new(), notes, &style, streams);
        let mut parts = vec![self.beginning(opened, program)];
        if !is_self {
            parts.push((
                "The heads".to_string(),
                over_other_tokens(weights, keys, self.output.look.is_for_people()),
            ));
            return self.output.look.tables("weights", &parts, env, streams);
        }
        let ids: Vec<usize> =
            keys.iter().map(|key| keys.iter().position(|other| other == key).unwrap_or(0)).collect();
        let measured = |a: &Matrix| HeadMeasures::of(&a.clone().into(), &ids);
        let measures: Vec<Vec<HeadMeasures>> =
            weights.layers.iter().map(|heads| heads.iter().map(measured).collect()).collect();
        if !self.output.look.is_for_people() {
            parts.push(("Heads".to_string(), survey_table(&[("file", &measures)])));
            return self.output.look.tables("weights", &parts, env, streams);
        }
        let count: usize = measures.iter().map(Vec::len).sum();
        parts.push((stand_out_title(""), heads_that_stand_out(&measures, NAMED)));
        parts.push(("The letter of each head".to_string(), head_grid(&measures)));
        if count <= MOST_LISTED || self.all || self.output.is_page() {
            let title = "All heads: mean weights in %, in brackets the share without key 1; entropy in bits";
            parts.push((title.to_string(), measures_table(&measures)));
        }
        if let Some(head) = measures.first().and_then(|heads| heads.first()) {
            let text = MeasuredText { name: "here", tokens: keys.len(), head };
            parts.push(("Letters".to_string(), head_rules(&[text])));
        }
        if !self.output.is_page() {
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

    /// What the file is, and what to type next.
    fn beginning(&self, opened: &Opened, program: &Program<'_>) -> (String, Table) {
        let typed = typed_without(program.typed, &["--format", "--all"]);
        let row = |what: &str, command: &str| vec![what.to_string(), format!("{typed} {command}")];
        let mut rows = vec![row("a head", "--layer 1 --head 1")];
        if opened.is_self {
            rows.push(row("all layers together", "--rollout"));
        }
        let count = opened.weights.layers.iter().map(Vec::len).sum::<usize>();
        if opened.is_self && count > MOST_LISTED && !self.all {
            rows.push(row("every measure", "--all"));
        }
        if self.tokens.is_none() && opened.weights.layers[0][0].row_labels().is_none() {
            rows.push(row("equal tokens too", "--tokens \"the cat sat\""));
        }
        (self.title(&opened.weights), Table::new(&["to see", "type"], rows))
    }
}

/// Of each head the entropy of its rows, and the key that gets most: where keys are other tokens, a query has no place among them.
fn over_other_tokens(weights: &GivenWeights, keys: &Labels, for_people: bool) -> Table {
    let number = |x: f64| if for_people { format!("{x:.3}") } else { x.to_string() };
    let heads = weights.layers.iter().enumerate();
    let heads =
        heads.flat_map(|(layer, heads)| heads.iter().enumerate().map(move |(head, a)| (layer, head, a)));
    let row = |(layer, head, a): (usize, usize, &Matrix)| {
        let mean = |j: usize| (0..a.rows()).map(|i| a[(i, j)]).sum::<f64>() / a.rows() as f64;
        let best = (0..a.cols()).fold((0, 0.0), |best, j| if mean(j) > best.1 { (j, mean(j)) } else { best });
        let entropy = mean_entropy(&a.clone().into());
        vec![
            (layer + 1).to_string(),
            (head + 1).to_string(),
            number(entropy),
            keys[best.0].clone(),
            number(best.1),
        ]
    };
    let head = ["layer", "head", "entropy in bits", "attends most to", "mean weight"];
    Table::new(&head, heads.map(row)).with_numbers(&["layer", "head", "entropy in bits", "mean weight"])
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
        [.., _, _, _] if dims.len() >= 4 && !layered => {
            return Err(Error::new(format!("one of several arrays in the file is {}", shape()))
                .help("several arrays are one for each layer, [heads, T, T]; save the weights in a file of their own"));
        }
        [.., _, _, _] if dims.len() >= 4 => {
            return Err(Error::new(format!("this is a batch of several texts, shape {}", shape()))
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
