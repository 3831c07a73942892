#!/bin/sh
# The project's tests.
for expected in 0:120 3:0 6:-120 9:0 12:120; do
  found=$(sh tide.sh "${expected%%:*}" 2>/dev/null)
  if [ "$found" != "${expected#*:}" ]; then
    echo "at hour ${expected%%:*} the tide is ${expected#*:}, and tide.sh says '$found'"
    exit 1
  fi
done
