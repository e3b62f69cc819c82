import type { VNode } from 'preact';
import { useCallback, useMemo, useState } from 'preact/hooks';
import type { ScalerDetail } from '../../api/answers.js';
import type { Api } from '../data/api.js';
import { createCell } from '../data/cell.js';
import { isAbout } from '../data/keep-fresh.js';
import { decisionsRequest } from '../data/requests.js';
import { useAnswer } from '../data/use-answer.js';
import { formatDuration } from '../ui/formats.js';
import { usePart } from '../ui/hooks.js';
import { announce } from '../ui/page.jsx';
import { Section } from '../ui/section.jsx';
import { PartMissing } from '../ui/states.jsx';
import { Sentence, useNow } from '../ui/time.jsx';
import type { ChartLinks } from './chart/chart-options.js';
import { MetricStrips } from './chart/metric-strips.jsx';
import { ReplicasSection } from './chart/replicas-section.jsx';
import { type Change, changesInData, listChanges } from './model/changes.js';
import { type ChartData, joinHistories, pointsSince } from './model/chart-data.js';
import { readTolerances } from './model/tolerance.js';
import { firstRange, type Range, secondsAhead, startOf, type TimeWindow } from './model/ranges.js';
import { useLongHistory, useMoment, useRecentHistory } from './model/use-history.js';
import { VerdictCard } from './verdict-card.jsx';
import type { WhatIfProps } from './what-if/what-if-panel.jsx';
import './scaler.css';

interface ScalerContentProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
}

/** Shows a scaler. The first card says why the scaler has its count. */
export function ScalerContent({ api, detail }: ScalerContentProps): VNode {
  const { namespace, name } = detail;
  const moment = useMoment();
  const { select: selectMoment } = moment;
  const charts = useCharts(api, detail);
  const { changes, keptFrom } = useChanges(api, detail, charts.data);
  const select = useCallback(
    (second: number | null) => {
      selectMoment(second);
      const change = changes.find((one) => one.second === second);
      announce(change === undefined ? 'Decision shown.' : `Change ${change.label}.`);
    },
    [selectMoment, changes],
  );
  // This code is loaded after the charts, because it is usually below the visible part of the page.
  const { part: below } = usePart(loadBelow, true);
  return (
    <>
      <VerdictCard detail={detail} />
      <div class={moment.second === null ? 'scaler-charts' : 'scaler-charts is-pinned'}>
        <Charts
          {...charts}
          api={api}
          detail={detail}
          changes={changes}
          selected={moment.second}
          onSelect={select}
        />
        {/* The style sheet and the timeline find the decision as the second child. */}
        {below === null ? (
          <div />
        ) : (
          <below.DecisionSection api={api} detail={detail} data={charts.data} moment={moment} />
        )}
        <WhatIfSection
          key={`${namespace}/${name} ${moment.at ?? ''}`}
          api={api}
          detail={detail}
          at={moment.at}
          zoom={charts.zoom}
          seconds={charts.range.seconds}
        />
        {below === null ? null : <below.ConditionsSection api={api} detail={detail} />}
      </div>
      {below === null ? null : (
        <>
          <below.TimelineSection
            api={api}
            detail={detail}
            changes={changes}
            keptFrom={keptFrom}
            selected={moment.second}
            onSelect={select}
          />
          <below.DocumentSection detail={detail} />
        </>
      )}
    </>
  );
}

interface ChartsProps extends ScalerContentProps, ChartState {
  readonly changes: ChartLinks['changes'];
  readonly selected: number | null;
  readonly onSelect: (second: number | null) => void;
}

/** Shows the charts. It is a separate component, because it renders every few seconds, unlike the rest of the page. */
function Charts({ api, detail, changes, selected, onSelect, ...charts }: ChartsProps): VNode {
  const { data, oldest, note, range, setRange, zoom, setZoom } = charts;
  const hover = useMemo(() => createCell<number | null>(null), []);
  const clockNow = useNow((nowMs) => Math.ceil(nowMs / STEP_MS) * (STEP_MS / 1000));
  // The clock of the viewer may be behind: the newest points would be outside the charts.
  const now = Math.max(clockNow, data.at.at(-1) ?? 0);
  const from = startOf(range, { now, oldest });
  const isShort = oldest !== null && from > now - range.seconds + SHORT_SECONDS;
  const begin = isShort ? new Date(oldest * 1000).toISOString() : null;
  const ahead = secondsAhead(now - from, detail.document);
  // Initially true: most documents with `forecast` have a known forecast, and the chart should not be resized.
  const [hasForecast, setHasForecast] = useState(true);
  const links: ChartLinks = {
    window: zoom ?? { from, to: now + (hasForecast ? ahead : 0) },
    now,
    changes,
    selected,
    onZoom: setZoom,
    onPick: (second) => onSelect(second < now ? second : null),
    onHover: hover.set,
  };
  const { part: below } = usePart(loadBelow, true);
  const forecast = usePart(loadForecastStrip, ahead > 0);
  const tolerances = useMemo(() => readTolerances(detail.document), [detail.document]);
  return (
    <ReplicasSection
      data={data}
      links={links}
      hover={hover}
      range={range}
      isZoomed={zoom !== null}
      note={
        <Sentence
          text={
            begin === null
              ? note
              : `The charts show ${formatDuration(now - from)} of ${range.name}. There are no points before ${begin}. ${note}`
          }
        />
      }
      onRange={(next) => {
        setRange(next);
        setZoom(null);
      }}
      onSelect={onSelect}
    >
      <MetricStrips data={data} links={links} hover={hover} tolerances={tolerances} />
      {forecast.part === null ? null : (
        <forecast.part.ForecastStrip
          api={api}
          detail={detail}
          links={links}
          hover={hover}
          onForecast={setHasForecast}
        />
      )}
      {below === null ? null : <below.LimitStrip api={api} detail={detail} links={links} hover={hover} />}
    </ReplicasSection>
  );
}

