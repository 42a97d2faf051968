/* Contrast after WCAG 2.2. A colour is `#rrggbb`; anything else is not one. */

const COLOUR = /^#[0-9a-f]{6}$/i;

function isColour(text) {
  return COLOUR.test(text ?? "");
}

function luminance(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(colour, other) {
  const [light, dark] = [luminance(colour), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

/** Black or white, whichever can be read better on this colour; one of them always has 4.5:1. */
function readableOn(colour) {
  return contrast(colour, "#ffffff") >= contrast(colour, "#1a1815") ? "#ffffff" : "#1a1815";
}
