import type { VNode } from 'preact';
import { Icon } from '../../ui/icon.jsx';
import type { DocumentProblem } from './decide-with.js';

interface ProblemsProps {
  readonly problems: readonly DocumentProblem[];
  /** So that an input refers to its problems. */
  readonly id?: string;
}

/** Problems in the words of `promscaler validate`. */
export function Problems({ problems, id }: ProblemsProps): VNode | null {
  if (problems.length === 0) return null;
  return (
    <ul class="document-problems" id={id}>
      {problems.map(({ severity, code, message }, index) => (
        <li key={index} class={severity === 'error' ? 'tone-bad' : 'tone-warn'} dir="auto">
          <Icon name={severity === 'error' ? 'error' : 'warning'} /> {severity}: {message} [{code}]
        </li>
      ))}
    </ul>
  );
}
