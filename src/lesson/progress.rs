//! The progress of a class, by the ids of steps: a lesson may be edited in between.

use crate::foreign::{from_path, to_path, visible};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::error::{Error, Result};
use crate::input::{exists, make_folder, read_text, write_text};

use super::library::is_built_in;
use super::model::Lesson;

/// The form of these files.
const FORM: FileForm = FileForm { schema: "attn-progress", version: 1, what: "the progress of a lesson" };
/// No file that is kept is larger.
const LARGEST: u64 = 1 << 20;

/// The progress of a class in one lesson.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Progress {
    /// The step that was shown last; none once the end was reached.
    pub step: Option<String>,
    /// The steps that were shown to their end.
    pub done: BTreeSet<String>,
    /// The answers that were given, by the id of the question.
    pub answers: BTreeMap<String, Vec<String>>,
    /// The last show of hands at a question, option by option.
    pub votes: BTreeMap<String, Vec<usize>>,
    /// A quiz that was stopped before its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiz: Option<QuizProgress>,
}

/// A quiz that was stopped before its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuizProgress {
    /// The seed of its numbers.
    pub seed: Option<u32>,
    /// The answers to each question that is done, in the order in which they were typed; nothing typed is an empty answer.
    pub answers: BTreeMap<String, Vec<String>>,
    /// The number of hints that were shown.
    pub hints: BTreeMap<String, usize>,
}

impl Progress {
    /// The number of steps that were shown to their end.
    pub fn steps_done(&self, lesson: &Lesson) -> usize {
        lesson.steps.iter().filter(|step| self.done.contains(&step.id)).count()
    }
}

/// All lessons of one name, by the file that each is.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ProgressFile {
    lessons: BTreeMap<String, Progress>,
}

/// The folder of progress files: one for each name of a lesson.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// In a folder, which need not be there yet.
    pub fn new(state: &Path) -> Store {
        Store { folder: state.join("progress") }
    }

    /// The progress in a lesson; none yet is no progress.
    ///
    /// # Errors
    /// If the file is damaged, or cannot be read.
    pub fn read(&self, lesson: &Lesson) -> Result<Progress> {
        let kept = FORM.read::<ProgressFile>(&self.path(lesson))?;
        Ok(kept.and_then(|mut kept| kept.lessons.remove(&identity(lesson))).unwrap_or_default())
    }

    /// Keeps the progress in a lesson, next to what others have kept in the meantime. A damaged file is replaced, one of a
    /// later version is not.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, lesson: &Lesson, progress: &Progress) -> Result<()> {
        self.change(lesson, |there| {
            there.step.clone_from(&progress.step);
            there.done.extend(progress.done.iter().cloned());
            there.answers.extend(progress.answers.clone());
            there.votes.extend(progress.votes.clone());
        })
    }

    /// Keeps a quiz that has been stopped, or none once it is done.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_quiz(&self, lesson: &Lesson, sitting: Option<QuizProgress>) -> Result<()> {
        self.change(lesson, |there| there.quiz = sitting)
    }

    fn change(&self, lesson: &Lesson, change: impl FnOnce(&mut Progress)) -> Result<()> {
        let path = self.path(lesson);
        let mut kept = match FORM.read::<ProgressFile>(&path) {
            Err(error) if is_later(&error) => return Err(error),
            kept => kept.ok().flatten().unwrap_or_default(),
        };
        change(kept.lessons.entry(identity(lesson)).or_default());
        FORM.write(&path, &kept)
    }

    fn path(&self, lesson: &Lesson) -> PathBuf {
        self.folder.join(format!("{}.json", lesson.name))
    }
}

/// The error about a file of a newer version.
const LATER: &str = "another version of attn wrote it";

fn is_later(error: &Error) -> bool {
    matches!(error, Error::Unusable(problem) if problem.what == LATER)
}

/// Distinguishes lessons of the same name by their path; built-in ones have none.
pub(super) fn identity(lesson: &Lesson) -> String {
    match std::path::absolute(to_path(&lesson.file)) {
        Ok(path) if !is_built_in(&lesson.file) => from_path(&path),
        _ => lesson.file.clone(),
    }
}

