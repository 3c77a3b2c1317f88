//! `attn lesson directives`.

use clap::Args;

use crate::cli::output::TablesArgs;
use crate::cli::{Env, Streams, output};
use crate::error::Result;
use crate::lesson::DIRECTIVES;
use crate::lesson::key::Function;
use crate::lesson::question::{KINDS, Kind};
use crate::story::Table;

/// List what a lesson file can contain
///
/// Its head, directives, questions, functions and blocks. `attn lesson new NAME` writes a lesson with most of them.
#[derive(Args, Debug)]
pub(super) struct DirectivesArgs {
    #[command(flatten)]
    look: TablesArgs,
}

impl DirectivesArgs {
    pub(super) fn run(&self, env: &Env, streams: &mut Streams<'_>) -> Result<u8> {
        let parts = [
            ("The file", file()),
            ("Directives, each alone on its line", directives()),
            ("Kinds of question, and the key of each", kinds()),
            ("What computes a key, an option or a number", functions()),
            ("Blocks of commands", blocks()),
        ];
        let parts = parts.map(|(title, table)| (title.to_string(), table));
        output::shown(&self.look, env, streams, |streams| self.look.tables("lesson", &parts, env, streams))
    }
}

fn table<const N: usize>(head: [&str; 2], rows: [[&str; 2]; N]) -> Table {
    Table::new(&head, rows.map(|row| row.map(str::to_string).to_vec()))
}

fn file() -> Table {
    table(
        ["line", "what it is"],
        [
            ["---", "the first and the last line of the head"],
            ["attn-lesson: 1", "makes the file a lesson"],
            ["minutes: 12", "the planned time"],
            ["screen: 100x30", "the screen it is written for, columns and rows [default: 80x24]"],
            ["# Why the mask?", "the title, once"],
            ["## Before the mask", "a step"],
            ["### And now", "a pause inside a step"],
            ["- A. none", "an option of the question above it"],
            ["<details>", "begins the folded answer; <summary>Answer</summary> and an empty line follow"],
            ["</details>", "ends the answer and the question, after an empty line"],
        ],
    )
}

fn directives() -> Table {
    let rows = DIRECTIVES.map(|one| {
        let does = match one.word {
            "ask" => format!("{}: {}", one.does, KINDS.map(Kind::word).join(", ")),
            "note" => format!("{}: `play --notes`, `follow`", one.does),
            _ => one.does.to_string(),
        };
        vec![format!("<!-- {} -->", one.form), does]
    });
    let in_prose = [
        "0.30<!-- = RUN:CELL -->".to_string(),
        "inside a line of text: the number must be that cell, rounded as written".to_string(),
    ];
    let mut rows = rows.to_vec();
    let options = DIRECTIVES.iter().position(|one| one.word == "opt").map_or(rows.len(), |at| at + 1);
    rows.insert(
        options,
        vec![
            "<!-- opt B iff count(causal:A[bat], == 0) == 1 -->".to_string(),
            "says what would make an option in words right; `check` proves that it is false".to_string(),
        ],
    );
    rows.push(in_prose.to_vec());
    Table::new(&["directive", "what it does"], rows)
}

fn kinds() -> Table {
    let row = |kind: Kind| {
        let [key, typed] = kind.example();
        [kind.word(), key, typed].map(str::to_string).to_vec()
    };
    Table::new(&["kind", "key", "what is typed"], KINDS.map(row))
}

fn functions() -> Table {
    let row = |(name, call): (&str, &str)| {
        let does = match name {
            "argmax" => "the cell of the largest number; a tie is an error",
            "argmin" => "the cell of the smallest number; a tie is an error",
            "rank" => "the columns of a row from the largest number to the smallest",
            "sum" => "all of them added up",
            "min" => "the smallest number",
            "max" => "the largest number",
            "len" => "how many there are",
            "count" => "how many cells pass the comparison: == != < <= > >=",
            "round" => {
                "rounded to that many decimals, as tables are; the sum of a softmax row needs it to equal 1"
            }
            _ => "",
        };
        vec![call.to_string(), does.to_string()]
    };
    let cells = [
        ["RUN:A[bat,cave]", "a cell, by labels or by positions: RUN:A[1,2]"],
        ["RUN:A[bat]", "a row"],
        ["RUN:A", "a whole node; `attn … --format json` lists the names"],
    ];
    let cells = cells.map(|row| row.map(str::to_string).to_vec());
    Table::new(&["form", "what it is"], cells.into_iter().chain(Function::ALL.map(row)))
}

fn blocks() -> Table {
    table(
        ["form", "what it does"],
        [
            ["```console", "is run and compared; an empty line stands before its closing ```"],
            ["$ attn demo mask", "a command; > goes on with it in the next line, ? 2 expects exit code 2"],
            ["...", "in an output: any lines"],
            ["[..]", "in an output: anything inside a line"],
            ["```console,ignore", "is shown, not run"],
            ["```text", "is shown as it is"],
        ],
    )
}
