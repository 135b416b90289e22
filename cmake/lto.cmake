# SPDX-License-Identifier: MIT
# For builds with -flto that link many programs (tools/machines): the library is optimised as a whole
# once, into two objects that need no further optimiser, instead of once in every program. The guard is
# one of them, because the guard's model links without it.
separate_arguments(lto_flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # In one part: several would make names of static functions global, and programs have the same ones.
  list(APPEND lto_flags -flinker-output=nolto-rel -flto-partition=none)
else()
  list(APPEND lto_flags -fuse-ld=lld)
endif()
set(library_objects)
foreach(part EXCLUDE INCLUDE)
  set(whole ${PROJECT_BINARY_DIR}/lto_${part}_guard.o)
  add_custom_command(OUTPUT ${whole}
    COMMAND ${CMAKE_C_COMPILER} ${lto_flags} -fPIC -r -nostdlib -o ${whole}
            "$<FILTER:$<TARGET_OBJECTS:bloomery_objects>,${part},/src/guard/>"
    DEPENDS bloomery_objects $<TARGET_OBJECTS:bloomery_objects>
    COMMENT "Optimising the library as a whole" COMMAND_EXPAND_LISTS VERBATIM)
  list(APPEND library_objects ${whole})
endforeach()
set_source_files_properties(${library_objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
