//! The program as a static site: a front page, lessons and demos that compute, the glossary and the mistakes.
//!
//! Every page is plain HTML with one style, one script and, where something computes, one script that holds the program: it works
//! from a folder, from a file share and from any host, asks no network for anything else, and can be read before the program is
//! there.

mod mistakes;

use attn_story::live::{Exercise, Opening};
use flate2::Compression;
use serde::Deserialize;

use crate::demo::{Demo, GlossaryTerm, Topic, demos_by_topic, glossary};
use crate::error::{Error, Result};
use crate::foreign::visible;
use crate::lesson::export::{Answers, Handout, LIVE_SCRIPT, LIVE_STYLE, html_main, length};
use crate::lesson::hand_in::packed;
use crate::lesson::{Lesson, ROUTES, Run, Runner, as_live_page, built_in};
use crate::render::html_page::{
    DataPlace, escaped, main_of, site_page, site_program, site_script, site_style, with_data_placed,
};
use crate::render::{Screen, page_program};
use crate::text::quoted;

pub use mistakes::{Example, MistakenResult, mistaken_results};

const STYLE: &str = include_str!("site/site.css");
/// The way to the other pages, above each.
const NAV: &str = include_str!("site/nav.html");
const FRONT: &str = include_str!("site/front.html");

/// The packed data of a page's first stories stand in the page up to this length. Of further ones those that are not
/// [`SMALL`] stand in a file of their own, which is read when the story comes into sight.
const MOST_INSIDE: usize = 24 << 10;

/// Data that are not worth a file.
const SMALL: usize = 3 << 10;

/// An exercise of the site.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SiteExercise {
    /// Its title on the page where numbers are checked; one of the page of mistakes has none.
    pub title: Option<&'static str>,
    /// What is typed behind `attn attend`.
    pub typed: &'static str,
    /// The step that is asked for, where numbers are checked.
    pub step: Option<&'static str>,
}

/// All exercises: `data/site_exercises.toml`.
pub fn exercises() -> Vec<SiteExercise> {
    attn_core::data_file::entries(include_str!("../data/site_exercises.toml"))
}

/// A lesson of a site, and what runs its commands.
pub struct SiteLesson<'a> {
    /// The lesson.
    pub lesson: Lesson,
    /// What runs its commands.
    pub run: Box<Run<'a>>,
}

/// A demo of a class, and what runs its commands.
pub struct SiteDemo<'a> {
    /// The path of its file.
    pub file: String,
    /// Its name in the site.
    pub name: String,
    /// Its headline.
    pub title: String,
    /// What runs its commands.
    pub run: Box<Run<'a>>,
}

/// What a class adds to a site.
#[derive(Default)]
pub struct Added<'a> {
    /// Its lessons.
    pub lessons: Vec<SiteLesson<'a>>,
    /// Its demos.
    pub demos: Vec<SiteDemo<'a>>,
}

/// A file of a site: its name below the folder of the site, and its contents.
pub type SiteFile = (String, Vec<u8>);

/// The files of the site. `own` are the lessons of the program, `added` is what a class adds; `run` runs the commands of demos, and
/// mistakes are shown in these exercises. `made` is told how many files there are, after each.
///
/// # Errors
/// If a demo cannot be shown as a page.
pub fn files(
    own: &[SiteLesson<'_>],
    added: &Added<'_>,
    run: &Run<'_>,
    exercises: &[Example],
    made: &mut dyn FnMut(usize),
) -> Result<Vec<SiteFile>> {
    let mut site = Site { files: Vec::new(), made };
    site.text("attn.css", site_style(&format!("{LIVE_STYLE}{STYLE}")));
    site.text("attn.js", site_script(LIVE_SCRIPT));
    site.text("program.js", site_program(page_program()));
    site.text("index.html", site_page("Attention, every number", "", &front(own, added)));
    for (folder, lessons) in [("lessons", own), ("class", &added.lessons)] {
        for (at, lesson) in lessons.iter().enumerate() {
            site.lesson(folder, lesson, lessons.get(at + 1));
        }
    }
    for demo in &added.demos {
        site.demo(["class", &demo.name, &demo.title, &demo.file], None, &demo.run)?;
    }
    let demos = demos_by_topic();
    for (at, demo) in demos.iter().enumerate() {
        site.demo(["demos", demo.name, demo.title, demo.name], demos.get(at + 1).copied(), run)?;
    }
    site.text("glossary.html", page("Glossary", "", &glossary_page()));
    site.text("check.html", page("Check my numbers", "", &check_page(run)?));
    site.text("mistakes.html", page("Mistakes", "", &mistakes::page(exercises)));
    Ok(site.files)
}

struct Site<'a> {
    files: Vec<SiteFile>,
    made: &'a mut dyn FnMut(usize),
}

