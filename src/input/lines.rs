//! The lines of a stream of any length, in blocks, with a buffer that does not grow.

use std::io::{ErrorKind, Read};
use std::ops::ControlFlow;

use crate::error::{Error, Place, Result};

use super::open::unreadable;

/// Bytes that are asked for at once; a block stays in the processor's cache.
const BLOCK: usize = 256 << 10;

/// The longest line that is read.
pub(super) const LONGEST_LINE: usize = 1 << 20;

/// Calls `each` with the number (from 1) and the bytes of every line, without its line feed, until it breaks off.
///
/// # Errors
/// If reading fails, a line is longer than [`LONGEST_LINE`], or `each` fails.
pub(super) fn each_line(
    name: &str,
    stream: &mut dyn Read,
    mut each: impl FnMut(usize, &[u8]) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut buffer = vec![0; LONGEST_LINE + BLOCK];
    let mut kept = 0;
    let mut number = 0;
    loop {
        let read = match stream.read(&mut buffer[kept..kept + BLOCK]) {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(unreadable(name, &error)),
        };
        if read == 0 {
            if kept > 0 {
                let _ = each(number + 1, &buffer[..kept])?;
            }
            return Ok(());
        }
        let end = kept + read;
        let mut start = 0;
        // The bytes kept from the last block contain no line feed.
        for newline in memchr::memchr_iter(b'\n', &buffer[kept..end]) {
            number += 1;
            if each(number, &buffer[start..kept + newline])?.is_break() {
                return Ok(());
            }
            start = kept + newline + 1;
        }
        buffer.copy_within(start..end, 0);
        kept = end - start;
        if kept > LONGEST_LINE {
            return Err(Error::new(format!("this line is longer than {} KiB", LONGEST_LINE >> 10))
                .at(Place::Text(name.to_string(), number + 1, 1))
                .help("write lines such as `word 0.1 0.2 0.3`"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io;

    /// Hands out its bytes in pieces of the given size.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.1.min(self.0.len()).min(buffer.len());
            let (now, later) = self.0.split_at(count);
            buffer[..count].copy_from_slice(now);
            self.0 = later;
            Ok(count)
        }
    }

    fn lines(bytes: &[u8], piece: usize) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        each_line("x", &mut Pieces(bytes, piece), |number, line| {
            found.push(line.to_vec());
            assert_eq!(number, found.len());
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
        found
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn lines_are_the_same_in_whatever_pieces_they_arrive(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..300),
            piece in 1usize..50,
        ) {
            let mut expected: Vec<Vec<u8>> = bytes.split(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
            if expected.last().is_some_and(Vec::is_empty) {
                expected.pop();
            }
            prop_assert_eq!(lines(&bytes, piece), expected);
        }
    }

    #[test]
    fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
        assert_eq!(lines(&vec![b'1'; LONGEST_LINE], 1 << 20).len(), 1);
        let said = each_line("x.txt", &mut io::repeat(0), |_, _| Ok(ControlFlow::Continue(())))
            .unwrap_err()
            .to_string();
        assert!(said.starts_with("x.txt:1:1: this line is longer than 1024 KiB"), "{said}");
    }

    #[test]
    fn reading_stops_when_told_to() {
        let mut seen = 0;
        each_line("x", &mut Pieces(b"a\nb\nc\n", 100), |_, _| {
            seen += 1;
            Ok(if seen == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
        .unwrap();
        assert_eq!(seen, 2);
    }
}
