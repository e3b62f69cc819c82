import { Fragment, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ScalerDetail } from '../../api/answers.js';
import { changeText } from '../../scaler/field-changes.js';
import { plural } from '../ui/formats.js';
import { usePart } from '../ui/hooks.js';
import { FoldSection } from '../ui/section.jsx';
import { Sentence } from '../ui/time.jsx';
import { listEffectiveFields } from './model/effective-fields.js';

interface DocumentSectionProps {
  readonly detail: ScalerDetail;
}

/** Shows the fields that the document sets, and the defaults of other fields. For a file, also shows its text. */
export function DocumentSection({ detail }: DocumentSectionProps): VNode {
  const { document, documentText: text = null, rejectedChanges: changes = [] } = detail;
  const [isRaw, setIsRaw] = useState(false);
  const { part, hasFailed } = usePart(loadText, isRaw && text === null);
  return (
    <FoldSection
      title="Document"
      aside={
        <button type="button" aria-pressed={isRaw} onClick={() => setIsRaw(!isRaw)}>
          As YAML
        </button>
      }
    >
      {changes.length === 0 ? null : (
        <div class="tone-warn">
          <p>The newest version is rejected. It differs from the version in effect in:</p>
          <ul class="document-changes">
            {changes.map((change) => (
              <li key={change.field}>
                <code>
                  <Sentence text={changeText(change)} />
                </code>
              </li>
            ))}
          </ul>
        </div>
      )}
      {isRaw ? (
        <>
          {text === null ? null : (
            <p class="hint" dir="auto">
              {changes.length === 0 ? 'As in' : 'The rejected version, as in'} {detail.file}
            </p>
          )}
          <pre class="document-text" tabIndex={0} role="region" aria-label="Document as YAML">
            {text ?? (hasFailed ? JSON.stringify(document, null, 2) : part?.writeDocumentText(document))}
          </pre>
        </>
      ) : (
        <Fields document={document} />
      )}
    </FoldSection>
  );
}

/** This code is loaded only when it is needed, because the YAML writer is large. */
const loadText = () => import('./what-if/document-text.jsx');

function Fields({ document }: { readonly document: ScalerDetail['document'] }): VNode {
  const fields = listEffectiveFields(document);
  const written = fields.filter(({ isWritten }) => isWritten);
  const defaults = fields.filter(({ isWritten }) => !isWritten);
  return (
    <div class="document-fields">
      <div>
        <h3>Set</h3>
        <p class="hint">In the document, or in the defaults of the service config</p>
        <FieldList fields={written} />
      </div>
      <details>
        <summary>
          <h3>{plural(defaults.length, 'default')}</h3>{' '}
          <span class="hint">in effect because the fields are unset</span>
        </summary>
        <FieldList fields={defaults} />
      </details>
    </div>
  );
}

function FieldList({ fields }: { readonly fields: ReturnType<typeof listEffectiveFields> }): VNode {
  return (
    <dl class="field-list">
      {fields.map(({ path, value }) => (
        <div key={path}>
          <dt dir="auto">
            {path.split(/(?<=\.)/).map((part, index) => (
              <Fragment key={index}>
                <wbr />
                {part}
              </Fragment>
            ))}
          </dt>
          <dd dir="auto">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
