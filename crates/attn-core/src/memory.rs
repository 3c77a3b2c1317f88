//! One budget of memory for a command: bytes are charged to it before they are allocated.
//!
//! [`enter`] begins the account of a command on this thread, and its end restores the one before: a command that runs another,
//! as a lesson does, lends it the rest of its budget. Without an account nothing is refused. The limit is that of `--memory`,
//! else the memory that the system has free when a command first asks for more than [`SMALL`]. This is the only refusal that
//! depends on the machine.

use std::cell::Cell;
use std::io::Write;
use std::marker::PhantomData;
use std::{io, mem};

use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_vec;

use crate::error::{Error, ErrorKind, Result};
use crate::text::size_in_brief;

/// The share of the free memory that may be used, in eighths: the rest is for allocations that are too small to be charged.
const EIGHTHS: u64 = 7;

/// The limit of memory.
#[derive(Clone, Copy, Debug)]
enum Limit {
    /// No limit was set: the caller is a library user.
    None,
    /// The limit that the user set.
    Asked(u64),
    /// To be asked for once it matters.
    Free(fn() -> Option<u64>),
    /// The memory that was free, plus the memory that was charged by then.
    Found(u64),
}

/// The limit and the charges of the command on this thread.
#[derive(Clone, Copy, Debug)]
struct Account {
    limit: Limit,
    used: u64,
}

thread_local! {
    static ACCOUNT: Cell<Account> = const { Cell::new(Account { limit: Limit::None, used: 0 }) };
}

/// The time in which an account, or a part of one, is open; at its end all charges since its beginning are released.
#[derive(Debug)]
pub struct OpenAccount {
    before: Account,
    /// It belongs to its thread.
    here: PhantomData<*const ()>,
}

impl Drop for OpenAccount {
    fn drop(&mut self) {
        ACCOUNT.set(self.before);
    }
}

/// Begins the account of a command: with the bytes that were `asked` for, else with the result of `free` at the first large
/// charge. Within another command it is a part of that one's account.
pub fn enter(asked: Option<u64>, free: fn() -> Option<u64>) -> OpenAccount {
    let before = ACCOUNT.get();
    let limit = match (before.limit, asked) {
        (Limit::None, None) => Limit::Free(free),
        (Limit::None | Limit::Free(_), Some(bytes)) => Limit::Asked(before.used.saturating_add(bytes)),
        (Limit::Asked(outer) | Limit::Found(outer), Some(bytes)) => {
            Limit::Asked(outer.min(before.used.saturating_add(bytes)))
        }
        (outer, None) => outer,
    };
    ACCOUNT.set(Account { limit, ..before });
    OpenAccount { before, here: PhantomData }
}

/// Begins a part of the account, such as one file of many: its charges are released when it is over.
pub fn part() -> OpenAccount {
    OpenAccount { before: ACCOUNT.get(), here: PhantomData }
}

/// The account of a command, for another thread that works for it.
#[derive(Clone, Copy, Debug)]
pub struct Lent(Account);

/// The account of this thread, to lend it.
pub fn lent() -> Lent {
    Lent(ACCOUNT.get())
}

impl Lent {
    /// Charges to this account on this thread, until the result is dropped.
    pub fn enter(self) -> OpenAccount {
        OpenAccount { before: ACCOUNT.replace(self.0), here: PhantomData }
    }

    /// Takes the account back, with what the other thread has charged to it.
    pub fn take_back(self) {
        ACCOUNT.set(self.0);
    }
}

/// Bytes that are charged until this is dropped.
#[derive(Debug)]
#[must_use = "what is charged is free again as soon as this is dropped"]
pub struct Charge {
    bytes: u64,
    here: PhantomData<*const ()>,
}

impl Charge {
    /// Charges the bytes until the command is over.
    pub fn keep(self) {
        mem::forget(self);
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let account = ACCOUNT.get();
        ACCOUNT.set(Account { used: account.used.saturating_sub(self.bytes), ..account });
    }
}

/// Charges bytes that are about to be allocated.
///
/// # Errors
/// If they exceed the memory that is left.
pub fn hold(bytes: u64) -> Result<Charge> {
    let mut account = ACCOUNT.get();
    let used = account.used.saturating_add(bytes);
    if let Limit::Free(free) = account.limit
        && used > SMALL
    {
        // Without a figure from the system nothing is refused.
        let found = free().map_or(u64::MAX, |free| account.used.saturating_add(free / 8 * EIGHTHS));
        account.limit = Limit::Found(found);
        ACCOUNT.set(account);
    }
    if let Limit::Asked(limit) | Limit::Found(limit) = account.limit
        && used > limit
    {
        let left = limit.saturating_sub(account.used);
        // A small part of what is needed already is one of many that are still to come.
        let more = if bytes < used / 8 { used.saturating_mul(2) } else { used };
        return Err(too_much(bytes, left).help(allow(more, account.limit)));
    }
    ACCOUNT.set(Account { used, ..account });
    Ok(Charge { bytes, here: PhantomData })
}

