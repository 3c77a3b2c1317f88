//! Bytes of unknown number, gathered up to a limit.

use std::io::{self, Write};

use super::{Charge, exhausted, hold};
use crate::error::{Error, Result};
use crate::text::size_in_brief;

/// Bytes that are gathered, up to a limit, and charged as they come.
#[derive(Debug)]
pub struct ChargedBytes {
    bytes: Vec<u8>,
    held: Vec<Charge>,
    most: u64,
}

/// The least room that is made at a time, in bytes.
const STEP: usize = 1 << 16;

impl ChargedBytes {
    /// Nothing yet, and never more than `most` bytes.
    pub fn new(most: u64) -> ChargedBytes {
        ChargedBytes { bytes: Vec::new(), held: Vec::new(), most }
    }

    /// The gathered bytes; they are no longer charged.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The gathered bytes, charged until the command ends.
    pub fn kept(self) -> Vec<u8> {
        self.held.into_iter().for_each(Charge::keep);
        self.bytes
    }

    fn make_room(&mut self, more: usize) -> Result<()> {
        let room = self.bytes.capacity() - self.bytes.len();
        if room >= more {
            return Ok(());
        }
        let room = more.max(self.bytes.capacity()).max(STEP);
        self.held.push(hold(room as u64)?);
        self.bytes.try_reserve_exact(room).map_err(|_| exhausted())
    }
}

impl Write for ChargedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let needed = self.bytes.len() as u64 + bytes.len() as u64;
        if needed > self.most {
            // The beginning of a result that is too long is of no use.
            (self.bytes, self.held) = (Vec::new(), Vec::new());
            let error = Error::new(format!("there is more to print than {}", size_in_brief(self.most)));
            return Err(io::Error::other(
                error.help("show less of it with --only, or take smaller matrices"),
            ));
        }
        self.make_room(bytes.len()).map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error))?;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Remaining, enter, remaining};

    #[test]
    fn what_is_gathered_has_an_end() {
        let mut gathered = ChargedBytes::new(100);
        assert!(gathered.write_all(&[0; 100]).is_ok() && gathered.write_all(&[0]).is_err());
        let _open = enter(Some(1 << 20), || None);
        let mut gathered = ChargedBytes::new(u64::MAX);
        let written = (0..100).map(|_| gathered.write_all(&[0; 1 << 16])).find_map(io::Result::err);
        assert!(written.unwrap().to_string().contains("--memory"));
        drop(gathered);
        assert_eq!(remaining(), Remaining::Asked(1 << 20));
    }
}
