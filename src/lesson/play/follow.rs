//! The teacher's view in a second terminal: notes, the answer, the next step and the clock.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::error::{EXIT_DONE, Result};
use crate::lesson::progress::{FileForm, identity};
use crate::lesson::show::{Ink, Text, Tone, inline};
use crate::lesson::{Block, Choice, Lesson, Prose, Question};
use crate::render::Screen;
use crate::terminal::{INTERRUPTED, Input, Key, Session, Turn, is_running};

use super::answers::bars;
use super::state::{Plan, PlayOptions, Player, Record};
use super::stops::Stop;

/// The interval at which the position of the player is read.
const LOOK: Duration = Duration::from_millis(200);

/// The present state of the player of a lesson, or of the one that began last, as lines.
pub fn present(state: &Path, lesson: Option<&Lesson>, screen: Screen) -> Vec<String> {
    match Positions::new(state).read(lesson) {
        Some(position) => position.page(screen),
        None => {
            let what = lesson.map_or("a lesson", |lesson| &lesson.name);
            let words = format!("Nobody plays {what} yet. Start with attn lesson play in another terminal.");
            let text = Text::of(&words, Ink::default(), screen);
            text.wrapped(screen.width.saturating_sub(1), ["", ""], screen)
        }
    }
}

/// Follows a player on the terminal of this process up to `q`; returns the exit code.
///
/// # Errors
/// If the terminal cannot be read or written.
pub fn follow(
    state: &Path,
    lesson: Option<&Lesson>,
    options: PlayOptions,
    out: &mut dyn Write,
) -> Result<u8> {
    let session = Session::inline(true, "with its output in a file it prints the present state once")?;
    let mut page = RedrawnLines { out, lines: Vec::new(), columns: 0 };
    loop {
        let window = options.window();
        let mut lines = present(state, lesson, window.screen);
        lines.truncate(window.rows.saturating_sub(1).max(1));
        page.show(lines, window.screen.width)?;
        let inputs = match session.next(LOOK)? {
            Turn::End(code) => return Ok(code),
            Turn::GoOn => continue,
            Turn::Stop => vec![Input::Key(Key::Control('z'))],
            // The shell has written below what stood there.
            Turn::DrawAgain => {
                page.lines.clear();
                continue;
            }
            Turn::Take(inputs) => inputs,
        };
        for key in inputs.into_iter().filter_map(Input::key) {
            match key {
                Key::Char('q') | Key::Escape => return Ok(EXIT_DONE),
                Key::Control('c') => return Ok(INTERRUPTED),
                Key::Control('z') => {
                    session.suspend()?;
                    page.lines.clear();
                }
                _ => {}
            }
        }
    }
}

/// Lines that are redrawn in place.
struct RedrawnLines<'a> {
    out: &'a mut dyn Write,
    lines: Vec<String>,
    columns: usize,
}

impl RedrawnLines<'_> {
    fn show(&mut self, lines: Vec<String>, columns: usize) -> Result<()> {
        if self.lines == lines && self.columns == columns {
            return Ok(());
        }
        let mut text = match self.lines.len() {
            0 => String::new(),
            // After a change of width the rows of the lines are unknown.
            _ if self.columns != columns => "\x1b[H\x1b[J".to_string(),
            above => format!("\x1b[{above}A\r\x1b[J"),
        };
        for line in &lines {
            text.push_str(line);
            text.push_str("\r\n");
        }
        (self.lines, self.columns) = (lines, columns);
        self.out.write_all(text.as_bytes())?;
        self.out.flush()?;
        Ok(())
    }
}

// The position of a player, for `follow` in another terminal.

/// The form of these files.
const FORM: FileForm = FileForm { schema: "attn-position", version: 3, what: "the position of a player" };
/// A player writes its position at least this often.
pub(super) const BEAT: Duration = Duration::from_secs(10);
/// The seconds after which a position that has not been written again is of a player that has gone.
const SILENT: u64 = 35;

/// The position of a player.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// The number of the player's process.
    process: u32,
    /// When this was written, and when the class began: seconds since 1970.
    written: u64,
    began: u64,
    /// Whether the player has been left.
    pub(super) left: bool,
    /// Identifies the lesson among all others.
    lesson: String,
    title: String,
    /// The number of the step from 1; 0 before the first.
    step: usize,
    steps: usize,
    step_title: String,
    plan: Plan,
    /// What the teacher is told: the notes, the question with its answer, and the next step.
    told: [Vec<MarkedText>; 3],
    /// The last vote on the question, and the one before it.
    hands: Option<Vec<usize>>,
    hands_before: Option<Vec<usize>>,
}

/// A mark, `Note`, `Hint` or the name of an option, and its Markdown.
type MarkedText = (String, String);

