//! The command line and its screens: commands, pages, themes, steps, explanations, and their wording.

mod commands;
mod derivations;
mod every_screen;
mod explain;
mod explain_command;
mod foreign;
mod front;
mod gradient;
mod html;
mod language;
mod layout;
mod options;
mod steps;
mod theme;
mod tokens;
mod versus;
