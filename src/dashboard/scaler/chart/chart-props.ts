import type { Change } from '../model/changes.js';

/** Colors are names of design tokens, such as `--chart-1`. */
export interface SeriesLook {
  readonly label: string;
  readonly color: string;
  /** In CSS pixels; 0: only the edge of a band. */
  readonly width: number;
  readonly dash: readonly number[];
  readonly isStepped: boolean;
}

/** The area between two series, by their index in `looks`. */
export interface BandLook {
  readonly high: number;
  readonly low: number;
  readonly color: string;
}

/** Unix times in seconds. */
export interface TimeWindow {
  readonly from: number;
  readonly to: number;
}

/** What the charts of a page have in common. */
export interface ChartLinks {
  readonly window: TimeWindow;
  readonly changes: readonly Change[];
  /** The selected moment; null: the last decision. */
  readonly selected: number | null;
  readonly onZoom: (window: TimeWindow) => void;
  readonly onPick: (second: number) => void;
  readonly onHover: (second: number | null) => void;
}

export interface TimeChartProps extends ChartLinks {
  readonly height: number;
  /** The first column is the time; then one for each of `looks`. */
  readonly columns: readonly (readonly (number | null)[])[];
  readonly looks: readonly SeriesLook[];
  readonly bands: readonly BandLook[];
  /** Top of the axis; null: by the values. */
  readonly top: number | null;
  readonly format: (value: number) => string;
  /** Whether the values are bytes, of which 1024 are 1Ki. */
  readonly isBinary: boolean;
}
