# latchkey_embed(<target> FOLDER <folder> FILES <path in the folder>...)
# Makes a source with the bytes of these files, the list `latchkey::cli::web_file`, and compiles it into the target. It is
# made again when a file changes.
#
# Run as a script (cmake -P), it makes that source: OUTPUT, FOLDER, FILES (with '|' between them).
if(NOT CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    set(LATCHKEY_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

    function(latchkey_embed target)
        cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "FILES")
        set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}_files.cpp")
        list(TRANSFORM arg_FILES PREPEND "${arg_FOLDER}/" OUTPUT_VARIABLE inputs)
        list(JOIN arg_FILES "|" names)
        add_custom_command(OUTPUT "${output}"
            COMMAND "${CMAKE_COMMAND}" -D "OUTPUT=${output}" -D "FOLDER=${arg_FOLDER}" -D "FILES=${names}"
                -P "${LATCHKEY_EMBED_SCRIPT}"
            DEPENDS ${inputs} "${LATCHKEY_EMBED_SCRIPT}" VERBATIM)
        target_sources(${target} PRIVATE "${output}")
        set_source_files_properties("${output}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
    endfunction()
    return()
endif()

set(types_html "text/html; charset=utf-8")
set(types_css "text/css; charset=utf-8")
set(types_js "text/javascript; charset=utf-8")
set(types_svg "image/svg+xml")

string(REPLACE "|" ";" files "${FILES}")
set(arrays "")
set(entries "")
foreach(name IN LISTS files)
    file(READ "${FOLDER}/${name}" bytes HEX)
    string(LENGTH "${bytes}" size)
    math(EXPR size "${size} / 2")
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
    string(MAKE_C_IDENTIFIER "${name}" id)
    get_filename_component(extension "${name}" LAST_EXT)
    string(SUBSTRING "${extension}" 1 -1 extension)
    if(NOT types_${extension})
        message(FATAL_ERROR "${name}: no media type is known for .${extension}")
    endif()
    set(path "/${name}")
    if(name STREQUAL "index.html")
        set(path "/")
    endif()
    string(APPEND arrays "constexpr char ${id}[] = {\n${bytes}};\n\n")
    string(APPEND entries "    {\"${path}\", \"${types_${extension}}\", {${id}, ${size}}},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by cmake/embed.cmake.
#include \"serve/web_file.hpp\"

namespace latchkey::cli {

namespace {

${arrays}constexpr web_file files[] = {
${entries}};

}  // namespace

const web_file* web_file::find(std::string_view path) noexcept {
    for (const web_file& f : files) {
        if (f.path == path) {
            return &f;
        }
    }
    return nullptr;
}

}  // namespace latchkey::cli
")
