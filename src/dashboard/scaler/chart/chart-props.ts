import type { Mark } from '../model/changes.js';

/** How a line is drawn. Colors are the names of design tokens, such as `--chart-1`. */
export interface SeriesStyle {
  readonly label: string;
  readonly color: string;
  /** Width of the line in CSS pixels; 0: no line is drawn, because the series is only the edge of an area. */
  readonly width: number;
  readonly dash: readonly number[];
  readonly isStepped: boolean;
}

/** The time range of a chart in Unix seconds. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** What all charts of a page share. */
export interface ChartLinks {
  /** The shown time range. If there is a forecast, it ends in the future. */
  readonly window: TimeWindow;
  /** Unix time in seconds. */
  readonly now: number;
  readonly changes: readonly Mark[];
  /** The selected time in Unix seconds; null: the last decision. */
  readonly selected: number | null;
  readonly onZoom: (window: TimeWindow) => void;
  readonly onPick: (second: number) => void;
  readonly onHover: (second: number | null) => void;
}

export interface TimeChartProps extends ChartLinks {
  readonly height: number;
  /** The first column contains the times; the other columns are in the order of `styles`. */
  readonly columns: readonly (readonly (number | null)[])[];
  readonly styles: readonly SeriesStyle[];
  /** Color of the area between the first two of `styles`. */
  readonly area: string;
  /** The largest value of the axis; null: it is computed from the values. */
  readonly top: number | null;
  /** Whether the axis is logarithmic; default: no. */
  readonly isLog?: boolean;
  readonly format: (value: number) => string;
  /** Where grid lines may be: `counts`: at integers; `bytes`: at powers of 2; null: at any number. */
  readonly steps: 'bytes' | 'counts' | null;
}
