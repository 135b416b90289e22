# SPDX-License-Identifier: MIT
# The tests, found by glob:
#   tests/unit/DIR/test_NAME.c    cmocka, mirrors src/DIR/NAME.c; CTest's unit.DIR.NAME. DIR redis
#                                 is the module, with a server of ours (fuzz/fake_redis.h)
#   tests/model/guard.c           the guard's law under random interleavings; model.guard_…
#   tests/DIR/test_NAME.py, .sh   a script; CTest's DIR.NAME. It finds the tree, the build and the
#                                 compiler in BLM_SOURCE, BLM_BUILD and CC; exit 77 is "skipped"
#   tests/cli/COMMAND/CASE.sh     what the command line does, byte for byte; cli.cases.COMMAND
#   examples/NAME.c               must run and exit 0; example.NAME
#   examples/JOB/                 must keep its promises, and notice an impostor; job.JOB
#   tests/adapters/NAME/test_X.c  an adapter's, where its library is here; adapter.NAME.X
#   fuzz/fuzz_NAME.c              over its corpus; replay.NAME
#   tests/statistics, adversary   evidence with figures; statistics.quick, adversary.quick
# With BLOOMERY_GATE the same C tests run again from the sanitizer builds beside this one, as
# asan.unit.… and tsan.unit.…, and the libFuzzer targets over their corpus, so that one CTest run,
# and one closing line, is the whole gate. ASan's build is clang's, which has the libFuzzer targets too.
find_library(CMOCKA cmocka)
if(NOT CMOCKA)
  message(FATAL_ERROR "cmocka is missing: on Debian, apt-get install libcmocka-dev; "
                      "or -DBLOOMERY_TESTS=OFF")
endif()

# The tests that are one program: its place in a build tree is program.NAME, its arguments
# arguments.NAME.
set(plain_tests)

# The library is what is optimised. Its tests compile in a quarter of the time without (a half with -O1), and most
# take as long. Where somebody has said how to compile (CMAKE_BUILD_TYPE=None), that holds for them too.
set(tests_optimised)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(tests_optimised -O1)
elseif(BLOOMERY_SANITIZE AND CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  set(tests_optimised -O0)
endif()

# A processor that has AVX-512 runs those kernels themselves under the sanitizers: emulated as well, they took 50 s
# of processor time, 34 of them to compile. The optimised build emulates them everywhere.
set(runs_avx512)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo runs_avx512 REGEX "^flags.* avx512dq.* avx512bw.* avx512vl" LIMIT_COUNT 1)
endif()

file(GLOB_RECURSE unit_sources CONFIGURE_DEPENDS tests/unit/test_*.c)
foreach(source ${unit_sources})
  file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/tests/unit ${source})
  string(REGEX REPLACE "\\.c$" "" name ${name})
  string(REGEX REPLACE "(^|/)test_" "\\1" name ${name})
  string(REPLACE "/" "." name unit.${name})
  if(BLOOMERY_UNIT_REGEX AND NOT name MATCHES "${BLOOMERY_UNIT_REGEX}")
    continue()
  endif()
  if(name MATCHES "^unit\\.redis\\." AND NOT redis_sources) # the module is not built here
    continue()
  endif()
  if(name STREQUAL "unit.core.kernel.avx512_emulated" AND BLOOMERY_FUZZ AND runs_avx512)
    continue()
  endif()
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE src tests)
  if(name MATCHES "^unit\\.redis\\.") # the module itself, with the fuzzer's server
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:bloomery_redis_objects>)
    target_include_directories(${name} PRIVATE redis fuzz)
  endif()
  target_link_libraries(${name} PRIVATE bloomery_static ${CMOCKA} Threads::Threads m)
  target_compile_definitions(${name} PRIVATE TEST_DATA="${PROJECT_SOURCE_DIR}/tests")
  if(NOT name MATCHES "\\.(steps|prepared|lanes)$") # they work out themselves what the library should have
    target_compile_options(${name} PRIVATE ${tests_optimised})
  endif()
  if(BLOOMERY_FUZZ) # what the library reaches is counted, not what its tests do
    target_compile_options(${name} PRIVATE -fno-sanitize=fuzzer-no-link)
  endif()
  list(APPEND plain_tests ${name})
  set(program.${name} ${name})
