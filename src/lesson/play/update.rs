//! What the keys do: each changes the player, and says which lines are to be printed.

use std::time::Duration;

use crate::error::Error;
use crate::lesson::question::votes;
use crate::lesson::show::{Verdict, next_try};
use crate::lesson::{Command, Runner};
use crate::terminal::Key;

use super::answers::bars;
use super::state::{Action, Effects, LinePurpose, Player, Topic};
use super::stops::{PageStart, Stop, lines, pages, place, position};

impl Player<'_> {
    /// The first page, below notices for the teacher.
    pub fn begin(&mut self, notices: &[String], now: Duration) -> Effects {
        let notices = notices.iter().flat_map(|notice| self.sentence(notice)).collect();
        let lines = self.show_below(notices, PageStart::default());
        self.print(lines, now)
    }

    /// The present page once more, on a clean screen.
    pub fn again(&mut self, now: Duration) -> Effects {
        let lines = self.redrawn();
        self.print(lines, now)
    }

    /// What a command has printed to which the screen was given.
    pub fn opened(&mut self, command: &Command, printed: &str, now: Duration) -> Effects {
        let lines = self.output(&command.typed, printed);
        self.print(lines, now)
    }

    /// Handles a key, `now` after the beginning of the class.
    pub fn press(&mut self, key: Key, now: Duration) -> Effects {
        self.now = now;
        let lines = match key {
            Key::Control('c') if self.drops_the_rest() => self.redrawn(),
            Key::Control('c') => self.act(Action::Interrupt),
            Key::Control('z') => self.act(Action::Suspend),
            _ if self.typing.drops(key, now) => Vec::new(),
            _ if std::mem::take(&mut self.is_blank) => self.redrawn(),
            _ if self.typing.entry.is_some() => self.press_in_line(key),
            _ => match self.overlay.topic {
                Some(topic) => self.press_in_overlay(topic, key),
                None => self.begin_answer(key).unwrap_or_else(|| self.press_in_lesson(key)),
            },
        };
        self.print(lines, now)
    }

    /// Has lines printed, and what was asked for done.
    fn print(&mut self, lines: Vec<String>, now: Duration) -> Effects {
        let asking = self.asking().map(|_| self.page.stop);
        self.timing.show(&lines, asking, now);
        let (clears, action) = (std::mem::take(&mut self.is_clean), std::mem::take(&mut self.action));
        Effects { lines, clears, action }
    }

    /// Has the terminal do something, and nothing printed.
    pub(super) fn act(&mut self, action: Action) -> Vec<String> {
        self.action = action;
        Vec::new()
    }

    /// Handles a key in an overlay: one that means nothing there shows the lesson again.
    fn press_in_overlay(&mut self, topic: Topic, key: Key) -> Vec<String> {
        let is_more = matches!(key, Key::Char(' ') | Key::Enter | Key::Right | Key::Down | Key::PageDown);
        match (topic, key) {
            (Topic::Contents, Key::Char('0'..='9') | Key::Backspace) if self.typing.counts(key) => Vec::new(),
            (Topic::Contents, Key::Char('G') | Key::Enter) if self.typing.count.is_some() => {
                let count = self.typing.count.take();
                self.jump(count)
            }
            _ if is_more && !self.overlay.rest.is_empty() => self.overlay.more(self.height()),
            (Topic::Output, Key::Char('!')) => self.begin_line(LinePurpose::Command),
            _ => {
                self.typing.count = None;
                self.redrawn()
            }
        }
    }

    /// Handles a key in the lesson itself.
    fn press_in_lesson(&mut self, key: Key) -> Vec<String> {
        if self.typing.counts(key) {
            return Vec::new();
        }
        let count = self.typing.count.take();
        // A number with Enter may be a late answer, so it is ignored; `G`, or Enter in the contents, goes to a step.
        if count.is_some() && matches!(key, Key::Enter | Key::Char('.' | ',' | '/' | '%')) {
            return Vec::new();
        }
        self.press_key(key, count)
    }

    /// Goes on: to the rest of an overlay, the scripted answer, the solution, or the next stop.
    pub(super) fn forward(&mut self) -> Vec<String> {
        if !self.overlay.rest.is_empty() {
            return self.overlay.more(self.height());
        }
        if self.is_over() && self.class.score().0 > 0 && !self.class.is_warned {
            self.class.is_warned = true;
            return self.remark("The answers are gone when the lesson is left. h: hand in. space: leave.");
        }
        if self.is_over() || self.is_end_of_story() {
            self.page.stop = self.stops.len();
            return self.act(Action::Leave);
        }
        let asking = self.asking();
        match asking.and_then(|question| self.scripted.next(&question.id)) {
            Some(typed) => self.give(&typed),
            None if asking.is_some() && self.timing.passes_over(self.now) => Vec::new(),
            None => self.go_on(),
        }
    }

    pub(super) fn begin_line(&mut self, purpose: LinePurpose) -> Vec<String> {
        self.typing.begin(purpose, "");
        Vec::new()
    }

    /// Handles a key while a line is typed.
    fn press_in_line(&mut self, key: Key) -> Vec<String> {
        let Some(mut entry) = self.typing.entry.take() else { return Vec::new() };
        let text = entry.line.text();
        let is_number =
            entry.purpose == LinePurpose::Answer && text.bytes().all(|byte| byte.is_ascii_digit());
        let goes_on = || self.asking().is_some_and(|asked| asked.kind.goes_on(&text));
        match key {
            // The end of a line within brackets is one of a text that was pasted; a second one ends the answer all the same.
            Key::Enter if !text.ends_with(' ') && goes_on() => entry.line.press(Key::Char(' ')),
            Key::Enter | Key::PageDown => return self.entered(entry.purpose, text.trim()),
            // From a typed command, Escape returns directly to the lesson.
            Key::Escape | Key::Control('g') if self.overlay.topic.is_some() => return self.redrawn(),
            Key::Escape | Key::Control('g') => return Vec::new(),
            Key::Backspace if entry.line.is_empty() => return Vec::new(),
            Key::Char('G') if is_number && !text.is_empty() => return self.jump(text.parse().ok()),
            Key::PageUp => return self.go_back(),
            key => entry.line.press(key),
        }
        // If an answer is deleted to nothing, keys are commands of the player again.
        if entry.purpose != LinePurpose::Answer || !entry.line.is_empty() {
            self.typing.entry = Some(entry);
        }
        Vec::new()
    }

    fn entered(&mut self, purpose: LinePurpose, text: &str) -> Vec<String> {
        match purpose {
            LinePurpose::Answer => match self.key_typed(text) {
                Some(letter) => self.press_key(Key::Char(letter), None),
                None => self.give(text),
            },
            LinePurpose::Hands => self.count_hands(text),
            LinePurpose::Search => self.search(text),
            LinePurpose::Command => self.run_command(text),
            LinePurpose::Name => {
                self.class.is_warned = true;
                self.hand_in(text)
            }
        }
    }

    /// Keys that belong to the answer of a question: the lines that they lead to.
    fn begin_answer(&mut self, key: Key) -> Option<Vec<String>> {
        let question = self.asking().filter(|_| self.typing.count.is_none())?;
        let Key::Char(typed) = key else { return None };
        let letters = question.letters().len();
        if question.kind.is_chosen_by_letter() {
            let letter = typed.to_ascii_uppercase();
            let is_option = ('A'..='Z').take(letters).any(|option| option == letter);
            return is_option.then(|| self.give(&letter.to_string()));
        }
        if matches!(typed, '!' | '/' | '?') {
            return None;
        }
        let right = question.right_answer(&self.show().values()).ok()??;
        question.kind.may_begin(typed, &right, letters).then(|| {
            self.typing.begin(LinePurpose::Answer, &typed.to_string());
            Vec::new()
        })
    }

    /// Gives an answer to the question that is asked. If it is right the solution follows.
    fn give(&mut self, typed: &str) -> Vec<String> {
        let Some(question) = self.asking() else { return Vec::new() };
        if typed.is_empty() {
            return self.go_on();
        }
        if question.is_vote(typed) {
            return self.count_hands(typed);
        }
        let verdict = match Verdict::of(typed, question, &self.show()) {
            Ok(verdict) => verdict,
            Err(error) => return self.refusal(&error),
        };
        let record = self.class.record(question);
        record.given.push(typed.to_string());
        record.right = verdict.is_right.unwrap_or(false);
        record.explained.extend(verdict.foreseen);
        if verdict.is_right != Some(false) {
            return self.go_to_next();
        }
        let next = next_try(question, record.hints);
        verdict.lines(next, self.window.screen)
    }

    /// Begins a vote, also while a part of the question is still to be shown. If there are no options, the following digits
    /// are dropped.
    pub(super) fn begin_hands(&mut self) -> Vec<String> {
        if self.question().is_some_and(|question| question.kind.is_chosen_by_letter()) {
            return self.begin_line(LinePurpose::Hands);
        }
        self.typing.drop_votes(self.now);
        self.remark("You can only vote on multiple-choice questions.")
    }

    /// Records a vote, and draws it.
    fn count_hands(&mut self, typed: &str) -> Vec<String> {
        let Some(question) = self.question().filter(|_| !typed.is_empty()) else { return Vec::new() };
        let hands = match votes(typed, question.letters().len()) {
            Ok(hands) => hands,
            Err(error) => return self.refusal(&error),
        };
        // While the question is open, the right option is not marked.
        let is_open = self.stop().and_then(Stop::asked).is_some();
        let right = if is_open { None } else { self.show().right_letter(question) };
        let lines = bars(&hands, None, right, self.window.screen);
        let record = self.class.record(question);
        record.hands_before = record.hands.replace(hands);
        record.drawn = true;
        lines
    }

    /// Shows the next hint; at the end the answers can be handed in.
    pub(super) fn hint(&mut self) -> Vec<String> {
        match self.class.score() {
            (0, _) if self.is_over() => {
                return self.remark("No question was answered: there is nothing to hand in.");
            }
            _ if self.is_over() => return self.begin_line(LinePurpose::Name),
            _ => {}
        }
        let Some(question) = self.asking() else { return self.remark("Only questions have hints.") };
        let record = self.class.record(question);
        let Some(hint) = question.hints.get(record.hints) else {
            let is_first = record.hints == 0;
            return self.remark(if is_first { "There is no hint." } else { "There are no more hints." });
        };
        record.hints += 1;
        self.show().marked("Hint: ", hint)
    }

    // The moves of a player: on, back, to a step.

    /// Goes on: the rest of the stop, or the next one.
    fn go_on(&mut self) -> Vec<String> {
        let Some(next) = self.page.next else { return self.go_to_next() };
        self.class.has_begun = true;
        self.show_from(next)
    }

    /// Shows the next stop.
    fn go_to_next(&mut self) -> Vec<String> {
        self.class.has_begun = true;
        self.page.stop += 1;
        self.show_from(PageStart::default())
    }

    /// Goes back to the previous page; no lines at the beginning.
    pub(super) fn go_back(&mut self) -> Vec<String> {
        if let Some(stop) = self.stop().copied() {
            // As it will be on the clean screen, without what stands above it now.
            self.is_clean = true;
            let chunks = self.chunks(&stop);
            let here = position(&chunks, self.page.from);
            if let Some(before) = pages(&chunks, self.height()).iter().rfind(|page| page.end <= here) {
                return self.show_from(place(&chunks, before.start));
            }
        }
        self.is_clean = self.page.stop > 0;
        if !self.is_clean {
            return Vec::new();
        }
        self.page.stop -= 1;
        let chunks = self.chunks(&self.stops[self.page.stop]);
        let last = pages(&chunks, self.height()).last().map_or(0, |page| page.start);
        self.show_from(place(&chunks, last))
    }

    /// Shows the present page again, and above it as much of its step as there is room for: the table that is talked about.
    pub(super) fn show_again(&mut self) -> Vec<String> {
        self.is_clean = true;
        let lines = self.show_from(self.page.from);
        let above = self.above(lines.len());
        if above.is_empty() { lines } else { [above, vec![String::new()], lines].concat() }
    }

    /// Shows the page with its commands run again.
    pub(super) fn run_again(&mut self) -> Vec<String> {
        self.runner = Runner::new(self.run);
        self.redrawn()
    }

    /// Scrolls all text out of sight.
    pub(super) fn blank(&mut self) -> Vec<String> {
        (self.is_blank, self.is_clean) = (true, true);
        vec![String::new()]
    }

    /// What is shown now once more, on a clean screen.
    pub(super) fn redrawn(&mut self) -> Vec<String> {
        if self.is_blank { self.blank() } else { self.show_again() }
    }

    /// Goes to a stop.
    pub(super) fn go_to(&mut self, stop: usize) -> Vec<String> {
        self.page.stop = stop;
        if !self.class.has_begun {
            // A class that resumes a lesson is not ahead of its plan.
            self.class.first = self.step().unwrap_or(0);
        }
        self.is_clean = true;
        self.show_from(PageStart::default())
    }

    /// Goes to the first stop of a step.
    fn go_to_step(&mut self, step: usize) -> Vec<String> {
        let stop = self.stops.iter().position(|stop| stop.step == Some(step));
        stop.map_or(Vec::new(), |stop| self.go_to(stop))
    }

    pub(super) fn next_step(&mut self) -> Vec<String> {
        match self.step().map_or(0, |step| step + 1) {
            next if next < self.lesson.steps.len() => self.go_to_step(next),
            _ if self.is_over() || self.lesson.story.is_some() => Vec::new(),
            _ => {
                self.page.stop = self.stops.len() - 1;
                self.go_to_next()
            }
        }
    }

    pub(super) fn previous_step(&mut self) -> Vec<String> {
        let here = if self.is_over() { Some(self.lesson.steps.len()) } else { self.step() };
        match here.and_then(|step| step.checked_sub(1)) {
            Some(step) => self.go_to_step(step),
            None if self.page.stop > 0 => self.go_to(0),
            None => Vec::new(),
        }
    }

    /// Jumps to the step of a number from 1; to the last one without a number, to the beginning with 0.
    pub(super) fn jump(&mut self, count: Option<usize>) -> Vec<String> {
        let last = self.lesson.steps.len().saturating_sub(1);
        let Some(number) = count else { return self.go_to_step(last) };
        if number == 0 {
            return self.go_to(0);
        }
        if let Some(step) = self.lesson.numbered(number) {
            return self.go_to_step(step);
        }
        let [first, last] = [0, last].map(|step| self.lesson.number(step));
        self.remark(&format!("There is no step {number} here: the steps are {first} to {last}."))
    }

    /// Shows a page of the present stop.
    fn show_from(&mut self, from: PageStart) -> Vec<String> {
        self.show_below(Vec::new(), from)
    }

    /// Shows a page of the present stop, with something before it.
    fn show_below(&mut self, before: Vec<String>, from: PageStart) -> Vec<String> {
        self.overlay.rest.clear();
        self.overlay.topic = None;
        let Some(stop) = self.stop().copied() else {
            (self.page.from, self.page.next) = (PageStart::default(), None);
            return [before, self.ending()].concat();
        };
        let chunks = self.chunks(&stop);
        let start = position(&chunks, from);
        let height = self.height().saturating_sub(before.len() + usize::from(!before.is_empty())).max(1);
        let end = start + pages(&chunks[start..], height).first().map_or(0, |page| page.end);
        self.page.from = from;
        self.page.next = (end < chunks.len()).then(|| place(&chunks, end));
        stop.commands().for_each(|typed| self.typing.keep_command(typed));
        let is_last = self.stops.get(self.page.stop + 1).is_none_or(|next| next.step != stop.step);
        if let (Some(step), None, true) = (stop.step, self.page.next, is_last) {
            self.class.done.insert(step);
        }
        // On the next page of a question, feedback and bars are still visible above.
        let is_fresh = self.is_clean || from == PageStart::default();
        if let Some(question) = stop.asked().filter(|_| is_fresh) {
            let record = self.class.record(question);
            record.explained.clear();
            record.drawn = false;
        }
        let mut shown = before;
        if !shown.is_empty() {
            shown.push(String::new());
        }
        shown.extend(lines(&chunks[start..end]));
        shown
    }

    // Sentences to the teacher, and what is shown besides the lesson.

    /// A sentence to the teacher.
    fn remark(&mut self, text: &str) -> Vec<String> {
        self.overlay.begin(&self.sentence(text), self.height())
    }

    /// The lines of an error.
    fn refusal(&mut self, error: &Error) -> Vec<String> {
        self.remark(&error.in_one_line())
    }

    /// Shows something besides the lesson: any key leaves it, and shows the lesson again.
    pub(super) fn show_overlay(&mut self, lines: Vec<String>, topic: Topic) -> Vec<String> {
        self.overlay.topic = Some(topic);
        self.overlay.begin(&lines, self.height())
    }

    /// Whether Ctrl-C only drops the rest of an overlay.
    fn drops_the_rest(&self) -> bool {
        self.overlay.topic.is_some() && !self.overlay.rest.is_empty() && self.typing.entry.is_none()
    }

    /// Goes to the next stop that holds a text; without one, to the next that holds the last.
    fn search(&mut self, text: &str) -> Vec<String> {
        if !text.is_empty() {
            self.typing.search = text.to_lowercase();
        }
        let wanted = &self.typing.search;
        if wanted.is_empty() {
            return Vec::new();
        }
        let count = self.stops.len();
        let at = self.page.stop.min(count - 1);
        let found = (1..=count)
            .map(|ahead| (at + ahead) % count)
            .find(|&stop| self.stops[stop].holds(wanted, self.lesson));
        match found {
            Some(stop) => self.go_to(stop),
            None => self.remark(&format!("“{wanted}” was not found.")),
        }
    }

    /// Runs a command of the teacher's own; the lesson stays where it is.
    fn run_command(&mut self, typed: &str) -> Vec<String> {
        if typed.is_empty() {
            return Vec::new();
        }
        let typed = match typed.split_whitespace().next() {
            Some("attn") => typed.to_string(),
            _ => format!("attn {typed}"),
        };
        self.typing.keep_command(&typed);
        if Command::is_lesson(&typed) {
            let refusal = self.sentence("A lesson cannot be played inside a lesson. Press q first.");
            return self.output(&typed, &refusal.join("\n"));
        }
        match Command::by_hand(&typed, 0) {
            Ok(command) if self.full_screen.is_some() && command.fills_screen() => {
                self.act(Action::Open(command))
            }
            Ok(command) => {
                // Not by the runner, which remembers: the files that it reads may have changed.
                let printed = (self.by_hand)(&command.args, self.window.screen).shown();
                self.output(&command.typed, &printed)
            }
            Err(fault) => {
                let help = fault.help.map(|help| format!("; {help}")).unwrap_or_default();
                self.remark(&format!("{}{help}", fault.what))
            }
        }
    }

    /// Shows a command of the teacher's own and what it has printed.
    fn output(&mut self, typed: &str, printed: &str) -> Vec<String> {
        let mut lines = self.show().command_lines(typed);
        lines.extend(printed.lines().map(str::to_string));
        self.show_overlay(lines, Topic::Output)
    }
}
