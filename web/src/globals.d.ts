import type { init } from "echarts/core";
import type { Known } from "./search.js";

declare global {
  /** What `charts.js` leaves for `page.js`. */
  var tareCharts: { init: typeof init };
  /** What `assets/search.js` of a site leaves for `site.js`. */
  var tareSearch: Known[] | undefined;
}
