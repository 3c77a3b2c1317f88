//! A lesson that is being played: what is shown and typed, and what the class has answered. It is plain data, with the time of each
//! event as an argument.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::lesson::show::LessonView;
use crate::lesson::{Command, Lesson, Progress, Question, Run, Runner};
use crate::render::Screen;
use crate::terminal::{EditLine, Key, size};

use super::answers::ScriptedAnswers;
use super::stops::{Chunk, PageStart, Stop, chunks, lines, pages, stops};

/// The rows of a terminal that does not say.
const USUAL_ROWS: usize = 24;
/// The rows below the text: an empty line and the status line.
const BELOW: usize = 2;
/// The minimum number of lines that are shown at once, even on a smaller screen.
const LEAST_ROWS: usize = 4;

/// The options of playing a lesson.
#[derive(Clone, Copy, Debug)]
pub struct PlayOptions {
    /// The screen, as far as options decide; its width is that of the terminal where `width` is not given.
    pub screen: Screen,
    /// The width that was asked for.
    pub width: Option<usize>,
    /// Whether the lesson advances by itself.
    pub auto: bool,
    /// Whether there are keys: standard input is a terminal.
    pub keys: bool,
}

impl PlayOptions {
    /// The present window.
    pub fn window(&self) -> Window {
        let (columns, rows) =
            size().map_or((self.screen.width, USUAL_ROWS), |(columns, rows)| (columns.into(), rows.into()));
        Window { screen: Screen { width: self.width.unwrap_or(columns), ..self.screen }, rows }
    }
}

/// The screen, and how tall it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The screen that commands and text are formatted for.
    pub screen: Screen,
    /// Its rows.
    pub rows: usize,
}

/// The page that is shown.
#[derive(Clone, Debug, Default)]
pub(super) struct CurrentPage {
    /// The stop; after the last one at the end.
    pub stop: usize,
    /// The beginning of the page, and of the next page of the stop.
    pub from: PageStart,
    pub next: Option<PageStart>,
}

/// A lesson that is being played. The methods that change it take the time, and read neither a clock, a terminal nor a file:
/// `update` has those for keys, and `view` those that show it as lines.
pub struct Player<'a> {
    pub(super) lesson: &'a Lesson,
    pub(super) stops: Vec<Stop<'a>>,
    pub(super) run: &'a Run<'a>,
    /// Runs the commands of the lesson, each once.
    pub(super) runner: Runner<'a>,
    /// Runs the commands that the teacher types: they may do more than those of a lesson.
    pub by_hand: &'a Run<'a>,
    /// Runs those of them that fill the screen: it takes the terminal, and leaves it as it was.
    pub full_screen: Option<&'a Run<'a>>,
    /// Whether the teacher's notes are shown among the text.
    pub notes: bool,
    /// Answers that are given when their questions are asked.
    pub scripted: ScriptedAnswers,
    pub(super) window: Window,
    pub(super) page: CurrentPage,
    pub(super) overlay: Overlay,
    pub(super) typing: LineInput,
    pub(super) class: Class,
    pub(super) timing: Timing,
    /// Whether the page that is about to be printed begins a clean screen: an answer above it would give its question away.
    pub(super) is_clean: bool,
    /// Whether the screen is left empty, for the class to look at its teacher.
    pub(super) is_blank: bool,
    /// What the terminal is to do after the lines are printed.
    pub(super) action: Action,
    /// The time of the last key.
    pub(super) now: Duration,
}

