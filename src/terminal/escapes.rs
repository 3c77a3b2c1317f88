//! Keys in the bytes of a terminal.

use std::io;
use std::time::{Duration, Instant};

use super::keys::{Input, Key, Readiness};
use super::unix::wait;

/// A terminal sends what belongs together at once. What has not come by then is dropped, so that nothing waits for it.
const PATIENCE: Duration = Duration::from_millis(50);
/// The byte that begins a sequence, and is the escape key where nothing follows.
const ESCAPE: u8 = 0x1b;

/// Everything that has come by now. To be asked for when there is something to read.
///
/// # Errors
/// If the terminal cannot be read.
pub(super) fn inputs() -> io::Result<Vec<Input>> {
    let end = Instant::now() + PATIENCE;
    let (mut all, mut bytes) = (Vec::new(), Vec::new());
    loop {
        let mut read = [0; 4096];
        let count = match rustix::io::read(rustix::stdio::stdin(), &mut read) {
            Err(rustix::io::Errno::INTR) => 0,
            count => count?,
        };
        bytes.extend_from_slice(&read[..count]);
        let mut rest = &bytes[..];
        while let Some((length, input)) = first(rest) {
            all.extend(input);
            rest = &rest[length..];
        }
        bytes = rest.to_vec();
        let left = end.saturating_duration_since(Instant::now());
        if bytes.is_empty() || left.is_zero() || wait(left)? != Readiness::Ready {
            break;
        }
    }
    all.extend((bytes == [ESCAPE]).then_some(Input::Key(Key::Escape)));
    Ok(all)
}

/// How many of the bytes belong to the first input, and the input, if it is one; `None` where the rest of it is still to come.
fn first(bytes: &[u8]) -> Option<(usize, Option<Input>)> {
    match bytes {
        [ESCAPE, b'[', rest @ ..] => sequence(rest).map(|(length, input)| (2 + length, input)),
        [ESCAPE, b'O', letter, ..] => Some((3, named(*letter).map(Input::Key))),
        [ESCAPE, b'O'] | [ESCAPE] => None,
        // A text for the terminal, such as a late answer.
        [ESCAPE, b']' | b'P' | b'X' | b'^' | b'_', rest @ ..] => {
            let end = |at: usize| rest[at] == 0x07 || rest[at..].starts_with(&[ESCAPE, b'\\']);
            let at = (0..rest.len()).find(|&at| end(at))?;
            Some((2 + at + if rest[at] == ESCAPE { 2 } else { 1 }, None))
        }
        [ESCAPE, ESCAPE, ..] => Some((1, Some(Input::Key(Key::Escape)))),
        // With Alt a character is none.
        [ESCAPE, rest @ ..] => first(rest).map(|(length, input)| {
            (1 + length, input.filter(|input| !matches!(input, Input::Key(Key::Char(_)))))
        }),
        _ => character(bytes),
    }
}

/// A character, or a key that sends one.
fn character(bytes: &[u8]) -> Option<(usize, Option<Input>)> {
    let bytes = &bytes[..bytes.len().min(4)];
    let (valid, wrong) = match std::str::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => (std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(), Some(error)),
    };
    let Some(character) = valid.chars().next() else {
        return Some((wrong?.error_len()?, None));
    };
    let letter = |first: char| Key::Control(char::from(character as u8 + first as u8));
    let key = match character {
        '\r' | '\n' => Some(Key::Enter),
        '\t' => Some(Key::Tab),
        '\x08' | '\x7f' => Some(Key::Backspace),
        '\0' => Some(Key::Control(' ')),
        '\x01'..='\x1a' => Some(letter('`')),
        '\x1c'..='\x1f' => Some(letter('\x18')),
        character => Some(Key::Char(character)).filter(|_| !character.is_control()),
    };
    Some((character.len_utf8(), key.map(Input::Key)))
}

/// What stands behind `ESC [`: numbers, and a letter that says what they are.
fn sequence(bytes: &[u8]) -> Option<(usize, Option<Input>)> {
    if let [b'[', rest @ ..] = bytes {
        // The function keys of the console of Linux.
        let key = match rest.first()? {
            b'B' => Some(Key::F2),
            b'E' => Some(Key::F5),
            _ => None,
        };
        return Some((2, key.map(Input::Key)));
    }
    let end = bytes.iter().position(|byte| !(b' '..=b'?').contains(byte))?;
    let (text, letter) = (String::from_utf8_lossy(&bytes[..end]), bytes[end]);
    let numbers: Vec<u32> =
        text.trim_start_matches('<').split(';').map(|number| number.parse().unwrap_or(0)).collect();
    let input = match (letter, &numbers[..]) {
        (b'M', [0]) if text.is_empty() => {
            let [button, x, y] = bytes.get(end + 1..end + 4)? else { return None };
            let [button, x, y] = [button, x, y].map(|byte| u32::from(*byte).saturating_sub(32));
            return Some((end + 4, click(button, x, y)));
        }
        (b'M', &[button, x, y]) if text.starts_with('<') => click(button, x, y),
        (b'M', &[button, x, y]) => click(button.saturating_sub(32), x, y),
        (b'~', [number, ..]) => numbered(*number).map(Input::Key),
        (b' '..=b'~', _) => named(letter).map(Input::Key),
        // This byte belongs to the next one.
        _ => return Some((end, None)),
    };
    Some((end + 1, input))
}

