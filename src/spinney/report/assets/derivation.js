// From the values of a row to what trees split on, as spinney.data.derivation does it. A value is a
// number, or the code of a category; NaN is missing, and UNSEEN a category that training did not know.
// A text is itself, or null.
const UNSEEN = -2;
const MISSING = -1;
const DAY = 86400;
const FARTHEST = 1e15;

// Year, month and day of a number of days since 1970-01-01, in the Gregorian calendar at all times.
function civil(days) {
  const shifted = days + 719468; // since 0000-03-01, so that a leap day ends a year
  const era = Math.floor(shifted / 146097);
  const dayOfEra = shifted - era * 146097;
  const yearOfEra = Math.floor((dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36524)
    - Math.floor(dayOfEra / 146096)) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
  };
}

function calendarPart(seconds, part) {
  if (!(Math.abs(seconds) <= FARTHEST)) return NaN;
  const days = Math.floor(seconds / DAY);
  if (part === "hour") return (seconds - days * DAY) / 3600;
  if (part === "weekday") return (((days + 3) % 7) + 7) % 7; // 1970 began on a Thursday
  return civil(days)[part];
}

// Words are letters, digits and underscores of any script, in lower case.
function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

const TEXT_PARTS = {
  length: (text) => Array.from(text).length,
  words: (text) => wordsOf(text).length,
  digits: (text) => (text.match(/\p{Decimal_Number}/gu) ?? []).length,
  capitals: (text) => (text ? (text.match(/\p{Uppercase}/gu) ?? []).length / Array.from(text).length : 0),
};

// Of a text, which is null where it is missing.
function textPart(text, part, word) {
  if (text === null) return NaN;
  return part === "word" ? wordsOf(text).filter((other) => other === word).length : TEXT_PARTS[part](text);
}

class Derivation {
  constructor(described) {
    this.features = described.map(({ of, how, bins, table, keys, levels, word }) => ({
      of,
      how,
      bins,
      levels,
      word,
      table: table && unpack(table),
      places: keys && new Map(Array.from(unpack(keys), (key, place) => [key, place])),
    }));
  }

  of(row) {
    return this.features.map((feature) => this.valueOf(feature, row));
  }

  valueOf({ of, how, bins, table, places, levels, word }, row) {
    const value = row[of[0]];
    if (how === "copy") {
      if (!bins) return value;
      return value >= 0 ? bins[value] : NaN;
    }
    if (how === "elapsed") return row[of[1]] - value;
    if (how === "word" || how in TEXT_PARTS) return textPart(value, how, word);
    if (how !== "table") return calendarPart(value, how);
    const codes = of.map((place) => (Number.isNaN(row[place]) ? MISSING : row[place]));
    const pair = places && (codes[0] - UNSEEN) * (levels - UNSEEN) + codes[1] - UNSEEN;
    const code = places ? places.get(pair) ?? UNSEEN : codes[0];
    return table[code < 0 ? table.length + code : code];
  }

  // Where a number is copied, and whether more is made of it.
  copiesOf(feature) {
    const found = [];
    this.features.forEach(({ of, how, bins }, place) => {
      if (of[0] === feature && how === "copy" && !bins) found.push(place);
    });
    return found;
  }

  hasParts(feature) {
    return this.features.some(({ of, how }) => of.includes(feature) && how !== "copy" && how !== "table");
  }
}

// The model as the reader knows it.
class Model {
  constructor(packed) {
    this.forest = new Forest(packed);
    this.derivation = new Derivation(packed.derived);
  }

  predict(row) {
    return this.forest.predict(this.derivation.of(row));
  }

  // Numbers between which a curve is drawn: thresholds, and even steps where parts of dates count.
  edgesOf(feature, low, high) {
    const cuts = this.derivation.copiesOf(feature).flatMap((place) => this.forest.cutsOf(place));
    const steps = this.derivation.hasParts(feature) ? 149 : 0;
    for (let k = 1; k < steps; k += 1) cuts.push(low + ((high - low) * k) / steps);
    return cuts.filter(Number.isFinite).sort((a, b) => a - b);
  }
}
