// What of the charts library a page needs. Apart from our own code, since it changes with the library only.

import { BarChart, CustomChart, LineChart, ScatterChart } from "echarts/charts";
import { GridComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

use([BarChart, CustomChart, LineChart, ScatterChart, GridComponent, SVGRenderer]);

globalThis.tareCharts = { init };
