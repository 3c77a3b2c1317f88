//! Measured quantities as people write them: bytes, times, rates, shares.

/// Bytes in binary units with one decimal: `512 bytes`, `1.0 GiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    match in_units(bytes, &UNITS) {
        (_, None) => format!("{bytes} bytes"),
        (number, Some(unit)) => format!("{number:.1} {unit}"),
    }
}

/// Bytes as an error says them: `1.5 GiB`, `12 MiB`, `1.5 MiB`, `100 KiB`.
pub fn size_in_brief(bytes: u64) -> String {
    match in_units(bytes, &["KiB", "MiB", "GiB"]) {
        (_, None) => format!("{bytes} bytes"),
        (number, Some(unit)) if unit == "GiB" || unit == "MiB" && number < 10.0 => {
            format!("{number:.1} {unit}")
        }
        (number, Some(unit)) => format!("{number:.0} {unit}"),
    }
}

/// Bytes in the largest of these units that is not too large; `None` for plain bytes.
fn in_units(bytes: u64, units: &[&'static str]) -> (f64, Option<&'static str>) {
    let mut number = bytes as f64;
    let mut unit = None;
    for larger in units {
        if number < 1024.0 {
            break;
        }
        number /= 1024.0;
        unit = Some(*larger);
    }
    (number, unit)
}

/// A time in the unit that leaves one to three digits before the point.
pub fn seconds(seconds: f64) -> String {
    let (number, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s if s >= 1e-6 => (s * 1e6, "µs"),
        s => (s * 1e9, "ns"),
    };
    format!("{} {unit}", three_digits(number))
}

/// A waiting time.
pub fn waiting(seconds: f64) -> String {
    match seconds {
        s if s >= 7200.0 => format!("{} hours", three_digits(s / 3600.0)),
        s if s >= 180.0 => format!("{:.0} minutes", s / 60.0),
        s => format!("{s:.0} seconds"),
    }
}

/// Three digits, or all before the point.
pub fn three_digits(number: f64) -> String {
    match number {
        x if x >= 100.0 => format!("{x:.0}"),
        x if x >= 10.0 => format!("{x:.1}"),
        x => format!("{x:.2}"),
    }
}

/// Per second, in thousands of millions.
pub fn giga(rate: f64) -> String {
    three_digits(rate / 1e9)
}

/// A part of a whole in percent.
pub fn percent(part: f64, whole: f64) -> String {
    let share = 100.0 * part / whole;
    if share < 10.0 { format!("{share:.1} %") } else { format!("{share:.0} %") }
}

/// The ratio of two numbers, in words.
pub fn times(now: f64, before: f64) -> String {
    if before > 0.0 { format!("×{}", three_digits(now / before)) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_the_largest_unit_that_fits() {
        assert_eq!([size(1_073_741_824), size(512), size(80 << 20)], ["1.0 GiB", "512 bytes", "80.0 MiB"]);
        let brief = [1023, 100 << 10, 3 << 19, 12 << 20, 3 << 29, 5 << 40].map(size_in_brief);
        assert_eq!(brief, ["1023 bytes", "100 KiB", "1.5 MiB", "12 MiB", "1.5 GiB", "5120.0 GiB"]);
    }

    #[test]
    fn quantities_have_three_digits_and_a_unit() {
        assert_eq!(seconds(0.001_234), "1.23 ms");
        assert_eq!(seconds(123.4e-6), "123 µs");
        assert_eq!(seconds(12.0), "12.0 s");
        assert_eq!(giga(498.3e9), "498");
        assert_eq!(percent(1.0, 8.0), "12 %");
        assert_eq!(percent(1.0, 80.0), "1.2 %");
        assert_eq!(times(8.0, 2.0), "×4.00");
        assert_eq!(times(8.0, 0.0), "");
        assert_eq!(waiting(60.0), "60 seconds");
        assert_eq!(waiting(273.0), "5 minutes");
        assert_eq!(waiting(36_000.0), "10.0 hours");
    }
}
