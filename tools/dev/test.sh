# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# `./dev test`: the whole of CI as a list of stages. Sourced by ./dev.

readonly logs=build/test-logs
readonly fuzz_seconds=30
# What runs on several threads: all that the thread sanitizer builds.
readonly threaded_tests=(base_test format_log_test capture_test control_server_test http_client_test net_test server_test
  store_test hosting_test nvtx_test stack_table_test tracer_lifecycle_test other_tools_test cupti_tracer_test
  cuda_start_test cupti_parts_test code_session_test backend_test pc_sampling_test pm_sampling_test range_profiling_test
  piece_reader_test)
passed=0
failed=0
skipped=0
summary=()
again=() # tests that passed only when they ran once more
clock=() # wraps the release tests
failing= # the log of the stage that ended the run

test_main() {
  local quick=no
  case ${1:-} in
    --help)
      say "usage: ./dev test [--quick | filter]"
      say "Without an argument: every stage of CI; each stage's output is in $logs/."
      say "--quick: the source checks, the dashboard and the release tests only."
      say "filter: only the release tests whose name matches this regular expression."
      return
      ;;
    --quick) quick=yes ;;
    -*) misuse "test does not know '$1'" ;;
  esac
  [[ $# -le 1 ]] || misuse "test takes one argument at most"
  need build test
  # Tests in a browser skip themselves where there is none.
  (need browser) || say "no browser could be installed: the tests in one are left out"
  (need firefox) || say "no Firefox could be installed: the test in it is left out"
  mkdir -p "$logs"
  trap closing_line EXIT

  if [[ -n ${1:-} && $quick == no ]]; then
    want_web
    stage release-build build_stage release
    test_stage release-tests run_ctest release --tests-regex "$1"
    return
  fi
  stage sources lint_stage lint_sources
  # Before the builds, which embed what it makes.
  stage web web_stages web_stage
  stage release-build build_stage release -DGPUFL_BENCH=ON
  [[ $quick == yes ]] || fresh_clock
  test_stage release-tests run_ctest release
  stage web-pages web_stages web_e2e
  [[ $quick == no ]] || return 0
  stage clang-tidy lint_stage lint_tidy without
  stage asan-build build_stage asan
  test_stage asan-tests run_ctest asan
  stage fuzz fuzz_stage "$fuzz_seconds"
  stage tsan-build build_tsan
  test_stage tsan-tests run_ctest tsan --tests-regex "^($(
    IFS='|'
    printf '%s' "${threaded_tests[*]}"
  ))\$"
  stage portable-build build_stage portable
  test_stage portable-tests run_ctest portable
  stage python-tests python_stage
  stage python-oldest python_stage --oldest
}

# stage <name> <command...>: runs it with its output in a log; ends the run when it fails.
stage() {
  local name=$1 start=$SECONDS
  shift
  printf '%-16s' "$name"
  # In a shell of its own with errexit, which a condition would turn off.
  set +e
  (
    set -e
    "$@"
  ) >"$logs/$name.log" 2>&1
  local status=$?
  set -e
  local took=$((SECONDS - start))
  if [[ $status -eq 0 ]]; then
    count_stage 1 0
    printf 'ok      %4d s\n' "$took"
  else
    count_stage 0 1
    printf 'FAILED  %4d s\n' "$took"
    show_failure "$name"
    exit 1
  fi
  summary+=("$(printf '%-16s %4d s' "$name" "$took")")
}

count_stage() {
  passed=$((passed + $1))
  failed=$((failed + $2))
}

show_failure() {
  failing=$logs/$1.log
  say "---- the end of $failing"
  tail -n 80 "$failing"
  say "----"
}

# test_stage <name> <command...>: a stage whose command is, or runs, ctest: its tests count singly.
test_stage() {
  local name=$1 start=$SECONDS status line took left_out
  shift
  printf '%-16s' "$name"
  set +e
  "$@" >"$logs/$name.log" 2>&1
  status=$?
  [[ $status -eq 0 ]] || { once_more "$name" "$@" && status=0; }
  set -e
  took=$((SECONDS - start))
  # "98% tests passed, 1 tests failed out of 50"
  line=$(grep -m 1 -E '^[0-9]+% tests passed' "$logs/$name.log" || true)
  if [[ $line =~ ,\ ([0-9]+)\ tests\ failed\ out\ of\ ([0-9]+) ]]; then
    # ctest counts a test that skipped itself as passed, and lists it as "3 - name (Skipped)".
    left_out=$(grep -cE '^[[:space:]]+[0-9]+ - .* \(Skipped\)$' "$logs/$name.log" || true)
    skipped=$((skipped + left_out))
    if [[ $status -eq 0 ]]; then
      count_stage $((BASH_REMATCH[2] - left_out)) 0
    else
      count_stage $((BASH_REMATCH[2] - BASH_REMATCH[1] - left_out)) "${BASH_REMATCH[1]}"
    fi
  else
    count_stage 0 1
    status=1
  fi
  if [[ $status -ne 0 ]]; then
    printf 'FAILED  %4d s\n' "$took"
    show_failure "$name"
    exit 1
  fi
  printf 'ok      %4d s  %d tests\n' "$took" "${BASH_REMATCH[2]}"
  summary+=("$(printf '%-16s %4d s' "$name" "$took")")
}

