# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# `./dev lint`. Sourced by ./dev; `./dev test` runs the same two halves as stages of their own.

lint_main() {
  case ${1:-} in
    --help)
      say "usage: ./dev lint [--fast]"
      say "--fast: without clang-tidy, so without a build folder; a second or two."
      return
      ;;
    "" | --fast) ;;
    *) misuse "lint takes --fast or nothing" ;;
  esac
  if [[ ${1:-} == --fast ]]; then
    need lint
    lint_sources
  else
    need build test
    lint_sources
    configure release
    lint_tidy with
  fi
  say "lint: clean"
}

# Everything that reads sources only.
lint_sources() {
  local sources scripts
  mapfile -t sources < <(cxx_sources)
  .deps/venv/bin/clang-format --dry-run --Werror "${sources[@]}"
  /usr/bin/python3 tools/check_text.py
  /usr/bin/python3 tools/check_layers.py
  /usr/bin/python3 tools/check_sizes.py
  /usr/bin/python3 tools/check_version.py
  # tools/dev/ is read as part of the file that sources it.
  mapfile -t scripts < <(git ls-files --cached --others --exclude-standard -- \
    dev .ci/run '*.sh' ':!tools/dev')
  shellcheck --external-sources --check-sourced "${scripts[@]}"
}

# lint_tidy <with|without>: clang-tidy over what build/release compiles, with or without tests and
# benchmarks; unchanged files answer from a cache.
lint_tidy() {
  /usr/bin/python3 tools/run_clang_tidy.py --build build/release --jobs "$jobs" \
    --clang-tidy .deps/venv/bin/clang-tidy --tests "$1"
}
