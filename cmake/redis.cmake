# SPDX-License-Identifier: MIT
# The Redis module: every .c below redis/, one shared object. It needs no header of Redis (see
# redis/api.h), so it is built wherever a server could load it. The library is linked in and nothing
# but the entry point is visible: other modules may carry another version of it.
option(BLOOMERY_REDIS "Build the module for Redis and Valkey" ${BLOOMERY_PROGRAMS})
if(NOT BLOOMERY_REDIS OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  return()
endif()
file(GLOB redis_sources CONFIGURE_DEPENDS redis/*.c)
# Compiled once, for the module, its unit tests and its fuzz targets.
add_library(bloomery_redis_objects OBJECT ${redis_sources})
target_include_directories(bloomery_redis_objects PRIVATE redis include)
add_library(bloomery_redis MODULE $<TARGET_OBJECTS:bloomery_redis_objects>)
target_link_libraries(bloomery_redis PRIVATE bloomery_static m)
set_target_properties(bloomery_redis PROPERTIES
  PREFIX "" OUTPUT_NAME bloomery LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/redis)
if(NOT BLOOMERY_SANITIZE)
  target_link_options(bloomery_redis PRIVATE -Wl,-z,defs)
endif()
target_link_options(bloomery_redis PRIVATE -Wl,-Bsymbolic -Wl,--exclude-libs,ALL)
# Redis loads no module that it may not execute, and Debian's CMake installs libraries as 0644.
install(TARGETS bloomery_redis LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/bloomery
  PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# What bench/redis.py measures us beside where there is no RedisBloom.
add_library(bench.redis_plain MODULE EXCLUDE_FROM_ALL bench/redis_plain.c redis/api.c)
target_include_directories(bench.redis_plain PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench.redis_plain PRIVATE m)
set_target_properties(bench.redis_plain PROPERTIES
  PREFIX "" OUTPUT_NAME plain LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/redis)

if(TARGET job.ad-lookups) # its servers load the module
  add_dependencies(job.ad-lookups bloomery_redis)
endif()