const loadForecastStrip = () => import('./chart/forecast-strip.jsx');
const loadBelow = () => import('./below-charts.js');

/**
 * The right edge of the charts moves in steps of this length, because a redraw every second would make no visible
 * difference.
 */
const STEP_MS = 5000;
/** If the points begin more than this after the start of the range, the page says when they begin. */
const SHORT_SECONDS = 60;

interface KnownChanges {
  readonly changes: readonly Change[];
  /** Time of the oldest decision in RFC 3339; null: it is not known yet. */
  readonly keptFrom: string | null;
}

/**
 * Returns the changes of the decisions. For times before the oldest decision of the answer, which may be cut, returns
 * changes derived from the points of the charts.
 */
function useChanges(api: Api, { namespace, name }: ScalerDetail, data: ChartData): KnownChanges {
  const request = decisionsRequest(namespace, name, { changes: 'true', limit: 100 });
  const { value } = useAnswer(api, request, {
    everyMs: 60_000,
    isAffected: isAbout({ namespace, name }),
  });
  return useMemo(() => {
    if (value === null) return { changes: [], keptFrom: null };
    const oldest = value.continue === null ? value.keptFrom : (value.items.at(-1)?.firstAt ?? value.keptFrom);
    const changes = [...changesInData(data, Date.parse(oldest) / 1000), ...listChanges(value.items)];
    return { changes, keptFrom: value.keptFrom };
  }, [value, data]);
}

interface ChartState {
  readonly data: ChartData;
  /** The time of the oldest point of the range, in Unix seconds; null: it is not known yet. */
  readonly oldest: number | null;
  /** Why a part of the range is empty; empty: nothing has failed. */
  readonly note: string;
  readonly range: Range;
  readonly setRange: (range: Range) => void;
  readonly zoom: TimeWindow | null;
  readonly setZoom: (window: TimeWindow | null) => void;
}

/** Returns the state of the charts: range, zoom, and the points from the memory of the service and from Prometheus. */
function useCharts(api: Api, detail: ScalerDetail): ChartState {
  const [chosen, setRange] = useState<Range | null>(null);
  const [zoom, setZoom] = useState<TimeWindow | null>(null);
  const recent = useRecentHistory(api, detail);
  const recentFrom = recent.data.at[0] ?? null;
  const first = useMemo(() => firstRange(recentFrom, api.clock.now() / 1000), [api, recentFrom]);
  const range = chosen ?? first;
  // Prometheus is queried once when a range is selected. Newer points come from the memory of the service.
  const long = useMemo(
    () =>
      range.stepSeconds === null
        ? null
        : {
            since: Math.floor(api.clock.now() / 1000) - range.seconds,
            stepSeconds: range.stepSeconds,
          },
    [api, range],
  );
  const earlier = useLongHistory(api, detail, long);
  const data = useMemo(() => {
    const joined =
      earlier.data === null || long === null
        ? recent.data
        : joinHistories(earlier.data, recent.data, 3 * long.stepSeconds);
    return pointsSince(joined, api.clock.now() / 1000 - range.seconds);
  }, [api, earlier.data, recent.data, long, range]);
  const isLoading = long !== null && earlier.data === null && earlier.error === null;
  const oldest = isLoading ? null : (data.at[0] ?? null);
  const error = recent.error ?? earlier.error;
  const note = error === null ? '' : `${long === null ? '' : 'From memory only: '}${error.message}`;
  return { data, oldest, note, range, setRange, zoom, setZoom };
}

/** Loads the code when the user asks for it. */
function WhatIfSection(props: WhatIfProps): VNode {
  const [isOpen, setIsOpen] = useState(false);
  const { part, hasFailed } = usePart(loadPanel, isOpen);
  return (
    <Section
      title="What if"
      aside={
        isOpen ? null : (
          <button type="button" onClick={() => setIsOpen(true)}>
            Try another document
          </button>
        )
      }
    >
      {part === null ? (
        <p class="hint">
          Change a field and see the decision that promscaler would have made. Computed in this browser;
          nothing is sent or changed.
        </p>
      ) : (
        <part.WhatIf {...props} />
      )}
      {hasFailed ? <PartMissing /> : null}
    </Section>
  );
}

const loadPanel = () => import('./what-if/what-if-panel.jsx');