/// The form of files in JSON: its name, and the version that is written, which is the only one that is read.
pub(super) struct FileForm {
    pub schema: &'static str,
    pub version: u32,
    /// The content in words.
    pub what: &'static str,
}

/// Something that is kept in a file, under the name and the version of its form.
#[derive(Serialize, Deserialize)]
struct Kept<T> {
    schema: String,
    version: u32,
    #[serde(flatten)]
    content: T,
}

impl FileForm {
    /// The content of a file; `None` if there is no file.
    ///
    /// # Errors
    /// If it is damaged, of another form or version, or cannot be read.
    pub(super) fn read<T: DeserializeOwned>(&self, path: &Path) -> Result<Option<T>> {
        if !exists(&from_path(path)) {
            return Ok(None);
        }
        let text = read_text(path, LARGEST)?;
        let wrong = |what: String| Error::new(what).in_source(shown(path));
        match serde_json::from_str::<Kept<T>>(&text) {
            Err(_) => Err(wrong("is damaged".to_string())),
            Ok(kept) if kept.schema != self.schema => Err(wrong(format!("this is not {}", self.what))),
            Ok(kept) if kept.version != self.version => Err(wrong(LATER.to_string())),
            Ok(kept) => Ok(Some(kept.content)),
        }
    }

    /// Keeps something in a file, whose folder is made where it is missing.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(super) fn write(&self, path: &Path, content: &impl Serialize) -> Result<()> {
        if let Some(folder) = path.parent() {
            make_folder(folder)?;
        }
        let kept = Kept { schema: self.schema.to_string(), version: self.version, content };
        let text = serde_json::to_string_pretty(&kept).map_err(|error| Error::new(error.to_string()))?;
        write_text(path, &(text + "\n"))
    }
}

fn shown(path: &Path) -> String {
    visible(&from_path(path)).into_owned()
}

#[cfg(test)]
mod tests {
    use crate::lesson::read;

    use super::*;

    fn lesson(file: &str) -> Lesson {
        let text = "---\nattn-lesson: 1\ntitle: T\n---\n\n# T\n\n## One\n\na\n\n## Two\n\nb\n";
        read(file, text).unwrap_or_else(|faults| panic!("{faults:?}"))
    }

    fn progress(step: &str, done: &[&str]) -> Progress {
        Progress {
            step: Some(step.to_string()),
            done: done.iter().map(|id| id.to_string()).collect(),
            ..Progress::default()
        }
    }

    #[test]
    fn progress_is_kept_for_each_lesson_and_two_players_add_up() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        let (here, there) = (lesson("a/x.md"), lesson("b/x.md"));
        assert_eq!(store.read(&here).unwrap(), Progress::default());
        store.write(&here, &progress("one", &["one"])).unwrap();
        store.write(&here, &progress("two", &["two", "gone"])).unwrap();
        store.write(&there, &progress("one", &[])).unwrap();
        let read = store.read(&here).unwrap();
        assert_eq!(read.step.as_deref(), Some("two"));
        assert_eq!(read.steps_done(&here), 2);
        assert_eq!(store.read(&there).unwrap().steps_done(&there), 0);
    }

    #[test]
    fn a_damaged_file_is_told_and_replaced_and_a_later_one_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path());
        let lesson = lesson("x.md");
        let path = folder.path().join("progress/x.json");
        make_folder(path.parent().unwrap()).unwrap();
        for damaged in ["{", "[]", "{}", "\u{1b}[31m", "{\"schema\":\"x\",\"version\":1,\"lessons\":{}}"] {
            write_text(&path, damaged).unwrap();
            assert!(store.read(&lesson).unwrap_err().to_string().contains("x.json"), "{damaged}");
            store.write(&lesson, &progress("one", &["one"])).unwrap();
            assert_eq!(store.read(&lesson).unwrap().steps_done(&lesson), 1);
        }
        write_text(&path, "{\"schema\":\"attn-progress\",\"version\":2,\"lessons\":{}}").unwrap();
        assert!(store.write(&lesson, &progress("one", &[])).is_err());
        assert!(read_text(&path, 100).unwrap().contains("\"version\":2"));
    }
}
