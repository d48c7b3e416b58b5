# SPDX-License-Identifier: Apache-2.0
"""Plain ``tvm.compile`` and ``relax.build`` for Ascend targets."""
