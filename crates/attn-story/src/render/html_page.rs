//! The page around HTML: one file that needs nothing else and asks no network for anything.

use crate::foreign::visible_lines;
use crate::tensor::{Dtype, Tensor};

const STYLE: &str = include_str!("html.css");
const SCRIPT: &str = include_str!("html.js");

/// The head of the page: its width, and a policy that lets it load nothing. Style and script are inline, and the empty icon
/// keeps browsers from asking for one.
const HEAD: &str = include_str!("html_head.html");

/// The same for a page that computes: its policy allows WebAssembly, too.
const HEAD_WITH_PROGRAM: &str = include_str!("html_head_live.html");

const OPENS: &str = "<main>\n";
const CLOSES: &str = "</main>\n";

/// The beginning and the end of the words of a text that has pictures, and of the pictures. They need a script and data of the page.
pub const WORDS: [&str; 2] = ["<div class=\"sentence\">", "</div>\n"];
/// The beginning and the end of the pictures of a text.
pub const PICTURES: [&str; 2] = ["<section class=\"of-heads\">\n", "</section>\n"];

/// The hint under the headline of a page whose numbers light.
pub const HOW: &str = "<p class=\"how\">Point at a number of a result, or tap it, to see what made it.</p>\n";

/// The attribute of each cell that lights.
const LIT: &str = " data-from=\"";

/// [`HOW`], where something in the HTML lights.
pub fn how(inside: &str) -> &'static str {
    if inside.contains(LIT) { HOW } else { "" }
}

/// A whole page.
#[derive(Clone, Copy, Debug)]
pub struct HtmlPage<'a> {
    /// Its title, as plain text.
    pub title: &'a str,
    /// The style that is added to that of tables, formulas and drawings.
    pub style: &'a str,
    /// The script that is added to the one that lights the sources of a number.
    pub script: &'a str,
    /// The content, as HTML.
    pub main: &'a str,
}

impl HtmlPage<'_> {
    /// The page up to the end of its content.
    pub fn opening(&self) -> String {
        self.opening_with(HEAD)
    }

    fn opening_with(&self, head: &str) -> String {
        let HtmlPage { title, style, main, .. } = self;
        opening(title, head, &format!("<style>\n{STYLE}{style}</style>\n"), main)
    }

    /// The script, and the end of the page.
    pub fn closing(&self) -> String {
        format!("<script>\n{SCRIPT}{}</script>\n</body>\n</html>\n", self.script)
    }
}

/// A page up to the end of its content.
fn opening(title: &str, head: &str, style: &str, main: &str) -> String {
    let (title, version) = (escaped(title), env!("CARGO_PKG_VERSION"));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n{head}\
         <meta name=\"generator\" content=\"attn {version}\">\n\
         {style}</head>\n<body>\n{OPENS}{main}{CLOSES}"
    )
}

impl std::fmt::Display for HtmlPage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.opening(), self.closing())
    }
}

/// The content between `<main>` and `</main>` of an [`HtmlPage`], to be put into another page, where headlines are three levels
/// further down, without what needs more than the page's own script; `None` for a text that is no such page.
pub fn fragment(page: &str) -> Option<String> {
    // The page around it says this once for all.
    let mut inside = main_of(page)?.replacen(HOW, "", 1);
    for [opens, closes] in [WORDS, PICTURES] {
        if let Some((before, rest)) = inside.split_once(opens)
            && let Some((_, after)) = rest.split_once(closes)
        {
            inside = format!("{before}{after}");
        }
    }
    for level in (1..=3).rev() {
        inside = inside
            .replace(&format!("<h{level}>"), &format!("<h{}>", level + 3))
            .replace(&format!("</h{level}>"), &format!("</h{}>", level + 3));
    }
    Some(inside)
}

/// The content between `<main>` and `</main>` of an [`HtmlPage`]; `None` for a text that is no such page.
pub fn main_of(page: &str) -> Option<&str> {
    // A text in the page is escaped, so that tags are the page's own.
    let start = page.find(OPENS)? + OPENS.len();
    page.get(start..page.rfind(CLOSES)?)
}

/// The text escaped for HTML elements and attributes; invisible characters become visible escapes.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in visible_lines(text).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

