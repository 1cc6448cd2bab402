// The encoder: from a model and a record to a released record. It follows shoal's
// model/column.py, runtime.py and lines.py line by line, and needs nothing but the
// language: Node, browsers and QuickJS run it alike.

const MEMO = 50000; // texts that a column remembers before it forgets all of them
const DEEP = 40; // nesting that a line of JSON may have
const SPACE = " \t\n\r\x0b\x0c";
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

class Rejected extends Error {}

function strip(text) {
  let begin = 0;
  let end = text.length;
  while (begin < end && SPACE.includes(text[begin])) begin += 1;
  while (end > begin && SPACE.includes(text[end - 1])) end -= 1;
  return text.slice(begin, end);
}

const isDigits = (text) => /^[0-9]*$/.test(text);

// A key that sorts exactly as the number does: [sign, power, digits]; null if it is none.
function numberKey(given) {
  let text = strip(given);
  let sign = 1;
  if (text[0] === "-" || text[0] === "+") {
    sign = text[0] === "-" ? -1 : 1;
    text = text.slice(1);
  }
  let power = 0;
  let at = text.indexOf("e");
  if (at < 0) at = text.indexOf("E");
  if (at >= 0) {
    const shift = text.slice(at + 1);
    text = text.slice(0, at);
    const bare = shift[0] === "-" || shift[0] === "+" ? shift.slice(1) : shift;
    if (!bare || !isDigits(bare) || bare.length > 6) return null;
    power = parseInt(shift, 10);
  }
  at = text.indexOf(".");
  let digits = text;
  power += text.length;
  if (at >= 0) {
    digits = text.slice(0, at) + text.slice(at + 1);
    power += at - text.length;
  }
  if (!digits || !isDigits(digits)) return null;
  let short = digits.replace(/^0+/, "");
  power -= digits.length - short.length;
  short = short.replace(/0+$/, "");
  if (!short) return [0, 0, ""];
  if (sign > 0) return [1, power, short];
  let flipped = "";
  for (const digit of short) flipped += String(9 - digit);
  return [-1, -power, flipped + ":"];
}

const isTwo = (text, most) => text.length === 2 && isDigits(text) && parseInt(text, 10) <= most;

// A date that is written in a form as an ISO one; null if it does not fit.
function isoOf(given, form) {
  const text = strip(given);
  const found = {};
  let at = 0;
  let place = 0;
  while (place < form.length) {
    if (form[place] !== "%") {
      if (text[at] !== form[place]) return null;
      at += 1;
      place += 1;
      continue;
    }
    const what = form[place + 1];
    place += 2;
    if (what === "b") {
      const month = MONTHS.indexOf(text.slice(at, at + 3).toLowerCase());
      if (month < 0) return null;
      found.m = String(month + 1);
      at += 3;
      continue;
    }
    const begin = at;
    while (at < text.length && at - begin < (what === "Y" ? 4 : 2) && isDigits(text[at])) at += 1;
    if (at - begin < (what === "Y" ? 4 : what === "y" ? 2 : 1)) return null;
    found[what] = text.slice(begin, at);
  }
  const year = found.Y !== undefined ? found.Y : (found.y >= "69" ? "19" : "20") + found.y;
  return year + "-" + found.m.padStart(2, "0") + "-" + found.d.padStart(2, "0") + text.slice(at);
}

// A text that sorts as the date does; null if it is no date or time.
function dateKey(given, form) {
  let text = strip(given);
  if (form) text = isoOf(text, form) || text;
  if (text[2] === ":") return clockOf(" " + text);
  const year = text.slice(0, 4);
  const month = text.slice(5, 7);
  const day = text.slice(8, 10);
  if (text[4] !== "-" || text[7] !== "-" || year.length !== 4 || !isDigits(year)) return null;
  if (!isTwo(month, 12) || !isTwo(day, 31)) return null;
  if (month === "00" || day === "00" || year === "0000") return null;
  const number = parseInt(year, 10);
  const leap = number % 4 === 0 && (number % 100 !== 0 || number % 400 === 0);
  const most = DAYS[parseInt(month, 10) - 1] + (leap && month === "02" ? 1 : 0);
  if (parseInt(day, 10) > most) return null;
  const clock = clockOf(text.slice(10));
  return clock === null ? null : text.slice(0, 10) + " " + clock;
}

