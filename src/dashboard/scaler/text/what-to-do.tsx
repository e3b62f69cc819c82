import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { fixDocument, remediesOf } from '../../../decision/remedies.js';
import { formatWithOffset } from '../../../units/time.js';
import { command, keyOf, patchCommand, type Remedy } from '../../../decision/snippet.js';
import { evidenceLines } from '../../../scaler/field-changes.js';
import type { OverviewRow, ScalerDetail } from '../../../api/answers.js';
import { announce } from '../../ui/announcer.jsx';
import { Icon } from '../../ui/icon.jsx';
import { Sentence } from '../../ui/sentence.jsx';
import { GraphLink } from './graph-link.jsx';
import { useSteps } from '../../ui/use-now.js';
import { asPlugin, isInCluster } from '../model/commands.js';
import { CommandText, copyText } from './command-text.jsx';

/** Shows what a user can do about the state, with commands to copy. The page itself runs no command. */
export function WhatToDo({ detail }: { readonly detail: ScalerDetail }): VNode | null {
  const remedies = useRemedies(detail);
  if (remedies.length === 0) return null;
  return (
    <div class="what-to-do">
      <h3>What to do</h3>
      <ul>
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
  return (
    <div class="what-to-do">
      <h3>Recommended: {reason}</h3>
      <ul>
        {evidenceLines(recommendation).map((line) => (
          <li key={line}>
            <Sentence text={line} />
          </li>
        ))}
        <RemedyItem remedy={apply} />
        <RemedyItem remedy={{ text: 'Show the command of the back-test', snippet: command(status) }} />
      </ul>
    </div>
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
