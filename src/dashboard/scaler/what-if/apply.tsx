import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import type { ScalerDetail } from '../../../api/answers.js';
import { patchCommand } from '../../../decision/snippet.js';
import { changeText, fieldChanges, mergePatch } from '../../../scaler/field-changes.js';
import { isPlainObject, type PlainObject } from '../../../scaler/plain-json.js';
import { announce } from '../../ui/announcer.jsx';
import { Icon } from '../../ui/icon.jsx';
import { usePart } from '../../ui/use-part.js';
import { Sentence } from '../../ui/sentence.jsx';
import { CommandText, copyText } from '../text/command-text.jsx';

interface ApplyProps {
  readonly detail: ScalerDetail;
  readonly before: unknown;
  readonly after: PlainObject;
}

/** Shows how the user applies the change: an object is patched, a file is edited. */
export function Apply({ detail: { namespace, name, generation }, before, after }: ApplyProps): VNode {
  const code = useRef<HTMLElement>(null);
  const changes = fieldChanges(before, after, '');
  const patch = mergePatch(before, after);
  const isFile = generation === null;
  const { part } = usePart(loadText, isFile);
  // A value of null unsets a field in a patch, but not in a file. The list of the changes names the field.
  const text = isFile
    ? (part?.writeDocumentText(withoutNull(patch)).trimEnd() ?? '')
    : patchCommand({ namespace, name }, JSON.stringify(patch));
  return (
    <div class="what-if-apply">
      <p dir="auto">
        <b>Apply</b> <Sentence text={changes.map(changeText).join(', ')} />
        {isFile ? '. In the file, set:' : ':'}
      </p>
      <CommandText code={code} text={text} kind={isFile ? 'edit' : 'command'} />{' '}
      <button type="button" onClick={() => void copyText(text, code.current).then(announce)}>
        <Icon name="copy" /> Copy
      </button>
    </div>
  );
}

const loadText = () => import('./document-text.js');

function withoutNull(patch: PlainObject): PlainObject {
  return Object.fromEntries(
    Object.entries(patch).flatMap(([key, value]) =>
      value === null ? [] : [[key, isPlainObject(value) ? withoutNull(value) : value]],
    ),
  );
}