impl Site<'_> {
    fn text(&mut self, name: impl Into<String>, text: String) {
        self.files.push((name.into(), text.into_bytes()));
        (self.made)(self.files.len());
    }

    fn lesson(
        &mut self,
        folder: &str,
        SiteLesson { lesson, run }: &SiteLesson<'_>,
        next: Option<&SiteLesson<'_>>,
    ) {
        let runner = Runner::new(run);
        let handout = Handout { lesson, runner: &runner, answers: Answers::Folded, notes: false, live: true };
        let next = next.map(|next| link_to(&next.lesson, ""));
        let main = html_main(&handout) + &next_page(next);
        self.page_below(folder, &lesson.name, &lesson.title, main);
    }

    /// A page of a demo: its folder in the site, its name there, its title, and what is typed to see it.
    fn demo(
        &mut self,
        [folder, name, title, typed]: [&str; 4],
        next: Option<&Demo>,
        run: &Run<'_>,
    ) -> Result<()> {
        let shown = |more: &[&str]| {
            let args = [&["demo", typed, "--format=html"], more].concat();
            let args: Vec<String> = args.into_iter().map(str::to_string).collect();
            let ran = run(&args, Screen::plain(80));
            if ran.code == 0 { main_of(&ran.out).map(str::to_string) } else { None }
        };
        let main = shown(&["--live"])
            .or_else(|| shown(&[]))
            .ok_or_else(|| Error::new(format!("the demo {} cannot be shown as a page", visible(typed))))?;
        let next =
            next.map(|next| format!("<a href=\"{0}.html\">{0}</a>: {1}", next.name, escaped(next.summary)));
        let shown = escaped(&quoted(typed));
        let typed = format!("<p class=\"dim\">In a terminal: <code>attn demo {shown}</code></p>\n");
        self.page_below(folder, name, title, format!("{main}{typed}{}", next_page(next)));
        Ok(())
    }

    /// A page one folder down, whose large data stand in files of their own.
    fn page_below(&mut self, folder: &str, name: &str, title: &str, main: String) {
        let mut large = Vec::new();
        let mut inside = 0;
        let main = with_data_placed(&without_sums(&main), |json| {
            let packed = packed(json.as_bytes(), Compression::default());
            if packed.len() <= SMALL || inside + packed.len() <= MOST_INSIDE {
                inside += packed.len();
                return DataPlace::Packed(packed);
            }
            let at = |name: &str| format!("data/{folder}-{name}-{}.js", large.len() + 1);
            let (file, address) = (at(name), at(&in_address(name)));
            large.push((file, format!("var attnData = \"{packed}\";\n").into_bytes()));
            DataPlace::Script(format!("../{address}"))
        });
        self.text(format!("{folder}/{name}.html"), page(title, "../", &main));
        self.files.extend(large);
    }
}

/// The HTML without the sums behind the cells of stories that compute: they are half of a page, and the program writes them again.
fn without_sums(html: &str) -> String {
    const SUM: &str = " data-sum=\"";
    let without = |article: &str| -> String {
        let mut parts = article.split(SUM);
        let first = parts.next().unwrap_or_default().to_string();
        parts.fold(first, |text, part| text + part.split_once('"').map_or("", |(_, rest)| rest))
    };
    let shown = |article: &str| match article.contains("class=\"opening\"") {
        true => without(article),
        false => article.to_string(),
    };
    html.split_inclusive("</article>").map(shown).collect()
}

/// A page with the way to the other pages above it.
fn page(title: &str, root: &str, main: &str) -> String {
    site_page(title, root, &format!("{}{main}", NAV.replace("{root}", root)))
}

fn next_page(link: Option<String>) -> String {
    link.map(|link| format!("<p class=\"next\">Next: {link}</p>\n")).unwrap_or_default()
}

// The front page.

fn front(own: &[SiteLesson<'_>], added: &Added<'_>) -> String {
    let mut class = String::new();
    if !added.lessons.is_empty() {
        let lessons = lessons("class", 1, &added.lessons);
        class.push_str(&format!("<section>\n<h2>Lessons of this class</h2>\n{lessons}</section>\n"));
    }
    if !added.demos.is_empty() {
        let entry = |demo: &SiteDemo<'_>| {
            format!("<a href=\"class/{}.html\">{}</a>", in_address(&demo.name), escaped(&demo.title))
        };
        let demos = entries(added.demos.iter().map(entry));
        class.push_str(&format!("<section>\n<h2>Demos of this class</h2>\n{demos}</section>\n"));
    }
    let topic = |topic: &Topic| {
        let of_topic = demos_by_topic().into_iter().filter(|demo| demo.place.topic == *topic);
        let entry =
            |demo: &Demo| format!("<a href=\"demos/{0}.html\">{0}</a> {1}", demo.name, escaped(demo.summary));
        format!("<div>\n<h3>{}</h3>\n{}</div>\n", escaped(topic.title()), entries(of_topic.map(entry)))
    };
    let topics: String = Topic::ALL.iter().map(topic).collect();
    // What a class has written comes last: it may contain braces.
    FRONT
        .replace("{routes}", &escaped(ROUTES))
        .replace("{lessons}", &lessons("lessons", 0, own))
        .replace("{topics}", &topics)
        .replace("{class}", &class)
}