/// A click with the first button, whatever other keys are held.
fn click(button: u32, x: u32, y: u32) -> Option<Input> {
    const OTHER_BUTTONS_AND_MOVES: u32 = 0b1110_0011;
    let place = |at: u32| u16::try_from(at.saturating_sub(1)).ok();
    (button & OTHER_BUTTONS_AND_MOVES == 0).then_some(Input::Click(place(x)?, place(y)?))
}

/// The key of a letter behind `ESC [` or `ESC O`.
fn named(letter: u8) -> Option<Key> {
    Some(match letter {
        b'A' => Key::Up,
        b'B' => Key::Down,
        b'C' => Key::Right,
        b'D' => Key::Left,
        b'H' => Key::Home,
        b'F' => Key::End,
        b'M' => Key::Enter,
        b'Q' => Key::F2,
        b'Z' => Key::BackTab,
        _ => return None,
    })
}

/// The key of a number before `~`.
fn numbered(number: u32) -> Option<Key> {
    Some(match number {
        1 | 7 => Key::Home,
        3 => Key::Delete,
        4 | 8 => Key::End,
        5 => Key::PageUp,
        6 => Key::PageDown,
        12 => Key::F2,
        15 => Key::F5,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The inputs in some bytes, and how many bytes are left.
    fn read(mut bytes: &[u8]) -> (Vec<Input>, usize) {
        let mut all = Vec::new();
        while let Some((length, input)) = first(bytes) {
            assert!(length > 0);
            all.extend(input);
            bytes = &bytes[length..];
        }
        (all, bytes.len())
    }

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let key = |input| if let Input::Key(key) = input { key } else { panic!("{input:?}") };
        read(bytes).0.into_iter().map(key).collect()
    }

    #[test]
    fn keys_are_read_as_terminals_send_them() {
        use Key::{
            BackTab, Backspace, Char, Control, Delete, Down, End, Enter, Escape, F2, F5, Home, Left,
            PageDown, PageUp, Right, Tab, Up,
        };
        assert_eq!(keys(b"\x1b[A\x1b[B\x1b[C\x1b[D\x1bOA\x1bOB"), [Up, Down, Right, Left, Up, Down]);
        assert_eq!(
            keys(b"\x1b[H\x1b[F\x1b[1~\x1b[4~\x1b[7~\x1b[8~\x1bOH"),
            [Home, End, Home, End, Home, End, Home]
        );
        assert_eq!(
            keys(b"\x1b[3~\x1b[5~\x1b[6~\x1b[Z\t\r\n\x7f\x08"),
            [Delete, PageUp, PageDown, BackTab, Tab, Enter, Enter, Backspace, Backspace]
        );
        assert_eq!(keys(b"\x1bOQ\x1b[12~\x1b[[B\x1b[15~\x1b[15;2~\x1b[[E"), [F2, F2, F2, F5, F5, F5]);
        assert_eq!(
            keys(b"\x1b[1;5C\x1b\x1b[A\x03\x0c\x1a\x1c\0"),
            [Right, Escape, Up, Control('c'), Control('l'), Control('z'), Control('4'), Control(' ')]
        );
        assert_eq!(keys("Gé洞👩".as_bytes()), ['G', 'é', '洞', '👩'].map(Char));
        // With Alt, and without a meaning.
        assert_eq!(keys("\x1bx\x1b\r\u{85}l".as_bytes()), [Enter, Char('l')]);
    }

    #[test]
    fn a_click_is_read_in_three_dialects_and_other_buttons_are_not() {
        let clicks = [Input::Click(9, 4)];
        for bytes in [&b"\x1b[<0;10;5M"[..], b"\x1b[<4;10;5M", b"\x1b[32;10;5M", b"\x1b[M *%"] {
            assert_eq!(read(bytes), (clicks.to_vec(), 0), "{bytes:?}");
        }
        for bytes in [
            &b"\x1b[<0;10;5m"[..],
            b"\x1b[<2;10;5M",
            b"\x1b[<32;10;5M",
            b"\x1b[<64;10;5M",
            b"\x1b[<0;99999999;5M",
        ] {
            assert_eq!(read(bytes), (Vec::new(), 0), "{bytes:?}");
        }
    }

    #[test]
    fn what_is_no_key_is_passed_over_and_what_is_begun_is_left() {
        for (bytes, left) in [
            (&b"\x1b[999999999999999999999;1Rl"[..], 0),
            (b"\x1b[200~l", 0),
            (b"\x1b]11;rgb:0/0/0\x1b\\l", 0),
            (b"\x1b]11;rgb:0/0/0\x07l", 0),
            (b"\x1b[?62;c\xff\xfel", 0),
            (b"\xf0\x9fl", 0),
            (b"l\xf0\x9f", 2),
            (b"l\x1b", 1),
            (b"l\x1b[1;", 4),
            (b"l\x1bO", 2),
            (b"l\x1b[M  ", 5),
            (b"l\x1b]11;", 5),
        ] {
            assert_eq!(read(bytes), (vec![Input::Key(Key::Char('l'))], left), "{bytes:?}");
        }
    }

    #[test]
    fn any_bytes_are_read_to_their_end() {
        let all: Vec<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
        for begun in
            [&b""[..], b"\x1b", b"\x1b[", b"\x1b[M", b"\x1b[<1;", b"\x1bO", b"\x1b]", b"\xf0", b"\xe2\x82"]
        {
            for next in &all {
                read(&[begun, next, b"\xff\x1b[\x1b"].concat());
            }
        }
    }
}
