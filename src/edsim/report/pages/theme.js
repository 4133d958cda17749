"use strict";
const DATA = JSON.parse(document.getElementById("data").textContent);
const say = (tag, text, more = {}) => Object.assign(document.createElement(tag), {textContent: text}, more);

// Light or dark: as the system has it, until the reader says otherwise.
(() => {
  const root = document.documentElement, button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  const show = () => { button.textContent = dark() ? "Light" : "Dark"; button.title = `Show the page in ${dark() ? "light" : "dark"} colours`; };
  try { const kept = localStorage.getItem("edsim-theme"); if (kept) root.dataset.theme = kept; } catch { /* no storage: nothing is kept */ }
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("edsim-theme", root.dataset.theme); } catch { /* as above */ }
    show();
  });
  system.addEventListener("change", show);
  show();
})();
