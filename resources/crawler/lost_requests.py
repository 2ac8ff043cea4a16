"""Which requests that were lost with their connection are made again at once (RFC 9110 §9.2.2, RFC 9112 §9.3.1).

A server may end a kept connection at any time, also just when a request goes into it: then nobody answers, and the
request is as good as never made. It goes back to the frontier to be claimed like any other URL, so the repeat takes
a slot of the pacer of its own; the URL's attempts and the domain's health are untouched. The transport does not say
whether a connection was fresh; one is taken for kept where the domain has answered in this crawl.
Nothing is kept of a domain that loses no request.
"""

from __future__ import annotations

from resources.frontier.base import Claim

__all__ = ["LostRequests"]

#: Repeats since the domain's last answer. A restart of the server takes with it what is in flight, five at most with a
#: domain that has a rate; what is lost beyond that is no accident.
WITHOUT_ANSWER = 5
#: Repeats a domain and crawl, so that what is remembered stays small; a server that loses more is not well.
IN_ALL = 1000


class LostRequests:
    """Those of one domain in one crawl."""

    __slots__ = ("_answers", "_repeated", "_since_answer")

    def __init__(self) -> None:
        self._repeated: set[bytes] = set()
        self._answers = 0
        self._since_answer = 0

    def repeat(self, claim: Claim, answers: int) -> bool:
        """Whether to make the request again, once. `answers`: responses of the domain in this crawl so far.

        Numbered cases of what is an ordinary failure: 1. no answer yet: the connection was fresh; 2. the URL has failed
        before: that may be what its server does with it; 3. it was repeated already; 4. the server answers nothing any
        more; 5. it loses requests all the time.
        """
        if not answers or claim.attempts or claim.key in self._repeated:
            return False
        if answers != self._answers:
            self._answers, self._since_answer = answers, 0
        if self._since_answer >= WITHOUT_ANSWER or len(self._repeated) >= IN_ALL:
            return False
        self._since_answer += 1
        self._repeated.add(claim.key)
        return True
