//! Text from elsewhere: labels, names of files, arguments, keys, the messages of other crates. Before it is shown, it passes
//! [`visible`], so that it cannot drive a terminal, reorder a line, or look like something that it is not.

mod escape;
mod os;

pub use escape::{hidden, visible, visible_lines};
pub use os::{from_os, from_path, to_os, to_path};
