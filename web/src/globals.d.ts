import type { init } from "echarts/core";

declare global {
  /** What `charts.js` leaves for `page.js`. */
  var tareCharts: { init: typeof init };
}
