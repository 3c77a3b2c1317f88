//! What holds for every screen: nothing is wider than it, ASCII is ASCII, colours change no text.

mod common;

use attn::demo::demos;
use attn::render::Charset;
use common::{attn, without_colours};
use unicode_width::UnicodeWidthStr;

/// Text commands that between them show everything there is to see.
fn commands() -> Vec<String> {
    let mut commands: Vec<String> = demos().map(|demo| format!("demo {}", demo.name)).collect();
    commands.extend(
        [
            "demo",
            "errata",
            "notation",
            "similarity bat cave racket",
            "softmax 1 -2 -inf 1000 --temperature 2",
            "attend --words 'bat cave racket' --causal",
            "attend --random 4,6 --heads 2 --residual",
            "attend --random 9,16 --window 2 --convention columns",
            "params gpt2",
            "params",
        ]
        .map(String::from),
    );
    commands
}

#[test]
fn no_line_is_wider_than_the_screen() {
    // Below this a single column with its labels may need more than the screen has; a number is never broken.
    const NARROWEST: usize = 48;
    for command in commands() {
        for width in (40..=200).step_by(5) {
            for charset in ["utf8", "ascii"] {
                let out = attn(&command)
                    .arg(format!("--width={width}"))
                    .arg(format!("--charset={charset}"))
                    .ok()
                    .out;
                for line in out.lines() {
                    let room = width.max(NARROWEST);
                    assert!(
                        line.width() <= room,
                        "attn {command} --width {width} --charset {charset}: {line}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_number_is_the_same_at_every_width() {
    let digits = |width: usize| {
        let out = attn("attend --random 4,12 --heads 1 --only Q").arg(format!("--width={width}")).ok().out;
        let mut numbers: Vec<String> = out
            .split_whitespace()
            .filter(|word| word.parse::<f64>().is_ok() && word.contains('.'))
            .map(String::from)
            .collect();
        numbers.sort_unstable();
        numbers
    };
    assert_eq!(digits(200).len(), 48);
    for width in 40..200 {
        assert_eq!(digits(width), digits(200), "at {width} columns");
    }
}

#[test]
fn colours_change_no_text() {
    for command in commands() {
        let plain = attn(&command).ok().out;
        let coloured = attn(&command).arg("--color=always").ok().out;
        assert_eq!(without_colours(&coloured), plain, "attn {command}");
    }
    assert!(attn("softmax 1 2").arg("--color=always").ok().out.contains("\x1b["));
}

#[test]
fn ascii_is_ascii() {
    for command in commands() {
        for format in ["table", "markdown", "latex"] {
            let out = attn(&command).arg("--charset=ascii").arg(format!("--format={format}")).ok().out;
            let strange: Vec<char> = out.chars().filter(|c| !c.is_ascii()).collect();
            assert!(strange.is_empty(), "attn {command} --format {format}: {strange:?}");
        }
    }
}

#[test]
fn latex_is_ascii_and_needs_no_packages_for_characters() {
    for command in commands() {
        let out = attn(&command).arg("--format=latex").ok().out;
        let strange: Vec<char> = out.chars().filter(|c| !c.is_ascii()).collect();
        assert!(strange.is_empty(), "attn {command}: {strange:?}");
    }
    let out = attn("attend --random 2,2 --tokens").arg("a\\input{x}^b~,c").arg("--format=latex").ok().out;
    assert!(!out.contains("\\input"), "{out}");
}

#[test]
fn every_character_has_a_spelling_in_ascii() {
    for command in commands() {
        let plain = attn(&command).ok().out;
        let ascii = attn(&command).arg("--charset=ascii").ok().out;
        assert_eq!(ascii.matches('?').count(), plain.matches('?').count(), "attn {command}");
    }
}

#[test]
fn boxes_close_in_ascii_too_although_some_characters_are_spelled_out() {
    // At 40 columns no two boxes stand side by side, so that every line of a box is as wide as its border.
    let commands = ["attend --words 'bat cave racket' --causal --only S_masked,A", "demo columns"];
    for command in commands {
        for heat in ["never", "auto", "always"] {
            let out =
                attn(command).arg("--charset=ascii").arg("--width=40").arg(format!("--heat={heat}")).ok().out;
            let lines = out
                .lines()
                .map(str::trim)
                .filter(|line| line.starts_with(['+', '|']) && line.ends_with(['+', '|']));
            let (mut width, mut borders, mut boxes) = (0, 0, 0);
            for line in lines {
                if borders == 0 {
                    width = line.len();
                    boxes += 1;
                }
                let beside = line.contains("+  +") || line.contains("|  |");
                assert!(beside || line.len() == width, "attn {command} --heat {heat}: {line}");
                // Top, below the head, bottom: then the next box begins.
                borders = (borders + usize::from(line.starts_with('+'))) % 3;
            }
            assert!(boxes > 0, "attn {command} draws no box");
        }
    }
}

#[test]
fn the_surroundings_decide_where_no_option_does() {
    let ascii =
        attn::cli::Env { charset: Charset::Ascii, width: 60, colour: true, ..attn::cli::Env::default() };
    let out = attn("similarity bat cave racket").env(ascii).ok().out;
    assert!(out.is_ascii() && out.contains("\x1b["));
    let forced = attn("similarity bat cave racket --charset utf8 --color never").env(ascii).ok().out;
    assert!(!forced.is_ascii() && !forced.contains('\x1b'));
}

#[test]
fn shades_are_hatched_where_masked_and_have_bars_on_request() {
    let command = "attend --words 'bat cave racket' --causal --only A";
    assert!(attn(command).ok().out.contains("░░░░░0"));
    assert!(attn(command).arg("--heat=always").ok().out.contains('█'));
    let never = attn(command).arg("--heat=never").arg("--color=always").ok().out;
    assert!(!never.contains('░') && !never.contains("\x1b[48"));
}
