//! A file of mistakes of somebody's own: foreign text, in the form of `data/mistakes.toml`.

use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Error, ErrorKind, Place, Result};
use crate::foreign::hidden;
use crate::language::{At, expression, sentence};
use crate::memory;
use crate::read::line_and_column;
use crate::text::clip;

use super::mistake::{Mistake, OwnFile};
use super::ways::LONGEST_TEXT;
use super::{Group, catalogue};

/// A file has at most this many bytes.
const LONGEST: usize = 1 << 18;
/// What is read of a file takes at most this many times its bytes: a record of one field has seven.
const TIMES: u64 = 512;
/// A file has at most this many mistakes.
const MOST: usize = 100;
/// An id has at most this many characters.
const LONGEST_ID: usize = 40;

/// The mistakes of a file of somebody's own, which docs/mistakes.md describes; its name is for errors.
///
/// # Errors
/// At the line and column of what is not as it says there.
pub fn own_mistakes(file: &str, text: String) -> Result<Vec<Group>> {
    if text.len() > LONGEST {
        let error = Error::new(format!("a file of mistakes has at most {} KiB", LONGEST >> 10));
        return Err(error.of_kind(ErrorKind::TooLarge).in_source(file));
    }
    let _held = memory::hold(TIMES * text.len() as u64)?;
    let read = DeTable::parse(&text).map_err(|error| refused(file, &text, &error))?;
    let root = Spanned::new(read.span(), DeValue::Table(read.into_inner()));
    check_texts(&root).map_err(|(at, error)| error.moved(place(file, &text, at)))?;
    let groups = groups(file, text)?;
    let all: Vec<&Arc<Mistake>> = groups.iter().flat_map(|group| &group.mistakes).collect();
    if all.is_empty() || all.len() > MOST {
        let error = Error::new(format!("the file has {} mistakes, not 1 to {MOST}", all.len()));
        return Err(error
            .in_source(file)
            .help("write [[mistake]] above each mistake; docs/mistakes.md has a whole one"));
    }
    for mistake in &all {
        mistake.check(&all)?;
    }
    Ok(groups)
}

/// The mistakes of a file, as its text has them.
///
/// # Errors
/// If the file is no TOML, or has other fields.
pub(super) fn groups(file: &str, text: String) -> Result<Vec<Group>> {
    let read = toml::from_str(&text).map_err(|error| refused(file, &text, &error))?;
    Ok(super::groups(file, Some(OwnFile { text, find: place_of }), read))
}

/// The place of a field of a mistake, or of one of its ways; of the entry where it has no such field.
fn place_of(file: &str, text: &str, number: usize, way: Option<usize>, field: &str) -> Place {
    let read = DeTable::parse(text).ok();
    let found = read.as_ref().and_then(|read| {
        let all = read.get_ref().get("mistake")?.get_ref();
        let mistake = all.get(number)?;
        let entry = way.and_then(|way| mistake.get_ref().get("ways")?.get_ref().get(way)).unwrap_or(mistake);
        Some(entry.get_ref().get(field).unwrap_or(entry).span().start)
    });
    place(file, text, found.unwrap_or(0))
}

/// The error of a reader of TOML.
fn refused(file: &str, text: &str, error: &toml::de::Error) -> Error {
    Error::of_serde(error.message()).moved(place(file, text, error.span().map_or(0, |span| span.start)))
}

/// The place of a byte of a file.
fn place(file: &str, text: &str, at: usize) -> Place {
    let (line, column) = line_and_column(text, at);
    Place::Text(file.to_string(), line, column)
}

