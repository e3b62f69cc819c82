/** How one request is sent with credentials that may have been replaced meanwhile. */
interface RenewableRequest<Credentials, Answer> {
  readonly read: () => Promise<Credentials>;
  readonly send: (credentials: Credentials) => Promise<Answer>;
  /**
   * Returns other credentials after an answer that the old ones may have caused (a 401), or null to keep the answer.
   */
  readonly renew: (answer: Answer, used: Credentials) => Promise<Credentials | null>;
}

/** Sends a request, and sends it once more if its credentials were renewed: rotated credentials are not a failure. */
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
