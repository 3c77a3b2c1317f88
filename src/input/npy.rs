//! NumPy's `.npy`: one array.

use std::io::Read;

use crate::error::{Error, Result};
use crate::memory;
use crate::tensor::Element;

use super::cell_type::{ArrayFormat, CellType, Payload};
use super::dims::{checked_cells, shape_text};
use super::item::Item;
use super::limit::Limit;
use super::npy_header::{Header, header};
use super::npy_type::Kind;
use super::open::unreadable;
use crate::text::clip;

/// Bytes of a word besides its characters.
const WORD: u64 = 64;

/// Reads the array of a `.npy` stream that has `length` bytes, its numbers in the type T and in the order of the file. Its
/// bytes are read only once they agree with the header, and memory grows with what is really there.
///
/// # Errors
/// If the stream is no array of numbers (or words), or has more or fewer bytes than its header says, or more than `limit`.
pub(super) fn read<T: Element>(
    name: &str,
    reader: &mut dyn Read,
    length: u64,
    limit: Limit,
) -> Result<Item<T>> {
    let header = header(reader).map_err(|error| error.in_source(name))?;
    let expected = checked_cells(&header.dims, limit.cells())
        .map_err(|error| error.in_source(name))?
        .checked_mul(header.kind.size())
        .map(|bytes| bytes as u64)
        .filter(|&bytes| bytes <= limit.unpacked())
        .ok_or_else(|| {
            Error::new(format!(
                "more than {} MiB, the most that is read of one array",
                limit.unpacked() >> 20
            ))
            .in_source(name)
            .help("save a part of it, or save it in a shorter type: array.astype('float32')")
        })?;
    let shape = shape_text(&header.dims);
    let wrong_length = |present: u64| {
        Error::new(format!("the header says {shape}, {expected} bytes, but {present} bytes follow"))
            .in_source(name)
            .help("the file was cut off or is damaged: save it again with numpy.save")
    };
    let present = length.saturating_sub(header.length);
    if present != expected {
        return Err(wrong_length(present));
    }
    let item = match header.kind {
        Kind::Number(cell) => {
            let Header { big_endian, fortran, dims, .. } = header;
            match (ArrayFormat { cell, big_endian, fortran, dims }).read(name, reader)? {
                Payload::Whole(array) => Item::Array(array),
                Payload::CutOff(read) => return Err(wrong_length(read)),
            }
        }
        Kind::Unicode(_) | Kind::Bytes(_) => {
            let words = expected / header.kind.size().max(1) as u64 * WORD;
            let room = memory::hold(expected.saturating_mul(2).saturating_add(words));
            room.map_err(|error| error.in_source(name))?.keep();
            let mut bytes = Vec::new();
            let read = reader.take(expected).read_to_end(&mut bytes);
            read.map_err(|error| unreadable(name, &error))?;
            if (bytes.len() as u64) < expected {
                return Err(wrong_length(bytes.len() as u64));
            }
            Item::Words(header.words(&bytes).map_err(|error| error.in_source(name))?)
        }
    };
    // The stream must end there, and a zip entry checks its sum at the end.
    match reader.take(1).read_to_end(&mut Vec::new()).map_err(|error| unreadable(name, &error))? {
        0 => Ok(item),
        _ => Err(wrong_length(expected + 1)),
    }
}

/// True if the array of a `.npy` stream holds truth values, as far as its header says.
pub(super) fn is_boolean(name: &str, reader: &mut dyn Read) -> Result<bool> {
    let header = header(reader).map_err(|error| error.in_source(name))?;
    Ok(matches!(header.kind, Kind::Number(CellType::Bool)))
}

impl Header {
    /// Fixed-width text, padded with zeros.
    ///
    /// # Errors
    /// If a word is not Unicode text: as a label it would be another word.
    fn words(&self, bytes: &[u8]) -> Result<Vec<String>> {
        let pieces = bytes.chunks_exact(self.kind.size().max(1)).enumerate();
        let word = |(at, piece): (usize, &[u8])| match self.word(piece) {
            Some(word) => Ok(word.trim_end_matches('\0').to_string()),
            None => Err(self.not_text(at + 1, piece)),
        };
        pieces.map(word).collect()
    }

