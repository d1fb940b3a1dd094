// The panel: pick a row, change its values, see what the model says.
const stored = document.getElementById("what-if-data");
if (stored) startPanel(JSON.parse(stored.textContent));

function startPanel(data) {
  const model = new Model(data.model);
  const { features, rows, classes } = data;
  const choice = document.getElementById("row-choice");
  const form = document.getElementById("inputs");
  const MOST_OPTIONS = 60;
  const state = { row: 0, values: [], original: [], changed: new Set(), output: null };
  const controls = [];

  // What the model is asked: numbers, and codes of categories, NaN for missing; texts as they are.
  function rowValues(row) {
    return rows.values.map((values, feature) => {
      if (features[feature].kind === "text") return values[row];
      return values[row] === null ? NaN : Number(values[row]);
    });
  }

  function likeliest(predictions) {
    return predictions.reduce((best, value, k) => (value > predictions[best] ? k : best), 0);
  }

  // The output that figures are about: the second of two classes, else the one that is chosen.
  function outputShown(predictions) {
    if (classes.length === 2) return 1;
    return state.output ?? (classes.length ? likeliest(predictions) : 0);
  }

  function textOf(feature, value) {
    const { levels, kind, daily } = features[feature];
    if (value === null) return "missing";
    if (kind === "text") return visible(value.length > 60 ? `${value.slice(0, 60)}…` : value);
    if (levels) return levels[value] ?? "(another category)";
    if (kind === "boolean" && (value === 0 || value === 1)) return value ? "true" : "false";
    if (kind === "date" || kind === "datetime") return isoOf(value, daily ? "date" : kind).replace("T", " ");
    return shown(Number(value), 6);
  }

  function isoOf(seconds, kind) {
    const time = new Date(seconds * 1000);
    if (Number.isNaN(time.getTime())) return String(seconds);
    return kind === "date" ? time.toISOString().slice(0, 10) : time.toISOString().slice(0, 19);
  }

  // Controls: each reads its text to a number and shows a value of a row.
  function selectOf(options) {
    const select = element("select", {});
    for (const [value, text] of options) select.append(element("option", { value }, visible(text)));
    return select;
  }

  function levelControl(feature) {
    const { levels } = features[feature];
    if (levels.length <= MOST_OPTIONS) {
      const options = [["", "(missing)"], ...levels.map((level, code) => [code, level]), ["?", "(another category)"]];
      const select = selectOf(options);
      return {
        input: select,
        show: (value) => { select.value = value === null ? "" : value < 0 ? "?" : String(value); },
        read: () => (select.value === "" ? NaN : select.value === "?" ? UNSEEN : Number(select.value)),
      };
    }
    const codes = new Map(levels.map((level, code) => [level, code]));
    const list = element("datalist", { id: `levels-${feature}` });
    for (const level of levels.slice(0, 1000)) list.append(element("option", { value: level }));
    const input = element("input", { type: "text", list: list.id, placeholder: "missing" });
    form.append(list);
    return {
      input,
      show: (value) => { input.value = value === null ? "" : textOf(feature, value); },
      read: () => (input.value === "" ? NaN : codes.get(input.value) ?? UNSEEN),
    };
  }

  function booleanControl() {
    const select = selectOf([["", "(missing)"], ["0", "false"], ["1", "true"]]);
    return {
      input: select,
      show: (value) => {
        const text = value === null ? "" : String(value);
        if (!Array.from(select.options).some((option) => option.value === text)) {
          select.append(element("option", { value: text }, text));
        }
        select.value = text;
      },
      read: () => (select.value === "" ? NaN : Number(select.value)),
    };
  }

  function timeControl(kind) {
    const input = element("input", { type: kind === "date" ? "date" : "datetime-local", step: kind === "date" ? null : "1" });
    let kept = null;
    let text = "";
    return {
      input,
      show: (value) => {
        input.value = value === null ? "" : isoOf(value, kind);
        [kept, text] = [value, input.value];
      },
      read: () => {
        if (input.value === text && kept !== null) return kept;
        return input.value === "" ? NaN : input.valueAsNumber / 1000;
      },
    };
  }

  function numberControl() {
    const input = element("input", { type: "text", inputmode: "decimal", placeholder: "missing", spellcheck: "false" });
    return {
      input,
      show: (value) => { input.value = value === null ? "" : String(value); },
      read: () => {
        const text = input.value.trim().replace("−", "-");
        if (text === "") return NaN;
        const number = Number(text);
        return Number.isNaN(number) ? undefined : number;
      },
    };
  }

  function textControl() {
    const input = element("textarea", { rows: "3", placeholder: "missing", spellcheck: "false" });
    return {
      input,
      show: (value) => { input.value = value ?? ""; },
      read: () => (input.value === "" ? null : input.value),
    };
  }

  function controlOf(feature) {
    const { kind, levels } = features[feature];
    if (kind === "text") return textControl();
    if (levels) return levelControl(feature);
    if (kind === "boolean") return booleanControl();
    if (kind === "date" || kind === "datetime") return timeControl(kind);
    return numberControl();
  }

  function addField(feature) {
    const control = controlOf(feature);
    const id = `value-${feature}`;
    control.input.id = id;
    control.input.dataset.feature = feature;
    const name = element("bdi", {}, visible(features[feature].name));
    const label = element("label", { for: id }, name);
    if (!features[feature].used) label.append(element("small", {}, " not used"));
    control.field = element("div", { class: "field" }, label, control.input);
    control.input.addEventListener("input", () => change(feature));
    control.input.addEventListener("change", () => change(feature));
    control.input.addEventListener("focus", () => showCurve(feature));
    controls[feature] = control;
    form.append(control.field);
  }

  function change(feature) {
    const value = controls[feature].read();
    const isWrong = value === undefined;
    controls[feature].input.setAttribute("aria-invalid", String(isWrong));
    if (isWrong) return;
    state.values[feature] = value;
    const same = Object.is(value, state.original[feature]) || value === state.original[feature];
    if (same) state.changed.delete(feature);
    else state.changed.add(feature);
    controls[feature].field.classList.toggle("changed", !same);
    showAnswer();
    showCurve(feature);
  }

  function choose(row) {
    state.row = row;
    state.original = rowValues(row);
    state.values = state.original.slice();
    state.changed.clear();
    state.output = null;
    features.forEach((_, feature) => {
      controls[feature].show(rows.values[feature][row]);
      controls[feature].input.setAttribute("aria-invalid", "false");
      controls[feature].field.classList.remove("changed");
    });
    choice.value = String(row);
    showAnswer();
    document.getElementById("curve").replaceChildren();
  }

  function showAnswer() {
    const predictions = model.predict(state.values);
    const before = rows.predictions[state.row];
    const place = document.getElementById("answer");
    const parts = [element("h3", {}, state.changed.size ? "Changed row" : `Row ${rows.numbers[state.row]}`)];
    const names = classes.length ? classes : data.outputs;
    const list = element("ul", { class: "predictions" });
    predictions.forEach((value, k) => list.append(predictionLine(names[k], value, before[k], k, predictions)));
    parts.push(list);
    if (rows.target) {
      const target = rows.target[state.row];
      const text = classes.length ? visible(target) : shown(target);
      parts.push(element("p", { class: "note" }, "Target of the row as it was: ", element("bdi", {}, text)));
    }
    if (state.changed.size) parts.push(changeList(predictions));
    place.replaceChildren(...parts);
    showWaterfall(predictions);
  }

  function predictionLine(name, value, before, k, predictions) {
    const text = classes.length ? `${(100 * value).toFixed(2)} %` : shown(value, 6);
    const output = element("output", { "data-exact": String(value), "data-output": k }, text);
    const label = element("span", { class: "label" }, element("bdi", {}, visible(name)));
    const line = element("li", {}, label, output);
    if (classes.length) {
      const bar = element("span", { class: "track", "aria-hidden": "true" });
      const fill = element("span", { class: "step mark" });
      fill.style.left = "0";
      fill.style.width = `${100 * value}%`;
      bar.append(fill);
      line.insertBefore(bar, output);
      if (k === likeliest(predictions)) line.classList.add("likeliest");
    }
    if (state.changed.size) line.append(element("small", {}, ` was ${classes.length ? `${(100 * before).toFixed(2)} %` : shown(before, 6)}`));
    return line;
  }

  // What each change does alone.
  function changeList(predictions) {
    const output = outputShown(predictions);
    const before = rows.predictions[state.row][output];
    const list = element("ul", { class: "changes" });
    for (const feature of state.changed) {
      const alone = state.original.slice();
      alone[feature] = state.values[feature];
      const by = model.predict(alone)[output] - before;
      const sign = by < 0 ? "−" : "+";
      const size = classes.length ? `${(100 * Math.abs(by)).toFixed(2)} points` : shown(Math.abs(by), 4);
      list.append(element("li", {}, element("bdi", {}, visible(features[feature].name)), ` alone: ${sign}${size}`));
    }
    return list;
  }

  function showWaterfall(predictions) {
    const place = document.getElementById("waterfall");
    const output = rows.outputs.length === 1 ? 0 : outputShown(predictions);
    const own = rows.contributions[state.row][output];
    const texts = features.map((_, feature) => textOf(feature, rows.values[feature][state.row]));
    const names = features.map((feature) => feature.name);
    const base = rows.base[output];
    const what = rows.outputs.length > 1 || classes.length ? ` of ${visible(rows.outputs[output])}` : "";
    const when = state.changed.size ? " (row as it was)" : "";
    drawWaterfall(place, `Why: raw score${what}${when}`, stepsOf(names, texts, own, base), base);
    if (rows.outputs.length > 1) place.append(outputChoice(output));
  }

  function outputChoice(output) {
    const select = selectOf(rows.outputs.map((name, k) => [k, name]));
    select.value = String(output);
    select.id = "output-choice";
    select.addEventListener("change", () => {
      state.output = Number(select.value);
      showWaterfall(model.predict(state.values));
      document.getElementById("output-choice").focus();
    });
    return element("label", { class: "note" }, "Explain ", select);
  }

  function showCurve(feature) {
    const place = document.getElementById("curve");
    if (features[feature].kind === "text") {
      place.replaceChildren();
      return;
    }
    const known = rows.values[feature].filter((value) => value !== null);
    const own = known.map(Number).filter(Number.isFinite);
    const cuts = model.edgesOf(feature, Math.min(...own), Math.max(...own));
    if (features[feature].levels || !cuts.length) {
      place.replaceChildren();
      return;
    }
    const low = Math.min(cuts[0], ...own);
    const high = Math.max(cuts[cuts.length - 1], ...own);
    const edges = [low, ...cuts, high];
    const step = Math.max(1, Math.ceil(edges.length / 150));
    const predictions = model.predict(state.values);
    const output = outputShown(predictions);
    const asked = state.values.slice();
    const points = [];
    for (let k = 0; k + 1 < edges.length; k += step) {
      asked[feature] = (edges[k] + edges[k + 1]) / 2;
      points.push({ x: asked[feature], y: model.predict(asked)[output] });
    }
    const current = { x: state.values[feature], y: predictions[output] };
    const isTime = features[feature].kind === "date" || features[feature].kind === "datetime";
    const written = (x) => (isTime ? isoOf(x, "date") : shown(x, 3));
    drawCurve(place, `This row, by ${features[feature].name}`, points, current, written);
  }

  // The page checks itself: every embedded row, against what the compiled model said.
  function selfCheck() {
    let equal = 0;
    rows.numbers.forEach((_, row) => {
      const said = model.predict(rowValues(row));
      if (said.every((value, k) => Object.is(value, rows.predictions[row][k]))) equal += 1;
    });
    const text = `Checked on opening: ${equal} of ${rows.numbers.length} rows agree with the compiled model to the last bit.`;
    const place = document.getElementById("self-check");
    place.textContent = text;
    place.dataset.equal = String(equal);
    place.dataset.rows = String(rows.numbers.length);
  }

  data.order.filter((feature) => features[feature].used).forEach(addField);
  data.order.filter((feature) => !features[feature].used).forEach(addField);
  rows.numbers.forEach((number, row) => {
    const target = rows.target ? ` · ${classes.length ? visible(rows.target[row]) : shown(rows.target[row])}` : "";
    choice.append(element("option", { value: row }, `${number}${target}`));
  });
  choice.addEventListener("change", () => choose(Number(choice.value)));
  document.getElementById("row-reset").addEventListener("click", () => choose(state.row));
  document.getElementById("feature-filter").addEventListener("input", (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    features.forEach((feature, place) => {
      controls[place].field.classList.toggle("filtered-out", !feature.name.toLowerCase().includes(wanted));
    });
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const link of document.querySelectorAll("a.pick")) {
    link.addEventListener("click", () => {
      choose(Number(link.dataset.row));
      choice.focus({ preventScroll: true });
    });
  }
  choose(0);
  selfCheck();
}
