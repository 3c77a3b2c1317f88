//! `attn diagnose`: a student's result against the right one.

use std::ffi::OsString;
use std::sync::Arc;

use serde::Deserialize;

use crate::diagnose::{
    Change, Examiner, GROUPS, Group, Mistake, Submission, Task, Tolerance, Way, catalogue, find, limit,
    named_submission, own_mistakes, submission, suggest, with_renaming_remarks,
};
use crate::error::{EXIT_CHECK_FAILED, EXIT_DONE, EXIT_UNUSABLE, Error, Result};
use crate::foreign::{to_path, visible};
use crate::graph::recipes::{AttendInputs, Recipe};
use crate::graph::{Given, Graph, Node, Origin, Role};
use crate::input::{Files, FolderEntry};
use crate::matrix::Matrix;
use crate::model::PassOptions;
use crate::model::porting::{Dumped, diagnose};
use crate::random::LegacyStream;
use crate::read::{Array, Limit};
use crate::render::{FileRows, Format, Page, Style, wrapped_text};
use crate::story::Table;
use crate::story::diagnosis::{
    FileResult, Tally, detailed_report, mistake, mistakes, mistakes_in_full, report, suggested_input,
};
use crate::text::{counted, quoted};
use crate::{demo, input, memory, read, render, story};

use super::attend::computation::Computation;
use super::attend::{ComputationArgs, GradientArgs, words_of};
use super::model::OpenedModel;
use super::output::{DigitsArgs, LookArgs};
use super::program::{Program, matches};
use super::registry::{maybe_bare, values};
use super::{Env, Streams, output};

/// The options of `attn diagnose`.
#[derive(Deserialize, Debug)]
pub(super) struct DiagnoseArgs {
    yours: Vec<String>,
    batch: Option<String>,
    by_mistake: bool,
    rtol: Option<String>,
    atol: Option<String>,
    #[serde(deserialize_with = "maybe_bare")]
    list: Option<Option<String>>,
    mistakes: Option<String>,
    suggest_input: Option<String>,
    details: bool,
    #[serde(flatten)]
    ported: PortedArgs,
    #[serde(flatten)]
    computation: ComputationArgs,
    #[serde(flatten)]
    gradient: GradientArgs,
    #[serde(flatten)]
    look: LookArgs,
    #[serde(flatten)]
    digits: DigitsArgs,
}

/// The exercise of what is typed behind `attn diagnose`, with this text on standard input.
///
/// # Errors
/// If it cannot be read or computed.
pub(super) fn exercise(program: &Program<'_>, typed: &str, input: &str) -> Result<Task> {
    let words = shlex::split(typed).unwrap_or_default();
    let args: Vec<OsString> = ["diagnose".to_string()].into_iter().chain(words).map(Into::into).collect();
    let wrong = |error: clap::Error| Error::new(error.to_string());
    let matches = matches(program.definitions.clone(), &args).map_err(wrong)?;
    let own = matches.subcommand_matches("diagnose").ok_or_else(|| Error::new("there is no exercise"))?;
    let args: DiagnoseArgs = values("diagnose", own)?;
    Ok(args.task(&mut Files::new(&mut input.as_bytes()))?.0)
}

