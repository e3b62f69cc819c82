import type { VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Clock } from '../../units/clock.js';
import type { Api } from '../data/api.js';
import { useCell } from '../data/use-cell.js';
import type { Refresher } from '../data/keep-fresh.js';
import { formatLocal, parseTime } from '../format/times.js';
import { HEALTH_LINK } from '../ui/links.js';
import { formatCount, plural } from '../format/numbers.js';
import { PageHeading } from '../ui/page-heading.jsx';
import { EmptyView, Notice, Waiting } from '../ui/states.jsx';
import { useNow } from '../ui/use-now.js';
import { FilterBar } from './filter-bar.jsx';
import type { Fleet } from './merge-overview.js';
import type { OverviewState, OverviewStore } from './overview-store.js';
import { ScalerTable } from './scaler-table.jsx';
import { countRows, selectRows } from './selection.js';
import type { Selection } from './selection.js';
import { useNews } from './use-news.js';
import { useSelection } from './use-selection.js';

interface OverviewPageProps {
  readonly api: Api;
  readonly store: OverviewStore;
}

export function OverviewPage({ api, store }: OverviewPageProps): VNode {
  const { fleet, error } = useCell(store.state);
  const rows = fleet?.rows ?? NO_ROWS;
  const [selection, change] = useSelection(api.clock);
  const selected = useMemo(() => selectRows(rows, selection), [rows, selection]);
  const refresher = useRef<Refresher | null>(null);
  useEffect(() => {
    refresher.current = store.start();
    return refresher.current.stop;
  }, [store]);
  return (
    <>
      <PageHeading title="Scalers">
        <p class="found muted" role="status">
          {fleet === null ? '' : foundText(selected.length, rows.length)}
        </p>
      </PageHeading>
      {fleet === null ? (
        <Waiting error={error} onRetry={() => refresher.current?.refresh()} />
      ) : (
        <FleetView
          clock={api.clock}
          fleet={fleet}
          error={error}
          selection={selection}
          onChange={change}
          selected={selected}
        />
      )}
    </>
  );
}

const NO_ROWS: Fleet['rows'] = [];

function foundText(found: number, total: number): string {
  return found === total ? formatCount(total) : `${formatCount(found)} of ${formatCount(total)}`;
}

interface FleetViewProps extends OverviewState {
  readonly clock: Clock;
  readonly fleet: Fleet;
  readonly selection: Selection;
  readonly onChange: (change: Partial<Selection>) => void;
  readonly selected: Fleet['rows'];
}

function FleetView({ clock, fleet, error, selection, onChange, selected }: FleetViewProps): VNode {
  const { rows } = fleet;
  const nowMs = useNow(clock, 10_000);
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
          <button type="button" onClick={() => onChange({ search: '', namespace: null, states: [] })}>
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
  const atMs = parseTime(facts.at);
  const unreachable = facts.unreachable ?? [];
  return (
    <>
      {error === null ? null : (
        <Notice>
          Outdated{atMs === null ? '' : `, as of ${formatLocal(atMs, nowMs)}`}: {error.message}.
        </Notice>
      )}
      {unreachable.length === 0 ? null : (
        <Notice>
          Scalers are missing: {plural(unreachable.length, 'replica')} of promscaler did not answer (
          <bdi>{unreachable.join(', ')}</bdi>).
        </Notice>
      )}
      {facts.leader || unreachable.length > 0 ? null : (
        <Notice>Another replica of promscaler decides. These rows are what this one last knew.</Notice>
      )}
      {facts.problems === 0 ? null : (
        <Notice>
          {plural(facts.problems, 'problem')} in the scaler documents. <a href={HEALTH_LINK}>Show</a>
        </Notice>
      )}
    </>
  );
}

function NoScalers(): VNode {
  return (
    <EmptyView title="No scalers yet">
      <p>
        promscaler runs and has no scaler document. Add one to the directory that it reads, or create a Scaler
        object: the scaler appears here within seconds.
      </p>
    </EmptyView>
  );
}
