// The encoder: from a model and a record to a released record. It follows shoal's
// model/column.py, cut_tree.py, cell_index.py, runtime.py and lines.py line by line, and needs nothing but the
// language: Node, browsers and QuickJS run it alike.

const MEMO = 4096; // texts that a column remembers before it forgets all of them
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
  const most = Math.min(a.length, b.length);
  let at = 0;
  while (at < most && a[at] === b[at]) at += 1;
  if (at === most) return a.length - b.length;
  const [one, other] = [a.charCodeAt(at), b.charCodeAt(at)];
  const isPair = (unit) => unit >= 0xd800 && unit < 0xe000; // such a character is behind all others
  return isPair(one) === isPair(other) ? one - other : isPair(one) ? 1 : -1;
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

function labelAt(cells, labels) {
  return cells.map((cell) => labelOf(cell, labels));
}

class Column {
  constructor(entry, about, marks) {
    this.scale = entry.scale;
    this.form = about.date_format;
    this.mask = entry.mask;
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
    this.isTree = this.scale === "text" && this.labels.length > 0;
    this.cuts = (entry.cuts || []).map((cut) => this.cutKey(cut));
    this.bounds = [entry.first, entry.last].map((end) =>
      end === null || end === undefined ? null : this.cutKey(end)
    );
    this.missingPlace = entry.missing ? 0 : -1;
    this.memo = new Map();
  }

  known(map, text) {
    const found = map.get(text);
    return found === undefined ? map.get(strip(text)) : found;
  }

  cutKey(cut) {
    return typeof cut === "number" || this.scale === "text" ? cut : this.key(cut);
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

  // What a text is compared with cuts by; null if it has no place.
  lineKey(text) {
    if (this.scale !== "text") return this.key(text);
    if (this.isTree) {
      const node = this.node(text);
      return node < 0 ? null : node;
    }
    if (this.mask) {
      const full = hide(text, this.mask, 0);
      if (full === null || this.mask.direction !== "left") return full;
      return Array.from(full).reverse().join("");
    }
    return strip(text);
  }

  isAbsent(text) {
    return text === null || this.absent.has(text) || this.absent.has(strip(text));
  }

  remember(memo, text, found) {
    if (memo.size >= MEMO) memo.clear();
    memo.set(text, found);
    return found;
  }

  // The place of a value among the cuts: 0 missing, 1 below the first one …, -1 if it has none.
  place(value) {
    const text = textOf(value);
    const found = this.memo.get(text);
    if (found !== undefined) return found;
    return this.remember(this.memo, text, this.isAbsent(text) ? this.missingPlace : this.placeOf(text));
  }

  placeOf(text) {
    const key = this.lineKey(text);
    const [first, last] = this.bounds;
    if (key === null || (first !== null && compare(key, first) < 0)) return -1;
    if (last !== null && compare(last, key) < 0) return -1;
    let low = 0;
    let high = this.cuts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(key, this.cuts[middle]) < 0) high = middle;
      else low = middle + 1;
    }
    return low + 1;
  }

  // Does what a cell releases cover a value that its cuts let through?
  covers(cell, value) {
    const text = textOf(value);
    const isAbsent = this.isAbsent(text);
    if ("missing" in cell) return isAbsent;
    if ("node" in cell) {
      let node = isAbsent ? -1 : this.node(text);
      while (node >= 0 && node !== cell.node) node = this.parents[node];
      return node >= 0;
    }
    if ("value" in cell) return !isAbsent && (cell.value === text || cell.value === strip(text));
    if ("mask" in cell && this.mask) return !isAbsent && hide(text, this.mask, cell.lost) === cell.mask;
    return true;
  }

  node(text) {
    const found = this.known(this.index, text);
    if (found !== undefined) return found;
    const key = this.scale === "number" ? numberKey(text) : null;
    const node = key === null ? undefined : this.numbers.get(key.join());
    return node === undefined ? -1 : node;
  }
}

// Regions that do not overlap: one walk down the tree of cuts finds the class.
class CutTree {
  constructor(model, abouts, marks) {
    this.columns = model.columns.map((entry, j) => new Column(entry, abouts[j], marks));
    this.width = this.columns.length;
    this.cut = Int32Array.from(model.tree.cut);
    this.left = Int32Array.from(model.tree.left);
    this.classes = this.cut.length + 1;
    this.ends = model.columns.map((entry) => (entry.cuts || []).length + 1);
    this.entries = model.columns.map((entry) => entry.cells);
    this.variants = model.columns.map((entry) => entry.variant);
    this.cells = this.entries.map((cells) => {
      const found = new Map();
      cells.forEach((cell, i) => found.set(pairOf(cell.cut[0], cell.cut[1], cell.variant || 0), i));
      return found;
    });
    this.checked = [];
    model.columns.forEach((entry, j) => {
      if (entry.scale === "text" && !entry.cells.every((cell) => "any" in cell)) this.checked.push(j);
    });
    this.places = new Int32Array(this.width);
  }

