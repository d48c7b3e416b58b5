# SPDX-License-Identifier: Apache-2.0
"""Default schedules: rules from a schedulable function to a schedule for the chip, or None."""
