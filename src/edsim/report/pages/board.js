// The board: one criterion orders it; what that moves against the criterion before is said.
(() => {
  const table = document.querySelector(".board");
  if (!table) return;
  const moved = document.getElementById("moved");
  let chosen = null, reversed = false;

  const rank = (metric, body) => DATA.ranks[metric][body.dataset.number] ?? Infinity;
  const ordinal = (n) => n + (n % 100 > 10 && n % 100 < 14 ? "th" : ["th", "st", "nd", "rd"][n % 10] || "th");

  const order = (metric, flip) => {
    const bodies = [...table.tBodies];
    const last = bodies.filter((body) => rank(metric, body) === Infinity);
    const ranked = bodies.filter((body) => rank(metric, body) !== Infinity);
    ranked.sort((a, b) => rank(metric, a) - rank(metric, b) || a.dataset.number - b.dataset.number);
    if (flip) ranked.reverse();
    table.append(...ranked, ...last);
    for (const body of bodies) {
      const own = rank(metric, body);
      body.querySelector(".place").textContent = own === Infinity ? "–" : own;
      for (const cell of body.querySelectorAll("td[data-metric]")) cell.classList.toggle("chosen", cell.dataset.metric === metric);
    }
    for (const head of table.tHead.querySelectorAll("th[data-metric]"))
      head.setAttribute("aria-sort", head.dataset.metric !== metric ? "none" : flip ? "descending" : "ascending");
    return ranked;
  };

  const words = (before, metric, ranked) => {
    const first = ranked.find((body) => rank(metric, body) === 1);
    if (!first) return "";
    const others = ranked.filter((body) => rank(metric, body) === 1).length - 1;
    const shared = others ? ` It shares first place with ${others} other${others > 1 ? "s" : ""}.` : "";
    const name = DATA.labels[first.dataset.number];
    if (!before || before === metric) return `First by ${DATA.titles[metric].toLowerCase()}: ${name}.${shared}`;
    const both = ranked.filter((body) => rank(before, body) !== Infinity);
    const change = both.filter((body) => rank(before, body) !== rank(metric, body)).length;
    const was = rank(before, first);
    const from = was === Infinity ? "without a rank" : was === 1 ? "first too" : ordinal(was);
    return `First by ${DATA.titles[metric].toLowerCase()}: ${name}, ${from} by ${DATA.titles[before].toLowerCase()}.${shared} `
      + `${change} of ${both.length} change their rank.`;
  };

  const choose = (metric) => {
    reversed = metric === chosen && !reversed;
    const ranked = order(metric, reversed);
    moved.textContent = words(chosen, metric, ranked);
    chosen = metric;
    const radio = document.querySelector(`.switch input[value="${CSS.escape(metric)}"]`);
    if (radio) radio.checked = true;
  };

  for (const radio of document.querySelectorAll(".switch input")) radio.addEventListener("change", () => choose(radio.value));
  for (const button of table.tHead.querySelectorAll("button")) button.addEventListener("click", () => choose(button.dataset.metric));
  choose(DATA.order);
})();
