//! A lesson as one page: steps to jump to, commands with their results, questions whose answers unfold.

use std::cell::RefCell;
use std::rc::Rc;

use attn_story::live::Opening;
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use serde_json::{Value, json};

use crate::foreign::visible_lines;
use crate::graph::recipes::Setting;
use crate::lesson::blocks::OPTIONS;
use crate::lesson::command::{as_live_page, name_of};
use crate::lesson::show::{LessonView, judge, minutes};
use crate::lesson::{Block, Choice, Command, CommandOutput, Exchange, Lesson, Prose, Question, Step};
use crate::render::html_page::{HtmlPage, escaped, fragment, how, live_data, live_page};
use crate::render::page_program;
use crate::text::{all_of, counted};

use super::{Answers, Handout, is_harmless, more_lines};

const STYLE: &str = include_str!("html.css");
const SCRIPT: &str = include_str!("html.js");
/// The style that lessons which compute add to that of all pages.
pub const LIVE_STYLE: &str = concat!(include_str!("html.css"), include_str!("live.css"));
/// The script that they add.
pub const LIVE_SCRIPT: &str = concat!(include_str!("html.js"), include_str!("live.js"));

/// The notice on pages without answers.
const NAME: &str = "<p class=\"write-name\"><span>Name:</span><span>Date:</span></p>\n";

/// The whole lesson as a self-contained page of HTML. Commands are run again: what can be shown as HTML is, the rest as it is
/// printed.
pub fn html(handout: &Handout<'_>) -> String {
    let main = html_main(handout);
    let title = &handout.lesson.title;
    if handout.live {
        let page = HtmlPage { title, style: LIVE_STYLE, script: LIVE_SCRIPT, main: &main };
        return live_page(page, page_program());
    }
    HtmlPage { title, style: STYLE, script: SCRIPT, main: &main }.to_string()
}

/// The content of a lesson's page.
pub fn html_main(handout: &Handout<'_>) -> String {
    let live = handout.live.then(RefCell::default);
    let writer = HtmlWriter { show: handout.show(false), answers: handout.answers, live };
    let lesson = handout.lesson;
    let opening = writer.blocks(&lesson.opening);
    let steps: String = lesson.steps.iter().enumerate().map(|(at, step)| writer.step(at + 1, step)).collect();
    let steps = format!("{opening}{steps}");
    format!(
        "<div class=\"lesson\">\n<header>\n<h1>{}</h1>\n<p class=\"source\">{}</p>\n{}{}</header>\n{}<div class=\"steps\">\n\
         {steps}</div>\n{}</div>\n",
        escaped(&lesson.title),
        length(lesson),
        how(&steps),
        if writer.answers == Answers::Hidden { NAME } else { "" },
        writer.contents(),
        writer.hand_in(),
    )
}

/// `10 minutes · 8 steps · 5 questions`
pub fn length(lesson: &Lesson) -> String {
    let minutes = lesson.minutes.map(minutes);
    let steps = Some(counted(lesson.steps.len(), "step"));
    let questions = match lesson.questions().count() {
        0 => None,
        count => Some(counted(count, "question")),
    };
    [minutes, steps, questions].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The command of a story as it is typed, and its data: a later command is compared with them.
type ToldStory = (String, Opening);

/// Writes a lesson as HTML.
struct HtmlWriter<'a> {
    show: LessonView<'a>,
    answers: Answers,
    /// In a page that computes the stories so far.
    live: Option<RefCell<Vec<ToldStory>>>,
}

