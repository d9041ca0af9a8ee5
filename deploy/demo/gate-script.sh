#!/bin/sh
# The demo's script backend: keeps the addresses that the gate lets in, one a line, in the file DOOR_LIST.
# Arguments: add|del|flush, list name, address. Repeating an order changes nothing.
set -eu
list="$DOOR_LIST"
touch "$list"
case "$1" in
  add) grep -qxF -- "$3" "$list" || printf '%s\n' "$3" >>"$list" ;;
  del) grep -vxF -- "$3" "$list" >"$list.new" || true; mv "$list.new" "$list" ;;
  flush) : >"$list" ;;
  *) echo "unknown action $1" >&2; exit 2 ;;
esac
