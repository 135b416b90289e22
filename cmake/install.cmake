# SPDX-License-Identifier: MIT
# What `make install` puts where: the header, both libraries, bloomery.pc, a CMake package and the
# manual pages. The .pc file is written while installing, because only then is the prefix known
# (cmake --install --prefix may differ from what was configured).
include(CMakePackageConfigHelpers)

add_library(bloomery::static ALIAS bloomery_static)
if(BLOOMERY_SHARED)
  add_library(bloomery::bloomery ALIAS bloomery_shared)
else()
  add_library(bloomery::bloomery ALIAS bloomery_static)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bloomery)
install(TARGETS ${bloomery_forms} EXPORT bloomeryTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

string(REPLACE ";" " " requires_private "${bloomery_optional_modules}")
install(CODE "
  set(libdir \"${CMAKE_INSTALL_LIBDIR}\")
  set(includedir \"${CMAKE_INSTALL_INCLUDEDIR}\")
  set(version \"${PROJECT_VERSION}\")
  set(description \"${PROJECT_DESCRIPTION}\")
  set(requires_private \"${requires_private}\")
  get_filename_component(prefix \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
  configure_file(\"${PROJECT_SOURCE_DIR}/bloomery.pc.in\" \"${PROJECT_BINARY_DIR}/bloomery.pc\" @ONLY)")
install(FILES ${PROJECT_BINARY_DIR}/bloomery.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(cmake/bloomeryConfig.cmake.in
  ${PROJECT_BINARY_DIR}/bloomeryConfig.cmake INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change the API, so only the same minor is compatible.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bloomeryConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(EXPORT bloomeryTargets NAMESPACE bloomery:: DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/bloomeryConfig.cmake
              ${PROJECT_BINARY_DIR}/bloomeryConfigVersion.cmake DESTINATION ${package_dir})

foreach(section 1 3 5)
  file(GLOB pages CONFIGURE_DEPENDS docs/man/*.${section})
  if(pages)
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endif()
endforeach()
