# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# `./dev soak`: what is too long for CI, in parts, with results that are kept. Sourced by ./dev.
# A part is a row in soak_parts and a function soak_<part>, whose output is its log; progress() is
# for who waits.

# shellcheck source=tools/dev/test.sh
source tools/dev/test.sh

declare -rA soak_parts=(
  [busy]="the release tests, three times, beside four busy processes"
  [shapes]="whether sessions cost in proportion to their size, whatever their shape"
  [faults]="a server and agents that are killed, cut off and given broken disks, for --minutes"
  [fuzz]="every fuzzer for its share of --minutes"
  [pythons]="the Python tests on the other CPythons in ~/.pyenv"
  [bench]="every benchmark against its bar"
  [hosting]="a fleet that sends to one server, the agent's cost, and how soon who looks on hears of it"
)
readonly soak_order=(busy shapes faults fuzz pythons bench hosting)
soak_minutes=
soak_folder=
soak_failures=0

soak_main() {
  local parts=() part
  while [[ $# -gt 0 ]]; do
    case $1 in
      --help)
        soak_help
        return
        ;;
      --minutes)
        [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || misuse "--minutes needs a number"
        soak_minutes=$2
        shift
        ;;
      -*) misuse "soak does not know '$1'" ;;
      *)
        [[ -n ${soak_parts[$1]:-} ]] || misuse "there is no part '$1'; './dev soak --help' lists them"
        parts+=("$1")
        ;;
    esac
    shift
  done
  [[ ${#parts[@]} -gt 0 ]] || parts=("${soak_order[@]}")
  need build test
  (need browser) || say "no browser could be installed: the tests in one are left out"
  soak_folder=build/soak/$(date -u +%Y%m%dT%H%M%SZ)
  mkdir -p "$soak_folder"
  for part in "${parts[@]}"; do
    soak_run "$part"
  done
  say "$((${#parts[@]} - soak_failures)) passed, $soak_failures failed; results are in $soak_folder"
  [[ $soak_failures -eq 0 ]]
}

soak_help() {
  local part
  say "usage: ./dev soak [--minutes N] [part ...]"
  say "Runs the parts, or those named, one after the other; a part that fails does not end the run."
  for part in "${soak_order[@]}"; do printf '  %-8s%s\n' "$part" "${soak_parts[$part]}"; done
  say "--minutes: how long faults and fuzzing take each; 30 and 20 unless it is said."
  say "build/soak/<time> keeps a log of each part, and summary.json: part, commit, machine, start, seconds, result."
}

# soak_run <part>: whatever it comes to is counted, and goes to the summary.
soak_run() {
  local part=$1 log=$soak_folder/$1.log begin=$SECONDS start status result=passed
  start=$(date -u +%Y-%m-%dT%H:%M:%SZ)
  say "$part: ${soak_parts[$part]}"
  # In a shell of its own with errexit, which a condition would turn off.
  set +e
  (
    set -e
    "soak_$part"
  ) 3>&1 >"$log" 2>&1
  status=$?
  set -e
  if [[ $status -ne 0 ]]; then
    soak_failures=$((soak_failures + 1))
    result=failed
    tail -n 40 "$log"
  fi
  say "$part: $result, $((SECONDS - begin)) s"
  /usr/bin/python3 tools/soak_summary.py "$soak_folder/summary.json" part="$part" start="$start" \
    seconds=$((SECONDS - begin)) result="$result" commit="$(git describe --always --dirty --abbrev=12)"
}

# A line on the terminal, and in the log.
progress() {
  printf '  %s\n' "$*"
  printf '  %s\n' "$*" >&3
}

soak_busy() {
  local busy=() round begin result failed=0
  progress "building"
  build_stage release
  trap 'kill "${busy[@]}" 2>/dev/null || true' EXIT
  for _ in 1 2 3 4; do
    # Ends with us, however we end.
    (
      trap - EXIT
      while kill -0 $$ 2>/dev/null; do for ((i = 0; i < 100000; ++i)); do :; done; done
    ) &
    busy+=($!)
  done
  for round in 1 2 3; do
    begin=$SECONDS
    result=passed
    run_ctest release || result=failed
    progress "round $round of 3: $result, $((SECONDS - begin)) s"
    [[ $result == passed ]] || failed=$((failed + 1))
  done
  [[ $failed -eq 0 ]] || die "$failed of 3 rounds failed"
}

soak_shapes() {
  progress "building"
  configure release -DGPUFL_BENCH=ON
  build_preset release --target shapes_bench
  mkdir -p "$soak_folder/figures"
  build/release/benchmarks/shapes_bench --full --json "$soak_folder/figures/shapes_bench.json"
}

# The seeds of its rounds are in its log.
soak_faults() {
  progress "building"
  want_web
  build_stage release
  progress "${soak_minutes:-30} minutes"
  mkdir -p "$soak_folder/figures"
  /usr/bin/python3 bench/hosting/hosting_faults.py build/release/bin --minutes "${soak_minutes:-30}" \
    --json "$soak_folder/figures/hosting_faults.json"
}

soak_fuzz() {
  progress "building"
  build_stage asan
  progress "${soak_minutes:-20} minutes"
  fuzz_stage $((${soak_minutes:-20} * 60))
}

soak_pythons() { python_stage --others; }

soak_bench() {
  local status=0
  ./dev bench || status=1
  mkdir -p "$soak_folder/figures"
  cp build/bench/*.json "$soak_folder/figures"
  return "$status"
}

soak_hosting() {
  local name status=0
  mkdir -p "$soak_folder/figures"
  for name in hosting_bench fleet_bench agent_bench live_bench; do
    progress "$name"
    ./dev bench "$name" || status=1
    cp "build/bench/$name.json" "$soak_folder/figures"
  done
  return "$status"
}
