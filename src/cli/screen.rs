//! The options of the screen: width, colours, characters, and its background where numbers have shades.

use clap::{Args, ValueEnum};

use super::env::Env;
use crate::render::{Charset, Screen, Theme};
use crate::terminal;

/// The screen that is written for.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(super) struct ScreenArgs {
    /// Columns of the screen [default: the terminal's, or 80]
    ///
    /// The variables ATTN_WIDTH and COLUMNS set it too.
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = clap::value_parser!(u16).range(20..=10_000))]
    pub width: Option<u16>,
    /// Colours: auto, always or never
    ///
    /// `auto` looks at NO_COLOR, CLICOLOR_FORCE, FORCE_COLOR and the terminal.
    #[arg(long, value_enum, default_value = "auto", value_name = "WHEN", hide_short_help = true)]
    pub color: ColorArg,
    /// Characters: auto, utf8 or ascii
    #[arg(long, value_enum, default_value = "auto", value_name = "SET", hide_short_help = true)]
    pub charset: CharsetArg,
}

/// The background of the screen, for commands that shade numbers.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output")]
pub(super) struct ThemeArgs {
    /// Background of the terminal: auto, dark or light
    ///
    /// Shades stand out from it. `auto` asks the terminal, or reads COLORFGBG.
    #[arg(long, value_enum, default_value = "auto", value_name = "GROUND", hide_short_help = true)]
    theme: ThemeArg,
}

/// `--color`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorArg {
    /// Detect automatically
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// `--theme`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ThemeArg {
    /// Dark
    Dark,
    /// Light
    Light,
    /// Detect automatically
    Auto,
}

/// `--charset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum CharsetArg {
    /// Detect from the locale
    Auto,
    /// All characters
    Utf8,
    /// ASCII only
    Ascii,
}

impl ScreenArgs {
    /// The screen under these options and surroundings.
    pub(super) fn screen(&self, env: &Env) -> Screen {
        Screen {
            width: self.width.map_or(env.width, usize::from).max(20),
            colour: match self.color {
                ColorArg::Auto => env.colour,
                ColorArg::Always => true,
                ColorArg::Never => false,
            },
            theme: env.theme,
            charset: match self.charset {
                CharsetArg::Auto => env.charset,
                CharsetArg::Utf8 => Charset::Utf8,
                CharsetArg::Ascii => Charset::Ascii,
            },
        }
    }
}

impl ThemeArgs {
    /// The screen with the background of the option, or else of the environment.
    pub(super) fn of(&self, screen: Screen) -> Screen {
        let theme = match self.theme {
            ThemeArg::Dark => Theme::Dark,
            ThemeArg::Light => Theme::Light,
            ThemeArg::Auto => screen.theme,
        };
        Screen { theme, ..screen }
    }

    /// The screen for shaded numbers: a terminal with colours is asked for its background if no option gives it.
    pub(super) fn asked_of(&self, screen: Screen, env: &Env) -> Screen {
        if self.theme == ThemeArg::Auto && screen.colour && env.asks_terminal {
            Screen { theme: terminal::ground().map_or(screen.theme, Theme::of_ground), ..screen }
        } else {
            self.of(screen)
        }
    }
}
