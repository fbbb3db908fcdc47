# SPDX-License-Identifier: MIT
"""What pyproject.toml cannot say: a wheel that holds the library is of this kind of machine, and of every Python 3."""
import pathlib

from setuptools import Distribution, setup
from wheel.bdist_wheel import bdist_wheel


class WithLibrary(Distribution):
    """Without the library the wheel is of any machine, and finds one that is installed."""

    def has_ext_modules(self):
        return pathlib.Path("afteryou", "libafteryou.so.0").exists()


class Wheel(bdist_wheel):
    """It has no module that is compiled for one Python."""

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])


setup(distclass=WithLibrary, cmdclass={"bdist_wheel": Wheel})
