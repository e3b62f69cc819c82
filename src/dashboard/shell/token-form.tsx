import type { TargetedSubmitEvent, VNode } from 'preact';
import type { Session } from '../data/session.js';
import { PageHeading } from '../ui/page-heading.jsx';
import './token-form.css';

interface TokenFormProps {
  readonly session: Session;
  readonly message: string;
}

/** Asks for the bearer token, which is sent only to the address of this page. */
export function TokenForm({ session, message }: TokenFormProps): VNode {
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const token = new FormData(event.currentTarget).get('token');
    if (typeof token === 'string' && token.trim() !== '') session.enter(token.trim());
  };
  return (
    <>
      <PageHeading title="Sign in" />
      <form class="card token-form" onSubmit={submit}>
        <p dir="auto" role="alert">
          {message}
        </p>
        <label>
          Bearer token
          <input name="token" type="password" autocomplete="off" spellcheck={false} required />
        </label>
        <p class="hint">
          The token is in the file of <code>server.auth.bearerTokenFile</code>; with <code>tokenReview</code>,
          use your own Kubernetes token. The browser keeps the token until the tab is closed, and sends it
          only to this address.
        </p>
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
    </>
  );
}