impl HtmlWriter<'_> {
    /// The steps, to jump to.
    fn contents(&self) -> String {
        let entry = |step: &Step| {
            format!("<li><a href=\"#{}\">{}</a></li>\n", escaped(&step.id), escaped(&step.title))
        };
        let entries: String = self.show.lesson.steps.iter().map(entry).collect();
        format!("<nav aria-label=\"Steps\">\n<ol>\n{entries}</ol>\n</nav>\n")
    }

    /// The place to hand in what came of the questions; nothing where no answer is judged.
    fn hand_in(&self) -> String {
        let graded = self.show.lesson.questions().filter(|question| question.kind.is_graded());
        let ids: Vec<&str> = graded.map(|question| question.id.as_str()).collect();
        if self.live.is_none() || self.answers != Answers::Folded || ids.is_empty() {
            return String::new();
        }
        let data = json!({ "lesson": self.show.lesson.name, "questions": ids });
        format!(
            "<section class=\"hand-in when-live\">\n<h2>Hand in</h2>\n{}</section>\n",
            live_data("hand-in", &data.to_string())
        )
    }

    fn step(&self, number: usize, step: &Step) -> String {
        let planned = |planned| format!(" <span class=\"planned\">{}</span>", minutes(planned));
        let planned = step.minutes.map(planned).unwrap_or_default();
        let (id, title) = (escaped(&step.id), escaped(&step.title));
        let mut out = format!(
            "<section class=\"lesson-step\" id=\"{id}\">\n<h2><a href=\"#{id}\"><span class=\"at\">{number}</span> {title}</a>{planned}</h2>\n"
        );
        for part in &step.parts {
            if let Some(title) = &part.title {
                out.push_str(&format!("<h3>{}</h3>\n", escaped(title)));
            }
            out.push_str(&self.blocks(&part.blocks));
        }
        out.push_str("</section>\n");
        out
    }

    fn blocks(&self, blocks: &[Block]) -> String {
        blocks.iter().map(|block| self.block(block)).collect()
    }

    fn block(&self, block: &Block) -> String {
        match block {
            Block::Prose(prose) => prose_as_html(&prose.markdown),
            Block::Console(exchanges) => self.console(exchanges),
            Block::Literal(literal) => {
                format!("<pre class=\"literal\">{}</pre>\n", escaped(literal.text.trim_end()))
            }
            Block::Note(note) if self.show.notes => {
                format!("<aside class=\"teacher\">\n{}</aside>\n", prose_as_html(note))
            }
            Block::Note(_) => String::new(),
            Block::Question(question) => self.question(question),
        }
    }

    fn console(&self, exchanges: &[Exchange]) -> String {
        let exchange = |exchange: &Exchange| {
            let command = &exchange.command;
            format!(
                "<div class=\"typed\"><code><span class=\"prompt\" aria-hidden=\"true\">$ </span>{}</code>\
                 <button type=\"button\" class=\"copy\" data-copy=\"{}\">Copy</button></div>\n\
                 <div class=\"printed\">\n{}</div>\n",
                words(&command.typed),
                escaped(&command.typed),
                self.printed(exchange)
            )
        };
        let exchanges: String = exchanges.iter().map(exchange).collect();
        format!("<div class=\"console\">\n{exchanges}</div>\n")
    }

    /// The output of a command: as HTML if possible, as in the lesson if that leaves lines out, and else as on the screen.
    fn printed(&self, exchange: &Exchange) -> String {
        let expected = self.show.lesson.text.get(exchange.expected.clone()).unwrap_or_default();
        let is_shortened = expected.lines().any(|line| line.trim() == "...");
        let has_room = self.live.is_some() || !is_shortened;
        let html = if has_room { self.in_html(&exchange.command) } else { None };
        let stories = html.as_ref().and_then(|(ran, _)| self.stories(&exchange.command, ran.code));
        // Lines were left out for a screen; a story that computes has room for all of them.
        if is_shortened && stories.is_none() {
            return preformatted(expected);
        }
        let Some((ran, inside)) = html else {
            return preformatted(&self.show.printed(exchange).join("\n"));
        };
        let what_if = self.versus(&exchange.command, ran.code);
        let aside = if ran.err.is_empty() { String::new() } else { preformatted(&ran.err) };
        let code = match ran.code {
            0 => String::new(),
            code => format!("<p class=\"dim\">(exit code {code})</p>\n"),
        };
        format!("{aside}{what_if}{}{code}", stories.unwrap_or(inside))
    }

    /// The output of the same command as HTML, and what of it stands in this page; `None` where the command has chosen another format,
    /// or cannot do it.
    fn in_html(&self, command: &Command) -> Option<(Rc<CommandOutput>, String)> {
        if command.args.iter().any(|arg| name_of(arg) == "--format") {
            return None;
        }
        let args: Vec<String> = command.args.iter().cloned().chain(["--format=html".to_string()]).collect();
        let ran = self.show.runner.run(&args, self.show.screen);
        let inside = fragment(&ran.out)?;
        Some((ran, inside))
    }

    fn question(&self, question: &Question) -> String {
        let think = question.think.map(|time| format!(" · think for {} s", time.as_secs()));
        let think = think.unwrap_or_default();
        let id = self.live.as_ref().map(|_| format!(" data-id=\"{}\"", escaped(&question.id)));
        format!(
            "<section class=\"question\" aria-label=\"Question\"{}>\n<p class=\"kind\">Question{think}</p>\n{}{}{}{}</section>\n",
            id.unwrap_or_default(),
            self.blocks(&question.asked),
            self.options(question),
            hints(question),
            self.answer(question)
        )
    }

    /// The options that are offered; wrong answers that are only foreseen are not.
    fn options(&self, question: &Question) -> String {
        let item = |(_, text): (&Choice, &Prose)| format!("<li>{}</li>\n", prose_as_html(&text.markdown));
        let items: String = question.offered().map(item).collect();
        if items.is_empty() {
            return items;
        }
        // The script makes buttons of the options; where answers are left out it must not know.
        let right = self.show.right(question).filter(|_| self.answers == Answers::Folded);
        let right = right.and_then(|right| right.value.letter());
        let right = right.map(|letter| format!(" data-right=\"{letter}\"")).unwrap_or_default();
        format!("<ol class=\"options\" type=\"A\"{right}>\n{items}</ol>\n")
    }

    /// The folded answer, with the feedback to the wrong ones.
    fn answer(&self, question: &Question) -> String {
        if self.answers == Answers::Hidden {
            let lines = "<p class=\"write\"></p>\n".repeat(more_lines(question));
            return format!("<p class=\"write\">Your answer:</p>\n{lines}");
        }
        let open = if self.answers == Answers::Shown { " open" } else { "" };
        let (mut right, rest) = self.show.answer_paragraph(question);
        if !right.is_empty() {
            right = format!("<div class=\"right\">{}</div>\n", prose_as_html(&right).trim_end());
        }
        let reveal = self.blocks(rest);
        let item = |(name, text): (String, &str)| {
            format!("<dt>{}</dt><dd>{}</dd>\n", escaped(&name), prose_as_html(text))
        };
        let mut feedback: String = self.show.named_feedback(question).map(item).collect();
        if !feedback.is_empty() {
            feedback = format!("<dl class=\"feedback\">\n{feedback}</dl>\n");
        }
        if [&right, &reveal, &feedback].iter().all(|part| part.is_empty()) {
            return String::new();
        }
        let judge = self.judge(question);
        format!(
            "{judge}<details class=\"answer\"{open}>\n<summary>Answer</summary>\n{right}{reveal}{feedback}</details>\n"
        )
    }
}

