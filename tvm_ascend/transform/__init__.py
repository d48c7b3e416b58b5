# SPDX-License-Identifier: Apache-2.0
"""Compiler passes, one per file; `tvm_ascend.pipeline` says in which order they run."""
