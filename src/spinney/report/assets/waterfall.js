// Why a row got its score: from the base to the raw score, feature by feature.
const MOST_STEPS = 10;

function stepsOf(names, texts, contributions, base) {
  const order = contributions.map((value, place) => place)
    .sort((a, b) => Math.abs(contributions[b]) - Math.abs(contributions[a]));
  const steps = [];
  let at = base;
  for (const place of order.slice(0, MOST_STEPS)) {
    if (contributions[place] === 0) continue;
    steps.push({ name: names[place], text: texts[place], from: at, by: contributions[place] });
    at += contributions[place];
  }
  const rest = order.slice(MOST_STEPS).filter((place) => contributions[place] !== 0);
  if (rest.length) {
    const by = rest.reduce((sum, place) => sum + contributions[place], 0);
    steps.push({ name: `${rest.length} others`, text: "", from: at, by });
    at += by;
  }
  return { steps, end: at };
}

function barOf(low, high, span, kind) {
  const width = span.high - span.low || 1;
  const bar = element("span", { class: `step ${kind}` });
  bar.style.left = `${(100 * (low - span.low)) / width}%`;
  bar.style.width = `${Math.max(0.4, (100 * (high - low)) / width)}%`;
  return element("span", { class: "track", "aria-hidden": "true" }, bar);
}

function lineOf(name, text, bar, number) {
  const label = element("span", { class: "label" }, element("bdi", {}, visible(name)));
  if (text) label.append(element("span", { class: "given" }, ` = ${visible(text)}`));
  return element("li", {}, label, bar, element("span", { class: "n" }, number));
}

function drawWaterfall(place, title, found, base) {
  const { steps, end } = found;
  const ends = [base, end, ...steps.flatMap((step) => [step.from, step.from + step.by])];
  const span = { low: Math.min(...ends), high: Math.max(...ends) };
  const list = element("ol", { class: "waterfall" });
  list.append(lineOf("Base", "", barOf(base, base, span, "mark"), shown(base, 3)));
  for (const step of steps) {
    const [low, high] = step.by < 0 ? [step.from + step.by, step.from] : [step.from, step.from + step.by];
    const kind = step.by < 0 ? "down" : "up";
    const sign = step.by < 0 ? "−" : "+";
    list.append(lineOf(step.name, step.text, barOf(low, high, span, kind), sign + shown(Math.abs(step.by), 3)));
  }
  list.append(lineOf("Raw score", "", barOf(end, end, span, "mark"), shown(end, 3)));
  place.replaceChildren(element("h3", {}, title), list);
}

// What the model would say of this row at every value of one feature; textOf writes such a value.
function drawCurve(place, title, points, current, textOf) {
  const width = 380;
  const height = 170;
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const low = Math.min(...xs);
  const high = Math.max(...xs);
  const least = Math.min(...ys);
  const most = Math.max(...ys);
  const across = (x) => 46 + (324 * (x - low)) / (high - low || 1);
  const up = (y) => 136 - (122 * (y - least)) / (most - least || 1);
  let path = "";
  points.forEach((point, k) => {
    const next = k + 1 < points.length ? (point.x + points[k + 1].x) / 2 : point.x;
    path += `${k ? "L" : "M"}${(k ? across((points[k - 1].x + point.x) / 2) : across(point.x)).toFixed(1)} `
      + `${up(point.y).toFixed(1)}L${across(next).toFixed(1)} ${up(point.y).toFixed(1)}`;
  });
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  drawing.setAttribute("aria-label", `${title}: from ${shown(least)} to ${shown(most)}`);
  drawing.append(
    svg("line", { x1: 46, x2: 370, y1: 142, y2: 142, class: "axis" }),
    svg("text", { x: 40, y: 140, "text-anchor": "end" }, shown(least, 3)),
    svg("text", { x: 40, y: 18, "text-anchor": "end" }, shown(most, 3)),
    svg("text", { x: 46, y: 158 }, textOf(low)),
    svg("text", { x: 370, y: 158, "text-anchor": "end" }, textOf(high)),
    svg("path", { d: path, class: "line one" }),
  );
  if (current.x >= low && current.x <= high) {
    drawing.append(svg("circle", { cx: across(current.x), cy: up(current.y), r: 5, class: "dot two" }));
  }
  place.replaceChildren(element("figure", {}, element("figcaption", {}, element("b", {}, visible(title))), drawing));
}
