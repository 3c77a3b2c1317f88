//! Lessons: checking, playing in a terminal, quizzes with grades, and exported pages.

mod bad;
mod check;
mod export;
mod hand_in;
mod html;
mod live;
mod numbers;
mod player;
mod quiz;
mod training;
mod trust;
mod walkthroughs;
