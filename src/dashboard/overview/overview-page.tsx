import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ServiceStatus } from '../../api/answers.js';
import type { Api } from '../data/api.js';
import type { Refresher } from '../data/keep-fresh.js';
import { useCell } from '../data/use-cell.js';
import { usePart } from '../ui/hooks.js';
import { PageHeading } from '../ui/page.jsx';
import { PartMissing, Waiting } from '../ui/states.jsx';
import type { OverviewStore } from './overview-store.js';

interface OverviewPageProps {
  readonly api: Api;
  readonly store: OverviewStore;
  /** The status of the service; null: it is not known yet. */
  readonly status: ServiceStatus | null;
}

/** Shows all scalers. The code that shows the rows is loaded while the data is requested. */
export function OverviewPage({ api, store, status }: OverviewPageProps): VNode {
  const { fleet, error } = useCell(store.state);
  const [found, setFound] = useState('');
  const { part, hasFailed } = usePart(loadView, true);
  const refresher = useRef<Refresher | null>(null);
  useEffect(() => {
    refresher.current = store.start();
    return refresher.current.stop;
  }, [store]);
  return (
    <>
      <PageHeading title="Scalers">
        <p class="found muted" role="status">
          {found}
        </p>
      </PageHeading>
      {hasFailed ? (
        <PartMissing />
      ) : fleet === null || part === null ? (
        <Waiting error={fleet === null ? error : null} onRetry={() => refresher.current?.refresh()} />
      ) : (
        <part.FleetView api={api} fleet={fleet} status={status} onFound={setFound} />
      )}
    </>
  );
}

const loadView = () => import('./fleet-view.jsx');