/// Checks that `bytes` are available now, without charging them.
///
/// # Errors
/// If they exceed the memory that is left.
pub fn room(bytes: u64) -> Result<()> {
    hold(bytes).map(drop)
}

/// A value of the option that sets the limit with which `more` bytes are available beside those that are in use; none where no limit was
/// set.
pub fn limit_for(more: u64) -> Option<String> {
    let account = ACCOUNT.get();
    matches!(account.limit, Limit::Asked(_)).then(|| enough(account.used.saturating_add(more)))
}

/// The memory that is left under the limit: one set by the user, or the system's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remaining {
    /// The rest of the limit that the user set.
    Asked(u64),
    /// The rest of the free memory.
    Free(u64),
    /// The amount is not known.
    Unknown,
}

/// The memory that is left.
pub fn remaining() -> Remaining {
    let account = ACCOUNT.get();
    match account.limit {
        Limit::None => Remaining::Unknown,
        Limit::Asked(limit) => Remaining::Asked(limit.saturating_sub(account.used)),
        Limit::Found(limit) => Remaining::Free(limit.saturating_sub(account.used)),
        Limit::Free(free) => free().map_or(Remaining::Unknown, Remaining::Free),
    }
}

/// The error of a command that needs more memory than is left.
pub fn too_much(needed: u64, left: u64) -> Error {
    Error::new(format!(
        "this needs {} of memory, but at most {} may be used here",
        size_in_brief(needed),
        size_in_brief(left)
    ))
    .of_kind(ErrorKind::TooLarge)
}

/// The message for memory that the system refuses.
pub const EXHAUSTED: &str = "out of memory: the system has none left for this";

/// The error of an allocation that the system refuses.
pub fn exhausted() -> Error {
    Error::new(EXHAUSTED).of_kind(ErrorKind::TooLarge).help(
        "give smaller matrices, or end other programs; --memory 500M makes attn stop before it takes more",
    )
}

fn allow(bytes: u64, limit: Limit) -> String {
    let more = enough(bytes);
    match limit {
        Limit::Asked(_) => format!("give smaller matrices, or allow more: --memory {more}"),
        _ => format!("give smaller matrices, or, if this machine has the memory, allow it: --memory {more}"),
    }
}

// Sizes of memory as people type them.

/// A command that needs no more than this is not compared with the free memory.
pub const SMALL: u64 = 32 << 20;

/// A value of `--memory` that allows `bytes`, and what any command takes beside them.
pub fn enough(bytes: u64) -> String {
    let bytes = bytes.max(SMALL);
    match bytes {
        0..=0x3fff_ffff => format!("{}M", bytes.div_ceil(1 << 20)),
        _ => format!("{}G", bytes.div_ceil(1 << 30)),
    }
}

/// The number of bytes for `500M`, `1.5G`, `64MiB` or `1000000`; K, M, G and T are powers of 1024.
///
/// # Errors
/// If it is none of these.
pub fn parsed(text: &str) -> std::result::Result<u64, String> {
    let wrong = || "write a size such as 500M or 2G".to_string();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1u64,
        "K" | "KB" | "KIB" => 1 << 10,
        "M" | "MB" | "MIB" => 1 << 20,
        "G" | "GB" | "GIB" => 1 << 30,
        "T" | "TB" | "TIB" => 1 << 40,
        _ => return Err(wrong()),
    };
    let is_plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number = digits.parse::<f64>().ok().filter(|number| is_plain && *number > 0.0).ok_or_else(wrong)?;
    // Beyond the largest number of bytes it is that number.
    Ok(((number * unit as f64) as u64).max(1))
}

// Bytes of unknown number, gathered up to a limit.

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

// Room for numbers: charged, then reserved, so that neither can abort the program.

/// Room for `count` numbers, which are not charged.
///
/// # Errors
/// If it exceeds the memory that is left, or the system refuses it.
pub fn room_for<T>(count: usize) -> Result<Vec<T>> {
    let _held = hold(bytes_of::<T>(count))?;
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| exhausted())?;
    Ok(room)
}

/// `count` zeros, which are not charged. Large ones take no memory before they are written to.
///
/// # Errors
/// If they exceed the memory that is left, or the system refuses them.
pub fn uncharged_zeros<T: Zeroable>(count: usize) -> Result<Vec<T>> {
    let _held = hold(bytes_of::<T>(count))?;
    try_zeroed_vec(count).map_err(|()| exhausted())
}

/// Room for `count` numbers, charged until the command is over.
///
/// # Errors
/// If it exceeds the memory that is left, or the system refuses it.
pub fn reserved<T>(count: usize) -> Result<Vec<T>> {
    let room = room_for(count)?;
    hold(bytes_of::<T>(count))?.keep();
    Ok(room)
}

/// `count` zeros, charged until the command is over. Large ones take no memory before they are written to.
///
/// # Errors
/// If they exceed the memory that is left, or the system refuses it.
pub fn zeros<T: Zeroable>(count: usize) -> Result<Vec<T>> {
    let held = hold(bytes_of::<T>(count))?;
    let zeros = try_zeroed_vec(count).map_err(|()| exhausted())?;
    held.keep();
    Ok(zeros)
}

