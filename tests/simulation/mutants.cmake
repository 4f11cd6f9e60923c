# The library once more, with every mutant of mutants*.txt in place behind its switch, for test programs alone: all of the
# recipes and the client, and what includes them. The adapter to the C client and the ensemble are the library's own.
if(LATCHKEY_SANITIZE)
    return()  # what they break is no memory, and the library itself runs in the other tests
endif()
find_program(LATCHKEY_PERL perl REQUIRED)
set(_copy "${CMAKE_CURRENT_BINARY_DIR}/mutated")

get_target_property(_sources latchkey_objects SOURCES)
get_target_property(_folder latchkey_objects SOURCE_DIR)
set(_copied src/ensemble/ensemble_connect.cpp)
foreach(source IN LISTS _sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${_folder}")
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    if(NOT source MATCHES "/(zookeeper_|process_|asio_|socket_|session_farewell|name_resolution|connect_schedule|server_list|background_|callback_thread|dead_|client_log)")
        list(APPEND _copied "${source}")
    endif()
endforeach()
set(_compiled ${_copied})
list(TRANSFORM _compiled PREPEND "${_copy}/")
file(GLOB _headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
    "${PROJECT_SOURCE_DIR}/src/*.hpp" "${PROJECT_SOURCE_DIR}/recipes/*.hpp")
list(APPEND _copied ${_headers})

file(GLOB _lists CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/mutants*.txt")  # mutants.txt comes first
list(JOIN _lists "," _joined)
set(_originals ${_copied})
list(TRANSFORM _originals PREPEND "${PROJECT_SOURCE_DIR}/")
list(TRANSFORM _headers PREPEND "${_copy}/")
add_custom_command(OUTPUT "${_copy}/made"
    BYPRODUCTS ${_compiled} ${_headers} "${_copy}/mutants.inc" "${_copy}/killers.inc"
    COMMAND "${LATCHKEY_PERL}" "${CMAKE_CURRENT_SOURCE_DIR}/mutate"
        "${_joined}" "${PROJECT_SOURCE_DIR}" "${_copy}" ${_copied}
    COMMAND "${CMAKE_COMMAND}" -E touch "${_copy}/made"
    DEPENDS mutate ${_lists} ${_originals}
    COMMENT "Putting the mutants in place" VERBATIM)
add_custom_target(latchkey_mutated_sources DEPENDS "${_copy}/made")

add_library(latchkey_mutated OBJECT ${_compiled})
add_dependencies(latchkey_mutated latchkey_mutated_sources)
target_include_directories(latchkey_mutated
    PUBLIC "${_copy}" "${CMAKE_CURRENT_SOURCE_DIR}"
    PRIVATE "${PROJECT_SOURCE_DIR}/include" "${_copy}/src" "${_copy}/recipes" "${PROJECT_SOURCE_DIR}/src/ensemble")
target_compile_options(latchkey_mutated PRIVATE $<$<CONFIG:Debug>:-O1 -g1>)
target_precompile_headers(latchkey_mutated PRIVATE ${LATCHKEY_PRECOMPILED})
target_link_libraries(latchkey_mutated
    PUBLIC Boost::thread Boost::chrono
    PRIVATE latchkey_build nlohmann_json::nlohmann_json)

# The copy comes first in a program: what it defines is not taken from the library again.
latchkey_test(NAME mutants_test LABEL simulation TIMEOUT 600 SOURCES mutants_test.cpp mutants_kill.cpp
    LIBRARIES latchkey_mutated latchkey_simulation)
latchkey_program(mutants SOURCES mutants.cpp mutants_kill.cpp LIBRARIES latchkey_mutated latchkey_simulation)
