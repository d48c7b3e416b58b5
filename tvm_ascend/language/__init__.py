# SPDX-License-Identifier: Apache-2.0
"""The tile language: TVMScript's ``T`` plus tile operations and the instruction namespace."""
