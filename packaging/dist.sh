#!/bin/sh
# Makes the archive of a release in target/dist, and a Debian package where cargo-deb is installed; then tries the archive.
#
#   packaging/dist.sh [TARGET]        the target that this machine builds for, if none is named
#
# Needs cargo-about for the licences (cargo install --locked cargo-about --features cli).
set -eu
cd "$(dirname "$0")/.."

host=$(rustc --print host-tuple)
target=${1:-$host}
version=$(cargo pkgid --package tamis-cli | sed 's/.*[#@]//')
name=tamis-$version-$target
case $target in *windows*) program=tamis.exe ;; *) program=tamis ;; esac
out=target/dist
built=target/$target/release

# Messages of panics name no path of this machine.
RUSTFLAGS="--remap-path-prefix=$PWD=/tamis --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo" \
    cargo build --locked --release --target "$target" --package tamis-cli --bin tamis

rm -rf "${out:?}/$name" "$built/dist"
mkdir -p "$out/$name/completions" "$built/dist"
cp "$built/$program" README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$out/$name/"
for shell in bash:tamis.bash zsh:_tamis fish:tamis.fish powershell:_tamis.ps1; do
    "$built/$program" completions "${shell%%:*}" > "$out/$name/completions/${shell#*:}"
done
"$built/$program" man "$out/$name/man" 2> /dev/null
licences=$out/$name/THIRD-PARTY-LICENSES.txt
cargo about generate --offline --locked --fail --manifest-path crates/cli/Cargo.toml --target "$target" \
    --config packaging/about.toml --output-file "$licences" packaging/about.hbs
cat packaging/not-crates.txt models/*/NOTICE >> "$licences"
tar --create --gzip --file "$out/$name.tar.gz" --directory "$out" "$name"

case $target in *linux-gnu)
    if command -v cargo-deb > /dev/null; then
        cp -R "$out/$name/completions" "$out/$name/man" "$licences" "$built/dist/"
        gzip -9n "$built/dist/man/"*.1
        cargo deb --no-build --no-strip --locked --offline --package tamis-cli --target "$target" --output "$out"
    fi
esac

# The archive is tried in a directory of its own: a question finds its file.
try=$(mktemp -d)
trap 'rm -rf "$try"' EXIT
tar --extract --gzip --file "$out/$name.tar.gz" --directory "$try"
cp -R xtask/conformance/project "$try/project"
found=$(cd "$try/project" && env -i PATH="$PATH" HOME="$try" "$try/$name/$program" search --files "when is a failed job tried again")
case $found in *src/retry.rs*) ;; *)
    echo "$name.tar.gz: the search found $found, not src/retry.rs" >&2
    exit 1
esac
rm -rf "${out:?}/$name"
(cd "$out" && ls -l "$name.tar.gz" ./*.deb 2> /dev/null || true)
