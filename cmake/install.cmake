# The libraries that are installed, and what goes with them: find_package(latchkey) gives latchkey::latchkey and
# latchkey::testing, as add_subdirectory() does.
include(CMakePackageConfigHelpers)

# latchkey_installed_library(<target> <name> OBJECTS <object library> COMPONENT <component> EXPORT <set>
#                            [LIBRARIES <target>...])
# What is needed to build with it is in the component <component>_dev.
function(latchkey_installed_library target name)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "OBJECTS;COMPONENT;EXPORT" "LIBRARIES")
    add_library(${target} SHARED)
    add_library(latchkey::${name} ALIAS ${target})
    # The objects' libraries are linked, and stay unknown to those who link this one.
    target_link_libraries(${target} PUBLIC ${arg_LIBRARIES} PRIVATE $<BUILD_INTERFACE:${arg_OBJECTS}>)
    target_include_directories(${target} INTERFACE
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_compile_features(${target} INTERFACE cxx_std_20)
    target_link_options(${target} PRIVATE
        "LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/latchkey.map"
        "LINKER:--exclude-libs,libzookeeper_st.a")
    # A sanitizer's own symbols come with the program.
    if(NOT LATCHKEY_SANITIZE)
        target_link_options(${target} PRIVATE LINKER:-z,defs)
    endif()
    set_target_properties(${target} PROPERTIES
        LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/latchkey.map"
        EXPORT_NAME ${name}
        VERSION ${PROJECT_VERSION}
        # Before 1.0 a minor version may change everything.
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
        LINKER_LANGUAGE CXX)
    install(TARGETS ${target} EXPORT ${arg_EXPORT}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${arg_COMPONENT} NAMELINK_COMPONENT ${arg_COMPONENT}_dev)
endfunction()

latchkey_installed_library(latchkey_library latchkey OBJECTS latchkey_objects
    COMPONENT library EXPORT latchkey-targets)
set_target_properties(latchkey_library PROPERTIES OUTPUT_NAME latchkey)
latchkey_installed_library(latchkey_testing testing OBJECTS latchkey_testing_objects LIBRARIES latchkey_library
    COMPONENT testing EXPORT latchkey-testing-targets)
set_target_properties(latchkey_testing PROPERTIES INSTALL_RPATH "\$ORIGIN")

# The same as a static library: latchkey::latchkey_static, a component of its own, because programs that link it link what
# it needs too: Boost.Thread, OpenSSL, and the C client, whose symbols are the program's then.
add_library(latchkey_archive STATIC)
add_library(latchkey::latchkey_static ALIAS latchkey_archive)
target_link_libraries(latchkey_archive
    PRIVATE $<BUILD_INTERFACE:latchkey_objects>
        Boost::thread Boost::chrono ZooKeeper::zookeeper_st OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
target_include_directories(latchkey_archive INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(latchkey_archive INTERFACE cxx_std_20)
set_target_properties(latchkey_archive PROPERTIES
    OUTPUT_NAME latchkey EXPORT_NAME latchkey_static LINKER_LANGUAGE CXX)
install(TARGETS latchkey_archive EXPORT latchkey-static-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library_dev)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/latchkey" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT library_dev FILES_MATCHING PATTERN "*.hpp" PATTERN ensemble.hpp EXCLUDE)
install(FILES "${PROJECT_SOURCE_DIR}/include/latchkey/ensemble.hpp"
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/latchkey COMPONENT testing_dev)
install(TARGETS latchkey_guardian DESTINATION ${CMAKE_INSTALL_LIBEXECDIR} COMPONENT library)
if(LATCHKEY_BUILD_CLI)
    install(TARGETS latchkey DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
endif()

set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/latchkey)
configure_file("${PROJECT_SOURCE_DIR}/cmake/latchkey-config.cmake.in"
    "${CMAKE_CURRENT_BINARY_DIR}/latchkey-config.cmake" COPYONLY)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/latchkey-config-version.cmake"
    VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/latchkey-config.cmake"
    "${CMAKE_CURRENT_BINARY_DIR}/latchkey-config-version.cmake"
    DESTINATION ${_package} COMPONENT library_dev)
install(EXPORT latchkey-targets NAMESPACE latchkey:: DESTINATION ${_package} COMPONENT library_dev)
install(EXPORT latchkey-static-targets NAMESPACE latchkey:: DESTINATION ${_package} COMPONENT library_dev)
install(EXPORT latchkey-testing-targets NAMESPACE latchkey:: DESTINATION ${_package} COMPONENT testing_dev)
install(FILES "${PROJECT_SOURCE_DIR}/cmake/FindZooKeeper.cmake" DESTINATION ${_package} COMPONENT library_dev)

file(RELATIVE_PATH _to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file("${PROJECT_SOURCE_DIR}/cmake/latchkey.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/latchkey.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/latchkey.pc"
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library_dev)
configure_file("${PROJECT_SOURCE_DIR}/cmake/latchkey-testing.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/latchkey-testing.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/latchkey-testing.pc"
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT testing_dev)

install(FILES "${PROJECT_SOURCE_DIR}/README.md" DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc
    FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "site" EXCLUDE)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
if(LATCHKEY_BUILD_CLI)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/contrib/systemd" "${PROJECT_SOURCE_DIR}/contrib/kubernetes"
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/contrib COMPONENT command)
endif()
