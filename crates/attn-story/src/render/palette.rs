//! The colours of shades.
//!
//! Blue for positive numbers, orange for negative ones: they differ with every common kind of colour blindness. The larger a
//! number, the more its shade stands out from the screen: light shades on a dark screen, dark ones on a light screen. If the
//! background is unknown, small numbers stay unshaded and larger ones get shades of middle luminance, which stand out from
//! both. Text and shade are set together, so that the number can be read on its shade.

use super::heat::{LEVELS, Shade};
use super::theme::Theme;

/// The shades of a screen, as numbers of the 256-colour palette: text and ground for each level, [`LEVELS`] of them. What is
/// near 0 has none.
struct Palette {
    positive: [Option<(u8, u8)>; LEVELS],
    negative: [Option<(u8, u8)>; LEVELS],
}

const BLACK: u8 = 16;
const WHITE: u8 = 231;

const fn light_on(ground: u8) -> Option<(u8, u8)> {
    Some((WHITE, ground))
}

const fn dark_on(ground: u8) -> Option<(u8, u8)> {
    Some((BLACK, ground))
}

const LIGHT: Palette = Palette {
    positive: [
        None,
        dark_on(195),
        dark_on(153),
        dark_on(117),
        dark_on(75),
        dark_on(33),
        light_on(26),
        light_on(18),
    ],
    negative: [
        None,
        dark_on(230),
        dark_on(223),
        dark_on(222),
        dark_on(215),
        dark_on(208),
        dark_on(172),
        light_on(94),
    ],
};

const DARK: Palette = Palette {
    positive: [
        None,
        light_on(17),
        light_on(19),
        light_on(24),
        dark_on(32),
        dark_on(75),
        dark_on(117),
        dark_on(195),
    ],
    negative: [
        None,
        light_on(52),
        light_on(94),
        light_on(130),
        dark_on(172),
        dark_on(208),
        dark_on(215),
        dark_on(223),
    ],
};

const EITHER: Palette = Palette {
    positive: [None, None, None, dark_on(66), dark_on(66), dark_on(31), dark_on(31), dark_on(31)],
    negative: [None, None, None, dark_on(131), dark_on(131), light_on(130), light_on(130), light_on(130)],
};

/// The colours of a shade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShadeColours {
    /// The text, as a number of the 256-colour palette.
    pub ink: u8,
    /// The colour behind it.
    pub ground: u8,
    /// True if the text is bold too.
    pub bold: bool,
}

impl Shade {
    /// The colours of the shade on a screen; `None` for a cell that keeps the screen's own colours.
    pub fn look(self, theme: Theme) -> Option<ShadeColours> {
        let palette = match theme {
            Theme::Light => LIGHT,
            Theme::Dark => DARK,
            Theme::Unknown => EITHER,
        };
        let (shades, level) = match self {
            Shade::Positive(level) => (palette.positive, level),
            Shade::Negative(level) => (palette.negative, level),
            Shade::None | Shade::Masked => return None,
        };
        let (ink, ground) = shades[level]?;
        Some(ShadeColours { ink, ground, bold: theme == Theme::Unknown && level == LEVELS - 1 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance of a colour of the 6×6×6 cube or a grey.
    fn luminance(colour: u8) -> f64 {
        let level = |step: u8| if step == 0 { 0.0 } else { 55.0 + 40.0 * f64::from(step) };
        let rgb = match colour {
            232..=255 => [8.0 + 10.0 * f64::from(colour - 232); 3],
            _ => [(colour - 16) / 36, (colour - 16) / 6 % 6, (colour - 16) % 6].map(level),
        };
        crate::render::theme::luminance(rgb.map(|c| c / 255.0))
    }

    fn contrast(a: f64, b: f64) -> f64 {
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// #111111 and #ffffff.
    fn screens() -> [(Theme, f64); 2] {
        let dark = crate::render::theme::luminance([17.0 / 255.0; 3]);
        [(Theme::Dark, dark), (Theme::Light, 1.0)]
    }

    const SIDES: [fn(usize) -> Shade; 2] = [Shade::Positive, Shade::Negative];

    #[test]
    fn every_number_can_be_read_on_its_shade() {
        let mut shaded = 0;
        for theme in [Theme::Dark, Theme::Light, Theme::Unknown] {
            for (level, side) in (0..LEVELS).flat_map(|level| SIDES.map(|side| (level, side))) {
                let Some(look) = side(level).look(theme) else { continue };
                let found = contrast(luminance(look.ink), luminance(look.ground));
                assert!(found >= 4.5, "{:?} {theme:?}: {found:.2}", side(level));
                shaded += 1;
            }
        }
        assert_eq!(shaded, 2 * (7 + 7 + 5));
    }

    #[test]
    fn larger_numbers_have_stronger_shades() {
        for (theme, screen) in screens() {
            for side in SIDES {
                let found: Vec<f64> = (1..LEVELS)
                    .map(|level| contrast(luminance(side(level).look(theme).unwrap().ground), screen))
                    .collect();
                assert!(found.is_sorted_by(|a, b| a < b), "{theme:?} {:?}: {found:.2?}", side(0));
                assert!(found[LEVELS - 2] >= 3.0, "{theme:?} {:?}: {found:.2?}", side(0));
                assert_eq!(side(0).look(theme), None, "what is near 0 keeps the screen's colours");
            }
        }
    }

    #[test]
    fn shades_for_an_unknown_screen_fit_both_grounds() {
        for side in SIDES {
            let looks: Vec<Option<ShadeColours>> =
                (0..LEVELS).map(|level| side(level).look(Theme::Unknown)).collect();
            assert!(looks[..3].iter().all(Option::is_none) && looks[3..].iter().all(Option::is_some));
            for look in looks.iter().flatten() {
                for (_, screen) in screens() {
                    let found = contrast(luminance(look.ground), screen);
                    // 4.35 from both is the most there is: #ffffff and #111111 are 18.9 apart.
                    assert!((3.9..=4.85).contains(&found), "{look:?}: {found:.2}");
                }
            }
            let bold: Vec<bool> = looks[3..].iter().flatten().map(|look| look.bold).collect();
            assert_eq!(bold, [false, false, false, false, true]);
        }
    }
}
