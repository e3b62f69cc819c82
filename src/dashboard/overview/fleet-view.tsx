import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Clock } from '../../units/clock.js';
import { plural } from '../format/numbers.js';
import { parseTime } from '../format/times.js';
import { announce } from '../ui/announcer.jsx';
import { HEALTH_LINK } from '../ui/links.js';
import { EmptyView, Notice, Outdated } from '../ui/states.jsx';
import { useNow } from '../ui/use-now.js';
import { FilterBar } from './filter-bar.jsx';
import { keyOf } from './merge-overview.js';
import type { Fleet } from './merge-overview.js';
import type { OverviewState } from './overview-store.js';
import { replicasText } from './row-texts.js';
import { ScalerTable } from './scaler-table.jsx';
import { countRows, linesOf } from './lines.js';
import type { Selection } from './selection.js';
import './overview.css';

interface FleetViewProps extends OverviewState {
  readonly clock: Clock;
  readonly fleet: Fleet;
  readonly selection: Selection;
  readonly onChange: (change: Partial<Selection>) => void;
  readonly selected: Fleet['rows'];
}

/** Shows search, filters and the rows. */
export function FleetView({ clock, fleet, error, selection, onChange, selected }: FleetViewProps): VNode {
  const { rows } = fleet;
  // An answer can be newer than the last tick. Its changes must not be in the future.
  const nowMs = Math.max(useNow(clock, 10_000), parseTime(fleet.facts.at) ?? 0);
  const counts = useMemo(() => countRows(rows), [rows]);
  const lines = useMemo(() => linesOf(selected, selection), [selected, selection]);
  const news = useNews(fleet, clock);
  return (
    <>
      <Notices fleet={fleet} error={error} nowMs={nowMs} />
      {rows.length === 0 ? (
        <NoScalers />
      ) : (
        <FilterBar selection={selection} onChange={onChange} counts={counts} />
      )}
      {selected.length === 0 && rows.length > 0 ? (
        <EmptyView title="No scaler matches">
          <button type="button" onClick={() => onChange({ search: '', namespace: null, severities: [] })}>
            Show all scalers
          </button>
        </EmptyView>
      ) : null}
      {selected.length === 0 ? null : (
        <ScalerTable lines={lines} selection={selection} onChange={onChange} nowMs={nowMs} news={news} />
      )}
    </>
  );
}

function Notices({
  fleet: { facts },
  error,
  nowMs,
}: OverviewState & { readonly fleet: Fleet; readonly nowMs: number }): VNode {
  const unreachable = facts.unreachable ?? [];
  return (
    <>
      <Outdated error={error} at={facts.at} nowMs={nowMs} />
      {unreachable.length === 0 ? null : (
        <Notice>
          Scalers are missing: {plural(unreachable.length, 'replica')} of promscaler did not answer (
          <bdi>{unreachable.join(', ')}</bdi>).
        </Notice>
      )}
      {facts.leader || unreachable.length > 0 ? null : (
        <Notice>This replica of promscaler is not the leader: the rows show what it last knew.</Notice>
      )}
      {facts.problems === 0 ? null : (
        <Notice>
          {plural(facts.problems, 'problem')} in the scaler documents. <a href={HEALTH_LINK}>Show problems</a>
        </Notice>
      )}
    </>
  );
}

function NoScalers(): VNode {
  return (
    <EmptyView title="No scalers yet">
      <p>
        There is no scaler document. Add one to the directory that promscaler reads, or create a Scaler
        object: the scaler appears here within seconds.
      </p>
    </EmptyView>
  );
}

const NO_NEWS: ReadonlyMap<string, string> = new Map();
/** Interval between announcements, each of which interrupts the reader. */
const QUIET_MS = 10_000;
const MAX_NAMED = 3;

/** Announces changed rows and returns their keys with the time of the answer. */
function useNews(fleet: Fleet, clock: Clock): ReadonlyMap<string, string> {
  const [news, setNews] = useState(NO_NEWS);
  const announcedMs = useRef(-Infinity);
  useEffect(() => {
    if (fleet.news.length === 0) return;
    setNews(new Map(fleet.news.map((row) => [keyOf(row), fleet.facts.at])));
    if (clock.monotonicMs() - announcedMs.current < QUIET_MS) return;
    announcedMs.current = clock.monotonicMs();
    announce(sentenceOf(fleet.news));
  }, [fleet, clock]);
  return news;
}

function sentenceOf(news: Fleet['news']): string {
  if (news.length > MAX_NAMED) return `${plural(news.length, 'scaler')} changed`;
  return news.map((row) => `${row.name}: ${replicasText(row)} replicas`).join('. ');
}
