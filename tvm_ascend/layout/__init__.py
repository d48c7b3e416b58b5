# SPDX-License-Identifier: Apache-2.0
"""Fractal layouts of the Cube memories, and the table from storage scope to memory."""
