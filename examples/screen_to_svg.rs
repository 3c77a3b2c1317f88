//! Draws a terminal as an SVG: the output of a command, or a recording that moves.
//!
//! ```sh
//! cargo run --example screen_to_svg -- demo context > context.svg
//! attn lesson export 0-tour --to cast | cargo run --example screen_to_svg -- --cast 3 > step_3.svg
//! ```
//!
//! `docs/pictures.sh` draws the pictures of the README.

pub mod svg;

use std::io::{Read as _, Write as _};

use attn::cli::{Env, Streams, run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let picture = match &args[..] {
        [option, step] if option == "--cast" => {
            let mut recording = String::new();
            std::io::stdin().lock().read_to_string(&mut recording)?;
            svg::moving(&recording, step.parse()?)?
        }
        _ => picture_of(&args),
    };
    std::io::stdout().lock().write_all(picture.as_bytes())?;
    Ok(())
}

/// The SVG of the output of `attn ARGS` on a screen of 100 columns.
pub fn picture_of(args: &[String]) -> String {
    let env = Env { width: 100, colour: true, ..Env::default() };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let mut nothing: &[u8] = &[];
    run(args, &env, &mut Streams { input: &mut nothing, out: &mut out, err: &mut err });
    svg::still(&format!("$ attn {}\n\n{}", args.join(" "), String::from_utf8_lossy(&out)))
}
