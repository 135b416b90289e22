# SPDX-License-Identifier: MIT
# The programs around the library. All of them see bloomery.h and nothing else of it.

# The command-line tool: every .c below cli/, one executable.
file(GLOB_RECURSE cli_sources CONFIGURE_DEPENDS cli/*.c)
if(cli_sources)
  # What it is compiled and linked with; its fuzz targets too, from the same objects.
  add_library(bloomery_cli_needs INTERFACE)
  target_include_directories(bloomery_cli_needs INTERFACE ${PROJECT_SOURCE_DIR}/cli)
  # The page, where it has been built (make web).
  target_compile_definitions(bloomery_cli_needs INTERFACE
    BLOOMERY_WEB_DIR="${CMAKE_INSTALL_FULL_DATADIR}/bloomery/web")
  install(DIRECTORY web/dist/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bloomery/web OPTIONAL)
  # Filters on Redis: without hiredis, a reference to one says what is missing.
  set(remote_found OFF)
  if(TARGET bloomery_with_redis)
    set(remote_found ON)
  endif()
  option(BLOOMERY_WITH_HIREDIS "Filters on Redis from the command line (needs the Redis adapter)"
         ${remote_found})
  if(BLOOMERY_WITH_HIREDIS AND NOT remote_found)
    message(FATAL_ERROR "BLOOMERY_WITH_HIREDIS is ON but the Redis adapter is not built: it needs "
                        "hiredis, found by pkg-config, and BLOOMERY_ADAPTERS")
  endif()
  if(BLOOMERY_WITH_HIREDIS)
    target_compile_definitions(bloomery_cli_needs INTERFACE BLOOMERY_WITH_HIREDIS)
    target_link_libraries(bloomery_cli_needs INTERFACE bloomery_with_redis)
  else() # passwords are hidden all the same
    list(APPEND cli_sources ${PROJECT_SOURCE_DIR}/adapters/redis/remote_url.c)
    target_include_directories(bloomery_cli_needs INTERFACE ${PROJECT_SOURCE_DIR}/adapters/redis)
  endif()
  target_link_libraries(bloomery_cli_needs INTERFACE bloomery_static m ${CMAKE_DL_LIBS})
  if(BLOOMERY_WITH_ZSTD AND TARGET PkgConfig::BLM_ZSTD)
    target_compile_definitions(bloomery_cli_needs INTERFACE BLOOMERY_WITH_ZSTD)
    target_link_libraries(bloomery_cli_needs INTERFACE PkgConfig::BLM_ZSTD)
  endif()
  add_library(bloomery_cli_objects OBJECT ${cli_sources})
  target_link_libraries(bloomery_cli_objects PRIVATE bloomery_cli_needs)
  add_executable(bloomery_cli $<TARGET_OBJECTS:bloomery_cli_objects>)
  target_link_libraries(bloomery_cli PRIVATE bloomery_cli_needs)
  set_target_properties(bloomery_cli PROPERTIES OUTPUT_NAME bloomery)
  if(BLOOMERY_FUZZ AND BLOOMERY_TESTS) # tests/cli/failing.c stands before ASan's malloc, which is a library's then
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so
      OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
    get_filename_component(runtime ${runtime} DIRECTORY)
    target_link_options(bloomery_cli PRIVATE -shared-libasan -Wl,-rpath,${runtime})
  endif()
  install(TARGETS bloomery_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES cli/completion/bloomery.bash RENAME bloomery
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES cli/completion/_bloomery DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES cli/completion/bloomery.fish
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  # Manual pages and completions are the program's own words, kept in the tree so that they can be
  # read there and installed when cross-compiling; tests/cli/test_manual.py sees that they agree.
  add_custom_target(manual
    COMMAND sh ${PROJECT_SOURCE_DIR}/tools/manual $<TARGET_FILE:bloomery_cli> ${PROJECT_SOURCE_DIR}
    COMMENT "Writing docs/man and cli/completion" VERBATIM)
endif()

include(cmake/examples.cmake)

# bench/NAME.c becomes bench/NAME, with `make bench`. libbloom is who we compare with; a program
# that does says #ifdef BENCH_LIBBLOOM.
file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.c)
list(FILTER bench_sources EXCLUDE REGEX "redis_plain\\.c$") # no program but a module: redis.cmake
add_custom_target(bloomery_bench)
find_library(LIBBLOOM bloom)
find_path(LIBBLOOM_INCLUDE_DIR bloom.h)
foreach(source ${bench_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(bench.${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(bench.${name} PRIVATE bloomery_static m Threads::Threads)
  if(LIBBLOOM AND LIBBLOOM_INCLUDE_DIR)
    target_compile_definitions(bench.${name} PRIVATE BENCH_LIBBLOOM)
    target_link_libraries(bench.${name} PRIVATE ${LIBBLOOM})
  endif()
  set_target_properties(bench.${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  add_dependencies(bloomery_bench bench.${name})
endforeach()

# Evidence, by public headers alone: `make statistics`, `make adversary`, `make load`. Their quick parts
# are tests.
foreach(name statistics adversary)
  file(GLOB sources CONFIGURE_DEPENDS tests/${name}/*.c)
  add_executable(${name} EXCLUDE_FROM_ALL ${sources})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE bloomery_static m Threads::Threads)
endforeach()
file(GLOB sources CONFIGURE_DEPENDS tests/load/*.c)
add_executable(load.threads EXCLUDE_FROM_ALL ${sources})
target_link_libraries(load.threads PRIVATE bloomery_static Threads::Threads)

# Our side of `make test-interop`.
add_executable(interop.peer EXCLUDE_FROM_ALL tests/interop/peer.c)
target_link_libraries(interop.peer PRIVATE bloomery_static)
