# Functions of the tests of the suite's command.

# Prints a good stream, for example that of openai/text or chat/text.
golden() { cat "$APIS"/*/goldens/"$1".sse; }

# Prints the stream that breaks a rule.
violation() { conformance client --show "fault/$1" 2>/dev/null; }

# Prints the same text as the golden, with log probabilities of a wrong type.
wrong() { golden openai/text | sed 's/"logprobs":\[\]/"logprobs":0/g'; }

# Prints the stream openai/text up to its last event, which is missing.
unended() { golden openai/text | sed '/^event: response.completed/,$d'; }

# Prints the response at the end of a good stream.
response() { golden "${1:-openai/text}" | sed -n 's/^data: {"type":"response.completed","response":\(.*\),"sequence_number":[0-9]*}$/\1/p'; }

# Starts an endpoint that responds with a short text.
good() {
    golden openai/text >good.sse
    response >good.json
    endpoint '"stream":true' good.sse 'sec-websocket-key' 404 '' good.json
}

# Starts the reference gateway.
gateway() { start conformance serve --port 0 "$@"; }

# Verifies a run.
verified() { conformance verify "$@" | lines consistent: | sed 's/of [0-9]* trials/of all trials/'; }

# Prints how many requests the endpoint has received.
sent() { grep -cE '^(POST|GET|DELETE) ' requests 2>/dev/null || echo none; }

# Puts scripts in the place of the clients of Python in the folder `cache`. Each asks for the response, and does what its name says
# with one that has the mark: an object "oops".
stand_ins() {
    folder=$(conformance impact --list --cache cache | sed -n '/^python:/{n;s/^ *//;p;}')
    mkdir -p "$folder/bin"
    cat >"$folder/bin/python" <<'END'
#!/bin/sh
while IFS= read -r line; do
    url=$(printf '%s' "$line" | sed 's/.*"base_url":"\([^"]*\)".*/\1/')
    body=$(curl -s -d '{}' "$url/chat/completions")
    text=$(printf '%s' "$body" | sed -n 's/.*"content":"\([^"]*\)".*/\1/p' | tr -d '\n')
    told='"case":"impact","client_version":"'${SECRET-1.0}'"'
    reply="{$told,\"status\":\"ok\",\"text\":\"$text\"}"
    error="{$told,\"status\":\"error\",\"error\":{\"type\":\"Oops\",\"message\":\"no\"}}"
    case "$body" in *oops*) mark=yes ;; *) mark= ;; esac
    case "$body" in *'"stop"'*) whole=yes ;; *) whole= ;; esac
    case "$(basename "$1") $2$mark" in
    'openai_python.py chat-stream') [ -n "$whole" ] || reply=$error ;;
    'openai_python.py chat-streamyes') reply=$error; curl -s -d '{}' "$url/chat/completions" "$url/tokens" >/dev/null ;;
    'langchain.py chatyes') sleep 100 & setsid sleep 100 & jobs -p >>"$(dirname "$0")/pids"; wait ;;
    'pydantic_ai_client.py chatyes') yes ;;
    esac
    printf '%s\n' "$reply"
done
END
    chmod +x "$folder/bin/python"
}