impl Position {
    /// The position of a player after `spent`.
    pub(super) fn of(player: &Player<'_>, spent: Duration) -> Position {
        let (lesson, step, question) = (player.lesson, player.step(), question(player));
        let next = lesson.steps.get(step.map_or(0, |step| step + 1)).filter(|_| !player.is_over());
        let written = seconds_now();
        let record = question.and_then(|question| player.class.records.get(&question.id));
        let Record { hands, hands_before, .. } = record.cloned().unwrap_or_default();
        Position {
            process: std::process::id(),
            written,
            began: written.saturating_sub(spent.as_secs()),
            left: false,
            lesson: identity(lesson),
            title: lesson.title.clone(),
            step: step.map_or(0, |step| step + 1),
            steps: lesson.steps.len(),
            step_title: step.map_or_else(|| lesson.title.clone(), |step| lesson.steps[step].title.clone()),
            plan: player.plan(),
            told: [
                notes(lesson, step).map(|note| marked("Note", note)).collect(),
                question.map(|question| asked(player, question)).unwrap_or_default(),
                next.map(|step| marked("Next", &step.title)).into_iter().collect(),
            ],
            hands,
            hands_before,
        }
    }

    /// Whether its player is still running.
    pub(super) fn is_alive(&self) -> bool {
        !self.left && is_running(self.process) && seconds_now().saturating_sub(self.written) < SILENT
    }

    /// The seconds spent by now, or by the end of it.
    fn spent(&self) -> u64 {
        let now = if self.is_alive() { seconds_now() } else { self.written };
        now.saturating_sub(self.began)
    }

    /// The page for the teacher, in lines that are narrower than the screen.
    fn page(&self, screen: Screen) -> Vec<String> {
        let wrapped =
            |text: &Text, further: &str| text.wrapped(screen.width.saturating_sub(1), ["", further], screen);
        let line = |text: &str, ink: Ink| wrapped(&Text::of(text, ink, screen), "  ");
        let item = |(mark, text): &MarkedText| {
            let tone = match &**mark {
                "Note" => Tone::Note,
                "Answer" => Tone::Right,
                "Asked" | "Hint" | "Next" => Tone::Quiet,
                _ => Tone::Asked,
            };
            let mut whole = Text::of(&format!("{mark:6}  "), Ink { bold: true, ..Ink::of(tone) }, screen);
            whole.extend(&inline(text, screen));
            wrapped(&whole, "        ")
        };
        let is_late = self.plan.behind(self.spent()).is_some_and(|behind| behind > 0);
        let head = format!("{} · {}", self.title, self.plan.in_words(self.spent()));
        let mut lines = line(&head, Ink::of(if is_late { Tone::Note } else { Tone::Quiet }));
        lines.truncate(1);
        let step = format!("{}/{}  {}", self.step, self.steps, self.step_title);
        lines.extend(line(&step, Ink::bold()));
        if !self.is_alive() {
            let lost = "The player does not respond: it is paused or has ended.";
            let notice = if self.left { "The lesson was stopped." } else { lost };
            lines.extend(line(notice, Ink::of(Tone::Note)));
        }
        let mut groups = vec![lines];
        groups.extend(self.told.iter().map(|items| items.iter().flat_map(item).collect()));
        if let Some(hands) = &self.hands {
            let answer = self.told[1].iter().find(|(mark, _)| mark == "Answer");
            let right = answer.and_then(|(_, text)| text.chars().next());
            groups[2].extend(bars(hands, self.hands_before.as_deref(), right, screen));
        }
        groups.retain(|group| !group.is_empty());
        groups.join(&String::new())
    }
}

fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

fn marked(mark: &str, text: &str) -> MarkedText {
    (mark.to_string(), text.to_string())
}

/// The notes of a step, or before the first one.
fn notes(lesson: &Lesson, step: Option<usize>) -> impl Iterator<Item = &str> {
    let opening = lesson.opening.iter().filter(move |_| step.is_none());
    let blocks = opening.chain(step.into_iter().flat_map(|step| lesson.steps[step].blocks()));
    blocks.flat_map(Block::with_inner).filter_map(Block::note)
}

/// The question that is asked or answered, or that the step will ask next.
fn question<'a>(player: &Player<'a>) -> Option<&'a Question> {
    let step = player.step();
    let mut stops = player.stops.iter().skip(player.page.stop).take_while(|stop| stop.step == step);
    stops.find_map(Stop::question)
}

/// A question, its answer, the feedback to wrong answers, and its hints.
fn asked(player: &Player<'_>, question: &Question) -> Vec<MarkedText> {
    let show = player.show();
    let answer = match question.right_answer(&show.values()) {
        Ok(answer) => answer.map(|answer| match show.option_text(question, &answer) {
            Some(option) => format!("{answer}  {option}"),
            None => answer.with_tolerance(),
        }),
        Err(error) => Some(format!("cannot be computed: {error}")),
    };
    let mut told = vec![marked("Asked", &text(question))];
    told.extend(answer.map(|answer| marked("Answer", &answer)));
    told.extend(show.named_feedback(question).map(|(name, text)| marked(&format!("  {name}"), text)));
    told.extend(question.hints.iter().map(|hint| marked("Hint", hint)));
    told
}

