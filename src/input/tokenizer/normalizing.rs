//! The normalizer of a file, step by step: a few hundred bytes of rules can make gigabytes of one letter, so each step is looked at
//! before it is taken.

use serde::Deserialize;
use serde_json::Value;
use tokenizers::normalizers::NormalizerWrapper;
use tokenizers::utils::SysRegex;
use tokenizers::{NormalizedString, Normalizer};

use crate::error::{Error, ErrorKind, Result};
use crate::memory;
use crate::text::{clip, counted, size_in_brief};

/// A normalized text may have this many bytes for each of the text, and these.
const GROWTH: usize = 64;
const SHORT: usize = 1 << 16;
/// What a byte of a normalized text takes in memory: itself, its place in the text, and both again in the next step.
const MEMORY: u64 = 64;

/// The steps of a normalizer.
#[derive(Default)]
pub(super) struct Normalizing {
    steps: Vec<Step>,
    /// The longest replacement in a table of SentencePiece, in bytes.
    longest: usize,
}

struct Step {
    rule: NormalizerWrapper,
    /// What is replaced: the pattern, as the file writes it, and what the crate makes of it.
    replaced: Option<(String, SysRegex)>,
}

impl Normalizing {
    /// The steps of a file; `longest` is the longest replacement in its tables.
    ///
    /// # Errors
    /// If they cannot be read, or a pattern matches an empty place.
    pub(super) fn of(file: &Value, longest: usize) -> Result<Normalizing> {
        let mut normalizing = Normalizing { steps: Vec::new(), longest };
        if let Some(normalizer) = file.get("normalizer").filter(|normalizer| !normalizer.is_null()) {
            let rule = NormalizerWrapper::deserialize(normalizer)
                .map_err(|error| Error::new(format!("the normalizer cannot be used: {error}")))?;
            normalizing.add(rule)?;
        }
        let ascii = (' '..='~').map(String::from);
        for text in ascii.chain(["", "\n", "é", "▁", "日"].map(String::from)) {
            normalizing.length(&text)?;
        }
        Ok(normalizing)
    }

    fn add(&mut self, rule: NormalizerWrapper) -> Result<()> {
        let rule = match rule {
            NormalizerWrapper::Sequence(rules) => {
                return rules.into_iter().try_for_each(|rule| self.add(rule));
            }
            rule => rule,
        };
        let mut replaced = None;
        if let NormalizerWrapper::Replace(replace) = &rule {
            let unread = |error: &dyn std::fmt::Display| {
                Error::new(format!("a pattern of the normalizer cannot be read: {error}"))
            };
            let written = serde_json::to_value(replace).map_err(|error| unread(&error))?;
            let text = |kind: &str| written.pointer(kind).and_then(Value::as_str).map(str::to_string);
            let pattern = text("/pattern/Regex").unwrap_or_default();
            let literal = text("/pattern/String").map(|text| (escaped(&text), text));
            let (expression, shown) = literal.unwrap_or_else(|| (pattern.clone(), pattern));
            replaced = Some((shown, SysRegex::new(&expression).map_err(|error| unread(&error))?));
        }
        self.steps.push(Step { rule, replaced });
        Ok(())
    }

    /// The length of a text in bytes when all steps are done.
    ///
    /// # Errors
    /// If a step makes it too long, needs more memory than is left, or replaces an empty place: the crate then loses the places of the
    /// text, and panics later.
    pub(super) fn length(&self, text: &str) -> Result<usize> {
        let most = text.len().saturating_mul(GROWTH).saturating_add(SHORT);
        let mut done = NormalizedString::from(text);
        for Step { rule, replaced } in &self.steps {
            let now = done.get();
            let next = match (rule, replaced) {
                (NormalizerWrapper::Replace(replace), Some((pattern, expression))) => {
                    let mut matches = 0;
                    for (start, end) in expression.find_iter(now) {
                        if start == end {
                            return Err(Error::new(format!(
                                "the pattern `{}` of the normalizer matches an empty place of the text",
                                clip(pattern)
                            )));
                        }
                        matches += 1;
                    }
                    replace.content.len().saturating_mul(matches)
                }
                (NormalizerWrapper::Prepend(prepend), _) => prepend.prepend.len(),
                (NormalizerWrapper::Precompiled(_), _) => now.chars().count().saturating_mul(self.longest),
                _ => 0,
            };
            let next = next.saturating_add(now.len());
            check(text, next, most)?;
            let _held = memory::hold((next as u64).saturating_mul(MEMORY))?;
            rule.normalize(&mut done)
                .map_err(|error| Error::new(format!("the text cannot be normalized: {error}")))?;
            check(text, done.get().len(), most)?;
        }
        Ok(done.get().len())
    }
}

fn check(text: &str, length: usize, most: usize) -> Result<()> {
    if length <= most {
        return Ok(());
    }
    Err(Error::new(format!(
        "the normalizer makes {} of a text of {}, more than the {} that are read",
        size_in_brief(length as u64),
        counted(text.len(), "byte"),
        size_in_brief(most as u64)
    ))
    .of_kind(ErrorKind::TooLarge))
}

/// A regular expression for a text.
fn escaped(text: &str) -> String {
    let is_special = |c: char| r"\.+*?()|[]{}^$#&-~".contains(c);
    text.chars().flat_map(|c| is_special(c).then_some('\\').into_iter().chain([c])).collect()
}