impl<'a> Player<'a> {
    /// A player at the beginning of a lesson, or of one of its steps.
    pub fn new(lesson: &'a Lesson, run: &'a Run<'a>, window: Window, first: Option<usize>) -> Player<'a> {
        let stops = stops(lesson);
        let stop =
            first.and_then(|first| stops.iter().position(|stop| stop.step == Some(first))).unwrap_or(0);
        let mut typing = LineInput::default();
        for typed in stops[..stop].iter().flat_map(Stop::commands) {
            typing.keep_command(typed);
        }
        Player {
            lesson,
            stops,
            run,
            runner: Runner::new(run),
            by_hand: run,
            full_screen: None,
            notes: false,
            scripted: ScriptedAnswers::default(),
            window,
            page: CurrentPage { stop, ..CurrentPage::default() },
            overlay: Overlay::default(),
            typing,
            class: Class { first: first.unwrap_or(0), ..Class::default() },
            timing: Timing::default(),
            is_clean: false,
            is_blank: false,
            action: Action::Wait,
            now: Duration::ZERO,
        }
    }

    /// The lesson, formatted for the present screen.
    pub(super) fn show(&self) -> LessonView<'_> {
        LessonView { notes: self.notes, ..LessonView::new(self.lesson, &self.runner, self.window.screen) }
    }

    /// The rows that text may take.
    pub(super) fn height(&self) -> usize {
        self.window.rows.max(LEAST_ROWS + BELOW) - BELOW
    }

    /// Whether the lesson is over.
    pub fn is_over(&self) -> bool {
        self.page.stop >= self.stops.len()
    }

    /// Whether all of a command's story has been shown: it has no page at its end.
    pub(super) fn is_end_of_story(&self) -> bool {
        self.lesson.story.is_some() && self.page.stop + 1 == self.stops.len() && self.page.next.is_none()
    }

    /// The step that is shown: `None` before the first one, the last one at the end.
    pub fn step(&self) -> Option<usize> {
        self.stop().or(self.stops.last()).and_then(|stop| stop.step)
    }

    /// The steps that have been shown to their end, by position.
    pub fn done(&self) -> &BTreeSet<usize> {
        &self.class.done
    }

    /// The present stop; none at the end.
    pub(super) fn stop(&self) -> Option<&Stop<'a>> {
        self.stops.get(self.page.stop)
    }

    /// The question that waits for an answer: asked, and all of it shown.
    pub(super) fn asking(&self) -> Option<&'a Question> {
        self.stop().filter(|_| self.page.next.is_none()).and_then(Stop::asked)
    }

    /// The question that is asked, or has just been answered.
    pub(super) fn question(&self) -> Option<&'a Question> {
        self.stop().and_then(Stop::question)
    }

    /// When the present step is planned.
    pub(super) fn plan(&self) -> Plan {
        Plan::of(self.lesson, self.class.first, self.step())
    }

    /// The time at which the player goes on by itself; `None` while something is typed.
    pub fn due(&self) -> Option<Duration> {
        if self.typing.is_active() || self.is_blank {
            return None;
        }
        Some(self.timing.due(self.asking().filter(|question| !self.class.has_tried(question))))
    }

    /// The progress of the class.
    pub fn progress(&self) -> Progress {
        let id = |step: usize| self.lesson.steps[step].id.clone();
        // A class that only sees the title keeps its saved place.
        let shown = self.step().map(id).or_else(|| self.class.left.clone());
        Progress {
            step: shown.filter(|_| !self.is_over()),
            done: self.class.done.iter().copied().map(id).collect(),
            answers: self.class.answers(),
            votes: self.class.votes(),
            quiz: None,
        }
    }

    /// Restores the progress of earlier lessons.
    pub fn restore(&mut self, progress: &Progress) {
        let steps = self.lesson.steps.iter().enumerate();
        let done = steps.filter(|(_, step)| progress.done.contains(&step.id)).map(|(at, _)| at);
        self.class.done = done.collect();
        self.class.left.clone_from(&progress.step);
    }

    /// The screen has another size. The following pages are laid out for it, and a page that was cut begins again.
    pub fn resize(&mut self, window: Window) {
        if window.screen.width != self.window.screen.width {
            self.page.next = self.page.next.map(|next| PageStart { piece: 0, ..next });
            self.overlay.rest.clear();
        }
        self.window = window;
    }

    /// The player takes keys again, after it has prepared what comes next.
    pub fn ready(&mut self, now: Duration) {
        self.timing.ready(now);
    }

    /// Gives the whole screen to a command that the teacher has typed; returns what it has printed.
    pub fn run_full_screen(&self, command: &Command) -> String {
        let run = self.full_screen.unwrap_or(self.by_hand);
        run(&command.args, self.window.screen).shown()
    }
}