/// Checks that every text can be shown, and none is too long; else the byte where it begins.
fn check_texts(value: &Spanned<DeValue<'_>>) -> std::result::Result<(), (usize, Error)> {
    match value.get_ref() {
        DeValue::String(text) if text.len() > LONGEST_TEXT => {
            let error =
                Error::new(format!("a text has at most {LONGEST_TEXT} bytes")).of_kind(ErrorKind::TooLarge);
            Err((value.span().start, error))
        }
        DeValue::String(text) => match hidden(text).next() {
            Some((_, c)) => {
                let error = Error::new(format!("the text has a character that cannot be shown: {c}"));
                Err((value.span().start, error.help("write it in one line, without control characters")))
            }
            None => Ok(()),
        },
        DeValue::Array(values) => values.iter().try_for_each(check_texts),
        DeValue::Table(fields) => fields.values().try_for_each(check_texts),
        _ => Ok(()),
    }
}

impl Mistake {
    /// Whether it is of a file of somebody's own.
    pub(super) fn is_own(&self) -> bool {
        self.shared.own.is_some()
    }

    /// The place of a field in its file, or of the entry where it has no such field.
    pub fn place(&self, way: Option<usize>, field: &str) -> Place {
        match &self.shared.own {
            Some(own) => (own.find)(&self.shared.file, &own.text, self.number, way, field),
            None => Place::Source(self.shared.file.clone()),
        }
    }

    /// Checks what the form of the file does not say.
    fn check(&self, all: &[&Arc<Mistake>]) -> Result<()> {
        let at = |way, field: &str, checked: Result<()>| {
            checked.map_err(|error| error.moved(self.place(way, field)))
        };
        let no = |is_wrong: bool, what: String, help: &str| match is_wrong {
            true => Err(Error::new(what).help(help)),
            false => Ok(()),
        };
        let Mistake { id, group, slip, why, fix, symptom, .. } = self;
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let is_id = (1..=LONGEST_ID).contains(&id.len()) && id.chars().all(is_letter) && !self.is_class();
        let help = format!(
            "write at most {LONGEST_ID} small letters, digits and hyphens, and no -altered at the end"
        );
        at(None, "id", no(!is_id, format!("`{}` is no id", clip(id)), &help))?;
        let is_taken = catalogue().any(|known| known.id == *id);
        let help = "write another id; attn diagnose --list shows those that are taken";
        at(None, "id", no(is_taken, format!("`{id}` is a mistake of attn's own"), help))?;
        let is_twice = all.iter().any(|other| other.id == *id && other.number < self.number);
        at(None, "id", no(is_twice, format!("`{id}` stands twice"), "write another id"))?;
        let sentences = [("group", group), ("slip", slip), ("why", why), ("fix", fix), ("symptom", symptom)];
        for (field, text) in sentences {
            at(None, field, no(text.trim().is_empty(), format!("`{field}` is empty"), "write a sentence"))?;
            let what = format!("`{field}` of a mistake is shown as it is, with its braces");
            at(None, field, no(text.contains('{'), what, "braces stand in the sentences of a way"))?;
        }
        let help = "write [[mistake.ways]] below it, and a change: change = \"scale = none\"";
        at(None, "id", no(self.entries.is_empty(), format!("`{id}` has no ways to make it"), help))?;
        // What has braces is read once they are written out.
        let read = |text: Option<&str>, read: &dyn Fn(&str) -> Result<()>| {
            text.filter(|text| !text.contains('{')).map_or(Ok(()), read)
        };
        let condition = |text: &Option<String>| {
            read(text.as_deref(), &|text| expression("", text, At::default()).map(drop))
        };
        at(None, "if", condition(&self.condition))?;
        for (way, entry) in self.entries.iter().enumerate() {
            let way = Some(way);
            let what = "only attn's own mistakes have a generator".to_string();
            at(way, "generator", no(entry.generator.is_some(), what, "write change"))?;
            let help =
                "write a setting and its value, scale = none, or an operation at a site, relu(queries)";
            at(way, "change", no(entry.change.trim().is_empty(), "the way has no change".into(), help))?;
            let sentences =
                |text: &str| text.split(';').filter(|text| !text.trim().is_empty()).try_for_each(sentence);
            at(way, "change", read(Some(&entry.change), &sentences))?;
            at(way, "if", condition(&entry.condition))?;
            at(way, "alone", condition(&entry.alone))?;
        }
        Ok(())
    }
}
