//! A state as files: the command that prints it, its matrices and its graph, or a step of a lesson.

use std::path::Path;

use attn_story::live::sentences;
use attn_story::render::number_alone;

use crate::error::{Error, Result};
use crate::explore::{Form, Message, State};
use crate::foreign::{to_path, visible};
use crate::graph::{Graph, Node, NodeId, address_of};
use crate::input::{WritePermission, delimited_text, put_new_files, table};
use crate::render::{Format, Page, Screen, Style, stories};
use crate::story::{Digits, Story};
use crate::text::{counted, grouped, quoted};

/// The words of a command, after `attn`.
type Command = Box<dyn Fn(&State) -> Vec<String>>;

/// Runs a command: its exit code, and what it prints.
type Run = dyn Fn(&[String]) -> (u8, String);

/// The commands of what is explored, and whether files may be written.
pub(crate) struct Writer {
    /// The command that prints the numbers of a state.
    pub printing: Command,
    /// The command that prints the matrix under the cursor, or the number there.
    pub showing: Command,
    /// Whether the first one can print every digit, so that a lesson can compare a number in its text.
    pub has_json: bool,
    /// Runs a command on a screen of [`COLUMNS`].
    pub run: Box<Run>,
    /// Whether files may be written.
    pub writing: WritePermission,
}

/// The columns of the screen of a lesson.
pub(crate) const COLUMNS: usize = 80;

impl Writer {
    /// Writes what the last key asked for, and says how that went; `None` if it asked for nothing.
    pub(super) fn answer(&self, state: &State) -> Option<String> {
        let Some(Message::Write(form, name)) = state.message() else { return None };
        let said = match self.write(state, *form, name) {
            Ok(said) => said,
            Err(error) => error.in_one_line(),
        };
        Some(said.lines().collect::<Vec<_>>().join(" "))
    }

    fn write(&self, state: &State, form: Form, name: &str) -> Result<String> {
        let path = to_path(name);
        let shown = visible(name);
        match form {
            Form::Command => {
                let command = command_line(&(self.printing)(state));
                self.put(&path, format!("{command}\n"))?;
                Ok(format!("In {shown}: {command}"))
            }
            Form::Files => {
                let files = files(state.graph(), MOST_NUMBERS)?;
                let all: Vec<(&str, &[u8])> =
                    files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
                put_new_files(&path, &all, self.writing)?;
                let given = counted(files.len() - 1, "matrix");
                Ok(format!("In {shown}: the {given} given, and {GRAPH} for attn explore"))
            }
            Form::Lesson => {
                self.put(&path, self.lesson(state)?)?;
                Ok(format!("A lesson of one step is in {shown}: attn lesson check {}", quoted(name)))
            }
        }
    }

    fn put(&self, path: &Path, text: String) -> Result<()> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        put_new_files(folder, &[(&name, text.as_bytes())], self.writing)
    }

    /// A lesson of one step: what is changed, the number under the cursor, and the command with its output.
    fn lesson(&self, state: &State) -> Result<String> {
        let showing = (self.showing)(state);
        let (code, output) = (self.run)(&showing);
        if code != 0 {
            return Err(Error::new(format!("{} fails: {}", command_line(&showing), output.trim())));
        }
        let graph = state.graph();
        let node = &graph[state.cursor().node];
        let address = address_of(graph, state.cursor());
        let mut text = format!(
            "---\nattn-lesson: 1\ntitle: {name} in numbers\nminutes: 2\nscreen: {COLUMNS}x24\n---\n\n# {name} in numbers\n\n",
            name = node.name
        );
        let value = state.value().filter(|value| value.is_finite() && self.has_json && is_plain(&address));
        let command = command_line(&(self.printing)(state));
        if value.is_some() {
            text.push_str(&format!("<!-- run: now = {command} -->\n\n"));
        }
        text.push_str(&format!("## Read {}\n\n<!-- step: minutes=2 -->\n\n", node.name));
        let changed = sentences::changes(state.changes(), state);
        if !changed.is_empty() && is_plain(&changed) {
            // As code: nothing compares these numbers with a computation, since they are what was typed.
            let inside = changed.trim_start_matches("Changed: ").trim_end_matches('.');
            text.push_str(&format!("Changed: `{inside}`.\n\n"));
        }
        if let Some(value) = value {
            let number = number_alone(value, state.decimals());
            text.push_str(&format!("`{address}` is {number}<!-- = now:{address} -->.\n\n"));
        }
        text.push_str(&format!("```console\n$ {}\n{output}\n```\n", command_line(&showing)));
        Ok(text)
    }
}

