# SPDX-License-Identifier: MIT
# The examples. examples/NAME.c is one program that sees bloomery.h; examples/JOB/ is a job: its
# .c (or .cc) files and examples/common, with the adapters and libraries that its #includes name. A
# job whose library is not here is left out, and said so.
file(GLOB example_sources CONFIGURE_DEPENDS examples/*.c)
foreach(source ${example_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(example.${name} ${source})
  target_link_libraries(example.${name} PRIVATE bloomery_static)
  set_target_properties(example.${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
endforeach()

# header a job may include → CMake target that brings it
set(job_needs
  bloomery_redis.h bloomery_with_redis    hiredis/hiredis.h PkgConfig::BLM_HIREDIS
  bloomery_near.h bloomery_with_redis     bloomery_remote.h bloomery_with_redis
  bloomery_sqlite.h bloomery_with_sqlite  sqlite3.h PkgConfig::BLM_SQLITE
  bloomery_leveldb.h bloomery_with_leveldb bloomery_leveldb.hpp bloomery_with_leveldb
  md5.h PkgConfig::BLM_MD              sha1.h PkgConfig::BLM_MD
  pthread.h Threads::Threads)
find_package(Threads)
include(CheckLanguage)
# The C++ job is compiled by the family that compiles the C: their sanitizers' flags differ.
if(CMAKE_C_COMPILER_ID MATCHES "Clang" AND NOT CMAKE_CXX_COMPILER AND NOT DEFINED ENV{CXX})
  find_program(BLOOMERY_CLANGXX clang++)
  if(BLOOMERY_CLANGXX)
    set(CMAKE_CXX_COMPILER ${BLOOMERY_CLANGXX})
  endif()
endif()

file(GLOB common_sources CONFIGURE_DEPENDS examples/common/*.c)
add_library(example_common STATIC ${common_sources})
target_include_directories(example_common PUBLIC examples)
target_link_libraries(example_common PUBLIC bloomery_static)

set(job_names)
file(GLOB entries CONFIGURE_DEPENDS examples/*/main.c examples/*/main.cc)
foreach(entry ${entries})
  get_filename_component(folder ${entry} DIRECTORY)
  get_filename_component(job ${folder} NAME)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.c ${folder}/*.cc)
  set(libraries)
  set(missing)
  foreach(source ${sources})
    file(STRINGS ${source} includes REGEX "^#[ \t]*include <")
    foreach(line ${includes})
      string(REGEX REPLACE "^.*<(.*)>.*$" "\\1" header ${line})
      list(FIND job_needs ${header} at)
      if(at GREATER -1)
        math(EXPR at "${at} + 1")
        list(GET job_needs ${at} target)
        list(APPEND libraries ${target})
        if(NOT TARGET ${target})
          list(APPEND missing ${header})
        endif()
      endif()
    endforeach()
    if(source MATCHES "\\.cc$")
      check_language(CXX)
      if(CMAKE_CXX_COMPILER)
        enable_language(CXX)
      else()
        list(APPEND missing "a C++ compiler")
      endif()
    endif()
  endforeach()
  if(job STREQUAL "wallet" AND NOT BLOOMERY_WITH_MD)
    list(APPEND missing "SHA-256 (libmd)") # the library's, for transaction ids
  endif()
  if(missing)
    message(STATUS "job ${job} is left out: there is no ${missing}")
    continue()
  endif()
  list(REMOVE_DUPLICATES libraries)
  add_executable(job.${job} ${sources})
  target_link_libraries(job.${job} PRIVATE example_common ${libraries} m)
  set_target_properties(job.${job} PROPERTIES OUTPUT_NAME ${job} CXX_STANDARD 14
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  list(APPEND job_names ${job})
endforeach()
