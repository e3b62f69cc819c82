import type { Change } from '../model/changes.js';

/** How a line is drawn. Colors are the names of design tokens, such as `--chart-1`. */
export interface SeriesStyle {
  readonly label: string;
  readonly color: string;
  /** Width in CSS pixels; 0: there is no line, because the series is only the edge of a band. */
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
  readonly changes: readonly Change[];
  /** The selected time in Unix seconds; null: the last decision is selected. */
  readonly selected: number | null;
  readonly onZoom: (window: TimeWindow) => void;
  readonly onPick: (second: number) => void;
  readonly onHover: (second: number | null) => void;
}

export interface TimeChartProps extends ChartLinks {
  readonly height: number;
  /** The first column contains the times; the others are in the order of `styles`. */
  readonly columns: readonly (readonly (number | null)[])[];
  readonly styles: readonly SeriesStyle[];
  /** Color of the area between the first two of `styles`. */
  readonly area: string;
  /** The largest value of the axis; null: it follows from the values. */
  readonly top: number | null;
  /** Whether the axis is logarithmic; default: no. */
  readonly isLog?: boolean;
  readonly format: (value: number) => string;
  /** Whole counts, or bytes with binary units such as 1Ki; null: any numbers. */
  readonly steps: 'bytes' | 'counts' | null;
}
