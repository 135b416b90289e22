# SPDX-License-Identifier: MIT
# The adapters: each a small library of its own, so that the core needs none of what they stand on.
# adapters/NAME/*.c becomes libbloomery-NAME (.a, .so), installed with bloomery_NAME.h,
# bloomery-NAME.pc and a component of the CMake package: bloomery::NAME, bloomery::NAME_static; tests/adapters/NAME/test_X.c becomes CTest's adapter.NAME.X. An adapter whose
# library is not on this machine is left out, and said so.

# bloomery_adapter(NAME LIBRARY WHAT TARGET [FLAGS]): stands on CMake target TARGET; FLAGS are what
# bloomery-NAME.pc tells a linker of it ("Requires: x" or "Libs: -lx"). BLOOMERY_WITH_<LIBRARY>=OFF
# leaves it out.
function(bloomery_adapter name library what target flags)
  if(DEFINED BLOOMERY_WITH_${library} AND NOT BLOOMERY_WITH_${library})
    return()
  endif()
  if(NOT TARGET ${target})
    message(STATUS "adapter ${name} is left out: ${what} is not here")
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS adapters/${name}/*.c)
  if(NOT sources)
    return()
  endif()
  set(folder ${PROJECT_SOURCE_DIR}/adapters/${name})
  set(forms bloomery_with_${name})
  add_library(bloomery_with_${name} STATIC ${sources})
  target_link_libraries(bloomery_with_${name} PUBLIC bloomery_static ${target} PRIVATE m)
  if(BLOOMERY_SHARED)
    add_library(bloomery_with_${name}_shared SHARED ${sources})
    target_link_libraries(bloomery_with_${name}_shared PUBLIC bloomery_shared ${target} PRIVATE m)
    set_target_properties(bloomery_with_${name}_shared PROPERTIES SOVERSION ${BLOOMERY_ABI}
      VERSION ${BLOOMERY_ABI}.${PROJECT_VERSION_MINOR}.${PROJECT_VERSION_PATCH})
    list(APPEND forms bloomery_with_${name}_shared)
  endif()
  foreach(form ${forms})
    set_target_properties(${form} PROPERTIES OUTPUT_NAME bloomery-${name} EXPORT_NAME ${name})
    target_include_directories(${form} PUBLIC $<BUILD_INTERFACE:${folder}>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  endforeach()
  if(BLOOMERY_SHARED)
    set_target_properties(bloomery_with_${name} PROPERTIES EXPORT_NAME ${name}_static)
    add_library(bloomery::${name} ALIAS bloomery_with_${name}_shared)
    add_library(bloomery::${name}_static ALIAS bloomery_with_${name})
  else()
    add_library(bloomery::${name} ALIAS bloomery_with_${name})
  endif()
  install(TARGETS ${forms} EXPORT bloomery-${name}Targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT bloomery-${name}Targets NAMESPACE bloomery::
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bloomery)
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/bloomery_*.h ${folder}/bloomery_*.hpp)
  install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(CODE "
    get_filename_component(prefix \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
    file(WRITE \"${PROJECT_BINARY_DIR}/bloomery-${name}.pc\"
\"prefix=\${prefix}
libdir=\\\${prefix}/${CMAKE_INSTALL_LIBDIR}
includedir=\\\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}

Name: bloomery-${name}
Description: bloomery in front of ${what}
Version: ${PROJECT_VERSION}
Requires: bloomery
Cflags: -I\\\${includedir}
Libs: -L\\\${libdir} -lbloomery-${name}
${flags}
\")")
  install(FILES ${PROJECT_BINARY_DIR}/bloomery-${name}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  set(bloomery_adapters ${bloomery_adapters} ${name} PARENT_SCOPE)
endfunction()

if(PkgConfig_FOUND)
  pkg_check_modules(BLM_SQLITE QUIET IMPORTED_TARGET GLOBAL sqlite3)
  pkg_check_modules(BLM_HIREDIS QUIET IMPORTED_TARGET GLOBAL hiredis)
endif()
# Not find_package(leveldb): Debian's names snappy as a library to link, and does not depend on it.
find_library(LEVELDB leveldb)
find_path(LEVELDB_INCLUDE_DIR leveldb/c.h)
if(LEVELDB AND LEVELDB_INCLUDE_DIR)
  add_library(bloomery_leveldb_found UNKNOWN IMPORTED)
  set_target_properties(bloomery_leveldb_found PROPERTIES IMPORTED_LOCATION ${LEVELDB}
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${LEVELDB_INCLUDE_DIR})
endif()
bloomery_adapter(sqlite SQLITE "SQLite" PkgConfig::BLM_SQLITE "Requires.private: sqlite3")
bloomery_adapter(redis HIREDIS "Redis through hiredis" PkgConfig::BLM_HIREDIS "Requires.private: hiredis")
bloomery_adapter(leveldb LEVELDB "LevelDB" bloomery_leveldb_found "Libs.private: -lleveldb")

# An adapter's tests are plain tests: make test runs them with the sanitizers too.
function(bloomery_adapter_tests name)
  file(GLOB sources CONFIGURE_DEPENDS tests/adapters/${name}/test_*.c)
  foreach(source ${sources})
    get_filename_component(test ${source} NAME_WE)
    string(REGEX REPLACE "^test_" "adapter.${name}." test ${test})
    add_executable(${test} ${source})
    target_include_directories(${test} PRIVATE tests ${PROJECT_SOURCE_DIR})
    target_link_libraries(${test} PRIVATE bloomery_with_${name} ${CMOCKA} Threads::Threads m)
    list(APPEND plain_tests ${test})
    set(program.${test} ${test} PARENT_SCOPE)
  endforeach()
  set(plain_tests ${plain_tests} PARENT_SCOPE)
endfunction()
