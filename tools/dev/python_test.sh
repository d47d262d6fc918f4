# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# `./dev python-test`: the wheel, and its tests where nothing but the wheel is. Sourced by ./dev.

readonly wheel_platform=manylinux_2_34_x86_64
readonly system_python=/usr/bin/python3

python_test_main() {
  if [[ ${1:-} == --help ]]; then
    say "usage: ./dev python-test [--others | --python INTERPRETER] [--oldest] [--bench | torch | pytest arguments]"
    say "Builds the wheel into build/wheels, unless that of the same sources is there; checks that it runs on"
    say "any Linux since glibc 2.34; and runs python/tests in a virtual environment that has the wheel and"
    say "what tests need; then, unless there are pytest arguments, the tests of python/warpscope."
    say "INTERPRETER: /usr/bin/python3, unless another is named, such as ~/.pyenv/versions/3.13.0/bin/python"
    say "--others: once for each supported CPython in ~/.pyenv/versions, but that of /usr/bin/python3."
    say "--oldest: with the oldest numpy, pandas, pyarrow and matplotlib that are supported (CPython 3.10, 3.11)."
    say "torch: with PyTorch, Lightning and transformers (gigabytes, kept in build), the tests and examples"
    say "that need them."
    say "--bench: runs bench/python there instead; figures go to build/bench."
    return
  fi
  local interpreter=$system_python
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
  need build python
  local tag tools clean wheel pinned=python_test
  tag=$(cache_tag "$interpreter")
  tools=.deps/$tag
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
  python_environment "$interpreter" "$tools" python
  wheel=$(build_wheel "$tools" "$tag")
  [[ -d $clean ]] || "$interpreter" -m venv "$clean"
  "$clean/bin/pip" install --quiet --disable-pip-version-check --requirement "tools/requirements/$pinned.txt"
  "$clean/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"
  case ${1:-} in
    --bench) python_bench "$clean" ;;
    torch)
      shift
      python_test_torch "$clean" "$@"
      ;;
    *)
      "$clean/bin/python" -m pytest -p no:cacheprovider "$@"
      if [[ $# -eq 0 ]]; then
        "$clean/bin/pip" install --quiet --disable-pip-version-check ./python/warpscope
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

python_bench() {
  local session missed=0
  mkdir -p build/bench
  need test
  configure release
  build_preset release --target kernel_session
  session=$(mktemp -d)
  build/release/bin/kernel_session "$session/five_million" 5000000
  "$1/bin/python" bench/python/python_bench.py --json build/bench/python_bench.json || missed=1
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

cache_tag() { "$1" -c 'import sys; print(sys.implementation.cache_tag)'; }

# python_environment <interpreter> <folder> <set>: a virtual environment with tools/requirements/<set>.txt
python_environment() {
  local pinned=tools/requirements/$3.txt
  if cmp -s "$pinned" "$2/installed.txt"; then return; fi
  say "Installing the Python wheels of $pinned ..."
  "$1" -m venv "$2"
  "$2/bin/pip" install --quiet --disable-pip-version-check --requirement "$pinned"
  cp "$pinned" "$2/installed.txt"
}

# build_wheel <tools> <tag>: the path of the wheel, on stdout; anything else only when it fails. One that
# is there of the same sources, tools and compiler is taken.
build_wheel() {
  local log=build/wheel-$2.log made=build/wheels/$2 inputs
  # Not the name that Python was built with, by which the cache would know nothing.
  export CXX=${CXX:-c++}
  export PATH=$root/$1/bin:$PATH
  inputs=$(wheel_inputs) || die "the wheel's sources could not be read"
  if [[ -f $made/inputs && $(<"$made/inputs") == "$inputs" ]]; then
    printf '%s' "$made"/*.whl
    return
  fi
  mkdir -p build
  rm -rf "$made"
  use_compiler_cache
  if ! {
    python -m pip wheel --no-build-isolation --no-deps --disable-pip-version-check \
      --wheel-dir "$made/built" . &&
      auditwheel repair --plat "$wheel_platform" --only-plat --wheel-dir "$made" "$made"/built/*.whl
  } >"$log" 2>&1; then
    cat "$log" >&2
    die "the wheel could not be made"
  fi
  rm -rf "$made/built"
  # Sources that changed meanwhile may be in it or not.
  if [[ $(wheel_inputs) == "$inputs" ]]; then printf '%s\n' "$inputs" >"$made/inputs"; fi
  printf '%s' "$made"/*.whl
}

# A sum of all that a wheel is made of: files but those that it cannot depend on, interpreter, compiler.
wheel_inputs() {
  {
    python -VV && "$CXX" --version &&
      git ls-files -z --cached --others --exclude-standard -- . \
        ':!bench' ':!docs' ':!examples' ':!python/tests' ':!python/warpscope' ':!tests' |
      while read -r -d '' path; do [[ ! -f $path ]] || printf '%s\0' "$path"; done |
        xargs -0 sha256sum
  } | sha256sum
}