// The steps that a class has been shown, and its answers.

/// The answers, votes and hints of a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Record {
    /// The typed answers, in order.
    pub given: Vec<String>,
    /// Whether the last of them was right.
    pub right: bool,
    /// The last vote, option by option.
    pub hands: Option<Vec<usize>>,
    /// Whether the bars of that vote have been drawn since the question was asked.
    pub drawn: bool,
    /// The vote before it.
    pub hands_before: Option<Vec<usize>>,
    /// The wrong answers, by letter, whose feedback has been shown.
    pub explained: BTreeSet<char>,
    /// The number of hints that have been shown.
    pub hints: usize,
}

/// The steps that a class has been shown, and its answers.
#[derive(Default)]
pub(super) struct Class {
    /// The record of each question, by id.
    pub records: HashMap<String, Record>,
    /// The step that the class began at.
    pub first: usize,
    /// Whether more than the first page has been shown.
    pub has_begun: bool,
    /// The steps that have been shown to their end, by position.
    pub done: BTreeSet<usize>,
    /// The step that was left in an earlier hour.
    pub left: Option<String>,
    /// Whether it was said that leaving loses the answers.
    pub is_warned: bool,
}

impl Class {
    pub(super) fn record(&mut self, question: &Question) -> &mut Record {
        self.records.entry(question.id.clone()).or_default()
    }

    /// Whether a question has been answered, rightly or not.
    pub(super) fn has_tried(&self, question: &Question) -> bool {
        self.records.get(&question.id).is_some_and(|record| !record.given.is_empty())
    }

    /// The number of answered questions, and of those whose last answer was right.
    pub(super) fn score(&self) -> (usize, usize) {
        let answered = self.records.values().filter(|record| !record.given.is_empty());
        answered.fold((0, 0), |(all, right), record| (all + 1, right + usize::from(record.right)))
    }

    /// The typed answers to each question.
    pub(super) fn answers(&self) -> BTreeMap<String, Vec<String>> {
        let given = self.records.iter().filter(|(_, record)| !record.given.is_empty());
        given.map(|(question, record)| (question.clone(), record.given.clone())).collect()
    }

    /// The last vote at each question.
    pub(super) fn votes(&self) -> BTreeMap<String, Vec<usize>> {
        let votes =
            self.records.iter().filter_map(|(question, record)| Some((question, record.hands.as_ref()?)));
        votes.map(|(question, hands)| (question.clone(), hands.clone())).collect()
    }
}

// Time spent, and time planned.

/// When a step is planned, from the moment that the class began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Plan {
    /// Seconds until the step begins.
    begins: u64,
    /// Seconds until it ends.
    ends: Option<u64>,
    /// Seconds of the whole.
    whole: Option<u64>,
}

impl Plan {
    /// The plan of a step, for a class that began at the step `first`; what comes before that it has not had.
    pub(super) fn of(lesson: &Lesson, first: usize, step: Option<usize>) -> Plan {
        let seconds = |minutes: f64| (minutes * 60.0).max(0.0).round() as u64;
        let before = lesson.minutes_before(first);
        let whole = lesson.minutes.map(|minutes| seconds(minutes - before));
        if lesson.steps.iter().all(|step| step.minutes.is_none()) {
            return Plan { begins: 0, ends: whole, whole };
        }
        let step = step.unwrap_or(first);
        let begins = seconds(lesson.minutes_before(step) - before);
        Plan { begins, ends: Some(seconds(lesson.minutes_before(step + 1) - before)), whole }
    }