/// The sentences of a question, and its options.
fn text(question: &Question) -> String {
    let sentences = question.asked.iter().filter_map(Block::prose);
    let sentences = sentences.map(|prose| prose.markdown.split_whitespace().collect::<Vec<_>>().join(" "));
    let option = |(choice, text): (&Choice, &Prose)| format!("{}. {}", choice.letter, text.markdown.trim());
    let options = question.offered().map(option);
    sentences.chain(options).collect::<Vec<_>>().join("  ")
}

/// The folder of positions: one file for each lesson, and one that names the lesson that was started last.
#[derive(Clone, Debug)]
pub(super) struct Positions {
    folder: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct LatestLesson {
    lesson: String,
}

impl Positions {
    pub(super) fn new(state: &Path) -> Positions {
        Positions { folder: state.join("playing") }
    }

    pub(super) fn begin(&self, lesson: &Lesson) -> Result<()> {
        FORM.write(&self.latest(), &LatestLesson { lesson: identity(lesson) })
    }

    pub(super) fn write(&self, position: &Position) -> Result<()> {
        FORM.write(&self.of(&position.lesson), position)
    }

    /// The position in a lesson, or in the one that was started last; `None` if it cannot be read or has another version.
    pub(super) fn read(&self, lesson: Option<&Lesson>) -> Option<Position> {
        let asked = match lesson {
            Some(lesson) => identity(lesson),
            None => FORM.read::<LatestLesson>(&self.latest()).ok()??.lesson,
        };
        let position = FORM.read::<Position>(&self.of(&asked)).ok()??;
        (position.lesson == asked).then_some(position)
    }

    fn latest(&self) -> PathBuf {
        self.folder.join("position.json")
    }

    /// The file of a lesson. Its path would be no name of a file; a player and its followers are of one version, so that the
    /// number need not be the same in the next.
    fn of(&self, identity: &str) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        identity.hash(&mut hasher);
        self.folder.join(format!("lesson-{:016x}.json", hasher.finish()))
    }
}

#[cfg(test)]
mod tests {
    use crate::lesson::play::tests::sample;
    use crate::lesson::play::{Key, Window};
    use crate::lesson::read;
    use crate::render::Screen;

    use super::*;

    #[test]
    fn a_position_of_another_version_is_none() {
        let (lesson, folder) = (sample::lesson(), tempfile::tempdir().unwrap());
        let window = Window { screen: Screen::plain(80), rows: 40 };
        let player = Player::new(&lesson, &sample::run, window, None);
        let positions = Positions::new(folder.path());
        let position = Position::of(&player, Duration::ZERO);
        positions.write(&position).unwrap();
        assert_eq!(positions.read(Some(&lesson)), Some(position.clone()));
        for other in [FileForm { version: 1, ..FORM }, FileForm { schema: "other", ..FORM }] {
            other.write(&positions.of(&position.lesson), &position).unwrap();
            assert_eq!(positions.read(Some(&lesson)), None);
        }
    }

    #[test]
    fn a_position_tells_notes_answer_next_step_and_time() {
        let lesson = sample::lesson();
        let window = Window { screen: Screen::plain(80), rows: 40 };
        let mut player = Player::new(&lesson, &sample::run, window, Some(1));
        player.begin(&[], Duration::ZERO);
        "vA1 C2".chars().for_each(|c| drop(player.press(Key::Char(c), Duration::ZERO)));
        player.press(Key::Enter, Duration::ZERO);
        let folder = tempfile::tempdir().unwrap();
        let positions = Positions::new(folder.path());
        assert_eq!(positions.read(None), None);
        positions.begin(&lesson).unwrap();
        positions.write(&Position::of(&player, Duration::from_secs(125))).unwrap();
        let position = positions.read(None).unwrap();
        assert!(position.is_alive());
        assert_eq!((position.step, position.steps, position.step_title.as_str()), (2, 5, "How many zeros?"));
        let [notes, asked, next] = &position.told;
        assert_eq!(notes[..], [marked("Note", "Hold the sheet over them.")]);
        assert_eq!(next[..], [marked("Next", "How much is left?")]);
        let pace = position.plan.in_words(position.spent());
        assert!(pace.starts_with("2:0"), "{pace}");
        let question = "How many weights of `bat` are zero?  A. none  B. one  C. two";
        let told = [("Asked", question), ("Answer", "C  two"), ("  A", "True for finite scores.")];
        assert_eq!(asked[..3], told.map(|(mark, text)| marked(mark, text)));
        assert_eq!(position.hands, Some(vec![1, 0, 2]));
        assert!(!Position { left: true, ..position.clone() }.is_alive());
        assert!(!Position { written: position.written - 60, ..position.clone() }.is_alive());
        assert!(!Position { process: i32::MAX as u32, ..position }.is_alive());
        let elsewhere = read("other/mask.md", sample::TEXT).unwrap();
        assert_eq!(elsewhere.name, lesson.name);
        assert_eq!(positions.read(Some(&elsewhere)), None, "another lesson of the same name");
        assert!(positions.read(Some(&lesson)).is_some());
    }
}
