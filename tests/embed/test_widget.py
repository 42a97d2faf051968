"""The widget as a browser gets it, and its parts that need no browser."""

import gzip
import itertools
import re

import pytest

from retinue.embed import widget
from tests.embed.javascript import evaluate, needs_node, source
from tests.embed.keys import PATH

pytestmark = pytest.mark.either_database

SCRIPT = "/embed/widget.js"


async def test_the_script_is_served_to_every_page(api):
    answer = await api.get(SCRIPT)
    assert (answer.status, answer.headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert len(gzip.compress(answer.body, 6)) <= 30_000
    from_elsewhere = await api.get(SCRIPT, headers={"Origin": "https://example.com"})
    names = [name for name, _ in from_elsewhere.raw_headers]
    assert names.count(b"access-control-allow-origin") == 1


async def test_a_head_request_of_the_script_has_its_headers(api):
    answer = await api.request("HEAD", SCRIPT)
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert int(answer.headers["content-length"]) == len(widget.script().content)


async def test_the_script_is_kept_for_a_while_and_its_version_for_ever(api):
    answer = await api.get(SCRIPT)
    assert answer.headers["cache-control"] == "public, max-age=3600"
    kept = await api.get(SCRIPT, query={"v": widget.script().version})
    assert kept.headers["cache-control"] == "public, max-age=31536000, immutable"
    other = await api.get(SCRIPT, query={"v": "another"})
    assert other.headers["cache-control"] == "public, max-age=3600"
    same = await api.get(SCRIPT, headers={"If-None-Match": answer.headers["etag"]})
    assert (same.status, same.body, same.headers["etag"]) == (304, b"", answer.headers["etag"])
    assert "content-length" not in same.headers
    assert (await api.get(SCRIPT, headers={"If-None-Match": '"other"'})).status == 200


async def test_the_page_is_for_frames_of_the_keys_own_list(api, agent, key_for):
    for domains, ancestors in (
        ([], "*"),
        (["*"], "*"),
        (
            ["example.com", "*.example.com", "https://example.com:8443", "localhost:3000", "[::1]"],
            "example.com:* *.example.com:* https://example.com:8443 localhost:3000",
        ),
        (["[::1]"], "'none'"),
    ):
        holder = await key_for(agent, allowed_domains=domains)
        answer = await api.get(f"/embed/{agent['id']}", query={"api_key": holder.text})
        assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
        policy = answer.headers["content-security-policy"]
        assert policy.endswith(f"frame-ancestors {ancestors}")
        assert "default-src 'none'; script-src 'self'; connect-src 'self'" in policy
        assert "unsafe" not in policy
        assert answer.headers["cache-control"] == "no-store"
        assert holder.text in answer.body.decode()


async def test_there_is_no_page_without_a_good_key_of_the_agent(admin, api, agent, holder):
    for id, key in ((agent["id"], None), (agent["id"], "emb_x"), ("agt_x", holder.text)):
        answer = await api.get(f"/embed/{id}", query={"api_key": key} if key else None)
        assert (answer.status, answer.code) == (404, "not_found")
    await admin.delete(f"{PATH}/{holder.key['id']}")
    assert (await api.get(f"/embed/{agent['id']}", query={"api_key": holder.text})).status == 404


def test_what_a_model_says_never_becomes_markup_and_nothing_is_fetched_from_elsewhere():
    script = widget.script().content.decode()
    for banned in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("):
        assert banned not in script
    assert 'createElement("img"' not in script
    # The name of a namespace is no address.
    assert re.findall(r"https?://[a-z]", script.replace("http://www.w3.org/2000/svg", "")) == []
    assert script.count("fetch(") == 1


SSE = ("event_stream.js",)
READ = (
    "given.map((pieces) => { const r = new EventStreamReader(); return pieces.flatMap((p) => r.push(p)); })"
)
STREAM = 'event: a\nid: 1\ndata: {"x":1}\n\n: ping\n\ndata: one\ndata: two\n\nevent: b\ndata:three\n\n'
EVENTS = [
    {"name": "a", "data": '{"x":1}'},
    {"name": "message", "data": "one\ntwo"},
    {"name": "b", "data": "three"},
]


@needs_node
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_events_are_the_same_wherever_the_stream_breaks(end):
    text = STREAM.replace("\n", end) + "data: unfinished"
    cuts = [[text], list(text)]
    cuts += [[text[:at], text[at:]] for at in range(len(text))]
    cuts += [[text[:at], "", text[at : at + 7], text[at + 7 :]] for at in range(len(text))]
    assert evaluate(SSE, READ, cuts) == [EVENTS] * len(cuts)


MARKDOWN = ("markdown.js",)
BLOCKS = "given.map((text) => blockNodes(text))"


def p(*children):
    return {"tag": "p", "children": list(children)}


def link(href, text):
    return {"tag": "a", "href": href, "children": [text]}


REMARK = "A remark that has more than a few words."


def table(aligns, head, *rows):
    def cell(tag, children, align):
        # A cell of many words may break between them; a short one stays on its line.
        is_short = {} if children == [REMARK] else {"isShort": True}
        return {"tag": tag, **({"align": align} if align else {}), **is_short, "children": children}

    def row(tag, cells):
        return {"tag": "tr", "children": [cell(tag, *one) for one in zip(cells, aligns, strict=True)]}

    parts = [{"tag": "thead", "children": [row("th", head)]}]
    parts.append({"tag": "tbody", "children": [row("td", cells) for cells in rows]})
    return {"tag": "table", "children": parts}


TEXTS = [
    ("plain", [p("plain")]),
    ("one\ntwo\n\nthree", [p("one", {"tag": "br", "children": []}, "two"), p("three")]),
    ("a **b** c", [p("a ", {"tag": "strong", "children": ["b"]}, " c")]),
    ("*a* _b_ snake_case_name", [
        p({"tag": "em", "children": ["a"]}, " ", {"tag": "em", "children": ["b"]}, " snake_case_name")
    ]),
    ("Prices:\n| Tea | Price |\n|:--|--:|\n| Green | **3** |\n| a \\| b |\nThat is all.", [
        p("Prices:"),
        table(
            ["left", "right"],
            [["Tea"], ["Price"]],
            [["Green"], [{"tag": "strong", "children": ["3"]}]],
            [["a | b"], []],
        ),
        p("That is all."),
    ]),
    (f"| Land | Sum | Share | Note |\n|---|---:|:---:|:---|\n| Austria | 1,204 | 3 % | {REMARK} |", [
        table(
            [None, "right", "center", "left"],
            [["Land"], ["Sum"], ["Share"], ["Note"]],
            [["Austria"], ["1,204"], ["3 %"], [REMARK]],
        ),
    ]),
    ("a | b\nc", [p("a | b", {"tag": "br", "children": []}, "c")]),
    ("`<b>` x", [p({"tag": "code", "children": ["<b>"]}, " x")]),
    ("# Title", [p({"tag": "strong", "children": ["Title"]})]),
    ("- a\n- b", [{"tag": "ul", "children": [
        {"tag": "li", "children": ["a"]}, {"tag": "li", "children": ["b"]}]}]),
    ("1. a\n   - b\n     more\n   - c\n2. d\n\n> q\n> > r\n> - s\n\nend", [
        {"tag": "ol", "children": [
            {"tag": "li", "children": ["a", {"tag": "ul", "children": [
                {"tag": "li", "children": ["b", {"tag": "br", "children": []}, "more"]},
                {"tag": "li", "children": ["c"]}]}]},
            {"tag": "li", "children": ["d"]}]},
        {"tag": "blockquote", "children": [
            p("q"),
            {"tag": "blockquote", "children": [p("r")]},
            {"tag": "ul", "children": [{"tag": "li", "children": ["s"]}]}]},
        p("end")]),
    ("    - no list", [p("    - no list")]),
    (f"| A |\n|---|\n| {'x' * 50} |", [{"tag": "table", "children": [
        {"tag": "thead", "children": [
            {"tag": "tr", "children": [{"tag": "th", "isShort": True, "children": ["A"]}]}]},
        {"tag": "tbody", "children": [
            {"tag": "tr", "children": [{"tag": "td", "isLong": True, "children": ["x" * 50]}]}]}]}]),
    ("1. a\n2) b", [{"tag": "ol", "children": [
        {"tag": "li", "children": ["a"]}, {"tag": "li", "children": ["b"]}]}]),
    ("```py\n<x> *y*\n```\nafter", [
        {"tag": "pre", "children": [{"tag": "code", "children": ["<x> *y*"]}]}, p("after")]),
    ("```\nopen", [{"tag": "pre", "children": [{"tag": "code", "children": ["open"]}]}]),
    ("[x](https://a.example/)", [p(link("https://a.example/", "x"))]),
    ("see https://a.example/b.", [p("see ", link("https://a.example/b", "https://a.example/b"), ".")]),
    ("![x](https://evil.example/?q=1)", [p(link("https://evil.example/?q=1", "x"))]),
    ("![](https://evil.example/)", [p(link("https://evil.example/", "https://evil.example/"))]),
    ("[m](mailto:a@b.example)", [p(link("mailto:a@b.example", "m"))]),
]  # fmt: skip
HARMLESS = [
    "[x](javascript:alert%281%29)",
    "[x](JaVaScRiPt:alert)",
    "[x](data:text/html,<script>)",
    "[x](vbscript:x)",
    "[x](//evil.example)",
    "[x](/relative)",
    "[x](file:///etc/passwd)",
    "[x][1]",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![x][1]",
    "**",
    "[",
    "`",
]


@needs_node
def test_a_text_becomes_the_elements_it_means():
    assert evaluate(MARKDOWN, BLOCKS, [text for text, _ in TEXTS]) == [nodes for _, nodes in TEXTS]


@needs_node
def test_what_could_do_harm_stays_text():
    for text, nodes in zip(HARMLESS, evaluate(MARKDOWN, BLOCKS, HARMLESS), strict=True):
        assert [set(node) for node in nodes] == [{"tag", "children"}] * len(nodes)
        assert not [child for node in nodes for child in node["children"] if isinstance(child, dict)], text
    (reference,) = evaluate(MARKDOWN, BLOCKS, ["[1]: https://evil.example"])
    assert reference == [p("[1]: ", link("https://evil.example/", "https://evil.example"))]


@needs_node
def test_elements_are_made_of_text_and_checked_links_only():
    page = """({
      createTextNode: (text) => ({ text }),
      createElement: (tag) => ({ tag, append(...children) { this.children = children; } }),
    })"""
    text = "**a** [b](https://c.example/) <i>"
    (made,) = evaluate(MARKDOWN, f"given.map((text) => elementsOf(blockNodes(text), {page}))", [text])
    strong, space, anchor, rest = made[0]["children"]
    assert (strong["tag"], space, rest) == ("strong", {"text": " "}, {"text": " <i>"})
    assert (anchor["href"], anchor["target"]) == ("https://c.example/", "_blank")
    assert anchor["rel"] == "noopener noreferrer nofollow"


@needs_node
def test_no_text_takes_the_page_hostage():
    """Twice the text takes about twice the time, whatever a model repeats."""
    pieces = [
        "*",
        "**",
        "_",
        "`",
        "[",
        "](",
        "![",
        "**a",
        "[a](",
        "`a",
        "_a ",
        "http://",
        "https://a.b/)",
        "- ",
        "> ",
    ]
    texts = [piece * (60_000 // len(piece)) for piece in pieces]
    texts += ["".join(pair) * 10_000 for pair in itertools.pairwise(pieces)]
    times = evaluate(
        MARKDOWN,
        "given.map((text) => { const at = Date.now(); blockNodes(text); return Date.now() - at; })",
        texts,
    )
    assert max(times) < 2_000, sorted(zip(times, (text[:10] for text in texts), strict=True))[-3:]


@needs_node
def test_a_session_is_made_once_and_anew_when_asked():
    expression = """(() => {
      const stored = {};
      globalThis.localStorage = {
        getItem: (name) => stored[name] ?? null,
        setItem: (name, value) => { stored[name] = value; },
      };
      const to = { baseUrl: "", agentId: "agt_1", apiKey: "emb_1", user: null };
      const first = new Conversation(to).sessionId, again = new Conversation(to);
      const other = new Conversation({ ...to, user: { id: "ada" } }).sessionId;
      return [first, again.sessionId, other, again.startAnew(), new Conversation(to).sessionId];
    })()"""
    first, again, other, anew, after = evaluate(("event_stream.js", "talking.js"), expression, None)
    assert re.fullmatch(r"[0-9a-f]{32}", first)
    assert first == again
    assert anew == after
    assert len({first, other, anew}) == 3


def test_the_sources_are_readable_as_they_are():
    for name in widget.PARTS:
        assert source(name) in widget.script().content.decode()


@needs_node
def test_text_on_any_colour_can_be_read():
    colours = [
        f"#{red:02x}{green:02x}{blue:02x}"
        for red, green, blue in itertools.product((0, 90, 130, 200, 255), repeat=3)
    ]
    expression = "given.map((colour) => contrast(colour, readableOn(colour)))"
    assert min(evaluate(("colours.js",), expression, colours)) >= 4.1
    pairs = [("#ffffff", "#000000"), ("#777777", "#ffffff")]
    ratios = evaluate(("colours.js",), "given.map(([a, b]) => contrast(a, b))", pairs)
    assert [round(ratio, 2) for ratio in ratios] == [21, 4.48]


@needs_node
def test_an_attribute_beats_the_design_and_the_design_beats_the_widgets_own():
    expression = """given.map(([attributes, design]) => lookOf(
      { getAttribute: (name) => attributes[name] ?? null }, design, wordsFor("de-AT")))"""
    settings = {"title": "Designed", "accent": "#0a6d76", "scheme": "dark", "suggestions": ["One"]}
    design = {"agent": {"name": "Clerk"}, "settings": settings}
    own, designed, tagged, wrong = evaluate(
        ("words.js", "colours.js", "settings.js"),
        expression,
        [
            ({}, {"agent": {"name": "Clerk"}, "settings": {}}),
            ({}, design),
            (
                {"title": "Tagged", "suggestions": "A | B |", "on-accent": "#000000", "position": "left"},
                design,
            ),
            ({"accent": "red;}", "scheme": "light"}, None),
        ],
    )
    assert (own["title"], own["placeholder"], own["accent"]) == ("Clerk", "Nachricht schreiben", None)
    assert (designed["title"], designed["onAccent"], designed["suggestions"]) == (
        "Designed",
        "#ffffff",
        ["One"],
    )
    assert (tagged["title"], tagged["suggestions"], tagged["onAccent"]) == ("Tagged", ["A", "B"], "#000000")
    assert (tagged["position"], tagged["scheme"]) == ("left", "dark")
    assert (wrong["accent"], wrong["onAccent"], wrong["scheme"]) == (None, None, "light")


@needs_node
def test_a_document_is_listed_once_and_only_if_the_reply_cites_it():
    sources = [
        {"index": number, "document_name": name, "url": None}
        for number, name in enumerate(("faq.txt", "prices.txt", "faq.txt", "secret.txt"), 1)
    ]
    texts = ["Yes [1], and [3].", "[1, 2]", "Nothing cited.", "", "A list: x[0], [99]"]
    shown = evaluate(
        ("messages.js",),
        "given[1].map((text) => citedDocuments(given[0], text).map((all) => all.map((one) => one.index)))",
        [sources, texts],
    )
    assert shown == [[[1, 3]], [[1], [2]], [], [], []]
