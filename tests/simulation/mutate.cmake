# latchkey_mutate(<target> COPY <folder> LISTS <file>... SOURCES <file>...)
# An object library: SOURCES, named from the tree, and all headers of src/, recipes/ and cli/, with every mutant of the
# LISTS in place behind its switch. It comes first in a program: what it defines is not taken from the library again.
find_program(LATCHKEY_PERL perl REQUIRED)
set(LATCHKEY_MUTATE "${CMAKE_CURRENT_LIST_DIR}")

function(latchkey_mutate target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "COPY" "LISTS;SOURCES")
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
        "${PROJECT_SOURCE_DIR}/src/*.hpp" "${PROJECT_SOURCE_DIR}/recipes/*.hpp" "${PROJECT_SOURCE_DIR}/cli/*.hpp")
    set(copied ${arg_SOURCES} ${headers})
    set(originals ${copied})
    list(TRANSFORM originals PREPEND "${PROJECT_SOURCE_DIR}/")
    set(compiled ${arg_SOURCES})
    list(TRANSFORM compiled PREPEND "${arg_COPY}/")
    list(TRANSFORM headers PREPEND "${arg_COPY}/")
    list(JOIN arg_LISTS "," joined)
    add_custom_command(OUTPUT "${arg_COPY}/made"
        BYPRODUCTS ${compiled} ${headers} "${arg_COPY}/mutants.inc" "${arg_COPY}/killers.inc"
        COMMAND "${LATCHKEY_PERL}" "${LATCHKEY_MUTATE}/mutate"
            "${joined}" "${PROJECT_SOURCE_DIR}" "${arg_COPY}" ${copied}
        COMMAND "${CMAKE_COMMAND}" -E touch "${arg_COPY}/made"
        DEPENDS "${LATCHKEY_MUTATE}/mutate" ${arg_LISTS} ${originals}
        COMMENT "Putting the mutants of ${target} in place" VERBATIM)
    add_custom_target(${target}_sources DEPENDS "${arg_COPY}/made")

    add_library(${target} OBJECT ${compiled})
    add_dependencies(${target} ${target}_sources)
    target_include_directories(${target}
        PUBLIC "${arg_COPY}" "${LATCHKEY_MUTATE}"
        PRIVATE "${PROJECT_SOURCE_DIR}/include" "${arg_COPY}/src" "${arg_COPY}/recipes" "${arg_COPY}/cli")
    # What the compiler warns of, it warns of in the originals.
    target_compile_options(${target} PRIVATE $<$<CONFIG:Debug>:-O1 -g0> -w)
    target_precompile_headers(${target} PRIVATE ${LATCHKEY_PRECOMPILED})
    latchkey_compile_together(${target})
    target_link_libraries(${target}
        PUBLIC Boost::thread Boost::chrono
        PRIVATE latchkey_build nlohmann_json::nlohmann_json)
endfunction()
