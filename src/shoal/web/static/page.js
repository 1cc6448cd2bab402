// What a page needs beside its elements: its language, and a focus that outlives a drawing.
document.documentElement.lang = document.querySelector("meta[name='shoal-language']")?.content ?? "en";

// An element that is drawn anew is another one, and the focus would be lost with the old one: it
// goes to the control that took its place, by its id, or its name or place within its step.
(() => {
  const CONTROLS = "a[href], button, input, textarea, select, [tabindex]";
  const PATIENCE = 5000;
  let lost = null;

  const rooms = () => document.querySelectorAll("section[id], header, nav, aside, .q-dialog");
  const own = (element) => (element.id && !/^(c\d+$|f_)/.test(element.id) ? element.id : null);
  const named = (element) => element.getAttribute("aria-label") || element.textContent.trim().slice(0, 200);
  const alike = (room, element) =>
    [...room.querySelectorAll(CONTROLS)].filter((each) => each.tagName === element.tagName);

  document.addEventListener("focusin", ({ target }) => {
    const room = target.closest("section[id], header, nav, aside, .q-dialog");
    lost = room && {
      element: target, id: own(target), name: named(target), tag: target.tagName,
      room: [...rooms()].indexOf(room), at: alike(room, target).indexOf(target),
    };
  });
  document.addEventListener("focusout", ({ target }) => {
    // Whoever leaves a control that stays has left it.
    setTimeout(() => { if (lost?.element === target && target.isConnected) lost = null; });
  });
  new MutationObserver(() => {
    if (lost === null || lost.element.isConnected || document.activeElement !== document.body) return;
    lost.since ??= performance.now();
    if (performance.now() - lost.since > PATIENCE) { lost = null; return; }
    const { id, name, room, at } = lost;
    const found = alike(rooms()[room] ?? document.body, { tagName: lost.tag });
    const same = (id && document.getElementById(id)) || found.find((each) => named(each) === name) || found[at];
    if (same && !same.disabled) same.focus({ preventScroll: true });
  }).observe(document.body, { childList: true, subtree: true });
})();
