# Sources that are compiled together share the templates that they instantiate: two thirds of the time. CMAKE_UNITY_BUILD
# says whether they are (preset dev and those like it), this which. The build with Clang compiles each alone, and so finds
# what a source has forgotten to include.

# latchkey_compile_together(<target> [MOST <n>]): at most so many sources of one folder.
function(latchkey_compile_together target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "MOST" "")
    if(NOT arg_MOST)
        set(arg_MOST 6)
    endif()
    get_target_property(sources ${target} SOURCES)
    get_target_property(here ${target} SOURCE_DIR)
    foreach(source IN LISTS sources)
        cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${here}")
        cmake_path(GET source PARENT_PATH folder)
        string(MD5 folder "${folder}")
        math(EXPR count_${folder} "0${count_${folder}} + 1")
        math(EXPR number "(${count_${folder}} - 1) / ${arg_MOST}")
        string(SUBSTRING ${folder} 0 6 group)
        set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP "${group}_${number}")
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()
