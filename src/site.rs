//! The program as a static site: a front page, lessons and demos that compute, the glossary and the mistakes.
//!
//! Every page is plain HTML with one style, one script and, where something computes, one script that holds the program: it works
//! from a folder, from a file share and from any host, asks no network for anything else, and can be read before the program is
//! there.

mod mistakes;

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use crate::demo::{Demo, GlossaryTerm, Topic, demos_by_topic, glossary};
use crate::error::{Error, Result};
use crate::lesson::export::{Answers, Handout, html_main, length, page_assets};
use crate::lesson::{Lesson, ROUTES, Run, Runner, built_in};
use crate::render::html_page::{
    DataPlace, escaped, main_of, site_page, site_program, site_script, site_style, with_data_placed,
};
use crate::render::{Screen, base64, page_program};

pub use mistakes::{EXERCISES, Exercise};

const STYLE: &str = include_str!("site/site.css");

/// Packed data of a story that are longer than this stand in a file of their own, which is read when the story comes into sight.
const MOST_INSIDE: usize = 24 << 10;

/// A lesson of a site, and what runs its commands.
pub struct SiteLesson<'a> {
    /// The lesson.
    pub lesson: Lesson,
    /// What runs its commands.
    pub run: Box<Run<'a>>,
}

/// A file of a site: its name below the folder of the site, and its contents.
pub type SiteFile = (String, Vec<u8>);

