// The theme switch, and texts of marks under the pointer, on touch and on focus.
(() => {
  const root = document.documentElement;
  const buttons = [...document.querySelectorAll(".theme button")];
  const show = (theme) => {
    if (theme === "auto") delete root.dataset.theme;
    else root.dataset.theme = theme;
    for (const b of buttons) b.setAttribute("aria-pressed", String(b.value === theme));
  };
  let stored = "auto";
  try { stored = localStorage.getItem("numbus-theme") || "auto"; } catch { /* a page may not store */ }
  show(stored);
  for (const b of buttons)
    b.addEventListener("click", () => {
      show(b.value);
      try { localStorage.setItem("numbus-theme", b.value); } catch { /* as above */ }
    });

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const over = (event) => {
    const mark = event.target.closest?.("[data-tip]");
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.dataset.tip;
    const box = mark.getBoundingClientRect();
    const left = box.left + Math.min(box.width, 240) / 2 - tip.offsetWidth / 2;
    const most = root.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${scrollX + Math.max(8, Math.min(left, most))}px`;
    const above = box.top - tip.offsetHeight - 8;
    tip.style.top = `${scrollY + (above > 0 ? above : box.bottom + 8)}px`;
  };
  document.addEventListener("pointerover", over);
  document.addEventListener("pointerdown", over);
})();
