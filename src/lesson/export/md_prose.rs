//! Prose to Markdown for other pages. A lesson may come from anyone, so that nothing in it becomes a tag, a script or a request
//! to a server there: HTML, pictures and links that lead elsewhere than to pages are shown as they are written.

use std::borrow::Cow;

use pulldown_cmark::{Event, Parser, Tag};

use super::is_harmless;
use crate::foreign::{hidden, visible_lines};
use crate::lesson::pieces::OPTIONS;

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
