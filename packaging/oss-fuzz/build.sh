#!/bin/bash -eu
# SPDX-License-Identifier: MIT
# Builds all fuzz targets into $OUT as OSS-Fuzz expects them: programs, NAME_seed_corpus.zip, and the
# shared libraries they need, which the machines that run them do not have. From outside come $SRC,
# $OUT, $WORK, $CC, $CXX, $CFLAGS, $CXXFLAGS (with the sanitizer) and $LIB_FUZZING_ENGINE. To try it:
#
#   try=$(mktemp -d) && mkdir $try/out $try/work && ln -s $PWD $try/bloomery
#   SRC=$try OUT=$try/out WORK=$try/work CC=clang CXX=clang++ \
#   CFLAGS='-O1 -g -fsanitize=address,fuzzer-no-link' CXXFLAGS='-fsanitize=address,fuzzer-no-link' \
#   LIB_FUZZING_ENGINE=-fsanitize=fuzzer packaging/oss-fuzz/build.sh
tree=$SRC/bloomery
cmake -S "$tree" -B "$WORK/build" -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX" \
    -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$CFLAGS" -DCMAKE_CXX_FLAGS="$CXXFLAGS" \
    -DBLOOMERY_FUZZ=ON -DBLOOMERY_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" \
    -DBLOOMERY_SHARED=OFF -DBLOOMERY_TESTS=OFF
cmake --build "$WORK/build" -j "$(nproc)" --target fuzzers seeds
ASAN_OPTIONS=detect_leaks=0 "$WORK/build/seeds" "$WORK/build/seeds.d"

mkdir -p "$OUT/lib"
for program in "$WORK"/build/fuzz_*; do
    [ -f "$program" ] && [ -x "$program" ] || continue
    cp "$program" "$OUT/"
    ldd "$program" | awk '$3 ~ /^\// { print $3 }' |
        grep -vE '/(libc|libm|libdl|libpthread|librt|libresolv|ld-linux[^/]*|libgcc_s|libstdc\+\+)\.so' |
        xargs -r cp -Lnt "$OUT/lib" || true
    name=${program##*/fuzz_}
    golden=${name#decode_}
    stage=$WORK/corpus/$name
    rm -rf "$stage" && mkdir -p "$stage"
    for folder in "$WORK/build/seeds.d/$name" "$tree/fuzz/corpus/$name" "$tree/tests/golden/${golden//_/-}"; do
        [ -d "$folder" ] || continue
        find "$folder" -type f -size -256k | while read -r input; do
            cp "$input" "$stage/$(sha1sum "$input" | cut -c1-40)"
        done
    done
    [ -z "$(ls -A "$stage")" ] || (cd "$stage" && zip -qr "$OUT/fuzz_${name}_seed_corpus.zip" .)
done
