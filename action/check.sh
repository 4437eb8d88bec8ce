#!/usr/bin/env bash
# What the action runs. Inputs come as variables, never as text of this script.
set -euo pipefail

python=${COMPATKB_PYTHON:-}
if [ -z "$python" ]; then
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "::error title=compatkb::$(python3 --version) is too old: run actions/setup-python with 3.11 or newer before"
    exit 2
  }
  folder=${RUNNER_TEMP:-${TMPDIR:-/tmp}}/compatkb
  python3 -m venv "$folder"
  python=$folder/bin/python
  [ -x "$python" ] || python=$folder/Scripts/python.exe
  "$python" -m pip install --quiet --disable-pip-version-check "$GITHUB_ACTION_PATH"
fi

paths=()
while IFS= read -r path; do
  [ -z "$path" ] || paths+=("$path")
done <<<"${COMPATKB_PATHS:-.}"

options=(--format github --fail-on "${COMPATKB_FAIL_ON:-error}")
[ -z "${COMPATKB_EOL_WITHIN:-}" ] || options+=(--eol-within "$COMPATKB_EOL_WITHIN")
[ -z "${COMPATKB_SARIF:-}" ] || options+=(--report "sarif=$COMPATKB_SARIF")

code=0
"$python" -m compatkb check "${options[@]}" -- "${paths[@]}" || code=$?

if [ -n "${GITHUB_OUTPUT:-}" ]; then
  {
    printf 'exit-code=%s\n' "$code"
    printf 'sarif<<COMPATKB_END\n%s\nCOMPATKB_END\n' "${COMPATKB_SARIF:-}"
  } >>"$GITHUB_OUTPUT"
fi
exit "$code"
