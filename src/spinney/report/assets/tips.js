// What a mark of a figure stands for, told beside the pointer.
const tip = document.getElementById("tip");

function showTip(event) {
  const mark = event.target.closest?.("[data-tip]");
  if (!mark) {
    tip.hidden = true;
    return;
  }
  tip.textContent = mark.dataset.tip;
  tip.hidden = false;
  const room = document.documentElement.clientWidth;
  const left = Math.min(event.clientX + 14, room - tip.offsetWidth - 8);
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${Math.max(8, event.clientY - tip.offsetHeight - 12)}px`;
}

document.addEventListener("pointermove", showTip);
document.addEventListener("pointerdown", showTip);
document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") tip.hidden = true;
});

const SVG = "http://www.w3.org/2000/svg";

// Makes an element of a figure; text is text, never markup.
function svg(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

// A number in few digits, for people.
function shown(value, digits = 4) {
  if (value < 0) return `−${shown(-value, digits)}`;
  if (Number.isNaN(value)) return "missing";
  if (!Number.isFinite(value)) return "∞";
  const grouped = Math.abs(value) >= 1e4;
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return grouped ? value.toLocaleString("en") : String(value);
  const text = Number(value.toPrecision(digits));
  const size = Math.abs(value);
  return size >= 1e-4 && size < 1e15
    ? text.toLocaleString("en", { maximumSignificantDigits: digits, useGrouping: grouped })
    : text.toExponential();
}

// Characters that cannot be seen, or that turn text around, by their numbers.
function visible(text) {
  const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
  return text.replace(hidden, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
