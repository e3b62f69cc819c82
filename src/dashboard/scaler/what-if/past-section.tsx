import type { VNode } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ScalerDetail } from '../../../api/answers.js';
import { apiErrorOf } from '../../data/api-error.js';
import type { Api } from '../../data/api.js';
import { scalerLink } from '../../ui/links.js';
import { formatCount, plural } from '../../ui/numbers.js';
import { Table } from '../../ui/table.jsx';
import { Time } from '../../ui/time.jsx';
import type { TimeWindow } from '../chart/chart-props.js';
import { compareDecisions, inputsWithin, readPastInputs } from './past-decisions.js';
import type { Comparison, OtherDecision, PastInput } from './past-decisions.js';

interface PastSectionProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
  readonly document: unknown;
  /** Decisions up to this time are shown, in RFC 3339. */
  readonly at: string;
  readonly shown: TimeWindow;
}

type Reading = readonly PastInput[] | 'closed' | 'loading' | { readonly error: string };

/** Repeats the decisions of the shown time range with the changed document, in the browser. */
export function PastSection({ api, detail, document, at, shown }: PastSectionProps): VNode {
  const [reading, setReading] = useState<Reading>('closed');
  const controller = useRef(new AbortController());
  useEffect(() => () => controller.current.abort(), []);
  const load = async (): Promise<void> => {
    const { signal } = controller.current;
    setReading('loading');
    try {
      setReading(await readPastInputs(api, detail, at, signal));
    } catch (error) {
      if (!signal.aborted) setReading({ error: apiErrorOf(error).message });
    }
  };
  const read = typeof reading === 'string' || 'error' in reading ? null : reading;
  const { from, to } = shown;
  const inputs = useMemo(() => read && inputsWithin(read, { from, to }), [read, from, to]);
  const comparison = useMemo(
    () => (inputs === null ? null : compareDecisions(inputs, document)),
    [inputs, document],
  );
  return (
    <div class="what-if-past">
      <h3>Effect on the shown decisions</h3>
      {inputs === null ? (
        <button type="button" disabled={reading === 'loading'} onClick={() => void load()}>
          Repeat the decisions with the change
        </button>
      ) : (
        <Compared inputs={inputs} comparison={comparison} detail={detail} />
      )}
      {typeof reading === 'object' && 'error' in reading ? <p role="alert">{reading.error}</p> : null}
    </div>
  );
}

interface ComparedProps {
  readonly inputs: readonly PastInput[];
  readonly comparison: Comparison | null;
  readonly detail: ScalerDetail;
}

const MOST_ROWS = 20;

function Compared({ inputs, comparison, detail }: ComparedProps): VNode {
  const oldest = inputs.at(-1);
  if (comparison === null || oldest === undefined)
    return <p class="hint">The service keeps no input of a decision in the range of the charts.</p>;
  const { different, was, other } = comparison;
  return (
    <>
      <p aria-live="polite">
        {plural(different.length, 'decision')} of {formatCount(inputs.length)} since{' '}
        <Time at={oldest.entry.firstAt} /> would be different: {rangeText(other)}, not {rangeText(was)}.
      </p>
      {different.length === 0 ? null : (
        <Table
          caption="Decisions that would be different, newest first"
          columns={[{ title: 'Time' }, { title: 'As it was' }, { title: 'With the change' }]}
          rows={different.slice(0, MOST_ROWS).map((one) => ({
            key: one.entry.firstAt,
            cells: [
              <a href={`${scalerLink(detail.namespace, detail.name)}?at=${one.entry.lastAt}`}>
                <Time at={one.entry.firstAt} />
              </a>,
              changeText(one, one.desired),
              <b>{changeText(one, one.other)}</b>,
            ],
          }))}
        />
      )}
      <p class="hint">
        {different.length > MOST_ROWS ? `The newest ${MOST_ROWS} are listed. ` : ''}Each decision starts from
        the replicas, pods and windows of its time. In reality, an earlier change would also affect later
        decisions.
      </p>
    </>
  );
}

function rangeText([low, high]: readonly [number, number]): string {
  return low === high ? plural(low, 'replica') : `${formatCount(low)} to ${plural(high, 'replica')}`;
}

function changeText({ current }: OtherDecision, to: number): string {
  return current === to ? `stays at ${formatCount(to)}` : `${formatCount(current)} → ${formatCount(to)}`;
}
