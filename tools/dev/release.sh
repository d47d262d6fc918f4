# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# `./dev release`: the files of a release, in one folder; docs/releasing.md has the whole way. Sourced
# by ./dev.

# shellcheck source=tools/dev/wheel.sh
source tools/dev/wheel.sh
readonly release_folder=build/dist

release_main() {
  local is_trial=no has_wheels=no version
  version=$(sed -n 's/^#define GPUFL_VERSION "\(.*\)"$/\1/p' include/gpufl/version.hpp)
  while [[ $# -gt 0 ]]; do
    case $1 in
      --help)
        release_help
        return
        ;;
      --upload)
        [[ $# -eq 1 ]] || misuse "--upload stands alone"
        check_release "$version"
        upload_release "$version"
        return
        ;;
      --trial) is_trial=yes ;;
      --wheels) has_wheels=yes ;;
      *) misuse "release does not know '$1'" ;;
    esac
    shift
  done
  need build python web
  ready_dashboard
  [[ $is_trial == yes ]] || check_release "$version"
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
  export SOURCE_DATE_EPOCH
  rm -rf "$release_folder"
  mkdir -p "$release_folder"
  [[ $has_wheels == yes ]] || (wheel_main)
  gather_wheels "$is_trial"
  pack_sources "$version"
  pack_programs "$version"
  (cd "$release_folder" && sha256sum -- * >SHA256SUMS)
  say "In $release_folder:"
  cat "$release_folder/SHA256SUMS"
}

release_help() {
  say "usage: ./dev release [--trial] [--wheels]"
  say "       ./dev release --upload"
  say "Gathers what a release holds in $release_folder: wheels, sources, programs for any Linux since"
  say "glibc $glibc_of_wheels, their bill of materials, and sums of all. Refuses where the commit has no tag"
  say "of its version, or is not what the working tree holds. docs/releasing.md has the whole way."
  say "--trial: of any commit, with the wheels that can be built here; to see what a release would be."
  say "--wheels: builds none, but takes those that lie in $wheel_folder."
  say "--upload: makes a draft of the release on GitHub, by 'gh', of what lies in $release_folder."
}

check_release() {
  [[ -z $(git status --porcelain) ]] || die "the working tree differs from the commit"
  [[ -n $(git tag --points-at HEAD --list "v$1") ]] || die "this commit has no tag v$1"
  "$system_python" tools/check_version.py --tag "v$1" || die "the version is not ready to be released"
}

# gather_wheels <is_trial>
gather_wheels() {
  local wheels wanted=$((${#wheel_kinds[@]} + 1))
  mapfile -t wheels < <(find "$wheel_folder" -maxdepth 1 -name '*.whl' | sort)
  if [[ ${#wheels[@]} -ne $wanted && $1 == no ]]; then
    die "a release has $wanted wheels; in $wheel_folder there are ${#wheels[@]}"
  fi
  "$system_python" tools/check_wheel.py "${wheels[@]}"
  cp "${wheels[@]}" "$release_folder"
}

pack_sources() {
  git archive --prefix="gpufl-$1/" HEAD | gzip --no-name >"$release_folder/gpufl-$1-source.tar.gz"
}

# Programs, library, headers and CMake's package, below one folder.
pack_programs() {
  local name=gpufl-$1-linux-x86_64 staging=build/package/staging files
  configure package
  build_preset package
  rm -rf "$staging"
  cmake --install build/package --prefix "$staging/$name" >/dev/null
  mapfile -t files < <(find "$staging" -type f \( -path '*/bin/*' -o -name '*.so*' \))
  "$system_python" tools/check_binaries.py --glibc "${glibc_of_wheels}" --maps build/package/maps "${files[@]}"
  tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    --directory "$staging" "$name" | gzip --no-name >"$release_folder/$name.tar.gz"
  cp build/package/third_party/gpufl.cdx.json "$release_folder/$name.cdx.json"
}

# As a draft: nobody sees it until a person has looked at it and publishes it.
upload_release() {
  command -v gh >/dev/null || die "--upload needs GitHub's command gh"
  (cd "$release_folder" && sha256sum --check --quiet SHA256SUMS)
  "$system_python" tools/check_version.py --notes >build/release-notes.md
  gh release create "v$1" --draft --verify-tag --title "GPUFlight $1" \
    --notes-file build/release-notes.md "$release_folder"/*
}
