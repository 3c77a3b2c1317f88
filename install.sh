#!/bin/sh
# Puts attn on this machine: ATTN_ADDRESS=https://… sh install.sh [FOLDER]
#
# ATTN_ADDRESS is where the files of a release are: attn-TARGET.tar.gz, and its checksum. FOLDER is ~/.local/bin unless it is given.
set -eu

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

[ -n "${ATTN_ADDRESS-}" ] || fail "set ATTN_ADDRESS to where the files of a release are"
folder=${1-$HOME/.local/bin}
case "$(uname -s) $(uname -m)" in
"Linux x86_64") target=x86_64-unknown-linux-musl ;;
"Linux aarch64" | "Linux arm64") target=aarch64-unknown-linux-musl ;;
"Darwin x86_64") target=x86_64-apple-darwin ;;
"Darwin arm64") target=aarch64-apple-darwin ;;
*) fail "there is no program for $(uname -s) on $(uname -m): build it from source" ;;
esac

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
file=attn-$target.tar.gz
for name in "$file" "$file.sha256"; do
  if command -v curl >/dev/null; then
    curl -fsSL "$ATTN_ADDRESS/$name" -o "$place/$name"
  elif command -v wget >/dev/null; then
    wget -qO "$place/$name" "$ATTN_ADDRESS/$name"
  else
    fail "there is neither curl nor wget"
  fi || fail "cannot read $ATTN_ADDRESS/$name"
done
(cd "$place" && { sha256sum -c "$file.sha256" || shasum -a 256 -c "$file.sha256"; } >/dev/null 2>&1) ||
  fail "$file is not what its checksum says: nothing was installed"
tar -xzf "$place/$file" -C "$place"
version=$("$place/attn" --version) || fail "the program in $file does not run here: nothing was installed"
mkdir -p "$folder"
# Whole or not at all, also where it is running.
mv "$place/attn" "$folder/attn.new"
mv "$folder/attn.new" "$folder/attn"
echo "$version is in $folder"
case ":$PATH:" in *":$folder:"*) ;; *) echo "Add $folder to your PATH." ;; esac
