//! Numbers and sizes from bytes.

/// Bytes that are used up from the front; when they are all used, everything is 0.
pub struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// One of 0 … count − 1; at most 256 of them are reached.
    pub fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count
    }

    /// A number as they come: mostly small, now and then a special one.
    pub fn number(&mut self) -> f64 {
        const SPECIAL: [f64; 12] = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            f64::MIN,
            f64::MIN_POSITIVE,
            5e-324,
            1e38,
            -1e38,
            1e-40,
            -0.0,
            1e200,
        ];
        match self.byte() {
            byte @ 0..240 => (f64::from(byte) - 120.0) / 16.0,
            byte => SPECIAL[usize::from(byte - 240) % SPECIAL.len()],
        }
    }
}

/// The first line without its end, and what follows it.
pub fn first_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|&byte| byte == b'\n') {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}

/// The pieces between lines that are `--` and nothing else.
pub fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut rest = bytes;
    let separator = b"\n--\n";
    while let Some(at) = rest.windows(separator.len()).position(|window| window == separator) {
        pieces.push(&rest[..at]);
        rest = &rest[at + separator.len()..];
    }
    pieces.push(rest);
    pieces
}
