# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# `./dev python-test`: tests of the wheels where nothing else is installed. Sourced by ./dev.

# shellcheck source=tools/dev/wheel.sh
source tools/dev/wheel.sh

python_test_main() {
  if [[ ${1:-} == --help ]]; then
    say "usage: ./dev python-test [--others | --python INTERPRETER] [--wheel FILE] [--oldest]"
    say "                         [--bench | torch | pytest arguments]"
    say "Builds the wheel for an interpreter as './dev wheel' does, unless that of the same sources is there,"
    say "and runs python/tests in a virtual environment that has the wheel and what tests need; then, unless"
    say "there are pytest arguments, the tests of python/warpscope with its wheel."
    say "INTERPRETER: /usr/bin/python3, unless another is named, such as ~/.pyenv/versions/3.13.0/bin/python"
    say "--others: once for each supported CPython in ~/.pyenv/versions, but that of /usr/bin/python3."
    say "--wheel: tests this one, and builds none."
    say "--oldest: with the oldest numpy, pandas, pyarrow and matplotlib that are supported (CPython 3.10, 3.11)."
    say "torch: with PyTorch, Lightning and transformers (gigabytes, kept in build), the tests and examples"
    say "that need them."
    say "--bench: runs bench/python there instead; figures go to build/bench."
    return
  fi
  local interpreter=$system_python wheel=""
  if [[ ${1:-} == --others ]]; then
    shift
    python_test_others "$@"
    return
  fi
  if [[ ${1:-} == --python ]]; then
    [[ $# -ge 2 ]] || misuse "--python needs an interpreter"
    interpreter=$2
    shift 2
  fi
  if [[ ${1:-} == --wheel ]]; then
    [[ -f ${2:-} ]] || misuse "--wheel needs a wheel"
    wheel=$2
    shift 2
  fi
  need build python
  ready_dashboard
  local tag clean pinned=python_test
  tag=$(cache_tag "$interpreter")
  clean=build/python-$tag
  if [[ ${1:-} == --oldest ]]; then
    pinned=python_oldest
    shift
  fi
  if [[ ${1:-} == torch ]]; then
    pinned=python_torch
    clean=build/torch-$tag
  else
    rm -rf "$clean"
  fi
  [[ -n $wheel ]] || wheel=$(wheel_of "$interpreter")
  [[ -d $clean ]] || "$interpreter" -m venv "$clean"
  "$clean/bin/pip" install --quiet --disable-pip-version-check --requirement "tools/requirements/$pinned.txt"
  "$clean/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"
  case ${1:-} in
    --bench) python_bench "$clean" "$wheel" ;;
    torch)
      shift
      python_test_torch "$clean" "$@"
      ;;
    *)
      "$clean/bin/python" -m pytest -p no:cacheprovider "$@"
      if [[ $# -eq 0 ]]; then
        "$clean/bin/pip" install --quiet --disable-pip-version-check "$(build_warpscope_wheel)"
        (cd python/warpscope && "$root/$clean/bin/python" -m pytest -p no:cacheprovider)
      fi
      ;;
  esac
}

python_test_others() {
  local interpreter own
  own=$(cache_tag "$system_python")
  for interpreter in "$HOME"/.pyenv/versions/3.1[0-3].*/bin/python; do
    if [[ ! -x $interpreter || $(cache_tag "$interpreter") == "$own" ]]; then continue; fi
    say "== $("$interpreter" --version)"
    python_test_main --python "$interpreter" "$@"
  done
}

# python_bench <environment> <wheel>
python_bench() {
  local session missed=0
  mkdir -p build/bench
  need test
  configure release
  build_preset release --target kernel_session
  session=$(mktemp -d)
  build/release/bin/kernel_session "$session/five_million" 5000000
  "$1/bin/python" bench/python/python_bench.py --json build/bench/python_bench.json || missed=1
  "$1/bin/python" bench/python/install_bench.py "$2" --json build/bench/install_bench.json || missed=1
  "$1/bin/python" bench/python/dataframe_bench.py "$session/five_million" \
    --json build/bench/dataframe_bench.json || missed=1
  rm -rf "$session"
  return "$missed"
}

python_test_torch() {
  local clean=$1
  shift
  need test
  configure release
  build_preset release --target gpufl_standin_cupti
  STANDIN_CUPTI=$root/build/release/standin/cupti/libcupti.so \
    "$clean/bin/python" -m pytest -p no:cacheprovider python/tests/test_torch_labels*.py \
    python/tests/test_training.py python/tests/test_notebook.py python/tests/test_examples.py "$@"
  # PyTorch brings Triton.
  (cd python/warpscope && PYTHONPATH=src "$root/$clean/bin/python" -m pytest -p no:cacheprovider tests/test_triton.py)
}