  find(values) {
    const { places, cut: cuts, left: lefts, width } = this;
    for (let j = 0; j < width; j += 1) places[j] = this.columns[j].place(values[j]);
    let node = 0;
    let first = 0;
    let many = this.classes;
    while (many > 1) {
      const place = places[cuts[node] % width];
      const left = lefts[node];
      if (place > Math.floor(cuts[node] / width)) {
        first += left;
        node += left;
        many -= left;
      } else if (place < 0) return -1;
      else {
        node += 1;
        many = left;
      }
    }
    if (this.checked.length) {
      const region = this.region(first);
      for (const j of this.checked) {
        if (!this.columns[j].covers(this.entries[j][region[j]], values[j])) return -1;
      }
    }
    return first;
  }

  region(number) {
    const low = new Array(this.width).fill(-1);
    const high = this.ends.slice();
    let node = 0;
    let first = 0;
    let many = this.classes;
    while (many > 1) {
      const j = this.cut[node] % this.width;
      const cut = Math.floor(this.cut[node] / this.width);
      const left = this.left[node];
      if (number < first + left) {
        high[j] = cut;
        node += 1;
        many = left;
      } else {
        low[j] = cut;
        first += left;
        node += left;
        many -= left;
      }
    }
    return this.cells.map((cells, j) => {
      const which = this.variants[j] === undefined ? 0 : parseInt(this.variants[j][number], 36);
      return cells.get(pairOf(low[j], high[j], which));
    });
  }

  // The cells of a column that cover a value.
  covering(j, value) {
    const place = this.columns[j].place(value);
    const found = new Set();
    this.entries[j].forEach((cell, i) => {
      const [low, high] = cell.cut;
      const isWhole = low < 0 && high === this.ends[j];
      if ((isWhole || (low < place && place <= high)) && this.columns[j].covers(cell, value)) found.add(i);
    });
    return found;
  }
}

function pairOf(low, high, variant) {
  return ((low + 1) * 1000003 + high) * 36 + variant;
}

// A column whose cells may overlap: which of them cover a value.
class CellColumn extends Column {
  constructor(entry, about, marks) {
    super(entry, about, marks);
    this.anything = [];
    this.missing = [];
    this.values = new Map();
    this.nodes = new Map();
    this.masked = new Map();
    this.ranges = [];
    entry.cells.forEach((cell, i) => this.add(cell, i));
    this.isLine = this.ranges.length > 0 && !(this.values.size || this.nodes.size || this.masked.size);
    const ends = [];
    for (const range of this.ranges) for (const end of [range[0], range[2]]) if (end !== null) ends.push(end);
    ends.sort(compare);
    this.ends = ends.filter((end, i) => i === 0 || compare(ends[i - 1], end) !== 0);
    this.found = new Map();
  }

  join(map, key, number) {
    if (!map.has(key)) map.set(key, []);
    map.get(key).push(number);
  }

  add(cell, number) {
    if ("any" in cell) this.anything.push(number);
    else if ("missing" in cell) this.missing.push(number);
    else if ("node" in cell) this.join(this.nodes, cell.node, number);
    else if ("value" in cell) this.join(this.values, cell.value, number);
    else if ("values" in cell) for (const value of cell.values) this.join(this.values, value, number);
    else if ("mask" in cell) {
      if (!this.masked.has(cell.lost)) this.masked.set(cell.lost, new Map());
      this.join(this.masked.get(cell.lost), cell.mask, number);
    } else {
      const ends = [cell.low, cell.high].map((end) => (end === null ? null : this.key(end)));
      const open = cell.open || "";
      const lowOpen = open === "low" || open === "both";
      const highOpen = open === "high" || open === "both";
      this.ranges.push([ends[0], lowOpen, ends[1], highOpen, number]);
    }
  }

