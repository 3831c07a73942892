cd {{ path }} &&
git rev-parse --show-toplevel | grep -xF {{ path }} &&
git branch --show-current | grep -xF '{{ branch }}'
