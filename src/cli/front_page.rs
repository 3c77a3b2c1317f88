//! The help of `attn` without arguments.

/// The text of `attn`, `attn -h`, `attn --help` and `attn help`; it fits a terminal of 80×24.
pub(super) const FRONT: &str = "\
attn computes attention and shows where every number comes from.

Try these first:
  attn lesson play 0-tour                            a tour, 10 minutes
  attn demo mask                                     one idea, step by step
  attn attend --words \"The bat lives in the cave\"    attention over your words
  attn softmax 1 2 3 --explain 'A[1,3]'              where a number comes from
  attn find softmax                                  everything about a word

Learn      lesson     lessons, alone or in class: play, quiz, check, export
           demo       small computations     glossary    the terms, explained
Compute    attend     attention over your own words or matrices
           explore    the same with arrow keys: change a number, see what moves
           softmax    numbers to weights     similarity  how alike words are
           params     a model's weights      bench       speed on this machine
           tokens     a model's tokens       model       a model of your own
           learn      train a small model in a second, and see what heads learn
Check      diagnose   find the mistake in your own result
Reference  find       search everything      examples    data to try things on
           errata     mistakes in the texts  notation    letters of the texts
           help       variables and options  man, completions  for your shell

attn COMMAND -h explains a command, attn COMMAND --help explains all of it.
";
