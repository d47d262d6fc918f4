#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_symbols.sh <build folder>: fails when a program or library in bin/, lib/ or benchmarks/ needs a
# symbol newer than glibc 2.34 (Ubuntu 22.04, RHEL 9) or a library that those may not have.
set -euo pipefail

readonly build=$1
readonly newest_glibc=2.34
readonly allowed='^(lib(c|m|gcc_s|dl|pthread|rt)\.so\.[0-9]+|ld-linux-x86-64\.so\.2|libgpufl\.so\.[0-9.]+)$'

# Debian 12, whose programs need 2.34 at most unless they use something new. Later ones redirect
# even strtol to a new symbol.
readonly newest_build_glibc=2.36
if [[ $(printf '%s\n' "$newest_build_glibc" "$(getconf GNU_LIBC_VERSION | cut -d' ' -f2)" |
  sort -V | tail -n 1) != "$newest_build_glibc" ]]; then
  echo "skipped: portable builds are made with glibc $newest_build_glibc or older"
  exit 77
fi

checked=0
bad=0
complain() {
  printf '%s: %s\n' "$1" "$2" >&2
  bad=$((bad + 1))
}

while read -r file; do
  if ! private=$(objdump -p "$file" 2>/dev/null); then continue; fi # not ELF
  checked=$((checked + 1))
  while read -r library; do
    [[ -z $library || $library =~ $allowed ]] || complain "$file" "needs $library"
  done < <(sed -n -E 's/^ +NEEDED +//p' <<<"$private")
  while read -r version; do
    newest=$(printf '%s\n' "$newest_glibc" "$version" | sort -V | tail -n 1)
    [[ $newest == "$newest_glibc" ]] ||
      complain "$file" "needs GLIBC_$version: $(objdump -T "$file" | grep -F "GLIBC_$version)" |
        awk '{print $NF}' | tr '\n' ' ')"
  done < <(objdump -T "$file" | grep -oE 'GLIBC_[0-9.]+' | sort -u | sed 's/GLIBC_//')
done < <(find "$build/bin" "$build/lib" "$build/benchmarks" -type f 2>/dev/null)

printf '%d files checked\n' "$checked"
if [[ $checked -eq 0 ]]; then
  echo "nothing to check in $build" >&2
  exit 1
fi
[[ $bad -eq 0 ]]