// Numbers as base64: their bytes, the lowest first, in text that a page can hold.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes in base64, padded.
pub fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(encoded_length(bytes.len()));
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at <= group.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// The length of the text for this number of bytes.
pub fn encoded_length(bytes: usize) -> usize {
    bytes.div_ceil(3) * 4
}

/// The numbers of a tensor row by row: in f32 where it has f32, else in f64, which no number of a smaller type changes.
pub fn numbers(tensor: &Tensor) -> String {
    let shape = tensor.shape();
    let all = || (0..shape.rows).flat_map(|i| (0..shape.cols).map(move |j| tensor.at(i, j)));
    let bytes: Vec<u8> = if is_single(tensor) {
        all().flat_map(|x| (x as f32).to_le_bytes()).collect()
    } else {
        all().flat_map(f64::to_le_bytes).collect()
    };
    base64(&bytes)
}

/// Returns true if the numbers of a tensor are written in f32.
pub fn is_single(tensor: &Tensor) -> bool {
    tensor.dtype() == Dtype::F32
}

// Pages that compute for themselves: the data of a story, the script, and the program as WebAssembly.

const LIVE_STYLE: &str = include_str!("html_live.css");
const LIVE_SCRIPT: &str = include_str!("html_live.js");

/// The class of the data of a story.
pub const OPENING: &str = "opening";

/// Data for the script, which finds them by their class.
pub fn live_data(class: &str, json: &str) -> String {
    // In an element of a script `<` could end it.
    let json = json.replace('<', "\\u003c");
    format!("{}{json}{CLOSES_SCRIPT}\n", opens(class))
}

/// The data of a class in a page, or in a part of one.
pub fn data_in<'h>(html: &'h str, class: &str) -> Vec<&'h str> {
    html.split(&opens(class)).skip(1).filter_map(|rest| rest.split(CLOSES_SCRIPT).next()).collect()
}

/// The place of the data of a story in a site.
pub enum DataPlace {
    /// In the page: compressed as zlib does, in base64.
    Packed(String),
    /// In a script of their own, at this address, escaped.
    Script(String),
}

/// The HTML with the data of each story where `place` puts them.
pub fn with_data_placed(html: &str, mut place: impl FnMut(&str) -> DataPlace) -> String {
    let opens = opens(OPENING);
    let with = |attribute: String| opens.replace('>', &format!(" {attribute}>"));
    let mut parts = html.split(&opens);
    let mut out = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (json, rest) = part.split_once(CLOSES_SCRIPT).unwrap_or((part, ""));
        match place(json) {
            DataPlace::Packed(text) => out.extend([with("data-packed".into()), text]),
            DataPlace::Script(source) => out.push_str(&with(format!("data-src=\"{source}\""))),
        }
        out.extend([CLOSES_SCRIPT, rest]);
    }
    out
}

fn opens(class: &str) -> String {
    format!("<script type=\"application/json\" class=\"{class}\">")
}

const CLOSES_SCRIPT: &str = "</script>";

// A site: its pages share one style, one script and one program, and have none of their own.

/// The head of a page of a site: its policy allows the site's own style and scripts, WebAssembly in them, and nothing else.
const HEAD_OF_SITE: &str = include_str!("html_head_site.html");

/// The style of all pages of a site; `more` is added to it.
pub fn site_style(more: &str) -> String {
    format!("{STYLE}{LIVE_STYLE}{more}")
}

/// The script of all pages of a site; `more` stands before what makes stories compute.
pub fn site_script(more: &str) -> String {
    format!("{SCRIPT}{more}{LIVE_SCRIPT}")
}

/// The script that holds the program: WebAssembly, compressed as zlib does, in base64.
pub fn site_program(program: &str) -> String {
    format!("var attnProgram = \"{program}\";\n")
}

/// A page of a site; `root` leads from it to the folder of the site: empty, or `../`.
pub fn site_page(title: &str, root: &str, main: &str) -> String {
    let style = format!("<link rel=\"stylesheet\" href=\"{root}attn.css\">\n");
    // Stories, what-ifs and the judges of questions are data for it.
    let computes = main.contains("<script type=\"application/json\"");
    let program = if computes {
        format!("<script id=\"program\" src=\"{root}program.js\" defer fetchpriority=\"low\"></script>\n")
    } else {
        String::new()
    };
    format!(
        "{}<script src=\"{root}attn.js\" defer></script>\n{program}</body>\n</html>\n",
        opening(title, HEAD_OF_SITE, &style, main)
    )
}