function clockOf(given) {
  if (!given) return "00:00:00.000000";
  if (given[0] !== "T" && given[0] !== " ") return null;
  let text = given.slice(1);
  for (const mark of "Z+-") {
    const at = text.indexOf(mark);
    if (at >= 0) {
      const zone = text.slice(at + 1);
      text = text.slice(0, at);
      if (mark === "Z" ? zone !== "" : !isZone(zone)) return null;
      break;
    }
  }
  const at = text.indexOf(".");
  const rest = at >= 0 ? text.slice(at + 1) : "0";
  if (at >= 0) text = text.slice(0, at);
  if (!rest || rest.length > 6 || !isDigits(rest) || (at >= 0 && text.length !== 8)) return null;
  if (text.length === 5) text += ":00";
  if (text.length !== 8 || text[2] !== ":" || text[5] !== ":") return null;
  if (!isTwo(text.slice(0, 2), 23) || !isTwo(text.slice(3, 5), 59)) return null;
  if (!isTwo(text.slice(6), 59)) return null;
  return text + "." + rest + "000000".slice(rest.length);
}

function isZone(zone) {
  if (zone.length === 5 && zone[2] === ":") {
    return isTwo(zone.slice(0, 2), 23) && isTwo(zone.slice(3), 59);
  }
  if (zone.length === 4) return isTwo(zone.slice(0, 2), 23) && isTwo(zone.slice(2), 59);
  return isTwo(zone, 23);
}

// Order of keys: arrays part by part, texts by code points as Python does it.
function compare(a, b) {
  if (Array.isArray(a)) {
    return a[0] - b[0] || a[1] - b[1] || (a[2] < b[2] ? -1 : a[2] > b[2] ? 1 : 0);
  }
  if (typeof a === "number") return a - b;
  if (a === b) return 0;
  const left = Array.from(a);
  const right = Array.from(b);
  const most = Math.min(left.length, right.length);
  for (let i = 0; i < most; i += 1) {
    if (left[i] !== right[i]) return left[i].codePointAt(0) - right[i].codePointAt(0);
  }
  return left.length - right.length;
}

// A value of a record as text; null for a missing one.
function textOf(value) {
  if (value === null || value === undefined) return null;
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "true" : "false";
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") {
    if (Number.isNaN(value)) return null;
    return value === 0 ? "0" : String(value);
  }
  throw new Rejected("a quasi-identifier holds a list or an object");
}

// Sets of classes are arrays of 32-bit words, one bit a class in the order of preference.
function union(into, from) {
  for (let i = 0; i < into.length; i += 1) into[i] |= from[i];
}

function hide(text, mask, lost) {
  const chars = Array.from(text);
  if (chars.length > mask.length) return null;
  const fill = Array(mask.length - chars.length).fill(mask.fill);
  const full = mask.pad === "right" ? chars.concat(fill) : fill.concat(chars);
  const hidden = mask.char.repeat(lost);
  if (mask.direction === "right") return full.slice(0, mask.length - lost).join("") + hidden;
  return hidden + full.slice(lost).join("");
}

function labelOf(cell, labels) {
  if ("missing" in cell) return "label" in cell ? cell.label : null;
  if ("label" in cell) return cell.label;
  for (const key of ["any", "value", "mask"]) if (key in cell) return cell[key];
  if ("node" in cell) return labels[cell.node];
  return cell.low === cell.high ? cell.low : "[" + cell.low + ", " + cell.high + "]";
}

class Column {
  constructor(entry, about, marks, members, words) {
    this.scale = entry.scale;
    this.form = about.date_format;
    this.mask = entry.mask;
    this.words = words;
    const tree = about.hierarchy || {};
    this.labels = tree.labels || [];
    this.parents = tree.parents || [];
    this.index = new Map();
    this.numbers = new Map();
    this.labels.forEach((label, node) => {
      this.index.set(label, node);
      const key = entry.scale === "number" ? numberKey(label) : null;
      if (key !== null && !this.numbers.has(key.join())) this.numbers.set(key.join(), node);
    });
    if (entry.scale === "rank" && about.order && about.order.length) {
      this.index = new Map(about.order.map((value, place) => [value, place]));
    }
    this.absent = new Set(["", ...marks]);
    this.anything = this.empty();
    this.missing = this.empty();
    this.values = new Map();
    this.nodes = new Map();
    this.masked = new Map();
    this.ranges = [];
    entry.cells.forEach((cell, i) => this.add(cell, members[i]));
    union(this.missing, this.anything);
    const ends = [];
    for (const range of this.ranges) for (const end of [range[0], range[2]]) if (end !== null) ends.push(end);
    ends.sort(compare);
    this.ends = ends.filter((end, i) => i === 0 || compare(ends[i - 1], end) !== 0);
    this.segments = new Map();
    this.memo = new Map();
  }