fn hints(question: &Question) -> String {
    let hint = |hint: &String| {
        format!("<details class=\"hint\">\n<summary>Hint</summary>\n{}</details>\n", prose_as_html(hint))
    };
    question.hints.iter().map(hint).collect()
}

/// A command, broken between its words rather than after the hyphens of `--only`.
fn words(typed: &str) -> String {
    let word = |word: &str| format!("<span>{}</span>", escaped(word));
    typed.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn preformatted(text: &str) -> String {
    format!("<pre>{}</pre>\n", escaped(text.trim_end()))
}

// Prose to HTML. A lesson may come from anyone, so that nothing in it becomes a tag, a script or a request to a server.

/// The Markdown as HTML: HTML in it is shown as text, pictures are their descriptions, links lead to pages or into this one.
pub(super) fn prose_as_html(markdown: &str) -> String {
    let mut links = Vec::new();
    let events = Parser::new_ext(markdown, OPTIONS).flat_map(|event| safe(event, &mut links));
    let mut out = String::with_capacity(markdown.len() * 2);
    pulldown_cmark::html::push_html(&mut out, events);
    // The policy of a site allows no style in an element. A tag in a text is written as `&lt;`.
    for tag in ["<th", "<td"] {
        for (side, class) in
            [("right", " class=\"at-right\""), ("center", " class=\"at-center\""), ("left", "")]
        {
            out = out.replace(&format!("{tag} style=\"text-align: {side}\">"), &format!("{tag}{class}>"));
        }
    }
    out
}

/// The events that replace one; `links` are the open links, and whether each was kept.
fn safe<'a>(event: Event<'a>, links: &mut Vec<bool>) -> Vec<Event<'a>> {
    match event {
        // A reference such as `&#8238;` has become a character only now.
        Event::Text(text) => vec![Event::Text(visible_lines(&text).into_owned().into())],
        Event::Html(text) | Event::InlineHtml(text) if text.trim_start().starts_with("<!--") => Vec::new(),
        Event::Html(text) | Event::InlineHtml(text) => vec![Event::Text(text)],
        Event::Start(Tag::HtmlBlock) => vec![Event::Start(Tag::Paragraph)],
        Event::End(TagEnd::HtmlBlock) => vec![Event::End(TagEnd::Paragraph)],
        Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => Vec::new(),
        Event::Start(Tag::Link { ref dest_url, .. }) => {
            let harmless = is_harmless(dest_url);
            links.push(harmless);
            if harmless { vec![event] } else { Vec::new() }
        }
        Event::End(TagEnd::Link) => match links.pop() {
            Some(true) => vec![event],
            _ => Vec::new(),
        },
        Event::Start(Tag::Table(_)) => {
            vec![Event::Html("<div class=\"scroll prose\">\n".into()), event]
        }
        Event::End(TagEnd::Table) => vec![event, Event::Html("</div>\n".into())],
        other => vec![other],
    }
}

