//! `attn attend`: its options, and what comes out.

pub(super) mod computation;
pub(super) mod mechanisms;

use std::collections::HashMap;
use std::io::Read;
use std::path::PathBuf;

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::explore::{Source, State};
use crate::foreign::to_path;
use crate::graph::recipes::attend_fused;
use crate::graph::{Convention, Fusion, Graph, Node, NodeId, Op, recipes};
use crate::input::Files;
use crate::render::Page;
use crate::story::Story;
use crate::tensor::{Dtype, MOST_SHOWN};
use crate::text::counted;
use crate::{input, story};

use super::explore::{Begun, ExploreArgs};
use super::options::{EditArgs, machine};
use super::output::machine_note;
use super::presentation::{self, Presentation};
use super::program::{Env, Outcome, Program, Streams};
use super::selection::StepArgs;
use super::versus::{ShownArgs, typed_with};

use computation::Computation;
pub(super) use computation::{ComputationArgs, GradientArgs, words_of};

/// The options of `attn attend`.
#[derive(Deserialize, Debug)]
pub(super) struct AttendArgs {
    #[serde(flatten)]
    varied: VariedArgs,

    convention: Convention,
    save: Vec<String>,
    #[serde(flatten)]
    explorer: ExploreArgs,
    #[serde(flatten)]
    steps: StepArgs,
    full: bool,
    #[serde(flatten)]
    shown: ShownArgs,
}

/// The options that `--versus` may change.
#[derive(Deserialize, Debug)]
struct VariedArgs {
    #[serde(flatten)]
    computation: ComputationArgs,
    #[serde(flatten)]
    edits: EditArgs,
    #[serde(flatten)]
    gradient: GradientArgs,
    #[serde(flatten)]
    fast: FastArgs,
}

impl AttendArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
        if self.explorer.explore {
            return self.explored((program, env), streams).map(Outcome::from);
        }
        let convention = self.convention;
        let ShownArgs { versus, nodes, output, live } = &self.shown;
        live.check(output)?;
        self.steps.check_options(nodes, versus.options().is_some())?;
        let (mut page, ran) = match versus.options() {
            None => {
                let (story, ran) = self.varied.story(convention, env, streams.input)?;
                let story = if self.full || output.is_page() { story.unfolded() } else { story };
                (self.steps.page(story, nodes, output, &presentation::whole(program.typed))?, ran)
            }
            Some(options) => {
                let mut other = typed_with::<AttendArgs>("attend", program, options)?;
                other.varied.computation.replace_earlier(&self.varied.computation);
                let story = |args: &AttendArgs, input: &mut dyn Read| {
                    args.varied.story(convention, env, input).map(|(story, _)| story)
                };
                (self.shown.beside(options, [self, &other], streams.input, story)?, None)
            }
        };
        let is_for_people = output.look.is_for_people();
        page.story.remarks.extend(self.elided(&page).filter(|_| is_for_people));
        // Nothing is written before all that was asked for is known to be there.
        let graph = &page.story.graph;
        for (node, file) in self.savings(graph)? {
            input::save(&to_path(&file), &graph[node].name, input::table(graph, node)?, env.writing)?;
        }
        let (style, headed) = (self.shown.style(env, convention), page.headed);
        let presentation = Presentation::of("attend", program, (&self.steps, output), style);
        let pages = vec![page];
        let code = presentation.show(&pages, env, streams)?;
        if let Some(ran) = ran.filter(|_| is_for_people && headed) {
            machine_note(&ran, &style, env, streams);
        }
        Ok(Outcome::of_pages(code, pages))
    }

    /// The same computation in the explorer.
    fn explored(&self, place: (&Program<'_>, &Env), streams: &mut Streams<'_>) -> Result<u8> {
        let VariedArgs { computation, edits, gradient, .. } = &self.varied;
        let mut files = Files::new(streams.input).within(place.1.reading.clone());
        let Computation { recipe, inputs, .. } = computation.computation(None, &mut files)?;
        let inputs = gradient.with_pass(&recipe, inputs, &mut files)?;
        let state = State::new(Source::attend(recipe, inputs)).map_err(|error| gradient.refused(error))?;
        let state = state.with_assignments(edits.texts()?, &edits.heads())?;
        self.explorer.run(Begun::Attend, (state, HashMap::new()), self.shown.output.screen(), place, streams)
    }

    /// A note on how to save all of a matrix whose middle is not shown, unless `--save` is given.
    fn elided(&self, page: &Page) -> Option<String> {
        let graph = &page.story.graph;
        let cells = |id: NodeId| graph[id].shape().rows.saturating_mul(graph[id].shape().cols);
        let is_elided = |id: &&NodeId| cells(**id) > MOST_SHOWN && !graph[**id].is_never_formed();
        let last = page.nodes.iter().rev().find(is_elided)?;
        let name = &graph[*last].name;
        (graph.is_fused() && self.save.is_empty()).then(|| {
            format!("Only the edges of large matrices are shown. All of {name}: --save {name}=out.npy")
        })
    }

    /// The nodes and files of `--save`; checked: each node has numbers, and each ending is known.
    fn savings(&self, graph: &Graph) -> Result<Vec<(NodeId, String)>> {
        let parse = |saving: &String| {
            let wrong =
                || Error::new(format!("`--save {saving}` has no file name")).help("write --save O=out.npy");
            let (name, file) =
                saving.split_once('=').filter(|(_, file)| !file.is_empty()).ok_or_else(wrong)?;
            input::check_ending(&to_path(file))?;
            let node = graph.require(name.trim())?;
            input::table(graph, node)?;
            Ok((node, file.to_string()))
        };
        let savings: Vec<(NodeId, String)> = self.save.iter().map(parse).collect::<Result<_>>()?;
        let targets: Vec<PathBuf> = savings.iter().map(|(_, file)| input::target(&to_path(file))).collect();
        for (at, target) in targets.iter().enumerate() {
            if targets[..at].contains(target) {
                return Err(Error::new("two --save options write this file")
                    .in_source(savings[at].1.as_str())
                    .help("give each node a file of its own: --save O=o.npy --save A=a.npy"));
            }
        }
        Ok(savings)
    }
}

