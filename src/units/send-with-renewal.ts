interface RenewableRequest<Credentials, Answer> {
  readonly read: () => Promise<Credentials>;
  readonly send: (credentials: Credentials) => Promise<Answer>;
  /** Returns new credentials for an answer that the old ones may have caused (401), or null to keep the answer. */
  readonly renew: (answer: Answer, used: Credentials) => Promise<Credentials | null>;
}

/** Sends a request, and once more if its credentials were renewed, because rotated credentials are not a failure. */
export async function sendWithRenewal<Credentials, Answer>({
  read,
  send,
  renew,
}: RenewableRequest<Credentials, Answer>): Promise<Answer> {
  const used = await read();
  const answer = await send(used);
  const renewed = await renew(answer, used);
  return renewed === null ? answer : send(renewed);
}
