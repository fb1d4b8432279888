q#!/usr/bin/env bash
#
# Copies directories to another machine and keeps the last few copies.

set -euo pipefail
shopt -s nullglob

readonly KEEP=7
declare -r TARGET="${BACKUP_TARGET:-backup.example.org}"
declare -A SIZES=([home]=10 [etc]=1)

log() { printf '%s %s\n' "$(date +%T)" "$*" >&2; }

# Prints how to use this, and ends.
usage() {
  cat <<-EOF
	usage: ${0##*/} [-n] DIRECTORY...
	not_a_function() {
	  echo "text of the help"
	}
	EOF
  exit "${1:-2}"
}

# Whether the other machine answers.
function reachable {
  local host=$1 tries
  for ((tries = 0; tries < 3; tries++)); do
    if ping -c 1 -W 2 "$host" &>/dev/null; then
      return 0
    fi
    sleep $((2 ** tries))
  done
  return 1
}

function copy_one() {
  local source=$1 stamp
  stamp=$(date +%Y-%m-%d)
  [[ -d $source && ! -L $source ]] || { log "no directory: $source"; return 1; }
  case $source in
    /home/*) rsync -a --exclude='.cache' "$source/" "$TARGET:$stamp/home/" ;;
    /etc | /etc/*)
      sudo rsync -a "$source/" "$TARGET:$stamp/etc/"
      ;;
    *) log "unknown: $source" ;;
  esac
}

in_scratch() (
  cd "$(mktemp -d)"
  "$@"
)

remove_old() {
  local copies=()
  while IFS= read -r copy; do
    copies+=("$copy")
  done < <(ssh "$TARGET" ls -1 | sort -r | tail -n +"$((KEEP + 1))")
  local copy
  for copy in "${copies[@]}"; do
    # shellcheck disable=SC2029
    ssh "$TARGET" rm -rf -- "$copy"
  done
}

if [[ ${BACKUP_TRACE:-} ]]; then
  trace() { set -x; "$@"; set +x; }
else
  trace() { "$@"; }
fi

dry=
while getopts ':nh' option; do
  case $option in
    n) dry=1 ;;
    h) usage 0 ;;
    *) usage ;;
  esac
done
shift $((OPTIND - 1))

main() {
  reachable "$TARGET" || { log "cannot reach $TARGET"; exit 3; }
  local directory
  for directory; do
    if [[ $dry ]]; then
      log "would copy $directory (${SIZES[${directory##*/}]:-?} GB)"
    else
      trace copy_one "$directory"
    fi
  done
  remove_old | in_scratch tee removed.log
}

trap 'log "stopped at line $LINENO"' ERR
main "$@"
