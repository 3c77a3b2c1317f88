//! A story as it is shown: all its texts have escapes for invisible characters. Formats for people show no other.

use super::model::{Step, StepItem, Story};
use super::table::Table;
use crate::foreign::{hidden, visible_lines};

impl Story {
    /// Returns true if all its texts consist of visible characters.
    pub fn is_visible(&self) -> bool {
        let mut head = [&self.title].into_iter().chain(&self.source).chain(&self.notes).chain(&self.remarks);
        self.graph.is_visible() && head.all(|text| is_seen(text)) && self.steps.iter().all(Step::is_visible)
    }

    /// This story with invisible characters escaped.
    pub fn made_visible(mut self) -> Story {
        self.graph = self.graph.made_visible();
        let head = [&mut self.title]
            .into_iter()
            .chain(&mut self.source)
            .chain(&mut self.notes)
            .chain(&mut self.remarks);
        head.for_each(show);
        for Step { text, notice, shown, .. } in &mut self.steps {
            [text].into_iter().chain(notice).for_each(show);
            for shown in shown {
                match shown {
                    StepItem::Table(table) => *table = table.made_visible(),
                    StepItem::Explained { of, .. } => of.iter_mut().for_each(|one| show(&mut one.caption)),
                    _ => {}
                }
            }
        }
        self
    }
}

impl Step {
    fn is_visible(&self) -> bool {
        let are_seen = |shown: &StepItem| match shown {
            StepItem::Table(table) => table.is_visible(),
            StepItem::Explained { of, .. } => of.iter().all(|one| is_seen(&one.caption)),
            _ => true,
        };
        [&self.text].into_iter().chain(&self.notice).all(|text| is_seen(text))
            && self.shown.iter().all(are_seen)
    }
}

impl Table {
    fn is_visible(&self) -> bool {
        self.header.iter().chain(self.rows.iter().flatten()).chain(&self.notices).all(|text| is_seen(text))
    }

    /// This table with invisible characters escaped. Cells may have several lines.
    pub fn made_visible(&self) -> Table {
        let mut table = self.clone();
        let cells = table.header.iter_mut().chain(table.rows.iter_mut().flatten());
        cells.chain(&mut table.notices).for_each(show);
        table
    }
}

/// Returns true if a text, which may have several lines, consists of visible characters.
fn is_seen(text: &str) -> bool {
    hidden(text).all(|(_, c)| c == '\n')
}

fn show(text: &mut String) {
    *text = visible_lines(text).into_owned();
}