/// Whether a text can stand in a line of a lesson as it is: it ends no code and begins no comment.
fn is_plain(text: &str) -> bool {
    !text.contains(['`', '<', '\n']) && !text.contains("--")
}

/// A command as it is typed.
pub(crate) fn command_line(words: &[String]) -> String {
    words.iter().fold("attn".to_string(), |line, word| format!("{line} {}", quoted(word)))
}

/// The file of the whole computation.
const GRAPH: &str = "graph.json";

/// The most numbers that are written: a larger graph would fill gigabytes, and the screen would stand still meanwhile.
const MOST_NUMBERS: usize = 10_000_000;

/// Every given matrix as `X.csv`, and the whole graph, which the explorer opens again.
fn files(graph: &Graph, most: usize) -> Result<Vec<(String, String)>> {
    let formed = graph.nodes().filter(|(_, node)| node.tensor().is_some());
    let count: usize = formed.map(|(_, node)| node.shape().rows * node.shape().cols).sum();
    if count > most {
        let (count, most) = (grouped(count as u64), grouped(most as u64));
        return Err(Error::new(format!("this graph has {count} numbers, and at most {most} are written"))
            .help("copy one matrix with Y, or let a command write it with --save NODE=FILE"));
    }
    let is_here = |node: &Node| node.op.is_given() && node.tensor().is_some_and(|tensor| !tensor.is_stored());
    let given: Vec<NodeId> = graph.nodes().filter(|(_, node)| is_here(node)).map(|(id, _)| id).collect();
    let mut all: Vec<(String, String)> = Vec::new();
    for id in given {
        let mut name = format!("{}.csv", file_name(&graph[id].name));
        while all.iter().any(|(other, _)| other.eq_ignore_ascii_case(&name)) {
            name.insert(0, '_');
        }
        all.push((name, delimited_text(b',', table(graph, id)?)?));
    }
    let page = Page::whole(Story::of_graph("Explored", graph.clone(), Digits::Places(4)));
    let mut json = Vec::new();
    stories(&[page], "explore", &Style::on(Screen::plain(COLUMNS), Format::Json), &mut json)?;
    let json = String::from_utf8(json).map_err(|error| Error::new(error.to_string()))?;
    all.push((GRAPH.to_string(), json));
    Ok(all)
}

/// The name of a node as that of a file, on every system.
fn file_name(node: &str) -> String {
    let is_usual = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    node.chars().map(|c| if is_usual(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::recipes::{AttendInputs, Recipe, attend};
    use crate::matrix::Matrix;

    #[test]
    fn a_graph_of_too_many_numbers_is_refused_with_the_way_to_write_one_matrix() {
        let graph = attend(&Recipe::default(), AttendInputs::of_tokens(Matrix::identity(3))).unwrap();
        let shapes = graph.nodes().map(|(_, node)| node.shape());
        let count: usize = shapes.map(|shape| shape.rows * shape.cols).sum();
        assert!(files(&graph, count).is_ok());
        let said = files(&graph, count - 1).unwrap_err().to_string();
        assert!(
            said.contains(&format!("has {count} numbers")) && said.contains("copy one matrix with Y"),
            "{said}"
        );
    }
}