/// A page with style, script and program: WebAssembly, compressed as zlib does, in base64.
pub fn live_page(page: HtmlPage<'_>, program: &str) -> String {
    let style = format!("{LIVE_STYLE}{}", page.style);
    let script = format!("{}{LIVE_SCRIPT}", page.script);
    let data = format!("<script type=\"text/plain\" id=\"program\">{program}</script>\n");
    let page = HtmlPage { style: &style, script: &script, ..page };
    // Its policy has to allow WebAssembly, and the data stand before the script.
    format!("{}{data}{}", page.opening_with(HEAD_WITH_PROGRAM), page.closing())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_is_the_inside_of_main_three_levels_down() {
        let main = "<h1>One</h1>\n<p>two</p>\n";
        let page = HtmlPage { title: "a & b", style: "", script: "", main }.to_string();
        assert!(page.contains("<title>a &amp; b</title>"), "{page}");
        assert_eq!(fragment(&page).as_deref(), Some("<h4>One</h4>\n<p>two</p>\n"));
        assert_eq!(fragment("A (2×2)\n"), None);
    }

    #[test]
    fn nothing_in_a_text_is_a_tag() {
        assert_eq!(
            escaped("<b a=\"x\" b='y'>&\x1b[1m"),
            "&lt;b a=&quot;x&quot; b=&#39;y&#39;&gt;&amp;\\u{1B}[1m"
        );
    }

    /// Relative luminance of `#rrggbb`, as WCAG 2 defines it.
    fn luminance(colour: &str) -> f64 {
        let linear = |at: usize| {
            let c = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { crate::elementary::pow((c + 0.055) / 1.055, 2.4) }
        };
        0.2126 * linear(1) + 0.7152 * linear(3) + 0.0722 * linear(5)
    }

    #[test]
    fn every_text_can_be_read_on_its_ground_in_light_and_in_dark() {
        let contrast = |a: &str, b: &str| {
            let (a, b) = (luminance(a), luminance(b));
            (a.max(b) + 0.05) / (a.min(b) + 0.05)
        };
        // `--name: ink on ground`, written in the style as `--name: #ink; --name-ground: #ground;`.
        let mut schemes = Vec::new();
        for block in STYLE.split("/* scheme ").skip(1) {
            let block = &block[..block.find('}').unwrap()];
            let value = |name: &str| {
                let at = block.find(&format!("--{name}: #")).unwrap_or_else(|| panic!("no --{name}"))
                    + name.len()
                    + 4;
                &block[at..at + 7]
            };
            let paper = value("paper");
            for name in ["ink", "dim", "link", "first", "second"] {
                let least = if matches!(name, "first" | "second") { 3.0 } else { 4.5 };
                assert!(contrast(value(name), paper) >= least, "{name} on {paper}");
            }
            for level in 1..=7 {
                for side in ["more", "less"] {
                    let (ink, ground) = (format!("{side}-{level}-ink"), format!("{side}-{level}"));
                    let found = contrast(value(&ink), value(&ground));
                    assert!(found >= 4.5, "{side} {level}: {found:.1}");
                }
            }
            schemes.push(paper);
        }
        assert_eq!(schemes.len(), 2, "light and dark");
    }

    #[test]
    fn the_examples_of_rfc_4648() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
            assert_eq!(encoded_length(bytes.len()), text.len());
        }
    }

    #[test]
    fn numbers_stand_row_by_row_in_their_type() {
        use crate::matrix::Matrix;
        // 1.0 is 0x3ff0_0000_0000_0000.
        let exact = Tensor::from(Matrix::of([[1.0]]));
        assert_eq!((numbers(&exact).as_str(), is_single(&exact)), ("AAAAAAAA8D8=", false));
        // 1.0 is 0x3f80_0000, 2.0 is 0x4000_0000.
        let single = Tensor::rounded::<f32>(&Matrix::of([[1.0, 2.0]])).unwrap();
        assert_eq!((numbers(&single).as_str(), is_single(&single)), ("AACAPwAAAEA=", true));
    }
}
