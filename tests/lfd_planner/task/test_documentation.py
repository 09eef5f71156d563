import doctest

from lfd_planner import task


def test_the_example_in_the_documentation_works() -> None:
    found = doctest.testmod(task)
    assert found.attempted > 5
    assert found.failed == 0
