#!/usr/bin/env bash
# Draws the pictures of the README again. The picture of the page needs Chromium; the others need cargo alone.
set -euo pipefail
cd "$(dirname "$0")/.."

attn() { cargo run --quiet -- "$@"; }
example() { cargo run --quiet --example "$@"; }

# A minute in the explorer: the keys were recorded by `attn explore … --record`.
attn attend -x --words "bat cave racket" --causal --cell 'O[bat,animals]' --theme dark --play docs/walk.keys.txt --cast docs/walk.cast
example screen_to_svg -- --cast 0 < docs/walk.cast > docs/walk.svg

# A class votes: the numbers are an example.
attn lesson export 0-tour --to cast --answer "share=A11 B6 C4" | example screen_to_svg -- --cast 3 > docs/tour.svg
example screen_to_svg -- diagnose --random 6,4 --seed 1 --causal --batch examples/data/answers > docs/batch.svg

# The page, with the pointer on a number.
example page_to_png -- 'td[data-from="10:r2 6:c1"]' attend --words "bat cave racket" --causal --only A,O | base64 -d > docs/page.png

# The page of a sentence in a model: a head is open, and the pointer is on one of its weights.
example page_to_png -- --open '[aria-label^="L1.A_3,"]' '[aria-label="L1.A_3"] tr:nth-child(9) td:nth-of-type(6)' \
  model words "the bat sleeps in the cave . it is" | base64 -d > docs/model.png