/// Room for more numbers, `count` of them in all: memory grows with the numbers that arrive, and never beyond that count. The
/// caller has charged them.
///
/// # Errors
/// If the system refuses it.
pub fn grow<T>(numbers: &mut Vec<T>, more: usize, count: usize) -> Result<()> {
    let needed = numbers.len().saturating_add(more);
    if needed > numbers.capacity() {
        let capacity = needed.max(numbers.capacity().saturating_mul(2)).min(count.max(needed));
        let reserved = numbers.try_reserve_exact(capacity - numbers.len());
        reserved.map_err(|_| exhausted())?;
    }
    Ok(())
}

/// The bytes of `count` numbers.
pub fn bytes_of<T>(count: usize) -> u64 {
    (count as u64).saturating_mul(size_of::<T>() as u64)
}

#[cfg(test)]
mod tests {
    use super::{Remaining, enter, remaining, *};

    fn asked(bytes: u64) -> OpenAccount {
        enter(Some(bytes), || None)
    }

    #[test]
    fn what_is_charged_is_refused_beyond_the_limit_and_free_again_when_dropped() {
        let _open = asked(1000);
        let first = hold(600).unwrap();
        let said = hold(500).unwrap_err().to_string();
        assert!(
            said.contains("this needs 500 bytes of memory, but at most 400 bytes")
                && said.contains("--memory 32M"),
            "{said}"
        );
        drop(first);
        hold(500).unwrap().keep();
        assert!(room(500).is_ok() && room(501).is_err());
        assert_eq!(remaining(), Remaining::Asked(500));
    }

    #[test]
    fn a_command_within_a_command_has_what_is_left_and_gives_it_back() {
        let _outer = asked(1000);
        hold(300).unwrap().keep();
        {
            let _inner = enter(None, || unreachable!("the outer command has a limit"));
            hold(700).unwrap().keep();
            assert!(room(1).is_err());
        }
        {
            let _inner = asked(5000);
            assert!(room(700).is_ok() && room(701).is_err());
        }
        {
            let _inner = asked(200);
            assert!(room(200).is_ok() && room(201).is_err());
        }
        assert_eq!(remaining(), Remaining::Asked(700));
        {
            let _part = part();
            hold(600).unwrap().keep();
        }
        assert_eq!(remaining(), Remaining::Asked(700));
    }

    #[test]
    fn what_is_free_is_asked_for_only_when_it_matters() {
        {
            let _open = enter(None, || unreachable!("it is too little to ask"));
            hold(SMALL).unwrap().keep();
        }
        let _open = enter(None, || Some(800 << 20));
        hold(SMALL).unwrap().keep();
        assert!(room(700 << 20).is_ok());
        assert!(room((700 << 20) + 1).is_err());
        let _unknown = part();
        assert!(matches!(remaining(), Remaining::Free(_)));
    }

    #[test]
    fn without_an_account_nothing_is_refused() {
        assert!(room(u64::MAX).is_ok());
        assert_eq!(remaining(), Remaining::Unknown);
        assert!(reserved::<f64>(usize::MAX).unwrap_err().to_string().contains("--memory"));
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("500M", 500 << 20),
            ("2G", 2 << 30),
            ("1.5g", 3 << 29),
            ("64MiB", 64 << 20),
            ("1000", 1000),
            ("1KB", 1024),
            ("9999999999999T", u64::MAX),
        ] {
            assert_eq!(parsed(text), Ok(bytes), "{text}");
        }
        for text in ["", "M", "-1G", "2X", "1e9", "inf", "nan", "0", "1 G"] {
            assert!(parsed(text).is_err(), "{text}");
        }
        assert_eq!([enough(1), enough(900 << 20), enough(3 << 29)], ["32M", "900M", "2G"]);
    }

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

    #[test]
    fn zeros_are_charged_and_refused_beyond_the_limit() {
        let _open = enter(Some(100), || None);
        assert_eq!(zeros::<f32>(20).unwrap(), [0.0; 20]);
        assert_eq!(remaining(), Remaining::Asked(20));
        assert!(zeros::<f32>(6).is_err() && zeros::<f64>(usize::MAX).is_err());
        assert_eq!(zeros::<u8>(0).unwrap(), [0; 0]);
        assert_eq!(remaining(), Remaining::Asked(20), "what is refused is not charged");
    }

    #[test]
    fn a_vector_grows_with_what_is_there_and_never_beyond_its_count() {
        let mut numbers: Vec<u8> = Vec::new();
        grow(&mut numbers, 10, 1 << 40).unwrap();
        assert!(numbers.capacity() < 1000);
        numbers.resize(10, 0);
        grow(&mut numbers, 5, 15).unwrap();
        assert_eq!(numbers.capacity(), 15);
        assert!(grow(&mut numbers, usize::MAX - 100, usize::MAX).is_err());
    }
}
