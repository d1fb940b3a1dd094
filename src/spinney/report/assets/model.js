// The model: the same comparisons, the same order of additions and the same exp as the compiled
// code, so that every answer has the same bits. Numbers of JavaScript are IEEE doubles, and no
// engine contracts a product and a sum into one rounding.
const ARRAYS = {
  Uint8Array, Int8Array, Uint16Array, Int16Array, Uint32Array, Int32Array, Float64Array,
};

function unpack([kind, text]) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i += 1) bytes[i] = letters.charCodeAt(i);
  return new ARRAYS[kind](bytes.buffer);
}

const powerBits = new Uint32Array(2);
const power = new Float64Array(powerBits.buffer);
const highWord = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 1 : 0;

function powerOfTwo(n) {
  powerBits[highWord] = (n + 1023) << 20;
  powerBits[1 - highWord] = 0;
  return power[0];
}

// e^x as native/base/elementary.hpp computes it.
function exactExp(x) {
  const shift = 6755399441055744.0;
  const below = 709 < x ? 709 : x;
  const clipped = -708 > below ? -708 : below;
  const n = (clipped * 1.4426950408889634 + shift) - shift;
  const r = (clipped - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10;
  const r2 = r * r;
  const r4 = r2 * r2;
  const q01 = 0.5 + r * 0.16666666666666669;
  const q23 = 0.04166666666662413 + r * 0.008333333333330062;
  const q45 = 0.0013888888917213717 + r * 0.00019841269863053618;
  const q67 = 2.4801521295954376e-05 + r * 2.7557268459997064e-06;
  const q89 = 2.7620088445409746e-07 + r * 2.510038549551032e-08;
  const q = (q01 + r2 * q23) + r4 * ((q45 + r2 * q67) + r4 * q89);
  return (1.0 + (r + r2 * q)) * powerOfTwo(n);
}

// From raw scores to predictions, as native/model/links.inl does.
function logistic(score, factor) {
  const e = exactExp(-Math.abs(factor * score));
  const smaller = e / (1.0 + e);
  const larger = 1.0 - smaller;
  return score < 0.0 ? [larger, smaller] : [smaller, larger];
}

function softmax(scores) {
  let largest = scores[0];
  for (const score of scores) largest = score > largest ? score : largest;
  const powers = scores.map((score) => exactExp(score - largest));
  let sum = 0.0;
  for (const one of powers) sum += one;
  return powers.map((one) => one / sum);
}

const LINKS = {
  identity: (scores) => scores,
  logistic: (scores) => logistic(scores[0], 1.0),
  double_logistic: (scores) => logistic(scores[0], 2.0),
  softmax,
  log: (scores) => scores.map(exactExp),
  increasing: (scores) => scores.slice().sort((a, b) => a - b),
};

class Forest {
  constructor(packed) {
    this.link = packed.link;
    this.divisor = packed.divisor;
    this.baseline = packed.baseline;
    this.width = packed.width;
    for (const name of ["start", "output", "feature", "number", "right", "flags", "cuts", "sets", "values"]) {
      this[name] = unpack(packed[name]);
    }
    // Leaves are numbered through all trees: values has one row for each.
    this.leafNumber = new Uint32Array(this.feature.length);
    let leaves = 0;
    for (let node = 0; node < this.feature.length; node += 1) {
      this.leafNumber[node] = leaves;
      if (this.feature[node] < 0) leaves += 1;
    }
  }

  // A row is numbers, and bins where features are categorical; NaN is missing.
  leafOf(tree, row) {
    const first = this.start[tree];
    let node = first;
    while (this.feature[node] >= 0) {
      const x = row[this.feature[node]];
      const flags = this.flags[node];
      let left;
      if (Number.isNaN(x)) left = (flags & 1) === 1;
      else if (flags & 2) left = ((this.sets[this.number[node] * 32 + (x >> 3)] >> (x & 7)) & 1) === 1;
      else left = x <= this.cuts[this.number[node]];
      node = left ? node + 1 : first + this.right[node];
    }
    return node;
  }

  rawScores(row) {
    const scores = this.baseline.slice();
    for (let tree = 0; tree + 1 < this.start.length; tree += 1) {
      const place = this.leafNumber[this.leafOf(tree, row)] * this.width;
      const output = this.output[tree];
      if (output >= 0) scores[output] += this.values[place];
      else for (let k = 0; k < scores.length; k += 1) scores[k] += this.values[place + k];
    }
    return this.divisor === 1 ? scores : scores.map((score) => score / this.divisor);
  }

  predict(row) {
    return LINKS[this.link](this.rawScores(row));
  }

  // Thresholds on one feature, in order: between two of them nothing changes.
  cutsOf(feature) {
    const found = new Set();
    for (let node = 0; node < this.feature.length; node += 1) {
      if (this.feature[node] === feature && !(this.flags[node] & 2)) found.add(this.cuts[this.number[node]]);
    }
    return Array.from(found).sort((a, b) => a - b);
  }
}
