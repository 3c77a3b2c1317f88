//! Prose to HTML. A lesson may come from anyone, so that nothing in it becomes a tag, a script or a request to a server.

use pulldown_cmark::{Event, Parser, Tag, TagEnd, html};

use super::is_harmless;
use crate::foreign::visible_lines;
use crate::lesson::pieces::OPTIONS;

/// The Markdown as HTML: HTML in it is shown as text, pictures are their descriptions, links lead to pages or into this one.
pub(super) fn html(markdown: &str) -> String {
    let mut links = Vec::new();
    let events = Parser::new_ext(markdown, OPTIONS).flat_map(|event| safe(event, &mut links));
    let mut out = String::with_capacity(markdown.len() * 2);
    html::push_html(&mut out, events);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_set_and_tables_scroll_by_themselves() {
        assert_eq!(html("A *b* `c` **d**."), "<p>A <em>b</em> <code>c</code> <strong>d</strong>.</p>\n");
        let table = html("| a |\n| --- |\n| 1 |\n");
        assert!(
            table.starts_with("<div class=\"scroll prose\">\n<table>") && table.ends_with("</div>\n"),
            "{table}"
        );
        assert_eq!(
            html("[x](https://a.b) [y](#z)"),
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
            let out = html(text);
            for tag in ["<script", "<img", "<a ", "<iframe"] {
                assert!(!out.contains(tag), "{text}\n{out}");
            }
        }
        assert!(html("![a bat](x.png)").contains("a bat"));
    }
}
