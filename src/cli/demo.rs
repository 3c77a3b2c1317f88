//! `attn demo`.

use std::ffi::OsString;
use std::io::Read;

use clap::Args;

use super::output::{self, FormatArg, NodeArgs, OutputArgs};
use super::stepping::{self, Telling};
use super::steps::StepArgs;
use super::versus::{self, Twice, VersusArgs};
use super::{Command, Env, Streams};
use crate::demo::{self, Demo, Digits, Document, Passage, Settings, Source, Story, Table};
use crate::error::{EXIT_DONE, Error, Result};
use crate::graph::{Convention, Op, Origin};
use crate::input::{Allow, Files, clean_label};
use crate::render::Page;

/// The documents and algorithms of papers, step by step; without a name, the list
///
/// Examples:
///   attn demo                          the list
///   attn demo mask                     scores, mask, softmax, output
///   attn demo --document 000           all demos of a document, in its order
///   attn demo right --set "R=1 0; 0 1; 1 1; 2 0; 0 2"    your own numbers
///   attn demo mask --precision 2       fewer decimals, for a projector
///   attn demo mask --full              every given matrix, too
///   attn demo mask --as-printed        with the digits that the text prints
///   attn demo mask --until A           stop before the answer
///   attn demo mask --step 3            one step alone; --steps 3-5 for some
///   attn demo mask --brief             one sentence and one result a step
///   attn demo mask --versus "--seed 1" what moves with other numbers
///   attn demo qkv --format numpy       arrays as NumPy prints them
///   attn demo online --set block=4     the online softmax in blocks of four keys
///   attn demo context --explain 'O_cave[bat,1]'          where a number comes from
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub(super) struct DemoArgs {
    /// Names of demos.
    names: Vec<String>,
    /// All demos of a document: 000 to 004.
    #[arg(long, value_name = "NUMBER", conflicts_with_all = ["names", "all"])]
    document: Option<String>,
    /// Every demo.
    #[arg(long, conflicts_with = "names")]
    all: bool,
    #[command(flatten)]
    numbers: NumberArgs,
    #[command(flatten)]
    steps: StepArgs,
    /// Show the matrices that are folded to one line, and the remarks on the source text.
    #[arg(long)]
    full: bool,
    /// Numbers with the digits that NumPy prints, as document 000 has them.
    #[arg(long, conflicts_with = "precision")]
    as_printed: bool,
    #[command(flatten)]
    versus: VersusArgs,
    #[command(flatten)]
    nodes: NodeArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// The numbers that a demo computes with.
#[derive(Args, Debug)]
struct NumberArgs {
    /// Your own numbers for a given matrix: a file, or "1 2; 3 4".
    #[arg(long, value_name = "NODE=FILE")]
    set: Vec<String>,
    /// Draw the random matrices anew, as np.random.seed(N) would.
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
}

impl DemoArgs {
    pub(super) fn run(&self, typed: &[OsString], env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let chosen = self.chosen()?;
        let options = [
            ("--versus", self.versus.options().is_some()),
            ("--set", !self.numbers.set.is_empty()),
            (self.steps.wants_one().unwrap_or_default(), self.steps.wants_one().is_some()),
            ("--only", !self.nodes.only.is_empty()),
            (self.nodes.explain.used().unwrap_or_default(), self.nodes.explain.used().is_some()),
        ];
        if let Some((option, _)) = options.into_iter().find(|(_, used)| *used && chosen.len() != 1) {
            return Err(output::wants_one(option, chosen.len()));
        }
        if chosen.is_empty() {
            if self.numbers.seed.is_some() {
                return Err(Error::new("--seed without a demo").help("attn demo mask --seed 1"));
            }
            self.output.look.tables("demo", &list(), env, streams)?;
            return Ok(EXIT_DONE);
        }
        self.steps.agree(&self.nodes, self.versus.options().is_some())?;
        let pages = match (self.versus.options(), &chosen[..]) {
            (Some(options), [demo]) => vec![self.beside(demo, options, typed, streams.input)?],
            _ => {
                let settings = self.numbers.settings(streams.input)?;
                let stories = self.stories(&chosen, &settings)?;
                let page = |(story, demo): (Story, &&Demo)| {
                    self.steps.page(story, &self.nodes, &self.output, &format!("attn demo {}", demo.name))
                };
                stories.into_iter().zip(&chosen).map(page).collect::<Result<_>>()?
            }
        };
        let wholes = match &chosen[..] {
            [_] => vec![stepping::whole(typed)],
            several => several.iter().map(|demo| format!("attn demo {}", demo.name)).collect(),
        };
        let style = self.output.style(env, Convention::Rows);
        let telling = Telling { command: "demo", wholes, steps: &self.steps, output: &self.output, style };
        telling.show(&pages, env, streams)
    }

    /// The demo, and what differs under the further options.
    fn beside(
        &self,
        demo: &'static Demo,
        options: &str,
        typed: &[OsString],
        input: &mut dyn Read,
    ) -> Result<Page> {
        let Command::Demo(mut other) = versus::typed_with::<NumberArgs>(typed, options)? else {
            return Err(versus::another_command());
        };
        other.numbers.replace_earlier(self.numbers.set.len());
        let mut input = Twice::new(input);
        let story = |args: &DemoArgs, input: &mut dyn Read| {
            let mut stories = args.stories(&[demo], &args.numbers.settings(input)?)?;
            stories.pop().ok_or_else(versus::another_command)
        };
        let base = story(self, &mut input.first())?;
        let other = story(&other, &mut input.again()).map_err(versus::in_versus)?;
        versus::page(base, other, options, &self.nodes.only, self.output.precision)
    }

    /// The stories of demos. A seed for demos that draw nothing would do nothing.
    fn stories(&self, chosen: &[&'static Demo], settings: &Settings) -> Result<Vec<Story>> {
        let told = |demo: &&Demo| demo.story(settings).map_err(|error| error.help(shapes(demo)));
        let stories =
            chosen.iter().map(told).map(|story| Ok(self.as_asked(story?))).collect::<Result<Vec<Story>>>()?;
        let drawn = |story: &Story| {
            story.graph.nodes().any(|(_, node)| matches!(node.op, Op::Given(Origin::Drawn(_))))
        };
        if self.numbers.seed.is_some() && !stories.iter().any(drawn) {
            return Err(Error::new("--seed, and nothing here is drawn")
                .help("one that draws its matrices is mask: attn demo mask --seed 1"));
        }
        Ok(stories)
    }

    /// The story unfolded, and with the digits that are asked for. A page for a browser has room for everything.
    fn as_asked(&self, story: Story) -> Story {
        let is_page = self.output.look.format == FormatArg::Html;
        let story = if self.full || is_page { story.unfolded() } else { story };
        Story { digits: if self.as_printed { Digits::AsNumPy } else { story.digits }, ..story }
    }

    fn chosen(&self) -> Result<Vec<&'static Demo>> {
        if self.all {
            return Ok(demo::demos().collect());
        }
        match &self.document {
            None => self.names.iter().map(|name| demo::find(name)).collect(),
            Some(number) => {
                let document = Document::numbered(number)?;
                Ok(demo::demos().filter(|demo| demo.source.is_of(document)).collect())
            }
        }
    }
}

impl NumberArgs {
    fn settings(&self, input: &mut dyn Read) -> Result<Settings> {
        let mut settings = Settings { seed: self.seed, ..Settings::default() };
        let mut files = Files::new(input);
        for setting in &self.set {
            let (name, source) = setting.split_once('=').ok_or_else(|| {
                Error::new(format!("`--set {setting}` has no `=`"))
                    .help("write --set X=file.csv or --set \"X=1 2; 3 4\"")
            })?;
            let matrix = files.matrix(source, Allow::INFINITE)?;
            if settings
                .set
                .insert(name.trim().to_string(), (matrix, clean_label(source).into_owned()))
                .is_some()
            {
                return Err(Error::new(format!("`{name}` is set twice")).help("give each node once"));
            }
        }
        Ok(settings)
    }

    /// Of the first `earlier` settings only those stay whose nodes no later one sets.
    fn replace_earlier(&mut self, earlier: usize) {
        let node = |setting: &String| setting.split_once('=').map(|(name, _)| name.trim().to_string());
        let later = self.set.split_off(earlier.min(self.set.len()));
        self.set.retain(|setting| !later.iter().any(|other| node(other) == node(setting)));
        self.set.extend(later);
    }
}

/// What a demo is given, with the shapes: those that depend on each other have to be set together.
fn shapes(demo: &Demo) -> String {
    let Ok(story) = demo.story(&Settings::default()) else { return String::new() };
    let given = story.graph.nodes().filter(|(_, node)| node.op.is_given());
    let given: Vec<String> = given.map(|(_, node)| format!("{} ({})", node.name, node.shape())).collect();
    format!("what depends on each other has to be set together; this demo is given {}", given.join(", "))
}

/// The demos, a table for each document and one for those of papers.
fn list() -> Vec<(String, Table)> {
    let part = |document: Document| {
        let rows = demo::demos()
            .filter(|demo| demo.source.document() == Some(document))
            .map(|demo| vec![demo.name.to_string(), demo.summary.to_string()]);
        (format!("{}  {}", document.number(), document.title()), Table::new(&["demo", "shows"], rows))
    };
    let of_papers = demo::demos().filter_map(|demo| match demo.source {
        Source::Papers(passages) => {
            let cited: Vec<String> = passages.iter().map(Passage::short).collect();
            Some(vec![demo.name.to_string(), demo.summary.to_string(), cited.join("; ")])
        }
        Source::Section { .. } => None,
    });
    let papers = ("Papers".to_string(), Table::new(&["demo", "shows", "follows"], of_papers));
    let how = "`attn demo mask` plays one, `attn demo --document 000` a whole text";
    let parts = Document::ALL.into_iter().map(part);
    parts.chain([papers, (how.to_string(), Table::default())]).collect()
}
