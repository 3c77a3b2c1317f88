//! The ground that a terminal writes on.

use crate::elementary::pow;

/// The background of the screen: dark, light or unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Theme {
    /// The background is not known: shades have to be readable on both.
    #[default]
    Unknown,
    /// Light text on a dark ground.
    Dark,
    /// Dark text on a light ground.
    Light,
}

/// The luminance on which black and white text are equally easy to read.
const MIDDLE: f64 = 0.179;

impl Theme {
    /// The theme of a ground of this red, green and blue, each from 0 to 1.
    pub fn of_ground(ground: [f64; 3]) -> Theme {
        if luminance(ground) > MIDDLE { Theme::Light } else { Theme::Dark }
    }

    /// The theme according to `COLORFGBG`: `15;0`, the colours of text and ground among the sixteen.
    pub fn of_colorfgbg(text: &str) -> Theme {
        match text.rsplit(';').next().and_then(|ground| ground.parse::<u8>().ok()) {
            Some(0..=6 | 8) => Theme::Dark,
            Some(7 | 9..=15) => Theme::Light,
            _ => Theme::Unknown,
        }
    }
}

/// Relative luminance of a red, green and blue from 0 to 1, as WCAG 2 defines it.
pub fn luminance([r, g, b]: [f64; 3]) -> f64 {
    let linear = |c: f64| if c <= 0.040_45 { c / 12.92 } else { pow((c + 0.055) / 1.055, 2.4) };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ground_is_dark_or_light() {
        for (ground, theme) in [
            ([0.0, 0.0, 0.0], Theme::Dark),
            ([0.0, 43.0 / 255.0, 54.0 / 255.0], Theme::Dark),
            ([0.18, 0.2, 0.25], Theme::Dark),
            ([1.0, 1.0, 1.0], Theme::Light),
            ([0.99, 0.96, 0.89], Theme::Light),
            ([0.5, 0.5, 0.5], Theme::Light),
        ] {
            assert_eq!(Theme::of_ground(ground), theme, "{ground:?}");
        }
    }

    #[test]
    fn colorfgbg_names_the_ground_last() {
        for (text, theme) in [
            ("15;0", Theme::Dark),
            ("0;15", Theme::Light),
            ("0;default;15", Theme::Light),
            ("12;8", Theme::Dark),
            ("0;7", Theme::Light),
            ("0;default", Theme::Unknown),
            ("", Theme::Unknown),
            ("0;300", Theme::Unknown),
        ] {
            assert_eq!(Theme::of_colorfgbg(text), theme, "{text}");
        }
    }
}
