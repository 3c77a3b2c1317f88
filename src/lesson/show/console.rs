//! Commands and what they print, live.

use crate::text::ScreenWidth;
use textwrap::core::display_width;

use super::LessonView;
use super::spans::{Ink, Tone};
use crate::lesson::{Console, Exchange, Literal};

/// The prompt of a command and the prefix of its further lines, which can be pasted into a shell.
const PROMPTS: [&str; 2] = ["$ ", "  "];
/// The end of a line of a command that continues, as in a shell.
const GOES_ON: &str = " \\";
/// Indent of a block that is only shown, where there is room for it.
const INDENT: usize = 4;

impl LessonView<'_> {
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

    /// A command after its prompt, in as many lines as the screen needs.
    pub fn command_lines(&self, typed: &str) -> Vec<String> {
        self.prompted(&broken(typed, self.room()))
    }

    /// The lines of a command, each after its prompt.
    pub fn prompted(&self, typed: &[String]) -> Vec<String> {
        typed.iter().enumerate().map(|(number, line)| self.prompt(number) + &self.command(line)).collect()
    }

    /// The mark before the line of a command at a position from 0.
    pub fn prompt(&self, number: usize) -> String {
        Ink::of(Tone::Quiet).on(PROMPTS[number.min(1)], self.screen)
    }

    /// The styled text after a prompt, or a part of it.
    pub fn command(&self, typed: &str) -> String {
        Ink::bold().on(typed, self.screen)
    }

    /// The lines of a command as they are typed after the prompt: one, or where the screen is too narrow several, each but
    /// the last with a backslash at its end.
    pub fn typed(&self, exchange: &Exchange) -> Vec<String> {
        // A step of a command's story has no command above it.
        if exchange.typed.is_empty() {
            return Vec::new();
        }
        broken(&self.screen.charset.spelled(&exchange.typed.join(" ")), self.room())
    }

    /// The columns after a prompt.
    fn room(&self) -> usize {
        self.screen.width.saturating_sub(PROMPTS[0].width())
    }

    /// The output of a command on this screen, and its exit code if it is not 0.
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
            Some(typed) => self.command_lines(typed),
            None => vec![line.to_string()],
        };
        let lines: Vec<String> = text.lines().flat_map(shown).collect();
        let widest = lines.iter().map(|line| display_width(line)).max().unwrap_or(0);
        let indent = if widest + INDENT <= self.screen.width { INDENT } else { 0 };
        let margin = " ".repeat(indent);
        lines.iter().map(|line| format!("{margin}{line}").trim_end().to_string()).collect()
    }
}

/// A command in lines of at most `room` columns that a shell reads as one: broken at spaces outside of quotes, and not between
/// an option and its value where there is room for both.
pub(in crate::lesson) fn broken(typed: &str, room: usize) -> Vec<String> {
    if typed.width() <= room {
        return vec![typed.to_string()];
    }
    let room = room.saturating_sub(GOES_ON.width()).max(1);
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces(typed, room) {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + piece.width() <= room => {
                line.push(' ');
                line.push_str(&piece);
            }
            _ => lines.push(piece),
        }
    }
    let last = lines.len() - 1;
    lines[..last].iter_mut().for_each(|line| line.push_str(GOES_ON));
    lines
}

/// The words of a command, an option together with its value where `room` holds both.
fn pieces(typed: &str, room: usize) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for word in words(typed) {
        let is_value = !word.starts_with("--");
        match pieces.last_mut() {
            Some(option)
                if is_value
                    && option.starts_with("--")
                    && !option.contains(' ')
                    && option.width() + 1 + word.width() <= room =>
            {
                option.push(' ');
                option.push_str(&word);
            }
            _ => pieces.push(word),
        }
    }
    pieces
}

/// A command cut at its spaces, but not at those within quotes.
fn words(typed: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for character in typed.chars() {
        match (character, quote) {
            (' ', None) => {
                words.push(String::new());
                continue;
            }
            ('\'' | '"', None) => quote = Some(character),
            (closing, Some(open)) if closing == open => quote = None,
            _ => {}
        }
        if let Some(word) = words.last_mut() {
            word.push(character);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::broken;

    #[test]
    fn a_command_is_broken_so_that_a_shell_reads_it_as_one() {
        let with_options = |text: &str| text.replace('@', "--");
        let typed = with_options("attn attend @words \"bat cave\" @only A @causal @precision 2");
        let lines = broken(&typed, 34);
        assert_eq!(lines[0], with_options("attn attend @words \"bat cave\" \\"));
        assert_eq!(lines[1..], [with_options("@only A @causal @precision 2")]);
        assert_eq!(shlex::split(&lines.join("\n")), shlex::split(&typed));
        assert!(lines.iter().all(|line| line.chars().count() <= 34), "{lines:?}");
        assert_eq!(broken("attn demo", 26), ["attn demo"]);
        // An option keeps its value.
        let lines = broken(&with_options("attn attend @only A @causal"), 20);
        assert_eq!(lines, ["attn attend \\".to_string(), with_options("@only A @causal")]);
    }
}
