//! A lesson as a handout in Markdown: no directives, outputs as they are printed now.

use std::borrow::Cow;

use pulldown_cmark::{Event, Parser, Tag};

use crate::foreign::{hidden, visible_lines};
use crate::lesson::blocks::OPTIONS;
use crate::lesson::model::{Block, Choice, Item, Literal, Prose, Question};
use crate::lesson::show::{BLANK, LessonView, escaped};

use super::{Answers, Handout, is_harmless, more_lines};

/// Fields of worksheets without answers.
const NAME: &str = "Name: ______________________________ Date: ______________";
const RULE: &str = "______________________________________";

/// The whole lesson as Markdown that any page shows: terminal output in fences of `text`, the answers folded, open or left
/// out.
pub fn markdown(handout: &Handout<'_>) -> String {
    let lesson = handout.lesson;
    let mut page =
        MarkdownWriter { show: handout.show(false), answers: handout.answers, parts: Vec::new(), asked: 0 };
    page.parts.push(format!("# {}", escaped(&lesson.title)));
    if handout.answers == Answers::Hidden {
        page.parts.push(NAME.to_string());
    }
    for item in lesson.items(None) {
        match item {
            Item::Step(step) => page.parts.push(format!("## {}", escaped(&lesson.steps[step].title))),
            Item::Pause(title) => page.parts.push(format!("### {}", escaped(title))),
            Item::Block(block) => page.block(block),
        }
    }
    page.parts.join("\n\n") + "\n"
}

struct MarkdownWriter<'a> {
    show: LessonView<'a>,
    answers: Answers,
    /// Paragraphs, to be separated by empty lines.
    parts: Vec<String>,
    /// The number of questions so far.
    asked: usize,
}

impl MarkdownWriter<'_> {
    fn block(&mut self, block: &Block) {
        match block {
            Block::Prose(prose) => self.parts.push(safe(&prose.markdown).into_owned()),
            Block::Console(exchanges) => {
                for exchange in exchanges {
                    let mut text = self.show.prompted(&self.show.typed(exchange));
                    text.extend(self.show.printed(exchange));
                    self.parts.push(fenced("text", &text.join("\n")));
                }
            }
            Block::Literal(literal) => self.literal(literal),
            Block::Note(note) if self.show.notes => {
                self.parts.push(format!("> **For the teacher:** {}", safe(note)));
            }
            Block::Note(_) => {}
            Block::Question(question) => self.question(question),
        }
    }

    fn literal(&mut self, literal: &Literal) {
        // `console,ignore` is a word of lessons, and no language of a page.
        let label = literal.label.split(',').next().unwrap_or_default();
        let label = if label == "console" { "text" } else { label };
        self.parts.push(fenced(label, literal.text.trim_end()));
    }

    fn question(&mut self, question: &Question) {
        self.asked += 1;
        self.parts.push(format!("**Question {}**", self.asked));
        question.asked.iter().for_each(|block| self.block(block));
        let option =
            |(choice, text): (&Choice, &Prose)| format!("- {}. {}", choice.letter, safe(&text.markdown));
        self.list(question.offered().map(option).collect());
        match self.answers {
            Answers::Hidden => {
                self.parts.push(BLANK.to_string());
                // A rule across the page is a line to write on.
                self.parts.extend(std::iter::repeat_n(RULE.to_string(), more_lines(question)));
            }
            Answers::Folded => {
                let before = self.parts.len();
                self.answer(question);
                if self.parts.len() > before {
                    self.parts.insert(before, "<details>\n<summary>Answer</summary>".to_string());
                    self.parts.push("</details>".to_string());
                }
            }
            Answers::Shown => self.answer(question),
        }
    }

    /// A list, unless it is empty.
    fn list(&mut self, items: Vec<String>) {
        if !items.is_empty() {
            self.parts.push(items.join("\n"));
        }
    }

    /// The right answer, the feedback to the wrong ones, and the rest of the folded answer.
    fn answer(&mut self, question: &Question) {
        let (answer, rest) = self.show.answer_paragraph(question);
        self.parts.extend(Some(safe(&answer).into_owned()).filter(|answer| !answer.is_empty()));
        let feedback = |(name, text): (String, &str)| format!("- {}: {}", escaped(&name), safe(text));
        self.list(self.show.named_feedback(question).map(feedback).collect());
        rest.iter().for_each(|block| self.block(block));
    }
}