  empty() {
    return new Uint32Array(this.words);
  }

  join(map, key, members) {
    if (!map.has(key)) map.set(key, this.empty());
    union(map.get(key), members);
  }

  add(cell, members) {
    if ("any" in cell) union(this.anything, members);
    else if ("missing" in cell) union(this.missing, members);
    else if ("node" in cell) this.join(this.nodes, cell.node, members);
    else if ("value" in cell) this.join(this.values, cell.value, members);
    else if ("values" in cell) for (const value of cell.values) this.join(this.values, value, members);
    else if ("mask" in cell) {
      if (!this.masked.has(cell.lost)) this.masked.set(cell.lost, new Map());
      this.join(this.masked.get(cell.lost), cell.mask, members);
    } else {
      const ends = [cell.low, cell.high].map((end) => (end === null ? null : this.key(end)));
      const open = cell.open || "";
      const lowOpen = open === "low" || open === "both";
      const highOpen = open === "high" || open === "both";
      this.ranges.push([ends[0], lowOpen, ends[1], highOpen, members]);
    }
  }

  known(map, text) {
    const found = map.get(text);
    return found === undefined ? map.get(strip(text)) : found;
  }

  key(text) {
    if (this.scale === "number") return numberKey(text);
    if (this.scale === "date") return dateKey(text, this.form);
    if (this.scale === "rank") {
      const found = this.known(this.index, text);
      return found === undefined ? null : found;
    }
    return text;
  }

  isAbsent(text) {
    return text === null || this.absent.has(text) || this.absent.has(strip(text));
  }

  cover(value) {
    const text = textOf(value);
    const memorized = this.memo.get(text);
    if (memorized !== undefined) return memorized;
    const found = this.isAbsent(text) ? this.missing : this.coverText(text);
    if (this.memo.size >= MEMO) this.memo.clear();
    this.memo.set(text, found);
    return found;
  }

  coverText(text) {
    const found = this.anything.slice();
    if (this.nodes.size) {
      for (let node = this.node(text); node >= 0; node = this.parents[node]) {
        if (this.nodes.has(node)) union(found, this.nodes.get(node));
      }
    }
    const exact = this.known(this.values, text);
    if (exact !== undefined) union(found, exact);
    for (const [lost, labels] of this.masked) {
      const hidden = hide(text, this.mask, lost);
      if (hidden !== null && labels.has(hidden)) union(found, labels.get(hidden));
    }
    if (this.ranges.length) {
      const key = this.key(text);
      if (key !== null) union(found, this.segment(key));
    }
    return found;
  }

  node(text) {
    const found = this.known(this.index, text);
    if (found !== undefined) return found;
    const key = this.scale === "number" ? numberKey(text) : null;
    const node = key === null ? undefined : this.numbers.get(key.join());
    return node === undefined ? -1 : node;
  }

  segment(key) {
    let low = 0;
    let high = this.ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(this.ends[middle], key) < 0) low = middle + 1;
      else high = middle;
    }
    const place = 2 * low + (low < this.ends.length && compare(this.ends[low], key) === 0 ? 1 : 0);
    let found = this.segments.get(place);
    if (found === undefined) {
      found = this.empty();
      for (const [first, firstOpen, last, lastOpen, members] of this.ranges) {
        const above = first === null || compare(first, key) < (firstOpen ? 0 : 1);
        const below = last === null || compare(key, last) < (lastOpen ? 0 : 1);
        if (above && below) union(found, members);
      }
      this.segments.set(place, found);
    }
    return found;
  }
}

