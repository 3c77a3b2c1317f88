#!/usr/bin/env bash
# Draws the pictures of the README again. The picture of the page needs Chromium; the others need cargo alone.
set -euo pipefail
cd "$(dirname "$0")/.."

attn() { cargo run --quiet -- "$@"; }
svg() { cargo run --quiet --example screen_to_svg -- "$@"; }

# A class votes: the numbers are an example.
attn lesson export 0-tour --to cast --answer "share=A11 B6 C4" | svg --cast 3 > docs/tour.svg
svg diagnose --random 6,4 --seed 1 --causal --batch examples/data/answers > docs/batch.svg

# The page, with the pointer on a number.
attn attend --words "bat cave racket" --causal --format html > docs/page.html
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1000,700 \
  --screenshot=docs/page.png "file://$PWD/docs/page.html"
rm docs/page.html