/// A fence that no line of the text closes.
fn fenced(label: &str, text: &str) -> String {
    let longest = text.lines().map(|line| line.trim_start().chars().take_while(|c| *c == '`').count()).max();
    let fence = "`".repeat(longest.map_or(3, |longest| (longest + 1).max(3)));
    format!("{fence}{label}\n{text}\n{fence}")
}

// Prose to Markdown for other pages. A lesson may come from anyone, so that nothing in it becomes a tag, a script or a request
// to a server there: HTML, pictures and links that lead elsewhere than to pages are shown as they are written.

/// The Markdown, in which HTML, pictures, and links other than to pages are text.
pub(super) fn safe(markdown: &str) -> Cow<'_, str> {
    // The replaced text may contain marks with another meaning: a picture in a link, a tag in a block of HTML.
    let mut text = visible_lines(markdown);
    while let Some(safer) = exchanged(&text) {
        text = Cow::Owned(safer);
    }
    text
}

/// The text with dangerous marks replaced; `None` if there are none.
fn exchanged(markdown: &str) -> Option<String> {
    let mut places = Vec::new();
    for (event, at) in Parser::new_ext(markdown, OPTIONS).into_offset_iter() {
        let inside = &markdown[at.clone()];
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                places.extend(inside.match_indices('<').map(|(within, _)| at.start + within));
            }
            // A reference such as `&#27;` would become an escape character.
            Event::Text(text) if inside.starts_with('&') && hidden(&text).next().is_some() => {
                places.push(at.start)
            }
            Event::Start(Tag::Image { .. }) => places.push(at.start),
            Event::Start(Tag::Link { ref dest_url, .. }) if !is_harmless(dest_url) => places.push(at.start),
            _ => {}
        }
    }
    places.sort_unstable();
    places.dedup();
    let (mut out, mut end) = (String::new(), 0);
    for &place in &places {
        out.push_str(&markdown[end..place]);
        let (length, instead) = match &markdown[place..] {
            rest if rest.starts_with('<') => (1, "&lt;"),
            rest if rest.starts_with('&') => (1, "&amp;"),
            rest if rest.starts_with("![") => (2, "!\\["),
            rest if rest.starts_with('[') => (1, "\\["),
            // No other character begins a mark of Markdown.
            _ => (0, ""),
        };
        out.push_str(instead);
        end = place + length;
    }
    out.push_str(&markdown[end..]);
    (out != markdown).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_without_anything_dangerous_stays_as_it_is() {
        for text in ["A *b* [c](https://a.b) `<b>` 1 < 2.", "| a |\n| --- |\n| 1 |\n", "```\n<script>\n```"] {
            assert_eq!(safe(text), text);
        }
    }

    #[test]
    fn nothing_in_a_text_becomes_a_tag_a_script_or_a_request() {
        for text in [
            "a <script>alert(1)</script> b",
            "<script>\nalert(1)\n</script>\n",
            "<div>\n![a](http://evil.example/x.png)\n</div>",
            "![a](https://evil.example/x.png)",
            "[![a](https://evil.example/x.png)](https://a.b)",
            "![a][r] and [b][r]\n\n[r]: javascript:alert(1)",
            "[a](javascript:alert(1)) [b](JAVASCRIPT:x) [c](data:text/html,x)",
            "<javascript:alert(1)>",
            "<!-- <script> -->",
            "* <img src=x onerror=alert(1)>",
            "&#27;[31m &#8238;x",
        ] {
            let out = safe(text).into_owned();
            for event in Parser::new_ext(&out, OPTIONS) {
                let is_bad = match &event {
                    Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::Image { .. }) => true,
                    Event::Text(text) => hidden(text).next().is_some(),
                    Event::Start(Tag::Link { dest_url, .. }) => !is_harmless(dest_url),
                    _ => false,
                };
                assert!(!is_bad, "{text}\n{out}\n{event:?}");
            }
        }
    }
}
