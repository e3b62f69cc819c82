import type { TargetedSubmitEvent, VNode } from 'preact';
import type { Session } from '../data/session.js';
import { PageHeading } from '../ui/page.jsx';
import './token-form.css';

interface TokenFormProps {
  readonly session: Session;
  /** Why the last token was rejected; empty: no token was entered. */
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
        {message === '' ? (
          <p>Enter your token to see the scalers.</p>
        ) : (
          <p dir="auto" role="alert">
            {message}
          </p>
        )}
        <label>
          Token
          <input name="token" type="password" autocomplete="off" spellcheck={false} required />
        </label>
        <p class="hint">
          Ask the operator of promscaler for the token in the file of <code>server.auth.bearerTokenFile</code>
          . With <code>server.auth.tokenReview</code>, your own Kubernetes token works, such as that of{' '}
          <code>kubectl create token NAME</code>. Your browser keeps the token until you close the tab, and
          sends it only to this address.
        </p>
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
    </>
  );
}
