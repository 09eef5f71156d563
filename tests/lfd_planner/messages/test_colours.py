import pytest
from moveit_msgs.msg import ObjectColor, PlanningScene
from std_msgs.msg import ColorRGBA

from lfd_description.scenes.colours import NAMED
from lfd_planner.messages import colours_from_message, colours_to_message
from lfd_planner.scene import SceneFault


def over_the_wire(colours, sent):
    return sent(PlanningScene(object_colors=colours_to_message(colours))).object_colors


def test_colours_that_people_write_come_back_to_the_last_digit(sent):
    colours = {**NAMED, 'hex': (128 / 255, 37 / 255, 1.0, 0.0), 'odd': (0.1234, 0.5, 0.3333, 1.0)}
    assert colours_from_message(over_the_wire(colours, sent)) == colours


def test_known_colours_keep_all_their_digits(sent):
    colours = {'thing': (0.123456789012, 1 / 3, 0.7071067811865476, 1.0)}
    assert colours_from_message(over_the_wire(colours, sent), colours) == colours
    assert colours_from_message(over_the_wire(colours, sent))['thing'] == pytest.approx(colours['thing'], abs=1e-7)


@pytest.mark.parametrize(('id', 'red'), [('thing', 1.5), ('thing', float('nan')), ('', 0.5)])
def test_wrong_colours_are_refused(id, red):
    with pytest.raises(SceneFault, match='Object colours: '):
        colours_from_message([ObjectColor(id=id, color=ColorRGBA(r=red))])
