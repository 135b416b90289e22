# SPDX-License-Identifier: MIT
# fuzz/fuzz_NAME.c is built twice: as a libFuzzer target (BLOOMERY_FUZZ=ON, clang) and, by any
# compiler, with fuzz/replay.c in the engine's place, which runs each file of a corpus once. The
# second kind is an ordinary test. A corpus is three directories, any of which may be missing:
# fuzz/corpus/NAME (what fuzzing found worth keeping), the seeds that fuzz/seeds.c writes, and for
# fuzz_decode_X the golden files of format X.
file(GLOB fuzz_sources CONFIGURE_DEPENDS fuzz/fuzz_*.c)
set(fuzz_names)
if(fuzz_sources AND (BLOOMERY_FUZZ OR BLOOMERY_TESTS))
  add_executable(seeds fuzz/seeds.c)
  target_link_libraries(seeds PRIVATE bloomery_static m)
endif()
foreach(source ${fuzz_sources})
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "^fuzz_" "" name ${name})
  list(APPEND fuzz_names ${name})
  if(BLOOMERY_FUZZ)
    add_executable(fuzz_${name} ${source})
    target_link_libraries(fuzz_${name} PRIVATE bloomery_static m)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  endif()
  if(BLOOMERY_TESTS)
    add_executable(replay.${name} ${source} fuzz/replay.c)
    target_link_libraries(replay.${name} PRIVATE bloomery_static m)
  endif()
endforeach()
