cd {{ path }} || { echo 'isolation: there is no such directory: {{ branch }} has no worktree' >&2; exit 1; }
[ "$(git rev-parse --show-toplevel)" = "$(pwd -P)" ] || { echo "isolation: $(pwd) is no worktree of its own" >&2; exit 1; }
[ "$(git branch --show-current)" = '{{ branch }}' ] || { echo "isolation: $(pwd) is not on the branch {{ branch }}" >&2; exit 1; }
