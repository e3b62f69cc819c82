import type { VNode } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Clock } from '../../units/clock.js';
import type { Api } from '../data/api.js';
import { useCell } from '../data/use-cell.js';
import type { Refresher } from '../data/keep-fresh.js';
import { formatCount } from '../format/numbers.js';
import { PageHeading } from '../ui/page-heading.jsx';
import { PartMissing, Waiting } from '../ui/states.jsx';
import { parametersOf, replaceParameters, useHash } from '../ui/use-hash.js';
import { usePart } from '../ui/use-part.js';
import type { Fleet } from './merge-overview.js';
import type { OverviewStore } from './overview-store.js';
import { readSelection, selectRows, writeSelection } from './selection.js';
import type { Selection } from './selection.js';

interface OverviewPageProps {
  readonly api: Api;
  readonly store: OverviewStore;
}

/** Shows all scalers. The code of the rows is loaded in parallel with the data. */
export function OverviewPage({ api, store }: OverviewPageProps): VNode {
  const { fleet, error } = useCell(store.state);
  const rows = fleet?.rows ?? NO_ROWS;
  const [selection, change] = useSelection(api.clock);
  const selected = useMemo(() => selectRows(rows, selection), [rows, selection]);
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
          {fleet === null ? '' : foundText(selected.length, rows.length)}
        </p>
      </PageHeading>
      {hasFailed ? (
        <PartMissing />
      ) : fleet === null || part === null ? (
        <Waiting error={fleet === null ? error : null} onRetry={() => refresher.current?.refresh()} />
      ) : (
        <part.FleetView
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

const loadView = () => import('./fleet-view.jsx');

/** Browsers limit how often an address changes, and keys may be pressed more often. */
const WRITE_MS = 300;

/** Returns the selection in the address, and a function that changes both. */
function useSelection(clock: Clock): readonly [Selection, (change: Partial<Selection>) => void] {
  const hash = useHash();
  const [selection, setSelection] = useState(() => readSelection(parametersOf(hash)));
  const written = useRef(writeSelection(selection).toString());
  const cancel = useRef((): void => undefined);

  useEffect(() => {
    const next = readSelection(parametersOf(hash));
    const text = writeSelection(next).toString();
    // The address was changed by another link or by Back. A later write of this page does not undo it.
    if (text === written.current) return;
    written.current = text;
    cancel.current();
    setSelection(next);
  }, [hash]);
  useEffect(() => () => cancel.current(), []);

  const change = useCallback(
    (part: Partial<Selection>) => {
      setSelection((before) => {
        const next = { ...before, ...part };
        cancel.current();
        cancel.current = clock.after(WRITE_MS, () => {
          const parameters = writeSelection(next);
          written.current = parameters.toString();
          replaceParameters(parameters);
        });
        return next;
      });
    },
    [clock],
  );
  return [selection, change];
}
