# SPDX-License-Identifier: MIT
# What the library stands on. xxHash comes in as a header only (XXH_INLINE_ALL): nothing to link.
# The rest is for single codecs, each left out when its library is not there.
include(GNUInstallDirs)
find_package(Python3 COMPONENTS Interpreter)

find_path(XXHASH_INCLUDE_DIR xxhash.h)
if(NOT XXHASH_INCLUDE_DIR)
  message(FATAL_ERROR "xxhash.h is missing: on Debian, apt-get install libxxhash-dev")
endif()
include_directories(SYSTEM ${XXHASH_INCLUDE_DIR})

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

find_package(PkgConfig QUIET)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED) # the guard

# bloomery_optional_library(NAME HEADER MODULE WHAT): an option BLOOMERY_WITH_<NAME>, on where
# pkg-config knows MODULE. When it is on and a source includes HEADER, the macro
# BLOOMERY_WITH_<NAME> is defined and the library is linked. Such sources keep the include and all
# that needs it inside #ifdef BLOOMERY_WITH_<NAME>.
function(bloomery_optional_library name header module what)
  if(PkgConfig_FOUND)
    pkg_check_modules(BLM_${name} QUIET IMPORTED_TARGET GLOBAL ${module})
  endif()
  set(found OFF)
  if(TARGET PkgConfig::BLM_${name})
    set(found ON)
  endif()
  option(BLOOMERY_WITH_${name} "${what} (needs ${module})" ${found})
  if(NOT BLOOMERY_WITH_${name})
    return()
  endif()
  if(NOT found)
    message(FATAL_ERROR "BLOOMERY_WITH_${name} is ON but pkg-config does not know ${module}")
  endif()
  foreach(source ${lib_sources})
    file(STRINGS ${source} uses REGEX "^#[ \t]*include <${header}>")
    if(uses)
      target_compile_definitions(bloomery_objects PRIVATE BLOOMERY_WITH_${name})
      target_link_libraries(bloomery_objects PRIVATE PkgConfig::BLM_${name})
      list(APPEND bloomery_optional_targets PkgConfig::BLM_${name})
      list(APPEND bloomery_optional_modules ${module})
      set(bloomery_optional_targets ${bloomery_optional_targets} PARENT_SCOPE)
      set(bloomery_optional_modules ${bloomery_optional_modules} PARENT_SCOPE)
      string(APPEND bloomery_pkg_checks
             "  pkg_check_modules(BLM_${name} QUIET IMPORTED_TARGET ${module})\n")
      set(bloomery_pkg_checks "${bloomery_pkg_checks}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

macro(bloomery_optional_libraries)
  bloomery_optional_library(ZLIB zlib.h zlib "gzip inside foreign formats")
  bloomery_optional_library(JANSSON jansson.h jansson "JSON foreign formats")
  bloomery_optional_library(MD md5.h libmd "MD5 schemes")
  bloomery_optional_library(ZSTD zstd.h libzstd "compressed deltas")
endmacro()
