#!/bin/sh
# Installs Tamis @VERSION@ from a release, after a check of its SHA-256.
#
#   sh install.sh                     into ~/.local
#   sh install.sh --prefix /usr/local
#   sh install.sh --uninstall
set -eu

VERSION='@VERSION@'
REPOSITORY='@REPOSITORY@'

usage() {
    cat <<'EOF'
Usage: sh install.sh [--prefix DIR] [--version VERSION] [--target TARGET] [--from URL|DIR] [--uninstall]

Downloads the archive of a release, compares its SHA-256 with the release's SHA256SUMS, and installs the program, its manual
pages and its completions. What does not match is not installed.

  --prefix DIR       install into DIR/bin and DIR/share (default: ~/.local)
  --version VERSION  install this release (default: the one that this script came with)
  --target TARGET    install the program for TARGET, such as x86_64-unknown-linux-musl (default: this machine's)
  --from URL|DIR     take the archive and SHA256SUMS from here (default: the release's page)
  --uninstall        remove the files that an installation put into DIR
EOF
}

fail() {
    printf 'install.sh: error: %s\n' "$1" >&2
    exit 2
}

prefix="${HOME:-}/.local"
version=$VERSION
target=
from=
uninstall=no
while [ $# -gt 0 ]; do
    case $1 in
    --prefix | --version | --target | --from)
        [ $# -ge 2 ] || fail "$1 needs a value; --help lists the flags"
        case $1 in
        --prefix) prefix=$2 ;;
        --version) version=${2#v} ;;
        --target) target=$2 ;;
        --from) from=${2%/} ;;
        esac
        shift 2
        ;;
    --uninstall) uninstall=yes && shift ;;
    -h | --help) usage && exit 0 ;;
    *) fail "$1: unknown flag; --help lists the flags" ;;
    esac
done
case $prefix in
'' | /.local) fail "HOME is not set; give a directory with --prefix" ;;
esac

# The files that an installation has below the prefix, besides the manual pages.
PROGRAM=bin/tamis
COMPLETIONS='share/bash-completion/completions/tamis share/zsh/site-functions/_tamis share/fish/vendor_completions.d/tamis.fish'
LICENCES=share/doc/tamis

if [ "$uninstall" = yes ]; then
    [ -e "$prefix/$PROGRAM" ] || fail "$prefix/$PROGRAM: no such file; give the directory of the installation with --prefix"
    for file in $PROGRAM $COMPLETIONS; do
        rm -f "$prefix/$file"
    done
    rm -f "$prefix"/share/man/man1/tamis.1 "$prefix"/share/man/man1/tamis-*.1
    rm -rf "${prefix:?}/$LICENCES"
    echo "removed tamis from $prefix; indexes are in .tamis/ of each project, and the cache and your settings stay"
    exit 0
fi

if [ -z "$target" ]; then
    case $(uname -m) in
    x86_64 | amd64) cpu=x86_64 ;;
    aarch64 | arm64) cpu=aarch64 ;;
    *) fail "$(uname -m): there is no program for this processor; build it from source" ;;
    esac
    case $(uname -s) in
    # Where there is no glibc, such as on Alpine, the static program runs.
    Linux) if getconf GNU_LIBC_VERSION >/dev/null 2>&1; then target=$cpu-unknown-linux-gnu; else target=$cpu-unknown-linux-musl; fi ;;
    Darwin) target=$cpu-apple-darwin ;;
    *) fail "$(uname -s): this script knows Linux and macOS; other systems have an archive in the release" ;;
    esac
fi
if [ -z "$from" ]; then
    case $REPOSITORY in
    https://*.invalid | https://*.invalid/*) fail "this copy of the script has no address; give one with --from URL" ;;
    esac
    from=$REPOSITORY/releases/download/v$version
fi

name=tamis-$version-$target
archive=$name.tar.gz
work=$(mktemp -d "${TMPDIR:-/tmp}/tamis-install.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

fetch() {
    case $from in
    http://* | https://*)
        if command -v curl >/dev/null 2>&1; then
            curl -fsSL -o "$work/$1" "$from/$1"
        elif command -v wget >/dev/null 2>&1; then
            wget -q -O "$work/$1" "$from/$1"
        else
            fail "neither curl nor wget is installed"
        fi
        ;;
    *) cp "$from/$1" "$work/$1" ;;
    esac || fail "$from/$1 cannot be fetched"
}

sha256() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum "$1"
    elif command -v shasum >/dev/null 2>&1; then
        shasum -a 256 "$1"
    else
        fail "neither sha256sum nor shasum is installed, so nothing can be checked"
    fi | cut -d ' ' -f 1
}

fetch SHA256SUMS
expected=$(awk -v file="$archive" '$2 == file || $2 == "*" file { print $1 }' "$work/SHA256SUMS")
[ -n "$expected" ] || fail "$from/SHA256SUMS has no line for $archive, so there is no such program in this release"
fetch "$archive"
actual=$(sha256 "$work/$archive")
[ "$actual" = "$expected" ] || fail "$archive has the SHA-256 $actual, expected $expected; nothing was installed"

tar -xzf "$work/$archive" -C "$work"
if ! "$work/$name/tamis" --version >/dev/null 2>&1; then
    case $target in
    *-gnu) fail "the program for $target does not start here, since it needs a newer glibc; try --target ${target%gnu}musl" ;;
    *) fail "the program for $target does not start here" ;;
    esac
fi

place() {
    mkdir -p "$prefix/$(dirname "$2")"
    # A program that runs cannot be written to, but replaced.
    cp "$work/$name/$1" "$prefix/$2.new"
    chmod "$3" "$prefix/$2.new"
    mv -f "$prefix/$2.new" "$prefix/$2"
}

place completions/tamis.bash share/bash-completion/completions/tamis 644
place completions/_tamis share/zsh/site-functions/_tamis 644
place completions/tamis.fish share/fish/vendor_completions.d/tamis.fish 644
for page in "$work/$name"/man/*.1; do
    place "man/${page##*/}" "share/man/man1/${page##*/}" 644
done
for text in LICENSE-MIT LICENSE-APACHE THIRD-PARTY-LICENSES.txt; do
    if [ -f "$work/$name/$text" ]; then place "$text" "$LICENCES/$text" 644; fi
done
place tamis "$PROGRAM" 755

echo "installed $("$prefix/$PROGRAM" --version) to $prefix/$PROGRAM"
case :${PATH:-}: in
*:"$prefix/bin":*) ;;
*) echo "$prefix/bin is not on your PATH; add it to run tamis by name" ;;
esac
