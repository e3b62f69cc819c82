import type { Change } from '../model/changes.js';

/** Colors are names of design tokens, such as `--chart-1`. */
export interface SeriesStyle {
  readonly label: string;
  readonly color: string;
  /** CSS pixels; 0: the series is only the edge of a band. */
  readonly width: number;
  readonly dash: readonly number[];
  readonly isStepped: boolean;
}

/** The area between two series, identified by their index in `styles`. */
export interface BandStyle {
  readonly high: number;
  readonly low: number;
  readonly color: string;
}

/** Unix times in seconds. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** State that the charts of a page share. */
export interface ChartLinks {
  /** With a forecast, it ends after now. */
  readonly window: TimeWindow;
  /** Unix time in seconds. */
  readonly now: number;
  readonly changes: readonly Change[];
  /** The selected time; null: the last decision. */
  readonly selected: number | null;
  readonly onZoom: (window: TimeWindow) => void;
  readonly onPick: (second: number) => void;
  readonly onHover: (second: number | null) => void;
}

export interface TimeChartProps extends ChartLinks {
  readonly height: number;
  /** The first column is the time. The others correspond to `styles`. */
  readonly columns: readonly (readonly (number | null)[])[];
  readonly styles: readonly SeriesStyle[];
  readonly bands: readonly BandStyle[];
  /** Top of the axis; null: determined by the values. */
  readonly top: number | null;
  /** Whether the axis is logarithmic; default: no. */
  readonly isLog?: boolean;
  readonly format: (value: number) => string;
  /** Whether the values are bytes, which use binary units such as 1Ki. */
  readonly isBinary: boolean;
}