impl DiagnoseArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let mut files = Files::new(streams.input).within(env.reading.clone());
        let own = self.own(&mut files)?;
        if let Some(id) = &self.list {
            let write = |streams: &mut Streams<'_>| write_list(id.as_deref(), &own, &self.look, env, streams);
            return output::write_paged(&self.look, env, streams, write);
        }
        if self.yours.is_empty() && self.batch.is_none() && self.suggest_input.is_none() {
            if self.mistakes.is_some() {
                let task = if self.computation.is_given() { self.task(&mut files)?.0 } else { example()? };
                let task = with_own(task, &own)?;
                let write = |streams: &mut Streams<'_>| {
                    self.look.tables("diagnose", &checked(&own, &task), env, streams)
                };
                return output::write_paged(&self.look, env, streams, write);
            }
            return Err(Error::new("there is no result to judge")
                .help("give --yours FILE or --batch DIR; attn diagnose --list shows the known mistakes"));
        }
        if let Some(folder) = &self.ported.model {
            return self.ported(folder, env, streams);
        }
        let tolerance = self.tolerance()?;
        let (task, notes) = self.task(&mut files)?;
        let task = with_own(task, &own)?;
        if let Some(file) = &self.suggest_input {
            return self.write_suggestion(file, &task, env, streams).map(|()| EXIT_DONE);
        }
        match &self.batch {
            Some(folder) => {
                let folder = input::folder(folder, &env.reading)?;
                let style = self.digits.style(&self.look, env);
                output::warnings(task.right(), &notes, &style, streams);
                let batch = Batch { examiner: Examiner::new(task, tolerance), by_mistake: self.by_mistake };
                batch.run(&folder, &self.look, env, streams)
            }
            None => {
                let mut read = submissions(&self.yours, &mut files, task.right())?;
                read.remarks = notes.into_iter().chain(files.take_notes()).chain(read.remarks).collect();
                self.judge(&Examiner::new(task, tolerance), read, env, streams)
            }
        }
    }

    /// The mistakes in the file of `--mistakes`.
    fn own(&self, files: &mut Files<'_>) -> Result<Vec<Group>> {
        let Some(file) = &self.mistakes else { return Ok(Vec::new()) };
        let own = own_mistakes(&visible(file), files.text(file)?)?;
        for mistake in own.iter().flat_map(|group| &group.mistakes) {
            let demo = mistake.demo.as_deref().map_or(Ok(()), |demo| demo::find(demo).map(drop));
            demo.map_err(|error| error.moved(mistake.place(None, "demo")))?;
        }
        Ok(own)
    }

    /// The exercise, and what is to be said of its inputs.
    fn task(&self, files: &mut Files<'_>) -> Result<(Task, Vec<String>)> {
        // The inputs are those of another command, and so are their errors.
        let here = |error: Error| error.map_help(|help| help.replace("attn attend", "attn diagnose"));
        let Computation { recipe, inputs, notes, .. } =
            self.computation.computation(None, files).map_err(here)?;
        let mut task = Task::new(recipe, inputs).map_err(here)?;
        if let Some(backward) = self.gradient.pass(task.right(), files)? {
            task = task.with_backward(backward).map_err(|error| self.gradient.refused(error))?;
        }
        Ok((task, notes))
    }

    /// One submission.
    fn judge(
        &self,
        examiner: &Examiner,
        read: Submission,
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<u8> {
        let Submission { answers, remarks } = read;
        if self.look.format == Format::Csv {
            let error = Error::new("a diagnosis is not a matrix");
            return Err(error.help("give --format json to get it as data"));
        }
        let diagnosis = examiner.examine(&answers).map_err(|error| with_renaming_remarks(error, &remarks))?;
        let code = if diagnosis.is_right() { EXIT_DONE } else { EXIT_CHECK_FAILED };
        let style = self.digits.style(&self.look, env);
        if self.look.format == Format::Json {
            let right = examiner.task().right();
            render::diagnosis(None, &diagnosis, right, streams.out)?;
            output::warnings(right, &remarks, &style, streams);
            return Ok(code);
        }
        let report = if self.details { detailed_report } else { report };
        let mut story = report(&diagnosis, examiner.task(), &answers);
        story.remarks = remarks;
        let shown = output::paged(&[Page::whole(story)], "diagnose", &style, env, streams)?;
        Ok(if shown == EXIT_DONE { code } else { shown })
    }

    fn tolerance(&self) -> Result<Tolerance> {
        let read = |option: &str, text: &Option<String>| -> Result<Option<f64>> {
            let Some(text) = text else { return Ok(None) };
            match read::number(text) {
                Ok(number) if number.value >= 0.0 && number.value.is_finite() => Ok(Some(number.value)),
                _ => Err(Error::new(format!("{option} is `{text}`"))
                    .help("give a number that is not negative, such as 1e-3")),
            }
        };
        Ok(Tolerance { relative: read("--rtol", &self.rtol)?, absolute: read("--atol", &self.atol)? })
    }
}

