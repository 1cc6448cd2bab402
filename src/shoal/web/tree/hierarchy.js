// A hierarchy as a tree: flat rows, of which only those in sight are in the page. The server owns
// the tree and sends patches; here are the rows, what is open and what is chosen.
const ROW = 28;

export default {
  template: `
    <div class="tree-box">
      <div class="tree-tools" role="toolbar" :aria-label="texts.tools">
        <div class="tree-line">
          <input class="tree-search" type="search" v-model="wanted" :placeholder="texts.search"
            :aria-label="texts.search" @keydown.enter.prevent="search" />
          <button v-for="tool in tools.slice(-2)" :key="tool.name" type="button" :title="tool.key"
            @click="act(tool.name)">{{ texts[tool.name] }}</button>
        </div>
        <div class="tree-line">
          <button v-for="tool in tools.slice(0, -2)" :key="tool.name" type="button" :disabled="!tool.works"
            :title="tool.key" @click="act(tool.name)">{{ texts[tool.name] }}</button>
        </div>
      </div>
      <div class="tree-rows" ref="view" role="tree" tabindex="0" aria-multiselectable="true"
        :aria-label="texts.tree" :aria-activedescendant="focus === null ? null : rowId(focus)"
        @scroll="top = $event.target.scrollTop" @keydown="pressed">
        <div class="tree-all" :style="{ height: rows.length * row + 'px' }">
          <div v-for="each in seen" :key="each.id" :id="rowId(each.id)" role="treeitem" class="tree-row"
            :class="{ chosen: chosen.has(each.id), focus: focus === each.id, leaf: !each.size, over: over === each.id, cut: cut.has(each.id) }"
            :style="{ top: each.at * row + 'px', paddingLeft: 8 + each.depth * 18 + 'px' }"
            :aria-level="each.depth + 1" :aria-posinset="each.place" :aria-setsize="each.among"
            :aria-selected="chosen.has(each.id)" :aria-expanded="each.size ? each.isOpen : null"
            :draggable="renaming !== each.id" @click="clicked($event, each)" @dblclick="rename(each.id)"
            @dragstart="dragged($event, each.id)" @dragover.prevent="over = each.id" @dragleave="over = null"
            @drop.prevent="dropped(each.id)">
            <span class="tree-mark" aria-hidden="true" @click.stop="toggle(each.id)">{{ each.size ? (each.isOpen ? '▾' : '▸') : '' }}</span>
            <input v-if="renaming === each.id" class="tree-name" :value="each.label" :aria-label="texts.rename"
              @keydown.stop="naming($event, each.id)" @blur="named($event, each.id)" @click.stop @dblclick.stop />
            <span v-else class="tree-label">{{ each.label }}</span>
            <span v-if="each.size" class="tree-count">{{ each.size.toLocaleString(language) }}</span>
          </div>
        </div>
      </div>
    </div>`,
  props: { source: String, texts: Object, language: String },
  data() {
    return {
      row: ROW, root: null, chosen: new Set(), cut: new Set(), focus: null, anchor: null, top: 0, height: 400,
      renaming: null, wanted: "", over: null, ticks: 0,
    };
  },
  created() {
    // Not watched: ten thousand nodes cost more to watch than to walk. `ticks` says that they changed.
    this.nodes = new Map();
    this.open = new Set();
    this.version = -1;
  },
  computed: {
    rows() {
      this.ticks;
      const found = [];
      if (this.root === null) return found;
      const waiting = [[this.root, 0, 1, 1]];
      while (waiting.length) {
        const [id, depth, place, among] = waiting.pop();
        const [label, , children] = this.nodes.get(id);
        const isOpen = this.open.has(id);
        found.push({ id, label, depth, place, among, isOpen, size: children.length, at: found.length });
        if (!isOpen) continue;
        for (let i = children.length - 1; i >= 0; i--) waiting.push([children[i], depth + 1, i + 1, children.length]);
      }
      return found;
    },
    places() {
      return new Map(this.rows.map((each) => [each.id, each.at]));
    },
    seen() {
      const first = Math.max(Math.floor(this.top / ROW) - 6, 0);
      return this.rows.slice(first, first + Math.ceil(this.height / ROW) + 12);
    },
    tools() {
      const one = this.chosen.size === 1, some = this.chosen.size > 0;
      return [
        { name: "rename", key: "F2", works: one },
        { name: "cut", key: "Ctrl X", works: some },
        { name: "paste", key: "Ctrl V", works: this.cut.size > 0 && this.focus !== null },
        { name: "split", key: "S", works: some },
        { name: "merge", key: "M", works: this.chosen.size > 1 },
        { name: "dissolve", key: "Del", works: some },
        { name: "undo", key: "Ctrl Z", works: true },
        { name: "redo", key: "Ctrl Y", works: true },
      ];
    },
  },
  async mounted() {
    this.sizes = new ResizeObserver(() => { this.height = this.$refs.view?.clientHeight || 400; });
    this.sizes.observe(this.$refs.view);
    await this.load();
  },
  unmounted() { this.sizes?.disconnect(); },
  methods: {
    rowId(id) { return `tree-${this.$.uid}-${id}`; },
    async load() {
      const answer = await fetch(this.source).catch(() => null);
      if (!answer?.ok) return;
      const found = await answer.json();
      if (found.root === undefined) return;
      this.nodes = new Map(Object.entries(found.nodes).map(([id, node]) => [Number(id), Object.freeze(node)]));
      this.root = found.root;
      this.version = found.version;
      this.open = new Set([found.root]);
      const below = this.nodes.get(found.root)[2];
      if (below.length < 40) for (const id of below) if (this.nodes.get(id)[2].length < 40) this.open.add(id);
      this.chosen = new Set();
      this.cut = new Set();
      this.focus = this.anchor = found.root;
      this.ticks++;
    },
    // What the server says of an edit; a patch that does not follow on is a reason to look anew.
    async patch(told) {
      if (told.version <= this.version) return;
      if (told.version !== this.version + 1) return this.load();
      this.version = told.version;
      for (const [id, node] of Object.entries(told.nodes)) {
        if (node === null) this.forget(Number(id));
        else this.nodes.set(Number(id), Object.freeze(node));
      }
      this.ticks++;
    },
    forget(id) {
      for (const set of [this.chosen, this.cut, this.open]) set.delete(id);
      this.nodes.delete(id);
      if (this.focus === id) this.focus = this.root;
      if (this.renaming === id) this.renaming = null;
    },
    // The node that an edit of one's own was about: shown, chosen, and named where it is new.
    about({ id, rename }) {
      if (!this.nodes.has(id)) return;
      this.chosen = new Set([id]);
      this.cut = new Set();
      this.show(id);
      if (rename) this.rename(id);
    },
    show(id) {
      for (let at = this.nodes.get(id)?.[1]; at >= 0; at = this.nodes.get(at)[1])
        if (!this.open.has(at)) { this.open.add(at); this.ticks++; }
      this.focus = this.anchor = id;
      this.$nextTick(() => {
        const view = this.$refs.view, y = (this.places.get(id) ?? 0) * ROW;
        if (y < view.scrollTop) view.scrollTop = y;
        else if (y + ROW > view.scrollTop + view.clientHeight) view.scrollTop = y + ROW - view.clientHeight;
      });
    },
    toggle(id) {
      if (this.open.has(id)) this.open.delete(id);
      else if (this.nodes.get(id)[2].length) this.open.add(id);
      this.ticks++;
    },
    clicked(event, each) {
      if (event.shiftKey) this.extend(each.id);
      else if (event.ctrlKey || event.metaKey) { this.flip(each.id); this.anchor = each.id; }
      else { this.chosen = new Set([each.id]); this.anchor = each.id; }
      this.focus = each.id;
      this.$refs.view.focus({ preventScroll: true });
    },
    flip(id) {
      if (this.chosen.has(id)) this.chosen.delete(id);
      else this.chosen.add(id);
    },
    extend(id) {
      const [a, b] = [this.places.get(this.anchor) ?? 0, this.places.get(id) ?? 0];
      this.chosen = new Set(this.rows.slice(Math.min(a, b), Math.max(a, b) + 1).map((each) => each.id));
    },
    go(at, event) {
      const each = this.rows[Math.max(0, Math.min(at, this.rows.length - 1))];
      const anchor = this.anchor;
      this.show(each.id);
      if (event.shiftKey) { this.anchor = anchor; this.extend(each.id); }
      else if (!event.ctrlKey) this.chosen = new Set([each.id]);
    },
    pressed(event) {
      if (event.target !== this.$refs.view || this.focus === null) return;
      const at = this.places.get(this.focus) ?? 0, each = this.rows[at], page = Math.floor(this.height / ROW) - 1;
      const ctrl = event.ctrlKey || event.metaKey, key = event.key;
      const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: this.rows.length - 1, PageDown: at + page, PageUp: at - page };
      const acts = ctrl
        ? { z: event.shiftKey ? "redo" : "undo", Z: "redo", y: "redo", x: "cut", v: "paste" }
        : { F2: "rename", Enter: "rename", Delete: "dissolve", s: "split", m: "merge" };
      if (key in moves) this.go(moves[key], event);
      else if (key === "ArrowRight") { if (each.size && !this.open.has(each.id)) this.toggle(each.id); else if (each.size) this.go(at + 1, event); }
      else if (key === "ArrowLeft") { if (this.open.has(each.id)) this.toggle(each.id); else if (this.nodes.get(each.id)[1] >= 0) this.go(this.places.get(this.nodes.get(each.id)[1]), event); }
      else if (key === " ") this.flip(each.id);
      else if (key === "Escape") { this.cut = new Set(); this.chosen = new Set([each.id]); }
      else if (key === "*") { for (const id of this.nodes.get(each.id)[2]) if (this.nodes.get(id)[2].length) this.open.add(id); this.open.add(each.id); this.ticks++; }
      else if (ctrl && key === "a") this.chosen = new Set(this.rows.filter((row) => row.id !== this.root).map((row) => row.id));
      else if (acts[key]) this.act(acts[key]);
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
    act(name) {
      const ids = this.rows.filter((each) => this.chosen.has(each.id)).map((each) => each.id);
      if (name === "rename") return ids.length === 1 && this.rename(ids[0]);
      if (name === "cut") { this.cut = new Set(ids); return; }
      if (name === "paste") return this.cut.size && this.ask("move", [...this.cut], this.focus);
      this.ask(name, ids);
    },
    ask(what, ids = [], target = null, label = null) { this.$emit("edit", { what, ids, target, label }); },
    rename(id) {
      this.renaming = id;
      this.show(id);
      this.$nextTick(() => this.$nextTick(() => { const box = this.$el.querySelector(".tree-name"); box?.focus(); box?.select(); }));
    },
    naming(event, id) {
      if (event.key === "Escape") { this.renaming = null; this.$refs.view.focus(); }
      if (event.key === "Enter") { this.named(event, id); this.$refs.view.focus(); }
    },
    named(event, id) {
      if (this.renaming !== id) return;
      this.renaming = null;
      const label = event.target.value;
      if (label !== this.nodes.get(id)?.[0]) this.ask("rename", [id], null, label);
    },
    dragged(event, id) {
      if (!this.chosen.has(id)) this.chosen = new Set([id]);
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", "");
    },
    dropped(id) {
      this.over = null;
      if (!this.chosen.has(id)) this.ask("move", this.rows.filter((each) => this.chosen.has(each.id)).map((each) => each.id), id);
    },
    search() {
      const wanted = this.wanted.trim().toLowerCase();
      if (!wanted) return;
      const ids = [...this.nodes.keys()].sort((a, b) => a - b), from = ids.indexOf(this.focus) + 1;
      const found = [...ids.slice(from), ...ids.slice(0, from)].find((id) => this.nodes.get(id)[0].toLowerCase().includes(wanted));
      if (found !== undefined) { this.show(found); this.chosen = new Set([found]); }
    },
  },
};
