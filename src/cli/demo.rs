//! `attn demo`.

use std::io::Read;
use std::mem::take;

use serde::Deserialize;

use crate::demo::{self, AnyDemo, Demo, Document, FileDemo, NEW_DEMO, Passage, Settings, Source, Topic};
use crate::error::{EXIT_DONE, EXIT_UNUSABLE, Error, Result};
use crate::explore::{self, State, is_assignment};
use crate::foreign::{to_path, visible};
use crate::graph::{Convention, Op, Origin};
use crate::input::{Files, exists, write_text};
use crate::read::AllowedNumbers;
use crate::render::Page;
use crate::story::{self, Digits, Story};
use crate::text::{counted, quoted};

use super::explore::{Begun, ExploreArgs};
use super::options::{WithoutArgs, first_given, replace_earlier};
use super::output::{self, Group};
use super::presentation::{self, Presentation};
use super::program::{Env, Outcome, Program, Streams};
use super::selection::StepArgs;
use super::versus::{ShownArgs, another_command, typed_with};

/// The options of `attn demo`.
#[derive(Deserialize, Debug)]
pub(super) struct DemoArgs {
    names: Vec<String>,
    by_document: bool,
    document: Option<String>,
    all: bool,
    #[serde(flatten)]
    numbers: NumberArgs,
    #[serde(flatten)]
    explorer: ExploreArgs,
    #[serde(flatten)]
    steps: StepArgs,
    full: bool,
    as_printed: bool,
    #[serde(flatten)]
    shown: ShownArgs,
}

/// The numbers that a demo computes with.
#[derive(Deserialize, Debug)]
pub(super) struct NumberArgs {
    set: Vec<String>,
    #[serde(flatten)]
    without: WithoutArgs,
    seed: Option<u32>,
}

impl DemoArgs {
    pub(super) fn run(&self, program: &Program<'_>, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
        let ShownArgs { versus, nodes, output, live } = &self.shown;
        let changes = first_given(&[
            ("--versus", versus.options().is_some()),
            ("--set", !self.numbers.set.is_empty()),
            ("--without", !self.numbers.without.heads().is_empty()),
        ]);
        let shown = (!nodes.only.is_empty()).then_some("--only").or(nodes.explain.given_option());
        let shown = shown.or(self.explorer.explore.then_some("--explore"));
        let of_one = first_given(&[
            ("--seed 1", self.numbers.seed.is_some()),
            ("--brief", self.steps.given_option().is_some()),
            ("--full", self.full),
            ("--as-printed", self.as_printed),
        ]);
        if let ([word, ..], Some(option)) = (&self.names[..], changes.or(shown).or(of_one))
            && ["new", "check"].contains(&&**word)
        {
            let option = option.split(' ').next().unwrap_or(option);
            return Err(Error::new(format!("{option} has no effect with `attn demo {word}`"))
                .help(format!("leave out {option}")));
        }
        match &self.names[..] {
            [word, file] if word == "new" && demo::is_file(file) => return new(file, env, streams),
            [word, files @ ..] if word == "check" && !files.is_empty() => return check(files, env, streams),
            [word, ..] if word == "new" => {
                let error = Error::new("`attn demo new` needs the name of one file, which ends in .attn");
                return Err(error.help("attn demo new mine.attn"));
            }
            [word] if word == "check" => {
                return Err(Error::new("`attn demo check` needs a file").help("attn demo check mine.attn"));
            }
            _ => {}
        }
        let chosen = self.chosen(env, streams.input)?;
        if let Some(option) = changes.or(self.steps.wants_one()).or(shown).filter(|_| chosen.len() != 1) {
            return Err(wants_one(option, chosen.len()));
        }
        if chosen.is_empty() {
            if let Some(option) = of_one {
                let name = option.split(' ').next().unwrap_or(option);
                return Err(
                    Error::new(format!("{name} needs a demo")).help(format!("attn demo mask {option}"))
                );
            }
            return self.lists(env, streams).map(Outcome::from);
        }
        if self.explorer.explore {
            return self.explored(&chosen[0], (program, env), streams).map(Outcome::from);
        }
        live.check(output)?;
        self.steps.check_options(nodes, versus.options().is_some())?;
        let pages: Vec<Page> = match (versus.options(), &chosen[..]) {
            (Some(options), [demo]) => {
                let mut other = typed_with::<DemoArgs>("demo", program, options)?;
                replace_earlier(&mut other.numbers.set, self.numbers.set.len());
                let story = |args: &DemoArgs, input: &mut dyn Read| {
                    let settings = args.numbers.settings(env, input)?;
                    let mut stories = args.stories(std::slice::from_ref(demo), &settings)?;
                    stories.pop().ok_or_else(another_command)
                };
                vec![self.shown.beside(options, [self, &other], streams.input, story)?]
            }
            _ => {
                let settings = self.numbers.settings(env, streams.input)?;
                let stories = self.stories(&chosen, &settings)?;
                let whole = presentation::whole(program.typed);
                let page = |story: Story| self.steps.page(story, nodes, output, &whole);
                stories.into_iter().map(page).collect::<Result<_>>()?
            }
        };
        let style = self.shown.style(env, Convention::Rows);
        let mut presentation = Presentation::of("demo", program, (&self.steps, output), style);
        if chosen.len() > 1 {
            let whole = |demo: &AnyDemo| format!("attn demo {}", quoted(demo.name()));
            presentation.wholes = chosen.iter().map(whole).collect();
        }
        let code = presentation.show(&pages, env, streams)?;
        Ok(Outcome::of_pages(code, pages))
    }

