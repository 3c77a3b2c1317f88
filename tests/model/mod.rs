//! Models from their folders: the numbers of `transformers`, and what a user sees.

mod fixtures;

mod addressed;
mod attn_small;
mod broken;
mod broken_folders;
mod broken_list;
mod cached;
mod changing_file;
mod command;
mod defaults;
mod explained;
mod learn;
mod logits_file;
mod masked;
mod measured;
mod opening;
mod options;
mod page;
mod porting;
mod reference;
mod screen;
mod tied;
mod weights;
mod words;
mod words_as_folder;
mod zeros;