endforeach()
# SIMDe's functions take and return 64 bytes, as they may. Inlined everywhere by an optimiser they took
# 100 s to compile, and 7 s as they are.
set_source_files_properties(tests/unit/core/kernel/test_avx512_emulated.c PROPERTIES
  COMPILE_OPTIONS "-Wno-psabi;-O1;-g0")
if(TARGET unit.core.kernel.avx512_emulated)
  target_link_options(unit.core.kernel.avx512_emulated PRIVATE -Wno-psabi) # -flto compiles it there
endif()

# The model of the guard: its sources once more, with steps at which a schedule can break in; run
# for every classic mistake too, which it must find. Under ThreadSanitizer the model itself is not
# looked at: its own data is ordered by fibers taking turns, of which TSan is not told.
if(NOT BLOOMERY_UNIT_REGEX OR "model.guard_threads" MATCHES "${BLOOMERY_UNIT_REGEX}")
  file(GLOB guard_sources CONFIGURE_DEPENDS src/guard/*.c)
  add_executable(model.guard tests/model/guard.c ${guard_sources})
  if(BLOOMERY_SANITIZE MATCHES "thread")
    set_source_files_properties(tests/model/guard.c PROPERTIES
      COMPILE_OPTIONS "-fno-sanitize=thread;-DFIBERS_TSAN")
  endif()
  target_include_directories(model.guard PRIVATE src tests)
  target_compile_definitions(model.guard PRIVATE BLM__MODEL)
  target_link_libraries(model.guard PRIVATE bloomery_static Threads::Threads m)
  list(APPEND plain_tests model.guard_threads)
  set(program.model.guard_threads model.guard)
  foreach(mistake RANGE 1 18)
    list(APPEND plain_tests model.guard_mistake_${mistake})
    set(program.model.guard_mistake_${mistake} model.guard)
    set(arguments.model.guard_mistake_${mistake} -m ${mistake})
  endforeach()
endif()

# The guard's law under torture, with the real data sets; see tests/torture/law.c. Here a few episodes
# of each theme; `make torture` runs as long as you like.
if(NOT BLOOMERY_UNIT_REGEX OR "torture.law_threads" MATCHES "${BLOOMERY_UNIT_REGEX}")
  file(GLOB torture_sources CONFIGURE_DEPENDS tests/torture/*.c)
  list(FILTER torture_sources EXCLUDE REGEX "/data_(sqlite|leveldb|redis)\\.c$|/follow\\.c$")
  add_executable(torture.law ${torture_sources})
  target_link_libraries(torture.law PRIVATE bloomery_static Threads::Threads)
  foreach(name ${bloomery_adapters})
    string(TOUPPER ${name} upper)
    target_sources(torture.law PRIVATE tests/torture/data_${name}.c)
    target_compile_definitions(torture.law PRIVATE TORTURE_${upper})
    target_link_libraries(torture.law PRIVATE bloomery_with_${name})
  endforeach()
  if("redis" IN_LIST bloomery_adapters)
    target_sources(torture.law PRIVATE tests/torture/follow.c)
  endif()
  foreach(name memory sqlite leveldb redis)
    if(name STREQUAL "memory" OR name IN_LIST bloomery_adapters)
      add_test(NAME torture.${name}
        COMMAND torture.law --quiet --adapter ${name} --episodes 3)
    endif()
  endforeach()
endif()

foreach(source ${example_sources})
  get_filename_component(name ${source} NAME_WE)
  list(APPEND plain_tests example.${name})
  set(program.example.${name} examples/${name})
endforeach()

foreach(name ${bloomery_adapters})
  bloomery_adapter_tests(${name})
endforeach()

if(TARGET fuzz_replay)
  foreach(name ${fuzz_names})
    list(APPEND plain_tests replay.${name})
    set(program.replay.${name} replay.${name})
    set(arguments.replay.${name} ${corpus.${name}})
  endforeach()
endif()
if(fuzz_names)
  add_test(NAME replay.seeds COMMAND seeds ${PROJECT_BINARY_DIR}/seeds.d)
  set_tests_properties(replay.seeds PROPERTIES FIXTURES_SETUP seeds)
endif()

# add_program_test(NAME OF TREE [COMMAND-BEFORE…]): test NAME is the program of plain test OF, as
# built in TREE.
function(add_program_test name of tree)
  add_test(NAME ${name} COMMAND ${ARGN} ${tree}/${program.${of}} ${arguments.${of}}
           WORKING_DIRECTORY ${tree})
  if(name MATCHES "(^|\\.)replay\\.")
    set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED seeds)
  endif()
endfunction()

foreach(name ${plain_tests})
  add_program_test(${name} ${name} ${PROJECT_BINARY_DIR})
endforeach()

# Of a tree for some tests only what those run: they, and the command line.
if(BLOOMERY_UNIT_REGEX)
  add_custom_target(chosen)
  foreach(name ${plain_tests})
    if(name MATCHES "${BLOOMERY_UNIT_REGEX}" AND TARGET ${program.${name}})
      add_dependencies(chosen ${program.${name}})
    endif()
  endforeach()
  if(TARGET bloomery_cli)
    add_dependencies(chosen bloomery_cli)
  endif()
endif()

# The command line's cases: a directory of tests/cli is one test.
set(cli_cases)
file(GLOB entries CONFIGURE_DEPENDS tests/cli/*)
foreach(entry ${entries})
  if(IS_DIRECTORY ${entry} AND NOT entry MATCHES "__pycache__")
    get_filename_component(name ${entry} NAME)
    list(APPEND cli_cases ${name})
    add_test(NAME cli.cases.${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/cli/run.sh ${name})
    set_tests_properties(cli.cases.${name} PROPERTIES ENVIRONMENT "BLM_BUILD=${PROJECT_BINARY_DIR}")
  endif()
endforeach()
add_executable(genlines tests/cli/genlines.c)

# What tools/counts counts the instructions of; tests/counts/test_counts.py keeps them in a band.
find_path(VALGRIND_INCLUDE_DIR valgrind/callgrind.h)
if(VALGRIND_INCLUDE_DIR AND NOT BLOOMERY_SANITIZE)
  add_executable(counts tests/counts/counts.c)
  target_include_directories(counts SYSTEM PRIVATE ${VALGRIND_INCLUDE_DIR})
  target_link_libraries(counts PRIVATE bloomery_static)
endif()

# What tests/redis/test_near.py runs.
if(TARGET bloomery_with_redis)
  foreach(name near_model near_anew near_own)
    add_executable(redis.${name} tests/redis/${name}.c)
    target_link_libraries(redis.${name} PRIVATE bloomery_with_redis Threads::Threads)
  endforeach()
endif()

# What tests/redis/test_memory.py loads.
if(TARGET bloomery_redis AND NOT BLOOMERY_SANITIZE)
  add_library(redis.failing MODULE tests/redis/failing.c # which includes module.c
    $<FILTER:$<TARGET_OBJECTS:bloomery_redis_objects>,EXCLUDE,/module\\.c\\.o$>)
  target_include_directories(redis.failing PRIVATE redis)
  target_link_libraries(redis.failing PRIVATE bloomery_static m)
  target_link_options(redis.failing PRIVATE -Wl,-Bsymbolic -Wl,--exclude-libs,ALL)
  set_target_properties(redis.failing PROPERTIES
    PREFIX "" OUTPUT_NAME failing LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/redis)
endif()

# The evidence's quick parts; tests/load/test_load.py runs the third.
if(NOT BLOOMERY_SANITIZE)
  set_target_properties(statistics adversary load.threads PROPERTIES EXCLUDE_FROM_ALL OFF)
  foreach(name statistics adversary)
    add_test(NAME ${name}.quick COMMAND ${name} --quick)
  endforeach()
endif()

set(script_places "BLM_SOURCE=${PROJECT_SOURCE_DIR};BLM_BUILD=${PROJECT_BINARY_DIR}"
  "PYTHONDONTWRITEBYTECODE=1")
# Scripts build programs of their own against the library: not with a sanitizer's flags missing.
if(NOT BLOOMERY_SANITIZE)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  file(GLOB_RECURSE scripts CONFIGURE_DEPENDS tests/test_*.py tests/test_*.sh)
  foreach(source ${scripts})
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/tests ${source})
    string(REGEX REPLACE "\\.(py|sh)$" "" name ${name})
    string(REGEX REPLACE "(^|/)test_" "\\1" name ${name})
    string(REPLACE "/" "." name ${name})
    if(name MATCHES "^redis\\.(cli|cluster|shards|near|outputs)$" AND NOT BLOOMERY_WITH_HIREDIS)
      continue() # they are about the command line's filters on Redis
    endif()
    set(runner sh)
    if(name MATCHES "^python\\.") # pytest runs these, on the package as pip installs it
      string(REPLACE "python." "test_" file ${name})
      add_test(NAME ${name}
        COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/python/run.py ${file})
      set_tests_properties(${name} PROPERTIES LABELS python FIXTURES_REQUIRED python
        SKIP_RETURN_CODE 77 ENVIRONMENT "${script_places};CC=${CMAKE_C_COMPILER}")
      continue()
    endif()
    if(source MATCHES "\\.py$")
      set(runner ${Python3_EXECUTABLE})
    endif()
    add_test(NAME ${name} COMMAND ${runner} ${source})
    if(name MATCHES "^redis\\.")
      set_tests_properties(${name} PROPERTIES LABELS redis)
    endif()
    if(name STREQUAL "tools.analyse") # half a minute of both processors
      set_tests_properties(${name} PROPERTIES LABELS gate)
    endif()
    if(name STREQUAL "web.lines") # some of them are Python
      set_tests_properties(${name} PROPERTIES FIXTURES_REQUIRED python)
    endif()
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT
      "${script_places};CC=${CMAKE_C_COMPILER}")
  endforeach()
endif()

if(NOT BLOOMERY_SANITIZE)
  add_test(NAME python.build
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/python/run.py build)
  set_tests_properties(python.build PROPERTIES LABELS python FIXTURES_SETUP python
    SKIP_RETURN_CODE 77 ENVIRONMENT "${script_places};CC=${CMAKE_C_COMPILER}")
endif()

# In a new clone CTest does not know yet what takes long. These begin first, so that none of them is left
# over at the end, when it would have the machine for itself.
foreach(name python.build web.page python.scrapy redis.near redis.shards amalgamation.cross unit.kind.cuckoo)
  if(TEST ${name})
    set_tests_properties(${name} PROPERTIES COST 1000)
  endif()
endforeach()

# A job, three ways: as it is, and with a filter that always answers "maybe", and "no".
foreach(job ${job_names})
  if(NOT BLOOMERY_SANITIZE)
    add_test(NAME job.${job}
      COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/jobs/run.py ${job})
    set_tests_properties(job.${job} PROPERTIES LABELS job ENVIRONMENT
      "${script_places}")
  endif()
endforeach()

if(BLOOMERY_GATE)
  foreach(job ${job_names})
    add_test(NAME asan.job.${job} COMMAND ${PROJECT_BINARY_DIR}/clang/examples/${job})
    # A server that is not sanitized cannot load the module of that build.
    set_tests_properties(asan.job.${job} PROPERTIES LABELS gate
      ENVIRONMENT "BLOOMERY_MODULE=${PROJECT_BINARY_DIR}/redis/bloomery.so")
  endforeach()
  # ThreadSanitizer of gcc 12 cannot place its shadow on kernels that randomise addresses by more
  # than 28 bits: switch that off where we may.
  execute_process(COMMAND setarch -R true RESULT_VARIABLE refused OUTPUT_QUIET ERROR_QUIET)
  set(tsan_launcher)
  if(refused EQUAL 0)
    set(tsan_launcher setarch -R)
  endif()
  set(without_slow ${CMAKE_COMMAND} -E env --unset=BLM_SLOW)
  foreach(name ${cli_cases})
    add_test(NAME asan.cli.cases.${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/cli/run.sh ${name})
    set_tests_properties(asan.cli.cases.${name} PROPERTIES LABELS gate
      ENVIRONMENT "BLM_BUILD=${PROJECT_BINARY_DIR}/clang")
  endforeach()
  # The command line's threads, stopped in every way.
  set(tree.asan clang)
  set(tree.tsan tsan)
  foreach(sanitizer asan tsan)
    add_test(NAME ${sanitizer}.cli.ends COMMAND ${${sanitizer}_launcher} ${Python3_EXECUTABLE}
      ${PROJECT_SOURCE_DIR}/tests/cli/test_ends.py)
    set(places BLM_SOURCE=${PROJECT_SOURCE_DIR} BLM_BUILD=${PROJECT_BINARY_DIR}/${tree.${sanitizer}}
      PYTHONDONTWRITEBYTECODE=1)
    set_tests_properties(${sanitizer}.cli.ends PROPERTIES LABELS gate ENVIRONMENT "${places}")
  endforeach()
  # Outputs, connections and memory that fail, in short forms. A server that is not sanitized cannot load the
  # module of that build.
  set(asan_scripts cli.served)
  if(BLOOMERY_WITH_HIREDIS)
    list(APPEND asan_scripts redis.outputs)
  endif()
  foreach(name ${asan_scripts})
    string(REPLACE "." "/test_" file ${name})
    add_test(NAME asan.${name}
      COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tests/${file}.py)
    set_tests_properties(asan.${name} PROPERTIES LABELS gate SKIP_RETURN_CODE 77 ENVIRONMENT
      "BLM_SOURCE=${PROJECT_SOURCE_DIR};BLM_BUILD=${PROJECT_BINARY_DIR}/clang;BLM_QUICK=1;CC=${CMAKE_C_COMPILER};BLM_MODULE=${PROJECT_BINARY_DIR}/redis/bloomery.so;PYTHONDONTWRITEBYTECODE=1")
  endforeach()
  foreach(name ${plain_tests})
    if(name STREQUAL "unit.core.kernel.avx512_emulated" AND runs_avx512)
      continue()
    endif()
    # Here memory is the subject: what is about chance is cut short.
    if(name MATCHES "^replay\\.(.*)") # the fuzzer's own program runs each file once
      set(program.asan fuzz_${CMAKE_MATCH_1})
      set(arguments.asan -runs=0 -verbosity=0 ${arguments.${name}})
    else()
      set(program.asan ${program.${name}})
      set(arguments.asan ${arguments.${name}})
    endif()
    add_program_test(asan.${name} asan ${PROJECT_BINARY_DIR}/clang ${without_slow} BLM_QUICK=1 BLM_SUMS=1)
    set_tests_properties(asan.${name} PROPERTIES LABELS gate)
    if(name MATCHES "threads")
      # The promise is for the portable kernel; vector kernels touch whole lanes at once.
      add_program_test(tsan.${name} ${name} ${PROJECT_BINARY_DIR}/tsan ${without_slow}
                       BLOOMERY_CPU=portable ${tsan_launcher})
      set_tests_properties(tsan.${name} PROPERTIES LABELS gate)
    endif()
  endforeach()
  foreach(name ${fuzz_names})
    add_test(NAME fuzz.${name} COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/fuzz brief
      --build ${PROJECT_BINARY_DIR}/clang --runs ${fuzz_runs.${name}} ${name} ${corpus.${name}})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS gate FIXTURES_REQUIRED seeds)
  endforeach()
endif()
