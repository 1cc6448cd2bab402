// What a test asks of a page that is drawn: texts that are hard to read, controls without a name.
({
  faint: () => {
    const parse = c => { const m = c.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m.slice(0,3), 1] : m.slice(0,4); };
    const lum = ([r,g,b]) => { const f = v => { v/=255; return v <= 0.03928 ? v/12.92 : ((v+0.055)/1.055)**2.4; }; return 0.2126*f(r)+0.7152*f(g)+0.0722*f(b); };
    const over = (a,b) => { const t=a[3]; return [0,1,2].map(i => a[i]*t+b[i]*(1-t)).concat(1); };
    const ground = e => { const layers=[]; for (let x=e; x; x=x.parentElement) { const s=getComputedStyle(x); const c=parse(s.backgroundColor); if (c[3]>0) { layers.push(c); if (c[3]>=1) break; } } let g=[255,255,255,1]; for (const l of layers.reverse()) g=over(l,g); return g; };
    const bad = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode.textContent.trim(), e = walker.currentNode.parentElement;
      if (!text || !e || !e.checkVisibility({opacityProperty:true, visibilityProperty:true}) || e.closest('[aria-hidden=true], [disabled], .disabled, [aria-disabled=true], svg, script, style')) continue;
      const s = getComputedStyle(e); let opacity = 1; for (let x=e;x;x=x.parentElement) opacity *= +getComputedStyle(x).opacity;
      const g = ground(e); const c = parse(s.color); c[3]*=opacity; const ink = over(c,g);
      const [a,b] = [lum(ink),lum(g)].sort((x,y)=>y-x); const ratio=(a+0.05)/(b+0.05);
      const large = parseFloat(s.fontSize)>=24 || (parseFloat(s.fontSize)>=18.66 && +s.fontWeight>=700);
      if (ratio < (large?3:4.5)) bad.push([ratio.toFixed(2), e.className, text.slice(0,40), s.color, g.map(Math.round).join()]);
    }
    return bad;
  },
  nameless: () => [...document.querySelectorAll(
    "button, a, input, select, textarea, [role=button], [role=combobox], [role=slider], " +
    "[role=checkbox], [role=switch], [role=tree], [tabindex='0']")]
    .filter(e => e.checkVisibility() && !e.closest("[aria-hidden=true]") && e.type !== "hidden")
    .filter(e => e.type !== "file" && e.getAttribute("role") !== "presentation")
    .filter(e => {
      const by = (e.getAttribute("aria-labelledby") || "").split(" ")
        .map(id => document.getElementById(id)?.textContent || "").join("");
      const written = !/^(INPUT|SELECT|TEXTAREA)$/.test(e.tagName) &&
        [e, ...e.querySelectorAll("*")].some(x => !x.closest("[aria-hidden=true]") &&
          [...x.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()));
      const labels = e.labels ? [...e.labels].map(l => l.textContent).join("") : "";
      return !(e.getAttribute("aria-label") || by || e.title || labels || written ||
        e.querySelector("[aria-label]"));
    })
    .map(e => e.outerHTML.slice(0, 160)),
  wide: () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  cut: () => [...document.querySelectorAll(".q-btn .block, .q-field__label, h2, h3, .chip, th")]
    .filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0)
    .filter(e => getComputedStyle(e).display !== "inline")
    .map(e => e.textContent.slice(0, 60)),
})
