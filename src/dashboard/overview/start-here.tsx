import type { ComponentChildren, VNode } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { OverviewRow, ServiceStatus } from '../../api/answers.js';
import type { Remedy } from '../../decision/snippet.js';
import type { Api } from '../data/api.js';
import { isAbout } from '../data/keep-fresh.js';
import { scalerRequest } from '../data/requests.js';
import { useAnswer } from '../data/use-answer.js';
import { invalidRemedies, RemedyItem, useRemedies } from '../scaler/what-to-do.jsx';
import { formatCount, formatSince, parseTime, plural } from '../ui/formats.js';
import { Badge, Icon } from '../ui/icon.jsx';
import { scalerLink } from '../ui/links.js';
import { SEVERITY_STYLES } from '../ui/severities.js';
import { Sparkline } from '../ui/sparkline.jsx';
import { Sentence, TimeText } from '../ui/time.jsx';
import { keyOf } from './merge-overview.js';
import { sparklineLabel } from './row-texts.js';
import { overloadOf, percentOf, UNKNOWN_PERCENT } from './selection.js';
import './start-here.css';

interface StartHereProps {
  readonly api: Api;
  /** The scalers that cannot follow their load, the worst first. */
  readonly rows: readonly OverviewRow[];
  /** The status of the service; null: it is not known yet. */
  readonly status: ServiceStatus | null;
}

/** Shows a scaler that cannot follow its load, with the cause and the next command. It starts with the worst scaler. */
export function StartHere({ api, rows, status }: StartHereProps): VNode | null {
  const id = useId();
  // The key of the scaler that the viewer has selected; null: the worst scaler is shown.
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
  const why = index > 0 ? null : whyFirst(row, rows[1]);
  const place = index === 0 ? 'worst' : formatCount(index + 1);
  return (
    <section class="card start-here" aria-labelledby={id}>
      <div class="start-heading">
        <h2 id={id} class="tone-bad">
          <Icon name="error" />
          {SEVERITY_STYLES['cannot-follow'].text}:{' '}
          {rows.length === 1 ? '1 scaler' : `${place} of ${formatCount(rows.length)}`}
        </h2>
        {why === null ? null : <span class="muted">First because {why}</span>}
      </div>
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
      <div class="start-texts">
        <Subject row={row} />
        <Cause row={row} rows={rows} status={status} />
        {row.rejections === undefined ? (
          <NextCommands api={api} row={row} />
        ) : (
          <NextList remedies={invalidRemedies(row)} />
        )}
      </div>
      {row.kind === null ? null : <Picture row={row} />}
    </section>
  );
}

/**
 * Returns why `row` is before `next`, the second row. Null: there is no second row, or the rows are sorted by name
 * only.
 */
export function whyFirst(row: OverviewRow, next: OverviewRow | undefined): string | null {
  if (next === undefined) return null;
  const isUnknown = percentOf(row.metric) === null;
  if (overloadOf(next) !== overloadOf(row)) {
    if (row.state.name === 'NoTarget') return 'its target cannot be read';
    return isUnknown
      ? `its load is unknown, which counts as ${UNKNOWN_PERCENT} % of the target`
      : 'its load is furthest above target';
  }
  if (next.state.since === row.state.since) return null;
  return isUnknown ? 'its load has been unknown the longest' : 'its state is the oldest';
}

function Subject({ row }: { readonly row: OverviewRow }): VNode {
  const { namespace, name, state, kind, target, current, desired, max } = row;
  const { tone, icon } = SEVERITY_STYLES[state.severity];
  const since = state.since === null ? null : parseTime(state.since);
  return (
    <>
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
            since <TimeText ms={since} format={formatSince} />
          </span>
        )}
      </p>
      <p class="muted">
        {kind === null ? 'Nothing is scaled: no version of the document is valid' : 'Scales '}
        {kind === null ? null : (
          <b>
            <bdi>
              {kind.toLowerCase()}/{target}
            </bdi>
          </b>
        )}
        {current === null || max === null
          ? null
          : `: ${formatCount(current)} of at most ${plural(max, 'replica')}`}
        {current === null || desired === null || desired === current
          ? null
          : `, ${formatCount(desired)} desired`}
      </p>
    </>
  );
}

interface CauseProps extends Omit<StartHereProps, 'api'> {
  readonly row: OverviewRow;
}

function Cause({ row, rows, status }: CauseProps): VNode {
  const { state, metric } = row;
  // If a data source does not answer, the line below the header already counts its scalers.
  const isSourceDown = status?.dataSources.some(({ failingSince }) => failingSince !== null) === true;
  const percent = percentOf(metric);
  const isCounted = isSourceDown && state.cause?.startsWith('Prometheus') === true;
  const others = isCounted ? 0 : rows.filter((one) => one.state.cause === state.cause).length - 1;
  return (
    <p class="start-cause">
      <b class="remedy-label">Cause </b>
      <span class="start-why">
        <Sentence text={state.cause ?? state.name} />
        {percent === null || metric === null ? null : (
          <span class="muted">
            <bdi>{metric.name}</bdi> is at <b>{percent} %</b> of its target
          </span>
        )}
        {others === 0 ? null : (
          <span class="muted">
            {plural(others, 'other scaler')} {others === 1 ? 'has' : 'have'} the same cause
          </span>
        )}
      </span>
    </p>
  );
}

const EVERY_MS = 15_000;

interface NextCommandsProps {
  readonly api: Api;
  readonly row: OverviewRow;
}

function NextCommands({ api, row: { namespace, name } }: NextCommandsProps): VNode {
  const { value, error } = useAnswer(api, scalerRequest(namespace, name), {
    everyMs: EVERY_MS,
    isAffected: isAbout({ namespace, name }),
  });
  return (
    <NextList remedies={useRemedies(value)}>
      {value === null && error !== null ? (
        <li class="muted">What to do could not be read: {error.message}</li>
      ) : null}
    </NextList>
  );
}

interface NextListProps {
  readonly remedies: readonly Remedy[];
  readonly children?: ComponentChildren;
}

/** Shows the first two remedies: usually a command, and a second remedy that may be an edit of the document. */
function NextList({ remedies: [first, second], children }: NextListProps): VNode {
  return (
    <ul class="start-next">
      {first === undefined ? null : <RemedyItem remedy={first} label="Run now" />}
      {second === undefined ? null : <RemedyItem remedy={second} label="Then" />}
      {children}
    </ul>
  );
}

function Picture({ row }: { readonly row: OverviewRow }): VNode {
  return (
    <figure class="start-picture">
      <figcaption>
        <span>Replicas, last 2 hours</span>
        {row.max === null ? null : <span class="muted">- - at most {formatCount(row.max)}</span>}
      </figcaption>
      <Sparkline
        values={row.replicas}
        maximum={row.max}
        width={280}
        height={104}
        label={sparklineLabel(row)}
      />
      <p class="muted">
        <span>2 h ago</span>
        <span>now {formatCount(row.current)}</span>
      </p>
    </figure>
  );
}
