"""Bodies under way are bounded together; the largest goes first."""

import yarl

from weft.fetch.connector import Asking
from weft.fetch.crowd import SMALL, Crowd

MEGABYTE = 1 << 20
CAP = 10 * MEGABYTE


def asking() -> Asking:
    one = Asking("h.test", yarl.URL("http://h.test/"), ("127.0.0.1",))
    one.chunks.append(b"something")
    return one


def test_one_body_of_the_largest_size_has_room_beside_ordinary_ones() -> None:
    crowd, large, others = Crowd(CAP), asking(), [asking() for _ in range(15)]
    for other in others:
        crowd.grown(other, SMALL + MEGABYTE // 2)
    crowd.grown(large, CAP)
    assert not any(one.crowded_out for one in (large, *others))


def test_the_largest_is_given_up_and_lets_go_of_what_it_has() -> None:
    crowd, first, second, third = Crowd(CAP), asking(), asking(), asking()
    crowd.grown(first, 9 * MEGABYTE)
    crowd.grown(second, 8 * MEGABYTE)
    crowd.grown(third, 7 * MEGABYTE)
    assert [one.crowded_out for one in (first, second, third)] == [True, False, False]
    assert first.chunks == []
    crowd.grown(first, 10 * MEGABYTE)  # a last piece that was on its way
    assert not second.crowded_out


def test_who_has_left_takes_no_room() -> None:
    crowd = Crowd(CAP)
    for _ in range(100):
        one = asking()
        crowd.grown(one, 9 * MEGABYTE)
        crowd.left(one)
        crowd.left(one)
        assert not one.crowded_out