    /// One word with its padding; `None` if it is not Unicode text.
    fn word(&self, piece: &[u8]) -> Option<String> {
        if !matches!(self.kind, Kind::Unicode(_)) {
            return str::from_utf8(piece).ok().map(str::to_string);
        }
        let (characters, _) = piece.as_chunks::<4>();
        let code = |&c: &[u8; 4]| if self.big_endian { u32::from_be_bytes(c) } else { u32::from_le_bytes(c) };
        characters.iter().map(|c| char::from_u32(code(c))).collect()
    }

    fn not_text(&self, number: usize, piece: &[u8]) -> Error {
        match self.kind {
            Kind::Unicode(_) => Error::new(format!("word {number} has a code point that is no character"))
                .help("write the words anew: a lone surrogate stands for a byte that could not be decoded"),
            _ => {
                let escaped = piece.escape_ascii().to_string();
                let shown = clip(escaped.trim_end_matches("\\x00"));
                Error::new(format!("word {number}, `{shown}`, is not UTF-8 text"))
                    .help("save the words as text: numpy.char.decode(words, 'latin-1')")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::array::Array;
    use super::super::npy_header::MAGIC;
    use super::*;

    /// A `.npy` file with any header.
    fn npy(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        match version {
            1 => bytes.extend((header.len() as u16).to_le_bytes()),
            _ => bytes.extend((header.len() as u32).to_le_bytes()),
        }
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn header_of(descr: &str, fortran: &str, shape: &str) -> String {
        format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n")
    }

    fn read_bytes(bytes: &[u8]) -> Result<Item> {
        read("x.npy", &mut &bytes[..], bytes.len() as u64, Limit::ANY)
    }

    fn fails(bytes: &[u8]) -> String {
        read_bytes(bytes).err().unwrap().to_string()
    }

    fn array(bytes: &[u8]) -> Array {
        match read_bytes(bytes).unwrap() {
            Item::Array(array) => array.row_by_row(),
            Item::Words(words) => panic!("{words:?}"),
        }
    }

    #[test]
    fn all_three_versions_are_read() {
        for version in [1, 2, 3] {
            let read = array(&npy(version, &header_of("'|u1'", "False", "(2, 3)"), &[1, 2, 3, 4, 5, 6]));
            assert_eq!((read.dims(), read.values()), (&[2, 3][..], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0][..]));
        }
        assert!(fails(&npy(9, "", b"")).contains("version 9.0"));
    }

    #[test]
    fn column_order_is_turned_into_row_order() {
        let read = array(&npy(1, &header_of("'|u1'", "True", "(2, 3)"), &[1, 4, 2, 5, 3, 6]));
        assert_eq!(read.values(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn absurd_shapes_are_refused_whatever_follows() {
        for shape in [
            "(4611686018427387904,)",
            "(4611686018427387904, 4611686018427387904)",
            "(99999999999999999999,)",
        ] {
            for dtype in ["'<f8'", "'|b1'", "'<U7'"] {
                let said = fails(&npy(1, &header_of(dtype, "False", shape), &[0; 64]));
                assert!(said.starts_with("x.npy: "), "{said}");
            }
        }
        let said = fails(&npy(1, &header_of("'<f8'", "False", "(100, 100)"), &[0; 64]));
        assert!(said.contains("the header says (100, 100), 80000 bytes, but 64 bytes follow"), "{said}");
        assert!(fails(&npy(1, &header_of("'<f8'", "False", "(0, 4)"), b"")).contains("no numbers"));
        assert!(
            fails(&npy(1, &header_of("'<f8'", "False", "(-1, 4)"), b"")).contains("header cannot be read")
        );
    }

    #[test]
    fn headers_that_would_keep_a_parser_busy_are_refused_at_once() {
        for (open, close) in [("[", "]"), ("(", ")"), ("{1: ", "}")] {
            let nested = format!("{{'descr': {}'<f8'{}}}", open.repeat(900), close.repeat(900));
            assert!(fails(&npy(1, &nested, b"")).contains("cannot be read"));
        }
        let nested = format!("{}'shape': (1,){}", "{1: ".repeat(20), "}".repeat(20));
        assert!(fails(&npy(1, &nested, b"")).contains("cannot be read"));
        assert!(fails(&npy(2, &" ".repeat(10_001), b"")).contains("the header has 10001 bytes"));
        let mut lie = npy(2, "", b"");
        lie[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(fails(&lie).contains("the header has 4294967295 bytes"));
        let long = format!("{{'descr': {}, 'fortran_order': False, 'shape': (1,)}}", "-+1j".repeat(900));
        assert!(fails(&npy(2, &long, b"")).contains("cannot be read"));
    }

    #[test]
    fn a_cut_off_file_is_refused_wherever_it_is_cut() {
        let whole = npy(1, &header_of("'<f8'", "False", "(2,)"), &[0; 16]);
        assert!(read_bytes(&whole).is_ok());
        for length in 0..whole.len() {
            assert!(read_bytes(&whole[..length]).is_err(), "{length} of {}", whole.len());
        }
        let longer = [whole, vec![0]].concat();
        assert!(fails(&longer).contains("but 17 bytes follow"));
    }

    #[test]
    fn types_that_are_no_numbers_are_named() {
        for (descr, named) in
            [("'|O'", "|O"), ("'<c16'", "<c16"), ("'<M8[ns]'", "<M8[ns]"), ("'<f16'", "<f16")]
        {
            let said = fails(&npy(1, &header_of(descr, "False", "(1,)"), &[0; 16]));
            assert!(said.contains(named) && said.contains("astype(float)"), "{said}");
        }
        let record = "[('a', '<f8')]";
        assert!(fails(&npy(1, &header_of(record, "False", "(1,)"), &[0; 8])).contains("records"));
    }

    #[test]
    fn a_header_is_taken_as_numpy_takes_it() {
        let data = [1.5f64.to_le_bytes(), 2.5f64.to_le_bytes()].concat();
        for (descr, order, shape) in [
            ("'f8'", "False", "(2,)"),
            ("'=f8'", "False", "(2,)"),
            ("'float64'", "False", "(2,)"),
            ("'<d'", "False", "(2,)"),
            ("'<f8'", "False", "(1L, 2L)"),
            ("'<f8'", "False", "(0x1, 2,) # one row\n"),
        ] {
            let read = array(&npy(1, &header_of(descr, order, shape), &data));
            assert_eq!(read.values(), [1.5, 2.5], "{descr} {shape}");
        }
        for (descr, order, shape) in [
            ("'<f8'", "False", "(01, 2)"),
            ("'<f8'", "0", "(2,)"),
            ("'<f8'", "False", "(2)"),
            ("'<f8'", "False", "[2]"),
            ("'<f8'", "False, 'x': 1", "(2,)"),
            ("'<f8', 'descr': '<f8'", "False", "(2,)"),
        ] {
            fails(&npy(1, &header_of(descr, order, shape), &data));
        }
        // Python 3 alone wrote version 3.
        fails(&npy(3, &header_of("'<f8'", "False", "(1L, 2L)"), &data));
    }

    #[test]
    fn words_are_read_for_tokens() {
        let data: Vec<u8> = "bat\0höh".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        let item =
            read_bytes(&npy(1, &header_of("'<U4'", "False", "(2,)"), &[data, vec![0; 4]].concat())).unwrap();
        assert!(matches!(item, Item::Words(words) if words == ["bat", "höh"]));
    }

    #[test]
    fn words_that_are_no_text_are_refused_and_not_changed() {
        let header = header_of("'|S4'", "False", "(2,)");
        let said = fails(&npy(1, &header, b"bat\0h\xf6h\0"));
        assert!(said.starts_with("x.npy: word 2, `h\\xf6h`, is not UTF-8 text\n  help: save"), "{said}");
        let header = header_of("'<U1'", "False", "(1,)");
        for code in [0xdcf6_u32, 0x11_0000] {
            let said = fails(&npy(1, &header, &code.to_le_bytes()));
            assert!(said.starts_with("x.npy: word 1 has a code point that is no character"), "{said}");
        }
        let kept = npy(1, &header_of("'|S4'", "False", "(1,)"), "höh".as_bytes());
        assert!(matches!(read_bytes(&kept).unwrap(), Item::Words(words) if words == ["höh"]));
    }

    #[test]
    fn what_is_no_npy_file_is_said_so() {
        assert!(fails(b"1,2,3\n4,5,6\n").contains("not a .npy file"));
        assert!(fails(b"").contains("ends within its header"));
    }
}
