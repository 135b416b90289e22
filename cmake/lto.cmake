# SPDX-License-Identifier: MIT
# For builds with -flto that link many programs (tools/machines): the library is optimised as a whole
# once, into objects that need no further optimiser, instead of once in every program. What a test has a
# version of its own of is left apart: the guard (tests/model), the numbers of parts of a fixed set
# (tests/unit/api/test_builder_power_parts.c), and what is random (fuzz/chance.c).
separate_arguments(lto_flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # In one part: several would make names of static functions global, and programs have the same ones.
  list(APPEND lto_flags -flinker-output=nolto-rel -flto-partition=none)
else()
  list(APPEND lto_flags -fuse-ld=lld)
endif()
set(lto_guard "/src/guard/")
set(lto_fuse "/src/(api/fuse|maths/plan_fuse)\\.c")
set(lto_random "/src/core/random\\.c")
set(library_objects)
function(lto_object name objects)
  set(whole ${PROJECT_BINARY_DIR}/lto_${name}.o)
  add_custom_command(OUTPUT ${whole}
    COMMAND ${CMAKE_C_COMPILER} ${lto_flags} -fPIC -r -nostdlib -o ${whole} "${objects}"
    DEPENDS bloomery_objects $<TARGET_OBJECTS:bloomery_objects>
    COMMENT "Optimising the library as a whole: ${name}" COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${whole} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set(library_objects ${library_objects} ${whole} PARENT_SCOPE)
endfunction()
lto_object(rest "$<FILTER:$<TARGET_OBJECTS:bloomery_objects>,EXCLUDE,${lto_guard}|${lto_fuse}|${lto_random}>")
lto_object(guard "$<FILTER:$<TARGET_OBJECTS:bloomery_objects>,INCLUDE,${lto_guard}>")
lto_object(fuse "$<FILTER:$<TARGET_OBJECTS:bloomery_objects>,INCLUDE,${lto_fuse}>")
lto_object(random "$<FILTER:$<TARGET_OBJECTS:bloomery_objects>,INCLUDE,${lto_random}>")
