# SPDX-License-Identifier: MIT
# fuzz/fuzz_NAME.c is built twice: as a libFuzzer target (BLOOMERY_FUZZ=ON, clang; checksums are not
# checked there) and, by any compiler, with fuzz/replay.c in the engine's place, which runs each
# file of a corpus once. Both are run over the whole corpus by `make test`. A corpus is
# fuzz/corpus/NAME (what fuzzing found worth keeping), the seeds that fuzz/seeds.c writes, and for
# fuzz_decode_X the golden files of format X: corpus.NAME lists those that are there.
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
  set(corpus.${name} ${PROJECT_BINARY_DIR}/seeds.d/${name})
  file(MAKE_DIRECTORY ${corpus.${name}})
  string(REGEX REPLACE "^decode_" "" format ${name})
  foreach(folder fuzz/corpus/${name} tests/golden/${format})
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${folder})
      list(APPEND corpus.${name} ${PROJECT_SOURCE_DIR}/${folder})
    endif()
  endforeach()
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
