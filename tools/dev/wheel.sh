# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# `./dev wheel`: the wheels of gpufl and warpscope, each checked for what it may hold. Sourced by ./dev.

readonly wheel_folder=build/wheels
readonly glibc_of_wheels=2.34
readonly wheel_platform=manylinux_${glibc_of_wheels/./_}_x86_64
readonly system_python=/usr/bin/python3
# One for each of the older CPythons; abi3, by the stable ABI, for all since 3.12.
readonly wheel_kinds=(cp310 cp311 abi3)

wheel_main() {
  if [[ ${1:-} == --help ]]; then
    say "usage: ./dev wheel [cp310 | cp311 | abi3 | warpscope] ..."
    say "Builds wheels into $wheel_folder, or says which cannot be built here: gpufl for CPython 3.10, for"
    say "3.11, and for all from 3.12 on by the stable ABI; and warpscope, which is pure Python. A wheel of"
    say "the same sources that is there is kept. Each is checked: it needs glibc 2.34 and nothing else,"
    say "everything linked into it has a permissive licence, and its own files describe it right."
    say "CPythons are looked for in /usr/bin, in PATH and in ~/.pyenv/versions, with their headers."
    return
  fi
  local kinds=("$@") kind interpreter missing=()
  [[ $# -gt 0 ]] || kinds=("${wheel_kinds[@]}" warpscope)
  for kind in "${kinds[@]}"; do
    [[ $kind =~ ^(cp310|cp311|abi3|warpscope)$ ]] || misuse "wheel does not know '$kind'"
  done
  need build python
  ready_dashboard
  for kind in "${kinds[@]}"; do
    if [[ $kind == warpscope ]]; then
      build_warpscope_wheel
    elif interpreter=$(wheel_interpreter "$kind"); then
      (build_wheel "$kind" "$interpreter")
    else
      missing+=("$kind")
    fi
  done
  for kind in "${missing[@]}"; do
    say "Not built: $kind. It needs $(wheel_versions "$kind") with its headers (such as of" \
      "'pyenv install $(oldest_version "$kind")'); none is here."
  done
  # What was asked for by name is missed; of all of them, those are wanted that can be had.
  [[ $# -eq 0 || ${#missing[@]} -eq 0 ]] || exit 1
}

ready_dashboard() {
  # shellcheck source=tools/dev/web.sh
  source tools/dev/web.sh
  web_ready
}

wheel_versions() {
  case $1 in
    abi3) printf 'CPython 3.12 or newer' ;;
    *) printf 'CPython %s' "$(oldest_version "$1")" ;;
  esac
}

oldest_version() {
  case $1 in
    abi3) printf '3.12' ;;
    *) printf '3.%s' "${1#cp3}" ;;
  esac
}

# wheel_interpreter <kind>: the path of one that can build it, the oldest version first; fails when
# there is none.
wheel_interpreter() {
  local minors=("${1#cp3}") minor candidate
  [[ $1 != abi3 ]] || minors=(12 13 14)
  for minor in "${minors[@]}"; do
    for candidate in "$system_python" "python3.$minor" "$HOME/.pyenv/versions/3.$minor".*/bin/python; do
      if "$candidate" - "$minor" 2>/dev/null <<'PYTHON'; then
import os, sys, sysconfig, venv
header = os.path.join(sysconfig.get_path("include"), "Python.h")
is_free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
sys.exit(sys.version_info[:2] != (3, int(sys.argv[1])) or is_free_threaded or not os.path.exists(header))
PYTHON
        command -v "$candidate"
        return
      fi
    done
  done
  return 1
}

# wheel_kind <interpreter>: which of the wheels it installs.
wheel_kind() {
  "$1" -c 'import sys; v = sys.version_info; print("abi3" if v >= (3, 12) else f"cp3{v.minor}")'
}

# wheel_of <interpreter>: the path of the wheel that it installs, which is built where there is none.
wheel_of() {
  local kind builder
  kind=$(wheel_kind "$1")
  builder=$(wheel_interpreter "$kind") || builder=$1
  build_wheel "$kind" "$builder"
}

