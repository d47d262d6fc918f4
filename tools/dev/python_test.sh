# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# `./dev python-test`: the wheel, and its tests where nothing but the wheel is. Sourced by ./dev.

readonly wheel_platform=manylinux_2_34_x86_64

python_test_main() {
  if [[ ${1:-} == --help ]]; then
    say "usage: ./dev python-test [--python INTERPRETER] [--oldest] [--bench | torch | pytest arguments]"
    say "Builds the wheel into build/wheels, checks that it runs on any Linux since glibc 2.34, and"
    say "runs python/tests in a virtual environment that has the wheel and what tests need; then, unless"
    say "there are pytest arguments, the tests of python/warpscope."
    say "INTERPRETER: /usr/bin/python3, unless another is named, such as ~/.pyenv/versions/3.13.0/bin/python"
    say "--oldest: with the oldest numpy, pandas, pyarrow and matplotlib that are supported (CPython 3.10, 3.11)."
    say "torch: with PyTorch, Lightning and transformers (gigabytes), the tests and examples that need them."
    say "--bench: runs bench/python there instead; figures go to build/bench/python_bench.json."
    return
  fi
  local interpreter=/usr/bin/python3
  if [[ ${1:-} == --python ]]; then
    [[ $# -ge 2 ]] || misuse "--python needs an interpreter"
    interpreter=$2
    shift 2
  fi
  local pinned=tools/requirements/python_test.txt
  if [[ ${1:-} == --oldest ]]; then
    pinned=tools/requirements/python_oldest.txt
    shift
  fi
  if [[ ${1:-} == torch ]]; then
    pinned=tools/requirements/python_torch.txt
  fi
  need build python
  local tag tools clean wheel
  tag=$("$interpreter" -c 'import sys; print(sys.implementation.cache_tag)')
  tools=.deps/$tag
  clean=build/python-$tag
  python_environment "$interpreter" "$tools" python
  wheel=$(build_wheel "$tools" "$tag")
  rm -rf "$clean"
  "$interpreter" -m venv "$clean"
  "$clean/bin/pip" install --quiet --disable-pip-version-check \
    --requirement "$pinned" "$wheel"
  if [[ ${1:-} == --bench ]]; then
    mkdir -p build/bench
    "$clean/bin/python" bench/python/python_bench.py --json build/bench/python_bench.json
    return
  fi
  if [[ ${1:-} == torch ]]; then
    shift
    need test
    configure release
    build_preset release --target gpufl_standin_cupti
    STANDIN_CUPTI=$root/build/release/standin/cupti/libcupti.so \
      "$clean/bin/python" -m pytest -p no:cacheprovider python/tests/test_torch_labels.py \
      python/tests/test_training.py python/tests/test_notebook.py python/tests/test_examples.py "$@"
    return
  fi
  "$clean/bin/python" -m pytest -p no:cacheprovider "$@"
  if [[ $# -eq 0 ]]; then
    "$clean/bin/pip" install --quiet --disable-pip-version-check ./python/warpscope
    (cd python/warpscope && "$root/$clean/bin/python" -m pytest -p no:cacheprovider)
  fi
}

# python_environment <interpreter> <folder> <set>: a virtual environment with tools/requirements/<set>.txt
python_environment() {
  local pinned=tools/requirements/$3.txt
  if cmp -s "$pinned" "$2/installed.txt"; then return; fi
  say "Installing the Python wheels of $pinned ..."
  "$1" -m venv "$2"
  "$2/bin/pip" install --quiet --disable-pip-version-check --requirement "$pinned"
  cp "$pinned" "$2/installed.txt"
}

# build_wheel <tools> <tag>: the path of the wheel, on stdout; anything else only when it fails.
build_wheel() {
  local log=build/wheel-$2.log made=build/wheels/$2
  mkdir -p build
  rm -rf "$made"
  use_compiler_cache
  # Not the name that Python was built with, by which the cache would know nothing.
  export CXX=${CXX:-c++}
  export PATH=$root/$1/bin:$PATH
  if ! {
    python -m pip wheel --no-build-isolation --no-deps --disable-pip-version-check \
      --wheel-dir "$made/built" . &&
      auditwheel repair --plat "$wheel_platform" --only-plat --wheel-dir "$made" "$made"/built/*.whl
  } >"$log" 2>&1; then
    cat "$log" >&2
    die "the wheel could not be made"
  fi
  rm -rf "$made/built"
  printf '%s' "$made"/*.whl
}
