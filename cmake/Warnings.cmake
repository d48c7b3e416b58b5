# SPDX-License-Identifier: Apache-2.0
# Warnings are errors in our own code; headers of TVM come in as system headers.
function(tvm_ascend_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Werror)
endfunction()
