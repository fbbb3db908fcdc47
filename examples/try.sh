#!/bin/sh
# The main job, in a space of its own: two commands kept apart, a kill -9, the next one in. usage: examples/try.sh AFTERYOU
set -eu
directory=$(mktemp -d /dev/shm/afteryou-try-XXXXXX)
trap 'rm -rf "$directory"' EXIT
PATH=$(cd "$(dirname "$1")" && pwd):$PATH
cd "$directory"
run="afteryou run deploy -S ./try"

say() { printf '\n$ %s\n' "$*"; }

say "afteryou run deploy -c 'echo first: in; sleep 1; echo first: out' &   afteryou run deploy -c 'echo second: in'"
$run -c 'echo first: in; sleep 1; echo first: out' &
sleep 0.3
$run -c 'echo second: in'
wait

say "afteryou run deploy -- sleep 1000 &   afteryou run deploy -n -- true   # who is in the way?"
$run -- sleep 1000 &
holder=$!
sleep 0.3
$run -n -- true || echo "exit code $?"

say "afteryou status"
afteryou status -S ./try

say "kill -9 the holder; the next one is in at once, and is told"
$run -c 'echo "next: in, after a death: $AFTERYOU_AFTER_DEATH"' &
sleep 0.3
kill -9 "$holder"
wait "$holder" 2>/dev/null || true
wait
