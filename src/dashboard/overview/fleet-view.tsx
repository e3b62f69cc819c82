import type { VNode } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ServiceStatus } from '../../api/answers.js';
import type { Clock } from '../../units/clock.js';
import type { Api } from '../data/api.js';
import { formatCount, plural } from '../ui/formats.js';
import { parametersOf, replaceParameters, useHash, usePart } from '../ui/hooks.js';
import { announce, setTitle } from '../ui/page.jsx';
import { FilterBar } from './filter-bar.jsx';
import { type Fleet, keyOf } from './merge-overview.js';
import { replicasText } from './row-texts.js';
import { ScalerTable } from './scaler-table.jsx';
import {
  countRows,
  linesOf,
  readSelection,
  type Selection,
  selectRows,
  worstFirst,
  writeSelection,
} from './selection.js';
import './overview.css';

interface FleetViewProps {
  readonly api: Api;
  readonly fleet: Fleet;
  readonly status: ServiceStatus | null;
  /** Called with the number of shown scalers as text, for the heading. */
  readonly onFound: (text: string) => void;
}

export function FleetView({ api, fleet, status, onFound }: FleetViewProps): VNode {
  const { rows } = fleet;
  const { clock } = api;
  const [selection, onChange] = useSelection(clock);
  const selected = useMemo(() => selectRows(rows, selection), [rows, selection]);
  const [found, total] = [formatCount(selected.length), formatCount(rows.length)];
  useEffect(() => onFound(found === total ? total : `${found} of ${total}`), [found, total, onFound]);
  const counts = useMemo(() => countRows(rows), [rows]);
  const lines = useMemo(() => linesOf(selected, selection), [selected, selection]);
  const news = useNews(fleet, clock);
  const worst = useMemo(() => worstFirst(selected), [selected]);
  const { part, hasFailed } = usePart(loadStartHere, worst.length > 0);
  const empty = usePart(loadNoScalers, selected.length === 0);
  useEffect(() => setTitle(worst.length === 0 ? 'Scalers' : `${worst.length} cannot follow`), [worst.length]);
  return (
    <>
      {part === null || worst.length === 0 ? null : <part.StartHere api={api} rows={worst} status={status} />}
      {rows.length === 0 ? null : (
        <FilterBar
          selection={selection}
          onChange={onChange}
          counts={counts}
          groupLabel={fleet.facts.groupLabel}
        />
      )}
      {selected.length === 0 ? (
        empty.part && <empty.part.NoScalers hasOthers={rows.length > 0} onChange={onChange} />
      ) : (
        <ScalerTable
          lines={lines}
          selection={selection}
          onChange={onChange}
          news={news}
          isPlaced={worst.length === 0 || part !== null || hasFailed}
        />
      )}
    </>
  );
}

const loadStartHere = () => import('./start-here.jsx');
const loadNoScalers = () => import('./no-scalers.jsx');

const NO_NEWS: ReadonlyMap<string, string> = new Map();
/** Minimum time between two announcements, because each announcement interrupts the screen reader. */
const QUIET_MS = 10_000;
const MAX_NAMED = 3;

/**
 * Announces changed rows to screen readers. Returns the keys of these rows, with the time of the answer that changed
 * them.
 */
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
  return news.map((row) => `${row.name}: replicas ${replicasText(row)}`).join('. ');
}

/** Delay until the address is changed: browsers limit the rate of such changes, and the user may type faster. */
const WRITE_MS = 300;

/** Returns the selection, which is stored in the address, and a function that changes it. */
function useSelection(clock: Clock): readonly [Selection, (change: Partial<Selection>) => void] {
  const hash = useHash();
  const [selection, setSelection] = useState(() => readSelection(parametersOf(hash)));
  const written = useRef(writeSelection(selection).toString());
  const cancel = useRef((): void => undefined);

  useEffect(() => {
    const next = readSelection(parametersOf(hash));
    const text = writeSelection(next).toString();
    if (text === written.current) return;
    // A link or the Back button has changed the address. A delayed write of an earlier selection must not replace it.
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
