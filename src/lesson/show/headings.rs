//! Titles, steps and pauses, to be seen from the back row.

use crate::text::ScreenWidth;

use super::LessonView;
use super::spans::{Ink, Text, Tone};
use crate::lesson::Step;
use crate::render::Screen;
use crate::text::counted;

/// Headings are no wider than this, so that the number at their end stays near.
const WIDEST: usize = 100;

/// `1 minute`, `1.5 minutes`
pub(in crate::lesson) fn minutes(minutes: f64) -> String {
    format!("{minutes} {}", if minutes == 1.0 { "minute" } else { "minutes" })
}

impl LessonView<'_> {
    /// The lesson's title, how many steps it has and how long it takes.
    pub fn title(&self) -> Vec<String> {
        let steps = counted(self.lesson.steps.len(), "step");
        let length = match self.lesson.minutes {
            Some(planned) => format!("{steps}, {}", minutes(planned)),
            None => steps,
        };
        self.barred(&self.lesson.title, &length)
    }

    /// The heading of the step at a position from 0: its number, its title, and a rule across the screen. Nothing where there
    /// is no such step.
    pub fn step_heading(&self, step: usize) -> Vec<String> {
        let steps = &self.lesson.steps;
        let Some(Step { title, .. }) = steps.get(step) else { return Vec::new() };
        let title = format!("{}  {title}", step + 1);
        self.barred(&title, &format!("{} of {}", step + 1, steps.len()))
    }

    /// The heading of a part of a step after a pause.
    pub fn pause_heading(&self, title: &str) -> Vec<String> {
        let width = self.heading_width();
        let mut text = Text::of("── ", Ink::of(Tone::Quiet), self.screen);
        text.push(title, Ink::bold(), self.screen);
        text.wrapped(width, ["", "   "], self.screen)
    }

    fn heading_width(&self) -> usize {
        self.screen.width.min(WIDEST)
    }

    /// A title, something at the end of its first line, and a rule below.
    pub(in crate::lesson) fn barred(&self, title: &str, end: &str) -> Vec<String> {
        let width = self.heading_width();
        let room = width.saturating_sub(end.width() + 2);
        let plain = Screen { colour: false, ..self.screen };
        let wrapped = Text::of(title, Ink::default(), plain).wrapped(room, ["", "   "], plain);
        let bar = Ink { bold: true, tone: Tone::Bar, ..Ink::default() };
        let mut lines = Vec::new();
        for (number, line) in wrapped.iter().enumerate() {
            let end = if number == 0 { end } else { "" };
            let gap = " ".repeat(width.saturating_sub(line.width() + end.width()));
            let gap = if end.is_empty() { "" } else { &gap };
            lines.push(bar.on(&format!("{line}{gap}{end}"), self.screen));
        }
        let rule = self.screen.charset.spelled("─").repeat(width);
        lines.push(Ink::of(Tone::Quiet).on(&rule, self.screen));
        lines
    }
}
