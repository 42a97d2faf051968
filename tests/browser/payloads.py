"""Texts that would run as a script if a page inserted them as markup."""

RUN = "window.top.ran=1"

PAYLOADS = (
    f"<img src=x onerror={RUN}>",
    f"<svg/onload={RUN}>",
    f"</script><script>{RUN}</script>",
    f'"><script>{RUN}</script>',
    f"'-{RUN}-'",
    f"javascript:{RUN}",
    f"<a href=javascript:{RUN}>x</a>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"data:text/html,<script>{RUN}</script>",
    f"<details open ontoggle={RUN}>",
    f"<style>@import 'x'</style><style onload={RUN}></style>",
    "{{constructor.constructor('window.top.ran=1')()}}",
    f"${{{RUN}}}",
    f"<math><mtext><table><mglyph><style><img src onerror={RUN}>",
    f"</title><script>{RUN}</script>",
    f'" autofocus onfocus={RUN} x="',
    f"<template shadowrootmode=open><script>{RUN}</script></template>",
    "\u2028</noscript><script>window.top.ran=1</script>",
)

# What a form of ours is made of; everything else came in with a payload.
OURS = {
    "main", "section", "div", "form", "p", "ul", "li", "a", "h1", "h2", "h3", "span", "label", "legend",
    "fieldset", "input", "textarea", "select", "option", "button", "output", "canvas", "progress",
}  # fmt: skip

ELEMENTS = """() => {
  const root = document.querySelector("retinue-form").shadowRoot;
  return [...root.querySelectorAll("*")].map((element) => [
    element.localName,
    element.getAttributeNames().filter((name) => name.startsWith("on")),
    element.getAttribute("href"),
  ]);
}"""


async def assert_nothing_ran(page, *, has_logo=True):
    assert await page.evaluate("window.ran") is None
    elements = await page.evaluate(ELEMENTS)
    assert len(elements) >= 3
    assert {name for name, _, _ in elements} - OURS == ({"img"} if has_logo else set())
    assert not [element for element in elements if element[1]]
    assert {href[:7] for _, _, href in elements if href} <= {"#field-"}
