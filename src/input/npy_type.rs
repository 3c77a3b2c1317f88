//! The type of the elements of a `.npy` file, as `numpy.dtype` reads its name on Linux.

use super::cell_type::CellType;

/// The longest text that one element may be.
const LONGEST_TEXT: usize = 4096;

/// The type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number(CellType),
    /// Text of at most this many UTF-32 characters.
    Unicode(usize),
    /// Text of at most this many bytes.
    Bytes(usize),
}

impl Kind {
    /// Bytes of one element.
    pub(super) fn size(self) -> usize {
        match self {
            Kind::Number(cell) => cell.size(),
            Kind::Unicode(characters) => characters.saturating_mul(4),
            Kind::Bytes(bytes) => bytes,
        }
    }
}

/// The type of a name such as `<f8`, `=i4`, `>d`, `float64` or `|S5`, and whether it is big-endian; `None` for a type that is
/// not read.
pub(super) fn kind(name: &str) -> Option<(Kind, bool)> {
    if let Some(cell) = named(name) {
        return Some((Kind::Number(cell), false));
    }
    let (order, plain) = match name.chars().next()? {
        order @ ('<' | '>' | '=' | '|') => (order, &name[1..]),
        _ => ('=', name),
    };
    let native = cfg!(target_endian = "big");
    let big = order == '>' || native && order != '<';
    if let Some(cell) = lettered(plain) {
        return Some((Kind::Number(cell), big));
    }
    let letter = plain.chars().next()?;
    let digits = &plain[letter.len_utf8()..];
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let size: usize = digits.parse().ok()?;
    let text = (1..=LONGEST_TEXT).contains(&size);
    let kind = match letter {
        'U' if text => Kind::Unicode(size),
        'S' | 'a' if text => Kind::Bytes(size),
        _ => Kind::Number(sized(letter, size)?),
    };
    Some((kind, big))
}

/// `f8`, `i4`, `u2`, `b1`.
fn sized(letter: char, size: usize) -> Option<CellType> {
    Some(match (letter, size) {
        ('b', 1) => CellType::Bool,
        ('i', 1) => CellType::I8,
        ('i', 2) => CellType::I16,
        ('i', 4) => CellType::I32,
        ('i', 8) => CellType::I64,
        ('u', 1) => CellType::U8,
        ('u', 2) => CellType::U16,
        ('u', 4) => CellType::U32,
        ('u', 8) => CellType::U64,
        ('f', 2) => CellType::F16,
        ('f', 4) => CellType::F32,
        ('f', 8) => CellType::F64,
        _ => return None,
    })
}

/// Letters of types in C, which an order may stand before.
fn lettered(letter: &str) -> Option<CellType> {
    Some(match letter {
        "?" => CellType::Bool,
        "b" => CellType::I8,
        "h" => CellType::I16,
        "i" => CellType::I32,
        "l" | "q" | "p" | "n" => CellType::I64,
        "B" => CellType::U8,
        "H" => CellType::U16,
        "I" => CellType::U32,
        "L" | "Q" | "P" | "N" => CellType::U64,
        "e" => CellType::F16,
        "f" => CellType::F32,
        "d" => CellType::F64,
        _ => return None,
    })
}

/// Names, which no order stands before.
fn named(name: &str) -> Option<CellType> {
    Some(match name {
        "bool" | "bool_" => CellType::Bool,
        "int8" | "byte" => CellType::I8,
        "int16" | "short" => CellType::I16,
        "int32" | "intc" => CellType::I32,
        "int64" | "int" | "int_" | "long" | "longlong" | "intp" => CellType::I64,
        "uint8" | "ubyte" => CellType::U8,
        "uint16" | "ushort" => CellType::U16,
        "uint32" | "uintc" => CellType::U32,
        "uint64" | "uint" | "ulong" | "ulonglong" | "uintp" => CellType::U64,
        "float16" | "half" => CellType::F16,
        "float32" | "single" => CellType::F32,
        "float64" | "float" | "double" => CellType::F64,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_stand_before_letters_and_sizes_but_not_before_names() {
        let f64 = Kind::Number(CellType::F64);
        for name in ["<f8", "=f8", "f8", "|f8", "d", "<d", "float64", "double", "f08"] {
            assert_eq!(kind(name), Some((f64, false)), "{name}");
        }
        assert_eq!(kind(">f8"), Some((f64, true)));
        assert_eq!(kind(">d"), Some((f64, true)));
        assert_eq!(kind("|S5"), Some((Kind::Bytes(5), false)));
        for name in
            ["", "<", "<float64", "f8 ", "f16", "g", "c16", "O", "2f8", "f8,f8", "<i3", "U0", "é", "<é", "M8"]
        {
            assert_eq!(kind(name), None, "{name}");
        }
    }
}
