# The library once more, with every mutant of mutants*.txt in place behind its switch, for test programs alone: all of the
# recipes and the client, and what includes them. The adapter to the C client, TLS, the loop and the ensemble are the
# library's own, as is what reads queues for people: the simulation does not use that. Folders go as a whole: a folder's
# sources may be one object of the library.
if(LATCHKEY_SANITIZE)
    return()  # what they break is no memory, and the library itself runs in the other tests
endif()
include(mutate.cmake)

get_target_property(_sources latchkey_objects LATCHKEY_SOURCES)
get_target_property(_folder latchkey_objects SOURCE_DIR)
set(_copied src/ensemble/ensemble_connect.cpp)
foreach(source IN LISTS _sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${_folder}")
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    if(NOT source MATCHES "^(src/(zookeeper|loop|tls|guardian)|recipes/inspect)/")
        list(APPEND _copied "${source}")
    endif()
endforeach()

file(GLOB _lists CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/mutants*.txt")  # mutants.txt comes first
latchkey_mutate(latchkey_mutated COPY "${CMAKE_CURRENT_BINARY_DIR}/mutated" LISTS ${_lists} SOURCES ${_copied})

add_executable(mutants_test mutants_test.cpp mutants_check.cpp mutants_kill.cpp mutants_run.cpp)
target_link_libraries(mutants_test PRIVATE
    latchkey_mutated latchkey_simulation latchkey_static latchkey_build GTest::gmock GTest::gtest_main)
latchkey_compile_together(mutants_test)
latchkey_discover(mutants_test LABEL simulation)
add_executable(mutants mutants.cpp mutants_kill.cpp mutants_run.cpp)
target_link_libraries(mutants PRIVATE latchkey_mutated latchkey_simulation latchkey_static latchkey_build)
latchkey_compile_together(mutants)
