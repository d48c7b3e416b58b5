# SPDX-License-Identifier: Apache-2.0
"""Executors: where a compiled kernel runs."""
