/*
 * How a widget looks: an attribute of its tag decides, else what its owner designed in the console, else its own.
 * What was designed is kept for a few minutes, so that the next page of a visit shows it at once and asks nobody.
 */

const FRESH_MS = 5 * 60 * 1000;
const LONGEST_WAIT_MS = 1500;

/** The design from the service; null if it cannot be had, or not soon. `refuse` hears why the page may not have it. */
async function loadDesign(conversation, refuse) {
  const kept = conversation.readKept("design");
  if (kept && Date.now() - kept.at < FRESH_MS) return kept.design;
  const late = new Promise((resolve) => setTimeout(resolve, LONGEST_WAIT_MS, kept?.design ?? null));
  const asked = conversation.design().catch((error) => {
    if (error.reason) refuse(error.reason);
    return null;
  });
  return Promise.race([asked, late]);
}

/** The look of an element, by its attributes and its design. */
function lookOf(element, design, words) {
  const settings = design?.settings ?? {};
  const pick = (name, own) => element.getAttribute(name.replace("_", "-")) || settings[name] || own;
  const accent = pick("accent", null);
  const onAccent = pick("on_accent", null);
  const listed = element.getAttribute("suggestions");
  return {
    title: pick("title", design?.agent?.name ?? element.getAttribute("agent-name") ?? words.title),
    greeting: pick("greeting", words.greeting),
    placeholder: pick("placeholder", words.placeholder),
    accent: isColour(accent) ? accent : null,
    onAccent: isColour(accent) ? (isColour(onAccent) ? onAccent : readableOn(accent)) : null,
    scheme: pick("scheme", "auto"),
    hidesSources: settings.show_sources === false,
    position: pick("position", "right") === "left" ? "left" : "right",
    suggestions: (listed ? listed.split("|") : (settings.suggestions ?? [])).map((text) => text.trim()).filter(Boolean),
  };
}

/** Who the page says its visitor is; null if it says nothing. */
function userOf(element) {
  const user = {};
  for (const name of ["id", "name", "email", "hash"]) {
    const value = element.getAttribute(`user-${name}`);
    if (value) user[name] = value;
  }
  return Object.keys(user).length ? user : null;
}
