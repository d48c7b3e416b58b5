# SPDX-License-Identifier: Apache-2.0
"""Kernels that are written as published examples are, with every address and flag by hand."""
