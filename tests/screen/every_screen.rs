//! What holds for every screen: nothing is wider than it, ASCII is ASCII, colours change no text.

#![allow(
    clippy::disallowed_methods,
    reason = "the judge of the printed numbers calculates with std, not with the program"
)]

use crate::common::{attn, one_in, without_colours};
use attn::demo::demos;
use attn::render::Charset;
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

/// Each command at the narrowest screen, at the widest and at every tenth width between them, the next command at the next
/// widths: together they meet every width.
#[test]
fn no_line_is_wider_than_the_screen() {
    for (number, command) in commands().into_iter().enumerate().step_by(one_in(6)) {
        for width in (40 + number % 10..200).step_by(10 * one_in(8)).chain([40, 200]) {
            for charset in ["utf8", "ascii"] {
                let out = attn(&command)
                    .arg(format!("--width={width}"))
                    .arg(format!("--charset={charset}"))
                    .ok()
                    .out;
                for line in out.lines() {
                    assert!(
                        line.width() <= width,
                        "attn {command} --width {width} --charset {charset}: {line}"
                    );
                }
            }
        }
    }
}

/// The numbers of a 4×12 matrix on a screen, in the order of its cells.
fn numbers(width: usize, precision: &str) -> Vec<String> {
    let command = format!("attend --random 4,12 --heads 1 --only Q --width {width} {precision}");
    let out = attn(&command).ok().out;
    let rows = out.lines().filter(|line| line.starts_with('│')).map(|line| {
        let numbers =
            line.split_whitespace().filter(|word| word.contains('.') && word.parse::<f64>().is_ok());
        numbers.map(String::from).collect::<Vec<_>>()
    });
    let rows: Vec<Vec<String>> = rows.filter(|row| !row.is_empty()).collect();
    (0..4).flat_map(|row| rows.iter().skip(row).step_by(4).flatten().cloned()).collect()
}

#[test]
fn numbers_lose_decimals_only_to_save_a_band() {
    let whole = numbers(200, "");
    assert_eq!(whole.len(), 48);
    assert!(whole.iter().all(|number| number.split_once('.').unwrap().1.len() == 4), "{whole:?}");
    for width in 40..200 {
        assert_eq!(numbers(width, "--precision 4"), whole, "at {width} columns");
        let here = numbers(width, "");
        let places = here[0].split_once('.').unwrap().1.len();
        assert!((2..=4).contains(&places), "at {width} columns: {here:?}");
        let bands = |precision: &str| {
            let command = format!("attend --random 4,12 --heads 1 --only Q --width {width} {precision}");
            attn(&command).ok().out.matches('╭').count()
        };
        if places < 4 {
            assert!(bands("") == 1 && bands("--precision 4") > 1, "at {width} columns");
        }
        for (short, long) in here.iter().zip(&whole) {
            let (short, long): (f64, f64) = (short.parse().unwrap(), long.parse().unwrap());
            assert!((short - long).abs() <= 0.5 * 10_f64.powi(-(places as i32)) + 0.5e-4, "{short} {long}");
        }
    }
}

#[test]
fn no_column_of_a_matrix_stands_alone_unless_there_is_room_for_no_more() {
    for (command, narrowest) in
        [("attend --random 4,12 --only Q", 40), ("demo right --precision 8 --only R", 40)]
    {
        for width in narrowest..100 {
            let out = attn(command).arg(format!("--width={width}")).ok().out;
            let heads = out.lines().filter(|line| line.starts_with("│ Q") || line.starts_with("│ R"));
            let columns: Vec<usize> = heads.map(|line| line.split_whitespace().count() - 4).collect();
            assert!(!columns.is_empty(), "{out}");
            assert!(columns.iter().all(|&count| count > 1), "at {width} columns: {columns:?}");
        }
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
        let out = attn(&command).arg("--charset=ascii").ok().out;
        let strange: Vec<char> = out.chars().filter(|c| !c.is_ascii()).collect();
        assert!(strange.is_empty(), "attn {command}: {strange:?}");
    }
}

#[test]
fn a_format_that_is_not_ascii_refuses_the_option() {
    for format in ["json", "numpy", "markdown", "csv", "html"] {
        let refused = [format!("--format {format}"), "leave out --charset".to_string()];
        attn(&format!("demo weights --charset ascii --format {format}")).refused(&[&refused[0], &refused[1]]);
    }
    for accepted in ["--charset ascii --format latex", "--charset utf8 --format csv"] {
        attn(&format!("demo weights {accepted}")).ok();
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
            let lines: Vec<&str> = out.lines().map(str::trim).collect();
            let (mut width, mut boxes, mut before) = (0, 0, "");
            for line in lines {
                let is_border = line.starts_with('+') && line.ends_with('+');
                if is_border && !before.starts_with('|') {
                    width = line.len();
                    boxes += 1;
                }
                let beside = line.contains("+  +") || line.contains("|  |");
                let is_of_box = is_border || (line.starts_with('|') && line.ends_with('|'));
                assert!(!is_of_box || beside || line.len() == width, "attn {command} --heat {heat}: {line}");
                before = line;
            }
            assert!(boxes > 0, "attn {command} draws no box");
        }
    }
}

#[test]
fn the_surroundings_decide_where_no_option_does() {
    let ascii =
        attn::cli::Env { charset: Charset::Ascii, width: 60, colour: true, ..attn::cli::Env::default() };
    let out = attn("similarity bat cave racket").env(ascii.clone()).ok().out;
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