/// The answers in the files of `--yours`, each FILE or NODE=FILE.
fn submissions(yours: &[String], files: &mut Files<'_>, right: &Graph) -> Result<Submission> {
    let mut all = Submission::default();
    let limit = limit(right);
    for text in yours {
        let (source, read) = match named_file(text) {
            Some((name, source)) => {
                let array = only(files.named(source, limit)?);
                (source, array.and_then(|array| named_submission(name, array, right)))
            }
            None => (text.as_str(), submission(files.named(text, limit)?, right)),
        };
        let read = read.map_err(|error| error.in_source(visible(source)))?;
        all.answers.extend(read.answers);
        all.remarks.extend(read.remarks);
    }
    Ok(all)
}

/// `A=weights.csv` as name and source, unless that is itself a file.
fn named_file(text: &str) -> Option<(&str, &str)> {
    let (name, source) = text.split_once('=')?;
    let name = name.trim();
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && !input::exists(text)).then_some((name, source))
}

/// The array of a file that is named for one node.
fn only(mut arrays: Vec<(Option<String>, Array)>) -> Result<Array> {
    match (arrays.pop(), arrays.len()) {
        (Some((_, array)), 0) => Ok(array),
        (_, others) => {
            let help =
                "leave out the step before the file name: each array then counts as the step of its own name";
            Err(Error::new(format!("the file has {} arrays, but one is needed", others + 1)).help(help))
        }
    }
}

// `attn diagnose --model`: tensors that a port of a model has dumped.

/// A port of a model.
#[derive(Deserialize, Debug)]
struct PortedArgs {
    pub model: Option<String>,
    text: Option<String>,
    ids: Option<String>,
}

impl DiagnoseArgs {
    /// The tensors of a port against the model in this folder.
    fn ported(&self, folder: &str, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let model = OpenedModel::open_at(folder, None, env)?;
        let read = model.read_either(self.ported.text.as_deref(), self.ported.ids.as_deref())?;
        let read = read.ok_or_else(|| {
            Error::new("there is no text that the model has read").help("give --text TEXT, or --ids 464,3290")
        })?;
        let dump = dumped(&self.yours, &mut Files::new(streams.input).within(env.reading.clone()))?;
        let options = PassOptions { measured: false, ..PassOptions::default() };
        let report = diagnose(model.run(), &read.text, model.beginning(), &dump, options)?;
        if self.look.format == Format::Json {
            render::porting(&report, streams.out)?;
        } else {
            let parts = story::porting(&report, &read.text);
            self.look.tables("diagnose", &parts, env, streams)?;
        }
        Ok(if report.is_right() { EXIT_DONE } else { EXIT_CHECK_FAILED })
    }
}

/// The tensors of some files, each FILE, or NAME=FILE for a file of one.
fn dumped(yours: &[String], files: &mut Files<'_>) -> Result<Vec<Dumped>> {
    let mut all = Vec::new();
    for text in yours {
        let (name, source) = match text.split_once('=') {
            Some((name, source)) if !input::exists(text) => (Some(name), source),
            _ => (None, text.as_str()),
        };
        let place = visible(source).into_owned();
        let arrays = files.named(source, Limit::ANY)?;
        if name.is_some() && arrays.len() > 1 {
            return Err(Error::new(format!("the file has {} arrays, but one is needed", arrays.len()))
                .in_source(place)
                .help("leave out the name before the file: each tensor has its own"));
        }
        for (own, array) in arrays {
            let Some(name) = name.map(str::to_string).or(own) else {
                let help = format!("say which it is: --yours blocks.0.attn.hook_q={place}");
                return Err(Error::new("the tensor has no name").in_source(place).help(help));
            };
            all.push(Dumped { name, dims: array.dims().to_vec(), cells: array.values().to_vec() });
        }
    }
    Ok(all)
}

