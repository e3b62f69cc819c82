import type { VNode } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { ForecastLoads, ScalerDetail } from '../../../api/answers.js';
import type { Api } from '../../data/api.js';
import type { ReadableCell } from '../../data/cell.js';
import type { ApiRequest } from '../../data/requests.js';
import { useAnswer } from '../../data/use-answer.js';
import { useCell } from '../../data/use-cell.js';
import { formatMetric, formatShort } from '../../ui/formats.js';
import { NO_CHANGES, type ChartLinks, type SeriesStyle } from './chart-options.js';
import { LegendItem, TimeChart } from './time-chart.jsx';

export interface ForecastStripProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
  readonly links: ChartLinks;
  readonly hover: ReadableCell<number | null>;
  /** Called with whether a forecast is known. Without a forecast, the charts end at the current time. */
  readonly onForecast: (isKnown: boolean) => void;
}

const STYLES: readonly SeriesStyle[] = [
  { label: 'highest', color: '--chart-2', width: 0, dash: [], isStepped: false },
  { label: 'lowest', color: '--chart-2', width: 0, dash: [], isStepped: false },
  { label: 'expected', color: '--chart-2', width: 1.5, dash: [4, 3], isStepped: false },
  { label: 'load', color: '--chart-1', width: 2, dash: [], isStepped: false },
];
/**
 * `since` of the request is rounded to a multiple of this, so that the request rarely changes while the window moves.
 */
const SINCE_SECONDS = 900;

/** Shows the measured load, the forecast for the same times, and the forecast for the next hour. */
export function ForecastStrip({ api, detail, links, hover, onForecast }: ForecastStripProps): VNode | null {
  const { namespace, name } = detail;
  const from = Math.floor(links.window.from / SINCE_SECONDS) * SINCE_SECONDS;
  const since = new Date(from * 1000).toISOString();
  const path = `api/v1/scalers/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}/forecast?since=${since}`;
  const { value } = useAnswer(api, { path, check: isForecastLoads }, { everyMs: 60_000 });
  const at = useMemo(() => value?.at.map((time) => Date.parse(time) / 1000) ?? [], [value]);
  const isExpected = value?.expected.some((load) => load !== null) === true;
  useEffect(() => {
    if (value !== null) onForecast(isExpected);
  }, [value, isExpected, onForecast]);
  if (value === null) return null;
  const format = (load: number | null): string => formatLoad(load, value);
  const summary = summaryOf(value, at, links.now, detail.decision?.forecast?.why);
  return (
    <figure class="metric-strip forecast-strip">
      <figcaption>
        <b>Load and forecast</b>{' '}
        <span class="hint">
          <span dir="auto">{value.metric}</span> of all pods
        </span>
        <Readout {...links} value={value} at={at} isExpected={isExpected} hover={hover} />
      </figcaption>
      <div role="img" aria-label={`Load and forecast of ${value.metric}. ${summary}`}>
        <TimeChart
          {...links}
          changes={NO_CHANGES}
          height={100}
          columns={[at, value.high, value.low, value.expected, value.load]}
          styles={STYLES}
          area="--chart-expected"
          top={null}
          format={format}
          steps={null}
        />
      </div>
      <p class="hint">
        {summary}
        {isExpected ? BAND : null}
      </p>
    </figure>
  );
}

const BAND =
  ' The band is the load at each time on earlier days, scaled to the load of today. For past times, it is the forecast that was made early enough to start a pod.';

/** This check is not in the file with the other requests, because all pages load that file. */
const isForecastLoads: ApiRequest<ForecastLoads>['check'] = (answer): answer is ForecastLoads =>
  typeof answer === 'object' && answer !== null && 'at' in answer && Array.isArray(answer.at);

function formatLoad(load: number | null, { metric }: ForecastLoads): string {
  const rounded = load === null ? null : Number(load.toPrecision(3));
  return formatMetric(rounded, { name: metric, unit: 'total' });
}

/**
 * Returns for example
 * `Now 12. The forecast expects at most 31 within the next hour, at 09:12 (earlier days: 24 to 33).`
 * `why`: the reason that the decision has for its forecast.
 */
function summaryOf(
  value: ForecastLoads,
  at: readonly number[],
  now: number,
  why: string | undefined,
): string {
  const current = value.load.findLast((load) => load !== null) ?? null;
  const expectedAt = (index: number): number => value.expected[index] ?? -1;
  const later = at.flatMap((second, index) => (second > now && expectedAt(index) >= 0 ? [index] : []));
  const most = later.toSorted((a, b) => expectedAt(b) - expectedAt(a) || a - b)[0];
  const known = current === null ? '' : `Now ${formatLoad(current, value)}. `;
  if (most === undefined) return `${known}There is no forecast yet${why === undefined ? '' : `: ${why}`}.`;
  const text = (column: readonly (number | null)[]): string => formatLoad(column[most] ?? null, value);
  const time = formatShort((at[most] ?? 0) * 1000, now * 1000);
  return `${known}The forecast expects at most ${text(value.expected)} within the next hour, at ${time} (earlier days: ${text(value.low)} to ${text(value.high)}).`;
}

interface ReadoutProps extends Pick<ForecastStripProps, 'hover'>, Pick<ChartLinks, 'now' | 'selected'> {
  readonly value: ForecastLoads;
  readonly at: readonly number[];
  readonly isExpected: boolean;
}

function Readout({ value, at, isExpected, now, selected, hover }: ReadoutProps): VNode {
  const second = useCell(hover) ?? selected ?? now;
  const index = at.findLastIndex((one) => one <= second);
  const format = (column: readonly (number | null)[]): string => formatLoad(column[index] ?? null, value);
  return (
    <span class="chart-legend" aria-hidden="true">
      <LegendItem style="chart-1" name="load" value={format(value.load)} />
      {isExpected ? (
        <>
          <LegendItem style="dashed chart-2" name="expected" value={format(value.expected)} />
          <LegendItem
            style="band expected"
            name="earlier days"
            value={`${format(value.low)} to ${format(value.high)}`}
          />
        </>
      ) : null}
    </span>
  );
}
