//! Which options belong to what is shown: one that would do nothing is refused.

use crate::cli::options::first_given;
use crate::error::{Error, Result};

use super::ModelArgs;
use super::folder::View;

impl ModelArgs {
    /// What these options ask for.
    pub(super) fn view(&self) -> View {
        let has_text = self.text.is_some() || self.ids.is_some();
        let has_nodes = !self.nodes.only.is_empty() || self.nodes.explain.given_option().is_some();
        if self.survey {
            View::Survey
        } else if !has_text {
            View::Model
        } else if self.layer.is_some() || has_nodes {
            View::Layers
        } else if !self.save.is_empty() {
            View::Files
        } else if self.more.count().is_some() {
            View::Continuation
        } else {
            View::Text
        }
    }

    /// Checks that every option has something to do.
    ///
    /// # Errors
    /// If one has not.
    pub(super) fn check_options(&self, has_head: bool) -> Result<()> {
        let shown = self.view();
        if shown == View::Model {
            return self.need_no_text();
        }
        if self.head.is_some() && self.nodes.only.is_empty() && self.versus.options().is_some() {
            return Err(Error::new("--versus compares all heads of a layer, not those of --head")
                .help("name the matrices to compare, for example --only A"));
        }
        self.check_window(shown)?;
        self.check_steps(shown)?;
        if shown == View::Layers
            && self.nodes.explain.given_option() == Some("--symbolic")
            && self.shows_whole_layers()
        {
            return Err(Error::new(
                "--symbolic needs a cell, a matrix or a layer: all of a model is too much",
            )
            .help("write --symbolic 'L1.A_1[2,1]', or add --only L1.A_1, or --layer 1"));
        }
        if self.top.is_some() && (shown != View::Text || !has_head) {
            return Err(Error::new(
                "--top is the number of next words that are shown, and none are shown here",
            )
            .help("leave out --top"));
        }
        // A page for a browser has room for matrices beside the tables.
        let has_matrices = shown == View::Layers || shown == View::Text && self.output.is_page();
        if self.output.digits.precision.is_some() && !has_matrices {
            return Err(Error::new("--precision is about the numbers of matrices, and none are shown here")
                .help("add --layer 1, or --only with the name of a matrix"));
        }
        if self.versus.options().is_some() && shown == View::Text && !has_head {
            return Err(Error::new(
                "--versus compares predictions, and this model has no head that predicts words",
            )
            .help("compare a layer: add --layer 1"));
        }
        Ok(())
    }

    /// Whether nothing says which layer or node is meant.
    fn shows_whole_layers(&self) -> bool {
        self.layer.is_none() && self.nodes.only.is_empty() && self.nodes.explain.addresses().is_empty()
    }

    /// Options that say something about a text, where there is none.
    fn need_no_text(&self) -> Result<()> {
        let all = [
            ("--next", self.more.count().is_some()),
            ("--layer", self.layer.is_some()),
            ("--only", !self.nodes.only.is_empty()),
            ("--save", !self.save.is_empty()),
            ("--top", self.top.is_some()),
            ("--all", self.all),
            ("--versus", self.versus.options().is_some()),
            ("--precision", self.output.digits.precision.is_some()),
        ];
        let used = first_given(&all)
            .or(self.nodes.explain.given_option())
            .or(self.varied.given_option())
            .or(self.window.given_option());
        match used.or(self.steps.given_option()) {
            Some(option) => {
                Err(Error::new(format!("{option} needs a text")).help("give TEXT after the folder, or --ids"))
            }
            None => Ok(()),
        }
    }

    /// A part of matrices is chosen only where matrices are shown.
    fn check_window(&self, shown: View) -> Result<()> {
        let shows_matrices = match (self.nodes.explain.given_option(), self.versus.options()) {
            (Some("--explain"), _) => !self.nodes.only.is_empty(),
            (explained, versus) => explained.is_none() && versus.is_none(),
        };
        if shown == View::Layers && shows_matrices {
            return self.window.check_options();
        }
        match self.window.given_option() {
            Some(option) => {
                Err(Error::new(format!("{option} chooses a part of matrices, and none is shown whole"))
                    .help("it goes with --layer 1, or with --only and the name of a matrix"))
            }
            None => Ok(()),
        }
    }

    /// Steps are chosen only where steps are shown.
    fn check_steps(&self, shown: View) -> Result<()> {
        if shown == View::Layers {
            return self.steps.check_options(&self.nodes, self.versus.options().is_some());
        }
        match self.steps.given_option() {
            Some(option) => Err(Error::new(format!("{option} chooses among steps, and none are shown"))
                .help("it goes with --layer 1")),
            None => Ok(()),
        }
    }
}
