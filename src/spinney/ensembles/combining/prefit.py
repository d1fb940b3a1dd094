"""Members that were fitted before."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spinney.ensembles.combining.members import Members, present
from spinney.errors import InvalidInput, shorten
from spinney.typing import AnyArray


def take_fitted(members: Members) -> list[Any]:
    """Give the members as they are, if all are fitted."""
    for name, member in present(members):
        check_is_fitted(
            member,
            msg=(
                f"The member {name!r}, a %(name)s, is not fitted, and cv='prefit' takes members "
                "as they are. Fit it first, or give a number of folds."
            ),
        )
    return [member for _, member in present(members)]


def known_classes(members: Members, classes: AnyArray) -> AnyArray:
    """Give what fitted members call the classes; all must have the same, and y no others.

    Members were fitted on the user's labels, or on their codes.
    """
    known = [
        (name, np.asarray(member.classes_))
        for name, member in members
        if hasattr(member, "classes_")
    ]
    if not known:
        return classes
    first, own = known[0]
    for name, others in known[1:]:
        if not np.array_equal(own, others):
            raise InvalidInput(
                f"Members were fitted on different classes: {first!r} on {shorten(own.tolist())}, "
                f"{name!r} on {shorten(others.tolist())}. Fit them on the same classes."
            )
    unknown = sorted(set(classes.tolist()) - set(own.tolist()))
    if unknown:
        raise InvalidInput(
            f"y has classes that the members were not fitted on: {shorten(unknown)}. They know "
            f"{shorten(own.tolist())}."
        )
    return own
