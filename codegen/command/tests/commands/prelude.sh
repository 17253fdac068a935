# Each step begins with a copy of the small specification, which `write` and `edit` change and `check` checks.
fresh() { rm -rf ./* && cp -r "$SMALL"/. .; }
fresh

write() { mkdir -p "$(dirname "$1")" && printf '%s' "$2" >"$1"; }

check() {
    local code
    codegen check --spec-dir . >/dev/null
    code=$?
    fresh
    return $code
}
