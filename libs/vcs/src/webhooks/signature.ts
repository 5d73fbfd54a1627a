import { Webhooks } from '@octokit/webhooks';

/**
 * Checks `X-Hub-Signature-256` over the raw body, in constant time.
 * @returns a check that is false for a missing, malformed or wrong signature and for an empty body; it never throws.
 */
export function createSignatureCheck(secret: string) {
  const webhooks = new Webhooks({ secret });
  return async (rawBody: Uint8Array | string, signature: string | undefined): Promise<boolean> => {
    const body = typeof rawBody === 'string' ? rawBody : Buffer.from(rawBody).toString('utf8');
    if (!body || !signature) return false;
    return webhooks.verify(body, signature);
  };
}
