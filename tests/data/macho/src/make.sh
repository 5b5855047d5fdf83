#!/bin/sh
# Makes the files beside this folder with Debian's llvm and lld (14.0.6; chained: 19.1.7).
set -eu
cd "$(dirname "$0")"
mc() { llvm-mc -filetype=obj -triple "$1" "$2" -o "$3"; }
mc x86_64-apple-macosx11 object.x86_64.s ../object-x86_64
mc arm64-apple-ios14 object.arm64.s ../object-arm64
mc thumbv7-apple-ios9 object.armv7.s ../object-armv7
mc i386-apple-macosx10.6 object.i386.s ../object-i386
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mc x86_64-apple-macosx11 dylib.x86_64.s "$scratch/dylib.o"
ld64.lld -dylib -arch x86_64 -platform_version macos 11.0 12.1 -install_name /usr/lib/libsmall.1.dylib \
  -current_version 1.2.3 -compatibility_version 1.0.0 -rpath @loader_path/../lib -function_starts \
  -data_in_code_info -adhoc_codesign -o ../libsmall.dylib "$scratch/dylib.o" libSystem.tbd
llvm-ar rcs "$scratch/archive.a" ../object-armv7
llvm-lipo -create ../object-x86_64 ../object-arm64 -arch armv7 "$scratch/archive.a" -output ../universal
# lld 14 writes no chained fixups: this one is lld 19's.
llvm-mc-19 -filetype=obj -triple arm64-apple-macosx13 chained.arm64.s -o "$scratch/chained.o"
sed s/x86_64-macos/arm64-macos/ libSystem.tbd > "$scratch/libSystem.tbd"
ld64.lld-19 -arch arm64 -platform_version macos 13.0 13.1 -fixup_chains -e _exported -no_data_const \
  -o ../chained "$scratch/chained.o" "$scratch/libSystem.tbd"
