# SPDX-License-Identifier: Apache-2.0
# Sets TVM_INCLUDE_DIRS and TVM_LIBRARIES from the Python packages apache-tvm-ffi and apache-tvm. A build environment without
# the apache-tvm wheel gets no tvm/runtime headers; then only sources that need none of them may be present.
find_package(Python COMPONENTS Interpreter REQUIRED)

function(_tvm_ascend_ask result code)
  execute_process(COMMAND "${Python_EXECUTABLE}" -c "${code}"
    OUTPUT_VARIABLE answer ERROR_VARIABLE problem RESULT_VARIABLE status OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "tvm_ascend: ${Python_EXECUTABLE} cannot answer `${code}`: ${problem}")
  endif()
  set(${result} "${answer}" PARENT_SCOPE)
endfunction()

_tvm_ascend_ask(_ffi_include "from tvm_ffi import libinfo; print(';'.join(libinfo.include_paths()))")
_tvm_ascend_ask(TVM_LIBRARIES "from tvm_ffi import libinfo; print(libinfo.find_libtvm_ffi())")
_tvm_ascend_ask(_tvm_root
  "import importlib.util, os; s = importlib.util.find_spec('tvm'); print(os.path.dirname(s.origin) if s else '')")

set(TVM_INCLUDE_DIRS ${_ffi_include})
if(_tvm_root AND EXISTS "${_tvm_root}/include/tvm/runtime")
  list(APPEND TVM_INCLUDE_DIRS "${_tvm_root}/include")
endif()
