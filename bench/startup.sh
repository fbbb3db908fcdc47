#!/bin/sh
# What it costs to start a command: `afteryou run x -- true` beside `flock x true`, in one run of hyperfine.
# usage: bench/startup.sh [AFTERYOU [RUNS]]
set -eu
afteryou=${1:-build/afteryou}
runs=${2:-2000}
directory=$(mktemp -d /dev/shm/afteryou-bench-XXXXXX)
trap 'rm -rf "$directory"' EXIT
hyperfine -N --warmup 100 --runs "$runs" --export-json "$directory/result.json" \
    "flock $directory/x true" "$afteryou run -S $directory/space x -- true" >"$directory/log" 2>&1 ||
    { cat "$directory/log" >&2 && exit 1; }
python3 - "$directory/result.json" <<'END'
import json, sys
flock, afteryou = (result for result in json.load(open(sys.argv[1]))["results"])
for name in ("median", "mean", "min"):
    print(f"{name:6}  flock {1000 * flock[name]:6.2f} ms   afteryou run {1000 * afteryou[name]:6.2f} ms   ratio {afteryou[name] / flock[name]:.2f}")
END
