# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# `./dev gpu-test`: device tests on a machine that has a GPU and bash, and nothing else: no network,
# no CMake, no compiler. Sourced by ./dev.

readonly portable=build/portable
# What has to travel to the GPU machine besides the sources: bin, lib and benchmarks of the folder.
readonly carried_archive=build/portable.tar.xz
readonly carried_limit_mib=48  # the sources travel with it, 64 MiB in all

gpu_test_main() {
  case ${1:-} in
    --help)
      say "usage: ./dev gpu-test [--build | filter]"
      say "--build (on the build machine): makes $carried_archive, to be carried to the GPU machine with"
      say "the sources."
      say "Otherwise, on the GPU machine: unpacks it, runs the tests, prints 'N passed, N failed'."
      say "filter: a GoogleTest filter, such as 'Monitor*', or a Python test: 'torch_trace_test' or"
      say "'torch_trace_test.TorchTrace.test_x'. Exit 2: no GPU, nothing carried, or no test that"
      say "the filter matches."
      return
      ;;
    --build) gpu_test_build ;;
    -*) misuse "gpu-test does not know '$1'" ;;
    *) gpu_test_run "${1:-*}" ;;
  esac
}

gpu_test_build() {
  need build test cuda
  configure portable -DGPUFL_CUDA=ON -DGPUFL_BENCH=ON
  build_preset portable
  carry_package
  # The programs have much in common, which xz finds across files and gzip does not.
  tar -c -C "$portable" bin lib benchmarks | xz --threads=0 -5 >"$carried_archive"
  carried_sum >"$portable/carried_sum"
  local size_mib
  size_mib=$(du -m "$carried_archive" | cut -f1)
  say "Carry: $carried_archive ($size_mib MiB)"
  [[ $size_mib -le $carried_limit_mib ]] || die "more than $carried_limit_mib MiB do not travel"
}

carried_sum() { cksum <"$carried_archive"; }

# Unpacks what was carried here, unless that has been done.
unpack_carried() {
  [[ -f $carried_archive ]] || return 0
  if [[ -f $portable/carried_sum && $(<"$portable/carried_sum") == "$(carried_sum)" ]]; then return; fi
  rm -rf "${portable:?}"/{bin,lib,benchmarks}
  mkdir -p "$portable"
  # Python's where there is no xz.
  tar -xJf "$carried_archive" -C "$portable" 2>/dev/null ||
    python3 -m tarfile -e "$carried_archive" "$portable" ||
    die "could not unpack $carried_archive: it takes xz or python3"
  carried_sum >"$portable/carried_sum"
}

# The Python package, for any CPython since 3.12 that the GPU machine has.
carry_package() {
  local interpreter wheel site_packages=$portable/lib/site-packages
  # shellcheck source=tools/dev/wheel.sh
  source tools/dev/wheel.sh
  need python
  if ! interpreter=$(wheel_interpreter abi3); then
    say "No $(wheel_versions abi3) here: tests of the Python package will not run on the GPU machine."
    return
  fi
  wheel=$(build_wheel abi3 "$interpreter")
  rm -rf "$site_packages"
  "$interpreter" -m zipfile -e "$wheel" "$site_packages"
  # These travel in $portable already.
  rm -rf "$site_packages"/gpufl/{bin,lib}
}

cannot_tell() {
  printf 'dev: %s\n' "$*" >&2
  exit 2
}

has_gpu() {
  compgen -G '/proc/driver/nvidia/gpus/*' >/dev/null ||
    compgen -G '/dev/nvidia[0-9]*' >/dev/null || nvidia-smi -L >/dev/null 2>&1
}

gpu_test_run() {
  local filter=$1 path passed=0 failed=0 skipped=0 output status count chosen=()
  unpack_carried
  compgen -G "$portable/bin/*_device_test" >/dev/null ||
    cannot_tell "no device tests in $portable/bin: './dev gpu-test --build' makes them"
  has_gpu || cannot_tell "this machine has no NVIDIA GPU, or this container does not see it"

  for path in "$portable"/bin/*_device_test; do
    say "== $(basename "$path")"
    status=0
    output=$("$path" --gtest_filter="$filter" 2>&1) || status=$?
    printf '%s\n' "$output"
    passed=$((passed + $(gtest_count PASSED "$output")))
    skipped=$((skipped + $(gtest_count SKIPPED "$output")))
    count=$(gtest_count FAILED "$output")
    # A test that crashes takes the closing lines with it.
    if [[ $status -ne 0 && $count -eq 0 ]]; then count=1; fi
    failed=$((failed + count))
  done
  for path in tests/device/*_test.py; do
    if [[ $filter != '*' && $filter != "$(basename "$path" .py)"* ]]; then continue; fi
    say "== $path"
    status=0
    # 'torch_trace_test.TorchTrace.test_x' names one test, as unittest does.
    if [[ $filter == *_test.* ]]; then chosen=("${filter#*_test.}"); fi
    output=$(PORTABLE_BUILD=$root/$portable python3 "$path" "${chosen[@]}" 2>&1) || status=$?
    printf '%s\n' "$output"
    if [[ $status -eq 2 ]]; then
      skipped=$((skipped + 1))
      continue
    fi
    passed=$((passed + $(unittest_count ok "$output")))
    skipped=$((skipped + $(unittest_count skipped "$output")))
    count=$(($(unittest_count FAIL "$output") + $(unittest_count ERROR "$output")))
    if [[ $status -ne 0 && $count -eq 0 ]]; then count=1; fi
    failed=$((failed + count))
  done
  [[ $((passed + failed + skipped)) -gt 0 ]] || cannot_tell "no device test matches '$filter'"
  say "$passed passed, $failed failed$([[ $skipped -eq 0 ]] || printf ', %d skipped' "$skipped")"
  [[ $failed -eq 0 ]]
}

# unittest_count <ok|skipped|FAIL|ERROR> <output>: the number of lines that end a test so.
unittest_count() {
  grep -c -E "\.\.\. $1" <<<"$2" || true
}

# gtest_count <PASSED|SKIPPED|FAILED> <output>: the number in GoogleTest's closing lines.
gtest_count() {
  local count
  count=$(sed -n -E "s/^\[ +$1 +\] ([0-9]+) tests?.*/\1/p" <<<"$2" | tail -n 1)
  printf '%s' "${count:-0}"
}