// `attn diagnose --list`: the catalogue of mistakes.

/// The heading over all mistakes in one table.
const ALL: &str = "Classic mistakes";

/// The exercise with mistakes of the user's own.
fn with_own(task: Task, own: &[Group]) -> Result<Task> {
    task.with_mistakes(&own.iter().flat_map(|group| group.mistakes.iter().cloned()).collect::<Vec<_>>())
}

/// An exercise in which mistakes can be tried where there is none.
fn example() -> Result<Task> {
    let mut stream = LegacyStream::seeded(SEED);
    let mut inputs = AttendInputs::of_tokens(stream.standard_normal_matrix(3, 4));
    for role in [Role::WQ, Role::WK, Role::WV, Role::WO] {
        inputs.set(role, Given::new(stream.standard_normal_matrix(4, 4), Origin::Drawn(SEED)));
    }
    Task::new(Recipe { heads: 2, kv_heads: 2, ..Recipe::causal() }, inputs)
}

/// Mistakes of the user's own, with the number of ways to make each that change a number of an exercise.
fn checked(own: &[Group], task: &Task) -> Vec<(String, Table)> {
    let shows = |way: &Way| {
        let made = task.with(&way.changes);
        let differs = |node: &Node| {
            let other = made.find(&node.name).and_then(|id| made[id].matrix());
            other.zip(node.matrix()).is_some_and(|(other, right)| !other.same_bits(right))
        };
        way.changes.contains(&Change::Transposed) || task.right().nodes().any(|(_, node)| differs(node))
    };
    let showing: Vec<&Way> = task.own_ways().iter().filter(|way| shows(way)).collect();
    let row = |mistake: &Arc<Mistake>| {
        let ways = showing.iter().filter(|way| Arc::ptr_eq(&way.slip.mistake, mistake)).count();
        vec![mistake.id.clone(), mistake.slip.clone(), ways.to_string()]
    };
    let part = |group: &Group| {
        let table = Table::new(&["id", "the mistake", "ways here"], group.mistakes.iter().map(row));
        (group.title.clone(), table.with_numbers(&["ways here"]))
    };
    own.iter().map(part).collect()
}

/// Writes the whole catalogue with mistakes of the user's own, or everything about one mistake.
fn write_list(
    id: Option<&str>,
    own: &[Group],
    look: &LookArgs,
    env: &Env,
    streams: &mut Streams<'_>,
) -> Result<()> {
    let all = || GROUPS.iter().chain(own);
    let known = |id: &str| own.iter().flat_map(|group| &group.mistakes).find(|mistake| mistake.id == id);
    let one = id.map(|id| known(id).map_or_else(|| find(id), Ok)).transpose()?;
    if let Some(one) = one.filter(|_| look.is_for_people()) {
        return output::pages(&[Page::whole(mistake(one))], "diagnose", &look.style(env), streams);
    }
    // Data is one table with everything; people read a group at a time.
    let in_full = matches!(look.format, Format::Json | Format::Csv);
    let parts = match one {
        None if !in_full => all().map(group).chain([classes()]).collect(),
        None => vec![(ALL.to_string(), mistakes_in_full(all().flat_map(|group| &group.mistakes)))],
        Some(one) if in_full => vec![(ALL.to_string(), mistakes_in_full([one]))],
        Some(one) => vec![(ALL.to_string(), mistakes([one]))],
    };
    look.tables("diagnose", &parts, env, streams)
}

/// The mistakes of one step that have a name of their own.
fn group(group: &Group) -> (String, Table) {
    (group.title.clone(), mistakes(group.mistakes.iter().filter(|mistake| !mistake.is_class())))
}

/// The classes for everything else, in one line.
fn classes() -> (String, Table) {
    let classes = catalogue().filter(|mistake| mistake.is_class());
    let steps: Vec<&str> = classes.filter_map(|mistake| mistake.id.strip_suffix("-altered")).collect();
    let ids = steps.join("-altered, ");
    let what = format!("Something was done at one step that attention does not do: {ids}-altered.");
    ("Anything else".to_string(), Table::new(&["id", "the mistake"], [vec!["…-altered".to_string(), what]]))
}

