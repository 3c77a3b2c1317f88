//! The player without a terminal: what stands where, and what is shown next.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use crate::lesson::show::Show;
use crate::lesson::{Lesson, Progress, Question, Run, Runner, Screen};

use super::answers::{Record, Scripted};
use super::clock::{Pace, Plan};
use super::entry::Entry;
use super::pages::{Chunk, Place};
use super::stops::{Kind, Stop, commands, stops};

/// Below the text stand an empty line and the status line.
const BELOW: usize = 2;
/// However small the screen says it is, so many lines are shown at once.
const LEAST_ROWS: usize = 4;
/// A second press of the same finger comes within this.
const DOUBLE_PRESS: Duration = Duration::from_secs(1);
/// So many commands are kept.
const MOST_COMMANDS: usize = 200;

/// The screen, and how tall it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// What commands and text are laid out for.
    pub screen: Screen,
    /// Its rows.
    pub rows: usize,
}

/// What is shown besides the lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// The contents; a number goes to a step.
    Contents,
    /// What the keys do.
    Keys,
    /// What a command of the teacher's own has printed.
    Output,
}

/// What a key has led to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The lines to print; none if nothing is.
    pub lines: Vec<String>,
    /// Whether all that stands on the screen is pushed out of sight before.
    pub pushes: bool,
    /// What the terminal does then.
    pub then: Then,
}

/// What the terminal does after a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Then {
    /// It waits for the next key.
    #[default]
    Wait,
    /// It stops the program until it is called back.
    Suspend,
    /// The lesson is left.
    Leave,
    /// The lesson is interrupted.
    Interrupt,
}

/// A lesson that is being played.
pub struct Player<'a> {
    pub(super) lesson: &'a Lesson,
    pub(super) run: &'a Run<'a>,
    /// What the teacher's own commands are run by.
    pub(super) by_hand: &'a Run<'a>,
    pub(super) runner: Runner<'a>,
    pub(super) window: Window,
    notes: bool,
    pub(super) stops: Vec<Stop>,
    /// The stop that is shown; behind the last one at the end.
    pub(super) at: usize,
    /// Where its page begins, and where the next one does.
    pub(super) from: Place,
    pub(super) next: Option<Place>,
    /// What is left of something that was shown besides the lesson.
    pub(super) waiting: Vec<Chunk>,
    /// What is shown besides the lesson; any key leaves it.
    pub(super) beside: Option<Beside>,
    /// Whether the page that is about to be printed begins a clean screen: an answer above it would give its question away.
    pub(super) is_clean: bool,
    pub(super) is_blank: bool,
    pub(super) entry: Option<Entry>,
    /// The number that is being typed for `<n>G`.
    pub(super) count: Option<usize>,
    pub(super) searched: String,
    /// The commands that were shown or typed, the last one last.
    pub(super) commands: Vec<String>,
    pub(super) records: HashMap<String, Record>,
    pub(super) scripted: Scripted,
    /// The step that the class began at.
    pub(super) first: usize,
    /// Whether nothing but the first page has been shown.
    pub(super) is_fresh: bool,
    /// When the present text was shown, and how many letters and digits it has.
    pub(super) shown_at: Duration,
    pub(super) shown_letters: usize,
    /// The stop whose question was asked last, and when.
    asked: Option<(usize, Duration)>,
    /// Whether a key that came too early for its answer has been passed over.
    has_passed: bool,
    pub(super) done: BTreeSet<usize>,
    /// The step that was left in an earlier hour.
    left: Option<String>,
    /// When the last key was pressed of votes that cannot be counted, and what has been typed of them.
    pub(super) dropping: Option<(Duration, String)>,
}

impl<'a> Player<'a> {
    /// A player at the beginning of a lesson, or of one of its steps.
    pub fn new(lesson: &'a Lesson, run: &'a Run<'a>, window: Window, first: Option<usize>) -> Player<'a> {
        let stops = stops(lesson);
        let at = first.and_then(|first| stops.iter().position(|stop| stop.step == Some(first))).unwrap_or(0);
        let mut player = Player {
            lesson,
            run,
            by_hand: run,
            runner: Runner::new(run),
            window,
            notes: false,
            stops,
            at,
            from: Place::default(),
            next: None,
            waiting: Vec::new(),
            beside: None,
            is_clean: false,
            is_blank: false,
            entry: None,
            count: None,
            searched: String::new(),
            commands: Vec::new(),
            records: HashMap::new(),
            scripted: Scripted::default(),
            first: first.unwrap_or(0),
            is_fresh: true,
            shown_at: Duration::ZERO,
            shown_letters: 0,
            asked: None,
            has_passed: false,
            done: BTreeSet::new(),
            left: None,
            dropping: None,
        };
        let before: Vec<&str> = player.stops[..at].iter().flat_map(|stop| commands(stop, lesson)).collect();
        before.into_iter().for_each(|typed| player.keep_command(typed));
        player
    }

    /// The same player, which runs the teacher's own commands by another `run`: they may do more than those of a lesson.
    pub fn with_commands_by(mut self, by_hand: &'a Run<'a>) -> Player<'a> {
        self.by_hand = by_hand;
        self
    }

