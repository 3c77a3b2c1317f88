//! Matrices as comma-separated values, every digit. One node is a plain file that spreadsheets and `attn` read; several
//! stand one below the other, each under a line `# name`.

use ::csv::Writer;

use super::Page;
use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::input;
use crate::story::Table;

pub(super) fn pages(pages: &[Page]) -> Result<String> {
    let count: usize = pages.iter().map(|page| page.nodes.len()).sum();
    let mut text = String::new();
    for page in pages {
        for &id in &page.nodes {
            let node = &page.story.graph[id];
            if count > 1 {
                let gap = if text.is_empty() { "" } else { "\n" };
                let comment = if node.is_never_formed() { ": never formed" } else { "" };
                text.push_str(&format!("{gap}# {}{comment}\n", node.name));
                if node.is_never_formed() {
                    continue;
                }
            }
            let table = input::table(&page.story.graph, id)?;
            // A named node is written with all its numbers; a whole computation leaves out nodes that are too large to look at.
            if page.headed {
                page.story.graph.matrix(id)?;
            }
            text.push_str(&input::delimited_text(b',', table)?);
        }
    }
    Ok(text)
}

pub(super) fn tables(parts: &[(String, Table)]) -> Result<String> {
    let mut text = String::new();
    let parts: Vec<_> = parts.iter().filter(|(_, table)| !table.header.is_empty()).collect();
    for (title, table) in &parts {
        if parts.len() > 1 {
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}# {}\n", visible(title)));
        }
        let records = std::iter::once(&table.header).chain(&table.rows);
        text.push_str(&written(records.map(|row| row.to_vec()))?);
    }
    Ok(text)
}

fn written(records: impl Iterator<Item = Vec<String>>) -> Result<String> {
    let mut writer = Writer::from_writer(Vec::new());
    let failed =
        |error: &dyn std::fmt::Display| Error::new(format!("a table could not be written as CSV: {error}"));
    for record in records {
        writer.write_record(&record).map_err(|error| failed(&error))?;
    }
    let bytes = writer.into_inner().map_err(|error| failed(&error))?;
    String::from_utf8(bytes).map_err(|error| failed(&error))
}
