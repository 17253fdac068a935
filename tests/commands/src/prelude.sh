# Functions of the tests that are text.
set -o pipefail
trap 'kill $(jobs -p) 2>/dev/null' EXIT

# Starts a server, waits until it prints its URL, and puts that into $url.
start() {
    : >address
    "$@" >address 2>log &
    server=$!
    until grep -q 'http://' address; do
        kill -0 $server 2>/dev/null || { cat log; return 2; }
        sleep 0.01
    done
    url=$(sed -n 's|.*\(http://[0-9.]*:[0-9]*\).*|\1|p' address | head -n 1)
}

# Starts an endpoint that responds with files: `endpoint PATTERN FILE...`. The first pattern that a request contains selects
# the file; of several, separated by commas, the n-th is for the n-th such request. Requests are appended to `requests`.
endpoint() {
    rm -f requests
    start "$COMMANDS" endpoint "$@"
}

# Replaces the first occurrence of a text in a file: `edit FILE FROM TO`.
edit() { "$COMMANDS" edit "$@"; }

# Prints only lines with one of these texts; without one of them, fails.
lines() {
    local text pattern args=()
    text=$(cat)
    for pattern; do
        args+=(-e "$pattern")
        grep -qF -e "$pattern" <<<"$text" || echo "no line has: $pattern"
    done
    grep -F "${args[@]}" <<<"$text"
}
