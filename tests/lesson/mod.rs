//! Lessons: checking, playing in a terminal, quizzes with grades, and exported pages.

mod bad;
mod check;
mod export;
mod html;
mod live;
mod numbers;
mod player;
mod quiz;
mod training;
mod trust;
mod walkthroughs;
