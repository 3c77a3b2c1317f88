//! What a page that computes adds to a lesson: stories whose numbers change, what-ifs that run, questions that judge.

use attn_story::live::Opening;
use serde_json::{Value, json};

use crate::graph::recipes::Setting;
use crate::lesson::command::{as_live_page, name_of};
use crate::lesson::show::judge;
use crate::lesson::{Command, Question};
use crate::render::html_page::{escaped, fragment, live_data};
use crate::text::all_of;

use super::Answers;
use super::html::{HtmlWriter, ToldStory};

/// What a page says of a comparison that it cannot run.
const IS_PRINTED: &str = "This comparison was computed beforehand. It changes more than the settings of the \
                          computation, so the page cannot run it.";

impl HtmlWriter<'_> {
    /// A command as stories that compute, with what changes from an earlier one; `None` where it cannot be one.
    pub(super) fn stories(&self, command: &Command, code: u8) -> Option<String> {
        let told = self.live.as_ref().filter(|_| command.value("--versus").is_none())?;
        let html = self.computing(&command.args, code)?;
        let [opening] = &Opening::all_in(&html)[..] else { return Some(html) };
        let change = change_from_earlier(&told.borrow(), opening);
        told.borrow_mut().push((command.typed.clone(), opening.clone()));
        Some(format!("{}{html}", change.unwrap_or_default()))
    }

    /// What a page does with a comparison, before the printed one: it runs it, or says that it cannot.
    pub(super) fn versus(&self, command: &Command, code: u8) -> String {
        let options = command.value("--versus").filter(|_| self.live.is_some());
        let Some(options) = options else { return String::new() };
        self.what_if(command, options, code)
            .unwrap_or_else(|| format!("<p class=\"note when-live\">{IS_PRINTED}</p>\n"))
    }

    /// The judge of a question as data, in a page that computes and folds answers; nothing for an open one.
    pub(super) fn judge(&self, question: &Question) -> String {
        if self.live.is_none() || self.answers != Answers::Folded {
            return String::new();
        }
        if let Ok(Some(exercise)) = self.show.exercise(question) {
            return exercise.html().unwrap_or_default();
        }
        let Some(right) = self.show.right(question) else { return String::new() };
        let wanted = question.kind.quiz_prompt(&question.letters());
        let data = json!({ "judge": judge(question, right, &self.show), "wanted": wanted });
        live_data("judge", &data.to_string())
    }

    /// A command as HTML that computes.
    fn computing(&self, args: &[String], code: u8) -> Option<String> {
        let ran = self.show.runner.run(&as_live_page(args), self.show.screen);
        if ran.code == code { fragment(&ran.out) } else { None }
    }

    /// The comparison of a command with itself under further options, as a story and the fields of the recipe that change.
    fn what_if(&self, command: &Command, options: &str, code: u8) -> Option<String> {
        let (base, other) = both(&command.args, &shlex::split(options)?);
        let (base, other) = (self.computing(&base, code)?, self.computing(&other, code)?);
        let ([base], [other]) = (&Opening::all_in(&base)[..], &Opening::all_in(&other)[..]) else {
            return None;
        };
        let fields = base.what_if(other).filter(|fields| !fields.is_empty())?;
        let button = format!("What if {options}?");
        let data = json!({ "open": base, "events": follow(&[fields]), "button": button });
        Some(live_data("what-if", &data.to_string()))
    }
}

/// The change from the earlier story that was computed from the same matrices by the most similar other recipe, the last of
/// several.
fn change_from_earlier(told: &[ToldStory], opening: &Opening) -> Option<String> {
    let changed = |(typed, earlier): &'_ ToldStory| {
        if !opening.shows_change_from(earlier) {
            return None;
        }
        let back = opening.what_if(earlier).filter(|fields| !fields.is_empty())?;
        Some((escaped(typed), back, earlier.what_if(opening)?))
    };
    let (typed, back, there) = told.iter().rev().filter_map(changed).min_by_key(|(_, back, _)| back.len())?;
    let names = escaped(&all_of(&there.iter().map(Setting::name).collect::<Vec<_>>()));
    let data = json!({ "events": follow(&[back, there]), "button": "Show the change" });
    let data = live_data("what-if", &data.to_string());
    Some(format!("{data}<p class=\"when-live change\">Changed since <code>{typed}</code>: {names}.</p>\n"))
}

/// The events of a page that follow what-ifs, one after the other.
fn follow(what_ifs: &[Vec<Setting>]) -> Value {
    what_ifs.iter().map(|fields| json!({ "follow": fields })).collect()
}

/// The arguments of a command without the comparison, and with its further options: of an option that is given twice the later one
/// holds.
fn both(args: &[String], options: &[String]) -> (Vec<String>, Vec<String>) {
    let base = without(args, "--versus", true);
    let is_option = |word: &String| word.starts_with("--");
    let mut other = base.clone();
    for (at, option) in options.iter().enumerate().filter(|(_, word)| is_option(word)) {
        let has_value = options.get(at + 1).is_some_and(|next| !is_option(next));
        other = without(&other, name_of(option), has_value);
    }
    let end = other.iter().position(|arg| arg == "--").unwrap_or(other.len());
    other.splice(end..end, options.iter().cloned());
    (base, other)
}

/// The arguments without an option, and without its value where that is the next argument.
fn without(args: &[String], option: &str, has_value: bool) -> Vec<String> {
    let Some(at) = args.iter().position(|arg| name_of(arg) == option) else { return args.to_vec() };
    let takes = if has_value && !args[at].contains('=') { 2 } else { 1 };
    args[..at].iter().chain(args.iter().skip(at + takes)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_option_that_is_given_twice_the_later_one_holds() {
        for (typed, options, base, other) in [
            ("attend x --versus '@scale none'", "@scale none", "attend x", "attend x @scale none"),
            (
                "attend x @scale 1 --versus=y @causal",
                "@scale none",
                "attend x @scale 1 @causal",
                "attend x @causal @scale none",
            ),
            (
                "a @qk-norm @scale=1 @ @x",
                "@qk-norm @scale=2",
                "a @qk-norm @scale=1 @ @x",
                "a @qk-norm @scale=2 @ @x",
            ),
        ] {
            let words = |text: &str| shlex::split(&text.replace('@', "--")).unwrap();
            let found = both(&words(typed), &words(options));
            assert_eq!(found, (words(base), words(other)), "{typed}");
        }
    }
}
