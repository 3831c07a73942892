#!/bin/sh
# Prints how high the tide is at an hour from 0 to 12, in centimetres above the mean: it falls from 120 for six hours, and
# rises again for six.
hour=$1

height=$((120 - 40 * hour))

echo "$height"