class Encoder {
  // options: onUnseen ("suppress", "nearest", "error"), suppressed ("star", "remove").
  constructor(model, options) {
    const chosen = options || {};
    this.onUnseen = chosen.onUnseen || model.on_unseen;
    this.suppressed = chosen.suppressed || "star";
    this.names = model.columns.map((entry) => entry.name);
    this.roots = model.columns.map((entry) => entry.root);
    this.cells = model.columns.map((entry) => entry.cells);
    this.regions = model.regions;
    this.others = model.schema.others;
    this.words = Math.max((model.regions.length + 31) >> 5, 1);
    const marks = model.schema.missing || [];
    this.columns = model.columns.map((entry, j) => {
      const members = entry.cells.map(() => new Uint32Array(this.words));
      model.regions.forEach((region, i) => {
        members[region[j]][i >> 5] |= 1 << (i & 31);
      });
      return new Column(entry, model.schema.columns[entry.name], marks, members, this.words);
    });
    this.labels = model.columns.map((entry, j) =>
      entry.cells.map((cell) => labelOf(cell, this.columns[j].labels))
    );
    this.released = model.released;
    this.known = new Set([...model.released, ...model.removed]);
  }

  // The class of a tuple of quasi-identifiers; -1 if none covers it.
  find(values) {
    const covers = this.columns.map((column, j) => column.cover(values[j]));
    for (let word = 0; word < this.words; word += 1) {
      let members = 0xffffffff;
      for (const cover of covers) members &= cover[word];
      if (members) return 32 * word + 31 - Math.clz32(members & -members);
    }
    return -1;
  }

  // The class that covers a tuple in most columns, and the columns it does not cover.
  nearest(values) {
    const covers = this.columns.map((column, j) => column.cover(values[j]));
    let best = -1;
    let wrong = values.map((_, j) => j);
    for (let i = 0; i < this.regions.length; i += 1) {
      const missed = [];
      covers.forEach((cover, j) => {
        if (!((cover[i >> 5] >>> (i & 31)) & 1)) missed.push(j);
      });
      if (best < 0 || missed.length < wrong.length) {
        best = i;
        wrong = missed;
      }
    }
    return [best, wrong];
  }

  // A label that covers both a cell and a value outside it.
  widen(j, cell, value) {
    const column = this.columns[j];
    const text = textOf(value);
    const above = new Set();
    if (!column.isAbsent(text) && "node" in cell) {
      for (let node = column.node(text); node >= 0; node = column.parents[node]) above.add(node);
    }
    if (!above.size) return this.roots[j];
    let node = cell.node;
    while (!above.has(node)) node = column.parents[node];
    return column.labels[node];
  }

  // [labels, class] of a tuple; labels are null where it is suppressed.
  tupleOf(values) {
    let region = this.find(values);
    const labels = (at) => this.regions[at].map((cell, j) => this.labels[j][cell]);
    if (region >= 0) return [labels(region), region];
    if (this.onUnseen === "error") throw new Rejected("no class of the model covers it");
    if (this.onUnseen === "suppress") return [null, -1];
    let wrong;
    [region, wrong] = this.nearest(values);
    if (region < 0 || wrong.length === this.names.length) return [null, -1];
    const found = labels(region);
    for (const j of wrong) found[j] = this.widen(j, this.cells[j][this.regions[region][j]], values[j]);
    return [found, -1];
  }

  keptOthers(names) {
    const others = names.filter((name) => !this.known.has(name)).sort(compare);
    if (others.length && this.others === "fault") {
      throw new Rejected(others.length + " columns have no role");
    }
    return this.others === "keep" ? others : [];
  }

  // The released record; null if it is removed.
  encode(record) {
    const has = (name) => Object.prototype.hasOwnProperty.call(record, name);
    for (const name of this.names) {
      if (!has(name)) throw new Rejected("a quasi-identifier is not there");
    }
    const kept = this.keptOthers(Object.keys(record));
    let labels = this.tupleOf(this.names.map((name) => record[name]))[0];
    if (labels === null) {
      if (this.suppressed === "remove") return null;
      labels = this.roots;
    }
    const released = {};
    for (const name of [...this.released, ...kept]) {
      const j = this.names.indexOf(name);
      if (j >= 0) released[name] = labels[j];
      else if (has(name)) released[name] = record[name];
    }
    return released;
  }

  // One line of JSON to one line of JSON; what is not recoded stays as it was written.
  encodeLine(line) {
    const found = scan(line);
    for (const name of this.names) {
      if (!found.has(name)) throw new Rejected("a quasi-identifier is not there");
    }
    let labels = this.tupleOf(this.names.map((name) => plain(found.get(name))))[0];
    const kept = this.keptOthers(Array.from(found.keys()));
    if (labels === null) {
      if (this.suppressed === "remove") return null;
      labels = this.roots;
    }
    const parts = [];
    for (const name of [...this.released, ...kept]) {
      const j = this.names.indexOf(name);
      if (j >= 0) parts.push(quote(name) + ":" + quote(labels[j]));
      else if (found.has(name)) parts.push(quote(name) + ":" + found.get(name));
    }
    return "{" + parts.join(",") + "}";
  }
}

