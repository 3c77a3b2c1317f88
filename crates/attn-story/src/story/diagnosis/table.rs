//! The table of the steps that were handed in.

use super::cells::{number, size, worst_cell};
use super::headline::other_count;
use crate::diagnose::{CloseNumbers, Diagnosis, JudgedNode, Task, Verdict};
use crate::story::Table;
use crate::text::all_of;

/// A row for every node.
pub(super) fn nodes(diagnosis: &Diagnosis, task: &Task) -> Table {
    let row = |(at, node): (usize, &JudgedNode)| {
        let mut row = vec![node.name.clone(), verdict(node, &diagnosis.nodes[..at])];
        row.extend(match &node.verdict {
            Verdict::Right(distance)
            | Verdict::Wrong(distance)
            | Verdict::Close(CloseNumbers { distance, .. }) => {
                let difference = &distance.difference;
                let place = match difference.max {
                    0.0 => String::new(),
                    _ => worst_cell(distance, task.right()),
                };
                let cells = format!("{} of {}", difference.cells, difference.of);
                let [yours, right] = [difference.yours, difference.expected].map(|x| number(x, 4));
                [place, yours, right, size(difference.max), cells]
            }
            _ => [const { String::new() }; 5],
        });
        row
    };
    let rows: Vec<Vec<String>> = diagnosis.nodes.iter().enumerate().map(row).collect();
    let measured = rows.iter().any(|row| row[2..].iter().any(|cell| !cell.is_empty()));
    let header = ["node", "verdict", "largest at", "yours", "right", "difference", "cells wrong"];
    let shown = if measured { header.len() } else { 2 };
    let table = Table::new(&header[..shown], rows.into_iter().map(|row| row[..shown].to_vec()));
    table.with_numbers(&["yours", "right", "difference", "cells wrong"])
}

/// The verdict on a node, for a cell of the table.
fn verdict(node: &JudgedNode, before: &[JudgedNode]) -> String {
    match &node.verdict {
        Verdict::Right(_) => "right".into(),
        Verdict::Close(_) => "close".into(),
        Verdict::AnotherForm(_) => "right in another form".into(),
        Verdict::Follows => {
            let names = |all: bool| -> Vec<&str> {
                let wanted = before.iter().filter(|node| all || !node.verdict.is_right());
                wanted.map(|node| node.name.as_str()).collect()
            };
            let wrong = names(false);
            format!("right, given your own {}", all_of(&if wrong.is_empty() { names(true) } else { wrong }))
        }
        Verdict::Wrong(_) => "wrong".into(),
        Verdict::OtherShape(yours, expected) => format!("{yours} instead of {expected}"),
        Verdict::OtherCount(yours, expected) => other_count(*yours, *expected),
        Verdict::Unjudged => "does not follow from your own numbers".into(),
    }
}

/// The nodes that are right in another form: “S: these are the masked scores, S_masked.”
pub(super) fn forms(nodes: &[JudgedNode]) -> Option<String> {
    let form = |node: &JudgedNode| match &node.verdict {
        Verdict::AnotherForm(form) => Some(format!("{}: {}.", node.name, form.says)),
        _ => None,
    };
    let forms: Vec<String> = nodes.iter().filter_map(form).collect();
    (!forms.is_empty()).then(|| forms.join(" "))
}