/// The files of the site. `own` are the lessons of the program, `added` those of a class; `run` runs the commands of demos, and
/// mistakes are shown in these exercises.
///
/// # Errors
/// If a demo cannot be shown as a page.
pub fn files(
    own: &[SiteLesson<'_>],
    added: &[SiteLesson<'_>],
    run: &Run<'_>,
    exercises: &[Exercise],
) -> Result<Vec<SiteFile>> {
    let mut site = Site::default();
    let [style, script] = page_assets();
    site.text("attn.css", site_style(&format!("{style}{STYLE}")));
    site.text("attn.js", site_script(&script));
    site.text("program.js", site_program(page_program()));
    site.text("index.html", site_page("Attention, every number", "", &front(own, added)));
    for (folder, lessons) in [("lessons", own), ("class", added)] {
        for (at, lesson) in lessons.iter().enumerate() {
            site.lesson(folder, lesson, lessons.get(at + 1));
        }
    }
    let demos = demos_by_topic();
    for (at, demo) in demos.iter().enumerate() {
        site.demo(demo, demos.get(at + 1).copied(), run)?;
    }
    site.text("glossary.html", page("Glossary", "", &glossary_page()));
    site.text("mistakes.html", page("Mistakes", "", &mistakes::page(exercises)));
    Ok(site.files)
}

#[derive(Default)]
struct Site {
    files: Vec<SiteFile>,
}

impl Site {
    fn text(&mut self, name: impl Into<String>, text: String) {
        self.files.push((name.into(), text.into_bytes()));
    }

    fn lesson(
        &mut self,
        folder: &str,
        SiteLesson { lesson, run }: &SiteLesson<'_>,
        next: Option<&SiteLesson<'_>>,
    ) {
        let runner = Runner::new(run);
        let handout = Handout { lesson, runner: &runner, answers: Answers::Folded, notes: false, live: true };
        let next = next.map(|next| {
            format!("<a href=\"{}.html\">{}</a>", in_address(&next.lesson.name), escaped(&next.lesson.title))
        });
        let main = format!("{}{}", html_main(&handout), next_page(next));
        self.page_below(folder, &lesson.name, &lesson.title, main);
    }

    fn demo(&mut self, demo: &Demo, next: Option<&Demo>, run: &Run<'_>) -> Result<()> {
        let shown = |more: &[&str]| {
            let args = [&["demo", demo.name, "--format=html"], more].concat();
            let args: Vec<String> = args.into_iter().map(str::to_string).collect();
            let ran = run(&args, Screen::plain(80));
            if ran.code == 0 { main_of(&ran.out).map(str::to_string) } else { None }
        };
        let main = shown(&["--live"])
            .or_else(|| shown(&[]))
            .ok_or_else(|| Error::new(format!("the demo {} cannot be shown as a page", demo.name)))?;
        let next =
            next.map(|next| format!("<a href=\"{0}.html\">{0}</a>: {1}", next.name, escaped(next.summary)));
        let typed = format!("<p class=\"dim\">In a terminal: <code>attn demo {}</code></p>\n", demo.name);
        self.page_below("demos", demo.name, demo.title, format!("{main}{typed}{}", next_page(next)));
        Ok(())
    }

    /// A page one folder down, whose large data stand in files of their own.
    fn page_below(&mut self, folder: &str, name: &str, title: &str, main: String) {
        let mut large = Vec::new();
        let main = with_data_placed(&main, |json| {
            let packed = packed(json);
            if packed.len() <= MOST_INSIDE {
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

/// The data of a story, compressed as zlib does, in base64.
fn packed(json: &str) -> String {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    let bytes = packed.write_all(json.as_bytes()).and_then(|()| packed.finish());
    let bytes = bytes.expect("writing to memory does not fail");
    base64(&bytes)
}

/// A page with the way to the other pages above it.
fn page(title: &str, root: &str, main: &str) -> String {
    let link = |to: &str, name: &str| format!("<a href=\"{root}{to}\">{name}</a>");
    let ways = [
        link("index.html", "attn"),
        link("index.html#lessons", "Lessons"),
        link("index.html#demos", "Demos"),
        link("glossary.html", "Glossary"),
        link("mistakes.html", "Mistakes"),
    ];
    let ways = format!("<nav class=\"site\" aria-label=\"Site\">{}</nav>\n", ways.join("\n"));
    site_page(title, root, &format!("{ways}{main}"))
}

fn next_page(link: Option<String>) -> String {
    link.map(|link| format!("<p class=\"next\">Next: {link}</p>\n")).unwrap_or_default()
}

// The front page.

const OPENING: &str = "\
<header class=\"front\">
<h1>Attention, every number</h1>
<p>What a transformer computes when it attends, on matrices small enough to check by hand. Point at a number to see what made
it; change one, and everything follows.</p>
<p>Begin with <a href=\"lessons/0-tour.html\">the tour</a>: ten minutes, from two words to many heads.</p>
</header>
";

fn front(own: &[SiteLesson<'_>], added: &[SiteLesson<'_>]) -> String {
    let mut out = OPENING.to_string();
    if !added.is_empty() {
        out.push_str(&format!(
            "<section>\n<h2>Lessons of this class</h2>\n{}</section>\n",
            lessons("class", 1, added)
        ));
    }
    out.push_str(&format!(
        "<section>\n<h2 id=\"lessons\">Lessons</h2>\n<p class=\"dim\">{}.</p>\n{}</section>\n",
        escaped(ROUTES),
        lessons("lessons", 0, own)
    ));
    out.push_str("<section>\n<h2 id=\"demos\">Demos</h2>\n<div class=\"topics\">\n");
    for topic in Topic::ALL {
        let entry = |demo: &&Demo| {
            format!("<li><a href=\"demos/{0}.html\">{0}</a> {1}</li>\n", demo.name, escaped(demo.summary))
        };
        let of_topic = demos_by_topic().into_iter().filter(|demo| demo.place.topic == topic);
        let entries: String = of_topic.map(|demo| entry(&demo)).collect();
        out.push_str(&format!(
            "<div>\n<h3>{}</h3>\n<ul class=\"entries\">\n{entries}</ul>\n</div>\n",
            escaped(topic.title())
        ));
    }
    out.push_str(
        "</div>\n</section>\n<section>\n<h2>To look up</h2>\n<ul class=\"entries\">\n\
         <li><a href=\"glossary.html\">Glossary</a> the terms of the field, with formulas</li>\n\
         <li><a href=\"mistakes.html\">Mistakes</a> what goes wrong when attention is computed, and how it looks</li>\n\
         </ul>\n</section>\n",
    );
    out
}

/// The lessons of a folder of the site; `first` is the number of the first one.
fn lessons(folder: &str, first: usize, lessons: &[SiteLesson<'_>]) -> String {
    let entry = |SiteLesson { lesson, .. }: &SiteLesson<'_>| {
        format!(
            "<li><a href=\"{folder}/{}.html\">{}</a> <span class=\"dim\">{}</span></li>\n",
            in_address(&lesson.name),
            escaped(&lesson.title),
            length(lesson)
        )
    };
    let entries: String = lessons.iter().map(entry).collect();
    format!("<ol class=\"entries\" start=\"{first}\">\n{entries}</ol>\n")
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
