//! Names of files that are no UTF-8, as text and back again without loss. The system's names are bytes; a byte that is part
//! of no character is held as one of the last 128 code points, which no text has a use for.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Byte `b` is held as this code point and `b` more.
const BYTES: u32 = 0x10ff00;

/// The path for a text of [`from_path`], or for an argument.
pub fn to_path(text: &str) -> PathBuf {
    PathBuf::from(to_os(text).into_owned())
}

/// A path as text: [`to_path`] gives it back, whatever its bytes are.
pub fn from_path(path: &Path) -> String {
    from_os(path.as_os_str()).into_owned()
}

/// The byte that a character of [`from_os`] represents.
pub(super) fn byte_of(c: char) -> Option<u8> {
    u32::from(c).checked_sub(BYTES).and_then(|byte| u8::try_from(byte).ok()).filter(|byte| *byte >= 0x80)
}

#[cfg(unix)]
fn held(byte: u8) -> char {
    char::from_u32(BYTES + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// An argument, or the name of a file, as text: [`to_os`] gives it back, whatever its bytes are.
#[cfg(unix)]
pub fn from_os(name: &OsStr) -> Cow<'_, str> {
    use std::os::unix::ffi::OsStrExt;
    if let Some(text) = name.to_str().filter(|text| !text.chars().any(|c| byte_of(c).is_some())) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for chunk in name.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            // A character in the range that stands for bytes is escaped as its own bytes.
            match byte_of(c) {
                Some(_) => out.extend(c.encode_utf8(&mut [0; 4]).bytes().map(held)),
                None => out.push(c),
            }
        }
        out.extend(chunk.invalid().iter().copied().map(held));
    }
    Cow::Owned(out)
}

/// The file name for a text of [`from_os`].
#[cfg(unix)]
pub fn to_os(text: &str) -> Cow<'_, OsStr> {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    if !text.chars().any(|c| byte_of(c).is_some()) {
        return Cow::Borrowed(OsStr::new(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    Cow::Owned(OsString::from_vec(bytes))
}

/// On systems whose names are not bytes, parts that are not Unicode are lost.
#[cfg(not(unix))]
pub fn from_os(name: &OsStr) -> Cow<'_, str> {
    name.to_string_lossy()
}

/// The file name for a text.
#[cfg(not(unix))]
pub fn to_os(text: &str) -> Cow<'_, OsStr> {
    Cow::Borrowed(OsStr::new(text))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn every_name_comes_back_as_it_was() {
        let names: [&[u8]; 7] = [
            b"plain.csv",
            b"caf\xe9.csv",
            b"\xff\xfe",
            b"a\xf0\x9f\x92",
            "höhle \u{10ffe9} \u{10ff80}".as_bytes(),
            b"\x80\xf4\x8f\xbf\xa9\xe9",
            b"",
        ];
        for name in names {
            let name = OsStr::from_bytes(name);
            let text = from_os(name).into_owned();
            assert_eq!(&*to_os(&text), name);
            assert_eq!(from_os(&to_os(&text)), text);
        }
        assert_eq!(super::super::visible(&from_os(OsStr::from_bytes(b"caf\xe9.csv"))), "caf\\xE9.csv");
    }
}
