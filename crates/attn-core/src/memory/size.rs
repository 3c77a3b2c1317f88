//! Sizes of memory as people type them.

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