  // How many ends lie below a key, and whether it is the next one.
  around(key) {
    let low = 0;
    let high = this.ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(this.ends[middle], key) < 0) low = middle + 1;
      else high = middle;
    }
    return [low, low < this.ends.length && compare(this.ends[low], key) === 0];
  }

  // The first and the last segment of each cell: 0 missing, 1 no place, then ends and what is between.
  boxes(cells) {
    const last = 2 * this.ends.length + 2;
    const found = new Array(cells).fill(null).map(() => [0, 0]);
    for (const number of this.anything) found[number] = [0, last];
    for (const [low, lowOpen, high, highOpen, number] of this.ranges) {
      const begin = low === null ? 2 : 2 * this.around(low)[0] + 3 + (lowOpen ? 1 : 0);
      const end = high === null ? last : 2 * this.around(high)[0] + 3 - (highOpen ? 1 : 0);
      found[number] = [begin, end];
    }
    return found;
  }

  segment(value) {
    const text = textOf(value);
    const found = this.memo.get(text);
    if (found !== undefined) return found;
    return this.remember(this.memo, text, this.isAbsent(text) ? 0 : this.segmentOf(text));
  }

  segmentOf(text) {
    const key = this.key(text);
    if (key === null) return 1;
    const [low, isEnd] = this.around(key);
    return 2 * low + (isEnd ? 3 : 2);
  }

  covering(value) {
    const text = textOf(value);
    const known = this.found.get(text);
    if (known !== undefined) return known;
    const found = this.anything.concat(this.isAbsent(text) ? this.missing : this.coveringText(text));
    return this.remember(this.found, text, found);
  }

  coveringText(text) {
    const found = [];
    if (this.nodes.size) {
      for (let node = this.node(text); node >= 0; node = this.parents[node]) {
        if (this.nodes.has(node)) found.push(...this.nodes.get(node));
      }
    }
    found.push(...(this.known(this.values, text) || []));
    for (const [lost, labels] of this.masked) {
      const hidden = hide(text, this.mask, lost);
      if (hidden !== null && labels.has(hidden)) found.push(...labels.get(hidden));
    }
    const key = this.ranges.length ? this.key(text) : null;
    if (key !== null) {
      for (const [low, lowOpen, high, highOpen, number] of this.ranges) {
        const above = low === null || compare(low, key) < (lowOpen ? 0 : 1);
        const below = high === null || compare(key, high) < (highOpen ? 0 : 1);
        if (above && below) found.push(number);
      }
    }
    return found;
  }
}

const FEW = 8; // classes that are looked at one by one
const NONE = 2 ** 30; // stands for: no class

// The first class that covers a tuple, of classes that may overlap.
class CellIndex {
  constructor(model, abouts, marks) {
    this.columns = model.columns.map((entry, j) => new CellColumn(entry, abouts[j], marks));
    this.regions = model.regions;
    this.classes = this.regions.length;
    this.sizes = model.columns.map((entry) => entry.cells.length);
    this.plain = [];
    this.lines = [];
    this.columns.forEach((column, j) => (column.isLine ? this.lines : this.plain).push(j));
    this.boxes = this.lines.map((j) => this.columns[j].boxes(this.sizes[j]));
    this.steps = this.plain.map(() => new Map());
    this.groups = [];
    this.trees = new Map();
    this.regions.forEach((region, number) => this.add(number, region));
  }

  region(number) {
    return this.regions[number];
  }

  covering(j, value) {
    return new Set(this.columns[j].covering(value));
  }

  add(number, region) {
    let key = "";
    this.plain.forEach((j, depth) => {
      key += region[j] + " ";
      if (!this.steps[depth].has(key)) this.steps[depth].set(key, number);
    });
    if (!this.plain.length) {
      if (!this.groups.length) this.groups.push([]);
      this.groups[0].push(number);
      return;
    }
    const last = this.steps[this.steps.length - 1];
    if (last.get(key) === number) {
      last.set(key, -1 - this.groups.length);
      this.groups.push([]);
    }
    this.groups[-1 - last.get(key)].push(number);
  }

  find(values) {
    const covers = this.plain.map((j) => this.columns[j].covering(values[j]));
    const point = this.lines.map((j) => this.columns[j].segment(values[j]));
    let best = NONE;
    if (this.plain.length) best = this.below(0, "", covers, point, best);
    else if (this.groups.length) best = this.inGroup(0, point, best);
    return best === NONE ? -1 : best;
  }

  below(depth, key, covers, point, given) {
    let best = given;
    const step = this.steps[depth];
    for (const cell of covers[depth]) {
      const next = key + cell + " ";
      const below = step.get(next);
      if (below === undefined) continue;
      if (depth + 1 === this.plain.length) best = this.inGroup(-1 - below, point, best);
      else if (below < best) best = this.below(depth + 1, next, covers, point, best);
    }
    return best;
  }