// What computes in a page: stories, what-ifs, judges.

/// What a page says of a comparison that it cannot run.
const IS_PRINTED: &str = "This comparison was computed beforehand. It changes more than the settings of the \
                          computation, so the page cannot run it.";

impl HtmlWriter<'_> {
    /// A command as stories that compute, with what changes from an earlier one; `None` where it cannot be one.
    fn stories(&self, command: &Command, code: u8) -> Option<String> {
        let told = self.live.as_ref().filter(|_| command.value("--versus").is_none())?;
        let html = self.computing(&command.args, code)?;
        let [opening] = &Opening::all_in(&html)[..] else { return Some(html) };
        let change = change_from_earlier(&told.borrow(), opening);
        told.borrow_mut().push((command.typed.clone(), opening.clone()));
        Some(format!("{}{html}", change.unwrap_or_default()))
    }

    /// What a page does with a comparison, before the printed one: it runs it, or says that it cannot.
    fn versus(&self, command: &Command, code: u8) -> String {
        let options = command.value("--versus").filter(|_| self.live.is_some());
        let Some(options) = options else { return String::new() };
        self.what_if(command, options, code)
            .unwrap_or_else(|| format!("<p class=\"note when-live\">{IS_PRINTED}</p>\n"))
    }

    /// The judge of a question as data, in a page that computes and folds answers; nothing for an open one.
    fn judge(&self, question: &Question) -> String {
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
    fn markdown_is_set_and_tables_scroll_by_themselves() {
        assert_eq!(
            prose_as_html("A *b* `c` **d**."),
            "<p>A <em>b</em> <code>c</code> <strong>d</strong>.</p>\n"
        );
        let table = prose_as_html("| a |\n| --- |\n| 1 |\n");
        assert!(
            table.starts_with("<div class=\"scroll prose\">\n<table>") && table.ends_with("</div>\n"),
            "{table}"
        );
        assert_eq!(
            prose_as_html("[x](https://a.b) [y](#z)"),
            "<p><a href=\"https://a.b\">x</a> <a href=\"#z\">y</a></p>\n"
        );
    }

    #[test]
    fn nothing_in_a_text_becomes_a_tag_a_script_or_a_request() {
        for text in [
            "a <script>alert(1)</script> b",
            "<script>\nalert(1)\n</script>\n",
            "<img src=x onerror=alert(1)>",
            "![a](https://evil.example/x.png)",
            "[a](javascript:alert(1)) [b](JAVASCRIPT:x) [c](data:text/html,x) [d](vbscript:x)",
            "<a href='javascript:alert(1)'>a</a>",
            "<!-- <script> -->",
            "[a][r]\n\n[r]: javascript:alert(1)",
        ] {
            let out = prose_as_html(text);
            for tag in ["<script", "<img", "<a ", "<iframe"] {
                assert!(!out.contains(tag), "{text}\n{out}");
            }
        }
        assert!(prose_as_html("![a bat](x.png)").contains("a bat"));
    }

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
