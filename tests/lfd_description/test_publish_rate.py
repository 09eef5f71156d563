from lfd_description.publish_rate import PublishRate

SECOND = 1_000_000_000
NOW = 1_700_000_000 * SECOND


def test_a_joint_is_published_at_most_so_often() -> None:
    rate = PublishRate(20.0)

    published = [rate.due({'a'}, NOW + n * SECOND // 125) for n in range(125)]

    assert sum(published) == 18  # every 7th message of 125 Hz is the first at least 50 ms after the last
    assert published[0]


def test_exactly_one_period_later_is_due() -> None:
    rate = PublishRate(20.0)

    assert rate.due({'a'}, NOW)
    assert not rate.due({'a'}, NOW + SECOND // 20 - 1)
    assert rate.due({'a'}, NOW + SECOND // 20)


def test_joints_of_different_messages_do_not_hold_each_other_up() -> None:
    rate = PublishRate(20.0)

    assert rate.due({'arm'}, NOW)
    assert rate.due({'gripper'}, NOW + 1)
    assert not rate.due({'arm'}, NOW + 2)


def test_an_older_message_is_ignored() -> None:
    rate = PublishRate(20.0)
    rate.due({'a'}, NOW)

    assert not rate.due({'a'}, NOW - 10 * SECOND)


def test_time_stamps_can_be_ignored() -> None:
    rate = PublishRate(20.0, ignore_timestamp=True)

    assert all(rate.due({'a'}, stamp) for stamp in (NOW, NOW, NOW - SECOND, 0))


def test_after_the_clock_went_back_older_stamps_count_again() -> None:
    rate = PublishRate(20.0)
    assert not rate.clock_went_back(NOW)
    rate.due({'a'}, NOW)

    assert rate.clock_went_back(NOW - 100 * SECOND)

    assert rate.due({'a'}, NOW - 100 * SECOND)
    assert not rate.clock_went_back(NOW - 99 * SECOND)


def test_the_first_message_is_due_at_once_however_low_the_frequency() -> None:
    rate = PublishRate(1e-300)

    assert rate.due({'a'}, NOW)
    assert not rate.due({'a'}, 2 * NOW)


def test_a_message_without_a_stamp_is_not_due() -> None:
    assert not PublishRate(20.0).due({'a'}, 0)
