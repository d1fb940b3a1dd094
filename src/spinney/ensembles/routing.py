"""What is given beside rows and targets, and who takes it: scikit-learn's metadata routing."""

from collections.abc import Iterable, Mapping
from typing import Any

from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import (
    MetadataRequest,
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import _is_arraylike, _num_samples, has_fit_parameter

from spinney.data.row_keys import is_routed
from spinney.errors import InvalidInput
from spinney.typing import AnyArray


def refuse_unrouted(owner: Any, method: str, given: Iterable[str]) -> None:
    """Refuse metadata where nothing says who takes it."""
    if given and not is_routed():
        raise InvalidInput(
            f"Passing {', '.join(given)} to {method} of {type(owner).__name__} is only supported "
            "if enable_metadata_routing=True: sklearn.set_config(enable_metadata_routing=True), "
            f"and say with set_{method}_request which members take it."
        )


def to_members(owner: Any, method: str, given: Mapping[str, Any]) -> Any:
    """Say what goes where; refuse what nobody takes."""
    refuse_unrouted(owner, method, given)
    return process_routing(owner, method, **given)


def takes_weights(member: Any) -> bool:
    """Tell whether ``fit`` of a member takes weights of rows; with routing, whether it asks."""
    if not is_routed():
        return bool(has_fit_parameter(member, "sample_weight"))
    try:
        return bool(get_routing_for_object(member).consumes("fit", ("sample_weight",)))
    except NotImplementedError:  # it refuses all metadata while there is routing
        return False


def one_member_router(
    owner: Any, member: Any, calls: Mapping[str, str], own: Iterable[str]
) -> MetadataRouter:
    """Make the router of an ensemble of clones of one member.

    ``calls`` says which method of the member each method of the owner calls. What is ``own`` to the
    owner's ``fit`` is for itself: the member need not say whether it wants it.
    """
    request = get_routing_for_object(member)
    if isinstance(request, MetadataRequest):
        wanted = request.fit.requests
        for name in own:
            if name in wanted and wanted[name] is None:
                del wanted[name]
    mapping = MethodMapping()
    for caller, callee in calls.items():
        mapping.add(caller=caller, callee=callee)
    router: MetadataRouter = MetadataRouter(owner=owner).add_self_request(owner)
    return router.add(estimator=request, method_mapping=mapping)


def sliced(parameters: Mapping[str, Any], n_rows: int, rows: AnyArray | None) -> dict[str, Any]:
    """Choose rows of whatever has one entry per row.

    Examples
    --------
    >>> import numpy as np
    >>> sliced({"cost": [5, 6, 7], "name": "abc"}, 3, np.array([0, 2]))
    {'cost': [5, 7], 'name': 'abc'}
    """
    if rows is None:
        return dict(parameters)
    return {
        name: _safe_indexing(value, rows) if _is_per_row(value, n_rows) else value
        for name, value in parameters.items()
    }


def _is_per_row(value: Any, n_rows: int) -> bool:
    is_many = _is_arraylike(value) and not isinstance(value, str | bytes | Mapping)
    return is_many and _num_samples(value) == n_rows
