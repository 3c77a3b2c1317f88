//! The question for the terminal's background colour, and its answer.

use std::time::Duration;

/// Asks for the background colour (OSC 11), and then for the terminal's identity (DA1): every terminal answers the second,
/// so that its answer shows that none to the first will come any more.
pub(super) const QUESTION: &[u8] = b"\x1b]11;?\x1b\\\x1b[c";
/// The maximum time to wait for colours.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_millis(50);
/// The time after which a late answer is no longer removed.
pub(super) const SETTLE_WITHIN: Duration = Duration::from_millis(400);

/// Returns true if the answer ends with the terminal's identification: `ESC [ ? 6 4 ; 1 c`.
pub(super) fn is_complete(heard: &[u8]) -> bool {
    let mut starts = heard.windows(3).enumerate().filter(|(_, bytes)| bytes == b"\x1b[?");
    starts.any(|(at, _)| {
        let rest = heard[at + 3..].iter();
        rest.copied().find(|byte| !byte.is_ascii_digit() && *byte != b';') == Some(b'c')
    })
}

/// The colour in `ESC ] 11 ; rgb:1e1e/1e1e/1e1e ESC \`; each part has one to four digits.
pub(super) fn ground_of(heard: &[u8]) -> Option<[f64; 3]> {
    let text = String::from_utf8_lossy(heard);
    let (_, after) = text.split_once("\x1b]11;")?;
    let (_, colour) = after.split_once("rgb").and_then(|(_, rest)| rest.split_once(':'))?;
    let colour = &colour[..colour.find(['\x07', '\x1b'])?];
    let part = |text: &str| {
        let digits = u32::try_from(text.len()).ok().filter(|digits| (1..=4).contains(digits))?;
        let number = u32::from_str_radix(text, 16).ok().filter(|_| !text.starts_with('+'))?;
        Some(f64::from(number) / f64::from(16_u32.pow(digits) - 1))
    };
    let mut parts = colour.split('/').map(part);
    Some([parts.next()??, parts.next()??, parts.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_as_terminals_write_them() {
        for (heard, colour) in [
            ("\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;c", Some([1.0, 1.0, 1.0])),
            ("\x1b]11;rgb:00/ff/00\x07\x1b[?6c", Some([0.0, 1.0, 0.0])),
            ("x\x1b]11;rgba:0000/0000/ffff/ffff\x1b\\", Some([0.0, 0.0, 1.0])),
            ("\x1b]11;rgb:0/f/0\x07", Some([0.0, 1.0, 0.0])),
            ("\x1b]11;rgb:ffff/ffff", None),
            ("\x1b]11;rgb:ffff/ffff\x07", None),
            ("\x1b]11;rgb:fffff/0/0\x07", None),
            ("\x1b]11;rgb:+f/0/0\x07", None),
            ("\x1b[?62;c", None),
            ("", None),
        ] {
            assert_eq!(ground_of(heard.as_bytes()), colour, "{heard:?}");
        }
    }

    #[test]
    fn an_answer_is_complete_when_the_terminal_has_said_what_it_is() {
        for (heard, complete) in [
            ("\x1b[?62;22c", true),
            ("\x1b[?6c", true),
            ("\x1b]11;rgb:00/00/00\x07\x1b[?1;2c", true),
            ("\x1b[?62;22", false),
            ("\x1b[?1u", false),
            ("\x1b]11;rgb:cc/cc/cc\x07", false),
            ("c", false),
        ] {
            assert_eq!(is_complete(heard.as_bytes()), complete, "{heard:?}");
        }
    }
}
