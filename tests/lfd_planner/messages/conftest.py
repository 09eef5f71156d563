"""Messages as they are after a trip over the wire."""

from collections.abc import Callable
from typing import Any

import pytest
from rclpy.serialization import deserialize_message, serialize_message


@pytest.fixture
def sent() -> Callable[[Any], Any]:
    """Sends a message: to bytes and back."""
    return lambda message: deserialize_message(serialize_message(message), type(message))
