// Charts: one library for all; what the reader chooses is a parameter of the drawn charts.
(() => {
  const views = {};
  const options = {renderer: "svg", actions: false, ast: true, logLevel: 1, tooltip: {theme: "custom", disableDefaultStyle: true}};

  const draw = async (place) => {
    const name = place.dataset.chart;
    const spec = DATA.charts[name];
    if (place.clientWidth < 480) { spec.config.legend.columns = 2; spec.config.axis.labelLimit = 112; }
    const {view} = await vegaEmbed(place, spec, options);
    views[name] = view;
    for (const select of document.querySelectorAll(`select[data-chart="${CSS.escape(name)}"]`)) {
      const parameter = select.dataset.parameter;
      select.value = view.signal(parameter);
      select.addEventListener("change", () => view.signal(parameter, select.value).runAsync());
    }
  };

  const drawAll = async () => {
    for (const place of document.querySelectorAll(".chart")) await draw(place);
    document.documentElement.dataset.charts = "drawn";
  };

  const buttons = document.querySelectorAll(".families button");
  for (const button of buttons) button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    for (const other of buttons) other.setAttribute("aria-pressed", on && other === button);
    for (const view of Object.values(views)) view.signal(DATA.shown, on ? button.dataset.family : "").runAsync();
  });

  // The numbers of a chart as a table, made when they are asked for.
  const table = (rows) => {
    const keys = [...new Set(rows.flatMap(Object.keys))].filter((key) => !key.startsWith("_"));
    const made = say("table", "", {className: "plain"});
    const head = made.createTHead().insertRow();
    for (const key of keys) head.append(say("th", key.replaceAll("_", " "), {scope: "col"}));
    const body = made.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      for (const key of keys) line.append(say("td", shown(row[key])));
    }
    return made;
  };
  const shown = (value) => typeof value === "number" ? String(Number(value.toPrecision(4))) : value ?? "";
  for (const details of document.querySelectorAll("details.numbers[data-chart]")) details.addEventListener("toggle", () => {
    const place = details.querySelector(".scroll");
    if (!details.open || place.firstChild) return;
    const sets = Object.values(DATA.charts[details.dataset.chart].datasets ?? {}).filter((rows) => Object.keys(rows[0] ?? {}).length > 2);
    for (const rows of sets) place.append(table(rows));
  });

  // On paper a chart is drawn anew for the width of its column, so that its words stay readable.
  const HALF = 305, WHOLE = 640;
  const onPaper = (place) => place.matches(".opening .chart, .grid>.figure:not(:last-child:nth-child(odd)) .chart") ? HALF : WHOLE;
  addEventListener("beforeprint", () => {
    for (const place of document.querySelectorAll(".chart")) views[place.dataset.chart]?.width(onPaper(place)).runAsync();
  });
  addEventListener("afterprint", () => dispatchEvent(new Event("resize")));

  drawAll();
})();
