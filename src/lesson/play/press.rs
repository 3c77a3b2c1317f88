//! What each key does.

use std::time::Duration;

use crate::lesson::key::Kind;

use super::answers::options;
use super::entry::{Entry, Purpose};
use super::keys::Key;
use super::player::{Player, Then, Told};

/// The keys that a line of one letter stands for, where letters are typed into an answer.
const LETTERS: [char; 9] = ['q', 'h', 'v', 't', 'n', 'p', 'r', 'b', '?'];
/// Votes that cannot be counted are dropped up to Enter, or up to a pause as long as this.
const SAME_LINE: Duration = Duration::from_secs(2);
/// No step has a higher number.
const LARGEST_COUNT: usize = 99_999;

impl Player<'_> {
    /// Does what a key says, `now` after the beginning.
    pub fn press(&mut self, key: Key, now: Duration) -> Told {
        match key {
            Key::Control('c') if self.drops_the_rest() => return self.again(now),
            Key::Control('c') => return Told { then: Then::Interrupt, ..Told::default() },
            Key::Control('z') => return Told { then: Then::Suspend, ..Told::default() },
            _ => {}
        }
        if self.drops(key, now) {
            return Told::default();
        }
        if std::mem::take(&mut self.is_blank) {
            let lines = self.show_again();
            return self.told(lines, now);
        }
        if self.entry.is_some() {
            return self.press_in_entry(key, now);
        }
        if self.beside.is_some() {
            return match self.press_beside(key) {
                Some(lines) => self.told(lines, now),
                None => {
                    self.count = None;
                    self.again(now)
                }
            };
        }
        if let Some(lines) = self.begin_answer(key) {
            return self.told(lines, now);
        }
        self.command(key, now)
    }

    /// Whether a key belongs to the votes that cannot be counted here: they were typed on, up to Enter or a pause. A number
    /// alone may become `5G`.
    fn drops(&mut self, key: Key, now: Duration) -> bool {
        let Some((last, mut typed)) = self.dropping.take() else { return false };
        if now.saturating_sub(last) >= SAME_LINE {
            return false;
        }
        let is_vote = |c: char| {
            c.is_ascii_digit() || " ,:".contains(c) || ('A'..='H').contains(&c.to_ascii_uppercase())
        };
        match key {
            Key::Char('G') if typed.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.count = typed.parse().ok();
                return false;
            }
            Key::Char(c) if is_vote(c) => typed.push(c),
            Key::Backspace => drop(typed.pop()),
            Key::Enter => return true,
            _ => return false,
        }
        self.dropping = Some((now, typed));
        true
    }

    /// Keys that belong to the answer of a question: the lines that they lead to.
    fn begin_answer(&mut self, key: Key) -> Option<Vec<String>> {
        let question = self.asking().filter(|_| self.count.is_none())?;
        let Key::Char(typed) = key else { return None };
        let opens = match question.kind {
            Kind::Choice => {
                let letter = typed.to_ascii_uppercase();
                let is_option = ('A'..='Z').take(options(question)).any(|option| option == letter);
                return is_option.then(|| self.give(&letter.to_string()));
            }
            // The class speaks.
            Kind::Open => false,
            _ => !matches!(typed, '!' | '/' | '?') && self.may_begin(typed),
        };
        opens.then(|| {
            self.entry = Some(Entry::new(Purpose::Answer, &typed.to_string(), Vec::new()));
            Vec::new()
        })
    }

    fn command(&mut self, key: Key, now: Duration) -> Told {
        if self.counts(key) {
            return self.told(Vec::new(), now);
        }
        let count = self.count.take();
        let lines = match key {
            Key::Char(' ') | Key::Right | Key::Down | Key::PageDown => return self.forward(now),
            Key::Enter if count.is_none() => return self.forward(now),
            // An answer that comes too late goes nowhere: a number goes to its step with `G`, or in the contents.
            Key::Enter => Vec::new(),
            Key::Char('.' | ',' | '/' | '%') if count.is_some() => Vec::new(),
            Key::Left | Key::Up | Key::PageUp | Key::Backspace => self.go_back(),
            Key::Home => self.go_to(0),
            Key::End => self.jump(None),
            Key::Char('G') => self.jump(count),
            Key::Char(letter) => return self.letter(letter, now),
            Key::F5 | Key::Control('l') => self.show_again(),
            _ => Vec::new(),
        };
        self.told(lines, now)
    }

    /// Whether a key belongs to the number that is being typed; then it has been taken.
    pub(super) fn counts(&mut self, key: Key) -> bool {
        match (key, self.count) {
            (Key::Char(digit @ '0'..='9'), count) => {
                let digit = digit as usize - '0' as usize;
                self.count = Some((count.unwrap_or(0) * 10 + digit).min(LARGEST_COUNT));
                true
            }
            (Key::Backspace, Some(count)) => {
                self.count = Some(count / 10).filter(|&count| count > 0);
                true
            }
            _ => false,
        }
    }

    fn letter(&mut self, letter: char, now: Duration) -> Told {
        let lines = match letter {
            'q' => return Told { then: Then::Leave, ..Told::default() },
            'n' => self.next_step(),
            'p' => self.previous_step(),
            't' => self.contents(),
            'r' => self.run_again(),
            'h' => self.hint(),
            'v' => self.begin_hands(now),
            '?' => self.help(),
            '/' => self.enter(Purpose::Search),
            '!' => self.enter(Purpose::Command),
            'b' | '.' => self.blank(),
            _ => Vec::new(),
        };
        self.told(lines, now)
    }

    /// Goes on: the rest of what is being shown, the answer that was given beforehand, the solution, the next stop.
    fn forward(&mut self, now: Duration) -> Told {
        if !self.waiting.is_empty() {
            let lines = self.more_aside();
            return self.told(lines, now);
        }
        if self.is_over() || self.is_told() {
            return self.end();
        }
        let scripted = match self.asking() {
            Some(question) => self.scripted.next(&question.id),
            None => None,
        };
        let lines = match scripted {
            Some(typed) => self.give(&typed),
            None if self.passes_over(now) => Vec::new(),
            None => self.go_on(),
        };
        self.told(lines, now)
    }

    /// Ends the lesson, of which nothing is left.
    fn end(&mut self) -> Told {
        self.at = self.stops.len();
        Told { then: Then::Leave, ..Told::default() }
    }

    /// Whether all of a story is told: it has no page at its end.
    pub(super) fn is_told(&self) -> bool {
        self.lesson.told.is_some() && self.at + 1 == self.stops.len() && !self.has_more()
    }

    fn next_step(&mut self) -> Vec<String> {
        match self.step().map_or(0, |step| step + 1) {
            next if next < self.lesson.steps.len() => self.go_to_step(next),
            _ if self.is_over() || self.lesson.told.is_some() => Vec::new(),
            _ => {
                let last = self.stops.len() - 1;
                self.at = last;
                self.go_on_behind(Vec::new())
            }
        }
    }

    fn previous_step(&mut self) -> Vec<String> {
        let step = match self.is_over() {
            true => self.lesson.steps.len().checked_sub(1),
            false => self.step().and_then(|step| step.checked_sub(1)),
        };
        match step {
            Some(step) => self.go_to_step(step),
            None if self.at > 0 => self.go_to(0),
            None => Vec::new(),
        }
    }

    /// Jumps to the step of a number from 1; to the last one without a number, to the beginning with 0.
    pub(super) fn jump(&mut self, count: Option<usize>) -> Vec<String> {
        let lesson = self.lesson;
        let [first, last] = [lesson.number(0), lesson.number(lesson.steps.len().saturating_sub(1))];
        match count {
            Some(0) => self.go_to(0),
            Some(number) => match lesson.numbered(number) {
                Some(step) => self.go_to_step(step),
                None => {
                    self.remark(&format!("There is no step {number} here: the steps are {first} to {last}."))
                }
            },
            None => self.go_to_step(lesson.steps.len().saturating_sub(1)),
        }
    }

    /// Pushes all text out of sight.
    pub(super) fn blank(&mut self) -> Vec<String> {
        (self.is_blank, self.is_clean) = (true, true);
        vec![String::new()]
    }

    pub(super) fn enter(&mut self, purpose: Purpose) -> Vec<String> {
        let earlier = if purpose == Purpose::Command { self.commands.clone() } else { Vec::new() };
        self.entry = Some(Entry::new(purpose, "", earlier));
        Vec::new()
    }

    fn press_in_entry(&mut self, key: Key, now: Duration) -> Told {
        let Some(mut entry) = self.entry.take() else { return Told::default() };
        let text = entry.line.text();
        let is_number = entry.purpose == Purpose::Answer && text.bytes().all(|byte| byte.is_ascii_digit());
        match key {
            Key::Enter | Key::PageDown => return self.entered(entry.purpose, text.trim(), now),
            // Out of a command of one's own the way is straight back to the lesson.
            Key::Escape | Key::Control('g') if self.beside.is_some() => return self.again(now),
            Key::Escape | Key::Control('g') => return Told::default(),
            Key::Backspace if entry.line.is_empty() => return Told::default(),
            Key::Char('G') if is_number && !text.is_empty() => {
                let lines = self.jump(text.parse().ok());
                return self.told(lines, now);
            }
            Key::PageUp => {
                let lines = self.go_back();
                return self.told(lines, now);
            }
            key => entry.line.press(key),
        }
        // An answer that has been taken back to nothing is none: the keys are the player's again.
        if entry.purpose != Purpose::Answer || !entry.line.is_empty() {
            self.entry = Some(entry);
        }
        Told::default()
    }

    fn entered(&mut self, purpose: Purpose, text: &str, now: Duration) -> Told {
        let lines = match purpose {
            Purpose::Answer => match self.letter_typed(text) {
                Some(letter) => return self.letter(letter, now),
                None => self.give(text),
            },
            Purpose::Hands => self.count_hands(text),
            Purpose::Search => self.search(text),
            Purpose::Command => self.what_if(text),
        };
        self.told(lines, now)
    }

    /// The key that an answer of one letter stands for: where letters are typed into the answer, `h` and Enter is the hint,
    /// unless it is an answer to this question.
    pub(super) fn letter_typed(&self, text: &str) -> Option<char> {
        let mut letters = text.chars();
        let (Some(letter), None) = (letters.next(), letters.next()) else { return None };
        let is_key = LETTERS.contains(&letter) && !self.is_answer(text);
        is_key.then_some(letter)
    }
}
