# SPDX-License-Identifier: Apache-2.0
"""What InsertSync is made of: program tree, overlap, requirements, ordering machine, search."""
