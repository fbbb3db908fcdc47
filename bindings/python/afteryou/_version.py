# SPDX-License-Identifier: MIT
"""The version: that of the whole project. A test compares it with meson.build."""
version = "0.1.0"