/// A list of the front page.
fn entries(all: impl IntoIterator<Item = String>) -> String {
    let entries: String = all.into_iter().map(|entry| format!("<li>{entry}</li>\n")).collect();
    format!("<ul class=\"entries\">\n{entries}</ul>\n")
}

/// The lessons of a folder of the site; `first` is the number of the first one.
fn lessons(folder: &str, first: usize, lessons: &[SiteLesson<'_>]) -> String {
    let entry = |SiteLesson { lesson, .. }: &SiteLesson<'_>| {
        // Lessons of the same title are told apart by their files.
        let is_alone = lessons.iter().filter(|other| other.lesson.title == lesson.title).count() == 1;
        let file = if is_alone { String::new() } else { format!("{} · ", escaped(&lesson.name)) };
        let (link, length) = (link_to(lesson, &format!("{folder}/")), length(lesson));
        format!("<li>{link} <span class=\"dim\">{file}{length}</span></li>\n")
    };
    let entries: String = lessons.iter().map(entry).collect();
    format!("<ol class=\"entries\" start=\"{first}\">\n{entries}</ol>\n")
}

/// A link to the page of a lesson in a folder.
fn link_to(lesson: &Lesson, folder: &str) -> String {
    format!("<a href=\"{folder}{}.html\">{}</a>", in_address(&lesson.name), escaped(&lesson.title))
}

/// A part of the name of a file, as it stands in an address in a page.
fn in_address(name: &str) -> String {
    let spelled = |c: char| match c {
        '%' => "%25".into(),
        '#' => "%23".into(),
        '?' => "%3F".into(),
        '\\' => "%5C".into(),
        other => other.to_string(),
    };
    escaped(&name.chars().map(spelled).collect::<String>())
}

// The page of exercises.

fn check_page(run: &Run<'_>) -> Result<String> {
    let mut out = String::from(
        "<h1>Check my numbers</h1>\n<p>Compute an exercise with your own code, and paste what it printed: the array, a list of lists, a table, \
         or JSON. Any step can be checked. Nothing leaves this page.</p>\n",
    );
    for SiteExercise { title, typed, step } in exercises() {
        let (Some(title), Some(step)) = (title, step) else { continue };
        let words = shlex::split(&format!("attend {typed}")).unwrap_or_default();
        let ran = run(&as_live_page(&words), Screen::plain(80));
        let shown = Opening::all_in(&ran.out).into_iter().next();
        let exercise = shown.ok_or_else(|| Error::new(format!("the exercise `{typed}` cannot be shown")))?;
        out.push_str(&format!(
            "<section class=\"check\">\n<h2>{}</h2>\n<p class=\"dim\">In a terminal: <code>attn diagnose {2} --yours {step}=FILE</code></p>\n{1}</section>\n",
            escaped(title),
            Exercise::new(exercise, step)?.html()?,
            escaped(typed),
        ));
    }
    Ok(out)
}

// The glossary.

fn glossary_page() -> String {
    let entries: String = glossary().iter().map(term).collect();
    format!("<h1>Glossary</h1>\n<dl class=\"terms\">\n{entries}</dl>\n")
}

fn term(term: &GlossaryTerm) -> String {
    let id = term.name.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "-");
    let also = match &term.also[..] {
        [] => String::new(),
        also => format!(" <small>also {}</small>", escaped(&also.join(", "))),
    };
    let formula = term.formula.map(|formula| format!("<p><code>{}</code></p>\n", escaped(formula)));
    let see: Vec<String> = term.see.iter().map(|command| command_link(command)).collect();
    format!(
        "<dt id=\"{0}\"><a href=\"#{0}\">{1}</a>{also}</dt>\n<dd>\n<p>{2}</p>\n{3}<p class=\"dim\">See {4}</p>\n</dd>\n",
        escaped(&id),
        escaped(term.name),
        escaped(term.means),
        formula.unwrap_or_default(),
        see.join(", ")
    )
}

/// A command, which leads to its page where the site has one.
fn command_link(command: &str) -> String {
    let code = format!("<code>{}</code>", escaped(command));
    let to = match command.split(' ').collect::<Vec<_>>()[..] {
        ["attn", "demo", name] => Some(format!("demos/{name}.html")),
        ["attn", "lesson", "play", name] => {
            built_in(name).map(|(file, _)| format!("lessons/{}.html", file.trim_end_matches(".md")))
        }
        _ => None,
    };
    to.map_or(code.clone(), |to| format!("<a href=\"{to}\">{code}</a>"))
}
