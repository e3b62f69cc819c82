import type { VNode } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { OverviewRow } from '../../api/answers.js';
import { remediesOf } from '../../decision/remedies.js';
import type { Api } from '../data/api.js';
import { scalerRequest } from '../data/requests.js';
import { useAnswer } from '../data/use-answer.js';
import { formatCount, plural } from '../format/numbers.js';
import { formatAge, formatShort } from '../format/short-times.js';
import { parseTime } from '../format/times.js';
import { RemedyItem } from '../scaler/text/what-to-do.jsx';
import { Badge } from '../ui/badge.jsx';
import { Icon } from '../ui/icon.jsx';
import { scalerLink } from '../ui/links.js';
import { SEVERITY_STYLES } from '../ui/severities.js';
import { keyOf } from './merge-overview.js';
import { ratioOf } from './selection.js';
import './start-here.css';

interface StartHereProps {
  readonly api: Api;
  /** The scalers that cannot follow their load, the worst first. */
  readonly rows: readonly OverviewRow[];
  readonly nowMs: number;
}

/** Shows one scaler that cannot follow its load with its cause and the next command: the worst one first. */
export function StartHere({ api, rows, nowMs }: StartHereProps): VNode | null {
  const id = useId();
  // Null: the worst one, whichever that is.
  const [chosen, setChosen] = useState<string | null>(null);
  const index = Math.max(
    0,
    rows.findIndex((one) => keyOf(one) === chosen),
  );
  const row = rows[index];
  if (row === undefined) return null;
  const go = (to: number): void => {
    const next = rows[to];
    setChosen(to === 0 || next === undefined ? null : keyOf(next));
  };
  const title = index === 0 ? 'Worst' : formatCount(index + 1);
  return (
    <section class="card start-here" aria-labelledby={id}>
      <div class="start-heading">
        <h2 id={id} class="tone-bad">
          <Icon name="error" />
          {rows.length === 1
            ? 'One scaler cannot follow its load'
            : `${title} of ${formatCount(rows.length)} that cannot follow their load`}
        </h2>
        {rows.length === 1 ? null : (
          <div class="start-steps">
            <button type="button" disabled={index === 0} onClick={() => go(index - 1)}>
              Previous
            </button>
            <button type="button" disabled={index === rows.length - 1} onClick={() => go(index + 1)}>
              Next
            </button>
          </div>
        )}
      </div>
      <Subject row={row} nowMs={nowMs} />
      <Cause row={row} rows={rows} />
      <NextCommand api={api} row={row} />
    </section>
  );
}

function Subject({ row, nowMs }: { readonly row: OverviewRow; readonly nowMs: number }): VNode {
  const { namespace, name, state } = row;
  const { tone, icon } = SEVERITY_STYLES[state.severity];
  const since = state.since === null ? null : parseTime(state.since);
  return (
    <p class="start-scaler">
      <a href={scalerLink(namespace, name)}>
        <span class="row-namespace">
          <bdi>{namespace}</bdi>/
        </span>
        <bdi>{name}</bdi>
      </a>
      <Badge tone={tone} icon={icon} text={state.name} />
      {since === null ? null : (
        <span class="muted">
          since {formatShort(since, nowMs)} ({formatAge(since, nowMs)})
        </span>
      )}
    </p>
  );
}

interface CauseProps {
  readonly row: OverviewRow;
  readonly rows: StartHereProps['rows'];
}

function Cause({ row, rows }: CauseProps): VNode {
  const { state, metric } = row;
  const ratio = ratioOf(metric);
  const others = rows.filter((one) => one.state.cause === state.cause).length - 1;
  return (
    <p class="start-cause">
      <bdi>{state.cause ?? state.name}</bdi>
      {ratio === null || metric === null ? null : (
        <span>
          <bdi>{metric.name}</bdi> at <b>{formatCount(Math.round(ratio * 100))} %</b> of its target
        </span>
      )}
      {others === 0 ? null : (
        <span>
          {plural(others, 'other')} {others === 1 ? 'has' : 'have'} the same cause
        </span>
      )}
    </p>
  );
}

const EVERY_MS = 15_000;

interface NextCommandProps {
  readonly api: Api;
  readonly row: OverviewRow;
}

function NextCommand({ api, row: { namespace, name } }: NextCommandProps): VNode {
  const { value } = useAnswer(api, scalerRequest(namespace, name), {
    everyMs: EVERY_MS,
    isAffected: (event) => 'namespace' in event && event.namespace === namespace && event.name === name,
  });
  const remedy = value === null ? undefined : remediesOf(value)[0];
  return <ul class="start-next">{remedy === undefined ? null : <RemedyItem remedy={remedy} />}</ul>;
}
