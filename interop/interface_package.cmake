# Included by an interface package: builds its .msg, .srv and .action files with C and Python support only.
#
# The stock generators would also write C++, which no Python node uses, and compile every file on its own. What is left
# out here is most of the build time. The introspection type support must stay: without it rmw_fastrtps refuses to make
# a publisher or subscription.
if(NOT CMAKE_BUILD_TYPE)
  add_compile_options(-O1)
endif()

find_package(ament_cmake REQUIRED)
find_package(rosidl_core_generators REQUIRED)
ament_package_xml()
foreach(dependency IN LISTS ${PROJECT_NAME}_BUILD_DEPENDS)
  find_package(${dependency} REQUIRED)
endforeach()
# Each interface package that was found has registered its own generators again, so filter them last.
list(FILTER AMENT_EXTENSIONS_rosidl_generate_idl_interfaces EXCLUDE REGEX "_cpp:")

file(GLOB interfaces RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS msg/*.msg srv/*.srv action/*.action)
rosidl_generate_interfaces(${PROJECT_NAME} ${interfaces} DEPENDENCIES ${${PROJECT_NAME}_BUILD_DEPENDS})
foreach(library rosidl_typesupport_c rosidl_typesupport_fastrtps_c rosidl_typesupport_introspection_c rosidl_generator_py)
  set_target_properties(${PROJECT_NAME}__${library} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
endforeach()
ament_package()
