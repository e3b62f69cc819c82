import type { ComponentChildren, VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { OverviewRow, ScalerDetail } from '../../api/answers.js';
import { fixDocument, remediesOf } from '../../decision/remedies.js';
import { command, keyOf, patchCommand, type Remedy } from '../../decision/snippet.js';
import { evidenceLines } from '../../scaler/field-changes.js';
import { formatWithOffset } from '../../units/time.js';
import type { ApiError } from '../data/api-error.js';
import type { Api } from '../data/api.js';
import { overviewRequest } from '../data/requests.js';
import { useAnswer } from '../data/use-answer.js';
import { CommandText, copyText } from '../ui/command-text.jsx';
import { GraphLink } from '../ui/graph-link.jsx';
import { Icon } from '../ui/icon.jsx';
import { announce } from '../ui/page.jsx';
import { SEVERITY_STYLES } from '../ui/severities.js';
import { Waiting } from '../ui/states.jsx';
import { Sentence, Time, useSteps } from '../ui/time.jsx';
import { asPlugin, isInCluster } from './model/commands.js';

/** Shows what a user can do about the state, with commands to copy. The page itself runs no command. */
export function WhatToDo({ detail }: { readonly detail: ScalerDetail }): VNode | null {
  const remedies = useRemedies(detail);
  if (remedies.length === 0) return null;
  return <RemedyList title="What to do" remedies={remedies} />;
}

interface RemedyListProps {
  readonly title: string;
  readonly remedies: readonly Remedy[];
  /** Items before the remedies. */
  readonly children?: ComponentChildren;
}

function RemedyList({ title, remedies, children }: RemedyListProps): VNode {
  return (
    <div class="what-to-do">
      <h3>{title}</h3>
      <ul>
        {children}
        {remedies.map((remedy) => (
          <RemedyItem key={`${remedy.text} ${remedy.snippet?.text ?? ''}`} remedy={remedy} />
        ))}
      </ul>
    </div>
  );
}

/** Returns what a user can do about a document without a valid version. */
export function invalidRemedies({ namespace, name, rejections = [] }: OverviewRow): readonly Remedy[] {
  return fixDocument({ namespace, name, rejections, generation: null });
}

const MINUTE_MS = 60_000;

/**
 * Returns what a user can do about the state; empty: nothing, or `detail` is null. In a cluster, commands are for the
 * kubectl plugin.
 */
export function useRemedies(detail: ScalerDetail | null): readonly Remedy[] {
  const pauseUntil = formatWithOffset(useSteps(MINUTE_MS) + 31 * MINUTE_MS);
  if (detail === null) return [];
  const remedies = remediesOf(isInCluster(detail) ? { ...detail, pauseUntil } : detail);
  return remedies.map(({ text, snippet }) => ({
    text,
    snippet: snippet === null ? null : { ...snippet, text: asPlugin(snippet.text, detail) },
  }));
}

interface RecommendationProps {
  readonly detail: ScalerDetail;
  readonly recommendation: NonNullable<ScalerDetail['recommendation']>;
}

/** Shows the change that the last back-test recommends: its saving, risk and evidence, and how to apply it. */
export function Recommendation({ detail, recommendation }: RecommendationProps): VNode {
  const { reason, patch, isObject } = recommendation;
  const apply =
    isObject && patch !== null
      ? { text: 'Apply it', snippet: command(patchCommand(detail, patch)) }
      : { text: `Set these fields in ${detail.file ?? 'the file of the document'}`, snippet: null };
  const status = asPlugin(`promscaler status ${keyOf(detail)} --recommendations`, detail);
  const show = { text: 'Show the command of the back-test', snippet: command(status) };
  return (
    <RemedyList title={`Recommended: ${reason}`} remedies={[apply, show]}>
      {evidenceLines(recommendation).map((line) => (
        <li key={line}>
          <Sentence text={line} />
        </li>
      ))}
    </RemedyList>
  );
}

interface RemedyItemProps {
  readonly remedy: Remedy;
  /** When the command should be run, such as `Run now`. */
  readonly label?: string;
}

export function RemedyItem({ remedy: { text, snippet }, label }: RemedyItemProps): VNode {
  const code = useRef<HTMLElement>(null);
  return (
    <li>
      {label === undefined ? null : <b class="remedy-label">{label} </b>}
      <div class="remedy">
        <span dir="auto">
          {text}
          {snippet === null ? '.' : ':'}
        </span>{' '}
        <GraphLink url={snippet?.graphUrl} />
        {snippet === null ? null : (
          <div class="remedy-command">
            <CommandText code={code} {...snippet} />
            <button
              type="button"
              class="icon-button"
              title="Copy"
              aria-label={`Copy: ${text}`}
              onClick={() => void copyText(snippet.text, code.current).then(announce)}
            >
              <Icon name="copy" />
            </button>
          </div>
        )}
      </div>
    </li>
  );
}

interface MissingScalerProps {
  readonly api: Api;
  readonly namespace: string;
  readonly name: string;
  /** The answer of the API about the scaler. */
  readonly error: ApiError;
  readonly onRetry: () => void;
}

const EVERY_MS = 15_000;

/** Shows why the document of a scaler without decisions is invalid, or else that the scaler does not exist. */
export function MissingScaler({ api, namespace, name, error, onRetry }: MissingScalerProps): VNode {
  const { value } = useAnswer(api, overviewRequest(null, namespace), { everyMs: EVERY_MS });
  const row = value?.rows.find((one) => one.name === name);
  if (row?.rejections === undefined) return <Waiting error={error} onRetry={onRetry} />;
  const { state } = row;
  const { tone, icon } = SEVERITY_STYLES[state.severity];
  return (
    <section class={`card scaler-verdict tone-${tone}`} aria-label="State">
      <h2>
        <Icon name={icon} />
        <span>{state.name}: nothing is scaled, because no version of the document is valid</span>
      </h2>
      <p class="verdict-sentence">
        <Sentence text={state.cause ?? ''} />
      </p>
      <RemedyList title="What to do" remedies={invalidRemedies(row)} />
      {state.since === null ? null : (
        <p class="muted">
          Invalid since <Time at={state.since} />
        </p>
      )}
    </section>
  );
}