    /// The seconds that a class is behind the plan after `spent` of them; negative ahead of it; none while the step may last.
    pub(super) fn behind(self, spent: u64) -> Option<i64> {
        match self.ends {
            Some(ends) if spent > ends => Some((spent - ends) as i64),
            _ if spent < self.begins => Some(-((self.begins - spent) as i64)),
            _ => None,
        }
    }

    /// `4:10 of 12:00`
    pub(super) fn spent_of_planned(self, spent: u64) -> String {
        let planned = self.whole.map(|whole| format!(" of {}", minutes_and_seconds(whole)));
        minutes_and_seconds(spent) + &planned.unwrap_or_default()
    }

    /// `4:10 of 12:00, 0:40 behind`
    pub(super) fn in_words(self, spent: u64) -> String {
        let apart = self.behind(spent).map(|behind| {
            let side = if behind > 0 { "behind" } else { "ahead" };
            format!(", {} {side}", minutes_and_seconds(behind.unsigned_abs()))
        });
        self.spent_of_planned(spent) + &apart.unwrap_or_default()
    }
}

/// `4:10`
pub(super) fn minutes_and_seconds(seconds: u64) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

// Text that is shown in place of the lesson, a page at a time.

/// The text shown in place of the lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    /// The contents; a number goes to a step.
    Contents,
    /// The list of keys.
    Keys,
    /// The output of a command that the teacher typed.
    Output,
}

/// Text in place of the lesson; any key returns to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlay {
    /// None where the lesson itself is shown.
    pub topic: Option<Topic>,
    /// The text that is not shown yet.
    pub rest: Vec<Chunk>,
}

impl Overlay {
    /// Begins to show lines on pages of this height; returns the first page.
    pub(super) fn begin(&mut self, lines: &[String], height: usize) -> Vec<String> {
        self.rest = chunks(0, lines, height);
        self.more(height)
    }

    /// The next page.
    pub(super) fn more(&mut self, height: usize) -> Vec<String> {
        let end = pages(&self.rest, height).first().map_or(0, |page| page.end);
        let shown: Vec<Chunk> = self.rest.drain(..end).collect();
        lines(&shown)
    }
}

// When the present text was shown, and its question asked.

/// A second press of the same finger comes within this.
const DOUBLE_PRESS: Duration = Duration::from_secs(1);
/// The shortest time for a page of a lesson that goes on by itself.
const LEAST: Duration = Duration::from_millis(1500);
/// And the longest, if nothing is asked.
const MOST: Duration = Duration::from_secs(30);
/// Letters and digits that are read in a second, on a projector.
const LETTERS_A_SECOND: f64 = 18.0;
/// The time to think about a question that has none of its own.
const USUAL_THINK: Duration = Duration::from_secs(15);

/// Times since the beginning of the class.
#[derive(Clone, Debug, Default)]
pub(super) struct Timing {
    /// When the present text was shown, and how many letters and digits it has.
    shown_at: Duration,
    letters: usize,
    /// The stop whose question was asked last, and when.
    asked: Option<(usize, Duration)>,
    /// Whether a key that came too early for its answer has been passed over.
    has_passed: bool,
}

impl Timing {
    /// Lines are shown; `asking` is the stop whose question waits for an answer.
    pub(super) fn show(&mut self, lines: &[String], asking: Option<usize>, now: Duration) {
        if !lines.is_empty() {
            self.shown_at = now;
            self.letters = lines.iter().flat_map(|line| line.chars()).filter(|c| c.is_alphanumeric()).count();
        }
        match asking {
            None => self.asked = None,
            Some(stop) if self.asked.is_none_or(|(asked, _)| asked != stop) => {
                self.asked = Some((stop, now));
                self.has_passed = false;
            }
            Some(_) => {}
        }
    }

