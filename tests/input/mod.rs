//! Input: files, standard input, words and configurations, valid and broken.

mod against_numpy;
mod bad;
mod binary;
mod both_paths;
mod corpus;
mod dropped;
mod formats;
mod headers;
mod layers;
mod masks_per_head;
mod memory;
mod misread;
mod model_folder;
mod own_words;
mod params;
mod pasted;
mod refusals;
mod round_trips;
mod saved;
mod saved_ops;
mod saving;
mod stored;
mod time;
mod tokenizer;