    /// The demo in the explorer.
    fn explored(&self, demo: &AnyDemo, place: (&Program<'_>, &Env), streams: &mut Streams<'_>) -> Result<u8> {
        let mut settings = self.numbers.settings(place.1, streams.input)?;
        // They are changes of the explorer, which can be taken back.
        let (assignments, removed) = (take(&mut settings.assignments), take(&mut settings.removed));
        let story = demo.story(&settings)?;
        let told = story::sentences(&story);
        let begin = story.first_cell();
        let state = State::new(explore::Source::steps(story.graph))?;
        let state = begin.into_iter().fold(state, State::begun_at);
        let state = state.with_assignments(&assignments, &removed)?;
        self.explorer.run(Begun::Demo, (state, told), self.shown.output.screen(), place, streams)
    }

    /// The list of demos.
    fn lists(&self, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let (groups, other) = if self.by_document {
            (by_document(), "`attn demo --document 000` shows all demos of a text.")
        } else {
            (by_topic(), "`attn demo --by-document` lists them by text.")
        };
        let closing = format!("`attn demo NAME` shows one. {other}");
        output::write(&groups, &closing, "demo", &self.shown.output.look, env, streams)
    }

    /// The stories of demos. A seed for demos that draw nothing would do nothing.
    fn stories(&self, chosen: &[AnyDemo], settings: &Settings) -> Result<Vec<Story>> {
        let told = |demo: &AnyDemo| {
            demo.story(settings).map_err(|error| {
                if settings.set.is_empty() { error } else { error.help(shapes(demo, settings)) }
            })
        };
        let stories =
            chosen.iter().map(told).map(|story| Ok(self.as_asked(story?))).collect::<Result<Vec<Story>>>()?;
        let drawn = |story: &Story| {
            story.graph.nodes().any(|(_, node)| matches!(node.op, Op::Given(Origin::Drawn(_))))
        };
        if self.numbers.seed.is_some() && !stories.iter().any(drawn) {
            return Err(Error::new("--seed changes nothing here: this demo draws no random numbers")
                .help("a demo that does: attn demo mask --seed 1"));
        }
        Ok(stories)
    }

    /// The story unfolded, and with the digits that are asked for. A page for a browser has room for everything.
    fn as_asked(&self, story: Story) -> Story {
        let story = if self.full || self.shown.output.is_page() { story.unfolded() } else { story };
        Story { digits: if self.as_printed { Digits::AsNumPy } else { story.digits }, ..story }
    }

    fn chosen(&self, env: &Env, input: &mut dyn Read) -> Result<Vec<AnyDemo>> {
        if self.all {
            return Ok(demo::demos().map(AnyDemo::Own).collect());
        }
        match &self.document {
            None => self.names.iter().map(|name| opened(name, env, input)).collect(),
            Some(number) => {
                let document = Document::numbered(number)?;
                Ok(demo::demos().filter(|demo| demo.source.is_of(document)).map(AnyDemo::Own).collect())
            }
        }
    }
}

/// Writes a first demo.
fn new(file: &str, env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
    if exists(file) {
        let error = Error::new("this file exists already").in_source(visible(file));
        return Err(error.help("give the new demo another name"));
    }
    env.writing.check(&to_path(file))?;
    write_text(&to_path(file), NEW_DEMO)?;
    let file = quoted(&visible(file)).into_owned();
    let said = format!("{file} written. attn demo {file} shows it, attn demo check {file} checks it.\n");
    streams.out.write_all(env.charset.spelled(&said).as_bytes())?;
    Ok(EXIT_DONE.into())
}

/// Reads demos and runs them with their own numbers: each gets its line and one for each remark that does not hold, and an error its
/// place.
fn check(files: &[String], env: &Env, streams: &mut Streams<'_>) -> Result<Outcome> {
    let mut code = EXIT_DONE;
    for file in files {
        let story = opened(file, env, streams.input).and_then(|demo| demo.story(&Settings::default()));
        let line = match story {
            Ok(story) => {
                let left_out: Vec<_> = story.claims.iter().filter(|claim| !claim.shown).collect();
                let shown = story.claims.len() - left_out.len();
                let [steps, matrices, remarks] = [
                    (story.steps.len(), "step"),
                    (story.graph.nodes().count(), "matrix"),
                    (story.claims.len(), "remark"),
                ]
                .map(|(count, what)| counted(count, what));
                let line = format!("{}  {steps}, {matrices}, {remarks} ({shown} shown): ok\n", visible(file));
                let told = left_out.iter().map(|claim| format!("  not shown: “{}”\n", visible(&claim.text)));
                line + &told.collect::<String>()
            }
            Err(error) => {
                code = EXIT_UNUSABLE;
                // An error of writing to standard error is ignored.
                let _ = writeln!(streams.err, "{}", env.charset.spelled(&format!("error: {error}")));
                continue;
            }
        };
        streams.out.write_all(env.charset.spelled(&line).as_bytes())?;
    }
    Ok(code.into())
}

/// The demo of this name, or of this file.
pub(super) fn opened(name: &str, env: &Env, input: &mut dyn Read) -> Result<AnyDemo> {
    if !demo::is_file(name) {
        return demo::find(name).map(AnyDemo::Own);
    }
    let text = Files::new(input).within(env.reading.clone()).text(name)?;
    FileDemo::read(&visible(name), &text).map(AnyDemo::File)
}

impl NumberArgs {
    pub(super) fn settings(&self, env: &Env, input: &mut dyn Read) -> Result<Settings> {
        let (assignments, matrices): (Vec<String>, Vec<String>) =
            self.set.iter().cloned().partition(|setting| is_assignment(setting));
        let removed = self.without.heads();
        let mut settings = Settings { seed: self.seed, assignments, removed, ..Settings::default() };
        let mut files = Files::new(input).within(env.reading.clone());
        for setting in &matrices {
            let (name, source) = setting.split_once('=').ok_or_else(|| {
                Error::new(format!("`--set {setting}` has no `=`"))
                    .help("write --set X=file.csv or --set \"X=1 2; 3 4\"")
            })?;
            let matrix = files.matrix(source, AllowedNumbers::INFINITE)?;
            if settings.set.insert(name.trim().to_string(), (matrix, visible(source).into_owned())).is_some()
            {
                return Err(Error::new(format!("`{name}` is set twice")).help("give each node once"));
            }
        }
        Ok(settings)
    }
}

/// The given nodes of a demo with their shapes, first those that were set with another shape: nodes that depend on each other
/// have to be set together.
fn shapes(demo: &AnyDemo, settings: &Settings) -> String {
    let Ok(story) = demo.story(&Settings::default()) else { return String::new() };
    let given: Vec<_> = story.graph.nodes().filter(|(_, node)| node.op.is_given()).collect();
    let other = given.iter().filter_map(|(_, node)| {
        let set = settings.set.get(&node.name)?.0.shape();
        let fits = format!("a matrix {} fits {}, and yours is {set}; ", node.shape(), node.name);
        (set != node.shape()).then_some(fits)
    });
    let other: String = other.collect();
    let given = given.iter().map(|(_, node)| format!("{} ({})", node.name, node.shape()));
    let given = given.collect::<Vec<String>>().join(", ");
    format!(
        "{other}set matrices whose shapes depend on each other in one command; this demo is given {given}"
    )
}

/// The demos by what they help to understand, the easiest first.
fn by_topic() -> Vec<Group> {
    let group = |topic: Topic| {
        let demos = demo::demos_by_topic().into_iter().filter(|demo| demo.place.topic == topic);
        Group { title: topic.title().to_string(), head: HEAD, rows: demos.map(row).collect() }
    };
    Topic::ALL.into_iter().map(group).collect()
}

/// The demos by the document that they follow, in its order, by their papers, and by the model that they open.
fn by_document() -> Vec<Group> {
    let of = |document: Document| {
        let demos = demo::demos().filter(|demo| demo.source.document() == Some(document));
        let title = format!("{}  {}", document.number(), document.title());
        Group { title, head: HEAD, rows: demos.map(row).collect() }
    };
    let of_papers = demo::demos().filter_map(|demo| match &demo.source {
        Source::Papers { papers } => {
            let cited: Vec<String> = papers.iter().map(Passage::short).collect();
            let (name, summary) = row(demo);
            Some((name, format!("{summary} ({})", cited.join("; "))))
        }
        Source::Section { .. } | Source::Model { .. } => None,
    });
    let papers = Group { title: "Papers".into(), head: HEAD, rows: of_papers.collect() };
    let of_models = demo::demos().filter(|demo| matches!(demo.source, Source::Model { .. }));
    let models = Group { title: "A trained model".into(), head: HEAD, rows: of_models.map(row).collect() };
    Document::ALL.into_iter().map(of).chain([papers, models]).collect()
}

/// The columns of a list of demos.
const HEAD: [&str; 2] = ["demo", "shows"];

fn row(demo: &'static Demo) -> (String, String) {
    (demo.name.to_string(), demo.summary.to_string())
}

/// The error of an option that needs exactly one demo.
pub(super) fn wants_one(option: &str, count: usize) -> Error {
    let named = if count == 0 { "named none".to_string() } else { format!("asked for {count}") };
    Error::new(format!("{option} needs one demo, but you {named}"))
        .help(format!("name one demo: attn demo mask {option} …"))
}
