"""After a response: what becomes of the stored one (RFC 9111, 3, 4.3.3-4.3.5, 4.4)."""

from __future__ import annotations

from dataclasses import dataclass

from ..http_fields import cache_control, first_value
from .conditions import is_conditional, opaque_tag
from .exchange import Request, Response, Stored
from .freshness import delta_seconds
from .invalidation import SAFE_METHODS, invalidated_urls, resolves_to
from .policy import Policy
from .ranges import is_partial
from .storing import freshened, refusal, to_stored

__all__ = ["DoNotStore", "Invalidate", "Outcome", "RetryUnconditionally", "Store", "Update304", "on_response"]

#: Statuses that say something about the moment, not about the page: the stored response stays.
_PASSING = frozenset([408, 421, 425, 429])


@dataclass(frozen=True, slots=True)
class Store:
    """Keep the response, with its body, instead of what was stored."""

    stored: Stored


@dataclass(frozen=True, slots=True)
class Update304:
    """The stored body is confirmed: keep it, with these fields (also after a HEAD that agrees)."""

    stored: Stored


@dataclass(frozen=True, slots=True)
class DoNotStore:
    """Pass the response on; what was stored stays as it is."""

    reason: str


@dataclass(frozen=True, slots=True)
class Invalidate:
    """Pass the response on and drop what is stored for `urls`."""

    urls: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class RetryUnconditionally:
    """The condition misfired: send the request again without it, once. The response is no answer."""

    reason: str


Outcome = Store | Update304 | DoNotStore | Invalidate | RetryUnconditionally

_DEFAULT = Policy()


def on_response(
    stored: Stored | None,
    request: Request,
    response: Response,
    now: float,
    policy: Policy = _DEFAULT,
    *,
    usable: bool = True,
) -> Outcome:
    """What to do with the cache after `response` to `request`, which includes any conditions that were sent.

    `usable` is False for a body that must never be a hit: a wall, a soft error, a truncated body, a page
    that robots.txt excludes by now.

    Cases, in order:
     1. unsafe method: invalidate on success; POST may store an answer that is the page itself;
     2. HEAD: freshen the stored response if it agrees, else drop it;
     3. 304: freshen, or ask again without condition when it does not fit what is stored;
     4. 412 to our condition: ask again without it;
     5. unusable, passing trouble, or no-store asked for: keep what is stored;
     6. storable: store; not storable: drop what it supersedes.
    """
    method = request.method.upper()
    if method not in SAFE_METHODS:
        return _after_unsafe(request, response, now, policy, usable=usable)
    if method == "HEAD":
        return _after_head(stored, request, response, now)
    if method != "GET":
        return DoNotStore(f"answer to {method}")
    if response.status == 304:
        return _after_304(stored, request, response, now)
    if response.status == 412 and stored is not None and is_conditional(request):
        return RetryUnconditionally("412: the condition was refused")
    if not usable:
        return DoNotStore("the body must not be a hit")
    if "no-store" in cache_control(request.headers):
        return DoNotStore("no-store in the request")
    is_passing = response.status >= 500 or response.status in _PASSING
    if is_passing and stored is not None and stored.status < 400:
        return DoNotStore(f"status {response.status} says nothing about the page")
    if response.status == 206 and stored is not None and not is_partial(stored):
        return DoNotStore("a part does not replace the whole")
    reason = refusal(request, response, policy)
    if reason is None:
        return Store(to_stored(request, response, now))
    return DoNotStore(reason) if stored is None else Invalidate((request.url,), reason)


def _after_unsafe(
    request: Request, response: Response, now: float, policy: Policy, *, usable: bool
) -> Outcome:
    if not 200 <= response.status < 400:
        return DoNotStore(f"{request.method.upper()} failed: nothing changed")
    location = first_value(response.headers, "content-location")
    is_the_page = (
        request.method.upper() == "POST"
        and 200 <= response.status < 300
        and location is not None
        and resolves_to(location, request.url)
        and _is_explicitly_fresh(response)
    )
    if is_the_page and usable and refusal(request, response, policy) is None:
        return Store(to_stored(request, response, now))
    return Invalidate(invalidated_urls(request, response), f"{request.method.upper()} succeeded")


def _after_head(stored: Stored | None, request: Request, response: Response, now: float) -> Outcome:
    if stored is None or response.status != 200:
        return DoNotStore("answer to HEAD")
    for name in ("etag", "last-modified", "content-length"):
        old, new = first_value(stored.headers, name), first_value(response.headers, name)
        if old is not None and new is not None and old != new:
            return Invalidate((request.url,), f"HEAD shows another {name}")
    return Update304(freshened(stored, request, response, now))


def _after_304(stored: Stored | None, request: Request, response: Response, now: float) -> Outcome:
    if stored is None or not stored.has_body:
        if is_conditional(request):
            return RetryUnconditionally("304 for a body that is not stored")
        return DoNotStore("304 to a request without a condition")
    old, new = first_value(stored.headers, "etag"), first_value(response.headers, "etag")
    if (
        old is not None
        and new is not None
        and not new.startswith("W/")
        and opaque_tag(old) != opaque_tag(new)
    ):
        return RetryUnconditionally("304 for another entity tag than the stored one")
    return Update304(freshened(stored, request, response, now))


def _is_explicitly_fresh(response: Response) -> bool:
    directives = cache_control(response.headers)
    if "max-age" in directives:
        return bool(delta_seconds(directives["max-age"]))
    return first_value(response.headers, "expires") is not None
