# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# `./dev web`: the dashboard in web/. Sourced by ./dev; a stage of `./dev test` runs all of it.

web_main() {
  case ${1:-} in
    --help)
      say "usage: ./dev web build|report|check|test|e2e|format"
      say "build: web/dist, which the next build of gpufl embeds. report: the script and the style of the"
      say "HTML report, src/report/html/assets. check: format, types, and whether web/src/api/wire.ts is"
      say "what the server says and the report's script what web/ gives. test: Vitest. e2e: every page in"
      say "Chromium and a flow in Firefox, of build/release. format: rewrites sources in web/."
      say "To work on pages: GPUFL_TOKEN=... npx vite in web/, beside a gpufl serve."
      return
      ;;
    build | report | check | test | e2e | format) ;;
    *) misuse "web takes build, report, check, test, e2e or format" ;;
  esac
  [[ $# -eq 1 ]] || misuse "web takes one argument"
  need web
  "web_$1"
}

# with_node <command...>: in web/, with the pinned Node as `node`.
with_node() {
  (
    cd web
    PATH=$root/$node_bin:$PATH "$@"
  )
}

web_build() { with_node node scripts/build.mjs; }
# web_report [vite arguments]
web_report() {
  with_node node node_modules/vite/bin/vite.js build --config vite.report.config.ts --logLevel warn "$@"
}
web_test() { with_node node node_modules/vitest/vitest.mjs run; }
web_e2e() { with_node node --test --test-concurrency=1 "e2e/*.test.mjs"; }
web_format() { with_node node node_modules/prettier/bin/prettier.cjs --write --log-level warn .; }

web_check() {
  with_node node node_modules/prettier/bin/prettier.cjs --check .
  with_node node node_modules/typescript/bin/tsc --noEmit
  with_node node scripts/wire_types.mjs --check
  check_report
}

# The program is built from the report's script as it is in the repository, without Node.
check_report() {
  local made=build/web-report file
  web_report --outDir "../$made"
  for file in report.js report.css; do
    cmp "$made/$file" "src/report/html/assets/$file" || die "run ./dev web report"
  done
}

# For what is given away, which says what is inside: web/dist has to be there when it is configured.
# A release has the dashboard; a wheel made where npm has no registry does not.
web_ready() {
  want_web
  if has_web; then web_build; fi
}

# All of it, as CI wants it; leaves web/dist for the builds that follow.
web_stage() {
  need web
  web_check
  web_test
  with_node node scripts/build.mjs --sizes
}