// `attn diagnose --suggest-input`: an input on which mistakes show, written to a file.

/// Every call draws the same numbers.
const SEED: u32 = 0;

impl DiagnoseArgs {
    /// Writes the input, and describes how to use it.
    fn write_suggestion(&self, file: &str, task: &Task, env: &Env, streams: &mut Streams<'_>) -> Result<()> {
        let look = &self.look;
        if look.format == Format::Csv {
            return Err(Error::new("the description of a suggested input is not a matrix")
                .help("give --format json to get it as data; the matrices are in the file"));
        }
        let path = &to_path(file);
        input::check_bundle_ending(path)?;
        // An existing file may be the exercise itself, which cannot be made again.
        if input::exists(file) {
            return Err(Error::new("the file already exists")
                .in_source(visible(file))
                .help("name a new file: no file is overwritten"));
        }
        let suggestion = suggest(task, SEED)?;
        let matrices = named(&suggestion.inputs)?;
        let inputs = &suggestion.inputs;
        let labels = inputs.x.as_ref().and_then(|x| x.tensor.row_labels());
        let tokens = inputs.tokens.as_ref().or(labels).map(|tokens| &tokens[..]);
        input::save_bundle(path, tokens, &matrices, env.writing)?;
        let arguments =
            format!("{} {}", quoted(file), words_of(task.recipe()).join(" ")).trim_end().to_string();
        if look.is_for_people() {
            let page = Page::whole(suggested_input(file, &suggestion, task, &matrices, &arguments));
            return output::pages(&[page], "diagnose", &look.style(env), streams);
        }
        let hidden: Vec<&str> = suggestion.hidden.iter().map(|mistake| &*mistake.id).collect();
        let row = vec![file.to_string(), arguments, suggestion.told_apart.to_string(), hidden.join(" ")];
        let table = Table::new(&["file", "arguments", "shown", "hidden"], [row]).with_numbers(&["shown"]);
        look.tables("diagnose", &[("Suggested input".into(), table)], env, streams)
    }
}

/// The matrices under the names by which they are read back.
fn named(inputs: &AttendInputs) -> Result<Vec<(&'static str, &Matrix)>> {
    let given = Role::all().filter_map(|role| Some((role, inputs.get(role)?)));
    given.map(|(role, given)| Ok((role.name(), given.tensor.matrix()?))).collect()
}

// `attn diagnose --batch`: a folder of results, a row each, and who made which mistake.

/// A folder to be judged.
struct Batch {
    /// One for all files, so that each mistake is computed once.
    examiner: Examiner,
    /// Whether only the table of mistakes is shown.
    by_mistake: bool,
}

/// The heading of the summary.
const SUMMARY: &str = "How many made which mistake";
/// The columns of the rows as data.
const HEADER: [&str; 6] = ["file", "result", "where", "mistake", "how sure", "note"];

