//! Commands and what they print, live.

use textwrap::core::display_width;
use unicode_width::UnicodeWidthStr;

use super::Show;
use super::spans::{Ink, Text, Tone};
use crate::lesson::{Console, Exchange, Literal, Screen};

/// What stands before a command, and before its further lines.
const PROMPTS: [&str; 2] = ["$ ", "> "];
/// What is only shown is set in by so much, where there is room for it.
const INDENT: usize = 4;

impl Show<'_> {
    /// The commands of a block, each with what it prints on this screen.
    pub(super) fn console(&self, console: &Console) -> Vec<String> {
        let mut lines = Vec::new();
        for exchange in &console.exchanges {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(self.prompted(&self.typed(exchange)));
            lines.extend(self.printed(exchange));
        }
        lines
    }

    /// The lines of a command, each behind its prompt.
    pub fn prompted(&self, typed: &[String]) -> Vec<String> {
        typed.iter().enumerate().map(|(number, line)| self.prompt(number) + &self.command(line)).collect()
    }

    /// What stands before the line of a command at a position from 0.
    pub fn prompt(&self, number: usize) -> String {
        Ink::of(Tone::Quiet).on(PROMPTS[number.min(1)], self.screen)
    }

    /// What is typed behind a prompt, or a part of it, as it looks.
    pub fn command(&self, typed: &str) -> String {
        Ink::bold().on(typed, self.screen)
    }

    /// The lines of a command as they are typed behind the prompt: as the lesson breaks them, and again where the screen is
    /// too narrow.
    pub fn typed(&self, exchange: &Exchange) -> Vec<String> {
        exchange
            .typed
            .iter()
            .flat_map(|line| broken(&self.screen.charset.spelled(line), self.room()))
            .collect()
    }

    /// The columns behind a prompt.
    fn room(&self) -> usize {
        self.screen.width.saturating_sub(PROMPTS[0].width())
    }

    /// What a command prints on this screen, and its exit code where it is not 0.
    pub fn printed(&self, exchange: &Exchange) -> Vec<String> {
        let ran = self.runner.run(&exchange.command.args, self.screen);
        let mut lines: Vec<String> = ran.shown().lines().map(str::to_string).collect();
        if ran.code != 0 {
            lines.push(Ink::of(Tone::Quiet).on(&format!("(exit code {})", ran.code), self.screen));
        }
        lines
    }

    /// A fence that is only shown, as it is; but a command that is too long for the screen is broken as one that runs.
    pub(super) fn literal(&self, literal: &Literal) -> Vec<String> {
        let text = self.screen.charset.spelled(literal.text.trim_end()).into_owned();
        let has_commands = literal.label.starts_with("console");
        let shown = |line: &str| match line.strip_prefix(PROMPTS[0]).filter(|_| has_commands) {
            Some(typed) => self.prompted(&broken(typed, self.room())),
            None => vec![line.to_string()],
        };
        let lines: Vec<String> = text.lines().flat_map(shown).collect();
        let widest = lines.iter().map(|line| display_width(line)).max().unwrap_or(0);
        let indent = if widest + INDENT <= self.screen.width { INDENT } else { 0 };
        let margin = " ".repeat(indent);
        lines.iter().map(|line| format!("{margin}{line}").trim_end().to_string()).collect()
    }
}

/// A command in lines of at most `room` columns, broken at spaces outside of quotes.
fn broken(typed: &str, room: usize) -> Vec<String> {
    if typed.width() <= room {
        return vec![typed.to_string()];
    }
    let mut quote = None;
    let bound: String = typed
        .chars()
        .map(|character| match (character, quote) {
            ('\'' | '"', None) => {
                quote = Some(character);
                character
            }
            (closing, Some(open)) if closing == open => {
                quote = None;
                character
            }
            (' ', Some(_)) => '\u{a0}',
            _ => character,
        })
        .collect();
    let screen = Screen::plain(room);
    Text::of(&bound, Ink::default(), screen).wrapped(room, ["", ""], screen)
}

#[cfg(test)]
mod tests {
    use super::broken;

    #[test]
    fn a_command_is_broken_between_its_words_and_not_within_quotes() {
        assert_eq!(
            broken("attn attend --words \"bat cave\" --only A", 26),
            ["attn attend --words", "\"bat cave\" --only A"]
        );
        assert_eq!(broken("attn demo", 26), ["attn demo"]);
    }
}