const ESCAPES = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const QUOTED = { '"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function quote(text) {
  if (text === null) return "null";
  let out = '"';
  for (const char of text) {
    if (char in QUOTED) out += QUOTED[char];
    else if (char < " ") out += "\\u00" + ("0" + char.charCodeAt(0).toString(16)).slice(-2);
    else out += char;
  }
  return out + '"';
}

const TEXT = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![-+.0-9eE])/y;
const WORD = /true|false|null/y;
const BLANK = /[ \t\n\r]*/y;

function broken() {
  return new Rejected("not one JSON object");
}

function match(pattern, line, at) {
  pattern.lastIndex = at;
  const found = pattern.exec(line);
  return found === null ? -1 : at + found[0].length;
}

const skip = (line, at) => match(BLANK, line, at);

function endOfText(line, at) {
  const end = match(TEXT, line, at);
  if (end < 0) throw broken();
  return end;
}

function endOfValue(line, at, depth) {
  if (line[at] === '"') return endOfText(line, at);
  if (line[at] === "{" || line[at] === "[") {
    if (depth >= DEEP) throw new Rejected("nested too deeply");
    return endOfNest(line, at, depth);
  }
  const word = match(WORD, line, at);
  if (word >= 0) return word;
  const end = match(NUMBER, line, at);
  if (end < 0) throw broken();
  return end;
}

function endOfNest(line, begin, depth) {
  const isObject = line[begin] === "{";
  const close = isObject ? "}" : "]";
  let at = skip(line, begin + 1);
  if (line[at] === close) return at + 1;
  for (;;) {
    if (isObject) {
      at = skip(line, endOfText(line, at));
      if (line[at] !== ":") throw broken();
      at = skip(line, at + 1);
    }
    at = skip(line, endOfValue(line, at, depth + 1));
    if (line[at] === close) return at + 1;
    if (line[at] !== ",") throw broken();
    at = skip(line, at + 1);
  }
}

function textIn(token) {
  const body = token.slice(1, -1);
  if (!body.includes("\\")) return body;
  let out = "";
  for (let at = 0; at < body.length; ) {
    if (body[at] !== "\\") {
      out += body[at];
      at += 1;
    } else if (body[at + 1] !== "u") {
      out += ESCAPES[body[at + 1]];
      at += 2;
    } else {
      let code = parseInt(body.slice(at + 2, at + 6), 16);
      at += 6;
      if (code >= 0xd800 && code < 0xdc00 && body.slice(at, at + 2) === "\\u") {
        const low = parseInt(body.slice(at + 2, at + 6), 16);
        if (low >= 0xdc00 && low < 0xe000) {
          code = 0x10000 + (code - 0xd800) * 1024 + low - 0xdc00;
          at += 6;
        }
      }
      if (code >= 0xd800 && code < 0xe000) throw new Rejected("half a character in a text");
      out += String.fromCodePoint(code);
    }
  }
  return out;
}

function plain(token) {
  if (token === "null") return null;
  if (token[0] === '"') return textIn(token);
  if (token[0] === "{" || token[0] === "[") {
    throw new Rejected("a quasi-identifier holds a list or an object");
  }
  if (token === "true" || token === "false" || /[eE]/.test(token)) return token;
  const whole = token.replace(/\.0*$/, "");
  return whole === "-0" ? "0" : whole;
}

// The members of one JSON object: each name, and its value as it is written.
function scan(line) {
  let at = skip(line, 0);
  if (line[at] !== "{") throw broken();
  const found = new Map();
  at = skip(line, at + 1);
  while (line[at] !== "}" || found.size) {
    let end = endOfText(line, at);
    const name = textIn(line.slice(at, end));
    at = skip(line, end);
    if (line[at] !== ":") throw broken();
    at = skip(line, at + 1);
    end = endOfValue(line, at, 1);
    if (found.has(name)) throw new Rejected("a name stands twice");
    found.set(name, line.slice(at, end));
    at = skip(line, end);
    if (line[at] === "}") break;
    if (line[at] !== ",") throw broken();
    at = skip(line, at + 1);
  }
  if (strip(line.slice(at + 1))) throw broken();
  return found;
}
