//! Opens the page of a command in Chromium, points at a cell, and writes the picture in Base64:
//! `cargo run --example page_to_png -- 'td[data-from]' attend --words "bat cave racket" --only A,V,O | base64 -d > page.png`.
//! With `--open BUTTON` first, it presses a button before, and takes the picture of the window instead of the whole page.

#[path = "../tests/browser/mod.rs"]
mod browser;

use std::io::Write as _;

use attn::cli::{Env, Streams, run};

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1).peekable();
    let button = args.next_if_eq("--open").and_then(|_| args.next());
    let cell = args.next().unwrap_or_default();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut nothing: &[u8] = &[];
    let page = args.chain(["--format".to_string(), "html".to_string()]);
    run(page, &Env::default(), &mut Streams { input: &mut nothing, out: &mut out, err: &mut err });
    std::io::stderr().lock().write_all(&err)?;
    let Some(mut browser) = browser::browser() else { return Ok(()) };
    let html = String::from_utf8_lossy(&out);
    let picture = match button {
        Some(button) => {
            let mut page = browser.open(&html, browser::window(1400, 820));
            page.click(&button);
            page.point_at(&cell);
            page.view()
        }
        None => {
            let mut page = browser.open(&html, browser::window(900, 420));
            page.hover(&cell);
            page.picture()
        }
    };
    writeln!(std::io::stdout().lock(), "{picture}")
}
