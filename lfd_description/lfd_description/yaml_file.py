"""A YAML file that a person wrote, read key by key so that an error can say which one is wrong."""

import copy
import math
import reprlib
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType

import yaml

from .hints import did_you_mean


class YamlFile:
    """The keys and values of a file; a wrong one raises `error` with a sentence that names the file and the key.

    Args:
        file: the file to read.
        error: the exception that this kind of file raises.
        example: a line of such a file, for the message about a file without keys.
    """

    def __init__(self, file: Path, error: type[Exception], *, example: str) -> None:
        self.file = file
        self._error = error
        self._path = ''
        try:
            data = yaml.safe_load(file.read_text(encoding='utf-8'))
        except (OSError, ValueError, RecursionError, yaml.YAMLError) as problem:
            raise error(f'{file} cannot be read: {one_line(problem)}.') from None
        if not isinstance(data, dict):
            raise error(f'{file} must hold keys and values, such as {example}.')
        self.data = data

    def value(self, key: str) -> object:
        """The value as YAML gives it."""
        if key not in self.data:
            raise self._error(f"{self.file} lacks the key '{self._path}{key}'.")
        value: object = self.data[key]
        return value

    def section(self, key: str) -> 'YamlFile':
        """The keys and values below a key; errors name them as 'key.name'."""
        value = self.value(key)
        if not isinstance(value, dict):
            raise self.wrong(key, value, 'keys and values')
        section = copy.copy(self)
        section.data = value
        section._path = f'{self._path}{key}.'
        return section

    def unknown_keys(self, known: Collection[str]) -> tuple[Exception, ...]:
        """An exception for each key that is not among `known`."""
        return tuple(self._unknown(str(key), known) for key in self.data if key not in known)

    def text(self, key: str) -> str:
        """A text that is not blank."""
        value = self.value(key)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(key, value, 'a text')
        return value

    def choice(self, key: str, choices: tuple[str, ...]) -> str:
        """One of the texts of `choices`."""
        value = self.value(key)
        if not isinstance(value, str) or value not in choices:
            raise self.wrong(key, value, f'one of {", ".join(choices)}')
        return value

    def flag(self, key: str) -> bool:
        """True or false; false when the key is missing."""
        value = self.data.get(key, False)
        if not isinstance(value, bool):
            raise self.wrong(key, value, 'true or false')
        return value

    def positive(self, key: str) -> float:
        """A finite number above zero."""
        number = finite(self.value(key))
        if number is None or number <= 0.0:
            raise self.wrong(key, self.value(key), 'a number above zero')
        return number

    def not_negative(self, key: str) -> float:
        """A finite number of at least zero."""
        number = finite(self.value(key))
        if number is None or number < 0.0:
            raise self.wrong(key, self.value(key), 'a number of at least zero')
        return number

    def whole(self, key: str) -> int:
        """A whole number above zero."""
        value = self.value(key)
        if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
            raise self.wrong(key, value, 'a whole number above zero')
        return value

    def numbers(self, key: str, length: int, what: str) -> tuple[float, ...]:
        """A list of `length` finite numbers; `what` says what they are, such as 'numbers [m]'."""
        return self._numbers(key, self.value(key), length, what)

    def names(self, key: str) -> tuple[str, ...]:
        """A list of names, none of them twice."""
        value = self.value(key)
        if (
            not isinstance(value, list)
            or not value
            or not all(isinstance(name, str) and name for name in value)
            or len(set(value)) != len(value)
        ):
            raise self.wrong(key, value, 'a list of different names')
        return tuple(value)

    def poses(self, key: str, length: int, *, needed: str) -> Mapping[str, tuple[float, ...]]:
        """Lists of `length` joint positions [rad] by name, the name `needed` among them."""
        value = self.value(key)
        if not isinstance(value, dict) or needed not in value:
            raise self.wrong(key, value, f'named poses, {needed} among them')
        what = 'angles [rad], one for each joint'
        return MappingProxyType(
            {str(name): self._numbers(f'{key}.{name}', pose, length, what) for name, pose in value.items()}
        )

    def wrong(self, key: str, value: object, wanted: str) -> Exception:
        """The exception for a key whose value is not what it must be."""
        return self._error(f"{self.file} has {_short(value)} for the key '{self._path}{key}', which must be {wanted}.")

    def _unknown(self, key: str, known: Collection[str]) -> Exception:
        hint = did_you_mean(key, known)
        return self._error(f"{self.file} has the unknown key '{self._path}{key}'{hint}; remove it.")

    def _numbers(self, key: str, value: object, length: int, what: str) -> tuple[float, ...]:
        items = value if isinstance(value, list) else []
        found = tuple(number for number in map(finite, items) if number is not None)
        if not isinstance(value, list) or len(value) != length or len(found) != length:
            raise self.wrong(key, value, f'a list of {length} {what}')
        return found


def finite(value: object) -> float | None:
    """The value as a number, if it is a finite one; YAML's true and false are not."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # YAML's whole numbers may have any number of digits
        return None
    return number if math.isfinite(number) else None


def _short(value: object) -> str:
    """The value for a message; aliases can make that of a small file too big to be printed."""
    short = reprlib.Repr()
    short.maxlist = short.maxdict = 12
    short.maxlevel = 3
    short.maxstring = 80
    return short.repr(value)


def one_line(error: BaseException) -> str:
    """An error's text on one line, without its full stop."""
    return ' '.join(str(error).split()).rstrip('.') or type(error).__name__