cache_tag() { "$1" -c 'import sys; print(sys.implementation.cache_tag)'; }

# python_environment <interpreter> <folder> <set>: a virtual environment with tools/requirements/<set>.txt
python_environment() {
  local pinned=tools/requirements/$3.txt
  if cmp -s "$pinned" "$2/installed.txt"; then return; fi
  say "Installing the Python wheels of $pinned ..." >&2
  "$1" -m venv "$2"
  "$2/bin/pip" install --quiet --disable-pip-version-check --requirement "$pinned"
  cp "$pinned" "$2/installed.txt"
}

# build_wheel <kind> <interpreter>: the path of the wheel, on stdout; anything else only when it fails.
# One that is there of the same sources, tools and compiler is taken.
build_wheel() {
  local tag log=build/wheel-$1.log stamp=build/wheel-$1.inputs unrepaired=build/wheel-$1 pattern inputs
  tag=$(cache_tag "$2")
  pattern="$wheel_folder/gpufl-*-${1/abi3/cp312-abi3}-*.whl"
  python_environment "$2" ".deps/$tag" python
  # Not the name that Python was built with, by which the cache would know nothing.
  export CXX=${CXX:-c++}
  export PATH=$root/.deps/$tag/bin:$PATH
  inputs=$(wheel_inputs) || die "the wheel's sources could not be read"
  if [[ -f $stamp && $(<"$stamp") == "$inputs" ]] && compgen -G "$pattern"; then return; fi
  mkdir -p "$wheel_folder"
  rm -rf "$unrepaired" "$stamp"
  find "$wheel_folder" -path "$pattern" -delete
  use_compiler_cache
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
  export SOURCE_DATE_EPOCH
  if ! {
    python -m pip wheel --no-build-isolation --no-deps --disable-pip-version-check \
      --config-settings=cmake.define.GPUFL_WEB="$(has_web && printf ON || printf AUTO)" \
      --wheel-dir "$unrepaired" . &&
      auditwheel repair --plat "$wheel_platform" --only-plat --wheel-dir "$wheel_folder" "$unrepaired"/*.whl &&
      python tools/check_wheel.py --maps "build/wheel-$tag/maps" "$(compgen -G "$pattern")"
  } >"$log" 2>&1; then
    cat "$log" >&2
    die "the wheel could not be made"
  fi
  rm -rf "$unrepaired"
  # Sources that changed meanwhile may be in it or not.
  if [[ $(wheel_inputs) == "$inputs" ]]; then printf '%s\n' "$inputs" >"$stamp"; fi
  compgen -G "$pattern"
}

# A sum of all that a wheel is made of: files but those that it cannot depend on, interpreter, compiler.
wheel_inputs() {
  {
    python -VV && "$CXX" --version && { has_web && printf 'with the dashboard\n' || true; } &&
      git ls-files -z --cached --others --exclude-standard -- . \
        ':!bench' ':!docs' ':!examples' ':!python/tests' ':!python/warpscope' ':!tests' |
      while read -r -d '' path; do [[ ! -f $path ]] || printf '%s\0' "$path"; done |
        xargs -0 sha256sum
  } | sha256sum
}

# The path of warpscope's wheel, which takes a second.
build_warpscope_wheel() {
  local log=build/wheel-warpscope.log tag
  tag=$(cache_tag "$system_python")
  python_environment "$system_python" ".deps/$tag" python
  mkdir -p "$wheel_folder"
  rm -f "$wheel_folder"/warpscope-*.whl
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
  export SOURCE_DATE_EPOCH
  if ! {
    ".deps/$tag/bin/pip" wheel --no-build-isolation --no-deps --disable-pip-version-check \
      --wheel-dir "$wheel_folder" ./python/warpscope &&
      ".deps/$tag/bin/python" tools/check_wheel.py "$(compgen -G "$wheel_folder/warpscope-*.whl")"
  } >"$log" 2>&1; then
    cat "$log" >&2
    die "the wheel of warpscope could not be made"
  fi
  compgen -G "$wheel_folder/warpscope-*.whl"
}
