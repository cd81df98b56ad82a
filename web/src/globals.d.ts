import type { Picture } from "./chart.js";
import type { Chart, Table } from "./data.js";
import type { Known } from "./search.js";

declare global {
  /** What `flame.js` leaves for `page.js`, in a page that has a flame graph. */
  var tareFlame: ((figure: HTMLElement, table: Table, chart: Chart) => Picture) | undefined;
  /** What `assets/search.js` of a site leaves for `site.js`. */
  var tareSearch: Known[] | undefined;
}
