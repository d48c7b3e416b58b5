# SPDX-License-Identifier: Apache-2.0
"""The two code generators: readable Ascend C, and the host program that drives the simulator."""