impl VariedArgs {
    /// The story, and how it was computed if the reader should know.
    fn story(
        &self,
        convention: Convention,
        env: &Env,
        input: &mut dyn Read,
    ) -> Result<(Story, Option<String>)> {
        let mut files = Files::new(input).within(env.reading.clone());
        let Some(dtype) = self.fast.dtype() else {
            let Computation { recipe, inputs, mut notes, of_words, .. } =
                self.computation.computation(None, &mut files)?;
            let inputs = self.gradient.with_pass(&recipe, inputs, &mut files)?;
            notes.extend(files.take_notes());
            let (recipe, graph) = if self.edits.is_nothing() {
                (recipe, recipes::attend(&recipe, inputs).map_err(|error| self.gradient.refused(error))?)
            } else {
                let state = State::new(Source::attend(recipe, inputs))?;
                let state = state.with_assignments(self.edits.texts()?, &self.edits.heads())?;
                (state.recipe().unwrap_or(recipe), state.graph().clone())
            };
            let story = story::attend("Attention", graph, convention, notes).saying_first(&of_words);
            return Ok((story.built_by(recipe), None));
        };
        if !self.edits.is_nothing() {
            return Err(Error::new("--set and --without change steps that --fast does not form")
                .help("leave out --fast"));
        }
        if let Some(option) = self.gradient.option() {
            return Err(Error::new(format!("{option} reads steps that --fast does not form"))
                .help("leave out --fast"));
        }
        let computation = self.computation.computation(Some(dtype), &mut files)?;
        let of_words = computation.of_words.clone();
        let (graph, notes, how) = self.fast.run(computation, dtype, env)?;
        let title = format!("Attention, fused, in {}", dtype.name());
        Ok((story::attend(&title, graph, convention, notes).saying_first(&of_words), Some(how)))
    }
}

// `--fast` and what goes with it.

/// The fused kernel in place of the steps.
#[derive(Deserialize, Debug)]
struct FastArgs {
    fast: bool,
    dtype: Option<Dtype>,
    threads: Option<u16>,
    simd: Option<String>,
}

impl FastArgs {
    /// The type in which the fast path is to compute, if it is to.
    fn dtype(&self) -> Option<Dtype> {
        self.fast.then(|| self.dtype.unwrap_or(Dtype::F32))
    }

    /// Runs a computation on the fast path. Returns it with notes on its numbers, and with its instructions and its number of
    /// threads, on which no number depends.
    fn run(&self, computation: Computation, dtype: Dtype, env: &Env) -> Result<(Graph, Vec<String>, String)> {
        let machine = machine(self.threads, self.simd.as_deref(), env)?;
        let Computation { recipe, inputs, mut notes, .. } = computation;
        let (graph, used) = attend_fused(&recipe, inputs, dtype, machine)?;
        if dtype == Dtype::F32 {
            let is_rounded = |node: &Node| match node.typed() {
                Some(numbers) => numbers.is_inexact(),
                None => node.matrix().is_some_and(|matrix| matrix.cells().any(|x| x != f64::from(x as f32))),
            };
            let is_fused = |node: &Node| matches!(node.op, Op::Fused(Fusion::Output(_)));
            let read = graph.nodes().filter(|(_, node)| is_fused(node)).flat_map(|(_, node)| &node.inputs);
            let rounded = read.map(|&id| &graph[id]).filter(|node| is_rounded(node));
            let names: Vec<&str> = rounded.map(|node| node.name.as_str()).collect();
            if !names.is_empty() {
                notes.push(format!("The fused kernel reads {} rounded to f32.", names.join(", ")));
            }
        }
        let how = format!("computed with {}, on {}", machine.simd, counted(used.threads, "thread"));
        Ok((graph, notes, how))
    }
}
