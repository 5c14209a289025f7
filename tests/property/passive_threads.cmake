# Waiting threads sleep: on a busy machine a team that waits by spinning takes the time from its own members.
foreach(test IN LISTS test_property_TESTS test_property_full_TESTS)
  set_tests_properties("${test}" PROPERTIES ENVIRONMENT OMP_WAIT_POLICY=passive)
endforeach()