    /// The same player, which shows the teacher's notes among the text.
    pub fn with_notes(mut self, notes: bool) -> Player<'a> {
        self.notes = notes;
        self
    }

    /// The same player, which gives these answers when a question's turn has come.
    pub fn with_answers(mut self, scripted: Scripted) -> Player<'a> {
        self.scripted = scripted;
        self
    }

    /// What is shown first, with what the teacher is to know before.
    pub fn begin(&mut self, notices: &[String], now: Duration) -> Told {
        let notices = notices.iter().flat_map(|notice| self.sentence(notice)).collect();
        let lines = self.show_from(Place::default(), notices);
        self.told(lines, now)
    }

    /// The present page once more, on a clean screen.
    pub fn again(&mut self, now: Duration) -> Told {
        let lines = if self.is_blank { self.blank() } else { self.show_again() };
        self.told(lines, now)
    }

    /// The screen has another size. What comes next is laid out for it; what has been cut in the middle begins again.
    pub fn resize(&mut self, window: Window) {
        if window.screen.width != self.window.screen.width {
            self.next = self.next.map(|next| Place { piece: 0, ..next });
            self.waiting.clear();
        }
        self.window = window;
    }

    /// The step that is shown; before the first one there is none. At the end it is the last.
    pub fn step(&self) -> Option<usize> {
        self.stops.get(self.at).or(self.stops.last()).and_then(|stop| stop.step)
    }

    /// The steps that have been shown to their end, by position.
    pub fn done(&self) -> &BTreeSet<usize> {
        &self.done
    }

    /// How far the class has come.
    pub fn progress(&self) -> Progress {
        let id = |step: usize| self.lesson.steps[step].id.clone();
        let given = self.records.iter().filter(|(_, record)| !record.given.is_empty());
        let votes =
            self.records.iter().filter_map(|(question, record)| Some((question, record.hands.as_ref()?)));
        // A class that only looks at the title keeps the place.
        let shown = self.step().map(id).or_else(|| self.left.clone());
        Progress {
            step: shown.filter(|_| !self.is_over()),
            done: self.done.iter().copied().map(id).collect(),
            answers: given.map(|(question, record)| (question.clone(), record.given.clone())).collect(),
            votes: votes.map(|(question, hands)| (question.clone(), hands.clone())).collect(),
            quiz: None,
        }
    }

    /// The same player, which knows what was shown in earlier hours.
    pub fn with_progress(mut self, progress: &Progress) -> Player<'a> {
        let steps = self.lesson.steps.iter().enumerate();
        self.done = steps.filter(|(_, step)| progress.done.contains(&step.id)).map(|(at, _)| at).collect();
        self.left.clone_from(&progress.step);
        self
    }

    /// Whether the lesson is over.
    pub fn is_over(&self) -> bool {
        self.at >= self.stops.len()
    }

    pub(super) fn show(&self) -> Show<'_> {
        let mut show = Show::new(self.lesson, &self.runner, self.window.screen);
        show.notes = self.notes;
        show
    }

    /// The rows that text may take.
    pub(super) fn height(&self) -> usize {
        self.window.rows.max(LEAST_ROWS + BELOW) - BELOW
    }

    pub(super) fn told(&mut self, lines: Vec<String>, now: Duration) -> Told {
        if !lines.is_empty() {
            self.shown_at = now;
            self.shown_letters =
                lines.iter().flat_map(|line| line.chars()).filter(|c| c.is_alphanumeric()).count();
        }
        if self.asking().is_none() {
            self.asked = None;
        } else if self.asked.is_none_or(|(stop, _)| stop != self.at) {
            self.asked = Some((self.at, now));
            self.has_passed = false;
        }
        Told { lines, pushes: std::mem::take(&mut self.is_clean), then: Then::Wait }
    }

    /// The player takes keys again, after it has prepared what comes next: a question that was just shown is asked from now on.
    pub fn ready(&mut self, now: Duration) {
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

    /// Whether a key that would show the answer is the second of a double press: it comes within a moment of the question.
    pub(super) fn passes_over(&mut self, now: Duration) -> bool {
        let is_early = self.asking().is_some() && now.saturating_sub(self.asked_at()) < DOUBLE_PRESS;
        is_early && !std::mem::replace(&mut self.has_passed, true)
    }

    /// When the present step is planned.
    pub(super) fn plan(&self) -> Plan {
        Plan::of(self.lesson, self.first, self.step())
    }

    /// The time spent and planned.
    pub(super) fn pace(&self, now: Duration) -> Pace {
        self.plan().pace(now.as_secs())
    }

    /// The question that waits for an answer: asked, and all of it shown.
    pub(super) fn asking(&self) -> Option<&'a Question> {
        let stop = self.stops.get(self.at).filter(|stop| stop.kind == Kind::Asked && self.next.is_none());
        stop.and_then(|stop| stop.question(self.lesson))
    }

    /// The question that is asked, or has just been answered.
    pub(super) fn question(&self) -> Option<&'a Question> {
        self.stops.get(self.at).and_then(|stop| stop.question(self.lesson))
    }

    /// Whether more of the present stop is to come.
    pub(super) fn has_more(&self) -> bool {
        self.next.is_some()
    }

    /// Keeps a command, for the line in which one types one's own.
    pub(super) fn keep_command(&mut self, typed: &str) {
        if self.commands.last().is_none_or(|last| last != typed) {
            self.commands.push(typed.to_string());
            let surplus = self.commands.len().saturating_sub(MOST_COMMANDS);
            self.commands.drain(..surplus);
        }
    }

    pub(super) fn record(&mut self, question: &Question) -> &mut Record {
        self.records.entry(question.id.clone()).or_default()
    }
}
