//! Lines that a student types, however long.

use std::io::{BufRead, ErrorKind};

use crate::error::{Error, Result};

/// The maximum length of an answer in bytes; the rest of a longer line is dropped.
const LONGEST: usize = 4096;

/// The result of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InputLine {
    /// A line with its end, or the beginning of a very long one.
    Typed(String),
    /// The input has ended.
    End,
    /// The student has stopped the quiz.
    Stopped,
}

/// The next line. `waits` is asked before each piece of it, until something can be read: at a terminal Ctrl-D hands over what is
/// typed so far, and the rest of the line may never come.
///
/// # Errors
/// If reading fails.
pub(super) fn read_line(input: &mut dyn BufRead, waits: &dyn Fn() -> bool) -> Result<InputLine> {
    let (mut line, mut begun) = (Vec::new(), false);
    loop {
        if !waits() {
            return Ok(InputLine::Stopped);
        }
        let piece = match input.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                return Err(Error::new(format!("cannot read standard input: {error}"))
                    .help("type your answers, or pipe them in, line by line"));
            }
        };
        let end = memchr::memchr(b'\n', piece).map(|at| at + 1);
        let length = end.unwrap_or(piece.len());
        line.extend_from_slice(&piece[..length.min(LONGEST - line.len())]);
        input.consume(length);
        match (length, end) {
            (0, _) if !begun => return Ok(InputLine::End),
            (0, _) | (_, Some(_)) => {
                return Ok(InputLine::Typed(String::from_utf8_lossy(&line).into_owned()));
            }
            (_, None) => begun = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::{self, BufReader, Read};

    use super::*;

    /// Gives these pieces, one with each read, as a terminal does; an empty one ends the input.
    struct Pieces(Vec<&'static [u8]>);

    impl Read for Pieces {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let piece = if self.0.is_empty() { &[][..] } else { self.0.remove(0) };
            out[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    /// The lines of these pieces, where the student stops instead of waiting for the piece after so many.
    fn lines(pieces: &[&'static [u8]], stops_after: usize) -> Vec<InputLine> {
        let mut input = BufReader::new(Pieces(pieces.to_vec()));
        let waited = Cell::new(0);
        let waits = || waited.replace(waited.get() + 1) < stops_after;
        let mut lines = Vec::new();
        while !matches!(lines.last(), Some(InputLine::End | InputLine::Stopped)) {
            lines.push(read_line(&mut input, &waits).unwrap());
        }
        lines
    }

    fn typed(text: &str) -> InputLine {
        InputLine::Typed(text.to_string())
    }

    #[test]
    fn a_line_that_comes_in_pieces_is_one_line_and_each_piece_is_waited_for() {
        let pieces: [&[u8]; 3] = [b"ab", b"c\n", b"d\n"];
        assert_eq!(lines(&pieces, 9), [typed("abc\n"), typed("d\n"), InputLine::End]);
        assert_eq!(lines(&pieces, 1), [InputLine::Stopped]);
        assert_eq!(lines(&pieces, 2), [typed("abc\n"), InputLine::Stopped]);
    }

    #[test]
    fn the_end_of_the_input_ends_a_line_that_has_begun() {
        assert_eq!(lines(&[b"ab", b""], 9), [typed("ab"), InputLine::End]);
        assert_eq!(lines(&[b""], 9), [InputLine::End]);
    }

    #[test]
    fn of_a_very_long_line_the_beginning_is_kept() {
        let long: &[u8] = &[b'x'; 3000];
        let read = lines(&[long, long, b"\n", b"a\n"], 9);
        assert_eq!(read[1..], [typed("a\n"), InputLine::End]);
        assert!(matches!(&read[0], InputLine::Typed(line) if line.len() == LONGEST));
    }
}
