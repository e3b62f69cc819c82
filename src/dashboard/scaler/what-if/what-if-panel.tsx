import type { VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ScalerDetail, SnapshotAnswer } from '../../../api/answers.js';
import { isPlainObject } from '../../../scaler/plain-json.js';
import { ApiError, apiErrorOf } from '../../data/api-error.js';
import type { Api } from '../../data/api.js';
import { snapshotRequest } from '../../data/requests.js';
import { formatCount } from '../../ui/formats.js';
import { usePart } from '../../ui/hooks.js';
import { LazyDetails } from '../../ui/section.jsx';
import { PartMissing, Waiting } from '../../ui/states.jsx';
import { Sentence, Time } from '../../ui/time.jsx';
import { WaterfallView } from '../chart/waterfall-view.jsx';
import type { PastDecision } from '../model/answers.js';
import { buildWaterfall } from '../model/decision-parts.js';
import { measuredOf } from '../model/headline.js';
import type { TimeWindow } from '../model/ranges.js';
import { decideWith, type DocumentProblem } from './decide-with.js';
import { DocumentForm, Problems } from './document-form.jsx';
import type { TextEditorProps } from './document-text.jsx';
import './what-if.css';

export interface WhatIfProps {
  readonly api: Api;
  readonly detail: ScalerDetail;
  /** Time of the decision in RFC 3339; null: the last decision. */
  readonly at: string | null;
  /** The part of the charts that is zoomed in; null: the last `seconds`. */
  readonly zoom: TimeWindow | null;
  /** The length of the range of the charts. */
  readonly seconds: number;
}

/** Reads the snapshot of a decision, and lets the user change its document. */
export function WhatIf({ at, ...props }: WhatIfProps): VNode {
  const { api, detail } = props;
  const { namespace, name } = detail;
  const [reading, setReading] = useState<SnapshotAnswer | ApiError | null>(null);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setReading(null);
    api
      .read(snapshotRequest(namespace, name, at === null ? {} : { at }), signal)
      .then(setReading, (error: unknown) => {
        if (!signal.aborted) setReading(apiErrorOf(error));
      });
    return () => controller.abort();
  }, [api, namespace, name, at, attempt]);
  return reading === null || reading instanceof ApiError ? (
    <Waiting error={reading} onRetry={() => setAttempt(attempt + 1)} />
  ) : (
    <Panel {...props} snapshot={reading} />
  );
}

interface PanelProps extends Omit<WhatIfProps, 'at'> {
  readonly snapshot: SnapshotAnswer;
}

/**
 * Shows a form for the document, and compares the decision of the changed document with the decision of the service.
 */
function Panel({ snapshot, ...props }: PanelProps): VNode {
  const [base, setBase] = useState<unknown>(snapshot.scaler);
  const [document, setDocument] = useState<unknown>(snapshot.scaler);
  const real = useMemo(() => decideWith(snapshot, snapshot.scaler).decision, [snapshot]);
  const result = useMemo(() => decideWith(snapshot, document), [snapshot, document]);
  const isChanged = JSON.stringify(document) !== JSON.stringify(snapshot.scaler);
  const { part: past } = usePart(loadPast, isChanged);
  const replace = (next: unknown): void => {
    setBase(next);
    setDocument(next);
  };
  return (
    <div class="what-if">
      <p class="what-if-summary" aria-live="polite">
        {real === null ? '' : `Without a change: ${countText(real)}.`}{' '}
        {isChanged ? (
          <b>With the change: {result.decision === null ? 'rejected' : countText(result.decision)}.</b>
        ) : (
          'Change a field to see how the decision changes.'
        )}
      </p>
      <div class="what-if-form">
        <DocumentForm base={base} document={document} problems={result.problems} onChange={setDocument} />
        <LazyDetails summary="The whole document as YAML or JSON">
          <TextSection document={document} snapshot={snapshot} onChange={replace} />
        </LazyDetails>
        <button type="button" disabled={!isChanged} onClick={() => replace(snapshot.scaler)}>
          Reset
        </button>
        <p class="hint">
          Computed from the snapshot of <Time at={snapshot.now} />.
        </p>
      </div>
      <div class="what-if-result">
        {real === null ? null : <Result title="Without the change" decision={real} />}
        {isChanged ? (
          <Changed decision={result.decision} problems={result.problems} notes={result.notes} />
        ) : null}
        {past === null || !isChanged || result.decision === null || !isPlainObject(document) ? null : (
          <past.EffectSections {...props} document={document} snapshot={snapshot} />
        )}
      </div>
    </div>
  );
}

const loadPast = () => import('./past-section.jsx');

interface ChangedProps {
  readonly decision: PastDecision | null;
  readonly problems: readonly DocumentProblem[];
  readonly notes: readonly string[];
}

function Changed({ decision, problems, notes }: ChangedProps): VNode {
  return (
    <>
      {decision === null ? (
        <div class="what-if-decision">
          <h3>With the change</h3>
          <p>promscaler would reject this document:</p>
          <Problems problems={problems} />
        </div>
      ) : (
        <>
          <Result title="With the change" decision={decision} />
          <Problems problems={problems} />
        </>
      )}
      {notes.map((note) => (
        <p key={note} class="hint">
          {note}
        </p>
      ))}
    </>
  );
}

interface ResultProps {
  readonly title: string;
  readonly decision: PastDecision;
}

function Result({ title, decision }: ResultProps): VNode {
  return (
    <div class="what-if-decision">
      <h3>
        {title}: {countText(decision)}
      </h3>
      <p>
        <Sentence text={measuredOf(decision.reason)} />
      </p>
      <WaterfallView waterfall={buildWaterfall(decision, null)} />
    </div>
  );
}

function countText({ currentReplicas: from, desiredReplicas: to }: PastDecision): string {
  return from === to ? `stays at ${formatCount(to)}` : `${formatCount(from)}\u00a0→\u00a0${formatCount(to)}`;
}

function TextSection(props: TextEditorProps): VNode | null {
  const { part, hasFailed } = usePart(loadEditor, true);
  if (hasFailed) return <PartMissing />;
  return part === null ? null : <part.TextEditor {...props} />;
}

/** The YAML parser is large. */
const loadEditor = () => import('./document-text.jsx');
