//! Measured quantities as people write them.

/// A time in the unit that leaves one to three digits before the point.
pub(super) fn seconds(seconds: f64) -> String {
    let (number, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s if s >= 1e-6 => (s * 1e6, "µs"),
        s => (s * 1e9, "ns"),
    };
    format!("{} {unit}", digits(number))
}

/// A waiting time.
pub(super) fn waiting(seconds: f64) -> String {
    match seconds {
        s if s >= 7200.0 => format!("{} hours", digits(s / 3600.0)),
        s if s >= 180.0 => format!("{:.0} minutes", s / 60.0),
        s => format!("{s:.0} seconds"),
    }
}

/// Three digits, or all before the point.
pub(super) fn digits(number: f64) -> String {
    match number {
        x if x >= 100.0 => format!("{x:.0}"),
        x if x >= 10.0 => format!("{x:.1}"),
        x => format!("{x:.2}"),
    }
}

/// Per second, in thousands of millions.
pub(super) fn giga(rate: f64) -> String {
    digits(rate / 1e9)
}

/// A part of a whole in percent.
pub(super) fn percent(part: f64, whole: f64) -> String {
    let share = 100.0 * part / whole;
    if share < 10.0 { format!("{share:.1} %") } else { format!("{share:.0} %") }
}

/// How many times as much.
pub(super) fn times(now: f64, before: f64) -> String {
    if before > 0.0 { format!("×{}", digits(now / before)) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

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
