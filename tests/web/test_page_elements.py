"""One walk over a tree finds what a question for each kind of element would."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from resources.web.html_document import parse_html
from resources.web.page_elements import read_elements

_TAGS = (
    "a",
    "area",
    "base",
    "link",
    "meta",
    "script",
    "style",
    "noscript",
    "template",
    "svg",
    "div",
    "p",
    "body",
    "title",
)
_START = st.builds(
    lambda tag, attributes: f"<{tag} {' '.join(attributes)}>",
    st.sampled_from(_TAGS),
    st.lists(
        st.sampled_from(
            ("href=x", "href", "xlink:href=y", "name=n", "HREF='#z'", "content=c", "rel='a Canonical'")
        ),
        max_size=3,
    ),
)
_END = st.builds("</{}>".format, st.sampled_from((*_TAGS, "head")))
_MARKUP = st.lists(
    _START | _END | st.sampled_from(("text ", "<!-- c -->", "<frameset>", "<head>")), max_size=20
)


@given(_MARKUP.map("".join))
def test_each_kind_as_a_question_of_its_own_would_find_it(markup: str) -> None:
    tree = parse_html(markup)
    found = read_elements(tree)

    def ids(selector: str) -> list[int]:
        # A list of selectors gives an element once for each that it matches.
        return list(dict.fromkeys(node.mem_id for node in tree.css(selector)))

    assert [node.mem_id for node in found.anchors] == ids("a[href],area[href]")
    assert [node.mem_id for node in found.bases] == ids("base[href]")
    assert [node.mem_id for node in found.data] == ids("meta,script")
    below = tree.body.css("script,style,noscript,template") if tree.body is not None else []
    assert [node.mem_id for node in found.unseen] == list(dict.fromkeys(node.mem_id for node in below))
    of_head = tree.head.css if tree.head is not None else lambda selector: []
    titles = of_head("title")
    assert (found.title.mem_id if found.title is not None else None) == (titles[0].mem_id if titles else None)
    canonicals = of_head('link[rel~="canonical" i][href]')
    assert [node.mem_id for node in found.canonicals] == [node.mem_id for node in canonicals]
