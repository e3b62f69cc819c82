import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Clock } from '../../units/clock.js';
import { plural } from '../format/numbers.js';
import { parseTime } from '../format/times.js';
import { HEALTH_LINK } from '../ui/links.js';
import { EmptyView, Notice, Outdated } from '../ui/states.jsx';
import { useNow } from '../ui/use-now.js';
import { FilterBar } from './filter-bar.jsx';
import type { Fleet } from './merge-overview.js';
import type { OverviewState } from './overview-store.js';
import { ScalerTable } from './scaler-table.jsx';
import { countRows } from './selection.js';
import type { Selection } from './selection.js';
import { useNews } from './use-news.js';
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
        <ScalerTable rows={selected} selection={selection} onChange={onChange} nowMs={nowMs} news={news} />
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
