//! The moves of the player: on, back, to a step; and what is on the page that they lead to.

use super::pages::{self, Chunk, Place, place, position};
use super::player::Player;
use super::stops::{Kind, Stop, commands};
use crate::lesson::Block;
use crate::lesson::show::Show;

impl Player<'_> {
    /// Goes on: the rest of the stop, or the next one.
    pub(super) fn go_on(&mut self) -> Vec<String> {
        self.is_fresh = false;
        match self.next {
            Some(next) => self.show_from(next, Vec::new()),
            None => {
                self.at += 1;
                self.show_from(Place::default(), Vec::new())
            }
        }
    }

    /// Shows the next stop, with something before it.
    pub(super) fn go_on_behind(&mut self, before: Vec<String>) -> Vec<String> {
        self.is_fresh = false;
        self.at += 1;
        self.show_from(Place::default(), before)
    }

    /// Goes back to what was shown before; nothing at the beginning.
    pub(super) fn go_back(&mut self) -> Vec<String> {
        if self.is_over() {
            self.at = self.stops.len() - 1;
            return self.show_last_page();
        }
        self.is_clean = true;
        let chunks = self.chunks(&self.stops[self.at]);
        let here = position(&chunks, self.from);
        let pages = pages::pages(&chunks, self.height());
        if let Some(before) = pages.iter().rfind(|page| page.end <= here) {
            let place = place(&chunks, before.start);
            return self.show_from(place, Vec::new());
        }
        match self.at.checked_sub(1) {
            Some(before) => {
                self.at = before;
                self.show_last_page()
            }
            None => {
                self.is_clean = false;
                Vec::new()
            }
        }
    }

    fn show_last_page(&mut self) -> Vec<String> {
        self.is_clean = true;
        let chunks = self.chunks(&self.stops[self.at]);
        let last = pages::pages(&chunks, self.height()).last().map_or(0, |page| page.start);
        self.show_from(place(&chunks, last), Vec::new())
    }

    /// Shows the present page again, and above it as much of its step as there is room for: the table that is talked about.
    pub(super) fn show_again(&mut self) -> Vec<String> {
        self.is_clean = true;
        let lines = self.show_from(self.from, Vec::new());
        let above = self.above(lines.len());
        match above.is_empty() {
            true => lines,
            false => [above, vec![String::new()], lines].concat(),
        }
    }

    /// What stands in the present step before the present page: as much as fits above so many lines.
    fn above(&self, below: usize) -> Vec<String> {
        let Some(stop) = self.stops.get(self.at) else { return Vec::new() };
        let first =
            self.stops[..self.at].iter().rposition(|other| other.step != stop.step).map_or(0, |at| at + 1);
        let mut chunks: Vec<Chunk> =
            self.stops[first..self.at].iter().flat_map(|stop| self.chunks(stop)).collect();
        let own = self.chunks(stop);
        chunks.extend_from_slice(&own[..position(&own, self.from)]);
        let mut room = self.height().saturating_sub(below + 1);
        let fits = |chunk: &&Chunk| {
            let needed = chunk.lines.len() + chunk.gap;
            let fits = needed <= room;
            room = room.saturating_sub(needed);
            fits
        };
        let count = chunks.iter().rev().take_while(fits).count();
        pages::lines(&chunks[chunks.len() - count..])
    }

    /// Goes to a stop.
    pub(super) fn go_to(&mut self, stop: usize) -> Vec<String> {
        self.at = stop;
        if self.is_fresh {
            // A class that goes on where it was left is not ahead of its plan.
            self.first = self.step().unwrap_or(0);
        }
        self.is_clean = true;
        self.show_from(Place::default(), Vec::new())
    }

    /// Goes to the first stop of a step.
    pub(super) fn go_to_step(&mut self, step: usize) -> Vec<String> {
        match self.stops.iter().position(|stop| stop.step == Some(step)) {
            Some(stop) => self.go_to(stop),
            None => Vec::new(),
        }
    }

    /// Shows a page of the present stop, with something before it.
    pub(super) fn show_from(&mut self, from: Place, before: Vec<String>) -> Vec<String> {
        self.waiting.clear();
        self.beside = None;
        let Some(stop) = self.stops.get(self.at).cloned() else {
            (self.from, self.next) = (Place::default(), None);
            return [before, self.ending()].concat();
        };
        let chunks = self.chunks(&stop);
        let start = position(&chunks, from);
        let height = self.height().saturating_sub(before.len() + usize::from(!before.is_empty())).max(1);
        let end = start + pages::pages(&chunks[start..], height).first().map_or(0, |page| page.end);
        self.from = from;
        self.next = (end < chunks.len()).then(|| place(&chunks, end));
        self.note_what_is_shown(&stop);
        // On the next page of a question, what was told and drawn still stands above.
        let begins = self.is_clean || from == Place::default();
        let is_asked = stop.kind == Kind::Asked && begins;
        if let Some(question) = stop.question(self.lesson).filter(|_| is_asked) {
            let record = self.record(question);
            record.told.clear();
            record.drawn = false;
        }
        let mut lines = before;
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(pages::lines(&chunks[start..end]));
        lines
    }

    fn note_what_is_shown(&mut self, stop: &Stop) {
        commands(stop, self.lesson).into_iter().for_each(|typed| self.keep_command(typed));
        let is_last = self.stops.get(self.at + 1).is_none_or(|next| next.step != stop.step);
        if let (Some(step), None, true) = (stop.step, self.next, is_last) {
            self.done.insert(step);
        }
    }

    /// The text of a stop in pieces.
    fn chunks(&self, stop: &Stop) -> Vec<Chunk> {
        let (show, height) = (self.show(), self.height());
        let mut chunks = Vec::new();
        for (number, block) in stop.shown(self.lesson).iter().enumerate() {
            let lines = match (stop.kind, block) {
                (Kind::Answer, Block::Question(question)) => self.answer(&show, question),
                _ => show.block(block),
            };
            let mut pieces = pages::chunks(number, &lines, height);
            if matches!((stop.kind, block), (Kind::Asked, Block::Question(_))) {
                pages::keep_first_two_together(&mut pieces, height);
            }
            chunks.extend(pieces);
        }
        let is_headed = stop.begins_part() && self.lesson.told.is_none();
        let heading = if is_headed { self.heading(&show, stop) } else { Vec::new() };
        if heading.is_empty() {
            return chunks;
        }
        match chunks.first_mut().filter(|first| heading.len() + 1 + first.lines.len() <= height) {
            // A heading never stands alone at the foot of a page.
            Some(first) => {
                first.lines.insert(0, String::new());
                first.lines.splice(0..0, heading);
            }
            None => chunks.insert(0, Chunk { block: 0, gap: 1, lines: heading }),
        }
        chunks
    }

    fn heading(&self, show: &Show<'_>, stop: &Stop) -> Vec<String> {
        match (stop.step, stop.in_part(self.lesson).and_then(|part| part.title.as_deref())) {
            (None, _) => show.title(),
            (Some(step), _) if stop.part == 0 => show.step_heading(step),
            (Some(_), Some(title)) => show.pause_heading(title),
            (Some(_), None) => Vec::new(),
        }
    }

    /// Runs what the next stop shows ahead of time, so that it appears at once.
    pub fn prepare(&self) {
        if let Some(next) = self.stops.get(self.at + 1) {
            self.chunks(next);
        }
    }
}
