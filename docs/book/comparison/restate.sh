#!/bin/sh
# Runs with_restate.py against a server of its own: `restate-server` and `hypercorn` are in PATH.
set -eu
cd "$(dirname "$0")"
base=$(mktemp -d)
restate-server --base-dir "$base" --node-name here >"$base/server.log" 2>&1 & server=$!
hypercorn with_restate:app --bind 127.0.0.1:9080 >"$base/service.log" 2>&1 & service=$!
trap 'kill $server $service; rm -rf "$base"' EXIT
until curl -sf http://127.0.0.1:9070/health >/dev/null; do sleep 1; done
curl -sf http://127.0.0.1:9070/deployments -H 'content-type: application/json' -d '{"uri": "http://127.0.0.1:9080"}' >/dev/null
article=$(curl -sf http://127.0.0.1:8080/newsroom/first/run -H 'content-type: application/json' -d '"interlockings"')
test "$article" = '"Signals and points, at length"'
