#!/usr/bin/env python3
"""Compresses the program of pages and puts it, with its hash, where the program takes it from: python3 crates/attn-page/pack.py TARGET_FOLDER

With zopfli (pip install zopfli) it is a twentieth smaller than with zlib."""
import hashlib
import pathlib
import sys
import zlib

try:
    from zopfli.zlib import compress
except ImportError:
    def compress(data):
        return zlib.compress(data, 9)

root = pathlib.Path(__file__).parents[2]
built = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else root / "target") / "wasm32-unknown-unknown/page/attn_page.wasm"
program = built.read_bytes()
packed = compress(program)
(root / "src/render/attn_page.zlib").write_bytes(packed)
(root / "src/render/attn_page.wasm.sha256").write_text(f"{hashlib.sha256(program).hexdigest()}  attn_page.wasm\n")
print(f"{len(program)} bytes, {len(packed)} compressed")
