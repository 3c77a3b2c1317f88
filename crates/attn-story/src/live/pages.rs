//! The open stories of a page, and the answers to its requests.

use serde_json::{Value, json};

use super::open_story::OpenStory;
use super::request::Request;
use super::view;
use crate::error::{Error, Result};
use crate::explore::update;

/// All stories of a page that are open.
#[derive(Default)]
pub struct Pages {
    open: Vec<OpenStory>,
}

impl Pages {
    /// No story is open.
    pub const fn new() -> Pages {
        Pages { open: Vec::new() }
    }

    /// The answer to a request, both in JSON. What cannot be done is answered by `{"error": "…"}`.
    pub fn answer(&mut self, request: &str) -> String {
        let answer = Request::read(request).and_then(|request| self.follow(request));
        answer.unwrap_or_else(|error| json!({ "error": error.to_string() })).to_string()
    }

    fn follow(&mut self, request: Request) -> Result<Value> {
        match request {
            Request::Open(opening, changed) => {
                self.open.push(OpenStory::new(*opening, &changed)?);
                let page = self.open.len() - 1;
                Ok(view::view(page, &self.open[page], true))
            }
            Request::Judge(judge, answer) => {
                let said = judge.judge(&answer)?;
                serde_json::to_value(said).map_err(|error| Error::new(error.to_string()))
            }
            Request::Do(page, events) => {
                let story = self.open.get_mut(page).ok_or_else(|| Error::new("this story is not open"))?;
                let before = story.state.clone();
                for event in events {
                    for event in event.events(&story.state)? {
                        story.state = update(story.state.clone(), event);
                    }
                }
                let has_changed = !story.state.has_version_of(&before);
                Ok(view::view(page, story, has_changed))
            }
        }
    }
}