# once_more <stage> <command...>: those of its tests that failed, three at most, one after the other: a
# test that waits may fail beside another that takes the whole machine. They are named in the last
# lines. What a sanitizer reported has failed for good.
once_more() {
  local log=$logs/$1.log tests
  shift
  ! grep -qE 'ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|: runtime error: ' "$log" || return 1
  mapfile -t tests < <(failed_tests "$log")
  [[ ${#tests[@]} -ge 1 && ${#tests[@]} -le 3 ]] || return 1
  say "---- once more: ${tests[*]}" >>"$log"
  "$@" --rerun-failed --parallel 1 >>"$log" 2>&1 || return 1
  again+=("${tests[@]}")
}

# failed_tests <log of ctest>: its list says "  9 - stack_table_test (Failed)".
failed_tests() {
  sed -nE 's/^[[:space:]]+[0-9]+ - ([^ ]+) \((Failed|Timeout|SEGFAULT|Subprocess aborted|ILLEGAL|Bus Error)\).*$/\1/p' "$1"
}

# As on a machine that booted a minute ago, where the system can do that. The sanitizers' tests run by
# the machine's own clocks.
fresh_clock() {
  local why
  clock=(/usr/bin/python3 tools/fresh_clock.py)
  if ! why=$("${clock[@]}" true); then
    say "no clocks that began a minute ago: $why"
    clock=()
    skipped=$((skipped + 1))
  fi
}

# run_ctest <preset> [ctest arguments]
run_ctest() {
  local preset=$1 wrap=()
  shift
  [[ $preset != release ]] || wrap=("${clock[@]}")
  export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
  export UBSAN_OPTIONS=print_stacktrace=1
  export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1
  # The sanitizers of gcc 12 cannot map their shadow where addresses are widely randomised.
  if [[ $preset == [at]san ]] && setarch -R true 2>/dev/null; then wrap=(setarch -R); fi
  "${wrap[@]}" ctest --preset "$preset" --parallel "$jobs" "$@"
}

lint_stage() {
  # shellcheck source=tools/dev/lint.sh
  source tools/dev/lint.sh
  "$@"
}

web_stages() {
  # shellcheck source=tools/dev/web.sh
  source tools/dev/web.sh
  "$@"
}

build_stage() {
  configure "$@"
  build_preset "$1"
}

# The wheel is built by the same compiler calls as the portable build, so the cache has most of it.
python_stage() {
  # shellcheck source=tools/dev/python_test.sh
  source tools/dev/python_test.sh
  python_test_main "$@"
}

build_tsan() {
  configure tsan
  build_preset tsan --target "${threaded_tests[@]}"
}

# fuzz_stage <seconds>: each fuzzer for its share of them; a crash's input is left in build/asan/fuzzers.
fuzz_stage() {
  local fuzzers=() path share
  for path in build/asan/fuzzers/*; do
    [[ ! -f $path || ! -x $path ]] || fuzzers+=("$path")
  done
  [[ ${#fuzzers[@]} -gt 0 ]] || die "build/asan/fuzzers holds no fuzzer"
  share=$((($1 + ${#fuzzers[@]} - 1) / ${#fuzzers[@]}))
  for path in "${fuzzers[@]}"; do
    "$path" "$path.corpus" -max_total_time="$share" -timeout=30 -rss_limit_mb=4096 \
      -artifact_prefix=build/asan/fuzzers/ -print_final_stats=1
  done
}

closing_line() {
  local status=$?
  if [[ $status -ne 0 && $failed -eq 0 ]]; then failed=1; fi
  if [[ -n $failing ]]; then
    say "What failed in $failing, in short:"
    grep -nE 'Failure$|^(FAIL|ERROR): |^[A-Za-z]*Error: |Sanitizer|^not ok|: error:' "$failing" | cut -c 1-160 | head -n 12 || true
  fi
  if [[ ${#again[@]} -gt 0 ]]; then
    say
    say "Passed only when they ran once more: ${again[*]}"
  fi
  if [[ ${#summary[@]} -gt 2 ]]; then
    say
    say "Slowest stages (of $SECONDS s):"
    printf '  %s\n' "${summary[@]}" | sort -k2 -n -r | head -n 4
    say
  fi
  say "$passed passed, $failed failed$([[ $skipped -eq 0 ]] || printf ', %d skipped' "$skipped")"
}
