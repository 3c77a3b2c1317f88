//! Lines that a student types, however long.

use std::io::{BufRead, ErrorKind, Read};

use crate::error::{Error, Result};

/// No answer is longer, in bytes; what is typed beyond belongs to the same answer, and is left away.
const LONGEST: u64 = 4096;

/// The next line with its end, or the beginning of a very long one; none at the end of the input.
///
/// # Errors
/// If reading fails.
pub(super) fn read_line(input: &mut dyn BufRead) -> Result<Option<String>> {
    let unreadable = |error: std::io::Error| {
        Error::new(format!("cannot read standard input: {error}"))
            .help("type your answers, or pipe them in, line by line")
    };
    let mut bytes = Vec::new();
    let mut first = Read::take(&mut *input, LONGEST);
    first.read_until(b'\n', &mut bytes).map_err(unreadable)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if !bytes.ends_with(b"\n") {
        skip_line(input).map_err(unreadable)?;
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Leaves away what is left of a line.
fn skip_line(input: &mut dyn BufRead) -> std::io::Result<()> {
    loop {
        let (done, used) = match input.fill_buf() {
            Ok([]) => return Ok(()),
            Ok(bytes) => match memchr::memchr(b'\n', bytes) {
                Some(at) => (true, at + 1),
                None => (false, bytes.len()),
            },
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}