  inGroup(group, point, given) {
    let best = given;
    const members = this.groups[group];
    if (members[0] >= best) return best;
    if (members.length <= FEW || !this.lines.length) {
      for (const number of members) {
        if (number >= best) break;
        if (this.holds(number, point)) return number;
      }
      return best;
    }
    let tree = this.trees.get(group);
    if (tree === undefined) {
      tree = [];
      this.grow(tree, members);
      this.trees.set(group, tree);
    }
    let at = 0;
    while (at < tree.length) {
      const node = tree[at];
      const inside =
        node.least < best && point.every((here, p) => node.box[p][0] <= here && here <= node.box[p][1]);
      if (!inside) {
        at = node.after;
        continue;
      }
      for (const number of node.members) {
        if (number >= best) break;
        if (this.holds(number, point)) {
          best = number;
          break;
        }
      }
      at += 1;
    }
    return best;
  }

  holds(number, point) {
    const region = this.regions[number];
    return this.lines.every((j, p) => {
      const [low, high] = this.boxes[p][region[j]];
      return low <= point[p] && point[p] <= high;
    });
  }

  grow(tree, members) {
    const node = { least: Math.min(...members), after: 0, box: [], members: [] };
    let wide = -1;
    let widest = 0;
    this.lines.forEach((j, p) => {
      let [low, high, least, most] = [NONE, -1, NONE, -1];
      for (const number of members) {
        const span = this.boxes[p][this.regions[number][j]];
        low = Math.min(low, span[0]);
        high = Math.max(high, span[1]);
        least = Math.min(least, span[0] + span[1]);
        most = Math.max(most, span[0] + span[1]);
      }
      node.box.push([low, high]);
      if (most - least > widest) [wide, widest] = [p, most - least];
    });
    tree.push(node);
    if (members.length <= FEW || wide < 0) {
      node.members = members.slice().sort((a, b) => a - b);
    } else {
      const middle = (number) => {
        const span = this.boxes[wide][this.regions[number][this.lines[wide]]];
        return span[0] + span[1];
      };
      const order = members.slice().sort((a, b) => middle(a) - middle(b));
      const half = order.length >> 1;
      this.grow(tree, order.slice(0, half));
      this.grow(tree, order.slice(half));
    }
    node.after = tree.length;
  }
}

class Encoder {
  // options: onUnseen ("suppress", "nearest", "error"), suppressed ("star", "remove").
  constructor(model, options) {
    const chosen = options || {};
    this.onUnseen = chosen.onUnseen || model.on_unseen;
    this.suppressed = chosen.suppressed || "star";
    this.names = model.columns.map((entry) => entry.name);
    this.place = new Map(this.names.map((name, j) => [name, j]));
    this.roots = model.columns.map((entry) => entry.root);
    this.cells = model.columns.map((entry) => entry.cells);
    this.others = model.schema.others;
    const marks = model.schema.missing || [];
    const abouts = this.names.map((name) => model.schema.columns[name]);
    this.index = new (model.tree ? CutTree : CellIndex)(model, abouts, marks);
    this.columns = this.index.columns;
    this.labels = this.cells.map((cells, j) => labelAt(cells, this.columns[j].labels));
    this.released = model.released;
    this.known = new Set([...model.released, ...model.removed]);
  }

  // The class of a tuple of quasi-identifiers; -1 if none covers it.
  find(values) {
    return this.index.find(values);
  }

  nearest(values) {
    const covers = values.map((value, j) => this.index.covering(j, value));
    let wrong = this.names.map((_, j) => j);
    let best = -1;
    for (let number = 0; number < this.index.classes; number += 1) {
      const region = this.index.region(number);
      const missed = wrong.length;
      const found = this.names.map((_, j) => j).filter((j) => !covers[j].has(region[j]));
      if (best < 0 || found.length < missed) [best, wrong] = [number, found];
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
    const labels = (at) => this.index.region(at).map((cell, j) => this.labels[j][cell]);
    if (region >= 0) return [labels(region), region];
    if (this.onUnseen === "error") throw new Rejected("no class of the model covers it");
    if (this.onUnseen === "suppress") return [null, -1];
    let wrong;
    [region, wrong] = this.nearest(values);
    if (region < 0 || wrong.length === this.names.length) return [null, -1];
    const found = labels(region);
    for (const j of wrong) found[j] = this.widen(j, this.cells[j][this.index.region(region)[j]], values[j]);
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
