# Run by CPack on what it has installed, one folder for each component, before it makes the packages.
find_program(gzip gzip REQUIRED)
find_program(strip strip REQUIRED)
set(date "${CPACK_LATCHKEY_DATE}")
if(NOT date)
    string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
endif()

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} upper)
    set(package "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
    set(root "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr")
    set(doc "${root}/share/doc/${package}")
    configure_file("${CPACK_LATCHKEY_SOURCE_DIR}/cmake/debian_copyright" "${doc}/copyright" COPYONLY)
    configure_file("${CPACK_LATCHKEY_SOURCE_DIR}/CHANGELOG.md" "${doc}/changelog" COPYONLY)
    file(WRITE "${doc}/changelog.Debian"
        "latchkey (${CPACK_DEBIAN_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
        "  * Built from the sources by scripts/packages. changelog.gz says what is new.\n\n"
        " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
    file(GLOB overrides "${CPACK_LATCHKEY_SOURCE_DIR}/cmake/lintian/${component}")
    if(overrides)
        configure_file("${overrides}" "${root}/share/lintian/overrides/${package}" COPYONLY)
    endif()
    # Debian's zsh looks there.
    if(EXISTS "${root}/share/zsh/site-functions")
        file(RENAME "${root}/share/zsh/site-functions" "${root}/share/zsh/vendor-completions")
    endif()
    file(GLOB_RECURSE libraries "${root}/lib/*.so.*")
    foreach(library IN LISTS libraries)
        if(NOT IS_SYMLINK "${library}")
            file(RPATH_REMOVE FILE "${library}")  # it is where the linker looks
            file(CHMOD "${library}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
        endif()
    endforeach()
    file(GLOB programs "${root}/bin/*")
    file(GLOB_RECURSE archives "${root}/lib/*.a")
    foreach(file IN LISTS programs libraries archives)
        execute_process(COMMAND "${strip}" --strip-debug --remove-section=.comment --remove-section=.note
            --enable-deterministic-archives "${file}" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
    file(GLOB texts "${doc}/changelog" "${doc}/changelog.Debian" "${root}/share/man/man1/*.1")
    execute_process(COMMAND "${gzip}" -9nf ${texts} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