impl Batch {
    /// Judges every file; the exit code is the worst of all.
    fn run(
        &self,
        folder: &[FolderEntry],
        look: &LookArgs,
        env: &Env,
        streams: &mut Streams<'_>,
    ) -> Result<u8> {
        let style = look.style(env);
        let mut tally = Tally::default();
        if self.by_mistake {
            folder.iter().for_each(|entry| tally.add(self.judge(entry)));
            look.tables("diagnose", &[(tally.sentence(), tally.by_mistake())], env, streams)?;
            return Ok(exit_code(&tally));
        }
        let is_screen = look.format == Format::Table;
        let names = folder.iter().filter(|entry| entry.is_readable()).map(|entry| entry.name.as_str());
        let screen = is_screen.then(|| FileRows::of(names, self.right(), &style));
        if let Some(screen) = &screen {
            writeln!(streams.out, "{}", screen.head())?;
        }
        let mut rows = Vec::new();
        for entry in folder {
            let result = self.judge(entry);
            match (&screen, look.format) {
                // A row is written before the next file is read.
                (Some(screen), _) if !result.is_ignored => {
                    writeln!(streams.out, "{}", screen.row(&result.row(self.right())))?;
                    streams.out.flush()?;
                }
                (Some(_), _) => {}
                (None, Format::Json) => self.json(&result, streams)?,
                _ => rows.push(result.cells(self.right())),
            }
            tally.add(result);
        }
        let summary = tally.mistakes().map(|table| (SUMMARY.into(), table));
        if is_screen {
            writeln!(streams.out, "\n{}", style.charset.spelled(&tally.sentence()))?;
            if let Some(summary) = summary {
                writeln!(streams.out)?;
                look.tables("diagnose", &[summary], env, streams)?;
            }
            write_notes(&tally, &style, streams)?;
        } else if look.format != Format::Json {
            let mut parts = vec![(tally.sentence(), Table::new(&HEADER, rows))];
            parts.extend(summary.filter(|_| look.format != Format::Csv));
            look.tables("diagnose", &parts, env, streams)?;
        }
        Ok(exit_code(&tally))
    }

    /// The graph of the right answer.
    fn right(&self) -> &Graph {
        self.examiner.task().right()
    }

    fn judge(&self, entry: &FolderEntry) -> FileResult {
        // The memory that a file takes is free again for the next one.
        let _of_the_file = memory::part();
        let judged = entry.named(limit(self.right())).and_then(|arrays| {
            let submission = submission(arrays, self.right())?;
            let diagnosis = self.examiner.examine(&submission.answers)?;
            let mut judged = FileResult::judged(&entry.name, diagnosis, &submission.answers);
            judged.remarks = submission.remarks;
            Ok(judged)
        });
        judged.unwrap_or_else(|error| {
            FileResult::not_judged(&entry.name, reason(&error, &entry.name), !entry.is_readable())
        })
    }

    fn json(&self, result: &FileResult, streams: &mut Streams<'_>) -> Result<()> {
        match &result.outcome {
            Ok(diagnosis) => render::diagnosis(Some(&result.file), diagnosis, self.right(), streams.out)?,
            Err(reason) => render::unusable(&result.file, result.verdict(), reason, streams.out)?,
        }
        streams.out.flush()?;
        Ok(())
    }
}

/// The first line of an error, without the name of the file, which the row has already. Its help is for the student, who does not
/// read this.
fn reason(error: &Error, file: &str) -> String {
    let message = error.to_string();
    let first = message.lines().next().unwrap_or_default();
    let rest = first.strip_prefix(&*visible(file)).unwrap_or(first);
    let rest = rest.trim_start_matches([':', ',', ' ']);
    if rest.starts_with(|c: char| c.is_ascii_digit()) { format!("at {rest}") } else { rest.to_string() }
}

fn exit_code(tally: &Tally) -> u8 {
    if !tally.all_judged() {
        EXIT_UNUSABLE
    } else if !tally.all_right() {
        EXIT_CHECK_FAILED
    } else {
        EXIT_DONE
    }
}

/// Writes below the tables why files are unusable, which are ignored, and what a column means.
fn write_notes(tally: &Tally, style: &Style, streams: &mut Streams<'_>) -> Result<()> {
    let mut notes: Vec<String> =
        tally.unusable.iter().map(|(file, reason)| format!("{file}: {reason}.")).collect();
    notes.extend(tally.remarks.iter().map(|(file, remark)| format!("{file}: {remark}")));
    if !tally.ignored.is_empty() {
        let names = tally.ignored.join(", ");
        notes.push(format!("Ignored ({}): {names}.", counted(tally.ignored.len(), "file")));
    }
    if tally.has_rows() {
        notes.push(
            "How sure: to how many decimals the file agrees with the right result, or with the named mistake."
                .into(),
        );
    }
    for note in notes {
        let text = style.charset.spelled(&visible(&note)).into_owned();
        writeln!(streams.out, "\n{}", wrapped_text(&text, style.width).join("\n"))?;
    }
    Ok(())
}
