import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { fixDocument, remediesOf } from '../../../decision/remedies.js';
import { formatWithOffset } from '../../../units/offset-time.js';
import type { Remedy } from '../../../decision/snippet.js';
import type { OverviewRow, ScalerDetail } from '../../../api/answers.js';
import { announce } from '../../ui/announcer.jsx';
import { Icon } from '../../ui/icon.jsx';
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