    /// Keys are taken again, after what comes next has been prepared: a question that was just shown is asked from now on.
    pub(super) fn ready(&mut self, now: Duration) {
        if let Some((_, asked)) = &mut self.asked
            && *asked == self.shown_at
        {
            (*asked, self.shown_at) = (now, now);
        }
    }

    /// When the question was asked.
    pub(super) fn asked_at(&self) -> Duration {
        self.asked.map_or(self.shown_at, |(_, asked)| asked)
    }

    /// Whether a key that would answer the question is the second of a double press: it comes within a moment of the
    /// question. Only one key is passed over.
    pub(super) fn passes_over(&mut self, now: Duration) -> bool {
        let is_early = now.saturating_sub(self.asked_at()) < DOUBLE_PRESS;
        is_early && !std::mem::replace(&mut self.has_passed, true)
    }

    /// When it is time to go on: the text has been read, and there was time to think about a question without an answer.
    pub(super) fn due(&self, unanswered: Option<&Question>) -> Duration {
        let read = Duration::from_secs_f64(self.letters as f64 / LETTERS_A_SECOND);
        let due = self.shown_at + read.clamp(LEAST, MOST);
        let think = |question: &Question| self.asked_at() + question.think.unwrap_or(USUAL_THINK);
        unanswered.map_or(due, |question| due.max(think(question)))
    }
}

// Typed input: an answer, a vote, a search, a command, or the number of a step.

/// The maximum number of saved commands.
const MOST_COMMANDS: usize = 200;
/// Votes that cannot be counted are dropped up to Enter, or up to a pause as long as this.
const SAME_LINE: Duration = Duration::from_secs(2);
/// The highest number of a step that can be typed.
const LARGEST_COUNT: usize = 99_999;

/// The purpose of a typed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinePurpose {
    /// To answer the question.
    Answer,
    /// To vote.
    Hands,
    /// To find a word.
    Search,
    /// To run a command.
    Command,
    /// To hand in answers under this name.
    Name,
}

impl LinePurpose {
    /// The mark before the line.
    pub(super) fn label(self) -> &'static str {
        match self {
            LinePurpose::Answer => " answer: ",
            LinePurpose::Hands => " hands: ",
            LinePurpose::Search => " search: ",
            LinePurpose::Command => " $ ",
            LinePurpose::Name => " your name or number: ",
        }
    }
}

/// A line that is being typed.
#[derive(Clone, Debug)]
pub(super) struct TypedLine {
    pub purpose: LinePurpose,
    pub line: EditLine,
}

/// Votes that cannot be counted, and are typed all the same.
#[derive(Clone, Debug)]
struct DroppedVotes {
    /// When the last key was pressed.
    last: Duration,
    text: String,
}

/// The typed input, and earlier input.
#[derive(Clone, Debug, Default)]
pub(super) struct LineInput {
    /// The line that is being typed.
    pub entry: Option<TypedLine>,
    /// The number that is being typed for `<n>G`.
    pub count: Option<usize>,
    /// The last search, in lower case.
    pub search: String,
    /// The commands that were shown or typed, the last one last.
    pub commands: Vec<String>,
    dropped: Option<DroppedVotes>,
}

impl LineInput {
    /// Whether a line or a number is being typed.
    pub(super) fn is_active(&self) -> bool {
        self.entry.is_some() || self.count.is_some()
    }

    /// Begins a line.
    pub(super) fn begin(&mut self, purpose: LinePurpose, text: &str) {
        let earlier = if purpose == LinePurpose::Command { self.commands.clone() } else { Vec::new() };
        self.entry = Some(TypedLine { purpose, line: EditLine::new(text, earlier) });
    }

