# What the pages for readers say of the tree is so.
foreach(rule readme_shows_its_example readme_fits_on_a_few_screens named_files_exist
        command_is_described_as_it_is troubleshooting_is_complete rules_find_offenders)
    add_test(NAME house.docs.${rule} COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/readme_test.sh" ${rule})
    set_tests_properties(house.docs.${rule} PROPERTIES LABELS house)
endforeach()
