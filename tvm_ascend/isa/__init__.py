# SPDX-License-Identifier: Apache-2.0
"""The instruction table; one row per hardware instruction."""
