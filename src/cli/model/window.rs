//! `--rows`, `--cols`, `--around`: which part of large matrices is shown.

use std::ops::RangeInclusive;

use clap::Args;

use super::used::first;
use crate::error::{Error, Result};
use crate::graph::Node;
use crate::matrix::{Labels, Shape};
use crate::story::{Window, place_of};
use crate::text::{choices, clip};

/// The part of large matrices that is shown.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "What is shown")]
pub(super) struct WindowArgs {
    /// Show these rows of matrices: 3-9, or 5
    #[arg(long, value_name = "FROM-TO", value_parser = range)]
    rows: Option<RangeInclusive<usize>>,
    /// Show these columns: 100-112
    #[arg(long, value_name = "FROM-TO", value_parser = range, hide_short_help = true)]
    cols: Option<RangeInclusive<usize>>,
    /// Show the rows and columns around a token
    #[arg(long, value_name = "TOKEN", hide_short_help = true)]
    around: Option<String>,
}

impl WindowArgs {
    /// The option that is used, if one is.
    pub fn used(&self) -> Option<&'static str> {
        first(&[
            ("--rows", self.rows.is_some()),
            ("--cols", self.cols.is_some()),
            ("--around", self.around.is_some()),
        ])
    }

    /// # Errors
    /// If rows and columns are chosen twice.
    pub fn agree(&self) -> Result<()> {
        if self.rows.is_some() && self.cols.is_some() && self.around.is_some() {
            return Err(Error::new("--rows and --cols leave nothing for --around to choose")
                .help("leave out --around, or one of the others"));
        }
        Ok(())
    }

    /// # Errors
    /// If no node has these rows or columns, or no token of the text is the one that is named.
    pub fn check(&self, nodes: &[&Node], tokens: &Labels) -> Result<()> {
        let shapes: Vec<Shape> = nodes.iter().map(|node| node.shape()).collect();
        let largest = |size: fn(&Shape) -> usize| shapes.iter().map(size).max().unwrap_or(0);
        let lines = [
            ("--rows", &self.rows, largest(|shape| shape.rows)),
            ("--cols", &self.cols, largest(|shape| shape.cols)),
        ];
        for (option, range, most) in lines {
            if let Some(range) = range.as_ref().filter(|range| *range.start() > most) {
                return Err(Error::new(format!(
                    "{option} begins at {}, but there are {most}",
                    range.start()
                ))
                .help(format!("they are numbered 1 to {most}")));
            }
        }
        // The columns of logits are tokens, too, and most of them are not in the text.
        let of_nodes = nodes.iter().flat_map(|node| [node.labels().0, node.labels().1]).flatten();
        let all: Vec<&Labels> = [tokens].into_iter().chain(of_nodes).collect();
        let is_there = |token: &String| all.iter().any(|labels| place_of(labels, token).is_some());
        match self.around.as_ref().filter(|token| !is_there(token)) {
            Some(token) => Err(Error::new(format!("no token of the text is `{}`", clip(token)))
                .help(format!("its tokens are {}", choices(tokens.iter().map(String::as_str))))),
            None => Ok(()),
        }
    }

    /// The part that is shown.
    pub fn window(&self) -> Window {
        Window { rows: self.rows.clone(), cols: self.cols.clone(), around: self.around.clone() }
    }
}

/// A range of numbers from 1: 3-9, or 5.
pub(super) fn range(text: &str) -> std::result::Result<RangeInclusive<usize>, String> {
    let wrong = || "take a number from 1, or two with a hyphen: 3-9".to_string();
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|number| *number > 0);
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let (from, to) = (number(from).ok_or_else(wrong)?, number(to).ok_or_else(wrong)?);
    if from > to { Err(wrong()) } else { Ok(from..=to) }
}
