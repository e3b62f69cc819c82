import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import { Icon } from '../../ui/icon.jsx';
import { formatPath } from '../../../scaler/problems/finding.js';
import type { DocumentProblem } from './decide-with.js';
import {
  readInput,
  textAt,
  withValue,
  isAtField,
  listFields,
  type Field,
  type FieldGroup,
} from './fields.js';

interface DocumentFormProps {
  /** The document with which the form was opened. */
  readonly base: unknown;
  readonly document: unknown;
  readonly problems: readonly DocumentProblem[];
  readonly onChange: (document: unknown) => void;
}

export function DocumentForm(props: DocumentFormProps): VNode {
  const groups = listFields(props.document, props.base);
  return (
    <form class="document-form" onSubmit={(event) => event.preventDefault()}>
      {groups.map((group, index) => (
        <Group key={group.title} group={group} isOpen={index === 0} {...props} />
      ))}
    </form>
  );
}

function Group({
  group: { title, fields },
  isOpen,
  ...props
}: DocumentFormProps & { readonly group: FieldGroup; readonly isOpen: boolean }): VNode {
  const written = fields.filter(({ path }) => textAt(props.document, path) !== '').length;
  return (
    <details open={isOpen}>
      <summary>
        {title} {written === 0 ? <span class="hint">unset</span> : null}
      </summary>
      <div class="document-inputs">
        {fields.map((field) => (
          <FieldInput key={formatPath(field.path)} field={field} {...props} />
        ))}
      </div>
    </details>
  );
}

interface FieldInputProps extends DocumentFormProps {
  readonly field: Field;
}

function FieldInput({ field, document, base, problems, onChange }: FieldInputProps): VNode {
  const id = useId();
  const path = formatPath(field.path);
  const own = problems.filter((problem) => isAtField(problem.path, path));
  const text = textAt(document, field.path);
  const isChanged = text !== textAt(base, field.path);
  const set = (next: string): void => onChange(withValue(document, field.path, readInput(next)));
  const attributes = {
    id,
    'aria-invalid': own.some(({ severity }) => severity === 'error'),
    'aria-describedby': own.length === 0 ? undefined : `${id}-problems`,
    class: isChanged ? 'is-changed' : undefined,
  };
  return (
    <div class="field">
      <label for={id} dir="auto">
        {field.label}
        {isChanged ? <span class="visually-hidden"> (changed)</span> : null}
      </label>
      {field.choices === null ? (
        <input
          {...attributes}
          type="text"
          inputMode="decimal"
          autocomplete="off"
          spellcheck={false}
          value={text}
          placeholder={field.placeholder}
          onInput={(event) => set(event.currentTarget.value)}
        />
      ) : (
        <select {...attributes} value={text} onChange={(event) => set(event.currentTarget.value)}>
          <option value="">{field.placeholder === '' ? 'unset' : `${field.placeholder} (default)`}</option>
          {field.choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      )}
      <Problems problems={own} id={`${id}-problems`} />
    </div>
  );
}

interface ProblemsProps {
  readonly problems: readonly DocumentProblem[];
  /** The ID by which an input refers to its problems. */
  readonly id?: string;
}

/** Shows problems with the messages of `promscaler validate`. */
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