    /// Keeps a command, for the line in which one types one's own.
    pub(super) fn keep_command(&mut self, typed: &str) {
        if self.commands.last().is_none_or(|last| last != typed) {
            self.commands.push(typed.to_string());
            let surplus = self.commands.len().saturating_sub(MOST_COMMANDS);
            self.commands.drain(..surplus);
        }
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

    /// Begins to drop votes that cannot be counted: the following keys are neither an answer nor a jump.
    pub(super) fn drop_votes(&mut self, now: Duration) {
        self.dropped = Some(DroppedVotes { last: now, text: String::new() });
    }

    /// Returns true if a key belongs to the dropped votes: these end with Enter or a pause. Digits before `G` are a jump instead:
    /// `5G`.
    pub(super) fn drops(&mut self, key: Key, now: Duration) -> bool {
        let Some(mut dropped) = self.dropped.take() else { return false };
        if now.saturating_sub(dropped.last) >= SAME_LINE {
            return false;
        }
        let is_vote = |c: char| {
            c.is_ascii_digit() || " ,:".contains(c) || ('A'..='H').contains(&c.to_ascii_uppercase())
        };
        match key {
            Key::Char('G') if dropped.text.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.count = dropped.text.parse().ok();
                return false;
            }
            Key::Char(c) if is_vote(c) => dropped.text.push(c),
            Key::Backspace => drop(dropped.text.pop()),
            Key::Enter => return true,
            _ => return false,
        }
        self.dropped = Some(DroppedVotes { last: now, ..dropped });
        true
    }
}

// The effects of a key.

/// The effects of an event: first print, then act.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effects {
    /// The lines to print; none if nothing is.
    pub lines: Vec<String>,
    /// Whether the screen is scrolled clear before.
    pub clears: bool,
    /// The action after printing.
    pub action: Action,
}

/// An action of the shell.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Action {
    /// Wait for the next event.
    #[default]
    Wait,
    /// Give the whole screen to a command of the teacher's own, and report what it has printed.
    Open(Command),
    /// Stop the program until it is called back.
    Suspend,
    /// End: the lesson is left.
    Leave,
    /// End: the lesson is interrupted.
    Interrupt,
}

#[cfg(test)]
mod tests {
    use crate::lesson::play::tests::sample;
    use crate::lesson::play::{Key, Player, Window};
    use crate::render::Screen;

    use super::*;

    fn words(first: usize, step: Option<usize>, seconds: u64) -> String {
        Plan::of(&sample::lesson(), first, step).in_words(seconds)
    }

    #[test]
    fn a_class_is_on_time_as_long_as_its_step_may_last() {
        // Step 2 is planned from 3:00 to 5:00.
        assert_eq!(words(0, Some(1), 200), "3:20 of 10:00");
        assert_eq!(words(0, Some(1), 305), "5:05 of 10:00, 0:05 behind");
        assert_eq!(words(0, Some(1), 100), "1:40 of 10:00, 1:20 ahead");
        assert_eq!(words(0, None, 10), "0:10 of 10:00");
    }

    #[test]
    fn a_class_that_begins_later_has_less_time_planned() {
        assert_eq!(words(1, Some(1), 10), "0:10 of 7:00");
        assert_eq!(words(1, Some(2), 10), "0:10 of 7:00, 1:50 ahead");
    }

    #[test]
    fn a_lesson_goes_on_when_it_has_been_read_and_thought_about() {
        let lesson = sample::lesson();
        let window = Window { screen: Screen::plain(80), rows: 40 };
        let mut player = Player::new(&lesson, &sample::run, window, Some(1));
        player.begin(&[], Duration::from_secs(7));
        assert_eq!(player.due(), Some(Duration::from_secs(37)));
        player.press(Key::Char('a'), Duration::from_secs(10));
        let feedback = player.due().unwrap();
        assert!(feedback > Duration::from_secs(11) && feedback < Duration::from_secs(14), "{feedback:?}");
        player.press(Key::Char('v'), Duration::from_secs(11));
        assert_eq!(player.due(), None);
        player.press(Key::Escape, Duration::from_secs(12));
        assert!(player.due().is_some());
    }
}
