//! Lessons: checking, playing in a terminal, quizzes with grades, and exported pages.

#[path = "../browser/mod.rs"]
mod browser;
#[path = "../common/mod.rs"]
mod common;
#[path = "../golden/mod.rs"]
mod golden;
#[cfg(unix)]
#[path = "../terminal/mod.rs"]
mod terminal;

mod bad;
mod check;
mod export;
mod html;
mod live;
mod player;
mod quiz;
mod training;
mod trust;
mod walkthroughs;
